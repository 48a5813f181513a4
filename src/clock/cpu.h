/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where and how a measuring thread runs: pinned to a CPU, FIFO priority, timer
 * slack of 1 ns, and a name by which other processes of ours recognise a thread
 * that spins (it will not give its CPU away).
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "tare/err.h"

#define CPU_SPIN_NAME "tare-spin"

int cpu_pin(int cpu, struct tare_err *err) TARE_MUST_USE;
/* Whether the calling thread could be pinned there; its placement is as before afterwards. */
int cpu_check(int cpu, struct tare_err *err) TARE_MUST_USE;
int cpu_fifo(int priority, struct tare_err *err) TARE_MUST_USE;
void cpu_timer_slack_least(void);
/* spinning: CPU_SPIN_NAME; else `name`. */
void cpu_thread_name(const char *name, bool spinning);
int cpu_current(void);
/* True when every CPU this process may use carries a spinning thread of ours, `own_spinning` threads to come included. */
bool cpu_all_spinning(const int *own_spinning_cpus, size_t own_count);
