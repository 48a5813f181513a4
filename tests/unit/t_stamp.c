/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Requests field by field, and replies of every kind of peer. The reflector has its own test. */
#include <stdlib.h>

#include "tap.h"
#include "stamp_request.h"
#include "wire/stamp.h"

static const uint64_t COOKIE = 0xc0ffee0123456789, NUMBER = 0x0000000500000007, T1 = 0xe9a1b2c3d4e5f607;

static bool all_zero(const uint8_t *p, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		if (p[i])
			return false;
	return true;
}

static void request_fields(void)
{
	uint8_t p[121];
	memset(p, 0xee, sizeof(p));
	request_fill(p, 120, COOKIE, 0x1234, 0x8f90);
	request_number(p, NUMBER, T1);
	IS_I64(get_u32(p), 7, "sequence: low 32 bits of the number");
	OK(get_u64(p + 4) == T1, "T1");
	IS_I64(get_u16(p + 12), 0x8f90, "error estimate");
	IS_I64(get_u16(p + 14), 0x1234, "SSID");
	OK(all_zero(p, 16, 44), "MBZ to the end of the base");
	IS_I64(p[44], 0x80, "padding TLV: U set");
	IS_I64(p[45], 1, "padding TLV: type 1");
	IS_I64(get_u16(p + 46), 32, "padding TLV: takes what is over");
	OK(get_u64(p + 48) == NUMBER, "64-bit number");
	OK(get_u64(p + 56) == COOKIE, "cookie");
	IS_I64(p[64], 16, "fill begins");
	IS_I64(p[79], 31, "fill ends");
	IS_I64(p[80], 0x80, "peer TLV: U set");
	IS_I64(p[81], 249, "peer TLV: type 249");
	IS_I64(get_u16(p + 82), 36, "peer TLV: length");
	IS_I64(get_u32(p + 84), 0x54415245, "project cookie");
	IS_I64(p[88], 1, "version");
	OK(all_zero(p, 89, 120), "the rest is left zero");
	IS_I64(p[120], 0xee, "nothing written behind");

	request_fill(p, STAMP_REQUEST_MIN_BYTES, COOKIE, 0, 1);
	IS_I64(get_u16(p + 46), 16, "smallest request: 16 octets of padding");
	IS_I64(p[65], 249, "and the peer TLV right behind");
}

/* A reply as a complete RFC 8972 peer with our TLV makes it, written here octet by octet. */
static void full_reply(uint8_t p[104])
{
	request_fill(p, 104, COOKIE, 0, 0);
	request_number(p, NUMBER, 0);
	put_u32(p, 1001);
	put_u64(p + 4, 0x3333333344444444);
	put_u16(p + 12, 0x4081);
	put_u16(p + 14, 0x0bad);
	put_u64(p + 16, 0x1111111122222222);
	put_u32(p + 24, 7);
	put_u64(p + 28, T1);
	put_u16(p + 36, 0x3fff);
	p[40] = 64;
	p[44] = 0;
	uint8_t *value = p + 68;
	p[64] = 0;
	value[5] = 0xbf;
	put_u16(value + 6, 1);
	put_u16(value + 8, 2);
	put_u16(value + 10, 3);
	put_u64(value + 12, 1700000000000000001);
	put_u64(value + 20, 1700000000000000002);
	put_u64(value + 28, 1700000000000000003);
}

static void reply_fields(void)
{
	uint8_t p[104];
	full_reply(p);
	struct stamp_reply r = {0};
	OK(reply_read(p, sizeof(p), COOKIE, &r), "full reply");
	IS_I64(r.sequence, 1001, "own sequence");
	IS_I64(r.sender_sequence, 7, "echoed sequence");
	OK(r.sender_t1_ntp == T1, "echoed T1");
	OK(r.t2 == 0x1111111122222222 && r.t3 == 0x3333333344444444, "T2, T3 raw");
	IS_I64(r.error_estimate, 0x4081, "error estimate");
	IS_I64(r.ssid, 0x0bad, "SSID");
	IS_I64(r.sender_ttl, 64, "TTL");
	OK(r.has_number && r.number == NUMBER, "number beyond 32 bits");
	OK(r.has_peer, "peer TLV");
	IS_I64(r.peer.valid, 0xbf, "valid mask");
	IS_I64(r.peer.rx_cpu, 1, "CPU at receive");
	IS_I64(r.peer.tx_cpu, 2, "CPU at send");
	IS_I64(r.peer.irq_cpu, 3, "CPU of the interrupt");
	IS_I64(r.peer.kernel_rx_ns, 1700000000000000001, "kernel receive");
	IS_I64(r.peer.user_rx_ns, 1700000000000000002, "user receive");
	IS_I64(r.peer.user_tx_ns, 1700000000000000003, "user send");
}

static void reply_truncated(void)
{
	/* each length in a block of its own, so that a sanitizer sees every octet read too far */
	uint8_t p[200] = {0};
	full_reply(p);
	p[104] = 0x80; /* an unknown TLV to the end */
	p[105] = 77;
	put_u16(p + 106, 92);
	size_t wrong = 0;
	for (size_t bytes = 0; bytes <= sizeof(p); bytes++) {
		uint8_t *cut = malloc(bytes ? bytes : 1);
		if (!cut)
			return;
		memcpy(cut, p, bytes);
		struct stamp_reply r = {.sequence = 5};
		bool read = reply_read(cut, bytes, COOKIE, &r);
		wrong += read != (bytes >= 36);
		wrong += !read && r.sequence != 5;
		wrong += read && (r.has_number != (bytes >= 64) || r.has_peer != (bytes >= 104));
		wrong += read && r.sender_ttl != (bytes > 40 ? 64 : -1);
		free(cut);
	}
	IS_I64(wrong, 0, "every length from 0 to 200: base from 36, TTL from 41, number from 64, peer from 104");
}

static void light_peers(void)
{
	uint8_t p[44];
	uint8_t full[104];
	full_reply(full);
	memcpy(p, full, sizeof(p));
	struct stamp_reply r;
	OK(reply_read(p, 38, COOKIE, &r), "38 octets");
	OK(r.sender_sequence == 7 && r.sender_t1_ntp == T1 && r.sender_ttl == -1, "echo is there, TTL is not");
	OK(!r.has_number && !r.has_peer, "no TLVs");
	OK(reply_read(p, 41, COOKIE, &r) && r.sender_ttl == 64, "41 octets hold the TTL");
	OK(reply_read(p, 44, COOKIE, &r) && !r.has_number && !r.has_peer, "44 octets");
}

static void odd_tlvs(void)
{
	uint8_t p[104];
	struct stamp_reply r;
	full_reply(p);
	p[44] = p[64] = 0x80; /* copied verbatim by a peer that knows no TLVs */
	OK(reply_read(p, 104, COOKIE, &r) && r.has_number && !r.has_peer,
		"U left: number counts, zeros of 249 do not");
	static const uint8_t bad_flags[] = {0x40, 0x20, 0xe0};
	for (size_t i = 0; i < sizeof(bad_flags); i++) {
		full_reply(p);
		p[64] = bad_flags[i];
		OK(reply_read(p, 104, COOKIE, &r) && !r.has_peer, "peer TLV with flags %02x is not believed",
			bad_flags[i]);
	}
	full_reply(p);
	OK(reply_read(p, 104, COOKIE + 1, &r) && !r.has_number && r.has_peer, "another cookie: no number");
	p[68] ^= 1;
	OK(reply_read(p, 104, COOKIE, &r) && r.has_number && !r.has_peer, "foreign use of 249");
	full_reply(p);
	p[72] = 2;
	OK(reply_read(p, 104, COOKIE, &r) && !r.has_peer, "peer TLV of a later version");
	full_reply(p);
	put_u16(p + 46, 65535);
	OK(reply_read(p, 104, COOKIE, &r) && r.has_number && !r.has_peer,
		"a cut padding TLV ends the walk, its cookie counts");
	put_u16(p + 46, 15);
	OK(reply_read(p, 104, COOKIE, &r) && !r.has_number, "padding too short for number and cookie");
	full_reply(p);
	p[45] = 2;
	OK(reply_read(p, 104, COOKIE, &r) && !r.has_number && r.has_peer, "unknown types are stepped over");
	memset(p + 44, 0, 60);
	OK(reply_read(p, 104, COOKIE, &r) && !r.has_number && !r.has_peer, "zero padding instead of TLVs");
}

int main(void)
{
	request_fields();
	reply_fields();
	reply_truncated();
	light_peers();
	odd_tlvs();
	return tap_done();
}
