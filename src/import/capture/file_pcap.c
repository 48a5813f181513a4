/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pcap: a header of 24 bytes, records of 16 (24 in the modified format) and their
 * bytes. Seconds are unsigned, so that files reach to 2106; a fraction of a
 * second or more is flagged, never carried over.
 */
#include <string.h>

#include "import/capture/file_private.h"

enum { HEADER_BYTES = 24, RECORD_BYTES = 16, MODIFIED_RECORD_BYTES = 24, FRAME_LIMIT_LEAST = 256 << 10 };

static int frame_of(struct capture_file *file, uint32_t captured, struct capture_frame *frame, struct tare_err *err)
{
	const uint8_t *record = file->window->at;
	*frame = (struct capture_frame){
		.offset = input_offset(file->input),
		.captured = captured,
		.length = file_u32(file, record + 12),
		.link = file->interfaces[0].link,
		.fcs_bytes = file->interfaces[0].fcs_bytes,
		.bytes = record + file->record_bytes,
	};
	uint32_t fraction = file_u32(file, record + 4);
	frame->time.seconds = file_u32(file, record);
	if (fraction < file->fraction_limit)
		frame->time.picoseconds = fraction * file->fraction_ps;
	else
		frame->flags = CAPTURE_BAD_FRACTION;
	file->window->at += file->record_bytes + captured;
	if (frame->link != LINK_ERF)
		return 1;
	/* the record inside has its own, finer time */
	struct capture_frame inner = {0};
	size_t whole;
	int found = erf_record(frame->bytes, captured, &inner, &whole);
	if (found < 0)
		return file_damage(file, frame->offset, err, "no ERF record inside");
	inner.offset = frame->offset;
	*frame = inner;
	if (found == 0)
		file->about.meta_records++;
	return found ? 1 : 2;
}

static int pcap_next(struct capture_file *file, struct capture_frame *ret_frame, struct tare_err *err)
{
	for (;;) {
		size_t have = (size_t)(file->window->end - file->window->at);
		if (have < file->record_bytes) {
			int64_t got = input_need(file->input, file->record_bytes, err);
			if (got <= 0)
				return (int)got;
			if (got < file->record_bytes)
				return file_cut(file);
		}
		uint32_t captured = file_u32(file, file->window->at + 8);
		if (captured > file->frame_limit)
			return file_damage(file, input_offset(file->input), err,
				"a record of %u captured bytes, where %u are the most", captured, file->frame_limit);
		size_t whole = file->record_bytes + captured;
		if ((size_t)(file->window->end - file->window->at) < whole) {
			int64_t got = input_need(file->input, whole, err);
			if (got < 0)
				return -1;
			if ((uint64_t)got < whole)
				return file_cut(file);
		}
		if (captured && file_u32(file, file->window->at + 12) == 0) {
			/* exact-capture fills its blocks with records that were never on a wire */
			file->about.padding_records++;
			file->window->at += whole;
			continue;
		}
		int found = frame_of(file, captured, ret_frame, err);
		if (found != 2)
			return found;
	}
}

int pcap_begin(struct capture_file *file, struct tare_err *err)
{
	const uint8_t *header = file->window->at;
	uint32_t magic;
	memcpy(&magic, header, sizeof(magic));
	file->swapped = magic != 0xa1b2c3d4 && magic != 0xa1b23c4d && magic != 0xa1b2cd34;
	magic = file_u32(file, header);
	if ((size_t)(file->window->end - header) < HEADER_BYTES)
		return tare_fail(err, TARE_E_FORMAT, "'%s' ends inside the header of a pcap file", file->name);
	unsigned major = file_u16(file, header + 4);
	if (major != 2)
		return tare_fail(err, TARE_E_FORMAT, "'%s': pcap of version %u, not 2", file->name, major);
	bool nano = magic == 0xa1b23c4d;
	file->fraction_limit = nano ? 1000000000 : 1000000;
	file->fraction_ps = nano ? 1000 : 1000000;
	file->record_bytes = magic == 0xa1b2cd34 ? MODIFIED_RECORD_BYTES : RECORD_BYTES;
	file->sections = 1;
	struct capture_interface *interface = file_interface(file, err);
	if (!interface)
		return -1;
	uint32_t link = file_u32(file, header + 20);
	interface->link = (uint16_t)link;
	interface->snap_bytes = file_u32(file, header + 16);
	interface->resolution = nano ? 9 : 6;
	if (link & 1u << 26) /* FCS length in units of 16 bits, where bit 26 says that it is given */
		interface->fcs_bytes = (uint8_t)((link >> 28) * 2);
	/* libpcap's own limit where the header claims less or nothing; ours where it claims anything */
	file->frame_limit = interface->snap_bytes < FRAME_LIMIT_LEAST ? FRAME_LIMIT_LEAST : interface->snap_bytes;
	if (file->frame_limit > CAPTURE_FRAME_BYTES_MAX)
		file->frame_limit = CAPTURE_FRAME_BYTES_MAX;
	file->about.words = magic == 0xa1b2cd34 ? "modified pcap, microseconds"
			    : nano              ? "pcap, nanoseconds"
						: "pcap, microseconds";
	file->window->at += HEADER_BYTES;
	file->next = pcap_next;
	return 0;
}
