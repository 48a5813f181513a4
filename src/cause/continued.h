/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * When this process was last continued after a stop (SIGSTOP, Ctrl-Z). A stopped
 * thread looks to the scheduler like one that sleeps; only SIGCONT tells the two
 * apart. Installs a handler for SIGCONT, which changes nothing else.
 */
#pragma once
#include <stdint.h>

void continued_watch(void);
/* CLOCK_MONOTONIC; 0: never since continued_watch. */
int64_t continued_at_ns(void);
