/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Collecting findings and putting the worst first. */
#include "host/finding.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/host.h"
#include "host/rules.h"

#define ARENA_BYTES ((size_t)16 << 20)
enum { FINDINGS_MAX = 4096 };

static const char *const level_names[HOST_LEVEL_COUNT] = {"INFO", "WARNING", "UNKNOWN", "CRITICAL"};

const char *host_level_name(enum host_level level)
{
	return level < HOST_LEVEL_COUNT ? level_names[level] : "?";
}

static const struct host_rule_text texts[] = {
	{"X1",
		"an interrupt other than the hot CPU's own NIC queue fired on a hot or isolated CPU since the last "
		"inspection",
		"each costs the thread there some microseconds, at times nobody chose"},
	{"X2", "a thread of the responder may run on several CPUs, or has moved",
		"each CPU has its own distance to NIC and memory: two modes of latency"},
	{"X3", "other tasks may use a hot CPU, or its sibling is busy", "who shares a core waits for the other"},
	{"X4", "NIC, interrupt and responder are on different NUMA nodes",
		"every packet crosses the link between sockets"},
	{"X5", "a nohz_full CPU still has its tick, or is not in rcu_nocbs",
		"the tick then interrupts it HZ times a second"},
	{"X6", "an affinity was asked for and is not in force, and the interrupt has not fired since",
		"a new affinity takes hold at the next interrupt"},
	{"X7", "rx_usecs is not shorter than the time between packets at peak",
		"a packet then waits for the timer of interrupt moderation; measure at the rate named"},
	{"X8", "adaptive moderation is on", "the driver rewrites rx_usecs: the value is not the operator's to fix"},
	{"X9", "busy polling is set, packets arrived, and none was polled",
		"the setting has no effect: sockets may be older"},
	{"X10", "tuned's profile is not in force, or is allowed to change things at run time",
		"settings change without an operator; idle NICs have been slowed down"},
	{"X11", "the next boot will use another boot line", "the host will be another one after a reboot"},
	{"X12", "a real-time thread spins and sched_rt_runtime_us is below the period",
		"the kernel stops it for the rest of each period"},
	{"X13", "the control group was throttled, or has a quota", "a quota stalls for up to a whole period"},
	{"X14", "errors of the PCI link, or a link below what the card can",
		"a replay is a delay; fewer lanes cost under load"},
	{"X15", "drops, overruns, damaged frames or link flaps",
		"packets were lost on this host: a round with them is void"},
	{"X16", "the clock is not synchronised and figures across hosts are asked for",
		"one-way delays would hold the clocks' difference"},
	{"X17", "SMI, steal or thermal throttling", "all CPUs stood still, or ran slower: candidates for stalls"},
	{"X18", "a capture, a tracer or connection tracking is in the path",
		"work for every packet that nobody asked for"},
	{"X19", "a bypass stack is in use", "interrupts, softnet and busy polling do not describe its packets"},
	{"X20", "a key was readable at the last inspection and is not now",
		"nothing can be said about it, least of all that it is unchanged"},
};

const struct host_rule_text *host_rule_texts(size_t *ret_count)
{
	*ret_count = sizeof texts / sizeof texts[0];
	return texts;
}

static const char *keep(struct host_findings *findings, const char *text)
{
	const char *copy = text && text[0] ? arena_text(findings->arena, text) : "";
	return copy ? copy : "";
}

void finding_add(struct judging *judging, enum host_level level, const char *rule, const char *key, const char *what,
	const char *why, const char *evidence, const char *remedy)
{
	struct host_findings *findings = judging->findings;
	if (findings->count == FINDINGS_MAX)
		return;
	const struct host_key *row = key && key[0] ? host_key_of(key) : NULL;
	findings->row[findings->count++] = (struct host_finding){.level = level,
		.rule = rule,
		.key = keep(findings, key),
		.what = keep(findings, what),
		.why = keep(findings, why),
		.evidence = keep(findings, evidence),
		.remedy = keep(findings, remedy),
		.required = level == HOST_LEVEL_UNKNOWN && row && row->flags & HOST_REQUIRED};
	findings->by_level[level]++;
}

uint64_t delta_of_key(const struct judging *judging, const char *key)
{
	const struct host_delta *delta = judging->view->deltas ? host_delta_find(judging->view->deltas, key) : NULL;
	return delta && delta->state != HOST_DELTA_BACKWARDS ? delta->delta : 0;
}

const struct host_fact *beside(const struct judging *judging, const char *key, const char *name)
{
	char instance[300];
	host_key_instance(key, instance, sizeof instance);
	return host_find_of(judging->view->is, name, instance);
}

const char *value_beside(const struct judging *judging, const char *key, const char *name)
{
	const struct host_fact *fact = beside(judging, key, name);
	return fact && fact->status == HOST_OK && !fact->unknown ? fact->value : NULL;
}

const char *nic_name(const struct judging *judging, const char *key)
{
	const char *name = value_beside(judging, key, "nic[].name");
	return name ? name : "DEVICE";
}

bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), tail = strlen(end);
	return length >= tail && strcmp(text + length - tail, end) == 0;
}

enum host_level worse_in_round(const struct judging *judging, enum host_level otherwise)
{
	return judging->view->in_round ? HOST_LEVEL_CRITICAL : otherwise;
}

static int worst_first(const void *left, const void *right)
{
	const struct host_finding *a = left, *b = right;
	if (a->level != b->level)
		return a->level > b->level ? -1 : 1;
	int order = strcmp(a->rule, b->rule);
	return order ? order : strcmp(a->key, b->key);
}

int host_findings_of(const struct host_view *view, struct host_findings *ret_findings, struct tare_err *err)
{
	struct host_findings findings = {.row = calloc(FINDINGS_MAX, sizeof *findings.row)};
	if (!findings.row)
		return tare_fail_errno(err, ENOMEM, "cannot judge the facts");
	if (arena_open(ARENA_BYTES, 0, &findings.arena, err) < 0) {
		free(findings.row);
		return -1;
	}
	struct judging judging = {.view = view, .findings = &findings};
	host_isolated(view->is, &judging.hot);
	host_cpus_join(&judging.hot, &view->hot);
	rules_cpu(&judging);
	rules_nic(&judging);
	rules_config(&judging);
	qsort(findings.row, findings.count, sizeof *findings.row, worst_first);
	*ret_findings = findings;
	return 0;
}

void host_findings_free(struct host_findings *findings)
{
	arena_free(findings->arena);
	free(findings->row);
	*findings = (struct host_findings){0};
}

int host_verdict(const struct host_findings *findings)
{
	if (findings->by_level[HOST_LEVEL_CRITICAL])
		return 2;
	for (size_t i = 0; i < findings->count; i++)
		if (findings->row[i].required)
			return 3;
	return findings->by_level[HOST_LEVEL_WARNING] ? 1 : 0;
}

const char *host_verdict_name(int verdict)
{
	static const char *const names[] = {"OK", "WARNING", "CRITICAL", "UNKNOWN"};
	return verdict >= 0 && verdict < 4 ? names[verdict] : "UNKNOWN";
}
