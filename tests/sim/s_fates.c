/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Every request ends in one fate, and what is beside (duplicates, reordered,
 * foreign) is counted exactly, on a network whose behaviour is scripted.
 */
#include <errno.h>

#include "sim/sim.h"
#include "tap.h"

static bool balanced(const struct tare_fates *f)
{
	return f->sent == f->count[TARE_ANSWERED] + f->count[TARE_OVERDUE] + f->count[TARE_LOST] + f->count[TARE_PENDING] +
			f->count[TARE_ERROR];
}

/* Every 10th lost, every 15th twice, every 7th 250 µs late (behind the next two on a 100 µs grid), one stranger in 50. */
static int mixed(struct sim *sim, uint64_t number, int64_t sent_ns)
{
	if (number % 50 == 0)
		sim_arrive(sim, SIM_FOREIGN, sent_ns + 500);
	if (number % 10 == 9)
		return 0;
	int64_t delay_ns = number % 7 == 3 ? 250000 : 20000;
	sim_arrive(sim, number, sent_ns + delay_ns);
	if (number % 15 == 0)
		sim_arrive(sim, number, sent_ns + delay_ns + 5000);
	return 0;
}

static void mixed_network(void)
{
	struct tare_record record;
	enum { N = 1000 };
	uint64_t lost = 0, twice = 0, overtaken = 0;
	for (uint64_t i = 0; i < N; i++) {
		bool answered = i % 10 != 9;
		lost += !answered;
		twice += answered && i % 15 == 0;
		/* overtaken when one of the next two was answered at once */
		bool later = false;
		for (uint64_t k = i + 1; k <= i + 2 && k < N; k++)
			later |= k % 10 != 9 && k % 7 != 3;
		overtaken += answered && i % 7 == 3 && later;
	}
	struct sim *sim = sim_new(N, 100000, mixed);
	sim_run(sim, &record);
	struct tare_fates f = tare_fates_of(&record.series);
	IS_I64(f.sent, N, "mixed network: all sent");
	IS_I64(f.count[TARE_LOST], lost, "lost exactly");
	IS_I64(f.count[TARE_ANSWERED], N - lost, "answered exactly");
	IS_I64(record.beside.duplicate, twice, "duplicates exactly");
	IS_I64(record.beside.reordered, overtaken, "reordered exactly (RFC 4737)");
	IS_I64(record.beside.foreign, N / 50, "foreign exactly");
	OK(balanced(&f), "sent = answered + overdue + lost + pending + error");
	sim_free(sim);
}

static int slow(struct sim *sim, uint64_t number, int64_t sent_ns)
{
	sim_arrive(sim, number, sent_ns + (number % 4 == 0 ? 1200000000 : 501000000));
	return 0;
}

static void overdue_keeps_its_time(void)
{
	struct tare_record record;
	struct sim *sim = sim_new(8, 1000000000, slow);
	sim_run(sim, &record);
	struct tare_fates f = tare_fates_of(&record.series);
	IS_I64(f.count[TARE_OVERDUE], 2, "answers after the timeout are overdue");
	IS_I64(tare_span_of(&record.series, TARE_SPAN_RTT, 4), 1200000000, "with their time kept");
	IS_I64(f.count[TARE_ANSWERED], 6, "the last request's answer after half a second is waited for");
	IS_I64(f.count[TARE_LOST], 0, "none is lost");
	sim_free(sim);
}

static int after_200_ms(struct sim *sim, uint64_t number, int64_t sent_ns)
{
	sim_arrive(sim, number, sent_ns + 200000000);
	return 0;
}

static void pending_at_stop(void)
{
	struct tare_record record;
	struct sim *sim = sim_new(100000, 10000000, after_200_ms);
	sim->stop_at_ns = sim->now_ns + 2500000000;
	sim_run(sim, &record);
	struct tare_fates f = tare_fates_of(&record.series);
	OK(sim->round.stopped, "stopped before the end");
	OK(f.count[TARE_PENDING] >= 18 && f.count[TARE_PENDING] <= 20, "18 to 20 in flight at the stop are pending (%d)",
		(int)f.count[TARE_PENDING]);
	IS_I64(f.count[TARE_LOST], 0, "and not lost");
	OK(f.sent > 240 && f.sent < 260, "about 250 were sent in 2.5 s (%d)", (int)f.sent);
	OK(balanced(&f), "the balance holds");
	sim_free(sim);
}

static int port_closed_then_down(struct sim *sim, uint64_t number, int64_t sent_ns)
{
	if (number >= 50 && number < 60)
		return -ENETDOWN;
	if (number < 20)
		sim_arrive(sim, SIM_REFUSED + number, sent_ns + 3000);
	else
		sim_arrive(sim, number, sent_ns + 3000);
	return 0;
}

static void errors_have_reasons(void)
{
	struct tare_record record;
	struct sim *sim = sim_new(100, 1000000, port_closed_then_down);
	sim_run(sim, &record);
	struct tare_fates f = tare_fates_of(&record.series);
	IS_I64(f.count[TARE_ERROR], 20, "refused by the network: error");
	IS_I64(record.series.reason[7], ECONNREFUSED, "with the reason");
	IS_I64(f.count[TARE_NOT_SENT], 10, "refused by the kernel: not sent");
	IS_I64(record.series.reason[55], ENETDOWN, "with the reason");
	IS_I64(f.sent, 90, "sent is what the kernel accepted");
	IS_I64(f.count[TARE_ANSWERED], 70, "and the run goes on");
	OK(balanced(&f), "the balance holds");
	sim_free(sim);
}

static int at_once(struct sim *sim, uint64_t number, int64_t sent_ns)
{
	sim_arrive(sim, number, sent_ns + 1000);
	if (number == 100)
		sim->now_ns += 10500000; /* the sender is away for 10.5 slots */
	return 0;
}

static void late_policies(void)
{
	struct tare_record record;
	struct sim *sim = sim_new(1000, 1000000, at_once);
	sim_run(sim, &record);
	struct tare_fates f = tare_fates_of(&record.series);
	IS_I64(f.sent, 1000, "on-late send: every slot is used");
	IS_I64(tare_span_of(&record.series, TARE_SPAN_LATE, 101), 9500000, "the first after the stall is 9.5 ms late");
	IS_I64(tare_span_of(&record.series, TARE_SPAN_LATE, 112), 0, "and the grid did not move");
	OK(record.series.flags[102] & TARE_FLAG_BATCHED, "those due together left as one batch");
	sim_free(sim);

	sim = sim_new(1000, 1000000, at_once);
	sim->round.on_late = PROBE_LATE_SKIP;
	sim_run(sim, &record);
	f = tare_fates_of(&record.series);
	IS_I64(f.count[TARE_NOT_SENT], 9, "on-late skip: nine slots are left out");
	OK(record.series.flags[101] & TARE_FLAG_SKIPPED, "and marked as skipped");
	IS_I64(f.sent, 991, "the others are sent");
	IS_I64(tare_span_of(&record.series, TARE_SPAN_LATE, 110), 500000, "the newest due slot is used, half a slot late");
	sim_free(sim);
}

static void wall_clock_step(void)
{
	struct tare_record record;
	struct sim *sim = sim_new(3000, 1000000, at_once);
	sim->kernel_stamps = true;
	sim->step_at_ns = sim->now_ns + 1500000000;
	sim->step_ns = -120000000000;
	sim_run(sim, &record);
	struct tare_fates f = tare_fates_of(&record.series);
	IS_I64(f.count[TARE_ANSWERED], 3000, "a step of -120 s loses no answer");
	IS_I64(sim->axis.segments, 2, "and is found: two segments");
	IS_I64(tare_axis_step_after(&sim->axis, 0).step_ns, -120000000000, "with its size");
	uint64_t marked = 0, wrong = 0, wrong_rtt = 0;
	for (size_t i = 0; i < record.series.count; i++) {
		int64_t tx_ns = tare_span_of(&record.series, TARE_SPAN_TX, i);
		marked += (record.series.flags[i] & TARE_FLAG_CLOCK_STEP) != 0;
		wrong += tx_ns != TARE_NO_TIME && tx_ns != 100;
		wrong_rtt += i != 100 && i > 111 && tare_span_of(&record.series, TARE_SPAN_RTT, i) != 1000;
	}
	IS_I64(wrong, 0, "no kernel stamp is wrong for it");
	IS_I64(wrong_rtt, 0, "no round trip is moved by it");
	OK(marked > 0 && marked <= 110, "only stamps between two clock readings are dropped, and marked (%d)", (int)marked);
	sim_free(sim);
}

static void readings_often_enough(void)
{
	struct tare_record record;
	struct sim *sim = sim_new(10, 3000000000, at_once);
	sim_run(sim, &record);
	int64_t longest_ns = 0;
	for (uint64_t i = 1; i < sim->reading_count; i++) {
		int64_t gap_ns = sim->readings[i].mono_before_ns - sim->readings[i - 1].mono_after_ns;
		longest_ns = gap_ns > longest_ns ? gap_ns : longest_ns;
	}
	OK(longest_ns <= PROBE_READING_EVERY_NS, "clock readings at least every 100 ms, also between rare requests");
	OK(sim->readings[0].mono_before_ns <= sim->target.pacer.first.ns, "one before the first request");
	OK(sim->readings[sim->reading_count - 1].mono_after_ns >= sim->target.last_sent.ns + 100000000,
		"one after the last duplicate could come");
	sim_free(sim);
}

static int last_one_twice(struct sim *sim, uint64_t number, int64_t sent_ns)
{
	sim_arrive(sim, number, sent_ns + 1000);
	if (number == 9)
		sim_arrive(sim, number, sent_ns + 90000000);
	return 0;
}

static int first_one_lost(struct sim *sim, uint64_t number, int64_t sent_ns)
{
	if (number)
		sim_arrive(sim, number, sent_ns + 1000);
	return 0;
}

/* How long the round went on after its last request. */
static int64_t waited_ns(sim_script *script, int64_t timeout_ns, struct tare_record *ret_record)
{
	struct sim *sim = sim_new(10, 1000000, script);
	sim->round.timeout_ns = timeout_ns;
	sim_run(sim, ret_record);
	int64_t ns = clock_between(sim->target.last_sent, sim->round.ended);
	sim_free(sim);
	return ns;
}

static void ends_when_nothing_is_missing(void)
{
	struct tare_record record;
	int64_t ns = waited_ns(last_one_twice, 20000000000, &record);
	OK(ns >= 100000000 && ns < 101000000, "all answered: no twenty seconds more, but 100 ms (%lld ns)", (long long)ns);
	IS_I64(record.beside.duplicate, 1, "in which a duplicate is still heard");
	ns = waited_ns(first_one_lost, 20000000000, &record);
	OK(ns >= 20000000000, "one is missing: the whole timeout");
	ns = waited_ns(last_one_twice, 5000000, &record);
	OK(ns >= 5000000 && ns < 6000000, "a shorter timeout is the limit (%lld ns)", (long long)ns);
}

int main(void)
{
	mixed_network();
	overdue_keeps_its_time();
	pending_at_stop();
	errors_have_reasons();
	late_policies();
	wall_clock_step();
	readings_often_enough();
	ends_when_nothing_is_missing();
	return tap_done();
}
