/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Basic facts from uname, /proc and /sys: one short read each, nothing that disturbs a CPU. */
#include "host/basics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/cleanup.h"

struct facts {
	struct arena *arena;
	const char *moment;
	struct tare_fact *fact;
	size_t count;
};

static void add(struct facts *facts, const char *key, const char *value)
{
	const char *copy = facts->count < HOST_BASICS_MAX && value && *value ? arena_text(facts->arena, value) : NULL;
	if (copy)
		facts->fact[facts->count++] = (struct tare_fact){"local", facts->moment, key, copy};
}

static void add_file(struct facts *facts, const char *key, const char *path)
{
	char line[1024] = "";
	AUTO_FILE file = fopen(path, "re");
	if (!file || !fgets(line, sizeof line, file))
		return;
	line[strcspn(line, "\n")] = '\0';
	add(facts, key, line);
}

/* The value behind "name : value" or "name:\tvalue" in a file of such lines. */
static void add_line(struct facts *facts, const char *key, const char *path, const char *name)
{
	char line[1024];
	AUTO_FILE file = fopen(path, "re");
	while (file && fgets(line, sizeof line, file)) {
		char *colon = strchr(line, ':');
		if (strncmp(line, name, strlen(name)) != 0 || !colon)
			continue;
		colon += 1 + strspn(colon + 1, " \t");
		colon[strcspn(colon, "\n")] = '\0';
		add(facts, key, colon);
		return;
	}
}

size_t host_basics(struct arena *arena, const char *moment, struct tare_fact *ret_facts)
{
	struct facts facts = {.arena = arena, .moment = moment, .fact = ret_facts};
	struct utsname names;
	if (uname(&names) == 0) {
		add(&facts, "kernel.release", names.release);
		add(&facts, "kernel.version", names.version);
		add(&facts, "host.machine", names.machine);
	}
	add_file(&facts, "kernel.cmdline", "/proc/cmdline");
	add_line(&facts, "cpu.model", "/proc/cpuinfo", "model name");
	add_file(&facts, "cpu.online", "/sys/devices/system/cpu/online");
	add_file(&facts, "cpu.isolated", "/sys/devices/system/cpu/isolated");
	add_file(&facts, "cpu.nohz_full", "/sys/devices/system/cpu/nohz_full");
	add_line(&facts, "process.cpus_allowed", "/proc/self/status", "Cpus_allowed_list");
	add_file(&facts, "cpu.smt", "/sys/devices/system/cpu/smt/control");
	add_file(&facts, "cpu.governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
	add_file(&facts, "cpu.idle_driver", "/sys/devices/system/cpu/cpuidle/current_driver");
	add_file(&facts, "clock.source", "/sys/devices/system/clocksource/clocksource0/current_clocksource");
	add_file(&facts, "net.busy_poll", "/proc/sys/net/core/busy_poll");
	add_file(&facts, "net.busy_read", "/proc/sys/net/core/busy_read");
	add_file(&facts, "load.average", "/proc/loadavg");
	add(&facts, "process.ld_preload", getenv("LD_PRELOAD"));
	return facts.count;
}
