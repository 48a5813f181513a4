/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * UDP in IP in Ethernet. The pseudo header of the UDP checksum is summed from where
 * its parts lie: both addresses stand one behind the other in either family.
 */
#include "wire/frame.h"

#include <string.h>

#include "wire/bytes.h"
#include "wire/checksum.h"

enum { TYPE_AT = 12, TYPE_IPV4 = 0x0800, TYPE_IPV6 = 0x86dd, IP_AT = FRAME_ETHERNET_BYTES };
enum { IPV4_BYTES = 20, IPV6_BYTES = 40, UDP_BYTES = 8, PROTOCOL_UDP = 17 };
/* Within the IPv4 header. */
enum { V4_TOTAL = 2, V4_FRAGMENT = 6, V4_TTL = 8, V4_PROTOCOL = 9, V4_CHECKSUM = 10, V4_FROM = 12, V4_TO = 16 };
enum { DO_NOT_FRAGMENT = 0x4000, FRAGMENT_MASK = 0x3fff };
/* Within the IPv6 header. */
enum { V6_LENGTH = 4, V6_NEXT = 6, V6_HOPS = 7, V6_FROM = 8, V6_TO = 24 };
/* Within the UDP header. */
enum { UDP_FROM = 0, UDP_TO = 2, UDP_LENGTH = 4, UDP_CHECKSUM = 6 };

static size_t address_bytes(bool v6)
{
	return v6 ? 16 : 4;
}

static uint8_t *udp_of(uint8_t *frame, bool v6)
{
	return frame + frame_udp_header_bytes(v6) - UDP_BYTES;
}

/* Of both addresses, the protocol and the datagram's length, folded. */
static uint16_t pseudo_sum(const uint8_t *frame, bool v6, size_t datagram_bytes)
{
	uint8_t rest[8];
	put_u32(rest, (uint32_t)datagram_bytes);
	put_u32(rest + 4, PROTOCOL_UDP);
	const uint8_t *addresses = frame + IP_AT + (v6 ? V6_FROM : V4_FROM);
	return checksum_fold(checksum_words(addresses, 2 * address_bytes(v6)) + checksum_words(rest, sizeof rest));
}

/* Stored as it lies; see checksum.h. */
static void store(uint8_t *at, uint16_t checksum)
{
	memcpy(at, &checksum, sizeof checksum);
}

static void seal_ipv4(uint8_t *ip)
{
	store(ip + V4_CHECKSUM, 0);
	store(ip + V4_CHECKSUM, (uint16_t)~checksum_fold(checksum_words(ip, IPV4_BYTES)));
}

void frame_udp_seal(uint8_t *frame, bool v6, size_t payload_bytes)
{
	uint8_t *udp = udp_of(frame, v6);
	size_t datagram_bytes = UDP_BYTES + payload_bytes;
	store(udp + UDP_CHECKSUM, 0);
	uint16_t sum = checksum_fold(pseudo_sum(frame, v6, datagram_bytes) + checksum_words(udp, datagram_bytes));
	/* 0 would mean: none */
	store(udp + UDP_CHECKSUM, sum == UINT16_MAX ? UINT16_MAX : (uint16_t)~sum);
}

static void fill_ipv4(uint8_t *ip, const struct frame_end *from, const struct frame_end *to, size_t datagram_bytes)
{
	memset(ip, 0, IPV4_BYTES);
	ip[0] = 0x45;
	put_u16(ip + V4_TOTAL, (uint16_t)(IPV4_BYTES + datagram_bytes));
	put_u16(ip + V4_FRAGMENT, DO_NOT_FRAGMENT);
	ip[V4_TTL] = FRAME_HOPS;
	ip[V4_PROTOCOL] = PROTOCOL_UDP;
	memcpy(ip + V4_FROM, from->address, 4);
	memcpy(ip + V4_TO, to->address, 4);
	seal_ipv4(ip);
}

static void fill_ipv6(uint8_t *ip, const struct frame_end *from, const struct frame_end *to, size_t datagram_bytes)
{
	memset(ip, 0, IPV6_BYTES);
	ip[0] = 0x60;
	put_u16(ip + V6_LENGTH, (uint16_t)datagram_bytes);
	ip[V6_NEXT] = PROTOCOL_UDP;
	ip[V6_HOPS] = FRAME_HOPS;
	memcpy(ip + V6_FROM, from->address, 16);
	memcpy(ip + V6_TO, to->address, 16);
}

void frame_udp_fill(
	uint8_t *frame, bool v6, const struct frame_end *from, const struct frame_end *to, size_t payload_bytes)
{
	size_t datagram_bytes = UDP_BYTES + payload_bytes;
	size_t filled = frame_udp_header_bytes(v6) + payload_bytes, whole = frame_udp_bytes(v6, payload_bytes);
	memcpy(frame, to->mac, FRAME_MAC_BYTES);
	memcpy(frame + FRAME_MAC_BYTES, from->mac, FRAME_MAC_BYTES);
	put_u16(frame + TYPE_AT, v6 ? TYPE_IPV6 : TYPE_IPV4);
	(v6 ? fill_ipv6 : fill_ipv4)(frame + IP_AT, from, to, datagram_bytes);
	uint8_t *udp = udp_of(frame, v6);
	put_u16(udp + UDP_FROM, from->port);
	put_u16(udp + UDP_TO, to->port);
	put_u16(udp + UDP_LENGTH, (uint16_t)datagram_bytes);
	store(udp + UDP_CHECKSUM, 0);
	memset(frame + filled, 0, whole - filled);
}

/* Octets of IP from its header on; 0: not what is read here. */
static size_t ip_total(const uint8_t *ip, bool v6)
{
	if (v6)
		return ip[0] >> 4 == 6 && ip[V6_NEXT] == PROTOCOL_UDP ? (size_t)IPV6_BYTES + get_u16(ip + V6_LENGTH)
								      : 0;
	if (ip[0] != 0x45 || ip[V4_PROTOCOL] != PROTOCOL_UDP || get_u16(ip + V4_FRAGMENT) & FRAGMENT_MASK)
		return 0;
	return get_u16(ip + V4_TOTAL);
}

static bool checksum_right(const uint8_t *frame, const struct frame_udp *udp)
{
	const uint8_t *header = frame + udp->payload_at - UDP_BYTES;
	size_t datagram_bytes = UDP_BYTES + udp->payload_bytes;
	uint16_t found, pseudo = pseudo_sum(frame, udp->v6, datagram_bytes);
	memcpy(&found, header + UDP_CHECKSUM, sizeof found);
	if (!udp->v6 && checksum_fold(checksum_words(frame + IP_AT, IPV4_BYTES)) != UINT16_MAX)
		return false;
	if (found == 0)
		return !udp->v6;
	return found == pseudo || checksum_fold(pseudo + checksum_words(header, datagram_bytes)) == UINT16_MAX;
}

static void read_ends(const uint8_t *frame, struct frame_udp *udp)
{
	const uint8_t *header = frame + udp->payload_at - UDP_BYTES;
	const uint8_t *addresses = frame + IP_AT + (udp->v6 ? V6_FROM : V4_FROM);
	memcpy(udp->to.mac, frame, FRAME_MAC_BYTES);
	memcpy(udp->from.mac, frame + FRAME_MAC_BYTES, FRAME_MAC_BYTES);
	memcpy(udp->from.address, addresses, address_bytes(udp->v6));
	memcpy(udp->to.address, addresses + address_bytes(udp->v6), address_bytes(udp->v6));
	udp->from.port = get_u16(header + UDP_FROM);
	udp->to.port = get_u16(header + UDP_TO);
}

enum frame_verdict frame_udp_read(const uint8_t *frame, size_t bytes, struct frame_udp *ret_udp)
{
	if (bytes < FRAME_ETHERNET_BYTES)
		return FRAME_CUT;
	struct frame_udp udp = {.v6 = get_u16(frame + TYPE_AT) == TYPE_IPV6};
	if (!udp.v6 && get_u16(frame + TYPE_AT) != TYPE_IPV4)
		return FRAME_OTHER;
	udp.payload_at = frame_udp_header_bytes(udp.v6);
	if (bytes < udp.payload_at)
		return FRAME_CUT;
	size_t total = ip_total(frame + IP_AT, udp.v6),
	       datagram_bytes = get_u16(frame + udp.payload_at - UDP_BYTES + UDP_LENGTH);
	if (total == 0)
		return FRAME_OTHER;
	/* the datagram fills its packet, and the packet fits its frame: padding is behind it */
	if (datagram_bytes < UDP_BYTES || total != udp.payload_at - IP_AT - UDP_BYTES + datagram_bytes ||
		IP_AT + total > bytes)
		return FRAME_CUT;
	udp.payload_bytes = datagram_bytes - UDP_BYTES;
	if (!checksum_right(frame, &udp))
		return FRAME_DAMAGED;
	read_ends(frame, &udp);
	*ret_udp = udp;
	return FRAME_UDP;
}

void frame_udp_turn(uint8_t *frame, const struct frame_udp *udp, const uint8_t mac[FRAME_MAC_BYTES])
{
	struct frame_end own = udp->to;
	memcpy(own.mac, mac, FRAME_MAC_BYTES);
	size_t datagram_bytes = UDP_BYTES + udp->payload_bytes;
	uint8_t *header = udp_of(frame, udp->v6);
	memcpy(frame, udp->from.mac, FRAME_MAC_BYTES);
	memcpy(frame + FRAME_MAC_BYTES, mac, FRAME_MAC_BYTES);
	(udp->v6 ? fill_ipv6 : fill_ipv4)(frame + IP_AT, &own, &udp->from, datagram_bytes);
	put_u16(header + UDP_FROM, own.port);
	put_u16(header + UDP_TO, udp->from.port);
	frame_udp_seal(frame, udp->v6, udp->payload_bytes);
}
