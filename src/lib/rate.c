/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Asked and held rate. Planned time is that between the first and the last due time, so that drawn schedules count as well. */
#include "tare/rate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/packed.h"
#include "lib/select.h"

/* At either end of the round lateness is the median of a tenth of the requests, at most this many. */
enum { END_MOST = 1000 };

/* Median lateness of requests from `from` on, going up or down by `step`; 0 when none was sent. */
static int64_t median_lateness_ns(const struct tare_series *series, size_t from, int step)
{
	int64_t late_ns[END_MOST];
	size_t wanted = series->count / 10 + 1, n = 0;
	wanted = wanted < END_MOST ? wanted : END_MOST;
	for (size_t i = from; i < series->count && n < wanted; i += (size_t)step) {
		int64_t value = tare_span_of(series, TARE_SPAN_LATE, i);
		if (value != TARE_NO_TIME)
			late_ns[n++] = value;
	}
	if (n == 0)
		return 0;
	return select_integer(late_ns, n, n / 2);
}

static size_t skipped_in(const struct tare_series *series)
{
	size_t skipped = 0;
	for (size_t i = 0; series->flags && i < series->count; i++)
		skipped += (series->flags[i] & TARE_FLAG_SKIPPED) != 0;
	return skipped;
}

struct tare_rate tare_rate_of(const struct tare_record *record)
{
	const struct tare_series *series = &record->series;
	int64_t interval_ns = record->round->interval_ns;
	struct tare_rate rate = {.asked = NAN, .held = NAN, .ok = true};
	if (interval_ns <= 0)
		return rate;
	rate.asked = 1e9 / (double)interval_ns;
	if (!series_has(series, TARE_STAGE_DUE))
		return rate;
	rate.held = rate.asked;
	if (series->count < 2)
		return rate;
	size_t skipped = skipped_in(series);
	if (skipped) {
		rate.held = rate.asked * (double)(series->count - skipped) / (double)series->count;
	} else {
		double planned_ns = (double)series_stage_at(series, TARE_STAGE_DUE, series->count - 1) -
				    (double)series_stage_at(series, TARE_STAGE_DUE, 0);
		/* what grew between start and end: a constant lateness is a slow wake-up, not a rate that slips */
		int64_t slip_ns = median_lateness_ns(series, series->count - 1, -1) - median_lateness_ns(series, 0, 1);
		if (slip_ns > interval_ns && planned_ns > 0)
			rate.held = rate.asked * planned_ns / (planned_ns + (double)slip_ns);
	}
	rate.ok = rate.held >= TARE_RATE_HELD * rate.asked;
	return rate;
}

/* Requests looked at: enough for a burst of the largest size and the one behind it. */
enum { SCHEDULE_LOOK = 4096 };

static bool is_near(int64_t gap_ns, int64_t expected_ns, const struct tare_round *round)
{
	/* both neighbours may be moved, one towards the other */
	return llabs(gap_ns - expected_ns) <= 2 * round->jitter_ns;
}

/* Every gap within a burst is 0 and every one between two is `burst` intervals. */
static bool is_in_bursts(const int64_t *due_ns, size_t count, size_t burst, const struct tare_round *round)
{
	for (size_t i = 1; i < count; i++) {
		int64_t gap_ns = due_ns[i] - due_ns[i - 1];
		if (i % burst ? gap_ns != 0 : !is_near(gap_ns, (int64_t)burst * round->interval_ns, round))
			return false;
	}
	return true;
}

enum tare_schedule tare_schedule_of(const struct tare_record *record, uint32_t *ret_burst)
{
	int64_t due_ns[SCHEDULE_LOOK];
	size_t count = record->series.count < SCHEDULE_LOOK ? record->series.count : SCHEDULE_LOOK, burst = 1;
	*ret_burst = 1;
	if (record->origin.format || !series_has(&record->series, TARE_STAGE_DUE) || record->round->interval_ns <= 0 || count < 3)
		return TARE_SCHEDULE_UNKNOWN;
	tare_stage_times(&record->series, TARE_STAGE_DUE, 0, count, due_ns);
	while (burst < count && due_ns[burst] == due_ns[0])
		burst++;
	if (!is_in_bursts(due_ns, count, burst, record->round))
		return TARE_SCHEDULE_POISSON;
	*ret_burst = (uint32_t)burst;
	return burst > 1 ? TARE_SCHEDULE_BURST : TARE_SCHEDULE_PERIODIC;
}

void tare_schedule_text(const struct tare_record *record, char ret_text[TARE_SCHEDULE_TEXT])
{
	uint32_t burst;
	ret_text[0] = '\0';
	switch (tare_schedule_of(record, &burst)) {
	case TARE_SCHEDULE_PERIODIC:
		snprintf(ret_text, TARE_SCHEDULE_TEXT, "periodic");
		break;
	case TARE_SCHEDULE_BURST:
		snprintf(ret_text, TARE_SCHEDULE_TEXT, "burst:%u", burst);
		break;
	case TARE_SCHEDULE_POISSON:
		snprintf(ret_text, TARE_SCHEDULE_TEXT, "poisson");
		break;
	case TARE_SCHEDULE_UNKNOWN:
		break;
	}
}
