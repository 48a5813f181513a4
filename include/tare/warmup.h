/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Was the warm-up long enough? If a round's kept requests are exchangeable, its
 * slowest one lies among the first h of n with probability h / n. Seen over many
 * rounds, too many slowest ones at the start mean that the warm-up was too
 * short. With ties for the slowest (quantised values) the chance that the first
 * of them comes early is higher, and that is what is used.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tare/err.h"

/* Where the slowest of a round's kept values lie. */
struct tare_slowest {
	uint64_t n;        /* values observed */
	uint64_t position; /* of the first slowest, from 0, among the values observed */
	uint64_t ties;     /* values equal to it, itself included */
	uint64_t runner_up; /* position of the first value only the slowest exceeds or equals; n when n < 2 */
};
/* Entries equal to TARE_NO_TIME are passed over. */
TARE_API struct tare_slowest tare_slowest_of(const int64_t *values_ns, size_t count);

struct tare_warmup_check {
	uint64_t rounds;    /* with at least one value */
	uint64_t early;     /* rounds whose slowest is among the first h */
	double chance;      /* of that many or more, had the warm-up been long enough; 1 without rounds */
	bool too_short;     /* chance < 0.01 */
};
/* Exact: the sum of independent trials with each round's own chance. Fails only without memory. */
TARE_API int tare_warmup_check(const struct tare_slowest *rounds, size_t count, uint64_t h,
			       struct tare_warmup_check *ret_check, struct tare_err *err) TARE_MUST_USE;
/*
 * "the slowest of a round is among its first 10 kept requests in 5 of 70 rounds, chance 2.3e-05: the
 * warm-up is too short"; the last part only when it is.
 */
TARE_API void tare_warmup_sentence(const struct tare_warmup_check *check, uint64_t h, char *ret_text, size_t room);

/*
 * Length of the transient by the marginal standard error rule (White 1997):
 * the d <= n / 2 for which sum over i > d of (x_i - mean)^2 / (n - d)^2 is least.
 * Meant for block medians (change.h), since a single outlier late in a row of
 * raw values pulls d towards it. n = 0 gives 0. ret_score may be NULL.
 */
TARE_API size_t tare_warmup_suggest(const double *values, size_t n, double *ret_score);
