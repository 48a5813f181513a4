/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Bounded text, the two formats for times and rates, and the nearest word for
 * suggestions. Durations are rounded in integers, half away from zero, and the
 * unit is chosen after rounding: 999.96 µs prints as "1 ms", not "1000 µs".
 */
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { QUOTED_MOST_BYTES = 64, WORD_MOST_BYTES = 64 };

size_t text_character(const char *bytes)
{
	const unsigned char *at = (const unsigned char *)bytes;
	if (at[0] < 0x80)
		return 1;
	size_t length = at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : 2;
	if (at[0] < 0xc2 || at[0] > 0xf4)
		return 0;
	for (size_t i = 1; i < length; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	}
	/* the second byte rules out overlong forms, surrogates and what lies above U+10FFFF */
	if ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] > 0x9f) || (at[0] == 0xf0 && at[1] < 0x90) ||
		(at[0] == 0xf4 && at[1] > 0x8f))
		return 0;
	return length;
}

static bool is_control(const char *bytes)
{
	unsigned char first = (unsigned char)bytes[0], second = first ? (unsigned char)bytes[1] : 0;
	return first < 0x20 || first == 0x7f || (first == 0xc2 && second < 0xa0);
}

/* Takes an incomplete last character off, which vsnprintf leaves when it runs out of room. */
static void trim_half_character(struct text *text)
{
	size_t start = text->used;
	while (start > 0 && text->used - start < 3 && ((unsigned char)text->bytes[start - 1] & 0xc0) == 0x80)
		start--;
	if (start == 0 || (unsigned char)text->bytes[start - 1] < 0xc0)
		return;
	start--;
	if (text_character(text->bytes + start) != text->used - start) {
		text->used = start;
		text->bytes[start] = '\0';
	}
}

void text_add_list(struct text *text, const char *format, va_list args)
{
	if (text->used >= text->room) {
		text->cut = true;
		return;
	}
	size_t left = text->room - text->used;
	int wanted = vsnprintf(text->bytes + text->used, left, format, args);
	if (wanted < 0) {
		text->bytes[text->used] = '\0';
		text->cut = true;
	} else if ((size_t)wanted >= left) {
		text->used = text->room - 1;
		text->cut = true;
		trim_half_character(text);
	} else {
		text->used += (size_t)wanted;
	}
}

void text_add(struct text *text, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	text_add_list(text, format, args);
	va_end(args);
}

void text_add_quoted(struct text *text, const char *foreign)
{
	char kept[QUOTED_MOST_BYTES + 1];
	size_t used = 0, at = 0;
	while (foreign[at]) {
		size_t length = text_character(foreign + at);
		bool bad = length == 0 || is_control(foreign + at);
		if (used + (bad ? 1 : length) > QUOTED_MOST_BYTES)
			break;
		if (bad)
			kept[used++] = '?';
		for (size_t i = 0; !bad && i < length; i++)
			kept[used++] = foreign[at + i];
		at += length ? length : 1;
	}
	kept[used] = '\0';
	text_add(text, "'%s%s'", kept, foreign[at] ? "…" : "");
}

struct duration_unit {
	const char *name;
	uint64_t ns;
	uint64_t below; /* the next unit takes over from here */
};

static const struct duration_unit duration_units[] = {
	{"ns", 1, 1000},
	{"µs", 1000, 1000},
	{"ms", 1000000, 1000},
	{"s", 1000000000, 600},
	{"min", 60000000000, 600},
	{"h", 3600000000000, UINT64_MAX},
};

/* `magnitude` in one unit, rounded to 4 significant digits: whole part and thousandths. */
static void round_in_unit(uint64_t magnitude, uint64_t unit, uint64_t *ret_whole, uint64_t *ret_thousandths)
{
	uint64_t whole = magnitude / unit, rest = magnitude % unit;
	uint64_t step = whole < 10 ? 1 : whole < 100 ? 10 : whole < 1000 ? 100 : 1000;
	uint64_t steps = 1000 / step;
	/* rest < 3.6e12 and steps <= 1000: the product stays below 2^63 */
	uint64_t fraction = (rest * steps + unit / 2) / unit;
	*ret_whole = whole + fraction / steps;
	*ret_thousandths = fraction % steps * step;
}

void format_duration(int64_t ns, char *buffer, size_t room)
{
	uint64_t magnitude = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
	const struct duration_unit *unit = duration_units;
	uint64_t whole = 0, thousandths = 0;
	for (;; unit++) {
		round_in_unit(magnitude, unit->ns, &whole, &thousandths);
		if (whole < unit->below)
			break;
		/* 599.96 s has become 600 s, and goes on as that: "10 min", not "9.999 min" */
		if (magnitude / unit->ns < unit->below)
			magnitude = whole * unit->ns;
	}
	char decimals[8];
	snprintf(decimals, sizeof(decimals), ".%03u", (unsigned)(thousandths % 1000));
	for (size_t end = 3; end > 0 && decimals[end] == '0'; end--)
		decimals[end] = '\0';
	struct text text = {.bytes = buffer, .room = room};
	text_add(&text, "%s%llu%s %s", ns < 0 ? "-" : "", (unsigned long long)whole, decimals[1] ? decimals : "",
		unit->name);
}

void format_rate(double per_second, char *buffer, size_t room)
{
	static const struct {
		const char *name;
		double scale, below;
	} units[] = {
		{"/h", 3600, 59.995}, /* 4 digits: 59.995 would already print as 60 */
		{"/min", 60, 59.995},
		{"/s", 1, 999.95},
		{"k/s", 1e-3, 999.95},
		{"M/s", 1e-6, 999.95},
		{"G/s", 1e-9, 0},
	};
	struct text text = {.bytes = buffer, .room = room};
	if (!isfinite(per_second) || per_second < 0) {
		text_add(&text, "?");
		return;
	}
	size_t i = per_second > 0 ? 0 : 2;
	while (units[i].below > 0 && per_second * units[i].scale >= units[i].below)
		i++;
	text_add(&text, "%.4g%s", per_second * units[i].scale, units[i].name);
}

static unsigned char lower(char letter)
{
	return (unsigned char)(letter >= 'A' && letter <= 'Z' ? letter - 'A' + 'a' : letter);
}

static size_t least_of(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Edits between two words of at most WORD_MOST_BYTES; the swap of two neighbours is one edit. */
static size_t edit_distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
	size_t rows[3][WORD_MOST_BYTES + 1] = {{0}};
	for (size_t j = 0; j <= b_length; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= a_length; i++) {
		size_t *row = rows[i % 3];
		const size_t *above = rows[(i + 2) % 3], *twice_above = rows[(i + 1) % 3];
		row[0] = i;
		for (size_t j = 1; j <= b_length; j++) {
			size_t change = lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1;
			row[j] = least_of(above[j - 1] + change, least_of(above[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]))
				row[j] = least_of(row[j], twice_above[j - 2] + 1);
		}
	}
	return rows[a_length % 3][b_length];
}

static size_t common_start(const char *a, const char *b)
{
	size_t length = 0;
	while (a[length] && lower(a[length]) == lower(b[length]))
		length++;
	return length;
}

const char *nearest_word(const char *word, const char *const *words)
{
	const char *nearest = NULL;
	size_t length = strnlen(word, WORD_MOST_BYTES + 1), best_distance = SIZE_MAX, best_start = 0;
	if (length > WORD_MOST_BYTES)
		return NULL;
	for (; *words; words++) {
		size_t other = strnlen(*words, WORD_MOST_BYTES + 1);
		if (other > WORD_MOST_BYTES)
			continue;
		size_t longer = length > other ? length : other;
		size_t distance = edit_distance(word, length, *words, other), start = common_start(word, *words);
		if (distance > (longer + 2) / 3 || distance >= longer)
			continue;
		if (distance < best_distance || (distance == best_distance && start > best_start)) {
			nearest = *words;
			best_distance = distance;
			best_start = start;
		}
	}
	return nearest;
}

char *text_next_line(char **at)
{
	char *line = *at;
	if (!line || !*line)
		return NULL;
	char *end = strchr(line, '\n');
	if (end)
		*end = '\0';
	*at = end ? end + 1 : NULL;
	return line;
}
