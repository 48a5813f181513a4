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
	const uint8_t *payload;  /* of a reply: behind the header, borrowed */
	size_t payload_bytes;
};

/* Writes the 8-octet header of an echo request in front of a payload already in place at message + 8. */
void icmp_request(uint8_t *message, bool v6, uint16_t id, uint16_t sequence);
/* RFC 1071 over the whole message; ICMPv6 checksums are the kernel's. */
void icmp_checksum(uint8_t *message, size_t bytes);
/*
 * Reads an echo reply. Raw IPv4 sockets deliver the IP header too: set
 * `with_ip_header`. False when it is no echo reply or cut short.
 */
bool icmp_reply(const uint8_t *message, size_t bytes, bool v6, bool with_ip_header, struct icmp_echo *ret_echo);
