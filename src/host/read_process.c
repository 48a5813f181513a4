/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The responder: its process, its threads, its control group, and who else may
 * run on the hot CPUs. Identity of a process is program and control group, of a
 * thread its name and its place among those of that name: process ids change.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "host/reading.h"

enum { THREADS_MAX = 1024, TICKS_PER_SECOND_LEAST = 1, KERNEL_THREAD = 0x00200000 };

/* What /proc/PID/stat holds behind the program's name, which itself may hold blanks and parentheses. */
struct process_stat {
	char comm[64];
	uint64_t field[42]; /* [3] is the third of proc(5): state */
	size_t fields;
};

static bool read_process_stat(struct reading *reading, const char *folder, struct process_stat *ret_stat)
{
	char path[READING_PATH_BYTES], line[2048];
	struct process_stat stat = {.fields = 3};
	snprintf(path, sizeof path, "%s/stat", folder);
	if (!reading_line(reading, path, line, sizeof line))
		return false;
	char *open = strchr(line, '('), *close = strrchr(line, ')');
	if (!open || !close || close < open)
		return false;
	snprintf(stat.comm, sizeof stat.comm, "%.*s", (int)(close - open - 1), open + 1);
	stat.field[3] = close[1] == ' ' ? (uint64_t)(unsigned char)close[2] : 0;
	for (char *at = close + 3; *at && stat.fields + 1 < 42;) {
		char *end;
		stat.field[++stat.fields] = (uint64_t)strtoll(at, &end, 10);
		if (end == at)
			break;
		at = end;
	}
	*ret_stat = stat;
	return stat.fields >= 22;
}

/* The value behind "Name:\t" in a file of such lines; read anew each time, as the text buffer is shared. */
static bool status_line(
	struct reading *reading, const char *folder, const char *file, const char *name, char *buffer, size_t room)
{
	char path[READING_PATH_BYTES];
	enum host_status status;
	int failure;
	size_t length = strlen(name);
	snprintf(path, sizeof path, "%s/%s", folder, file);
	char *at = reading_text(reading, path, &status, &failure);
	for (char *line; (line = text_next_line(&at)) != NULL;) {
		if (strncmp(line, name, length) != 0)
			continue;
		char *colon = strchr(line, ':');
		if (!colon)
			continue;
		colon += 1 + strspn(colon + 1, " \t");
		snprintf(buffer, room, "%s", colon);
		return true;
	}
	return false;
}

static pid_t pid_of(const char *name)
{
	uint64_t pid = 0;
	if (!isdigit((unsigned char)name[0]) || parse_count(name, &pid, NULL) < 0 || pid == 0 || pid > INT32_MAX)
		return 0;
	return (pid_t)pid;
}

/* The oldest process of a program's name; by comm where the link to it cannot be read. */
static pid_t find_exe(struct reading *reading, const char *exe)
{
	struct tree_names pids;
	int failure;
	pid_t found = 0;
	uint64_t oldest = UINT64_MAX;
	tree_list(&reading->tree, "/proc", reading->scratch, &pids, &failure);
	for (size_t i = 0; i < pids.count; i++) {
		char folder[64], path[96], name[128] = "";
		struct process_stat stat;
		pid_t pid = pid_of(pids.name[i]);
		if (!pid || (!reading->tree.foreign && pid == getpid()))
			continue;
		snprintf(folder, sizeof folder, "/proc/%d", (int)pid);
		snprintf(path, sizeof path, "%s/exe", folder);
		bool linked = tree_link(&reading->tree, path, name, sizeof name);
		name[strcspn(name, " ")] = '\0'; /* "tare (deleted)" */
		if (!read_process_stat(reading, folder, &stat))
			continue;
		if (strcmp(linked ? name : stat.comm, exe) == 0 && stat.field[22] < oldest) {
			oldest = stat.field[22];
			found = pid;
		}
	}
	return found;
}

int reading_process_find(struct reading *reading, struct tare_err *err)
{
	const struct host_question *question = reading->question;
	char folder[64], path[96], name[128], cgroup[256] = "";
	struct process_stat stat;
	reading->pid = question->pid;
	if (!reading->pid && question->exe) {
		reading->pid = find_exe(reading, question->exe);
		if (!reading->pid)
			return tare_fail(err, TARE_E_INVALID, "no process runs '%s'", question->exe);
	}
	if (!reading->pid)
		return 0;
	snprintf(folder, sizeof folder, "/proc/%d", (int)reading->pid);
	if (!read_process_stat(reading, folder, &stat))
		return tare_fail(err, TARE_E_INVALID, "there is no process %d", (int)reading->pid);
	snprintf(path, sizeof path, "%s/exe", folder);
	if (!tree_link(&reading->tree, path, name, sizeof name))
		snprintf(name, sizeof name, "%s", stat.comm);
	name[strcspn(name, " ")] = '\0';
	snprintf(path, sizeof path, "%s/cgroup", folder);
	reading_line(reading, path, cgroup, sizeof cgroup);
	snprintf(reading->process, sizeof reading->process, "%.120s", name);
	return 0;
}

/* ---- control groups, v1, v2 and both at once ---- */

struct group {
	const char *v2, *cpu, *cpuset; /* folders below /sys/fs/cgroup; NULL: none */
	char path[3][READING_PATH_BYTES];
};

static bool has_controller(const char *list, const char *name)
{
	size_t length = strlen(name);
	for (const char *at = list; (at = strstr(at, name)) != NULL; at += length)
		if ((at == list || at[-1] == ',') && (at[length] == ',' || at[length] == '\0'))
			return true;
	return false;
}

/* "5:cpu,cpuacct:/x" (v1) and "0::/x" (v2) lines. */
static void find_group(struct reading *reading, const char *folder, struct group *group)
{
	char file[READING_PATH_BYTES];
	enum host_status status;
	int failure;
	snprintf(file, sizeof file, "%s/cgroup", folder);
	char *at = reading_text(reading, file, &status, &failure);
	for (char *line; (line = text_next_line(&at)) != NULL;) {
		char *list = strchr(line, ':'), *path = list ? strchr(list + 1, ':') : NULL;
		if (!path)
			continue;
		list++;
		*path++ = '\0';
		if (strstr(path, "..")) /* outside of our control group namespace */
			continue;
		if (*list == '\0') {
			bool unified = tree_exists(&reading->tree, "/sys/fs/cgroup/cgroup.controllers");
			snprintf(group->path[0], READING_PATH_BYTES, "/sys/fs/cgroup%s%.400s",
				unified ? "" : "/unified", path);
			group->v2 = group->path[0];
		} else if (has_controller(list, "cpu")) {
			snprintf(group->path[1], READING_PATH_BYTES, "/sys/fs/cgroup/%s%.400s",
				tree_exists(&reading->tree, "/sys/fs/cgroup/cpu") ? "cpu" : "cpu,cpuacct", path);
			group->cpu = group->path[1];
		} else if (has_controller(list, "cpuset")) {
			snprintf(group->path[2], READING_PATH_BYTES, "/sys/fs/cgroup/cpuset%.400s", path);
			group->cpuset = group->path[2];
		}
	}
}

static bool add_group_file(
	struct reading *reading, const char *row, const char *id, const char *folder, const char *file)
{
	char path[READING_PATH_BYTES + 64], raw[512];
	size_t bytes;
	int failure;
	if (!folder)
		return false;
	snprintf(path, sizeof path, "%s/%s", folder, file);
	if (tree_read(&reading->tree, path, raw, sizeof raw, &bytes, &failure) != HOST_OK)
		return false;
	reading_add(reading, reading_row(row), id, NULL, HOST_VIA_FILE, path, raw);
	return true;
}

/* The first group from here up to the root that has a quota: an ancestor's stops its children, too. */
static bool add_quota_v2(struct reading *reading, const char *id, const char *folder)
{
	char at[READING_PATH_BYTES], path[READING_PATH_BYTES + 16], line[64], told[READING_PATH_BYTES + 96] = "max";
	bool any = false;
	snprintf(at, sizeof at, "%s", folder);
	while (strlen(at) > strlen("/sys/fs/cgroup")) {
		snprintf(path, sizeof path, "%s/cpu.max", at);
		bool there = reading_line(reading, path, line, sizeof line);
		any |= there;
		/* "max 100000" is no quota, whatever the period */
		if (there && strncmp(line, "max", 3) != 0) {
			snprintf(told, sizeof told, "%s%s%s", line, strcmp(at, folder) == 0 ? "" : " in ",
				strcmp(at, folder) == 0 ? "" : at + strlen("/sys/fs/cgroup"));
			break;
		}
		char *slash = strrchr(at, '/');
		if (!slash)
			break;
		*slash = '\0';
	}
	if (any)
		reading_add(reading, reading_row("cgroup[].quota"), id, NULL, HOST_VIA_FILE, NULL, told);
	return any;
}

/* v1 says -1 for none. */
static bool add_quota(struct reading *reading, const char *id, const struct group *group)
{
	char path[READING_PATH_BYTES + 64], quota[64] = "", period[64] = "", line[160];
	if (group->v2 && add_quota_v2(reading, id, group->v2))
		return true;
	if (!group->cpu)
		return false;
	snprintf(path, sizeof path, "%s/cpu.cfs_period_us", group->cpu);
	reading_line(reading, path, period, sizeof period);
	snprintf(path, sizeof path, "%s/cpu.cfs_quota_us", group->cpu);
	if (!reading_line(reading, path, quota, sizeof quota))
		return false;
	snprintf(line, sizeof line, "%s %s", quota, period);
	reading_add(
		reading, reading_row("cgroup[].quota"), id, NULL, HOST_VIA_FILE, path, quota[0] == '-' ? "max" : line);
	return true;
}

static void add_throttled(struct reading *reading, const char *id, const char *folder)
{
	char path[READING_PATH_BYTES + 64];
	enum host_status status;
	int failure;
	if (!folder)
		return;
	snprintf(path, sizeof path, "%s/cpu.stat", folder);
	char *text = reading_text(reading, path, &status, &failure), *at = text ? strstr(text, "nr_throttled ") : NULL;
	if (!at)
		return;
	at += strlen("nr_throttled ");
	at[strspn(at, "0123456789")] = '\0';
	reading_add(reading, reading_row("cgroup[].throttled"), id, NULL, HOST_VIA_FILE, path, at);
}

static void read_group(struct reading *reading, const char *folder, const char *id)
{
	struct group group = {.v2 = NULL};
	struct stat about;
	find_group(reading, folder, &group);
	if (!add_group_file(reading, "cgroup[].cpus", id, group.v2, "cpuset.cpus.effective") &&
		!add_group_file(reading, "cgroup[].cpus", id, group.cpuset, "cpuset.effective_cpus"))
		add_group_file(reading, "cgroup[].cpus", id, group.cpuset, "cpuset.cpus");
	if (!add_group_file(reading, "cgroup[].partition", id, group.v2, "cpuset.cpus.partition"))
		add_group_file(reading, "cgroup[].partition", id, group.cpuset, "cpuset.sched_load_balance");
	if (!add_group_file(reading, "cgroup[].weight", id, group.v2, "cpu.weight"))
		add_group_file(reading, "cgroup[].weight", id, group.cpu, "cpu.shares");
	add_group_file(reading, "cgroup[].rt_runtime_us", id, group.cpu, "cpu.rt_runtime_us");
	if (!add_quota(reading, id, &group))
		reading_fail(reading, reading_row("cgroup[].quota"), id, NULL, HOST_VIA_FILE, NULL, HOST_ABSENT, 0);
	add_throttled(reading, id, group.cpu ? group.cpu : group.v2);
	const char *any = group.cpu ? group.cpu : group.v2;
	if (any && !reading->tree.foreign && stat(any, &about) == 0)
		reading_add_number(reading, "cgroup[].inode", id, HOST_VIA_CALL, (int64_t)about.st_ino);
}

/* ---- process and threads ---- */

static const char *policy_name(uint64_t policy)
{
	static const char *const names[] = {"other", "fifo", "rr", "batch", "?", "idle", "deadline", "ext"};
	return policy < sizeof names / sizeof names[0] ? names[policy] : "?";
}

static void read_thread(struct reading *reading, const char *folder, const char *id, const struct process_stat *stat)
{
	char line[4096], policy[64];
	if (status_line(reading, folder, "status", "Cpus_allowed_list:", line, sizeof line))
		reading_add_text(reading, "thread[].cpus", id, HOST_VIA_FILE, line);
	if (status_line(reading, folder, "status", "nonvoluntary_ctxt_switches:", line, sizeof line))
		reading_add_text(reading, "thread[].preempted", id, HOST_VIA_FILE, line);
	if (status_line(reading, folder, "sched", "se.nr_migrations", line, sizeof line))
		reading_add_text(reading, "thread[].migrations", id, HOST_VIA_FILE, line);
	else
		reading_fail(
			reading, reading_row("thread[].migrations"), id, NULL, HOST_VIA_FILE, NULL, HOST_ABSENT, 0);
	if (stat->fields < 41)
		return;
	/* fields 39 to 41 of proc(5): where it last ran, real-time priority, policy; 19: nice */
	if (stat->field[40])
		snprintf(policy, sizeof policy, "%s %" PRIu64, policy_name(stat->field[41]), stat->field[40]);
	else
		snprintf(policy, sizeof policy, "%s nice %" PRId64, policy_name(stat->field[41]),
			(int64_t)stat->field[19]);
	reading_add_text(reading, "thread[].policy", id, HOST_VIA_FILE, policy);
	reading_add_number(reading, "thread[].cpu", id, HOST_VIA_FILE, (int64_t)stat->field[39]);
}

static void read_threads(struct reading *reading, const char *folder)
{
	char path[128], id[384];
	struct tree_names threads;
	int failure;
	const char *known[THREADS_MAX];
	size_t count = 0;
	snprintf(path, sizeof path, "%s/task", folder);
	tree_list(&reading->tree, path, reading->scratch, &threads, &failure);
	for (size_t i = 0; i < threads.count && count < THREADS_MAX; i++) {
		struct process_stat stat;
		size_t same = 0;
		snprintf(path, sizeof path, "%s/task/%.40s", folder, threads.name[i]);
		if (!read_process_stat(reading, path, &stat)) /* it has ended meanwhile */
			continue;
		known[count] = arena_text(reading->scratch, stat.comm);
		if (!known[count])
			return;
		for (size_t j = 0; j < count; j++)
			same += strcmp(known[j], stat.comm) == 0;
		count++;
		snprintf(id, sizeof id, "%s/%s.%zu", reading->process, stat.comm, same);
		read_thread(reading, path, id, &stat);
	}
}

/* Settings of bypass stacks in the environment; NUL between them has become blank by now. */
static void read_environment(struct reading *reading, const char *folder)
{
	char path[96], line[2048] = "";
	struct text kept = TEXT_IN(line);
	enum host_status status;
	int failure;
	snprintf(path, sizeof path, "%s/environ", folder);
	char *text = reading_text(reading, path, &status, &failure);
	if (!text) {
		reading_fail(reading, reading_row("process[].environment"), reading->process, NULL, HOST_VIA_FILE, path,
			status, failure);
		return;
	}
	for (char *at = text; *at;) {
		size_t bytes = strcspn(at, " \n");
		if (reading_is_bypass(at))
			text_add(&kept, "%s%.*s", kept.used ? " " : "", (int)bytes, at);
		at += bytes + (at[bytes] != '\0');
	}
	reading_add_text(reading, "process[].environment", reading->process, HOST_VIA_FILE, kept.used ? line : "none");
}

/* "N0=12 N1=3 kernelpagesize_kB=4" somewhere in each line: pages by node, of the page size of that mapping. */
static void read_memory_places(struct reading *reading, const char *folder)
{
	enum { NODES_MAX = 64 };
	const struct host_key *row = reading_row("process[].memory_kb");
	uint64_t by_node[NODES_MAX] = {0};
	char path[96], line[1024] = "";
	struct text text = TEXT_IN(line);
	enum host_status status = HOST_SKIPPED;
	int failure = 0;
	snprintf(path, sizeof path, "%s/numa_maps", folder);
	char *at = reading->question->slow ? reading_text(reading, path, &status, &failure) : NULL;
	if (!at) {
		reading_fail(reading, row, reading->process, NULL, HOST_VIA_FILE, path, status, failure);
		return;
	}
	for (char *mapping; (mapping = text_next_line(&at)) != NULL;) {
		uint64_t pages[NODES_MAX] = {0}, page_kb = 4, number;
		unsigned node;
		for (char *word = mapping; (word = strchr(word, ' ')) != NULL;) {
			word++;
			if (sscanf(word, "N%2u=%" SCNu64, &node, &number) == 2 && node < NODES_MAX)
				pages[node] = number;
			else if (sscanf(word, "kernelpagesize_kB=%" SCNu64, &number) == 1)
				page_kb = number;
		}
		for (size_t i = 0; i < NODES_MAX; i++)
			if (pages[i] <= UINT64_MAX / 2 / (page_kb ? page_kb : 1))
				by_node[i] += pages[i] * page_kb;
	}
	for (size_t i = 0; i < NODES_MAX; i++)
		if (by_node[i])
			text_add(&text, "%s%zu=%" PRIu64, text.used ? " " : "", i, by_node[i]);
	reading_add(reading, row, reading->process, NULL, HOST_VIA_FILE, path, text.used ? line : "none");
}

static void read_responder(struct reading *reading)
{
	char folder[64], path[96], line[4096];
	struct process_stat stat;
	size_t bytes;
	int failure;
	const char *id = reading->process;
	snprintf(folder, sizeof folder, "/proc/%d", (int)reading->pid);
	if (!read_process_stat(reading, folder, &stat))
		return;
	reading_add_number(reading, "process[].pid", id, HOST_VIA_FILE, reading->pid);
	long ticks = sysconf(_SC_CLK_TCK);
	if (ticks >= TICKS_PER_SECOND_LEAST)
		reading_add_number(reading, "process[].started_ns", id, HOST_VIA_FILE,
			(int64_t)(stat.field[22] * (UINT64_C(1000000000) / (uint64_t)ticks)));
	snprintf(path, sizeof path, "%s/cmdline", folder);
	if (tree_read(&reading->tree, path, line, sizeof line, &bytes, &failure) == HOST_OK)
		reading_add_text(reading, "process[].command", id, HOST_VIA_FILE, line);
	snprintf(path, sizeof path, "%s/cgroup", folder);
	if (tree_read(&reading->tree, path, line, sizeof line, &bytes, &failure) == HOST_OK)
		reading_add_text(reading, "process[].cgroup", id, HOST_VIA_FILE, line);
	static const struct {
		const char *label, *row;
	} lines[] = {{"VmLck:", "process[].locked_kb"}, {"VmSwap:", "process[].swapped_kb"},
		{"Mems_allowed_list:", "process[].memory_nodes"}};
	for (size_t i = 0; i < 3; i++) {
		if (!status_line(reading, folder, "status", lines[i].label, line, sizeof line))
			continue;
		if (i < 2)
			line[strspn(line, "0123456789")] = '\0'; /* kB follows */
		reading_add_text(reading, lines[i].row, id, HOST_VIA_FILE, line);
	}
	read_memory_places(reading, folder);
	read_environment(reading, folder);
	read_threads(reading, folder);
	read_group(reading, folder, id);
}

/* Who may run on a hot CPU beside the responder: every user task whose mask holds it. */
static void read_others(struct reading *reading)
{
	struct tree_names pids;
	int failure, hot = host_cpus_next(&reading->question->hot, -1);
	if (hot < 0)
		return;
	tree_list(&reading->tree, "/proc", reading->scratch, &pids, &failure);
	for (; hot >= 0; hot = host_cpus_next(&reading->question->hot, hot)) {
		char names[512] = "", folder[64], mask[4096], line[640], cpu[16];
		struct text text = TEXT_IN(names);
		int count = 0;
		for (size_t i = 0; i < pids.count; i++) {
			struct process_stat stat;
			struct host_cpus allowed;
			pid_t pid = pid_of(pids.name[i]);
			snprintf(folder, sizeof folder, "/proc/%d", (int)pid);
			if (!pid || pid == reading->pid || (!reading->tree.foreign && pid == getpid()) ||
				!read_process_stat(reading, folder, &stat) || stat.field[9] & KERNEL_THREAD ||
				!status_line(reading, folder, "status", "Cpus_allowed_list:", mask, sizeof mask) ||
				!host_cpus_of_list(mask, -1, &allowed) || !host_cpus_has(&allowed, hot))
				continue;
			if (++count <= 8)
				text_add(&text, "%s%s", count > 1 ? " " : "", stat.comm);
		}
		snprintf(line, sizeof line, "%d%s%s%s", count, count ? ": " : "", names, count > 8 ? " ..." : "");
		snprintf(cpu, sizeof cpu, "%d", hot);
		reading_add_text(reading, "hot[].others", cpu, HOST_VIA_FILE, line);
	}
}

/* The group of whoever inspects is told, not compared: a timer and a shell have different ones. */
static void read_own_group(struct reading *reading)
{
	size_t from = reading->snapshot->count;
	read_group(reading, "/proc/self", "self");
	for (size_t i = from; i < reading->snapshot->count; i++)
		if (reading->snapshot->facts[i].kind != HOST_COUNTER)
			reading->snapshot->facts[i].kind = HOST_GAUGE;
}

void reading_process(struct reading *reading)
{
	read_own_group(reading);
	if (reading->pid)
		read_responder(reading);
	read_others(reading);
}
