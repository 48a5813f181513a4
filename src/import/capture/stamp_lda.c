/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * LDA Neo trailers, 16 bytes: 'L', a number per port, device and damage, where in
 * the PCS block the frame began, port and speed, 80 bits of picoseconds since 1970.
 *
 * Their makers' description and their own dissector contradict each other, in the
 * order of the bytes and in which bit says "damaged". Both are read: as described
 * (least significant byte first, damage in bit 0), and as dissected (most
 * significant first, damage in bit 7). A time read in the wrong order lies between
 * 1990 and 2106 once in 350 frames, so the file settles it.
 */
#include "import/capture/stamp_private.h"
#include "wire/bytes.h"

enum { TRAILER_BYTES = 16, PORT_MAX = 56, SPEEDS = 3, TIME_AT = 6, TIME_BYTES = 10 };

static bool time_of(const uint8_t *bytes, bool big, struct capture_time *ret_time)
{
	__extension__ typedef unsigned __int128 wide;
	wide ps = 0;
	for (int i = 0; i < TIME_BYTES; i++)
		ps = ps << 8 | bytes[big ? i : TIME_BYTES - 1 - i];
	wide seconds = ps / (uint64_t)PS_PER_SECOND;
	if (seconds < STAMP_SECONDS_1990 || seconds > UINT32_MAX)
		return false;
	*ret_time = (struct capture_time){(int64_t)seconds, (int64_t)(ps % (uint64_t)PS_PER_SECOND)};
	return true;
}

enum stamp_finding stamp_lda(const struct stamp_place *place, bool big, struct stamp *ret_stamp)
{
	static const uint8_t speeds[SPEEDS] = {10, 25, 40};
	struct stamp stamp = {0};
	const uint8_t *trailer = stamp_behind_packet(place, TRAILER_BYTES);
	if (!trailer || trailer[0] != 'L')
		return STAMP_ABSENT;
	unsigned port = trailer[5] & 63, speed = trailer[5] >> 6;
	if (!port || port > PORT_MAX || speed >= SPEEDS || !time_of(trailer + TIME_AT, big, &stamp.time))
		return STAMP_ABSENT;
	stamp.port = port;
	stamp.speed = speeds[speed];
	stamp.device = big ? trailer[3] & 0x7f : trailer[3] >> 1;
	stamp.numbered = true;
	stamp.sequence = get_u16(trailer + 1);
	if (trailer[3] & (big ? 0x80 : 1))
		stamp.flags |= STAMP_BAD_FCS;
	*ret_stamp = stamp;
	/* the frame's own check sequence may have been kept in front of the trailer */
	size_t kept = (size_t)(trailer - place->frame->bytes);
	return kept >= place->layers->net_end + 4 && stamp_fcs_valid(place->frame->bytes, kept) ? STAMP_PROVEN
												: STAMP_SHAPED;
}
