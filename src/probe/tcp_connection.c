/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One connection at a time, opened anew when it breaks: at once, then at most
 * every 10 ms while nobody listens. Requests due meanwhile fail with the reason; they
 * are not kept back, or the first answer would carry the wait of all.
 */
#include "probe/tcp.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <unistd.h>

#include "net/stamps.h"

static void switch_stamps(struct probe_target *target)
{
	unsigned want = probe_stamps_wanted(&target->request);
	target->stamps = 0;
	/* the count of bytes begins here: nothing has been sent yet */
	if (want && net_stamps_on(target->fd, want, &target->stamps, NULL) < 0)
		target->stamps = 0;
}

static void come_up(struct probe_target *target, struct tcp *tcp)
{
	int on = 1;
	tcp->state = TCP_UP;
	setsockopt(target->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	switch_stamps(target);
	tcp->filled = tcp->unsent = 0;
	tcp->received = 0;
	tcp->sends = 0;
	tcp->skipping = false;
	if (tcp->ever_up)
		raw_increase(&target->counters->reconnects, 1);
	tcp->ever_up = true;
}

static void give_up(struct probe_target *target, struct tcp *tcp, int error)
{
	if (target->fd >= 0)
		close(target->fd);
	target->fd = -1;
	tcp->state = TCP_DOWN;
	tcp->error = error;
}

bool tcp_is_up(struct probe_target *target)
{
	struct tcp *tcp = tcp_of(target);
	if (tcp->state != TCP_CONNECTING)
		return tcp->state == TCP_UP;
	struct pollfd ready = {.fd = target->fd, .events = POLLOUT};
	if (poll(&ready, 1, 0) != 1)
		return false;
	int error = 0;
	socklen_t length = sizeof error;
	if (getsockopt(target->fd, SOL_SOCKET, SO_ERROR, &error, &length) != 0 || error)
		give_up(target, tcp, error ? error : ENOTCONN);
	else
		come_up(target, tcp);
	return tcp->state == TCP_UP;
}

/* The tap must see the first segment, and for that know the port before the kernel would choose it. */
static void aim_tap(struct probe_target *target, struct tcp *tcp)
{
	const struct sockaddr *peer = (const struct sockaddr *)&target->request.address.storage;
	struct sockaddr_storage own = {.ss_family = peer->sa_family};
	socklen_t length = sizeof own;
	if (tcp->tap.fd < 0)
		return;
	if (bind(target->fd, (struct sockaddr *)&own, target->request.address.length) != 0 ||
		getsockname(target->fd, (struct sockaddr *)&own, &length) != 0) {
		tcp_tap_close(&tcp->tap);
		return;
	}
	uint16_t port = own.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)(void *)&own)->sin6_port
						  : ((struct sockaddr_in *)(void *)&own)->sin_port;
	tcp_tap_aim(&tcp->tap, peer, ntohs(port));
}

void tcp_connect(struct probe_target *target)
{
	struct tcp *tcp = tcp_of(target);
	const struct net_address *address = &target->request.address;
	tcp->attempted = source_mono(target->clock);
	target->fd = socket(address->storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (target->fd < 0 || (target->request.path && net_path_apply(target->fd, target->request.path, address, NULL) < 0)) {
		give_up(target, tcp, errno);
		return;
	}
	tcp->state = TCP_CONNECTING;
	tcp->error = ENOTCONN;
	/* before connecting, as the window scale is agreed then */
	if (probe_stamps_wanted(&target->request) & NET_STAMP_TX)
		net_receive_buffer(target->fd, TCP_STAMPS_BYTES);
	aim_tap(target, tcp);
	if (connect(target->fd, (const struct sockaddr *)&address->storage, address->length) != 0 &&
		errno != EINPROGRESS)
		give_up(target, tcp, errno);
	else
		tcp_is_up(target);
}

void tcp_await(struct probe_target *target, int64_t longest_ns)
{
	struct tcp *tcp = tcp_of(target);
	clock_mono until = clock_after(source_mono(target->clock), longest_ns);
	while (!tcp_is_up(target) && tcp->state == TCP_CONNECTING) {
		int64_t left_ns = clock_between(source_mono(target->clock), until);
		struct pollfd ready = {.fd = target->fd, .events = POLLOUT};
		if (left_ns <= 0 || poll(&ready, 1, (int)(left_ns / 1000000) + 1) < 0)
			return;
	}
}

void tcp_disconnect(struct probe_target *target, int error)
{
	struct tcp *tcp = tcp_of(target);
	if (tcp->awaiting)
		for (uint64_t i = tcp->oldest; i < tcp->newest; i++)
			probe_fail(target, i, error);
	tcp->oldest = tcp->newest;
	tcp->awaiting = 0;
	target->stamps_awaited = 0;
	give_up(target, tcp, error);
}

void tcp_broke(struct probe_target *target, int error)
{
	struct tcp *tcp = tcp_of(target);
	tcp_disconnect(target, error);
	if (clock_between(tcp->attempted, source_mono(target->clock)) < TCP_RETRY_NS)
		return;
	tcp_connect(target);
}
