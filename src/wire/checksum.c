/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Eight octets at a time; what is left over is added as if zeros followed. */
#include "wire/checksum.h"

#include <string.h>

uint64_t checksum_words(const uint8_t *at, size_t bytes)
{
	uint64_t sum = 0, word;
	for (; bytes >= 8; at += 8, bytes -= 8) {
		memcpy(&word, at, sizeof(word));
		/* halves: 2^32 of them fit before the sum could wrap */
		sum += (word & UINT32_MAX) + (word >> 32);
	}
	word = 0;
	memcpy(&word, at, bytes);
	return sum + (word & UINT32_MAX) + (word >> 32);
}
