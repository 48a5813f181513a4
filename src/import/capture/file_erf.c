/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ERF, which has no magic: a file is one when records of possible types, lengths
 * and years follow each other over all of its head. Its times are little-endian
 * fixed point of 2^-32 s, its lengths big-endian.
 */
#include <string.h>

#include "import/capture/file_private.h"
#include "wire/bytes.h"

enum { TYPE_POS = 1, TYPE_ETHERNET = 2, TYPE_IPV4 = 22, TYPE_IPV6 = 23, TYPE_META = 27, TYPE_PAD = 48 };
enum { FLAG_TRUNCATED = 1 << 3, FLAG_RX_ERROR = 1 << 4, EXTENSION_BYTES = 8, EXTENSIONS_MAX = 32 };

static bool is_ethernet(unsigned type)
{
	return type == TYPE_ETHERNET || type == 11 || type == 16 || type == 20;
}

static struct capture_time time_of(const uint8_t *record)
{
	uint64_t raw;
	memcpy(&raw, record, sizeof(raw));
	raw = le64toh(raw);
	__extension__ typedef unsigned __int128 wide;
	return (struct capture_time){.seconds = (int64_t)(raw >> 32),
		.picoseconds = (int64_t)((wide)(uint32_t)raw * (uint64_t)PS_PER_SECOND >> 32)};
}

int erf_record(const uint8_t *record, size_t bytes, struct capture_frame *ret_frame, size_t *ret_record_bytes)
{
	if (bytes < ERF_HEADER_BYTES)
		return -1;
	unsigned type = record[8] & 0x7f;
	size_t whole = get_u16(record + 10), at = ERF_HEADER_BYTES;
	if (whole < ERF_HEADER_BYTES || whole > bytes)
		return -1;
	bool more = record[8] & 0x80;
	for (int i = 0; more; i++, at += EXTENSION_BYTES) {
		if (i == EXTENSIONS_MAX || at + EXTENSION_BYTES > whole)
			return -1;
		more = record[at] & 0x80;
	}
	*ret_record_bytes = whole;
	if (type == TYPE_META || type == TYPE_PAD)
		return 0;
	if (is_ethernet(type))
		at += 2;
	if (at > whole)
		return -1;
	*ret_frame = (struct capture_frame){
		.time = time_of(record),
		.bytes = record + at,
		.captured = (uint32_t)(whole - at),
		.length = get_u16(record + 14),
		.link = is_ethernet(type)                        ? LINK_ETHERNET
			: type == TYPE_IPV4 || type == TYPE_IPV6 ? LINK_RAW
								 : LINK_UNKNOWN,
		.flags = record[9] & FLAG_RX_ERROR ? CAPTURE_RX_ERROR : 0,
	};
	/* records are padded to 8 bytes: what lies behind the frame was not on the wire */
	if (ret_frame->captured > ret_frame->length)
		ret_frame->captured = ret_frame->length;
	return 1;
}

bool erf_looks_like(const uint8_t *head, size_t bytes)
{
	enum { SECONDS_1990 = 631152000, ENOUGH = 16 };
	size_t at = 0;
	int records = 0;
	while (at + ERF_HEADER_BYTES <= bytes && records < ENOUGH) {
		const uint8_t *record = head + at;
		unsigned type = record[8] & 0x7f;
		size_t whole = get_u16(record + 10), wire = get_u16(record + 14);
		bool timed = time_of(record).seconds >= SECONDS_1990;
		bool known = (type >= TYPE_POS && type <= TYPE_META) || type == TYPE_PAD;
		if (!known || !timed || whole < ERF_HEADER_BYTES || (type != TYPE_META && type != TYPE_PAD && !wire))
			return false;
		if (at + whole > bytes)
			return records > 0;
		at += whole;
		records++;
	}
	return records > 0 && (records == ENOUGH || bytes - at < ERF_HEADER_BYTES);
}

static int erf_next(struct capture_file *file, struct capture_frame *ret_frame, struct tare_err *err)
{
	for (;;) {
		int64_t have = input_need(file->input, ERF_HEADER_BYTES, err);
		if (have <= 0)
			return (int)have;
		if (have < ERF_HEADER_BYTES)
			return file_cut(file);
		size_t whole = get_u16(file->window->at + 10);
		if (whole < ERF_HEADER_BYTES)
			return file_damage(file, input_offset(file->input), err,
				"an ERF record of %zu bytes, where its header has 16", whole);
		have = input_need(file->input, whole, err);
		if (have < 0)
			return -1;
		if ((size_t)have < whole)
			return file_cut(file);
		uint64_t offset = input_offset(file->input);
		unsigned port = file->window->at[9] & 3;
		int found = erf_record(file->window->at, whole, ret_frame, &whole);
		if (found < 0)
			return file_damage(file, offset, err, "an ERF record whose headers are longer than itself");
		file->window->at += whole;
		if (found) {
			ret_frame->offset = offset;
			ret_frame->interface = port;
			return 1;
		}
		file->about.meta_records++;
	}
}

int erf_begin(struct capture_file *file, struct tare_err *err)
{
	file->sections = 1;
	for (int port = 0; port < 4; port++) {
		struct capture_interface *interface = file_interface(file, err);
		if (!interface)
			return -1;
		interface->link = LINK_ETHERNET;
		interface->resolution = 0x80 | 32;
	}
	file->about.words = "ERF";
	file->next = erf_next;
	return 0;
}
