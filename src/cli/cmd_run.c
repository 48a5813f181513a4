/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tare run: options to a session, its rounds to the same view that `tare stat`
 * prints, its end to an exit status. What a run could not do (a rate not held,
 * nothing answered) is a sentence and status 4, never silence.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cli/calibration_file.h"
#include "cli/cli.h"
#include "cli/columns.h"
#include "cli/live.h"
#include "cli/one_way.h"
#include "cli/run_options.h"
#include "cli/run_rounds.h"
#include "cli/self_test.h"
#include "cli/sweep.h"
#include "report/stat_view.h"
#include "session/session.h"

struct run_config {
	struct run_options run;
	uint64_t rounds, source_ports;
	bool append, json, csv, all_spans, mlock, set_nic_stamping, self_test, why, why_softirq, facts, live;
	int style;
	int64_t stall_limit_ns;
	const char *label, *with, *sizes, *rates, *stop_loss, *calibration;
};

/* Of --source-ports without --source-port: above those that Linux gives out by itself. */
enum { FIRST_PORT = 61000 };

#define AT(member) OPTION_AT(struct run_config, member)
static const struct option run_options[] = {
	RUN_OPTIONS(struct run_config),
	{"rounds", 'r', OPTION_COUNT, "N", "1", "rounds, one after the other", AT(rounds), 1, 1e6, NULL},
	{"sizes", 0, OPTION_TEXT, "LIST", NULL, "a round for each payload, as 64,512,1472", AT(sizes), 0, 0, NULL},
	{"rates", 0, OPTION_TEXT, "LIST", NULL, "a round for each rate, as 1k/s,10k/s or 1k-100k:x2", AT(rates), 0, 0, NULL},
	{"source-ports", 0, OPTION_COUNT, "N", NULL, "a round from each of N source ports: paths of equal cost apart", AT(source_ports), 2, SESSION_STEPS_MAX, NULL},
	{"stop-loss", 0, OPTION_TEXT, "SHARE", "1%", "--rates: no faster once more are lost, or the rate is not held; or none", AT(stop_loss), 0, 0, NULL},
	{"set-nic-stamping", 0, OPTION_FLAG, NULL, NULL, "with --stamps nic: set the card to stamp every packet, and put it back at the end", AT(set_nic_stamping), 0, 0, NULL},
	{"self-test", 0, OPTION_FLAG, NULL, NULL, "what can be stamped here and what that costs, of TARGET's interface or all; sends to ourselves only", AT(self_test), 0, 0, NULL},
	{"mlock", 0, OPTION_FLAG, NULL, NULL, "lock all memory of the process", AT(mlock), 0, 0, NULL},
	{"why", 0, OPTION_FLAG, NULL, NULL, "explain slow requests: watch the measuring thread and its CPUs (default with --spin)", AT(why), 0, 0, NULL},
	{"why-softirq", 0, OPTION_FLAG, NULL, NULL, "with --why: watch soft interrupts too, at about 0.3 us a packet", AT(why_softirq), 0, 0, NULL},
	{"with", 0, OPTION_TEXT, "COMMAND", NULL, "a load that runs beside each round, as 'tare load spin --cpu 3'", AT(with), 0, 0, NULL},
	{"facts", 0, OPTION_FLAG, NULL, "yes", "keep the host's settings and events around every round", AT(facts), 0, 0, NULL},
	{"live", 0, OPTION_FLAG, NULL, NULL, "draw the round while it runs: time strip, percentiles, stalls, losses", AT(live), 0, 0, NULL},
	PLOT_STYLE_OPTION(struct run_config),
	{"append", 0, OPTION_FLAG, NULL, NULL, "add a run to an existing recording", AT(append), 0, 0, NULL},
	{"label", 'l', OPTION_TEXT, "TEXT", NULL, "name of the setting that is measured", AT(label), 0, 0, NULL},
	{"stall-limit", 0, OPTION_DURATION, "TIME", NULL, "a stall is above this, whatever the median", AT(stall_limit_ns), 1, 9e18, NULL},
	{"calibration", 0, OPTION_TEXT, "FILE", NULL, "take the stall limit that a calibration of the target froze", AT(calibration), 0, 0, NULL},
	{"all-spans", 0, OPTION_FLAG, NULL, NULL, "a row for every span the stamps allow", AT(all_spans), 0, 0, NULL},
	{"json", 0, OPTION_FLAG, NULL, NULL, "print rows as JSON", AT(json), 0, 0, NULL},
	{"csv", 0, OPTION_FLAG, NULL, NULL, "print rows as CSV", AT(csv), 0, 0, NULL},
	{0},
};

static int check(struct cli *cli, const struct run_config *config, struct tare_err *err)
{
	if (config->json && config->csv)
		return tare_fail(err, TARE_E_USAGE, "--json and --csv exclude each other");
	if (config->set_nic_stamping && config->run.stamps != PROBE_STAMPS_NIC)
		return tare_fail(err, TARE_E_USAGE, "--set-nic-stamping needs --stamps nic");
	if (config->live && !cli->note_tty)
		return tare_fail(err, TARE_E_USAGE, "--live draws on a terminal, and stderr is none");
	const char *term = getenv("TERM");
	if (config->live && (!term || strcmp(term, "dumb") == 0))
		return tare_fail(err, TARE_E_USAGE, "--live moves the cursor, which a terminal with TERM=%s does not",
			term ? term : "unset");
	if (config->live && config->run.quiet)
		return tare_fail(err, TARE_E_USAGE, "--live and --quiet exclude each other");
	if (config->append && !config->run.output)
		return tare_fail(err, TARE_E_USAGE, "--append needs -o FILE");
	if (config->sizes && option_given(cli->options, "size"))
		return tare_fail(err, TARE_E_USAGE, "--size and --sizes exclude each other");
	if (config->rates && (option_given(cli->options, "rate") || option_given(cli->options, "every")))
		return tare_fail(err, TARE_E_USAGE, "--rates excludes --rate and --every");
	if (option_given(cli->options, "stop-loss") && !config->rates)
		return tare_fail(err, TARE_E_USAGE, "--stop-loss needs --rates");
	return run_options_check(cli, &config->run, err);
}

static enum session_why why_of(const struct cli *cli, const struct run_config *config)
{
	if (config->why_softirq)
		return SESSION_WHY_ON;
	if (!option_given(cli->options, "why"))
		return SESSION_WHY_AUTO;
	return config->why ? SESSION_WHY_ON : SESSION_WHY_OFF;
}

/* What will be seen of causes, at what cost; what is missing only when it was asked for. */
static void say_watching(struct cli *cli, const struct session *session, bool asked)
{
	struct session_why_state why = session_why_of(session);
	char line[256], cost[32];
	struct text text = TEXT_IN(line);
	if (!why.on)
		return;
	text_add(&text, "Watching: the measuring thread%s%s", why.cpus ? ", who else runs on its CPUs" : "",
		why.softirqs ? ", interrupts and soft interrupts" : why.interrupts ? ", interrupts" : "");
	text_add(&text, "; %.1f MiB", (double)why.bytes / (1 << 20));
	if (why.cost_ns != TARE_NO_TIME) {
		format_duration(why.cost_ns, cost, sizeof cost);
		text_add(&text, ", a context switch takes %s longer", cost);
	}
	fprintf(cli->note, "%s.\n", line);
	if (asked && why.missing[0])
		fprintf(cli->note, "note: %s\n", why.missing);
}

static void say_recording(struct cli *cli, const struct session_config *config, uint64_t samples)
{
	struct text text = {0};
	char size[32] = "";
	off_t bytes = -1;
	AUTO_FILE file = fopen(config->output, "re");
	if (file && fseeko(file, 0, SEEK_END) == 0)
		bytes = ftello(file);
	text = (struct text)TEXT_IN(size);
	if (bytes >= 10 << 20)
		text_add(&text, "%lld MB", (long long)bytes >> 20);
	else if (bytes >= 0)
		text_add(&text, "%lld kB", (long long)(bytes + 1023) >> 10);
	fprintf(cli->note, "%s: %llu samples, %s\n", config->output, (unsigned long long)samples, size);
}

/* The measurement itself, with progress, a live view or neither. */
static int run_drawn(struct cli *cli, const struct session_config *config, const struct run_config *options,
	struct session *session, struct run_rounds *rounds, enum session_ending *ret_end, struct tare_err *err)
{
	struct live *live = NULL;
	if (options->live && live_open(cli, session, config, (enum plot_style)options->style, &live, err) < 0)
		return -1;
	rounds->live = live;
	struct session_events events = run_rounds_events(rounds);
	if (options->run.quiet)
		events.progress = NULL;
	int status = session_run(session, &events, ret_end, err);
	rounds->live = NULL;
	live_close(live);
	return status;
}

static int run_session(struct cli *cli, const struct session_config *config, const struct run_config *options,
	struct run_rounds *rounds, struct tare_err *err)
{
	struct session *session = NULL;
	enum session_ending end = SESSION_COMPLETE;
	if (session_open(config, &session, err) < 0)
		return -1;
	if (!options->run.quiet) {
		run_options_announce(cli, config, session);
		say_watching(cli, session, config->why == SESSION_WHY_ON);
	}
	if (config->inject)
		cli_warn(cli, "the sender holds itself up on purpose: %s", config->inject);
	int status = run_drawn(cli, config, options, session, rounds, &end, err);
	struct tare_err failure = {0};
	if (status < 0) {
		failure = *err;
		if (rounds->targets)
			cli_warn(cli, "the run ended early; what was measured follows");
	}
	int printed = run_rounds_print(rounds, session_run_of(session), end == SESSION_INTERRUPTED, err);
	if (status == 0 && printed >= 0 && config->output && !options->run.quiet)
		say_recording(cli, config, rounds->samples);
	struct tare_err back = {0};
	if (session_card_back(session, &back) < 0)
		cli_warn(cli, "%s", back.text);
	session_free(session);
	if (status < 0) {
		*err = failure;
		return -1;
	}
	if (end == SESSION_INTERRUPTED)
		return printed < 0 ? -1 : 130;
	return printed;
}

/* Looked up before anything is sent; 0 where the median rules. A limit given by hand wins. */
static int stall_limit_of(const struct run_config *options, const struct session_config *config, int64_t *ret_limit_ns,
	struct tare_err *err)
{
	char kind[32];
	*ret_limit_ns = options->stall_limit_ns;
	if (!options->calibration || options->stall_limit_ns)
		return 0;
	if (config->url_count != 1 || config->step_count > 0)
		return tare_fail(err, TARE_E_USAGE, "--calibration knows one target, rate and size: it goes with one TARGET "
			"and neither --sizes, --rates nor --source-ports; --stall-limit goes with all");
	struct tare_trial like = calibration_like(
		config->urls[0], config->every_ns, config->warmup, kind, sizeof kind);
	like.payload_bytes = (uint32_t)config->payload_bytes;
	const struct calibration_key key = {.like = &like, .cpu_class = cpu_class_of(config->cpu)};
	if (calibration_stall_limit(options->calibration, &key, ret_limit_ns, err) < 0)
		return -1;
	if (*ret_limit_ns == TARE_NO_TIME)
		return tare_fail(err, TARE_E_INVALID, "'%s' froze no stall limit", options->calibration);
	return 0;
}

static int run_self_test(struct cli *cli, const struct run_config *options, int operand_count, char **operands,
	struct tare_err *err)
{
	const struct format *format = options->json ? &format_json : options->csv ? &format_csv : &format_text;
	if (options->json && options->csv)
		return tare_fail(err, TARE_E_USAGE, "--json and --csv exclude each other");
	if (operand_count > 1 || (operand_count && options->run.interface))
		return tare_fail(err, TARE_E_USAGE, "--self-test takes one target or --interface, or neither for all interfaces");
	return self_test_run(cli, operand_count ? operands[0] : NULL, options->run.interface, format, err);
}

static int run_run(struct cli *cli, void *untyped, int operand_count, char **operands, struct tare_err *err)
{
	const struct run_config *options = untyped;
	AUTO_FREE struct tare_setting *settings = NULL;
	AUTO_FREE char *command_line = NULL;
	if (options->self_test)
		return run_self_test(cli, options, operand_count, operands, err);
	if (check(cli, options, err) < 0 || session_block_signals(err) < 0)
		return -1;
	struct session_config config = run_options_session(&options->run, operands, (size_t)operand_count);
	struct sweep_lists lists = {.sizes = options->sizes, .rates = options->rates, .label = options->label,
		.ports = (unsigned)options->source_ports, .first_port = config.path.source_port ? config.path.source_port : FIRST_PORT};
	struct session_step steps[SESSION_STEPS_MAX];
	if (sweep_steps(&lists, steps, &config.step_count, err) < 0 ||
		sweep_stop_loss(options->stop_loss, &config.stop_loss, err) < 0)
		return -1;
	config.steps = steps;
	config.rounds = (uint32_t)options->rounds;
	config.label = options->label;
	config.append = options->append;
	config.why = why_of(cli, options);
	config.why_softirq = options->why_softirq;
	config.with = options->with;
	config.mlock = options->mlock;
	config.set_nic_stamping = options->set_nic_stamping;
	config.no_facts = !options->facts;
	config.setting_count = run_options_settings(cli->options, &settings);
	config.settings = settings;
	config.command_line = command_line = run_options_command_line(cli);
	struct run_rounds rounds;
	int64_t stall_limit_ns;
	if (stall_limit_of(options, &config, &stall_limit_ns, err) < 0)
		return -1;
	uint32_t spans = options->all_spans ? UINT32_MAX : stat_view_usual_spans();
	if (options->run.clock_bound_ns)
		spans |= one_way_spans();
	const struct format *format = options->json ? &format_json : options->csv ? &format_csv : &format_text;
	if (run_rounds_open(cli, &config, format, spans, stall_limit_ns, &rounds, err) < 0)
		return -1;
	rounds.clock_bound_ns = options->run.clock_bound_ns;
	int status = run_session(cli, &config, options, &rounds, err);
	run_rounds_end(&rounds);
	return status;
}

const struct command command_run = {
	.name = "run",
	.summary = "sends requests on a fixed schedule and measures the answers",
	.operands = "TARGET... [options]",
	.examples = "  tare run stamp://10.0.0.2:8620 --every 1ms --count 10000 --cpu 2 --spin -o before.tare\n"
		    "  tare run icmp://10.0.0.2 udp://10.0.0.2:7000 --every 5ms --count 2000\n"
		    "  tare run udp://10.0.0.2:7000 --rate 50k/s --for 60s --rounds 8 -o day.tare --append\n",
	.options = run_options,
	.columns = columns_of_run,
	.config_bytes = sizeof(struct run_config),
	.run = run_run,
};
