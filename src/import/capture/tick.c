/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Keyframes are kept in the order of capture, one a second, and searched by the
 * capture's time. All arithmetic is in 128-bit integers: 20/7 ns a tick is no
 * number that a double holds.
 */
#include "import/capture/tick.h"

#include <stdlib.h>
#include <string.h>

#include "wire/bytes.h"

__extension__ typedef __int128 wide;

enum { ETHER_EXPERIMENTAL = 0x88b5, NATIVE_BYTES = 40, COMPAT_1_BYTES = 46, COMPAT_2_BYTES = 62 };
enum { KEYFRAMES_MAX = 4 << 20 };
static const uint64_t TICK_HZ = 350000000;
static const int64_t AGE_MAX_PS = INT64_C(5000000000000);

static bool native(const uint8_t *body, size_t bytes, struct tick_keyframe *ret)
{
	static const uint8_t magic[] = {'E', 'X', 'K', 'F', 1}, older[] = {1, 0, 0, 0, 0, 0, 0, 0};
	if (bytes < NATIVE_BYTES ||
		(memcmp(body, magic, sizeof(magic)) != 0 && memcmp(body, older, sizeof(older)) != 0))
		return false;
	ret->utc_ns = get_u64(body + 8);
	ret->ticks = get_u64(body + 16);
	ret->hz = get_u64(body + 24);
	return ret->hz >= TICK_HZ / 2 && ret->hz <= TICK_HZ * 2;
}

static bool compat(const uint8_t *body, size_t bytes, struct tick_keyframe *ret)
{
	const uint8_t *rest;
	if (bytes == COMPAT_2_BYTES) {
		ret->skew_num = get_u64(body + 24);
		ret->skew_den = get_u64(body + 32);
		rest = body + 40;
	} else if (bytes == COMPAT_1_BYTES) {
		rest = body + 24;
	} else {
		return false;
	}
	ret->compat = true;
	ret->ticks = get_u64(body);
	ret->utc_ns = get_u64(body + 8);
	ret->device = get_u16(rest + 16);
	ret->fcs_type = rest[20];
	/* a skew beyond 2 % is not one of a 350 MHz oscillator */
	uint64_t num = ret->skew_num, den = ret->skew_den;
	if (num && den && (num > den ? num - den : den - num) > den / 50)
		return false;
	return ret->fcs_type <= 2;
}

bool tick_keyframe_read(const struct capture_frame *frame, const struct layers *layers, struct tick_keyframe *ret)
{
	struct tick_keyframe found = {.captured = frame->time};
	const uint8_t *net = frame->bytes + layers->net_at;
	size_t captured = frame->captured;
	bool known = false;
	if (frame->flags & (CAPTURE_NO_TIME | CAPTURE_BAD_FRACTION))
		return false;
	if (layers->ethertype == ETHER_EXPERIMENTAL && captured > layers->net_at) {
		known = native(net, captured - layers->net_at, &found);
	} else if (layers->version == 4 && layers->protocol == PROTOCOL_KEYFRAME && layers->net_end <= captured &&
		   layers->net_end > layers->net_at && !(layers->has & LAYERS_TUNNEL)) {
		size_t header = (size_t)(net[0] & 15) * 4, bytes = layers->net_end - layers->net_at;
		if (header > bytes)
			return false;
		known = compat(net + header, bytes - header, &found) || native(net + header, bytes - header, &found);
	}
	/* between 1990 and 2200: what else has this shape is not a time */
	if (!known || found.utc_ns < UINT64_C(631152000000000000) || found.utc_ns > UINT64_C(7258118400000000000))
		return false;
	*ret = found;
	return true;
}

int tick_keyframes_add(struct tick_keyframes *keyframes, const struct tick_keyframe *keyframe, struct tare_err *err)
{
	if (keyframes->count == KEYFRAMES_MAX)
		return tare_fail(err, TARE_E_FORMAT, "more than %d keyframes", KEYFRAMES_MAX);
	if (keyframes->count == keyframes->room) {
		size_t room = keyframes->room ? 2 * keyframes->room : 64;
		struct tick_keyframe *larger = reallocarray(keyframes->at, room, sizeof(*larger));
		if (!larger)
			return tare_fail(err, TARE_E_SYSTEM, "out of memory for %zu keyframes", room);
		keyframes->at = larger;
		keyframes->room = room;
	}
	size_t at = keyframes->count++;
	if (at && (keyframes->at[0].device != keyframe->device || keyframes->at[0].compat != keyframe->compat))
		keyframes->several_devices = true;
	/* in order of capture, whatever a file's own order is */
	while (at && capture_time_before(keyframe->captured, keyframes->at[at - 1].captured)) {
		keyframes->at[at] = keyframes->at[at - 1];
		at--;
	}
	keyframes->at[at] = *keyframe;
	return 0;
}

static int64_t distance_ps(struct capture_time one, struct capture_time other)
{
	int64_t ps = capture_time_ps(one, other);
	return ps < 0 ? -ps : ps;
}

static struct capture_time time_of_ps(wide ps)
{
	struct capture_time time = {(int64_t)(ps / PS_PER_SECOND), (int64_t)(ps % PS_PER_SECOND)};
	if (time.picoseconds < 0) {
		time.picoseconds += PS_PER_SECOND;
		time.seconds--;
	}
	return time;
}

/* Ticks from the keyframe to a frame captured elapsed_ps later: of all counts that fit the field, the nearest. */
static int64_t ticks_since(const struct tick_keyframe *keyframe, uint32_t ticks, int64_t elapsed_ps)
{
	int64_t wrap = keyframe->compat ? INT64_C(1) << 31 : INT64_C(1) << 32;
	int64_t expected = (int64_t)((wide)elapsed_ps * (int64_t)TICK_HZ / PS_PER_SECOND);
	int64_t difference = (int64_t)(((uint64_t)ticks - keyframe->ticks) & (uint64_t)(wrap - 1));
	int64_t rest = difference - expected % wrap;
	while (rest > wrap / 2)
		rest -= wrap;
	while (rest < -wrap / 2)
		rest += wrap;
	return expected + rest;
}

/* ps of `ticks` at the nominal rate of a keyframe. */
static wide nominal_ps(const struct tick_keyframe *keyframe, int64_t ticks)
{
	wide ps = (wide)ticks * PS_PER_SECOND;
	if (keyframe->skew_num && keyframe->skew_den && keyframe->skew_num != keyframe->skew_den) {
		/* both may have 64 bits; 32 of the ratio are more than an oscillator deserves */
		uint64_t num = keyframe->skew_num, den = keyframe->skew_den;
		while (num >> 32 || den >> 32) {
			num >>= 1;
			den >>= 1;
		}
		return ps / (int64_t)den * (int64_t)num / (int64_t)TICK_HZ;
	}
	uint64_t hz = keyframe->hz ? keyframe->hz : TICK_HZ;
	wide rounded = ps >= 0 ? ps + (int64_t)(hz / 2) : ps - (int64_t)(hz / 2);
	return rounded / (int64_t)hz;
}

/* The rate between two keyframes; false when it is not that of an oscillator: the clock was stepped between. */
static bool between(const struct tick_keyframe *one, const struct tick_keyframe *other, int64_t ticks, wide *ret_ps)
{
	int64_t span_ticks = ticks_since(one, (uint32_t)other->ticks, capture_time_ps(other->captured, one->captured));
	wide span_ps = ((wide)other->utc_ns - (wide)one->utc_ns) * 1000;
	wide nominal = nominal_ps(one, span_ticks), off = span_ps - nominal;
	enum { PPM_MAX = 200 };
	if (span_ticks <= 0 || span_ps <= 0 || (off < 0 ? -off : off) > nominal / (1000000 / PPM_MAX))
		return false;
	wide product = (wide)ticks * span_ps;
	wide half = span_ticks / 2;
	*ret_ps = (product >= 0 ? product + half : product - half) / span_ticks;
	return true;
}

bool tick_time(const struct tick_keyframes *keyframes, uint32_t field, struct capture_time captured,
	struct capture_time *ret_time, const struct tick_keyframe **ret_keyframe)
{
	size_t low = 0, high = keyframes->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (capture_time_before(captured, keyframes->at[middle].captured))
			high = middle;
		else
			low = middle + 1;
	}
	/* keyframe low - 1 was captured before the frame, keyframe low after it */
	const struct tick_keyframe *before = low ? &keyframes->at[low - 1] : NULL;
	const struct tick_keyframe *after = low < keyframes->count ? &keyframes->at[low] : NULL;
	if (before && distance_ps(captured, before->captured) > AGE_MAX_PS)
		before = NULL;
	if (after && distance_ps(captured, after->captured) > AGE_MAX_PS)
		after = NULL;
	const struct tick_keyframe *base = before ? before : after;
	if (!base)
		return false;
	uint32_t ticks = base->compat ? tick_compat(field) : field;
	int64_t since = ticks_since(base, ticks, capture_time_ps(captured, base->captured));
	wide ps;
	if (!before || !after || !between(before, after, since, &ps))
		ps = nominal_ps(base, since);
	*ret_time = time_of_ps((wide)base->utc_ns * 1000 + ps);
	*ret_keyframe = base;
	return true;
}
