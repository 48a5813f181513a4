/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The view's inside, shared by what collects it (stat_view.c) and what lays it out as text (stat_text.c). */
#pragma once
#include "lib/stat_columns.h"
#include "report/stat_insight.h"
#include "report/stat_note.h"
#include "report/stat_view.h"

/* A sentence of a source about one series. */
struct stat_said {
	size_t note;
	bool above;
	int order;         /* among the sentences of a table */
	size_t times;      /* rounds of the file that it was said of, the first being note's */
	const char *kind;
	char *text;
};
enum { STAT_SAID_ORDERS = 10 };

struct stat_view {
	struct tare_rules rules;
	struct tare_stat *stat;
	struct stat_columns *columns;
	struct stat_note *notes; /* one per series, in the order of adding */
	size_t note_count, note_room;
	struct stat_insight **insights; /* as many as notes, which point to them */
	size_t insight_room;
	bool list_stalls;
	struct stat_said *said;
	size_t said_count, said_room;
	char **remarks;
	size_t remark_count, remark_room;
};

/* Room for one more in an array; the array stays as it was on failure. */
int stat_grow(void **array, size_t count, size_t *room, size_t size, struct tare_err *err);
bool stat_same_text(const char *one, const char *other); /* NULL equals NULL */

/* One sentence on rounds that came from several source ports; p50_ns is that of each row. */
void stat_ports(FILE *out, int width, const struct tare_row *const *rows, size_t count, const int64_t *p50_ns);

/* "\"notes\":[…]": all sentences that are no figures, as JSON; free() it. NULL without memory. */
char *stat_said_json(const struct stat_view *view);

/* Rows of tare_stat_rows as blocks with sentences. */
int stat_text_print(FILE *out, const struct stat_layout *layout, const struct stat_view *view, const struct tare_row *rows, size_t count,
	struct tare_err *err) TARE_MUST_USE;
