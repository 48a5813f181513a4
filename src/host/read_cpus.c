/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Facts that every CPU has: one file per CPU, one fact for all of them. CPUs of
 * equal value are told as one group; idle states are matched by name, since cores
 * of different kinds have different tables of them. CPUs may come and go while
 * this runs: the whole is repeated once when the online mask has changed.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "host/reading.h"

#define CPU_ROOT "/sys/devices/system/cpu/"
enum { IDLE_STATES_MAX = 16, IDLE_NAMES_MAX = 64 };

/* One CPU's answer. */
struct answer {
	const char *value; /* NULL: none */
	enum host_status status;
	int failure;
	bool asked; /* false: this CPU has no such object */
};

static struct answer ask(struct reading *reading, const struct host_key *row, const char *path)
{
	char raw[1025];
	size_t bytes;
	struct answer answer = {.asked = true};
	/* kernels up to 4.17 interrupt every CPU when one is asked: none is asked while any must be left alone */
	if (row->cost == HOST_IPI && !reading->question->intrusive && host_cpus_next(&reading->quiet, -1) >= 0) {
		answer.status = HOST_SKIPPED;
		return answer;
	}
	answer.status = tree_read(&reading->tree, path, raw, sizeof raw, &bytes, &answer.failure);
	if (answer.status != HOST_OK)
		return answer;
	enum host_form form = row->kind == HOST_COUNTER ? HOST_COUNT : row->form;
	char canonical[1025];
	bool unknown;
	if (host_canonical(form, raw, canonical, sizeof canonical, &unknown))
		answer.value = arena_text(reading->scratch, canonical);
	if (!answer.value)
		answer.status = HOST_MALFORMED;
	return answer;
}

/* "performance", or "(busy)" for what could not be read. */
static const char *word_of(const struct answer *answer, char *buffer, size_t room)
{
	if (answer->value)
		return answer->value;
	snprintf(buffer, room, "(%s)", host_status_name(answer->status));
	return buffer;
}

static void add_counts(struct reading *reading, const struct host_key *row, const char *instance, const char *source,
	const struct answer *answers)
{
	struct reading_counts counts;
	if (!reading_counts_open(reading, &counts))
		return;
	for (int cpu = host_cpus_next(&reading->online, -1); cpu >= 0 && (size_t)cpu < counts.room;
		cpu = host_cpus_next(&reading->online, cpu))
		if (answers[cpu].value)
			counts.by_cpu[cpu] = strtoull(answers[cpu].value, NULL, 10);
	reading_counts_add(reading, row->name, instance, NULL, source, &counts);
}

/* "0-3=performance; 4=(busy)", or the value alone where all CPUs agree. */
static void add_groups(struct reading *reading, const struct host_key *row, const char *instance, const char *source,
	const struct answer *answers)
{
	struct host_cpus told = {{0}};
	char list[512], one[32], other[32];
	struct text text = {.bytes = reading->value, .room = READING_VALUE_BYTES};
	int groups = 0, all = 0, first = -1;
	for (int cpu = host_cpus_next(&reading->online, -1); cpu >= 0; cpu = host_cpus_next(&reading->online, cpu)) {
		struct host_cpus same = {{0}};
		all++;
		if (!answers[cpu].asked || host_cpus_has(&told, cpu))
			continue;
		first = first < 0 ? cpu : first;
		for (int next = cpu; next >= 0; next = host_cpus_next(&reading->online, next))
			if (answers[next].asked && !host_cpus_has(&told, next) &&
				strcmp(word_of(&answers[cpu], one, sizeof one),
					word_of(&answers[next], other, sizeof other)) == 0)
				host_cpus_add(&same, next);
		host_cpus_join(&told, &same);
		if (!host_cpus_text(&same, list, sizeof list))
			snprintf(list, sizeof list, "%d CPUs", host_cpus_count(&same));
		text_add(&text, "%s%s=%s", groups++ ? "; " : "", list, word_of(&answers[cpu], one, sizeof one));
	}
	if (first < 0)
		return;
	/* no CPU that has the object could say: that is a status, not a value */
	if (groups == 1 && (host_cpus_count(&told) == all || !answers[first].value)) {
		if (answers[first].value)
			reading_add(reading, row, instance, NULL, HOST_VIA_FILE, source, answers[first].value);
		else
			reading_fail(reading, row, instance, NULL, HOST_VIA_FILE, source, answers[first].status,
				answers[first].failure);
		return;
	}
	char key[READING_KEY_BYTES];
	if (host_key_text(row->name, instance, key, sizeof key))
		host_snapshot_add(reading->snapshot, &(struct host_fact){.key = key,
							     .row = row,
							     .value = reading->value,
							     .status = text.cut ? HOST_MALFORMED : HOST_OK,
							     .kind = row->kind,
							     .source = source});
}

static void add_answers(struct reading *reading, const struct host_key *row, const char *instance, const char *source,
	const struct answer *answers)
{
	bool any = false;
	for (int cpu = host_cpus_next(&reading->online, -1); cpu >= 0; cpu = host_cpus_next(&reading->online, cpu))
		any |= answers[cpu].value != NULL;
	if (row->kind == HOST_COUNTER && any)
		add_counts(reading, row, instance, source, answers);
	else
		add_groups(reading, row, instance, source, answers);
}

static void read_rows(struct reading *reading, struct answer *answers)
{
	for (size_t i = 0; i < host_key_count(); i++) {
		const struct host_key *row = host_key_at(i);
		char path[READING_PATH_BYTES];
		if (row->scope != HOST_CPU)
			continue;
		for (int cpu = host_cpus_next(&reading->online, -1); cpu >= 0;
			cpu = host_cpus_next(&reading->online, cpu)) {
			snprintf(path, sizeof path, CPU_ROOT "cpu%d/%s", cpu, row->path);
			answers[cpu] = ask(reading, row, path);
		}
		snprintf(path, sizeof path, CPU_ROOT "cpuN/%s", row->path);
		add_answers(reading, row, NULL, path, answers);
	}
}

/* Which state of a CPU has this name; -1 for none. */
struct idle_names {
	const char *name[IDLE_NAMES_MAX];
	size_t count;
	signed char *state; /* [cpu * IDLE_NAMES_MAX + name] */
};

static void note_state(struct reading *reading, struct idle_names *names, int cpu, int state, const char *name)
{
	size_t i = 0;
	while (i < names->count && strcmp(names->name[i], name) != 0)
		i++;
	if (i == IDLE_NAMES_MAX)
		return;
	if (i == names->count) {
		names->name[i] = arena_text(reading->scratch, name);
		if (!names->name[i])
			return;
		names->count++;
	}
	names->state[(size_t)cpu * IDLE_NAMES_MAX + i] = (signed char)state;
}

static bool find_states(struct reading *reading, struct idle_names *names)
{
	size_t cells = ((size_t)reading->last_cpu + 1) * IDLE_NAMES_MAX;
	names->state = ARENA_ARRAY(reading->scratch, signed char, cells);
	if (!names->state)
		return false;
	memset(names->state, -1, cells);
	for (int cpu = host_cpus_next(&reading->online, -1); cpu >= 0; cpu = host_cpus_next(&reading->online, cpu)) {
		for (int state = 0; state < IDLE_STATES_MAX; state++) {
			char path[READING_PATH_BYTES], name[64];
			snprintf(path, sizeof path, CPU_ROOT "cpu%d/cpuidle/state%d/name", cpu, state);
			if (!reading_line(reading, path, name, sizeof name))
				break;
			note_state(reading, names, cpu, state, name);
		}
	}
	return names->count > 0;
}

static void read_idle(struct reading *reading, struct answer *answers)
{
	struct idle_names names = {.count = 0};
	if (!find_states(reading, &names))
		return;
	for (size_t i = 0; i < host_key_count(); i++) {
		const struct host_key *row = host_key_at(i);
		for (size_t n = 0; row->scope == HOST_IDLE && n < names.count; n++) {
			char path[READING_PATH_BYTES];
			for (int cpu = host_cpus_next(&reading->online, -1); cpu >= 0;
				cpu = host_cpus_next(&reading->online, cpu)) {
				int state = names.state[(size_t)cpu * IDLE_NAMES_MAX + n];
				answers[cpu] = (struct answer){0};
				snprintf(path, sizeof path, CPU_ROOT "cpu%d/cpuidle/state%d/%s", cpu, state, row->path);
				if (state >= 0)
					answers[cpu] = ask(reading, row, path);
			}
			snprintf(path, sizeof path, CPU_ROOT "cpuN/cpuidle/stateM/%s", row->path);
			add_answers(reading, row, names.name[n], path, answers);
		}
	}
}

static bool read_online(struct reading *reading, struct host_cpus *ret_online)
{
	char line[4096];
	if (!reading_line(reading, CPU_ROOT "online", line, sizeof line) || !host_cpus_of_list(line, -1, ret_online))
		return false;
	for (int cpu = reading->last_cpu; (cpu = host_cpus_next(ret_online, cpu)) >= 0;)
		ret_online->bits[cpu / 64] &= ~(UINT64_C(1) << (cpu % 64));
	return host_cpus_next(ret_online, -1) >= 0;
}

void reading_cpus(struct reading *reading)
{
	struct answer *answers = ARENA_ARRAY(reading->scratch, struct answer, (size_t)reading->last_cpu + 1);
	if (!answers || reading->last_cpu < 0)
		return;
	size_t before = reading->snapshot->count;
	for (int attempt = 0; attempt < 2; attempt++) {
		struct host_cpus after;
		reading->snapshot->count = before;
		read_rows(reading, answers);
		read_idle(reading, answers);
		if (!read_online(reading, &after) || memcmp(&after, &reading->online, sizeof after) == 0)
			return;
		reading->online = after;
	}
}
