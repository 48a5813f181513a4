/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pcapng: blocks of any type, of which few matter here. Each section has its own
 * byte order and its own interfaces, each interface its own resolution, offset
 * and link type; nothing of one is ever applied to another.
 */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "import/capture/file_private.h"

enum {
	BLOCK_SECTION = 0x0a0d0d0a,
	BLOCK_INTERFACE = 1,
	BLOCK_OLD = 2,
	BLOCK_SIMPLE = 3,
	BLOCK_STATISTICS = 5,
	BLOCK_ENHANCED = 6
};
enum { BLOCK_HEAD_BYTES = 8, BLOCK_LEAST_BYTES = 12, SECTION_LEAST_BYTES = 28 };

struct block {
	uint32_t type;
	const uint8_t *body;
	size_t bytes; /* of the body, both lengths taken off */
	uint64_t offset;
};

struct option_view {
	uint16_t code;
	const uint8_t *value;
	size_t bytes;
};

/* Next option at *at of `end`; false at the end or where the list is broken. */
static bool next_option(
	const struct capture_file *file, const uint8_t **at, const uint8_t *end, struct option_view *ret)
{
	if (end - *at < 4)
		return false;
	uint16_t code = file_u16(file, *at), bytes = file_u16(file, *at + 2);
	size_t padded = (bytes + 3u) & ~3u;
	if (code == 0 || (size_t)(end - *at - 4) < bytes)
		return false;
	*ret = (struct option_view){.code = code, .value = *at + 4, .bytes = bytes};
	*at += (size_t)(end - *at - 4) < padded ? (size_t)(end - *at) : 4 + padded;
	return true;
}

/* 10^-n down to 10^-38 and 2^-n down to 2^-63 can be told in 64 bits of ticks. */
static bool possible_resolution(uint8_t resolution)
{
	return resolution & 0x80 ? (resolution & 0x7f) <= 63 : resolution <= 38;
}

static struct capture_time time_of(const struct capture_interface *interface, uint64_t raw)
{
	__extension__ typedef unsigned __int128 wide;
	struct capture_time time;
	unsigned exponent = interface->resolution & 0x7f;
	if (interface->resolution & 0x80) {
		uint64_t fraction = exponent ? raw & (UINT64_MAX >> (64 - exponent)) : 0;
		time.seconds = (int64_t)(raw >> exponent);
		time.picoseconds = (int64_t)((wide)fraction * (uint64_t)PS_PER_SECOND >> exponent);
	} else if (exponent <= 12) {
		uint64_t per_second = 1, ps = 1;
		for (unsigned i = 0; i < 12; i++) {
			if (i < exponent)
				per_second *= 10;
			else
				ps *= 10;
		}
		time.seconds = (int64_t)(raw / per_second);
		time.picoseconds = (int64_t)(raw % per_second * ps);
	} else {
		/* finer than ours: the rest is cut off */
		wide per_ps = 1;
		for (unsigned i = 12; i < exponent; i++)
			per_ps *= 10;
		uint64_t ps = (uint64_t)(raw / per_ps);
		time.seconds = (int64_t)(ps / (uint64_t)PS_PER_SECOND);
		time.picoseconds = (int64_t)(ps % (uint64_t)PS_PER_SECOND);
	}
	if (__builtin_add_overflow(time.seconds, interface->offset_seconds, &time.seconds))
		time.seconds = interface->offset_seconds < 0 ? INT64_MIN : INT64_MAX;
	return time;
}

static int read_section(struct capture_file *file, const struct block *block, struct tare_err *err)
{
	if (block->bytes < SECTION_LEAST_BYTES - BLOCK_LEAST_BYTES)
		return file_damage(file, block->offset, err, "a section header of %zu bytes", block->bytes);
	unsigned major = file_u16(file, block->body + 4);
	if (major != 1)
		return file_damage(file, block->offset, err, "a section of version %u, not 1", major);
	file->section_first = file->interface_count;
	file->sections++;
	return 2;
}

static int read_interface(struct capture_file *file, const struct block *block, struct tare_err *err)
{
	if (block->bytes < 8)
		return file_damage(file, block->offset, err, "an interface description of %zu bytes", block->bytes);
	struct capture_interface *interface = file_interface(file, err);
	if (!interface)
		return -1;
	interface->link = file_u16(file, block->body);
	interface->snap_bytes = file_u32(file, block->body + 4);
	struct option_view option;
	const uint8_t *at = block->body + 8, *end = block->body + block->bytes;
	while (next_option(file, &at, end, &option)) {
		if (option.code == 2) {
			size_t bytes =
				option.bytes < sizeof(interface->name) ? option.bytes : sizeof(interface->name) - 1;
			memcpy(interface->name, option.value, bytes);
			interface->name[bytes] = '\0';
		} else if (option.code == 9 && option.bytes >= 1) {
			interface->resolution = option.value[0];
		} else if (option.code == 13 && option.bytes >= 1) {
			interface->fcs_bytes = option.value[0] <= 16 ? option.value[0] : 0;
		} else if (option.code == 14 && option.bytes >= 8) {
			interface->offset_seconds = (int64_t)file_u64(file, option.value);
		} else if (option.code == 1) {
			file->about.comments++;
		}
	}
	interface->known_resolution = possible_resolution(interface->resolution);
	return 2;
}

static int read_statistics(struct capture_file *file, const struct block *block)
{
	if (block->bytes < 12)
		return 2;
	size_t index = file->section_first + file_u32(file, block->body);
	if (index >= file->interface_count)
		return 2;
	struct capture_interface *interface = &file->interfaces[index];
	struct option_view option;
	const uint8_t *at = block->body + 12, *end = block->body + block->bytes;
	while (next_option(file, &at, end, &option)) {
		if (option.bytes < 8)
			continue;
		uint64_t value = file_u64(file, option.value);
		if (option.code == 4)
			interface->received = value;
		else if (option.code == 5)
			interface->dropped_by_interface = value;
		else if (option.code == 7)
			interface->dropped_by_system = value;
	}
	return 2;
}

static void read_packet_options(struct capture_file *file, struct capture_interface *interface, const uint8_t *at,
	const uint8_t *end, struct capture_frame *frame)
{
	struct option_view option;
	while (next_option(file, &at, end, &option)) {
		if (option.code == 2 && option.bytes >= 4) {
			uint32_t word = file_u32(file, option.value);
			frame->flags |= (word & 3) == 1 ? CAPTURE_INBOUND : (word & 3) == 2 ? CAPTURE_OUTBOUND : 0;
			if (word >> 5 & 15)
				frame->fcs_bytes = (uint16_t)(word >> 5 & 15);
			if (word >> 24)
				frame->flags |= CAPTURE_RX_ERROR;
		} else if (option.code == 4 && option.bytes >= 8) {
			uint64_t dropped = file_u64(file, option.value);
			if (dropped != UINT64_MAX && interface->dropped_between < UINT64_MAX - dropped)
				interface->dropped_between += dropped;
		} else if (option.code == 5 && option.bytes >= 8) {
			frame->packet_id = file_u64(file, option.value);
		} else if (option.code == 1) {
			file->about.comments++;
		}
	}
}

/* Enhanced and obsolete packet blocks: 20 bytes before the frame's, differing in where interface and drops stand. */
static int read_packet(
	struct capture_file *file, const struct block *block, struct capture_frame *frame, struct tare_err *err)
{
	bool old = block->type == BLOCK_OLD;
	if (block->bytes < 20)
		return file_damage(file, block->offset, err, "a packet block of %zu bytes", block->bytes);
	size_t index = file->section_first + (old ? file_u16(file, block->body) : file_u32(file, block->body));
	uint32_t captured = file_u32(file, block->body + 12);
	size_t padded = ((size_t)captured + 3) & ~(size_t)3;
	if (index >= file->interface_count)
		return file_damage(file, block->offset, err,
			"a packet of interface %zu, of which no description was seen", index - file->section_first);
	if (captured > block->bytes - 20)
		return file_damage(
			file, block->offset, err, "a packet of %u bytes in a block of %zu", captured, block->bytes);
	struct capture_interface *interface = &file->interfaces[index];
	*frame = (struct capture_frame){
		.offset = block->offset,
		.bytes = block->body + 20,
		.captured = captured,
		.length = file_u32(file, block->body + 16),
		.interface = (uint32_t)index,
		.link = interface->link,
		.fcs_bytes = interface->fcs_bytes,
	};
	uint64_t raw = (uint64_t)file_u32(file, block->body + 4) << 32 | file_u32(file, block->body + 8);
	if (interface->known_resolution)
		frame->time = time_of(interface, raw);
	else
		frame->flags |= CAPTURE_NO_TIME;
	if (old) {
		unsigned drops = file_u16(file, block->body + 2);
		interface->dropped_between += drops != 0xffff ? drops : 0;
	}
	if (padded < block->bytes - 20)
		read_packet_options(file, interface, block->body + 20 + padded, block->body + block->bytes, frame);
	return 1;
}

static int read_simple(
	struct capture_file *file, const struct block *block, struct capture_frame *frame, struct tare_err *err)
{
	if (block->bytes < 4)
		return file_damage(file, block->offset, err, "a simple packet block of %zu bytes", block->bytes);
	if (file->section_first >= file->interface_count)
		return file_damage(file, block->offset, err, "a packet before any interface description");
	const struct capture_interface *interface = &file->interfaces[file->section_first];
	uint32_t length = file_u32(file, block->body);
	size_t captured = block->bytes - 4;
	if (captured > length)
		captured = length;
	if (interface->snap_bytes && captured > interface->snap_bytes)
		captured = interface->snap_bytes;
	file->about.simple_packets++;
	*frame = (struct capture_frame){
		.offset = block->offset,
		.bytes = block->body + 4,
		.captured = (uint32_t)captured,
		.length = length,
		.interface = (uint32_t)file->section_first,
		.link = interface->link,
		.fcs_bytes = interface->fcs_bytes,
		.flags = CAPTURE_NO_TIME,
	};
	return 1;
}

/* Finds the whole block at the window; 1, 0 at the end of the file, -1. */
static int read_block(struct capture_file *file, struct block *ret_block, struct tare_err *err)
{
	int64_t have = input_need(file->input, BLOCK_LEAST_BYTES, err);
	if (have <= 0)
		return (int)have;
	if (have < BLOCK_LEAST_BYTES)
		return file_cut(file);
	uint64_t offset = input_offset(file->input);
	uint32_t type = file_u32(file, file->window->at);
	if (type == BLOCK_SECTION) {
		uint32_t order;
		memcpy(&order, file->window->at + 8, sizeof(order));
		if (order != 0x1a2b3c4d && order != 0x4d3c2b1a)
			return file_damage(file, offset, err, "a section without byte-order magic");
		file->swapped = order != 0x1a2b3c4d;
	}
	uint32_t whole = file_u32(file, file->window->at + 4);
	if (whole < BLOCK_LEAST_BYTES || whole > CAPTURE_BLOCK_BYTES_MAX)
		return file_damage(file, offset, err, "a block of %u bytes", whole);
	size_t padded = ((size_t)whole + 3) & ~(size_t)3; /* some writers forget the padding in the length */
	have = input_need(file->input, padded, err);
	if (have < 0)
		return -1;
	if ((uint64_t)have < whole)
		return file_cut(file);
	if (file_u32(file, file->window->at + whole - 4) != whole)
		return file_damage(file, offset, err, "a block whose two lengths differ");
	*ret_block = (struct block){.type = type,
		.body = file->window->at + BLOCK_HEAD_BYTES,
		.bytes = whole - BLOCK_LEAST_BYTES,
		.offset = offset};
	file->window->at += (uint64_t)have < padded ? (size_t)have : padded;
	return 1;
}

/* 2: nothing for the caller, go on. */
static int read_by_type(
	struct capture_file *file, const struct block *block, struct capture_frame *ret_frame, struct tare_err *err)
{
	switch (block->type) {
	case BLOCK_SECTION:
		return read_section(file, block, err);
	case BLOCK_INTERFACE:
		return read_interface(file, block, err);
	case BLOCK_STATISTICS:
		return read_statistics(file, block);
	case BLOCK_SIMPLE:
		return read_simple(file, block, ret_frame, err);
	case BLOCK_ENHANCED:
	case BLOCK_OLD:
		break;
	default:
		file->about.unknown_blocks++;
		return 2;
	}
	int found = read_packet(file, block, ret_frame, err);
	if (found != 1 || ret_frame->link != LINK_ERF)
		return found;
	struct capture_frame inner = {0};
	size_t whole;
	int inside = erf_record(ret_frame->bytes, ret_frame->captured, &inner, &whole);
	if (inside < 0)
		return file_damage(file, block->offset, err, "no ERF record inside");
	inner.offset = block->offset;
	inner.interface = ret_frame->interface;
	*ret_frame = inner;
	file->about.meta_records += inside == 0;
	return inside ? 1 : 2;
}

static int pcapng_next(struct capture_file *file, struct capture_frame *ret_frame, struct tare_err *err)
{
	int found = 2;
	while (found == 2) {
		struct block block = {0};
		found = read_block(file, &block, err);
		if (found == 1)
			found = read_by_type(file, &block, ret_frame, err);
	}
	return found;
}

int pcapng_begin(struct capture_file *file, struct tare_err *err)
{
	if (file->window->end - file->window->at < SECTION_LEAST_BYTES)
		return tare_fail(err, TARE_E_FORMAT, "'%s' ends inside the header of a pcapng file", file->name);
	file->about.words = "pcapng";
	file->next = pcapng_next;
	return 0;
}
