/* SPDX-License-Identifier: GPL-3.0-or-later */
/* clock_gettime and a store are all the handler does: both are safe there. */
#include "cause/continued.h"

#include <signal.h>
#include <stdatomic.h>

#include "clock/clock.h"

static _Atomic int64_t last_ns;

static void take(int signal_number)
{
	(void)signal_number;
	atomic_store_explicit(&last_ns, clock_mono_now().ns, memory_order_relaxed);
}

void continued_watch(void)
{
	struct sigaction action = {.sa_handler = take, .sa_flags = SA_RESTART};
	sigemptyset(&action.sa_mask);
	sigaction(SIGCONT, &action, NULL);
}

int64_t continued_at_ns(void)
{
	return atomic_load_explicit(&last_ns, memory_order_relaxed);
}
