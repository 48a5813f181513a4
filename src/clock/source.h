/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where the hot loop gets its time from and how it waits: the system's clocks,
 * or, in tests, a virtual clock on which every figure can be foretold.
 */
#pragma once
#include <poll.h>
#include <stddef.h>

#include "clock/clock.h"
#include "tare/axis.h"

struct clock_source {
	clock_mono (*mono)(void *self);
	clock_real (*real)(void *self);
	/*
	 * Until one of the descriptors is ready (as ppoll), at the latest until `until`. Returns
	 * poll's count, 0 at the deadline, -errno.
	 */
	int (*wait)(void *self, struct pollfd *fds, size_t count, clock_mono until);
	void *self;
};

extern const struct clock_source clock_system;

static inline clock_mono source_mono(const struct clock_source *source)
{
	return source->mono(source->self);
}

/* A paired reading: of five brackets mono-real-mono the narrowest. About 0.4 µs. */
struct tare_reading source_reading(const struct clock_source *source);

/* One tick of the kernel (1/HZ) in ns, 0 when it cannot be told. */
int64_t clock_tick_ns(void);
