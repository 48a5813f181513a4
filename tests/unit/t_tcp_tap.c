/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Segments and replies of a TCP stream matched by their place: joined and split, repeated,
 * missed by the tap, in either order, over the wrap of sequence numbers. And the reading
 * of headers, as captured and cut anywhere.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>

#include "probe/tcp_tap.h"
#include "tap.h"

enum { REQUESTS = 10000, REPLY = 64 };

static struct tcp_tap tap;
static struct probe_target target;
static struct raw_sample samples[REQUESTS];

/* A tap without a socket: segments are handed in. */
static void begin(uint32_t first)
{
	memset(samples, 0, sizeof samples);
	for (int i = 0; i < REQUESTS; i++)
		samples[i].user_rx_ns = 1;
	target = (struct probe_target){.samples = samples, .count = REQUESTS};
	tap.fd = 0;
	tap.piece_first = tap.piece_last = tap.reply_first = tap.reply_last = 0;
	struct net_segment syn = {.sequence = first, .begins = true};
	tcp_tap_segment(&tap, &target, &syn);
}

static void segment(uint32_t sequence, uint32_t bytes, int64_t stamp_ns)
{
	struct net_segment seen = {
		.sequence = sequence, .bytes = bytes, .kernel_rx = {stamp_ns}, .nic_rx = {stamp_ns * 10}};
	tcp_tap_segment(&tap, &target, &seen);
}

static void reply(uint64_t number)
{
	tcp_tap_reply(&tap, &target, (number + 1) * REPLY, number);
}

static int64_t stamp(uint64_t number)
{
	return samples[number].kernel_rx_ns;
}

static void check_matching(void)
{
	begin(999);
	segment(1000, REPLY, 11);
	segment(1000 + REPLY, REPLY, 12);
	reply(0);
	reply(1);
	OK(stamp(0) == 11 && stamp(1) == 12, "two segments that waited in the socket: each reply has its own stamp");
	IS_I64(samples[1].nic_rx_ns, 120, "the card's too");
	reply(2);
	segment(1000 + 2 * REPLY, REPLY, 13);
	IS_I64(stamp(2), 13, "a reply that is read before the tap");
	segment(1000 + 3 * REPLY, 3 * REPLY, 14);
	reply(3);
	reply(4);
	reply(5);
	OK(stamp(3) == 14 && stamp(4) == 14 && stamp(5) == 14, "three replies in one segment share it");
	segment(1000 + 6 * REPLY, 10, 15);
	segment(1010 + 6 * REPLY, REPLY - 10, 16);
	reply(6);
	IS_I64(stamp(6), 16, "a reply in two: the one with its last byte");
	segment(1000 + 3 * REPLY, REPLY, 17);
	segment(1000 + 7 * REPLY, 0, 17);
	IS_I64(stamp(3), 14, "a repeated segment and one without payload change nothing");
	segment(1000 + 8 * REPLY, REPLY, 18);
	reply(7);
	reply(8);
	OK(stamp(7) == 0 && stamp(8) == 18, "one that the tap missed: that reply has none, the next its own");
	segment(1000 + 8 * REPLY, 2 * REPLY, 19);
	reply(9);
	IS_I64(stamp(9), 19, "a repeat with more behind it counts for what is new");
	tcp_tap_reply(&tap, &target, 11 * REPLY, REQUESTS);
	segment(1000 + 10 * REPLY, REPLY, 20);
	OK(true, "a number that is no request is passed over");
}

static void check_rounds(void)
{
	begin(0);
	reply(0);
	tcp_tap_begin(&tap);
	segment(1, REPLY, 31);
	segment(1 + REPLY, REPLY, 32);
	tcp_tap_reply(&tap, &target, 2 * REPLY, 0);
	IS_I64(stamp(0), 32, "replies of the round before are not waited for");
	segment(1 + 2 * REPLY, REPLY, 33);
	segment(5000, REPLY, 0);
	begin(70000);
	segment(70001, REPLY, 34);
	reply(0);
	IS_I64(stamp(0), 34, "a new connection counts anew");
}

static void check_wrapping(void)
{
	begin(UINT32_MAX - 100);
	for (uint32_t i = 0; i < 100; i++) {
		segment(UINT32_MAX - 99 + i * REPLY, REPLY, 100 + i);
		reply(i);
	}
	OK(stamp(0) == 100 && stamp(1) == 101 && stamp(99) == 199, "sequence numbers wrap");
	begin(0);
	for (uint64_t i = 0; i < TCP_TAP_ROOM + 5; i++)
		segment(1 + (uint32_t)i * REPLY, REPLY, 1000 + (int64_t)i);
	for (uint64_t i = 0; i < TCP_TAP_ROOM + 5; i++)
		reply(i);
	OK(stamp(4) == 0 && stamp(5) == 1005 && stamp(TCP_TAP_ROOM + 4) == 1000 + TCP_TAP_ROOM + 4,
		"more segments than room: the oldest are gone");
}

/* Streams cut at random, read in random pieces before and behind: every reply has the stamp of its last byte. */
static void check_random(void)
{
	bool right = true;
	srand(20260404);
	for (int turn = 0; turn < 50; turn++) {
		uint32_t first = (uint32_t)rand();
		uint64_t sent = 0, read = 0;
		int64_t stamps[REQUESTS] = {0}, now = 0;
		begin(first);
		while (read < 2000) {
			if (rand() % 2 && sent < 2000 * REPLY) {
				uint32_t bytes = 1 + (uint32_t)rand() % (3 * REPLY);
				now++;
				for (uint64_t i = sent / REPLY; i < (sent + bytes) / REPLY && i < REQUESTS; i++)
					stamps[i] = now;
				segment(first + 1 + (uint32_t)sent, bytes, now);
				sent += bytes;
			} else if (sent >= 2000 * REPLY || rand() % 8 == 0 || (read + 1) * REPLY <= sent) {
				reply(read++);
			}
		}
		for (int i = 0; i < 1000; i++)
			right &= stamp((uint64_t)i) == stamps[i];
	}
	OK(right, "50 random streams (seed 20260404)");
}

static void check_headers(void)
{
	/* 45 00 total length 104: 20 + 20 + 64 */
	uint8_t v4[40] = {0x45, 0, 0, 104, 0, 1, 0x40, 0, 64, 6};
	uint8_t v6[60] = {0x60, 0, 0, 0, 0, 84, 6, 64};
	struct net_segment seen;
	v4[20 + 4] = 0x01, v4[20 + 7] = 0x02, v4[20 + 12] = 0x50, v4[20 + 13] = 0x18;
	v6[40 + 7] = 0x09, v6[40 + 12] = 0x50, v6[40 + 13] = 0x02;
	OK(net_segment_of(v4, 40, &seen) && seen.sequence == 0x01000002 && seen.bytes == 64 && !seen.begins, "IPv4");
	OK(net_segment_of(v6, 60, &seen) && seen.sequence == 9 && seen.bytes == 64 && seen.begins, "IPv6, a SYN");
	bool refused = true;
	for (size_t bytes = 0; bytes < 40; bytes++)
		refused &= !net_segment_of(v4, bytes, &seen);
	for (size_t bytes = 0; bytes < 60; bytes++)
		refused &= !net_segment_of(v6, bytes, &seen);
	OK(refused, "cut anywhere within the headers: nothing");
	v4[20 + 12] = 0x40;
	OK(!net_segment_of(v4, 40, &seen), "a TCP header shorter than one");
	v4[20 + 12] = 0xf0;
	OK(net_segment_of(v4, 40, &seen) && seen.bytes == 24, "one with options, of which not all was captured");
	v4[3] = 60;
	OK(!net_segment_of(v4, 40, &seen), "a packet shorter than its headers");
	v4[3] = 104, v4[6] = 0x20;
	OK(!net_segment_of(v4, 40, &seen), "a fragment");
	v4[6] = 0x40, v4[9] = 17;
	OK(!net_segment_of(v4, 40, &seen), "another protocol");
}

int main(void)
{
	tap = (struct tcp_tap){.fd = 0,
		.piece = calloc(TCP_TAP_ROOM, sizeof *tap.piece),
		.reply = calloc(TCP_TAP_ROOM, sizeof *tap.reply)};
	if (!tap.piece || !tap.reply)
		return 1;
	check_headers();
	check_matching();
	check_rounds();
	check_wrapping();
	check_random();
	free(tap.piece);
	free(tap.reply);
	return tap_done();
}
