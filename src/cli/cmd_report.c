/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tare report: one page of HTML about recordings and logs, single plots, or text
 * for a ticket. All records are read once; what plots and tables show is gathered
 * meanwhile and written at the end.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cli/capture_options.h"
#include "cli/log_options.h"
#include "cli/report.h"
#include "cli/report_page.h"
#include "cli/trial_set.h"

struct report_config {
	const char *output, *svg, *title, *label;
	bool markdown, lenient;
	uint64_t warmup, round;
	double stall_ratio;
	int64_t stall_limit_ns, every_ns;
	struct capture_rules capture;
	struct log_rules log;
};

#define AT(member) OPTION_AT(struct report_config, member)
static const struct option report_options[] = {
	{"output", 'o', OPTION_TEXT, "FILE", NULL, "write there, replacing what is there; '-' is standard output",
		AT(output), 0, 0, NULL},
	{"svg", 0, OPTION_TEXT, "DIR", NULL, "also every plot as a file of its own", AT(svg), 0, 0, NULL},
	{"markdown", 0, OPTION_FLAG, NULL, NULL, "text for a ticket instead of a page", AT(markdown), 0, 0, NULL},
	{"title", 0, OPTION_TEXT, "TEXT", NULL, "heading of the page (default: the files' names)", AT(title), 0, 0,
		NULL},
	{"warmup", 'w', OPTION_COUNT, "N", NULL, "first requests of each round kept apart (default: as recorded)",
		AT(warmup), 0, 1e9, NULL},
	{"stall-ratio", 0, OPTION_NUMBER, "X", "10", "a stall is above X times the round's median rtt", AT(stall_ratio),
		1, 1e9, NULL},
	{"stall-limit", 0, OPTION_DURATION, "TIME", NULL, "a stall is above this, whatever the median",
		AT(stall_limit_ns), 1, 9e18, NULL},
	{"every", 'e', OPTION_DURATION, "TIME", NULL, "interval that a log was asked to keep (default: inferred)",
		AT(every_ns), 1, 9e18, NULL},
	{"label", 'l', OPTION_TEXT, "TEXT", NULL, "only rounds with this label", AT(label), 0, 0, NULL},
	{"round", 'r', OPTION_COUNT, "N", NULL, "only round N of each run", AT(round), 1, UINT32_MAX, NULL},
	{"lenient", 0, OPTION_FLAG, NULL, NULL, "pass over what is damaged, and say how much that was", AT(lenient), 0,
		0, NULL},
	LOG_OPTIONS(struct report_config, log),
	CAPTURE_OPTIONS(struct report_config, capture),
	{0},
};

static void making_end(struct report_making *making)
{
	for (int i = 0; making->sources && i < making->count; i++)
		source_free(making->sources[i]);
	for (size_t i = 0; i < making->name_count; i++)
		free(making->names[i]);
	free(making->names);
	free(making->sources);
	plots_free(making->plots);
	report_about_free(making->about);
	stat_view_free(making->view);
	report_verdict_end(&making->verdict);
}

/* One string for each name, which the plots borrow. */
static int keep_name(struct report_making *making, const char *name, const char **ret_name, struct tare_err *err)
{
	for (size_t i = 0; i < making->name_count; i++) {
		if (strcmp(making->names[i], name) == 0) {
			*ret_name = making->names[i];
			return 0;
		}
	}
	char **names = reallocarray(making->names, making->name_count + 1, sizeof(*names));
	char *copy = names ? strdup(name) : NULL;
	making->names = names ? names : making->names;
	if (!copy)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	*ret_name = making->names[making->name_count++] = copy;
	return 0;
}

/* Arms of a comparison are curves; else labels, with the file where there are several. */
static int name_curve(struct report_making *making, const char *path, const struct tare_record *record, int arm,
	bool planned, const char **ret_name, struct tare_err *err)
{
	const char *label = record->round->label ? record->round->label : "";
	AUTO_FREE char *name = NULL;
	if (arm >= 0)
		return keep_name(making, arm ? "B" : "A", ret_name, err);
	if (planned)
		return keep_name(making, "not scored", ret_name, err);
	if (making->count_asked < 2)
		return keep_name(making, label, ret_name, err);
	if (asprintf(&name, label[0] ? "%s, %s" : "%s%s", path, label) < 0) {
		name = NULL;
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	}
	return keep_name(making, name, ret_name, err);
}

static int add_record(struct report_making *making, struct source *source, const char *path,
	const struct tare_record *record, struct tare_err *err)
{
	struct trial_steps steps = {.recording = source_recording(source)};
	int arm = steps.recording ? trial_arm_by_step(&steps, record) : -1;
	struct plot_input input = {.file = path, .record = record, .arm = (char)(arm < 0 ? 0 : arm ? 'B' : 'A')};
	if (stat_view_add(making->view, path, record, err) ||
		source_causes(source, record, &input.causes, &input.cause_count, err))
		return -1;
	if (input.cause_count && record->target->position == 0 &&
		stat_view_causes(making->view, path, record->round, input.causes, input.cause_count, err))
		return -1;
	input.row = stat_view_last(making->view, &input.insight);
	int64_t warmup = making->rules.warmup < 0 ? record->round->warmup : making->rules.warmup;
	input.warmup = (uint64_t)warmup < record->series.count ? (size_t)warmup : record->series.count;
	if (name_curve(making, path, record, arm, steps.step_count > 0, &input.series, err))
		return -1;
	making->records++;
	return plots_add(making->plots, &input, err) || report_about_record(making->about, path, record, err) ? -1 : 0;
}

static int read_files(
	struct cli *cli, struct report_making *making, const struct source_rules *rules, struct tare_err *err)
{
	for (int i = 0; i < making->count_asked; i++) {
		const struct tare_record *record;
		int found;
		if (source_open(making->paths[i], rules, &making->sources[i], err))
			return -1;
		making->count = i + 1;
		while ((found = source_next(making->sources[i], &record, err)) > 0)
			if (add_record(making, making->sources[i], making->paths[i], record, err))
				return -1;
		if (found < 0 || source_tell(making->sources[i], making->view, err))
			return -1;
		struct tare_recording *recording = source_recording(making->sources[i]);
		if (recording && !making->verdict.text &&
			report_verdict_of(cli, making->paths[i], recording, rules->lenient, &making->verdict, err) < 0)
			return -1;
	}
	if (!making->records)
		return tare_fail(err, TARE_E_FORMAT, "there are no rounds to report");
	return plots_finish(making->plots, err);
}

/* ---- single plots ---- */

/* The verdict is about the first target of a run. */
static const struct tare_verdict *verdict_for(const struct report_making *making, size_t target)
{
	return target == 0 && making->verdict.decided ? &making->verdict.primary : NULL;
}

static int write_svg(const struct report_making *making, const char *folder, const struct plot_target *target,
	size_t number, enum plot_kind kind, struct tare_err *err)
{
	const struct plot_svg_rules rules = {.verdict = verdict_for(making, number)};
	AUTO_FREE char *path = NULL;
	struct report_file file = {.out = NULL};
	if (asprintf(&path, number ? "%s/%s-%zu.svg" : "%s/%s.svg", folder, plot_kind_name(kind), number + 1) < 0) {
		path = NULL;
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	}
	if (report_file_open(path, NULL, &file, err))
		return -1;
	if (plot_svg(file.out, target, kind, &rules, err)) {
		report_file_abandon(&file);
		return -1;
	}
	return report_file_close(&file, err);
}

static int write_svgs(const struct report_making *making, const char *folder, struct tare_err *err)
{
	const struct plot_target *const *targets;
	size_t count = plots_targets(making->plots, &targets);
	if (mkdir(folder, 0777) < 0 && errno != EEXIST)
		return tare_fail_errno(err, errno, "cannot make the folder '%s'", folder);
	for (size_t i = 0; i < count; i++)
		for (enum plot_kind kind = 0; kind < PLOT_KIND_COUNT; kind++)
			if (!plot_kind_missing(targets[i], kind) && write_svg(making, folder, targets[i], i, kind, err))
				return -1;
	return 0;
}

/* ---- the whole ---- */

/* SOURCE_DATE_EPOCH makes the same page of the same files. */
static int64_t made_at(void)
{
	const char *given = getenv("SOURCE_DATE_EPOCH");
	uint64_t seconds;
	struct tare_err ignored = {0};
	if (given && parse_count(given, &seconds, &ignored) == 0 && seconds < INT64_MAX / 1000000000)
		return (int64_t)seconds;
	return (int64_t)time(NULL);
}

static int write_out(
	struct cli *cli, struct report_making *making, const struct report_config *config, struct tare_err *err)
{
	struct report_file file = {.out = NULL};
	const char *path = config->output ? config->output : "-";
	if (report_file_open(path, cli->out, &file, err))
		return -1;
	struct page page = {.out = file.out, .title = making->title, .version = cli_version(), .made_at_s = made_at()};
	if (config->markdown ? report_markdown(&page, making, err) : report_page(cli, &page, making, err)) {
		report_file_abandon(&file);
		return -1;
	}
	return report_file_close(&file, err);
}

static int open_making(
	struct cli *cli, const struct report_config *config, struct report_making *making, struct tare_err *err)
{
	tare_rules_default(&making->rules);
	if (option_given(cli->options, "warmup"))
		making->rules.warmup = (int64_t)config->warmup;
	making->rules.stall_ratio = config->stall_ratio;
	making->rules.stall_limit_ns = config->stall_limit_ns;
	making->sources = calloc((size_t)making->count_asked, sizeof(*making->sources));
	if (!making->sources)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	if (stat_view_open(&making->rules, stat_view_usual_spans(), &making->view, err) ||
		plots_open(&making->plots, err) || report_about_open(&making->about, err))
		return -1;
	stat_view_list_stalls(making->view);
	return 0;
}

static int report_run(struct cli *cli, void *configuration, int operand_count, char **operands, struct tare_err *err)
{
	const struct report_config *config = configuration;
	const struct source_rules rules = {.every_ns = config->every_ns,
		.format = config->log.format,
		.column = config->log.column,
		.unit = config->log.unit,
		.with = config->log.with,
		.lenient = config->lenient,
		.packed = true,
		.label = config->label,
		.round = config->round,
		.capture = config->capture};
	AUTO_CLEANUP(making_end) struct report_making making = {.paths = operands, .count_asked = operand_count};
	if (operand_count == 0)
		return tare_fail(
			err, TARE_E_USAGE, "report needs a FILE: a recording, or anything that 'tare stat' reads");
	if (!config->output && !config->svg && !config->markdown)
		return tare_fail(err, TARE_E_USAGE, "where to? -o report.html, -o - for standard output, or --svg DIR");
	AUTO_FREE char *title = NULL;
	if (asprintf(&title, operand_count > 1 ? "%s and %d more" : "%s", operands[0], operand_count - 1) < 0) {
		title = NULL;
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	}
	making.title = config->title ? config->title : title;
	if (open_making(cli, config, &making, err) || read_files(cli, &making, &rules, err))
		return -1;
	if (config->svg && write_svgs(&making, config->svg, err))
		return -1;
	if ((config->output || config->markdown) && write_out(cli, &making, config, err))
		return -1;
	if (!page_can_zoom() && config->output && !config->markdown)
		cli_warn(cli, "built without dygraphs: the page has no zoom");
	return 0;
}

const struct command command_report = {
	.name = "report",
	.summary = "one page with verdict, figures and plots, to be sent",
	.operands = "FILE...",
	.examples = "  tare report before.tare after.tare -o report.html\n"
		    "  tare report rx-usecs.tare --svg plots\n"
		    "  tare report rx-usecs.tare --markdown\n",
	.options = report_options,
	.config_bytes = sizeof(struct report_config),
	.run = report_run,
};
