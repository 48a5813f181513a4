/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Ctrl-Z is read as a message (SIGTSTP blocked, through a signalfd), so that it
 * never meets a half-drawn line. Signals that end the process are handled where
 * they strike: what the handler calls is safe there. Sizes are asked for at each
 * draw, which needs no SIGWINCH.
 */
#include "cli/screen.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include "base/cleanup.h"

#define ENTER "\033[?1049h\033[?25l\033[H\033[2J"
#define LEAVE "\033[?25h\033[?1049l"

static const int deadly[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGQUIT, SIGHUP, SIGPIPE};
enum { DEADLY = sizeof deadly / sizeof *deadly - 1 }; /* SIGPIPE is ignored by main and stays so */

static struct {
	int out, keys, stops, all; /* drawn on; read from; signalfd of SIGTSTP; epoll of both */
	struct termios before;
	struct sigaction were[DEADLY];
	volatile sig_atomic_t inside;
	bool open;
} screen;

static void write_all(const char *text, size_t bytes)
{
	while (bytes > 0) {
		ssize_t written = write(screen.out, text, bytes);
		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0 && errno == EAGAIN) {
			struct pollfd wait = {.fd = screen.out, .events = POLLOUT};
			poll(&wait, 1, 100);
			continue;
		}
		if (written <= 0)
			return;
		text += written;
		bytes -= (size_t)written;
	}
}

/* Only write and tcsetattr: also called from handlers. */
static void restore(void)
{
	if (!screen.inside)
		return;
	screen.inside = 0;
	ssize_t ignored = write(screen.out, LEAVE, sizeof LEAVE - 1);
	(void)ignored;
	tcsetattr(screen.keys, TCSANOW, &screen.before);
}

static void on_deadly(int number)
{
	restore();
	/* SA_RESETHAND: the second one is the system's */
	raise(number);
}

static bool in_foreground(void)
{
	pid_t group = tcgetpgrp(screen.keys);
	return group < 0 || group == getpgrp();
}

static void block_stop(int how)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGTSTP);
	pthread_sigmask(how, &set, NULL);
}

static int open_all(struct tare_err *err)
{
	sigset_t set;
	char name[256];
	sigemptyset(&set);
	sigaddset(&set, SIGTSTP);
	/* stderr may be open for writing only */
	int keys = ttyname_r(screen.out, name, sizeof name) == 0 ? open(name, O_RDWR | O_NOCTTY | O_CLOEXEC) : -1;
	screen.keys = keys >= 0 ? keys : fcntl(screen.out, F_DUPFD_CLOEXEC, 3);
	screen.stops = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	screen.all = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event key = {.events = EPOLLIN, .data.fd = screen.keys}, stop = {.events = EPOLLIN, .data.fd = screen.stops};
	if (screen.keys < 0 || screen.stops < 0 || screen.all < 0 ||
		epoll_ctl(screen.all, EPOLL_CTL_ADD, screen.keys, &key) < 0 ||
		epoll_ctl(screen.all, EPOLL_CTL_ADD, screen.stops, &stop) < 0 || tcgetattr(screen.keys, &screen.before) < 0)
		return tare_fail_errno(err, errno, "cannot take the terminal over");
	return 0;
}

static void close_all(void)
{
	close(take_fd(&screen.keys));
	close(take_fd(&screen.stops));
	close(take_fd(&screen.all));
}

int screen_open(int fd, struct tare_err *err)
{
	static bool registered;
	screen.out = fd;
	screen.keys = screen.stops = screen.all = -1;
	if (isatty(fd) != 1)
		return tare_fail(err, TARE_E_USAGE, "--live draws on a terminal, and stderr is none");
	if (open_all(err) < 0) {
		close_all();
		return -1;
	}
	if (!in_foreground()) {
		close_all();
		return tare_fail(err, TARE_E_USAGE, "--live draws on a terminal, and this process is in the background of it");
	}
	if (!registered)
		atexit(restore);
	registered = true;
	struct sigaction action = {.sa_handler = on_deadly, .sa_flags = (int)SA_RESETHAND | SA_NODEFER};
	for (size_t i = 0; i < DEADLY; i++)
		sigaction(deadly[i], &action, &screen.were[i]);
	screen.open = true;
	return 0;
}

void screen_enter(void)
{
	if (!screen.open || screen.inside || !in_foreground())
		return;
	struct termios raw = screen.before;
	raw.c_lflag &= (tcflag_t) ~(ICANON | ECHO); /* ISIG stays: Ctrl-C and Ctrl-Z are signals */
	raw.c_cc[VMIN] = 0;
	raw.c_cc[VTIME] = 0;
	block_stop(SIG_BLOCK);
	screen.inside = 1;
	tcsetattr(screen.keys, TCSANOW, &raw);
	write_all(ENTER, sizeof ENTER - 1);
}

void screen_leave(void)
{
	if (!screen.open)
		return;
	restore();
	block_stop(SIG_UNBLOCK);
}

void screen_close(void)
{
	if (!screen.open)
		return;
	screen_leave();
	for (size_t i = 0; i < DEADLY; i++)
		sigaction(deadly[i], &screen.were[i], NULL);
	close_all();
	screen.open = false;
}

int screen_fd(void)
{
	return screen.all;
}

/* As the terminal would have done it, but with the terminal given back first. */
static void stop_here(void)
{
	restore();
	kill(getpid(), SIGSTOP);
	screen_enter();
}

bool screen_take(void)
{
	struct signalfd_siginfo info;
	struct pollfd keys = {.fd = screen.keys, .events = POLLIN};
	char pressed[64];
	bool quit = false;
	if (read(screen.stops, &info, sizeof info) == (ssize_t)sizeof info)
		stop_here();
	/* in the background a read would stop the process */
	if (!screen.inside || poll(&keys, 1, 0) <= 0)
		return false;
	ssize_t count = read(screen.keys, pressed, sizeof pressed);
	/* hung up: it would be readable for ever */
	if (count <= 0 && keys.revents & (POLLHUP | POLLERR))
		epoll_ctl(screen.all, EPOLL_CTL_DEL, screen.keys, NULL);
	for (ssize_t i = 0; i < count; i++)
		quit |= pressed[i] == 'q' || pressed[i] == 'Q';
	return quit;
}

void screen_size(int *ret_columns, int *ret_lines)
{
	struct winsize size = {0};
	bool known = ioctl(screen.out, TIOCGWINSZ, &size) == 0;
	*ret_columns = known && size.ws_col > 0 ? size.ws_col : 80;
	*ret_lines = known && size.ws_row > 0 ? size.ws_row : 24;
}

void screen_draw(const char *text)
{
	AUTO_FREE char *whole = NULL;
	size_t bytes;
	if (!screen.inside)
		screen_enter();
	if (!screen.inside || !in_foreground())
		return;
	FILE *out = open_memstream(&whole, &bytes);
	if (!out)
		return;
	fputs("\033[H", out);
	/* every line clears what the one before it left behind; no line feed after the last, which would scroll */
	for (const char *at = text; *at;) {
		size_t length = strcspn(at, "\n");
		fwrite(at, 1, length, out);
		at += length + (at[length] == '\n');
		fputs(*at ? "\033[K\n" : "\033[K", out);
	}
	fputs("\033[J", out);
	if (fclose(out) == 0)
		write_all(whole, bytes);
}
