/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Requests as frames. Whom it answers is decided by the same rules as everywhere; a
 * reply is as long as its request, padding included, and leaves with checksums of its own.
 */
#include "echo/bypass.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net/xdp.h"
#include "wire/frame.h"

struct bypass {
	struct xdp *xdp;
	uint8_t mac[FRAME_MAC_BYTES];
	struct xdp_counts before, after;
};

static struct sockaddr_storage source_of(const struct frame_udp *udp)
{
	struct sockaddr_storage from = {.ss_family = udp->v6 ? AF_INET6 : AF_INET};
	if (udp->v6) {
		struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&from;
		memcpy(&v6->sin6_addr, udp->from.address, sizeof v6->sin6_addr);
		v6->sin6_port = htons(udp->from.port);
	} else {
		struct sockaddr_in *v4 = (struct sockaddr_in *)&from;
		memcpy(&v4->sin_addr, udp->from.address, sizeof v4->sin_addr);
		v4->sin_port = htons(udp->from.port);
	}
	return from;
}

/* A frame that others' cards should have dropped, or a datagram for many hosts in one for us, is not answered. */
static enum answer_verdict decide(
	const struct server *server, const struct bypass *b, const struct xdp_frame *frame, struct frame_udp *ret_udp)
{
	if (frame_udp_read(frame->bytes, frame->length, ret_udp) != FRAME_UDP)
		return ANSWER_REFUSED;
	if (memcmp(ret_udp->to.mac, b->mac, sizeof b->mac) != 0)
		return ANSWER_REFUSED;
	struct sockaddr_storage from = source_of(ret_udp);
	return answer_source(server->rules, server->limit, &from);
}

int bypass_serve(struct server *server, struct listener *listener)
{
	struct bypass *b = listener->bypass;
	struct xdp_frame in[XDP_BATCH_MAX], out[XDP_BATCH_MAX];
	unsigned got = xdp_receive(b->xdp, in, XDP_BATCH_MAX), replies = 0;
	for (unsigned i = 0; i < got; i++) {
		struct frame_udp udp = {0};
		count_one(&listener->requests);
		if (!serve_counted(listener, decide(server, b, &in[i], &udp))) {
			xdp_release(b->xdp, &in[i]);
			continue;
		}
		frame_udp_turn(in[i].bytes, &udp, b->mac);
		out[replies++] = in[i];
	}
	bool sent = replies && xdp_send(b->xdp, out, replies) >= 0;
	for (unsigned i = 0; i < replies; i++) {
		count_one(sent ? &listener->replies : &listener->send_errors);
		if (!sent)
			xdp_release(b->xdp, &out[i]);
	}
	return (int)got;
}

int bypass_open(struct listener *listener, const struct net_url *url, struct tare_err *err)
{
	struct xdp_wish wish;
	struct net_route path;
	char device[IF_NAMESIZE];
	struct bypass *b = calloc(1, sizeof *b);
	listener->bypass = b;
	if (!b)
		return tare_fail_errno(err, ENOMEM, "cannot hold the frames of %s", listener->url);
	if (listener->wildcard)
		return tare_fail(err, TARE_E_USAGE,
			"%s: the filter takes packets for one address; name one of the interface", listener->url);
	if (xdp_wish_read(url, &wish, device, err) < 0 ||
		net_route_interface(&listener->address, device, &path, err) < 0 ||
		xdp_open(&wish, &path, &listener->address, NULL, &b->xdp, err) < 0)
		return -1;
	memcpy(b->mac, path.own_mac, sizeof b->mac);
	listener->fd = xdp_fd(b->xdp);
	xdp_counts_read(b->xdp, &b->before);
	return 0;
}

void bypass_close(struct listener *listener)
{
	if (!listener->bypass)
		return;
	xdp_close(listener->bypass->xdp);
	free(listener->bypass);
	listener->bypass = NULL;
	listener->fd = -1;
}

uint64_t bypass_overrun(const struct listener *listener)
{
	return xdp_overrun(listener->bypass->xdp);
}

void bypass_describe(const struct listener *listener, char *buffer, size_t room)
{
	xdp_describe(listener->bypass->xdp, buffer, room);
}

bool bypass_losses(const struct listener *listener, char *buffer, size_t room)
{
	struct bypass *b = listener->bypass;
	xdp_counts_read(b->xdp, &b->after);
	return xdp_counts_text(&b->before, &b->after, true, buffer, room);
}
