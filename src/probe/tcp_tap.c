/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two queues in the order of the stream, walked together. */
#include "probe/tcp_tap.h"

#include <stdlib.h>
#include <unistd.h>

bool tcp_tap_open(struct tcp_tap *tap, unsigned stamps)
{
	*tap = (struct tcp_tap){.fd = net_tap_open(stamps)};
	if (tap->fd < 0)
		return false;
	tap->piece = calloc(TCP_TAP_ROOM, sizeof *tap->piece);
	tap->reply = calloc(TCP_TAP_ROOM, sizeof *tap->reply);
	if (tap->piece && tap->reply)
		return true;
	tcp_tap_close(tap);
	return false;
}

void tcp_tap_close(struct tcp_tap *tap)
{
	if (tap->fd >= 0)
		close(tap->fd);
	free(tap->piece);
	free(tap->reply);
	*tap = (struct tcp_tap){.fd = -1};
}

static void forget(struct tcp_tap *tap)
{
	tap->piece_first = tap->piece_last = tap->reply_first = tap->reply_last = 0;
}

void tcp_tap_aim(struct tcp_tap *tap, const struct sockaddr *peer, uint16_t own_port)
{
	struct net_segment old;
	if (tap->fd < 0)
		return;
	forget(tap);
	tap->based = false;
	tap->seen = 0;
	/* a tap that cannot be aimed is closed: without it the connection's own stamps are taken */
	if (net_tap_aim(tap->fd, peer, own_port) < 0)
		tcp_tap_close(tap);
	/* what the old aim let through */
	while (tap->fd >= 0 && net_tap_next(tap->fd, &old) > 0)
		continue;
}

void tcp_tap_begin(struct tcp_tap *tap)
{
	tap->reply_first = tap->reply_last;
}

static void enter(struct probe_target *target, uint64_t number, const struct tap_piece *piece)
{
	struct raw_sample *sample = &target->samples[number];
	if (number >= target->count || !sample->user_rx_ns || sample->kernel_rx_ns || sample->nic_rx_ns)
		return;
	sample->kernel_rx_ns = piece->kernel_rx.ns;
	if (piece->nic_rx.ns)
		sample->nic_rx_ns = piece->nic_rx.ns;
}

static void match(struct tcp_tap *tap, struct probe_target *target)
{
	while (tap->piece_first < tap->piece_last && tap->reply_first < tap->reply_last) {
		const struct tap_piece *piece = &tap->piece[tap->piece_first % TCP_TAP_ROOM];
		const struct tap_reply *reply = &tap->reply[tap->reply_first % TCP_TAP_ROOM];
		if (reply->end > piece->to) {
			tap->piece_first++;
			continue;
		}
		/* one that ends before the piece was in a segment that the tap missed */
		if (reply->end > piece->from)
			enter(target, reply->number, piece);
		tap->reply_first++;
	}
}

void tcp_tap_reply(struct tcp_tap *tap, struct probe_target *target, uint64_t end, uint64_t number)
{
	if (tap->fd < 0)
		return;
	if (tap->reply_last - tap->reply_first == TCP_TAP_ROOM)
		tap->reply_first++;
	tap->reply[tap->reply_last++ % TCP_TAP_ROOM] = (struct tap_reply){end, number};
	match(tap, target);
}

void tcp_tap_segment(struct tcp_tap *tap, struct probe_target *target, const struct net_segment *segment)
{
	if (segment->begins) {
		tap->base = segment->sequence + 1;
		tap->based = true;
		tap->seen = 0;
		return;
	}
	if (!tap->based || segment->bytes == 0)
		return;
	/* sequence numbers wrap: the one meant is that nearest to what was seen */
	int32_t ahead = (int32_t)(segment->sequence - tap->base - (uint32_t)tap->seen);
	uint64_t from = tap->seen + (uint64_t)(int64_t)ahead, to = from + segment->bytes;
	/* a byte that came before came then: repeats and what arrives behind a gap add only what is new */
	if (ahead < 0)
		from = tap->seen;
	if ((ahead < 0 && (uint32_t) - (int64_t)ahead >= segment->bytes) || to <= tap->seen)
		return;
	tap->seen = to;
	if (tap->piece_last - tap->piece_first == TCP_TAP_ROOM)
		tap->piece_first++;
	tap->piece[tap->piece_last++ % TCP_TAP_ROOM] =
		(struct tap_piece){from, to, segment->kernel_rx, segment->nic_rx};
	match(tap, target);
}

int tcp_tap_drain(struct tcp_tap *tap, struct probe_target *target, int most)
{
	struct net_segment segment;
	int taken = 0;
	while (taken < most && tap->fd >= 0 && net_tap_next(tap->fd, &segment) > 0) {
		tcp_tap_segment(tap, target, &segment);
		taken++;
	}
	return taken;
}
