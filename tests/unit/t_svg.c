/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is drawn: each planted stall and loss, foreign names as text, the same bytes twice. */
#include <stdlib.h>
#include <string.h>

#include "report/plot/svg.h"
#include "tap.h"

enum { N = 1000 };
static int64_t due_ns[N], sent_ns[N], came_ns[N];
static uint8_t fate[N];

static const char hostile[] = "<script>alert(1)</script>\"'&\xe2\x80\xae\x1b[31m\xff";

static struct plots *plots_of(size_t stalls, size_t lost, const char *url, struct tare_err *err)
{
	struct tare_run run = {.id = 1};
	static struct tare_target target;
	struct tare_round round = {.number = 1, .label = url, .interval_ns = 1000000, .warmup = 2};
	struct plots *plots = NULL;
	target = (struct tare_target){.url = url, .kind = "udp"};
	for (size_t i = 0; i < N; i++) {
		bool stalled = i >= 10 && i < 10 + stalls;
		due_ns[i] = (int64_t)i * 1000000;
		sent_ns[i] = due_ns[i] + 50;
		fate[i] = i >= N - lost ? TARE_LOST : TARE_ANSWERED;
		came_ns[i] = i >= N - lost ? TARE_NO_TIME
					   : sent_ns[i] + 4000 + (int64_t)(i % 97) * 3 +
						     (stalled ? 500000 + (int64_t)i * 100 : 0);
	}
	struct tare_record record = {.run = &run, .target = &target, .round = &round, .resolution_ns = 1};
	record.series = (struct tare_series){.count = N, .fate = fate};
	record.series.at_ns[TARE_STAGE_DUE] = due_ns;
	record.series.at_ns[TARE_STAGE_USER_TX] = sent_ns;
	record.series.at_ns[TARE_STAGE_USER_RX] = came_ns;
	const struct tare_row row = {.span = TARE_SPAN_RTT, .stall_limit_ns = 42000, .n = N - 2};
	const struct plot_input input = {.file = "f", .record = &record, .row = &row, .warmup = 2, .series = url};
	if (plots_open(&plots, err) || plots_add(plots, &input, err) || plots_finish(plots, err)) {
		plots_free(plots);
		return NULL;
	}
	return plots;
}

static char *drawn(const struct plots *plots, enum plot_kind kind)
{
	const struct plot_svg_rules rules = {.id = "p"};
	const struct plot_target *const *targets;
	struct tare_err err = {0};
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);
	if (plots_targets(plots, &targets) != 1 || plot_svg(out, targets[0], kind, &rules, &err))
		fputs("failed", out);
	plot_html_table(out, targets[0], kind);
	fclose(out);
	return text;
}

static size_t count_of(const char *text, const char *what)
{
	size_t count = 0;
	for (const char *at = text; (at = strstr(at, what)); at += strlen(what))
		count++;
	return count;
}

/* Each with its title while they are few, as one path of so many outlines when they are many. */
static void marks(void)
{
	struct tare_err err = {0};
	struct plots *few = plots_of(7, 3, "udp://a", &err), *many = plots_of(400, 30, "udp://a", &err);
	if (!OK(few && many, "plots: %s", err.text))
		return;
	char *one = drawn(few, PLOT_KIND_TIME), *other = drawn(many, PLOT_KIND_TIME);
	/* one more outline in the legend */
	IS_I64(count_of(one, "m-4 0l4-4 4 4-4 4z"), 7 + 1, "seven stalls are seven marks");
	IS_I64(count_of(one, ", lost</title>"), 3, "three losses are three marks");
	IS_I64(count_of(other, "l3-3 3 3-3 3z"), 400 + 2, "400 stalls are 400 marks, beside the first two requests");
	IS_I64(count_of(other, "h1v10h-1z"), 30, "30 losses are 30 marks");
	OK(strstr(one, "stall: cause not looked for (7)") && strstr(other, "lost (30)"), "the legend counts them");
	free(one);
	free(other);
	plots_free(few);
	plots_free(many);
}

static void foreign(void)
{
	struct tare_err err = {0};
	struct plots *plots = plots_of(3, 1, hostile, &err);
	const struct plot_target *const *targets;
	bool clean = true;
	if (!OK(plots && plots_targets(plots, &targets) == 1, "plots: %s", err.text))
		return;
	size_t drawn_kinds = 0;
	for (enum plot_kind kind = 0; kind < PLOT_KIND_COUNT; kind++) {
		if (plot_kind_missing(targets[0], kind))
			continue;
		char *text = drawn(plots, kind), *again = drawn(plots, kind);
		drawn_kinds++;
		clean &= !strstr(text, "<script") && !strchr(text, '\x1b') && !strchr(text, '\xff') &&
			 !strstr(text, "\xe2\x80\xae");
		clean &= strstr(text, "&lt;script&gt;") != NULL;
		OK(strcmp(text, again) == 0, "%s: the same bytes twice", plot_kind_name(kind));
		OK(!strstr(text, " style=") && !strstr(text, "href"), "%s: neither inline style nor reference",
			plot_kind_name(kind));
		OK(!strstr(text, "nan") && !strstr(text, "inf"), "%s: every coordinate is a number",
			plot_kind_name(kind));
		free(text);
		free(again);
	}
	OK(clean, "names come out as text");
	IS_I64(drawn_kinds, 5, "time, cdf, hist, late and parts have something to show");
	OK(plot_kind_missing(targets[0], PLOT_KIND_RATE) != NULL, "the others say why not");
	plots_free(plots);
}

/* ---- very many rounds ---- */

enum { ROUNDS = 1000, PLANTED = 20, ROUNDS_APART = 47, GAP_FROM = 502, GAP_TO = 511 };

/* Places of the marks of a path of whole pixels; returns how many. */
static size_t places_of(const char *path, int *ret_y, size_t room)
{
	size_t count = 0;
	int x = 0, y = 0;
	for (const char *at = path; *at && *at != '"'; at++) {
		if (*at != 'M' && *at != 'm')
			continue;
		char *rest;
		long first = strtol(at + 1, &rest, 10), second = strtol(rest, &rest, 10);
		x = (int)first + (*at == 'm' ? x : 0);
		y = (int)second + (*at == 'm' ? y : 0);
		if (count < room)
			ret_y[count] = y;
		count++;
	}
	return count;
}

static size_t count_of_y(const int *y, size_t count, int wanted)
{
	size_t found = 0;
	for (size_t i = 0; i < count; i++)
		found += y[i] == wanted;
	return found;
}

/* The path of a class in a plot of `target`, from its first coordinate on; the text is the caller's to free. */
static char *path_of(const struct plot_target *target, enum plot_kind kind, const char *class)
{
	const struct plot_svg_rules rules = {.id = "p"};
	struct tare_err err = {0};
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);
	if (plot_svg(out, target, kind, &rules, &err))
		fputs("failed", out);
	fclose(out);
	char begin[64];
	snprintf(begin, sizeof(begin), "<path class=\"%s\" d=\"", class);
	char *found = strstr(text, begin), *path = strdup(found ? found + strlen(begin) : "");
	free(text);
	return path;
}

static void many_rounds(void)
{
	static struct plot_round rounds[ROUNDS];
	struct plot_target target = {
		.url = "u", .kind = "udp", .span = TARE_SPAN_RTT, .rounds = rounds, .round_count = ROUNDS};
	int y[2 * ROUNDS], highest = INT32_MAX, lowest = 0;
	for (size_t i = 0; i < ROUNDS; i++) {
		rounds[i] = (struct plot_round){
			.label = "", .number = (uint32_t)i + 1, .n = 100, .max_ns = 10000 + (int64_t)(i % 7) * 900};
		for (size_t k = 0; k < PLOT_QUANTILE_COUNT; k++)
			rounds[i].quantile_ns[k] = i >= GAP_FROM && i < GAP_TO ? TARE_NO_TIME : 4000 + (int64_t)k * 100;
	}
	for (size_t i = 0; i < PLANTED; i++) {
		rounds[i * ROUNDS_APART + 3].max_ns = 1000000;
		rounds[i * ROUNDS_APART + 23].max_ns = 7000;
	}
	char *path = path_of(&target, PLOT_KIND_ROUNDS, "m c2 crowd");
	size_t count = places_of(path, y, 2 * ROUNDS);
	for (size_t i = 0; i < count; i++) {
		highest = y[i] < highest ? y[i] : highest;
		lowest = y[i] > lowest ? y[i] : lowest;
	}
	OK(count > PLANTED && count < ROUNDS * 3 / 4, "%zu marks of %d rounds", count, ROUNDS);
	OK(count_of_y(y, count, highest) == PLANTED, "each of %d high rounds has its mark", PLANTED);
	OK(count_of_y(y, count, lowest) == PLANTED, "each of %d low ones too", PLANTED);
	free(path);
	path = path_of(&target, PLOT_KIND_SMOKE, "s2");
	OK(places_of(path, y, 2 * ROUNDS) == 2, "rounds without answers part the smoke");
	free(path);
	path = path_of(&target, PLOT_KIND_SMOKE, "median");
	OK(places_of(path, y, 2 * ROUNDS) == 2 && y[0] == y[1], "equal medians are one stroke on either side of them");
	free(path);
}

int main(void)
{
	marks();
	many_rounds();
	foreign();
	return tap_done();
}
