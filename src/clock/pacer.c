/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Due times as a pure function of the index: a late request cannot move the next one. */
#include "clock/pacer.h"

uint64_t pacer_mix(uint64_t seed, uint64_t i)
{
	uint64_t z = seed + (i + 1) * 0x9e3779b97f4a7c15u;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

clock_mono pacer_due(const struct pacer *pacer, uint64_t i)
{
	int64_t due_ns = pacer->first.ns + (int64_t)i * pacer->interval_ns;
	if (pacer->jitter_ns > 0)
		due_ns += (int64_t)(pacer_mix(pacer->seed, i) % (2 * (uint64_t)pacer->jitter_ns + 1)) - pacer->jitter_ns;
	return (clock_mono){due_ns};
}
