/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading of foreign text. Surprising: NUL bytes are dropped before lines are
 * looked for, so that the run of NULs a crashed host leaves in a log neither
 * swallows the text behind it nor makes a line endless, and UTF-16 text without
 * a byte order mark still reads where it is ASCII.
 */
#include "import/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"

/* A raw read of RAW_BYTES becomes at most 3/2 as many in UTF-8; one line and one read must fit. */
enum { RAW_BYTES = LINES_HEAD_BYTES, TEXT_SPARE = RAW_BYTES / 2 * 3 + 64 };

enum encoding { BYTES, UTF16_LE, UTF16_BE };

struct lines {
	FILE *stream; /* NULL: everything is in `text` already */
	const char *name;
	enum encoding encoding;
	bool at_end, skipping, started;
	char ends; /* what ends a line: '\n', or '\r' where the head has no '\n' at all */
	bool high;            /* a byte above 0x7f was seen */
	uint64_t not_utf8;    /* lines */
	uint64_t number, nul_bytes;
	uint32_t high_surrogate; /* waiting for its low half */
	size_t raw_used;         /* bytes of an incomplete code unit kept from the last read */
	size_t begin, end;       /* unread part of text */
	size_t longest, room; /* bytes of a line at most, and as far as there is memory for now */
	char *text;           /* room + TEXT_SPARE bytes */
	unsigned char raw[RAW_BYTES];
};

static size_t put_utf8(char *out, uint32_t c)
{
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (char)(0xC0 | c >> 6);
		out[1] = (char)(0x80 | (c & 0x3F));
		return 2;
	}
	if (c < 0x10000) {
		out[0] = (char)(0xE0 | c >> 12);
		out[1] = (char)(0x80 | (c >> 6 & 0x3F));
		out[2] = (char)(0x80 | (c & 0x3F));
		return 3;
	}
	out[0] = (char)(0xF0 | c >> 18);
	out[1] = (char)(0x80 | (c >> 12 & 0x3F));
	out[2] = (char)(0x80 | (c >> 6 & 0x3F));
	out[3] = (char)(0x80 | (c & 0x3F));
	return 4;
}

/* Decodes the whole code units among `count` raw bytes behind text.end; a lone surrogate becomes '?'. */
static void decode_utf16(struct lines *lines, size_t count)
{
	size_t i = 0;
	for (; i + 1 < count; i += 2) {
		unsigned low = lines->raw[i], high = lines->raw[i + 1];
		uint32_t unit = lines->encoding == UTF16_LE ? high << 8 | low : low << 8 | high;
		uint32_t waiting = lines->high_surrogate;
		lines->high_surrogate = 0;
		if (unit >= 0xD800 && unit < 0xDC00) {
			lines->high_surrogate = unit;
			continue;
		}
		if (unit >= 0xDC00 && unit < 0xE000)
			unit = waiting ? 0x10000 + ((waiting - 0xD800) << 10) + (unit - 0xDC00) : '?';
		if (unit == 0)
			lines->nul_bytes++;
		else
			lines->end += put_utf8(lines->text + lines->end, unit);
	}
	lines->raw_used = count - i;
	if (lines->raw_used)
		lines->raw[0] = lines->raw[i];
}

static void copy_bytes(struct lines *lines, const unsigned char *raw, size_t count)
{
	char *out = lines->text + lines->end;
	unsigned char any = 0;
	for (size_t i = 0; i < count && !lines->high; i++)
		any |= raw[i];
	lines->high |= any > 0x7f;
	if (!memchr(raw, 0, count)) {
		memcpy(out, raw, count);
		lines->end += count;
		return;
	}
	for (size_t i = 0; i < count; i++) {
		if (raw[i])
			lines->text[lines->end++] = (char)raw[i];
		else
			lines->nul_bytes++;
	}
}

static size_t tell_encoding(struct lines *lines, const unsigned char *raw, size_t count)
{
	lines->started = true;
	if (count >= 3 && memcmp(raw, "\xEF\xBB\xBF", 3) == 0)
		return 3;
	if (count >= 2 && raw[0] == 0xFF && raw[1] == 0xFE)
		lines->encoding = UTF16_LE;
	else if (count >= 2 && raw[0] == 0xFE && raw[1] == 0xFF)
		lines->encoding = UTF16_BE;
	return lines->encoding == BYTES ? 0 : 2;
}

static void take_raw(struct lines *lines, size_t count)
{
	size_t mark = lines->started ? 0 : tell_encoding(lines, lines->raw, count);
	if (lines->encoding == BYTES) {
		copy_bytes(lines, lines->raw + mark, count - mark);
		return;
	}
	if (mark)
		memmove(lines->raw, lines->raw + mark, count - mark);
	decode_utf16(lines, count - mark);
}

static void tell_ends(struct lines *lines)
{
	bool newline = memchr(lines->text, '\n', lines->end), carriage = memchr(lines->text, '\r', lines->end);
	lines->ends = carriage && !newline ? '\r' : '\n';
}

/* Makes room and reads on; at_end is set when there is no more. */
static int fill(struct lines *lines, struct tare_err *err)
{
	if (lines->begin) {
		memmove(lines->text, lines->text + lines->begin, lines->end - lines->begin);
		lines->end -= lines->begin;
		lines->begin = 0;
	}
	if (!lines->stream) {
		lines->at_end = true;
		return 0;
	}
	size_t got = fread(lines->raw + lines->raw_used, 1, RAW_BYTES - lines->raw_used, lines->stream);
	if (got == 0) {
		lines->at_end = true;
		if (ferror(lines->stream))
			return tare_fail_errno(err, errno ? errno : EIO, "cannot read '%s'", lines->name);
		return 0;
	}
	take_raw(lines, lines->raw_used + got);
	return 0;
}

static struct lines *new_lines(void)
{
	struct lines *lines = calloc(1, sizeof(*lines));
	char *text = lines ? malloc(LINES_MAX_BYTES + TEXT_SPARE) : NULL;
	if (!text) {
		free(lines);
		return NULL;
	}
	lines->text = text;
	lines->longest = lines->room = LINES_MAX_BYTES;
	return lines;
}

static void auto_lines_end(struct lines *const *lines)
{
	lines_free(*lines);
}

int lines_allow(struct lines *lines, size_t bytes, struct tare_err *err)
{
	(void)err;
	if (bytes > lines->longest)
		lines->longest = bytes < LINES_LONGEST ? bytes : LINES_LONGEST;
	return 0;
}

int lines_open(FILE *stream, const char *name, struct lines **ret_lines, struct tare_err *err)
{
	AUTO_CLEANUP(auto_lines_end) struct lines *lines = new_lines();
	if (!lines)
		return tare_fail_errno(err, ENOMEM, "cannot read '%s'", name);
	lines->stream = stream;
	lines->name = name;
	errno = 0;
	if (fill(lines, err))
		return -1;
	tell_ends(lines);
	*ret_lines = take_ptr(lines);
	return 0;
}

int lines_open_bytes(const void *bytes, size_t count, struct lines **ret_lines, struct tare_err *err)
{
	AUTO_CLEANUP(auto_lines_end) struct lines *lines = new_lines();
	if (!lines)
		return tare_fail_errno(err, ENOMEM, "cannot look at a file's head");
	if (count > RAW_BYTES)
		count = RAW_BYTES;
	if (count) {
		memcpy(lines->raw, bytes, count);
		take_raw(lines, count);
	}
	tell_ends(lines);
	*ret_lines = take_ptr(lines);
	return 0;
}

void lines_free(struct lines *lines)
{
	if (lines)
		free(lines->text);
	free(lines);
}

const char *lines_head(const struct lines *lines, size_t *ret_bytes)
{
	*ret_bytes = lines->end - lines->begin;
	return lines->text + lines->begin;
}

uint64_t lines_not_utf8(const struct lines *lines)
{
	return lines->not_utf8;
}

uint64_t lines_nul_bytes(const struct lines *lines)
{
	return lines->nul_bytes;
}

static bool is_utf8(const char *text, size_t bytes)
{
	for (size_t at = 0, step; at < bytes; at += step) {
		step = text_character(text + at);
		if (!step)
			return false;
	}
	return true;
}

/* Hands out text[begin, end) as a line; `next` is where the following one starts. */
static void hand_out(struct lines *lines, size_t end, size_t next, struct line *ret_line)
{
	char *text = lines->text + lines->begin;
	size_t bytes = end - lines->begin;
	*ret_line = (struct line){.number = ++lines->number};
	ret_line->overlong = lines->skipping || bytes > lines->longest;
	ret_line->unterminated = next == end;
	if (ret_line->overlong)
		bytes = 0;
	while (bytes && strchr("\r \t", text[bytes - 1]))
		bytes--;
	text[bytes] = '\0';
	lines->not_utf8 += lines->high && !is_utf8(text, bytes);
	ret_line->text = text;
	ret_line->bytes = bytes;
	lines->skipping = false;
	lines->begin = next;
}

/* Twice the room, for a line that is longer than what there is. */
static int grow(struct lines *lines, struct tare_err *err)
{
	size_t room = 2 * lines->room < lines->longest ? 2 * lines->room : lines->longest;
	char *text = realloc(lines->text, room + TEXT_SPARE);
	if (!text)
		return tare_fail_errno(err, ENOMEM, "cannot read '%s'", lines->name);
	lines->text = text;
	lines->room = room;
	return 0;
}

int lines_next(struct lines *lines, struct line *ret_line, struct tare_err *err)
{
	size_t searched = 0;
	for (;;) {
		size_t have = lines->end - lines->begin;
		char *start = lines->text + lines->begin;
		char *newline = have > searched ? memchr(start + searched, lines->ends, have - searched) : NULL;
		if (newline) {
			size_t at = (size_t)(newline - lines->text);
			hand_out(lines, at, at + 1, ret_line);
			return 1;
		}
		if (lines->at_end) {
			if (!have && !lines->skipping)
				return 0;
			hand_out(lines, lines->end, lines->end, ret_line);
			return 1;
		}
		/* what is read next must fit behind what is there: one doubling may not be enough */
		while (have > lines->room && lines->room < lines->longest) {
			if (grow(lines, err))
				return -1;
		}
		if (have > lines->longest) {
			lines->skipping = true;
			lines->begin = lines->end;
			have = 0;
		}
		searched = have;
		errno = 0;
		if (fill(lines, err))
			return -1;
	}
}

int lines_read(struct lines *lines, char *buffer, size_t room, size_t *ret_bytes, struct tare_err *err)
{
	errno = 0;
	while (lines->begin == lines->end && !lines->at_end) {
		if (fill(lines, err))
			return -1;
	}
	size_t have = lines->end - lines->begin, count = have < room ? have : room;
	memcpy(buffer, lines->text + lines->begin, count);
	lines->begin += count;
	*ret_bytes = count;
	return 0;
}
