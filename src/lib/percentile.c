/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Percentiles as exact fractions and the ranks they pick. No double takes part:
 * 99.9/100 x 10000 is 9990.0000000000018 in IEEE arithmetic, so its ceiling is
 * the wrong rank.
 */
#include <stdio.h>
#include <string.h>

#include "base/divisor.h"

#include "tare/stat.h"

__extension__ typedef unsigned __int128 wide;

enum { DECIMALS_MAX = 9, WHOLE_MAX = 3 };

static size_t digits_at(const char *text)
{
	return strspn(text, "0123456789");
}

/* "99.90" and "099.9" are 99.9: one value has one text and one key. */
static void canonical(
	const char *whole, size_t whole_count, const char *decimals, size_t decimal_count, struct tare_percentile *p)
{
	while (whole_count > 1 && *whole == '0') {
		whole++;
		whole_count--;
	}
	while (decimal_count && decimals[decimal_count - 1] == '0')
		decimal_count--;
	snprintf(p->text, sizeof(p->text), "%.*s%s%.*s", (int)whole_count, whole, decimal_count ? "." : "",
		(int)decimal_count, decimal_count ? decimals : "");
	/* A single digit before the point needs a mark: p9.99 would else share its key with p99.9. */
	snprintf(p->key, sizeof(p->key), "p%.*s%s%.*s", (int)whole_count, whole,
		decimal_count && whole_count == 1 ? "_" : "", (int)decimal_count, decimal_count ? decimals : "");
}

int tare_percentile_parse(const char *text, struct tare_percentile *ret_percentile, struct tare_err *err)
{
	size_t whole_count = digits_at(text);
	const char *decimals = text + whole_count;
	bool point = *decimals == '.';
	decimals += point;
	size_t decimal_count = point ? digits_at(decimals) : 0;
	if (!whole_count || (point && !decimal_count) || decimals[decimal_count])
		return tare_fail(
			err, TARE_E_USAGE, "'%.40s' is not a percentile; write a plain decimal such as 99.9", text);
	if (decimal_count > DECIMALS_MAX)
		return tare_fail(err, TARE_E_USAGE, "percentile '%.40s' has more than %d decimals", text, DECIMALS_MAX);
	if (whole_count > WHOLE_MAX)
		return tare_fail(err, TARE_E_USAGE, "percentile '%.40s' is not between 0 and 100", text);
	uint64_t num = 0, den = 100;
	for (size_t i = 0; i < whole_count; i++)
		num = num * 10 + (uint64_t)(text[i] - '0');
	for (size_t i = 0; i < decimal_count; i++) {
		num = num * 10 + (uint64_t)(decimals[i] - '0');
		den *= 10;
	}
	if (num == 0 || num > den)
		return tare_fail(err, TARE_E_USAGE, "percentile '%.40s' is not above 0 and at most 100", text);
	uint64_t divisor = common_divisor(num, den);
	struct tare_percentile p = {.num = num / divisor, .den = den / divisor};
	canonical(text, whole_count, decimals, decimal_count, &p);
	*ret_percentile = p;
	return 0;
}

uint64_t tare_rank(const struct tare_percentile *p, uint64_t n)
{
	if (n == 0)
		return 0;
	uint64_t k = (uint64_t)(((wide)p->num * n + p->den - 1) / p->den);
	return k < 1 ? 1 : k > n ? n : k;
}

enum tare_grade tare_grade_of(uint64_t behind)
{
	return behind >= 100  ? TARE_GRADE_SOLID
	       : behind >= 10 ? TARE_GRADE_THIN
	       : behind >= 1  ? TARE_GRADE_WEAK
			      : TARE_GRADE_NONE;
}

const char *tare_grade_name(enum tare_grade grade)
{
	static const char *const names[] = {
		[TARE_GRADE_NONE] = "none",
		[TARE_GRADE_WEAK] = "weak",
		[TARE_GRADE_THIN] = "thin",
		[TARE_GRADE_SOLID] = "solid",
	};
	return (unsigned)grade <= TARE_GRADE_SOLID ? names[grade] : "unknown";
}

uint64_t tare_needed(const struct tare_percentile *p, uint64_t behind)
{
	if (behind == 0)
		return 1;
	if (p->num >= p->den)
		return UINT64_MAX;
	/* n - ceil(p n) = floor(n (den - num) / den) >= behind */
	uint64_t rest = p->den - p->num;
	wide n = ((wide)behind * p->den + rest - 1) / rest;
	return n > UINT64_MAX ? UINT64_MAX : (uint64_t)n;
}
