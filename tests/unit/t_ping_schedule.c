/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The schedule that send times show: inference, slip over holes, steps back, and when which sentence is said. */
#include <stdlib.h>

#include "import/import.h"
#include "tap.h"
#include "tare/sample.h"

enum { COUNT = 1001 };

static struct ping_schedule of(const int64_t *sent_ns, size_t count, int64_t every_ns)
{
	static int64_t scratch[COUNT];
	struct ping_schedule schedule;
	ping_schedule_of(sent_ns, count, every_ns, scratch, &schedule);
	return schedule;
}

static struct ping_schedule steady(int64_t gap_ns, int64_t every_ns)
{
	static int64_t sent_ns[COUNT];
	for (size_t i = 0; i < COUNT; i++)
		sent_ns[i] = 7 + (int64_t)i * gap_ns;
	return of(sent_ns, COUNT, every_ns);
}

static void test_inference(void)
{
	static const struct {
		int64_t gap_ns, asked_ns;
	} cases[] = {
		{5454000, 5000000},
		{5000000, 5000000},
		{4990000, 5000000},
		{4749000, 2000000},
		{1003500000, 1000000000},
		{999470000, 1000000000},
		{203870000, 200000000},
		{1, 1},
		{2, 2},
		{0, 0},
		{19000, 20000},
		{9499, 5000},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct ping_schedule schedule = steady(cases[i].gap_ns, 0);
		char name[64];
		snprintf(name, sizeof(name), "gaps of %" PRId64 " ns", cases[i].gap_ns);
		IS_I64(schedule.asked_ns, cases[i].asked_ns, name);
	}
}

static void test_figures(void)
{
	int64_t sent_ns[] = {100, 1100, TARE_NO_TIME, 3400, 4400, 5500};
	struct ping_schedule schedule = of(sent_ns, 6, 1000);
	IS_I64(schedule.gaps, 3, "a hole interrupts the gaps");
	IS_I64(schedule.intervals, 5, "but not the way");
	IS_I64(schedule.slip_ns, 400, "slip = last - first - intervals x asked");
	IS_I64(schedule.mean_excess_ns, 80, "mean excess");
	IS_I64(schedule.median_ns, 1000, "median by nearest rank");
	IS_I64(schedule.max_ns, 1100, "max");
	OK(!schedule.inferred, "asked, not inferred");

	int64_t back_ns[] = {1000, 2000, -50000, -49000, -48000};
	schedule = of(back_ns, 5, 1000);
	IS_I64(schedule.backwards, 1, "a step back is counted");
	IS_I64(schedule.slip_ns, 0, "and left out of the slip");
	IS_I64(schedule.gaps, 3, "and of the gaps");

	int64_t wild_ns[] = {0, 9000000000000000000, 0, 9000000000000000000, TARE_NO_TIME};
	schedule = of(wild_ns, 5, 1000);
	OK(schedule.backwards == 2, "sums beyond 64 bits are left out");

	int64_t none_ns[] = {TARE_NO_TIME, 5, TARE_NO_TIME};
	schedule = of(none_ns, 3, 1000);
	IS_I64(schedule.gaps, 0, "one time is no gap");
	IS_I64(schedule.slip_ns, 0, "and no slip");
	schedule = of(none_ns, 0, 0);
	IS_I64(schedule.asked_ns, 0, "nothing suggests nothing");
}

static void says(struct ping_schedule schedule, int64_t rtt_ns, const char *want, const char *name)
{
	char text[400];
	ping_schedule_text(&schedule, rtt_ns, text, sizeof(text));
	IS_STR(text, want, name);
}

static void test_sentences(void)
{
	says(steady(5454000, 5000000), 1000,
		"every gap was 454 µs too long, the schedule slipped 454 ms; the RTT column shows 1 µs a packet",
		"held up");
	says(steady(5004000, 5000000), 1000,
		"kept: the median gap is within 10 µs of the 5 ms asked, the schedule slipped 4 ms over 1000 gaps",
		"kept");
	says(steady(5000000, 10000000), 1000,
		"the gaps are shorter than the 10 ms asked, the median by 5 ms: was another interval asked for?",
		"shorter");
	says(steady(0, 0), 1000,
		"whether the schedule was kept cannot be told: the gaps suggest no interval (tare stat --every says "
		"which was "
		"asked for)",
		"a flood");
	says(of(NULL, 0, 0), TARE_NO_TIME,
		"whether the schedule was kept cannot be told: no two neighbouring requests have send times",
		"no times");

	/* one pause of 8 s among 1000 kept gaps moves the mean, not the median: still kept, with its slip */
	static int64_t sent_ns[COUNT];
	for (size_t i = 0; i < COUNT; i++)
		sent_ns[i] = (int64_t)i * 5000000 + (i > 500 ? 8000000000 : 0);
	says(of(sent_ns, COUNT, 5000000), 1000,
		"kept: the median gap is within 10 µs of the 5 ms asked, the schedule slipped 8 s over 1000 gaps",
		"a pause");

	/* 51 % of the gaps 1 ms too long: not every gap */
	int64_t at = 0;
	for (size_t i = 0; i < COUNT; i++) {
		sent_ns[i] = at;
		at += i % 100 < 51 ? 6000000 : 5000000;
	}
	says(of(sent_ns, COUNT, 5000000), TARE_NO_TIME,
		"half of the gaps were at least 1 ms too long, on average 510 µs, the schedule slipped 510 ms",
		"half of them");
}

int main(void)
{
	test_inference();
	test_figures();
	test_sentences();
	return tap_done();
}
