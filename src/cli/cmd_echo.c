/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tare echo: the responder until SIGTERM or Ctrl-C, then its counts. This thread
 * only waits for the signal: with every CPU spinning there is none left for more.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/caps.h"
#include "base/cleanup.h"
#include "cause/continued.h"
#include "cli/cli.h"
#include "cli/columns.h"
#include "echo/echo.h"
#include "host/host.h"
#include "lib/share_columns.h"
#include "report/report.h"

enum { INTERRUPTED = 130 };

struct echo_options {
	struct option_cpus cpus;
	bool spin, strict, light, stateful, facts, json, why, why_softirq;
	uint64_t fifo_priority;
	const char *allow, *key_file;
	int64_t limit_interval_ns;
	const char *inject;
};

static const struct option echo_options[] = {
	{.name = "cpu",
		.type = OPTION_CPUS,
		.metavar = "LIST",
		.help = "one thread on each of these CPUs, listeners dealt round-robin",
		.offset = OPTION_AT(struct echo_options, cpus)},
	{.name = "spin",
		.type = OPTION_FLAG,
		.help = "never sleep: lowest latency, takes the whole CPU",
		.offset = OPTION_AT(struct echo_options, spin)},
	{.name = "fifo",
		.type = OPTION_COUNT,
		.metavar = "PRIO",
		.help = "run under SCHED_FIFO with this priority",
		.offset = OPTION_AT(struct echo_options, fifo_priority),
		.least = 1,
		.most = 99},
	{.name = "light",
		.type = OPTION_FLAG,
		.help = "stamp: answer TWAMP-light requests of 14 to 43 octets as well, with 44",
		.offset = OPTION_AT(struct echo_options, light)},
	{.name = "stateful",
		.type = OPTION_FLAG,
		.help = "stamp: count the replies of each session, so that its sender can tell on which way packets were lost",
		.offset = OPTION_AT(struct echo_options, stateful)},
	{.name = "strict",
		.type = OPTION_FLAG,
		.help = "stamp: answer nothing under 44 octets: the default, overrules --light",
		.offset = OPTION_AT(struct echo_options, strict)},
	{.name = "key-file",
		.type = OPTION_TEXT,
		.metavar = "FILE",
		.help = "stamp: answer authenticated requests with this key only; the file must be ours, mode 0600",
		.offset = OPTION_AT(struct echo_options, key_file)},
	{.name = "facts",
		.type = OPTION_FLAG,
		.help = "stamp: serve what this host is set to, to senders that have the key of --key-file",
		.offset = OPTION_AT(struct echo_options, facts)},
	{.name = "allow",
		.type = OPTION_TEXT,
		.metavar = "LIST",
		.help = "answer these sources only, as 10.0.0.0/8,fd00::1",
		.offset = OPTION_AT(struct echo_options, allow)},
	{.name = "limit",
		.type = OPTION_RATE,
		.metavar = "RATE",
		.fallback = "1M/s",
		.help = "answer no source more often, after a tenth of a second's worth at once; loopback is never "
			"limited",
		.offset = OPTION_AT(struct echo_options, limit_interval_ns)},
	{.name = "why",
		.type = OPTION_FLAG,
		.help = "stamp: watch the serving threads and say in late replies why",
		.offset = OPTION_AT(struct echo_options, why)},
	{.name = "why-softirq",
		.type = OPTION_FLAG,
		.help = "with --why: watch soft interrupts too, at about 0.3 us a packet",
		.offset = OPTION_AT(struct echo_options, why_softirq)},
	{.name = "inject",
		.type = OPTION_TEXT,
		.metavar = "FAULTS",
		.help = "stamp: faults on purpose, as 'delay 2ms every 1000, drop 1%, stop 50ms at 3000'",
		.offset = OPTION_AT(struct echo_options, inject)},
	{.name = "json",
		.type = OPTION_FLAG,
		.help = "print the counts as JSON",
		.offset = OPTION_AT(struct echo_options, json)},
	{.name = NULL},
};

static void echo_end(struct echo *const *echo)
{
	echo_free(*echo);
}

static void print_places(struct cli *cli, const struct echo *echo)
{
	for (size_t i = 0; i < echo_listeners(echo); i++) {
		struct echo_place place = echo_place(echo, i);
		char cpu[32] = "any CPU", how[160];
		if (place.cpu >= 0)
			snprintf(cpu, sizeof cpu, "CPU %d", place.cpu);
		fprintf(cli->note, "listening on %s, %s, %s%s%s%s%s\n", place.listener, cpu,
			place.spinning ? "spinning" : "blocking", place.authenticated ? ", authenticated" : "",
			place.facts ? ", serving facts" : "",
			place.without_kernel_stamps ? ", without the kernel's receive stamps" : "",
			place.unwatched ? ", explaining late replies" : "");
		if (echo_how(echo, i, how, sizeof how))
			fprintf(cli->note, "note: %s: %s\n", place.listener, how);
		if (place.unwatched && place.unwatched[0])
			fprintf(cli->note, "note: %s\n", place.unwatched);
	}
	char settings[2048];
	host_bypass_settings(settings, sizeof settings);
	if (settings[0])
		fprintf(cli->note, "note: a stack beside the kernel's may be at work: %s\n", settings);
	fflush(cli->note);
}

static void print_losses(struct cli *cli, const struct echo *echo)
{
	char losses[1800];
	for (size_t i = 0; i < echo_listeners(echo); i++)
		if (echo_losses(echo, i, losses, sizeof losses))
			cli_warn(cli, "%s: lost or damaged: %s", echo_place(echo, i).listener, losses);
}

/*
 * The signals that end the responder, blocked so that they are waited for. Ctrl-C
 * is not among them where a shell has told a background job to ignore it.
 */
static void block_signals(sigset_t *ret_signals)
{
	struct sigaction interrupt = {0};
	sigemptyset(ret_signals);
	sigaddset(ret_signals, SIGTERM);
	if (sigaction(SIGINT, NULL, &interrupt) == 0 && interrupt.sa_handler != SIG_IGN)
		sigaddset(ret_signals, SIGINT);
	pthread_sigmask(SIG_BLOCK, ret_signals, NULL);
}

static int print_counts(struct cli *cli, const struct echo *echo, bool json, struct tare_err *err)
{
	const struct format *format = json ? &format_json : &format_text;
	struct report report = {
		.out = cli->out, .columns = echo_columns, .schema = "tare.echo/1", .width = cli->columns};
	while (echo_columns[report.column_count].name)
		report.column_count++;
	int status = format->begin(&report, err);
	for (size_t i = 0; status == 0 && i < echo_listeners(echo); i++) {
		struct echo_counts counts = echo_counts(echo, i);
		status = format->row(&report, &counts, err);
	}
	if (status == 0)
		status = format->end(&report, err);
	report_free(&report);
	return status;
}

/* Who ran on the threads' CPUs, as `tare stat --shared` has it: the time that was watched is the round. */
static int print_shares(struct cli *cli, const struct echo *echo, struct tare_err *err)
{
	static const struct tare_run run = {.id = 0};
	struct report report = {.out = cli->out,
		.schema = "tare.shared/1",
		.width = cli->columns,
		.columns = share_columns,
		.column_count = share_column_count};
	struct echo_shares shares;
	for (size_t thread = 0; thread < echo_listeners(echo) && echo_shares(echo, thread, &shares); thread++) {
		struct tare_round watched = {.first_due_ns = 0, .ended_ns = shares.watched_ns};
		AUTO_FREE struct share_at *rows = calloc(shares.count + 1, sizeof *rows);
		if (!rows)
			return tare_fail_errno(err, ENOMEM, "cannot print who ran on the CPUs");
		for (size_t i = 0; i < shares.count; i++)
			rows[i] = (struct share_at){.place = {.run = &run, .round = &watched}, .share = &shares.row[i]};
		if (shares.count && report_table(&report, &format_text, NULL, "cpu,whose,what,name,percent,ns,times",
					    rows, shares.count, sizeof *rows, err) < 0)
			return -1;
		if (shares.missing)
			fprintf(cli->note, "note: some records found no room: more ran on these CPUs\n");
	}
	return 0;
}

static int run_echo(struct cli *cli, void *config, int operand_count, char **operands, struct tare_err *err)
{
	const struct echo_options *options = config;
	struct echo_config settings = {
		.urls = (const char *const *)operands,
		.url_count = (size_t)operand_count,
		.cpus = options->cpus.cpu,
		.cpu_count = options->cpus.count,
		.spin = options->spin,
		.fifo_priority = (int)options->fifo_priority,
		.stateful = options->stateful,
		.light = options->light && !options->strict,
		.key_file = options->key_file,
		.facts = options->facts,
		.tool = cli_version(),
		.allow = options->allow,
		.limit_interval_ns = options->limit_interval_ns,
		.why = options->why,
		.why_softirq = options->why_softirq,
		.inject = options->inject,
	};
	AUTO_CLEANUP(echo_end) struct echo *echo = NULL;
	sigset_t signals;
	int signal_number = 0;
	if (echo_open(&settings, &echo, err) < 0)
		return -1;
	if (settings.cpu_count > settings.url_count)
		cli_warn(cli, "%zu CPUs but %zu listener%s: the rest of --cpu is not used", settings.cpu_count,
			settings.url_count, settings.url_count == 1 ? "" : "s");
	if (options->why || options->why_softirq)
		continued_watch();
	block_signals(&signals);
	if (echo_start(echo, err) < 0 || caps_keep_only(NULL, 0, err) < 0)
		return -1;
	print_places(cli, echo);
	if (options->inject)
		cli_warn(cli, "faults are injected on purpose: %s", options->inject);
	while (sigwait(&signals, &signal_number) != 0)
		continue;
	echo_stop(echo);
	print_losses(cli, echo);
	if (print_counts(cli, echo, options->json, err) < 0)
		return -1;
	if (!options->json && print_shares(cli, echo, err) < 0)
		return -1;
	return signal_number == SIGINT ? INTERRUPTED : 0;
}

const struct command command_echo = {
	.name = "echo",
	.summary = "answers requests: plain echo and STAMP reflector",
	.operands = "URL...",
	.examples = "  tare echo udp://127.0.0.1:7000 stamp://127.0.0.1:8620 --cpu 1 --spin\n"
		    "  tare echo stamp://10.0.0.2 stamp://[fd00::2] --cpu 2,3 --spin --fifo 50 --allow "
		    "10.0.0.0/8,fd00::/8\n"
		    "  tare echo 'xdp://10.0.0.2:7000?dev=eth0' --cpu 2 --spin    # past the kernel's stack\n"
		    "  tare echo udp://:7000        # 127.0.0.1; udp://0.0.0.0:7000 is every address\n",
	.options = echo_options,
	.columns = columns_of_echo,
	.config_bytes = sizeof(struct echo_options),
	.run = run_echo,
};
