/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How many independent observations stand behind a percentile. "10 behind" that
 * came in two bursts are two observations, and a grade or an interval built on
 * ten is a lie. What is looked at is the indicator "above the limit": its
 * autocorrelation gives n_eff = n / (1 + 2 sum of rho_k), the sum cut at the
 * first rho that is not positive. Long columns are first summed into 16384
 * blocks, which counts the dependence within blocks exactly and costs one pass.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "tare/err.h"
#include "tare/stat.h"

struct tare_dependence {
	uint64_t n;                /* values observed */
	uint64_t above;            /* of them above the limit */
	uint64_t bursts;           /* runs of neighbours above it */
	double effective_n;        /* at most n; n itself where nothing or everything is above */
	double effective_above;    /* above x effective_n / n */
	enum tare_grade grade;     /* by effective_above */
};

/* For a percentile the limit is its value. TARE_NO_TIME entries are passed over. */
TARE_API int tare_dependence_of(const int64_t *values_ns, size_t count, int64_t limit_ns,
				struct tare_dependence *ret_dependence, struct tare_err *err) TARE_MUST_USE;
/* Rounds are independent of each other: everything adds, the grade is taken anew. */
TARE_API void tare_dependence_add(struct tare_dependence *into, const struct tare_dependence *from);
/* "the 10 requests above 5.23 µs came in 2 bursts: as good as 2 independent ones"; empty when independent. */
TARE_API void tare_dependence_sentence(const struct tare_dependence *dependence, int64_t limit_ns, char *ret_text,
				       size_t room);
