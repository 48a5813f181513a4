/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Schedules through the real loop on a virtual clock: requests leave when they are
 * due, whatever the shape, and what was drawn is what its seed draws again.
 */
#include <math.h>
#include <stdlib.h>

#include "sim/sim.h"
#include "tap.h"
#include "tare/rate.h"

enum { COUNT = 20000 };
#define INTERVAL_NS 100000

static int answer_after_1_us(struct sim *sim, uint64_t number, int64_t sent_ns)
{
	sim_arrive(sim, number, sent_ns + 1000);
	return 0;
}

/* As a run does it: drawn before the round, moved to its start. */
static void draw(struct sim *sim)
{
	int64_t due_ns = sim->target.pacer.first.ns;
	sim->target.drawn = true;
	for (uint64_t i = 0; i < sim->target.count; i++) {
		due_ns += pacer_gap_ns(&sim->target.pacer, i);
		sim->target.samples[i].due_ns = due_ns;
	}
}

static struct sim *scheduled(enum pacer_schedule schedule, uint32_t burst, uint64_t seed, struct tare_record *ret_record)
{
	struct sim *sim = sim_new(COUNT, INTERVAL_NS, answer_after_1_us);
	sim->target.pacer.schedule = schedule;
	sim->target.pacer.burst = burst;
	sim->target.pacer.seed = seed;
	if (schedule == PACER_POISSON)
		draw(sim);
	sim_run(sim, ret_record);
	return sim;
}

/* Every request left when it was due and none before the one ahead of it. */
static void punctual(const struct tare_series *s, const char *name)
{
	bool on_time = s->count == COUNT, ordered = true;
	for (size_t i = 0; i < s->count; i++) {
		on_time &= tare_span_of(s, TARE_SPAN_LATE, i) == 0 && tare_span_of(s, TARE_SPAN_RTT, i) == 1000;
		ordered &= i == 0 || s->at_ns[TARE_STAGE_DUE][i] >= s->at_ns[TARE_STAGE_DUE][i - 1];
	}
	OK(on_time, "%s: all leave when they are due", name);
	OK(ordered, "%s: in order", name);
}

static void bursts(uint32_t burst)
{
	struct tare_record record;
	struct sim *sim = scheduled(PACER_BURST, burst, 7, &record);
	const struct tare_series *s = &record.series;
	char name[32], told[TARE_SCHEDULE_TEXT];
	bool shape = true;
	size_t batched = 0;
	snprintf(name, sizeof name, "bursts of %u", burst);
	punctual(s, name);
	for (size_t i = 1; i < s->count; i++)
		shape &= s->at_ns[TARE_STAGE_DUE][i] - s->at_ns[TARE_STAGE_DUE][i - 1] ==
			(i % burst ? 0 : (int64_t)burst * INTERVAL_NS);
	for (size_t i = 0; i < s->count; i++)
		batched += (s->flags[i] & TARE_FLAG_BATCHED) != 0;
	OK(shape, "%s: together, and whole bursts on the grid", name);
	size_t calls = 0;
	for (uint32_t left = burst; left > 0; left -= left < PROBE_BATCH_MAX ? left : PROBE_BATCH_MAX)
		calls++;
	if (COUNT % burst == 0)
		IS_I64(batched, COUNT - COUNT / burst * calls, "as few sends as batches allow");
	tare_schedule_text(&record, told);
	snprintf(name, sizeof name, "burst:%u", burst);
	IS_STR(told, name, "told by the due times");
	sim_free(sim);
}

/* Of exponential gaps: mean and deviation are the interval, 1/e of them are above it, neighbours do not know each other. */
static void poisson(uint64_t seed)
{
	struct tare_record record;
	struct sim *sim = scheduled(PACER_POISSON, 0, seed, &record);
	const int64_t *due_ns = record.series.at_ns[TARE_STAGE_DUE];
	double sum = 0, squares = 0, products = 0, before = 0, above = 0, n = COUNT - 1;
	punctual(&record.series, "poisson");
	for (size_t i = 1; i < COUNT; i++) {
		double gap = (double)(due_ns[i] - due_ns[i - 1]) / INTERVAL_NS;
		sum += gap;
		squares += gap * gap;
		products += (gap - 1) * (before - 1);
		above += gap > 1;
		before = gap;
	}
	double mean = sum / n, variance = squares / n - mean * mean;
	/* five standard errors of each: 1/sqrt(n), sqrt(8/n), sqrt(p(1-p)/n), 1/sqrt(n) */
	OK(fabs(mean - 1) < 5 / sqrt(n), "seed %llu: mean gap %.4f intervals", (unsigned long long)seed, mean);
	OK(fabs(variance - 1) < 5 * sqrt(8 / n), "seed %llu: variance %.4f", (unsigned long long)seed, variance);
	OK(fabs(above / n - exp(-1)) < 5 * sqrt(0.2325 / n), "seed %llu: share above the mean %.4f", (unsigned long long)seed,
		above / n);
	OK(fabs(products / n) < 5 / sqrt(n), "seed %llu: neighbours' correlation %.4f", (unsigned long long)seed, products / n);
	char told[TARE_SCHEDULE_TEXT];
	tare_schedule_text(&record, told);
	IS_STR(told, "poisson", "told by the due times");
	OK(tare_rate_of(&record).ok, "the rate is held: planned time is that of the due times");
	struct tare_record again;
	struct sim *other = scheduled(PACER_POISSON, 0, seed, &again);
	OK(memcmp(due_ns, again.series.at_ns[TARE_STAGE_DUE], COUNT * sizeof *due_ns) == 0, "the same seed draws the same");
	sim_free(other);
	other = scheduled(PACER_POISSON, 0, seed + 1, &again);
	OK(memcmp(due_ns, again.series.at_ns[TARE_STAGE_DUE], COUNT * sizeof *due_ns) != 0, "another one another");
	sim_free(other);
	sim_free(sim);
}

/* Held up, a drawn schedule does not move either: lateness is against the plan. */
static void held_up(void)
{
	struct tare_record record;
	struct sim *sim = sim_new(COUNT, INTERVAL_NS, answer_after_1_us);
	sim->target.pacer.schedule = PACER_POISSON;
	sim->target.pacer.seed = 11;
	draw(sim);
	int64_t last_ns = sim->target.samples[COUNT - 1].due_ns;
	sim->busy_ns = INTERVAL_NS * 2;
	sim->batch_most = 1;
	sim_run(sim, &record);
	IS_I64(record.series.at_ns[TARE_STAGE_DUE][COUNT - 1] + 1000000000, last_ns, "held up: the plan stays");
	struct tare_rate rate = tare_rate_of(&record);
	OK(!rate.ok && rate.held < 0.6 * rate.asked, "and half the rate is not the rate (%.0f of %.0f)", rate.held, rate.asked);
	sim_free(sim);
}

int main(void)
{
	bursts(2);
	bursts(8);
	bursts(100);
	poisson(1);
	poisson(20261130);
	held_up();
	return tap_done();
}
