/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Numbers in ping's lines: exact decimal arithmetic, comma and dot alike, no
 * thousands separators (no ping prints them), no exponents. Whatever follows a
 * number without being a unit makes it malformed rather than a smaller number.
 */
#include "import/log/ping_line.h"

#include <string.h>
#include <strings.h>

#include "tare/sample.h"

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80;
}

bool slice_is(struct slice slice, const char *word)
{
	return slice.bytes == strlen(word) && strncasecmp(slice.at, word, slice.bytes) == 0;
}

bool slice_ends(struct slice slice, const char *word)
{
	size_t bytes = strlen(word);
	return slice.bytes >= bytes && strncasecmp(slice.at + slice.bytes - bytes, word, bytes) == 0;
}

bool ping_number(const char *at, size_t bytes, uint64_t most, uint64_t *ret_number)
{
	uint64_t number = 0;
	for (size_t i = 0; i < bytes; i++) {
		if (__builtin_mul_overflow(number, 10u, &number) ||
			__builtin_add_overflow(number, (uint64_t)(at[i] - '0'), &number) || number > most)
			return false;
	}
	*ret_number = number;
	return bytes > 0;
}

static const char *skip_spaces(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	return at;
}

/* The punctuation of East Asia, "、" "。" and "，": no part of a word. Its bytes, or 0. */
static size_t wide_stop(const char *at, const char *end)
{
	const unsigned char *c = (const unsigned char *)at;
	bool ideographic = end - at >= 3 && c[0] == 0xE3 && c[1] == 0x80 && c[2] >= 0x80 && c[2] <= 0x82;
	bool fullwidth = end - at >= 3 && c[0] == 0xEF && c[1] == 0xBC && (c[2] == 0x8C || c[2] == 0x8E);
	return ideographic || fullwidth ? 3 : 0;
}

static struct slice key_before(const char *text, const char *sign)
{
	const char *end = sign;
	while (end > text && end[-1] == ' ')
		end--;
	const char *at = end;
	while (at > text && (unsigned char)at[-1] > ' ' && !strchr(":,;()[]=<", at[-1]) &&
		!(at - text >= 3 && wide_stop(at - 3, at)))
		at--;
	return (struct slice){at, (size_t)(end - at)};
}

/* The unit behind a number, unless the word there is the next item's key ("bytes=32 time=…"). */
static struct slice unit_behind(const char *at, const char *end)
{
	const char *word = skip_spaces(at, end);
	const char *stop = word;
	while (stop < end && !wide_stop(stop, end) && (is_letter(*stop) || (stop > word && is_digit(*stop))))
		stop++;
	if (wide_stop(stop, end))
		return (struct slice){word, (size_t)(stop - word)};
	const char *sign = skip_spaces(stop, end);
	if (sign < end && (*sign == '=' || *sign == '<'))
		return (struct slice){at, 0};
	return (struct slice){word, (size_t)(stop - word)};
}

static bool read_item(const char *text, const char *sign, const char *end, struct ping_item *item)
{
	const char *at = skip_spaces(sign + 1, end);
	*item = (struct ping_item){.key = key_before(text, sign), .less = *sign == '<'};
	if (at < end && (*at == '-' || *at == '+')) {
		item->negative = *at == '-';
		at++;
	}
	const char *number = at;
	while (at < end && is_digit(*at))
		at++;
	if (at == number)
		return false;
	bool whole = true;
	if (at + 1 < end && (*at == '.' || *at == ',') && is_digit(at[1])) {
		whole = false;
		at++;
		while (at < end && is_digit(*at))
			at++;
	}
	item->number = (struct slice){number, (size_t)(at - number)};
	item->malformed = at + 1 < end && !whole && (*at == '.' || *at == ',') && is_digit(at[1]);
	item->slashed = at < end && *at == '/';
	item->unit = unit_behind(at, end);
	item->end = item->unit.bytes ? item->unit.at + item->unit.bytes : at;
	return true;
}

size_t ping_items(const char *text, size_t bytes, struct ping_item *ret_items)
{
	const char *end = text + bytes;
	size_t count = 0;
	for (const char *at = text; at < end && count < PING_ITEMS_MAX; at++) {
		if ((*at == '=' || *at == '<') && read_item(text, at, end, &ret_items[count])) {
			at = ret_items[count].number.at + ret_items[count].number.bytes - 1;
			count++;
		}
	}
	return count;
}

/*
 * Nanoseconds of one unit. Not ASCII: a translation or a code page of "ms", the
 * only unit that the translated pings print, except microseconds where they
 * can be told. 0: not a unit of time.
 */
static int64_t unit_ns(struct slice unit)
{
	static const struct {
		const char *word;
		int64_t ns;
	} units[] = {
		{"ms", 1000000},
		{"msec", 1000000},
		{"msek", 1000000},
		{"ezredmp", 1000000},
		{"us", 1000},
		{"usec", 1000},
		{"\xC2\xB5s", 1000},
		{"\xCE\xBCs", 1000},
		{"\xB5s", 1000},
		{"\xD0\xBC\xD0\xBA\xD1\x81", 1000},
		{"ns", 1},
		{"s", 1000000000},
	};
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (slice_is(unit, units[i].word))
			return units[i].ns;
	}
	for (size_t i = 0; i < unit.bytes; i++) {
		if ((unsigned char)unit.at[i] < 0x80)
			return 0;
	}
	return unit.bytes ? 1000000 : 0;
}

const char *ping_item_time(const struct ping_item *item, int64_t *ret_ns, int64_t *ret_resolution_ns)
{
	/* A year: a host that slept with an answer in its socket prints days, nothing prints more. */
	const int64_t most_ns = INT64_C(366) * 86400 * 1000000000;
	int64_t step = unit_ns(item->unit), value = 0;
	bool fraction = false;
	if (item->negative)
		return "a negative time";
	if (item->malformed)
		return "a time with two decimal signs";
	if (!step)
		return "a time without a unit that tare knows";
	int64_t unit = step;
	for (size_t i = 0; i < item->number.bytes; i++) {
		char c = item->number.at[i];
		if (!is_digit(c)) {
			fraction = true;
			continue;
		}
		if (fraction && step % 10)
			return "a time finer than a nanosecond";
		step = fraction ? step / 10 : step;
		int64_t part = (c - '0') * (fraction ? step : unit);
		if (!fraction && __builtin_mul_overflow(value, 10, &value))
			return "a time of more than a year";
		value += part;
		if (value > most_ns)
			return "a time of more than a year";
	}
	*ret_ns = value;
	*ret_resolution_ns = step;
	return NULL;
}

int ping_stamp(const char *text, size_t bytes, int64_t *ret_ns)
{
	/* 2255: below that, times, their differences and a year's rtt fit into 64 bits. */
	const uint64_t most_seconds = 9000000000u;
	const char *at = text + 1, *end = text + bytes;
	uint64_t seconds = 0, fraction = 0;
	if (bytes < 3 || *text != '[' || !(is_digit(*at) || *at == '-' || *at == '+'))
		return 0;
	const char *close = memchr(at, ']', (size_t)(end - at));
	if (!close)
		return 0;
	const char *dot = memchr(at, '.', (size_t)(close - at));
	if (!dot)
		return 0;
	size_t digits = (size_t)(close - dot - 1);
	for (const char *c = at; c < close; c++) {
		if (c != dot && !is_digit(*c))
			return -1;
	}
	if (!ping_number(at, (size_t)(dot - at), most_seconds, &seconds) || digits < 1 || digits > 9 ||
		!ping_number(dot + 1, digits, 999999999u, &fraction))
		return -1;
	for (size_t i = digits; i < 9; i++)
		fraction *= 10;
	*ret_ns = (int64_t)(seconds * 1000000000u + fraction);
	return (int)(close + 1 - text);
}

void ping_times_read(const struct ping_item *items, size_t count, const char *end, struct ping_line *line)
{
	static const size_t windows_order[3] = {0, 2, 1};
	int64_t step_ns;
	for (size_t i = 0; i < 3; i++)
		line->times_ns[i] = TARE_NO_TIME;
	if (count == 3 && !items[0].slashed) {
		for (size_t i = 0; i < 3; i++)
			(void)ping_item_time(&items[windows_order[i]], &line->times_ns[i], &line->times_step_ns);
		return;
	}
	struct ping_item item = {.unit = {"ms", 2}};
	const char *at = items[0].number.at;
	for (size_t i = 0; i < 3 && at < end; i++) {
		size_t bytes = 0;
		while (at + bytes < end && (is_digit(at[bytes]) || at[bytes] == '.' || at[bytes] == ','))
			bytes++;
		item.number = (struct slice){at, bytes};
		bool read = bytes && !ping_item_time(&item, &line->times_ns[i], &step_ns);
		line->times_step_ns = read ? step_ns : line->times_step_ns;
		at += bytes + 1;
	}
}
