/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ICMP echo: requests made, replies and quoted requests read. */
#include "wire/icmp.h"

#include <string.h>

#include "wire/bytes.h"
#include "wire/checksum.h"

enum { ECHO_REPLY = 0, ECHO_REQUEST = 8, ECHO6_REQUEST = 128, ECHO6_REPLY = 129 };
enum { IP_HEADER_MIN_BYTES = 20, IP_PROTOCOL_AT = 9, IP_PROTOCOL_ICMP = 1 };

void icmp_request(uint8_t *message, bool v6, uint16_t id, uint16_t sequence)
{
	put_u32(message, (uint32_t)(v6 ? ECHO6_REQUEST : ECHO_REQUEST) << 24);
	put_u32(message + 4, (uint32_t)id << 16 | sequence);
}

void icmp_checksum(uint8_t *message, size_t bytes)
{
	memset(message + 2, 0, 2);
	uint16_t checksum = (uint16_t)~checksum_fold(checksum_words(message, bytes));
	memcpy(message + 2, &checksum, sizeof(checksum));
}

static bool echo_read(const uint8_t *message, size_t bytes, uint8_t type, struct icmp_echo *ret_echo)
{
	if (bytes < ICMP_ECHO_HEADER_BYTES || message[0] != type || message[1] != 0)
		return false;
	ret_echo->id = get_u16(message + 4);
	ret_echo->sequence = get_u16(message + 6);
	ret_echo->payload = message + ICMP_ECHO_HEADER_BYTES;
	ret_echo->payload_bytes = bytes - ICMP_ECHO_HEADER_BYTES;
	return true;
}

/* Where the IPv4 packet's content begins, 0 when it is none or not ICMP; cuts *bytes to the packet's own length. */
static size_t ip_header_bytes(const uint8_t *packet, size_t *bytes)
{
	if (*bytes < IP_HEADER_MIN_BYTES || packet[0] >> 4 != 4 || packet[IP_PROTOCOL_AT] != IP_PROTOCOL_ICMP)
		return 0;
	size_t header = (size_t)(packet[0] & 15) * 4, total = get_u16(packet + 2);
	if (header < IP_HEADER_MIN_BYTES || total < header || total > *bytes)
		return 0;
	*bytes = total;
	return header;
}

bool icmp_reply(const uint8_t *message, size_t bytes, bool v6, bool with_ip_header, struct icmp_echo *ret_echo)
{
	size_t header = 0;
	if (with_ip_header && !v6) {
		header = ip_header_bytes(message, &bytes);
		if (header == 0)
			return false;
	}
	if (!echo_read(message + header, bytes - header, v6 ? ECHO6_REPLY : ECHO_REPLY, ret_echo))
		return false;
	ret_echo->v6 = v6;
	return true;
}

bool icmp_quoted_request(const uint8_t *message, size_t bytes, bool v6, struct icmp_echo *ret_echo)
{
	if (!echo_read(message, bytes, v6 ? ECHO6_REQUEST : ECHO_REQUEST, ret_echo))
		return false;
	ret_echo->v6 = v6;
	return true;
}
