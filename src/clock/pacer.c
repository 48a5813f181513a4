/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Due times as a pure function of the index: a late request cannot move the next one. */
#include "clock/pacer.h"

#include <math.h>

uint64_t pacer_mix(uint64_t seed, uint64_t i)
{
	uint64_t z = seed + (i + 1) * 0x9e3779b97f4a7c15u;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

clock_mono pacer_due(const struct pacer *pacer, uint64_t i)
{
	/* a burst is one place of the grid: its requests share the phase and the jitter of their first */
	if (pacer->schedule == PACER_BURST)
		i -= i % pacer->burst;
	int64_t due_ns = pacer->first.ns + (int64_t)i * pacer->interval_ns;
	if (pacer->jitter_ns > 0)
		due_ns += (int64_t)(pacer_mix(pacer->seed, i) % (2 * (uint64_t)pacer->jitter_ns + 1)) - pacer->jitter_ns;
	return (clock_mono){due_ns};
}

int64_t pacer_gap_ns(const struct pacer *pacer, uint64_t i)
{
	if (i == 0)
		return 0;
	/* 53 bits into (0, 1]: the logarithm of 0 does not exist, and that of 2^-53 is -36.7 */
	double uniform = ((double)(pacer_mix(pacer->seed, i) >> 11) + 1) * 0x1p-53;
	return llround(-log(uniform) * (double)pacer->interval_ns);
}
