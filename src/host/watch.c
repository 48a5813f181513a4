/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Netlink groups, and what their messages mean. */
#include "host/watch.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "base/text.h"
#include "host/netlink.h"

enum { LINKS_MAX = 256, NEIGHBOURS_MAX = 256, RECEIVE_BYTES = 1 << 20 };

struct link {
	int index;
	unsigned flags;
	uint64_t mtu;
	char name[IF_NAMESIZE];
};

struct neighbour {
	int index;
	uint16_t state;
	unsigned char address[16];
};

struct host_watch {
	struct netlink route, generic;
	uint16_t family;
	struct link link[LINKS_MAX];
	struct neighbour neighbour[NEIGHBOURS_MAX];
	size_t links, neighbours;
	char missing[64];
	bool primed; /* states before the first round are no events */
};

static void leave_out(struct host_watch *watch, const char *what)
{
	struct text text = {.bytes = watch->missing, .used = strlen(watch->missing), .room = sizeof watch->missing};
	text_add(&text, "%s%s", text.used ? ", " : "", what);
}

static bool join(struct netlink *netlink, unsigned group)
{
	int fd = mnl_socket_get_fd(netlink->socket), room = RECEIVE_BYTES;
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room); /* beyond the limit it is cut, which is fine */
	return mnl_socket_setsockopt(netlink->socket, NETLINK_ADD_MEMBERSHIP, &group, sizeof group) == 0;
}

static const char *name_of(struct host_watch *watch, int index)
{
	for (size_t i = 0; i < watch->links; i++)
		if (watch->link[i].index == index)
			return watch->link[i].name;
	return "?";
}

/* ---- links ---- */

static struct link *link_of(struct host_watch *watch, int index, bool *ret_new)
{
	*ret_new = false;
	for (size_t i = 0; i < watch->links; i++)
		if (watch->link[i].index == index)
			return &watch->link[i];
	if (watch->links == LINKS_MAX)
		return NULL;
	*ret_new = true;
	watch->link[watch->links] = (struct link){.index = index};
	return &watch->link[watch->links++];
}

static bool take_link(struct host_watch *watch, const struct nlmsghdr *message, struct host_event *event)
{
	const struct nlattr *part[IFLA_MTU + 1];
	bool is_new;
	if (mnl_nlmsg_get_payload_len(message) < sizeof(struct ifinfomsg))
		return false;
	const struct ifinfomsg *about = mnl_nlmsg_get_payload(message);
	struct link *link = link_of(watch, about->ifi_index, &is_new);
	if (!link || !netlink_attributes(mnl_nlmsg_get_payload_offset(message, sizeof *about),
			     mnl_nlmsg_get_payload_len(message) - NETLINK_ALIGN(sizeof *about), part, IFLA_MTU))
		return false;
	struct link was = *link;
	netlink_text(part[IFLA_IFNAME], link->name, sizeof link->name);
	if (!netlink_number(part[IFLA_MTU], &link->mtu))
		link->mtu = was.mtu;
	link->flags = about->ifi_flags & (IFF_UP | IFF_RUNNING | IFF_PROMISC);
	if (message->nlmsg_type == RTM_DELLINK) {
		snprintf(event->text, sizeof event->text, "%s: device removed", was.name[0] ? was.name : link->name);
		*link = watch->link[--watch->links];
		return true;
	}
	if (is_new)
		snprintf(event->text, sizeof event->text, "%s: device added", link->name);
	else if (strcmp(was.name, link->name) != 0)
		snprintf(event->text, sizeof event->text, "%s: renamed to %s", was.name, link->name);
	else if (was.mtu != link->mtu)
		snprintf(event->text, sizeof event->text, "%s: mtu %u -> %u", link->name, (unsigned)was.mtu,
			(unsigned)link->mtu);
	else if (was.flags != link->flags)
		snprintf(event->text, sizeof event->text, "%s: link %s%s", link->name,
			link->flags & IFF_RUNNING ? "up" : "down",
			(was.flags ^ link->flags) & IFF_PROMISC
				? link->flags & IFF_PROMISC ? ", promiscuous" : ", no longer promiscuous"
				: "");
	else
		return false;
	return true;
}

/* ---- neighbours, queue disciplines ---- */

static bool take_neighbour(struct host_watch *watch, const struct nlmsghdr *message, struct host_event *event)
{
	static const char *const names[] = {
		"incomplete", "reachable", "stale", "delay", "probe", "failed", "noarp", "permanent"};
	const struct nlattr *part[NDA_LLADDR + 1];
	char address[INET6_ADDRSTRLEN] = "?";
	const char *state = "removed";
	if (mnl_nlmsg_get_payload_len(message) < sizeof(struct ndmsg))
		return false;
	const struct ndmsg *about = mnl_nlmsg_get_payload(message);
	size_t bytes = about->ndm_family == AF_INET6 ? 16 : 4;
	if ((about->ndm_family != AF_INET && about->ndm_family != AF_INET6) ||
		!netlink_attributes(mnl_nlmsg_get_payload_offset(message, sizeof *about),
			mnl_nlmsg_get_payload_len(message) - NETLINK_ALIGN(sizeof *about), part, NDA_LLADDR) ||
		!part[NDA_DST] || mnl_attr_get_payload_len(part[NDA_DST]) != bytes)
		return false;
	struct neighbour is = {.index = about->ndm_ifindex, .state = about->ndm_state};
	memcpy(is.address, mnl_attr_get_payload(part[NDA_DST]), bytes);
	struct neighbour *known = NULL;
	for (size_t i = 0; i < watch->neighbours && !known; i++)
		if (watch->neighbour[i].index == is.index && memcmp(watch->neighbour[i].address, is.address, 16) == 0)
			known = &watch->neighbour[i];
	if (message->nlmsg_type == RTM_NEWNEIGH && known && known->state == is.state)
		return false;
	if (known)
		*known = is;
	else if (watch->neighbours < NEIGHBOURS_MAX)
		watch->neighbour[watch->neighbours++] = is;
	for (size_t i = 0; message->nlmsg_type == RTM_NEWNEIGH && i < 8; i++)
		if (is.state & 1 << i)
			state = names[i];
	inet_ntop(about->ndm_family, is.address, address, sizeof address);
	snprintf(event->text, sizeof event->text, "neighbour %s on %s: %s", address, name_of(watch, is.index), state);
	return true;
}

static bool take_qdisc(struct host_watch *watch, const struct nlmsghdr *message, struct host_event *event)
{
	const struct nlattr *part[TCA_KIND + 1];
	char kind[32];
	if (mnl_nlmsg_get_payload_len(message) < sizeof(struct tcmsg))
		return false;
	const struct tcmsg *about = mnl_nlmsg_get_payload(message);
	if (!netlink_attributes(mnl_nlmsg_get_payload_offset(message, sizeof *about),
		    mnl_nlmsg_get_payload_len(message) - NETLINK_ALIGN(sizeof *about), part, TCA_KIND))
		return false;
	netlink_text(part[TCA_KIND], kind, sizeof kind);
	snprintf(event->text, sizeof event->text, "%s: queue discipline %s %s", name_of(watch, about->tcm_ifindex),
		kind, message->nlmsg_type == RTM_NEWQDISC ? "set" : "removed");
	return true;
}

static bool take_route(struct host_watch *watch, const struct nlmsghdr *message, struct host_event *event)
{
	switch (message->nlmsg_type) {
	case RTM_NEWLINK:
	case RTM_DELLINK:
		return take_link(watch, message, event);
	case RTM_NEWNEIGH:
	case RTM_DELNEIGH:
		return take_neighbour(watch, message, event);
	case RTM_NEWQDISC:
	case RTM_DELQDISC:
		return take_qdisc(watch, message, event);
	default:
		return false;
	}
}

/* ---- ethtool ---- */

static const char *notice_name(uint8_t command)
{
	switch (command) {
	case ETHTOOL_MSG_LINKINFO_NTF:
	case ETHTOOL_MSG_LINKMODES_NTF:
		return "link modes";
	case ETHTOOL_MSG_FEATURES_NTF:
		return "features";
	case ETHTOOL_MSG_PRIVFLAGS_NTF:
		return "private flags";
	case ETHTOOL_MSG_RINGS_NTF:
		return "rings";
	case ETHTOOL_MSG_CHANNELS_NTF:
		return "channels";
	case ETHTOOL_MSG_COALESCE_NTF:
		return "coalescing";
	case ETHTOOL_MSG_PAUSE_NTF:
		return "pause";
	case ETHTOOL_MSG_EEE_NTF:
		return "energy-efficient ethernet";
	case ETHTOOL_MSG_FEC_NTF:
		return "error correction";
	default:
		return NULL;
	}
}

/* By ioctl a notice may come although nothing changed: the snapshots tell whether it did. */
static bool take_notice(const struct nlmsghdr *message, struct host_event *event)
{
	const struct nlattr *part[2], *header[3];
	char name[IF_NAMESIZE] = "?";
	if (mnl_nlmsg_get_payload_len(message) < sizeof(struct genlmsghdr))
		return false;
	const struct genlmsghdr *about = mnl_nlmsg_get_payload(message);
	const char *what = notice_name(about->cmd);
	if (!what || !netlink_attributes(mnl_nlmsg_get_payload_offset(message, sizeof *about),
			     mnl_nlmsg_get_payload_len(message) - sizeof *about, part, 1))
		return false;
	if (part[1] && netlink_attributes(mnl_attr_get_payload(part[1]), mnl_attr_get_payload_len(part[1]), header, 2))
		netlink_text(header[2], name, sizeof name);
	snprintf(event->text, sizeof event->text, "%s: ethtool set %s", name, what);
	return true;
}

/* ---- taking them ---- */

struct taking {
	struct host_watch *watch;
	struct host_event *event;
	size_t count, room;
	bool generic, lost;
};

static int64_t now_ns(void)
{
	struct timespec now = {0};
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void take(const struct nlmsghdr *message, void *context)
{
	struct taking *taking = context;
	struct host_event event = {.at_ns = now_ns()};
	bool told = taking->generic ? take_notice(message, &event) : take_route(taking->watch, message, &event);
	if (!told || !taking->watch->primed)
		return;
	if (taking->count < taking->room)
		taking->event[taking->count++] = event;
	else
		taking->lost = true;
}

bool host_watch_message(
	struct host_watch *watch, bool generic, const void *bytes, size_t count, struct host_event *ret_event)
{
	struct taking taking = {.watch = watch, .event = ret_event, .room = 1, .generic = generic};
	watch->primed = true;
	netlink_replay(bytes, count, take, &taking);
	return taking.count == 1;
}

static void drain(struct netlink *netlink, struct taking *taking)
{
	while (netlink->socket) {
		ssize_t got = recv(mnl_socket_get_fd(netlink->socket), netlink->buffer, NETLINK_BYTES, MSG_DONTWAIT);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && errno == ENOBUFS) {
			taking->lost = true;
			continue;
		}
		if (got <= 0)
			return;
		netlink_replay(netlink->buffer, (size_t)got, take, taking);
	}
}

size_t host_watch_drain(struct host_watch *watch, struct host_event *ret_events, size_t room, bool *ret_lost)
{
	struct taking taking = {.watch = watch, .event = ret_events, .room = room};
	drain(&watch->route, &taking);
	taking.generic = true;
	drain(&watch->generic, &taking);
	*ret_lost = taking.lost;
	return taking.count;
}

/* The state of links and neighbours before anything is told: asked for by a socket of its own. */
static void prime(struct host_watch *watch)
{
	struct netlink netlink = {.socket = NULL};
	struct taking taking = {.watch = watch};
	void *extra;
	if (netlink_open(NETLINK_ROUTE, &netlink) == 0) {
		struct nlmsghdr *request =
			netlink_request(&netlink, RTM_GETLINK, NLM_F_DUMP, sizeof(struct ifinfomsg), &extra);
		netlink_ask(&netlink, request, take, &taking);
		request = netlink_request(&netlink, RTM_GETNEIGH, NLM_F_DUMP, sizeof(struct ndmsg), &extra);
		netlink_ask(&netlink, request, take, &taking);
		netlink_close(&netlink);
	}
	watch->primed = true;
}

int host_watch_open(struct host_watch **ret_watch, struct tare_err *err)
{
	struct host_watch *watch = calloc(1, sizeof *watch);
	uint32_t group = 0;
	if (!watch)
		return tare_fail_errno(err, ENOMEM, "cannot watch the host");
	if (netlink_open(NETLINK_ROUTE, &watch->route) != 0) {
		leave_out(watch, "links, neighbours");
	} else {
		if (!join(&watch->route, RTNLGRP_LINK))
			leave_out(watch, "links");
		if (!join(&watch->route, RTNLGRP_NEIGH))
			leave_out(watch, "neighbours");
		if (!join(&watch->route, RTNLGRP_TC))
			leave_out(watch, "queue disciplines");
	}
	if (netlink_open(NETLINK_GENERIC, &watch->generic) != 0 ||
		netlink_family(&watch->generic, "ethtool", "monitor", &watch->family, &group) != 0 ||
		!join(&watch->generic, group)) {
		netlink_close(&watch->generic);
		leave_out(watch, "ethtool");
	}
	prime(watch);
	*ret_watch = watch;
	return 0;
}

void host_watch_close(struct host_watch *watch)
{
	if (!watch)
		return;
	netlink_close(&watch->route);
	netlink_close(&watch->generic);
	free(watch);
}

const char *host_watch_missing(const struct host_watch *watch)
{
	return watch->missing;
}

size_t host_watch_fds(const struct host_watch *watch, int *ret_fds, size_t room)
{
	size_t count = 0;
	if (watch->route.socket && count < room)
		ret_fds[count++] = mnl_socket_get_fd(watch->route.socket);
	if (watch->generic.socket && count < room)
		ret_fds[count++] = mnl_socket_get_fd(watch->generic.socket);
	return count;
}
