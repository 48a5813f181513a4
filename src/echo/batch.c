/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A plain echo that is behind: one receive call for all that has piled up and one
 * send call for all its replies. Nothing waits for a batch to fill, so that it is
 * never larger than the backlog, and a single request is served one by one again.
 */
#include <errno.h>

#include "echo/serve.h"

/* Batches in a row of one datagram at most, after which they come one by one again. */
enum { LONE_MOST = 16 };

void batch_open(struct batch *batch)
{
	for (size_t i = 0; i < SERVE_BATCH; i++) {
		batch->in_part[i] = (struct iovec){batch->packets + i * SERVE_STRIDE, SERVE_ROOM};
		batch->in[i].msg_hdr = (struct msghdr){
			.msg_name = &batch->from[i], .msg_iov = &batch->in_part[i], .msg_iovlen = 1};
		batch->out[i].msg_hdr = (struct msghdr){.msg_iov = &batch->out_part[i], .msg_iovlen = 1};
	}
}

/* Replies [0, count); one that the kernel refuses is counted and passed over. */
static void send_all(struct batch *batch, struct listener *listener, unsigned count)
{
	unsigned at = 0, replies = 0;
	while (at < count) {
		int sent = sendmmsg(listener->fd, batch->out + at, count - at, MSG_DONTWAIT);
		replies += sent > 0 ? (unsigned)sent : 0;
		if (sent <= 0)
			count_one(&listener->send_errors);
		at += sent > 0 ? (unsigned)sent : 1;
	}
	count_add(&listener->replies, replies);
}

int batch_serve(struct server *server, struct listener *listener)
{
	struct batch *batch = server->batch;
	for (unsigned i = 0; i < SERVE_BATCH; i++)
		batch->in[i].msg_hdr.msg_namelen = sizeof batch->from[i];
	int got = recvmmsg(listener->fd, batch->in, SERVE_BATCH, MSG_DONTWAIT, NULL);
	listener->run = got > 1 ? 0 : listener->run + 1;
	if (listener->run > LONE_MOST) {
		listener->batching = false;
		listener->run = 0;
	}
	if (got < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	unsigned requests = 0, replies = 0;
	for (int i = 0; i < got; i++) {
		struct msghdr *in = &batch->in[i].msg_hdr;
		if (in->msg_namelen == 0) /* woken up to end */
			continue;
		requests++;
		if (!serve_counted(listener, answer_source(server->rules, server->limit, &batch->from[i])))
			continue;
		batch->out_part[replies] = (struct iovec){in->msg_iov->iov_base, batch->in[i].msg_len};
		batch->out[replies].msg_hdr.msg_name = in->msg_name;
		batch->out[replies++].msg_hdr.msg_namelen = in->msg_namelen;
	}
	count_add(&listener->requests, requests);
	send_all(batch, listener, replies);
	return (int)requests;
}
