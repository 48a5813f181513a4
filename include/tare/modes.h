/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Modes: two populations are two populations. A label that explains the split
 * (the CPU that answered) is looked for first; without one the shape of the
 * distribution decides.
 *
 * By shape, density is that of the nearest max(100, n / 200) values, so that a
 * fluctuation to one half is 5 of its standard deviations whatever the scale.
 * A split needs: a valley at most half as dense as the lower of its two peaks;
 * at least 1 % and 30 values on each side; medians apart by 1 % of the overall
 * one and by 5 steps of quantised values; and Ashman's D = sqrt 2 |m1 - m2| /
 * sqrt(s1^2 + s2^2) >= 2 with s = interquartile range / 1.349. Fewer than 300
 * values are never split. Overlapping modes (D below about 3 at equal shares)
 * are missed rather than guessed.
 *
 * By label, values of labels with at least 1 % and 30 values are grouped:
 * labels whose medians differ by D < 1 (D < 2 with fewer than 100 values), by
 * less than 1 % or by less than 2 steps belong to one mode.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tare/err.h"
#include "tare/sample.h"
#include "tare/stat.h"

enum { TARE_MODES_MAX = 8, TARE_MODE_LABELS_MAX = 64 };

/* A label per value: a CPU, a queue, the position of a target. Negative: not known. */
struct tare_labels {
	const char *name;      /* "peer CPU", borrowed */
	const int16_t *of;     /* as many as there are values; NULL: skipped */
};

struct tare_mode {
	int64_t from_ns;       /* by shape: its first and last value; by label: smallest and largest of its labels */
	int64_t to_ns;
	uint64_t n;
	double share;          /* of all values */
	int64_t median_ns;
	struct tare_ranked p99;
	int64_t pdv_ns;        /* p99.9 - min within the mode; TARE_NO_TIME where nothing is behind p99.9 */
	int16_t label[TARE_MODE_LABELS_MAX];
	size_t labels;         /* by label: those it consists of; by shape: 0 */
};

enum tare_modes_by {
	TARE_MODES_NONE,  /* one population, or too little data to tell */
	TARE_MODES_LABEL, /* the label tells the modes apart */
	TARE_MODES_SHAPE, /* modes without a known cause */
};

/* How modes follow each other in time. */
enum tare_mode_order {
	TARE_ORDER_INTERLEAVED, /* as mixed as by chance: two queues, two paths */
	TARE_ORDER_SWITCHED,    /* one mode before, another after, 95 % of the values agree: something moved */
	TARE_ORDER_STRETCHES,   /* far fewer changes than by chance: moved to and fro */
};

struct tare_modes {
	enum tare_modes_by by;
	const char *label_name;     /* the label that tells most, NULL without one */
	double association;         /* Cramer's V of shape and label (phi for 2 x 2); NAN without both */
	size_t count;
	struct tare_mode mode[TARE_MODES_MAX]; /* in ascending order of median; count 0 when by none */
	double mean_ns;
	int64_t median_ns;
	size_t median_in;           /* mode of the overall median; count when in none */
	size_t gap_below;           /* the mean lies in the gap above this mode (p95) and below the next (p5); else count */
	enum tare_mode_order order;
	size_t switched_at;         /* first index of the later mode, when switched */
	uint64_t runs;
	double runs_expected, runs_z; /* Wald and Wolfowitz */
};

/*
 * Modes of a column in the order of time, with up to `label_columns` labels beside it, likelier causes
 * first. TARE_NO_TIME entries are passed over; `resolution_ns` is the known step of the values, 1 without.
 */
TARE_API int tare_modes_of(const int64_t *values_ns, size_t count, const struct tare_labels *labels,
			   size_t label_columns, int64_t resolution_ns, struct tare_modes *ret_modes,
			   struct tare_err *err) TARE_MUST_USE;
/* Of a span from request `first` on, with its CPU columns as labels: peer, receive, send. Indices are those of the series. */
TARE_API int tare_modes_of_series(const struct tare_series *series, enum tare_span span, size_t first,
				  int64_t resolution_ns, struct tare_modes *ret_modes,
				  struct tare_err *err) TARE_MUST_USE;

/*
 * One sentence; empty without modes: "mean 4.38 µs lies in the gap between two modes, 3.9 µs (peer CPU 25,
 * 40 %) and 4.7 µs (peer CPU 19, 60 %); switched once, at request 6012; median 4.58 µs is of the second alone".
 */
TARE_API void tare_modes_sentence(const struct tare_modes *modes, char *ret_text, size_t room);

/* ---- pieces ---- */

/* Cramer's V of a table of counts, rows x columns, row by row; NAN unless at least two rows and columns hold something. */
TARE_API double tare_association(const uint64_t *table, size_t rows, size_t columns);
/* Expected number of runs in a random order of groups of these sizes, and the deviation of `runs` from it. */
TARE_API void tare_runs_test(uint64_t runs, const uint64_t *sizes, size_t count, double *ret_expected, double *ret_z);
/* sqrt 2 |m1 - m2| / sqrt(s1^2 + s2^2); infinite for two different points. */
TARE_API double tare_ashman_d(double m1, double s1, double m2, double s2);
/* That one of `changes` label changes falls within +-window of a given moment in `session` by chance. */
TARE_API double tare_coincidence_chance(uint64_t changes, double window, double session);
/*
 * A difference of means between A and B taken apart: what moved between the modes (share of the slow one
 * times the gap in A) and what changed within them.
 */
struct tare_parted { double total, by_share, within; };
TARE_API struct tare_parted tare_part_difference(double slow_share_a, double slow_share_b, double gap_a, double mean_a,
						  double mean_b);
