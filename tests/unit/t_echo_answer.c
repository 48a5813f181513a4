/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A STAMP request, how it came in, and the reply: what the responder adds to what wire/stamp.h does. */
#include "echo/answer.h"
#include "stamp_request.h"
#include "tap.h"

static const uint64_t COOKIE = 42;
static const struct answer_rules strict = {.light = false}, light = {.light = true};

static void times(void)
{
	uint8_t p[128];
	struct stamp_made made;
	struct stamp_reply r;
	struct answer_arrival in = {
		.kernel_rx = {1700000000000001000},
		.user_rx = {1700000000000009000},
		.ttl = 250,
		.rx_cpu = 5,
		.error_estimate = 0x8f81,
	};
	request_fill(p, 104, COOKIE, 0, 1);
	request_number(p, 17, 1);
	IS_I64(answer_stamp(&strict, &in, p, 104, sizeof p, &made), ANSWER_REPLY, "answered");
	OK(reply_read(p, made.bytes, COOKIE, &r) && r.has_number && r.number == 17 && r.has_peer, "read back");
	OK(r.t2 == stamp_ntp_of_real(1700000000000001000), "T2 is the kernel's stamp");
	IS_I64(r.peer.valid, STAMP_VALID_KERNEL_RX | STAMP_VALID_USER_RX | STAMP_VALID_RX_CPU, "what is valid");
	IS_I64(r.peer.kernel_rx_ns, 1700000000000001000, "kernel receive");
	IS_I64(r.peer.user_rx_ns, 1700000000000009000, "user receive");
	IS_I64(r.peer.rx_cpu, 5, "CPU at receive");
	IS_I64(r.sender_ttl, 250, "TTL");
	IS_I64(r.error_estimate, 0x8f81, "error estimate");
	IS_I64(r.sequence, 17, "stateless");

	in.kernel_rx.ns = 0;
	in.ttl = in.rx_cpu = -1;
	request_fill(p, 104, COOKIE, 0, 1);
	answer_stamp(&strict, &in, p, 104, sizeof p, &made);
	OK(reply_read(p, made.bytes, COOKIE, &r) && r.t2 == stamp_ntp_of_real(1700000000000009000),
		"without a kernel stamp T2 is our own");
	IS_I64(r.peer.valid, STAMP_VALID_USER_RX, "and only that is valid");
	IS_I64(r.sender_ttl, 255, "TTL not told: 255");
}

static void sizes(void)
{
	static uint8_t p[1500];
	struct answer_arrival in = {.user_rx = {1700000000000009000}};
	struct stamp_made made = {0};
	size_t wrong = 0;
	for (size_t bytes = 0; bytes <= 1472; bytes++) {
		memset(p, 0x5a, sizeof p);
		enum answer_verdict verdict = answer_stamp(&strict, &in, p, bytes, sizeof p, &made);
		wrong += verdict != (bytes < 44 ? ANSWER_TOO_SHORT : ANSWER_REPLY);
		wrong += verdict == ANSWER_REPLY && made.bytes != bytes;
		verdict = answer_stamp(&light, &in, p, bytes, sizeof p, &made);
		wrong += verdict != (bytes < 14 ? ANSWER_TOO_SHORT : ANSWER_REPLY);
		wrong += verdict == ANSWER_REPLY && made.bytes != (bytes < 44 ? 44 : bytes);
	}
	IS_I64(wrong, 0, "every size up to 1472: strict answers from 44, light from 14 with 44 at least");
}

static void estimate(void)
{
	struct answer_clock clock = answer_clock_now();
	uint16_t now = clock.error_estimate;
	OK(clock.info.sync_in == (now & STAMP_ERROR_S ? clock.info.sync_in == STAMP_SYNC_GNSS ? STAMP_SYNC_GNSS : STAMP_SYNC_NTP : STAMP_SYNC_FREE),
		"who keeps the clock agrees with the estimate: %u", clock.info.sync_in);
	OK((now & 0xff) >= 128 && !(now & STAMP_ERROR_Z), "the host's own error estimate is well-formed: %04x", now);
}

int main(void)
{
	times();
	sizes();
	estimate();
	return tap_done();
}
