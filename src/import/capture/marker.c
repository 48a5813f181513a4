/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Markers are kept like keyframes: one a second or so, in the order of capture, found by bisection. */
#include "import/capture/marker.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "wire/bytes.h"

__extension__ typedef __int128 wide;

enum { MARKER_BYTES = 58, MARKERS_MAX = 4 << 20, SECONDS_1990 = 631152000, TICK_BITS = 48, LOW_BITS = 32 };
static const uint32_t SIGNATURE = 0xa5a5a5a5;
static const int64_t UNITS_PS[] = {100, 1000, 100000, 100000000};
static const int64_t AGE_MAX_PS = INT64_C(60000000000000), PS_PER_US = 1000000, SLACK_PS = INT64_C(2000000000);

bool marker_read(const struct capture_frame *frame, const struct layers *layers, struct marker *ret_marker)
{
	enum {
		SESSION_AT = 23,
		GRANULARITY_AT = 24,
		UTC_OFFSET_AT = 25,
		TICKS_AT = 26,
		SECONDS_AT = 34,
		MICROSECONDS_AT = 38,
		SEQUENCE_AT = 42,
		SIGNATURE_AT = 54
	};
	const uint8_t *payload = layers->payload;
	if (!(layers->has & LAYERS_UDP) || layers->payload_captured < MARKER_BYTES ||
		get_u32(payload + SIGNATURE_AT) != SIGNATURE)
		return false;
	uint64_t ticks = get_u64(payload + TICKS_AT);
	uint32_t seconds = get_u32(payload + SECONDS_AT), microseconds = get_u32(payload + MICROSECONDS_AT), sequence;
	if (ticks >> TICK_BITS || seconds < SECONDS_1990 || microseconds >= 1000000 ||
		frame->flags & (CAPTURE_NO_TIME | CAPTURE_BAD_FRACTION))
		return false;
	memcpy(&sequence, payload + SEQUENCE_AT, sizeof(sequence));
	*ret_marker = (struct marker){
		.captured = frame->time,
		.ticks = ticks,
		.utc_us = (int64_t)seconds * 1000000 + microseconds,
		.sequence = le32toh(sequence),
		.session = payload[SESSION_AT],
		.granularity = payload[GRANULARITY_AT],
		.utc_offset = payload[UTC_OFFSET_AT],
	};
	memcpy(ret_marker->source, layers->source, layers->version == 6 ? 16 : 4);
	return true;
}

void markers_end(struct markers *markers)
{
	free(markers->at);
	*markers = (struct markers){0};
}

int markers_add(struct markers *markers, const struct marker *marker, struct tare_err *err)
{
	if (markers->count == MARKERS_MAX)
		return tare_fail(err, TARE_E_FORMAT, "more than %d marker packets", MARKERS_MAX);
	if (markers->count == markers->room) {
		size_t room = markers->room ? 2 * markers->room : 64;
		struct marker *larger = reallocarray(markers->at, room, sizeof(*larger));
		if (!larger)
			return tare_fail(err, TARE_E_SYSTEM, "out of memory for %zu marker packets", room);
		markers->at = larger;
		markers->room = room;
	}
	size_t at = markers->count;
	while (at && capture_time_before(marker->captured, markers->at[at - 1].captured))
		at--;
	/* a mirror's second copy says nothing new */
	for (size_t i = at; i-- > 0 && at - i <= 2;) {
		const struct marker *before = &markers->at[i];
		if (before->ticks == marker->ticks && before->utc_us == marker->utc_us &&
			memcmp(before->source, marker->source, sizeof(marker->source)) == 0)
			return 0;
	}
	if (markers->count && (memcmp(markers->at[0].source, marker->source, sizeof(marker->source)) != 0 ||
				      markers->at[0].session != marker->session))
		markers->several_switches = true;
	memmove(&markers->at[at + 1], &markers->at[at], (markers->count - at) * sizeof(*marker));
	markers->at[at] = *marker;
	markers->count++;
	return 0;
}

static int64_t signed_bits(uint64_t difference, unsigned bits)
{
	uint64_t half = UINT64_C(1) << (bits - 1), mask = (half << 1) - 1;
	difference &= mask;
	return difference & half ? (int64_t)(difference | ~mask) : (int64_t)difference;
}

/* Of all counts that differ from `expected` by what fits `difference` modulo the bits, the nearest. */
static int64_t nearest(int64_t expected, uint64_t difference, unsigned bits)
{
	return expected + signed_bits(difference - (uint64_t)expected, bits);
}

static int64_t absolute(int64_t value)
{
	return value < 0 ? -value : value;
}

/* The unit in which two neighbours count; 0: too near or too far to tell, -1: none that fits. */
static int64_t unit_of(const struct marker *one, const struct marker *next)
{
	int64_t utc_us = next->utc_us - one->utc_us;
	if (utc_us < -10000)
		return -1;
	if (utc_us < 10000 || utc_us > 600000000)
		return 0;
	wide utc_ps = (wide)utc_us * PS_PER_US;
	for (size_t i = 0; i < sizeof(UNITS_PS) / sizeof(*UNITS_PS); i++) {
		int64_t expected = (int64_t)(utc_ps / UNITS_PS[i]);
		wide apart = (wide)nearest(expected, next->ticks - one->ticks, TICK_BITS) * UNITS_PS[i] - utc_ps;
		if ((apart < 0 ? -apart : apart) <= utc_ps / 50 + SLACK_PS)
			return UNITS_PS[i];
	}
	return -1;
}

static int by_value(const void *one, const void *other)
{
	int64_t left = *(const int64_t *)one, right = *(const int64_t *)other;
	return (left > right) - (left < right);
}

/* Where the counter's moments lie in UTC. */
static int place(struct markers *markers, int64_t unit_ps, struct tare_err *err)
{
	const struct marker *first = &markers->at[0];
	AUTO_FREE int64_t *apart_ps = calloc(markers->count, sizeof(*apart_ps));
	if (!apart_ps)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory for %zu marker packets", markers->count);
	for (size_t i = 0; i < markers->count; i++) {
		struct marker *marker = &markers->at[i];
		wide utc_ps = (wide)(marker->utc_us - first->utc_us) * PS_PER_US;
		marker->from_first = nearest((int64_t)(utc_ps / unit_ps), marker->ticks - first->ticks, TICK_BITS);
		wide apart = utc_ps - (wide)marker->from_first * unit_ps;
		if (apart > INT64_MAX / 4 || apart < -INT64_MAX / 4) {
			markers->unsteady = true;
			return 0;
		}
		apart_ps[i] = (int64_t)apart;
		uint32_t skipped = i ? marker->sequence - markers->at[i - 1].sequence - 1 : 0;
		markers->missing += skipped < 0x10000 ? skipped : 0;
	}
	qsort(apart_ps, markers->count, sizeof(*apart_ps), by_value);
	markers->median_ps = apart_ps[markers->count / 2];
	markers->spread_ps = apart_ps[markers->count - 1] - apart_ps[0];
	return 0;
}

int markers_settle(struct markers *markers, struct tare_err *err)
{
	if (!markers->count || markers->several_switches)
		return 0;
	for (size_t i = 1; i < markers->count; i++) {
		int64_t unit_ps = unit_of(&markers->at[i - 1], &markers->at[i]);
		if (unit_ps < 0 || (unit_ps && markers->unit_ps && unit_ps != markers->unit_ps))
			markers->unsteady = true;
		if (unit_ps > 0)
			markers->unit_ps = unit_ps;
	}
	markers->unsteady = markers->unsteady || (markers->count > 1 && !markers->unit_ps);
	if (markers->unsteady)
		return 0;
	/* of a single marker the unit does not matter: it is its own first */
	if (place(markers, markers->unit_ps ? markers->unit_ps : UNITS_PS[0], err))
		return -1;
	const struct marker *middle = &markers->at[markers->count / 2];
	int64_t apart_us =
		middle->utc_us - (middle->captured.seconds * 1000000 + middle->captured.picoseconds / PS_PER_US);
	markers->offset_seconds = (apart_us + (apart_us < 0 ? -500000 : 500000)) / 1000000;
	markers->usable = !markers->unsteady;
	return 0;
}

bool markers_serve(const struct markers *markers, int64_t granule_ps)
{
	return markers->usable && (!markers->unit_ps || markers->unit_ps == granule_ps);
}

static const struct marker *nearest_marker(const struct markers *markers, struct capture_time captured)
{
	size_t low = 0, high = markers->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (capture_time_before(captured, markers->at[middle].captured))
			high = middle;
		else
			low = middle + 1;
	}
	const struct marker *before = low ? &markers->at[low - 1] : NULL;
	const struct marker *after = low < markers->count ? &markers->at[low] : NULL;
	if (!before || !after)
		return before ? before : after;
	return capture_time_ps(captured, before->captured) <= capture_time_ps(after->captured, captured) ? before
													 : after;
}

bool markers_time(const struct markers *markers, uint32_t low, int64_t granule_ps, struct capture_time captured,
	struct capture_time *ret_time)
{
	const struct marker *marker = nearest_marker(markers, captured);
	int64_t elapsed_ps = marker ? capture_time_ps(captured, marker->captured) : 0;
	wide wrap_ps = (wide)granule_ps << LOW_BITS;
	if (!marker || absolute(elapsed_ps) > (wrap_ps < AGE_MAX_PS ? (int64_t)wrap_ps : AGE_MAX_PS))
		return false;
	int64_t since = nearest(elapsed_ps / granule_ps, (uint64_t)low - marker->ticks, LOW_BITS);
	wide ps = (wide)markers->at[0].utc_us * PS_PER_US + ((wide)marker->from_first + since) * granule_ps +
		  markers->median_ps;
	*ret_time = (struct capture_time){(int64_t)(ps / PS_PER_SECOND), (int64_t)(ps % PS_PER_SECOND)};
	return ps >= 0;
}
