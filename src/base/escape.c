/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Escapes: a table of letters and what they stand for, and two hexadecimal digits. */
#include "base/escape.h"

#include <string.h>

static int hex_digit(char c)
{
	static const char digits[] = "0123456789abcdef";
	char lower = c >= 'A' && c <= 'F' ? (char)(c - 'A' + 'a') : c;
	const char *at = c ? strchr(digits, lower) : NULL;
	return at ? (int)(at - digits) : -1;
}

/* The byte that the escape behind a backslash stands for, -1 for none; *ret_length is what it took. */
static int one_escape(const char *at, size_t *ret_length)
{
	static const char letters[] = "nrt0abfve\\'\"", bytes[] = "\n\r\t\0\a\b\f\v\033\\'\"";
	*ret_length = 1;
	if (*at == 'x' && hex_digit(at[1]) >= 0 && hex_digit(at[2]) >= 0) {
		*ret_length = 3;
		return hex_digit(at[1]) << 4 | hex_digit(at[2]);
	}
	const char *letter = *at ? strchr(letters, *at) : NULL;
	return letter ? (uint8_t)bytes[letter - letters] : -1;
}

int parse_escapes(const char *text, uint8_t *ret_bytes, size_t room, size_t *ret_count, struct tare_err *err)
{
	size_t count = 0;
	for (const char *at = text; *at; at++) {
		int byte = (uint8_t)*at;
		if (*at == '\\') {
			size_t length;
			byte = one_escape(at + 1, &length);
			if (byte < 0)
				return tare_fail(err, TARE_E_USAGE,
					"'%.100s' has an unknown escape: '\\%.1s'; \\\\ is a backslash", text, at + 1);
			at += length;
		}
		if (count == room)
			return tare_fail(err, TARE_E_USAGE, "'%.60s…' is longer than %zu bytes", text, room);
		ret_bytes[count++] = (uint8_t)byte;
	}
	*ret_count = count;
	return 0;
}
