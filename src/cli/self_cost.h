/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What stamps cost a request, measured on loopback with the very code that
 * measures: send, answer, receive, read the stamps. The answer is given by the same
 * thread, so that no wake-up, which would be a hundred times as much, is in it.
 */
#pragma once
#include <stdint.h>

#include "tare/err.h"

enum self_level { SELF_EMPTY, SELF_USER, SELF_KERNEL_RX, SELF_KERNEL, SELF_NIC, SELF_LEVELS };

struct self_cost {
	/* all of them time of the CPU, which is all there is in one thread */
	int64_t whole_ns;      /* median round trip, answering included */
	int64_t more_ns, low_ns, high_ns; /* over the empty loop: median of the alternations and its 95 % interval */
	uint64_t requests, stamps_tx, stamps_rx; /* sent; with that kernel stamp */
	int64_t step_tx_ns, step_rx_ns; /* granularity seen of those stamps; 0: none came */
};
struct self_costs {
	struct self_cost level[SELF_LEVELS];
	unsigned alternations, block; /* of so many requests each */
};
int self_cost_measure(struct self_costs *ret_costs, struct tare_err *err) TARE_MUST_USE;

/* Greatest common divisor: the step that all of a clock's readings are multiples of. */
int64_t self_step(int64_t step_ns, int64_t value_ns);
