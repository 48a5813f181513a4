/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Differences of counters, epoch by epoch. */
#include "host/delta.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/cpus.h"

static const char *const state_names[HOST_DELTA_STATES] = {
	"", "since boot", "re-created", "wrapped", "at least", "went backwards"};

const char *host_delta_state_name(enum host_delta_state state)
{
	return state < HOST_DELTA_STATES ? state_names[state] : "?";
}

enum host_delta_state host_delta_number(
	bool u32, uint64_t was, uint64_t is, int64_t elapsed_ns, double most_per_second, uint64_t *ret_delta)
{
	double possible = most_per_second * (double)elapsed_ns / 1e9;
	if (is < was) {
		uint64_t turned = is + (UINT64_C(1) << 32) - was;
		*ret_delta = 0;
		if (!u32 || was > UINT32_MAX || (double)turned > possible)
			return HOST_DELTA_BACKWARDS;
		*ret_delta = turned;
		return possible >= 0x1p32 ? HOST_DELTA_AT_LEAST : HOST_DELTA_WRAPPED;
	}
	*ret_delta = is - was;
	return u32 && possible >= 0x1p32 ? HOST_DELTA_AT_LEAST : HOST_DELTA_PLAIN;
}

void host_counts_each(const char *value, void (*each)(void *context, int cpu, uint64_t count), void *context)
{
	while (isdigit((unsigned char)*value)) {
		char *end;
		unsigned long cpu = strtoul(value, &end, 10);
		if (*end != '=' || cpu >= HOST_CPUS_MAX)
			return;
		uint64_t count = strtoull(end + 1, &end, 10);
		each(context, (int)cpu, count);
		value = end + (*end == ' ');
	}
}

struct one_cpu {
	int cpu;
	uint64_t count;
};
static void pick_cpu(void *context, int cpu, uint64_t count)
{
	struct one_cpu *wanted = context;
	if (cpu == wanted->cpu)
		wanted->count = count;
}

uint64_t host_count_of_cpu(const char *value, int cpu)
{
	struct one_cpu wanted = {.cpu = cpu};
	host_counts_each(value, pick_cpu, &wanted);
	return wanted.count;
}

/* ---- epochs ---- */

/* Facts that change when an object is made anew; the counters of "nic[X]" begin again with a new ifindex. */
static const struct {
	const char *prefix, *epoch[3];
} epochs[] = {
	{"nic[", {"nic[].ifindex", "nic[].driver", "nic[].firmware"}},
	{"queue[", {"nic[].ifindex", NULL, NULL}},
	{"cgroup[", {"cgroup[].inode", NULL, NULL}},
	{"process[", {"process[].started_ns", NULL, NULL}},
	{"thread[", {"process[].started_ns", NULL, NULL}},
};

/* "0000:3b:00.0 rx-3" and "bash/worker.0" belong to what stands before the last blank or slash. */
static void owner_of(const char *key, char *instance, size_t room)
{
	host_key_instance(key, instance, room);
	if (strncmp(key, "queue[", 6) == 0 || strncmp(key, "thread[", 7) == 0) {
		char *last = strrchr(instance, key[0] == 'q' ? ' ' : '/');
		if (last)
			*last = '\0';
	}
}

static bool differs(
	const struct host_snapshot *was, const struct host_snapshot *is, const char *name, const char *instance)
{
	const struct host_fact *then = host_find_of(was, name, instance), *now = host_find_of(is, name, instance);
	return then && now && then->status == HOST_OK && now->status == HOST_OK && strcmp(then->value, now->value) != 0;
}

static bool is_new(const struct host_snapshot *was, const struct host_snapshot *is, const char *key)
{
	char instance[300];
	for (size_t i = 0; i < sizeof epochs / sizeof epochs[0]; i++) {
		if (strncmp(key, epochs[i].prefix, strlen(epochs[i].prefix)) != 0)
			continue;
		owner_of(key, instance, sizeof instance);
		for (size_t j = 0; j < 3 && epochs[i].epoch[j]; j++)
			if (differs(was, is, epochs[i].epoch[j], instance))
				return true;
	}
	/* counters of the stack belong to a network namespace */
	bool of_stack = strncmp(key, "stack", 5) == 0;
	return of_stack && was->header.netns && is->header.netns && strcmp(was->header.netns, is->header.netns) != 0;
}

/* ---- one counter ---- */

struct sum {
	const char *was; /* NULL: begins at zero */
	struct host_delta *row;
	bool u32;
	int64_t elapsed_ns;
	double most_per_second;
	uint64_t largest;
};

static void take(struct sum *sum, uint64_t was, uint64_t is, int cpu)
{
	uint64_t delta;
	enum host_delta_state state =
		host_delta_number(sum->u32, was, is, sum->elapsed_ns, sum->most_per_second, &delta);
	if (state > sum->row->state)
		sum->row->state = state;
	sum->row->delta += delta;
	if (cpu >= 0 && delta > sum->largest) {
		sum->largest = delta;
		snprintf(sum->row->where, sizeof sum->row->where, "CPU %d: %llu", cpu, (unsigned long long)delta);
	}
}

static void take_cpu(void *context, int cpu, uint64_t count)
{
	struct sum *sum = context;
	take(sum, sum->was ? host_count_of_cpu(sum->was, cpu) : 0, count, cpu);
}

static struct host_delta delta_of(const struct host_snapshot *was, const struct host_fact *then,
	const struct host_fact *now, const struct host_snapshot *is, const struct host_deltas *all,
	double most_per_second)
{
	struct host_delta row = {.is = now};
	enum host_form form = now->row ? now->row->form : HOST_COUNT;
	bool anew = all->rebooted || (was && is_new(was, is, now->key)) || !then || then->status != HOST_OK;
	struct sum sum = {.was = anew ? NULL : then->value,
		.row = &row,
		.u32 = form == HOST_COUNT_U32 || form == HOST_PER_CPU_U32,
		.elapsed_ns = all->elapsed_ns,
		.most_per_second = most_per_second};
	/* a count by CPU of all zeros is "0"; one that is no longer listed has gone down to zero with its CPU */
	if (strchr(now->value, '='))
		host_counts_each(now->value, take_cpu, &sum);
	else if (form != HOST_PER_CPU && form != HOST_PER_CPU_U32)
		take(&sum, sum.was ? strtoull(sum.was, NULL, 10) : 0, strtoull(now->value, NULL, 10), -1);
	else if (sum.was && strchr(sum.was, '='))
		row.state = HOST_DELTA_BACKWARDS;
	if (anew && row.state != HOST_DELTA_BACKWARDS)
		row.state = all->rebooted ? HOST_DELTA_SINCE_BOOT : HOST_DELTA_REBASED;
	if (all->elapsed_ns > 0)
		row.per_second = (double)row.delta * 1e9 / (double)all->elapsed_ns;
	return row;
}

/* Ten times the mean rate of all devices over the interval, and 10 000/s at least: what 32-bit counters could have
 * seen. */
static double likely_most(const struct host_snapshot *was, const struct host_snapshot *is, int64_t elapsed_ns)
{
	double packets = 0;
	size_t cursor = 0;
	for (const struct host_fact *fact; (fact = host_next(is, "nic[", &cursor)) != NULL;) {
		int64_t now, then = 0;
		size_t length = strlen(fact->key);
		if (length < 11 || strcmp(fact->key + length - 11, ".rx_packets") != 0 ||
			!host_number(is, fact->key, &now))
			continue;
		if (was)
			host_number(was, fact->key, &then);
		if (now > then)
			packets += (double)(now - then);
	}
	double rate = elapsed_ns > 0 ? 10 * packets * 1e9 / (double)elapsed_ns : 0;
	return rate > 10000 ? rate : 10000;
}

int host_deltas_of(const struct host_snapshot *was, const struct host_snapshot *is, struct host_deltas *ret_deltas,
	struct tare_err *err)
{
	struct host_deltas all = {.row = calloc(is->count + 1, sizeof *all.row)};
	if (!all.row)
		return tare_fail_errno(err, ENOMEM, "cannot compare counters");
	all.rebooted = was->header.boot && is->header.boot && strcmp(was->header.boot, is->header.boot) != 0;
	all.elapsed_ns = all.rebooted ? is->header.up_ns : is->header.up_ns - was->header.up_ns;
	double most = likely_most(all.rebooted ? NULL : was, is, all.elapsed_ns);
	for (size_t i = 0; i < is->count; i++) {
		const struct host_fact *now = &is->facts[i];
		if (now->kind != HOST_COUNTER || now->status != HOST_OK)
			continue;
		struct host_delta row = delta_of(was, host_find(was, now->key), now, is, &all, most);
		all.recreated += row.state == HOST_DELTA_REBASED;
		if (row.delta || row.state == HOST_DELTA_BACKWARDS)
			all.row[all.count++] = row;
		else
			all.unchanged++;
	}
	*ret_deltas = all;
	return 0;
}

void host_deltas_free(struct host_deltas *deltas)
{
	free(deltas->row);
	*deltas = (struct host_deltas){0};
}

const struct host_delta *host_delta_find(const struct host_deltas *deltas, const char *key)
{
	size_t low = 0, high = deltas->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(deltas->row[middle].is->key, key);
		if (order == 0)
			return &deltas->row[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}
