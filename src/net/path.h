/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a user asks of the way packets take, and what their answers show of it:
 * hop limit, traffic class, source address and port, interface, fragments.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/net.h"

struct net_path {
	int ttl;                /* 0: the system's */
	bool has_class;         /* dscp and ecn are set */
	int dscp, ecn;
	int source_port;        /* 0: the kernel's choice */
	bool dont_fragment;     /* what exceeds the path MTU is refused, not fragmented */
	const char *interface;  /* NULL: as routed. That of a VRF puts the socket into the VRF */
	struct net_address source; /* length 0: as routed */
};

/* "EF", "AF41", "CS5", "LE" or a number up to 63. */
int net_dscp_parse(const char *text, int *ret_dscp, struct tare_err *err) TARE_MUST_USE;
/* "46 (EF)", "0". */
void net_dscp_text(int dscp, char *buffer, size_t room);
/* A numeric address, with its scope where it needs one: "fe80::1%eth0". */
int net_source_parse(const char *text, struct net_address *ret_source, struct tare_err *err) TARE_MUST_USE;

/*
 * On a socket of the target's family, before it connects. Whatever is asked for and refused fails with what would
 * allow it.
 */
int net_path_apply(int fd, const struct net_path *path, const struct net_address *to, struct tare_err *err) TARE_MUST_USE;
/* The same on a socket of its own, for kinds whose sockets open while nobody can be told. type: SOCK_STREAM. */
int net_path_try(const struct net_path *path, const struct net_address *to, int type, struct tare_err *err) TARE_MUST_USE;
/* Whether anything is asked for. */
bool net_path_asks(const struct net_path *path);
/*
 * Asks for hop limit and traffic class with every arrival that is read with control data; off where none is read,
 * since the kernel puts them together all the same, at about 20 ns.
 */
void net_path_watch(int fd, bool v6, bool on);
/* What a datagram may be as a whole, IP header included, on the way of a connected socket; 0: not told. */
int net_path_mtu(int fd, bool v6);

/* What answers showed. */
struct net_path_seen {
	uint64_t looked;        /* at so many answers */
	int ttl, tos;           /* of the first of them; -1: not told */
	uint64_t other_ttl, other_tos; /* answers that differed from it */
	int last_other_ttl, last_other_tos;
};
void net_path_see(struct net_path_seen *seen, const struct net_arrival *arrival);
