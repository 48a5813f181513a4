/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kind udp: a datagram that any echo server returns as it is (RFC 862), known again by its cookie. */
#include "net/group.h"
#include "probe/datagram.h"
#include "probe/group.h"
#include "wire/payload.h"

static void udp_prepare(struct datagram *d, uint8_t *packet, uint64_t number)
{
	(void)d;
	payload_number(packet, number);
}

static bool udp_read(struct datagram *d, const uint8_t *message, size_t bytes, struct probe_reply *reply)
{
	return payload_read(message, bytes, d->cookie, &reply->number);
}

static bool udp_read_refused(struct datagram *d, const uint8_t *packet, size_t bytes, uint64_t *ret_number)
{
	return payload_read(packet, bytes, d->cookie, ret_number);
}

static const struct datagram_format udp_format = {
	.prepare = udp_prepare, .read = udp_read, .read_refused = udp_read_refused};

static int udp_open(struct probe_target *target, struct tare_err *err)
{
	const struct probe_request *request = &target->request;
	bool group = net_is_group(&request->address);
	const char *rest = request->url ? request->url->path : "";
	if (!group && rest[0] == '?')
		return tare_fail(err, TARE_E_USAGE, "'%.200s': if=, source=, ttl= and loop= are for multicast groups, and %s is none\n"
			"  groups are 224.0.0.0 to 239.255.255.255 and ff00::/8; for one host there are --interface, --source and --ttl",
			request->text, request->address.host);
	if (!group && rest[0])
		return tare_fail(err, TARE_E_USAGE, "'%.200s' has something behind host and port: '%.100s'", request->text,
			rest);
	if (group ? group_open(target, &udp_format, err) < 0
		  : datagram_open(target, SOCK_DGRAM, 0, request->payload_bytes, &udp_format, err) < 0)
		return -1;
	struct datagram *d = datagram_of(target);
	for (unsigned i = 0; i < PROBE_BATCH_MAX; i++)
		payload_fill(datagram_packet(d, i), d->packet_bytes, d->cookie);
	return 0;
}

const struct probe_kind probe_udp = {
	.scheme = "udp",
	.summary = "UDP to any echo server",
	.default_port = -1,
	.least_bytes = PAYLOAD_MIN_BYTES,
	.usual_bytes = 64,
	.most_bytes = 65507,
	.takes_path = true,
	.has_path = true,
	.begin = datagram_begin,
	.open = udp_open,
	.send = datagram_send,
	.send_at = datagram_send_at,
	.drain = datagram_drain,
	.drain_notices = datagram_drain_notices,
	.close = datagram_close,
};
