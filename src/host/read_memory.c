/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory and time accounting: files of "name value" lines. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "host/reading.h"

/* Names in /proc/vmstat that tell of a stall or of pages being moved. */
static const char *const stalls[] = {"pgmajfault", "allocstall_normal", "allocstall_movable", "compact_stall",
	"thp_fault_alloc", "thp_collapse_alloc", "thp_split_page", "numa_hint_faults", "numa_pages_migrated", "pswpin",
	"pswpout", "ksm_swpin_copy", "cow_ksm", "drop_pagecache", "oom_kill"};

static void read_vmstat(struct reading *reading)
{
	enum host_status status;
	int failure;
	char *at = reading_text(reading, "/proc/vmstat", &status, &failure);
	for (char *line; (line = text_next_line(&at)) != NULL;) {
		char *blank = strchr(line, ' ');
		if (!blank)
			continue;
		*blank = '\0';
		for (size_t i = 0; i < sizeof stalls / sizeof stalls[0]; i++)
			if (strcmp(line, stalls[i]) == 0)
				reading_add(reading, reading_row("vmstat[]"), line, NULL, HOST_VIA_FILE, "/proc/vmstat",
					blank + 1);
	}
}

/* "cpu3 user nice system idle iowait irq softirq steal guest guest_nice" */
static void read_stat(struct reading *reading)
{
	enum host_status status;
	int failure;
	struct reading_counts steal, busy;
	char *at = reading_text(reading, "/proc/stat", &status, &failure);
	if (!at || !reading_counts_open(reading, &steal) || !reading_counts_open(reading, &busy)) {
		reading_fail(reading, reading_row("cpu.steal"), NULL, NULL, HOST_VIA_FILE, NULL, status, failure);
		return;
	}
	for (char *line; (line = text_next_line(&at)) != NULL;) {
		char *end;
		uint64_t field[8] = {0};
		if (strncmp(line, "cpu", 3) != 0 || line[3] < '0' || line[3] > '9')
			continue;
		unsigned long cpu = strtoul(line + 3, &end, 10);
		if (cpu >= steal.room)
			continue;
		for (size_t i = 0; i < 8; i++)
			field[i] = strtoull(end, &end, 10);
		steal.by_cpu[cpu] = field[7];
		busy.by_cpu[cpu] = field[0] + field[1] + field[2] + field[5] + field[6];
	}
	reading_counts_add(reading, "cpu.steal", NULL, NULL, "/proc/stat", &steal);
	reading_counts_add(reading, "cpu.busy", NULL, NULL, "/proc/stat", &busy);
}

static void read_pressure(struct reading *reading)
{
	static const char *const names[] = {"cpu", "memory", "io", "irq"};
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		char path[READING_PATH_BYTES];
		enum host_status status;
		int failure;
		snprintf(path, sizeof path, "/proc/pressure/%s", names[i]);
		char *text = reading_text(reading, path, &status, &failure);
		char *total = text ? strstr(text, "total=") : NULL;
		if (total) {
			total += strlen("total=");
			total[strspn(total, "0123456789")] = '\0';
			reading_add(reading, reading_row("pressure[]"), names[i], NULL, HOST_VIA_FILE, path, total);
		} else {
			reading_fail(reading, reading_row("pressure[]"), names[i], NULL, HOST_VIA_FILE, path,
				text ? HOST_MALFORMED : status, failure);
		}
	}
}

static void read_swaps(struct reading *reading)
{
	enum host_status status;
	int failure;
	char line[1024] = "";
	struct text text = TEXT_IN(line);
	char *at = reading_text(reading, "/proc/swaps", &status, &failure);
	const struct host_key *row = reading_row("vm.swaps");
	if (!at) {
		reading_fail(reading, row, NULL, NULL, HOST_VIA_FILE, NULL, status, failure);
		return;
	}
	text_next_line(&at);
	for (char *device; (device = text_next_line(&at)) != NULL;)
		text_add(&text, "%s%.*s", text.used ? " " : "", (int)strcspn(device, " \t"), device);
	reading_add(reading, row, NULL, NULL, HOST_VIA_FILE, NULL, text.used ? line : "none");
}

void reading_memory(struct reading *reading)
{
	read_vmstat(reading);
	read_stat(reading);
	read_pressure(reading);
	read_swaps(reading);
}
