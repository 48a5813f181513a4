/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Notices of the kernel, LLDP frames and a switch's JSON, from bytes made here. */
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdlib.h>
#include <sys/socket.h>

#include <libmnl/libmnl.h>

#include "host/exchange.h"
#include "host/watch.h"
#include "tap.h"

static char buffer[4096];

static struct nlmsghdr *link_message(uint16_t type, int index, unsigned flags, const char *name, uint32_t mtu)
{
	struct nlmsghdr *message = mnl_nlmsg_put_header(buffer);
	message->nlmsg_type = type;
	struct ifinfomsg *about = mnl_nlmsg_put_extra_header(message, sizeof *about);
	*about = (struct ifinfomsg){.ifi_index = index, .ifi_flags = flags};
	mnl_attr_put_strz(message, IFLA_IFNAME, name);
	mnl_attr_put_u32(message, IFLA_MTU, mtu);
	return message;
}

static const char *told(struct host_watch *watch, bool generic, const struct nlmsghdr *message)
{
	static struct host_event event;
	return host_watch_message(watch, generic, message, message->nlmsg_len, &event) ? event.text : "nothing";
}

static void links(struct host_watch *watch)
{
	unsigned up = IFF_UP | IFF_RUNNING;
	IS_STR(told(watch, false, link_message(RTM_NEWLINK, 99000, up, "eth9", 1500)), "eth9: device added",
		"a new device");
	IS_STR(told(watch, false, link_message(RTM_NEWLINK, 99000, up, "eth9", 1500)), "nothing",
		"the same again is no event");
	IS_STR(told(watch, false, link_message(RTM_NEWLINK, 99000, IFF_UP, "eth9", 1500)), "eth9: link down",
		"carrier lost");
	IS_STR(told(watch, false, link_message(RTM_NEWLINK, 99000, up, "eth9", 1500)), "eth9: link up", "and found");
	IS_STR(told(watch, false, link_message(RTM_NEWLINK, 99000, up, "eth9", 9000)), "eth9: mtu 1500 -> 9000", "mtu");
	IS_STR(told(watch, false, link_message(RTM_NEWLINK, 99000, up, "lan0", 9000)), "eth9: renamed to lan0",
		"renamed");
	IS_STR(told(watch, false, link_message(RTM_NEWLINK, 99000, up | IFF_PROMISC, "lan0", 9000)),
		"lan0: link up, promiscuous", "a capture began");
	IS_STR(told(watch, false, link_message(RTM_DELLINK, 99000, 0, "lan0", 9000)), "lan0: device removed",
		"removed");
}

static struct nlmsghdr *neighbour_message(uint16_t type, uint16_t state)
{
	static const unsigned char address[] = {10, 99, 0, 2};
	struct nlmsghdr *message = mnl_nlmsg_put_header(buffer);
	message->nlmsg_type = type;
	struct ndmsg *about = mnl_nlmsg_put_extra_header(message, sizeof *about);
	*about = (struct ndmsg){.ndm_family = AF_INET, .ndm_ifindex = 99001, .ndm_state = state};
	mnl_attr_put(message, NDA_DST, sizeof address, address);
	return message;
}

static void others(struct host_watch *watch)
{
	IS_STR(told(watch, false, neighbour_message(RTM_NEWNEIGH, NUD_STALE)), "neighbour 10.99.0.2 on ?: stale",
		"a neighbour");
	IS_STR(told(watch, false, neighbour_message(RTM_NEWNEIGH, NUD_STALE)), "nothing", "in the same state");
	IS_STR(told(watch, false, neighbour_message(RTM_NEWNEIGH, NUD_FAILED)), "neighbour 10.99.0.2 on ?: failed",
		"gone");
	IS_STR(told(watch, false, neighbour_message(RTM_DELNEIGH, 0)), "neighbour 10.99.0.2 on ?: removed",
		"forgotten");
	struct nlmsghdr *message = mnl_nlmsg_put_header(buffer);
	message->nlmsg_type = 30;
	struct genlmsghdr *about = mnl_nlmsg_put_extra_header(message, sizeof *about);
	*about = (struct genlmsghdr){.cmd = ETHTOOL_MSG_COALESCE_NTF};
	struct nlattr *nest = mnl_attr_nest_start(message, 1);
	mnl_attr_put_strz(message, 2, "eth9");
	mnl_attr_nest_end(message, nest);
	IS_STR(told(watch, true, message), "eth9: ethtool set coalescing", "a driver's setting");
	message->nlmsg_len = sizeof(struct nlmsghdr) + 2;
	IS_STR(told(watch, true, message), "nothing", "what is cut short tells nothing");
}

static const unsigned char lldp[] = {0x01, 0x80, 0xc2, 0, 0, 0x0e, 2, 0, 0, 0, 0, 1, 0x88, 0xcc, 2, 7, 4, 0, 0x1c, 0x73,
	0, 0, 1,                                               /* chassis: an address */
	4, 10, 5, 'E', 't', 'h', 'e', 'r', 'n', 'e', 't', '7', /* port: a name */
	8, 2, 'm', 'd',                                        /* its description */
	10, 3, 's', 'w', '1',                                  /* system */
	254, 6, 0x00, 0x80, 0xc2, 1, 0, 100,                   /* port VLAN */
	254, 6, 0x00, 0x12, 0x0f, 4, 0x24, 0x00,               /* largest frame */
	0, 0};

static void frames(void)
{
	struct host_neighbour neighbour;
	OK(host_lldp_parse(lldp, sizeof lldp, &neighbour), "an LLDP frame");
	IS_STR(neighbour.system, "sw1", "system");
	IS_STR(neighbour.port, "Ethernet7", "port");
	IS_STR(neighbour.chassis, "00:1c:73:00:00:01", "chassis");
	IS_STR(neighbour.description, "md", "description");
	IS_I64(neighbour.vlan, 100, "VLAN");
	IS_I64(neighbour.frame_bytes, 9216, "largest frame");
	for (size_t cut = 0; cut < sizeof lldp; cut++) {
		unsigned char *copy = malloc(cut ? cut : 1); /* exact, so that a sanitizer sees a step too far */
		if (!copy)
			abort();
		memcpy(copy, lldp, cut);
		host_lldp_parse(copy, cut, &neighbour);
		free(copy);
	}
	OK(!host_lldp_parse(lldp, 16, &neighbour), "without a port it is none");
	unsigned char other[sizeof lldp];
	memcpy(other, lldp, sizeof lldp);
	other[12] = 0x08;
	OK(!host_lldp_parse(other, sizeof other, &neighbour), "nor is another protocol");
}

static void switches(void)
{
	static const char text[] =
		"{\"interfaces\": {\"Ethernet1\": {\"interfaceStatus\": \"connected\", \"bandwidth\": 10000000000}}}"
		"{\"interfaceErrorCounters\": {\"Ethernet1\": {\"fcsErrors\": 7}}}";
	static const struct {
		const char *text, *says;
	} bad[] = {{"", "empty"}, {"{", "is no JSON"}, {"[]", "is not the JSON of"},
		{"{\"a\": 1}", "is not the JSON of"}, {"{\"lldpNeighbors\": []} x", "is no JSON"}};
	struct host_snapshot *snapshot = NULL;
	struct tare_err err;
	OK(host_snapshot_open(&snapshot, &err) == 0 &&
			host_switch_parse(text, sizeof text - 1, "s", snapshot, &err) == 0 &&
			host_snapshot_finish(snapshot, &err) == 0,
		"two outputs in one file");
	IS_STR(host_value(snapshot, "port[Ethernet1].speed_bps"), "10000000000", "speed");
	IS_STR(host_value(snapshot, "port[Ethernet1].error.fcsErrors"), "7", "errors");
	const struct host_fact *fact = host_find(snapshot, "port[Ethernet1].error.fcsErrors");
	OK(fact && fact->kind == HOST_COUNTER && fact->row && fact->row->flags & HOST_ERRORS,
		"which are counters of errors");
	host_snapshot_free(snapshot);
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		snapshot = NULL;
		OK(host_snapshot_open(&snapshot, &err) == 0 &&
				host_switch_parse(bad[i].text, strlen(bad[i].text), "s", snapshot, &err) < 0 &&
				strstr(err.text, bad[i].says),
			"refused: %s", err.text);
		host_snapshot_free(snapshot);
	}
}

int main(void)
{
	struct host_watch *watch = NULL;
	struct tare_err err;
	int fds[4];
	OK(host_watch_open(&watch, &err) == 0, "a watch, whatever it may watch (not: %s)",
		watch && host_watch_missing(watch)[0] ? host_watch_missing(watch) : "nothing");
	OK(host_watch_fds(watch, fds, 4) <= 2, "at most two descriptors to wait for");
	links(watch);
	others(watch);
	host_watch_close(watch);
	frames();
	switches();
	return tap_done();
}
