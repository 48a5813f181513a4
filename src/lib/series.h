/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the folder's own files share about series. */
#pragma once
#include "tare/sample.h"

/* Requests handled at a time: 8 KiB of values stays in the first-level cache between computing and counting. */
enum { SERIES_BLOCK = 1024 };

/*
 * As tare_span_values, but where the source gives the span and nothing has to be
 * hidden, the source's own memory is returned instead of a copy in `scratch_ns`.
 */
const int64_t *series_block(const struct tare_series *series, enum tare_span span, size_t first, size_t count,
			    int64_t *scratch_ns);

/*
 * True when every value is observed and lies within +-2^62: differences of two
 * such blocks need no test for holes or overflow. TARE_NO_TIME is outside.
 */
static inline bool block_is_tame(const int64_t *values_ns, size_t count)
{
	uint64_t outside = 0;
	for (size_t i = 0; i < count; i++)
		outside |= (uint64_t)values_ns[i] + (UINT64_C(1) << 62);
	return !(outside >> 63);
}
