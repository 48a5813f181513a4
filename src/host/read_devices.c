/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Devices of the platform. /dev/cpu_dma_latency is opened for reading only: opened
 * for writing it would itself set a limit. Model-specific registers interrupt the
 * CPU they are asked of, so one CPU per package is asked, and none that is isolated.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "host/reading.h"

#define MSR_SMI_COUNT 0x34

static void read_latency_cap(struct reading *reading)
{
	const char *path = "/dev/cpu_dma_latency", *name = "cpu.dma_latency_us";
	if (reading->tree.foreign) {
		reading_file(reading, reading_row(name), NULL, path);
		return;
	}
	int32_t cap = 0;
	errno = 0;
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || read(fd, &cap, sizeof cap) != (ssize_t)sizeof cap)
		reading_fail_name(reading, name, NULL, HOST_VIA_DEVICE, errno ? errno : EINVAL);
	else
		reading_add_number(reading, name, NULL, HOST_VIA_DEVICE, cap);
}

/* Walks every open file of every process: on demand only. */
static void read_holders(struct reading *reading)
{
	const struct host_key *row = reading_row("cpu.dma_latency_holders");
	struct tree_names pids, fds;
	int failure;
	char line[1024] = "";
	struct text text = TEXT_IN(line);
	bool denied = false;
	if (!reading->question->slow) {
		reading_fail(reading, row, NULL, NULL, HOST_VIA_FILE, NULL, HOST_SKIPPED, 0);
		return;
	}
	tree_list(&reading->tree, "/proc", reading->scratch, &pids, &failure);
	for (size_t i = 0; i < pids.count; i++) {
		char path[READING_PATH_BYTES], target[64], comm[64] = "?";
		if (pids.name[i][0] < '1' || pids.name[i][0] > '9')
			continue;
		snprintf(path, sizeof path, "/proc/%s/fd", pids.name[i]);
		if (tree_list(&reading->tree, path, reading->scratch, &fds, &failure) == HOST_DENIED)
			denied = true;
		for (size_t j = 0; j < fds.count; j++) {
			snprintf(path, sizeof path, "/proc/%s/fd/%s", pids.name[i], fds.name[j]);
			if (!tree_link(&reading->tree, path, target, sizeof target) ||
				strcmp(target, "cpu_dma_latency") != 0)
				continue;
			snprintf(path, sizeof path, "/proc/%s/comm", pids.name[i]);
			reading_line(reading, path, comm, sizeof comm);
			text_add(&text, "%s%s", text.used ? " " : "", comm);
		}
	}
	if (denied && text.used == 0)
		reading_fail(reading, row, NULL, NULL, HOST_VIA_FILE, NULL, HOST_DENIED, EACCES);
	else
		reading_add(reading, row, NULL, NULL, HOST_VIA_FILE, NULL, text.used ? line : "none");
}

static void read_smi(struct reading *reading)
{
	const struct host_key *row = reading_row("cpu.smi");
	struct reading_counts counts;
	int first_failure = ENOENT;
	bool asked = false;
	long seen[64];
	size_t packages = 0;
	if (reading->tree.foreign || !reading_counts_open(reading, &counts)) {
		reading_fail(reading, row, NULL, NULL, HOST_VIA_DEVICE, NULL, HOST_ABSENT, 0);
		return;
	}
	for (int cpu = -1; (cpu = host_cpus_next(&reading->online, cpu)) >= 0;) {
		char path[READING_PATH_BYTES], text[32] = "0";
		if (!reading->question->intrusive && host_cpus_has(&reading->quiet, cpu))
			continue;
		snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/physical_package_id", cpu);
		reading_line(reading, path, text, sizeof text);
		uint64_t package = 0;
		size_t known = 0;
		if (parse_count(text, &package, NULL) < 0)
			package = 0;
		while (known < packages && seen[known] != (long)package)
			known++;
		if (known < packages || packages == 64)
			continue;
		seen[packages++] = (long)package;
		snprintf(path, sizeof path, "/dev/cpu/%d/msr", cpu);
		uint64_t value = 0;
		errno = 0;
		AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd >= 0 && pread(fd, &value, sizeof value, MSR_SMI_COUNT) == (ssize_t)sizeof value) {
			counts.by_cpu[cpu] = value & UINT32_MAX;
			asked = true;
		} else if (errno) {
			first_failure = errno;
		}
	}
	if (asked)
		reading_counts_add(reading, "cpu.smi", NULL, NULL, "/dev/cpu/N/msr 0x34", &counts);
	else
		reading_fail_name(reading, "cpu.smi", NULL, HOST_VIA_DEVICE, first_failure);
}

/* One row for each folder below `folder`. */
static void read_each(
	struct reading *reading, const char *folder, const char *prefix, const char *file, const char *name)
{
	struct tree_names names;
	int failure;
	tree_list(&reading->tree, folder, reading->scratch, &names, &failure);
	for (size_t i = 0; i < names.count; i++) {
		char path[READING_PATH_BYTES];
		if (strncmp(names.name[i], prefix, strlen(prefix)) != 0)
			continue;
		snprintf(path, sizeof path, "%s/%s/%s", folder, names.name[i], file);
		if (tree_exists(&reading->tree, path))
			reading_file(reading, reading_row(name), names.name[i], path);
	}
}

void reading_devices(struct reading *reading)
{
	read_latency_cap(reading);
	read_holders(reading);
	read_smi(reading);
	read_each(reading, "/sys/devices/system/edac/mc", "mc", "ce_count", "edac[].corrected");
	read_each(reading, "/sys/devices/system/edac/mc", "mc", "ue_count", "edac[].uncorrected");
	read_each(reading, "/sys/devices/system/node", "node", "cpulist", "node[].cpus");
	read_each(reading, "/sys/devices/system/node", "node", "distance", "node[].distance");
	read_each(reading, "/sys/devices/system/cpu/intel_uncore_frequency", "", "min_freq_khz", "uncore[].min_khz");
	read_each(reading, "/sys/devices/system/cpu/intel_uncore_frequency", "", "max_freq_khz", "uncore[].max_khz");
}
