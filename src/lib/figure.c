/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Figures by name, and the value of one in a trial. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "tare/verdict.h"

/* Fewer values behind a percentile than this, and it is not compared. */
enum { BEHIND_LEAST = 10 };

static const struct { const char *word; enum tare_figure_kind kind; } words[] = {
	{"min", TARE_FIGURE_MIN},
	{"max", TARE_FIGURE_MAX},
	{"pdv", TARE_FIGURE_PDV},
	{"first", TARE_FIGURE_FIRST},
	{"second", TARE_FIGURE_SECOND},
	{"stalls", TARE_FIGURE_STALLS},
	{"loss", TARE_FIGURE_LOSS},
};
enum { WORDS = sizeof words / sizeof *words };

static int parse_span(const char *text, size_t bytes, enum tare_span *ret_span, struct tare_err *err)
{
	char name[24];
	if (bytes >= sizeof name)
		return tare_fail(err, TARE_E_USAGE, "'%.40s' has no span that is known", text);
	memcpy(name, text, bytes);
	name[bytes] = '\0';
	if (!tare_span_by_name(name, ret_span))
		return tare_fail(err, TARE_E_USAGE, "unknown span '%s' in '%.40s'", name, text);
	return 0;
}

int tare_figure_parse(const char *text, struct tare_figure *ret_figure, struct tare_err *err)
{
	struct tare_figure figure = {.kind = TARE_FIGURE_PERCENTILE, .span = TARE_SPAN_RTT};
	const char *colon = strchr(text, ':'), *word = colon ? colon + 1 : text;
	if (colon && parse_span(text, (size_t)(colon - text), &figure.span, err) < 0)
		return -1;
	int known = 0;
	while (known < WORDS && strcmp(words[known].word, word) != 0)
		known++;
	if (known < WORDS)
		figure.kind = words[known].kind;
	else if (word[0] != 'p' || tare_percentile_parse(word + 1, &figure.percentile, NULL) < 0)
		return tare_fail(err, TARE_E_USAGE,
			"'%.40s' is no figure; there are p50, p99, p99.9 and other percentiles, min, max, pdv, first, "
			"second, stalls, loss, each with SPAN: in front",
			text);
	const char *span = figure.span == TARE_SPAN_RTT ? "" : tare_span_name(figure.span);
	snprintf(figure.name, sizeof figure.name, "%s%s%s%.15s", span, *span ? ":" : "", known < WORDS ? "" : "p",
		known < WORDS ? word : figure.percentile.text);
	*ret_figure = figure;
	return 0;
}

bool tare_figure_is_count(const struct tare_figure *figure)
{
	return figure->kind == TARE_FIGURE_STALLS || figure->kind == TARE_FIGURE_LOSS;
}

const struct tare_row *tare_trial_row(const struct tare_trial *trial, enum tare_span span)
{
	for (size_t i = 0; i < trial->row_count; i++)
		if (trial->rows[i].span == span)
			return &trial->rows[i];
	return NULL;
}

static double ns_or_nan(int64_t ns)
{
	return ns == TARE_NO_TIME ? NAN : (double)ns;
}

double tare_trial_figure(const struct tare_trial *trial, const struct tare_figure *figure)
{
	const struct tare_row *row = tare_trial_row(trial, figure->span);
	struct tare_percentile p999;
	if (!row)
		return NAN;
	switch (figure->kind) {
	case TARE_FIGURE_PERCENTILE:
		break;
	case TARE_FIGURE_MIN:
		return row->n ? ns_or_nan(row->min_ns) : NAN;
	case TARE_FIGURE_MAX:
		return row->n ? ns_or_nan(row->max_ns) : NAN;
	case TARE_FIGURE_PDV:
		if (tare_percentile_parse("99.9", &p999, NULL) < 0 || row->n - tare_rank(&p999, row->n) < BEHIND_LEAST)
			return NAN;
		return ns_or_nan(row->pdv_ns);
	case TARE_FIGURE_FIRST:
		return ns_or_nan(row->first_ns);
	case TARE_FIGURE_SECOND:
		return ns_or_nan(row->second_ns);
	case TARE_FIGURE_STALLS:
		return row->stall_limit_ns == TARE_NO_TIME ? NAN : (double)trial->stalls[row - trial->rows].episodes;
	case TARE_FIGURE_LOSS:
		return tare_row_losses_known(row) ? (double)row->unanswered : NAN;
	}
	if (row->n - tare_rank(&figure->percentile, row->n) < BEHIND_LEAST)
		return NAN;
	/* the percentile is among the rules': trials_open saw to it */
	for (size_t i = 0; i < TARE_PERCENTILES_MAX; i++)
		if (row->ranked[i].rank == tare_rank(&figure->percentile, row->n) && row->ranked[i].rank)
			return row->ranked[i].lost ? NAN : ns_or_nan(row->ranked[i].value_ns);
	return NAN;
}
