/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Limits on one round: given by the user or made from a calibration, and what a round says against them. */
#pragma once
#include <stdio.h>

#include "cli/verdict_options.h"
#include "tare/verdict.h"

enum { LIMITS_MAX = 16 };

struct limit {
	struct tare_figure figure;
	double low_ns, high_ns;   /* alarm below and above; low 0: none */
	bool calibrated;          /* else given by the user */
};

enum limit_word { LIMIT_HELD, LIMIT_NOT_PROVED, LIMIT_EXCEEDED, LIMIT_BELOW, LIMIT_UNKNOWN };

/* One limit against one round. */
struct limit_result {
	enum limit_word word;
	double value_ns;
	uint64_t n, above, allowed; /* requests sent, above the limit or unanswered, at most so many prove it */
};

/* "p99.9<20us", "pdv<5us"; several with commas. */
int limits_parse(const char *text, struct limit *ret_limits, size_t room, size_t *ret_count, struct tare_err *err) TARE_MUST_USE;
/* TARE_E_USAGE, with the count that would do, when n requests cannot prove a percentile's limit even with none above. */
int limit_check_provable(const struct limit *limit, uint64_t n, struct tare_err *err) TARE_MUST_USE;
/* prove: a percentile's limit must be proved at 95 %, not only held by the sample; a proof does not need the percentile visible. */
struct limit_result limit_check(const struct limit *limit, const struct tare_trial *trial, const struct tare_record *record,
	bool prove);
/* "p99.9 31.20 µs above its limit 22.40 µs" */
void limit_sentence(const struct limit *limit, const struct limit_result *result, char *ret_text, size_t room);
/* "p99.9=31.2us;22.4;;" */
void limit_perfdata(const struct limit *limit, const struct limit_result *result, char *ret_text, size_t room);
