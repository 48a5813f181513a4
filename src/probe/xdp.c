/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Kind xdp: the datagrams of kind udp, but past the kernel's stack in both directions
 * (AF_XDP). Any echo server answers them. Headers and checksums are ours; the way to the
 * peer is the kernel's, asked for when the target is opened and before each round.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "clock/cpu.h"
#include "net/stamps.h"
#include "net/xdp.h"
#include "probe/probe.h"
#include "wire/frame.h"
#include "wire/payload.h"

/* Looks that found nothing between two at the UDP socket, where ICMP errors arrive: a system call each. */
enum { LOOKS_PER_NOTICE = 256, NOTICE_ROOM = 2048 };

struct bypass {
	struct xdp *xdp;
	struct net_route path;
	struct frame_end own, peer, hop; /* hop: the peer's address behind the next hop's MAC */
	bool v6;
	uint64_t cookie;
	uint8_t *request; /* a frame as every request is but for its number */
	size_t request_bytes, payload_bytes;
	uint32_t looks;
	uint8_t notice[NOTICE_ROOM];
	struct xdp_counts before, after;
};

static struct bypass *bypass_of(struct probe_target *target)
{
	return target->state;
}

/* ---- the hot part ---- */

/* Frames for requests from `first` on; fewer than `count` when all others are under way. */
static unsigned prepare(struct bypass *b, struct xdp_frame *frames, uint64_t first, unsigned count)
{
	unsigned ready = 0;
	for (; ready < count && xdp_take(b->xdp, &frames[ready]); ready++) {
		struct xdp_frame *frame = &frames[ready];
		memcpy(frame->bytes, b->request, b->request_bytes);
		frame->length = (uint32_t)b->request_bytes;
		payload_number(frame->bytes + frame_udp_header_bytes(b->v6), first + ready);
		frame_udp_seal(frame->bytes, b->v6, b->payload_bytes);
	}
	return ready;
}

static int send_frames(
	struct probe_target *target, struct xdp_frame *frames, uint64_t first, unsigned count, clock_mono now)
{
	struct bypass *b = bypass_of(target);
	int sent = xdp_send(b->xdp, frames, count);
	if (sent < 0) {
		for (unsigned i = 0; i < count; i++)
			xdp_release(b->xdp, &frames[i]);
		return sent;
	}
	uint16_t cpu = (uint16_t)(cpu_current() + 1);
	for (unsigned i = 0; i < count; i++) {
		struct raw_sample *sample = &target->samples[first + i];
		sample->cpu_tx = cpu;
		sample->user_tx_ns = now.ns;
		if (i > 0)
			sample->flags |= TARE_FLAG_BATCHED;
	}
	return sent;
}

static int bypass_send(struct probe_target *target, uint64_t first, unsigned count)
{
	struct xdp_frame frames[PROBE_BATCH_MAX];
	unsigned ready = prepare(bypass_of(target), frames, first, count);
	if (ready == 0)
		return -EAGAIN;
	return send_frames(target, frames, first, ready, source_mono(target->clock));
}

static int bypass_send_at(struct probe_target *target, uint64_t number, clock_mono due)
{
	struct xdp_frame frame;
	clock_mono now;
	if (prepare(bypass_of(target), &frame, number, 1) == 0)
		return -EAGAIN;
	__builtin_prefetch(&target->samples[number], 1);
	do {
		now = source_mono(target->clock);
	} while (clock_between(now, due) > 0);
	return send_frames(target, &frame, number, 1, now);
}

static bool is_reply(const struct bypass *b, const struct frame_udp *udp)
{
	return udp->v6 == b->v6 && udp->from.port == b->peer.port &&
	       memcmp(udp->from.address, b->peer.address, sizeof b->peer.address) == 0;
}

static void take_frame(struct probe_target *target, const struct xdp_frame *frame, clock_mono now, uint16_t cpu)
{
	const struct bypass *b = bypass_of(target);
	struct probe_reply reply = {.user_rx = now, .cpu_rx = cpu};
	struct frame_udp udp = {0};
	if (frame_udp_read(frame->bytes, frame->length, &udp) == FRAME_UDP && is_reply(b, &udp) &&
		payload_read(frame->bytes + udp.payload_at, udp.payload_bytes, b->cookie, &reply.number))
		probe_answer(target, &reply);
	else
		probe_foreign(target);
}

static int bypass_drain_notices(struct probe_target *target)
{
	struct bypass *b = bypass_of(target);
	struct net_notice notice;
	int taken = 0;
	while (taken < PROBE_BATCH_MAX &&
		net_next_notice(xdp_udp_fd(b->xdp), b->notice, sizeof b->notice, &notice) > 0) {
		uint64_t number = PROBE_NO_NUMBER;
		if (!payload_read(notice.payload, notice.payload_bytes, b->cookie, &number))
			number = PROBE_NO_NUMBER;
		if (!notice.is_stamp)
			probe_refused(target, number, notice.error);
		taken++;
	}
	return taken;
}

static int bypass_drain(struct probe_target *target)
{
	struct bypass *b = bypass_of(target);
	struct xdp_frame frames[PROBE_BATCH_MAX];
	unsigned got = xdp_receive(b->xdp, frames, PROBE_BATCH_MAX);
	if (got == 0)
		return ++b->looks % LOOKS_PER_NOTICE == 0 ? bypass_drain_notices(target) : 0;
	clock_mono now = source_mono(target->clock);
	uint16_t cpu = (uint16_t)(cpu_current() + 1);
	for (unsigned i = 0; i < got; i++) {
		take_frame(target, &frames[i], now, cpu);
		xdp_release(b->xdp, &frames[i]);
	}
	return (int)got;
}

/* ---- around it ---- */

static void fill_request(struct bypass *b)
{
	memcpy(b->own.mac, b->path.own_mac, sizeof b->own.mac);
	memcpy(b->hop.mac, b->path.hop_mac, sizeof b->hop.mac);
	frame_udp_fill(b->request, b->v6, &b->own, &b->hop, b->payload_bytes);
}

static void bypass_begin(struct probe_target *target)
{
	struct bypass *b = bypass_of(target);
	net_route_renew(&b->path);
	fill_request(b);
	xdp_counts_read(b->xdp, &b->before);
}

static bool bypass_counted(struct probe_target *target, char *all, char *losses, size_t room)
{
	struct bypass *b = bypass_of(target);
	xdp_counts_read(b->xdp, &b->after);
	xdp_counts_text(&b->before, &b->after, false, all, room);
	return xdp_counts_text(&b->before, &b->after, true, losses, room);
}

static void bypass_tell(struct probe_target *target, char *buffer, size_t room)
{
	struct text text = {.bytes = buffer, .room = room};
	char how[160];
	xdp_describe(bypass_of(target)->xdp, how, sizeof how);
	text_add(&text, "past the kernel's stack by %s", how);
	if (target->request.stamps >= PROBE_STAMPS_KERNEL)
		text_add(&text, "; kernel stamps do not exist there and count as missing");
}

static void end_of_address(const struct net_address *address, struct frame_end *ret_end)
{
	if (address->storage.ss_family == AF_INET) {
		const struct sockaddr_in *v4 = (const struct sockaddr_in *)&address->storage;
		memcpy(ret_end->address, &v4->sin_addr, sizeof v4->sin_addr);
		ret_end->port = ntohs(v4->sin_port);
		return;
	}
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)&address->storage;
	memcpy(ret_end->address, &v6->sin6_addr, sizeof v6->sin6_addr);
	ret_end->port = ntohs(v6->sin6_port);
}

/* The route's source address, with any port. */
static struct net_address source_of(const struct net_route *path)
{
	struct net_address own = {.length = path->v6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in)};
	own.storage.ss_family = path->v6 ? AF_INET6 : AF_INET;
	if (path->v6) {
		struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&own.storage;
		memcpy(&v6->sin6_addr, path->from, sizeof v6->sin6_addr);
		if (IN6_IS_ADDR_LINKLOCAL(&v6->sin6_addr))
			v6->sin6_scope_id = path->index;
	} else {
		memcpy(&((struct sockaddr_in *)&own.storage)->sin_addr, path->from, sizeof(struct in_addr));
	}
	net_address_text(&own, false);
	return own;
}

static int check_size(const struct probe_target *target, const struct bypass *b, struct tare_err *err)
{
	size_t headers = frame_udp_header_bytes(b->v6), room = xdp_room(b->xdp);
	if (headers + b->payload_bytes <= room)
		return 0;
	return tare_fail(err, TARE_E_USAGE,
		"--size %zu: %s takes at most %zu bytes over %s (MTU %u): frames are not fragmented", b->payload_bytes,
		target->request.text, room - headers, b->path.device, b->path.mtu);
}

static int open_way(struct probe_target *target, struct bypass *b, struct tare_err *err)
{
	struct xdp_wish wish;
	char device[IF_NAMESIZE];
	if (xdp_wish_read(target->request.url, &wish, device, err) < 0 ||
		net_route_find(&target->request.address, device[0] ? device : NULL, &b->path, err) < 0)
		return -1;
	struct net_address own = source_of(&b->path);
	b->v6 = b->path.v6;
	if (xdp_open(&wish, &b->path, &own, &target->request.address, &b->xdp, err) < 0)
		return -1;
	target->fd = xdp_fd(b->xdp);
	/* after what needs a privilege: who lacks it is told so, and not that a host is silent */
	if (check_size(target, b, err) < 0 || net_route_neighbour(&b->path, err) < 0)
		return -1;
	end_of_address(&own, &b->own);
	end_of_address(&target->request.address, &b->peer);
	b->own.port = xdp_port(b->xdp);
	b->hop = b->peer;
	return 0;
}

static int bypass_open(struct probe_target *target, struct tare_err *err)
{
	struct bypass *b = calloc(1, sizeof *b);
	target->state = b;
	if (!b)
		return tare_fail_errno(err, ENOMEM, "cannot hold the requests of %s", target->request.text);
	b->cookie = pacer_mix(target->request.seed, 0);
	b->payload_bytes = target->request.payload_bytes;
	if (open_way(target, b, err) < 0)
		return -1;
	b->request_bytes = frame_udp_bytes(b->v6, b->payload_bytes);
	b->request = calloc(1, b->request_bytes);
	if (!b->request)
		return tare_fail_errno(err, ENOMEM, "cannot hold the requests of %s", target->request.text);
	payload_fill(b->request + frame_udp_header_bytes(b->v6), b->payload_bytes, b->cookie);
	fill_request(b);
	if (target->request.stamps >= PROBE_STAMPS_KERNEL)
		target->stamps = NET_STAMP_RX | (target->request.transmit_stamps ? NET_STAMP_TX : 0);
	return 0;
}

static void bypass_close(struct probe_target *target)
{
	struct bypass *b = bypass_of(target);
	target->fd = -1;
	target->state = NULL;
	if (!b)
		return;
	xdp_close(b->xdp);
	free(b->request);
	free(b);
}

const struct probe_kind probe_xdp = {
	.scheme = "xdp",
	.summary = "UDP past the kernel's stack (AF_XDP), to any echo server",
	.default_port = -1,
	.least_bytes = PAYLOAD_MIN_BYTES,
	.usual_bytes = 64,
	.most_bytes = 3770, /* a page less its headroom and headers */
	.has_path = true,
	.open = bypass_open,
	.send = bypass_send,
	.send_at = bypass_send_at,
	.begin = bypass_begin,
	.drain = bypass_drain,
	.drain_notices = bypass_drain_notices,
	.tell = bypass_tell,
	.counted = bypass_counted,
	.close = bypass_close,
};
