/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The text form of each plot, as an HTML table: what a screen reader, a printer
 * or a reader without the picture gets. Long ones end after 100 rows and say how
 * many there are.
 */
#include <inttypes.h>
#include <math.h>

#include "base/text.h"
#include "report/plot/canvas.h"

enum { ROWS_MOST = 100 };

static void begin(FILE *out, const char *const *headings)
{
	fputs("<table><thead><tr>", out);
	for (; *headings; headings++)
		fprintf(out, "<th scope=\"col\">%s</th>", *headings);
	fputs("</tr></thead><tbody>\n", out);
}

static void end(FILE *out, uint64_t rows)
{
	fputs("</tbody></table>\n", out);
	if (rows > ROWS_MOST)
		fprintf(out, "<p>and %" PRIu64 " more.</p>\n", rows - ROWS_MOST);
}

static void cell_text_of(FILE *out, const char *text)
{
	fputs("<td class=\"w\">", out);
	svg_text_safe(out, text, 80);
	fputs("</td>", out);
}

static void cell_count_of(FILE *out, uint64_t count)
{
	fprintf(out, "<td>%" PRIu64 "</td>", count);
}

static void cell_time_of(FILE *out, int64_t ns)
{
	char text[32] = "–";
	if (ns != TARE_NO_TIME)
		format_duration(ns, text, sizeof(text));
	fprintf(out, "<td>%s</td>", text);
}

static const char *kind_text(const struct plot_mark *mark)
{
	static const char *const texts[PLOT_MARK_KINDS] = {[PLOT_STALL] = "stall",
		[PLOT_FIRST] = "warm-up",
		[PLOT_WARMUP] = "slow in the warm-up",
		[PLOT_LOST] = "lost",
		[PLOT_ERROR] = "refused or wrong answer",
		[PLOT_NOT_SENT] = "not sent"};
	return texts[mark->kind];
}

static void table_time(FILE *out, const struct plot_target *target)
{
	const struct plot_time *time = &target->time;
	uint64_t all = 0;
	for (size_t i = 0; i < PLOT_MARK_KINDS; i++)
		all += time->kinds[i];
	fprintf(out,
		"<p>%" PRIu64 " requests, %" PRIu64 " with a value, %" PRIu64 " without an answer; %" PRIu64
		" of them have a mark of their own.</p>\n",
		target->requests, target->values, target->unanswered, all);
	begin(out, (const char *const[]){"round", "request", "at", "value", "mark", "cause", NULL});
	for (size_t i = 0; i < time->mark_count && i < ROWS_MOST; i++) {
		const struct plot_mark *mark = &time->marks[i];
		fputs("<tr>", out);
		cell_count_of(out, target->rounds[mark->round].number);
		cell_count_of(out, mark->sequence);
		cell_time_of(out, time->by_request ? TARE_NO_TIME : mark->x);
		cell_time_of(out, mark->value_ns);
		cell_text_of(out, kind_text(mark));
		cell_text_of(out, mark->kind == PLOT_STALL ? word_text(mark->word) : "");
		fputs("</tr>\n", out);
	}
	end(out, all > time->mark_count || time->mark_count > ROWS_MOST ? all : 0);
}

static void table_curve(FILE *out, const struct plot_target *target)
{
	begin(out, (const char *const[]){"curve", "rounds", "requests", "min", "p50", "p99", "p99.9", "max", NULL});
	for (size_t i = 0; i < target->curve_count; i++) {
		const struct plot_curve *curve = &target->curves[i];
		fputs("<tr>", out);
		cell_text_of(out, curve->name[0] ? curve->name : "all rounds");
		cell_count_of(out, curve->rounds);
		cell_count_of(out, curve->n);
		cell_time_of(out, curve->min_ns);
		cell_time_of(out, curve->p50_ns);
		cell_time_of(out, curve->p99_ns);
		cell_time_of(out, curve->p999_ns);
		cell_time_of(out, curve->max_ns);
		fputs("</tr>\n", out);
	}
	end(out, 0);
}

static void table_histogram(FILE *out, const struct plot_target *target)
{
	const struct plot_histogram *histogram = &target->histogram;
	begin(out, (const char *const[]){"part", "requests", "median", NULL});
	for (size_t i = 0; i < histogram->class_count; i++) {
		fputs("<tr>", out);
		cell_text_of(out, histogram->classes[i].name[0] ? histogram->classes[i].name : "all");
		cell_count_of(out, histogram->classes[i].n);
		cell_time_of(out, histogram->classes[i].median_ns);
		fputs("</tr>\n", out);
	}
	for (size_t i = 0; i < histogram->modes.count; i++) {
		fprintf(out, "<tr><td class=\"w\">mode %zu</td>", i + 1);
		cell_count_of(out, (uint64_t)llround(histogram->modes.mode[i].share * (double)histogram->n));
		cell_time_of(out, histogram->modes.mode[i].median_ns);
		fputs("</tr>\n", out);
	}
	fputs("<tr><td class=\"w\">mean</td><td></td>", out);
	cell_time_of(out, llround(histogram->mean_ns));
	fputs("</tr>\n", out);
	end(out, 0);
}

static void table_lateness(FILE *out, const struct plot_target *target)
{
	const struct plot_lateness *lateness = target->lateness;
	fprintf(out, "<p>%" PRIu64 " requests, of which %" PRIu64 " were above the stall limit, late or slow.</p>\n",
		lateness->n, lateness->marked);
	begin(out, (const char *const[]){"round", "request", "late", "rtt", NULL});
	for (size_t i = 0; i < lateness->mark_count && i < ROWS_MOST; i++) {
		fputs("<tr>", out);
		cell_count_of(out, target->rounds[lateness->marks[i].round].number);
		cell_count_of(out, lateness->marks[i].sequence);
		cell_time_of(out, lateness->marks[i].late_ns);
		cell_time_of(out, lateness->marks[i].rtt_ns);
		fputs("</tr>\n", out);
	}
	end(out, lateness->marked > ROWS_MOST ? lateness->marked : 0);
}

static void table_parts(FILE *out, const struct plot_target *target)
{
	const char *headings[PLOT_PART_COUNT + 5] = {"request at", "round", "request", "response"};
	for (size_t part = 0; part < PLOT_PART_COUNT; part++)
		headings[4 + part] = plot_part_name((enum plot_part)part);
	begin(out, headings);
	for (size_t i = 0; i < target->breakdown_count; i++) {
		const struct plot_breakdown *bar = &target->breakdowns[i];
		fputs("<tr>", out);
		cell_text_of(out, bar->name);
		cell_count_of(out, target->rounds[bar->round].number);
		cell_count_of(out, bar->sequence);
		cell_time_of(out, bar->response_ns);
		for (size_t part = 0; part < PLOT_PART_COUNT; part++)
			cell_time_of(out, bar->folded >> part & 1 ? TARE_NO_TIME : bar->part_ns[part]);
		fputs("</tr>\n", out);
	}
	end(out, 0);
	fputs("<p>–: not stamped; its time is in a neighbour, mostly in <i>network</i>.</p>\n", out);
}

static void table_rounds(FILE *out, const struct plot_target *target)
{
	char rate[32];
	begin(out, (const char *const[]){"round", "arm", "label", "rate", "answers", "lost", "stalls", "min", "p50",
			   "p99", "p99.9", "max", NULL});
	for (size_t i = 0; i < target->round_count && i < ROWS_MOST; i++) {
		const struct plot_round *round = &target->rounds[i];
		fputs("<tr>", out);
		cell_count_of(out, round->number);
		cell_text_of(out, round->arm == 'A' ? "A" : round->arm == 'B' ? "B" : "");
		cell_text_of(out, round->label);
		format_rate(round->interval_ns > 0 ? 1e9 / (double)round->interval_ns : NAN, rate, sizeof(rate));
		cell_text_of(out, rate);
		cell_count_of(out, round->n);
		cell_count_of(out, round->lost);
		cell_count_of(out, round->stalls);
		cell_time_of(out, round->min_ns);
		cell_time_of(out, round->quantile_ns[PLOT_P50]);
		cell_time_of(out, round->quantile_ns[PLOT_P99]);
		cell_time_of(out, round->quantile_ns[PLOT_P999]);
		cell_time_of(out, round->max_ns);
		fputs("</tr>\n", out);
	}
	end(out, target->round_count);
}

static void table_heat(FILE *out, const struct plot_target *target)
{
	const struct plot_grid *grid = &target->heat;
	size_t by = grid->columns / 48 + 1;
	begin(out, (const char *const[]){"after", "requests", "unanswered", "stalls", "min", "max", NULL});
	for (size_t from = 0; from < grid->columns; from += by) {
		struct plot_column joined = grid->column[from];
		for (size_t i = from + 1; i < from + by && i < grid->columns; i++)
			plot_column_join(&joined, &grid->column[i]);
		if (!joined.n && !joined.unanswered)
			continue;
		fputs("<tr>", out);
		cell_time_of(out, (int64_t)from * grid->step);
		cell_count_of(out, joined.n);
		cell_count_of(out, joined.unanswered);
		cell_count_of(out, joined.stalls);
		cell_time_of(out, joined.min_ns);
		cell_time_of(out, joined.max_ns);
		fputs("</tr>\n", out);
	}
	end(out, 0);
}

void plot_html_table(FILE *out, const struct plot_target *target, enum plot_kind kind)
{
	switch (kind) {
	case PLOT_KIND_TIME:
		table_time(out, target);
		break;
	case PLOT_KIND_CURVE:
		table_curve(out, target);
		break;
	case PLOT_KIND_HISTOGRAM:
		table_histogram(out, target);
		break;
	case PLOT_KIND_LATENESS:
		table_lateness(out, target);
		break;
	case PLOT_KIND_PARTS:
		table_parts(out, target);
		break;
	case PLOT_KIND_ROUNDS:
	case PLOT_KIND_RATE:
	case PLOT_KIND_SMOKE:
		table_rounds(out, target);
		break;
	case PLOT_KIND_HEAT:
		table_heat(out, target);
		break;
	case PLOT_KIND_COUNT:
		break;
	}
}
