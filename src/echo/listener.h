/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One socket that is answered on, and its counts. Private to this folder. */
#pragma once
#include <stdatomic.h>

#include "echo/answer.h"
#include "echo/echo.h"
#include "echo/follow.h"
#include "net/group.h"
#include "net/net.h"

enum listener_kind { LISTENER_UDP, LISTENER_STAMP, LISTENER_TCP, LISTENER_XDP, LISTENER_GROUP };

/* Written by the one thread that serves the listener, read by anyone: no lock, no locked instruction. */
typedef _Atomic uint64_t listener_count;
static inline void count_one(listener_count *count)
{
	atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + 1, memory_order_relaxed);
}
static inline void count_add(listener_count *count, uint64_t by)
{
	atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + by, memory_order_relaxed);
}
static inline uint64_t count_read(const listener_count *count)
{
	return atomic_load_explicit(count, memory_order_relaxed);
}

struct listener {
	int fd;
	enum listener_kind kind;
	bool wildcard;          /* bound to every address: replies must name the one that was asked */
	bool kernel_stamps;
	uint16_t port;
	struct net_address address;
	char url[112];
	struct follow *follow;  /* of stamp:// that counts; NULL: none */
	bool batching;          /* datagrams come faster than one by one */
	unsigned run;           /* not batching: receive calls in a row that found one; batching: that found one at most */
	struct stream *stream;  /* of tcp://, stream.h */
	struct bypass *bypass;  /* of xdp://, bypass.h */
	struct net_group group; /* LISTENER_GROUP: udp:// for a multicast group */
	/* counts on a cache line of their own */
	_Alignas(64) listener_count requests, replies, too_short, refused, limited, send_errors, foreign;
	listener_count unauthenticated, wrong_hmac, wrong_tlvs;
};

/* Resolves, opens, binds and prepares the socket. Call listener_close also after failure. */
int listener_open(struct listener *listener, const char *url, struct tare_err *err) TARE_MUST_USE;
void listener_close(struct listener *listener);
/* Wakes whoever waits on it, now and ever after. */
void listener_wake(const struct listener *listener);
/* Of a group: where it was joined and where answers go; true. */
bool listener_describe(const struct listener *listener, char *buffer, size_t room);
/* Datagrams that found the buffer full; 0 when the kernel does not tell. */
uint64_t listener_overrun(const struct listener *listener);
