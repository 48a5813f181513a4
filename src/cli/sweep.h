/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `tare run`'s lists of sizes and rates, multiplied out into the steps of a sweep. */
#pragma once
#include "session/session.h"

/* As they were typed; NULL: not given. */
struct sweep_lists {
	const char *sizes;     /* "64,512,1472" */
	const char *rates;     /* "1k/s,10k/s" or "1k-100k:x2" */
	unsigned ports;        /* source ports; 0: not given */
	int first_port;        /* of them */
	const char *label;     /* of the run, put before that of each step */
};
/* Rates within sizes. *ret_count is 0 when nothing is swept. */
int sweep_steps(const struct sweep_lists *lists, struct session_step ret_steps[SESSION_STEPS_MAX], size_t *ret_count,
	struct tare_err *err) TARE_MUST_USE;
/* "1%" or "0.5 %" into a share; "none" is -1. */
int sweep_stop_loss(const char *text, double *ret_share, struct tare_err *err) TARE_MUST_USE;
