/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Links, their counters and queue disciplines by route netlink: one dump, where
 * each file of statistics/ would collect all counters anew. And the way to the
 * peer: route, source address, state of the next hop; nothing is ever sent to ask.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/text.h"
#include "host/netlink.h"
#include "host/reading.h"

#ifndef IFLA_PERM_ADDRESS
#define IFLA_PERM_ADDRESS 54
#endif
enum { LINK_ATTRIBUTES = 64, QDISCS_MAX = 64 };

struct device {
	int index;
	bool loopback;
	char qdisc[32];  /* of the root, as the link tells it */
	char kinds[128]; /* of those below it */
	int children;
	bool counted;
	uint64_t drops, overlimits;
};

struct routes {
	struct reading *reading;
	struct device device[HOST_NICS_MAX]; /* as in reading->nics */
};

static void add_count(struct reading *reading, const char *name, const char *id, uint64_t count)
{
	char row[64];
	snprintf(row, sizeof row, "nic[].%s", name);
	reading_add_number(reading, row, id, HOST_VIA_NETLINK, (int64_t)(count & INT64_MAX));
}

static void add_statistics(struct reading *reading, const char *id, const struct nlattr *attribute)
{
	struct rtnl_link_stats64 stats = {0};
	size_t bytes = mnl_attr_get_payload_len(attribute);
	memcpy(&stats, mnl_attr_get_payload(attribute), bytes < sizeof stats ? bytes : sizeof stats);
	const struct {
		const char *name;
		uint64_t count;
	} counters[] = {{"rx_packets", stats.rx_packets}, {"tx_packets", stats.tx_packets},
		{"rx_bytes", stats.rx_bytes}, {"tx_bytes", stats.tx_bytes}, {"rx_errors", stats.rx_errors},
		{"tx_errors", stats.tx_errors}, {"rx_dropped", stats.rx_dropped}, {"tx_dropped", stats.tx_dropped},
		{"rx_length_errors", stats.rx_length_errors}, {"rx_over_errors", stats.rx_over_errors},
		{"rx_crc_errors", stats.rx_crc_errors}, {"rx_frame_errors", stats.rx_frame_errors},
		{"rx_fifo_errors", stats.rx_fifo_errors}, {"rx_missed_errors", stats.rx_missed_errors},
		{"tx_carrier_errors", stats.tx_carrier_errors}, {"rx_nohandler", stats.rx_nohandler}};
	for (size_t i = 0; i < sizeof counters / sizeof counters[0]; i++)
		add_count(reading, counters[i].name, id, counters[i].count);
}

static void add_address(struct reading *reading, const char *id, const struct nlattr *attribute)
{
	char line[64] = "";
	struct text text = TEXT_IN(line);
	const unsigned char *bytes = mnl_attr_get_payload(attribute);
	size_t count = mnl_attr_get_payload_len(attribute);
	for (size_t i = 0; i < count && i < 20; i++)
		text_add(&text, "%s%02x", i ? ":" : "", bytes[i]);
	if (count)
		reading_add_text(reading, "nic[].mac", id, HOST_VIA_NETLINK, line);
}

static void add_xdp(struct reading *reading, const char *id, const struct nlattr *attribute)
{
	const struct nlattr *part[8 + 1];
	uint64_t attached = 0, program = 0;
	char line[64];
	if (!netlink_attributes(mnl_attr_get_payload(attribute), mnl_attr_get_payload_len(attribute), part, 8))
		return;
	netlink_number(part[IFLA_XDP_ATTACHED], &attached);
	netlink_number(part[IFLA_XDP_PROG_ID], &program);
	snprintf(line, sizeof line, attached ? "mode %u, program %u" : "none", (unsigned)attached, (unsigned)program);
	/* program numbers are drawn anew at each load: only that there is one counts */
	line[strcspn(line, ",")] = '\0';
	reading_add_text(reading, "nic[].xdp", id, HOST_VIA_NETLINK, line);
}

static void take_link(const struct nlmsghdr *message, void *context)
{
	struct routes *routes = context;
	const struct nlattr *part[LINK_ATTRIBUTES + 1], *info[8 + 1];
	char name[64], kind[64];
	if (message->nlmsg_type != RTM_NEWLINK || mnl_nlmsg_get_payload_len(message) < sizeof(struct ifinfomsg))
		return;
	const struct ifinfomsg *link = mnl_nlmsg_get_payload(message);
	if (!netlink_attributes(mnl_nlmsg_get_payload_offset(message, sizeof *link),
		    mnl_nlmsg_get_payload_len(message) - NETLINK_ALIGN(sizeof *link), part, LINK_ATTRIBUTES))
		return;
	netlink_text(part[IFLA_IFNAME], name, sizeof name);
	size_t i = 0;
	while (i < routes->reading->nic_count && i < HOST_NICS_MAX && strcmp(routes->reading->nics[i].name, name) != 0)
		i++;
	if (i == routes->reading->nic_count || i == HOST_NICS_MAX)
		return;
	const char *id = routes->reading->nics[i].id;
	routes->device[i].index = link->ifi_index;
	routes->device[i].loopback = link->ifi_flags & IFF_LOOPBACK;
	netlink_text(part[IFLA_QDISC], routes->device[i].qdisc, sizeof routes->device[i].qdisc);
	if (part[IFLA_STATS64])
		add_statistics(routes->reading, id, part[IFLA_STATS64]);
	if (part[IFLA_PERM_ADDRESS])
		add_address(routes->reading, id, part[IFLA_PERM_ADDRESS]);
	if (part[IFLA_XDP])
		add_xdp(routes->reading, id, part[IFLA_XDP]);
	kind[0] = '\0';
	if (part[IFLA_LINKINFO] && netlink_attributes(mnl_attr_get_payload(part[IFLA_LINKINFO]),
					   mnl_attr_get_payload_len(part[IFLA_LINKINFO]), info, 8))
		netlink_text(info[IFLA_INFO_KIND], kind, sizeof kind);
	reading_add_text(routes->reading, "nic[].kind", id, HOST_VIA_NETLINK, kind[0] ? kind : "none");
}

static void take_qdisc(const struct nlmsghdr *message, void *context)
{
	struct routes *routes = context;
	const struct nlattr *part[16 + 1], *stats[8 + 1];
	char kind[32];
	if (message->nlmsg_type != RTM_NEWQDISC || mnl_nlmsg_get_payload_len(message) < sizeof(struct tcmsg))
		return;
	const struct tcmsg *about = mnl_nlmsg_get_payload(message);
	struct device *device = NULL;
	for (size_t i = 0; i < routes->reading->nic_count && i < HOST_NICS_MAX; i++)
		if (routes->device[i].index == about->tcm_ifindex)
			device = &routes->device[i];
	if (!device || !netlink_attributes(mnl_nlmsg_get_payload_offset(message, sizeof *about),
			       mnl_nlmsg_get_payload_len(message) - NETLINK_ALIGN(sizeof *about), part, 16))
		return;
	netlink_text(part[TCA_KIND], kind, sizeof kind);
	if (about->tcm_parent != TC_H_ROOT) {
		struct text kinds = {
			.bytes = device->kinds, .used = strlen(device->kinds), .room = sizeof device->kinds};
		device->children++;
		if (!strstr(device->kinds, kind))
			text_add(&kinds, "%s%s", kinds.used ? " " : "", kind);
		return;
	}
	struct gnet_stats_queue {
		uint32_t qlen, backlog, drops, requeues, overlimits;
	} queue = {0};
	if (part[TCA_STATS2] &&
		netlink_attributes(
			mnl_attr_get_payload(part[TCA_STATS2]), mnl_attr_get_payload_len(part[TCA_STATS2]), stats, 8) &&
		stats[3] && mnl_attr_get_payload_len(stats[3]) >= sizeof queue) {
		memcpy(&queue, mnl_attr_get_payload(stats[3]), sizeof queue); /* TCA_STATS_QUEUE */
		device->drops = queue.drops;
		device->overlimits = queue.overlimits;
		device->counted = true;
	}
}

static void add_qdiscs(struct routes *routes)
{
	for (size_t i = 0; i < routes->reading->nic_count && i < HOST_NICS_MAX; i++) {
		const struct device *device = &routes->device[i];
		const char *id = routes->reading->nics[i].id;
		char line[192];
		if (!device->qdisc[0])
			continue;
		if (device->children)
			snprintf(line, sizeof line, "%s (%s)", device->qdisc, device->kinds);
		else
			snprintf(line, sizeof line, "%s", device->qdisc);
		reading_add_text(routes->reading, "nic[].qdisc", id, HOST_VIA_NETLINK, line);
		if (device->counted) {
			add_count(routes->reading, "qdisc_drops", id, device->drops);
			add_count(routes->reading, "qdisc_overlimits", id, device->overlimits);
		}
	}
}

/* ---- the way to the peer ---- */

struct way {
	int family;
	uint32_t index;
	char device[IF_NAMESIZE], gateway[INET6_ADDRSTRLEN], source[INET6_ADDRSTRLEN];
	unsigned char hop[16];
	bool found;
	uint16_t state;
	bool known;
};

static size_t address_bytes(int family)
{
	return family == AF_INET6 ? 16 : 4;
}

static void address_text(int family, const struct nlattr *attribute, char *buffer)
{
	if (attribute && mnl_attr_get_payload_len(attribute) == address_bytes(family))
		inet_ntop(family, mnl_attr_get_payload(attribute), buffer, INET6_ADDRSTRLEN);
}

static void take_route(const struct nlmsghdr *message, void *context)
{
	struct way *way = context;
	const struct nlattr *part[32 + 1];
	uint64_t index = 0;
	if (message->nlmsg_type != RTM_NEWROUTE || mnl_nlmsg_get_payload_len(message) < sizeof(struct rtmsg) ||
		!netlink_attributes(mnl_nlmsg_get_payload_offset(message, sizeof(struct rtmsg)),
			mnl_nlmsg_get_payload_len(message) - NETLINK_ALIGN(sizeof(struct rtmsg)), part, 32))
		return;
	address_text(way->family, part[RTA_GATEWAY], way->gateway);
	address_text(way->family, part[RTA_PREFSRC], way->source);
	if (part[RTA_GATEWAY] && mnl_attr_get_payload_len(part[RTA_GATEWAY]) == address_bytes(way->family))
		memcpy(way->hop, mnl_attr_get_payload(part[RTA_GATEWAY]), address_bytes(way->family));
	if (!netlink_number(part[RTA_OIF], &index))
		return;
	way->index = (uint32_t)index;
	way->found = true;
}

static void take_neighbour(const struct nlmsghdr *message, void *context)
{
	struct way *way = context;
	const struct nlattr *part[16 + 1];
	if (message->nlmsg_type != RTM_NEWNEIGH || mnl_nlmsg_get_payload_len(message) < sizeof(struct ndmsg))
		return;
	const struct ndmsg *about = mnl_nlmsg_get_payload(message);
	if ((uint32_t)about->ndm_ifindex != way->index ||
		!netlink_attributes(mnl_nlmsg_get_payload_offset(message, sizeof *about),
			mnl_nlmsg_get_payload_len(message) - NETLINK_ALIGN(sizeof *about), part, 16) ||
		!part[NDA_DST] || mnl_attr_get_payload_len(part[NDA_DST]) != address_bytes(way->family) ||
		memcmp(mnl_attr_get_payload(part[NDA_DST]), way->hop, address_bytes(way->family)) != 0)
		return;
	way->state = about->ndm_state;
	way->known = true;
}

static const char *state_name(uint16_t state)
{
	static const char *const names[] = {
		"incomplete", "reachable", "stale", "delay", "probe", "failed", "noarp", "permanent"};
	for (size_t i = 0; i < 8; i++)
		if (state == 1U << i)
			return names[i];
	return "none";
}

static void read_way(struct reading *reading, struct netlink *netlink)
{
	struct way way = {.family = strchr(reading->question->peer, ':') ? AF_INET6 : AF_INET};
	void *extra;
	char line[256];
	struct text text = TEXT_IN(line);
	if (inet_pton(way.family, reading->question->peer, way.hop) != 1) {
		reading_fail_name(reading, "path.device", NULL, HOST_VIA_NETLINK, EINVAL);
		return;
	}
	struct nlmsghdr *request = netlink_request(netlink, RTM_GETROUTE, 0, sizeof(struct rtmsg), &extra);
	*(struct rtmsg *)extra = (struct rtmsg){
		.rtm_family = (unsigned char)way.family, .rtm_dst_len = (unsigned char)(address_bytes(way.family) * 8)};
	mnl_attr_put(request, RTA_DST, address_bytes(way.family), way.hop);
	int failure = netlink_ask(netlink, request, take_route, &way);
	if (failure || !way.found || !if_indextoname(way.index, way.device)) {
		reading_fail_name(reading, "path.device", NULL, HOST_VIA_NETLINK, failure ? failure : ENODEV);
		return;
	}
	text_add(&text, "%s", way.device);
	if (way.gateway[0])
		text_add(&text, " via %s", way.gateway);
	if (way.source[0])
		text_add(&text, " from %s", way.source);
	reading_add_text(reading, "path.device", NULL, HOST_VIA_NETLINK, line);
	request = netlink_request(netlink, RTM_GETNEIGH, NLM_F_DUMP, sizeof(struct ndmsg), &extra);
	*(struct ndmsg *)extra = (struct ndmsg){.ndm_family = (unsigned char)way.family};
	netlink_ask(netlink, request, take_neighbour, &way);
	reading_add_text(reading, "path.neighbour", NULL, HOST_VIA_NETLINK, way.known ? state_name(way.state) : "none");
}

void reading_routes(struct reading *reading)
{
	struct routes routes = {.reading = reading};
	struct netlink netlink = {.socket = NULL};
	void *extra;
	if (reading->tree.foreign)
		return;
	int failure = netlink_open(NETLINK_ROUTE, &netlink);
	if (failure) {
		reading_fail_name(reading, "path.device", NULL, HOST_VIA_NETLINK, failure);
		return;
	}
	struct nlmsghdr *request = netlink_request(&netlink, RTM_GETLINK, NLM_F_DUMP, sizeof(struct ifinfomsg), &extra);
	netlink_ask(&netlink, request, take_link, &routes);
	request = netlink_request(&netlink, RTM_GETQDISC, NLM_F_DUMP, sizeof(struct tcmsg), &extra);
	netlink_ask(&netlink, request, take_qdisc, &routes);
	add_qdiscs(&routes);
	if (reading->question->peer)
		read_way(reading, &netlink);
	netlink_close(&netlink);
}
