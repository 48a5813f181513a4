/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "tap.h"
#include "stamp_request.h"
#include "wire/stamp.h"

static const uint64_t COOKIE = 0xfeedfacecafebeef, T1 = 0xe9a1b2c3d4e5f607, T2 = 0xe9a1b2c400000001;
static const struct stamp_peer PEER = {
	.valid = STAMP_VALID_KERNEL_RX | STAMP_VALID_USER_RX | STAMP_VALID_RX_CPU,
	.rx_cpu = 3,
	.irq_cpu = 9,
	.kernel_rx_ns = 1700000000000000001,
	.user_rx_ns = 1700000000000000002,
};

static struct stamp_arrival arrival(bool light)
{
	return (struct stamp_arrival){.light = light, .ttl = 61, .error_estimate = 0x8f90, .t2_ntp = T2, .peer = PEER};
}

static void our_request(uint8_t *p, size_t bytes)
{
	request_fill(p, bytes, COOKIE, 0x1234, 0x0f91);
	request_number(p, 0x900000007, T1);
}

static void base_fields(void)
{
	uint8_t request[120], p[121];
	our_request(request, sizeof(request));
	memset(p, 0xee, sizeof(p));
	struct stamp_arrival in = arrival(false);
	struct stamp_made made = {0};
	IS_I64(stamp_reflect(request, 120, &in, p, 120, &made), STAMP_REFLECT, "our request");
	IS_I64(made.bytes, 120, "as long as the request");
	IS_I64(get_u32(p), 7, "stateless: sequence copied");
	IS_I64(get_u16(p + 12), 0x8f90, "own error estimate");
	IS_I64(get_u16(p + 14), 0x1234, "SSID copied");
	OK(get_u64(p + 16) == T2, "T2");
	IS_I64(get_u32(p + 24), 7, "sender's sequence");
	OK(get_u64(p + 28) == T1, "sender's T1");
	IS_I64(get_u16(p + 36), 0x0f91, "sender's error estimate");
	IS_I64(get_u16(p + 38), 0, "MBZ");
	IS_I64(p[40], 61, "TTL");
	OK(!p[41] && !p[42] && !p[43], "MBZ behind the TTL");
	IS_I64(p[44], 0, "U cleared on Extra Padding");
	OK(memcmp(p + 45, request + 45, 35) == 0, "padding copied");
	IS_I64(p[80], 0, "U cleared on the peer TLV");
	IS_I64(made.peer_at, 84, "where its value lies");
	IS_I64(p[120], 0xee, "nothing written behind");

	struct stamp_reply r;
	stamp_reflect_sent(p, &made, 0x1111, 1700000000000000003, 4);
	OK(reply_read(p, 120, COOKIE, &r) && r.has_number && r.number == 0x900000007, "reads back: number");
	OK(r.t3 == 0x1111 && r.has_peer, "T3 and peer TLV");
	IS_I64(r.peer.valid, 0x1f, "valid: kernel and user receive, user send, both CPUs");
	OK(r.peer.rx_cpu == 3 && r.peer.tx_cpu == 4 && r.peer.irq_cpu == 9, "CPUs");
	OK(r.peer.kernel_rx_ns == PEER.kernel_rx_ns && r.peer.user_rx_ns == PEER.user_rx_ns, "receive times");
	IS_I64(r.peer.user_tx_ns, 1700000000000000003, "send time");
	stamp_reflect(request, 120, &in, p, 120, &made);
	stamp_reflect_sent(p, &made, 1, 2, -1);
	OK(reply_read(p, 120, COOKIE, &r) && r.peer.valid == 0x0f && r.peer.tx_cpu == 0, "unknown CPU at send");

	uint32_t own = 55;
	in.own_sequence = &own;
	stamp_reflect(request, 120, &in, p, 120, &made);
	OK(get_u32(p) == 55 && get_u32(p + 24) == 7, "stateful: own sequence");
}

static void in_place(void)
{
	uint8_t request[104], apart[104];
	our_request(request, sizeof(request));
	struct stamp_arrival in = arrival(false);
	struct stamp_made made, made_here;
	stamp_reflect(request, 104, &in, apart, 104, &made);
	stamp_reflect(request, 104, &in, request, 104, &made_here);
	OK(memcmp(request, apart, 104) == 0 && made.peer_at == made_here.peer_at,
		"the same reply in the request's own buffer");
}

static void lengths(void)
{
	uint8_t p[200];
	our_request(p, sizeof(p));
	size_t wrong = 0, longer = 0;
	for (size_t bytes = 0; bytes <= sizeof(p); bytes++) {
		for (int light = 0; light < 2; light++) {
			size_t room = bytes < 44 ? 44 : bytes;
			uint8_t *request = malloc(bytes + 1), *reply = malloc(room);
			if (!request || !reply)
				abort();
			memcpy(request, p, bytes);
			struct stamp_arrival in = arrival(light);
			struct stamp_made made = {0};
			enum stamp_verdict verdict = stamp_reflect(request, bytes, &in, reply, room, &made);
			wrong += (verdict == STAMP_REFLECT) != (bytes >= (light ? 14u : 44u));
			wrong += verdict != STAMP_REFLECT && (verdict != STAMP_TOO_SHORT || made.bytes != 0);
			longer += made.bytes > room;
			wrong += verdict == STAMP_REFLECT && (made.bytes != room || get_u64(reply + 28) != T1);
			wrong += verdict == STAMP_REFLECT && get_u16(reply + 14) != (bytes >= 16 ? 0x1234 : 0);
			if (verdict == STAMP_REFLECT)
				wrong += stamp_reflect(request, bytes, &in, reply, room - 1, &made) != STAMP_TOO_LONG;
			free(request);
			free(reply);
		}
	}
	IS_I64(wrong, 0, "every length from 0 to 200, strict and light");
	IS_I64(longer, 0, "never longer than the request or 44");
}

/* Reflects base + tail; the reply's tail is in tail_out. */
static struct stamp_made reflect_tail(const uint8_t *tail, size_t bytes, uint8_t *tail_out)
{
	uint8_t p[256] = {0};
	memcpy(p + 44, tail, bytes);
	struct stamp_arrival in = arrival(false);
	struct stamp_made made = {0};
	stamp_reflect(p, 44 + bytes, &in, p, sizeof(p), &made);
	memcpy(tail_out, p + 44, bytes);
	return made;
}

#define TAIL_BECOMES(name, tail, want)                                                                                 \
	do {                                                                                                           \
		uint8_t out_[sizeof(tail)];                                                                            \
		reflect_tail((const uint8_t *)(tail), sizeof(tail) - 1, out_);                                         \
		OK(sizeof(tail) == sizeof(want) && memcmp(out_, (want), sizeof(tail) - 1) == 0, name);                 \
	} while (0)

static void tlv_rules(void)
{
	TAIL_BECOMES("unknown type keeps U and content", "\x80\x03\0\4abcd", "\x80\x03\0\4abcd");
	TAIL_BECOMES("reserved types keep U", "\x80\xff\0\0\x80\0\0\0", "\x80\xff\0\0\x80\0\0\0");
	TAIL_BECOMES("known behind unknown", "\x80\x08\0\1x\x80\x01\0\2yz", "\x80\x08\0\1x\0\x01\0\2yz");
	TAIL_BECOMES("two paddings", "\x80\x01\0\0\x80\x01\0\1q", "\0\x01\0\0\0\x01\0\1q");
	TAIL_BECOMES("stray M and I of a known type are cleared, others kept", "\xf0\x01\0\0", "\x10\x01\0\0");
	TAIL_BECOMES("value runs over the end: M", "\x80\x01\0\5abcd", "\xc0\x01\0\5abcd");
	TAIL_BECOMES("unknown and cut: M and U", "\x80\x03\xff\xff", "\xc0\x03\xff\xff");
	TAIL_BECOMES("header cut: M", "\x80\x01\0\0\x80\x01\0", "\0\x01\0\0\xc0\x01\0");
	TAIL_BECOMES("one octet", "\x80", "\xc0");
	TAIL_BECOMES("behind a malformed one nothing is parsed", "\x80\x03\0\x9fzz\x80\x01\0\0",
		"\xc0\x03\0\x9fzz\x80\x01\0\0");
	TAIL_BECOMES("plain zero padding is copied", "\0\0\0\0\0\0\0", "\0\0\0\0\0\0\0");
	TAIL_BECOMES("plain patterned padding is copied", "\0\1\2\3\4\5\6\7", "\0\1\2\3\4\5\6\7");
	TAIL_BECOMES("padding behind TLVs is copied", "\x80\x01\0\0\0\x01\x02\x03\x04", "\0\x01\0\0\0\x01\x02\x03\x04");
}

static void peer_tlv_rules(void)
{
	uint8_t tail[84] = {0x80, 249, 0, 36}, out[84];
	put_u32(tail + 4, STAMP_PEER_COOKIE ^ 1);
	tail[8] = 1;
	IS_I64(reflect_tail(tail, 40, out).peer_at, 0, "foreign use of 249 is not filled");
	OK(memcmp(tail, out, 40) == 0, "and left with U set");
	put_u32(tail + 4, STAMP_PEER_COOKIE);
	tail[8] = 2;
	IS_I64(reflect_tail(tail, 40, out).peer_at, 0, "a later version is not filled");
	OK(memcmp(tail, out, 40) == 0, "and left with U set");
	tail[8] = 1;
	put_u16(tail + 2, 35);
	IS_I64(reflect_tail(tail, 39, out).peer_at, 0, "ours with another length is not filled");
	IS_I64(out[0], 0xc0, "but malformed");
	put_u16(tail + 2, 4);
	IS_I64(reflect_tail(tail, 8, out).peer_at, 0, "249 too short for a version is nobody's we know");
	IS_I64(out[0], 0x80, "and left with U set");
	put_u16(tail + 2, 36);
	memcpy(tail + 40, tail, 40);
	struct stamp_made made = reflect_tail(tail, 80, out);
	IS_I64(made.peer_at, 48, "two of ours: the first is filled");
	OK(out[0] == 0 && memcmp(out + 40, tail, 40) == 0, "the second is left as it came");
	tail[4 + 5] = 0xff;
	memset(tail + 10, 0xff, 30);
	reflect_tail(tail, 40, out);
	OK(out[9] == PEER.valid && get_u16(out + 12) == 0 && get_u64(out + 32) == 0,
		"what the sender claims is overwritten");
}

int main(void)
{
	base_fields();
	in_place();
	lengths();
	tlv_rules();
	peer_tlv_rules();
	return tap_done();
}
