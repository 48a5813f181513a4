/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Big-endian fields of a packet, byte by byte: no alignment, no casts. */
#pragma once
#include <stdint.h>

static inline uint16_t get_u16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}
static inline uint32_t get_u32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}
static inline uint64_t get_u64(const uint8_t *p)
{
	return (uint64_t)get_u32(p) << 32 | get_u32(p + 4);
}
static inline void put_u16(uint8_t *p, uint16_t value)
{
	p[0] = (uint8_t)(value >> 8);
	p[1] = (uint8_t)value;
}
static inline void put_u32(uint8_t *p, uint32_t value)
{
	put_u16(p, (uint16_t)(value >> 16));
	put_u16(p + 2, (uint16_t)value);
}
static inline void put_u64(uint8_t *p, uint64_t value)
{
	put_u32(p, (uint32_t)(value >> 32));
	put_u32(p + 4, (uint32_t)value);
}
