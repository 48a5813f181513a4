/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Six bits a letter. */
#include "base/base64.h"

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static int value_of(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

bool base64_decode(const char *text, size_t bytes, uint8_t *ret, size_t *ret_bytes)
{
	uint32_t bits = 0;
	unsigned have = 0;
	size_t used = 0;
	while (bytes && text[bytes - 1] == '=')
		bytes--;
	for (size_t i = 0; i < bytes; i++) {
		int value = value_of(text[i]);
		if (value < 0)
			return false;
		bits = bits << 6 | (uint32_t)value;
		have += 6;
		if (have >= 8) {
			have -= 8;
			ret[used++] = (uint8_t)(bits >> have);
		}
	}
	*ret_bytes = used;
	return bytes % 4 != 1;
}

void base64_encode(const uint8_t *data, size_t bytes, char *ret)
{
	size_t used = 0;
	for (size_t i = 0; i < bytes; i += 3) {
		uint32_t bits = (uint32_t)data[i] << 16 | (i + 1 < bytes ? (uint32_t)data[i + 1] << 8 : 0) |
				(i + 2 < bytes ? data[i + 2] : 0);
		for (unsigned j = 0; j < 4; j++)
			ret[used++] = i + j <= bytes ? letters[bits >> (18 - 6 * j) & 63] : '=';
	}
	ret[used] = '\0';
}
