/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tare calibrate: identical rounds, and what they differ by. The recording is the
 * calibration; spreads and limits are computed anew whenever it is used, so that
 * "tare calibrate --calibration FILE" prints today's limits of last month's rounds.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cli/calibration_file.h"
#include "cli/columns.h"
#include "cli/live_trials.h"
#include "cli/null_tally.h"
#include "cli/table_options.h"
#include "cli/verdict_options.h"
#include "host/host.h"
#include "report/calibration_view.h"
#include "tare/plan.h"

struct calibrate_config {
	struct run_options run;
	struct verdict_options verdict;
	const char *false_alarms, *loopback;
	uint64_t rounds;
	double checks_per_day;
	struct table_asked table;
};

#define AT(member) OPTION_AT(struct calibrate_config, member)
#define VERDICT(member) OPTION_AT(struct calibrate_config, verdict.member)
static const struct option calibrate_options[] = {
	{"rounds", 'r', OPTION_COUNT, "N", "20", "identical rounds; ten are the fewest that make limits", AT(rounds), 2, 100000, NULL},
	{"calibration", 0, OPTION_TEXT, "FILE", NULL, "print what this one says; nothing is measured", VERDICT(calibration), 0, 0, NULL},
	{"also", 0, OPTION_TEXT, "FIGURE,...", "p50,p99,p99.9,pdv", "figures to calibrate", VERDICT(also), 0, 0, NULL},
	{"false-alarms", 0, OPTION_TEXT, "RATE", "1/month", "false alarms that limits may cost, over all figures", AT(false_alarms), 0, 0, NULL},
	{"checks-per-day", 0, OPTION_NUMBER, "N", "24", "how often the limits will be looked at", AT(checks_per_day), 0.01, 1e6, NULL},
	{"loopback", 0, OPTION_TEXT, "URL", NULL, "measure the instrument alone against this responder too", AT(loopback), 0, 0, NULL},
	{"stall-limit", 0, OPTION_DURATION, "TIME", NULL, "a stall is above this", VERDICT(stall_limit_ns), 1, 9e18, NULL},
	{"json", 0, OPTION_FLAG, NULL, NULL, "print as JSON", VERDICT(json), 0, 0, NULL},
	{"csv", 0, OPTION_FLAG, NULL, NULL, "print as CSV", VERDICT(csv), 0, 0, NULL},
	TABLE_OPTIONS(struct calibrate_config, 0),
	RUN_OPTIONS(struct calibrate_config),
	{0},
};

static int check(struct cli *cli, const struct calibrate_config *config, int targets, struct tare_err *err)
{
	if (config->verdict.calibration && targets)
		return tare_fail(err, TARE_E_USAGE, "--calibration prints what a file says; give no target with it");
	if (!config->verdict.calibration && targets != 1)
		return tare_fail(err, TARE_E_USAGE, "calibrate takes one target: a calibration is of one path");
	if (calibration_check(&config->table, err) < 0)
		return -1;
	return run_options_check(cli, &config->run, err);
}

/* ---- measuring ---- */

/*
 * The hash of this host's settings, by which a later user of the calibration sees that they have changed. Not the hash
 * that stands around the rounds: that one covers the route to the target too.
 */
static int note_settings(struct tare_writer *writer, int64_t run, struct tare_err *err)
{
	struct host_question question = {.tool = cli_version()};
	struct host_snapshot *snapshot = NULL;
	if (host_read(&question, &snapshot, err) < 0)
		return -1;
	struct tare_fact fact = {
		.side = "local", .moment = "start", .key = CALIBRATION_SETTINGS, .value = snapshot->header.hash};
	int status = tare_writer_facts(writer, run, 0, &fact, 1, err);
	host_snapshot_free(snapshot);
	return status;
}

static int measure_rounds(struct live_trials *live, struct session *session, uint64_t rounds, const char *label,
	bool *ret_interrupted, struct tare_err *err)
{
	struct session_events events = live_trials_events(live);
	struct tare_writer *writer;
	struct tare_plan plan = {.kind = "calibrate", .settle_ns = TARE_NO_TIME};
	if (session_writer(session, &writer, err) < 0)
		return -1;
	if (writer && (tare_writer_plan(writer, session_run_of(session)->id, &plan, err) < 0 ||
			      note_settings(writer, session_run_of(session)->id, err) < 0))
		return -1;
	for (uint64_t i = 0; i < rounds && !*ret_interrupted; i++) {
		live->position = (uint32_t)i + 1;
		if (session_round(session, &events, label, ret_interrupted, err) < 0)
			return -1;
	}
	return 0;
}

/* One run of identical rounds into the recording. */
static int measure(struct cli *cli, struct session_config *session_config, const struct question *question,
	uint64_t rounds, const char *label, bool *ret_interrupted, struct tare_err *err)
{
	struct session *session = NULL;
	struct tare_trials *trials = NULL;
	struct tare_err failure = {0}, closing = {0};
	if (session_open(session_config, &session, err) < 0)
		return -1;
	run_options_announce(cli, session_config, session);
	int status = tare_trials_open(&question->rules, question->figures, question->count, &trials, &failure);
	struct live_trials live = {.cli = cli, .trials = trials, .figure = &question->figures[0],
		.positions = (uint32_t)rounds, .one_arm = true};
	if (status == 0)
		status = measure_rounds(&live, session, rounds, label, ret_interrupted, &failure);
	enum tare_run_status ending =
		status < 0 ? TARE_RUN_FAILED : *ret_interrupted ? TARE_RUN_INTERRUPTED : TARE_RUN_FINISHED;
	int closed = session_end(session, ending, failure.text, &closing);
	tare_trials_free(trials);
	session_free(session);
	if (status < 0 || closed < 0) {
		*err = status < 0 ? failure : closing;
		return -1;
	}
	return 0;
}

static int measure_all(struct cli *cli, const struct calibrate_config *config, const struct question *question,
	char **operands, const char *output, struct tare_err *err)
{
	AUTO_FREE struct tare_setting *settings = NULL;
	AUTO_FREE char *command_line = run_options_command_line(cli);
	struct session_config session = run_options_session(&config->run, operands, 1);
	char *loopback[] = {(char *)config->loopback};
	bool interrupted = false;
	session.output = output;
	session.append = true;
	session.setting_count = run_options_settings(cli->options, &settings);
	session.settings = settings;
	session.command_line = command_line;
	if (measure(cli, &session, question, config->rounds, "", &interrupted, err) < 0)
		return -1;
	if (config->loopback && !interrupted) {
		session.urls = (const char *const *)loopback;
		if (measure(cli, &session, question, config->rounds, CALIBRATION_INSTRUMENT, &interrupted, err) < 0)
			return -1;
	}
	return interrupted ? 130 : 0;
}

/* ---- what it says ---- */

/* Figures that cannot be told, and limits that are none. */
static void print_gaps(struct cli *cli, const struct question *question, const struct calibration_file *file,
	const struct calibration_row *rows, size_t count)
{
	struct tare_calibration ignored;
	char line[512];
	struct text text = TEXT_IN(line);
	for (size_t i = 0; i < question->count; i++)
		if (!calibration_file_figure(file, &question->figures[i], &ignored))
			text_add(&text, "%s%s", text.used ? ", " : "not told: ", question->figures[i].name);
	if (text.used)
		report_sentence(cli->out, cli->columns,
			"%s: counts, or not visible in every round; a percentile needs ten values behind it, p99 --count 1000, p99.9 "
			"and pdv 10000.",
			line);
	for (size_t i = 0; i < count; i++)
		if (!tare_alarm_usable(&rows[i].calibration, &rows[i].alarm))
			report_sentence(cli->out, cli->columns,
				"%s is not usable as an alarm: identical rounds differ so much (s_r %.3g %%) that its limit would be "
				"%.3g times what is usual; longer rounds or more of them help.",
				rows[i].calibration.figure.name, 100 * rows[i].calibration.sitting.s,
				rows[i].alarm.high_ns / rows[i].calibration.centre_ns);
}

static void print_sentences(struct cli *cli, const struct calibrate_config *config, const struct calibration_file *file,
	const struct calibration_row *rows, size_t count, const char *note)
{
	const struct tare_calibration *c = &rows[0].calibration;
	char limit[32] = "unknown";
	int width = cli->columns;
	int64_t limit_ns = calibration_file_stall_limit_ns(file);
	if (limit_ns != TARE_NO_TIME)
		format_duration(limit_ns, limit, sizeof limit);
	report_sentence(cli->out, width, "%s; %llu sitting%s, %llu host%s.", note, (unsigned long long)c->sittings,
		c->sittings == 1 ? "" : "s", (unsigned long long)c->hosts, c->hosts == 1 ? "" : "s");
	report_sentence(cli->out, width, "stall limit %s (10 x the lowest stable median), taken by all that is given --calibration.", limit);
	report_sentence(cli->out, width,
		"limits: %s over %zu figure%s at %g checks a day, %.3g %% a check and figure. Twice the largest retest "
		"difference instead: %.2g %% a check, and it would see a shift of 4 s_r in %.0f %% of checks.",
		config->false_alarms, count, count == 1 ? "" : "s", config->checks_per_day, 100 * rows[0].alarm.chance,
		100 * tare_doubled_rule_chance(c->rounds), 100 * tare_doubled_rule_power(c->rounds, 4));
	if (c->rounds < TARE_CALIBRATION_ROUNDS)
		report_sentence(cli->out, width,
			"%llu rounds make no good limit, by any rule: ten are the fewest, twenty over three days are better.",
			(unsigned long long)c->rounds);
	if (c->sittings < 2)
		report_sentence(cli->out, width,
			"one sitting: another day, restart or reboot may differ by more; calibrate again then, into the same file.");
	for (size_t i = 0; i < count; i++) {
		double share;
		if (!calibration_file_instrument(file, &rows[i].calibration.figure, &share))
			continue;
		double capability = tare_capability(share, rows[i].sees[1]);
		report_sentence(cli->out, width, "instrument on %s: s %.2g %%, %.0f %% of what 8 rounds see: %s.",
			rows[i].calibration.figure.name, 100 * share, 100 * capability, tare_capability_word(capability));
	}
}

static int print(struct cli *cli, const struct calibrate_config *config, const struct question *question, const char *path,
	const struct calibration_key *key, struct tare_err *err)
{
	struct calibration_file *file = NULL;
	struct calibration_row rows[FIGURES_MAX];
	double per_month = 0;
	char note[CALIBRATION_NOTE];
	size_t count = 0, possible = 0;
	if (tare_false_alarms_parse(config->false_alarms, &per_month, err) < 0)
		return tare_err_prefix(err, "--false-alarms");
	if (calibration_file_open(path, &question->rules, question->figures, question->count, key, &file, note, sizeof note,
		    err) < 0)
		return -1;
	struct tare_calibration calibrations[FIGURES_MAX];
	for (size_t i = 0; i < question->count; i++)
		possible += calibration_file_figure(file, &question->figures[i], &calibrations[possible]) ? 1 : 0;
	double chance = tare_alarm_budget(per_month, config->checks_per_day, possible);
	for (size_t i = 0; i < possible; i++)
		calibration_row_of(&calibrations[i], chance, 1, &rows[count++]);
	const struct format *format =
		config->verdict.json ? &format_json : config->verdict.csv ? &format_csv : &format_text;
	int status = count ? calibration_print(cli->out, cli->columns, format, &config->table, rows, count, err)
			   : tare_fail(err, TARE_E_INVALID, "none of the figures can be seen in the rounds of '%s'", path);
	if (status == 0 && format == &format_text && !config->table.columns) {
		print_sentences(cli, config, file, rows, count, note);
		print_gaps(cli, question, file, rows, count);
	}
	calibration_file_free(file);
	return status;
}

static int calibrate_run(struct cli *cli, void *configuration, int operand_count, char **operands, struct tare_err *err)
{
	struct calibrate_config *config = configuration;
	struct question question;
	char path[4096];
	config->verdict.primary = "p50";
	config->verdict.stall_ratio = 10;
	if (check(cli, config, operand_count, err) < 0 || question_of(&config->verdict, &question, err) < 0)
		return -1;
	if (config->verdict.calibration)
		return print(cli, config, &question, config->verdict.calibration, &(struct calibration_key){.like = NULL}, err);
	if (session_block_signals(err) < 0)
		return -1;
	if (!config->run.output && state_path("calibration.tare", path, sizeof path, err) < 0)
		return -1;
	const char *output = config->run.output ? config->run.output : path;
	int status = measure_all(cli, config, &question, operands, output, err);
	if (status != 0)
		return status;
	fprintf(cli->note, "%s holds the calibration.\n", output);
	char kind[32];
	struct tare_trial like = calibration_like(operands[0],
		config->run.rate_ns ? config->run.rate_ns : config->run.every_ns, (uint32_t)config->run.warmup, kind, sizeof kind);
	struct session_config session = run_options_session(&config->run, operands, 1);
	const struct calibration_key key = {.like = &like, .cpu_class = cpu_class_of(session.cpu)};
	return print(cli, config, &question, output, &key, err);
}

const struct command command_calibrate = {
	.name = "calibrate",
	.summary = "measures identical rounds: what differs without a change, and alarm limits",
	.operands = "TARGET [options] | --calibration FILE",
	.examples = "  tare calibrate stamp://10.0.0.2 --rate 50k/s --count 100000 --rounds 20 -o calibration.tare\n"
		    "  tare calibrate --calibration calibration.tare --false-alarms 1/month --checks-per-day 24\n",
	.options = calibrate_options,
	.columns = columns_of_calibrate,
	.config_bytes = sizeof(struct calibrate_config),
	.run = calibrate_run,
};
