/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * When a thread was woken, by the tracepoint sched:sched_wakeup with a filter on it, on every CPU: whoever wakes it
 * does so on its own. Needs what watching CPUs needs, and tracefs. Private to this folder.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cause/ring.h"
#include "tare/cause.h"

enum { WAKEUPS_CPUS_MAX = 64, WAKEUPS_PAGES = 8 };
struct wakeups {
	struct ring ring[WAKEUPS_CPUS_MAX];
	size_t count;
	int64_t last_ns; /* the latest one that ends no sleep yet */
};
/* Those of thread `tid`; false, with nothing opened, where one CPU refuses. */
bool wakeups_open(struct wakeups *wakeups, int32_t tid);
void wakeups_close(struct wakeups *wakeups);
/*
 * Takes what there is and notes it with the sleeps (OFF, not preempted) among the items, as how long before their end
 * the thread was woken. A record that found no room is missed by its sleep alone.
 */
void wakeups_drain(struct wakeups *wakeups, struct tare_evidence *items, size_t count);
/* Pure: notes one. False when it is within none of the sleeps. */
bool wakeups_note(struct tare_evidence *items, size_t count, int64_t at_ns);
