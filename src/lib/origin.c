/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The words of an origin, and which span a quantity stands for. */
#include "tare/origin.h"

#include <string.h>

#include "base/text.h"
#include "tare/run.h"

static int by_name(const char *name, const char *const *words, int count)
{
	for (int i = 0; name && i < count; i++) {
		if (strcmp(name, words[i]) == 0)
			return i;
	}
	return -1;
}

#define X(id, name, help) name,
#define WORDS(what, LIST, COUNT)                                                                                       \
	static const char *const what##_words[] = {LIST(X)};                                                           \
	const char *tare_##what##_name(enum tare_##what what)                                                          \
	{                                                                                                              \
		return (unsigned)what < (COUNT) ? what##_words[what] : "unknown";                                      \
	}                                                                                                              \
	bool tare_##what##_by_name(const char *name, enum tare_##what *ret_##what)                                     \
	{                                                                                                              \
		int found = by_name(name, what##_words, (COUNT));                                                      \
		if (found < 0)                                                                                         \
			return false;                                                                                  \
		*ret_##what = (enum tare_##what)found;                                                                 \
		return true;                                                                                           \
	}

WORDS(quantity, TARE_QUANTITIES, TARE_QUANTITY_COUNT)
WORDS(clock, TARE_CLOCKS, TARE_CLOCK_COUNT)
WORDS(pacing, TARE_PACINGS, TARE_PACING_COUNT)
WORDS(lateness, TARE_LATENESSES, TARE_LATENESS_COUNT)
WORDS(shape, TARE_SHAPES, TARE_SHAPE_COUNT)
#undef X

void tare_left_out_text(uint32_t left_out, char ret_text[TARE_LEFT_OUT_TEXT])
{
	static const char *const words[] = {"warmup", "lost", "reordered", "errors", "some", "unknown"};
	struct text text = {.bytes = ret_text, .room = TARE_LEFT_OUT_TEXT};
	ret_text[0] = '\0';
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (left_out >> i & 1)
			text_add(&text, "%s%s", text.used ? " " : "", words[i]);
	}
}

/* What stands for rtt in sources that do not have it; late and gap say nothing about a round trip. */
static const enum tare_span round_trips[] = {TARE_SPAN_RTT, TARE_SPAN_RESPONSE, TARE_SPAN_WIRE, TARE_SPAN_STACK,
	TARE_SPAN_HOST, TARE_SPAN_RESIDENCE, TARE_SPAN_SERVICE};
/* From one tap to another is what lies between them. */
static const enum tare_span one_ways[] = {TARE_SPAN_ONE_WAY, TARE_SPAN_HOST};
static const enum tare_span residences[] = {TARE_SPAN_HOST, TARE_SPAN_RESIDENCE, TARE_SPAN_SERVICE};

static enum tare_span first_of(const struct tare_record *record, const enum tare_span *spans, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (tare_span_exists(&record->series, spans[i]))
			return spans[i];
	}
	return TARE_SPAN_COUNT;
}

enum tare_span tare_base_span(const struct tare_record *record)
{
	enum tare_span found = TARE_SPAN_COUNT;
	switch (record->origin.quantity) {
	case TARE_QUANTITY_HALF_RTT:
		return TARE_SPAN_HALF_RTT;
	case TARE_QUANTITY_ONE_WAY:
		found = first_of(record, one_ways, sizeof(one_ways) / sizeof(one_ways[0]));
		return found == TARE_SPAN_COUNT ? TARE_SPAN_ONE_WAY : found;
	case TARE_QUANTITY_RESPONSE:
		return TARE_SPAN_RESPONSE;
	case TARE_QUANTITY_WAKEUP:
		return TARE_SPAN_WAKEUP;
	case TARE_QUANTITY_OTHER:
		return TARE_SPAN_VALUE;
	case TARE_QUANTITY_RESIDENCE:
		found = first_of(record, residences, sizeof(residences) / sizeof(residences[0]));
		return found == TARE_SPAN_COUNT ? TARE_SPAN_RESIDENCE : found;
	case TARE_QUANTITY_RTT:
	case TARE_QUANTITY_COUNT:
	default:
		found = first_of(record, round_trips, sizeof(round_trips) / sizeof(round_trips[0]));
		return found == TARE_SPAN_COUNT ? TARE_SPAN_RTT : found;
	}
}
