/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Options of a measurement: checked, noted, turned into the configuration of a session. */
#include "cli/run_options.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/text.h"

const struct option_choice run_stamps_choices[] = {
	{"user", PROBE_STAMPS_USER, "clock readings around the calls only"},
	{"kernel", PROBE_STAMPS_KERNEL, "and software stamps of the kernel"},
	{"nic", PROBE_STAMPS_NIC, "and stamps of the network card, by its own clock"},
	{0},
};
const struct option_choice run_receive_choices[] = {
	{"block", SESSION_RECEIVE_BLOCK, "sleeps until an answer or the next request"},
	{"spin", SESSION_RECEIVE_SPIN, "looks without end: the CPU is the measurement's own"},
	{"epoll", SESSION_RECEIVE_EPOLL, "sleeps in epoll, as servers do"},
	{"busy-poll", SESSION_RECEIVE_BUSY_POLL, "spins, and drives the device's queue by each look"},
	{0},
};
const struct option_choice run_late_choices[] = {
	{"send", PROBE_LATE_SEND, "a late slot is sent at once, its lateness kept"},
	{"skip", PROBE_LATE_SKIP, "slots missed altogether are left out and counted"},
	{0},
};

/* A burst fits the send buffer and the ring of transmit stamps. */
enum { BURST_MOST = 1024 };

static int read_schedule(const char *text, enum pacer_schedule *ret_schedule, uint32_t *ret_burst, struct tare_err *err)
{
	static const char *const words[] = {"periodic", "poisson", "burst:N", NULL};
	uint64_t burst = 0;
	if (strncmp(text, "burst:", 6) == 0) {
		if (parse_count(text + 6, &burst, err) < 0)
			return tare_err_prefix(err, "--schedule");
		if (burst < 2 || burst > BURST_MOST)
			return tare_fail(err, TARE_E_USAGE, "--schedule %s: bursts are of 2 to %d requests", text, BURST_MOST);
		*ret_schedule = PACER_BURST;
		*ret_burst = (uint32_t)burst;
		return 0;
	}
	if (strcmp(text, "periodic") != 0 && strcmp(text, "poisson") != 0) {
		const char *near = nearest_word(text, words);
		return tare_fail(err, TARE_E_USAGE, "--schedule '%.40s': there are periodic, poisson and burst:N%s%s%s", text,
			near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
	}
	*ret_schedule = text[1] == 'o' ? PACER_POISSON : PACER_PERIODIC;
	*ret_burst = 0;
	return 0;
}

static int read_path(const struct run_options *options, struct net_path *ret_path, struct tare_err *err)
{
	struct net_path path = {.ttl = (int)options->ttl,
		.ecn = (int)options->ecn,
		.has_class = options->dscp || options->ecn,
		.source_port = (int)options->source_port,
		.dont_fragment = options->df,
		.interface = options->interface};
	if (options->dscp && net_dscp_parse(options->dscp, &path.dscp, err) < 0)
		return -1;
	if (options->source && net_source_parse(options->source, &path.source, err) < 0)
		return -1;
	*ret_path = path;
	return 0;
}

static int check_receive(struct cli *cli, const struct run_options *options, struct tare_err *err)
{
	if (options->spin && option_given(cli->options, "receive") && options->receive != SESSION_RECEIVE_SPIN)
		return tare_fail(err, TARE_E_USAGE, "--spin is --receive spin; give one");
	if (options->idle_sockets && options->receive != SESSION_RECEIVE_EPOLL)
		return tare_fail(err, TARE_E_USAGE, "--idle-sockets needs --receive epoll");
	if ((option_given(cli->options, "busy-poll") || options->busy_poll_budget) &&
		options->receive != SESSION_RECEIVE_BUSY_POLL)
		return tare_fail(err, TARE_E_USAGE, "--busy-poll and --busy-poll-budget need --receive busy-poll");
	if (options->busy_poll_ns % 1000)
		return tare_fail(err, TARE_E_USAGE, "--busy-poll takes whole microseconds");
	return 0;
}

int run_options_check(struct cli *cli, const struct run_options *options, struct tare_err *err)
{
	if (option_given(cli->options, "rate") && option_given(cli->options, "every"))
		return tare_fail(err, TARE_E_USAGE, "--every and --rate say the same thing; give one");
	if (options->for_ns && option_given(cli->options, "count"))
		return tare_fail(err, TARE_E_USAGE, "--count and --for exclude each other; give one");
	enum pacer_schedule schedule;
	uint32_t burst;
	struct net_path path;
	if (read_schedule(options->schedule, &schedule, &burst, err) < 0 || read_path(options, &path, err) < 0)
		return -1;
	if (check_receive(cli, options, err) < 0)
		return -1;
	if (options->ipv4 && options->ipv6)
		return tare_fail(err, TARE_E_USAGE, "--ipv4 and --ipv6 exclude each other");
	if (options->cpus.count > 1)
		return tare_fail(err, TARE_E_USAGE, "--cpu takes one CPU: a single thread measures");
	return 0;
}

size_t run_options_settings(const struct option_set *set, struct tare_setting **ret_settings)
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

char *run_options_command_line(const struct cli *cli)
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

struct session_config run_options_session(const struct run_options *config, char **urls, size_t url_count)
{
	struct session_config session = {
		.urls = (const char *const *)urls,
		.url_count = url_count,
		.family = config->ipv4 ? AF_INET : config->ipv6 ? AF_INET6 : AF_UNSPEC,
		.every_ns = config->rate_ns ? config->rate_ns : config->every_ns,
		.jitter_ns = config->jitter_ns,
		.timeout_ns = config->timeout_ns,
		.for_ns = config->for_ns,
		.count = config->count,
		.rounds = 1,
		.warmup = (uint32_t)config->warmup,
		.payload_bytes = config->size,
		.send = config->send,
		.expect = config->expect,
		.expect_regex = config->expect_regex,
		.expect_bytes = config->expect_bytes,
		.http = {.fresh = config->fresh,
			.insecure = config->insecure,
			.ca_path = config->ca,
			.status = (unsigned)config->expect_status},
		.key_file = config->key_file,
		.peer_facts = config->peer_facts,
		.reply_dscp = (uint8_t)config->reply_dscp,
		.stamps = (enum probe_stamps)config->stamps,
		.on_late = (enum probe_late)config->on_late,
		.cpu = config->cpus.count ? config->cpus.cpu[0] : -1,
		.fifo = (int)config->fifo,
		.spin = config->spin || config->receive == SESSION_RECEIVE_SPIN || config->receive == SESSION_RECEIVE_BUSY_POLL,
		.receive = config->spin && config->receive == SESSION_RECEIVE_BLOCK ? SESSION_RECEIVE_SPIN
										 : (enum session_receive)config->receive,
		.idle_sockets = (unsigned)config->idle_sockets,
		.busy_poll = {.us = (int)(config->busy_poll_ns / 1000), .budget = (int)config->busy_poll_budget, .prefer = true},
		.seed = config->seed,
		.inject = config->inject,
		.output = config->output,
		.tool = cli_version(),
	};
	/* run_options_check has refused what this would */
	if (read_schedule(config->schedule, &session.schedule, &session.burst, NULL) < 0)
		session.schedule = PACER_PERIODIC;
	if (read_path(config, &session.path, NULL) < 0)
		session.path = (struct net_path){0};
	return session;
}

void run_options_announce(struct cli *cli, const struct session_config *config, const struct session *session)
{
	char line[512];
	const struct tare_target *targets;
	size_t count = session_targets(session, &targets);
	if (config->step_count) {
		fprintf(cli->note, "%zu steps, %s to %s", config->step_count, config->steps[0].label,
			config->steps[config->step_count - 1].label);
		if (config->rounds > 1)
			fprintf(cli->note, ", %u times over", config->rounds);
		fputs(".\n", cli->note);
	} else {
		session_describe(config, line, sizeof line);
		fprintf(cli->note, "%s\n", line);
	}
	for (size_t i = 0; i < count; i++)
		if (!strstr(targets[i].url, targets[i].address))
			fprintf(cli->note, "%s is %s\n", targets[i].url, targets[i].address);
	if (!config->step_count && session_tick_note(config, clock_tick_ns(), line, sizeof line))
		fprintf(cli->note, "note: %s\n", line);
	fflush(cli->note);
}
