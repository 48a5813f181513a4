/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * When sockperf's requests were due. Its sender spins until the next slot of a grid and then sends, so that most requests
 * leave at one phase of the grid, the others later and none earlier: the phase is where requests crowd. Surprising: the
 * smallest phase seen is no guide, since a request late by more than half an interval looks early.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tare/err.h"

struct sockperf_grid {
	double phase_ns;  /* of the slots, from the first send, 0 to below the period */
	double share;     /* of the requests that crowd there */
	uint64_t early;   /* requests just before their slot: what clock and rounding do */
};

/*
 * Finds the phase of sends, relative to the first, in a grid of period_ns. False where fewer than half of them lie within
 * 1 % of the period: then no phase is the right one. scratch: room for `count` values.
 */
bool sockperf_grid_of(const int64_t *sent_ns, size_t count, double period_ns, double *scratch, struct sockperf_grid *ret_grid);
/* The slot a send belongs to, at or before it (or just behind it, where it is early by no more than 1 %), from the first send. */
double sockperf_due(const struct sockperf_grid *grid, double period_ns, double since_first_ns);
