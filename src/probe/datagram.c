/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sending and receiving datagrams with the least work between clock and system
 * call. One message at a time costs least while one request is under way; when
 * several arrive together the receiving side turns to batches by itself.
 */
#include "probe/datagram.h"

#include <errno.h>
#include <string.h>

#include "clock/cpu.h"
#include "net/stamps.h"

/* An earlier request's ICMP error is reported once by the next call on the socket, which it does not concern. */
static bool is_pending_error(int error)
{
	return error == ECONNREFUSED || error == EHOSTUNREACH || error == ENETUNREACH || error == EPROTO ||
		error == ENOPROTOOPT || error == EHOSTDOWN || error == EACCES;
}

static int send_packets(struct probe_target *target, struct datagram *d, unsigned count)
{
	if (count == 1) {
		ssize_t sent = sendto(target->fd, d->packets, d->packet_bytes, MSG_DONTWAIT | MSG_NOSIGNAL, d->to, d->to_length);
		return sent < 0 ? -errno : 1;
	}
	int sent = sendmmsg(target->fd, d->out, count, MSG_DONTWAIT | MSG_NOSIGNAL);
	return sent < 0 ? -errno : sent;
}

static void stamp_packets(struct datagram *d, uint64_t first, unsigned count, clock_mono now)
{
	if (d->format->stamp)
		for (unsigned i = 0; i < count; i++)
			d->format->stamp(d, datagram_packet(d, i), first + i, now);
}

/* Messages of the error queue that a send should bring: the card's comes by itself. */
static unsigned datagram_stamps_each(const struct probe_target *target)
{
	bool card = target->request.card_stamps && target->stamps & NET_STAMP_NIC_TX;
	return (target->stamps & NET_STAMP_TX ? 1u : 0u) + (card ? 1u : 0u);
}

static void note_sent(struct probe_target *target, struct datagram *d, uint64_t first, unsigned count, clock_mono now)
{
	uint16_t cpu = (uint16_t)(cpu_current() + 1);
	for (unsigned i = 0; i < count; i++) {
		struct raw_sample *sample = &target->samples[first + i];
		sample->cpu_tx = cpu;
		sample->user_tx_ns = now.ns;
		if (i > 0)
			sample->flags |= TARE_FLAG_BATCHED;
	}
	if (target->stamps & (NET_STAMP_TX | NET_STAMP_NIC_TX)) {
		for (unsigned i = 0; i < count; i++)
			d->key_number[d->key_next++ % DATAGRAM_KEYS] = first + i;
		target->stamps_awaited += count * datagram_stamps_each(target);
	}
}

/*
 * Older kernels count refused sends too: start the numbering of stamps again rather than guess. A stamp still
 * under way then has a number that is not given yet (stray) or, given again meanwhile, lies before its new
 * request's send call and is dropped when the round is sealed.
 */
static void restart_keys(struct probe_target *target, struct datagram *d)
{
	d->keys_doubtful = false;
	datagram_drain_notices(target);
	net_stamps_restart(target->fd, target->stamps);
	d->key_next = 0;
	target->stamps_awaited = 0;
}

int datagram_send(struct probe_target *target, uint64_t first, unsigned count)
{
	struct datagram *d = datagram_of(target);
	if (d->keys_doubtful)
		restart_keys(target, d);
	for (unsigned i = 0; i < count; i++)
		d->format->prepare(d, datagram_packet(d, i), first + i);
	clock_mono now = source_mono(target->clock);
	stamp_packets(d, first, count, now);
	int sent = send_packets(target, d, count);
	if (sent < 0 && is_pending_error(-sent)) {
		datagram_drain_notices(target);
		now = source_mono(target->clock);
		stamp_packets(d, first, count, now);
		sent = send_packets(target, d, count);
	}
	if (sent > 0)
		note_sent(target, d, first, (unsigned)sent, now);
	else
		d->keys_doubtful = (target->stamps & (NET_STAMP_TX | NET_STAMP_NIC_TX)) != 0;
	return sent;
}

int datagram_send_at(struct probe_target *target, uint64_t number, clock_mono due)
{
	struct datagram *d = datagram_of(target);
	clock_mono now;
	if (d->keys_doubtful)
		restart_keys(target, d);
	d->format->prepare(d, d->packets, number);
	__builtin_prefetch(&target->samples[number], 1);
	do {
		now = source_mono(target->clock);
	} while (clock_between(now, due) > 0);
	if (d->format->stamp)
		d->format->stamp(d, d->packets, number, now);
	if (sendto(target->fd, d->packets, d->packet_bytes, MSG_DONTWAIT | MSG_NOSIGNAL, d->to, d->to_length) < 0)
		return datagram_send(target, number, 1);
	note_sent(target, d, number, 1, now);
	return 1;
}

void datagram_begin(struct probe_target *target)
{
	struct datagram *d = datagram_of(target);
	if (!(target->stamps & NET_STAMP_RX) && d->looks == 0)
		net_path_watch(target->fd, d->v6, true);
	d->looks = DATAGRAM_LOOKS;
}

/* Within the warm-up: two calls of 0.2 us, and the floor is that of a plain receive from then on. */
static void looked(struct probe_target *target, struct datagram *d)
{
	if (--d->looks == 0 && !(target->stamps & NET_STAMP_RX))
		net_path_watch(target->fd, d->v6, false);
}

static void take_message(struct datagram *d, const uint8_t *message, size_t bytes, clock_mono now, uint16_t cpu,
	const struct net_arrival *arrival)
{
	net_path_see(&d->target->path_seen, arrival);
	struct probe_reply reply = {.user_rx = now, .kernel_rx = arrival->kernel_rx, .nic_rx = arrival->nic_rx,
		.cpu_rx = cpu, .tos = arrival->tos, .cut = arrival->cut};
	if (d->format->read(d, message, bytes, &reply))
		probe_answer(d->target, &reply);
	else
		probe_foreign(d->target);
}

static int drain_batch(struct probe_target *target, struct datagram *d)
{
	bool stamped = (target->stamps & (NET_STAMP_RX | NET_STAMP_NIC_RX)) != 0;
	for (unsigned i = 0; i < PROBE_BATCH_MAX; i++)
		d->in[i].msg_hdr.msg_controllen = stamped ? NET_CONTROL_BYTES : 0;
	int got = recvmmsg(target->fd, d->in, PROBE_BATCH_MAX, MSG_DONTWAIT, NULL);
	clock_mono now = source_mono(target->clock);
	if (got < 0)
		return errno == EAGAIN ? 0 : datagram_drain_notices(target) + 1;
	uint16_t cpu = (uint16_t)(cpu_current() + 1);
	for (int i = 0; i < got; i++) {
		struct net_arrival arrival = {.ttl = -1, .tos = -1};
		if (stamped)
			net_arrival_of(&d->in[i].msg_hdr, &arrival);
		take_message(d, d->buffers + (size_t)i * d->room, d->in[i].msg_len, now, cpu, &arrival);
	}
	d->lone = got > 1 ? 0 : d->lone + 1;
	if (d->lone >= 16)
		d->batching = false;
	return got;
}

int datagram_drain(struct probe_target *target)
{
	struct datagram *d = datagram_of(target);
	if (d->batching)
		return drain_batch(target, d);
	struct net_arrival arrival;
	bool stamped = (target->stamps & (NET_STAMP_RX | NET_STAMP_NIC_RX)) != 0 || d->looks > 0;
	/* without stamps the plain call: 60 ns less than recvmsg, and this is the floor of the whole instrument */
	ssize_t got = stamped ? net_receive(target->fd, d->buffers, d->room, &arrival)
			      : recv(target->fd, d->buffers, d->room, MSG_DONTWAIT);
	if (got < 0 && (stamped ? -got : errno) == EAGAIN) {
		d->lone = 0;
		return 0;
	}
	clock_mono now = source_mono(target->clock);
	if (!stamped)
		arrival = (struct net_arrival){.ttl = -1, .tos = -1};
	if (got < 0)
		return datagram_drain_notices(target) + 1;
	take_message(d, d->buffers, (size_t)got, now, (uint16_t)(cpu_current() + 1), &arrival);
	if (d->looks > 0)
		looked(target, d);
	/* eight in a row without finding the socket empty: they come faster than one by one */
	if (++d->lone >= 8) {
		d->lone = 0;
		d->batching = true;
	}
	return 1;
}

/*
 * The kernel's stamp and the card's may come together, apart, in any order, twice, late or never: each goes to
 * the request of its number, if that is one of the last DATAGRAM_KEYS sends.
 */
static void take_stamp(struct probe_target *target, struct datagram *d, const struct net_notice *notice)
{
	uint32_t age = (uint32_t)d->key_next - notice->key;
	unsigned stamps = (notice->kernel_tx.ns ? 1u : 0u) + (notice->nic_tx.ns ? 1u : 0u);
	if (notice->moment != NET_MOMENT_SENT || stamps == 0)
		return;
	if (age == 0 || age > DATAGRAM_KEYS || age > d->key_next) {
		probe_stray_stamp(target);
		return;
	}
	probe_transmit_stamp(target, d->key_number[notice->key % DATAGRAM_KEYS], notice->kernel_tx, notice->nic_tx);
	target->stamps_awaited -= target->stamps_awaited < stamps ? target->stamps_awaited : stamps;
}

void datagram_take_notice(struct probe_target *target, const struct net_notice *notice)
{
	struct datagram *d = datagram_of(target);
	uint64_t number = PROBE_NO_NUMBER;
	if (notice->cut)
		raw_increase(&target->counters->cut_stamps, 1);
	if (notice->cut && !notice->is_stamp && !notice->error)
		return;
	if (!notice->is_stamp) {
		if (!d->format->read_refused(d, notice->payload, notice->payload_bytes, &number))
			number = PROBE_NO_NUMBER;
		probe_refused(target, number, notice->error);
		return;
	}
	take_stamp(target, d, notice);
}

int datagram_drain_notices(struct probe_target *target)
{
	struct datagram *d = datagram_of(target);
	struct net_notice notice;
	int taken = 0;
	while (taken < PROBE_BATCH_MAX && net_next_notice(target->fd, d->buffers, d->room, &notice) > 0) {
		datagram_take_notice(target, &notice);
		taken++;
	}
	if (taken == 0) {
		/* an error without a message would keep poll() awake for ever: reading it clears it */
		int error = 0;
		socklen_t length = sizeof error;
		getsockopt(target->fd, SOL_SOCKET, SO_ERROR, &error, &length);
	}
	return taken;
}
