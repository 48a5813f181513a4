/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What decides about a packet before a socket sees it: the NIC's own rules that
 * steer flows to queues, and nftables' (iptables-nft writes those, too). A set of
 * rules is told as its size and a hash. What the kernel counts within rules
 * (counter, quota, last) is left out, or each packet would be a change; so are
 * the elements of named sets, which programs change all day.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/ethtool.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "host/filters.h"
#include "host/reading.h"

enum { STEERING_RULES_MAX = 16384 };

static uint64_t mix(uint64_t hash, const void *from, size_t bytes)
{
	const unsigned char *at = from;
	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ at[i]) * UINT64_C(1099511628211);
	return hash;
}

/* ---- the NIC's steering rules ---- */

static int ask(int fd, const char *name, void *data)
{
	struct ifreq request = {.ifr_data = data};
	snprintf(request.ifr_name, sizeof request.ifr_name, "%s", name);
	return ioctl(fd, SIOCETHTOOL, &request) < 0 ? errno : 0;
}

void reading_steering(struct reading *reading, int fd, const struct reading_nic *nic)
{
	struct ethtool_rxnfc count = {.cmd = ETHTOOL_GRXCLSRLCNT};
	int failure = ask(fd, nic->name, &count);
	if (!failure && count.rule_cnt > STEERING_RULES_MAX)
		failure = E2BIG;
	if (failure) {
		reading_fail_name(reading, "nic[].steering", nic->id, HOST_VIA_IOCTL, failure);
		return;
	}
	AUTO_FREE struct ethtool_rxnfc *list = calloc(1, sizeof *list + (size_t)count.rule_cnt * sizeof(uint32_t));
	if (!list)
		return;
	*list = (struct ethtool_rxnfc){.cmd = ETHTOOL_GRXCLSRLALL, .rule_cnt = count.rule_cnt};
	if (count.rule_cnt && (failure = ask(fd, nic->name, list)) != 0) {
		reading_fail_name(reading, "nic[].steering", nic->id, HOST_VIA_IOCTL, failure);
		return;
	}
	uint64_t hash = FILTERS_HASH_START;
	uint32_t rules = list->rule_cnt < count.rule_cnt ? list->rule_cnt : count.rule_cnt;
	for (uint32_t i = 0; i < rules; i++) {
		struct ethtool_rxnfc rule = {.cmd = ETHTOOL_GRXCLSRULE, .fs.location = list->rule_locs[i]};
		if (ask(fd, nic->name, &rule) == 0)
			hash = mix(hash, &rule.fs, sizeof rule.fs);
	}
	char line[64];
	filters_text(rules, "rule", hash, line, sizeof line);
	reading_add_text(reading, "nic[].steering", nic->id, HOST_VIA_IOCTL, line);
}

/* ---- nftables ---- */

static bool keeps_count(const char *expression)
{
	static const char *const names[] = {"counter", "quota", "last"};
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strcmp(expression, names[i]) == 0)
			return true;
	return false;
}

static void mix_attribute(struct filters *filters, const struct nlattr *attribute)
{
	if (attribute)
		filters->hash =
			mix(filters->hash, mnl_attr_get_payload(attribute), mnl_attr_get_payload_len(attribute));
}

static bool message_parts(const struct nlmsghdr *message, uint16_t type, const struct nlattr **parts, unsigned most,
	unsigned char *ret_family)
{
	if (message->nlmsg_type != (NFNL_SUBSYS_NFTABLES << 8 | type) ||
		mnl_nlmsg_get_payload_len(message) < sizeof(struct nfgenmsg))
		return false;
	*ret_family = ((const struct nfgenmsg *)mnl_nlmsg_get_payload(message))->nfgen_family;
	return netlink_attributes(mnl_nlmsg_get_payload_offset(message, sizeof(struct nfgenmsg)),
		mnl_nlmsg_get_payload_len(message) - NETLINK_ALIGN(sizeof(struct nfgenmsg)), parts, most);
}

void filters_take_chain(const struct nlmsghdr *message, void *context)
{
	struct filters *filters = context;
	const struct nlattr *part[NFTA_CHAIN_TYPE + 1];
	unsigned char family;
	if (!message_parts(message, NFT_MSG_NEWCHAIN, part, NFTA_CHAIN_TYPE, &family))
		return;
	filters->chains++;
	filters->hash = mix(filters->hash, &family, 1);
	mix_attribute(filters, part[NFTA_CHAIN_TABLE]);
	mix_attribute(filters, part[NFTA_CHAIN_NAME]);
	mix_attribute(filters, part[NFTA_CHAIN_POLICY]);
	mix_attribute(filters, part[NFTA_CHAIN_HOOK]);
	filters->hooks += part[NFTA_CHAIN_HOOK] != NULL;
}

void filters_take_rule(const struct nlmsghdr *message, void *context)
{
	struct filters *filters = context;
	const struct nlattr *part[NFTA_RULE_EXPRESSIONS + 1], *field[NFTA_EXPR_DATA + 1];
	unsigned char family;
	if (!message_parts(message, NFT_MSG_NEWRULE, part, NFTA_RULE_EXPRESSIONS, &family))
		return;
	filters->rules++;
	filters->hash = mix(filters->hash, &family, 1);
	mix_attribute(filters, part[NFTA_RULE_TABLE]);
	mix_attribute(filters, part[NFTA_RULE_CHAIN]);
	if (!part[NFTA_RULE_EXPRESSIONS])
		return;
	for (const struct nlattr *one = NULL; (one = netlink_next(part[NFTA_RULE_EXPRESSIONS], one)) != NULL;) {
		char name[32];
		if (!netlink_attributes(
			    mnl_attr_get_payload(one), mnl_attr_get_payload_len(one), field, NFTA_EXPR_DATA))
			continue;
		netlink_text(field[NFTA_EXPR_NAME], name, sizeof name);
		mix_attribute(filters, field[NFTA_EXPR_NAME]);
		if (!keeps_count(name))
			mix_attribute(filters, field[NFTA_EXPR_DATA]);
	}
}

void filters_text(uint64_t count, const char *what, uint64_t hash, char *buffer, size_t room)
{
	if (count == 0)
		snprintf(buffer, room, "none");
	else
		snprintf(buffer, room, "%" PRIu64 " %s%s, %016" PRIx64, count, what, count == 1 ? "" : "s", hash);
}

static int dump(struct netlink *netlink, uint16_t type, netlink_each *each, struct filters *filters)
{
	void *extra;
	struct nlmsghdr *request = netlink_request(
		netlink, (uint16_t)(NFNL_SUBSYS_NFTABLES << 8 | type), NLM_F_DUMP, sizeof(struct nfgenmsg), &extra);
	*(struct nfgenmsg *)extra = (struct nfgenmsg){.nfgen_family = NFPROTO_UNSPEC, .version = NFNETLINK_V0};
	return netlink_ask(netlink, request, each, filters);
}

void reading_filters(struct reading *reading)
{
	struct netlink netlink = {.socket = NULL};
	struct filters filters = {.hash = FILTERS_HASH_START};
	char line[96], rules[64];
	if (reading->tree.foreign)
		return;
	int failure = netlink_open(NETLINK_NETFILTER, &netlink);
	if (!failure)
		failure = dump(&netlink, NFT_MSG_GETCHAIN, filters_take_chain, &filters);
	if (!failure)
		failure = dump(&netlink, NFT_MSG_GETRULE, filters_take_rule, &filters);
	netlink_close(&netlink);
	if (failure) {
		/* a kernel without nftables knows no such message */
		reading_fail_name(reading, "netfilter.nftables", NULL, HOST_VIA_NETLINK,
			failure == EINVAL ? EOPNOTSUPP : failure);
		return;
	}
	filters_text(filters.rules, "rule", filters.hash, rules, sizeof rules);
	if (filters.rules)
		snprintf(line, sizeof line, "%s, %u of %u chains hooked", rules, filters.hooks, filters.chains);
	else
		snprintf(line, sizeof line, "none");
	reading_add_text(reading, "netfilter.nftables", NULL, HOST_VIA_NETLINK, line);
}
