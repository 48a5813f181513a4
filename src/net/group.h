/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Multicast groups: what stands behind the address in udp://239.1.1.1:7000?if=eth0, and a
 * socket's membership. A group is joined on one interface, by its index, so that a host with several never
 * answers, or measures, on another one than the user thinks.
 */
#pragma once
#include <net/if.h>
#include <stdbool.h>

#include "net/net.h"

enum net_group_side { NET_GROUP_SENDER, NET_GROUP_RESPONDER };

struct net_group {
	unsigned index;            /* interface; 0: as routed */
	char device[IF_NAMESIZE];  /* "": as routed */
	struct net_address source; /* the only one listened to; length 0: everybody */
	int ttl;                   /* of what is sent to the group */
	bool has_ttl;              /* it was given, else it is 1 */
	bool loop;                 /* members on this host hear it too */
	bool reply_to_group;       /* NET_GROUP_RESPONDER: answers go to the group, at the port of who asked */
};

bool net_is_group(const struct net_address *address);
/* Whether both are the same host, whatever the port. */
bool net_same_host(const struct sockaddr_storage *one, const struct sockaddr_storage *other);
/*
 * Reads "?if=…&source=…&ttl=…&loop=…&reply=…" of a group's URL. device, used when the URL names no interface,
 * may be NULL. Fails (TARE_E_USAGE) where an option is unknown or wrong, and where the interface is not there, is
 * down or does no multicast.
 */
int net_group_read(const struct net_url *url, const struct net_address *address, enum net_group_side side,
	const char *device, struct net_group *ret_group, struct tare_err *err) TARE_MUST_USE;
/* A group of link-local scope means nothing without its interface; others stay as they are. */
void net_group_scope(const struct net_group *group, struct net_address *address);
/*
 * Joins, with the source filter, and takes nothing of groups that only others on this host joined; what the
 * socket sends to the group leaves by the interface with ttl and loop.
 */
int net_group_join(int fd, const struct net_group *group, const struct net_address *address, struct tare_err *err) TARE_MUST_USE;
