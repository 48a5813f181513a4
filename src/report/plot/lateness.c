/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Our own lateness against the round trip: a sender that was held up moves
 * points to the right, a slow answer moves them up, and a tool that starts its
 * stopwatch at the send sees only the latter.
 */
#include <stdlib.h>

#include "report/plot/collect.h"

static int open_lateness(struct plot_target *plot, struct tare_err *err)
{
	struct plot_lateness *lateness = calloc(1, sizeof(*lateness));
	if (lateness)
		lateness->cell = calloc((size_t)PLOT_COARSE_ROWS * PLOT_COARSE_ROWS, sizeof(*lateness->cell));
	if (!lateness || !lateness->cell) {
		free(lateness);
		return tare_fail(err, TARE_E_SYSTEM, "out of memory for a plot of lateness");
	}
	lateness->late_low = lateness->rtt_low = PLOT_COARSE_ROWS;
	plot->lateness = lateness;
	return 0;
}

static void widen(size_t row, size_t *low, size_t *high)
{
	*low = row < *low ? row : *low;
	*high = row > *high ? row : *high;
}

static void add_pair(const struct placing *placing, size_t i, int64_t late_ns, int64_t rtt_ns)
{
	struct plot_lateness *lateness = placing->target->plot.lateness;
	int64_t limit_ns = placing->input->row->stall_limit_ns;
	size_t late = plot_coarse_row(late_ns), rtt = plot_coarse_row(rtt_ns);
	bool marked = limit_ns != TARE_NO_TIME && (late_ns > limit_ns || rtt_ns > limit_ns);
	lateness->n++;
	lateness->marked += marked;
	widen(late, &lateness->late_low, &lateness->late_high);
	widen(rtt, &lateness->rtt_low, &lateness->rtt_high);
	if (marked && lateness->mark_count < PLOT_MARKS_MAX) {
		lateness->marks[lateness->mark_count].late_ns = late_ns;
		lateness->marks[lateness->mark_count].rtt_ns = rtt_ns;
		lateness->marks[lateness->mark_count].sequence = i;
		lateness->marks[lateness->mark_count++].round = placing->round;
		return;
	}
	uint32_t *cell = &lateness->cell[late * PLOT_COARSE_ROWS + rtt];
	*cell += *cell < UINT32_MAX;
}

int collect_lateness(const struct placing *placing, struct tare_err *err)
{
	int64_t late_ns[COLLECT_BLOCK], rtt_ns[COLLECT_BLOCK];
	const struct tare_series *series = placing->series;
	struct plot_target *plot = &placing->target->plot;
	if (plot->span != TARE_SPAN_RTT || !tare_span_exists(series, TARE_SPAN_LATE))
		return 0;
	if (!plot->lateness && open_lateness(plot, err))
		return -1;
	for (size_t first = placing->input->warmup; first < series->count; first += COLLECT_BLOCK) {
		size_t count = series->count - first < COLLECT_BLOCK ? series->count - first : COLLECT_BLOCK;
		tare_span_values(series, TARE_SPAN_LATE, first, count, late_ns);
		tare_span_values(series, TARE_SPAN_RTT, first, count, rtt_ns);
		for (size_t i = 0; i < count; i++)
			if (late_ns[i] != TARE_NO_TIME && rtt_ns[i] != TARE_NO_TIME)
				add_pair(placing, first + i, late_ns[i], rtt_ns[i]);
	}
	return 0;
}
