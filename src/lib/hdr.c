/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Index and value of HdrHistogram: sub-buckets of equal width, twice as wide with
 * each power of two. From the public description of the layout and its encodings.
 */
#include "lib/hdr.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/cleanup.h"

/* Cookies without the nibble of the word size. */
enum {
	DOUBLES = 0x0c72124e, /* of HdrHistogram's DoubleHistogram; packed one more */
	V0 = 0x1c849308,
	V0_PACKED = 0x1c849309,
	V1 = 0x1c849301,
	V1_PACKED = 0x1c849302,
	V2 = 0x1c849303,
	V2_PACKED = 0x1c849304,
};
enum { MOST_BYTES = 64 << 20, MOST_BUCKETS = 1 << 24, HEADER = 40, HEADER_V0 = 32 };

struct shape {
	int unit_magnitude, half_magnitude;
};

static uint32_t read_u32(const uint8_t *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static uint64_t read_u64(const uint8_t *at)
{
	return (uint64_t)read_u32(at) << 32 | read_u32(at + 4);
}

static int log2_of(uint64_t value)
{
	return 63 - __builtin_clzll(value | 1);
}

/* False for digits or units that no histogram has. */
static bool shape_of(uint32_t digits, uint64_t lowest, struct shape *ret)
{
	static const uint64_t resolution[] = {2, 20, 200, 2000, 20000, 200000};
	if (digits > 5 || lowest < 1 || lowest > INT64_MAX / 2)
		return false;
	uint64_t needed = resolution[digits];
	int magnitude = log2_of(needed) + ((needed & (needed - 1)) != 0);
	ret->half_magnitude = (magnitude > 1 ? magnitude : 1) - 1;
	ret->unit_magnitude = log2_of(lowest);
	return true;
}

/* False where it lies beyond 63 bits. */
static bool bounds_of(const struct shape *shape, uint64_t index, int64_t *ret_low, int64_t *ret_high)
{
	uint64_t half = UINT64_C(1) << shape->half_magnitude;
	int64_t bucket = (int64_t)(index >> shape->half_magnitude) - 1;
	uint64_t sub = (index & (half - 1)) + half;
	if (bucket < 0) {
		sub -= half;
		bucket = 0;
	}
	int64_t shift = bucket + shape->unit_magnitude;
	if (shift > 62 || sub + 1 > (UINT64_C(1) << 63) >> shift)
		return false;
	*ret_low = (int64_t)(sub << shift);
	*ret_high = (int64_t)(((sub + 1) << shift) - 1);
	return true;
}

/* ZigZag in groups of seven bits, the ninth byte whole; false at the end of the bytes. */
static bool read_zigzag(const uint8_t *bytes, size_t count, size_t *at, int64_t *ret)
{
	uint64_t value = 0;
	for (int i = 0; i < 9; i++) {
		if (*at == count)
			return false;
		uint8_t byte = bytes[(*at)++];
		value |= i < 8 ? (uint64_t)(byte & 0x7f) << (7 * i) : (uint64_t)byte << 56;
		if (i == 8 || !(byte & 0x80))
			break;
	}
	*ret = (int64_t)(value >> 1 ^ (0 - (value & 1)));
	return true;
}

static bool read_word(const uint8_t *bytes, size_t count, size_t *at, unsigned size, int64_t *ret)
{
	if (count - *at < size)
		return false;
	uint64_t value = 0;
	for (unsigned i = 0; i < size; i++)
		value = value << 8 | bytes[*at + i];
	*at += size;
	*ret = (int64_t)value;
	return true;
}

static const char *add_range(struct hdr *hdr, const struct shape *shape, uint64_t index, uint64_t times)
{
	struct tare_range range = {0, 0, times};
	if (!bounds_of(shape, index, &range.low_ns, &range.high_ns))
		return "a bucket beyond 63 bits";
	if (__builtin_add_overflow(hdr->total, times, &hdr->total) || hdr->total > INT64_MAX)
		return "more values than 63 bits count";
	if ((hdr->count & (hdr->count - 1)) == 0) {
		size_t room = hdr->count ? 2 * hdr->count : 1;
		struct tare_range *larger = reallocarray(hdr->range, room, sizeof(range));
		if (!larger)
			return "out of memory";
		hdr->range = larger;
	}
	hdr->range[hdr->count++] = range;
	return NULL;
}

static const char *read_counts(
	const uint8_t *bytes, size_t count, const struct shape *shape, unsigned word, struct hdr *ret)
{
	uint64_t index = 0;
	for (size_t at = 0; at < count;) {
		int64_t value = 0;
		bool more = word ? read_word(bytes, count, &at, word, &value) : read_zigzag(bytes, count, &at, &value);
		if (!more)
			return "its counts are cut off";
		if (value < 0 && word)
			return "a negative count";
		if (value < 0) {
			if (value < -(int64_t)MOST_BUCKETS)
				return "more buckets than any histogram has";
			index += (uint64_t)-value;
			continue;
		}
		const char *why = value ? add_range(ret, shape, index, (uint64_t)value) : NULL;
		if (why)
			return why;
		if (++index > MOST_BUCKETS)
			return "more buckets than any histogram has";
	}
	return NULL;
}

static const char *decode_plain(const uint8_t *bytes, size_t count, struct hdr *ret)
{
	if (count < 4)
		return "it is cut off";
	uint32_t cookie = read_u32(bytes), base = cookie & ~UINT32_C(0xf0), word = cookie >> 4 & 0xf;
	bool v0 = base == V0;
	size_t header = v0 ? HEADER_V0 : HEADER;
	struct shape shape;
	if (base != V0 && base != V1 && base != V2)
		return "it is no histogram of version 0, 1 or 2";
	if (count < header)
		return "it is cut off";
	if (!v0 && read_u32(bytes + 8) != 0)
		return "it is shifted (normalizing index offset), which is not supported";
	if (!shape_of(read_u32(bytes + (v0 ? 4 : 12)), read_u64(bytes + (v0 ? 8 : 16)), &shape))
		return "its digits or unit make no sense";
	if (base != V2 && word != 2 && word != 4 && word != 8)
		return "its word size makes no sense";
	size_t payload = count - header;
	if (!v0 && read_u32(bytes + 4) < payload)
		payload = read_u32(bytes + 4);
	return read_counts(bytes + header, payload, &shape, base == V2 ? 0 : word, ret);
}

const char *hdr_decode(const uint8_t *bytes, size_t count, struct hdr *ret)
{
	*ret = (struct hdr){.count = 0};
	if (count >= 4 && (read_u32(bytes) & ~UINT32_C(1)) == DOUBLES)
		return "it is a histogram of doubles, which is not supported";
	if (count < 8)
		return "it is cut off";
	uint32_t base = read_u32(bytes) & ~UINT32_C(0xf0);
	if (base != V0_PACKED && base != V1_PACKED && base != V2_PACKED)
		return decode_plain(bytes, count, ret);
	uint32_t packed = read_u32(bytes + 4);
	if (packed > count - 8)
		return "it is cut off";
	uLongf room = MOST_BYTES;
	if (packed < MOST_BYTES / 1100)
		room = (uLongf)packed * 1100 + 4096; /* deflate packs 1032 to 1 at most */
	AUTO_FREE uint8_t *plain = malloc(room);
	if (!plain)
		return "out of memory";
	int status = uncompress(plain, &room, bytes + 8, packed);
	if (status == Z_BUF_ERROR && room >= MOST_BYTES)
		return "it unpacks to more than 64 MiB";
	return status == Z_OK ? decode_plain(plain, room, ret) : "its compressed data is damaged or cut off";
}

/* ---- encoding ---- */

static uint64_t index_of(const struct shape *shape, int64_t value)
{
	uint64_t full = ((UINT64_C(2) << shape->half_magnitude) - 1) << shape->unit_magnitude;
	int bucket = log2_of((uint64_t)value | full) - shape->unit_magnitude - shape->half_magnitude;
	uint64_t sub = (uint64_t)value >> (bucket + shape->unit_magnitude);
	return ((uint64_t)(bucket + 1) << shape->half_magnitude) + sub - (UINT64_C(1) << shape->half_magnitude);
}

void hdr_bucket(int64_t value, struct hdr_layout layout, int64_t *ret_low, int64_t *ret_high)
{
	struct shape shape;
	*ret_low = *ret_high = value;
	if (value >= 0 && layout.unit < 32 && shape_of(layout.digits, UINT64_C(1) << layout.unit, &shape))
		(void)bounds_of(&shape, index_of(&shape, value), ret_low, ret_high);
}

static size_t write_zigzag(int64_t value, uint8_t *to)
{
	uint64_t bits = (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
	size_t used = 0;
	while (used < 8 && bits >> 7) {
		to[used++] = (uint8_t)(bits | 0x80);
		bits >>= 7;
	}
	to[used++] = (uint8_t)bits;
	return used;
}

static void write_u64(uint8_t *to, uint64_t value)
{
	for (int i = 0; i < 8; i++)
		to[i] = (uint8_t)(value >> (56 - 8 * i));
}

static void write_u32(uint8_t *to, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		to[i] = (uint8_t)(value >> (24 - 8 * i));
}

/* Counts per bucket, ascending, runs of empty ones as a negative number. `to` has room for 18 bytes a value. */
static size_t write_counts(const struct shape *shape, const struct tare_bin *values, size_t count, uint8_t *to)
{
	uint64_t next = 0;
	size_t used = 0;
	for (size_t i = 0; i < count;) {
		uint64_t at = index_of(shape, values[i].value_ns), times = 0;
		for (; i < count && index_of(shape, values[i].value_ns) == at; i++)
			times += values[i].count;
		if (at > next)
			used += write_zigzag(-(int64_t)(at - next), to + used);
		used += write_zigzag((int64_t)times, to + used);
		next = at + 1;
	}
	return used;
}

int hdr_encode(const struct tare_bin *values, size_t count, struct hdr_layout layout, uint8_t **ret_bytes,
	size_t *ret_count, struct tare_err *err)
{
	struct shape shape;
	if (count && values[0].value_ns < 0)
		return tare_fail(err, TARE_E_USAGE, "HdrHistogram holds no negative values, and there are some");
	if (count > SIZE_MAX / 64 || layout.unit > 31 ||
		!shape_of(layout.digits, UINT64_C(1) << layout.unit, &shape))
		return tare_fail(err, TARE_E_USAGE, "no histogram of %u digits and %zu values", layout.digits, count);
	size_t most = HEADER + 18 * count;
	uLong room = compressBound((uLong)most);
	AUTO_FREE uint8_t *plain = calloc(1, most);
	AUTO_FREE uint8_t *packed = malloc(room + 8);
	if (!plain || !packed)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory for a histogram");
	size_t used = write_counts(&shape, values, count, plain + HEADER);
	int64_t largest = count ? values[count - 1].value_ns : 0;
	write_u32(plain, V2 | 0x10);
	write_u32(plain + 4, (uint32_t)used);
	write_u32(plain + 12, layout.digits);
	write_u64(plain + 16, UINT64_C(1) << layout.unit);
	write_u64(plain + 24, largest > 4000 ? (uint64_t)largest : 4000);
	write_u64(plain + 32, UINT64_C(0x3ff0000000000000)); /* 1.0 */
	uLongf bytes = room;
	if (compress2(packed + 8, &bytes, plain, (uLong)(HEADER + used), 9) != Z_OK)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory for a histogram");
	write_u32(packed, V2_PACKED | 0x10);
	write_u32(packed + 4, (uint32_t)bytes);
	*ret_count = bytes + 8;
	*ret_bytes = take_ptr(packed);
	return 0;
}
