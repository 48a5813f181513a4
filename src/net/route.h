/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The way to a host as the kernel knows it, for those who write their own frames:
 * interface, source address, next hop and its MAC, by route netlink. Resolving an
 * unknown neighbour is left to the kernel, which is told that it is used.
 */
#pragma once
#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

#include "net/net.h"

struct net_route {
	unsigned index;           /* interface, and its name */
	char device[IF_NAMESIZE];
	bool v6;
	uint8_t from[16], hop[16]; /* source address and next hop, network order; IPv4: the first four */
	uint8_t own_mac[6], hop_mac[6];
	unsigned mtu;
};

/*
 * Route from this host to `address`, through `device` if one is given (else NULL). Fails with a sentence where
 * there is none, where the address is this host's own, and where the interface is no Ethernet or is down.
 */
int net_route_find(const struct net_address *address, const char *device, struct net_route *ret_route, struct tare_err *err) TARE_MUST_USE;
/* Fills device, own_mac and mtu of an interface, with the same refusals. "" as device: the one that has `address`. */
int net_route_interface(const struct net_address *address, const char *device, struct net_route *ret_route, struct tare_err *err) TARE_MUST_USE;
/*
 * hop_mac: from the kernel's table, after 3 s at most if it has to ask first (CAP_NET_ADMIN). net_route_renew looks
 * again, asking nobody, and leaves what was known when there is nothing newer; it needs no privilege.
 */
int net_route_neighbour(struct net_route *path, struct tare_err *err) TARE_MUST_USE;
void net_route_renew(struct net_route *path);
