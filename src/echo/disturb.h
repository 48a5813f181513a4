/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Faults into replies, on purpose (cause/inject.h). One per serving thread. Private to this folder. */
#pragma once
#include <netinet/in.h>

#include "cause/inject.h"
#include "echo/listener.h"
#include "wire/stamp.h"

enum { DISTURB_CONTROL_BYTES = CMSG_SPACE(sizeof(struct in6_pktinfo)) + CMSG_SPACE(sizeof(int)) };

struct disturb {
	const struct inject_plan *plan;
	uint64_t draws;
	/* a reply kept back until the next one has left (reorder) */
	bool kept;
	uint8_t *packet; /* SERVE_ROOM octets */
	struct stamp_made made;
	struct sockaddr_storage to;
	struct iovec part;
	struct msghdr message;
	_Alignas(struct cmsghdr) uint8_t control[DISTURB_CONTROL_BYTES];
};

/* What befalls this reply; says so in its TLV, and holds the thread as long as that takes. */
void disturb_reply(struct disturb *disturb, uint8_t *packet, const struct stamp_made *made, struct inject_due *ret_due);
/* Keeps the reply back; false when there is one already, which then leaves first. */
bool disturb_keep(struct disturb *disturb, const struct msghdr *message, const struct stamp_made *made);
