/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Loads for rounds under load: each does one thing that a neighbour on a busy
 * host does, on the CPUs it is told, and says how much of it.
 */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tare/err.h"

enum load_kind {
	LOAD_TCP,     /* a stream over loopback, or to a peer: bytes */
	LOAD_SPIN,    /* computes: turns of a loop */
	LOAD_MEMORY,  /* writes to 64 MiB, more than any cache close by: bytes */
	LOAD_WAKEUPS, /* wakes up at a rate and does next to nothing: wake-ups */
};

struct load_plan {
	enum load_kind kind;
	const int *
		cpus; /* a thread on each; tcp: the sending end on the first, the receiving on the second or the same */
	size_t cpu_count;    /* 0: one, wherever the scheduler puts it */
	int64_t for_ns;      /* 0: until stopped */
	int64_t interval_ns; /* wakeups: between two of a thread */
	const char *peer;    /* tcp: "host:port" of something that takes bytes; NULL: loopback */
};
struct load_result {
	double seconds, cpu_seconds;
	uint64_t amount; /* bytes, turns or wake-ups */
};
/* Returns when the time is over or *stop is set. */
int load_run(const struct load_plan *plan, const atomic_bool *stop, struct load_result *ret_result,
	struct tare_err *err) TARE_MUST_USE;
