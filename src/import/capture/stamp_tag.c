/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stamps inside the frame, in front of the packet: EtherTypes of their own, the
 * overwritten source address, and ERSPAN III.
 */
#include "import/capture/stamp_private.h"
#include "wire/bytes.h"

enum { NS_PER_SECOND = 1000000000 };
enum { AVSP_64_BITS = 1, AVSP_48_BITS = 2 };

bool stamp_avsp_may_jump(const struct stamp_place *place)
{
	const uint8_t *tag = place->frame->bytes + place->layers->avsp_at;
	return place->layers->avsp_at && (get_u16(tag + 2) & 0xff) == AVSP_64_BITS << 4;
}

/* The seconds whose lower 16 bits are given, nearest to the capture's clock: right within 9 hours. */
static struct capture_time near_seconds(struct capture_time captured, uint32_t low, uint32_t ns)
{
	struct capture_time whole = {captured.seconds, 0};
	struct capture_time time = stamp_near(whole, low, 16, NS_PER_SECOND);
	time.picoseconds = (int64_t)ns * 1000;
	return time;
}

enum stamp_finding stamp_avsp(const struct stamp_place *place, struct stamp *ret_stamp)
{
	if (!place->layers->avsp_at)
		return STAMP_ABSENT;
	const uint8_t *tag = place->frame->bytes + place->layers->avsp_at;
	unsigned version = get_u16(tag + 2);
	bool wide = (version >> 4 & 15) == AVSP_64_BITS;
	uint32_t seconds = wide ? get_u32(tag + 4) : get_u16(tag + 4), ns = get_u32(tag + (wide ? 8 : 6));
	if (ns >= NS_PER_SECOND)
		return STAMP_ABSENT;
	*ret_stamp = (struct stamp){
		.time = {seconds, (int64_t)ns * 1000},
		.scale = version >> 8 == 0   ? STAMP_SCALE_TAI
			 : version >> 8 == 1 ? STAMP_SCALE_UTC
					     : STAMP_SCALE_UNKNOWN,
	};
	if (!wide)
		ret_stamp->time = near_seconds(place->frame->time, seconds, ns);
	return STAMP_PROVEN;
}

enum stamp_finding stamp_avsp_mac(const struct stamp_place *place, struct stamp *ret_stamp)
{
	if (place->frame->link != LINK_ETHERNET || place->frame->captured < 12)
		return STAMP_ABSENT;
	const uint8_t *address = place->frame->bytes + 6;
	uint32_t ns = get_u32(address + 2);
	if (ns >= NS_PER_SECOND)
		return STAMP_ABSENT;
	*ret_stamp = (struct stamp){.time = near_seconds(place->frame->time, get_u16(address), ns)};
	return STAMP_SHAPED;
}

enum stamp_finding stamp_ttag(const struct stamp_place *place, struct stamp *ret_stamp)
{
	if (!place->layers->ttag_at)
		return STAMP_ABSENT;
	const uint8_t *tag = place->frame->bytes + place->layers->ttag_at;
	uint64_t ns = (uint64_t)get_u16(tag) << 32 | get_u32(tag + 2);
	*ret_stamp = (struct stamp){.time = stamp_near(place->frame->time, ns, 48, 1), .scale = STAMP_SCALE_RELATIVE};
	return STAMP_PROVEN;
}

/* Upper half of the time or the seconds, from the platform's own subheader; what else it names is its port. */
static int subheader(const uint8_t *header, struct stamp *stamp, uint32_t *ret_word)
{
	unsigned platform = header[12] >> 2;
	*ret_word = get_u32(header + 16);
	switch (platform) {
	case 3:
		stamp->port = get_u32(header + 12) & 0x3fff;
		return 1;
	case 5:
	case 6:
		stamp->device = get_u32(header + 12) >> 16 & 0x3ff;
		stamp->port = get_u16(header + 14);
		return 2;
	case 0:
	case 7:
		stamp->port = get_u32(header + 12) & 0xfffff;
		return 1;
	default:
		return 0;
	}
}

static const uint64_t granule_ns[] = {100000, 100, 1, 1};
enum { ERSPAN_BYTES = 12, ERSPAN_LONG_BYTES = 20, GRANULE_PTP = 2 };

bool stamp_erspan3_short(const struct stamp_place *place, uint32_t *ret_low, int64_t *ret_granule_ps)
{
	const struct layers *layers = place->layers;
	if (!layers->erspan_at || layers->erspan_bytes < ERSPAN_BYTES)
		return false;
	const uint8_t *header = place->frame->bytes + layers->erspan_at;
	unsigned granularity = header[11] >> 1 & 3;
	struct stamp unused = {0};
	uint32_t word;
	if (granularity == GRANULE_PTP ||
		(header[11] & 1 && layers->erspan_bytes >= ERSPAN_LONG_BYTES && subheader(header, &unused, &word)))
		return false;
	*ret_low = get_u32(header + 4);
	*ret_granule_ps = (int64_t)granule_ns[granularity] * 1000;
	return true;
}

enum stamp_finding stamp_erspan3(const struct stamp_place *place, struct stamp *ret_stamp)
{
	const struct layers *layers = place->layers;
	if (!layers->erspan_at || layers->erspan_bytes < ERSPAN_BYTES)
		return STAMP_ABSENT;
	const uint8_t *header = place->frame->bytes + layers->erspan_at;
	uint32_t low = get_u32(header + 4), word = 0;
	unsigned granularity = header[11] >> 1 & 3;
	struct stamp stamp = {.device = get_u16(header + 10) >> 4 & 63, .scale = STAMP_SCALE_RELATIVE};
	int kind = header[11] & 1 && layers->erspan_bytes >= ERSPAN_LONG_BYTES ? subheader(header, &stamp, &word) : 0;
	if (kind == 1) {
		__extension__ typedef unsigned __int128 wide;
		wide ns = (wide)((uint64_t)word << 32 | low) * granule_ns[granularity];
		stamp.time.seconds = (int64_t)(ns / NS_PER_SECOND);
		stamp.time.picoseconds = (int64_t)(ns % NS_PER_SECOND) * 1000;
	} else if (kind == 2) {
		if (low >= NS_PER_SECOND)
			return STAMP_ABSENT;
		stamp.time = (struct capture_time){word, (int64_t)low * 1000};
		stamp.scale = STAMP_SCALE_UNKNOWN;
	} else if (granularity == GRANULE_PTP) {
		/* nanoseconds of a second whose number the header has no room for */
		if (low >= NS_PER_SECOND)
			return STAMP_ABSENT;
		int64_t apart = capture_time_ps((struct capture_time){0, place->frame->time.picoseconds},
			(struct capture_time){0, (int64_t)low * 1000});
		stamp.time =
			(struct capture_time){place->frame->time.seconds + (apart > PS_PER_SECOND / 2           ? 1
										   : apart < -PS_PER_SECOND / 2 ? -1
														: 0),
				(int64_t)low * 1000};
	} else {
		stamp.time = stamp_near(place->frame->time, low, 32, granule_ns[granularity]);
	}
	*ret_stamp = stamp;
	return STAMP_PROVEN;
}
