/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Re-enactments: what all of them need. Everything runs on 127.0.0.1, responders
 * and loads as children of their own, so that they can be stopped, moved and
 * pinned like strangers.
 */
#pragma once
#include <sys/types.h>

#include "cause/load.h"
#include "cli/cli.h"
#include "cli/lab_words.h"
#include "session/session.h"

struct lab {
	struct cli *cli;
	int cpu[2];   /* the first two that this process may use; both the same on a host with one */
	int cpus;     /* how many there are */
	double scale; /* of counts: 1, less for a quick look */
};

/* Figures of one round and target. Times in ns, NAN where there is none. */
struct lab_figures {
	uint64_t sent, answered, n;
	double rtt_p50, rtt_p99, rtt_p999, rtt_max, rtt_mean, rtt_min, late_mean, late_p50, response_p50, first, second;
	uint64_t stalls;
	int peer_cpu[2]; /* CPUs the peer was seen on, most frequent first; -1: none */
	double by_cpu_p50[2];
	uint64_t by_cpu_n[2];
	bool first_is_slowest;
};

/* A responder in a child of its own; `inject` may be NULL. Returns its process id, -1 on failure. */
pid_t lab_echo(const struct lab *lab, int cpu, bool spin, const char *inject, char *ret_url, size_t room,
	struct tare_err *err);
/* A load in a child; 0 or -1. */
pid_t lab_load(enum load_kind kind, int cpu, int cpu_other, struct tare_err *err);
/* Ends a child, stopped or not. 0 and below: nothing. */
void lab_end(pid_t child);

/* One round of a session with these settings to up to 4 targets; figures in their order. */
int lab_run(const struct lab *lab, const struct session_config *config, struct lab_figures *ret_figures, size_t targets,
	struct tare_err *err) TARE_MUST_USE;
/* Settings that all share: user and kernel stamps, 0.2 s of timeout, no explaining. */
struct session_config lab_config(const struct lab *lab, const char *const *urls, size_t count, uint64_t requests,
	int64_t every_ns, int cpu, bool spin);
uint64_t lab_count(const struct lab *lab, uint64_t count);

/*
 * A table of a re-enactment: its first column says what, the others are values in ns or counts (as `is_count`
 * has it). NAN: there is none.
 */
enum { LAB_VALUES = 6 };
struct lab_row {
	const char *what;
	double value[LAB_VALUES];
};
struct lab_heading {
	const char *text;
	bool is_count;
};
/* unit: "µs" or "ns". */
int lab_table(const struct lab *lab, const char *unit, const struct lab_heading *headings, size_t columns,
	const struct lab_row *rows, size_t count, struct tare_err *err) TARE_MUST_USE;

void lab_say(const struct lab *lab, const char *format, ...) TARE_PRINTF(2, 3);

int lab_ping_blind(struct lab *lab, struct tare_err *err);
int lab_kernel_alive(struct lab *lab, struct tare_err *err);
int lab_two_modes(struct lab *lab, struct tare_err *err);
int lab_first_request(struct lab *lab, struct tare_err *err);
int lab_stalls(struct lab *lab, struct tare_err *err);
int lab_average(struct lab *lab, struct tare_err *err);
int lab_rate(struct lab *lab, struct tare_err *err);
int lab_resolution(struct lab *lab, struct tare_err *err);
