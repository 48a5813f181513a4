/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which segment brought which reply: segments seen by a tap, replies read from the
 * stream, matched by their place in it. Either may come first: the tap is read in the
 * slack between requests. A reply has the stamp of the segment with its last byte.
 */
#pragma once
#include "net/tap.h"
#include "probe/probe.h"

enum { TCP_TAP_ROOM = 4096 }; /* of segments and of replies that wait for each other; the oldest go first */

struct tcp_tap {
	int fd;                    /* -1: none */
	bool based;                /* the connection's first sequence number is known */
	uint32_t base;             /* of the first byte of the stream */
	uint64_t seen;             /* end of the furthest segment */
	struct tap_piece { uint64_t from, to; clock_real kernel_rx; clock_phc nic_rx; } *piece;
	struct tap_reply { uint64_t end, number; } *reply;
	uint64_t piece_first, piece_last, reply_first, reply_last; /* rings: [first, last), modulo the room */
};

/* False where there is no privilege for a tap, or no memory: the connection's own stamps have to do. */
bool tcp_tap_open(struct tcp_tap *tap, unsigned stamps);
void tcp_tap_close(struct tcp_tap *tap);
/* Before connecting from `own_port`; forgets all of the connection before. */
void tcp_tap_aim(struct tcp_tap *tap, const struct sockaddr *peer, uint16_t own_port);
/* A new round: replies of the last one are not waited for any more. */
void tcp_tap_begin(struct tcp_tap *tap);
/* Request `number` was answered by a reply that ends before byte `end` of the stream. */
void tcp_tap_reply(struct tcp_tap *tap, struct probe_target *target, uint64_t end, uint64_t number);
/* A segment as the tap saw it. */
void tcp_tap_segment(struct tcp_tap *tap, struct probe_target *target, const struct net_segment *segment);
/* Reads what the tap has seen, at most `most` segments; their number. */
int tcp_tap_drain(struct tcp_tap *tap, struct probe_target *target, int most);
