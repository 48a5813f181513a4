/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where things lie in a frame: from the link layer through tags and tunnels to
 * the innermost transport header. What was not captured is not guessed: every
 * field that needs absent bytes stays zero and `has` says what was found. All
 * pointers lead into the frame.
 *
 * Of a fragment of a larger datagram, `fragment` says which part of which it is. The
 * first one has ports and the beginning of the payload, whose length on the wire is
 * the datagram's; what is in a tunnel is looked at only when the datagram is whole
 * (fragments.h).
 *
 * Link layers: Ethernet, Linux cooked v1 and v2, raw IP, BSD loopback. Between
 * them and IP: VLAN (any depth), MPLS, PPPoE, the time tags of switches (0xD28B,
 * 0x8988, 0x22E5). Tunnels: GRE, ERSPAN I to III, IP in IP, VXLAN.
 */
#pragma once
#include "import/capture/frame.h"

enum layers_has {
	LAYERS_IP = 1 << 0,
	LAYERS_PORTS = 1 << 1, /* source and target port */
	LAYERS_TCP = 1 << 2,   /* sequence, acknowledgement, flags, and where the payload begins */
	LAYERS_UDP = 1 << 3,
	LAYERS_ECHO_REQUEST = 1 << 4, /* ICMP or ICMPv6; echo_id and echo_sequence */
	LAYERS_ECHO_REPLY = 1 << 5,
	LAYERS_FRAGMENT = 1 << 6,       /* a later fragment: no transport header */
	LAYERS_FIRST_FRAGMENT = 1 << 7, /* the first of several */
	LAYERS_TUNNEL = 1 << 8,         /* addresses are those inside a tunnel */
	LAYERS_JOINED = 1 << 9,         /* a datagram put together from its fragments */
};

enum { TCP_FIN = 1, TCP_SYN = 2, TCP_RST = 4, TCP_PSH = 8, TCP_ACK = 16 };
enum {
	PROTOCOL_ICMP = 1,
	PROTOCOL_TCP = 6,
	PROTOCOL_UDP = 17,
	PROTOCOL_GRE = 47,
	PROTOCOL_ICMPV6 = 58,
	PROTOCOL_KEYFRAME = 253
};

/* Part of a datagram: everything behind the IP header, or behind IPv6's fragment header. */
struct layers_fragment {
	const uint8_t *bytes;
	uint32_t at, count, captured; /* offset in the datagram, length on the wire, and what of it is here */
	uint32_t id;
	uint8_t protocol; /* of the datagram, as this fragment has it */
	bool last;
};

struct layers {
	uint32_t has;                              /* enum layers_has */
	uint16_t ethertype;                        /* of the outermost network layer, tags passed over; 0: unknown */
	uint8_t version, protocol, ttl, tcp_flags; /* version 4 or 6 */
	uint16_t source_port, target_port;
	uint16_t ip_id; /* IPv4 only */
	uint16_t echo_id, echo_sequence;
	uint32_t tcp_sequence, tcp_acknowledged;
	const uint8_t *source, *target; /* addresses of 4 or 16 bytes */
	const uint8_t *payload;         /* behind UDP, TCP or the echo header, as far as captured */
	uint32_t payload_captured;
	uint32_t payload_bytes;   /* on the wire, padding and trailers left out */
	uint32_t net_at, net_end; /* outermost network packet within the frame; net_end 0: its length is unknown */
	/* offsets of time tags behind their EtherType, 0: none */
	uint32_t avsp_at, ttag_at, gigamon_at, erspan_at;
	uint8_t erspan_bytes;            /* captured from erspan_at on, at most 20 */
	struct layers_fragment fragment; /* where LAYERS_FRAGMENT or LAYERS_FIRST_FRAGMENT */
};

enum { LAYERS_ANY_FRAGMENT = LAYERS_FRAGMENT | LAYERS_FIRST_FRAGMENT };

void layers_of(const struct capture_frame *frame, struct layers *ret_layers);
/*
 * What a datagram of `count` bytes on the wire, the first `captured` of them at `bytes`, is: `layers` has the network
 * layer of its first fragment, and all above it is filled in, tunnels too.
 */
void layers_of_joined(struct layers *layers, const uint8_t *bytes, uint32_t captured, uint32_t count);
/* "10.0.0.1:7000", "[fe80::1]:53", without a port where it is 0. 64 bytes always do. */
void layers_format_address(const uint8_t *address, uint8_t version, uint16_t port, char *buffer, size_t room);
