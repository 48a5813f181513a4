/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The Internet checksum (RFC 1071). Ones' complement sums do not care about byte
 * order (section 2B), so machine words are added as they lie in memory and the
 * result is stored as it is.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Sum of `bytes` octets, to be added to others of even length and folded at the end. Good for 32 GiB. */
uint64_t checksum_words(const uint8_t *at, size_t bytes);
/* The 16 bits that are left of a sum, not complemented. */
static inline uint16_t checksum_fold(uint64_t sum)
{
	sum = (sum & UINT32_MAX) + (sum >> 32);
	sum = (sum & UINT16_MAX) + (sum >> 16);
	sum = (sum & UINT16_MAX) + (sum >> 16);
	sum = (sum & UINT16_MAX) + (sum >> 16);
	return (uint16_t)sum;
}
