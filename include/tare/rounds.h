/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What only shows across rounds: where stalls happened and where not, whether
 * the first requests are the slowest, and how far rounds under the same setting
 * differ (repeatability, ISO 5725-2). The round is the unit: a figure here is
 * one number per round, never pooled requests.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tare/err.h"
#include "tare/run.h"
#include "tare/sample.h"
#include "tare/stat.h"
#include "tare/warmup.h"

enum { TARE_ROUND_CPUS_MAX = 8 };

/* CPUs on which at least 1 % of a round's answers were handled, most frequent first. */
struct tare_cpu_set {
	int16_t cpu[TARE_ROUND_CPUS_MAX];
	size_t count;
};
TARE_API struct tare_cpu_set tare_cpu_set_of(const struct tare_series *series, enum tare_cpu_place place);
/* "19", "19 or 25", "19, 25 or 3"; "unknown" for an empty set. */
TARE_API void tare_cpu_set_text(const struct tare_cpu_set *set, char *ret_text, size_t room);

/* One target in one round, as far as rounds are compared. Strings are the record's. */
struct tare_round_facts {
	const char *file, *label, *target, *kind;
	int64_t run;
	uint32_t round;
	int64_t started_real_ns;   /* run's wall-clock epoch plus start of the round: for order and drift, not durations */
	struct tare_cpu_set peer;  /* CPUs that handled the requests at the peer */
	uint64_t n, stalls;        /* after the warm-up, of the span asked for */
	int64_t median_ns, p99_ns, p999_ns, max_ns; /* TARE_NO_TIME where the grade is none */
	struct tare_slowest slowest;  /* after the warm-up */
	bool first_slowest;        /* over all requests, warm-up included: none is slower than request 0 */
	bool first_two_in_ten;     /* and requests 0 and 1 are both among the ten slowest */
	bool first_known;          /* requests 0 and 1 were observed, among at least 20 */
};

/* Stalls are values above `limit_ns` (TARE_NO_TIME: none). `first` requests are warm-up. */
TARE_API int tare_round_facts_of(const struct tare_record *record, const char *file, enum tare_span span, size_t first,
				 int64_t limit_ns, struct tare_round_facts *ret_facts,
				 struct tare_err *err) TARE_MUST_USE;

/* ---- repeatability of a round statistic ---- */

struct tare_repeatability {
	uint64_t pairs;         /* differences used */
	double plain;           /* standard deviation about the mean of each group, pooled */
	double successive;      /* sqrt(sum of squared neighbouring differences / 2 pairs): drift does not raise it */
	double largest;         /* largest difference between neighbouring rounds of the same setting */
};
/* One group of rounds under one setting, in the order of time. Fewer than two values give NAN. */
TARE_API struct tare_repeatability tare_repeatability_of(const double *values, size_t count);
/* Pools another group; plain needs each group's degrees of freedom, which are `pairs`. */
TARE_API void tare_repeatability_add(struct tare_repeatability *into, const struct tare_repeatability *from);
/*
 * The difference between two single rounds that identical settings exceed with
 * probability 1 - level: t x sqrt 2 x s_r, with Student's t for `freedom` degrees
 * (0: the normal quantile, ISO 5725-6).
 */
TARE_API double tare_repeatability_limit(double s_r, double freedom, double level);

/* ---- sentences below the rows ---- */

struct tare_across {
	uint64_t rounds;
	uint64_t stalled_rounds;
	struct tare_cpu_set stalled_peer;  /* CPUs of the peer in these rounds; count 0 when any is unknown or too many */
	uint64_t elsewhere_rounds;         /* rounds with the peer on none of these CPUs */
	uint64_t first_known, first_slowest, first_two_in_ten;
	struct tare_repeatability median;  /* of p50 in ns, within same file, target and label */
};
TARE_API int tare_across_of(const struct tare_round_facts *facts, size_t count, struct tare_across *ret_across,
			    struct tare_err *err) TARE_MUST_USE;

enum tare_across_sentence { TARE_ACROSS_STALLS, TARE_ACROSS_FIRST, TARE_ACROSS_FIRST_TWO, TARE_ACROSS_REPEAT, TARE_ACROSS_COUNT };
/*
 * "stalls in 9 of 70 rounds, all with the responder on CPU 19 or 25 (none in the 30 rounds elsewhere)";
 * "the slowest request is the first in 57 of 70 rounds"; "the first two are both among the ten slowest in 61
 * of 70 rounds"; "s_r of p50 30 ns, largest retest difference 90 ns". Empty where there is nothing to say.
 */
TARE_API void tare_across_sentence(const struct tare_across *across, enum tare_across_sentence which, char *ret_text,
				   size_t room);
