/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tare plot: pictures in the terminal. The same records, rules and causes as
 * tare stat, drawn instead of tabled; what a picture cannot hold it says.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/capture_options.h"
#include "cli/cli.h"
#include "cli/log_options.h"
#include "cli/plotting.h"
#include "cli/source.h"
#include "cli/table_options.h"

struct plot_config {
	int kind, style;
	const char *label;
	bool lenient, pager;
	uint64_t warmup, round;
	double stall_ratio;
	int64_t stall_limit_ns, every_ns;
	struct capture_rules capture;
	struct log_rules log;
};

static const struct option_choice kind_choices[] = {
#define X(id, word, what) {word, TERMINAL_PLOT_##id, what},
	TERMINAL_PLOTS(X)
#undef X
	{0},
};

#define AT(member) OPTION_AT(struct plot_config, member)
static const struct option plot_options[] = {
	{"kind", 'k', OPTION_CHOICE, "KIND", "time", "what is drawn", AT(kind), 0, 0, kind_choices},
	PLOT_STYLE_OPTION(struct plot_config),
	{"warmup", 'w', OPTION_COUNT, "N", NULL, "first requests of each round kept apart (default: as recorded)", AT(warmup), 0, 1e12, NULL},
	{"stall-ratio", 0, OPTION_NUMBER, "X", "10", "a stall is above X times the round's median rtt", AT(stall_ratio), 1, 1e9, NULL},
	{"stall-limit", 0, OPTION_DURATION, "TIME", NULL, "a stall is above this, whatever the median", AT(stall_limit_ns), 1, 9e18, NULL},
	{"every", 'e', OPTION_DURATION, "TIME", NULL, "interval that a log was asked to keep (default: inferred)", AT(every_ns), 1, 9e18, NULL},
	{"label", 'l', OPTION_TEXT, "TEXT", NULL, "only rounds with this label", AT(label), 0, 0, NULL},
	{"round", 'r', OPTION_COUNT, "N", NULL, "only round N of each run", AT(round), 1, UINT32_MAX, NULL},
	{"lenient", 0, OPTION_FLAG, NULL, NULL, "pass over what is damaged, and say how much that was", AT(lenient), 0, 0, NULL},
	PAGER_OPTION(struct plot_config),
	LOG_OPTIONS(struct plot_config, log),
	CAPTURE_OPTIONS(struct plot_config, capture),
	{.name = NULL},
};

struct drawing {
	const struct plot_config *config;
	struct stat_view *view;
	struct plots *plots;
	struct source **sources; /* open until the end: plots borrow their strings */
	int count;
	bool many_files;
	int64_t warmup; /* -1: as recorded */
	uint64_t records;
};

static void drawing_end(const struct drawing *drawing)
{
	plots_free(drawing->plots);
	stat_view_free(drawing->view);
	for (int i = 0; i < drawing->count; i++)
		source_free(drawing->sources[i]);
	free(drawing->sources);
}

static int take_file(struct drawing *drawing, const char *path, struct source *source, struct tare_err *err)
{
	const struct tare_record *record;
	int found;
	while ((found = source_next(source, &record, err)) > 0) {
		struct plotting_input input = {
			.file = path, .many_files = drawing->many_files, .record = record, .warmup = drawing->warmup};
		if (stat_view_add(drawing->view, path, record, err) ||
			source_causes(source, record, &input.causes, &input.cause_count, err) ||
			plotting_add(drawing->plots, drawing->view, &input, err))
			return -1;
		drawing->records++;
	}
	return found < 0 ? -1 : source_tell(source, drawing->view, err);
}

static int take_files(struct drawing *drawing, int count, char **paths, struct tare_err *err)
{
	const struct plot_config *config = drawing->config;
	const struct source_rules rules = {.every_ns = config->every_ns,
		.format = config->log.format,
		.column = config->log.column,
		.unit = config->log.unit,
		.with = config->log.with,
		.lenient = config->lenient,
		.label = config->label,
		.round = config->round,
		.capture = config->capture};
	drawing->sources = calloc((size_t)count, sizeof(*drawing->sources));
	if (!drawing->sources)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	for (int i = 0; i < count; i++) {
		if (source_open(paths[i], &rules, &drawing->sources[i], err))
			return -1;
		drawing->count = i + 1;
		if (take_file(drawing, paths[i], drawing->sources[i], err))
			return -1;
	}
	if (!drawing->records)
		return tare_fail(err, TARE_E_USAGE, "nothing to plot: no round%s", config->label || config->round ? " of these" : "");
	return 0;
}

static int plot_run(struct cli *cli, void *configuration, int operand_count, char **operands, struct tare_err *err)
{
	const struct plot_config *config = configuration;
	AUTO_CLEANUP(drawing_end) struct drawing drawing = {.config = config, .many_files = operand_count > 1, .warmup = -1};
	struct tare_rules rules;
	if (operand_count == 0)
		return tare_fail(
			err, TARE_E_USAGE, "plot needs a FILE: a recording, a log of ping or a capture; see 'tare help plot'");
	tare_rules_default(&rules);
	if (option_given(cli->options, "warmup"))
		drawing.warmup = rules.warmup = (int64_t)config->warmup;
	rules.stall_ratio = config->stall_ratio;
	rules.stall_limit_ns = config->stall_limit_ns;
	if (stat_view_open(&rules, 1u << TARE_SPAN_RTT, &drawing.view, err) || plots_open(&drawing.plots, err) ||
		take_files(&drawing, operand_count, operands, err) ||
		plotting_draw(cli, drawing.plots, 1u << config->kind, (enum plot_style)config->style, err))
		return -1;
	stat_view_remarks(cli->out, cli->columns > 0 ? cli->columns : 80, drawing.view);
	return 0;
}

const struct command command_plot = {
	.name = "plot",
	.summary = "requests over time, percentiles, histograms and rounds in the terminal",
	.operands = "FILE...",
	.examples = "  tare plot before.tare\n"
		    "  tare plot --kind cdf before.tare after.tare\n"
		    "  tare plot --kind hist --style ascii before.tare | mail -s latency me\n",
	.options = plot_options,
	.config_bytes = sizeof(struct plot_config),
	.pages = true,
	.run = plot_run,
};
