/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Netlink through libmnl, with a time limit: a driver that hangs must not hang the inspection. */
#include "host/netlink.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#define PATIENCE_S 2

int netlink_open(int bus, struct netlink *ret_netlink)
{
	struct netlink netlink = {.buffer = malloc(NETLINK_BYTES)};
	struct timeval patience = {.tv_sec = PATIENCE_S};
	if (!netlink.buffer)
		return ENOMEM;
	netlink.socket = mnl_socket_open2(bus, SOCK_CLOEXEC);
	if (!netlink.socket || mnl_socket_bind(netlink.socket, 0, MNL_SOCKET_AUTOPID) < 0 ||
		setsockopt(mnl_socket_get_fd(netlink.socket), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) <
			0) {
		int failure = errno;
		netlink_close(&netlink);
		return failure;
	}
	netlink.portid = mnl_socket_get_portid(netlink.socket);
	*ret_netlink = netlink;
	return 0;
}

void netlink_close(struct netlink *netlink)
{
	if (netlink->socket)
		mnl_socket_close(netlink->socket);
	free(netlink->buffer);
	*netlink = (struct netlink){.socket = NULL};
}

struct nlmsghdr *netlink_request(struct netlink *netlink, uint16_t type, uint16_t flags, size_t extra, void **ret_extra)
{
	struct nlmsghdr *request = mnl_nlmsg_put_header(netlink->buffer);
	request->nlmsg_type = type;
	request->nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags);
	request->nlmsg_seq = ++netlink->sequence;
	*ret_extra = mnl_nlmsg_put_extra_header(request, extra);
	return request;
}

struct walk {
	netlink_each *each;
	void *context;
};

static int walk_one(const struct nlmsghdr *message, void *untyped)
{
	const struct walk *walk = untyped;
	walk->each(message, walk->context);
	return MNL_CB_OK;
}

int netlink_ask(struct netlink *netlink, const struct nlmsghdr *request, netlink_each *each, void *context)
{
	struct walk walk = {each, context};
	/* a single answer ends the conversation unless an acknowledgement or more of a dump follows */
	bool many = request->nlmsg_flags & (NLM_F_DUMP | NLM_F_ACK);
	unsigned sequence = netlink->sequence;
	if (mnl_socket_sendto(netlink->socket, request, request->nlmsg_len) < 0)
		return errno;
	for (;;) {
		ssize_t got = mnl_socket_recvfrom(netlink->socket, netlink->buffer, NETLINK_BYTES);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return errno;
		int status = mnl_cb_run(netlink->buffer, (size_t)got, sequence, netlink->portid, walk_one, &walk);
		if (status < 0)
			return errno;
		if (status == MNL_CB_STOP || !many)
			return 0;
	}
}

void netlink_replay(const void *bytes, size_t count, netlink_each *each, void *context)
{
	const unsigned char *at = bytes;
	while (count >= sizeof(struct nlmsghdr)) {
		/* the bytes may lie anywhere: a message is copied to where its fields are aligned */
		uint32_t length;
		memcpy(&length, at, sizeof length);
		if (length < sizeof(struct nlmsghdr) || length > count)
			return;
		struct nlmsghdr *message = malloc(length);
		if (!message)
			return;
		memcpy(message, at, length);
		if (message->nlmsg_type >= NLMSG_MIN_TYPE)
			each(message, context);
		free(message);
		size_t step = NETLINK_ALIGN(length);
		if (step >= count)
			return;
		at += step;
		count -= step;
	}
}

bool netlink_attributes(const void *from, size_t bytes, const struct nlattr **ret_attributes, unsigned most)
{
	const char *at = from;
	memset(ret_attributes, 0, (most + 1) * sizeof *ret_attributes);
	while (bytes >= sizeof(struct nlattr)) {
		const struct nlattr *attribute = (const struct nlattr *)(const void *)at;
		if (!mnl_attr_ok(attribute, (int)bytes))
			return false;
		unsigned type = mnl_attr_get_type(attribute);
		if (type <= most)
			ret_attributes[type] = attribute;
		size_t step = NETLINK_ALIGN(attribute->nla_len);
		if (step >= bytes)
			break;
		at += step;
		bytes -= step;
	}
	return true;
}

const struct nlattr *netlink_next(const struct nlattr *nest, const struct nlattr *previous)
{
	const char *from = mnl_attr_get_payload(nest), *end = from + mnl_attr_get_payload_len(nest);
	const char *at = previous ? (const char *)previous + NETLINK_ALIGN(previous->nla_len) : from;
	if (at > end || (size_t)(end - at) < sizeof(struct nlattr))
		return NULL;
	const struct nlattr *next = (const struct nlattr *)(const void *)at;
	return mnl_attr_ok(next, (int)(end - at)) ? next : NULL;
}

bool netlink_number(const struct nlattr *attribute, uint64_t *ret_number)
{
	if (!attribute)
		return false;
	const void *payload = mnl_attr_get_payload(attribute);
	uint64_t number = 0;
	switch (mnl_attr_get_payload_len(attribute)) {
	case 1:
		number = *(const uint8_t *)payload;
		break;
	case 2: {
		uint16_t part;
		memcpy(&part, payload, sizeof part);
		number = part;
		break;
	}
	case 4: {
		uint32_t part;
		memcpy(&part, payload, sizeof part);
		number = part;
		break;
	}
	case 8:
		memcpy(&number, payload, sizeof number);
		break;
	default:
		return false;
	}
	*ret_number = number;
	return true;
}

void netlink_text(const struct nlattr *attribute, char *buffer, size_t room)
{
	size_t length = attribute ? mnl_attr_get_payload_len(attribute) : 0;
	const char *text = attribute ? mnl_attr_get_payload(attribute) : "";
	length = strnlen(text, length);
	if (length >= room)
		length = room - 1;
	memcpy(buffer, text, length);
	buffer[length] = '\0';
}

struct family {
	const char *group;
	uint16_t family;
	uint32_t group_id;
};

static void find_group(const struct nlattr *groups, struct family *family)
{
	for (const struct nlattr *one = NULL; (one = netlink_next(groups, one)) != NULL;) {
		const struct nlattr *part[CTRL_ATTR_MCAST_GRP_MAX + 1];
		char name[GENL_NAMSIZ];
		uint64_t number;
		if (!netlink_attributes(
			    mnl_attr_get_payload(one), mnl_attr_get_payload_len(one), part, CTRL_ATTR_MCAST_GRP_MAX))
			return;
		netlink_text(part[CTRL_ATTR_MCAST_GRP_NAME], name, sizeof name);
		if (strcmp(name, family->group) == 0 && netlink_number(part[CTRL_ATTR_MCAST_GRP_ID], &number))
			family->group_id = (uint32_t)number;
	}
}

static void take_family(const struct nlmsghdr *message, void *context)
{
	struct family *family = context;
	const struct nlattr *part[CTRL_ATTR_MAX + 1];
	uint64_t number;
	if (mnl_nlmsg_get_payload_len(message) < sizeof(struct genlmsghdr) ||
		!netlink_attributes(mnl_nlmsg_get_payload_offset(message, sizeof(struct genlmsghdr)),
			mnl_nlmsg_get_payload_len(message) - sizeof(struct genlmsghdr), part, CTRL_ATTR_MAX))
		return;
	if (netlink_number(part[CTRL_ATTR_FAMILY_ID], &number))
		family->family = (uint16_t)number;
	if (family->group && part[CTRL_ATTR_MCAST_GROUPS])
		find_group(part[CTRL_ATTR_MCAST_GROUPS], family);
}

int netlink_family(
	struct netlink *netlink, const char *name, const char *group, uint16_t *ret_family, uint32_t *ret_group)
{
	struct family family = {.group = group};
	void *extra;
	struct nlmsghdr *request = netlink_request(netlink, GENL_ID_CTRL, 0, sizeof(struct genlmsghdr), &extra);
	*(struct genlmsghdr *)extra = (struct genlmsghdr){.cmd = CTRL_CMD_GETFAMILY, .version = 1};
	mnl_attr_put_strz(request, CTRL_ATTR_FAMILY_NAME, name);
	int failure = netlink_ask(netlink, request, take_family, &family);
	if (failure)
		return failure;
	if (!family.family || (group && !family.group_id))
		return ENOENT;
	*ret_family = family.family;
	if (group)
		*ret_group = family.group_id;
	return 0;
}
