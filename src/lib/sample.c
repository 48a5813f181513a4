/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names of stages, spans and fates, and the spans of one request. Differences of
 * stages that a hostile file set so far apart that they do not fit 64 bits count
 * as not observed: a wrapped number would be a lie.
 */
#include "tare/sample.h"

#include <string.h>

#include "lib/known_time.h"
#include "lib/packed.h"
#include "lib/series.h"
#include "tare/run.h"

struct span_place {
	const char *name, *help;
	enum tare_stage from, to;
};

static const struct span_place spans[TARE_SPAN_COUNT] = {
#define X(id, name, from, to, help) [TARE_SPAN_##id] = {name, help, TARE_STAGE_##from, TARE_STAGE_##to},
	TARE_SPANS(X)
#undef X
};

static const char *const stage_names[TARE_STAGE_COUNT] = {
#define X(id, name, help) [TARE_STAGE_##id] = name,
	TARE_STAGES(X)
#undef X
};

static const char *const fate_names[TARE_FATE_COUNT] = {
	[TARE_PENDING] = "pending",
	[TARE_ANSWERED] = "answered",
	[TARE_OVERDUE] = "overdue",
	[TARE_LOST] = "lost",
	[TARE_ERROR] = "error",
	[TARE_NOT_SENT] = "not-sent",
};

static int64_t stage_at(const struct tare_series *series, enum tare_stage stage, size_t i)
{
	return series_stage_at(series, stage, i);
}

static int64_t between(const struct tare_series *series, enum tare_stage from, enum tare_stage to, size_t i)
{
	return known_difference(stage_at(series, to, i), stage_at(series, from, i));
}

/* One series has one meaning of `path`: a mixture of card and kernel stamps would show two modes that are ours. */
static int64_t path_of(const struct tare_series *series, size_t i)
{
	bool cards = series_has(series, TARE_STAGE_NIC_TX) && series_has(series, TARE_STAGE_NIC_RX);
	int64_t outside = tare_span_of(series, cards ? TARE_SPAN_WIRE : TARE_SPAN_STACK, i);
	return known_difference(outside, tare_span_of(series, TARE_SPAN_RESIDENCE, i));
}

/* Spans that no two stages make up: what is not given was not observed. */
static bool is_only_given(enum tare_span span)
{
	return spans[span].from == spans[span].to && span != TARE_SPAN_GAP;
}

static bool crosses_clocks(enum tare_span span)
{
	return span == TARE_SPAN_FORWARD || span == TARE_SPAN_BACKWARD;
}

static bool is_plain(enum tare_span span)
{
	return span != TARE_SPAN_PATH && span != TARE_SPAN_GAP && !is_only_given(span) && !crosses_clocks(span);
}

static int64_t gap_of(const struct tare_series *series, size_t i)
{
	if (i == 0 || series_has(series, TARE_STAGE_DUE))
		return TARE_NO_TIME;
	return known_difference(stage_at(series, TARE_STAGE_USER_TX, i), stage_at(series, TARE_STAGE_USER_TX, i - 1));
}

static void plain_differences(
	const int64_t *restrict to, const int64_t *restrict from, size_t count, int64_t *restrict ret_values_ns)
{
	if (block_is_tame(to, count) && block_is_tame(from, count)) {
		for (size_t i = 0; i < count; i++)
			ret_values_ns[i] = to[i] - from[i];
		return;
	}
	for (size_t i = 0; i < count; i++)
		ret_values_ns[i] = known_difference(to[i], from[i]);
}

/* The same of two stages in whatever form they are held. */
static void stage_differences(const struct tare_series *series, enum tare_stage to, enum tare_stage from, size_t first,
	size_t count, int64_t *ret_values_ns)
{
	int64_t to_ns[SERIES_BLOCK], from_ns[SERIES_BLOCK];
	if (series->at_ns[to] && series->at_ns[from]) {
		plain_differences(series->at_ns[to] + first, series->at_ns[from] + first, count, ret_values_ns);
		return;
	}
	for (size_t done = 0; done < count; done += SERIES_BLOCK) {
		size_t block = count - done < SERIES_BLOCK ? count - done : SERIES_BLOCK;
		tare_stage_times(series, to, first + done, block, to_ns);
		tare_stage_times(series, from, first + done, block, from_ns);
		plain_differences(to_ns, from_ns, block, ret_values_ns + done);
	}
}

/* True when no fate in the block differs from ANSWERED: the usual case, found eight at a time. */
static bool all_answered(const uint8_t *fate, size_t count)
{
	size_t i = 0;
	for (; i + 8 <= count; i += 8) {
		uint64_t eight;
		memcpy(&eight, fate + i, 8);
		if (eight != TARE_ANSWERED * UINT64_C(0x0101010101010101))
			return false;
	}
	for (; i < count; i++) {
		if (fate[i] != TARE_ANSWERED)
			return false;
	}
	return true;
}

static void hide_uncounted(const uint8_t *fate, bool needs_answer, size_t count, int64_t *values_ns)
{
	if (all_answered(fate, count))
		return;
	for (size_t i = 0; i < count; i++) {
		bool counts =
			needs_answer ? fate[i] == TARE_ANSWERED || fate[i] == TARE_OVERDUE : fate[i] != TARE_NOT_SENT;
		if (!counts)
			values_ns[i] = TARE_NO_TIME;
	}
}

const char *tare_stage_name(enum tare_stage stage)
{
	return (unsigned)stage < TARE_STAGE_COUNT ? stage_names[stage] : "unknown";
}

const char *tare_span_name(enum tare_span span)
{
	return (unsigned)span < TARE_SPAN_COUNT ? spans[span].name : "unknown";
}

const char *tare_span_help(enum tare_span span)
{
	return (unsigned)span < TARE_SPAN_COUNT ? spans[span].help : "unknown";
}

const char *tare_fate_name(enum tare_fate fate)
{
	return (unsigned)fate < TARE_FATE_COUNT ? fate_names[fate] : "unknown";
}

bool tare_span_by_name(const char *name, enum tare_span *ret_span)
{
	for (int span = 0; span < TARE_SPAN_COUNT; span++) {
		if (strcmp(name, spans[span].name) == 0) {
			*ret_span = (enum tare_span)span;
			return true;
		}
	}
	return false;
}

bool tare_span_needs_answer(enum tare_span span)
{
	return span != TARE_SPAN_LATE && span != TARE_SPAN_TX && span != TARE_SPAN_TX_NIC && span != TARE_SPAN_GAP;
}

int64_t tare_span_of(const struct tare_series *series, enum tare_span span, size_t i)
{
	if (series->given_ns[span] && series->given_ns[span][i] != TARE_NO_TIME)
		return series->given_ns[span][i];
	if (span == TARE_SPAN_PATH)
		return path_of(series, i);
	if (span == TARE_SPAN_GAP)
		return gap_of(series, i);
	if (is_only_given(span) || (crosses_clocks(span) && series->clock_bound_ns <= 0))
		return TARE_NO_TIME;
	return between(series, spans[span].from, spans[span].to, i);
}

void tare_span_values(
	const struct tare_series *series, enum tare_span span, size_t first, size_t count, int64_t *ret_values_ns)
{
	enum tare_stage from = spans[span].from, to = spans[span].to;
	bool both = series_has(series, from) && series_has(series, to);
	const int64_t *given = series->given_ns[span];
	bool difference_of_two = is_plain(span);
	if (!given && difference_of_two && both) {
		stage_differences(series, to, from, first, count, ret_values_ns);
	} else if (given && difference_of_two && !both) {
		memcpy(ret_values_ns, given + first, count * sizeof(*ret_values_ns));
	} else {
		for (size_t i = 0; i < count; i++)
			ret_values_ns[i] = tare_span_of(series, span, first + i);
	}
	hide_uncounted(series->fate + first, tare_span_needs_answer(span), count, ret_values_ns);
}

const int64_t *series_block(
	const struct tare_series *series, enum tare_span span, size_t first, size_t count, int64_t *scratch_ns)
{
	const int64_t *given = series->given_ns[span];
	bool alone = !series_has(series, spans[span].from) || !series_has(series, spans[span].to);
	if (given && alone && is_plain(span) &&
		all_answered(series->fate + first, count))
		return given + first;
	tare_span_values(series, span, first, count, scratch_ns);
	return scratch_ns;
}

int tare_response_parts(const struct tare_series *series, size_t i, int64_t ret_parts_ns[4])
{
	int64_t sent = stage_at(series, TARE_STAGE_USER_TX, i), received = stage_at(series, TARE_STAGE_USER_RX, i);
	int64_t late = known_difference(sent, stage_at(series, TARE_STAGE_DUE, i));
	if (late == TARE_NO_TIME || tare_span_of(series, TARE_SPAN_RESPONSE, i) == TARE_NO_TIME)
		return -1;
	int64_t driver_tx = stage_at(series, TARE_STAGE_KERNEL_TX, i);
	int64_t driver_rx = stage_at(series, TARE_STAGE_KERNEL_RX, i);
	int folded = (driver_tx == TARE_NO_TIME ? 1 << 1 : 0) | (driver_rx == TARE_NO_TIME ? 1 << 3 : 0);
	if (folded == (1 << 1 | 1 << 3))
		folded |= 1 << 2;
	int64_t left = driver_tx == TARE_NO_TIME ? sent : driver_tx;
	int64_t came = driver_rx == TARE_NO_TIME ? received : driver_rx;
	int64_t parts[4] = {late, known_difference(left, sent), known_difference(came, left), known_difference(received, came)};
	for (size_t part = 0; part < 4; part++) {
		if (parts[part] == TARE_NO_TIME)
			return -1;
	}
	memcpy(ret_parts_ns, parts, sizeof(parts));
	return folded;
}

bool tare_span_exists(const struct tare_series *series, enum tare_span span)
{
	const struct span_place *place = &spans[span];
	if (!series->given_ns[span] && is_only_given(span))
		return false;
	if (!series->given_ns[span] && span != TARE_SPAN_PATH &&
		(!series_has(series, place->from) || !series_has(series, place->to)))
		return false;
	for (size_t i = 0; i < series->count; i++) {
		if (tare_span_of(series, span, i) != TARE_NO_TIME)
			return true;
	}
	return false;
}

struct tare_fates tare_fates_of(const struct tare_series *series)
{
	struct tare_fates fates = {0};
	const uint8_t *fate = series->fate;
	size_t i = 0;
	while (i < series->count) {
		/* Blocks of answered requests are the rule; the rest is counted one by one. */
		size_t block = series->count - i < 64 ? series->count - i : 64;
		if (all_answered(fate + i, block)) {
			fates.count[TARE_ANSWERED] += block;
		} else {
			for (size_t j = i; j < i + block; j++)
				fates.count[fate[j] < TARE_FATE_COUNT ? fate[j] : TARE_PENDING]++;
		}
		i += block;
	}
	fates.sent = series->count - fates.count[TARE_NOT_SENT];
	return fates;
}
