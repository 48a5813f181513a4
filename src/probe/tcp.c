/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Kind tcp: requests and replies on one connection, in order. Our own payload goes
 * to any server that sends back what it gets (tare echo tcp://, RFC 862); with --send
 * the request is the user's and replies are told by what is expected. The schedule
 * does not wait for replies: several requests may be under way, and TCP answers them
 * in order.
 *
 * Stamps: the kernel counts bytes, a transmit stamp names the last byte of a send.
 * Receive stamps come from a tap (net/tap.h) where there is the privilege for one.
 * Else a read brings the stamp of the last segment it touched: replies of known
 * length are read one by one; and since the kernel may have joined segments that
 * waited in the socket, keeping the last one's stamp for all, a stamp that comes
 * twice is taken back from the first.
 */
#include "probe/tcp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock/cpu.h"
#include "net/stamps.h"
#include "wire/payload.h"

/* How long opening waits for the connection, and a round for a new one. */
#define OPEN_LONGEST_NS  ((int64_t)2000000000)
#define BEGIN_LONGEST_NS ((int64_t)10000000)
/* MSG_EOR keeps requests from sharing a segment: each then has a transmit stamp of its own. */
enum { SEND_FLAGS = MSG_DONTWAIT | MSG_NOSIGNAL | MSG_EOR };

/* Sends what is left of a request that the kernel took in part. True when nothing is left. */
static bool flush_rest(struct probe_target *target, struct tcp *tcp)
{
	if (tcp->unsent == 0)
		return true;
	ssize_t sent = send(target->fd, tcp->request + tcp->request_bytes - tcp->unsent, tcp->unsent, SEND_FLAGS);
	if (sent > 0)
		tcp->unsent -= (size_t)sent;
	else if (sent < 0 && errno != EAGAIN)
		tcp_broke(target, errno);
	return tcp->state == TCP_UP && tcp->unsent == 0;
}

/* True when a request can be sent now. */
static bool is_ready(struct probe_target *target, struct tcp *tcp)
{
	if (tcp->state == TCP_DOWN && clock_between(tcp->attempted, source_mono(target->clock)) >= TCP_RETRY_NS)
		tcp_connect(target);
	return tcp_is_up(target);
}

static void prepare(struct tcp *tcp, uint64_t number)
{
	if (tcp->own)
		payload_number(tcp->request, number);
}

static void note_sent(struct probe_target *target, struct tcp *tcp, uint64_t number, clock_mono now, size_t sent)
{
	struct raw_sample *sample = &target->samples[number];
	sample->cpu_tx = (uint16_t)(cpu_current() + 1);
	sample->user_tx_ns = now.ns;
	tcp->unsent = tcp->request_bytes - sent;
	if (tcp->awaiting++ == 0)
		tcp->oldest = number;
	tcp->newest = number + 1;
	tcp->key_number[tcp->sends++ % TCP_KEYS] = number;
	if (target->stamps & NET_STAMP_TX)
		target->stamps_awaited++;
	if (target->request.card_stamps && target->stamps & NET_STAMP_NIC_TX)
		target->stamps_awaited++;
}

/* A request that found no connection: it went as far as this and failed. */
static int send_in_vain(struct probe_target *target, uint64_t number)
{
	struct raw_sample *sample = &target->samples[number];
	sample->cpu_tx = (uint16_t)(cpu_current() + 1);
	sample->user_tx_ns = source_mono(target->clock).ns;
	probe_fail(target, number, tcp_of(target)->error);
	return 1;
}

/* What the kernel said to a request sent at `now`: 1, 0 when it has no room, or a broken connection. */
static int take_result(struct probe_target *target, uint64_t number, clock_mono now, ssize_t sent)
{
	struct tcp *tcp = tcp_of(target);
	if (sent > 0) {
		note_sent(target, tcp, number, now, (size_t)sent);
		return 1;
	}
	if (sent < 0 && errno == EAGAIN)
		return 0;
	tcp_broke(target, sent < 0 ? errno : EPIPE);
	return -1;
}

/* Nothing under way: what still comes belongs to replies that were judged. */
static void forget_rest(struct tcp *tcp)
{
	if (tcp->awaiting == 0)
		tcp->skipping = false;
}

static int send_one(struct probe_target *target, uint64_t number)
{
	struct tcp *tcp = tcp_of(target);
	for (int attempt = 0; attempt < 2; attempt++) {
		if (!is_ready(target, tcp))
			break;
		if (!flush_rest(target, tcp)) {
			if (tcp->state == TCP_UP)
				return -EAGAIN;
			continue;
		}
		prepare(tcp, number);
		forget_rest(tcp);
		clock_mono now = source_mono(target->clock);
		int taken = take_result(
			target, number, now, send(target->fd, tcp->request, tcp->request_bytes, SEND_FLAGS));
		if (taken >= 0)
			return taken ? 1 : -EAGAIN;
	}
	return send_in_vain(target, number);
}

static int tcp_send(struct probe_target *target, uint64_t first, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		int sent = send_one(target, first + i);
		if (sent < 0)
			return i ? (int)i : sent;
	}
	return (int)count;
}

static int tcp_send_at(struct probe_target *target, uint64_t number, clock_mono due)
{
	struct tcp *tcp = tcp_of(target);
	clock_mono now;
	bool ready = tcp->state == TCP_UP && tcp->unsent == 0;
	if (ready) {
		prepare(tcp, number);
		forget_rest(tcp);
	}
	__builtin_prefetch(&target->samples[number], 1);
	do {
		now = source_mono(target->clock);
	} while (clock_between(now, due) > 0);
	if (ready) {
		int taken = take_result(
			target, number, now, send(target->fd, tcp->request, tcp->request_bytes, SEND_FLAGS));
		if (taken >= 0)
			return taken ? 1 : -EAGAIN;
	}
	return send_one(target, number);
}

/* The oldest request of this connection that still awaits its answer. */
static bool take_oldest(struct probe_target *target, struct tcp *tcp, uint64_t *ret_number)
{
	if (tcp->awaiting == 0)
		return false;
	for (; tcp->oldest < tcp->newest; tcp->oldest++) {
		const struct raw_sample *sample = &target->samples[tcp->oldest];
		if (sample->user_tx_ns && !sample->user_rx_ns && !sample->reason)
			break;
	}
	if (tcp->oldest == tcp->newest) {
		tcp->awaiting = 0;
		return false;
	}
	*ret_number = tcp->oldest++;
	tcp->awaiting--;
	return true;
}

/* One reply at the front of the buffer; REPLY_MORE when none is whole. */
static enum reply_verdict next_reply(struct tcp *tcp, size_t from, size_t *ret_used)
{
	const uint8_t *at = tcp->buffer + from;
	size_t left = tcp->filled - from;
	uint64_t number;
	if (!tcp->own)
		return reply_next(&tcp->rule, &tcp->skipping, at, left, ret_used);
	*ret_used = left < tcp->request_bytes ? 0 : tcp->request_bytes;
	if (*ret_used == 0)
		return REPLY_MORE;
	return payload_read(at, left, tcp->cookie, &number) ? REPLY_RIGHT : REPLY_WRONG;
}

/* Keeps what is not judged yet at the front; a line that fills the whole room is no reply anyone expects. */
static void keep_rest(struct tcp *tcp, size_t from)
{
	memmove(tcp->buffer, tcp->buffer + from, tcp->filled - from);
	tcp->filled -= from;
	if (tcp->filled == TCP_ROOM) {
		tcp->filled = 0;
		tcp->skipping = true;
	}
}

/* The stamps of a reply, unless an earlier one of the same joined segments had them: that one's were not its own. */
static void take_stamps(struct probe_target *target, struct tcp *tcp, struct probe_reply *reply,
	const struct net_arrival *arrival)
{
	if (tcp->tap.fd >= 0)
		return;
	reply->kernel_rx = arrival->kernel_rx;
	reply->nic_rx = arrival->nic_rx;
	if (!arrival->kernel_rx.ns && !arrival->nic_rx.ns)
		return;
	if (tcp->stamped > 0 && arrival->kernel_rx.ns == tcp->stamp.ns && arrival->nic_rx.ns == tcp->card_stamp.ns) {
		struct raw_sample *sample = &target->samples[tcp->stamped - 1];
		sample->kernel_rx_ns = sample->nic_rx_ns = 0;
	}
	tcp->stamp = arrival->kernel_rx;
	tcp->card_stamp = arrival->nic_rx;
	tcp->stamped = reply->number + 1;
}

static void enter_reply(struct probe_target *target, struct tcp *tcp, const struct probe_reply *reply, uint64_t end)
{
	probe_answer(target, reply);
	tcp_tap_reply(&tcp->tap, target, end, reply->number);
}

static int take_replies(struct probe_target *target, struct tcp *tcp, struct probe_reply *reply,
	const struct net_arrival *arrival)
{
	size_t from = 0, used;
	bool pending = false;
	uint64_t end = 0;
	int taken = 0;
	for (;;) {
		enum reply_verdict verdict = next_reply(tcp, from, &used);
		from += used;
		if (verdict == REPLY_MORE) {
			if (used == 0)
				break;
			continue;
		}
		/* only now is it known that the one before was not the last: only a tap can tell its segment */
		if (pending)
			enter_reply(target, tcp, reply, end);
		end = tcp->received - tcp->filled + from;
		taken++;
		pending = take_oldest(target, tcp, &reply->number);
		reply->wrong = verdict == REPLY_WRONG ? TARE_REASON_UNEXPECTED : 0;
		if (!pending)
			probe_foreign(target);
	}
	if (pending) {
		take_stamps(target, tcp, reply, arrival);
		enter_reply(target, tcp, reply, end);
	}
	keep_rest(tcp, from);
	return taken;
}

/* How much one read may take: no more than the reply under way, where its length is known. */
static size_t room_of(const struct tcp *tcp)
{
	size_t whole = tcp->own ? tcp->request_bytes : tcp->rule.bytes;
	return whole > tcp->filled ? whole - tcp->filled : TCP_ROOM - tcp->filled;
}

static int tcp_drain(struct probe_target *target)
{
	struct tcp *tcp = tcp_of(target);
	if (tcp->state != TCP_UP) {
		tcp_is_up(target);
		return 0;
	}
	struct net_arrival arrival = {.ttl = -1};
	bool stamped = tcp->tap.fd < 0 && (target->stamps & (NET_STAMP_RX | NET_STAMP_NIC_RX)) != 0;
	uint8_t *at = tcp->buffer + tcp->filled;
	ssize_t got = stamped ? net_receive(target->fd, at, room_of(tcp), &arrival)
			      : recv(target->fd, at, TCP_ROOM - tcp->filled, MSG_DONTWAIT);
	int error = got < 0 ? (stamped ? (int)-got : errno) : 0;
	if (error == EAGAIN)
		return 0;
	clock_mono now = source_mono(target->clock);
	if (got <= 0) {
		tcp_broke(target, got == 0 ? ECONNRESET : error);
		return 1;
	}
	tcp->filled += (size_t)got;
	tcp->received += (uint64_t)got;
	struct probe_reply reply = {.user_rx = now, .cpu_rx = (uint16_t)(cpu_current() + 1), .cut = arrival.cut};
	take_replies(target, tcp, &reply, &arrival);
	return 1;
}

/* The request whose last byte has this place in the stream: the kernel's key has the lower 32 bits of it. */
static bool number_of_key(const struct tcp *tcp, uint32_t key, uint64_t *ret_number)
{
	uint64_t all = tcp->sends * tcp->request_bytes - tcp->unsent;
	uint64_t end = all - (uint32_t)((uint32_t)all - (key + 1));
	uint64_t index = end / tcp->request_bytes - 1;
	if (end == 0 || end % tcp->request_bytes != 0 || end > all || tcp->sends - index > TCP_KEYS)
		return false;
	*ret_number = tcp->key_number[index % TCP_KEYS];
	return true;
}

void tcp_take_notice(struct probe_target *target, const struct net_notice *notice)
{
	uint64_t number;
	unsigned stamps = (notice->kernel_tx.ns ? 1u : 0u) + (notice->nic_tx.ns ? 1u : 0u);
	if (notice->cut)
		raw_increase(&target->counters->cut_stamps, 1);
	if (!notice->is_stamp || stamps == 0)
		return;
	if (!number_of_key(tcp_of(target), notice->key, &number)) {
		probe_stray_stamp(target);
		return;
	}
	probe_transmit_stamp(target, number, notice->kernel_tx, notice->nic_tx);
	target->stamps_awaited -= target->stamps_awaited < stamps ? target->stamps_awaited : stamps;
}

static int tcp_drain_notices(struct probe_target *target)
{
	struct tcp *tcp = tcp_of(target);
	struct net_notice notice;
	uint8_t nothing[64];
	int taken = 0;
	while (taken < PROBE_BATCH_MAX && target->fd >= 0 &&
		net_next_notice(target->fd, nothing, sizeof nothing, &notice) > 0) {
		taken++;
		tcp_take_notice(target, &notice);
	}
	return taken + tcp_tap_drain(&tcp->tap, target, PROBE_BATCH_MAX);
}

/* Answers that an earlier round did not wait for would be taken for those of this one: a new connection has none. */
static void tcp_begin(struct probe_target *target)
{
	struct tcp *tcp = tcp_of(target);
	if (tcp->awaiting || tcp->unsent) {
		tcp->awaiting = 0;
		tcp_disconnect(target, ENOTCONN);
	}
	tcp->oldest = tcp->newest = 0;
	tcp->filled = 0;
	tcp->stamped = 0;
	tcp_tap_begin(&tcp->tap);
	if (tcp->state == TCP_DOWN)
		tcp_connect(target);
	tcp_await(target, BEGIN_LONGEST_NS);
}

static int allocate(struct probe_target *target, struct tcp *tcp, struct tare_err *err)
{
	const struct probe_exchange *exchange = target->request.exchange;
	tcp->own = !exchange;
	tcp->request_bytes = exchange ? exchange->send_bytes : target->request.payload_bytes;
	tcp->request = calloc(1, tcp->request_bytes);
	tcp->buffer = calloc(1, TCP_ROOM);
	tcp->key_number = calloc(TCP_KEYS, sizeof *tcp->key_number);
	if (!tcp->request || !tcp->buffer || !tcp->key_number)
		return tare_fail_errno(err, ENOMEM, "cannot hold the requests of %s", target->request.address.text);
	if (!exchange) {
		payload_fill(tcp->request, tcp->request_bytes, tcp->cookie);
		return 0;
	}
	memcpy(tcp->request, exchange->send, exchange->send_bytes);
	return reply_rule_open(exchange, &tcp->rule, err);
}

static int tcp_open(struct probe_target *target, struct tare_err *err)
{
	struct tcp *tcp = calloc(1, sizeof *tcp);
	target->state = tcp;
	if (!tcp)
		return tare_fail_errno(err, ENOMEM, "cannot hold the connection to %s", target->request.address.text);
	tcp->tap.fd = -1;
	unsigned stamps = probe_stamps_wanted(&target->request);
	/* read in the slack, like transmit stamps: without time for those there is none for the tap */
	if (stamps & NET_STAMP_TX)
		tcp_tap_open(&tcp->tap, stamps);
	tcp->cookie = pacer_mix(target->request.seed, 0);
	if (allocate(target, tcp, err) < 0)
		return -1;
	/* nobody there is a result like any other, and is told as one */
	tcp_connect(target);
	tcp_await(target, OPEN_LONGEST_NS);
	return 0;
}

static void tcp_close(struct probe_target *target)
{
	struct tcp *tcp = tcp_of(target);
	if (!tcp)
		return;
	if (target->fd >= 0)
		close(target->fd);
	target->fd = -1;
	reply_rule_close(&tcp->rule);
	tcp_tap_close(&tcp->tap);
	free(tcp->request);
	free(tcp->buffer);
	free(tcp->key_number);
	free(tcp);
	target->state = NULL;
}

const struct probe_kind probe_tcp = {
	.scheme = "tcp",
	.summary = "requests and replies on one connection, to any echo server or, with --send, any service",
	.default_port = -1,
	.least_bytes = PAYLOAD_MIN_BYTES,
	.usual_bytes = 64,
	.most_bytes = 65507,
	.exchanges = PROBE_EXCHANGES_TEXT,
	.takes_path = true,
	.open = tcp_open,
	.send = tcp_send,
	.send_at = tcp_send_at,
	.begin = tcp_begin,
	.drain = tcp_drain,
	.drain_notices = tcp_drain_notices,
	.close = tcp_close,
};
