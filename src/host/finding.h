/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What matters among the facts: drift from the approved snapshot, counters that
 * moved, and cross-checks X1 to X20, each with the condition under which it holds.
 * A cross-check is a hint about this host, never a score; how bad a thing is and
 * whether it could be told are two things, kept apart to the end. Remedies are
 * text: nothing here changes a host.
 */
#pragma once
#include "host/cpus.h"
#include "host/delta.h"
#include "host/difference.h"
#include "host/snapshot.h"

enum host_level { HOST_LEVEL_INFO, HOST_LEVEL_WARNING, HOST_LEVEL_UNKNOWN, HOST_LEVEL_CRITICAL, HOST_LEVEL_COUNT };
const char *host_level_name(enum host_level level); /* "INFO", "WARNING", "UNKNOWN", "CRITICAL" */

struct host_finding {
	enum host_level level;
	const char *rule;     /* "X7", "drift", "counter", "reading" */
	const char *key;      /* the fact it is about; "" for none */
	const char *what;     /* "rx_usecs 0 -> 100" */
	const char *why;      /* what that does; "" */
	const char *evidence; /* the figures it rests on; "" */
	const char *remedy;   /* a command or an action, as text; "" */
	bool required;        /* an UNKNOWN that nothing can be said without */
};

struct host_findings {
	struct arena *arena;
	struct host_finding *row; /* worst first, then by rule and key */
	size_t count, room;
	size_t by_level[HOST_LEVEL_COUNT];
};

/* What a judgement rests on; pointers NULL where there is no such thing. */
struct host_view {
	const struct host_snapshot *is, *was; /* was: the last inspection */
	const struct host_deltas *deltas;     /* between them */
	const struct host_differences *drift; /* from what was approved */
	const struct host_policy *policy;
	struct host_cpus hot;   /* CPUs that are measured or serve */
	double peak_per_second; /* of the service, 0: as the counters show */
	bool in_round;          /* judged for a measured round: what voids one is critical */
	bool across_hosts;      /* one-way or cross-host figures are asked for */
};

int host_findings_of(
	const struct host_view *view, struct host_findings *ret_findings, struct tare_err *err) TARE_MUST_USE;
void host_findings_free(struct host_findings *findings);

/* 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN: critical goes before unknown of what is required, that before warning. */
int host_verdict(const struct host_findings *findings);
const char *host_verdict_name(int verdict);

/* A cross-check as documentation. */
struct host_rule_text {
	const char *name, *condition, *why;
};
const struct host_rule_text *host_rule_texts(size_t *ret_count);
