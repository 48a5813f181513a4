/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fork and exec of /bin/sh; between the two only what is safe with other threads about. */
#include "session/shell.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "clock/clock.h"
#include "clock/source.h"

/* In the child: own group, signals as a program expects them, streams; then the shell. */
static void become_shell(const char *line, int output)
{
	sigset_t none;
	sigemptyset(&none);
	setpgid(0, 0);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	if (output >= 0) {
		int null = open("/dev/null", O_RDONLY);
		if (null < 0 || dup2(null, 0) < 0 || dup2(output, 1) < 0 || dup2(output, 2) < 0)
			_exit(127);
	}
	execl("/bin/sh", "sh", "-c", line, (char *)NULL);
	_exit(127);
}

static int status_of(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void end_group(pid_t pid)
{
	kill(-pid, SIGTERM);
	for (int i = 0; i < 40 && kill(-pid, 0) == 0; i++) {
		struct timespec pause = {.tv_nsec = 50000000};
		if (waitpid(pid, NULL, WNOHANG) == pid)
			break;
		nanosleep(&pause, NULL);
	}
	kill(-pid, SIGKILL);
}

/* Until the shell's end is seen, its group is to be ended, or time is up. The output is kept as far as it fits. */
static void listen_to(pid_t pid, int output, int signals, int64_t until_ns, struct shell_result *result, int *ret_status)
{
	size_t used = 0;
	bool open = true, ended = false;
	while (!ended) {
		struct pollfd wait[] = {{.fd = open ? output : -1, .events = POLLIN}, {.fd = signals, .events = POLLIN}};
		poll(wait, 2, 20);
		if (wait[0].revents) {
			char waste[512];
			size_t room = sizeof result->output - 1 - used;
			ssize_t got = read(output, room ? result->output + used : waste, room ? room : sizeof waste);
			open = got > 0;
			used += room && got > 0 ? (size_t)got : 0;
		}
		bool late = clock_mono_now().ns > until_ns;
		if (wait[1].revents || late) {
			result->interrupted = !late;
			result->late = late;
			end_group(pid);
		}
		ended = waitpid(pid, ret_status, WNOHANG) != 0;
		if (wait[1].revents || late)
			break;
	}
	/* what it wrote last; whoever it left behind with the pipe open is not waited for */
	int flags = fcntl(output, F_GETFL);
	fcntl(output, F_SETFL, flags | O_NONBLOCK);
	while (used < sizeof result->output - 1) {
		ssize_t got = read(output, result->output + used, sizeof result->output - 1 - used);
		if (got <= 0)
			break;
		used += (size_t)got;
	}
	result->output[used] = '\0';
}

int shell_run(const char *line, int signals, int64_t limit_ns, struct shell_result *ret_result, struct tare_err *err)
{
	int ends[2];
	struct shell_result result = {0};
	int64_t from_ns = clock_mono_now().ns;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return tare_fail_errno(err, errno, "cannot run '%.60s'", line);
	AUTO_FD output = ends[0];
	AUTO_FD input = ends[1];
	pid_t pid = fork();
	if (pid < 0)
		return tare_fail_errno(err, errno, "cannot run '%.60s'", line);
	if (pid == 0)
		become_shell(line, input);
	setpgid(pid, pid);
	close(take_fd(&input));
	int status = SIGTERM;
	listen_to(pid, output, signals, from_ns + limit_ns, &result, &status);
	result.exit = status_of(status);
	result.took_ns = clock_mono_now().ns - from_ns;
	*ret_result = result;
	return 0;
}

int shell_start(const char *line, const char *exports, pid_t *ret_pid, struct tare_err *err)
{
	AUTO_FREE char *whole = NULL;
	if (asprintf(&whole, "%s%s%s%s", exports ? "export " : "", exports ? exports : "", exports ? "\n" : "", line) < 0)
		return tare_fail_errno(err, ENOMEM, "cannot run '%.60s'", line);
	pid_t pid = fork();
	if (pid < 0)
		return tare_fail_errno(err, errno, "cannot run '%.60s'", line);
	if (pid == 0) {
		/* a responder of a run that was killed would answer the next one */
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		become_shell(whole, -1);
	}
	setpgid(pid, pid);
	*ret_pid = pid;
	return 0;
}

bool shell_lives(pid_t pid)
{
	return pid > 0 && waitpid(pid, NULL, WNOHANG) == 0;
}

void shell_stop(pid_t pid)
{
	if (pid <= 0)
		return;
	end_group(pid);
	waitpid(pid, NULL, 0);
}
