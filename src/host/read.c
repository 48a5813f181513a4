/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A whole reading: CPUs first (what must be left alone follows from them), then everything else, then the header. */
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "host/reading.h"

#define SCRATCH_BYTES ((size_t)128 << 20)
#define CPU_ROOT      "/sys/devices/system/cpu/"

static void cpus_of_file(struct reading *reading, const char *path, struct host_cpus *into)
{
	char line[4096];
	struct host_cpus cpus;
	if (reading_line(reading, path, line, sizeof line) && host_cpus_of_list(line, -1, &cpus))
		host_cpus_join(into, &cpus);
}

static void find_cpus(struct reading *reading)
{
	struct host_cpus possible = {{0}};
	cpus_of_file(reading, CPU_ROOT "online", &reading->online);
	cpus_of_file(reading, CPU_ROOT "possible", &possible);
	host_cpus_join(&possible, &reading->online);
	cpus_of_file(reading, CPU_ROOT "isolated", &reading->quiet);
	cpus_of_file(reading, CPU_ROOT "nohz_full", &reading->quiet);
	host_cpus_join(&reading->quiet, &reading->question->hot);
	reading->last_cpu = -1;
	for (int cpu = -1; (cpu = host_cpus_next(&possible, cpu)) >= 0;)
		reading->last_cpu = cpu;
}

/* The machine-id is a secret of the host: only a hash of it leaves. */
static const char *hash_of_machine(struct reading *reading)
{
	char line[128];
	if (!reading_line(reading, "/etc/machine-id", line, sizeof line))
		return NULL;
	/* 64-bit FNV-1a: names a machine among a few, and clones share it anyway */
	uint64_t hash = UINT64_C(14695981039346656037);
	for (const char *at = line; *at; at++)
		hash = (hash ^ (unsigned char)*at) * UINT64_C(1099511628211);
	char text[20];
	snprintf(text, sizeof text, "%016" PRIx64, hash);
	return arena_text(reading->snapshot->arena, text);
}

static const char *keep_line(struct reading *reading, const char *path)
{
	char line[1024];
	if (!reading_line(reading, path, line, sizeof line))
		return NULL;
	return arena_text(reading->snapshot->arena, line);
}

static const char *keep_link(struct reading *reading, const char *path)
{
	char name[64];
	return tree_link(&reading->tree, path, name, sizeof name) ? arena_text(reading->snapshot->arena, name) : NULL;
}

static const char *capabilities(struct reading *reading)
{
	enum host_status status;
	int failure;
	char *text = reading_text(reading, "/proc/self/status", &status, &failure);
	char *at = text ? strstr(text, "\nCapEff:") : NULL;
	if (!at)
		return NULL;
	at += strlen("\nCapEff:");
	at += strspn(at, " \t");
	at[strcspn(at, "\n")] = '\0';
	return arena_text(reading->snapshot->arena, at);
}

static void fill_header(struct reading *reading)
{
	struct host_header *header = &reading->snapshot->header;
	struct timespec real = {0}, up = {0};
	char uptime[128];
	clock_gettime(CLOCK_REALTIME, &real);
	clock_gettime(CLOCK_BOOTTIME, &up);
	header->foreign = reading->tree.foreign;
	header->real_ns = (int64_t)real.tv_sec * 1000000000 + real.tv_nsec;
	header->up_ns = (int64_t)up.tv_sec * 1000000000 + up.tv_nsec;
	if (header->foreign && reading_line(reading, "/proc/uptime", uptime, sizeof uptime))
		header->up_ns = (int64_t)(strtod(uptime, NULL) * 1e9);
	header->tool = reading->question->tool ? arena_text(reading->snapshot->arena, reading->question->tool) : NULL;
	header->host = keep_line(reading, "/proc/sys/kernel/hostname");
	header->kernel = keep_line(reading, "/proc/sys/kernel/osrelease");
	header->boot = keep_line(reading, "/proc/sys/kernel/random/boot_id");
	header->machine = hash_of_machine(reading);
	header->uid = header->foreign ? 0 : (unsigned)geteuid();
	header->caps = header->foreign ? NULL : capabilities(reading);
	header->netns = keep_link(reading, "/proc/self/ns/net");
	header->mountns = keep_link(reading, "/proc/self/ns/mnt");
	header->cgroup = keep_line(reading, "/proc/self/cgroup");
}

static void read_all(struct reading *reading)
{
	reading_scope(reading, HOST_ONE, "", NULL);
	reading_cpus(reading);
	reading_boot(reading);
	reading_devices(reading);
	reading_memory(reading);
	reading_nics_find(reading);
	reading_interrupts(reading);
	reading_nics(reading);
	reading_ethtool(reading);
	reading_driver(reading);
	reading_routes(reading);
	reading_stack(reading);
	reading_filters(reading);
	reading_process(reading);
	reading_services(reading);
	reading_units(reading);
}

static void end_reading(struct reading *reading)
{
	tree_close(&reading->tree);
	arena_free(reading->scratch);
	free(reading->text);
	free(reading->value);
	host_snapshot_free(reading->snapshot);
}

int host_read(const struct host_question *question, struct host_snapshot **ret_snapshot, struct tare_err *err)
{
	AUTO_CLEANUP(end_reading) struct reading reading = {.question = question, .tree = HOST_TREE_NONE};
	reading.text = malloc(READING_TEXT_BYTES);
	reading.value = malloc(READING_VALUE_BYTES);
	if (!reading.text || !reading.value)
		return tare_fail_errno(err, ENOMEM, "cannot read the facts of the host");
	if (arena_open(SCRATCH_BYTES, 0, &reading.scratch, err) < 0 || host_snapshot_open(&reading.snapshot, err) < 0 ||
		tree_open(question->root, &reading.tree, err) < 0)
		return -1;
	if (question->netns && reading_enter_netns(&reading, err) < 0)
		return -1;
	reading_own_sysfs(&reading);
	if (reading_process_find(&reading, err) < 0)
		return -1;
	find_cpus(&reading);
	read_all(&reading);
	fill_header(&reading);
	if (host_snapshot_finish(reading.snapshot, err) < 0)
		return -1;
	*ret_snapshot = take_ptr(reading.snapshot);
	return 0;
}

static void cpus_of_key(const struct host_snapshot *snapshot, const char *key, struct host_cpus *into)
{
	struct host_cpus cpus;
	const char *value = host_value(snapshot, key);
	if (value && host_cpus_of_list(value, -1, &cpus))
		host_cpus_join(into, &cpus);
}

void host_isolated(const struct host_snapshot *snapshot, struct host_cpus *ret_cpus)
{
	*ret_cpus = (struct host_cpus){{0}};
	cpus_of_key(snapshot, "cpu.isolated", ret_cpus);
	cpus_of_key(snapshot, "cpu.nohz_full", ret_cpus);
}

void host_housekeeping(const struct host_snapshot *snapshot, const struct host_cpus *hot, struct host_cpus *ret_cpus)
{
	struct host_cpus online = {{0}}, quiet;
	cpus_of_key(snapshot, "cpu.online", &online);
	host_isolated(snapshot, &quiet);
	host_cpus_join(&quiet, hot);
	*ret_cpus = (struct host_cpus){{0}};
	for (int cpu = -1; (cpu = host_cpus_next(&online, cpu)) >= 0;)
		if (!host_cpus_has(&quiet, cpu))
			host_cpus_add(ret_cpus, cpu);
	if (host_cpus_next(ret_cpus, -1) < 0)
		*ret_cpus = online;
}

void host_move_aside(const struct host_cpus *hot)
{
	struct host_question question = {.hot = *hot};
	struct reading reading = {.question = &question, .tree = HOST_TREE_NONE};
	cpu_set_t set;
	if (tree_open(NULL, &reading.tree, NULL) < 0)
		return;
	find_cpus(&reading);
	if (host_cpus_next(&reading.quiet, -1) < 0 || sched_getaffinity(0, sizeof set, &set) < 0)
		return;
	for (int cpu = -1; (cpu = host_cpus_next(&reading.quiet, cpu)) >= 0 && cpu < CPU_SETSIZE;)
		CPU_CLR((size_t)cpu, &set);
	if (CPU_COUNT(&set) > 0 && sched_setaffinity(0, sizeof set, &set) < 0)
		return; /* a cpuset that allows nothing else: then here */
}
