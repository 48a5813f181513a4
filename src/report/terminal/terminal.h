/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The plots of report/plot as characters of a terminal: only drawn here, nothing is
 * counted anew. Whatever must not vanish has a row of its own under the picture,
 * where a column shows how many it stands for, and a sentence with the exact figure.
 */
#pragma once
#include "report/plot/plot.h"
#include "report/terminal/canvas.h"

enum { TERMINAL_WIDTH_LEAST = 40, TERMINAL_WIDTH_MOST = 400, TERMINAL_LINES = 14 };

struct terminal {
	int width; /* columns; brought into the limits above */
	enum terminal_style style;
	bool colour;
	int lines; /* of a picture; 0: TERMINAL_LINES */
};

/* X(id, word, what is seen) */
#define TERMINAL_PLOTS(X)                                                                                              \
	X(TIME, "time", "every request over time, with stalls and losses")                                             \
	X(CDF, "cdf", "percentile curve up to the maximum")                                                            \
	X(HIST, "hist", "how often which value, by CPU or label")                                                      \
	X(ROUNDS, "rounds", "rounds in order: middle, spread, stalls")
enum terminal_plot {
#define X(id, word, what) TERMINAL_PLOT_##id,
	TERMINAL_PLOTS(X)
#undef X
	TERMINAL_PLOT_COUNT
};

int terminal_draw(FILE *out, const struct terminal *terminal, enum terminal_plot kind, const struct plot_target *target,
	struct tare_err *err) TARE_MUST_USE;
