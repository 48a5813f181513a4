/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sockets and the kernel's stamps on them: resolving, opening, and reading
 * datagrams with their control data. Functions used between requests return
 * -errno and write no text.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "clock/clock.h"
#include "tare/err.h"

struct net_address {
	struct sockaddr_storage storage;
	socklen_t length;
	char text[80];      /* numeric: "127.0.0.1:7000", "[fe80::1%eth0]:862", without port for ICMP */
	char host[72];      /* numeric, without port and brackets */
};

/* A target or listener as written: "udp://[::1]:7000", "icmp://host". */
struct net_url {
	char scheme[16], host[256];
	int port;           /* -1: none given */
	char path[512];     /* "/name?type=A": what stands behind, with its first '/' or '?'; "" for nothing */
};
int net_url_parse(const char *text, struct net_url *ret_url, struct tare_err *err) TARE_MUST_USE;
/*
 * The value of `name` in "?name=value&other=value" of the path: 1 with the value in *ret_value, 0 when it is not
 * there, -1 when it does not fit. net_url_options fails for names that are not in `known` (NULL at the end).
 */
int net_url_option(const struct net_url *url, const char *name, char *ret_value, size_t room);
int net_url_options(const struct net_url *url, const char *const *known, struct tare_err *err) TARE_MUST_USE;
/* Resolves once; family AF_UNSPEC, AF_INET or AF_INET6. */
int net_resolve(const struct net_url *url, int family, struct net_address *ret_address, struct tare_err *err) TARE_MUST_USE;
void net_address_text(struct net_address *address, bool with_port);

/* What a receive call brought besides the bytes. */
struct net_arrival {
	clock_real kernel_rx;   /* ns 0: none */
	clock_phc nic_rx;       /* by the card's own clock; ns 0: none */
	int ttl;                /* -1: not asked or not told */
	int tos;                /* IPv4's type of service, IPv6's traffic class: DSCP and ECN; -1 as above */
	bool cut;               /* control data truncated */
};

/*
 * Software receive stamps need a moment to be switched on in the kernel (a
 * static key is flipped by a worker): the first packets have none. A keeper,
 * opened once at start and kept open, turns them on; it returns when they arrive or
 * after 0.2 s. The descriptor, or -1 where the system has no such stamps.
 */
int net_keeper_open(void);

/* SO_TIMESTAMPING flags tried one by one; *ret_got has those of `want` the kernel took. */
enum net_stamp { NET_STAMP_RX = 1 << 0, NET_STAMP_TX = 1 << 1, NET_STAMP_NIC_RX = 1 << 2, NET_STAMP_NIC_TX = 1 << 3 };
int net_stamps_on(int fd, unsigned want, unsigned *ret_got, struct tare_err *err) TARE_MUST_USE;
/* The receive buffer alone: transmit stamps wait in it too, and those without room are lost in silence. */
void net_receive_buffer(int fd, int bytes);
int net_buffers(int fd, int bytes);   /* as large as allowed up to `bytes`; returns what the socket has now */

/* One datagram, never blocking; bytes or -errno. arrival may be NULL: then no control data is read. */
ssize_t net_receive(int fd, void *buffer, size_t room, struct net_arrival *ret_arrival);
/* The same, telling the sender too. */
ssize_t net_receive_from(int fd, void *buffer, size_t room, struct net_arrival *ret_arrival,
			 struct sockaddr_storage *ret_from, socklen_t *ret_from_length);
