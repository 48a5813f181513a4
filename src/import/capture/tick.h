/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tick stamps: 4 bytes of a 350 MHz counter, in place of the check sequence or in
 * front of it, that mean nothing without the keyframes which a switch sends once
 * a second. Arista's 7150 and its likeness in the Nexus 3550 count 31 bits with a
 * padding bit in the middle, the 3550's own mode 32.
 *
 * The counter wraps after 6.1 or 12.3 s. The capture's clock tells which wrap a
 * frame belongs to, so that a lost keyframe costs nothing; where the nearest
 * keyframe is more than 5 s away the time is unknown. Between two keyframes the
 * time is interpolated, which takes the oscillator's error out; at the ends, and
 * where the switch's clock was stepped, the nominal rate and the skew of the
 * keyframe serve.
 */
#pragma once
#include "import/capture/layers.h"

struct tick_keyframe {
	struct capture_time captured;
	uint64_t ticks; /* as many bits as the keyframe has */
	uint64_t utc_ns;
	uint64_t skew_num, skew_den, hz; /* 0: not given */
	uint32_t device;
	bool compat; /* 31 bits with padding */
	uint8_t fcs_type;
};

struct tick_keyframes {
	struct tick_keyframe *at;
	size_t count, room;
	bool several_devices;
};

/* Reads a frame as a keyframe; false when it is none. */
bool tick_keyframe_read(const struct capture_frame *frame, const struct layers *layers, struct tick_keyframe *ret);
int tick_keyframes_add(
	struct tick_keyframes *keyframes, const struct tick_keyframe *keyframe, struct tare_err *err) TARE_MUST_USE;
/* 31 bits out of the field of 32. */
static inline uint32_t tick_compat(uint32_t field)
{
	return (field & 0xffffff00) >> 1 | (field & 0x7f);
}
/* False when no keyframe is near enough. `field` is the raw 4 bytes. */
bool tick_time(const struct tick_keyframes *keyframes, uint32_t field, struct capture_time captured,
	struct capture_time *ret_time, const struct tick_keyframe **ret_keyframe);
