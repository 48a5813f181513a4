/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * HdrHistogram's encodings: V0, V1 and V2, compressed with zlib or not, as
 * ranges. A bucket is what its index says, so nothing of the values is lost that
 * the histogram had kept.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "tare/origin.h"
#include "tare/stat.h"

struct hdr {
	struct tare_range *range; /* free() it */
	size_t count;
	uint64_t total;
};

/* Why it cannot be read, or NULL. A bomb of zeros is refused: at most 2^24 buckets, 64 MiB unpacked. */
const char *hdr_decode(const uint8_t *bytes, size_t count, struct hdr *ret);

/* What a histogram's buckets are made by: digits kept, and the smallest step 2^unit. */
struct hdr_layout {
	unsigned digits, unit;
};

/*
 * Values that ascend as a compressed V2 histogram, free() it; negative values
 * cannot be held. Each value loses what its bucket does not keep, 0.1 % at most
 * with three digits and unit 0.
 */
int hdr_encode(const struct tare_bin *values, size_t count, struct hdr_layout layout, uint8_t **ret_bytes,
	size_t *ret_count, struct tare_err *err) TARE_MUST_USE;
/* The bounds, both inclusive, of the bucket in which a value lies. */
void hdr_bucket(int64_t value, struct hdr_layout layout, int64_t *ret_low, int64_t *ret_high);
