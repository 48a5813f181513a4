/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Faults on purpose, for trying alarms and for the tests of the causes:
 *
 *	delay 2ms every 1000, drop 1%, duplicate 0.1%, reorder 0.1%, stop 50ms at 3000, migrate 1 at 6000
 *
 * `delay` keeps the CPU (a slow service), `stop` sleeps (a blocked one). Which
 * request is hit follows from its number, or from a seeded draw for shares, and
 * from nothing else. Whoever injects says so in every reply and every recording.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tare/err.h"

enum inject_what { INJECT_DELAY, INJECT_STOP, INJECT_MIGRATE, INJECT_DROP, INJECT_DUPLICATE, INJECT_REORDER };
enum inject_when { INJECT_EVERY, INJECT_AT, INJECT_SHARE };

struct inject_fault {
	enum inject_what what;
	enum inject_when when;
	int64_t ns;         /* delay, stop */
	int cpu;            /* migrate */
	uint64_t number;    /* every, at */
	uint64_t threshold; /* share: of 2^64 */
};

enum { INJECT_FAULTS_MAX = 32 };
struct inject_plan {
	struct inject_fault fault[INJECT_FAULTS_MAX];
	size_t count; /* 0: nothing is injected */
	uint64_t seed;
};

/* A sender can only hold itself: drop, duplicate and reorder are the responder's. */
enum inject_side { INJECT_RESPONDER, INJECT_SENDER };
int inject_parse(
	const char *text, enum inject_side side, struct inject_plan *ret_plan, struct tare_err *err) TARE_MUST_USE;

/* What befalls one request. */
struct inject_due {
	int64_t delay_ns, stop_ns; /* 0: none */
	int cpu;                   /* to move to, -1: none */
	bool drop, duplicate, reorder;
};
/*
 * Pure. `number` is the request's own ("every 1000": 1000, 2000, ...); `draw` tells the draws for
 * shares apart, a running count. False when nothing befalls it.
 */
bool inject_at(const struct inject_plan *plan, uint64_t number, uint64_t draw, struct inject_due *ret_due);
/* Moves, sleeps and spins as due, in this order; for a measuring thread: no allocation, no lock. */
void inject_hold(const struct inject_due *due);
