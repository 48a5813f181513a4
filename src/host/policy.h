/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What an approved snapshot demands, key by key. A policy file holds lines
 * "PATTERN RULE"; '*' and '?' are wild, the last line that fits a key wins:
 *
 *	vm.swappiness            range 0..10
 *	cpu.isolated             subset 2-7
 *	net.core.busy_read       in 0 50
 *	nic[*].name              ignore
 *	nic[*].rx_dropped        max-delta 100/day
 *	kernel.tainted           exact 0
 *	swap.*                   absent
 *
 * Without a line, settings (kinds B, R, I) must be exactly as approved, states
 * (G) are ignored, and counters (C) of errors must not grow.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/cpus.h"
#include "host/snapshot.h"

enum host_rule_kind {
	HOST_RULE_EXACT,
	HOST_RULE_IN,
	HOST_RULE_RANGE,
	HOST_RULE_SUBSET,
	HOST_RULE_IGNORE,
	HOST_RULE_MAX_DELTA,
	HOST_RULE_ABSENT
};
struct host_rule {
	const char *pattern, *words; /* words: what follows the rule's name */
	enum host_rule_kind kind;
	int64_t least, most;   /* range; most also for max-delta, a day */
	struct host_cpus cpus; /* subset */
};

struct host_policy;
/* The text is not needed afterwards. Fails with TARE_E_FORMAT, "NAME:LINE: …". */
int host_policy_parse(
	const char *text, const char *name, struct host_policy **ret_policy, struct tare_err *err) TARE_MUST_USE;
void host_policy_free(struct host_policy *policy); /* NULL is fine */
/* NULL when no line fits, or there is no policy. */
const struct host_rule *host_policy_rule(const struct host_policy *policy, const char *key);
/*
 * Whether a value is as the rule says; `approved` is the value that was approved (NULL: none). The reason goes to
 * `why`, "" when it is fine. Not for max-delta and ignore.
 */
bool host_rule_holds(
	const struct host_rule *rule, const struct host_fact *fact, const char *approved, char *why, size_t room);
