/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Big-endian fields of a packet at any alignment. memcpy and a swap instead of
 * shifts: one load or store each, also in a build without optimisation.
 */
#pragma once
#include <endian.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t get_u16(const uint8_t *p)
{
	uint16_t raw;
	memcpy(&raw, p, sizeof(raw));
	return be16toh(raw);
}
static inline uint32_t get_u32(const uint8_t *p)
{
	uint32_t raw;
	memcpy(&raw, p, sizeof(raw));
	return be32toh(raw);
}
static inline uint64_t get_u64(const uint8_t *p)
{
	uint64_t raw;
	memcpy(&raw, p, sizeof(raw));
	return be64toh(raw);
}
static inline void put_u16(uint8_t *p, uint16_t value)
{
	uint16_t raw = htobe16(value);
	memcpy(p, &raw, sizeof(raw));
}
static inline void put_u32(uint8_t *p, uint32_t value)
{
	uint32_t raw = htobe32(value);
	memcpy(p, &raw, sizeof(raw));
}
static inline void put_u64(uint8_t *p, uint64_t value)
{
	uint64_t raw = htobe64(value);
	memcpy(p, &raw, sizeof(raw));
}
