/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The card's clock, by the narrowest bracket the driver allows. */
#include "clock/phc.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/ptp_clock.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "clock/source.h"

/* Of as many the narrowest is kept: an interrupt in the middle of one costs nothing. */
enum { PHC_SAMPLES = 5 };
/* A dynamic clock's id, as the kernel makes it from a descriptor. */
#define CLOCK_OF_FD(fd) ((~(clockid_t)(fd) << 3) | 3)

static int64_t ns_of(const struct ptp_clock_time *t)
{
	int64_t ns;
	if (__builtin_mul_overflow((int64_t)t->sec, INT64_C(1000000000), &ns) ||
		__builtin_add_overflow(ns, t->nsec, &ns))
		return INT64_MIN;
	return ns;
}

bool phc_narrowest(const struct phc_bracket *brackets, size_t count, const struct tare_reading *wall,
	struct tare_reading *ret_reading)
{
	const struct phc_bracket *best = NULL;
	int64_t low_ns = 0, high_ns = 0, best_width = INT64_MAX, width;
	for (size_t i = 0; i < count; i++) {
		if (!__builtin_sub_overflow(brackets[i].after_ns, brackets[i].before_ns, &width) && width >= 0 &&
			width < best_width && brackets[i].card_ns != INT64_MIN) {
			best_width = width;
			best = &brackets[i];
		}
	}
	/* wall - mono lies between these two */
	if (!best || (wall && (__builtin_sub_overflow(wall->real_ns, wall->mono_after_ns, &low_ns) ||
				      __builtin_sub_overflow(wall->real_ns, wall->mono_before_ns, &high_ns))))
		return false;
	struct tare_reading reading = {.real_ns = best->card_ns};
	if (__builtin_sub_overflow(best->before_ns, high_ns, &reading.mono_before_ns) ||
		__builtin_sub_overflow(best->after_ns, low_ns, &reading.mono_after_ns))
		return false;
	*ret_reading = reading;
	return true;
}

static bool read_precise(const struct phc *phc, struct tare_reading *ret_reading)
{
	struct ptp_sys_offset_precise offset = {0};
	struct tare_reading wall = source_reading(&clock_system);
	if (ioctl(phc->fd, PTP_SYS_OFFSET_PRECISE, &offset) != 0)
		return false;
	int64_t at_ns = ns_of(&offset.sys_realtime);
	struct phc_bracket bracket = {at_ns, ns_of(&offset.device), at_ns};
	return phc_narrowest(&bracket, 1, &wall, ret_reading);
}

static bool read_extended(const struct phc *phc, struct tare_reading *ret_reading)
{
	struct ptp_sys_offset_extended offset = {.n_samples = PHC_SAMPLES};
	struct phc_bracket brackets[PHC_SAMPLES];
	struct tare_reading wall = source_reading(&clock_system);
	/* what became `clockid`; older kernels refuse anything but 0 here, which is CLOCK_REALTIME */
	offset.rsv[0] = phc->mono ? CLOCK_MONOTONIC : 0;
	if (ioctl(phc->fd, PTP_SYS_OFFSET_EXTENDED, &offset) != 0)
		return false;
	for (size_t i = 0; i < PHC_SAMPLES; i++)
		brackets[i] =
			(struct phc_bracket){ns_of(&offset.ts[i][0]), ns_of(&offset.ts[i][1]), ns_of(&offset.ts[i][2])};
	return phc_narrowest(brackets, PHC_SAMPLES, phc->mono ? NULL : &wall, ret_reading);
}

static bool read_bracket(const struct phc *phc, struct tare_reading *ret_reading)
{
	struct phc_bracket brackets[PHC_SAMPLES];
	for (size_t i = 0; i < PHC_SAMPLES; i++) {
		struct timespec card;
		brackets[i].before_ns = clock_mono_now().ns;
		if (clock_gettime(CLOCK_OF_FD(phc->fd), &card) != 0)
			return false;
		brackets[i].after_ns = clock_mono_now().ns;
		brackets[i].card_ns = clock_ns_of(card);
	}
	return phc_narrowest(brackets, PHC_SAMPLES, NULL, ret_reading);
}

bool phc_read(const struct phc *phc, struct tare_reading *ret_reading)
{
	switch (phc->way) {
	case PHC_PRECISE:
		return read_precise(phc, ret_reading);
	case PHC_EXTENDED:
		return read_extended(phc, ret_reading);
	case PHC_BRACKET:
		return read_bracket(phc, ret_reading);
	}
	return false;
}

const char *phc_way_name(enum phc_way way)
{
	static const char *const names[] = {"cross-stamped by the card", "bracketed by the driver", "bracketed by us"};
	return (unsigned)way <= PHC_BRACKET ? names[way] : "unknown";
}

int phc_open(int index, struct phc *ret_phc, struct tare_err *err)
{
	char path[32];
	struct tare_reading reading;
	snprintf(path, sizeof path, "/dev/ptp%d", index);
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return tare_fail_errno(err, errno, "cannot open the card's clock '%s'", path);
	static const struct phc ways[] = {{-1, PHC_PRECISE, false}, {-1, PHC_EXTENDED, true}, {-1, PHC_EXTENDED, false},
		{-1, PHC_BRACKET, false}};
	for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
		struct phc phc = {.fd = fd, .way = ways[i].way, .mono = ways[i].mono};
		if (!phc_read(&phc, &reading))
			continue;
		phc.fd = take_fd(&fd);
		*ret_phc = phc;
		return 0;
	}
	return tare_fail_errno(err, errno, "cannot read the card's clock '%s'", path);
}

void phc_close(struct phc *phc)
{
	if (phc->fd >= 0)
		close(phc->fd);
	phc->fd = -1;
}
