/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tare stat: figures of recordings and of other tools' logs. Everything is
 * recomputed from the samples; a summary that a log brings along is never
 * copied.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cli/calibration_file.h"
#include "cli/one_way.h"
#include "cli/capture_options.h"
#include "cli/cli.h"
#include "cli/columns.h"
#include "cli/log_options.h"
#include "cli/plotting.h"
#include "cli/source.h"
#include "cli/stat_shared.h"
#include "cli/table_options.h"
#include "report/budget_view.h"

struct stat_config {
	const char *spans, *percentiles, *label, *calibration;
	bool all_spans, lenient, json, csv, ci, all, stalls, budget, shared, pager, plot;
	int style;
	struct table_asked table;
	int64_t clock_bound_ns;
	int over, group_by;
	uint64_t warmup, round;
	double stall_ratio;
	int64_t stall_limit_ns, every_ns;
	struct capture_rules capture;
	struct log_rules log;
};

enum { OVER_RECEIVED, OVER_SENT };
static const struct option_choice over_choices[] = {
	{"received", OVER_RECEIVED, "what was lost is in no percentile"},
	{"sent", OVER_SENT, "a lost request counts as infinitely late"},
	{0},
};
static const struct option_choice group_choices[] = {
	{"run", TARE_GROUP_RUN, "each target's rounds in a run"},
	{"label", TARE_GROUP_LABEL, "rounds with the same label, over runs and files"},
	{"target", TARE_GROUP_TARGET, "all rounds of a target"},
	{"peer-cpu", TARE_GROUP_PEER_CPU, "by the CPUs that answered"},
	{"hour", TARE_GROUP_HOUR, "by the hour in which the round began"},
	{0},
};

static const struct option stat_options[] = {
	{.name = "span",
		.letter = 's',
		.type = OPTION_TEXT,
		.metavar = "NAME,...",
		.help = "rows under rtt: late, response, tx, stack, residence, wake, ...",
		.offset = OPTION_AT(struct stat_config, spans)},
	{.name = "clock-bound",
		.type = OPTION_DURATION,
		.metavar = "TIME",
		.help = "the peer's clock is no further from ours: forward and backward, right within that",
		.offset = OPTION_AT(struct stat_config, clock_bound_ns),
		.least = 1,
		.most = 3600e9},
	{.name = "all-spans",
		.letter = 'a',
		.type = OPTION_FLAG,
		.help = "a row for every span that the stamps allow",
		.offset = OPTION_AT(struct stat_config, all_spans)},
	{.name = "percentiles",
		.letter = 'p',
		.type = OPTION_TEXT,
		.metavar = "P,...",
		.fallback = "50,90,99,99.9,99.99",
		.help = "percentiles to show, at most 16",
		.offset = OPTION_AT(struct stat_config, percentiles)},
	{.name = "over",
		.type = OPTION_CHOICE,
		.metavar = "WHAT",
		.fallback = "received",
		.help = "what percentiles are taken over",
		.offset = OPTION_AT(struct stat_config, over),
		.choices = over_choices},
	{.name = "ci",
		.type = OPTION_FLAG,
		.help = "exact 95 % interval of each percentile",
		.offset = OPTION_AT(struct stat_config, ci)},
	{.name = "all",
		.type = OPTION_FLAG,
		.help = "mean, standard deviation and the jitters of others too",
		.offset = OPTION_AT(struct stat_config, all)},
	{.name = "stalls",
		.type = OPTION_FLAG,
		.help = "the stalls one by one, and the ladder of fixed limits",
		.offset = OPTION_AT(struct stat_config, stalls)},
	{.name = "budget",
		.letter = 'b',
		.type = OPTION_FLAG,
		.help = "how much of response each part is, around its percentiles and of the ten slowest",
		.offset = OPTION_AT(struct stat_config, budget)},
	{.name = "plot",
		.type = OPTION_FLAG,
		.help = "plots under the figures: over time, percentiles, and rounds where there are several",
		.offset = OPTION_AT(struct stat_config, plot)},
	PLOT_STYLE_OPTION(struct stat_config),
	{.name = "shared",
		.type = OPTION_FLAG,
		.help = "what took the CPUs of each round: tasks, interrupts, the hypervisor",
		.offset = OPTION_AT(struct stat_config, shared)},
	{.name = "group-by",
		.letter = 'g',
		.type = OPTION_CHOICE,
		.metavar = "WHAT",
		.fallback = "run",
		.help = "what rounds are merged by",
		.offset = OPTION_AT(struct stat_config, group_by),
		.choices = group_choices},
	{.name = "warmup",
		.letter = 'w',
		.type = OPTION_COUNT,
		.metavar = "N",
		.help = "first requests of each round kept apart; 0 counts them all (default: as recorded)",
		.offset = OPTION_AT(struct stat_config, warmup)},
	{.name = "stall-ratio",
		.type = OPTION_NUMBER,
		.metavar = "X",
		.fallback = "10",
		.help = "a stall is above X times the round's median rtt",
		.offset = OPTION_AT(struct stat_config, stall_ratio),
		.least = 1,
		.most = 1e9},
	{.name = "stall-limit",
		.type = OPTION_DURATION,
		.metavar = "TIME",
		.help = "a stall is above this, whatever the median",
		.offset = OPTION_AT(struct stat_config, stall_limit_ns),
		.least = 1,
		.most = 9e18},
	{.name = "calibration",
		.type = OPTION_TEXT,
		.metavar = "FILE",
		.help = "take the stall limit that a calibration of this target froze",
		.offset = OPTION_AT(struct stat_config, calibration)},
	{.name = "every",
		.letter = 'e',
		.type = OPTION_DURATION,
		.metavar = "TIME",
		.help = "interval that a log was asked to keep (default: inferred)",
		.offset = OPTION_AT(struct stat_config, every_ns),
		.least = 1,
		.most = 9e18},
	{.name = "label",
		.letter = 'l',
		.type = OPTION_TEXT,
		.metavar = "TEXT",
		.help = "only rounds with this label",
		.offset = OPTION_AT(struct stat_config, label)},
	{.name = "round",
		.letter = 'r',
		.type = OPTION_COUNT,
		.metavar = "N",
		.help = "only round N of each run",
		.offset = OPTION_AT(struct stat_config, round),
		.least = 1,
		.most = UINT32_MAX},
	{.name = "lenient",
		.type = OPTION_FLAG,
		.help = "pass over what is damaged, and say how much that was",
		.offset = OPTION_AT(struct stat_config, lenient)},
	TABLE_OPTIONS(struct stat_config, 'c'),
	{.name = "json",
		.type = OPTION_FLAG,
		.help = "rows as JSON, durations in ns",
		.offset = OPTION_AT(struct stat_config, json)},
	{.name = "csv",
		.type = OPTION_FLAG,
		.help = "rows as CSV, durations in ns",
		.offset = OPTION_AT(struct stat_config, csv)},
	PAGER_OPTION(struct stat_config),
	LOG_OPTIONS(struct stat_config, log),
	CAPTURE_OPTIONS(struct stat_config, capture),
	{.name = NULL},
};

/* Takes the next name of a comma-separated list into `name`; false at its end. */
static bool next_in_list(const char **at, char *name, size_t room)
{
	if (!*at)
		return false;
	size_t length = strcspn(*at, ",");
	struct text text = {.bytes = name, .room = room};
	text_add(&text, "%.*s", (int)(length < room ? length : room), *at);
	*at = (*at)[length] ? *at + length + 1 : NULL;
	return true;
}

static int unknown_span(const char *name, struct tare_err *err)
{
	const char *names[TARE_SPAN_COUNT + 1] = {NULL};
	for (int i = 0; i < TARE_SPAN_COUNT; i++)
		names[i] = tare_span_name((enum tare_span)i);
	const char *near = nearest_word(name, names);
	char line[300];
	struct text text = TEXT_IN(line);
	if (near)
		return tare_fail(err, TARE_E_USAGE, "unknown span '%s', nearest is '%s'", name, near);
	for (int i = 0; i < TARE_SPAN_COUNT; i++)
		text_add(&text, "%s%s", i ? ", " : "", names[i]);
	return tare_fail(err, TARE_E_USAGE, "unknown span '%s'; there are %s", name, line);
}

static int spans_of(const struct stat_config *config, uint32_t *ret_mask, struct tare_err *err)
{
	uint32_t mask = 1u << TARE_SPAN_RTT | (config->clock_bound_ns ? one_way_spans() : 0);
	const char *at = config->spans;
	char name[32];
	if (config->all_spans)
		mask = (1u << TARE_SPAN_COUNT) - 1;
	else if (!config->spans)
		mask |= stat_view_usual_spans();
	while (next_in_list(&at, name, sizeof(name))) {
		enum tare_span span;
		if (!tare_span_by_name(name, &span))
			return unknown_span(name, err);
		mask |= 1u << span;
	}
	*ret_mask = mask;
	return 0;
}

/* a/b against c/d: the products do not fit 64 bits where many decimals are given. */
static bool is_below(const struct tare_percentile *one, const struct tare_percentile *other)
{
	__extension__ typedef unsigned __int128 wide;
	return (wide)one->num * other->den < (wide)other->num * one->den;
}

static int percentiles_of(const char *list, struct tare_rules *rules, struct tare_err *err)
{
	char name[32];
	rules->percentiles = 0;
	while (next_in_list(&list, name, sizeof(name))) {
		struct tare_percentile p;
		uint32_t at = rules->percentiles;
		if (tare_percentile_parse(name, &p, err))
			return tare_err_prefix(err, "option '--percentiles'");
		if (at == TARE_PERCENTILES_MAX)
			return tare_fail(err, TARE_E_USAGE, "more than %d percentiles", TARE_PERCENTILES_MAX);
		while (at > 0 && is_below(&p, &rules->percentile[at - 1])) {
			rules->percentile[at] = rules->percentile[at - 1];
			at--;
		}
		if (at > 0 && !is_below(&rules->percentile[at - 1], &p))
			return tare_fail(err, TARE_E_USAGE, "percentile %s is asked for twice", name);
		rules->percentile[at] = p;
		rules->percentiles++;
	}
	return 0;
}

static int rules_of(
	struct cli *cli, const struct stat_config *config, struct tare_rules *rules, struct tare_err *err)
{
	tare_rules_default(rules);
	if (percentiles_of(config->percentiles, rules, err))
		return -1;
	for (uint32_t i = 0; i < rules->percentiles; i++) {
		/* 0.5 for the median, as some libraries have it, would pass for the smallest value */
		if (rules->percentile[i].num < rules->percentile[i].den / 100)
			cli_warn(cli, "percentile %s is below 1 %%: the median is 50", rules->percentile[i].text);
	}
	if (option_given(cli->options, "warmup")) {
		if (config->warmup > INT64_MAX)
			return tare_fail(err, TARE_E_USAGE, "--warmup %" PRIu64 " is too large", config->warmup);
		rules->warmup = (int64_t)config->warmup;
	}
	rules->stall_ratio = config->stall_ratio;
	rules->stall_limit_ns = config->stall_limit_ns;
	rules->over_sent = config->over == OVER_SENT;
	rules->group_by = (enum tare_group_by)config->group_by;
	rules->level = config->ci ? 0.95 : 0;
	rules->moments = config->all;
	return 0;
}

/* A limit given by hand wins over the calibration's. */
static int take_calibration(const struct stat_config *config, const char *path, const struct source_rules *source_rules,
	struct tare_rules *rules, struct tare_err *err)
{
	struct calibrated calibrated;
	if (!config->calibration || config->stall_limit_ns)
		return 0;
	if (calibrated_like(config->calibration, path, source_rules, NULL, true, &calibrated, err) < 0)
		return -1;
	if (calibrated.stall_limit_ns == TARE_NO_TIME)
		return tare_fail(err, TARE_E_INVALID, "'%s' froze no stall limit", config->calibration);
	rules->stall_limit_ns = calibrated.stall_limit_ns;
	return 0;
}

/* Without --percentiles the budget has three: more lines would hide what it says. */
static int budget_open(
	const struct cli *cli, const struct tare_rules *rules, struct budget_view **ret_budget, struct tare_err *err)
{
	struct tare_budget_rules usual;
	struct tare_rules chosen = *rules;
	tare_budget_rules_default(&usual);
	if (!option_given(cli->options, "percentiles")) {
		chosen.percentiles = (uint32_t)usual.percentiles;
		memcpy(chosen.percentile, usual.percentile, sizeof(usual.percentile));
	}
	return budget_view_open(&chosen, ret_budget, err);
}

/* What a run of stat gathers. */
struct gathering {
	struct stat_view *view;
	struct budget_view *budget; /* NULL: not asked for, and so the next */
	struct plots *plots;
	bool many_files;
	bool one_way, one_way_asked; /* the two spans are among those shown; by name */
	int64_t clock_bound_ns;
	int64_t warmup; /* -1: as recorded */
	size_t added;
};

static void gathering_end(const struct gathering *gathering)
{
	plots_free(gathering->plots);
	budget_view_free(gathering->budget);
	stat_view_free(gathering->view);
}

static int add_budget(struct gathering *gathering, struct source *source, const char *path, struct tare_err *err)
{
	const struct tare_record *record;
	int found;
	while ((found = source_next(source, &record, err)) > 0) {
		if (budget_view_add(gathering->budget, path, record, err))
			return tare_err_prefix(err, "%s", path);
		gathering->added++;
	}
	return found < 0 ? -1 : source_tell(source, gathering->view, err);
}

static int add_source(struct gathering *gathering, struct source *source, const char *path, struct tare_err *err)
{
	struct stat_view *view = gathering->view;
	const struct tare_record *record;
	int found;
	while ((found = source_next(source, &record, err)) > 0) {
		struct plotting_input plot = {
			.file = path, .many_files = gathering->many_files, .record = record, .warmup = gathering->warmup};
		bool first = record->target->position == 0;
		/* what the user states now, else what the run was told */
		int64_t bound_ns = gathering->clock_bound_ns ? gathering->clock_bound_ns : record->series.clock_bound_ns;
		if (one_way_add(view, path, record, gathering->one_way ? bound_ns : 0, gathering->one_way_asked, err))
			return -1;
		if (source_causes(source, record, &plot.causes, &plot.cause_count, err))
			return -1;
		if (plot.cause_count && first &&
			stat_view_causes(view, path, record->round, plot.causes, plot.cause_count, err))
			return -1;
		if (gathering->plots && plotting_add(gathering->plots, view, &plot, err))
			return -1;
		gathering->added++;
	}
	return found < 0 ? -1 : source_tell(source, view, err);
}

struct open_sources {
	struct source **source;
	int count;
};

static void open_sources_end(const struct open_sources *sources)
{
	for (int i = 0; i < sources->count; i++)
		source_free(sources->source[i]);
	free(sources->source);
}

static int print(struct cli *cli, const struct stat_config *config, struct gathering *gathering,
	const struct stat_layout *layout, struct tare_err *err)
{
	const unsigned kinds = 1u << TERMINAL_PLOT_TIME | 1u << TERMINAL_PLOT_CDF | 1u << TERMINAL_PLOT_ROUNDS;
	if (gathering->budget    ? budget_view_print(cli->out, gathering->budget, layout, err)
		: config->stalls ? stat_view_print_stalls(cli->out, gathering->view, layout, err)
				 : stat_view_print(cli->out, gathering->view, layout, err))
		return -1;
	if (gathering->budget || layout->format != &format_text || layout->asked.columns)
		stat_view_remarks(cli->note, 0, gathering->view);
	if (!gathering->plots || !gathering->added)
		return 0;
	fputc('\n', cli->out);
	return plotting_draw(cli, gathering->plots, kinds, (enum plot_style)config->style, err);
}

static int stat_files(struct cli *cli, const struct stat_config *config, int count, char **paths,
	const struct stat_layout *layout, struct tare_err *err)
{
	const struct source_rules source_rules = {.every_ns = config->every_ns,
		.format = config->log.format,
		.column = config->log.column,
		.unit = config->log.unit,
		.with = config->log.with,
		.lenient = config->lenient,
		.packed = true,
		.label = config->label,
		.round = config->round,
		.capture = config->capture};
	if (config->shared)
		return stat_shared(cli, &source_rules, count, paths, layout, err);
	/* Rows and plots point into their sources, which therefore stay open until the end. */
	AUTO_CLEANUP(open_sources_end) struct open_sources sources = {0};
	AUTO_CLEANUP(gathering_end) struct gathering gathering = {.many_files = count > 1, .warmup = -1};
	struct tare_rules rules;
	uint32_t spans = 0;

	sources.source = calloc((size_t)count, sizeof(*sources.source));
	if (!sources.source)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	if (rules_of(cli, config, &rules, err) || take_calibration(config, paths[0], &source_rules, &rules, err) ||
		spans_of(config, &spans, err) ||
		stat_view_open(&rules, spans, &gathering.view, err) ||
		(config->budget && budget_open(cli, &rules, &gathering.budget, err)) ||
		(config->plot && plots_open(&gathering.plots, err)))
		return -1;
	gathering.clock_bound_ns = config->clock_bound_ns;
	gathering.one_way = spans & one_way_spans();
	gathering.one_way_asked = gathering.one_way && !config->all_spans;
	if (option_given(cli->options, "warmup"))
		gathering.warmup = rules.warmup;
	if (config->stalls)
		stat_view_list_stalls(gathering.view);
	for (int i = 0; i < count; i++) {
		if (source_open(paths[i], &source_rules, &sources.source[i], err))
			return -1;
		sources.count = i + 1;
		if (gathering.budget ? add_budget(&gathering, sources.source[i], paths[i], err)
				     : add_source(&gathering, sources.source[i], paths[i], err))
			return -1;
	}
	if (!gathering.added && (config->label || config->round))
		return tare_fail(err, TARE_E_USAGE, "no round %s%s%s",
			config->label ? "with the label '" : "has this number", config->label ? config->label : "",
			config->label ? "'" : "");
	return print(cli, config, &gathering, layout, err);
}

static int stat_run(struct cli *cli, void *configuration, int operand_count, char **operands, struct tare_err *err)
{
	const struct stat_config *config = configuration;
	struct stat_layout layout = {.format = &format_text, .width = cli->columns, .asked = config->table};
	if (operand_count == 0)
		return tare_fail(
			err, TARE_E_USAGE, "stat needs a FILE: a recording, a log of ping or a capture; see 'tare help stat'");
	if (config->stalls + config->budget + config->shared > 1)
		return tare_fail(err, TARE_E_USAGE, "--stalls, --budget and --shared are tables of their own: one at a time");
	if (config->json && config->csv)
		return tare_fail(err, TARE_E_USAGE, "--json and --csv exclude each other");
	if (config->plot && (config->json || config->csv || config->budget || config->shared))
		return tare_fail(err, TARE_E_USAGE, "--plot goes with text, and not with --budget or --shared");
	if (config->json)
		layout.format = &format_json;
	else if (config->csv)
		layout.format = &format_csv;
	return stat_files(cli, config, operand_count, operands, &layout, err);
}

const struct command command_stat = {
	.name = "stat",
	.summary = "figures of recordings, captures, logs and plain numbers",
	.operands = "FILE...",
	.examples = "  tare stat before.tare\n"
		    "  tare stat --span late,residence --percentiles 50,99,99.999 before.tare after.tare\n"
		    "  tare stat --json before.tare | jq '.rows[] | select(.round == null)'\n"
		    "  ping -D -i 0.005 -c 2000 10.0.0.2 | tare stat --every 5ms -\n",
	.options = stat_options,
	.columns = columns_of_stat,
	.config_bytes = sizeof(struct stat_config),
	.pages = true,
	.run = stat_run,
};
