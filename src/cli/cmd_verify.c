/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tare verify: measures now and judges against what was measured before: a
 * baseline taken right before a change, limits from a calibration, or limits
 * given. An alarm is raised only after an immediate second round says the same.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cli/calibration_file.h"
#include "cli/columns.h"
#include "cli/judge.h"
#include "cli/live_trials.h"
#include "cli/plan_lines.h"
#include "cli/trial_set.h"
#include "cli/verify_limits.h"
#include "tare/calibration.h"

struct verify_config {
	struct run_options run;
	struct verdict_options verdict;
	const char *baseline, *limit, *false_alarms;
	uint64_t rounds;
	int64_t peak_ns;
	double checks_per_day;
	bool nagios, prove;
};

#define AT(member) OPTION_AT(struct verify_config, member)
static const struct option verify_options[] = {
	{"baseline", 0, OPTION_TEXT, "FILE", NULL, "rounds from right before the change", AT(baseline), 0, 0, NULL},
	{"rounds", 'r', OPTION_COUNT, "N", "8", "rounds measured now against the baseline", AT(rounds), 1, 100000, NULL},
	{"limit", 0, OPTION_TEXT, "LIMIT,...", NULL, "'p99.9<20us'", AT(limit), 0, 0, NULL},
	{"prove", 0, OPTION_FLAG, NULL, NULL, "percentiles below their limits must be proved (95 %)", AT(prove), 0, 0, NULL},
	{"peak-rate", 0, OPTION_RATE, "RATE", NULL, "production's peak; \"no effect\" is said at no other rate", AT(peak_ns), 100, 3600e9, NULL},
	{"false-alarms", 0, OPTION_TEXT, "RATE", "1/month", "that calibrated limits may cost, over all figures", AT(false_alarms), 0, 0, NULL},
	{"checks-per-day", 0, OPTION_NUMBER, "N", "24", "how often this check runs", AT(checks_per_day), 0.01, 1e6, NULL},
	{"nagios", 0, OPTION_FLAG, NULL, NULL, "one line with performance data; exits 0, 2 or 3", AT(nagios), 0, 0, NULL},
	VERDICT_OPTIONS(struct verify_config),
	RUN_OPTIONS(struct verify_config),
	{0},
};

struct verify {
	struct cli *cli;
	const struct verify_config *config;
	struct question question;
	struct judging judging;      /* against a baseline */
	struct session_config session_config;
	struct session *session;
	struct tare_trials *trials;
	struct live_trials live;
	struct limit limits[LIMITS_MAX];
	struct limit_result results[LIMITS_MAX], first[LIMITS_MAX];
	size_t limit_count;
	struct tare_trial last;      /* row pointers belong to the trials */
	bool missed_rate, silent;
};

static int check(struct cli *cli, const struct verify_config *config, int targets, struct tare_err *err)
{
	if (targets != 1)
		return tare_fail(err, TARE_E_USAGE, "verify takes one target");
	if (!config->baseline && !config->verdict.calibration && !config->limit)
		return tare_fail(err, TARE_E_USAGE, "against what? --baseline FILE, --calibration FILE, or --limit 'p99.9<20us'");
	if (config->baseline && config->limit)
		return tare_fail(err, TARE_E_USAGE, "--baseline and --limit exclude each other");
	if (config->prove && !config->limit)
		return tare_fail(err, TARE_E_USAGE, "--prove goes with --limit");
	if (config->nagios && (config->verdict.json || config->verdict.csv))
		return tare_fail(err, TARE_E_USAGE, "--nagios, --json and --csv exclude each other");
	return run_options_check(cli, &config->run, err);
}

static int64_t interval_of(const struct verify_config *config)
{
	return config->run.rate_ns ? config->run.rate_ns : config->run.every_ns;
}

static bool at_peak(const struct verify_config *config)
{
	return config->peak_ns && fabs((double)(interval_of(config) - config->peak_ns)) <= 0.01 * (double)config->peak_ns;
}

/* ---- rounds ---- */

/* Limits are looked at while the round's samples are still there. */
static int take_round(void *context, const struct tare_record *records, size_t count, struct tare_err *err)
{
	struct verify *verify = context;
	struct session_events events = live_trials_events(&verify->live);
	const struct tare_trial *list;
	size_t before = tare_trials_list(verify->trials, &list);
	if (events.round(events.context, records, count, err) < 0)
		return -1;
	size_t have = tare_trials_list(verify->trials, &list);
	if (have == before)
		return 0;
	verify->last = list[have - 1];
	verify->missed_rate = verify->last.rate_held < 0.99 * verify->last.rate_asked;
	verify->silent = !verify->last.row_count || verify->last.rows[0].n == 0;
	for (size_t i = 0; i < verify->limit_count; i++)
		verify->results[i] = limit_check(&verify->limits[i], &verify->last, &records[0], verify->config->prove);
	return 0;
}

static void take_note(void *context, const char *text)
{
	struct verify *verify = context;
	struct session_events events = live_trials_events(&verify->live);
	events.note(events.context, text);
}

static int measure(struct verify *verify, uint64_t rounds, bool *ret_interrupted, struct tare_err *err)
{
	struct session_events events = {.round = take_round, .note = take_note, .context = verify};
	verify->live.arm = 'B';
	verify->live.one_arm = true;
	for (uint64_t i = 0; i < rounds && !*ret_interrupted; i++) {
		verify->live.position = (uint32_t)i + 1;
		verify->live.positions = (uint32_t)rounds;
		if (session_round(verify->session, &events, "now", ret_interrupted, err) < 0)
			return -1;
	}
	return 0;
}

/* ---- against a baseline ---- */

static int take_baseline(void *context, const struct tare_record *record)
{
	(void)context;
	(void)record;
	return 0;
}

static int judge_baseline(struct verify *verify, struct tare_err *err)
{
	const struct verify_config *config = verify->config;
	struct judging *judging = &verify->judging;
	judging->options = &config->verdict;
	judging->question = &verify->question;
	judging->name_a = "before";
	judging->name_b = "now";
	judging->stall_limit_ns = tare_trials_stall_limit_ns(verify->trials);
	char peak[200] = "", rate[32];
	size_t count;
	AUTO_FREE struct tare_trial *sorted = trial_set_sorted(verify->trials, &count);
	if (!sorted)
		return tare_fail_errno(err, ENOMEM, "cannot compare rounds");
	format_rate(1e9 / (double)interval_of(config), rate, sizeof rate);
	if (!at_peak(config))
		snprintf(peak, sizeof peak, "\"no effect\" is not said: this ran at %s, %s", rate,
			config->peak_ns ? "not at the declared peak" : "and no --peak-rate says what production's peak is");
	judging->withhold = peak[0] ? peak : NULL;
	return judge_trials(verify->cli, judging, sorted, count, NULL, err);
}

static int run_baseline(struct verify *verify, bool *ret_interrupted, struct tare_err *err)
{
	const struct source_rules rules = {0};
	size_t added;
	if (plan_check_visible(&verify->question.figures[0], plan_requests(&verify->session_config), err) < 0)
		return -1;
	if (trial_set_read(verify->trials, verify->config->baseline, &rules, verify->session_config.urls[0], take_baseline, NULL,
		    &added, err) < 0)
		return -1;
	if (added == 0)
		return tare_fail(err, TARE_E_FORMAT, "'%s' holds no rounds of %s", verify->config->baseline,
			verify->session_config.urls[0]);
	if (measure(verify, verify->config->rounds, ret_interrupted, err) < 0)
		return -1;
	return *ret_interrupted ? 130 : judge_baseline(verify, err);
}

/* ---- against limits ---- */

static int calibrated_limits(struct verify *verify, struct tare_err *err)
{
	const struct verify_config *config = verify->config;
	const struct question *question = &verify->question;
	struct tare_trial like = live_trials_like(&verify->session_config, verify->session);
	const struct calibration_key key = {.like = &like, .cpu_class = verify->judging.cpu_class};
	struct calibration_file *file = NULL;
	struct tare_calibration calibration;
	double per_month = 0;
	char note[CALIBRATION_NOTE];
	if (tare_false_alarms_parse(config->false_alarms, &per_month, err) < 0)
		return tare_err_prefix(err, "--false-alarms");
	if (calibration_file_open(config->verdict.calibration, &question->rules, question->figures, question->count, &key,
		    &file, note, sizeof note, err) < 0)
		return -1;
	size_t possible = 0;
	for (size_t i = 0; i < question->count; i++)
		possible += calibration_file_figure(file, &question->figures[i], &calibration) ? 1 : 0;
	double chance = tare_alarm_budget(per_month, config->checks_per_day, possible);
	for (size_t i = 0; i < question->count; i++) {
		if (!calibration_file_figure(file, &question->figures[i], &calibration))
			continue;
		struct tare_alarm alarm = tare_alarm_of(&calibration, chance, 1);
		if (!tare_alarm_usable(&calibration, &alarm)) {
			if (!config->nagios)
				fprintf(verify->cli->note, "%s is not usable as an alarm: its limit would be %.3g times what is usual.\n",
					question->figures[i].name, alarm.high_ns / calibration.centre_ns);
			continue;
		}
		verify->limits[verify->limit_count++] = (struct limit){
			.figure = question->figures[i], .low_ns = alarm.low_ns, .high_ns = alarm.high_ns, .calibrated = true};
	}
	if (!config->nagios)
		fprintf(verify->cli->note, "%s.\n", note);
	calibration_file_free(file);
	return verify->limit_count ? 0 : tare_fail(err, TARE_E_INVALID, "no figure of the calibration can serve as an alarm");
}

static bool any(const struct verify *verify, enum limit_word word)
{
	for (size_t i = 0; i < verify->limit_count; i++)
		if (verify->results[i].word == word)
			return true;
	return false;
}

/* A limit counts as exceeded when both rounds say so. */
static void confirm(struct verify *verify)
{
	for (size_t i = 0; i < verify->limit_count; i++)
		if (verify->first[i].word != LIMIT_EXCEEDED && verify->results[i].word == LIMIT_EXCEEDED)
			verify->results[i].word = LIMIT_HELD;
}

static void print_nagios(const struct verify *verify, int status, bool confirmed)
{
	static const char *const words[] = {"OK", "CRITICAL", "UNKNOWN"};
	FILE *out = verify->cli->out;
	char text[300];
	const char *joint = " - ";
	fprintf(out, "TARE %s", words[status == 0 ? 0 : status == 1 ? 1 : 2]);
	for (size_t i = 0; i < verify->limit_count; i++) {
		if ((status == 1) != (verify->results[i].word == LIMIT_EXCEEDED))
			continue;
		limit_sentence(&verify->limits[i], &verify->results[i], text, sizeof text);
		fprintf(out, "%s%s%s", joint, text, confirmed && status == 1 ? " (again on the confirming run)" : "");
		joint = ", ";
	}
	if (verify->silent || verify->missed_rate)
		fprintf(out, "%s%s", joint, verify->silent ? "nothing answered" : "the rate was not held");
	fprintf(out, " |");
	for (size_t i = 0; i < verify->limit_count; i++) {
		limit_perfdata(&verify->limits[i], &verify->results[i], text, sizeof text);
		fprintf(out, " %s", text);
	}
	if (verify->last.row_count)
		fprintf(out, " stalls=%llu loss=%llu", (unsigned long long)verify->last.stalls[0].episodes,
			(unsigned long long)verify->last.rows[0].unanswered);
	fprintf(out, "\n");
}

static void print_limits(const struct verify *verify, bool confirmed)
{
	char text[300];
	for (size_t i = 0; i < verify->limit_count; i++) {
		const struct limit_result *result = &verify->results[i];
		limit_sentence(&verify->limits[i], result, text, sizeof text);
		report_sentence(verify->cli->out, verify->cli->columns, "%s%s%s.", result->word == LIMIT_EXCEEDED ? "alarm: " : "",
			text, confirmed && result->word == LIMIT_EXCEEDED ? " (again on the confirming run)" : "");
	}
	if (verify->silent || verify->missed_rate)
		cli_warn(verify->cli, "%s", verify->silent ? "nothing answered" : "the rate was not held: this says nothing");
}

/* What this many requests cannot say is said before they are sent. */
static int check_limits(const struct verify *verify, struct tare_err *err)
{
	uint64_t n = plan_requests(&verify->session_config);
	for (size_t i = 0; i < verify->limit_count; i++) {
		const struct limit *limit = &verify->limits[i];
		bool proof = verify->config->prove && limit->figure.kind == TARE_FIGURE_PERCENTILE;
		if (proof ? limit_check_provable(limit, n, err) < 0 : plan_check_visible(&limit->figure, n, err) < 0)
			return -1;
	}
	return 0;
}

static int run_limits(struct verify *verify, bool *ret_interrupted, struct tare_err *err)
{
	const struct verify_config *config = verify->config;
	bool confirmed = false;
	int status = config->limit ? limits_parse(config->limit, verify->limits, LIMITS_MAX, &verify->limit_count, err)
				   : calibrated_limits(verify, err);
	if (status < 0 || check_limits(verify, err) < 0)
		return -1;
	verify->live.figure = &verify->limits[0].figure;
	if (measure(verify, 1, ret_interrupted, err) < 0)
		return -1;
	if (!*ret_interrupted && any(verify, LIMIT_EXCEEDED)) {
		memcpy(verify->first, verify->results, sizeof verify->first);
		if (measure(verify, 1, ret_interrupted, err) < 0)
			return -1;
		confirm(verify);
		confirmed = true;
	}
	if (*ret_interrupted)
		return 130;
	status = verify->silent || verify->missed_rate ? 4
		 : any(verify, LIMIT_EXCEEDED)         ? 1
		 : any(verify, LIMIT_NOT_PROVED) || any(verify, LIMIT_UNKNOWN) ? 3
									       : 0;
	if (config->nagios)
		print_nagios(verify, status, confirmed);
	else
		print_limits(verify, confirmed);
	return status;
}

/* ---- the whole ---- */

static int run_session(struct verify *verify, struct tare_err *err)
{
	bool interrupted = false;
	struct tare_err failure = {0}, closing = {0};
	if (session_open(&verify->session_config, &verify->session, err) < 0)
		return -1;
	int status = verify->config->baseline ? run_baseline(verify, &interrupted, &failure)
					      : run_limits(verify, &interrupted, &failure);
	int closed = session_end(verify->session,
		status < 0    ? TARE_RUN_FAILED
		: interrupted ? TARE_RUN_INTERRUPTED
			      : TARE_RUN_FINISHED,
		failure.text, &closing);
	if (status < 0 || closed < 0) {
		*err = status < 0 ? failure : closing;
		return -1;
	}
	return status;
}

/* The limits' figures are told with the others. */
static int take_question(struct verify *verify, struct tare_err *err)
{
	struct limit limits[LIMITS_MAX];
	size_t count = 0;
	struct question *question = &verify->question;
	if (question_of(&verify->config->verdict, question, err) < 0 ||
		take_calibrated(&verify->config->verdict, &verify->session_config, question, &verify->judging, err) < 0)
		return -1;
	if (verify->config->limit && limits_parse(verify->config->limit, limits, LIMITS_MAX, &count, err) < 0)
		return -1;
	for (size_t i = 0; i < count && question->count < FIGURES_MAX; i++)
		question->figures[question->count++] = limits[i].figure;
	return tare_trials_open(&question->rules, question->figures, question->count, &verify->trials, err);
}

/* What monitoring expects: 0 fine, 2 critical, 3 whatever cannot be said. */
static int nagios_exit(int status)
{
	return status == 0 ? 0 : status == 1 ? 2 : 3;
}

static int verify_run(struct cli *cli, void *configuration, int operand_count, char **operands, struct tare_err *err)
{
	const struct verify_config *config = configuration;
	AUTO_FREE struct tare_setting *settings = NULL;
	AUTO_FREE char *command_line = NULL;
	if (check(cli, config, operand_count, err) < 0 || session_block_signals(err) < 0)
		return -1;
	AUTO_FREE struct verify *verify = calloc(1, sizeof *verify);
	if (!verify)
		return tare_fail_errno(err, ENOMEM, "cannot verify");
	verify->cli = cli;
	verify->config = config;
	verify->session_config = run_options_session(&config->run, operands, 1);
	verify->session_config.setting_count = run_options_settings(cli->options, &settings);
	verify->session_config.settings = settings;
	verify->session_config.command_line = command_line = run_options_command_line(cli);
	int status = take_question(verify, err);
	verify->live = (struct live_trials){.cli = cli, .trials = verify->trials, .figure = &verify->question.figures[0],
		.quiet = config->run.quiet || config->nagios};
	if (status == 0)
		status = run_session(verify, err);
	session_free(verify->session);
	tare_trials_free(verify->trials);
	if (!config->nagios || status == 130)
		return status;
	if (status < 0)
		fprintf(cli->out, "TARE UNKNOWN - %s\n", err->text);
	return status < 0 ? 3 : nagios_exit(status);
}

const struct command command_verify = {
	.name = "verify",
	.summary = "measures now and judges against a baseline, a calibration or limits",
	.operands = "TARGET --baseline FILE | --calibration FILE | --limit LIMIT",
	.examples = "  tare verify stamp://10.0.0.2 --baseline before.tare --rate 50k/s --peak-rate 50k/s --margin 2%\n"
		    "  tare verify stamp://10.0.0.2 --calibration calibration.tare --rate 50k/s --nagios\n"
		    "  tare verify udp://10.0.0.2:7000 --limit 'p99.9<20us' --prove --count 100000\n",
	.options = verify_options,
	.columns = columns_of_comparison,
	.config_bytes = sizeof(struct verify_config),
	.run = verify_run,
};
