/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How much a latency varies, under the names of those who defined it. There are
 * at least five things called jitter; for one vector they read 200, 5000, 5050,
 * 5100 and 553 ns, so the word alone appears nowhere. The headline is PDV
 * (stat.h); what is here stands beside it.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "tare/err.h"
#include "tare/sample.h"
#include "tare/stat.h"

/*
 * IPDV (RFC 3393): difference of neighbouring values, not defined across one
 * that was not observed. Adds |D(i) - D(i-1)| to `counts`, of which percentiles
 * are then taken as of any values. At memory speed, about 2 ns a value.
 */
TARE_API int tare_ipdv_add(struct tare_counts *counts, const int64_t *values_ns, size_t count,
			   struct tare_err *err) TARE_MUST_USE;
/* The same for a span of a series, from request `first` on. */
TARE_API int tare_ipdv_of(struct tare_counts *counts, const struct tare_series *series, enum tare_span span, size_t first,
			  struct tare_err *err) TARE_MUST_USE;

/* Interarrival jitter of RFC 3550, 6.4.1: J += (|D| - J) / 16, from 0, over the same differences. NAN without any. */
TARE_API double tare_rfc3550_jitter(const int64_t *values_ns, size_t count);

/* p95 - p50, what owamp calls jitter. TARE_NO_TIME without a value behind p95. */
TARE_API int64_t tare_p95_less_p50(const struct tare_counts *counts);

/*
 * Mean and standard deviation (n - 1), for those who ask: both move with a
 * single stall, and a mean can lie where no request ever was. Sums are exact
 * integers. NAN where n is too small.
 */
struct tare_moments { uint64_t n; double mean_ns, deviation_ns; };
/* Over `counts` and, beside them, `extra` values (the first two of a round); TARE_NO_TIME is passed over. */
TARE_API struct tare_moments tare_moments_of(const struct tare_counts *counts, const int64_t *extra_ns,
					     size_t extra_count);
