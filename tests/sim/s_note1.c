/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Note 1 re-enacted on a virtual clock: a sender that is held up 454 µs per
 * request must show it in `late` and `response` and must not show it in `rtt`.
 */
#include "sim/sim.h"
#include "tap.h"
#include "tare/stat.h"

#define RTT_NS 1000
#define HELD_NS 454000

static int answer_after_1_us(struct sim *sim, uint64_t number, int64_t sent_ns)
{
	sim_arrive(sim, number, sent_ns + RTT_NS);
	return 0;
}

static const struct tare_row *row_of(struct tare_stat *stat, enum tare_span span)
{
	struct tare_err err = {0};
	const struct tare_row *rows;
	size_t count;
	if (tare_stat_rows(stat, &rows, &count, &err) < 0)
		return NULL;
	for (size_t i = 0; i < count; i++)
		if (rows[i].span == span)
			return &rows[i];
	return NULL;
}

static struct tare_stat *figures(const struct tare_record *record)
{
	struct tare_err err = {0};
	struct tare_rules rules;
	struct tare_stat *stat = NULL;
	tare_rules_default(&rules);
	uint32_t spans = 1u << TARE_SPAN_RTT | 1u << TARE_SPAN_RESPONSE | 1u << TARE_SPAN_LATE;
	OK(tare_stat_open(&rules, spans, &stat, &err) == 0 && tare_stat_add(stat, NULL, record, &err) == 0,
		"the round is counted %s", err.text);
	return stat;
}

/* Each wake-up for a request comes 454 µs late; the core is free again before the next. */
static void held_at_each_wake_up(void)
{
	struct tare_record record;
	struct sim *sim = sim_new(2002, 5000000, answer_after_1_us);
	sim->held_ns = HELD_NS;
	sim_run(sim, &record);
	struct tare_stat *stat = figures(&record);
	const struct tare_row *rtt = row_of(stat, TARE_SPAN_RTT), *late = row_of(stat, TARE_SPAN_LATE),
			      *response = row_of(stat, TARE_SPAN_RESPONSE);
	IS_I64(rtt->min_ns, RTT_NS, "held at wake-up: rtt min is 1 us");
	IS_I64(rtt->max_ns, RTT_NS, "rtt max too: its stopwatch starts when the request leaves");
	IS_I64(late->min_ns, HELD_NS, "every request left 454 us late");
	IS_I64(late->max_ns, HELD_NS, "and none later: the grid did not move");
	IS_I64(response->ranked[0].value_ns, HELD_NS + RTT_NS, "response p50 has both");
	tare_stat_free(stat);
	sim_free(sim);
}

/* The core gives 5.454 ms to each cycle of 5 ms, as in the note: lateness adds up to 908 ms. */
static void held_in_every_cycle(void)
{
	struct tare_record record;
	struct sim *sim = sim_new(2001, 5000000, answer_after_1_us);
	sim->busy_ns = 5000000 + HELD_NS;
	sim->batch_most = 1;
	sim_run(sim, &record);
	const struct tare_series *s = &record.series;
	IS_I64(tare_span_of(s, TARE_SPAN_LATE, 0), 0, "held in every cycle: the first is on time");
	bool grid = true;
	for (size_t i = 0; i < s->count; i++)
		grid &= s->at_ns[TARE_STAGE_DUE][i] == 1000000 + (int64_t)i * 5000000;
	OK(grid, "the grid is first + i x interval for all 2001 requests");
	IS_I64(tare_span_of(s, TARE_SPAN_LATE, 2000) / 1000000, 2000 * HELD_NS / 1000000,
		"2000 cycles later the schedule is 908 ms behind");
	bool sums = true;
	for (size_t i = 0; i < s->count; i++)
		sums &= tare_span_of(s, TARE_SPAN_LATE, i) + tare_span_of(s, TARE_SPAN_RTT, i) ==
			tare_span_of(s, TARE_SPAN_RESPONSE, i);
	OK(sums, "late + rtt = response for every request");
	sim_free(sim);
}

int main(void)
{
	held_at_each_wake_up();
	held_in_every_cycle();
	return tap_done();
}
