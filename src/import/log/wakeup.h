/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the readers of scheduling latency share (cyclictest, oslat, rtla,
 * sysjitter): histograms with a column for every thread or CPU, and what a
 * tool's exact minimum and maximum say of bins that are wider. The quantity is
 * wakeup: no network is in it.
 */
#pragma once
#include <stdlib.h>

#include "import/pieces.h"

enum { WAKEUP_COLUMNS = 1024, WAKEUP_LINE_BYTES = 65536 };

/* Bins of a monotonic clock, schedule kept by the tool. */
extern const struct tare_origin wakeup_bins;

struct wakeup_column {
	struct piece *piece;
	bool has_min, has_max;
	uint64_t min, max; /* as printed, in `unit_ns` */
	bool has_average;
	struct number average; /* in ns */
};

struct wakeup {
	const char *tool;
	int64_t unit_ns; /* what 1 of the file's numbers is: 1000, or 1 where it counts ns */
	struct wakeup_column *column;
	size_t count;
	uint64_t last; /* largest bin that a row had */
	uint64_t step; /* greatest common divisor of all bins, at least how wide they are; 0: only bin 0 was seen */
};
static inline void wakeup_end(struct wakeup *const *wakeup) /* for AUTO_CLEANUP of a pointer */
{
	free((*wakeup)->column);
}

/* "TOOL:NAME". */
int wakeup_column(struct pieces *pieces, struct wakeup *wakeup, const char *name, size_t bytes,
	struct tare_err *err) TARE_MUST_USE;
/*
 * "000005 9249673 9452403": a bin and its count in every column. With `grow` the
 * first row makes the columns thread-0, thread-1, …
 */
int wakeup_row(struct pieces *pieces, struct wakeup *wakeup, const struct line *line, bool grow,
	struct tare_err *err) TARE_MUST_USE;
/* Counts, one a column ("-": none), of what lies beyond the largest bin. */
int wakeup_beyond(struct pieces *pieces, struct wakeup *wakeup, const struct line *line, const char *counts,
	struct tare_err *err) TARE_MUST_USE;
enum wakeup_figure { WAKEUP_MIN, WAKEUP_AVERAGE, WAKEUP_MAX };
/* The tool's own figures, one a column, any of them "-". Returns how many columns had one. */
size_t wakeup_figures(struct wakeup *wakeup, enum wakeup_figure figure, const char *text);
/*
 * At the end: bins grow to `step` units (without bound where it is 0), minimum and maximum narrow the first and
 * the last one of every column, and a figure of the tool's that the bins
 * contradict, or an average that is cut, is told.
 */
int wakeup_settle(struct pieces *pieces, struct wakeup *wakeup, struct tare_err *err) TARE_MUST_USE;
