/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Decimal text to nanoseconds in integers: 0.1 has no double, and 2^53 + 1 neither. */
#include "import/log/numbers.h"

#include <ctype.h>
#include <string.h>

__extension__ typedef __int128 wide;

static const struct { const char *name; int64_t ps; } units[] = {
	{"ps", 1},
	{"ns", 1000},
	{"us", 1000000},
	{"\xc2\xb5s", 1000000}, /* U+00B5, the micro sign */
	{"\xce\xbcs", 1000000}, /* U+03BC, Greek mu */
	{"ms", 1000000000},
	{"s", 1000000000000},
};

int64_t numbers_unit_ps(const char *text, size_t bytes)
{
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strlen(units[i].name) == bytes && memcmp(units[i].name, text, bytes) == 0)
			return units[i].ps;
	return 0;
}

const char *number_fault_text(enum number_fault fault)
{
	static const char *const texts[] = {[NUMBER_FINE] = "fine",
		[NUMBER_NONE] = "no number",
		[NUMBER_NOT_FINITE] = "not a finite number",
		[NUMBER_NEGATIVE] = "negative",
		[NUMBER_TOO_LARGE] = "too large for a time (292 years)"};
	return texts[fault];
}

static bool is_word(const char *text, size_t bytes, const char *word)
{
	if (strlen(word) != bytes)
		return false;
	for (size_t i = 0; i < bytes; i++)
		if (tolower((unsigned char)text[i]) != word[i])
			return false;
	return true;
}

static bool not_finite(const char *text, size_t bytes)
{
	if (bytes && (*text == '+' || *text == '-')) {
		text++;
		bytes--;
	}
	return is_word(text, bytes, "nan") || is_word(text, bytes, "inf") || is_word(text, bytes, "infinity");
}

/* Digits as mantissa x 10^exponent; false when it is no number or has more than 30 digits that matter. */
struct decimal { wide mantissa; int64_t exponent; bool negative, overflow; };

static bool read_exponent(const char *at, const char *end, int64_t *ret_exponent)
{
	int64_t value = 0;
	bool negative = at < end && *at == '-';
	if (at < end && (*at == '-' || *at == '+'))
		at++;
	if (at == end)
		return false;
	for (; at < end; at++) {
		if (!isdigit((unsigned char)*at))
			return false;
		value = value < 10000 ? value * 10 + (*at - '0') : value;
	}
	*ret_exponent = negative ? -value : value;
	return true;
}

static bool read_decimal(const char *text, size_t bytes, struct decimal *ret)
{
	const char *at = text, *end = text + bytes;
	struct decimal d = {0};
	bool digits = false, point = false;
	d.negative = at < end && *at == '-';
	if (at < end && (*at == '-' || *at == '+'))
		at++;
	for (; at < end && (isdigit((unsigned char)*at) || (*at == '.' && !point)); at++) {
		if (*at == '.') {
			point = true;
			continue;
		}
		digits = true;
		if (d.mantissa > (wide)1 << 100)
			d.overflow = true;
		else
			d.mantissa = d.mantissa * 10 + (*at - '0');
		d.exponent -= point;
	}
	if (!digits)
		return false;
	if (at < end && (*at == 'e' || *at == 'E')) {
		int64_t exponent;
		if (!read_exponent(at + 1, end, &exponent))
			return false;
		d.exponent += exponent;
		at = end;
	}
	*ret = d;
	return at == end;
}

/* value x 10^exponent rounded half up; INT64_MAX + 1 or more as *ret_overflow. */
static int64_t scaled(wide value, int64_t exponent, bool *ret_overflow)
{
	const wide most = INT64_MAX;
	wide half = 0;
	for (; exponent > 0 && value; exponent--) {
		if (value > most) {
			*ret_overflow = true;
			return 0;
		}
		value *= 10;
	}
	for (; exponent < 0 && value; exponent++) {
		half = value % 10;
		value /= 10;
	}
	value += half >= 5;
	*ret_overflow = value > most;
	return *ret_overflow ? 0 : (int64_t)value;
}

/* The power of ten of a unit in ns, whatever it is: ps is -3, s is 9. */
static int64_t exponent_of(int64_t unit_ps)
{
	int64_t exponent = -3;
	for (; unit_ps > 1; unit_ps /= 10)
		exponent++;
	return exponent;
}

enum number_fault numbers_read(const char *text, size_t bytes, int64_t unit_ps, int64_t *ret_ns, int64_t *ret_step_ps)
{
	struct decimal d;
	bool overflow;
	if (not_finite(text, bytes))
		return NUMBER_NOT_FINITE;
	if (!read_decimal(text, bytes, &d))
		return NUMBER_NONE;
	if (d.negative && d.mantissa)
		return NUMBER_NEGATIVE;
	int64_t ns = scaled(d.mantissa, d.exponent + exponent_of(unit_ps), &overflow);
	if (overflow || d.overflow)
		return NUMBER_TOO_LARGE;
	*ret_ns = ns;
	*ret_step_ps = scaled(1, d.exponent + exponent_of(unit_ps) + 3, &overflow);
	return NUMBER_FINE;
}
