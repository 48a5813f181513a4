/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whether a ping kept its schedule. Its RTT column cannot say: that stopwatch
 * starts when the request really leaves, so a ping held up 454 µs a packet by a
 * busy core shows the same 1 µs as before. The times between the requests can.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "import/import.h"
#include "tare/sample.h"

static int by_value(const void *a, const void *b)
{
	int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
	return (left > right) - (left < right);
}

static int64_t nearest_rank(const int64_t *sorted, size_t count, unsigned percent)
{
	size_t rank = count / 100 * percent + (count % 100 * percent + 99) / 100;
	return sorted[rank - 1];
}

static int64_t divide_rounded(int64_t value, uint64_t by)
{
	int64_t divisor = (int64_t)by, quotient = value / divisor, rest = value % divisor;
	int64_t size = rest < 0 ? -rest : rest;
	if (size >= divisor - size)
		quotient += value < 0 ? -1 : 1;
	return quotient;
}

/* The largest of 1, 2, 5 x 10^k ns with 0.95 of it not above the first percentile; 0 when that is below 1 ns. */
static int64_t infer(int64_t first_percentile_ns)
{
	static const int64_t steps[] = {1, 2, 5};
	int64_t found = 0;
	for (int64_t power = 1; power <= INT64_C(100000000000000000); power *= 10) {
		for (size_t i = 0; i < 3; i++) {
			int64_t value = steps[i] * power;
			if (value - value / 20 <= first_percentile_ns)
				found = value;
		}
	}
	return found;
}

/* Sums the way between known times, holes included, into *ret_elapsed; the gaps between neighbours go to scratch. */
static void walk(
	const int64_t *sent_ns, size_t count, int64_t *scratch, struct ping_schedule *schedule, int64_t *ret_elapsed)
{
	size_t last = SIZE_MAX;
	int64_t elapsed = 0;
	for (size_t i = 0; i < count; i++) {
		if (sent_ns[i] == TARE_NO_TIME)
			continue;
		size_t before = last;
		int64_t way = 0;
		last = i;
		if (before == SIZE_MAX)
			continue;
		if (__builtin_sub_overflow(sent_ns[i], sent_ns[before], &way) || way < 0) {
			schedule->backwards++;
			continue;
		}
		/* alternating impossible times could sum up beyond 64 bits: such a way is left out, too */
		if (__builtin_add_overflow(elapsed, way, &elapsed)) {
			schedule->backwards++;
			elapsed = INT64_MAX;
			continue;
		}
		schedule->intervals += i - before;
		if (i - before == 1)
			scratch[schedule->gaps++] = way;
	}
	*ret_elapsed = elapsed;
}

void ping_schedule_of(
	const int64_t *sent_ns, size_t count, int64_t every_ns, int64_t *scratch, struct ping_schedule *ret_schedule)
{
	struct ping_schedule schedule = {0};
	int64_t elapsed = 0, planned = 0;
	walk(sent_ns, count, scratch, &schedule, &elapsed);
	if (schedule.gaps) {
		size_t gaps = (size_t)schedule.gaps;
		qsort(scratch, gaps, sizeof(*scratch), by_value);
		schedule.min_ns = scratch[0];
		schedule.first_percentile_ns = nearest_rank(scratch, gaps, 1);
		schedule.median_ns = nearest_rank(scratch, gaps, 50);
		schedule.p99_ns = nearest_rank(scratch, gaps, 99);
		schedule.max_ns = scratch[gaps - 1];
	}
	schedule.inferred = every_ns <= 0;
	schedule.asked_ns = schedule.inferred ? infer(schedule.first_percentile_ns) : every_ns;
	if (!schedule.gaps || schedule.asked_ns <= 0 ||
		__builtin_mul_overflow(schedule.asked_ns, (int64_t)schedule.intervals, &planned)) {
		schedule.asked_ns = schedule.inferred ? 0 : every_ns;
	} else {
		schedule.slip_ns = elapsed - planned;
		schedule.mean_excess_ns = divide_rounded(schedule.slip_ns, schedule.intervals);
		schedule.median_excess_ns = schedule.median_ns - schedule.asked_ns;
	}
	*ret_schedule = schedule;
}

/* "908 ms": three digits, without a sign. */
struct short_text {
	char text[40];
};
static struct short_text in_short(int64_t ns)
{
	struct short_text out;
	uint64_t unit = 1, size = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
	while (size / unit >= 1000)
		unit *= 10;
	size = (size + unit / 2) / unit * unit;
	format_duration(size > INT64_MAX ? INT64_MAX : (int64_t)size, out.text, sizeof(out.text));
	return out;
}

static void say_slipped(const struct ping_schedule *schedule, struct text *text)
{
	int64_t mean = schedule->mean_excess_ns, median = schedule->median_excess_ns;
	int64_t apart = mean > median ? mean - median : median - mean;
	if (apart > median / 4) {
		text_add(text, "half of the gaps were at least %s too long, on average %s%s", in_short(median).text,
			mean < 0 ? "-" : "", in_short(mean).text);
	} else {
		bool all = schedule->min_ns > schedule->asked_ns + median / 2;
		bool most = schedule->first_percentile_ns > schedule->asked_ns + median / 2;
		text_add(text, "%s was %s too long",
			all    ? "every gap"
			: most ? "nearly every gap"
			       : "the mean gap",
			in_short(mean).text);
	}
	text_add(text, ", the schedule %s %s", schedule->slip_ns < 0 ? "gained" : "slipped",
		in_short(schedule->slip_ns).text);
}

size_t ping_schedule_text(const struct ping_schedule *schedule, int64_t median_rtt_ns, char *buffer, size_t room)
{
	/* -D prints whole microseconds; ten of them, and 0.2 %, are beyond what print times alone do to a median */
	const int64_t step_ns = 1000;
	struct text text = {.bytes = buffer, .room = room};
	int64_t least = schedule->asked_ns / 500 > 10 * step_ns ? schedule->asked_ns / 500 : 10 * step_ns;
	if (!schedule->gaps || schedule->asked_ns <= 0) {
		text_add(&text, "whether the schedule was kept cannot be told: %s",
			schedule->gaps ? "the gaps suggest no interval (tare stat --every says which was asked for)"
				       : "no two neighbouring requests have send times");
	} else if (schedule->median_excess_ns >= least) {
		say_slipped(schedule, &text);
		if (median_rtt_ns != TARE_NO_TIME)
			text_add(&text, "; the RTT column shows %s a packet", in_short(median_rtt_ns).text);
	} else if (schedule->median_excess_ns <= -least) {
		text_add(&text,
			"the gaps are shorter than the %s asked, the median by %s: was another interval asked for?",
			in_short(schedule->asked_ns).text, in_short(schedule->median_excess_ns).text);
	} else {
		text_add(&text, "kept: the median gap is within %s of the %s asked, the schedule %s %s over %llu gaps",
			in_short(least).text, in_short(schedule->asked_ns).text,
			schedule->slip_ns < 0 ? "gained" : "slipped", in_short(schedule->slip_ns).text,
			(unsigned long long)schedule->intervals);
	}
	return text.used;
}
