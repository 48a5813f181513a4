/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A hash table that never forgets: short-lived threads are named by events after they have gone. */
#include "cause/names.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

static void dir_end(DIR *const *dir)
{
	if (*dir)
		closedir(*dir);
}
#define AUTO_DIR AUTO_CLEANUP(dir_end) DIR *

/* Where the thread is or would be; NULL when the table is full of others. */
static int slot_of(const struct names *names, int32_t tid)
{
	uint32_t at = (uint32_t)tid * 2654435761u % NAMES_SLOTS;
	for (int i = 0; i < NAMES_SLOTS; i++, at = (at + 1) % NAMES_SLOTS)
		if (names->slot[at].tid == tid || names->slot[at].tid == 0)
			return (int)at;
	return -1;
}

void names_put(struct names *names, int32_t tid, const char *comm)
{
	int at = tid > 0 && comm[0] ? slot_of(names, tid) : -1;
	if (at < 0 || (names->slot[at].tid == 0 && names->count >= NAMES_SLOTS * 3 / 4))
		return;
	names->count += names->slot[at].tid == 0;
	names->slot[at].tid = tid;
	snprintf(names->slot[at].comm, NAMES_BYTES, "%s", comm);
}

static void read_comm(struct names *names, const char *path, int32_t tid)
{
	char comm[32] = "";
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, comm, sizeof comm - 1);
	if (got <= 0)
		return;
	comm[strcspn(comm, "\n")] = '\0';
	names_put(names, tid, comm);
}

const char *names_get(struct names *names, int32_t tid, int ask)
{
	if (tid <= 0)
		return tid == 0 ? "idle" : "";
	int at = slot_of(names, tid);
	if (at >= 0 && names->slot[at].tid == tid)
		return names->slot[at].comm;
	if (ask) {
		char path[64];
		snprintf(path, sizeof path, "/proc/%d/comm", tid);
		read_comm(names, path, tid);
		at = slot_of(names, tid);
		if (at >= 0 && names->slot[at].tid == tid)
			return names->slot[at].comm;
	}
	return "";
}

static void read_process(struct names *names, const char *pid)
{
	char path[64];
	if (snprintf(path, sizeof path, "/proc/%s/task", pid) >= (int)sizeof path)
		return;
	AUTO_DIR tasks = opendir(path);
	for (struct dirent *task = tasks ? readdir(tasks) : NULL; task; task = readdir(tasks)) {
		long tid = strtol(task->d_name, NULL, 10);
		if (tid <= 0 || tid > INT32_MAX)
			continue;
		snprintf(path, sizeof path, "/proc/%ld/comm", tid);
		read_comm(names, path, (int32_t)tid);
	}
}

void names_read_all(struct names *names)
{
	AUTO_DIR proc = opendir("/proc");
	for (struct dirent *entry = proc ? readdir(proc) : NULL; entry; entry = readdir(proc))
		if (isdigit((unsigned char)entry->d_name[0]))
			read_process(names, entry->d_name);
}
