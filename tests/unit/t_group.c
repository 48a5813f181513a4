/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What stands behind a group's address, right and wrong; nothing is sent and no interface is needed. */
#include <stdlib.h>

#include "net/group.h"
#include "tap.h"

static int parse(const char *text, enum net_group_side side, struct net_group *ret_group, struct tare_err *err)
{
	struct net_url url;
	struct net_address address;
	if (net_url_parse(text, &url, err) < 0 || net_resolve(&url, AF_UNSPEC, &address, err) < 0)
		return -1;
	return net_group_read(&url, &address, side, NULL, ret_group, err);
}

static void right(void)
{
	struct net_group group = {0};
	struct tare_err err = {0};
	IS_I64(parse("udp://239.1.1.1:7000", NET_GROUP_SENDER, &group, &err), 0, "nothing said");
	OK(group.index == 0 && !group.device[0] && group.ttl == 1 && !group.has_ttl && !group.loop && !group.reply_to_group &&
			group.source.length == 0, "as routed, ttl 1, not looped, from everybody, answers to who asked");
	IS_I64(parse("udp://239.1.1.1:7000?source=10.0.0.2&ttl=32&loop=1&reply=multicast", NET_GROUP_RESPONDER, &group, &err), 0,
		"everything said");
	OK(group.ttl == 32 && group.has_ttl && group.loop && group.reply_to_group, "is taken");
	IS_STR(group.source.host, "10.0.0.2", "and the source");
	IS_I64(parse("udp://[ff15::1]:7000?source=fd00::2&ttl=0&reply=unicast", NET_GROUP_RESPONDER, &group, &err), 0, "IPv6");
	OK(group.ttl == 0 && group.has_ttl && !group.reply_to_group, "ttl 0 is one");
	IS_STR(group.source.host, "fd00::2", "its source");
}

static void wrong(void)
{
	static const struct { const char *url, *says; } cases[] = {
		{"udp://239.1.1.1:7000/path?ttl=1", "has no path"},
		{"udp://239.1.1.1:7000?dev=lo", "has no option 'dev'"},
		{"udp://239.1.1.1:7000?if=", "not the name of an interface"},
		{"udp://239.1.1.1:7000?if=a-name-that-is-far-too-long", "not the name of an interface"},
		{"udp://239.1.1.1:7000?if=nosuch0", "if=nosuch0: there is no interface of that name"},
		{"udp://239.1.1.1:7000?source=localhost", "is no numeric address"},
		{"udp://239.1.1.1:7000?source=fd00::2", "of another family"},
		{"udp://239.1.1.1:7000?source=239.1.1.2", "is a group itself"},
		{"udp://239.1.1.1:7000?ttl=256", "from 0 (this host) to 255"},
		{"udp://239.1.1.1:7000?ttl=", "from 0 (this host) to 255"},
		{"udp://239.1.1.1:7000?ttl=-1", "from 0 (this host) to 255"},
		{"udp://239.1.1.1:7000?loop=yes", "takes 1"},
		{"udp://239.1.1.1:7000?loop", "takes 1"},
		{"udp://239.1.1.1:7000?reply=both", "neither unicast nor multicast"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct net_group group = {.ttl = 77};
		struct tare_err err = {0};
		IS_I64(parse(cases[i].url, NET_GROUP_RESPONDER, &group, &err), -1, cases[i].url);
		OK(strstr(err.text, cases[i].says) != NULL, "says: %s", err.text);
		IS_I64(group.ttl, 77, "and leaves the group as it was");
	}
	struct net_group group;
	struct tare_err err = {0};
	IS_I64(parse("udp://239.1.1.1:7000?reply=multicast", NET_GROUP_SENDER, &group, &err), -1, "reply= of a sender");
	OK(strstr(err.text, "is for 'tare echo'") != NULL, "says: %s", err.text);
}

static void groups(void)
{
	static const struct { const char *url; bool group; } cases[] = {
		{"udp://223.255.255.255:1", false}, {"udp://224.0.0.1:1", true}, {"udp://239.255.255.255:1", true},
		{"udp://240.0.0.1:1", false}, {"udp://[ff02::1]:1", true}, {"udp://[fe80::1]:1", false},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct net_url url;
		struct net_address address;
		OK(net_url_parse(cases[i].url, &url, NULL) == 0 && net_resolve(&url, AF_UNSPEC, &address, NULL) == 0 &&
				net_is_group(&address) == cases[i].group, "%s", cases[i].url);
	}
}

int main(void)
{
	right();
	wrong();
	groups();
	return tap_done();
}
