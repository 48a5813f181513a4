/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tare abba: two settings in a planned order of rounds, and whether they differ.
 * Whatever ends it, the setting of A is put back and that is said.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cli/abba_resume.h"
#include "cli/columns.h"
#include "cli/judge.h"
#include "cli/live_trials.h"
#include "cli/plan_lines.h"
#include "cli/table_options.h"
#include "cli/trial_set.h"
#include "session/arms.h"

struct abba_config {
	struct run_options run;
	struct verdict_options verdict;
	const char *a, *b, *restore, *serve, *a_env, *b_env, *declare, *allow;
	uint64_t rounds;
	int64_t settle_ns, command_limit_ns;
	bool manual, resume;
	struct table_asked table;
};

#define AT(member) OPTION_AT(struct abba_config, member)
static const struct option abba_options[] = {
	{"a", 'a', OPTION_TEXT, "CMD", NULL, "command that puts on setting A", AT(a), 0, 0, NULL},
	{"b", 'b', OPTION_TEXT, "CMD", NULL, "command that puts on setting B", AT(b), 0, 0, NULL},
	{"restore", 0, OPTION_TEXT, "CMD", NULL, "run at the end, whatever ends it; --a unless given", AT(restore), 0, 0, NULL},
	{"serve", 0, OPTION_TEXT, "CMD", NULL, "responder, started anew before every round", AT(serve), 0, 0, NULL},
	{"a-env", 0, OPTION_TEXT, "VARS", NULL, "'NAME=VALUE ...' exported to the responder in A", AT(a_env), 0, 0, NULL},
	{"b-env", 0, OPTION_TEXT, "VARS", NULL, "the same in B", AT(b_env), 0, 0, NULL},
	{"manual", 0, OPTION_FLAG, NULL, NULL, "ask for each switch and wait for Enter", AT(manual), 0, 0, NULL},
	{"rounds", 'r', OPTION_COUNT, "N", "8", "scored rounds: 4, 8, 12, 16, ...", AT(rounds), 4, ORDER_MAX, NULL},
	{"settle", 0, OPTION_DURATION, "TIME", "2s", "wait between a switch and its round", AT(settle_ns), 0, 3600e9, NULL},
	{"command-limit", 0, OPTION_DURATION, "TIME", "60s", "a command that takes longer is ended", AT(command_limit_ns), 1e6, 86400e9, NULL},
	{"declare", 0, OPTION_TEXT, "KEY,...", NULL, "facts that are to change: KEY or KEY=A->B; no other may", AT(declare), 0, 0, NULL},
	{"allow", 0, OPTION_TEXT, "KEY,...", NULL, "facts that may move along", AT(allow), 0, 0, NULL},
	{"resume", 0, OPTION_FLAG, NULL, NULL, "go on with the comparison that -o FILE holds", AT(resume), 0, 0, NULL},
	VERDICT_OPTIONS(struct abba_config),
	TABLE_OPTIONS(struct abba_config, 0),
	RUN_OPTIONS(struct abba_config),
	{0},
};

/* Everything of one comparison under way. */
struct abba {
	struct cli *cli;
	const struct abba_config *config;
	struct question question;
	struct session_config session_config;
	struct session *session;
	struct tare_trials *trials;
	struct abba_progress *progress;
	struct arms *arms;
	struct live_trials live;
	struct judging judging;
	char settings_note[2048], restored_note[256];
	const char *declared[64], *allowed[64];
	size_t declared_count, allowed_count;
	char *lists;
};

static int check(struct cli *cli, const struct abba_config *config, int targets, struct tare_err *err)
{
	bool commands = config->a && config->b;
	bool environment = config->serve && (config->a_env || config->b_env);
	if (comparison_check(&config->table, err) < 0)
		return -1;
	if (config->rounds % 4)
		return tare_fail(err, TARE_E_USAGE, "--rounds %llu: a multiple of four, so that drift cancels",
			(unsigned long long)config->rounds);
	if (!commands && !environment && !config->manual && !config->verdict.null)
		return tare_fail(err, TARE_E_USAGE,
			"how do A and B differ? --a CMD and --b CMD, --serve CMD with --a-env and --b-env, or --manual");
	if (!config->verdict.null && !config->a != !config->b)
		return tare_fail(err, TARE_E_USAGE, "--a and --b go together");
	if (config->manual && (config->a || config->b))
		return tare_fail(err, TARE_E_USAGE, "--manual and --a, --b exclude each other");
	if ((config->a_env || config->b_env) && !config->serve)
		return tare_fail(err, TARE_E_USAGE, "--a-env and --b-env are for the responder that --serve starts");
	if (config->resume && !config->run.output)
		return tare_fail(err, TARE_E_USAGE, "--resume needs -o FILE, the recording to go on with");
	if (!config->resume && config->run.output && access(config->run.output, F_OK) == 0)
		return tare_fail(err, TARE_E_USAGE,
			"'%s' exists: --resume goes on with a comparison in it that was cut short, another name begins a new one",
			config->run.output);
	if (targets == 0)
		return tare_fail(err, TARE_E_USAGE, "no target given; one is SCHEME://HOST[:PORT], as udp://10.0.0.2:7000");
	return run_options_check(cli, &config->run, err);
}

/* "x,y" into places of the list; the text is cut up. */
static size_t split(char *text, const char **list, size_t room)
{
	size_t count = 0;
	char *rest = text;
	for (char *word; text && count < room && (word = strtok_r(rest, ",", &rest));)
		list[count++] = word;
	return count;
}

static int split_lists(struct abba *abba, struct tare_err *err)
{
	const char *declare = abba->config->declare ? abba->config->declare : "";
	const char *allow = abba->config->allow ? abba->config->allow : "";
	size_t first = strlen(declare) + 1;
	abba->lists = malloc(first + strlen(allow) + 1);
	if (!abba->lists)
		return tare_fail_errno(err, ENOMEM, "cannot plan the rounds");
	memcpy(abba->lists, declare, first);
	memcpy(abba->lists + first, allow, strlen(allow) + 1);
	abba->declared_count = split(abba->lists, abba->declared, 64);
	abba->allowed_count = split(abba->lists + first, abba->allowed, 64);
	return 0;
}

/* The person switches and presses Enter; end of input or Ctrl-C gives up. */
static bool ask(void *context, char arm)
{
	struct abba *abba = context;
	char line[64];
	fprintf(abba->cli->note, "  put on setting %c, then press Enter ", arm);
	fflush(abba->cli->note);
	return !session_interrupted(abba->session) && fgets(line, sizeof line, stdin) != NULL;
}

static void begins(void *context, uint32_t position, char arm)
{
	struct abba *abba = context;
	abba->live.position = position;
	abba->live.arm = arm;
}

static void draw_order(struct abba *abba)
{
	struct abba_progress *progress = abba->progress;
	if (progress->run)
		return;
	progress->seed = session_run_of(abba->session)->seed;
	for (size_t i = 0; i < abba->config->rounds; i++)
		progress->order[i] = tare_order_arm(i, progress->seed & 1) ? 'B' : 'A';
}

static int write_plan(struct abba *abba, struct tare_err *err)
{
	const struct abba_config *config = abba->config;
	struct tare_writer *writer;
	struct tare_plan plan = {.kind = "abba", .continues = abba->progress->run, .order = abba->progress->order,
		.seed = abba->progress->seed, .settle_ns = config->settle_ns, .a = config->a ? config->a : config->a_env,
		.b = config->b ? config->b : config->b_env, .restore = config->restore, .primary = config->verdict.primary,
		.margin = config->verdict.margin};
	if (session_writer(abba->session, &writer, err) < 0)
		return -1;
	return writer ? tare_writer_plan(writer, session_run_of(abba->session)->id, &plan, err) : 0;
}

static int announce(struct abba *abba, struct tare_err *err)
{
	const struct abba_config *config = abba->config;
	struct tare_trial like = live_trials_like(&abba->session_config, abba->session);
	struct comparison_plan plan = {.order = abba->progress->order, .done = abba->progress->done_count,
		.settle_ns = config->settle_ns, .a = config->a, .b = config->b, .session = &abba->session_config,
		.question = &abba->question, .calibration = config->verdict.calibration, .like = &like, .quiet = config->run.quiet};
	if (!config->run.quiet)
		run_options_announce(abba->cli, &abba->session_config, abba->session);
	return plan_lines_print(abba->cli, &plan, err);
}

static int open_arms(struct abba *abba, struct tare_err *err)
{
	const struct abba_config *config = abba->config;
	struct arms_config arms = {.a = config->a, .b = config->b, .restore = config->restore, .serve = config->serve,
		.a_env = config->a_env, .b_env = config->b_env, .manual = config->manual, .settle_ns = config->settle_ns,
		.command_limit_ns = config->command_limit_ns, .order = abba->progress->order, .done = abba->progress->done,
		.declared = abba->declared, .declared_count = abba->declared_count, .allowed = abba->allowed,
		.allowed_count = abba->allowed_count, .null = config->verdict.null, .tool = cli_version()};
	return arms_open(&arms, abba->session, &abba->arms, err);
}

/* Facts of all rounds; a comparison cut short may have too few for it. */
static int take_settings(struct abba *abba, struct tare_err *err)
{
	struct tare_reasons *reasons = &abba->judging.reasons;
	struct tare_err why = {0};
	if (arms_settings(abba->arms, reasons->text, TARE_REASONS_MAX, &reasons->count, abba->settings_note,
		    sizeof abba->settings_note, &why) < 0) {
		/* a resumed comparison may only have measured one arm in this run */
		if (why.code != TARE_E_INVALID) {
			*err = why;
			return -1;
		}
		reasons->count = 0;
	}
	return 0;
}

static int64_t ns_of(double value)
{
	return isfinite(value) ? (int64_t)llround(value) : TARE_NO_TIME;
}

static int write_verdict(struct abba *abba, const struct tare_verdict *verdict, int exit_status, struct tare_err *err)
{
	struct tare_writer *writer;
	char sentence[1024];
	double scale = verdict->as_share ? verdict->value_a : 1;
	tare_verdict_sentence(verdict, sentence, sizeof sentence);
	struct tare_plan_verdict row = {.figure = verdict->figure.name, .verdict = tare_verdict_name(verdict->kind),
		.sentence = sentence, .primary = true, .rounds_a = verdict->rounds_a, .rounds_b = verdict->rounds_b,
		.value_a_ns = ns_of(verdict->value_a), .value_b_ns = ns_of(verdict->value_b),
		.effect_ns = ns_of(verdict->effect_ns), .low_ns = ns_of(verdict->low * scale),
		.high_ns = ns_of(verdict->high * scale), .s_ns = ns_of(verdict->s * scale), .exit = exit_status};
	if (session_writer(abba->session, &writer, err) < 0)
		return -1;
	return writer ? tare_writer_verdict(writer, session_run_of(abba->session)->id, &row, err) : 0;
}

static int judge(struct abba *abba, struct tare_err *err)
{
	struct tare_verdict primary;
	size_t count;
	AUTO_FREE struct tare_trial *sorted = trial_set_sorted(abba->trials, &count);
	if (!sorted)
		return tare_fail_errno(err, ENOMEM, "cannot compare rounds");
	struct judging *judging = &abba->judging;
	judging->options = &abba->config->verdict;
	judging->question = &abba->question;
	judging->table = &abba->config->table;
	judging->order = abba->progress->order;
	judging->seed = abba->progress->seed;
	judging->stall_limit_ns = tare_trials_stall_limit_ns(abba->trials);
	if (take_settings(abba, err) < 0)
		return -1;
	judging->notes[judging->note_count++] = abba->settings_note;
	judging->notes[judging->note_count++] = arms_restored(abba->arms);
	int status = judge_trials(abba->cli, judging, sorted, count, &primary, err);
	if (status >= 0 && write_verdict(abba, &primary, status, err) < 0)
		return -1;
	return status;
}

/* Ended early: what was put back, and how to go on. */
static void say_ending(struct abba *abba, const char *why)
{
	size_t done = abba->progress->done_count + abba->live.kept;
	cli_warn(abba->cli, "%s after %zu of %zu rounds: no verdict%s%s%s", why, done, strlen(abba->progress->order),
		arms_restored(abba->arms)[0] ? "; " : "", arms_restored(abba->arms),
		abba->config->run.output ? "; the same command with --resume goes on" : "");
}

static int run_arms(struct abba *abba, struct tare_err *err)
{
	struct arms_events events = {.session = live_trials_events(&abba->live), .begins = begins, .ask = ask, .context = abba};
	struct tare_err failure = {0}, closing = {0};
	int status = 0;
	enum tare_run_status ending = TARE_RUN_FINISHED;
	switch (arms_run(abba->arms, &events, &failure)) {
	case ARMS_COMPLETE:
		status = judge(abba, &failure);
		ending = status < 0 ? TARE_RUN_FAILED : TARE_RUN_FINISHED;
		break;
	case ARMS_INTERRUPTED:
		say_ending(abba, "interrupted");
		ending = TARE_RUN_INTERRUPTED;
		status = 130;
		break;
	case ARMS_FAILED:
		say_ending(abba, "ended");
		ending = TARE_RUN_FAILED;
		status = -1;
		break;
	}
	int closed = session_end(abba->session, ending, failure.text, &closing);
	if (status < 0 || closed < 0) {
		*err = status < 0 ? failure : closing;
		return -1;
	}
	return status;
}

static int run_session(struct abba *abba, struct tare_err *err)
{
	if (session_open(&abba->session_config, &abba->session, err) < 0)
		return -1;
	draw_order(abba);
	abba->live.positions = (uint32_t)strlen(abba->progress->order);
	if (announce(abba, err) < 0 || open_arms(abba, err) < 0 || write_plan(abba, err) < 0) {
		struct tare_err ignored;
		if (session_end(abba->session, TARE_RUN_FAILED, err->text, &ignored) < 0)
			return -1;
		return -1;
	}
	return run_arms(abba, err);
}

static void abba_end(struct abba *abba)
{
	arms_free(abba->arms);
	session_free(abba->session);
	tare_trials_free(abba->trials);
	free(abba->progress);
	free(abba->lists);
}

static int prepare(struct abba *abba, struct tare_err *err)
{
	const struct abba_config *config = abba->config;
	abba->progress = calloc(1, sizeof *abba->progress);
	if (!abba->progress)
		return tare_fail_errno(err, ENOMEM, "cannot plan the rounds");
	if (question_of(&config->verdict, &abba->question, err) < 0 ||
		take_calibrated(&config->verdict, &abba->session_config, &abba->question, &abba->judging, err) < 0 ||
		split_lists(abba, err) < 0 ||
		tare_trials_open(&abba->question.rules, abba->question.figures, abba->question.count, &abba->trials, err) < 0)
		return -1;
	if (config->resume && abba_progress_read(config->run.output, config->a ? config->a : config->a_env,
				      config->b ? config->b : config->b_env, config->rounds, abba->trials, abba->progress, err) < 0)
		return -1;
	if (abba->progress->run && abba->progress->done_count == config->rounds)
		return tare_fail(err, TARE_E_USAGE, "all %llu rounds are in '%s': tare compare %s --by label judges them",
			(unsigned long long)config->rounds, config->run.output, config->run.output);
	abba->live = (struct live_trials){.cli = abba->cli, .trials = abba->trials, .figure = &abba->question.figures[0],
		.quiet = config->run.quiet};
	return 0;
}

static int abba_run(struct cli *cli, void *configuration, int operand_count, char **operands, struct tare_err *err)
{
	const struct abba_config *config = configuration;
	AUTO_FREE struct tare_setting *settings = NULL;
	AUTO_FREE char *command_line = NULL;
	if (check(cli, config, operand_count, err) < 0 || session_block_signals(err) < 0)
		return -1;
	AUTO_FREE struct abba *abba = calloc(1, sizeof *abba);
	if (!abba)
		return tare_fail_errno(err, ENOMEM, "cannot plan the rounds");
	abba->cli = cli;
	abba->config = config;
	abba->session_config = run_options_session(&config->run, operands, (size_t)operand_count);
	abba->session_config.append = config->resume;
	abba->session_config.ask_peer = true;
	abba->session_config.setting_count = run_options_settings(cli->options, &settings);
	abba->session_config.settings = settings;
	abba->session_config.command_line = command_line = run_options_command_line(cli);
	int status = prepare(abba, err);
	if (status == 0)
		status = run_session(abba, err);
	abba_end(abba);
	return status;
}

const struct command command_abba = {
	.name = "abba",
	.summary = "measures two settings in alternation and says whether they differ",
	.operands = "TARGET... --a CMD --b CMD [options]",
	.examples = "  tare abba --a 'ethtool -C eth0 rx-usecs 0' --b 'ethtool -C eth0 rx-usecs 100' \\\n"
		    "            --primary p99 --margin 2% stamp://10.0.0.2 --rate 50k/s --count 100000\n"
		    "  tare abba --serve 'tare echo udp://127.0.0.1:7000' --a-env 'A=1' --b-env 'A=2' udp://127.0.0.1:7000\n"
		    "  tare abba --null --rounds 8 udp://10.0.0.2:7000\n",
	.options = abba_options,
	.columns = columns_of_comparison,
	.config_bytes = sizeof(struct abba_config),
	.run = abba_run,
};
