/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Times of one stage in 0, 1, 2, 4 or 8 bytes each: slices of equal length, each
 * with the narrowest width that holds all distances of its times from a line
 * that rises by `step_ns` a request. Nothing is rounded: where the distances do
 * not fit 32 bits the slice holds the times themselves.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "tare/err.h"
#include "tare/sample.h"

/* A stored 0 is "not observed" where width is 1, 2 or 4; else time = base + step x place in the slice + stored. */
struct packed_slice {
	uint64_t base;
	uint8_t width; /* 8: times as they are; 0: `empty`, or all on the line */
	bool empty;
	void *stored; /* owned */
};

struct tare_packed {
	size_t slice_samples; /* of every slice but the last, which may be shorter */
	uint64_t step_ns;
	struct packed_slice *slice;
	size_t count, room;
};

static inline int64_t packed_at(const struct tare_packed *packed, size_t i)
{
	const struct packed_slice *slice = &packed->slice[i / packed->slice_samples];
	size_t at = i % packed->slice_samples;
	uint64_t stored = 1;
	switch (slice->width) {
	case 0:
		stored = !slice->empty;
		break;
	case 1:
		stored = ((const uint8_t *)slice->stored)[at];
		break;
	case 2:
		stored = ((const uint16_t *)slice->stored)[at];
		break;
	case 4:
		stored = ((const uint32_t *)slice->stored)[at];
		break;
	default:
		return ((const int64_t *)slice->stored)[at];
	}
	return stored ? (int64_t)(slice->base + at * packed->step_ns + stored) : TARE_NO_TIME;
}

/* The stage was observed in this series, in whatever form it is held. */
static inline bool series_has(const struct tare_series *series, enum tare_stage stage)
{
	return series->at_ns[stage] || series->packed[stage];
}

static inline int64_t series_stage_at(const struct tare_series *series, enum tare_stage stage, size_t i)
{
	if (series->at_ns[stage])
		return series->at_ns[stage][i];
	return series->packed[stage] ? packed_at(series->packed[stage], i) : TARE_NO_TIME;
}

/* Adds a slice of n times, at most slice_samples. On failure the slices are as before. */
int packed_add(struct tare_packed *packed, const int64_t *times_ns, size_t n, struct tare_err *err) TARE_MUST_USE;
/* Forgets the slices and sets what the next ones are made with. */
void packed_restart(struct tare_packed *packed, size_t slice_samples, int64_t step_ns);
void packed_end(struct tare_packed *packed);
void packed_values(const struct tare_packed *packed, size_t first, size_t count, int64_t *ret_times_ns);
