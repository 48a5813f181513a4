/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The hot path: one datagram in, one out. Private to this folder. */
#pragma once
#include "echo/account.h"
#include "echo/disturb.h"
#include "echo/facts.h"
#include "echo/flows.h"
#include "echo/listener.h"

/* Larger than any UDP datagram, so none is ever cut. */
enum { SERVE_ROOM = 65536 };

/*
 * Several datagrams with one call each way, where they come faster than they can be answered one by one. Buffers lie
 * three cache lines further apart than a power of two, or all of them would meet in the same few sets of the cache.
 */
enum { SERVE_BATCH = 32, SERVE_STRIDE = SERVE_ROOM + 192 };
struct batch {
	struct mmsghdr in[SERVE_BATCH], out[SERVE_BATCH];
	struct iovec in_part[SERVE_BATCH], out_part[SERVE_BATCH];
	struct sockaddr_storage from[SERVE_BATCH];
	uint8_t *packets;           /* SERVE_BATCH of SERVE_STRIDE octets */
};

/* What a serving thread has to itself. */
struct server {
	const struct answer_rules *rules;
	struct source_limit *limit; /* NULL: none */
	struct account *account;    /* explains late replies; NULL: not asked */
	struct flows *flows;        /* counts of sessions; NULL: stateless */
	struct facts_desk *facts;   /* this host's, for senders with the key; NULL: not served */
	struct disturb *disturb;    /* faults on purpose; NULL: none */
	uint8_t *packet;            /* SERVE_ROOM octets */
	struct batch *batch;
	bool spin;
	clock_real kernel_rx, user_rx; /* of the request in hands */
	struct flow *flow;          /* of that request: its session; NULL: stateless */
	uint32_t own_sequence;      /* and its number there */
	struct answer_clock clock;
	int64_t clock_until_ns;     /* CLOCK_REALTIME: then it is read anew */
};

/* Counts what was decided on a request; true when it is to be answered. */
bool serve_counted(struct listener *listener, enum answer_verdict verdict);
/*
 * Receives and answers one datagram (xdp: a batch, and it never waits); receive_flags 0 waits, MSG_DONTWAIT does not.
 * 1: one was served (answered or not), 0: there was none, -errno.
 */
/* Wires up a batch whose packets are there. */
void batch_open(struct batch *batch);
/*
 * udp:// bound to one address: takes what has arrived, at most a batch, and answers it. The number of datagrams
 * served, 0 when there was none, -errno. Whether it is worth while is the listener's `batching`.
 */
int batch_serve(struct server *server, struct listener *listener);
/* Counts what was decided of a datagram; true when it is to be answered. */
bool serve_counted(struct listener *listener, enum answer_verdict verdict);

int serve_one(struct server *server, struct listener *listener, int receive_flags);
