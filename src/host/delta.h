/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What counters did between two snapshots. A reboot, a re-created device, a new
 * process or control group begins their counting anew; a 32-bit counter that went
 * down has wrapped only if that many events could have happened; everything else
 * that goes down was reset, and its difference is withheld instead of guessed.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/snapshot.h"

enum host_delta_state {
	HOST_DELTA_PLAIN,
	HOST_DELTA_SINCE_BOOT, /* the host was rebooted: the value itself */
	HOST_DELTA_REBASED,    /* the device, process or group is a new one: the value itself */
	HOST_DELTA_WRAPPED,    /* one turn of 2^32 was added */
	HOST_DELTA_AT_LEAST,   /* it may have wrapped in between */
	HOST_DELTA_BACKWARDS,  /* was reset: no value */
	HOST_DELTA_STATES
};
const char *host_delta_state_name(enum host_delta_state state);

/*
 * One number. `u32`: the source keeps 32 bits; `most_per_second`: what the source could count at most, 0: not known
 * (then nothing is taken for a wrap).
 */
enum host_delta_state host_delta_number(
	bool u32, uint64_t was, uint64_t is, int64_t elapsed_ns, double most_per_second, uint64_t *ret_delta);

struct host_delta {
	const struct host_fact *is;
	enum host_delta_state state;
	uint64_t delta;    /* sum over CPUs where the counter is one by CPU */
	double per_second; /* 0 when the interval is not known */
	char where[64];    /* "CPU 2: 12401" for the CPU with most of it; "" */
};

/* Rows for counters that moved or could not be compared, in order of keys. */
struct host_deltas {
	struct host_delta *row;
	size_t count, unchanged;
	int64_t elapsed_ns; /* between the two; since boot after a reboot */
	bool rebooted;
	size_t recreated; /* counters whose object is a new one */
};
int host_deltas_of(const struct host_snapshot *was, const struct host_snapshot *is, struct host_deltas *ret_deltas,
	struct tare_err *err) TARE_MUST_USE;
void host_deltas_free(struct host_deltas *deltas);
/* NULL when the counter did not move. */
const struct host_delta *host_delta_find(const struct host_deltas *deltas, const char *key);

/* Counters by CPU, "0=12 7=3": the count of one CPU, 0 when it is not listed. A text without '=' counts for no CPU. */
uint64_t host_count_of_cpu(const char *value, int cpu);
/* Calls back for every listed CPU. */
void host_counts_each(const char *value, void (*each)(void *context, int cpu, uint64_t count), void *context);
