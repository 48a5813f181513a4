/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The virtual clock advances in waits and, where scripted, in sends; arrivals are delivered in order of time. */
#include "sim/sim.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static clock_mono sim_mono(void *self)
{
	struct sim *sim = self;
	return (clock_mono){sim->now_ns};
}

static clock_real sim_real(void *self)
{
	struct sim *sim = self;
	int64_t step_ns = sim->step_at_ns && sim->now_ns >= sim->step_at_ns ? sim->step_ns : 0;
	return (clock_real){sim->now_ns + sim->real_offset_ns + step_ns};
}

static int sim_wait(void *self, struct pollfd *fds, size_t count, clock_mono until)
{
	struct sim *sim = self;
	for (size_t i = 0; i < count; i++)
		fds[i].revents = 0;
	bool arrives = sim->arrival_next < sim->arrival_count;
	int64_t arrival_ns = arrives ? sim->arrivals[sim->arrival_next].at_ns : INT64_MAX;
	if (sim->stop_at_ns && sim->now_ns >= sim->stop_at_ns)
		atomic_store(&sim->stop, true);
	if (arrives && arrival_ns <= until.ns) {
		sim->now_ns = arrival_ns > sim->now_ns ? arrival_ns : sim->now_ns;
		fds[0].revents = POLLIN;
		return 1;
	}
	if (until.ns > sim->now_ns) {
		/* only the wake-up for a request is held up, not the one for a clock reading in between */
		bool for_request = sim->target.next < sim->target.count && until.ns == sim->target.next_due.ns;
		sim->now_ns = until.ns + (for_request ? sim->held_ns : 0);
	}
	return 0;
}

void sim_arrive(struct sim *sim, uint64_t number, int64_t at_ns)
{
	if (sim->arrival_count == SIM_ARRIVALS_MAX)
		abort();
	size_t i = sim->arrival_count++;
	for (; i > sim->arrival_next && sim->arrivals[i - 1].at_ns > at_ns; i--)
		sim->arrivals[i] = sim->arrivals[i - 1];
	sim->arrivals[i] = (struct sim_arrival){at_ns, number};
}

static struct sim *sim_of(struct probe_target *target)
{
	return target->state;
}

static int sim_send(struct probe_target *target, uint64_t first, unsigned count)
{
	struct sim *sim = sim_of(target);
	int64_t sent_ns = sim->now_ns;
	count = sim->batch_most && count > sim->batch_most ? sim->batch_most : count;
	for (unsigned i = 0; i < count; i++) {
		int status = sim->script(sim, first + i, sent_ns);
		if (status < 0)
			return i ? (int)i : status;
		struct raw_sample *sample = &target->samples[first + i];
		sample->user_tx_ns = sent_ns;
		sample->cpu_tx = 1;
		if (i)
			sample->flags |= TARE_FLAG_BATCHED;
		if (sim->kernel_stamps)
			sample->kernel_tx_ns = sim_real(sim).ns + 100;
		sim->now_ns += sim->busy_ns;
	}
	return (int)count;
}

static int sim_drain(struct probe_target *target)
{
	struct sim *sim = sim_of(target);
	if (sim->arrival_next == sim->arrival_count || sim->arrivals[sim->arrival_next].at_ns > sim->now_ns)
		return 0;
	struct sim_arrival arrival = sim->arrivals[sim->arrival_next++];
	struct probe_reply reply = {.number = arrival.number, .user_rx = {sim->now_ns}, .cpu_rx = 2};
	if (sim->kernel_stamps)
		reply.kernel_rx = (clock_real){sim_real(sim).ns - (sim->now_ns - arrival.at_ns) - 100};
	if (arrival.number == SIM_FOREIGN)
		probe_foreign(target);
	else if (arrival.number >= SIM_REFUSED)
		probe_refused(target, arrival.number - SIM_REFUSED, ECONNREFUSED);
	else
		probe_answer(target, &reply);
	return 1;
}

static void sim_close(struct probe_target *target)
{
	target->state = NULL;
}

static const struct probe_kind sim_kind = {
	.scheme = "sim", .summary = "scripted", .send = sim_send, .drain = sim_drain, .close = sim_close};

struct sim *sim_new(uint64_t count, int64_t interval_ns, sim_script *script)
{
	struct sim *sim = calloc(1, sizeof *sim);
	struct raw_sample *samples = calloc(count, sizeof *samples);
	if (!sim || !samples)
		abort();
	sim->now_ns = 1000000000;
	sim->real_offset_ns = 1700000000000000000;
	sim->script = script;
	sim->clock = (struct clock_source){.mono = sim_mono, .real = sim_real, .wait = sim_wait, .self = sim};
	sim->target = (struct probe_target){.kind = &sim_kind, .state = sim, .fd = 0, .clock = &sim->clock, .count = count,
		.samples = samples, .counters = &sim->counters, .stamps = 0,
		.pacer = {.first = {sim->now_ns + 1000000}, .interval_ns = interval_ns}};
	sim->list[0] = &sim->target;
	sim->round = (struct probe_round){.clock = &sim->clock, .targets = sim->list, .target_count = 1,
		.timeout_ns = 1000000000,
		.readings = {.reading = sim->readings, .room = 4096, .count = &sim->reading_count}, .stop = &sim->stop};
	return sim;
}

void sim_run(struct sim *sim, struct tare_record *ret_record)
{
	struct tare_err err = {0};
	probe_loop(&sim->round);
	uint64_t slots = raw_read(&sim->counters.slots);
	sim->axis.segment = sim->segments;
	sim->axis.segments = tare_axis_build(sim->readings, sim->reading_count, sim->segments, 16);
	struct probe_sealing sealing = {.samples = sim->target.samples, .counters = &sim->counters, .slots = slots,
		.axis = &sim->axis, .epoch_mono_ns = 1000000000, .epoch_real_ns = 1000000000 + sim->real_offset_ns,
		.ended_mono_ns = sim->round.ended.ns, .timeout_ns = sim->round.timeout_ns,
		.stamps = sim->kernel_stamps ? NET_STAMP_RX | NET_STAMP_TX : 0};
	sim->sealed_round = (struct tare_round){.number = 1, .label = "", .interval_ns = sim->target.pacer.interval_ns,
		.timeout_ns = sim->round.timeout_ns};
	sim->sealed_target = (struct tare_target){.url = "sim://", .kind = "sim", .address = "sim"};
	*ret_record = (struct tare_record){.run = &sim->run, .target = &sim->sealed_target, .round = &sim->sealed_round};
	if (arena_open(probe_seal_bytes(slots), 0, &sim->arena, &err) < 0 ||
		probe_seal(&sealing, sim->arena, ret_record, &err) < 0) {
		fprintf(stderr, "# %s\n", err.text);
		abort();
	}
}

void sim_free(struct sim *sim)
{
	arena_free(sim->arena);
	free(sim->target.samples);
	free(sim);
}
