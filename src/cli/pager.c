/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The pager is a command line for sh, as in every other tool that knows $PAGER; Ctrl-C while it runs is its own. */
#include "cli/pager.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "report/utf8.h"

/* What sh exits with when there is no such command. */
enum { NOT_FOUND = 127 };

static const char *pager_command(void)
{
	const char *own = getenv("TARE_PAGER"), *usual = getenv("PAGER");
	const char *command = own ? own : usual && usual[0] ? usual : "less -FIRX";
	return command[0] && strcmp(command, "cat") != 0 ? command : NULL;
}

/* How many lines of the terminal the text takes; long ones take several. Stops at `most`. */
static int lines_of(const char *text, size_t bytes, int columns, int most)
{
	int lines = 0, used = 0;
	while (bytes > 0 && lines < most) {
		uint32_t code;
		size_t taken = utf8_next(text, bytes, &code);
		if (code == '\n') {
			lines++;
			used = 0;
		} else {
			int width = code == UTF8_INVALID ? 1 : utf8_width(code);
			used += width;
			if (columns > 0 && used > columns) {
				lines++;
				used = width;
			}
		}
		text += taken;
		bytes -= taken;
	}
	return lines + (used > 0);
}

static void become_pager(int from, const char *command)
{
	dup2(from, STDIN_FILENO);
	signal(SIGPIPE, SIG_DFL);
	/* a plain "less" out of $PAGER: leaves a short text alone and shows colours */
	setenv("LESS", "FIRX", 0);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(NOT_FOUND);
}

static void write_all(int to, const char *text, size_t bytes)
{
	while (bytes > 0) {
		ssize_t written = write(to, text, bytes);
		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return; /* closed before the end, which is what pagers are for */
		text += written;
		bytes -= (size_t)written;
	}
}

/* False where no pager took the text. */
static bool page(const char *command, const char *text, size_t bytes)
{
	int ends[2], status = 0;
	if (pipe(ends) != 0)
		return false;
	AUTO_FD from = ends[0];
	AUTO_FD to = ends[1];
	pid_t child = fork();
	if (child < 0)
		return false;
	if (child == 0) {
		close(to);
		become_pager(from, command);
	}
	void (*interrupt)(int) = signal(SIGINT, SIG_IGN);
	close(take_fd(&from));
	write_all(to, text, bytes);
	close(take_fd(&to));
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		continue;
	signal(SIGINT, interrupt);
	return !(WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND);
}

void pager_show(FILE *out, const char *text, size_t bytes, int lines, int columns)
{
	const char *command = pager_command();
	fflush(out);
	/* one line stays for the prompt */
	if (command && lines > 1 && lines_of(text, bytes, columns, lines) >= lines && page(command, text, bytes))
		return;
	fwrite(text, 1, bytes, out);
}
