/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Samples of one service (or of one pair of taps) collected as columns: 19 bytes a
 * sample. Up to a million samples lie in memory; what is more goes into a nameless
 * file in $TMPDIR or /var/tmp, mapped, of which only what is looked at need be
 * resident. So an import's own memory does not grow with the capture.
 */
#pragma once
#include "import/capture/match.h"
#include "tare/run.h"

enum { SERIES_COLUMNS = 4, SERIES_LOST_KEPT = 8 };

struct series_column {
	void *at;
	size_t mapped_bytes; /* 0: plain memory */
	int fd;              /* valid where mapped */
};

struct series {
	struct series_column column[SERIES_COLUMNS]; /* begin, end, fate, flags */
	size_t count, room;
	size_t settled;                        /* samples whose pages were given back */
	uint64_t lost_first[SERIES_LOST_KEPT]; /* frame numbers of the first requests that stayed without reply */
	uint64_t lost;
};

void series_end(struct series *series);
/* Takes what the matcher has finished. Times are relative to `base`. */
int series_take(
	struct series *series, struct match *match, struct capture_time base, struct tare_err *err) TARE_MUST_USE;

static inline const int64_t *series_from_ns(const struct series *series)
{
	return series->column[0].at;
}
static inline const int64_t *series_to_ns(const struct series *series)
{
	return series->column[1].at;
}
static inline const uint8_t *series_fate(const struct series *series)
{
	return series->column[2].at;
}
static inline const uint16_t *series_flags(const struct series *series)
{
	return series->column[3].at;
}
