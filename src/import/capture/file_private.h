/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the readers of the three formats share; nobody else includes it. */
#pragma once
#include "import/capture/file.h"

struct capture_file {
	struct input *input;
	struct input_window *window;
	const char *name;
	bool lenient, over;
	bool swapped; /* other byte order than ours; per section in pcapng */
	/* pcap */
	uint32_t record_bytes, fraction_limit, frame_limit;
	int64_t fraction_ps;
	/* pcapng: interfaces of the present section begin at this index */
	size_t section_first;
	uint32_t sections;
	uint64_t block_end; /* of the block being looked at, relative to the window */
	struct capture_interface *interfaces;
	size_t interface_count, interface_room;
	struct capture_about about;
	int (*next)(struct capture_file *file, struct capture_frame *ret_frame, struct tare_err *err);
};

int pcap_begin(struct capture_file *file, struct tare_err *err);
int pcapng_begin(struct capture_file *file, struct tare_err *err);
int erf_begin(struct capture_file *file, struct tare_err *err);
bool erf_looks_like(const uint8_t *head, size_t bytes);
/*
 * Reads the ERF record at `record`, of which `bytes` are there: its frame, and in *ret_record_bytes its whole
 * length. 1 a packet, 0 a record without one, -1 not possible (no sentence).
 */
int erf_record(const uint8_t *record, size_t bytes, struct capture_frame *ret_frame, size_t *ret_record_bytes);
enum { ERF_HEADER_BYTES = 16 };

/* A new interface with defaults; NULL with err set. */
struct capture_interface *file_interface(struct capture_file *file, struct tare_err *err);
/* Damage at `offset`: -1, or 0 (the end) when lenient. */
int file_damage(struct capture_file *file, uint64_t offset, struct tare_err *err, const char *format, ...)
	TARE_PRINTF(4, 5);
/* The file ends inside the record at the window's begin. */
int file_cut(struct capture_file *file);

static inline uint16_t file_u16(const struct capture_file *file, const uint8_t *p)
{
	uint16_t value;
	__builtin_memcpy(&value, p, sizeof(value));
	return file->swapped ? __builtin_bswap16(value) : value;
}
static inline uint32_t file_u32(const struct capture_file *file, const uint8_t *p)
{
	uint32_t value;
	__builtin_memcpy(&value, p, sizeof(value));
	return file->swapped ? __builtin_bswap32(value) : value;
}
static inline uint64_t file_u64(const struct capture_file *file, const uint8_t *p)
{
	uint64_t value;
	__builtin_memcpy(&value, p, sizeof(value));
	return file->swapped ? __builtin_bswap64(value) : value;
}
