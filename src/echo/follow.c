/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Transmit stamps are numbered by the kernel from 0 since they were switched on; the ring is indexed by that number. */
#include "echo/follow.h"

#include <string.h>

#include "net/stamps.h"
#include "wire/stamp.h"

static unsigned stamps_of(const struct follow *follow)
{
	return NET_STAMP_TX | (follow->kernel_rx ? NET_STAMP_RX : 0u);
}

void follow_begin(struct follow *follow, int fd)
{
	unsigned got = 0;
	if (follow->on || follow->refused)
		return;
	follow->on = net_stamps_on(fd, stamps_of(follow), &got, NULL) == 0 && got & NET_STAMP_TX;
	follow->refused = !follow->on;
	follow->next = 0;
}

/* One that gave way to another since must not be told of this one's reply. */
static void enter(struct follow *follow, const struct net_notice *notice)
{
	struct follow_sent *sent = &follow->sent[notice->key % FOLLOW_ROOM];
	if (follow->next - notice->key - 1 >= FOLLOW_ROOM || !sent->flow || !notice->kernel_tx.ns ||
		memcmp(&sent->flow->key, &sent->key, sizeof sent->key) != 0)
		return;
	sent->flow->left = (struct stamp_follow_up){
		.sequence = sent->sequence, .t3 = stamp_ntp_of_real(notice->kernel_tx.ns), .method = STAMP_METHOD_SOFTWARE};
	sent->flow = NULL;
}

void follow_drain(struct follow *follow, int fd)
{
	struct net_notice notice;
	uint8_t payload[64];
	for (int i = 0; i < FOLLOW_ROOM && net_next_notice(fd, payload, sizeof payload, &notice) == 1; i++)
		if (notice.is_stamp) {
			follow->awaited -= follow->awaited > 0;
			enter(follow, &notice);
		}
}

void follow_sent(struct follow *follow, int fd, bool left, struct flow *flow, uint32_t sequence)
{
	if (!follow->on)
		return;
	if (!left) {
		/* older kernels count refused sends, newer ones do not: begin again rather than guess */
		follow_drain(follow, fd);
		memset(follow->sent, 0, sizeof follow->sent);
		follow->on = net_stamps_restart(fd, stamps_of(follow)) == 0;
		follow->next = follow->awaited = 0;
		return;
	}
	struct follow_sent *sent = &follow->sent[follow->next++ % FOLLOW_ROOM];
	*sent = (struct follow_sent){.flow = flow, .sequence = sequence};
	if (flow)
		sent->key = flow->key;
	follow->awaited++;
	follow_drain(follow, fd);
}
