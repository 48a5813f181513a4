/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What every command that measures can be told about its requests, and how that becomes a session. */
#pragma once
#include "cli/cli.h"
#include "session/session.h"

struct run_options {
	int64_t every_ns, jitter_ns, timeout_ns, for_ns, rate_ns;
	uint64_t count, warmup, size, fifo, seed;
	struct option_cpus cpus;
	bool spin, quiet, ipv4, ipv6;
	int stamps, on_late;
	uint64_t ttl, ecn, source_port, idle_sockets, busy_poll_budget;
	int64_t busy_poll_ns;
	int receive;
	const char *dscp, *source, *interface;
	bool df;
	const char *schedule, *output, *inject, *send, *expect, *expect_regex, *ca;
	uint64_t expect_bytes, expect_status;
	bool fresh, insecure;
	const char *key_file, *peer_facts;
	int64_t clock_bound_ns;
	uint64_t reply_dscp;
};

extern const struct option_choice run_stamps_choices[], run_late_choices[], run_receive_choices[];

/* Rows of an option table whose configuration has a `struct run_options run`. */
#define RUN_AT(config, member) OPTION_AT(config, run.member)
#define RUN_OPTIONS(config) \
	{"every", 'i', OPTION_DURATION, "TIME", "1ms", "time between requests to one target", RUN_AT(config, every_ns), 100, 3600e9, NULL}, \
	{"rate", 0, OPTION_RATE, "RATE", NULL, "the same as a rate, as 50k/s", RUN_AT(config, rate_ns), 100, 3600e9, NULL}, \
	{"count", 'c', OPTION_COUNT, "N", "10000", "requests per round and target, beside the warm-up", RUN_AT(config, count), 1, 1e12, NULL}, \
	{"for", 0, OPTION_DURATION, "TIME", NULL, "length of a round instead of a count", RUN_AT(config, for_ns), 1, 365.0 * 86400e9, NULL}, \
	{"warmup", 0, OPTION_COUNT, "N", "2", "first requests of a round kept apart", RUN_AT(config, warmup), 0, 1e6, NULL}, \
	{"timeout", 0, OPTION_DURATION, "TIME", "1s", "later answers are overdue, missing ones lost", RUN_AT(config, timeout_ns), 1000, 3600e9, NULL}, \
	{"size", 's', OPTION_SIZE, "BYTES", NULL, "payload behind the IP and UDP or ICMP headers; 64, or what the kind needs", RUN_AT(config, size), 1, 65507, NULL}, \
	{"send", 0, OPTION_TEXT, "TEXT", NULL, "tcp: what to ask a service, as 'PING\\r\\n'", RUN_AT(config, send), 0, 0, NULL}, \
	{"expect", 0, OPTION_TEXT, "TEXT", NULL, "how its reply must begin, as '+PONG'; http: what the body must hold", RUN_AT(config, expect), 0, 0, NULL}, \
	{"expect-regex", 0, OPTION_TEXT, "RE", NULL, "what it must match (POSIX extended)", RUN_AT(config, expect_regex), 0, 0, NULL}, \
	{"expect-bytes", 0, OPTION_SIZE, "BYTES", NULL, "tcp: length of each reply; else it ends with the line", RUN_AT(config, expect_bytes), 1, 65536, NULL}, \
	{"expect-status", 0, OPTION_COUNT, "STATUS", NULL, "http: the status expected; 200 to 399 unless given", RUN_AT(config, expect_status), 100, 999, NULL}, \
	{"fresh", 0, OPTION_FLAG, NULL, NULL, "http: a new connection for every request", RUN_AT(config, fresh), 0, 0, NULL}, \
	{"insecure", 0, OPTION_FLAG, NULL, NULL, "https: do not check the server's certificate", RUN_AT(config, insecure), 0, 0, NULL}, \
	{"ca", 0, OPTION_TEXT, "FILE", NULL, "https: certificates to trust instead of the system's", RUN_AT(config, ca), 0, 0, NULL}, \
	{"key-file", 0, OPTION_TEXT, "FILE", NULL, "stamp: authenticated, with this key; the file must be ours, mode 0600", RUN_AT(config, key_file), 0, 0, NULL}, \
	{"reply-dscp", 0, OPTION_COUNT, "N", NULL, "stamp: DSCP the reflector shall answer with, 1 to 63", RUN_AT(config, reply_dscp), 1, 63, NULL}, \
	{"clock-bound", 0, OPTION_DURATION, "TIME", NULL, "stamp: the peer's clock is no further from ours: forward and backward, right within that", RUN_AT(config, clock_bound_ns), 1, 3600e9, NULL}, \
	{"peer-facts", 0, OPTION_TEXT, "FILE", NULL, "settings of the peer's host, as tare inspect -o writes them, kept with the recording", RUN_AT(config, peer_facts), 0, 0, NULL}, \
	{"cpu", 0, OPTION_CPUS, "CPU", NULL, "where the measuring thread runs", RUN_AT(config, cpus), 0, 0, NULL}, \
	{"spin", 0, OPTION_FLAG, NULL, NULL, "wait by looking, not by sleeping: --receive spin", RUN_AT(config, spin), 0, 0, NULL}, \
	{"receive", 0, OPTION_CHOICE, "HOW", "block", "how the measuring thread waits", RUN_AT(config, receive), 0, 0, run_receive_choices}, \
	{"idle-sockets", 0, OPTION_COUNT, "N", NULL, "--receive epoll: silent sockets beside the measuring one", RUN_AT(config, idle_sockets), 1, 1e6, NULL}, \
	{"busy-poll", 0, OPTION_DURATION, "TIME", "50us", "busy polling: SO_BUSY_POLL, whole microseconds", RUN_AT(config, busy_poll_ns), 1000, 1e9, NULL}, \
	{"busy-poll-budget", 0, OPTION_COUNT, "N", NULL, "busy polling: packets a poll", RUN_AT(config, busy_poll_budget), 1, 65535, NULL}, \
	{"fifo", 0, OPTION_COUNT, "PRIO", NULL, "real-time priority of the measuring thread", RUN_AT(config, fifo), 1, 99, NULL}, \
	{"stamps", 0, OPTION_CHOICE, "LEVEL", "kernel", "highest level of time stamps asked for", RUN_AT(config, stamps), 0, 0, run_stamps_choices}, \
	{"on-late", 0, OPTION_CHOICE, "POLICY", "send", "what becomes of a slot that was missed", RUN_AT(config, on_late), 0, 0, run_late_choices}, \
	{"jitter", 0, OPTION_DURATION, "TIME", NULL, "moves each due time by up to this much either way", RUN_AT(config, jitter_ns), 0, 3600e9, NULL}, \
	{"schedule", 0, OPTION_TEXT, "KIND", "periodic", "when requests are due: periodic, poisson, or burst:N", RUN_AT(config, schedule), 0, 0, NULL}, \
	{"seed", 0, OPTION_COUNT, "N", NULL, "of phase, schedule and jitter; drawn and recorded otherwise", RUN_AT(config, seed), 1, 9.2e18, NULL}, \
	{"inject", 0, OPTION_TEXT, "FAULTS", NULL, "hold the sender up on purpose, as 'delay 2ms every 1000, stop 50ms at 3000'", RUN_AT(config, inject), 0, 0, NULL}, \
	{"ttl", 0, OPTION_COUNT, "N", NULL, "TTL or hop limit of requests", RUN_AT(config, ttl), 1, 255, NULL}, \
	{"dscp", 0, OPTION_TEXT, "CLASS", NULL, "their DSCP, as EF, AF41 or 46", RUN_AT(config, dscp), 0, 0, NULL}, \
	{"ecn", 0, OPTION_COUNT, "N", NULL, "their ECN field, 0 to 3", RUN_AT(config, ecn), 0, 3, NULL}, \
	{"df", 0, OPTION_FLAG, NULL, NULL, "never fragment: what exceeds the path MTU is refused", RUN_AT(config, df), 0, 0, NULL}, \
	{"source", 0, OPTION_TEXT, "ADDRESS", NULL, "send from this address", RUN_AT(config, source), 0, 0, NULL}, \
	{"source-port", 0, OPTION_COUNT, "PORT", NULL, "send from this port", RUN_AT(config, source_port), 1, 65535, NULL}, \
	{"interface", 0, OPTION_TEXT, "NAME", NULL, "send by this interface, or within this VRF; with --self-test: this one only", RUN_AT(config, interface), 0, 0, NULL}, \
	{"ipv4", '4', OPTION_FLAG, NULL, NULL, "resolve names to IPv4 only", RUN_AT(config, ipv4), 0, 0, NULL}, \
	{"ipv6", '6', OPTION_FLAG, NULL, NULL, "resolve names to IPv6 only", RUN_AT(config, ipv6), 0, 0, NULL}, \
	{"output", 'o', OPTION_TEXT, "FILE", NULL, "recording to make; without it nothing is kept", RUN_AT(config, output), 0, 0, NULL}, \
	{"quiet", 'q', OPTION_FLAG, NULL, NULL, "no progress and no plan", RUN_AT(config, quiet), 0, 0, NULL}

/* Of the options; a word of --schedule is checked here and read anew by run_options_session, and so is the path. */
int run_options_check(struct cli *cli, const struct run_options *options, struct tare_err *err) TARE_MUST_USE;
/* One round without a label; the rest is the caller's. urls are borrowed. */
struct session_config run_options_session(const struct run_options *options, char **urls, size_t url_count);
/* Settings as the recording notes them; the array is the caller's to free. */
size_t run_options_settings(const struct option_set *set, struct tare_setting **ret_settings);
/* As it was typed, joined by blanks; free() it. */
char *run_options_command_line(const struct cli *cli);
/* The plan of a round, addresses and what the grid meets, on cli->note. */
void run_options_announce(struct cli *cli, const struct session_config *config, const struct session *session);
