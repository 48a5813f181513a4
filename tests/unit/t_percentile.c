/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Percentiles, ranks and grades against the worked numbers of the method. */
#include "tap.h"
#include "tare/stat.h"

static struct tare_percentile parsed(const char *text)
{
	struct tare_percentile p = {0};
	struct tare_err err = {0};
	if (tare_percentile_parse(text, &p, &err))
		printf("# %s\n", err.text);
	return p;
}

static void check_rank(const char *text, uint64_t n, uint64_t want)
{
	struct tare_percentile p = parsed(text);
	char name[80];
	snprintf(name, sizeof(name), "rank of p%s among %" PRIu64, text, n);
	IS_I64(tare_rank(&p, n), want, name);
}

static void check_needed(const char *text, uint64_t visible, uint64_t comparable)
{
	struct tare_percentile p = parsed(text);
	char name[80];
	snprintf(name, sizeof(name), "p%s has 10 behind from", text);
	IS_I64(tare_needed(&p, 10), visible, name);
	snprintf(name, sizeof(name), "p%s has 100 behind from", text);
	IS_I64(tare_needed(&p, 100), comparable, name);
}

static void check_refused(const char *text)
{
	struct tare_percentile p = {.num = 7};
	struct tare_err err = {0};
	OK(tare_percentile_parse(text, &p, &err) == -1 && err.code == TARE_E_USAGE && p.num == 7, "'%s' is refused: %s",
		text, err.text);
}

static void check_key(const char *text, const char *canonical, const char *key)
{
	struct tare_percentile p = parsed(text);
	IS_STR(p.text, canonical, text);
	IS_STR(p.key, key, text);
}

int main(void)
{
	check_rank("50", 10, 5);
	check_rank("50", 11, 6);
	check_rank("99.9", 9999, 9990);
	check_rank("99.9", 999, 999);
	check_rank("99.99", 100000, 99990);
	check_rank("99.9", 699860, 699161);
	check_rank("99.9", 9998, 9989);
	check_rank("99.9", 0, 0);
	check_rank("99.9", 1, 1);
	check_rank("0.000000001", 5, 1);
	check_rank("100", 5, 5);
	check_rank("100", UINT64_MAX, UINT64_MAX);
	check_rank("99.999999999", UINT64_MAX, UINT64_MAX - 184467440u);

	/* The trap: in doubles the ceiling is one too high at every multiple of 1000 tried. */
	struct tare_percentile p = parsed("99.9");
	int wrong = 0;
	for (uint64_t n = 1000; n <= 10000000; n += 1000)
		wrong += tare_rank(&p, n) != n / 1000 * 999;
	IS_I64(wrong, 0, "p99.9 of every multiple of 1000 up to 10^7 is exact");
	volatile double fraction = 99.9 / 100;
	volatile double product = fraction * 10000;
	OK(product > 9990, "the same in doubles lies above 9990, so its ceiling would be 9991");

	check_needed("99", 1000, 10000);
	check_needed("99.9", 10000, 100000);
	check_needed("99.99", 100000, 1000000);
	check_needed("99.999", 1000000, 10000000);
	check_needed("50", 20, 200);
	p = parsed("100");
	OK(tare_needed(&p, 1) == UINT64_MAX, "nothing is ever behind p100");
	p = parsed("99.999999999");
	OK(tare_needed(&p, UINT64_MAX) == UINT64_MAX, "a number that does not fit saturates");
	p = parsed("33.3");
	for (uint64_t behind = 1; behind < 200; behind++) {
		uint64_t n = tare_needed(&p, behind);
		if (n - tare_rank(&p, n) < behind || n - 1 - tare_rank(&p, n - 1) >= behind)
			wrong++;
	}
	IS_I64(wrong, 0, "needed is the smallest n, tried for p33.3 and 1 to 199 behind");

	IS_STR(tare_grade_name(tare_grade_of(0)), "none", "0 behind");
	IS_STR(tare_grade_name(tare_grade_of(1)), "weak", "1 behind");
	IS_STR(tare_grade_name(tare_grade_of(9)), "weak", "9 behind: 10000 sent, 2 dropped, p99.9");
	IS_STR(tare_grade_name(tare_grade_of(10)), "thin", "10 behind");
	IS_STR(tare_grade_name(tare_grade_of(99)), "thin", "99 behind");
	IS_STR(tare_grade_name(tare_grade_of(100)), "solid", "100 behind");

	check_key("99.9", "99.9", "p999");
	check_key("099.900", "99.9", "p999");
	check_key("50", "50", "p50");
	check_key("9.99", "9.99", "p9_99");
	check_key("0.5", "0.5", "p0_5");
	check_key("100.000", "100", "p100");
	check_key("99.999999999", "99.999999999", "p99999999999");

	const char *bad[] = {"", "0", "0.0", "101", "100.1", "-5", "+5", "1e2", "99,9", "99.", ".9", "99.9%", "nan",
		"inf", "99.9 ", " 99.9", "99.9999999999", "1000", "18446744073709551666", "0x10"};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		check_refused(bad[i]);
	return tap_done();
}
