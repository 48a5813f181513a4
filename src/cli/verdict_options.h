/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Options that abba, compare, calibrate and verify share, and what they mean. */
#pragma once
#include "base/option.h"
#include "tare/verdict.h"

enum { FIGURES_MAX = 12 };

struct verdict_options {
	const char *primary, *also, *margin, *calibration;
	int64_t stall_limit_ns;
	double stall_ratio;
	bool json, csv, null;
};

/* Rows of an option table whose configuration has a `struct verdict_options verdict`. */
#define VERDICT_AT(config, member) OPTION_AT(config, verdict.member)
#define VERDICT_OPTIONS(config)                                                                                        \
	{"primary", 0, OPTION_TEXT, "FIGURE", "p99", "[SPAN:]FIGURE that decides: p50, p99.9, pdv, max, stalls, loss, first",   \
		VERDICT_AT(config, primary), 0, 0, NULL},                                                              \
	{"also", 0, OPTION_TEXT, "FIGURE,...", "p50,p99,p99.9,pdv,stalls,loss", "figures told beside it",              \
		VERDICT_AT(config, also), 0, 0, NULL},                                                                 \
	{"margin", 0, OPTION_TEXT, "SIZE", NULL, "effects below this do not matter: 2% or 100ns",                      \
		VERDICT_AT(config, margin), 0, 0, NULL},                                                               \
	{"calibration", 0, OPTION_TEXT, "FILE", NULL, "recording of identical rounds, as tare calibrate makes",        \
		VERDICT_AT(config, calibration), 0, 0, NULL},                                                          \
	{"stall-limit", 0, OPTION_DURATION, "TIME", NULL, "a stall is above this; else by --stall-ratio",              \
		VERDICT_AT(config, stall_limit_ns), 1, 9e18, NULL},                                                    \
	{"stall-ratio", 0, OPTION_NUMBER, "X", "10", "a stall is above X times the median of the first round",         \
		VERDICT_AT(config, stall_ratio), 1, 1e9, NULL},                                                        \
	{"null", 0, OPTION_FLAG, NULL, NULL, "both arms are the same setting; a tally of the verdicts is kept",        \
		VERDICT_AT(config, null), 0, 0, NULL},                                                                 \
	{"json", 0, OPTION_FLAG, NULL, NULL, "print as JSON", VERDICT_AT(config, json), 0, 0, NULL},                    \
	{"csv", 0, OPTION_FLAG, NULL, NULL, "print as CSV", VERDICT_AT(config, csv), 0, 0, NULL}

/* The question that was asked. */
struct question {
	struct tare_figure figures[FIGURES_MAX]; /* the primary first, none twice */
	size_t count;
	double margin_share;
	int64_t margin_ns;
	struct tare_rules rules;
};
int question_of(const struct verdict_options *options, struct question *ret_question, struct tare_err *err) TARE_MUST_USE;
/* "2%", "0.5 %" or a duration. */
int margin_parse(const char *text, double *ret_share, int64_t *ret_ns, struct tare_err *err) TARE_MUST_USE;
