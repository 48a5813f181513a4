/* SPDX-License-Identifier: GPL-3.0-or-later */
/* See mkcap.h. Running out of room or memory ends the program: these are tests. */
#include "mkcap.h"

#include <arpa/inet.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>

static const int64_t PS_PER_SECOND = INT64_C(1000000000000);
enum { ETHERNET = 14, IPV4 = 20 };

/* ---- bytes ---- */

void mk_put(struct mk_frame *frame, const void *bytes, size_t count)
{
	if (frame->count + count > MK_FRAME_BYTES)
		abort();
	if (count)
		memcpy(frame->bytes + frame->count, bytes, count);
	frame->count += count;
}

static void put_u8(struct mk_frame *frame, unsigned value)
{
	uint8_t byte = (uint8_t)value;
	mk_put(frame, &byte, 1);
}

void mk_put_u16(struct mk_frame *frame, uint16_t value)
{
	value = htobe16(value);
	mk_put(frame, &value, sizeof(value));
}

void mk_put_u32(struct mk_frame *frame, uint32_t value)
{
	value = htobe32(value);
	mk_put(frame, &value, sizeof(value));
}

void mk_put_u64(struct mk_frame *frame, uint64_t value)
{
	value = htobe64(value);
	mk_put(frame, &value, sizeof(value));
}

static void set_u16(uint8_t *at, uint16_t value)
{
	value = htobe16(value);
	memcpy(at, &value, sizeof(value));
}

void mk_pad(struct mk_frame *frame, size_t bytes)
{
	while (frame->count < bytes)
		put_u8(frame, 0);
}

void mk_insert(struct mk_frame *frame, size_t at, const void *bytes, size_t count)
{
	if (frame->count + count > MK_FRAME_BYTES)
		abort();
	memmove(frame->bytes + at + count, frame->bytes + at, frame->count - at);
	memcpy(frame->bytes + at, bytes, count);
	frame->count += count;
}

/* Bit by bit, on purpose: the decoder uses zlib's. */
static uint32_t crc(const uint8_t *bytes, size_t count)
{
	uint32_t value = 0xffffffff;
	for (size_t i = 0; i < count; i++) {
		value ^= bytes[i];
		for (int bit = 0; bit < 8; bit++)
			value = value >> 1 ^ (value & 1 ? 0xedb88320 : 0);
	}
	return ~value;
}

static void put_crc(struct mk_frame *frame, size_t covered)
{
	uint32_t value = htole32(crc(frame->bytes, covered));
	mk_put(frame, &value, sizeof(value));
}

void mk_fcs(struct mk_frame *frame, bool wrong)
{
	put_crc(frame, frame->count);
	if (wrong)
		frame->bytes[frame->count - 1] ^= 0x5a;
}

/* ---- frames ---- */

static void ethernet(struct mk_frame *frame, const struct mk_ends *ends, uint16_t type)
{
	uint8_t header[ETHERNET] = {2, 0, 0, 0, 0, ends->target, 2, 0, 0, 0, 0, ends->source};
	set_u16(header + 12, type);
	frame->count = 0;
	mk_put(frame, header, sizeof(header));
}

static void ipv4(struct mk_frame *frame, const struct mk_ends *ends, uint8_t protocol, size_t bytes)
{
	uint8_t header[IPV4] = {
		0x45, [8] = 64, [9] = protocol, [12] = 10, [15] = ends->source, [16] = 10, [19] = ends->target};
	set_u16(header + 2, (uint16_t)(IPV4 + bytes));
	set_u16(header + 4, ends->ip_id);
	mk_put(frame, header, sizeof(header));
}

static void udp(struct mk_frame *frame, const struct mk_ends *ends, const void *payload, size_t bytes)
{
	mk_put_u16(frame, ends->source_port);
	mk_put_u16(frame, ends->target_port);
	mk_put_u16(frame, (uint16_t)(8 + bytes));
	mk_put_u16(frame, 0);
	mk_put(frame, payload, bytes);
}

void mk_udp(struct mk_frame *frame, const struct mk_ends *ends, const void *payload, size_t bytes)
{
	ethernet(frame, ends, 0x0800);
	ipv4(frame, ends, 17, 8 + bytes);
	udp(frame, ends, payload, bytes);
}

void mk_udp6(struct mk_frame *frame, const struct mk_ends *ends, const void *payload, size_t bytes)
{
	uint8_t header[40] = {
		0x60, [6] = 0, [7] = 64, [8] = 0xfd, [23] = ends->source, [24] = 0xfd, [39] = ends->target};
	static const uint8_t hop[8] = {17, 0, 1, 4};
	set_u16(header + 4, (uint16_t)(sizeof(hop) + 8 + bytes));
	ethernet(frame, ends, 0x86dd);
	mk_put(frame, header, sizeof(header));
	mk_put(frame, hop, sizeof(hop));
	udp(frame, ends, payload, bytes);
}

void mk_tcp(struct mk_frame *frame, const struct mk_ends *ends, uint32_t sequence, uint32_t acknowledged,
	unsigned flags, const void *payload, size_t bytes)
{
	ethernet(frame, ends, 0x0800);
	ipv4(frame, ends, 6, 20 + bytes);
	mk_put_u16(frame, ends->source_port);
	mk_put_u16(frame, ends->target_port);
	mk_put_u32(frame, sequence);
	mk_put_u32(frame, acknowledged);
	put_u8(frame, 0x50);
	put_u8(frame, flags);
	mk_put_u16(frame, 1000);
	mk_put_u32(frame, 0);
	mk_put(frame, payload, bytes);
}

void mk_echo(struct mk_frame *frame, const struct mk_ends *ends, bool reply, uint16_t id, uint16_t sequence)
{
	static const uint8_t payload[40] = {1, 2, 3};
	ethernet(frame, ends, 0x0800);
	ipv4(frame, ends, 1, 8 + sizeof(payload));
	put_u8(frame, reply ? 0 : 8);
	put_u8(frame, 0);
	mk_put_u16(frame, 0);
	mk_put_u16(frame, id);
	mk_put_u16(frame, sequence);
	mk_put(frame, payload, sizeof(payload));
}

void mk_fragment_raw(
	struct mk_frame *part, const struct mk_frame *whole, uint32_t id, size_t at, size_t count, bool more)
{
	bool six = whole->bytes[12] == 0x86;
	size_t header = six ? ETHERNET + 40 + 8 : ETHERNET + IPV4;
	uint16_t place = (uint16_t)(six ? at | more : at / 8 | (more ? 0x2000u : 0u));
	part->count = 0;
	mk_put(part, whole->bytes, header);
	if (six) {
		put_u8(part, whole->bytes[ETHERNET + 40]);
		put_u8(part, 0);
		mk_put_u16(part, place);
		mk_put_u32(part, id);
		part->bytes[ETHERNET + 40] = 44;
		set_u16(part->bytes + ETHERNET + 4, (uint16_t)(8 + 8 + count));
	} else {
		set_u16(part->bytes + ETHERNET + 2, (uint16_t)(IPV4 + count));
		set_u16(part->bytes + ETHERNET + 4, (uint16_t)id);
		set_u16(part->bytes + ETHERNET + 6, place);
	}
	for (size_t i = at; i < at + count; i++)
		put_u8(part, header + i < whole->count ? whole->bytes[header + i] : 0xee);
}

void mk_fragment(struct mk_frame *part, const struct mk_frame *whole, uint32_t id, size_t at, size_t count)
{
	size_t bytes = whole->count - (whole->bytes[12] == 0x86 ? ETHERNET + 40 + 8 : ETHERNET + IPV4);
	if (at + count > bytes)
		count = bytes - at;
	mk_fragment_raw(part, whole, id, at, count, at + count < bytes);
}

void mk_wrap_ip(struct mk_frame *frame, uint8_t protocol)
{
	struct mk_frame outer;
	const struct mk_ends ends = {.source = 201, .target = 202};
	ethernet(&outer, &ends, 0x0800);
	ipv4(&outer, &ends, protocol, frame->count);
	mk_put(&outer, frame->bytes, frame->count);
	*frame = outer;
}

/* ---- stamps ---- */

static void put_little(struct mk_frame *frame, uint64_t value, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		put_u8(frame, (unsigned)(value >> (8 * i) & 0xff));
}

static void put_seconds_ns(struct mk_frame *frame, struct mk_time time)
{
	mk_put_u32(frame, (uint32_t)time.seconds);
	mk_put_u32(frame, (uint32_t)(time.ps / 1000));
}

void mk_expcap(
	struct mk_frame *frame, struct mk_time time, unsigned flags, unsigned device, unsigned port, uint16_t dropped)
{
	put_little(frame, (uint64_t)time.seconds, 4);
	put_little(frame, (uint64_t)time.ps, 5);
	put_u8(frame, flags);
	put_u8(frame, device);
	put_u8(frame, port);
	put_little(frame, dropped, 4);
}

void mk_hpt(struct mk_frame *frame, struct mk_time time, unsigned device, unsigned port)
{
	__extension__ typedef unsigned __int128 wide;
	/* up, so that 2^-40 s cut down to ps gives the time again */
	uint64_t fraction = (uint64_t)((((wide)time.ps << 40) + (uint64_t)PS_PER_SECOND - 1) / (uint64_t)PS_PER_SECOND);
	put_crc(frame, frame->count);
	put_u8(frame, device);
	put_u8(frame, port);
	mk_put_u32(frame, (uint32_t)time.seconds);
	put_u8(frame, (unsigned)(fraction >> 32));
	mk_put_u32(frame, (uint32_t)fraction);
	put_u8(frame, 0);
}

void mk_metawatch(struct mk_frame *frame, struct mk_time time, unsigned flags, unsigned device, unsigned port,
	const uint32_t *words, size_t word_count)
{
	put_crc(frame, frame->count);
	for (size_t i = 0; i < word_count; i++)
		mk_put_u32(frame, words[i]);
	put_seconds_ns(frame, time);
	put_u8(frame, flags);
	mk_put_u16(frame, (uint16_t)device);
	put_u8(frame, port);
}

static uint16_t checksum(const uint8_t *bytes, size_t count)
{
	uint32_t sum = 0;
	for (size_t i = 0; i < count; i++)
		sum += i & 1 ? bytes[i] : (uint32_t)bytes[i] << 8;
	while (sum > 0xffff)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)(0xffff - sum);
}

void mk_lda(struct mk_frame *frame, struct mk_time time, const struct mk_lda *lda)
{
	__extension__ typedef unsigned __int128 wide;
	wide ps = (wide)time.seconds * (uint64_t)PS_PER_SECOND + (uint64_t)time.ps;
	put_u8(frame, 'L');
	if (lda->dissected)
		mk_put_u16(frame, lda->sequence);
	else
		put_little(frame, lda->sequence, 2);
	put_u8(frame, lda->dissected ? lda->device | (unsigned)lda->damaged << 7 : lda->device << 1 | lda->damaged);
	put_u8(frame, 33 << 2 | 1);
	put_u8(frame, lda->port | lda->speed << 6);
	for (int i = 0; i < 10; i++)
		put_u8(frame, (unsigned)(ps >> 8 * (lda->dissected ? 9 - i : i)) & 0xff);
}

void mk_ixia(struct mk_frame *frame, struct mk_time time, unsigned source)
{
	size_t from = frame->count;
	put_u8(frame, source);
	put_u8(frame, 8);
	put_seconds_ns(frame, time);
	put_u8(frame, 10);
	mk_put_u16(frame, 0xaf12);
	mk_put_u16(frame, checksum(frame->bytes + from, 13));
}

void mk_vss(struct mk_frame *frame, struct mk_time time, unsigned clock, unsigned port_bytes, unsigned port)
{
	mk_put_u32(frame, (uint32_t)time.seconds);
	mk_put_u32(frame, (uint32_t)(time.ps / 1000) | clock << 30);
	if (port_bytes == 2)
		mk_put_u16(frame, (uint16_t)port);
	else if (port_bytes == 1)
		put_u8(frame, port);
}

static void gigamon_fields(struct mk_frame *frame, struct mk_time time, uint32_t port)
{
	put_u8(frame, 2);
	put_u8(frame, 3);
	put_u8(frame, port >> 16);
	mk_put_u16(frame, (uint16_t)port);
	put_u8(frame, 4);
	put_u8(frame, 8);
	put_seconds_ns(frame, time);
}

void mk_gigamon_trailer(struct mk_frame *frame, struct mk_time time, uint32_t port)
{
	size_t from = frame->count;
	gigamon_fields(frame, time, port);
	put_u8(frame, (unsigned)(frame->count - from));
	mk_put_u16(frame, 0x22e5);
	mk_put_u16(frame, checksum(frame->bytes + from, frame->count - from));
}

void mk_gigamon_header(struct mk_frame *frame, struct mk_time time, uint32_t port)
{
	struct mk_frame tag = {.count = 0};
	mk_put_u16(&tag, 0x22e5);
	put_u8(&tag, 0);
	gigamon_fields(&tag, time, port);
	tag.bytes[2] = (uint8_t)(tag.count - 2);
	mk_insert(frame, 12, tag.bytes, tag.count);
}

void mk_avsp(struct mk_frame *frame, struct mk_time time, uint16_t version)
{
	struct mk_frame tag = {.count = 0};
	mk_put_u16(&tag, 0xd28b);
	mk_put_u16(&tag, 1);
	mk_put_u16(&tag, version);
	if ((version >> 4 & 15) == 1)
		mk_put_u32(&tag, (uint32_t)time.seconds);
	else
		mk_put_u16(&tag, (uint16_t)time.seconds);
	mk_put_u32(&tag, (uint32_t)(time.ps / 1000));
	mk_insert(frame, 12, tag.bytes, tag.count);
}

void mk_avsp_mac(struct mk_frame *frame, struct mk_time time)
{
	struct mk_frame field = {.count = 0};
	mk_put_u16(&field, (uint16_t)time.seconds);
	mk_put_u32(&field, (uint32_t)(time.ps / 1000));
	memcpy(frame->bytes + 6, field.bytes, 6);
}

static uint64_t nanoseconds(struct mk_time time)
{
	return (uint64_t)time.seconds * 1000000000 + (uint64_t)(time.ps / 1000);
}

static void put_u48(struct mk_frame *frame, uint64_t value)
{
	mk_put_u16(frame, (uint16_t)(value >> 32));
	mk_put_u32(frame, (uint32_t)value);
}

void mk_ttag(struct mk_frame *frame, struct mk_time time)
{
	struct mk_frame tag = {.count = 0};
	mk_put_u16(&tag, 0x8988);
	put_u48(&tag, nanoseconds(time));
	mk_insert(frame, 12, tag.bytes, tag.count);
}

void mk_ttag_trailer(struct mk_frame *frame, struct mk_time time)
{
	put_u48(frame, nanoseconds(time));
}

void mk_brcm(struct mk_frame *frame, struct mk_time time, uint32_t port)
{
	put_u48(frame, ((uint64_t)time.seconds & 0x3ffff) << 30 | (uint64_t)(time.ps / 1000));
	put_u8(frame, 0);
	put_u8(frame, port >> 16);
	mk_put_u16(frame, (uint16_t)port);
}

void mk_erspan3(struct mk_frame *frame, unsigned granularity, int platform, uint32_t low, uint32_t high)
{
	struct mk_frame header = {.count = 0};
	mk_put_u16(&header, 0x1000); /* sequence present */
	mk_put_u16(&header, 0x22eb);
	mk_put_u32(&header, 7);
	mk_put_u32(&header, 0x20000000);
	mk_put_u32(&header, low);
	mk_put_u16(&header, 0);
	mk_put_u16(&header, (uint16_t)(0x8000 | 5 << 4 | granularity << 1 | (platform >= 0)));
	if (platform >= 0) {
		mk_put_u32(&header, (uint32_t)platform << 26 | 9);
		mk_put_u32(&header, high);
	}
	mk_insert(frame, 0, header.bytes, header.count);
	mk_wrap_ip(frame, 47);
}

void mk_marker(struct mk_frame *frame, const struct mk_marker *marker)
{
	struct mk_frame body = {.count = 0};
	const struct mk_ends ends = {marker->from, 240, 49152, 8880, 0};
	for (int i = 0; i < 20; i++)
		put_u8(&body, 0xc0 + (unsigned)i);
	mk_put_u16(&body, 0x8000);
	put_u8(&body, 0x11);
	put_u8(&body, marker->session);
	put_u8(&body, marker->granularity);
	put_u8(&body, marker->utc_offset);
	mk_put_u64(&body, marker->ticks & 0xffffffffffff);
	mk_put_u32(&body, (uint32_t)marker->utc.seconds);
	mk_put_u32(&body, (uint32_t)(marker->utc.ps / 1000000));
	put_little(&body, marker->sequence, 4);
	mk_put_u32(&body, 0);
	mk_put_u32(&body, 0);
	mk_put_u32(&body, 0xa5a5a5a5);
	mk_udp(frame, &ends, body.bytes, body.count);
}

/* ---- ticks ---- */

uint64_t mk_ticks(struct mk_time time)
{
	__extension__ typedef unsigned __int128 wide;
	return (uint64_t)(((wide)time.seconds * (uint64_t)PS_PER_SECOND + (uint64_t)time.ps) * 7 / 20000);
}

struct mk_time mk_tick_time(uint64_t ticks)
{
	uint64_t rest = ticks % 350000000;
	return (struct mk_time){(int64_t)(ticks / 350000000), (int64_t)((rest * 20000 + 3) / 7)};
}

static void keyframe_body(struct mk_frame *frame, enum mk_keyframe kind, struct mk_time time, uint64_t ticks)
{
	static const uint8_t magic[8] = {'E', 'X', 'K', 'F', 1}, older[8] = {1};
	if (kind <= MK_OLDER) {
		mk_put(frame, kind == MK_OLDER ? older : magic, 8);
		mk_put_u64(frame, nanoseconds(time));
		mk_put_u64(frame, ticks);
		mk_put_u64(frame, 350000000);
		mk_put_u64(frame, ticks);
		return;
	}
	mk_put_u64(frame, ticks);
	mk_put_u64(frame, nanoseconds(time));
	mk_put_u64(frame, nanoseconds(time));
	if (kind == MK_COMPAT_2) {
		mk_put_u64(frame, 1);
		mk_put_u64(frame, 1);
	}
	mk_put_u64(frame, ticks);
	mk_put_u64(frame, 0);
	mk_put_u16(frame, 77);
	mk_put_u16(frame, 3);
	put_u8(frame, 2);
	put_u8(frame, 0);
}

void mk_keyframe(struct mk_frame *frame, enum mk_keyframe kind, struct mk_time time, uint64_t ticks)
{
	static const struct mk_ends ends = {.source = 0, .target = 255};
	struct mk_frame body = {.count = 0};
	keyframe_body(&body, kind, time, ticks);
	if (kind == MK_NATIVE) {
		ethernet(frame, &ends, 0x88b5);
	} else {
		ethernet(frame, &ends, 0x0800);
		ipv4(frame, &ends, 253, body.count);
	}
	mk_put(frame, body.bytes, body.count);
	mk_pad(frame, 60);
}

uint32_t mk_tick_field(uint64_t ticks, bool compat)
{
	uint32_t low = (uint32_t)ticks;
	return compat ? (low & 0x7fffff80) << 1 | 0x80 | (low & 0x7f) : low;
}
