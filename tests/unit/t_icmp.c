/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tap.h"
#include "wire/bytes.h"
#include "wire/icmp.h"
#include "wire/payload.h"

/* RFC 1071 as written: 16-bit big-endian words, carries folded one by one. */
static uint16_t plain_sum(const uint8_t *p, size_t bytes)
{
	uint32_t sum = 0;
	for (size_t i = 0; i < bytes; i += 2) {
		sum += (uint32_t)(p[i] << 8 | (i + 1 < bytes ? p[i + 1] : 0));
		sum = (sum & 0xffff) + (sum >> 16);
	}
	return (uint16_t)sum;
}

static uint32_t seed = 20240607;

static uint8_t random_octet(void)
{
	seed = seed * 1664525 + 1013904223;
	return (uint8_t)(seed >> 24);
}

static void requests(void)
{
	static const uint8_t want4[8] = {8, 0, 0, 0, 0x12, 0x34, 0xab, 0xcd};
	static const uint8_t want6[8] = {128, 0, 0, 0, 0x12, 0x34, 0xab, 0xcd};
	uint8_t message[9];
	memset(message, 0xee, sizeof(message));
	icmp_request(message, false, 0x1234, 0xabcd);
	OK(memcmp(message, want4, 8) == 0 && message[8] == 0xee, "ICMP request header");
	icmp_request(message, true, 0x1234, 0xabcd);
	OK(memcmp(message, want6, 8) == 0 && message[8] == 0xee, "ICMPv6 request header");
}

static void checksums(void)
{
	/* the example of RFC 1071 section 3 behind an empty checksum: sum ddf2, so the checksum is 220d */
	uint8_t example[12] = {0x00, 0x01, 0, 0, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7, 0, 0};
	icmp_checksum(example, 10);
	IS_I64(get_u16(example + 2), 0x220d, "RFC 1071 section 3");

	printf("# seed %u\n", seed);
	static uint8_t message[1600];
	size_t wrong = 0, touched = 0;
	for (size_t bytes = 8; bytes <= 1500; bytes++) {
		for (size_t i = 0; i < bytes + 8; i++)
			message[i] = bytes % 3 == 0 ? 0xff : random_octet();
		uint8_t behind[8];
		memcpy(behind, message + bytes, 8);
		icmp_checksum(message, bytes);
		wrong += plain_sum(message, bytes) != 0xffff;
		touched += memcmp(behind, message + bytes, 8) != 0;
	}
	IS_I64(wrong, 0, "every length from 8 to 1500 sums to ffff, odd ones and carries included");
	IS_I64(touched, 0, "and nothing behind the message counts or changes");

	memset(message, 0, 16);
	icmp_checksum(message, 16);
	IS_I64(get_u16(message + 2), 0xffff, "all zero");
}

static void replies(void)
{
	uint8_t message[64] = {0};
	payload_fill(message + 8, 56, 99);
	icmp_request(message, false, 7, 65535);
	struct icmp_echo echo = {.id = 1};
	OK(!icmp_reply(message, 64, false, false, &echo), "a request is no reply");
	OK(icmp_quoted_request(message, 64, false, &echo), "but reads as a quoted request");
	OK(!icmp_quoted_request(message, 64, true, &echo), "not as one of ICMPv6");
	message[0] = 0;
	OK(icmp_reply(message, 64, false, false, &echo), "reply");
	IS_I64(echo.id, 7, "id");
	IS_I64(echo.sequence, 65535, "sequence");
	IS_I64(echo.payload_bytes, 56, "payload length");
	OK(echo.payload == message + 8 && !echo.v6, "payload borrowed, version 4");
	OK(!icmp_reply(message, 64, true, false, &echo), "an ICMP reply is none of ICMPv6");
	message[1] = 1;
	OK(!icmp_reply(message, 64, false, false, &echo), "a code is refused");
	message[1] = 0;
	message[0] = 129;
	OK(icmp_reply(message, 64, true, true, &echo) && echo.v6 && echo.payload == message + 8,
		"ICMPv6 reply, never with an IP header");

	size_t wrong = 0;
	message[0] = 0;
	for (size_t bytes = 0; bytes <= 64; bytes++)
		wrong += icmp_reply(message, bytes, false, false, &echo) != (bytes >= 8);
	IS_I64(wrong, 0, "every truncation");
}

static void with_ip_header(void)
{
	uint8_t packet[128] = {0};
	uint8_t *message = packet + 24;
	packet[0] = 0x46; /* one word of options */
	packet[9] = 1;
	put_u16(packet + 2, 24 + 8 + 16);
	payload_fill(message + 8, 16, 5);
	icmp_request(message, false, 300, 4);
	message[0] = 0;
	struct icmp_echo echo;
	OK(icmp_reply(packet, 48, false, true, &echo), "behind an IP header with options");
	OK(echo.id == 300 && echo.sequence == 4 && echo.payload == message + 8, "id, sequence, payload");
	OK(icmp_reply(packet, 60, false, true, &echo) && echo.payload_bytes == 16,
		"octets behind the IP packet do not count");
	size_t wrong = 0;
	for (size_t bytes = 0; bytes <= 60; bytes++)
		wrong += icmp_reply(packet, bytes, false, true, &echo) != (bytes >= 48);
	IS_I64(wrong, 0, "cut short of its own length: refused");

	packet[9] = 17;
	OK(!icmp_reply(packet, 48, false, true, &echo), "not ICMP");
	packet[9] = 1;
	packet[0] = 0x44;
	OK(!icmp_reply(packet, 48, false, true, &echo), "header length under 20");
	packet[0] = 0x66;
	OK(!icmp_reply(packet, 48, false, true, &echo), "not version 4");
	packet[0] = 0x4f;
	OK(!icmp_reply(packet, 48, false, true, &echo), "header longer than the packet");
}

int main(void)
{
	requests();
	checksums();
	replies();
	with_ip_header();
	return tap_done();
}
