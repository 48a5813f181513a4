/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kind udp: a datagram that any echo server returns as it is (RFC 862), known again by its cookie. */
#include "probe/datagram.h"
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
	if (datagram_open(target, SOCK_DGRAM, 0, target->request.payload_bytes, &udp_format, err) < 0)
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
	.begin = datagram_begin,
	.open = udp_open,
	.send = datagram_send,
	.send_at = datagram_send_at,
	.drain = datagram_drain,
	.drain_notices = datagram_drain_notices,
	.close = datagram_close,
};
