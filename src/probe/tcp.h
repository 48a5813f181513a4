/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The connection behind kind tcp: opened, lost, opened anew. Private to the files tcp*.c. */
#pragma once
#include "net/stamps.h"
#include "probe/probe.h"
#include "probe/tcp_tap.h"

/* While nobody listens, not more often than this. */
#define TCP_RETRY_NS ((int64_t)10000000)
/* Receive buffer: room for the transmit stamps of some 8000 requests, about 800 octets each as the kernel counts. */
enum { TCP_STAMPS_BYTES = 8 << 20 };
enum { TCP_ROOM = 1 << 16, TCP_KEYS = 4096 };
enum tcp_state { TCP_DOWN, TCP_CONNECTING, TCP_UP };

struct tcp {
	enum tcp_state state;
	int error;                  /* why the last attempt or connection failed */
	clock_mono attempted;
	bool ever_up;

	uint8_t *request;
	size_t request_bytes, unsent; /* unsent: the last bytes of a request of which the kernel took the rest */
	bool own;                   /* our payload, known by cookie and number */
	uint64_t cookie;
	struct reply_rule rule;
	bool skipping;

	uint8_t *buffer;            /* TCP_ROOM */
	size_t filled;
	uint64_t received;          /* bytes of the stream, those in the buffer included */
	struct tcp_tap tap;
	uint64_t oldest, newest;    /* requests [oldest, newest) may await their answer on this connection */
	uint64_t awaiting;

	clock_real stamp;           /* last receive stamps taken, and the request they went to plus one; 0: none */
	clock_phc card_stamp;
	uint64_t stamped;

	uint64_t sends;             /* whole requests on this connection, for the kernel's byte count */
	uint64_t *key_number;       /* request of each, a ring of TCP_KEYS */
};

static inline struct tcp *tcp_of(struct probe_target *target)
{
	return target->state;
}
/* What one message of the error queue means for the requests; tests feed it recorded ones. */
void tcp_take_notice(struct probe_target *target, const struct net_notice *notice);
/* Begins to connect, and goes on at once where that is through already (loopback). */
void tcp_connect(struct probe_target *target);
/* Whether the connection is there; looks when it was on its way. */
bool tcp_is_up(struct probe_target *target);
/* Waits at most so long for a connection on its way. */
void tcp_await(struct probe_target *target, int64_t longest_ns);
/* Ends the connection; requests under way on it fail with `error`. */
void tcp_disconnect(struct probe_target *target, int error);
/* The same for a connection that broke, which is opened anew unless that was tried just now. */
void tcp_broke(struct probe_target *target, int error);
