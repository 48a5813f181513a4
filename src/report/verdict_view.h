/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a comparison prints: the primary verdict first, then what stands behind it, then the other figures. */
#pragma once
#include <stdint.h>
#include <stdio.h>

#include "report/report.h"
#include "tare/verdict.h"

enum { COMPARISON_NOTES_MAX = 12 };

struct comparison {
	const char *command;                 /* "compare": schema "tare.compare/1" */
	const struct tare_verdict *verdicts; /* the primary first */
	size_t count;
	const char *order;                   /* "ABBABAAB", NULL: none */
	uint64_t seed;                       /* of the order; 0: none */
	double rate;                         /* requests a second; NAN: unknown */
	int64_t stall_limit_ns;
	const struct tare_reasons *reasons;  /* why invalid; may be empty */
	const char *notes[COMPARISON_NOTES_MAX]; /* lines under the verdict, in text only */
	size_t note_count;
	int exit;
};

void comparison_note(struct comparison *comparison, const char *note);
/* Fails for columns that a comparison does not have. */
int comparison_check(const struct table_asked *asked, struct tare_err *err) TARE_MUST_USE;
/* `asked` columns make a flat table of the figures in any format; NULL: as it suits. */
int comparison_print(FILE *out, int width, const struct format *format, const struct table_asked *asked,
	const struct comparison *comparison, struct tare_err *err) TARE_MUST_USE;
