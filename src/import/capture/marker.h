/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Marker packets of Cisco's Nexus switches: UDP to where the mirrored traffic goes,
 * each with the counter of 48 bits whose lower 32 are the times in ERSPAN III headers,
 * and with the UTC of that moment to the microsecond as the switch's CPU has it. The
 * layout is that of a public dissector; it was not verified on hardware.
 *
 * All times of a file hang on one moment: the counter tells how far apart frames are,
 * the markers' UTC only where the whole lies (their median), so that an error in a
 * marker's UTC never is part of a latency. The capture's clock tells which wrap of 32
 * bits a frame belongs to; where the nearest marker is farther than one wrap (4.29 s
 * at 1 ns), or 60 s, the time is unknown.
 *
 * The unit is what the markers themselves show, 0.1 ns, 1 ns, 100 ns or 100 us; a
 * header that claims another is not anchored. Nor are any where markers come from two
 * switches, or where counter and UTC part by more than 2 %: one of them was set.
 */
#pragma once
#include "import/capture/layers.h"
#include "tare/err.h"

struct marker {
	struct capture_time captured;
	uint64_t ticks;     /* 48 bits */
	int64_t utc_us;     /* since 1970 */
	int64_t from_first; /* ticks since the file's first marker; set by markers_settle */
	uint32_t sequence;
	uint8_t source[16], session, granularity, utc_offset; /* as they are in the packet, their meaning unverified */
};

struct markers {
	struct marker *at; /* in the order of the capture's clock */
	size_t count, room;
	bool several_switches, unsteady; /* the reasons for which they cannot be used */
	bool usable;
	int64_t unit_ps;        /* 0: a single marker does not show it */
	int64_t median_ps;      /* of UTC by marker - UTC by counter from the first marker on */
	int64_t spread_ps;      /* largest - smallest of these */
	int64_t offset_seconds; /* UTC of the markers - the capture's clock, nearest second */
	uint64_t missing;       /* of them, as their numbers show */
};

/* Reads a packet as a marker; false when it is none. */
bool marker_read(const struct capture_frame *frame, const struct layers *layers, struct marker *ret_marker);
int markers_add(struct markers *markers, const struct marker *marker, struct tare_err *err) TARE_MUST_USE;
/* After the last one. */
int markers_settle(struct markers *markers, struct tare_err *err) TARE_MUST_USE;
void markers_end(struct markers *markers);
/* Whether stamps in steps of granule_ps can be anchored. */
bool markers_serve(const struct markers *markers, int64_t granule_ps);
/* The time of a stamp of 32 bits; false where no marker is near. Only where markers_serve. */
bool markers_time(const struct markers *markers, uint32_t low, int64_t granule_ps, struct capture_time captured,
	struct capture_time *ret_time);
