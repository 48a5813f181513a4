/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Asking the kernel by netlink, or replaying what another kernel once answered. Private to this folder. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libmnl/libmnl.h>

/* libmnl's own macro mixes signs. */
#define NETLINK_ALIGN(bytes) (((size_t)(bytes) + 3) & ~(size_t)3)

struct netlink {
	struct mnl_socket *socket;
	unsigned portid, sequence;
	char *buffer; /* NETLINK_BYTES */
};
enum { NETLINK_BYTES = 65536 };

/* 0 or an errno. */
int netlink_open(int bus, struct netlink *ret_netlink);
void netlink_close(struct netlink *netlink); /* zeroed is fine */

/* Begins a request in netlink->buffer; `extra` bytes of family header follow, zeroed. */
struct nlmsghdr *netlink_request(
	struct netlink *netlink, uint16_t type, uint16_t flags, size_t extra, void **ret_extra);
typedef void netlink_each(const struct nlmsghdr *message, void *context);
/* Sends what netlink_request began and calls `each` for every message of the answer. 0 or an errno. */
int netlink_ask(struct netlink *netlink, const struct nlmsghdr *request, netlink_each *each, void *context);
/* Messages one after the other, as they were received; stops at the first that is not whole. */
void netlink_replay(const void *bytes, size_t count, netlink_each *each, void *context);

/* The number of a generic netlink family and, if asked for, of one of its multicast groups. 0 or an errno. */
int netlink_family(
	struct netlink *netlink, const char *name, const char *group, uint16_t *ret_family, uint32_t *ret_group);

/* Attributes of a message or a nest by number; those above `most` are passed over. False when malformed. */
bool netlink_attributes(const void *from, size_t bytes, const struct nlattr **ret_attributes, unsigned most);
/* Walks what lies in a nest; start with NULL. NULL at the end and at what is malformed. */
const struct nlattr *netlink_next(const struct nlattr *nest, const struct nlattr *previous);
/* The value of 1, 2, 4 or 8 bytes; false for any other length. */
bool netlink_number(const struct nlattr *attribute, uint64_t *ret_number);
/* Terminated text of at most `room` - 1 bytes; "" for what is none. */
void netlink_text(const struct nlattr *attribute, char *buffer, size_t room);
