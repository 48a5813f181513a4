/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How the measuring thread waits for answers: ppoll by itself, or epoll over its
 * own sockets and any number of idle ones, as a server's process does. Private to
 * this folder.
 */
#pragma once
#include "clock/source.h"

struct waiting;

/* Opens epoll and the idle sockets; a limit of descriptors that is too low is raised as far as it may be. */
int waiting_open(unsigned idle_sockets, struct waiting **ret_waiting, struct tare_err *err) TARE_MUST_USE;
void waiting_free(struct waiting *waiting); /* NULL is fine */
/* The system's clocks with this wait; lives as long as `waiting`. */
const struct clock_source *waiting_clock(const struct waiting *waiting);
