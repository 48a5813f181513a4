/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two readings of a few files of /proc and /sys, and their difference. */
#include "cause/landed.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"

/* /proc/interrupts of a host with 512 CPUs and 2000 lines has 12 MB; what lies beyond is not counted. */
enum { TEXT_BYTES = 4 << 20, COLUMNS_MAX = 4096 };
#define NS_PER_S INT64_C(1000000000)
#define THROTTLE "/sys/devices/system/cpu/cpu%d/thermal_throttle/"

struct reading {
	struct landed_row row[LANDED_ROWS_MAX];
	size_t rows;
	uint64_t steal[LANDED_CPUS_MAX], throttled[LANDED_CPUS_MAX], smi[LANDED_CPUS_MAX];
};

struct landed {
	int cpu[LANDED_CPUS_MAX], smi_fd[LANDED_CPUS_MAX];
	size_t cpus;
	struct reading before, after;
	char *text; /* TEXT_BYTES */
};

/* ---- parsing ---- */

/* Which place in `cpus` each column has; -1: not asked for. */
static size_t read_head(char *line, const int *cpus, size_t cpu_count, int16_t place[COLUMNS_MAX])
{
	size_t columns = 0;
	for (char *at = line; columns < COLUMNS_MAX && (at = strstr(at, "CPU")) != NULL; at += 3) {
		unsigned long cpu = strtoul(at + 3, NULL, 10);
		place[columns] = -1;
		for (size_t i = 0; i < cpu_count; i++)
			if ((unsigned long)cpus[i] == cpu)
				place[columns] = (int16_t)i;
		columns++;
	}
	return columns;
}

/* A device's line ends in its name; the kernel's own ("LOC") and those of soft interrupts have theirs in front. */
static void name_row(struct landed_row *row, const char *rest)
{
	const char *name = row->key;
	if (isdigit((unsigned char)row->key[0])) {
		const char *blank = strrchr(rest, ' ');
		name = blank && blank[1] ? blank + 1 : *rest ? rest : row->key;
	}
	snprintf(row->name, sizeof row->name, "%.*s", TARE_COMM_BYTES - 1, name);
}

void landed_parse(enum tare_share_kind kind, char *text, const int *cpus, size_t cpu_count, struct landed_row *rows,
	size_t *count)
{
	int16_t place[COLUMNS_MAX];
	char *at = text, *line = text_next_line(&at);
	size_t columns = line ? read_head(line, cpus, cpu_count, place) : 0;
	while (*count < LANDED_ROWS_MAX && (line = text_next_line(&at)) != NULL) {
		struct landed_row row = {.kind = (uint8_t)kind};
		char *colon = strchr(line, ':');
		line += strspn(line, " ");
		if (!colon || colon <= line || (size_t)(colon - line) >= sizeof row.key)
			continue;
		memcpy(row.key, line, (size_t)(colon - line));
		char *number = colon + 1, *end;
		for (size_t column = 0; column < columns; column++, number = end) {
			number += strspn(number, " ");
			unsigned long long value = strtoull(number, &end, 10);
			if (end == number)
				break; /* ERR and MIS have one number for all CPUs */
			if (place[column] >= 0)
				row.count[place[column]] = value;
		}
		name_row(&row, number + strspn(number, " "));
		rows[(*count)++] = row;
	}
}

void landed_parse_steal(char *text, const int *cpus, size_t cpu_count, uint64_t *ret_ticks)
{
	memset(ret_ticks, 0, cpu_count * sizeof *ret_ticks);
	for (char *at = text, *line; (line = text_next_line(&at)) != NULL;) {
		unsigned cpu;
		unsigned long long steal;
		/* the first line, of all CPUs, has a blank there, which %u would pass over */
		if (strncmp(line, "cpu", 3) != 0 || !isdigit((unsigned char)line[3]) ||
			sscanf(line, "cpu%u %*u %*u %*u %*u %*u %*u %*u %llu", &cpu, &steal) != 2)
			continue;
		for (size_t i = 0; i < cpu_count; i++)
			if (cpus[i] >= 0 && (unsigned)cpus[i] == cpu)
				ret_ticks[i] = steal;
	}
}

/* ---- reading ---- */

/* All of a file that fits, terminated; "" when there is none. */
static void read_text(struct landed *landed, const char *path)
{
	size_t used = 0;
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && used < TEXT_BYTES - 1) {
		ssize_t got = read(fd, landed->text + used, TEXT_BYTES - 1 - used);
		if (got <= 0)
			break;
		used += (size_t)got;
	}
	landed->text[used] = '\0';
}

static uint64_t number_in(struct landed *landed, const char *path)
{
	read_text(landed, path);
	return strtoull(landed->text, NULL, 10);
}

static void read_counters(struct landed *landed, struct reading *reading)
{
	char path[128];
	reading->rows = 0;
	read_text(landed, "/proc/interrupts");
	landed_parse(TARE_SHARE_INTERRUPT, landed->text, landed->cpu, landed->cpus, reading->row, &reading->rows);
	read_text(landed, "/proc/softirqs");
	landed_parse(TARE_SHARE_SOFTIRQ, landed->text, landed->cpu, landed->cpus, reading->row, &reading->rows);
	read_text(landed, "/proc/stat");
	landed_parse_steal(landed->text, landed->cpu, landed->cpus, reading->steal);
	for (size_t i = 0; i < landed->cpus; i++) {
		snprintf(path, sizeof path, THROTTLE "core_throttle_count", landed->cpu[i]);
		reading->throttled[i] = number_in(landed, path);
		snprintf(path, sizeof path, THROTTLE "package_throttle_count", landed->cpu[i]);
		reading->throttled[i] += number_in(landed, path);
		if (landed->smi_fd[i] >= 0 && read(landed->smi_fd[i], &reading->smi[i], sizeof reading->smi[i]) !=
						      (ssize_t)sizeof reading->smi[i])
			reading->smi[i] = 0;
	}
}

/* perf's unit of model-specific registers: "event=0x04" of SMIs, where this processor has it. */
static int open_smi(struct landed *landed, int cpu)
{
	uint64_t type = number_in(landed, "/sys/bus/event_source/devices/msr/type");
	read_text(landed, "/sys/bus/event_source/devices/msr/events/smi");
	const char *event = strstr(landed->text, "event=");
	struct perf_event_attr attr = {.size = sizeof attr};
	if (!type || type > UINT32_MAX || !event)
		return -1;
	attr.type = (uint32_t)type;
	attr.config = strtoull(event + strlen("event="), NULL, 16);
	return (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

int landed_open(const int *cpus, size_t count, struct landed **ret_landed, struct tare_err *err)
{
	struct landed *landed = calloc(1, sizeof *landed);
	if (landed)
		landed->text = malloc(TEXT_BYTES);
	if (!landed || !landed->text) {
		free(landed);
		return tare_fail_errno(err, ENOMEM, "cannot hold counters of the CPUs");
	}
	landed->cpus = count < LANDED_CPUS_MAX ? count : LANDED_CPUS_MAX;
	memcpy(landed->cpu, cpus, landed->cpus * sizeof *cpus);
	for (size_t i = 0; i < landed->cpus; i++)
		landed->smi_fd[i] = open_smi(landed, cpus[i]);
	*ret_landed = landed;
	return 0;
}

void landed_free(struct landed *landed)
{
	if (!landed)
		return;
	for (size_t i = 0; i < landed->cpus; i++)
		if (landed->smi_fd[i] >= 0)
			close(landed->smi_fd[i]);
	free(landed->text);
	free(landed);
}

size_t landed_cpus(const struct landed *landed)
{
	return landed->cpus;
}

int landed_cpu(const struct landed *landed, size_t cpu_at)
{
	return landed->cpu[cpu_at];
}

void landed_begin(struct landed *landed)
{
	read_counters(landed, &landed->before);
}

void landed_end(struct landed *landed)
{
	read_counters(landed, &landed->after);
}

/* ---- differences ---- */

/* Lines come and go with devices: those that were not there before began at zero then. */
static uint64_t before_of(const struct landed *landed, const struct landed_row *row, size_t at, size_t cpu_at)
{
	const struct reading *before = &landed->before;
	for (size_t k = 0; k < before->rows; k++) {
		const struct landed_row *old = &before->row[(at + k) % before->rows];
		if (old->kind == row->kind && strcmp(old->key, row->key) == 0)
			return old->count[cpu_at];
	}
	return 0;
}

static int by_frequency(const void *left, const void *right)
{
	const struct tare_share *a = left, *b = right;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return (a->times < b->times) - (a->times > b->times);
}

static size_t add(struct tare_share *shares, size_t n, size_t room, struct tare_share share)
{
	if (n < room && (share.times || (share.ns != TARE_NO_TIME && share.ns > 0)))
		shares[n++] = share;
	return n;
}

size_t landed_since(struct landed *landed, size_t cpu_at, struct tare_share *ret_shares, size_t room)
{
	const struct reading *before = &landed->before, *after = &landed->after;
	int16_t cpu = (int16_t)landed->cpu[cpu_at];
	size_t n = 0;
	for (size_t i = 0; i < after->rows; i++) {
		const struct landed_row *row = &after->row[i];
		uint64_t was = before_of(landed, row, i, cpu_at), is = row->count[cpu_at];
		struct tare_share share = {
			.cpu = cpu, .kind = row->kind, .ns = TARE_NO_TIME, .times = is > was ? is - was : 0};
		memcpy(share.name, row->name, sizeof share.name);
		n = add(ret_shares, n, room, share);
	}
	qsort(ret_shares, n, sizeof *ret_shares, by_frequency);
	long ticks = sysconf(_SC_CLK_TCK);
	if (ticks > 0 && after->steal[cpu_at] > before->steal[cpu_at])
		n = add(ret_shares, n, room,
			(struct tare_share){.cpu = cpu,
				.kind = TARE_SHARE_STEAL,
				.ns = (int64_t)(after->steal[cpu_at] - before->steal[cpu_at]) * (NS_PER_S / ticks)});
	if (after->smi[cpu_at] > before->smi[cpu_at])
		n = add(ret_shares, n, room,
			(struct tare_share){.cpu = cpu,
				.kind = TARE_SHARE_SMI,
				.ns = TARE_NO_TIME,
				.times = after->smi[cpu_at] - before->smi[cpu_at]});
	if (after->throttled[cpu_at] > before->throttled[cpu_at])
		n = add(ret_shares, n, room,
			(struct tare_share){.cpu = cpu,
				.kind = TARE_SHARE_THROTTLED,
				.ns = TARE_NO_TIME,
				.times = after->throttled[cpu_at] - before->throttled[cpu_at]});
	return n;
}
