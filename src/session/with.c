/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Starting and stopping the load. Its threads are listed while they still live:
 * afterwards nobody could tell which of those seen on a CPU were its own.
 */
#include "session/with.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"

static void dir_end(DIR *const *dir)
{
	if (*dir)
		closedir(*dir);
}
#define AUTO_DIR AUTO_CLEANUP(dir_end) DIR *

static void sleep_ms(long ms)
{
	struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
	nanosleep(&time, NULL);
}

static void run_child(const char *command, const int ends[2], pid_t parent)
{
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(127);
	dup2(ends[1], STDOUT_FILENO);
	dup2(ends[1], STDERR_FILENO);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

int with_start(struct with *with, const char *command, struct tare_err *err)
{
	int ends[2];
	pid_t parent = getpid();
	*with = (struct with){.output = -1};
	if (pipe2(ends, O_CLOEXEC) != 0)
		return tare_fail_errno(err, errno, "cannot start the load '%s'", command);
	pid_t child = fork();
	if (child == 0)
		run_child(command, ends, parent);
	close(ends[1]);
	if (child < 0) {
		close(ends[0]);
		return tare_fail_errno(err, errno, "cannot start the load '%s'", command);
	}
	setpgid(child, child); /* whoever comes first */
	with->child = child;
	with->output = ends[0];
	sleep_ms(200);
	int status;
	if (waitpid(child, &status, WNOHANG) == child) {
		with_stop(with);
		return tare_fail(err, TARE_E_USAGE, "the load '%s' ended at once, with status %d%s%s", command,
			WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), with->line[0] ? ": " : "",
			with->line);
	}
	return 0;
}

/* Field 5 of /proc/PID/stat, behind the name in brackets. */
static bool in_group(const char *pid, pid_t group)
{
	char path[64], text[512];
	int found_group;
	snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	if (got <= 0)
		return false;
	text[got] = '\0';
	const char *behind = strrchr(text, ')');
	return behind && sscanf(behind, ") %*c %*d %d", &found_group) == 1 && found_group == group;
}

static void list_threads(struct with *with, const char *pid)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%.20s/task", pid);
	AUTO_DIR tasks = opendir(path);
	for (struct dirent *task = tasks ? readdir(tasks) : NULL; task; task = readdir(tasks))
		if (isdigit((unsigned char)task->d_name[0]) && with->tid_count < WITH_TIDS_MOST)
			with->tid[with->tid_count++] = (int32_t)strtol(task->d_name, NULL, 10);
}

static int by_tid(const void *left, const void *right)
{
	int32_t a = *(const int32_t *)left, b = *(const int32_t *)right;
	return (a > b) - (a < b);
}

static void note_threads(struct with *with)
{
	AUTO_DIR proc = opendir("/proc");
	for (struct dirent *entry = proc ? readdir(proc) : NULL; entry; entry = readdir(proc))
		if (isdigit((unsigned char)entry->d_name[0]) && in_group(entry->d_name, with->child))
			list_threads(with, entry->d_name);
	qsort(with->tid, with->tid_count, sizeof *with->tid, by_tid);
}

/* What it printed since; only the last line with anything on it is kept. */
static void take_output(struct with *with)
{
	char text[4096];
	ssize_t got;
	size_t used = 0;
	fcntl(with->output, F_SETFL, O_NONBLOCK);
	while ((got = read(with->output, text + used, sizeof text - 1 - used)) > 0) {
		used += (size_t)got;
		if (used > sizeof text / 2) { /* the older half goes */
			memmove(text, text + used / 2, used - used / 2);
			used -= used / 2;
		}
	}
	text[used] = '\0';
	while (used && (text[used - 1] == '\n' || text[used - 1] == ' '))
		text[--used] = '\0';
	const char *last = strrchr(text, '\n');
	snprintf(with->line, sizeof with->line, "%.199s", last ? last + 1 : text);
	for (char *at = with->line; *at; at++)
		*at = (unsigned char)*at < ' ' || *at == 127 ? '?' : *at;
}

static void wait_end(struct with *with)
{
	struct rusage usage = {0};
	int status = 0;
	pid_t ended = 0;
	for (int i = 0; i < 200 && (ended = wait4(with->child, &status, WNOHANG, &usage)) == 0; i++)
		sleep_ms(10);
	if (ended == 0) {
		kill(-with->child, SIGKILL);
		ended = wait4(with->child, &status, 0, &usage);
	}
	if (ended < 0)
		return;
	with->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	with->cpu_seconds = (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6 +
			    (double)usage.ru_stime.tv_sec + (double)usage.ru_stime.tv_usec / 1e6;
}

void with_stop(struct with *with)
{
	if (!with->child)
		return;
	note_threads(with);
	/* still there, not reaped: the group is ours */
	siginfo_t info = {0};
	with->ended_early =
		waitid(P_PID, (id_t)with->child, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0;
	kill(-with->child, SIGTERM);
	wait_end(with);
	kill(-with->child, SIGKILL); /* what it left behind in its group */
	take_output(with);
	close(with->output);
	with->output = -1;
	with->child = 0;
}
