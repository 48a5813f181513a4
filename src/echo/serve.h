/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The hot path: one datagram in, one out. Private to this folder. */
#pragma once
#include "echo/account.h"
#include "echo/disturb.h"
#include "echo/flows.h"
#include "echo/listener.h"

/* Larger than any UDP datagram, so none is ever cut. */
enum { SERVE_ROOM = 65536 };

/* What a serving thread has to itself. */
struct server {
	const struct answer_rules *rules;
	struct source_limit *limit; /* NULL: none */
	struct account *account;    /* explains late replies; NULL: not asked */
	struct flows *flows;        /* counts of sessions; NULL: stateless */
	struct disturb *disturb;    /* faults on purpose; NULL: none */
	uint8_t *packet;            /* SERVE_ROOM octets */
	bool spin;
	clock_real kernel_rx, user_rx; /* of the request in hands */
	struct flow *flow;          /* of that request: its session; NULL: stateless */
	uint32_t own_sequence;      /* and its number there */
	struct answer_clock clock;
	int64_t clock_until_ns;     /* CLOCK_REALTIME: then it is read anew */
};

/*
 * Receives and answers one datagram; receive_flags 0 waits, MSG_DONTWAIT does not.
 * 1: one was served (answered or not), 0: there was none, -errno.
 */
int serve_one(struct server *server, struct listener *listener, int receive_flags);
