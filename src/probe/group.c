/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Requests to a multicast group. Sending is that of all datagrams, but with an address, since a connected
 * socket would hear nobody: answers come from the responders' own addresses, or from the group's port as
 * multicast. Receiving always asks who answered, which costs some 100 ns that kind udp does not pay.
 */
#include "probe/group.h"

#include <errno.h>
#include <stdlib.h>

#include "base/text.h"
#include "clock/cpu.h"
#include "net/group.h"
#include "probe/responders.h"

struct group {
	struct net_group wish;
	struct net_address address;
	struct responders responders;
};

static struct group *group_of(struct probe_target *target)
{
	return datagram_of(target)->own;
}

static bool was_sent(const struct probe_target *target, uint64_t number)
{
	return number < target->next && target->samples[number].user_tx_ns;
}

static void take(struct probe_target *target, const struct sockaddr_storage *from, size_t bytes, struct probe_reply *reply)
{
	struct datagram *d = datagram_of(target);
	struct group *group = group_of(target);
	if (!d->format->read(d, d->buffers, bytes, reply) || !was_sent(target, reply->number) ||
		(group->wish.source.length && !net_same_host(&group->wish.source.storage, from))) {
		probe_foreign(target);
		return;
	}
	bool answered = target->samples[reply->number].user_rx_ns != 0;
	/* what another member answers as well is no duplicate */
	if (responders_take(&group->responders, from, reply->number, answered) != RESPONDERS_OTHER)
		probe_answer(target, reply);
}

/* A request brings as many answers as there are responders: read them all, or the socket would fill. */
static int group_drain(struct probe_target *target)
{
	struct datagram *d = datagram_of(target);
	int taken = 0;
	while (taken < PROBE_BATCH_MAX) {
		struct net_arrival arrival;
		struct sockaddr_storage from;
		socklen_t length;
		ssize_t got = net_receive_from(target->fd, d->buffers, d->room, &arrival, &from, &length);
		if (got == -EAGAIN)
			break;
		if (got < 0)
			return taken + datagram_drain_notices(target) + 1;
		struct probe_reply reply = {.user_rx = source_mono(target->clock), .kernel_rx = arrival.kernel_rx,
			.nic_rx = arrival.nic_rx, .cpu_rx = (uint16_t)(cpu_current() + 1), .tos = arrival.tos,
			.cut = arrival.cut};
		/* answers of several hosts, and those to the group, have a TTL that tells nothing of one way's hops */
		arrival.ttl = -1;
		net_path_see(&target->path_seen, &arrival);
		take(target, &from, (size_t)got, &reply);
		taken++;
	}
	return taken;
}

static void group_begin(struct probe_target *target)
{
	responders_begin(&group_of(target)->responders);
}

static void group_tell(struct probe_target *target, char *buffer, size_t room)
{
	const struct group *group = group_of(target);
	responders_tell(&group->responders, raw_read(&target->counters->sent), buffer, room);
	if (buffer[0])
		return;
	struct text text = {.bytes = buffer, .room = room};
	text_add(&text, "nobody answered for the group, sent%s%s with ttl %d", group->wish.device[0] ? " by " : "",
		group->wish.device, group->wish.ttl);
	if (!group->wish.loop)
		text_add(&text, "; responders on this host do not hear it without loop=1");
	if (group->wish.source.length)
		text_add(&text, "; others than %s are not listened to", group->wish.source.host);
	text_add(&text, "; a responder joins with: tare echo 'udp://%s?if=INTERFACE'", group->address.text);
}

static const struct probe_kind probe_udp_group = {
	.scheme = "udp",
	.summary = "UDP to a multicast group",
	.default_port = -1,
	.least_bytes = 16,
	.usual_bytes = 64,
	.most_bytes = 65507,
	.takes_path = true,
	.has_path = true,
	.many_answer = true,
	.open = NULL, /* a target becomes it while it opens */
	.send = datagram_send,
	.send_at = datagram_send_at,
	.begin = group_begin,
	.drain = group_drain,
	.drain_notices = datagram_drain_notices,
	.tell = group_tell,
	.close = datagram_close,
};

/* In place of connecting. */
static int aim(struct probe_target *target, struct tare_err *err)
{
	struct datagram *d = datagram_of(target);
	struct group *group = group_of(target);
	if (net_group_join(target->fd, &group->wish, &group->address, err) < 0)
		return -1;
	datagram_aim(d, (const struct sockaddr *)&group->address.storage, group->address.length);
	return 0;
}

int group_open(struct probe_target *target, const struct datagram_format *format, struct tare_err *err)
{
	const struct probe_request *request = &target->request;
	struct net_group wish;
	if (net_group_read(request->url, &request->address, NET_GROUP_SENDER, request->path ? request->path->interface : NULL,
		    &wish, err) < 0)
		return -1;
	/* --ttl holds for groups too, unless the URL says otherwise */
	if (!wish.has_ttl && request->path && request->path->ttl)
		wish.ttl = request->path->ttl;
	struct group *group = calloc(1, sizeof *group);
	if (!group)
		return tare_fail_errno(err, ENOMEM, "cannot count the responders of %s", request->address.text);
	group->wish = wish;
	group->address = request->address;
	net_group_scope(&wish, &group->address);
	target->kind = &probe_udp_group;
	return datagram_open_with(target, SOCK_DGRAM, 0, request->payload_bytes, format, aim, group, err);
}
