/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stamps behind the packet. Each reader looks only at where its format would end
 * and says how sure it is; which format a file has is decided elsewhere, over all
 * of its frames.
 */
#include <string.h>
#include <zlib.h>

#include "import/capture/stamp_private.h"
#include "wire/bytes.h"

enum { NS_PER_SECOND = 1000000000, FCS_BYTES = 4 };

uint32_t stamp_crc(const uint8_t *bytes, size_t count)
{
	return (uint32_t)crc32(0, bytes, (uInt)count);
}

/* The residue over a frame with its check sequence is the same for every frame. */
bool stamp_fcs_valid(const uint8_t *bytes, size_t count)
{
	return count > FCS_BYTES && stamp_crc(bytes, count) == 0x2144df1c;
}

uint16_t stamp_checksum(const uint8_t *bytes, size_t count)
{
	uint32_t sum = 0;
	for (size_t i = 0; i + 1 < count; i += 2)
		sum += get_u16(bytes + i);
	if (count & 1)
		sum += (uint32_t)bytes[count - 1] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

struct capture_time stamp_near(struct capture_time near, uint64_t low, unsigned bits, uint64_t step_ns)
{
	__extension__ typedef __int128 wide;
	wide near_ps = (wide)near.seconds * PS_PER_SECOND + near.picoseconds;
	wide step_ps = (wide)step_ns * 1000, wrap = step_ps << bits;
	wide rest = ((wide)low * step_ps - near_ps) % wrap;
	if (rest < 0)
		rest += wrap;
	if (rest > wrap / 2)
		rest -= wrap;
	wide ps = near_ps + rest;
	struct capture_time time = {(int64_t)(ps / PS_PER_SECOND), (int64_t)(ps % PS_PER_SECOND)};
	if (time.picoseconds < 0) {
		time.picoseconds += PS_PER_SECOND;
		time.seconds--;
	}
	return time;
}

const uint8_t *stamp_behind_packet(const struct stamp_place *place, size_t bytes)
{
	size_t packet = place->layers->net_end ? place->layers->net_end : place->layers->net_at;
	if (place->end < bytes || place->end > place->frame->captured || place->end - bytes < packet)
		return NULL;
	return place->frame->bytes + place->end - bytes;
}

static bool possible(uint32_t seconds, uint32_t ns)
{
	return seconds >= STAMP_SECONDS_1990 && ns < NS_PER_SECOND;
}

static struct capture_time time_of(uint32_t seconds, uint32_t ns)
{
	return (struct capture_time){seconds, (int64_t)ns * 1000};
}

static uint32_t little_u32(const uint8_t *p)
{
	uint32_t raw;
	memcpy(&raw, p, sizeof(raw));
	return le32toh(raw);
}

/* The check sequence that the frame had before it was stamped, as it lay on the wire. */
static enum stamp_finding original_fcs(const struct stamp_place *place, const uint8_t *fcs)
{
	bool same = stamp_crc(place->frame->bytes, (size_t)(fcs - place->frame->bytes)) == little_u32(fcs);
	return same ? STAMP_PROVEN : STAMP_DISPROVEN;
}

enum stamp_finding stamp_expcap(const struct stamp_place *place, struct stamp *ret_stamp)
{
	enum {
		FOOTER_BYTES = 16,
		HAS_CRC = 1,
		ABORTED = 2,
		CORRUPT = 4,
		TRUNCATED = 8,
		SOFTWARE_LOSS = 16,
		HARDWARE_LOSS = 32
	};
	const struct capture_frame *frame = place->frame;
	if (frame->captured < FOOTER_BYTES)
		return STAMP_ABSENT;
	const uint8_t *footer = frame->bytes + frame->captured - FOOTER_BYTES;
	uint64_t ps = little_u32(footer + 4) | (uint64_t)footer[8] << 32;
	unsigned flags = footer[9];
	if (ps >= (uint64_t)PS_PER_SECOND || little_u32(footer) != frame->time.seconds)
		return STAMP_ABSENT;
	/* the record's header holds the same time, cut to its resolution */
	int64_t finer = (int64_t)ps - frame->time.picoseconds;
	if (finer < 0 || finer >= 1000000 || (frame->time.picoseconds % 1000000 && finer >= 1000))
		return STAMP_ABSENT;
	*ret_stamp = (struct stamp){
		.time = {frame->time.seconds, (int64_t)ps},
		.device = footer[10],
		.port = footer[11],
		.flags = (uint16_t)((flags & CORRUPT ? STAMP_BAD_FCS : 0) |
				    (flags & (ABORTED | TRUNCATED) ? STAMP_CUT_THERE : 0) |
				    (flags & (SOFTWARE_LOSS | HARDWARE_LOSS) ? STAMP_LOSS : 0)),
	};
	if (!(flags & HAS_CRC)) {
		uint16_t dropped;
		memcpy(&dropped, footer + 12, sizeof(dropped));
		ret_stamp->lost = le16toh(dropped);
		if (ret_stamp->lost)
			ret_stamp->flags |= STAMP_LOSS;
	}
	return frame->captured == frame->length + FOOTER_BYTES || frame->flags & CAPTURE_CUT ? STAMP_PROVEN
											     : STAMP_SHAPED;
}

enum stamp_finding stamp_hpt(const struct stamp_place *place, struct stamp *ret_stamp)
{
	enum { TRAILER_BYTES = 16 };
	const uint8_t *trailer = stamp_behind_packet(place, TRAILER_BYTES);
	if (!trailer || get_u32(trailer + 6) < STAMP_SECONDS_1990)
		return STAMP_ABSENT;
	uint64_t fraction = (uint64_t)trailer[10] << 32 | get_u32(trailer + 11);
	__extension__ typedef unsigned __int128 wide;
	*ret_stamp = (struct stamp){
		.time = {get_u32(trailer + 6), (int64_t)((wide)fraction * (uint64_t)PS_PER_SECOND >> 40)},
		.device = trailer[4],
		.port = trailer[5],
	};
	return original_fcs(place, trailer);
}

/*
 * Extensions lie before the seconds and are read backwards: a word is 24 bits of data, 2 of length in further
 * words, 1 that says "last", 5 of tag; tag 31 has 10 bits of length and a tag of 16. Returns where they begin.
 */
static const uint8_t *extensions(const uint8_t *from, const uint8_t *least, struct stamp *stamp)
{
	enum { TAG_SUB_NS = 1, TAG_LONG = 31, WORDS_MAX = 256 };
	for (int i = 0; i < WORDS_MAX; i++) {
		if (from - least < 4)
			return NULL;
		uint32_t word = get_u32(from - 4);
		unsigned tag = word & 31;
		size_t more = tag == TAG_LONG ? word >> 6 & 0x3ff : word >> 6 & 3;
		if (tag == TAG_SUB_NS)
			stamp->time.picoseconds += (int64_t)((uint64_t)(word >> 8) * 1000 >> 24);
		if ((size_t)(from - least) < 4 + more * 4)
			return NULL;
		from -= 4 + more * 4;
		if (word & 0x20)
			return from;
	}
	return NULL;
}

enum stamp_finding stamp_metawatch(const struct stamp_place *place, bool cpacket, struct stamp *ret_stamp)
{
	enum { TRAILER_BYTES = 16, FCS_KNOWN = 1, EXTENDED = 2, COPY = 4, DEGRADED = 16 };
	const uint8_t *trailer = stamp_behind_packet(place, TRAILER_BYTES);
	if (!trailer || !possible(get_u32(trailer + 4), get_u32(trailer + 8)))
		return STAMP_ABSENT;
	unsigned flags = cpacket ? FCS_KNOWN : trailer[12];
	struct stamp stamp = {
		.time = time_of(get_u32(trailer + 4), get_u32(trailer + 8)),
		.device = get_u16(trailer + 13),
		.port = trailer[15],
		.flags = (uint16_t)((flags & COPY ? STAMP_DUPLICATE : 0) | (flags & DEGRADED ? STAMP_DEGRADED : 0)),
	};
	const uint8_t *fcs = trailer;
	if (flags & EXTENDED) {
		const uint8_t *begin = extensions(trailer + 4, place->frame->bytes + place->layers->net_end, &stamp);
		if (!begin || begin - place->frame->bytes < (ptrdiff_t)place->layers->net_end + FCS_BYTES)
			return STAMP_ABSENT;
		fcs = begin - FCS_BYTES;
	}
	enum stamp_finding finding = flags & FCS_KNOWN ? original_fcs(place, fcs) : STAMP_SHAPED;
	*ret_stamp = stamp;
	return finding;
}

enum stamp_finding stamp_ixia(const struct stamp_place *place, struct stamp *ret_stamp)
{
	enum { TRAILER_BYTES = 15, MAGIC = 0xaf12, LOCAL = 3, PTP = 6, HOLDOVER = 7 };
	const uint8_t *trailer = stamp_behind_packet(place, TRAILER_BYTES);
	if (!trailer || get_u16(trailer + 11) != MAGIC || trailer[1] != 8 || trailer[0] < LOCAL ||
		trailer[0] > HOLDOVER || get_u32(trailer + 6) >= NS_PER_SECOND)
		return STAMP_ABSENT;
	*ret_stamp = (struct stamp){
		.time = time_of(get_u32(trailer + 2), get_u32(trailer + 6)),
		.flags = trailer[0] == LOCAL      ? STAMP_LOCAL
			 : trailer[0] == HOLDOVER ? STAMP_HOLDOVER
						  : 0,
		.scale = trailer[0] == LOCAL ? STAMP_SCALE_RELATIVE : STAMP_SCALE_UNKNOWN,
	};
	return stamp_checksum(trailer, 13) == get_u16(trailer + 13) ? STAMP_PROVEN : STAMP_DISPROVEN;
}

static bool gigamon_fields(const uint8_t *at, const uint8_t *end, struct stamp *ret_stamp)
{
	enum { SOURCE_PORT = 2, TIME_LOCAL = 3, TIME_EXTERNAL = 5 };
	struct stamp stamp = {0};
	bool timed = false;
	while (end - at >= 2) {
		unsigned type = at[0];
		size_t bytes = at[1];
		if ((size_t)(end - at - 2) < bytes)
			return false;
		if (type == SOURCE_PORT && bytes == 3) {
			stamp.port = (uint32_t)at[2] << 16 | get_u16(at + 3);
		} else if (type == SOURCE_PORT && bytes == 4) {
			stamp.port = get_u32(at + 2);
		} else if (type >= TIME_LOCAL && type <= TIME_EXTERNAL && bytes == 8 &&
			   get_u32(at + 6) < NS_PER_SECOND) {
			stamp.time = time_of(get_u32(at + 2), get_u32(at + 6));
			stamp.flags = type == TIME_LOCAL ? STAMP_LOCAL : 0;
			timed = true;
		}
		at += 2 + bytes;
	}
	if (timed)
		*ret_stamp = stamp;
	return timed;
}

enum stamp_finding stamp_gigamon(const struct stamp_place *place, struct stamp *ret_stamp)
{
	enum { MAGIC = 0x22e5, TAIL_BYTES = 5 };
	const uint8_t *bytes = place->frame->bytes;
	if (place->layers->gigamon_at) {
		const uint8_t *header = bytes + place->layers->gigamon_at;
		return gigamon_fields(header + 1, header + header[0], ret_stamp) ? STAMP_PROVEN : STAMP_ABSENT;
	}
	const uint8_t *tail = stamp_behind_packet(place, TAIL_BYTES);
	if (!tail || get_u16(tail + 1) != MAGIC)
		return STAMP_ABSENT;
	size_t fields = tail[0];
	const uint8_t *begin = stamp_behind_packet(place, TAIL_BYTES + fields);
	if (!begin || !gigamon_fields(begin, tail, ret_stamp))
		return STAMP_ABSENT;
	return stamp_checksum(begin, fields + 3) == get_u16(tail + 3) ? STAMP_PROVEN : STAMP_DISPROVEN;
}

enum stamp_finding stamp_vss(const struct stamp_place *place, unsigned port_bytes, struct stamp *ret_stamp)
{
	enum { NS_MASK = 0x3fffffff, CLOCK_LOCAL = 0, PTP = 3, UPTIME_MAX = 3600 };
	const uint8_t *trailer = stamp_behind_packet(place, 8 + port_bytes);
	if (!trailer)
		return STAMP_ABSENT;
	uint32_t seconds = get_u32(trailer), word = get_u32(trailer + 4), ns = word & NS_MASK;
	if (ns >= NS_PER_SECOND || seconds == 0 || (seconds > UPTIME_MAX && seconds < STAMP_SECONDS_1990))
		return STAMP_ABSENT;
	*ret_stamp = (struct stamp){
		.time = time_of(seconds, ns),
		.port = port_bytes == 2   ? get_u16(trailer + 8)
			: port_bytes == 1 ? trailer[8]
					  : 0,
		.flags = word >> 30 == CLOCK_LOCAL ? STAMP_LOCAL : 0,
		.scale = seconds <= UPTIME_MAX ? STAMP_SCALE_RELATIVE : STAMP_SCALE_UNKNOWN,
	};
	return STAMP_SHAPED;
}

enum stamp_finding stamp_ttag_trailer(const struct stamp_place *place, struct stamp *ret_stamp)
{
	const uint8_t *trailer = stamp_behind_packet(place, 6);
	if (!trailer)
		return STAMP_ABSENT;
	uint64_t ns = (uint64_t)get_u16(trailer) << 32 | get_u32(trailer + 2);
	*ret_stamp = (struct stamp){.time = stamp_near(place->frame->time, ns, 48, 1), .scale = STAMP_SCALE_RELATIVE};
	return STAMP_SHAPED;
}

enum stamp_finding stamp_brcm(const struct stamp_place *place, struct stamp *ret_stamp)
{
	const uint8_t *trailer = stamp_behind_packet(place, 10);
	if (!trailer)
		return STAMP_ABSENT;
	uint64_t word = (uint64_t)get_u16(trailer) << 32 | get_u32(trailer + 2);
	uint32_t ns = (uint32_t)(word & 0x3fffffff);
	if (ns >= NS_PER_SECOND)
		return STAMP_ABSENT;
	/* 18 bits of seconds: the nearest to the capture's clock within 36 hours */
	struct capture_time whole = {place->frame->time.seconds, 0};
	*ret_stamp = (struct stamp){
		.time = stamp_near(whole, word >> 30, 18, NS_PER_SECOND),
		.port = (uint32_t)trailer[7] << 16 | get_u16(trailer + 8),
	};
	ret_stamp->time.picoseconds = (int64_t)ns * 1000;
	return STAMP_SHAPED;
}
