/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A virtual clock and a scripted network for the real measuring loop: time stands
 * still but where the script moves it, so that every figure is known beforehand.
 */
#pragma once
#include "probe/probe.h"

enum { SIM_ARRIVALS_MAX = 1 << 17 };

/* Something that will reach the sender. */
struct sim_arrival {
	int64_t at_ns;
	uint64_t number; /* SIM_FOREIGN: not ours; SIM_REFUSED + number: a network error */
};
#define SIM_FOREIGN (UINT64_MAX - 1)
#define SIM_REFUSED ((uint64_t)1 << 62)

struct sim;
/* Called for each request that leaves; answers by sim_arrive. Returns 0, or -errno to refuse the send. */
typedef int sim_script(struct sim *sim, uint64_t number, int64_t sent_ns);

struct sim {
	int64_t now_ns;
	int64_t real_offset_ns;     /* CLOCK_REALTIME - CLOCK_MONOTONIC now */
	int64_t step_at_ns, step_ns; /* the wall clock is stepped once; 0: never */
	int64_t held_ns;            /* every sleep until a deadline ends this much late: the core is taken */
	int64_t busy_ns;            /* sending one request takes this long */
	unsigned batch_most;        /* the kernel takes at most this many at once; 0: all */
	int64_t stop_at_ns;         /* 0: never */
	sim_script *script;
	struct sim_arrival arrivals[SIM_ARRIVALS_MAX]; /* sorted by time */
	size_t arrival_count, arrival_next;
	bool kernel_stamps;

	/* the round */
	struct clock_source clock;
	struct probe_target target;
	struct probe_target *list[1];
	struct raw_counters counters;
	struct tare_reading readings[4096];
	_Atomic uint64_t reading_count;
	atomic_bool stop;
	struct probe_round round;
	struct tare_run run;
	struct tare_round sealed_round;
	struct tare_target sealed_target;
	struct arena *arena;
	struct tare_axis_segment segments[16];
	struct tare_axis axis;
};

/* One simulation at a time is large: from calloc, ended by sim_free. */
struct sim *sim_new(uint64_t count, int64_t interval_ns, sim_script *script);
void sim_arrive(struct sim *sim, uint64_t number, int64_t at_ns);
/* Runs the round with the real loop and seals it. */
void sim_run(struct sim *sim, struct tare_record *ret_record);
void sim_free(struct sim *sim);
