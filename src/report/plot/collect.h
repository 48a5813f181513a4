/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A target's model while it is being made: what the parts of this folder share. */
#pragma once
#include "report/plot/plot.h"

/* Places on the percentile axis at which single rounds are remembered: 1 / (1 - p) = 10^(i / 20). */
enum { BAND_STEPS = 20 * 9 + 1, COLLECT_BLOCK = 1024 };

struct band { int64_t low_ns[BAND_STEPS], high_ns[BAND_STEPS]; uint32_t rounds[BAND_STEPS]; };


struct target_state {
	struct plot_target plot;
	int16_t cpus[PLOT_CLASSES_MAX - 1];        /* of class 0, 1, …; the last class is everything else */
	size_t cpu_count;
	struct tare_counts *leaf[PLOT_SERIES_MAX][PLOT_CLASSES_MAX];
	struct tare_counts *scratch[PLOT_CLASSES_MAX]; /* of the round at hand */
	struct tare_counts *whole;                 /* the same, CPUs aside */
	struct tare_counts *response, *response_round;
	struct band *band[PLOT_SERIES_MAX];
	struct plot_breakdown *candidates;
	size_t candidate_count, candidate_room;
	struct plot_breakdown slowest[PLOT_SLOWEST]; /* descending */
	size_t slowest_count;
	size_t mark_room, round_room;
	uint64_t firsts_shown;
};

struct plots {
	struct target_state *target[PLOT_TARGETS_MAX];
	const struct plot_target *seen[PLOT_TARGETS_MAX];
	size_t count;
	uint64_t left_out;                         /* records of targets beyond */
};

/* Where in a target the record at hand goes. */
struct placing {
	struct target_state *target;
	const struct plot_input *input;
	const struct tare_series *series;
	uint32_t round;
	size_t curve;
	bool timed;                                /* requests have times, those of `stage` */
	enum tare_stage stage;
	int64_t at_first_ns;                       /* the earliest */
	int64_t x_from, x_step;                    /* x of request i without times: x_from + i * x_step */
	int64_t heat_shift_ns;                     /* a time plus this is x of the heat map; INT64_MIN: not known */
	struct tare_cause *causes;                 /* of this target's stalls, by sequence */
	size_t cause_count;
};

/* x of request i in the time plot; where it has no time of its own, that of the place it would have. */
int64_t placing_x(const struct placing *placing, size_t i);
/* The same where its time is at hand, TARE_NO_TIME for none. */
int64_t placing_x_at(const struct placing *placing, size_t i, int64_t at_ns);
/* What was found about request i; NULL: not looked at. */
const struct tare_cause *placing_cause(const struct placing *placing, size_t i);

/* samples.c: cells, columns and marks; fills target->scratch. */
int collect_samples(const struct placing *placing, struct tare_err *err) TARE_MUST_USE;
/* curve.c: the round's quantiles and its part of the band, from target->scratch or the record's bins. */
int collect_distribution(const struct placing *placing, struct tare_err *err) TARE_MUST_USE;
/* lateness.c */
int collect_lateness(const struct placing *placing, struct tare_err *err) TARE_MUST_USE;
/* breakdown.c */
int collect_breakdowns(const struct placing *placing, struct tare_err *err) TARE_MUST_USE;

int finish_curves(struct target_state *target, struct tare_err *err) TARE_MUST_USE;
int finish_histogram(struct target_state *target, struct tare_err *err) TARE_MUST_USE;
int finish_breakdowns(struct target_state *target, struct tare_err *err) TARE_MUST_USE;

/* The value of rank ceil(num / den x n), TARE_NO_TIME when nothing lies behind it (but p100). */
int64_t counts_quantile(const struct tare_counts *counts, uint64_t num, uint64_t den);
/* Room for one more element; the array stays as it was on failure. */
int plot_grow(void **array, size_t count, size_t *room, size_t size, struct tare_err *err) TARE_MUST_USE;
