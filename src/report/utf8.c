/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * UTF-8 decoding, widths and making foreign text harmless. wcwidth() is not
 * used: it follows the locale, and a report must look the same under cron.
 */
#include "report/utf8.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct code_range {
	uint32_t from, to;
};

/* Characters that take no column of their own: combining marks, joiners, variation selectors. */
static const struct code_range zero_width[] = {
	{0x0300, 0x036f},
	{0x0483, 0x0489},
	{0x0591, 0x05bd},
	{0x0610, 0x061a},
	{0x064b, 0x065f},
	{0x0900, 0x0902},
	{0x093c, 0x093c},
	{0x0941, 0x0948},
	{0x0e31, 0x0e31},
	{0x0e34, 0x0e3a},
	{0x0e47, 0x0e4e},
	{0x1ab0, 0x1aff},
	{0x1dc0, 0x1dff},
	{0x200b, 0x200f},
	{0x20d0, 0x20ff},
	{0x302a, 0x302d},
	{0x3099, 0x309a},
	{0xfe00, 0xfe0f},
	{0xfe20, 0xfe2f},
	{0xe0100, 0xe01ef},
};

/* East Asian Wide and Fullwidth (Unicode TR 11), and emoji, by block. */
static const struct code_range double_width[] = {
	{0x1100, 0x115f},
	{0x231a, 0x231b},
	{0x2e80, 0x303e},
	{0x3041, 0x33ff},
	{0x3400, 0x4dbf},
	{0x4e00, 0x9fff},
	{0xa000, 0xa4cf},
	{0xa960, 0xa97f},
	{0xac00, 0xd7a3},
	{0xf900, 0xfaff},
	{0xfe30, 0xfe6f},
	{0xff00, 0xff60},
	{0xffe0, 0xffe6},
	{0x1f300, 0x1f64f},
	{0x1f680, 0x1f6ff},
	{0x1f900, 0x1f9ff},
	{0x20000, 0x2fffd},
	{0x30000, 0x3fffd},
};

/* Invisible characters that change what a reader believes to see: direction overrides, line separators, BOM. */
static const struct code_range deceptive[] = {
	{0x061c, 0x061c},
	{0x200b, 0x200f},
	{0x2028, 0x202e},
	{0x2060, 0x206f},
	{0xfeff, 0xfeff},
	{0xe0000, 0xe007f},
};

static bool code_in(uint32_t code, const struct code_range *ranges, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (code >= ranges[i].from && code <= ranges[i].to)
			return true;
	}
	return false;
}
#define CODE_IN(code, ranges) code_in((code), (ranges), sizeof(ranges) / sizeof((ranges)[0]))

size_t utf8_next(const char *bytes, size_t room, uint32_t *ret_code)
{
	/* Least value per length: anything smaller is an overlong form, which is how filters are fooled. */
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	uint8_t lead = (uint8_t)bytes[0];
	size_t length = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
	uint32_t code = length == 1 ? lead : length ? lead & (0xffu >> (length + 1)) : 0;

	*ret_code = UTF8_INVALID;
	if (length == 0 || length > room)
		return 1;
	for (size_t i = 1; i < length; i++) {
		uint8_t next = (uint8_t)bytes[i];
		if ((next & 0xc0) != 0x80)
			return 1;
		code = code << 6 | (next & 0x3fu);
	}
	if (code < least[length] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		return 1;
	*ret_code = code;
	return length;
}

int utf8_width(uint32_t code)
{
	if (code < 0x300)
		return 1;
	if (CODE_IN(code, zero_width))
		return 0;
	return CODE_IN(code, double_width) ? 2 : 1;
}

int utf8_columns(const char *text)
{
	size_t left = strlen(text);
	int columns = 0;
	while (left > 0) {
		uint32_t code;
		size_t used = utf8_next(text, left, &code);
		columns += code == UTF8_INVALID ? 1 : utf8_width(code);
		text += used;
		left -= used;
	}
	return columns;
}

static bool harmless(uint32_t code, const char *keep)
{
	if (code < 0x20)
		return code != 0 && strchr(keep, (int)code);
	return code != UTF8_INVALID && !(code >= 0x7f && code < 0xa0) && !CODE_IN(code, deceptive);
}

/* One character of the safe form into at most 10 bytes and a terminator; returns the bytes of `text` it stands for. */
static size_t safe_next(const char *text, size_t left, const char *keep, char piece[16])
{
	uint32_t code;
	size_t used = utf8_next(text, left, &code);
	if (harmless(code, keep)) {
		memcpy(piece, text, used);
		piece[used] = 0;
	} else if (code == UTF8_INVALID || code < 0x80) {
		snprintf(piece, 16, "\\x%02x", (unsigned)(uint8_t)text[0]);
	} else {
		snprintf(piece, 16, "\\u%04x", (unsigned)code);
	}
	return used;
}

char *utf8_safe(const char *text, const char *keep)
{
	size_t left = strlen(text), used = 0;
	/* A byte grows to 4 (\xNN), three bytes to 6, four bytes to 8 at most. */
	char *safe = malloc(4 * left + 1);
	char piece[16];

	if (!safe)
		return NULL;
	while (left > 0) {
		size_t taken = safe_next(text, left, keep, piece);
		size_t length = strlen(piece);
		memcpy(safe + used, piece, length);
		used += length;
		text += taken;
		left -= taken;
	}
	safe[used] = 0;
	return safe;
}

void utf8_write_safe(FILE *out, const char *text, const char *keep)
{
	size_t left = strlen(text);
	char piece[16];
	while (left > 0) {
		size_t taken = safe_next(text, left, keep, piece);
		fputs(piece, out);
		text += taken;
		left -= taken;
	}
}
