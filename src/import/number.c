/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Decimal digits and a power of ten, in integers. */
#include "import/number.h"

#include <string.h>
#include <strings.h>

struct digits {
	uint64_t value;
	int exponent, decimals;
	bool any, too_many;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* More digits than 64 bits hold: behind the point they are dropped (after rounding they are worth less than 1 ns). */
static void take_digit(struct digits *digits, char c, bool behind)
{
	uint64_t value;
	digits->any = true;
	if (digits->too_many || __builtin_mul_overflow(digits->value, 10U, &value) ||
		__builtin_add_overflow(value, (unsigned)(c - '0'), &value)) {
		digits->too_many = true;
		digits->exponent += behind ? 0 : 1;
		return;
	}
	digits->value = value;
	digits->exponent -= behind ? 1 : 0;
	digits->decimals += behind ? 1 : 0;
}

static bool take_exponent(struct digits *digits, const char *at, const char *end)
{
	int sign = 1, value = 0;
	if (at < end && (*at == '+' || *at == '-'))
		sign = *at++ == '-' ? -1 : 1;
	if (at == end)
		return false;
	for (; at < end; at++) {
		if (!is_digit(*at))
			return false;
		value = value < 10000 ? value * 10 + (*at - '0') : value;
	}
	digits->exponent += sign * value;
	digits->decimals -= sign * value;
	return true;
}

static const char *read_digits(const char *at, const char *end, struct digits *digits)
{
	for (; at < end && is_digit(*at); at++)
		take_digit(digits, *at, false);
	if (at < end && (*at == '.' || *at == ',')) {
		for (at++; at < end && is_digit(*at); at++)
			take_digit(digits, *at, true);
	}
	if (!digits->any)
		return "is no number";
	if (at < end && (*at == 'e' || *at == 'E'))
		return take_exponent(digits, at + 1, end) ? NULL : "is no number";
	return at == end ? NULL : "is no number";
}

static const char *to_ns(const struct digits *digits, int power, bool negative, int64_t *ret_ns)
{
	uint64_t value = digits->value;
	for (; power > 0 && value; power--) {
		if (__builtin_mul_overflow(value, 10U, &value))
			return "is too large";
	}
	unsigned last = 0;
	for (; power < 0 && (value || last); power++) {
		last = (unsigned)(value % 10);
		value /= 10;
	}
	value += last >= 5;
	if (value > INT64_MAX)
		return "is too large";
	*ret_ns = negative ? -(int64_t)value : (int64_t)value;
	return NULL;
}

static bool is_word(const char *at, const char *end, const char *word)
{
	return (size_t)(end - at) == strlen(word) && strncasecmp(at, word, strlen(word)) == 0;
}

struct number number_read(const char *text, size_t bytes, int unit)
{
	const char *at = text, *end = text + bytes;
	struct number number = {.step_ns = 1};
	struct digits digits = {0};
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	while (end > at && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	bool negative = at < end && *at == '-';
	at += at < end && (*at == '-' || *at == '+');
	if (is_word(at, end, "nan") || is_word(at, end, "nan(ind)"))
		number.why = "is not a number (NaN)";
	else if (is_word(at, end, "inf") || is_word(at, end, "infinity"))
		number.why = "is infinite";
	else
		number.why = read_digits(at, end, &digits);
	if (number.why)
		return number;
	number.why = to_ns(&digits, digits.exponent + unit, negative, &number.ns);
	for (int power = unit - digits.decimals; power > 0 && number.step_ns < INT64_MAX / 10; power--)
		number.step_ns *= 10;
	return number;
}

bool number_unit(const char *text, size_t bytes, int *ret_unit)
{
	static const struct {
		const char *word;
		int unit;
	} units[] = {{"ps", UNIT_PS}, {"psec", UNIT_PS}, {"ns", UNIT_ONE_NS}, {"nsec", UNIT_ONE_NS},
		{"nanoseconds", UNIT_ONE_NS}, {"us", UNIT_US}, {"usec", UNIT_US}, {"microseconds", UNIT_US},
		{"\xc2\xb5s", UNIT_US}, {"\xce\xbcs", UNIT_US}, {"ms", UNIT_MS}, {"msec", UNIT_MS},
		{"milliseconds", UNIT_MS}, {"s", UNIT_S}, {"sec", UNIT_S}, {"secs", UNIT_S}, {"seconds", UNIT_S}};
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strlen(units[i].word) == bytes && strncasecmp(text, units[i].word, bytes) == 0) {
			*ret_unit = units[i].unit;
			return true;
		}
	}
	return false;
}

bool number_count(const char *text, size_t bytes, uint64_t *ret_count)
{
	uint64_t value = 0;
	size_t i = 0;
	while (i < bytes && text[i] == ' ')
		i++;
	while (bytes > i && text[bytes - 1] == ' ')
		bytes--;
	if (i == bytes)
		return false;
	for (; i < bytes; i++) {
		if (!is_digit(text[i]) || __builtin_mul_overflow(value, 10U, &value) ||
			__builtin_add_overflow(value, (unsigned)(text[i] - '0'), &value))
			return false;
	}
	*ret_count = value;
	return true;
}
