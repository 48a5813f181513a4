/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tare run: options to a session, its rounds to the same view that `tare stat`
 * prints, its end to an exit status. What a run could not do (a rate not held,
 * nothing answered) is a sentence and status 4, never silence.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/run_rounds.h"
#include "report/stat_view.h"
#include "session/session.h"

struct run_config {
	int64_t every_ns, jitter_ns, timeout_ns, for_ns, rate_ns;
	uint64_t count, rounds, warmup, size, fifo, seed;
	struct option_cpus cpus;
	bool mlock, why, why_softirq, spin, append, facts, json, csv, quiet, ipv4, ipv6, all_spans;
	int stamps, on_late;
	const char *output, *label, *inject, *with;
};

static const struct option_choice stamps_choices[] = {
	{"user", PROBE_STAMPS_USER, "clock readings around the calls only"},
	{"kernel", PROBE_STAMPS_KERNEL, "and software stamps of the kernel"},
	{0},
};
static const struct option_choice late_choices[] = {
	{"send", PROBE_LATE_SEND, "a late slot is sent at once, its lateness kept"},
	{"skip", PROBE_LATE_SKIP, "slots missed altogether are left out and counted"},
	{0},
};

#define AT(member) OPTION_AT(struct run_config, member)
static const struct option run_options[] = {
	{"every", 'i', OPTION_DURATION, "TIME", "1ms", "time between requests to one target", AT(every_ns), 100, 3600e9, NULL},
	{"rate", 0, OPTION_RATE, "RATE", NULL, "the same as a rate, as 50k/s", AT(rate_ns), 100, 3600e9, NULL},
	{"count", 'c', OPTION_COUNT, "N", "10000", "requests per round and target, beside the warm-up", AT(count), 1, 1e12, NULL},
	{"for", 0, OPTION_DURATION, "TIME", NULL, "length of a round instead of a count", AT(for_ns), 1, 365.0 * 86400e9, NULL},
	{"rounds", 'r', OPTION_COUNT, "N", "1", "rounds, one after the other", AT(rounds), 1, 1e6, NULL},
	{"warmup", 0, OPTION_COUNT, "N", "2", "first requests of a round kept apart", AT(warmup), 0, 1e6, NULL},
	{"timeout", 0, OPTION_DURATION, "TIME", "1s", "later answers are overdue, missing ones lost", AT(timeout_ns), 1000, 3600e9, NULL},
	{"size", 's', OPTION_SIZE, "BYTES", NULL, "payload behind the IP and UDP or ICMP headers; 64, or what the kind needs", AT(size), 1, 65507, NULL},
	{"cpu", 0, OPTION_CPUS, "CPU", NULL, "where the measuring thread runs", AT(cpus), 0, 0, NULL},
	{"spin", 0, OPTION_FLAG, NULL, NULL, "wait by looking, not by sleeping", AT(spin), 0, 0, NULL},
	{"fifo", 0, OPTION_COUNT, "PRIO", NULL, "real-time priority of the measuring thread", AT(fifo), 1, 99, NULL},
	{"mlock", 0, OPTION_FLAG, NULL, NULL, "lock all memory of the process", AT(mlock), 0, 0, NULL},
	{"stamps", 0, OPTION_CHOICE, "LEVEL", "kernel", "highest level of time stamps asked for", AT(stamps), 0, 0, stamps_choices},
	{"on-late", 0, OPTION_CHOICE, "POLICY", "send", "what becomes of a slot that was missed", AT(on_late), 0, 0, late_choices},
	{"jitter", 0, OPTION_DURATION, "TIME", NULL, "moves each due time by up to this much either way", AT(jitter_ns), 0, 3600e9, NULL},
	{"seed", 0, OPTION_COUNT, "N", NULL, "of phase and jitter; drawn and recorded otherwise", AT(seed), 1, 9.2e18, NULL},
	{"why", 0, OPTION_FLAG, NULL, NULL, "explain slow requests: watch the measuring thread and its CPUs (default with --spin)", AT(why), 0, 0, NULL},
	{"why-softirq", 0, OPTION_FLAG, NULL, NULL, "with --why: watch soft interrupts too, at about 0.3 us a packet", AT(why_softirq), 0, 0, NULL},
	{"with", 0, OPTION_TEXT, "COMMAND", NULL, "a load that runs beside each round, as 'tare load spin --cpu 3'", AT(with), 0, 0, NULL},
	{"inject", 0, OPTION_TEXT, "FAULTS", NULL, "hold the sender up on purpose, as 'delay 2ms every 1000, stop 50ms at 3000'", AT(inject), 0, 0, NULL},
	{"ipv4", '4', OPTION_FLAG, NULL, NULL, "resolve names to IPv4 only", AT(ipv4), 0, 0, NULL},
	{"ipv6", '6', OPTION_FLAG, NULL, NULL, "resolve names to IPv6 only", AT(ipv6), 0, 0, NULL},
	{"output", 'o', OPTION_TEXT, "FILE", NULL, "recording to make; without it nothing is kept", AT(output), 0, 0, NULL},
	{"append", 0, OPTION_FLAG, NULL, NULL, "add a run to an existing recording", AT(append), 0, 0, NULL},
	{"facts", 0, OPTION_FLAG, NULL, "yes", "keep the host's settings and events around every round", AT(facts), 0, 0, NULL},
	{"label", 'l', OPTION_TEXT, "TEXT", NULL, "name of the setting that is measured", AT(label), 0, 0, NULL},
	{"all-spans", 0, OPTION_FLAG, NULL, NULL, "a row for every span the stamps allow", AT(all_spans), 0, 0, NULL},
	{"json", 0, OPTION_FLAG, NULL, NULL, "print rows as JSON", AT(json), 0, 0, NULL},
	{"csv", 0, OPTION_FLAG, NULL, NULL, "print rows as CSV", AT(csv), 0, 0, NULL},
	{"quiet", 'q', OPTION_FLAG, NULL, NULL, "no progress and no plan", AT(quiet), 0, 0, NULL},
	{0},
};

static int check(struct cli *cli, const struct run_config *config, struct tare_err *err)
{
	if (option_given(cli->options, "rate") && option_given(cli->options, "every"))
		return tare_fail(err, TARE_E_USAGE, "--every and --rate say the same thing; give one");
	if (config->for_ns && option_given(cli->options, "count"))
		return tare_fail(err, TARE_E_USAGE, "--count and --for exclude each other; give one");
	if (config->ipv4 && config->ipv6)
		return tare_fail(err, TARE_E_USAGE, "--ipv4 and --ipv6 exclude each other");
	if (config->json && config->csv)
		return tare_fail(err, TARE_E_USAGE, "--json and --csv exclude each other");
	if (config->cpus.count > 1)
		return tare_fail(err, TARE_E_USAGE, "--cpu takes one CPU: a single thread measures");
	if (config->append && !config->output)
		return tare_fail(err, TARE_E_USAGE, "--append needs -o FILE");
	return 0;
}

/* Settings as the recording notes them; the array is the caller's to free. */
static size_t list_settings(const struct option_set *set, struct tare_setting **ret_settings)
{
	size_t count = option_count(set->table), used = 0;
	struct tare_setting *settings = calloc(count, sizeof *settings);
	for (size_t i = 0; settings && i < count; i++)
		if (set->origins[i].source)
			settings[used++] = (struct tare_setting){
				set->table[i].name, set->origins[i].value, set->origins[i].source};
	*ret_settings = settings;
	return used;
}

static char *join_command_line(const struct cli *cli)
{
	size_t bytes = 1;
	for (int i = 0; i < cli->argc; i++)
		bytes += strlen(cli->argv[i]) + 1;
	char *line = malloc(bytes);
	struct text text = {.bytes = line, .room = bytes};
	for (int i = 0; line && i < cli->argc; i++)
		text_add(&text, "%s%s", i ? " " : "", cli->argv[i]);
	return line;
}

static enum session_why why_of(const struct cli *cli, const struct run_config *config)
{
	if (config->why_softirq)
		return SESSION_WHY_ON;
	if (!option_given(cli->options, "why"))
		return SESSION_WHY_AUTO;
	return config->why ? SESSION_WHY_ON : SESSION_WHY_OFF;
}

static struct session_config session_config_of(
	const struct cli *cli, const struct run_config *config, char **urls, size_t url_count)
{
	return (struct session_config){
		.why = why_of(cli, config),
		.why_softirq = config->why_softirq,
		.urls = (const char *const *)urls,
		.url_count = url_count,
		.family = config->ipv4 ? AF_INET : config->ipv6 ? AF_INET6 : AF_UNSPEC,
		.every_ns = config->rate_ns ? config->rate_ns : config->every_ns,
		.jitter_ns = config->jitter_ns,
		.timeout_ns = config->timeout_ns,
		.for_ns = config->for_ns,
		.count = config->count,
		.rounds = (uint32_t)config->rounds,
		.warmup = (uint32_t)config->warmup,
		.payload_bytes = config->size,
		.stamps = (enum probe_stamps)config->stamps,
		.on_late = (enum probe_late)config->on_late,
		.cpu = config->cpus.count ? config->cpus.cpu[0] : -1,
		.fifo = (int)config->fifo,
		.spin = config->spin,
		.seed = config->seed,
		.label = config->label,
		.inject = config->inject,
		.with = config->with,
		.mlock = config->mlock,
		.output = config->output,
		.append = config->append,
		.no_facts = !config->facts,
		.tool = cli_version(),
	};
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

static void announce(struct cli *cli, const struct session_config *config, const struct session *session)
{
	char line[512];
	const struct tare_target *targets;
	size_t count = session_targets(session, &targets);
	session_describe(config, line, sizeof line);
	fprintf(cli->note, "%s\n", line);
	for (size_t i = 0; i < count; i++)
		if (!strstr(targets[i].url, targets[i].address))
			fprintf(cli->note, "%s is %s\n", targets[i].url, targets[i].address);
	say_watching(cli, session, config->why == SESSION_WHY_ON);
	if (session_tick_note(config, clock_tick_ns(), line, sizeof line))
		fprintf(cli->note, "note: %s\n", line);
	fflush(cli->note);
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

static int run_session(struct cli *cli, const struct session_config *config, const struct run_config *options,
	struct run_rounds *rounds, struct tare_err *err)
{
	struct session *session = NULL;
	enum session_end end = SESSION_COMPLETE;
	struct session_events events = run_rounds_events(rounds);
	if (session_open(config, &session, err) < 0)
		return -1;
	if (!options->quiet)
		announce(cli, config, session);
	else
		events.progress = NULL;
	if (config->inject)
		cli_warn(cli, "the sender holds itself up on purpose: %s", config->inject);
	int status = session_run(session, &events, &end, err);
	struct tare_err failure = {0};
	if (status < 0) {
		failure = *err;
		if (rounds->targets)
			cli_warn(cli, "the run ended early; what was measured follows");
	}
	int printed = run_rounds_print(rounds, session_run_of(session), end == SESSION_INTERRUPTED, err);
	if (status == 0 && printed >= 0 && config->output && !options->quiet)
		say_recording(cli, config, rounds->samples);
	session_free(session);
	if (status < 0) {
		*err = failure;
		return -1;
	}
	if (end == SESSION_INTERRUPTED)
		return printed < 0 ? -1 : 130;
	return printed;
}

static int run_run(struct cli *cli, void *untyped, int operand_count, char **operands, struct tare_err *err)
{
	const struct run_config *options = untyped;
	AUTO_FREE struct tare_setting *settings = NULL;
	AUTO_FREE char *command_line = NULL;
	if (check(cli, options, err) < 0 || session_block_signals(err) < 0)
		return -1;
	struct session_config config = session_config_of(cli, options, operands, (size_t)operand_count);
	config.setting_count = list_settings(cli->options, &settings);
	config.settings = settings;
	config.command_line = command_line = join_command_line(cli);
	struct run_rounds rounds;
	uint32_t spans = options->all_spans ? UINT32_MAX : stat_view_usual_spans();
	const struct format *format = options->json ? &format_json : options->csv ? &format_csv : &format_text;
	if (run_rounds_open(cli, &config, format, spans, &rounds, err) < 0)
		return -1;
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
	.config_bytes = sizeof(struct run_config),
	.run = run_run,
};
