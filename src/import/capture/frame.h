/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One packet of a capture file, whatever the file's format: its bytes, its
 * lengths and the time that the file gives it. Times are whole seconds and
 * picoseconds, since a 64-bit count of picoseconds ends after 106 days; no
 * floating point anywhere.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tare/sample.h"

static const int64_t PS_PER_SECOND = INT64_C(1000000000000);

/* 0 <= picoseconds < 10^12, before the epoch too. */
struct capture_time {
	int64_t seconds, picoseconds;
};

/* later - earlier; saturates at +-106 days. */
static inline int64_t capture_time_ps(struct capture_time later, struct capture_time earlier)
{
	int64_t seconds, ps;
	if (__builtin_sub_overflow(later.seconds, earlier.seconds, &seconds))
		return later.seconds < earlier.seconds ? INT64_MIN + 1 : INT64_MAX;
	if (__builtin_mul_overflow(seconds, PS_PER_SECOND, &ps) ||
		__builtin_add_overflow(ps, later.picoseconds - earlier.picoseconds, &ps))
		return seconds < 0 ? INT64_MIN + 1 : INT64_MAX;
	return ps;
}

/* later - earlier in ns, rounded half up: one rounding for the difference, not one for each end. */
static inline int64_t capture_time_ns(struct capture_time later, struct capture_time earlier)
{
	int64_t seconds, ns;
	int64_t ps = later.picoseconds - earlier.picoseconds + 500;
	int64_t rest_ns = ps >= 0 ? ps / 1000 : -((-ps + 999) / 1000);
	if (__builtin_sub_overflow(later.seconds, earlier.seconds, &seconds) ||
		__builtin_mul_overflow(seconds, INT64_C(1000000000), &ns) || __builtin_add_overflow(ns, rest_ns, &ns) ||
		ns == TARE_NO_TIME)
		return later.seconds < earlier.seconds ? INT64_MIN + 1 : INT64_MAX;
	return ns;
}

static inline bool capture_time_before(struct capture_time one, struct capture_time other)
{
	return one.seconds < other.seconds || (one.seconds == other.seconds && one.picoseconds < other.picoseconds);
}

static inline struct capture_time capture_time_add_ps(struct capture_time time, int64_t ps)
{
	int64_t sum = time.picoseconds + ps % PS_PER_SECOND; /* both below 10^12 in size */
	struct capture_time result = {0, sum};
	int64_t carry = ps / PS_PER_SECOND;
	if (sum < 0) {
		result.picoseconds += PS_PER_SECOND;
		carry--;
	} else if (sum >= PS_PER_SECOND) {
		result.picoseconds -= PS_PER_SECOND;
		carry++;
	}
	if (__builtin_add_overflow(time.seconds, carry, &result.seconds))
		result.seconds = carry < 0 ? INT64_MIN : INT64_MAX;
	return result;
}

/* What is wrong with a frame's time or bytes. */
enum capture_flag {
	CAPTURE_NO_TIME = 1 << 0,      /* a simple packet block, or an interface whose resolution cannot be */
	CAPTURE_BAD_FRACTION = 1 << 1, /* sub-second field of a second or more: its time means nothing */
	CAPTURE_CUT = 1 << 2,          /* fewer bytes captured than were on the wire */
	CAPTURE_INBOUND = 1 << 3,      /* as seen from the capturing host, where the file says so */
	CAPTURE_OUTBOUND = 1 << 4,
	CAPTURE_RX_ERROR = 1 << 5, /* the card reports a damaged frame */
	CAPTURE_LONGER = 1 << 6,   /* more bytes captured than on the wire: something was put behind */
};

struct capture_frame {
	uint64_t number; /* from 1, as other tools count */
	uint64_t offset; /* of its record in the unpacked file */
	struct capture_time time;
	const uint8_t *bytes; /* until the next frame is read */
	uint32_t captured, length;
	uint32_t interface; /* index over the whole file: sections follow each other */
	uint16_t link;      /* LINKTYPE */
	uint16_t flags;
	uint16_t fcs_bytes; /* trailing check sequence that the file announces; 0: unknown or none */
	uint64_t packet_id; /* pcapng's; 0: none */
};

enum capture_link {
	LINK_NULL = 0,
	LINK_ETHERNET = 1,
	LINK_RAW_12 = 12, /* what some systems write for raw IP */
	LINK_RAW_14 = 14,
	LINK_RAW = 101,
	LINK_LOOP = 108,
	LINK_SLL = 113,
	LINK_ERF = 197,
	LINK_IPV4 = 228,
	LINK_IPV6 = 229,
	LINK_SLL2 = 276,
	LINK_UNKNOWN = 0xffff,
};
