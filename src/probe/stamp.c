/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Kind stamp: a STAMP sender (RFC 8762), authenticated where there is a key. Replies
 * that bring our TLVs back are matched on the 64-bit number in the padding; other
 * reflectors on the sender's sequence and time, which both must be ours. With a key a
 * reply without the right HMAC is nobody's: dropped, and counted apart from foreign ones.
 */
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "probe/datagram.h"
#include "probe/stamp_seen.h"
#include "wire/stamp.h"

/* What we claim of our own clock: not known to be synchronised, right within 1 s. */
#define STAMP_CLAIMED_ERROR_NS ((int64_t)1000000000)

/* Replies whose real send time may still be told, by the reflector's own number of them; a power of two. */
enum { FOLLOWED_ROOM = 1024 };
/* What is told to have left so much later than its own stamp says is another packet's. */
#define FOLLOW_MOST_NS ((int64_t)1000000000)

struct stamp_sender {
	struct stamp_asking asking;
	struct stamp_seen seen;
	struct { uint32_t own; uint64_t number_plus_one; } replied[FOLLOWED_ROOM];
};

static struct stamp_sender *sender_of(const struct datagram *d)
{
	return d->own;
}

static uint64_t t1_of(const struct datagram *d, clock_mono user_tx)
{
	return stamp_ntp_of_real(user_tx.ns + d->target->real_offset_ns);
}

static void stamp_prepare(struct datagram *d, uint8_t *packet, uint64_t number)
{
	stamp_request_number(packet, &sender_of(d)->asking, number);
}

static void stamp_stamp(struct datagram *d, uint8_t *packet, uint64_t number, clock_mono user_tx)
{
	(void)number;
	stamp_request_time(packet, &sender_of(d)->asking, t1_of(d, user_tx));
}

/* The number of a reply without our padding: sequence and T1 must both be what we sent. */
static bool number_of_base(const struct datagram *d, uint32_t sequence, uint64_t t1, uint64_t *ret_number)
{
	const struct probe_target *target = d->target;
	if (sequence >= target->next)
		return false;
	int64_t user_tx_ns = target->samples[sequence].user_tx_ns;
	if (!user_tx_ns || t1_of(d, (clock_mono){user_tx_ns}) != t1)
		return false;
	*ret_number = sequence;
	return true;
}

static uint16_t cpu_plus_one(uint8_t valid, uint8_t bit, uint16_t cpu)
{
	return valid & bit && cpu < UINT16_MAX ? (uint16_t)(cpu + 1) : 0;
}

static void peer_of_tlv(const struct stamp_peer *peer, struct probe_reply *reply)
{
	reply->has_peer = true;
	reply->injected = peer->valid & STAMP_VALID_INJECTED;
	reply->injecting = peer->valid & STAMP_VALID_INJECTING;
	reply->peer_rx_ns = peer->valid & STAMP_VALID_KERNEL_RX ? peer->kernel_rx_ns : 0;
	reply->peer_user_ns = peer->valid & STAMP_VALID_USER_RX ? peer->user_rx_ns : 0;
	reply->peer_tx_ns = peer->valid & STAMP_VALID_USER_TX ? peer->user_tx_ns : 0;
	reply->cpu_peer_rx = cpu_plus_one(peer->valid, STAMP_VALID_RX_CPU, peer->rx_cpu);
	reply->cpu_peer_tx = cpu_plus_one(peer->valid, STAMP_VALID_TX_CPU, peer->tx_cpu);
}

static int64_t real_of(const struct datagram *d, const struct stamp_reply *seen, uint64_t time, const struct probe_reply *reply)
{
	return seen->error_estimate & STAMP_ERROR_Z ? stamp_real_of_ptp(time)
						    : stamp_real_of_ntp(time, reply->user_rx.ns + d->target->real_offset_ns);
}

/*
 * Follow-up telemetry: an earlier reply's send time as its kernel or card saw it, in place of the one the reflector
 * wrote into the packet before it was sent. Not earlier than that one, and not much later.
 */
static void follow_up(const struct datagram *d, const struct stamp_reply *seen, const struct probe_reply *reply)
{
	struct stamp_sender *sender = sender_of(d);
	uint32_t own = seen->follow_up.sequence;
	uint64_t number = sender->replied[own % FOLLOWED_ROOM].number_plus_one - 1;
	if (sender->replied[own % FOLLOWED_ROOM].own != own || number >= d->target->next)
		return;
	struct raw_sample *sample = &d->target->samples[number];
	int64_t left_ns = real_of(d, seen, seen->follow_up.t3, reply);
	if (!sample->peer_tx_ns || left_ns < sample->peer_tx_ns || left_ns - sample->peer_tx_ns > FOLLOW_MOST_NS)
		return;
	sample->peer_tx_ns = left_ns;
	sender->seen.followed_used++;
}

/* Some reflectors copy one time into both fields; that is no residence of zero but none measured. */
static void peer_of_base(const struct datagram *d, const struct stamp_reply *seen, struct probe_reply *reply)
{
	if (seen->t2 == seen->t3)
		return;
	reply->has_peer = true;
	reply->peer_rx_ns = real_of(d, seen, seen->t2, reply);
	reply->peer_tx_ns = real_of(d, seen, seen->t3, reply);
}

static bool stamp_read(struct datagram *d, const uint8_t *message, size_t bytes, struct probe_reply *reply)
{
	struct stamp_sender *sender = sender_of(d);
	struct stamp_reply seen;
	enum stamp_read read = stamp_reply_read(message, bytes, &sender->asking, &seen);
	sender->seen.forged += read == STAMP_READ_FORGED;
	if (read != STAMP_READ_REPLY)
		return false;
	if (seen.has_number)
		reply->number = seen.number;
	else if (!number_of_base(d, seen.sender_sequence, seen.sender_t1_ntp, &reply->number))
		return false;
	if (seen.has_peer)
		peer_of_tlv(&seen.peer, reply);
	else
		peer_of_base(d, &seen, reply);
	stamp_seen_take(&sender->seen, &(struct stamp_reply_seen){&seen, reply->number, d->packet_bytes, bytes, reply->tos});
	if (seen.has_follow_up)
		follow_up(d, &seen, reply);
	sender->replied[seen.sequence % FOLLOWED_ROOM].own = seen.sequence;
	sender->replied[seen.sequence % FOLLOWED_ROOM].number_plus_one = reply->number + 1;
	reply->reason = seen.reason_at ? message + seen.reason_at : NULL;
	return true;
}

/* A refused request is the one we sent, so that it reads as its own "reply" only in the padding. */
static bool stamp_read_refused(struct datagram *d, const uint8_t *packet, size_t bytes, uint64_t *ret_number)
{
	return stamp_request_read(packet, bytes, &sender_of(d)->asking, ret_number);
}

static const struct datagram_format stamp_format = {
	.prepare = stamp_prepare, .stamp = stamp_stamp, .read = stamp_read, .read_refused = stamp_read_refused};

static void stamp_begin(struct probe_target *target)
{
	datagram_begin(target);
	struct stamp_sender *sender = sender_of(datagram_of(target));
	sender->seen = (struct stamp_seen){.sealed = sender->asking.key != NULL};
	memset(sender->replied, 0, sizeof sender->replied);
}

static void stamp_tell(struct probe_target *target, char *buffer, size_t room)
{
	stamp_seen_tell(&sender_of(datagram_of(target))->seen, target->samples, buffer, room);
}

static int stamp_open(struct probe_target *target, struct tare_err *err)
{
	if (datagram_open(target, SOCK_DGRAM, 0, target->request.payload_bytes, &stamp_format, err) < 0)
		return -1;
	struct datagram *d = datagram_of(target);
	struct stamp_sender *sender = d->own = calloc(1, sizeof *sender);
	if (!sender)
		return tare_fail(err, TARE_E_SYSTEM, "no memory for what is seen of %s", target->request.address.text);
	sender->asking = (struct stamp_asking){
		.bytes = d->packet_bytes,
		.key = target->request.key,
		.cookie = d->cookie,
		.ssid = (uint16_t)(d->id | 1),
		.error_estimate = stamp_error_estimate(false, STAMP_CLAIMED_ERROR_NS),
		.reply_dscp = target->request.reply_dscp,
	};
	for (unsigned i = 0; i < PROBE_BATCH_MAX; i++)
		stamp_request_fill(datagram_packet(d, i), &sender->asking);
	/* read only where control data is read anyway; not told where the kernel refuses */
	int on = 1;
	if (target->stamps & NET_STAMP_RX)
		setsockopt(target->fd, d->v6 ? SOL_IPV6 : SOL_IP, d->v6 ? IPV6_RECVTCLASS : IP_RECVTOS, &on, sizeof on);
	return 0;
}

const struct probe_kind probe_stamp = {
	.scheme = "stamp",
	.summary = "STAMP (RFC 8762, 8972), with the peer's own stamps where it is tare echo",
	.default_port = 862,
	.least_bytes = STAMP_REQUEST_MIN_BYTES,
	.usual_bytes = STAMP_REQUEST_FULL_BYTES,
	.key_bytes = STAMP_SEALED_MORE_BYTES,
	.most_bytes = 65507,
	.takes_path = true,
	.open = stamp_open,
	.send = datagram_send,
	.send_at = datagram_send_at,
	.begin = stamp_begin,
	.tell = stamp_tell,
	.drain = datagram_drain,
	.drain_notices = datagram_drain_notices,
	.close = datagram_close,
};
