/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tare compare: two sets of recorded or imported rounds, and whether they differ.
 * Rounds that alternate in time are paired by order; others are compared as two
 * sets, which needs more of them and cannot take out a drift.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cli/calibration_file.h"
#include "cli/columns.h"
#include "cli/judge.h"
#include "cli/log_options.h"
#include "cli/table_options.h"
#include "cli/trial_set.h"

struct compare_config {
	struct verdict_options verdict;
	const char *by, *label_a, *label_b, *target;
	uint64_t warmup;
	int64_t every_ns;
	bool lenient, pager;
	struct log_rules log;
	struct table_asked table;
};

#define AT(member) OPTION_AT(struct compare_config, member)
static const struct option compare_options[] = {
	VERDICT_OPTIONS(struct compare_config),
	{"by", 0, OPTION_TEXT, "WHAT", NULL, "label: the arms are rounds with different labels", AT(by), 0, 0, NULL},
	{"a", 'a', OPTION_TEXT, "LABEL", NULL, "with --by label: which is A; the first seen unless given", AT(label_a), 0, 0, NULL},
	{"b", 'b', OPTION_TEXT, "LABEL", NULL, "with --by label: which is B", AT(label_b), 0, 0, NULL},
	{"target", 't', OPTION_TEXT, "URL", NULL, "which target of several; the first unless given", AT(target), 0, 0, NULL},
	{"warmup", 'w', OPTION_COUNT, "N", NULL, "first requests of each round kept apart (default: as recorded)", AT(warmup), 0, 1e9, NULL},
	{"every", 'e', OPTION_DURATION, "TIME", NULL, "interval that a log was asked to keep (default: inferred)", AT(every_ns), 1, 9e18, NULL},
	{"lenient", 0, OPTION_FLAG, NULL, NULL, "pass over what is damaged", AT(lenient), 0, 0, NULL},
	LOG_OPTIONS(struct compare_config, log),
	TABLE_OPTIONS(struct compare_config, 'c'),
	PAGER_OPTION(struct compare_config),
	{0},
};

/* Labels to arms: those asked for, or the first two seen. */
struct arms {
	int fixed;           /* arm of the file being read; -1: by label */
	char name[2][256];
	bool known[2];
	bool third;          /* a further label was seen, named here */
	char third_name[256];
	uint64_t seen;       /* rounds; --null without arms deals them out in Thue and Morse's order */
	bool dealt;
};

static int arm_of(void *context, const struct tare_record *record)
{
	struct arms *arms = context;
	const char *label = record->round->label ? record->round->label : "";
	if (arms->dealt)
		return tare_order_arm(arms->seen++, false);
	if (arms->fixed >= 0)
		return arms->fixed;
	for (int arm = 0; arm < 2; arm++) {
		if (arms->known[arm] && strcmp(arms->name[arm], label) == 0)
			return arm;
		if (!arms->known[arm]) {
			snprintf(arms->name[arm], sizeof arms->name[arm], "%s", label);
			arms->known[arm] = true;
			return arm;
		}
	}
	snprintf(arms->third_name, sizeof arms->third_name, "%s", label);
	arms->third = true;
	return -1;
}

static int find_separator(int count, char **operands)
{
	int at = 0;
	while (at < count && strcmp(operands[at], "--") != 0)
		at++;
	return at;
}

static int check(const struct compare_config *config, int count, int separator, struct tare_err *err)
{
	bool arms = separator < count;
	if (comparison_check(&config->table, err) < 0)
		return -1;
	if (config->by && strcmp(config->by, "label") != 0)
		return tare_fail(err, TARE_E_USAGE, "--by %s: rounds are told apart by label only", config->by);
	if (count == 0)
		return tare_fail(err, TARE_E_USAGE, "compare needs two sets: A... -- B..., or FILE --by label");
	if (arms && (separator == 0 || separator == count - 1))
		return tare_fail(err, TARE_E_USAGE, "there is no file on one side of --");
	if (arms && config->by)
		return tare_fail(err, TARE_E_USAGE, "--by label and -- exclude each other");
	if (!arms && !config->by && !config->verdict.null)
		return tare_fail(err, TARE_E_USAGE,
			"which rounds are A, which are B? 'A... -- B...', or --by label, or --null for one setting");
	if ((config->label_a || config->label_b) && !config->by)
		return tare_fail(err, TARE_E_USAGE, "--a and --b go with --by label");
	return 0;
}

static int read_files(const struct compare_config *config, int count, char **operands, struct arms *arms,
	struct tare_trials *trials, struct tare_err *err)
{
	const struct source_rules rules = {.every_ns = config->every_ns, .lenient = config->lenient,
		.format = config->log.format, .column = config->log.column, .unit = config->log.unit,
		.with = config->log.with};
	int separator = find_separator(count, operands);
	for (int i = 0; i < count; i++) {
		size_t added = 0;
		if (i == separator)
			continue;
		arms->fixed = separator < count ? i > separator : -1;
		if (trial_set_read(trials, operands[i], &rules, config->target, arm_of, arms, &added, err) < 0)
			return -1;
		if (added == 0 && !arms->third && arms->fixed >= 0)
			return tare_fail(err, TARE_E_FORMAT, "'%s' holds no samples: not verifiable: no n, no retest", operands[i]);
	}
	if (arms->third && !config->label_a && !config->label_b)
		return tare_fail(err, TARE_E_USAGE, "more than two labels ('%s', '%s', '%s'): name two with --a and --b",
			arms->name[0], arms->name[1], arms->third_name);
	return 0;
}

/* A recording by abba holds A, B and one leading round that is not scored. */
static void name_arms(const struct compare_config *config, struct arms *arms)
{
	const char *given[2] = {config->label_a, config->label_b};
	for (int arm = 0; arm < 2; arm++) {
		if (!given[arm])
			continue;
		snprintf(arms->name[arm], sizeof arms->name[arm], "%s", given[arm]);
		arms->known[arm] = true;
	}
}

/* The key of the first round, before any is counted: one stall limit holds for all. */
static int take_key(const struct compare_config *config, int count, char **operands, struct question *question,
	struct judging *judging, struct tare_err *err)
{
	const struct source_rules rules = {.every_ns = config->every_ns, .lenient = config->lenient,
		.format = config->log.format, .column = config->log.column, .unit = config->log.unit,
		.with = config->log.with};
	const char *first = operands[find_separator(count, operands) == 0 ? 1 : 0];
	struct calibrated calibrated;
	if (!config->verdict.calibration)
		return 0;
	if (calibrated_like(config->verdict.calibration, first, &rules, config->target, !config->verdict.stall_limit_ns,
		    &calibrated, err) < 0)
		return -1;
	judging->cpu_class = calibrated.cpu_class;
	judging->stall_limit_calibrated = calibrated.stall_limit_ns != TARE_NO_TIME;
	if (judging->stall_limit_calibrated)
		question->rules.stall_limit_ns = calibrated.stall_limit_ns;
	return 0;
}

static int judge(struct cli *cli, const struct compare_config *config, struct arms *arms, struct tare_trials *trials, struct judging *judging, struct tare_err *err)
{
	char note[256] = "";
	size_t count;
	AUTO_FREE struct tare_trial *sorted = trial_set_sorted(trials, &count);
	if (!sorted)
		return tare_fail_errno(err, ENOMEM, "cannot compare rounds");
	if (count == 0)
		return tare_fail(err, TARE_E_FORMAT, "no rounds to compare: not verifiable: no n, no retest");
	judging->stall_limit_ns = tare_trials_stall_limit_ns(trials);
	if (config->by && arms->known[0] && arms->name[0][0] && arms->name[1][0]) {
		judging->name_a = arms->name[0];
		judging->name_b = arms->name[1];
	}
	if (strcmp(sorted[0].url, sorted[count - 1].url) != 0) {
		struct text text = TEXT_IN(note);
		text_add(&text, "different targets: %.80s and %.80s", sorted[0].url, sorted[count - 1].url);
		judging->notes[judging->note_count++] = note;
	}
	return judge_trials(cli, judging, sorted, count, NULL, err);
}

static int compare_run(struct cli *cli, void *configuration, int operand_count, char **operands, struct tare_err *err)
{
	const struct compare_config *config = configuration;
	struct tare_trials *trials = NULL;
	struct question question;
	struct judging judging = {.options = &config->verdict, .question = &question, .table = &config->table};
	int separator = find_separator(operand_count, operands);
	if (check(config, operand_count, separator, err) < 0 || question_of(&config->verdict, &question, err) < 0)
		return -1;
	if (option_given(cli->options, "warmup"))
		question.rules.warmup = (int64_t)config->warmup;
	if (take_key(config, operand_count, operands, &question, &judging, err) < 0)
		return -1;
	AUTO_FREE struct arms *arms = calloc(1, sizeof *arms);
	if (!arms)
		return tare_fail_errno(err, ENOMEM, "cannot compare rounds");
	arms->dealt = config->verdict.null && separator == operand_count && !config->by;
	name_arms(config, arms);
	if (tare_trials_open(&question.rules, question.figures, question.count, &trials, err) < 0)
		return -1;
	int status = read_files(config, operand_count, operands, arms, trials, err);
	if (status == 0)
		status = judge(cli, config, arms, trials, &judging, err);
	tare_trials_free(trials);
	return status;
}

const struct command command_compare = {
	.name = "compare",
	.summary = "whether two sets of rounds differ, and by how much",
	.operands = "A... -- B... | FILE --by label",
	.examples = "  tare compare before1.tare before2.tare -- after1.tare after2.tare --primary p99 --margin 2%\n"
		    "  tare compare day.tare --by label --a 'rx-usecs 0' --b 'rx-usecs 100'\n"
		    "  tare compare idle.tare --null\n",
	.options = compare_options,
	.columns = columns_of_comparison,
	.config_bytes = sizeof(struct compare_config),
	.pages = true,
	.run = compare_run,
};
