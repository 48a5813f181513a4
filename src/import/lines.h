/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Lines of a text that may be anything: bounded in length, UTF-16 turned into
 * UTF-8, NUL bytes dropped, line ends of any system and the blanks before them
 * stripped. Bytes that are no UTF-8 pass through as they are.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tare/err.h"

enum { LINES_MAX_BYTES = 4095, LINES_HEAD_BYTES = 65536, LINES_LONGEST = 16 << 20 };

struct lines;

struct line {
	char *text; /* terminated, valid until the next call */
	size_t bytes;
	uint64_t number;   /* from 1 */
	bool overlong;     /* longer than LINES_MAX_BYTES: text is empty */
	bool unterminated; /* the file ended inside */
};

/* The stream stays the caller's; `name` is borrowed. The first LINES_HEAD_BYTES are read at once. */
int lines_open(FILE *stream, const char *name, struct lines **ret_lines, struct tare_err *err) TARE_MUST_USE;
/* The same over bytes in memory, which are copied and seen as the whole text. */
int lines_open_bytes(const void *bytes, size_t count, struct lines **ret_lines, struct tare_err *err) TARE_MUST_USE;
void lines_free(struct lines *lines);

/* What lines_open has read, decoded; valid until the first lines_next(). */
const char *lines_head(const struct lines *lines, size_t *ret_bytes);
/* The text as it comes, decoded, without a look for lines: up to `room` bytes, 0 at the end. Not to be mixed with lines_next. */
int lines_read(struct lines *lines, char *buffer, size_t room, size_t *ret_bytes, struct tare_err *err) TARE_MUST_USE;
/* Lines of up to `bytes` from here on, at most LINES_LONGEST; the default is LINES_MAX_BYTES. */
int lines_allow(struct lines *lines, size_t bytes, struct tare_err *err) TARE_MUST_USE;
/* 1, 0 at the end, -1 on a read error. */
int lines_next(struct lines *lines, struct line *ret_line, struct tare_err *err) TARE_MUST_USE;
/* Lines handed out so far that are in another encoding: an old code page. */
uint64_t lines_not_utf8(const struct lines *lines);
uint64_t lines_nul_bytes(const struct lines *lines);
