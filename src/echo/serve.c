/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Receiving and answering. A plain echo on one address is two system calls and
 * no clock; only STAMP and sockets bound to every address pay for control data.
 */
#include "echo/serve.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "clock/cpu.h"
#include "echo/bypass.h"
#include "echo/stream.h"
#include "net/stamps.h"

/* How long a reading of the clock's error is used. Reading it anew costs 1 µs, behind a reply. */
#define ESTIMATE_AGE_NS INT64_C(10000000000)

/* Room for one IP_PKTINFO or IPV6_PKTINFO, and one IP_TOS or IPV6_TCLASS. */
enum { REPLY_CONTROL_BYTES = CMSG_SPACE(sizeof(struct in6_pktinfo)) + CMSG_SPACE(sizeof(int)) };

/* As many datagrams in a row without finding the socket empty: they come faster than one by one. */
enum { BATCH_FROM = 8 };

bool serve_counted(struct listener *listener, enum answer_verdict verdict)
{
	switch (verdict) {
	case ANSWER_REPLY:
		return true;
	case ANSWER_TOO_SHORT:
		count_one(&listener->too_short);
		break;
	case ANSWER_REFUSED:
		count_one(&listener->refused);
		break;
	case ANSWER_LIMITED:
		count_one(&listener->limited);
		break;
	case ANSWER_UNSEALED:
		count_one(&listener->unauthenticated);
		break;
	case ANSWER_FORGED:
		count_one(&listener->wrong_hmac);
		break;
	}
	return false;
}

static void count_sent(struct listener *listener, ssize_t sent)
{
	count_one(sent < 0 ? &listener->send_errors : &listener->replies);
}

static int nothing(int why)
{
	return why == EAGAIN || why == EINTR ? 0 : -why;
}

/* To whom a group's request is answered: who asked, or everybody in the group at the same port. */
static struct sockaddr_storage group_reply_to(const struct listener *listener, const struct sockaddr_storage *from)
{
	if (!listener->group.reply_to_group)
		return *from;
	struct sockaddr_storage to = listener->address.storage;
	/* both families keep the port at the same place */
	((struct sockaddr_in *)&to)->sin_port = ((const struct sockaddr_in *)from)->sin_port;
	return to;
}

static int serve_group(struct server *server, struct listener *listener, int receive_flags)
{
	struct sockaddr_storage from, to;
	socklen_t from_length = sizeof from;
	ssize_t got = recvfrom(
		listener->fd, server->packet, SERVE_ROOM, receive_flags, (struct sockaddr *)&from, &from_length);
	if (got < 0)
		return nothing(errno);
	if (from_length == 0) /* woken up to end */
		return 0;
	count_one(&listener->requests);
	if (!serve_counted(listener, answer_source(server->rules, server->limit, &from)))
		return 1;
	to = group_reply_to(listener, &from);
	count_sent(listener, sendto(listener->fd, server->packet, (size_t)got, MSG_DONTWAIT, (const struct sockaddr *)&to,
				     listener->address.length));
	return 1;
}

static int serve_plain(struct server *server, struct listener *listener, int receive_flags)
{
	struct sockaddr_storage from;
	socklen_t from_length = sizeof from;
	ssize_t got = recvfrom(
		listener->fd, server->packet, SERVE_ROOM, receive_flags, (struct sockaddr *)&from, &from_length);
	if (got < 0) {
		listener->run = 0;
		return nothing(errno);
	}
	if (from_length == 0) /* woken up to end */
		return 0;
	if (receive_flags & MSG_DONTWAIT && ++listener->run >= BATCH_FROM)
		listener->batching = true;
	count_one(&listener->requests);
	if (serve_counted(listener, answer_source(server->rules, server->limit, &from)))
		count_sent(listener, sendto(listener->fd, server->packet, (size_t)got, MSG_DONTWAIT,
					     (const struct sockaddr *)&from, from_length));
	return 1;
}

/*
 * Turns the received packet information into that of the reply: from the address
 * that was asked. False for a broadcast or multicast address: many hosts would
 * answer one forged request.
 */
static bool reply_source(struct msghdr *message, uint8_t *control)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
		if (c->cmsg_level == SOL_IP && c->cmsg_type == IP_PKTINFO) {
			struct in_pktinfo info;
			memcpy(&info, CMSG_DATA(c), sizeof info);
			if (info.ipi_spec_dst.s_addr != info.ipi_addr.s_addr)
				return false;
			info.ipi_ifindex = 0;
			memcpy(CMSG_DATA(c), &info, sizeof info);
		} else if (c->cmsg_level == SOL_IPV6 && c->cmsg_type == IPV6_PKTINFO) {
			struct in6_pktinfo info;
			memcpy(&info, CMSG_DATA(c), sizeof info);
			if (IN6_IS_ADDR_MULTICAST(&info.ipi6_addr))
				return false;
			/* a link-local address means nothing without its interface */
			if (!IN6_IS_ADDR_LINKLOCAL(&info.ipi6_addr))
				info.ipi6_ifindex = 0;
			memcpy(CMSG_DATA(c), &info, sizeof info);
		} else {
			continue;
		}
		memcpy(control, c, c->cmsg_len);
		message->msg_control = control;
		message->msg_controllen = CMSG_ALIGN(c->cmsg_len);
		return true;
	}
	message->msg_control = NULL;
	message->msg_controllen = 0;
	return true;
}

/* Makes the reply of a STAMP request but for the send part. */
static enum answer_verdict reflect(struct server *server, const struct listener *listener, struct msghdr *message, clock_real user_rx, int rx_cpu,
	size_t got, struct stamp_made *ret_made)
{
	struct net_arrival seen;
	enum answer_verdict verdict = answer_check(server->rules, server->packet, got);
	if (verdict != ANSWER_REPLY)
		return verdict;
	net_arrival_of(message, &seen);
	struct answer_arrival arrival = {
		.kernel_rx = seen.kernel_rx,
		.user_rx = user_rx,
		.ttl = seen.ttl,
		.tos = seen.tos,
		.rx_cpu = rx_cpu,
		.info = server->clock.info,
		.error_estimate = server->clock.error_estimate,
	};
	struct stamp_follow_up left;
	if (server->flows) {
		struct flow_key key = flow_key_of(message->msg_name, listener->port,
			stamp_request_ssid(server->packet, got, server->rules->key));
		server->own_sequence = flows_count(server->flows, &key, user_rx.ns, &server->flow);
		arrival.own_sequence = &server->own_sequence;
		/* told once: the next reply tells of the next one */
		left = server->flow->left;
		server->flow->left.t3 = 0;
		arrival.follow_up = left.t3 ? &left : NULL;
	}
	server->kernel_rx = seen.kernel_rx;
	server->user_rx = user_rx;
	return answer_stamp(server->rules, &arrival, server->packet, got, SERVE_ROOM, ret_made);
}

/* Adds what makes the kernel send with a DSCP; the socket's own is 0. */
static void reply_class(struct msghdr *message, uint8_t *control, const struct stamp_made *made)
{
	if (!made->has_dscp || made->dscp == 0)
		return;
	bool v6 = ((const struct sockaddr *)message->msg_name)->sa_family == AF_INET6;
	int tos = made->dscp << 2;
	size_t used = message->msg_controllen;
	struct cmsghdr head = {.cmsg_len = CMSG_LEN(sizeof tos),
		.cmsg_level = v6 ? SOL_IPV6 : SOL_IP,
		.cmsg_type = v6 ? IPV6_TCLASS : IP_TOS};
	memset(control + used, 0, CMSG_SPACE(sizeof tos));
	memcpy(control + used, &head, sizeof head);
	memcpy(control + used + CMSG_LEN(0), &tos, sizeof tos);
	message->msg_control = control;
	message->msg_controllen = used + CMSG_SPACE(sizeof tos);
}

static void renew_clock(struct server *server, clock_real now)
{
	if (now.ns < server->clock_until_ns && server->clock_until_ns - now.ns <= ESTIMATE_AGE_NS)
		return;
	server->clock = answer_clock_now();
	server->clock_until_ns = now.ns + ESTIMATE_AGE_NS;
}

static void explain(struct server *server, uint8_t *packet, const struct stamp_made *made)
{
	struct stamp_reason reason;
	account_reason(server->account, server->kernel_rx, server->user_rx, &reason);
	stamp_reflect_reason(packet, made, &reason);
}

/* flow NULL: of no session, or one that is not told. */
static void send_reply(
	struct listener *listener, const struct msghdr *message, struct flow *flow, uint32_t sequence, bool count)
{
	ssize_t sent = sendmsg(listener->fd, message, MSG_DONTWAIT);
	if (count)
		count_sent(listener, sent);
	if (listener->follow)
		follow_sent(listener->follow, listener->fd, sent >= 0, flow, sequence);
}

static void send_stamp(
	struct server *server, struct listener *listener, struct msghdr *message, const struct stamp_made *made)
{
	if (server->account && made->reason_at)
		explain(server, message->msg_iov->iov_base, made);
	if (server->facts && made->facts_at)
		facts_desk_answer(server->facts, message->msg_iov->iov_base, made, message->msg_name);
	int cpu = cpu_current();
	clock_real now = clock_real_now();
	stamp_reflect_sent(message->msg_iov->iov_base, made, stamp_ntp_of_real(now.ns), now.ns, cpu);
	if (made->follow_up && listener->follow)
		follow_begin(listener->follow, listener->fd);
	/* a reply that was kept back is no longer the one in hands */
	bool in_hands = message->msg_iov->iov_base == server->packet;
	send_reply(listener, message, made->follow_up && in_hands ? server->flow : NULL, server->own_sequence, true);
	if (server->account)
		account_sent(server->account);
	if (made->peer_at == 0 && made->facts_at == 0)
		count_one(&listener->foreign);
	if (made->tlvs_forged)
		count_one(&listener->wrong_tlvs);
	renew_clock(server, now);
}

/* The same with faults on purpose: a reply may not leave, leave twice, or leave behind the next one. */
static void send_disturbed(
	struct server *server, struct listener *listener, struct msghdr *message, const struct stamp_made *made)
{
	struct inject_due due;
	struct disturb *disturb = server->disturb;
	disturb_reply(disturb, server->packet, made, &due);
	if (due.drop || (due.reorder && disturb_keep(disturb, message, made)))
		return;
	send_stamp(server, listener, message, made);
	if (due.duplicate)
		send_reply(listener, message, NULL, 0, false);
	if (!disturb->kept)
		return;
	disturb->kept = false;
	send_stamp(server, listener, &disturb->message, &disturb->made);
}

static int serve_full(struct server *server, struct listener *listener, int receive_flags)
{
	_Alignas(struct cmsghdr) uint8_t control[NET_CONTROL_BYTES], reply_control[REPLY_CONTROL_BYTES];
	struct sockaddr_storage from;
	struct iovec part = {.iov_base = server->packet, .iov_len = SERVE_ROOM};
	struct msghdr message = {
		.msg_name = &from,
		.msg_namelen = sizeof from,
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof control,
	};
	ssize_t got = recvmsg(listener->fd, &message, receive_flags);
	if (got < 0) {
		int why = errno;
		/* a late send time makes poll call us without a request */
		if (listener->follow && listener->follow->awaited)
			follow_drain(listener->follow, listener->fd);
		return nothing(why);
	}
	clock_real user_rx = clock_real_now();
	int rx_cpu = cpu_current();
	if (message.msg_namelen == 0)
		return 0;
	count_one(&listener->requests);
	enum answer_verdict verdict = answer_source(server->rules, server->limit, &from);
	struct stamp_made made = {.bytes = (size_t)got};
	if (verdict == ANSWER_REPLY && listener->kind == LISTENER_STAMP)
		verdict = reflect(server, listener, &message, user_rx, rx_cpu, (size_t)got, &made);
	if (verdict == ANSWER_REPLY && !reply_source(&message, reply_control))
		verdict = ANSWER_REFUSED;
	if (!serve_counted(listener, verdict))
		return 1;
	if (listener->kind == LISTENER_STAMP)
		reply_class(&message, reply_control, &made);
	part.iov_len = made.bytes;
	message.msg_flags = 0;
	if (listener->kind == LISTENER_STAMP && server->disturb)
		send_disturbed(server, listener, &message, &made);
	else if (listener->kind == LISTENER_STAMP)
		send_stamp(server, listener, &message, &made);
	else
		count_sent(listener, sendmsg(listener->fd, &message, MSG_DONTWAIT));
	return 1;
}

int serve_one(struct server *server, struct listener *listener, int receive_flags)
{
	if (listener->kind == LISTENER_TCP)
		return stream_serve(server, listener, receive_flags);
	if (listener->batching)
		return batch_serve(server, listener);
	if (listener->kind == LISTENER_XDP)
		return bypass_serve(server, listener);
	if (listener->kind == LISTENER_UDP && !listener->wildcard)
		return serve_plain(server, listener, receive_flags);
	if (listener->kind == LISTENER_GROUP)
		return serve_group(server, listener, receive_flags);
	return serve_full(server, listener, receive_flags);
}
