/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rounds in the order they were measured, a line each: half of the requests in the
 * thick part, nine tenths in the whole of it, the median as a point. What lies
 * beyond is in the figures behind: p99, stalls, losses.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "report/report.h"
#include "report/terminal/private.h"
#include "report/utf8.h"

enum { NUMBER = 6, LABEL_MOST = 12, FIGURE = 10, TAIL = 28 };

/* Linear, or logarithmic where one round is ten times another. */
struct scale_across {
	bool log;
	int64_t low_ns, high_ns;
	size_t places;
};

static size_t place_of(const struct scale_across *across, int64_t ns)
{
	if (across->log) {
		struct log_axis axis = {across->low_ns, across->high_ns, across->places};
		return log_axis_dot(&axis, ns);
	}
	if (ns <= across->low_ns)
		return 0;
	if (ns >= across->high_ns)
		return across->places - 1;
	return (size_t)((double)(ns - across->low_ns) / (double)(across->high_ns - across->low_ns) * (double)(across->places - 1) + 0.5);
}

static int64_t either(int64_t ns, int64_t other_ns)
{
	return ns != TARE_NO_TIME ? ns : other_ns;
}

static struct scale_across across_of(const struct plot_target *target, size_t places)
{
	struct scale_across across = {.low_ns = INT64_MAX, .high_ns = 1, .places = places};
	for (size_t i = 0; i < target->round_count; i++) {
		const struct plot_round *round = &target->rounds[i];
		if (!round->n)
			continue;
		int64_t low_ns = either(round->quantile_ns[PLOT_P5], round->min_ns);
		int64_t high_ns = either(round->quantile_ns[PLOT_P95], round->max_ns);
		across.low_ns = low_ns < across.low_ns ? low_ns : across.low_ns;
		across.high_ns = high_ns > across.high_ns ? high_ns : across.high_ns;
	}
	if (across.low_ns == INT64_MAX)
		across.low_ns = 0;
	/* a picture of rounds that hardly differ must not make a spread out of the last digit */
	int64_t least = across.low_ns / 20 > 1 ? across.low_ns / 20 : 1;
	if (across.high_ns - across.low_ns < least)
		across.high_ns = across.low_ns + least;
	across.log = across.low_ns > 0 && across.high_ns / 10 > across.low_ns;
	return across;
}

static void put_across(FILE *out, const struct terminal *terminal, const struct scale_across *across, const struct plot_round *round)
{
	bool ascii = terminal->style == TERMINAL_ASCII;
	const char *thin = ascii ? "-" : "─", *thick = ascii ? "=" : "━", *middle = ascii ? "O" : "●";
	size_t low = place_of(across, either(round->quantile_ns[PLOT_P5], round->min_ns));
	size_t high = place_of(across, either(round->quantile_ns[PLOT_P95], round->max_ns));
	size_t inner = place_of(across, either(round->quantile_ns[PLOT_P25], round->min_ns));
	size_t outer = place_of(across, either(round->quantile_ns[PLOT_P75], round->max_ns));
	size_t median = place_of(across, either(round->quantile_ns[PLOT_P50], round->max_ns));
	for (size_t i = 0; i < across->places; i++) {
		bool b = round->arm == 'B';
		ink_set(out, terminal->colour && b, INK_SECOND);
		fputs(!round->n || i < low || i > high ? " " : i == median ? middle : i >= inner && i <= outer ? thick : thin, out);
		ink_set(out, terminal->colour && b, INK_PLAIN);
	}
}

/* At most `wide` columns of a name that others wrote; "~" where it goes on. */
static void put_name(FILE *out, const char *name, int wide)
{
	AUTO_FREE char *safe = utf8_safe(name ? name : "", "");
	int used = 0;
	bool goes_on = safe && utf8_columns(safe) > wide;
	wide -= goes_on;
	for (const char *at = safe ? safe : ""; *at;) {
		uint32_t code;
		size_t bytes = utf8_next(at, strlen(at), &code);
		int columns = utf8_width(code);
		if (used + columns > wide)
			break;
		fwrite(at, 1, bytes, out);
		used += columns;
		at += bytes;
	}
	fprintf(out, "%*s%s", wide - used, "", goes_on ? "~" : "");
}

static void put_figure(FILE *out, int64_t ns, const struct scale *scale)
{
	char text[48] = "-";
	if (ns != TARE_NO_TIME)
		scale_format(scale, ns, 1, text, sizeof(text));
	fprintf(out, "%*s", FIGURE, text);
}

static void put_round(FILE *out, const struct terminal *terminal, const struct scale_across *across, int label_wide,
	const struct plot_round *round, const struct scale *scale)
{
	fprintf(out, "%*" PRIu32 " ", NUMBER - 1, round->number);
	if (label_wide)
		put_name(out, round->label, label_wide);
	/* an arm that is the label is not told twice */
	bool told = round->arm && round->label && round->label[0] == round->arm && !round->label[1];
	fprintf(out, "%c", round->arm && !told ? round->arm : ' ');
	put_figure(out, round->quantile_ns[PLOT_P50], scale);
	fputs(terminal->style == TERMINAL_ASCII ? " |" : " │", out);
	put_across(out, terminal, across, round);
	fputs(terminal->style == TERMINAL_ASCII ? "|" : "│", out);
	put_figure(out, round->quantile_ns[PLOT_P99], scale);
	ink_set(out, terminal->colour && round->stalls, INK_STALL);
	fprintf(out, "%8" PRIu64, round->stalls);
	ink_set(out, terminal->colour && round->stalls, INK_PLAIN);
	ink_set(out, terminal->colour && round->lost, INK_LOST);
	fprintf(out, "%6" PRIu64, round->lost);
	ink_set(out, terminal->colour && round->lost, INK_PLAIN);
	fputc('\n', out);
}

static int label_width(const struct plot_target *target)
{
	int most = 0;
	for (size_t i = 0; i < target->round_count; i++) {
		AUTO_FREE char *safe = utf8_safe(target->rounds[i].label ? target->rounds[i].label : "", "");
		int wide = safe ? utf8_columns(safe) : 0;
		most = wide > most ? wide : most;
	}
	return most > LABEL_MOST ? LABEL_MOST : most;
}

int draw_rounds(FILE *out, const struct terminal *terminal, const struct plot_target *target, struct tare_err *err)
{
	(void)err;
	int label_wide = label_width(target), fixed = NUMBER + label_wide + 1 + FIGURE + 3 + TAIL - 4;
	int room = terminal->width - fixed;
	struct scale_across across = across_of(target, (size_t)(room < 10 ? 10 : room));
	const struct scale *scale = scale_for(across.low_ns, target->resolution_ns);
	char low[48], high[48];
	scale_format(scale, across.low_ns, 1, low, sizeof(low));
	scale_format(scale, across.high_ns, 1, high, sizeof(high));
	report_sentence(out, terminal->width, "%s   %s in %s, round by round%s", target->url, tare_span_name(target->span), scale->unit,
		across.log ? ", on a logarithmic scale" : "");
	int left = NUMBER + label_wide + 1 + FIGURE;
	fprintf(out, "%*s%*s", NUMBER - 1, "round", left - NUMBER + 1, "p50");
	fprintf(out, "  %s%*s %*s%8s%6s\n", low, (int)across.places - (int)strlen(low), high, FIGURE, "p99", "stalls", "lost");
	for (size_t i = 0; i < target->round_count; i++)
		put_round(out, terminal, &across, label_wide, &target->rounds[i], scale);
	report_sentence(out, terminal->width, "%s the median, %s half of the requests, %s nine tenths of them.",
		terminal->style == TERMINAL_ASCII ? "O" : "●", terminal->style == TERMINAL_ASCII ? "=" : "━",
		terminal->style == TERMINAL_ASCII ? "-" : "─");
	return 0;
}
