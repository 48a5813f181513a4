/* SPDX-License-Identifier: GPL-3.0-or-later */
/* UDP frames: octets computed by hand and by Python, cut and damaged ones, replies in place. */
#include "tap.h"
#include "wire/bytes.h"
#include "wire/frame.h"

static const struct frame_end HERE4 = {{2, 0, 0, 0, 0, 1}, {10, 77, 0, 1}, 40000};
static const struct frame_end THERE4 = {{2, 0, 0, 0, 0, 2}, {10, 77, 0, 2}, 7000};
static const struct frame_end HERE6 = {{2, 0, 0, 0, 0, 1}, {0xfd, 0x77, [15] = 1}, 40000};
static const struct frame_end THERE6 = {{2, 0, 0, 0, 0, 2}, {0xfd, 0x77, [15] = 2}, 7000};

static const struct frame_end *here(bool v6)
{
	return v6 ? &HERE6 : &HERE4;
}

static const struct frame_end *there(bool v6)
{
	return v6 ? &THERE6 : &THERE4;
}

static size_t make(uint8_t *frame, bool v6, size_t payload_bytes)
{
	frame_udp_fill(frame, v6, here(v6), there(v6), payload_bytes);
	for (size_t i = 0; i < payload_bytes; i++)
		frame[frame_udp_header_bytes(v6) + i] = (uint8_t)(i * 7 + 1);
	frame_udp_seal(frame, v6, payload_bytes);
	return frame_udp_bytes(v6, payload_bytes);
}

/* The sum of 16-bit big-endian words with its carry, as RFC 768 and 8200 write it: nothing shared with the code. */
static uint16_t plain_sum(const uint8_t *at, size_t bytes, uint32_t sum)
{
	for (size_t i = 0; i < bytes; i++)
		sum += i % 2 ? at[i] : (uint32_t)at[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

static bool udp_sum_right(const uint8_t *frame, bool v6, size_t payload_bytes)
{
	const uint8_t *addresses = frame + 14 + (v6 ? 8 : 12);
	uint32_t sum = plain_sum(addresses, v6 ? 32 : 8, 17 + 8 + (uint32_t)payload_bytes);
	return plain_sum(frame + frame_udp_header_bytes(v6) - 8, 8 + payload_bytes, sum) == 0xffff;
}

static void octets(void)
{
	uint8_t frame[128];
	memset(frame, 0xee, sizeof frame);
	IS_I64(make(frame, false, 4), 60, "IPv4: four octets are padded to Ethernet's minimum");
	static const uint8_t head[42] = {2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0, 0x45, 0, 0, 32, 0, 0, 0x40, 0, 64,
		17, 0x26, 0x31, 10, 77, 0, 1, 10, 77, 0, 2, 0x9c, 0x40, 0x1b, 0x58, 0, 12, 0x23, 0x83};
	size_t differ = 0;
	for (size_t i = 0; i < sizeof head; i++)
		if (frame[i] != head[i])
			printf("# octet %zu is %02x, expected %02x\n", i, frame[i], head[i]), differ++;
	IS_I64(differ, 0, "IPv4: headers octet by octet");
	IS_I64(frame[59] | frame[46], 0, "padding is zero");
	IS_I64(frame[60], 0xee, "nothing is written behind");
	memset(frame, 0xee, sizeof frame);
	IS_I64(make(frame, true, 16), 78, "IPv6: 62 octets of headers");
	OK(get_u16(frame + 12) == 0x86dd && frame[14] == 0x60 && get_u16(frame + 18) == 24 && frame[20] == 17 &&
			frame[21] == 64,
		"IPv6: type, version, length, next header, hops");
	IS_I64(frame[78], 0xee, "IPv6: nothing is written behind");
}

static void checksums(void)
{
	static uint8_t frame[2048];
	size_t wrong = 0, zero = 0;
	for (int v6 = 0; v6 <= 1; v6++)
		for (size_t bytes = 0; bytes <= 1472; bytes++) {
			make(frame, v6, bytes);
			wrong += !udp_sum_right(frame, v6, bytes) || (!v6 && plain_sum(frame + 14, 20, 0) != 0xffff);
			zero += get_u16(frame + frame_udp_header_bytes(v6) - 2) == 0;
		}
	IS_I64(wrong, 0, "checksums of every length from 0 to 1472, both families, as the RFCs write them");
	IS_I64(zero, 0, "and none is zero");
	/* all payloads of two octets meet every value of the checksum, the one that must not be sent as 0 among them */
	wrong = 0;
	for (unsigned value = 0; value < 65536; value++) {
		frame_udp_fill(frame, true, &HERE6, &THERE6, 2);
		put_u16(frame + FRAME_UDP6_BYTES, (uint16_t)value);
		frame_udp_seal(frame, true, 2);
		wrong += get_u16(frame + FRAME_UDP6_BYTES - 2) == 0 || !udp_sum_right(frame, true, 2);
	}
	IS_I64(wrong, 0, "a checksum that comes out as 0 is sent as 0xffff");
}

static void reading(void)
{
	static uint8_t frame[2048];
	struct frame_udp udp = {0};
	for (int v6 = 0; v6 <= 1; v6++) {
		size_t whole = make(frame, v6, 100), wrong = 0, read = 0;
		OK(frame_udp_read(frame, whole, &udp) == FRAME_UDP && udp.v6 == v6 && udp.payload_bytes == 100 &&
				udp.payload_at == frame_udp_header_bytes(v6),
			"IPv%d: read as it was made", v6 ? 6 : 4);
		OK(memcmp(&udp.from, here(v6), sizeof udp.from) == 0 && memcmp(&udp.to, there(v6), sizeof udp.to) == 0,
			"IPv%d: both ends", v6 ? 6 : 4);
		OK(frame_udp_read(frame, whole + 20, &udp) == FRAME_UDP && udp.payload_bytes == 100,
			"IPv%d: padding behind is no payload", v6 ? 6 : 4);
		for (size_t bytes = 0; bytes < whole; bytes++)
			wrong += frame_udp_read(frame, bytes, &udp) != FRAME_CUT;
		IS_I64(wrong, 0, "cut at any place: cut");
		/* one bit anywhere from the IP header on, but those that no checksum covers or that make it something
		 * else */
		for (size_t bit = 14 * 8; bit < whole * 8; bit++) {
			frame[bit / 8] ^= (uint8_t)(1 << bit % 8);
			read += frame_udp_read(frame, whole, &udp) == FRAME_UDP;
			frame[bit / 8] ^= (uint8_t)(1 << bit % 8);
		}
		/* IPv6 has no checksum of its own header: traffic class, flow label and hops are open (4 + 8 + 16 + 8
		 * bits) */
		IS_I64(read, v6 ? 36 : 0, "one bit changed: noticed wherever a checksum covers it");
	}
}

static void other_frames(void)
{
	static const struct {
		const char *name;
		size_t at;
		uint8_t value;
	} changes[] = {{"ARP", 13, 6}, {"a VLAN tag", 12, 0x81}, {"IP options", 14, 0x46}, {"TCP", 23, 6},
		{"a first fragment", 20, 0x20}, {"a later fragment", 21, 1}};
	uint8_t frame[256];
	struct frame_udp udp;
	for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
		size_t whole = make(frame, false, 64);
		frame[changes[i].at] = changes[i].value;
		IS_I64(frame_udp_read(frame, whole, &udp), FRAME_OTHER, changes[i].name);
	}
	size_t whole = make(frame, true, 64);
	frame[20] = 44;
	IS_I64(frame_udp_read(frame, whole, &udp), FRAME_OTHER, "IPv6: a fragment header");
}

static void half_checksums(void)
{
	uint8_t frame[256];
	struct frame_udp udp;
	for (int v6 = 0; v6 <= 1; v6++) {
		size_t whole = make(frame, v6, 64), at = frame_udp_header_bytes(v6) - 2;
		put_u16(frame + at, plain_sum(frame + 14 + (v6 ? 8 : 12), v6 ? 32 : 8, 17 + 72));
		IS_I64(frame_udp_read(frame, whole, &udp), FRAME_UDP,
			"the sum of the pseudo header alone is taken as right");
		put_u16(frame + at, 0);
		IS_I64(frame_udp_read(frame, whole, &udp), v6 ? FRAME_DAMAGED : FRAME_UDP,
			"no checksum: IPv4 may, IPv6 must not");
	}
}

static void replies(void)
{
	uint8_t frame[256], before[256];
	static const uint8_t own[6] = {2, 9, 9, 9, 9, 9};
	struct frame_udp udp, back;
	for (int v6 = 0; v6 <= 1; v6++) {
		size_t whole = make(frame, v6, 64);
		frame[v6 ? 21 : 22] = 3; /* hops left: a reply starts anew */
		if (!v6)
			put_u16(frame + 24, (uint16_t)(get_u16(frame + 24) + 61 * 256));
		memcpy(before, frame, sizeof before);
		OK(frame_udp_read(frame, whole, &udp) == FRAME_UDP, "IPv%d: a request with three hops left",
			v6 ? 6 : 4);
		frame_udp_turn(frame, &udp, own);
		OK(frame_udp_read(frame, whole, &back) == FRAME_UDP && udp_sum_right(frame, v6, 64),
			"its reply is sound");
		OK(memcmp(back.to.address, udp.from.address, 16) == 0 &&
				memcmp(back.from.address, udp.to.address, 16) == 0 && back.to.port == udp.from.port &&
				back.from.port == udp.to.port,
			"addresses and ports are exchanged");
		OK(memcmp(frame, udp.from.mac, 6) == 0 && memcmp(frame + 6, own, 6) == 0, "from our own MAC to its");
		OK(memcmp(frame + udp.payload_at, before + udp.payload_at, 64) == 0, "the payload is untouched");
		IS_I64(frame[v6 ? 21 : 22], FRAME_HOPS, "with all hops before it");
	}
}

int main(void)
{
	octets();
	checksums();
	reading();
	other_frames();
	half_checksums();
	replies();
	return tap_done();
}
