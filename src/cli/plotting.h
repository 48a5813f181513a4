/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What `tare plot` and `tare stat --plot` share: records into plots, plots onto the terminal. */
#pragma once
#include "cli/cli.h"
#include "report/plot/plot.h"
#include "report/stat_view.h"
#include "report/terminal/terminal.h"

enum plot_style { PLOT_STYLE_AUTO, PLOT_STYLE_BRAILLE, PLOT_STYLE_BLOCK, PLOT_STYLE_ASCII };
extern const struct option_choice plot_style_choices[];

/* Row of an option table whose configuration has an `int style`. */
#define PLOT_STYLE_OPTION(config)                                                                                      \
	{"style", 0, OPTION_CHOICE, "STYLE", "auto", "characters of a plot", OPTION_AT(config, style), 0, 0, plot_style_choices}

/* The terminal that the output goes to, or 80 columns where it is none. */
struct terminal plotting_terminal(const struct cli *cli, enum plot_style style);
/* auto: braille, or ASCII where the locale is not UTF-8 or the terminal is dumb. */
enum terminal_style plotting_style(enum plot_style style);

/* A record that the view took last, with what was found about its round. */
struct plotting_input {
	const char *file;
	bool many_files;
	const struct tare_record *record;
	int64_t warmup; /* -1: that of the round */
	const struct tare_cause *causes;
	size_t cause_count;
};
int plotting_add(struct plots *plots, const struct stat_view *view, const struct plotting_input *input,
	struct tare_err *err) TARE_MUST_USE;
/* kinds: 1 << enum terminal_plot; finishes the plots. */
int plotting_draw(
	struct cli *cli, struct plots *plots, unsigned kinds, enum plot_style style, struct tare_err *err) TARE_MUST_USE;
