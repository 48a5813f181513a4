/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Placement of measuring threads. Threads of ours that spin are found by name in
 * /proc: a writer or a progress line that ran beside them on a machine where
 * they hold every CPU would appear as lateness in the figures.
 */
#include "clock/cpu.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/cleanup.h"

static void dir_end(DIR *const *dir)
{
	if (*dir)
		closedir(*dir);
}
#define AUTO_DIR AUTO_CLEANUP(dir_end) DIR *

int cpu_pin(int cpu, struct tare_err *err)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	if (cpu < 0 || cpu >= CPU_SETSIZE)
		return tare_fail(err, TARE_E_USAGE, "there is no CPU %d", cpu);
	CPU_SET((size_t)cpu, &set);
	if (sched_setaffinity(0, sizeof set, &set) == 0)
		return 0;
	if (errno == EINVAL)
		return tare_fail(err, TARE_E_USAGE, "cannot run on CPU %d: it is offline, absent or not allowed here (cpuset)",
			cpu);
	return tare_fail_errno(err, errno, "cannot pin to CPU %d", cpu);
}

int cpu_check(int cpu, struct tare_err *err)
{
	cpu_set_t before;
	if (sched_getaffinity(0, sizeof before, &before) != 0)
		return tare_fail_errno(err, errno, "cannot tell the CPUs allowed here");
	int status = cpu_pin(cpu, err);
	if (sched_setaffinity(0, sizeof before, &before) != 0)
		return tare_fail_errno(err, errno, "cannot go back to the CPUs allowed here");
	return status;
}

int cpu_fifo(int priority, struct tare_err *err)
{
	struct sched_param param = {.sched_priority = priority};
	if (sched_setscheduler(0, SCHED_FIFO, &param) == 0)
		return 0;
	if (errno != EPERM)
		return tare_fail_errno(err, errno, "cannot set FIFO priority %d", priority);
	return tare_fail(err, TARE_E_PERMISSION,
		"cannot set FIFO priority %d: operation not permitted\n"
		"  needs CAP_SYS_NICE (sudo setcap cap_sys_nice+ep $(command -v tare)) or a limit: ulimit -r %d (RLIMIT_RTPRIO)",
		priority, priority);
}

void cpu_timer_slack_least(void)
{
	/* 0 would mean "back to the default of 50 µs" */
	prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
}

void cpu_thread_name(const char *name, bool spinning)
{
	pthread_setname_np(pthread_self(), spinning ? CPU_SPIN_NAME : name);
}

int cpu_current(void)
{
	return sched_getcpu();
}

static bool is_number(const char *text)
{
	return isdigit((unsigned char)text[0]);
}

static bool thread_spins(int proc_fd, const char *pid, const char *tid)
{
	char path[64], name[32] = "";
	if (snprintf(path, sizeof path, "%s/task/%s/comm", pid, tid) >= (int)sizeof path)
		return false;
	AUTO_FD fd = openat(proc_fd, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ssize_t got = read(fd, name, sizeof name - 1);
	return got == (ssize_t)sizeof CPU_SPIN_NAME && strncmp(name, CPU_SPIN_NAME "\n", sizeof CPU_SPIN_NAME) == 0;
}

/* Spinning threads pinned to one CPU are entered in `pinned`; the others only counted. */
static void count_spinners_of(int proc_fd, const char *pid, cpu_set_t *pinned, size_t *unpinned)
{
	char path[64];
	if (snprintf(path, sizeof path, "%s/task", pid) >= (int)sizeof path)
		return;
	int fd = openat(proc_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_DIR tasks = fd < 0 ? NULL : fdopendir(fd);
	if (!tasks)
		return;
	for (struct dirent *task = readdir(tasks); task; task = readdir(tasks)) {
		if (!is_number(task->d_name) || !thread_spins(proc_fd, pid, task->d_name))
			continue;
		cpu_set_t set;
		if (sched_getaffinity((pid_t)strtol(task->d_name, NULL, 10), sizeof set, &set) == 0 && CPU_COUNT(&set) == 1)
			CPU_OR(pinned, pinned, &set);
		else
			++*unpinned;
	}
}

bool cpu_all_spinning(const int *own_spinning_cpus, size_t own_count)
{
	cpu_set_t allowed, pinned;
	size_t unpinned = 0;
	CPU_ZERO(&pinned);
	if (sched_getaffinity(getpid(), sizeof allowed, &allowed) != 0)
		return false;
	for (size_t i = 0; i < own_count; i++) {
		if (own_spinning_cpus[i] >= 0 && own_spinning_cpus[i] < CPU_SETSIZE)
			CPU_SET((size_t)own_spinning_cpus[i], &pinned);
		else
			unpinned++;
	}
	AUTO_DIR proc = opendir("/proc");
	if (!proc)
		return false;
	for (struct dirent *entry = readdir(proc); entry; entry = readdir(proc))
		if (is_number(entry->d_name))
			count_spinners_of(dirfd(proc), entry->d_name, &pinned, &unpinned);
	CPU_AND(&pinned, &pinned, &allowed);
	return (size_t)CPU_COUNT(&pinned) + unpinned >= (size_t)CPU_COUNT(&allowed);
}
