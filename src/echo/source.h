/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who is answered: allowed addresses, ports that reflect, and a rate per source. Private to this folder. */
#pragma once
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "tare/err.h"

/* An address of either family, IPv4 as ::ffff:a.b.c.d. */
struct source_key {
	uint64_t high, low;
};
struct source_key source_key_of(const struct sockaddr_storage *from);
bool source_is_loopback(struct source_key key);

/* Port numbers, one bit each. */
struct source_ports {
	uint64_t bits[65536 / 64];
};
/*
 * 0 and the services of old that answer anything, our own kind among them (echo 7,
 * daytime 13, quotd 17, chargen 19, time 37, DNS 53, STAMP 862). A datagram forged
 * to come from one of them would go to and fro for ever.
 */
void source_ports_usual(struct source_ports *ports);
static inline void source_port_refuse(struct source_ports *ports, uint16_t port)
{
	ports->bits[port / 64] |= UINT64_C(1) << port % 64;
}
static inline bool source_port_refused(const struct source_ports *ports, uint16_t port)
{
	return ports->bits[port / 64] >> port % 64 & 1;
}

enum { SOURCE_ALLOW_MAX = 64 };
struct source_allow {
	struct source_prefix {
		struct source_key key, mask;
	} prefix[SOURCE_ALLOW_MAX];
	size_t count; /* 0: everybody */
};
/* "10.0.0.0/8,fd00::1"; bits behind a prefix must be zero, so that a slip of the pen shows. */
int source_allow_parse(const char *text, struct source_allow *ret_allow, struct tare_err *err) TARE_MUST_USE;
bool source_allowed(const struct source_allow *allow, struct source_key key);

/*
 * A token bucket per source in bounded memory: 4096 sources; beyond that the one
 * that owes least is forgotten. Belongs to one thread.
 */
enum { LIMIT_SETS = 1024, LIMIT_WAYS = 4 };
struct source_limit {
	int64_t interval_ns, burst_ns; /* interval 0: no limit */
	uint64_t secret;               /* keeps senders from aiming at one set */
	struct source_bucket {
		struct source_key key;
		int64_t due_ns; /* when its next request is due; 0: free */
	} bucket[LIMIT_SETS][LIMIT_WAYS];
};
void source_limit_open(struct source_limit *limit, int64_t interval_ns);
/* Takes one request; false when the source is above its rate. now_ns: monotonic, above 0. */
bool source_limit_take(struct source_limit *limit, struct source_key key, int64_t now_ns);
