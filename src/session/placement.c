/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Placement as it took effect. Threads of ours in other processes are found by
 * name, as the check for spinning ones does: a responder on the sender's own CPU is
 * the commonest way to measure nothing but the scheduler.
 */
#include "session/placement.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"

static void dir_end(DIR *const *dir)
{
	if (*dir)
		closedir(*dir);
}
#define AUTO_DIR AUTO_CLEANUP(dir_end) DIR *

static bool read_line(const char *path, char *buffer, size_t room)
{
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, buffer, room - 1);
	if (got < 0)
		return false;
	buffer[got] = '\0';
	buffer[strcspn(buffer, "\n")] = '\0';
	return true;
}

static bool read_of_cpu(int cpu, const char *file, char *buffer, size_t room)
{
	char path[128];
	snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/%s", cpu, file);
	return read_line(path, buffer, room);
}

struct facts {
	struct session *session;
	struct tare_fact *fact;
	size_t count;
};

static void add(struct facts *facts, const char *key, const char *value)
{
	const char *copy = facts->count < PLACEMENT_FACTS ? arena_text(facts->session->names, value) : NULL;
	if (copy)
		facts->fact[facts->count++] = (struct tare_fact){"local", "start", key, copy};
}

/* What was asked of busy polling and what the socket of the first target has; idle sockets beside it. */
static void add_receiving(struct facts *facts)
{
	const struct session_config *config = &facts->session->config;
	const struct net_busy_poll *asked = &config->busy_poll, *granted = &facts->session->probes[0].busy_poll;
	char value[160];
	if (config->idle_sockets) {
		snprintf(value, sizeof value, "%u", config->idle_sockets);
		add(facts, "placement.idle_sockets", value);
	}
	if (config->receive != SESSION_RECEIVE_BUSY_POLL)
		return;
	snprintf(value, sizeof value, "%d us, budget %d, prefer %s", asked->us, asked->budget, asked->prefer ? "yes" : "no");
	add(facts, "placement.busy_poll_asked", value);
	snprintf(value, sizeof value, "%d us, budget %d, prefer %s", granted->us, granted->budget, granted->prefer ? "yes" : "no");
	add(facts, "placement.busy_poll_granted", value);
}

/* The CPUs this process may use, as the kernel writes lists. */
static void list_allowed(char *buffer, size_t room)
{
	struct text text = {.bytes = buffer, .room = room};
	cpu_set_t set;
	CPU_ZERO(&set);
	sched_getaffinity(0, sizeof set, &set);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		int last = cpu;
		if (!CPU_ISSET((size_t)cpu, &set))
			continue;
		while (last + 1 < CPU_SETSIZE && CPU_ISSET((size_t)last + 1, &set))
			last++;
		text_add(&text, last > cpu ? "%s%d-%d" : "%s%d", text.used ? "," : "", cpu, last);
		cpu = last;
	}
}

static bool list_has(const char *list, int cpu)
{
	int cpus[1024];
	size_t count = 0;
	struct tare_err ignored;
	if (parse_cpu_list(list, cpus, sizeof cpus / sizeof *cpus, &count, &ignored) < 0)
		return false;
	for (size_t i = 0; i < count; i++)
		if (cpus[i] == cpu)
			return true;
	return false;
}

/* NUMA node: the link of that name in the CPU's folder. */
static bool node_of(int cpu, char *buffer, size_t room)
{
	char path[64];
	snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d", cpu);
	AUTO_DIR folder = opendir(path);
	for (struct dirent *entry = folder ? readdir(folder) : NULL; entry; entry = readdir(folder)) {
		if (strncmp(entry->d_name, "node", 4) != 0 || !isdigit((unsigned char)entry->d_name[4]))
			continue;
		snprintf(buffer, room, "%.8s", entry->d_name + 4);
		return true;
	}
	return false;
}

size_t placement_facts(struct session *session, struct tare_fact *ret_facts)
{
	const struct session_config *config = &session->config;
	struct facts facts = {.session = session, .fact = ret_facts};
	char value[512];
	int cpu = config->cpu;
	list_allowed(value, sizeof value);
	add(&facts, "placement.allowed", value);
	snprintf(value, sizeof value, "%d", config->fifo);
	add(&facts, "placement.fifo", value);
	static const char *const waits[] = {[SESSION_RECEIVE_BLOCK] = "sleeping", [SESSION_RECEIVE_SPIN] = "spinning",
		[SESSION_RECEIVE_EPOLL] = "epoll", [SESSION_RECEIVE_BUSY_POLL] = "busy polling"};
	bool spins = config->spin && config->receive == SESSION_RECEIVE_BLOCK;
	add(&facts, "placement.waiting", waits[spins ? SESSION_RECEIVE_SPIN : config->receive]);
	add_receiving(&facts);
	add(&facts, "placement.mlock", config->mlock ? "all" : "samples");
	if (read_line("/proc/sys/kernel/sched_rt_runtime_us", value, sizeof value))
		add(&facts, "placement.rt_runtime_us", value);
	if (cpu < 0) {
		add(&facts, "placement.cpu", "any");
		return facts.count;
	}
	snprintf(value, sizeof value, "%d", cpu);
	add(&facts, "placement.cpu", value);
	if (read_line("/sys/devices/system/cpu/isolated", value, sizeof value))
		add(&facts, "placement.isolated", list_has(value, cpu) ? "yes" : "no");
	if (read_line("/sys/devices/system/cpu/nohz_full", value, sizeof value))
		add(&facts, "placement.nohz_full", list_has(value, cpu) ? "yes" : "no");
	if (read_of_cpu(cpu, "topology/thread_siblings_list", value, sizeof value))
		add(&facts, "placement.siblings", value);
	if (read_of_cpu(cpu, "cache/index3/shared_cpu_list", value, sizeof value))
		add(&facts, "placement.l3", value);
	if (node_of(cpu, value, sizeof value))
		add(&facts, "placement.node", value);
	return facts.count;
}

/* ---- shared CPUs ---- */

static bool is_ours(const char *comm)
{
	return strcmp(comm, "tare-spin") == 0 || strcmp(comm, "tare-echo") == 0 || strcmp(comm, "tare-measure") == 0;
}

/* A thread of that process that is ours and pinned to one CPU of the list; its CPU, or -1. */
static int pinned_thread(const char *pid, const char *list, char *ret_comm, size_t room)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%.20s/task", pid);
	AUTO_DIR tasks = opendir(path);
	for (struct dirent *task = tasks ? readdir(tasks) : NULL; task; task = readdir(tasks)) {
		cpu_set_t set;
		if (!isdigit((unsigned char)task->d_name[0]))
			continue;
		snprintf(path, sizeof path, "/proc/%.20s/task/%.20s/comm", pid, task->d_name);
		if (!read_line(path, ret_comm, room) || !is_ours(ret_comm) ||
			sched_getaffinity((pid_t)strtol(task->d_name, NULL, 10), sizeof set, &set) != 0 ||
			CPU_COUNT(&set) != 1)
			continue;
		for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
			if (CPU_ISSET((size_t)cpu, &set) && list_has(list, cpu))
				return cpu;
	}
	return -1;
}

bool placement_shared(const struct session *session, char *ret_note, size_t room)
{
	char siblings[256], own[16], comm[32];
	int sender = session->config.cpu;
	if (sender < 0)
		return false;
	snprintf(own, sizeof own, "%d", (int)getpid());
	if (!read_of_cpu(sender, "topology/thread_siblings_list", siblings, sizeof siblings))
		snprintf(siblings, sizeof siblings, "%d", sender);
	AUTO_DIR proc = opendir("/proc");
	for (struct dirent *entry = proc ? readdir(proc) : NULL; entry; entry = readdir(proc)) {
		if (!isdigit((unsigned char)entry->d_name[0]) || strcmp(entry->d_name, own) == 0)
			continue;
		int cpu = pinned_thread(entry->d_name, siblings, comm, sizeof comm);
		if (cpu < 0)
			continue;
		if (cpu == sender)
			snprintf(ret_note, room,
				"CPU %d is shared: a %s thread of process %.20s is pinned to it as well; they will "
				"hold each other up",
				cpu, strcmp(comm, "tare-spin") == 0 ? "spinning" : "responding or measuring",
				entry->d_name);
		else
			snprintf(ret_note, room,
				"CPU %d and CPU %d are siblings of one core: a thread of process %.20s is pinned to "
				"the other one",
				sender, cpu, entry->d_name);
		return true;
	}
	return false;
}
