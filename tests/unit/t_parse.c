/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text to numbers: exact values, every refusal with its sentence, and random values against their own digits. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "tap.h"

static const char duration_units[] = "ns, us, ms, s, min, h";

static void is_duration(const char *text, int64_t want)
{
	int64_t ns = -1;
	struct tare_err err = {.text = ""};
	if (parse_duration_ns(text, &ns, &err) < 0)
		printf("# %s\n", err.text);
	IS_I64(ns, want, text);
}

static void durations(void)
{
	is_duration("0s", 0);
	is_duration("0", 0);
	is_duration("0.00", 0);
	is_duration("7ns", 7);
	is_duration("10us", 10000);
	is_duration("10\xc2\xb5s", 10000);
	is_duration("10\xce\xbcs", 10000);
	is_duration("1.549 ms", 1549000);
	is_duration("0.1us", 100);
	is_duration(".5ms", 500000);
	is_duration("1.s", 1000000000);
	is_duration("1.5h", 5400000000000);
	is_duration("2min", 120000000000);
	is_duration("0.000000000025h", 90);
	is_duration("1.000000000000000000000000s", 1000000000);
	is_duration("0000000000000000000000000000001s", 1000000000);
	is_duration("9223372036.854775807s", INT64_MAX);
}

typedef int duration_parser(const char *text, int64_t *ret, struct tare_err *err);
typedef int count_parser(const char *text, uint64_t *ret, struct tare_err *err);

static void refuses_ns(duration_parser *parse, const char *text, const char *want)
{
	int64_t value = -77;
	struct tare_err err = {.text = ""};
	int result = parse(text, &value, &err);
	IS_STR(err.text, want, want);
	OK(result == -1 && value == -77 && err.code == TARE_E_USAGE, "… with -1, a usage error, nothing written");
}

static void refuses_count(count_parser *parse, const char *text, const char *want)
{
	uint64_t value = 77;
	struct tare_err err = {.text = ""};
	int result = parse(text, &value, &err);
	IS_STR(err.text, want, want);
	OK(result == -1 && value == 77 && err.code == TARE_E_USAGE, "… with -1, a usage error, nothing written");
}

static void bad_durations(void)
{
	char want[128];
	snprintf(want, sizeof(want), "'10' needs a unit: %s", duration_units);
	refuses_ns(parse_duration_ns, "10", want);
	snprintf(want, sizeof(want), "'0.5' needs a unit: %s", duration_units);
	refuses_ns(parse_duration_ns, "0.5", want);
	snprintf(want, sizeof(want), "'10parsec' has an unknown unit, known are: %s", duration_units);
	refuses_ns(parse_duration_ns, "10parsec", want);
	snprintf(want, sizeof(want), "'10s ' has an unknown unit, known are: %s", duration_units);
	refuses_ns(parse_duration_ns, "10s ", want);
	snprintf(want, sizeof(want), "'1h30min' has an unknown unit, known are: %s", duration_units);
	refuses_ns(parse_duration_ns, "1h30min", want);
	refuses_ns(parse_duration_ns, "0.0001us", "'0.0001us' is no multiple of 1 ns");
	refuses_ns(parse_duration_ns, "1.5ns", "'1.5ns' is no multiple of 1 ns");
	refuses_ns(parse_duration_ns, "-5ms", "'-5ms' is negative: a duration has no sign");
	refuses_ns(parse_duration_ns, "", "'' is not a duration like 10us");
	refuses_ns(parse_duration_ns, ".s", "'.s' is not a duration like 10us");
	refuses_ns(parse_duration_ns, "+1s", "'+1s' is not a duration like 10us");
	refuses_ns(parse_duration_ns, " 1s", "' 1s' is not a duration like 10us");
	refuses_ns(parse_duration_ns, "9223372036854775808ns", "'9223372036854775808ns' is too large");
	refuses_ns(parse_duration_ns, "9223372036.854775808s", "'9223372036.854775808s' is too large");
	refuses_ns(parse_duration_ns, "18446744073709551616ns", "'18446744073709551616ns' is too large");
	refuses_ns(parse_duration_ns, "99999999h", "'99999999h' is too large");
	refuses_ns(parse_duration_ns, "0.0000000000000000001h", "'0.0000000000000000001h' has more than 18 decimals");
}

static void is_interval(const char *text, int64_t want)
{
	int64_t ns = -1;
	struct tare_err err = {.text = ""};
	if (parse_interval_of_rate(text, &ns, &err) < 0)
		printf("# %s\n", err.text);
	IS_I64(ns, want, text);
}

static void rates(void)
{
	is_interval("50k/s", 20000);
	is_interval("50 k/s", 20000);
	is_interval("1M/s", 1000);
	is_interval("10/min", 6000000000);
	is_interval("2.5k/s", 400000);
	is_interval("1K/s", 1000000);
	is_interval("6/h", 600000000000);
	is_interval("0.5/s", 2000000000);
	is_interval("3/s", 333333333);
	is_interval("6/s", 166666667);
	is_interval("3M/s", 333);
	is_interval("1.5M/s", 667);
	is_interval("0.0000015G/s", 666667);
	is_interval("1G/s", 1);
	is_interval("0.4G/s", 3); /* 2.5 ns: half goes up */
	is_interval("0.001/h", 3600000000000000);
	is_interval("60G/min", 1);

	refuses_ns(parse_interval_of_rate, "50", "'50' needs a unit: /s, k/s, M/s, /min, /h");
	refuses_ns(parse_interval_of_rate, "50k", "'50k' needs a unit: /s, k/s, M/s, /min, /h");
	refuses_ns(parse_interval_of_rate, "5q/s", "'5q/s' has an unknown unit, known are: /s, k/s, M/s, /min, /h");
	refuses_ns(parse_interval_of_rate, "5/", "'5/' has an unknown unit, known are: /s, k/s, M/s, /min, /h");
	refuses_ns(parse_interval_of_rate, "/s", "'/s' is not a rate like 50k/s");
	refuses_ns(parse_interval_of_rate, "0/s", "'0/s' is no rate");
	refuses_ns(parse_interval_of_rate, "0.000k/s", "'0.000k/s' is no rate");
	refuses_ns(parse_interval_of_rate, "-1/s", "'-1/s' is negative: a rate has no sign");
	refuses_ns(parse_interval_of_rate, "1.1G/s", "'1.1G/s' is faster than one per ns");
	refuses_ns(parse_interval_of_rate, "18446744073709551615G/s",
		"'18446744073709551615G/s' is faster than one per ns");
	refuses_ns(parse_interval_of_rate, "18446744073709551616/s", "'18446744073709551616/s' is too large");
	refuses_ns(parse_interval_of_rate, "0.000000000001/h", "'0.000000000001/h' has too many digits");
	refuses_ns(parse_interval_of_rate, "0.0000000001/s", "'0.0000000001/s' is too slow");
}

static void is_count(count_parser *parse, const char *text, uint64_t want)
{
	uint64_t count = 0;
	struct tare_err err = {.text = ""};
	if (parse(text, &count, &err) < 0)
		printf("# %s\n", err.text);
	OK(count == want, "%s is %" PRIu64 " (got %" PRIu64 ")", text, want, count);
}

static void counts_and_sizes(void)
{
	is_count(parse_count, "10000", 10000);
	is_count(parse_count, "10k", 10000);
	is_count(parse_count, "1M", 1000000);
	is_count(parse_count, "1.5k", 1500);
	is_count(parse_count, "2G", 2000000000);
	is_count(parse_count, "18446744073709551615", UINT64_MAX);
	is_count(parse_count, "9007199254740993", 9007199254740993);
	refuses_count(parse_count, "1.5", "'1.5' is no multiple of 1");
	refuses_count(parse_count, "18446744073709551616", "'18446744073709551616' is too large");
	refuses_count(parse_count, "18446744073709552k", "'18446744073709552k' is too large");
	refuses_count(parse_count, "10x", "'10x' has an unknown unit, known are: k, M, G");
	refuses_count(parse_count, "-1", "'-1' is negative: a count has no sign");
	refuses_count(parse_count, "0x10", "'0x10' has an unknown unit, known are: k, M, G");

	is_count(parse_size_bytes, "64", 64);
	is_count(parse_size_bytes, "64B", 64);
	is_count(parse_size_bytes, "4k", 4000);
	is_count(parse_size_bytes, "4kB", 4000);
	is_count(parse_size_bytes, "4KiB", 4096);
	is_count(parse_size_bytes, "1MiB", 1048576);
	is_count(parse_size_bytes, "1.5 GiB", 1610612736);
	refuses_count(parse_size_bytes, "0.001KiB", "'0.001KiB' is no multiple of 1 byte");
	refuses_count(parse_size_bytes, "4q", "'4q' has an unknown unit, known are: B, k, M, G, KiB, MiB, GiB");
}

static void numbers(void)
{
	static const struct {
		const char *text;
		double want;
	} good[] = {{"0.5", 0.5}, {"-2e3", -2000}, {"+1", 1}, {".25", 0.25}, {"3.", 3}, {"1E-1", 0.1}};
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		double got = -77;
		OK(parse_number(good[i].text, &got, NULL) == 0 && !(got < good[i].want) && !(got > good[i].want),
			"number %s", good[i].text);
	}
	static const char *const bad[] = {
		"", "nan", "inf", "0x10", " 1", "1 ", "1e", "1e+", ".", "-", "1,5", "1e999", "-1e999"};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		double got = -77;
		OK(parse_number(bad[i], &got, NULL) == -1 && got < -76, "no number: '%s'", bad[i]);
	}
}

static void is_cpus(const char *text, const char *want)
{
	int cpus[64];
	size_t count = 99;
	struct tare_err err = {.text = ""};
	char bytes[256] = "";
	struct text got = TEXT_IN(bytes);
	if (parse_cpu_list(text, cpus, 64, &count, &err) < 0)
		text_add(&got, "%s", err.text);
	else
		for (size_t i = 0; i < count; i++)
			text_add(&got, "%s%d", i ? " " : "", cpus[i]);
	IS_STR(bytes, want, text);
}

static void cpu_lists(void)
{
	is_cpus("0", "0");
	is_cpus("0-3,8", "0 1 2 3 8");
	is_cpus("8,0-3,2,8", "0 1 2 3 8");
	is_cpus("0-31:2/8", "0 1 8 9 16 17 24 25");
	is_cpus("1-7:1/3\n", "1 4 7");
	is_cpus("8191", "8191");
	is_cpus("", "");
	is_cpus("\n", "");
	is_cpus("0-63,0-63", "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 "
			     "32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 "
			     "61 62 63");
	is_cpus("0-64", "'0-64' names 65 CPUs, more than 64");
	static const char *const bad[] = {",", "1,", ",1", "1--2", "3-1", "8192", "0-8192", "0-4294967296", "1-3:0/2",
		"1-3:3/2", "1-3:1/0", "1-3:1", "1-3:1/", "1:1/2", "x", "1 ", "1, 2", "-1", "1\n2", "1\n\n",
		"99999999999999999999"};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		int cpus[64] = {-7};
		size_t count = 99;
		OK(parse_cpu_list(bad[i], cpus, 64, &count, NULL) == -1 && count == 99 && cpus[0] == -7,
			"no CPU list, nothing written: case %zu", i);
	}
}

static uint64_t next(uint64_t *state)
{
	*state = *state * 6364136223846793005U + 1442695040888963407U;
	return *state >> 11;
}

static void random_durations(uint64_t *state)
{
	int wrong = 0;
	for (int i = 0; i < 20000; i++) {
		int64_t want = (int64_t)(next(state) << 10 >> (next(state) % 60)), got = -1;
		char text[64];
		snprintf(text, sizeof(text), "%" PRId64 ".%09" PRId64 "%ss", want / 1000000000, want % 1000000000,
			next(state) % 2 ? "" : " ");
		if (parse_duration_ns(text, &got, NULL) < 0 || got != want) {
			printf("# '%s' gave %" PRId64 "\n", text, got);
			wrong++;
		}
	}
	IS_I64(wrong, 0, "20000 random durations are exact to the ns");
}

/* The interval is the nearest one: for every whole rate r, |interval × r - 1e9| <= r / 2. */
static void random_rates(uint64_t *state)
{
	int wrong = 0;
	for (int i = 0; i < 20000; i++) {
		int64_t rate = 1 + (int64_t)(next(state) % 1000000000U >> (next(state) % 29)), interval = -1;
		char text[64];
		snprintf(text, sizeof(text), "%" PRId64 ".%03" PRId64 "k/s", rate / 1000, rate % 1000);
		if (parse_interval_of_rate(text, &interval, NULL) < 0 ||
			2 * llabs(interval * rate - 1000000000) > rate) {
			printf("# '%s' gave %" PRId64 "\n", text, interval);
			wrong++;
		}
	}
	IS_I64(wrong, 0, "20000 random rates give the nearest interval");
}

static bool same_cpus(uint64_t bits, const int *cpus, size_t count)
{
	size_t at = 0;
	for (int cpu = 0; cpu < 64; cpu++) {
		if (!(bits >> cpu & 1))
			continue;
		if (at >= count || cpus[at++] != cpu)
			return false;
	}
	return at == count;
}

static void random_cpu_lists(uint64_t *state)
{
	int wrong = 0;
	for (int i = 0; i < 2000; i++) {
		uint64_t bits = next(state) << 11 ^ next(state);
		char bytes[256];
		struct text text = TEXT_IN(bytes);
		bytes[0] = '\0';
		for (int cpu = 0; cpu < 64; cpu++) {
			int last = cpu;
			if (!(bits >> cpu & 1))
				continue;
			while (last < 63 && bits >> (last + 1) & 1)
				last++;
			text_add(&text, "%s%d", text.used ? "," : "", cpu);
			if (last > cpu)
				text_add(&text, "-%d", last);
			cpu = last;
		}
		int cpus[64];
		size_t count = 0;
		if (parse_cpu_list(bytes, cpus, 64, &count, NULL) < 0 || !same_cpus(bits, cpus, count)) {
			printf("# '%s'\n", bytes);
			wrong++;
		}
	}
	IS_I64(wrong, 0, "2000 random CPU lists");
}

int main(void)
{
	durations();
	bad_durations();
	rates();
	counts_and_sizes();
	numbers();
	cpu_lists();
	uint64_t state = 8762;
	printf("# seed %" PRIu64 "\n", state);
	random_durations(&state);
	random_rates(&state);
	random_cpu_lists(&state);
	return tap_done();
}
