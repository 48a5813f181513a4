/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The schedule: when request i is due, whatever happens to the sender; never
 * "last + interval". Periodic, it is first + i x interval; in bursts of N, N
 * requests are due together at every N-th of those; Poisson, the gaps between
 * neighbours are exponential with the interval as their mean, so that requests
 * meet a system as independent clients do (RFC 2330). All of it follows from the
 * seed. With jitter each due time, or that of each burst, is moved by a seeded
 * amount within +-jitter_ns (< half of what lies between them, so that the order
 * stays).
 */
#pragma once
#include <stdint.h>

#include "clock/clock.h"

enum pacer_schedule { PACER_PERIODIC, PACER_BURST, PACER_POISSON };

struct pacer {
	clock_mono first;
	int64_t interval_ns, jitter_ns;
	uint64_t seed;
	enum pacer_schedule schedule;
	uint32_t burst;      /* PACER_BURST: requests at once, 2 at least */
};

/* Not for PACER_POISSON, whose due times are sums: see pacer_gap_ns. */
clock_mono pacer_due(const struct pacer *pacer, uint64_t i);
/* PACER_POISSON: what lies between requests i - 1 and i; 0 for i = 0. At most 37 times the interval. */
int64_t pacer_gap_ns(const struct pacer *pacer, uint64_t i);

/* A well-mixed 64-bit value for a seed and an index (splitmix64, Steele et al. 2014). */
uint64_t pacer_mix(uint64_t seed, uint64_t i);
