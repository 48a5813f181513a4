/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opening a session: what needs names, privileges or room fails here, before anything is sent. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/text.h"
#include "clock/cpu.h"
#include "session/placement.h"
#include "session/private.h"
#include "session/why.h"

/* Below this spacing of requests, reading transmit stamps would delay the next one. */
#define TRANSMIT_STAMPS_LEAST_NS ((int64_t)50000)
/* Rounds longer than this would overflow the arithmetic of the grid. */
#define ROUND_LONGEST_NS ((int64_t)365 * 86400 * 1000000000)

int session_payload(const struct session *session, size_t i, uint32_t *ret_bytes, struct tare_err *err)
{
	const struct session_config *config = &session->config;
	const struct probe_kind *kind = session->kinds[i];
	const struct probe_exchange *exchange = exchange_for(session, kind);
	size_t bytes = config->payload_bytes, more = session->key ? kind->key_bytes : 0;
	if (exchange && kind->exchanges == PROBE_EXCHANGES_TEXT)
		bytes = exchange->send_bytes;
	else if (kind->most_bytes == 0)
		bytes = 0;
	else if (!bytes)
		bytes = kind->usual_bytes + more;
	else if (bytes < kind->least_bytes + more || bytes > kind->most_bytes)
		return tare_fail(err, TARE_E_USAGE, "--size%s %zu: %s:// takes %zu to %zu bytes%s",
			session->asked.payload_bytes == bytes ? "" : "s", bytes, kind->scheme, kind->least_bytes + more,
			kind->most_bytes, more ? " with a key" : "");
	*ret_bytes = (uint32_t)bytes;
	return 0;
}

/* The URL of target i, checked against what its kind takes, with its port. */
static int read_url(const struct session *session, size_t i, struct net_url *ret_url, const struct probe_kind **ret_kind,
	struct tare_err *err)
{
	const char *text = session->config.urls[i];
	if (net_url_parse(text, ret_url, err) < 0)
		return -1;
	const struct probe_kind *kind = probe_kind_of(ret_url->scheme, err);
	if (!kind)
		return -1;
	if (!kind->has_path && ret_url->path[0])
		return tare_fail(err, TARE_E_USAGE, "'%.200s' has something behind host and port: '%.100s'", text,
			ret_url->path);
	if (kind->default_port == 0 && ret_url->port >= 0)
		return tare_fail(err, TARE_E_USAGE, "'%s': %s has no ports", text, kind->scheme);
	if (kind->default_port < 0 && ret_url->port < 0)
		return tare_fail(err, TARE_E_USAGE, "'%s' needs a port: %s://HOST:PORT", text, kind->scheme);
	if (kind->default_port > 0 && ret_url->port < 0)
		ret_url->port = kind->default_port;
	*ret_kind = kind;
	return 0;
}

static int resolve_target(struct session *session, size_t i, struct tare_err *err)
{
	struct net_url url;
	if (read_url(session, i, &url, &session->kinds[i], err) < 0)
		return -1;
	return net_resolve(&url, session->config.family, &session->addresses[i], err);
}

/* Before anything opens: what the kind cannot do, and what its sockets would only find out when nobody can be told. */
static int check_path(const struct session *session, size_t i, struct tare_err *err)
{
	const struct net_path *path = &session->config.path;
	const struct probe_kind *kind = session->kinds[i];
	if (!net_path_asks(path))
		return 0;
	if (!kind->takes_path)
		return tare_fail(err, TARE_E_USAGE,
			"%s:// opens its own sockets: --ttl, --dscp, --ecn, --df, --source, --source-port and --interface are not for it",
			kind->scheme);
	if (path->source_port && (kind == &probe_icmp || kind == &probe_connect))
		return tare_fail(err, TARE_E_USAGE, kind == &probe_icmp ? "--source-port: icmp:// has no ports"
									 : "--source-port: connect:// takes a fresh port each time");
	if (path->source_port && session->target_count > 1)
		return tare_fail(err, TARE_E_USAGE, "--source-port is for one target: %zu cannot share it", session->target_count);
	if (kind == &probe_tcp || kind == &probe_connect)
		return net_path_try(path, &session->addresses[i], SOCK_STREAM, err);
	return 0;
}

int session_open_target(struct session *session, size_t i, uint64_t salt, struct tare_err *err)
{
	const struct session_config *config = &session->config;
	struct tare_target *target = &session->targets[session->first_target + i];
	struct probe_target *probe = &session->probes[i];
	struct net_url url;
	if (read_url(session, i, &url, &session->kinds[i], err) < 0 || check_path(session, i, err) < 0)
		return -1;
	*probe = (struct probe_target){.kind = session->kinds[i], .fd = -1, .clock = &clock_system};
	probe->request = (struct probe_request){
		.address = session->addresses[i],
		.text = config->urls[i],
		.url = &url,
		.payload_bytes = target->payload_bytes,
		.stamps = config->stamps,
		.transmit_stamps = session_transmit_stamps(config),
		.spin = config->spin,
		.seed = pacer_mix(session->seed, 1000 + i + salt * SPOOL_TARGETS_MAX),
		.exchange = exchange_for(session, probe->kind),
		.http = &config->http,
		.key = probe->kind->key_bytes ? session->key : NULL,
		.reply_dscp = config->reply_dscp,
		.rate = 1e9 / (double)config->every_ns,
		.busy_poll = config->receive == SESSION_RECEIVE_BUSY_POLL ? &session->config.busy_poll : NULL,
		.path = net_path_asks(&session->config.path) ? &session->config.path : NULL,
		.timeout_ns = config->timeout_ns,
	};
	if (session_card_open(session, i, err) < 0)
		return -1;
	session->probe_list[i] = probe;
	int status = probe->kind->open(probe, err);
	probe->request.url = NULL;
	if (status == 0 && probe->request.busy_poll && !probe->busy_poll.us)
		status = tare_fail(err, TARE_E_USAGE, "--receive busy-poll is for datagrams: %s:// does not do it", probe->kind->scheme);
	target->payload_bytes = (uint32_t)probe->request.payload_bytes;
	return status;
}

bool session_transmit_stamps(const struct session_config *config)
{
	return config->every_ns / (int64_t)config->url_count >= TRANSMIT_STAMPS_LEAST_NS;
}

int session_check(const struct session_config *config, uint64_t *ret_slots, struct tare_err *err)
{
	if (config->url_count == 0)
		return tare_fail(err, TARE_E_USAGE, "no target given; one is SCHEME://HOST[:PORT], as udp://10.0.0.2:7000");
	if (config->url_count > SPOOL_TARGETS_MAX)
		return tare_fail(err, TARE_E_USAGE, "%zu targets, at most %d", config->url_count, SPOOL_TARGETS_MAX);
	uint64_t slots = config->for_ns ? (uint64_t)(config->for_ns / config->every_ns) : config->count + config->warmup;
	if (slots <= config->warmup)
		return tare_fail(err, TARE_E_USAGE, "--for is too short: no request beyond the warm-up of %u", config->warmup);
	if (slots > (uint64_t)(ROUND_LONGEST_NS / config->every_ns))
		return tare_fail(err, TARE_E_USAGE, "a round would last more than a year");
	if (config->schedule == PACER_POISSON && config->jitter_ns > 0)
		return tare_fail(err, TARE_E_USAGE, "--jitter: a Poisson schedule is nothing but jitter");
	if (config->jitter_ns * 2 >= config->every_ns * (config->schedule == PACER_BURST ? config->burst : 1))
		return tare_fail(err, TARE_E_USAGE, config->schedule == PACER_BURST
				? "--jitter must be less than half of what lies between two bursts"
				: "--jitter must be less than half of --every");
	if (config->schedule == PACER_BURST && config->on_late == PROBE_LATE_SKIP)
		return tare_fail(err, TARE_E_USAGE, "--on-late skip would leave out all of a burst but its last request");
	if (config->label && strlen(config->label) >= SPOOL_LABEL_BYTES)
		return tare_fail(err, TARE_E_USAGE, "--label is longer than %d bytes", SPOOL_LABEL_BYTES - 1);
	if (config->cpu >= 0 && cpu_check(config->cpu, err) < 0)
		return -1;
	*ret_slots = slots;
	return 0;
}

static int read_faults(struct session *session, struct tare_err *err)
{
	return session->config.inject ? inject_parse(session->config.inject, INJECT_SENDER, &session->inject, err) : 0;
}

/* Only some kinds know what to do with a key; a run without any of them means something else. */
static int read_key(struct session *session, struct tare_err *err)
{
	const struct session_config *config = &session->config;
	bool wanted = false;
	if (!config->key_file)
		return 0;
	for (size_t i = 0; i < config->url_count; i++)
		wanted |= strncmp(config->urls[i], "stamp:", 6) == 0;
	if (!wanted)
		return tare_fail(err, TARE_E_USAGE, "--key-file is for stamp:// targets, and there is none");
	return stamp_key_load(config->key_file, &session->key, err) < 0 ? tare_err_prefix(err, "--key-file") : 0;
}

static int open_signals(struct session *session, struct tare_err *err)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	session->signals = signalfd(-1, &set, SFD_CLOEXEC);
	session->done = eventfd(0, EFD_CLOEXEC);
	if (session->signals < 0 || session->done < 0)
		return tare_fail_errno(err, errno, "cannot wait for signals");
	return 0;
}

static bool is_loopback(const struct sockaddr_storage *address)
{
	if (address->ss_family == AF_INET)
		return ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr) >> 24 == 127;
	return address->ss_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)address)->sin6_addr);
}

static void describe_run(struct session *session)
{
	struct utsname names;
	struct tare_reading now = source_reading(&clock_system);
	session->run.epoch_mono_ns = now.mono_before_ns;
	session->run.epoch_real_ns = now.real_ns;
	session->run.seed = session->seed;
	session->run.tool = session->config.tool;
	session->run.command_line = session->config.command_line;
	if (uname(&names) == 0) {
		session->run.host = arena_text(session->names, names.nodename);
		session->run.kernel = arena_text(session->names, names.release);
	}
}

static int open_recording(struct session *session, struct tare_err *err)
{
	const struct session_config *config = &session->config;
	if (!config->output)
		return 0;
	if (config->append) {
		/* an earlier run that died may still have its last round in a spool */
		char note[512];
		if (access(config->output, F_OK) == 0 && session_salvage(config->output, note, sizeof note, err) < 0)
			return -1;
	}
	if (spool_prefix(session->seed, session->prefix, sizeof session->prefix, err) < 0)
		return -1;
	if (tare_writer_open(config->output, config->append ? TARE_APPEND : TARE_CREATE, &session->writer, err) < 0)
		return -1;
	session->run.spool = session->prefix;
	if (tare_writer_begin_run(session->writer, &session->run, session->targets, session->target_rows,
		    config->settings, config->setting_count, err) < 0)
		return -1;
	struct tare_event lacking = {.kind = "stamps", .text = session->card_notes};
	if (session->card_notes[0] && tare_writer_event(session->writer, session->run.id, 0, &lacking, err) < 0)
		return -1;
	if (session_around_begin(session, err) < 0)
		return -1;
	struct tare_fact placed[PLACEMENT_FACTS];
	size_t placed_count = config->no_facts ? 0 : placement_facts(session, placed);
	if (placed_count && tare_writer_facts(session->writer, session->run.id, 0, placed, placed_count, err) < 0)
		return -1;
	return writer_start(&session->writing, session->writer, err);
}

static int open_all(struct session *session, struct tare_err *err)
{
	if (arena_open(65536, 0, &session->names, err) < 0 || exchange_read(session, err) < 0 || read_faults(session, err) < 0 || read_key(session, err) < 0 ||
		session_around_peer(session, err) < 0 ||
		open_signals(session, err) < 0)
		return -1;
	if (session->config.receive == SESSION_RECEIVE_EPOLL &&
		waiting_open(session->config.idle_sockets, &session->waiting, err) < 0)
		return -1;
	if (session->config.stamps >= PROBE_STAMPS_KERNEL)
		session->keeper = net_keeper_open();
	session->target_count = session->config.url_count;
	for (size_t i = 0; i < session->target_count; i++)
		if (resolve_target(session, i, err) < 0)
			return -1;
	if (steps_open(session, err) < 0)
		return -1;
	describe_run(session);
	session->peer_is_here = is_loopback(&session->addresses[0].storage);
	if (session->config.mlock && mlockall(MCL_CURRENT | MCL_FUTURE) != 0)
		return tare_fail_errno(err, errno, "cannot lock memory\n  needs CAP_IPC_LOCK or a limit: ulimit -l unlimited");
	if (why_open(session, err) < 0)
		return -1;
	if (open_recording(session, err) < 0)
		return -1;
	session_peer_begin(session);
	return 0;
}

int session_open(const struct session_config *config, struct session **ret_session, struct tare_err *err)
{
	uint64_t slots = 0;
	/* a sweep is checked step by step, with what each of them sets */
	if (config->url_count == 0 || !config->step_count)
		if (session_check(config, &slots, err) < 0)
			return -1;
	struct session *session = calloc(1, sizeof *session);
	if (!session)
		return tare_fail_errno(err, ENOMEM, "cannot open a session");
	session->config = session->asked = *config;
	session->slots = slots;
	session->watch_cost_ns = TARE_NO_TIME;
	session->phc.fd = -1;
	session->card = CARD_HOLD_NONE;
	session->keeper = session->signals = session->done = -1;
	session->spool = (struct spool){.fd = -1};
	session->seed = config->seed;
	if (!session->seed && getrandom(&session->seed, sizeof session->seed, 0) != (ssize_t)sizeof session->seed)
		session->seed = (uint64_t)clock_real_now().ns;
	session->seed &= INT64_MAX; /* as SQLite keeps it */
	if (open_all(session, err) < 0) {
		session_free(session);
		return -1;
	}
	*ret_session = session;
	return 0;
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

void session_free(struct session *session)
{
	if (!session)
		return;
	why_close(session);
	writer_stop(&session->writing, NULL);
	tare_writer_free(session->writer);
	for (size_t i = 0; i < session->target_count; i++)
		if (session->probes[i].kind)
			session->probes[i].kind->close(&session->probes[i]);
	if (session->spool.map)
		spool_close(&session->spool, false);
	/* nothing can be said any more; who wants to know has called it before */
	if (session_card_back(session, NULL) < 0)
		session->card_notes[0] = '\0';
	waiting_free(session->waiting);
	close_fd(session->keeper);
	close_fd(session->signals);
	close_fd(session->done);
	session_around_free(session);
	arena_free(session->names);
	stamp_key_free(session->key);
	free(session);
}

size_t session_targets(const struct session *session, const struct tare_target **ret_targets)
{
	*ret_targets = &session->targets[session->first_target];
	return session->target_count;
}

const struct tare_run *session_run_of(const struct session *session)
{
	return &session->run;
}

struct session_why_state session_why_of(const struct session *session)
{
	const struct watch *watch = session->watch;
	if (!watch)
		return (struct session_why_state){.missing = "", .cost_ns = TARE_NO_TIME};
	return (struct session_why_state){
		.on = true,
		.thread = watch_has_thread(watch),
		.cpus = watch_has_cpus(watch),
		.interrupts = watch_has_interrupts(watch),
		.softirqs = watch_has_softirqs(watch),
		.bytes = watch_bytes(watch),
		.cost_ns = session->watch_cost_ns,
		.missing = watch_missing(watch),
	};
}

uint64_t session_slots(const struct session *session)
{
	return session->slots;
}
