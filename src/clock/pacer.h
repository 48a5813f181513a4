/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The schedule: request i is due at first + i x interval, never at "last +
 * interval". It does not move, whatever happens to the sender. With jitter each
 * due time is moved by a seeded amount within +-jitter_ns (< interval / 2, so that
 * the order stays).
 */
#pragma once
#include <stdint.h>

#include "clock/clock.h"

struct pacer {
	clock_mono first;
	int64_t interval_ns, jitter_ns;
	uint64_t seed;
};

clock_mono pacer_due(const struct pacer *pacer, uint64_t i);

/* A well-mixed 64-bit value for a seed and an index (splitmix64, Steele et al. 2014). */
uint64_t pacer_mix(uint64_t seed, uint64_t i);
