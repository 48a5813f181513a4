/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the plots of this folder share; nobody else includes it. */
#pragma once
#include "report/terminal/axis.h"
#include "report/terminal/terminal.h"

/* Columns left of a picture: a label of 8, a blank, the axis. */
enum { MARGIN = 10 };

/* "%8s |" with the axis of the style; label "" and tick: whether a tick is drawn. */
void put_margin(FILE *out, const struct terminal *terminal, const char *label, bool tick);
/* The picture with its axis of durations: the exact ends and round values between them. */
void put_picture(FILE *out, const struct terminal *terminal, const struct canvas *canvas, const struct log_axis *axis);
/* The line under a picture, with ticks in these columns (rising), and their labels centred under it. */
struct column_tick {
	size_t column;
	char label[24];
};
void put_base(FILE *out, const struct terminal *terminal, size_t columns, const struct column_tick *ticks, size_t count);
/* A row of counts, "none" where all are 0: ' ' for none, `one` for one, 2 to 9, '#' for more; shown as "label  ..." */
void put_counts(FILE *out, const struct terminal *terminal, const char *label, const uint64_t *counts, size_t columns,
	char one, enum ink ink);

int draw_time(FILE *out, const struct terminal *terminal, const struct plot_target *target, struct tare_err *err);
int draw_cdf(FILE *out, const struct terminal *terminal, const struct plot_target *target, struct tare_err *err);
int draw_hist(FILE *out, const struct terminal *terminal, const struct plot_target *target, struct tare_err *err);
int draw_rounds(FILE *out, const struct terminal *terminal, const struct plot_target *target, struct tare_err *err);
