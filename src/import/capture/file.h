/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Capture files as a stream of frames: pcap (all magics, both byte orders),
 * pcapng (sections, interfaces with own resolution, offset and link type,
 * enhanced, simple and obsolete packet blocks) and ERF. Memory is one record plus
 * what is said of each interface.
 *
 * A file that ends inside a record keeps all before (`ends_inside`). A record that
 * cannot be (a length beyond any snap length, a block shorter than its header)
 * ends the reading with an error, or with `lenient` is told by `damage` and taken
 * as the end: behind a wrong length nothing can be found again.
 */
#pragma once
#include "import/capture/frame.h"
#include "import/input.h"

/* Beyond these a length is taken for damage: no link carries such frames. */
enum {
	CAPTURE_FRAME_BYTES_MAX = 1 << 24,
	CAPTURE_BLOCK_BYTES_MAX = (1 << 24) + (1 << 20),
	CAPTURE_INTERFACES_MAX = 4096
};

enum capture_format { CAPTURE_NONE, CAPTURE_PCAP, CAPTURE_PCAPNG, CAPTURE_ERF };

struct capture_interface {
	char name[64]; /* "" where the file gives none; foreign text */
	uint16_t link;
	uint32_t snap_bytes;
	uint32_t section;      /* from 1 */
	bool known_resolution; /* false: the resolution is none that a time can have */
	uint8_t resolution;    /* as in if_tsresol: 6, 9, 12, 0x80 + n */
	uint8_t fcs_bytes;
	int64_t offset_seconds;
	uint64_t frames;
	uint64_t received, dropped_by_interface,
		dropped_by_system; /* of its last statistics block; UINT64_MAX: not said */
	uint64_t dropped_between;  /* sum of what packets say was lost before them */
};

struct capture_about {
	enum capture_format format;
	const char *words;  /* "pcap, nanoseconds" */
	const char *coding; /* "gzip", "zstd" or NULL */
	uint64_t frames, padding_records, meta_records, unknown_blocks, comments, simple_packets;
	uint64_t ends_inside; /* offset of a last record that is not whole; 0: none */
	char damage[160];     /* "" or the sentence of a damaged place passed over */
};

struct capture_file;

/* By content, over the first bytes of the unpacked file. */
enum capture_format capture_format_of(const void *head, size_t head_bytes);

/* The input is borrowed. Also begins anew after input_rewind when opened a second time. */
int capture_file_open(struct input *input, const char *name, bool lenient, struct capture_file **ret_file,
	struct tare_err *err) TARE_MUST_USE;
void capture_file_free(struct capture_file *file); /* NULL is fine */
/* 1, 0 at the end, -1. */
int capture_file_next(struct capture_file *file, struct capture_frame *ret_frame, struct tare_err *err) TARE_MUST_USE;
const struct capture_about *capture_file_about(const struct capture_file *file);
size_t capture_file_interfaces(const struct capture_file *file, const struct capture_interface **ret_interfaces);
/* Step of the times as the interface's header claims it; what was observed is another matter. 0: below 1 ps. */
int64_t capture_interface_step_ps(const struct capture_interface *interface);
