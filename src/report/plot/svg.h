/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Plots as static SVG: no script, no font, no reference to anything outside, and
 * the same bytes for the same model. Colours are classes, so that a page may set
 * them for light, dark and print; a picture that stands alone brings its own.
 */
#pragma once
#include <stdbool.h>
#include <stdio.h>

#include "report/plot/plot.h"
#include "tare/verdict.h"

/* X(id, name, title, explanation): in the order in which a report shows them. */
#define PLOT_KINDS(X)                                                                                                  \
	X(TIME, "time", "Every request over time",                                                                     \
		"Shades count ordinary requests, each stall and each loss has its own mark; pauses between rounds are left out.") \
	X(CURVE, "cdf", "How slow the slowest are",                                                                    \
		"Percentiles on the axis 1/(1-p): solid while ten or more lie behind, dashed to the maximum; the band is that of single rounds.") \
	X(HISTOGRAM, "hist", "Distribution",                                                                           \
		"From the 0.1th percentile to the 99.5th; what lies outside is counted below.")                         \
	X(LATENESS, "late", "Our own lateness against the round trip",                                                 \
		"To the right: we left late. Up: the answer was slow. A stopwatch started at the send sees only the latter.") \
	X(PARTS, "parts", "Where the time went",                                                                       \
		"Single requests, taken apart by their stamps; the parts add up to the response.")                     \
	X(ROUNDS, "rounds", "Rounds in order", "Each round's figures, in the order measured.")                         \
	X(RATE, "rate", "By rate", "The same figures at every rate that was measured.")                                \
	X(SMOKE, "smoke", "Spread of every round",                                                                     \
		"Bands hold 98, 90, 80 and 50 % of a round's requests about its median.")                              \
	X(HEAT, "heat", "By the clock", "Shades count requests by wall clock; an empty column is time not measured.")

enum plot_kind {
#define X(id, name, title, explanation) PLOT_KIND_##id,
	PLOT_KINDS(X)
#undef X
	PLOT_KIND_COUNT
};
const char *plot_kind_name(enum plot_kind kind);
const char *plot_kind_title(enum plot_kind kind);
const char *plot_kind_explanation(enum plot_kind kind);

/* NULL when the target has something to show; otherwise why not, as "there is one round only". */
const char *plot_kind_missing(const struct plot_target *target, enum plot_kind kind);

struct plot_svg_rules {
	const char *id;                     /* unique on its page, letters and digits; NULL: stands alone, with its colours */
	const struct tare_verdict *verdict; /* for the plot of rounds; NULL: none */
};
/* Only where plot_kind_missing() is NULL. Write errors stay in `out`; fails without memory. */
int plot_svg(FILE *out, const struct plot_target *target, enum plot_kind kind, const struct plot_svg_rules *rules,
	struct tare_err *err) TARE_MUST_USE;
/* What the plot shows as an HTML table: its text form. */
void plot_html_table(FILE *out, const struct plot_target *target, enum plot_kind kind);
/* The rules of style that plots need, to be put into a page's own. */
extern const char plot_style[];
