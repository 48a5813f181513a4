/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Clocks. Three types, so that subtracting a wall-clock stamp from a monotonic
 * one does not compile. All own times are CLOCK_MONOTONIC; CLOCK_REALTIME is only
 * what kernel stamps come in.
 */
#pragma once
#include <stdint.h>
#include <time.h>

typedef struct { int64_t ns; } clock_mono;
typedef struct { int64_t ns; } clock_real;
typedef struct { int64_t ns; } clock_phc;

static inline int64_t clock_ns_of(struct timespec t)
{
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}
static inline struct timespec clock_timespec(int64_t ns)
{
	return (struct timespec){.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};
}
static inline clock_mono clock_mono_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (clock_mono){clock_ns_of(t)};
}
static inline clock_real clock_real_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	return (clock_real){clock_ns_of(t)};
}
static inline int64_t clock_between(clock_mono from, clock_mono to)
{
	return to.ns - from.ns;
}
static inline clock_mono clock_after(clock_mono from, int64_t ns)
{
	return (clock_mono){from.ns + ns};
}
