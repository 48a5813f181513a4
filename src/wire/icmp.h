/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ICMP and ICMPv6 echo messages (RFC 792, RFC 4443) as bytes. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ICMP_ECHO_HEADER_BYTES = 8 };

struct icmp_echo {
	bool v6;
	uint16_t id, sequence;
	const uint8_t *payload; /* behind the header, borrowed */
	size_t payload_bytes;
};

/* Writes the 8-octet header of an echo request in front of a payload already in place at message + 8; checksum 0. */
void icmp_request(uint8_t *message, bool v6, uint16_t id, uint16_t sequence);
/*
 * RFC 1071 over the whole message, any length from ICMP_ECHO_HEADER_BYTES up: about
 * 5 ns for 64 octets, so it is computed anew for each request. ICMPv6 checksums
 * and those of datagram ICMP sockets are the kernel's.
 */
void icmp_checksum(uint8_t *message, size_t bytes);
/*
 * Reads an echo reply. Raw IPv4 sockets deliver the IP header too: set
 * `with_ip_header` (ignored for v6, where the kernel takes it off). False when it
 * is no echo reply or cut short. The checksum is not looked at: the cookie in
 * the payload tells our replies, and raw sockets see what the kernel later drops.
 */
bool icmp_reply(const uint8_t *message, size_t bytes, bool v6, bool with_ip_header, struct icmp_echo *ret_echo);
/* Reads an echo request of ours as an error message quotes it (the bytes an error queue returns, no IP header). */
bool icmp_quoted_request(const uint8_t *message, size_t bytes, bool v6, struct icmp_echo *ret_echo);
