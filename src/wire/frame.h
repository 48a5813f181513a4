/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Ethernet frames that carry one UDP datagram over IPv4 or IPv6, for those who
 * bypass the kernel's stack: no VLAN tags, no IP options or extension headers, no
 * fragments. Every checksum is computed anew from the octets, never adjusted: what a
 * virtual interface hands over may hold half a checksum (frame_udp_read).
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	FRAME_MAC_BYTES = 6,
	FRAME_ADDRESS_BYTES = 16,
	FRAME_ETHERNET_BYTES = 14,
	FRAME_UDP4_BYTES = 14 + 20 + 8, /* before the payload */
	FRAME_UDP6_BYTES = 14 + 40 + 8,
	FRAME_LEAST_BYTES = 60,         /* Ethernet's minimum without its check sequence */
	FRAME_HOPS = 64,                /* TTL or hop limit of what is made here */
};

/* One end of a flow. An IPv4 address takes the first four octets. The port is in host order. */
struct frame_end {
	uint8_t mac[FRAME_MAC_BYTES], address[FRAME_ADDRESS_BYTES];
	uint16_t port;
};

static inline size_t frame_udp_header_bytes(bool v6)
{
	return v6 ? FRAME_UDP6_BYTES : FRAME_UDP4_BYTES;
}
/* Of the whole frame, padding included. */
static inline size_t frame_udp_bytes(bool v6, size_t payload_bytes)
{
	size_t bytes = frame_udp_header_bytes(v6) + payload_bytes;
	return bytes < FRAME_LEAST_BYTES ? FRAME_LEAST_BYTES : bytes;
}
/*
 * Writes the headers, and zeros where padding is needed. The payload, at most 65507 octets (65527 over IPv6), is the
 * caller's, at frame_udp_header_bytes(); then frame_udp_seal() makes the UDP checksum. A datagram over IPv4 must not
 * be fragmented on its way (DF).
 */
void frame_udp_fill(uint8_t *frame, bool v6, const struct frame_end *from, const struct frame_end *to, size_t payload_bytes);
void frame_udp_seal(uint8_t *frame, bool v6, size_t payload_bytes);

enum frame_verdict {
	FRAME_UDP,
	FRAME_OTHER,   /* something else: ARP, TCP, a fragment, options */
	FRAME_CUT,     /* shorter than it says itself */
	FRAME_DAMAGED, /* a checksum is wrong, or IPv6 without one */
};
struct frame_udp {
	bool v6;
	size_t payload_at, payload_bytes;
	struct frame_end from, to;
};
/*
 * Reads a frame of `bytes` octets. A UDP checksum that is only the sum of the pseudo header counts as right: that is
 * what the sending stack leaves there when it expects the card to finish it and there is none (veth).
 */
enum frame_verdict frame_udp_read(const uint8_t *frame, size_t bytes, struct frame_udp *ret_udp);
/* Turns a frame that was read into its reply, in place and with the same payload: from `mac` to where it came from. */
void frame_udp_turn(uint8_t *frame, const struct frame_udp *udp, const uint8_t mac[FRAME_MAC_BYTES]);
