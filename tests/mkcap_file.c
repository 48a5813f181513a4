/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files around frames; see mkcap.h. */
#include "mkcap.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

static const int64_t PS_PER_SECOND = INT64_C(1000000000000);

void mk_raw(struct mk_file *file, const void *bytes, size_t count)
{
	if (file->count + count > file->room) {
		file->room = (file->room + count) * 2;
		file->bytes = realloc(file->bytes, file->room);
		if (!file->bytes)
			abort();
	}
	if (count)
		memcpy(file->bytes + file->count, bytes, count);
	file->count += count;
}

void mk_file_end(struct mk_file *file)
{
	free(file->bytes);
	*file = (struct mk_file){0};
}

static void raw_u16(struct mk_file *file, uint16_t value)
{
	value = file->swapped ? __builtin_bswap16(value) : value;
	mk_raw(file, &value, sizeof(value));
}

static void raw_u32(struct mk_file *file, uint32_t value)
{
	value = file->swapped ? __builtin_bswap32(value) : value;
	mk_raw(file, &value, sizeof(value));
}

static void raw_u64(struct mk_file *file, uint64_t value)
{
	value = file->swapped ? __builtin_bswap64(value) : value;
	mk_raw(file, &value, sizeof(value));
}

static void align(struct mk_file *file)
{
	static const uint8_t zeros[4];
	mk_raw(file, zeros, -file->count & 3);
}

void mk_pcap(struct mk_file *file, uint32_t magic, bool swapped, uint32_t link)
{
	file->swapped = swapped;
	file->nano = magic == 0xa1b23c4d;
	file->modified = magic == 0xa1b2cd34;
	raw_u32(file, magic);
	raw_u16(file, 2);
	raw_u16(file, 4);
	raw_u64(file, 0);
	raw_u32(file, 65535);
	raw_u32(file, link);
}

void mk_record_raw(struct mk_file *file, uint32_t seconds, uint32_t fraction, uint32_t captured, uint32_t length,
	const void *bytes)
{
	raw_u32(file, seconds);
	raw_u32(file, fraction);
	raw_u32(file, captured);
	raw_u32(file, length);
	if (file->modified)
		raw_u64(file, 0x1122334455667788);
	if (bytes)
		mk_raw(file, bytes, captured);
}

void mk_record(struct mk_file *file, struct mk_time time, const struct mk_frame *frame, size_t captured, size_t length)
{
	if (captured > frame->count)
		captured = frame->count;
	mk_record_raw(file, (uint32_t)time.seconds, (uint32_t)(time.ps / (file->nano ? 1000 : 1000000)),
		(uint32_t)captured, (uint32_t)(length ? length : captured), frame->bytes);
}

/* A block's two lengths are written when its body is complete. */
static size_t block_begin(struct mk_file *file, uint32_t type)
{
	size_t at = file->count;
	raw_u32(file, type);
	raw_u32(file, 0);
	return at;
}

static void block_end(struct mk_file *file, size_t at)
{
	uint32_t bytes = (uint32_t)(file->count + 4 - at);
	uint32_t written = file->swapped ? __builtin_bswap32(bytes) : bytes;
	raw_u32(file, bytes);
	memcpy(file->bytes + at + 4, &written, sizeof(written));
}

static void option(struct mk_file *file, uint16_t code, const void *value, size_t bytes)
{
	raw_u16(file, code);
	raw_u16(file, (uint16_t)bytes);
	mk_raw(file, value, bytes);
	align(file);
}

static void option_u64(struct mk_file *file, uint16_t code, uint64_t value)
{
	raw_u16(file, code);
	raw_u16(file, 8);
	raw_u64(file, value);
}

void mk_section(struct mk_file *file, bool swapped)
{
	file->swapped = swapped;
	size_t at = block_begin(file, 0x0a0d0d0a);
	raw_u32(file, 0x1a2b3c4d);
	raw_u16(file, 1);
	raw_u16(file, 0);
	raw_u64(file, UINT64_MAX);
	option(file, 4, "mkcap", 5);
	option(file, 2988, "\0\0\0\1custom", 10);
	raw_u32(file, 0);
	block_end(file, at);
}

void mk_interface(struct mk_file *file, const struct mk_interface *interface)
{
	size_t at = block_begin(file, 1);
	uint8_t resolution = (uint8_t)interface->resolution, fcs = (uint8_t)interface->fcs;
	raw_u16(file, interface->link);
	raw_u16(file, 0);
	raw_u32(file, interface->snap);
	if (interface->name)
		option(file, 2, interface->name, strlen(interface->name));
	if (interface->resolution >= 0)
		option(file, 9, &resolution, 1);
	if (interface->offset)
		option_u64(file, 14, (uint64_t)interface->offset);
	if (interface->fcs >= 0)
		option(file, 13, &fcs, 1);
	option(file, 0x7777, "unknown", 7);
	raw_u32(file, 0);
	block_end(file, at);
}

void mk_packet(struct mk_file *file, const struct mk_packet *packet, const struct mk_frame *frame)
{
	size_t captured = packet->captured ? packet->captured : frame->count;
	size_t at = block_begin(file, packet->old ? 2 : 6);
	if (packet->old) {
		raw_u16(file, (uint16_t)packet->interface);
		raw_u16(file, packet->dropped ? (uint16_t)packet->dropped : 0xffff);
	} else {
		raw_u32(file, packet->interface);
	}
	raw_u32(file, (uint32_t)(packet->raw >> 32));
	raw_u32(file, (uint32_t)packet->raw);
	raw_u32(file, (uint32_t)captured);
	raw_u32(file, (uint32_t)(packet->length ? packet->length : captured));
	mk_raw(file, frame->bytes, captured);
	align(file);
	option(file, 1, "a comment", 9);
	if (packet->flags) {
		raw_u16(file, 2);
		raw_u16(file, 4);
		raw_u32(file, packet->flags);
	}
	if (packet->dropped && !packet->old)
		option_u64(file, 4, packet->dropped);
	if (packet->id)
		option_u64(file, 5, packet->id);
	raw_u32(file, 0);
	block_end(file, at);
}

void mk_simple(struct mk_file *file, const struct mk_frame *frame)
{
	size_t at = block_begin(file, 3);
	raw_u32(file, (uint32_t)frame->count);
	mk_raw(file, frame->bytes, frame->count);
	align(file);
	block_end(file, at);
}

void mk_statistics(struct mk_file *file, uint32_t interface, uint64_t received, uint64_t dropped, uint64_t by_system)
{
	size_t at = block_begin(file, 5);
	raw_u32(file, interface);
	raw_u64(file, 0);
	option_u64(file, 4, received);
	option_u64(file, 5, dropped);
	option_u64(file, 7, by_system);
	raw_u32(file, 0);
	block_end(file, at);
}

void mk_unknown_block(struct mk_file *file, uint32_t type, size_t bytes)
{
	size_t at = block_begin(file, type);
	for (size_t i = 0; i < bytes; i++)
		mk_raw(file, "x", 1);
	align(file);
	block_end(file, at);
}

void mk_erf(struct mk_file *file, unsigned type, struct mk_time time, unsigned port, int extensions,
	const struct mk_frame *frame, size_t length)
{
	__extension__ typedef unsigned __int128 wide;
	struct mk_frame head = {.count = 0};
	bool ethernet_type = type == 2 || type == 11 || type == 16 || type == 20;
	size_t bytes = 16 + 8 * (size_t)extensions + (ethernet_type ? 2 : 0) + frame->count;
	uint64_t fraction = (uint64_t)((((wide)time.ps << 32) + (uint64_t)PS_PER_SECOND - 1) / (uint64_t)PS_PER_SECOND);
	uint64_t stamp = htole64((uint64_t)time.seconds << 32 | fraction);
	mk_put(&head, &stamp, sizeof(stamp));
	mk_put_u16(&head, (uint16_t)((type | (extensions ? 0x80u : 0)) << 8 | 4 | port));
	mk_put_u16(&head, (uint16_t)((bytes + 7) & ~(size_t)7));
	mk_put_u16(&head, 0);
	mk_put_u16(&head, (uint16_t)length);
	for (int i = 0; i < extensions; i++) {
		mk_put_u64(&head, (uint64_t)(i + 1 < extensions ? 0x83 : 0x03) << 56);
	}
	if (ethernet_type)
		mk_put_u16(&head, 0);
	mk_raw(file, head.bytes, head.count);
	mk_raw(file, frame->bytes, frame->count);
	static const uint8_t zeros[8];
	mk_raw(file, zeros, -bytes & 7);
}
