/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Kind connect: how long a TCP connection takes to be established, SYN to the
 * kernel's word that it is, from a fresh port each time. A reset is an error with the
 * reason ECONNREFUSED, silence is lost. Every connection is ended by a reset: thousands
 * of them waiting in TIME_WAIT would use up the ports within a minute.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include "clock/cpu.h"
#include "probe/probe.h"

/* Under way at most: more are given up, oldest first. Descriptors kept free for everything else: */
enum { UNDER_WAY_MAX = 8192, DESCRIPTORS_KEPT = 128 };

struct under_way {
	uint64_t number;
	int fd; /* -1: none */
};

struct connect {
	struct under_way *slots; /* of request n: n modulo room */
	uint64_t room;           /* a power of two */
	int spare;               /* the next socket, made ahead of its time */
	struct epoll_event events[PROBE_BATCH_MAX];
};

static struct connect *connect_of(struct probe_target *target)
{
	return target->state;
}

static void end_socket(int *fd)
{
	struct linger reset = {.l_onoff = 1};
	if (*fd < 0)
		return;
	setsockopt(*fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
	close(*fd);
	*fd = -1;
}

static int new_socket(const struct probe_target *target)
{
	const struct net_path *path = target->request.path;
	int fd = socket(target->request.address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || !path || net_path_apply(fd, path, &target->request.address, NULL) == 0)
		return fd;
	end_socket(&fd);
	return -1;
}

/* The socket of a request, watched before it connects: an answer cannot come before we look. */
static int make_ready(struct probe_target *target, struct connect *c, uint64_t number)
{
	struct under_way *slot = &c->slots[number & (c->room - 1)];
	end_socket(&slot->fd);
	if (c->spare < 0)
		c->spare = new_socket(target);
	if (c->spare < 0)
		return -errno;
	struct epoll_event watch = {.events = EPOLLOUT | EPOLLONESHOT, .data.u64 = number};
	if (epoll_ctl(target->fd, EPOLL_CTL_ADD, c->spare, &watch) != 0)
		return -errno;
	*slot = (struct under_way){.number = number, .fd = c->spare};
	c->spare = -1;
	return 0;
}

static int begin_connect(struct probe_target *target, struct connect *c, uint64_t number, clock_mono now)
{
	struct under_way *slot = &c->slots[number & (c->room - 1)];
	const struct net_address *address = &target->request.address;
	if (connect(slot->fd, (const struct sockaddr *)&address->storage, address->length) != 0 &&
		errno != EINPROGRESS) {
		int error = errno;
		end_socket(&slot->fd);
		return -error;
	}
	target->samples[number].user_tx_ns = now.ns;
	target->samples[number].cpu_tx = (uint16_t)(cpu_current() + 1);
	return 1;
}

static int connect_send(struct probe_target *target, uint64_t first, unsigned count)
{
	struct connect *c = connect_of(target);
	for (unsigned i = 0; i < count; i++) {
		int status = make_ready(target, c, first + i);
		if (status == 0)
			status = begin_connect(target, c, first + i, source_mono(target->clock));
		if (status < 0)
			return i ? (int)i : status;
	}
	return (int)count;
}

static int connect_send_at(struct probe_target *target, uint64_t number, clock_mono due)
{
	struct connect *c = connect_of(target);
	clock_mono now;
	int status = make_ready(target, c, number);
	do {
		now = source_mono(target->clock);
	} while (clock_between(now, due) > 0);
	return status < 0 ? status : begin_connect(target, c, number, now);
}

static void take_event(struct probe_target *target, struct connect *c, uint64_t number, clock_mono now, uint16_t cpu)
{
	struct under_way *slot = &c->slots[number & (c->room - 1)];
	int error = 0;
	socklen_t length = sizeof error;
	if (slot->fd < 0 || slot->number != number)
		return;
	if (getsockopt(slot->fd, SOL_SOCKET, SO_ERROR, &error, &length) != 0)
		error = errno;
	struct probe_reply reply = {.number = number, .user_rx = now, .cpu_rx = cpu};
	if (error)
		probe_refused(target, number, error);
	else
		probe_answer(target, &reply);
}

static int connect_drain(struct probe_target *target)
{
	struct connect *c = connect_of(target);
	int got = epoll_wait(target->fd, c->events, PROBE_BATCH_MAX, 0);
	if (got <= 0)
		return 0;
	clock_mono now = source_mono(target->clock);
	uint16_t cpu = (uint16_t)(cpu_current() + 1);
	for (int i = 0; i < got; i++)
		take_event(target, c, c->events[i].data.u64, now, cpu);
	/* ending them takes longer than telling them: only when all are told */
	for (int i = 0; i < got; i++) {
		struct under_way *slot = &c->slots[c->events[i].data.u64 & (c->room - 1)];
		if (slot->number == c->events[i].data.u64)
			end_socket(&slot->fd);
	}
	if (c->spare < 0)
		c->spare = new_socket(target);
	return got;
}

static void end_all(struct connect *c)
{
	for (uint64_t i = 0; c->slots && i < c->room; i++)
		end_socket(&c->slots[i].fd);
}

static void connect_begin(struct probe_target *target)
{
	end_all(connect_of(target));
}

/* As many as the limit of descriptors allows, raised as far as it goes. */
static uint64_t room_of(void)
{
	struct rlimit limit;
	uint64_t room = 64;
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return room;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	getrlimit(RLIMIT_NOFILE, &limit);
	while (room < UNDER_WAY_MAX && room * 2 + DESCRIPTORS_KEPT <= limit.rlim_cur)
		room *= 2;
	return room;
}

static int connect_open(struct probe_target *target, struct tare_err *err)
{
	struct connect *c = calloc(1, sizeof *c);
	target->state = c;
	if (!c)
		return tare_fail_errno(err, ENOMEM, "cannot hold the connections to %s", target->request.address.text);
	c->spare = -1;
	c->room = room_of();
	c->slots = calloc(c->room, sizeof *c->slots);
	if (!c->slots)
		return tare_fail_errno(err, ENOMEM, "cannot hold the connections to %s", target->request.address.text);
	for (uint64_t i = 0; i < c->room; i++)
		c->slots[i].fd = -1;
	target->fd = epoll_create1(EPOLL_CLOEXEC);
	if (target->fd < 0)
		return tare_fail_errno(err, errno, "cannot watch the connections to %s", target->request.address.text);
	c->spare = new_socket(target);
	if (c->spare < 0)
		return tare_fail_errno(err, errno, "cannot open a socket to %s", target->request.address.text);
	return 0;
}

static void connect_close(struct probe_target *target)
{
	struct connect *c = connect_of(target);
	if (!c)
		return;
	end_all(c);
	end_socket(&c->spare);
	if (target->fd >= 0)
		close(target->fd);
	target->fd = -1;
	free(c->slots);
	free(c);
	target->state = NULL;
}

const struct probe_kind probe_connect = {
	.scheme = "connect",
	.summary = "TCP connections, SYN to established, a fresh port each",
	.default_port = -1,
	.least_bytes = 0,
	.most_bytes = 0,
	.takes_path = true,
	.open = connect_open,
	.send = connect_send,
	.send_at = connect_send_at,
	.begin = connect_begin,
	.drain = connect_drain,
	.close = connect_close,
};
