/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Figures that a tool printed of its own, held against what its rows give here: one sentence where they differ, none
 * where they agree. Ranks are those of all rows, warm-up included, since that is what the tool counted.
 */
#pragma once
#include <stdlib.h>

#include "import/number.h"
#include "import/pieces.h"

/* Known values of a column, sorted. */
struct ranked {
	int64_t *sorted_ns;
	size_t count;
};
int ranked_open(const int64_t *values_ns, size_t count, struct ranked *ret_ranked, struct tare_err *err) TARE_MUST_USE;
static inline void ranked_end(const struct ranked *ranked) /* for AUTO_CLEANUP */
{
	free(ranked->sorted_ns);
}
/* The value at a rank from 1, held within what there is; TARE_NO_TIME without values. */
int64_t ranked_at(const struct ranked *ranked, uint64_t rank);
/* ceil(share x n), the share in millionths: rank 1 at least. */
int64_t ranked_nearest(const struct ranked *ranked, uint64_t share_ppm);
int64_t ranked_mean(const struct ranked *ranked); /* rounded to the nearest ns */

struct printed {
	const char *name;   /* "p99", "median", "avg" */
	int64_t printed_ns; /* TARE_NO_TIME: not printed, so not compared */
	int64_t ours_ns;
	int64_t near_ns;    /* what the printed digits leave open: differences up to this are none */
};
enum { PRINTED_TOLD = 3 };
/*
 * "ping prints avg 0.352 ms (tare: 0.353): REASON". At most PRINTED_TOLD figures are named, the rest counted. `verb`:
 * "prints", "would print". `unit` is the tool's, UNIT_….
 */
int printed_note(struct import *import, const char *tool, const char *verb, int unit, const struct printed *list,
	size_t count, const char *reason, struct tare_err *err) TARE_MUST_USE;
/* True where at least one of them would be told. */
bool printed_differ(const struct printed *list, size_t count);
