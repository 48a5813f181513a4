/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Waiting with epoll. The timeout must be finer than epoll_wait's milliseconds, so
 * it is epoll_pwait2, called by number: glibc has it only since 2.35. Sockets are
 * entered at every wait, since one that was closed and opened anew may have its old
 * number; entering it twice costs 0.2 us and is refused.
 */
#include "session/waiting.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/text.h"

#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441
#endif

enum { EVENTS = 64, DESCRIPTORS_KEPT = 256 };
#define NOBODY UINT32_MAX

struct waiting {
	struct clock_source source;
	int epoll;
	unsigned idle_count;
	int idle[];
};

/* The timeout as the kernel's own struct, whose fields are 64 bits wide everywhere. */
static int wait_until(int epoll, struct epoll_event *events, int64_t left_ns)
{
	struct { int64_t seconds, ns; } left = {left_ns / 1000000000, left_ns % 1000000000};
	return (int)syscall(SYS_epoll_pwait2, epoll, events, EVENTS, &left, NULL, (size_t)0);
}

static int epoll_sleep(void *self, struct pollfd *fds, size_t count, clock_mono until)
{
	struct waiting *waiting = self;
	struct epoll_event events[EVENTS];
	for (size_t i = 0; i < count; i++) {
		struct epoll_event want = {.events = EPOLLIN, .data.u32 = (uint32_t)i};
		fds[i].revents = 0;
		if (fds[i].fd >= 0 && epoll_ctl(waiting->epoll, EPOLL_CTL_ADD, fds[i].fd, &want) != 0 && errno != EEXIST)
			return -errno;
	}
	int64_t left_ns = clock_between(clock_mono_now(), until);
	int got = wait_until(waiting->epoll, events, left_ns > 0 ? left_ns : 0), ready = 0;
	if (got < 0)
		return -errno;
	for (int i = 0; i < got; i++) {
		uint32_t at = events[i].data.u32;
		if (at >= count)
			continue;
		fds[at].revents = (short)((events[i].events & EPOLLIN ? POLLIN : 0) | (events[i].events & (EPOLLERR | EPOLLHUP) ? POLLERR : 0));
		ready++;
	}
	return ready;
}

static int make_room(unsigned sockets, struct tare_err *err)
{
	struct rlimit limit;
	rlim_t needed = (rlim_t)sockets + DESCRIPTORS_KEPT;
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= needed)
		return 0;
	limit.rlim_cur = limit.rlim_max < needed ? limit.rlim_max : needed;
	if (limit.rlim_cur < needed || setrlimit(RLIMIT_NOFILE, &limit) != 0)
		return tare_fail(err, TARE_E_PERMISSION, "--idle-sockets %u: only %llu files may be open\n  raise it: ulimit -n %llu",
			sockets, (unsigned long long)limit.rlim_max, (unsigned long long)needed);
	return 0;
}

/* Bound, so that each is a socket the kernel would look up, and silent. */
static int open_idle(struct waiting *waiting, unsigned count, struct tare_err *err)
{
	struct sockaddr_in self = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct epoll_event want = {.events = EPOLLIN, .data.u32 = NOBODY};
	for (unsigned i = 0; i < count; i++) {
		int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		if (fd >= 0)
			waiting->idle[waiting->idle_count++] = fd;
		if (fd < 0 || bind(fd, (struct sockaddr *)&self, sizeof self) != 0 ||
			epoll_ctl(waiting->epoll, EPOLL_CTL_ADD, fd, &want) != 0)
			return tare_fail_errno(err, errno, "cannot open %u idle sockets", count);
	}
	return 0;
}

int waiting_open(unsigned idle_sockets, struct waiting **ret_waiting, struct tare_err *err)
{
	struct waiting *waiting = calloc(1, sizeof *waiting + idle_sockets * sizeof waiting->idle[0]);
	struct epoll_event events[EVENTS];
	if (!waiting)
		return tare_fail_errno(err, ENOMEM, "cannot wait with epoll");
	waiting->source = clock_system;
	waiting->source.wait = epoll_sleep;
	waiting->source.self = waiting;
	waiting->epoll = epoll_create1(EPOLL_CLOEXEC);
	int status = waiting->epoll < 0 ? tare_fail_errno(err, errno, "cannot wait with epoll") : make_room(idle_sockets, err);
	if (status == 0 && wait_until(waiting->epoll, events, 0) < 0)
		status = errno == ENOSYS
			? tare_fail(err, TARE_E_UNSUPPORTED, "--receive epoll needs Linux 5.11: before it epoll wakes up by the millisecond")
			: tare_fail_errno(err, errno, "cannot wait with epoll");
	if (status == 0)
		status = open_idle(waiting, idle_sockets, err);
	if (status < 0) {
		waiting_free(waiting);
		return -1;
	}
	*ret_waiting = waiting;
	return 0;
}

void waiting_free(struct waiting *waiting)
{
	if (!waiting)
		return;
	for (unsigned i = 0; i < waiting->idle_count; i++)
		close(waiting->idle[i]);
	if (waiting->epoll >= 0)
		close(waiting->epoll);
	free(waiting);
}

const struct clock_source *waiting_clock(const struct waiting *waiting)
{
	return &waiting->source;
}
