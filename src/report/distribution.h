/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Distributions for other programs: HdrHistogram's percentile table (.hgrm) and
 * interval log (.hlog, V2), OpenMetrics, Go's benchmark lines for benchstat,
 * hyperfine's JSON. Series are added one by one, their base span counted, then
 * everything is written at once; memory follows distinct values, not requests.
 */
#pragma once
#include <stdint.h>
#include <stdio.h>

#include "tare/run.h"
#include "tare/stat.h"

enum distribution_format { DISTRIBUTION_HGRM, DISTRIBUTION_HLOG, DISTRIBUTION_OPENMETRICS, DISTRIBUTION_BENCHSTAT, DISTRIBUTION_HYPERFINE };

struct distribution;
int distribution_open(const struct tare_rules *rules, struct distribution **ret, struct tare_err *err) TARE_MUST_USE;
void distribution_free(struct distribution *distribution); /* NULL is fine */
/* Texts are copied. */
int distribution_add(struct distribution *distribution, const struct tare_record *record,
	struct tare_err *err) TARE_MUST_USE;
/*
 * What the format cannot hold is refused: .hgrm more than one target, .hlog bins
 * that are not HdrHistogram's own.
 */
int distribution_write(const struct distribution *distribution, enum distribution_format format, FILE *out,
	struct tare_err *err) TARE_MUST_USE;
