/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The system's clocks behind struct clock_source, and paired readings of both. */
#include "clock/source.h"

#include <errno.h>

static clock_mono system_mono(void *self)
{
	(void)self;
	return clock_mono_now();
}

static clock_real system_real(void *self)
{
	(void)self;
	return clock_real_now();
}

static int system_wait(void *self, struct pollfd *fds, size_t count, clock_mono until)
{
	(void)self;
	int64_t left_ns = clock_between(clock_mono_now(), until);
	struct timespec left = clock_timespec(left_ns > 0 ? left_ns : 0);
	int ready = ppoll(fds, (nfds_t)count, &left, NULL);
	return ready < 0 ? -errno : ready;
}

const struct clock_source clock_system = {.mono = system_mono, .real = system_real, .wait = system_wait};

struct tare_reading source_reading(const struct clock_source *source)
{
	struct tare_reading best = {0};
	int64_t best_width_ns = INT64_MAX;
	int64_t before_ns = source_mono(source).ns;
	for (int i = 0; i < 5; i++) {
		int64_t real_ns = source->real(source->self).ns;
		int64_t after_ns = source_mono(source).ns;
		if (after_ns - before_ns < best_width_ns) {
			best_width_ns = after_ns - before_ns;
			best = (struct tare_reading){before_ns, real_ns, after_ns};
		}
		before_ns = after_ns;
	}
	return best;
}

int64_t clock_tick_ns(void)
{
	/* the coarse clock moves once a tick, and its resolution is the tick exactly */
	struct timespec tick;
	if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick) != 0)
		return 0;
	return clock_ns_of(tick);
}
