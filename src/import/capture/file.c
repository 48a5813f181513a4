/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The door of capture files: which format it is, and what the readers of the
 * formats have in common.
 */
#include "import/capture/file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "import/capture/file_private.h"

enum { HEAD_BYTES = 65536, PCAP_HEADER_BYTES = 24 };

enum capture_format capture_format_of(const void *head, size_t head_bytes)
{
	static const uint32_t magics[] = {0xa1b2c3d4, 0xa1b23c4d, 0xa1b2cd34};
	const uint8_t *bytes = head;
	uint32_t magic;
	if (head_bytes < sizeof(magic))
		return CAPTURE_NONE;
	memcpy(&magic, bytes, sizeof(magic));
	for (size_t i = 0; i < sizeof(magics) / sizeof(*magics); i++) {
		if (magic == magics[i] || __builtin_bswap32(magic) == magics[i])
			return CAPTURE_PCAP;
	}
	if (magic == 0x0a0d0d0a) {
		uint32_t order = 0;
		if (head_bytes >= 12)
			memcpy(&order, bytes + 8, sizeof(order));
		if (head_bytes < 12 || order == 0x1a2b3c4d || order == 0x4d3c2b1a)
			return CAPTURE_PCAPNG;
	}
	return erf_looks_like(bytes, head_bytes) ? CAPTURE_ERF : CAPTURE_NONE;
}

static void auto_file_free(struct capture_file *const *file)
{
	capture_file_free(*file);
}

int capture_file_open(
	struct input *input, const char *name, bool lenient, struct capture_file **ret_file, struct tare_err *err)
{
	AUTO_CLEANUP(auto_file_free) struct capture_file *file = calloc(1, sizeof(*file));
	if (!file)
		return tare_fail_errno(err, ENOMEM, "cannot read '%s'", name);
	file->input = input;
	file->window = input_window(input);
	file->name = name;
	file->lenient = lenient;
	file->about.coding = input_coding(input);
	int64_t have = input_need(input, HEAD_BYTES, err);
	if (have < 0)
		return -1;
	file->about.format = capture_format_of(file->window->at, (size_t)have);
	int failed = -1;
	if (file->about.format == CAPTURE_PCAP)
		failed = pcap_begin(file, err);
	else if (file->about.format == CAPTURE_PCAPNG)
		failed = pcapng_begin(file, err);
	else if (file->about.format == CAPTURE_ERF)
		failed = erf_begin(file, err);
	else
		tare_fail(err, TARE_E_FORMAT, "'%s' is no capture file that tare knows (pcap, pcapng, ERF)", name);
	if (failed)
		return -1;
	*ret_file = take_ptr(file);
	return 0;
}

void capture_file_free(struct capture_file *file)
{
	if (!file)
		return;
	free(file->interfaces);
	free(file);
}

int capture_file_next(struct capture_file *file, struct capture_frame *ret_frame, struct tare_err *err)
{
	if (file->over)
		return 0;
	int found = file->next(file, ret_frame, err);
	if (found <= 0) {
		file->over = true;
		return found;
	}
	ret_frame->number = ++file->about.frames;
	file->interfaces[ret_frame->interface].frames++;
	if (ret_frame->captured < ret_frame->length)
		ret_frame->flags |= CAPTURE_CUT;
	else if (ret_frame->captured > ret_frame->length)
		ret_frame->flags |= CAPTURE_LONGER;
	return 1;
}

const struct capture_about *capture_file_about(const struct capture_file *file)
{
	return &file->about;
}

size_t capture_file_interfaces(const struct capture_file *file, const struct capture_interface **ret_interfaces)
{
	*ret_interfaces = file->interfaces;
	return file->interface_count;
}

int64_t capture_interface_step_ps(const struct capture_interface *interface)
{
	int64_t step = PS_PER_SECOND;
	unsigned exponent = interface->resolution & 0x7f;
	if (interface->resolution & 0x80)
		return exponent < 40 ? step >> exponent : 0;
	for (unsigned i = 0; i < exponent && step; i++)
		step /= 10;
	return step;
}

struct capture_interface *file_interface(struct capture_file *file, struct tare_err *err)
{
	if (file->interface_count == CAPTURE_INTERFACES_MAX) {
		tare_fail(err, TARE_E_FORMAT, "'%s' describes more than %d interfaces", file->name,
			CAPTURE_INTERFACES_MAX);
		return NULL;
	}
	if (file->interface_count == file->interface_room) {
		size_t room = file->interface_room ? 2 * file->interface_room : 4;
		struct capture_interface *larger = reallocarray(file->interfaces, room, sizeof(*larger));
		if (!larger) {
			tare_fail_errno(err, ENOMEM, "cannot read '%s'", file->name);
			return NULL;
		}
		file->interfaces = larger;
		file->interface_room = room;
	}
	struct capture_interface *interface = &file->interfaces[file->interface_count++];
	*interface = (struct capture_interface){.section = file->sections,
		.known_resolution = true,
		.resolution = 6,
		.received = UINT64_MAX,
		.dropped_by_interface = UINT64_MAX,
		.dropped_by_system = UINT64_MAX};
	return interface;
}

int file_damage(struct capture_file *file, uint64_t offset, struct tare_err *err, const char *format, ...)
{
	char words[200];
	struct text text = TEXT_IN(words);
	va_list args;
	va_start(args, format);
	text_add_list(&text, format, args);
	va_end(args);
	file->over = true;
	if (!file->lenient)
		return tare_fail(err, TARE_E_FORMAT, "'%s', byte %" PRIu64 ", packet %" PRIu64 ": %s", file->name,
			offset, file->about.frames + 1, words);
	struct text damage = TEXT_IN(file->about.damage);
	text_add(&damage, "byte %" PRIu64 ", behind packet %" PRIu64 ": %s", offset, file->about.frames, words);
	return 0;
}

int file_cut(struct capture_file *file)
{
	file->about.ends_inside = input_offset(file->input);
	return 0;
}
