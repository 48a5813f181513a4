/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What becomes of a reply when faults are injected. Requests are told by the
 * sender's own sequence number, so that "every 1000" hits #1000, #2000, ... of each
 * round, whoever else asks meanwhile.
 */
#include "echo/disturb.h"

#include <string.h>

void disturb_reply(struct disturb *disturb, uint8_t *packet, const struct stamp_made *made, struct inject_due *ret_due)
{
	bool here = inject_at(disturb->plan, made->sender_sequence, disturb->draws++, ret_due);
	stamp_reflect_injecting(packet, made, here);
	if (here)
		inject_hold(ret_due);
}

bool disturb_keep(struct disturb *disturb, const struct msghdr *message, const struct stamp_made *made)
{
	if (disturb->kept || message->msg_controllen > sizeof disturb->control)
		return false;
	disturb->made = *made;
	memcpy(disturb->packet, message->msg_iov->iov_base, made->bytes);
	memcpy(&disturb->to, message->msg_name, message->msg_namelen);
	if (message->msg_controllen)
		memcpy(disturb->control, message->msg_control, message->msg_controllen);
	disturb->part = (struct iovec){disturb->packet, made->bytes};
	disturb->message = (struct msghdr){
		.msg_name = &disturb->to,
		.msg_namelen = message->msg_namelen,
		.msg_iov = &disturb->part,
		.msg_iovlen = 1,
		.msg_control = message->msg_controllen ? disturb->control : NULL,
		.msg_controllen = message->msg_controllen,
	};
	disturb->kept = true;
	return true;
}
