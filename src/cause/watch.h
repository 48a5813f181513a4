/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Watching one thread and the CPUs it may run on: context switches, page faults,
 * interrupts. What the kernel tells becomes evidence (tare/cause.h) on
 * CLOCK_MONOTONIC. A thread of one's own may be watched without privileges; who
 * runs on its CPU needs CAP_PERFMON, interrupts need tracefs as well. What is
 * missing is told in a sentence and never looks like "nothing happened".
 *
 * Memory: 256 KiB for the thread, 512 KiB for each CPU (4 MiB with soft interrupts), 32 KiB for each of the host's, 64 bytes for each piece of
 * evidence; all taken before the first request.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tare/cause.h"
#include "tare/err.h"

struct watch;

enum { WATCH_CPUS_MAX = 64 };
struct watch_plan {
	const int *cpus; /* where the thread may run; more than WATCH_CPUS_MAX: the first ones */
	size_t cpu_count;
	size_t room; /* pieces of evidence that are kept */
	/*
	 * Soft interrupts too. Each packet raises one, and a record at its entry and exit costs 3 % of a round trip
	 * of 8 µs over loopback, so that they are left out unless asked for.
	 */
	bool softirqs;
	bool sums;   /* also who ran on each CPU in all, for watch_shares */
	bool recent; /* when full the older half is dropped; else what comes later is missing */
};
/* Opens what it may on the CPUs; fails only without memory. */
int watch_open(const struct watch_plan *plan, struct watch **ret_watch, struct tare_err *err) TARE_MUST_USE;
/*
 * In the thread itself, before it gives up its privileges: from here on it is
 * watched. False when the system refuses, with the reason in watch_missing.
 */
bool watch_thread(struct watch *watch);
void watch_thread_end(struct watch *watch);
void watch_free(struct watch *watch); /* NULL is fine */

/* Forgets what was seen so far. */
void watch_clear(struct watch *watch);
/* Takes what the kernel has written meanwhile. One thread at a time; the watched one may be it. */
void watch_drain(struct watch *watch);
/* True, without a system call, when watch_drain would find something about the thread itself. */
bool watch_thread_waiting(const struct watch *watch);
/*
 * True, without a system call, when so much waits in a CPU's ring that taking it costs some 5 µs. Each call looks at
 * one CPU, the next one after it. Who never drains a quiet CPU's ring finds it full of timer interrupts after 16 s.
 */
bool watch_crowded(struct watch *watch);
/* Everything so far, sorted by the beginning; valid until the next drain or clear. */
size_t watch_evidence(struct watch *watch, const struct tare_evidence **ret_evidence);
/*
 * Tells sleeps of the thread apart, for who serves requests: those that began in [idle_ns, user_ns), when it
 * waited for the next one, and those that began in [user_ns, to_ns), while it had one in hands. A thread that
 * spins never waits.
 */
void watch_mark_off(struct watch *watch, int64_t idle_ns, int64_t user_ns, bool spins, int64_t to_ns);
/*
 * With `sums`: rows of what was drained since the thread is watched, a CPU after the other; tasks of at least
 * `least_ns`, and how long the thread was pushed aside there. `room` of WATCH_CPUS_MAX * SHARES_ROWS (cause/shares.h)
 * always does. ret_missing: records were lost or found no room, there was more.
 */
size_t watch_shares(struct watch *watch, int64_t least_ns, struct tare_share *ret_rows, size_t room, bool *ret_missing);
/* Evidence from elsewhere. */
void watch_add(struct watch *watch, const struct tare_evidence *item);

bool watch_has_thread(const struct watch *watch);
bool watch_has_cpus(const struct watch *watch);
bool watch_has_interrupts(const struct watch *watch);
bool watch_has_softirqs(const struct watch *watch);
bool watch_has_wakeups(const struct watch *watch); /* sleeps tell when they were to end (tare/cause.h) */
/* What is not seen, why, and what would allow it; "" when everything is. */
const char *watch_missing(const struct watch *watch);
size_t watch_bytes(const struct watch *watch);  /* of the rings and the evidence */
uint64_t watch_lost(const struct watch *watch); /* records that found no room */

/*
 * What watching costs: ns a context switch takes longer on `cpu` (-1: any) while the rings are open, the middle of a
 * few hundred switches against the same before. Takes about 5 ms. TARE_NO_TIME when it cannot be told.
 */
int64_t watch_cost_ns(int cpu, bool cpus_too);
