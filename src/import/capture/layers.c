/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Decoding with a cursor over what was captured. Each layer checks its own
 * length, steps over it and names the next one; a depth limit ends tunnels that
 * contain themselves. The outermost network packet is remembered for trailers,
 * the innermost for everything else.
 */
#include "import/capture/layers.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "wire/bytes.h"

enum { DEPTH_MAX = 8, TAGS_MAX = 16, EXTENSIONS_MAX = 16 };
enum {
	ETHER_IPV4 = 0x0800,
	ETHER_IPV6 = 0x86dd,
	ETHER_VLAN = 0x8100,
	ETHER_QINQ = 0x88a8,
	ETHER_OLD_QINQ = 0x9100,
	ETHER_MPLS = 0x8847,
	ETHER_MPLS_MULTICAST = 0x8848,
	ETHER_PPPOE = 0x8864,
	ETHER_AVSP = 0xd28b,
	ETHER_TTAG = 0x8988,
	ETHER_GIGAMON = 0x22e5,
	ETHER_BRIDGED = 0x6558,
	ETHER_ERSPAN_2 = 0x88be,
	ETHER_ERSPAN_3 = 0x22eb,
};
enum { VXLAN_PORT = 4789, IP_IN_IP = 4, IPV6_IN_IP = 41 };

struct cursor {
	const uint8_t *base, *at, *end;
	struct layers *layers;
	int depth;
};

static bool holds(const struct cursor *cursor, size_t bytes)
{
	return (size_t)(cursor->end - cursor->at) >= bytes;
}

static void ethernet(struct cursor *cursor);
static void network(struct cursor *cursor, unsigned ethertype);
static void ipv4(struct cursor *cursor);
static void ipv6(struct cursor *cursor);

static void by_version(struct cursor *cursor)
{
	if (!holds(cursor, 1))
		return;
	if (*cursor->at >> 4 == 4)
		ipv4(cursor);
	else if (*cursor->at >> 4 == 6)
		ipv6(cursor);
}

/* Steps over MPLS labels to what lies below the last. */
static void mpls(struct cursor *cursor)
{
	bool bottom = false;
	for (int i = 0; i < TAGS_MAX && !bottom; i++) {
		if (!holds(cursor, 4))
			return;
		bottom = cursor->at[2] & 1;
		cursor->at += 4;
	}
	if (!bottom || !holds(cursor, 4))
		return;
	unsigned nibble = *cursor->at >> 4;
	if (nibble == 4 || nibble == 6) {
		by_version(cursor);
	} else if (nibble == 0) {
		cursor->at += 4; /* control word of a pseudowire */
		ethernet(cursor);
	}
}

/* The header of 0xD28B; false when it is not one of time or is cut. */
static bool avsp(struct cursor *cursor, unsigned *ret_ethertype)
{
	size_t bytes;
	if (!holds(cursor, 4) || get_u16(cursor->at) != 1)
		return false;
	unsigned format = get_u16(cursor->at + 2) >> 4 & 15;
	bytes = format == 1 ? 12 : format == 2 ? 10 : 0;
	if (!bytes || !holds(cursor, bytes + 2))
		return false;
	if (!cursor->layers->avsp_at)
		cursor->layers->avsp_at = (uint32_t)(cursor->at - cursor->base);
	*ret_ethertype = get_u16(cursor->at + bytes);
	cursor->at += bytes + 2;
	return true;
}

static bool gigamon(struct cursor *cursor, unsigned *ret_ethertype)
{
	if (!holds(cursor, 1))
		return false;
	size_t bytes = cursor->at[0]; /* the length counts itself */
	if (!bytes || !holds(cursor, bytes + 2))
		return false;
	if (!cursor->layers->gigamon_at)
		cursor->layers->gigamon_at = (uint32_t)(cursor->at - cursor->base);
	*ret_ethertype = get_u16(cursor->at + bytes);
	cursor->at += bytes + 2;
	return true;
}

/* One tag between EtherType and network layer; false when there is none to step over. */
static bool step_over_tag(struct cursor *cursor, unsigned *ethertype)
{
	switch (*ethertype) {
	case ETHER_VLAN:
	case ETHER_QINQ:
	case ETHER_OLD_QINQ:
		if (!holds(cursor, 4))
			return false;
		*ethertype = get_u16(cursor->at + 2);
		cursor->at += 4;
		return true;
	case ETHER_TTAG:
		if (!holds(cursor, 8))
			return false;
		if (!cursor->layers->ttag_at)
			cursor->layers->ttag_at = (uint32_t)(cursor->at - cursor->base);
		*ethertype = get_u16(cursor->at + 6);
		cursor->at += 8;
		return true;
	case ETHER_PPPOE: {
		if (!holds(cursor, 8))
			return false;
		unsigned ppp = get_u16(cursor->at + 6);
		*ethertype = ppp == 0x21 ? ETHER_IPV4 : ppp == 0x57 ? ETHER_IPV6 : 0;
		cursor->at += 8;
		return true;
	}
	case ETHER_AVSP:
		return avsp(cursor, ethertype);
	case ETHER_GIGAMON:
		return gigamon(cursor, ethertype);
	default:
		return false;
	}
}

static void network(struct cursor *cursor, unsigned ethertype)
{
	for (int i = 0; i < TAGS_MAX && step_over_tag(cursor, &ethertype); i++)
		;
	if (!cursor->layers->ethertype) {
		cursor->layers->ethertype = (uint16_t)ethertype;
		cursor->layers->net_at = (uint32_t)(cursor->at - cursor->base);
	}
	if (ethertype == ETHER_IPV4 || ethertype == ETHER_IPV6)
		by_version(cursor);
	else if (ethertype == ETHER_MPLS || ethertype == ETHER_MPLS_MULTICAST)
		mpls(cursor);
}

static void ethernet(struct cursor *cursor)
{
	if (!holds(cursor, 14) || cursor->depth++ == DEPTH_MAX)
		return;
	unsigned ethertype = get_u16(cursor->at + 12);
	cursor->at += 14;
	network(cursor, ethertype);
}

static void tunnel(struct cursor *cursor)
{
	struct layers *layers = cursor->layers;
	layers->has = LAYERS_TUNNEL;
	layers->payload = NULL;
	layers->payload_bytes = layers->payload_captured = 0;
	layers->source = layers->target = NULL;
	layers->source_port = layers->target_port = 0;
}

static void erspan(struct cursor *cursor, unsigned type, bool sequenced)
{
	size_t header = type == ETHER_ERSPAN_3 ? 12 : sequenced ? 8 : 0;
	struct layers *layers = cursor->layers;
	if (!holds(cursor, header))
		return;
	if (type == ETHER_ERSPAN_3) {
		size_t captured = (size_t)(cursor->end - cursor->at);
		bool platform = cursor->at[11] & 1;
		unsigned frame_type = get_u16(cursor->at + 10) >> 10 & 31;
		layers->erspan_at = (uint32_t)(cursor->at - cursor->base);
		layers->erspan_bytes = (uint8_t)(captured < 20 ? captured : 20);
		header += platform ? 8 : 0;
		if (!holds(cursor, header))
			return;
		cursor->at += header;
		tunnel(cursor);
		if (frame_type == 2)
			by_version(cursor);
		else
			ethernet(cursor);
		return;
	}
	cursor->at += header;
	tunnel(cursor);
	ethernet(cursor);
}

static void gre(struct cursor *cursor)
{
	if (!holds(cursor, 4))
		return;
	unsigned flags = get_u16(cursor->at), type = get_u16(cursor->at + 2);
	size_t header = 4 + (flags & 0x8000 ? 4u : 0u) + (flags & 0x2000 ? 4u : 0u) + (flags & 0x1000 ? 4u : 0u);
	if ((flags & 7) != 0 || !holds(cursor, header) || cursor->depth++ == DEPTH_MAX)
		return;
	cursor->at += header;
	if (type == ETHER_ERSPAN_2 || type == ETHER_ERSPAN_3) {
		erspan(cursor, type, flags & 0x1000);
	} else if (type == ETHER_BRIDGED) {
		tunnel(cursor);
		ethernet(cursor);
	} else if (type == ETHER_IPV4 || type == ETHER_IPV6) {
		tunnel(cursor);
		by_version(cursor);
	}
}

/* `bytes`: length on the wire of what begins at the cursor. */
static void payload(struct cursor *cursor, size_t header, uint32_t bytes)
{
	struct layers *layers = cursor->layers;
	if (bytes < header)
		return;
	cursor->at += header;
	layers->payload = cursor->at;
	layers->payload_bytes = bytes - (uint32_t)header;
	size_t captured = (size_t)(cursor->end - cursor->at);
	layers->payload_captured = captured < layers->payload_bytes ? (uint32_t)captured : layers->payload_bytes;
}

static void udp(struct cursor *cursor, uint32_t bytes)
{
	struct layers *layers = cursor->layers;
	if (!holds(cursor, 4))
		return;
	layers->has |= LAYERS_PORTS | LAYERS_UDP;
	layers->source_port = get_u16(cursor->at);
	layers->target_port = get_u16(cursor->at + 2);
	if (!holds(cursor, 8))
		return;
	uint32_t told = get_u16(cursor->at + 4);
	if (layers->has & LAYERS_FIRST_FRAGMENT) {
		/* the length is the datagram's, the bytes are those of this part */
		payload(cursor, 8, bytes);
		if (told > bytes)
			layers->payload_bytes = told - 8;
		return;
	}
	payload(cursor, 8, told >= 8 && told < bytes ? told : bytes);
	if (layers->target_port == VXLAN_PORT && layers->payload_captured > 8 && (cursor->at[0] & 8) != 0 &&
		cursor->depth++ < DEPTH_MAX) {
		cursor->at += 8;
		tunnel(cursor);
		ethernet(cursor);
	}
}

static void tcp(struct cursor *cursor, uint32_t bytes)
{
	struct layers *layers = cursor->layers;
	if (!holds(cursor, 4))
		return;
	layers->has |= LAYERS_PORTS;
	layers->source_port = get_u16(cursor->at);
	layers->target_port = get_u16(cursor->at + 2);
	if (!holds(cursor, 14))
		return;
	layers->has |= LAYERS_TCP;
	layers->tcp_sequence = get_u32(cursor->at + 4);
	layers->tcp_acknowledged = get_u32(cursor->at + 8);
	layers->tcp_flags = cursor->at[13];
	size_t header = (size_t)(cursor->at[12] >> 4) * 4;
	if (header < 20 || bytes < header) {
		layers->has &= ~(uint32_t)LAYERS_TCP;
		return;
	}
	layers->payload_bytes = bytes - (uint32_t)header;
	if (holds(cursor, header))
		payload(cursor, header, bytes);
}

static void icmp(struct cursor *cursor, uint32_t bytes, bool v6)
{
	struct layers *layers = cursor->layers;
	if (!holds(cursor, 8))
		return;
	unsigned type = cursor->at[0];
	if (type == (v6 ? 128 : 8))
		layers->has |= LAYERS_ECHO_REQUEST;
	else if (type == (v6 ? 129 : 0))
		layers->has |= LAYERS_ECHO_REPLY;
	else
		return;
	layers->echo_id = get_u16(cursor->at + 4);
	layers->echo_sequence = get_u16(cursor->at + 6);
	payload(cursor, 8, bytes);
}

static void transport(struct cursor *cursor, uint32_t bytes)
{
	bool part = cursor->layers->has & LAYERS_FIRST_FRAGMENT; /* of a tunnelled packet too: not to be read alone */
	switch (cursor->layers->protocol) {
	case PROTOCOL_UDP:
		udp(cursor, bytes);
		break;
	case PROTOCOL_TCP:
		tcp(cursor, bytes);
		break;
	case PROTOCOL_ICMP:
		icmp(cursor, bytes, false);
		break;
	case PROTOCOL_ICMPV6:
		icmp(cursor, bytes, true);
		break;
	case PROTOCOL_GRE:
		if (!part)
			gre(cursor);
		break;
	case IP_IN_IP:
	case IPV6_IN_IP:
		if (!part && cursor->depth++ < DEPTH_MAX) {
			tunnel(cursor);
			by_version(cursor);
		}
		break;
	default:
		break;
	}
}

/* The packet ends at `bytes` from here, whatever follows: padding, check sequence, trailer. */
static void bound(struct cursor *cursor, size_t bytes)
{
	struct layers *layers = cursor->layers;
	if (!layers->net_end && !(layers->has & LAYERS_TUNNEL))
		layers->net_end = (uint32_t)((size_t)(cursor->at - cursor->base) + bytes);
	if (holds(cursor, bytes))
		cursor->end = cursor->at + bytes;
}

/* `header` bytes from here a part of `bytes` begins; `place` is its offset with the flag that more follow in bit 0. */
static void note_fragment(
	struct cursor *cursor, size_t header, uint32_t bytes, uint32_t place, uint32_t id, uint8_t protocol)
{
	struct layers *layers = cursor->layers;
	size_t left = (size_t)(cursor->end - cursor->at), skipped = left < header ? left : header;
	layers->has |= place & ~7u ? LAYERS_FRAGMENT : LAYERS_FIRST_FRAGMENT;
	layers->fragment = (struct layers_fragment){
		.bytes = cursor->at + skipped,
		.at = place & ~7u,
		.count = bytes,
		.captured = left - skipped < bytes ? (uint32_t)(left - skipped) : bytes,
		.id = id,
		.protocol = protocol,
		.last = !(place & 1),
	};
	if (!(layers->has & LAYERS_FRAGMENT))
		return;
	/* one packet among others where nothing is put together */
	layers->payload = layers->fragment.bytes;
	layers->payload_bytes = bytes;
	layers->payload_captured = layers->fragment.captured;
}

static void ipv4(struct cursor *cursor)
{
	struct layers *layers = cursor->layers;
	if (!holds(cursor, 20))
		return;
	size_t header = (size_t)(cursor->at[0] & 15) * 4;
	uint32_t total = get_u16(cursor->at + 2);
	if (header < 20)
		return;
	if (total == 0) /* segmentation offload leaves it to the card */
		total = (uint32_t)(cursor->end - cursor->at);
	if (total < header)
		return;
	bound(cursor, total);
	layers->has |= LAYERS_IP;
	layers->version = 4;
	layers->ip_id = get_u16(cursor->at + 4);
	layers->ttl = cursor->at[8];
	layers->protocol = cursor->at[9];
	layers->source = cursor->at + 12;
	layers->target = cursor->at + 16;
	uint32_t fragment = get_u16(cursor->at + 6);
	if (fragment & 0x3fff)
		note_fragment(cursor, header, total - (uint32_t)header, (fragment & 0x1fff) * 8 + (fragment >> 13 & 1),
			layers->ip_id, layers->protocol);
	if (fragment & 0x1fff || !holds(cursor, header))
		return;
	cursor->at += header;
	transport(cursor, total - (uint32_t)header);
}

/* Steps over extension headers; false when the transport header is out of reach. */
static bool extensions(struct cursor *cursor, uint32_t *bytes)
{
	struct layers *layers = cursor->layers;
	for (int i = 0; i < EXTENSIONS_MAX; i++) {
		size_t length;
		if (!holds(cursor, 8))
			return layers->protocol == PROTOCOL_UDP || layers->protocol == PROTOCOL_TCP;
		switch (layers->protocol) {
		case 0:   /* hop by hop */
		case 43:  /* routing */
		case 60:  /* destination */
		case 135: /* mobility */
			length = ((size_t)cursor->at[1] + 1) * 8;
			break;
		case 51: /* authentication */
			length = ((size_t)cursor->at[1] + 2) * 4;
			break;
		case 44: /* fragment */
			length = 8;
			if (get_u16(cursor->at + 2) & 0xfff9 && *bytes >= length)
				note_fragment(cursor, length, *bytes - (uint32_t)length,
					get_u16(cursor->at + 2) & 0xfff9, get_u32(cursor->at + 4), cursor->at[0]);
			if (get_u16(cursor->at + 2) & 0xfff8)
				return false;
			break;
		default:
			return true;
		}
		if (!holds(cursor, length) || *bytes < length)
			return false;
		layers->protocol = cursor->at[0];
		cursor->at += length;
		*bytes -= (uint32_t)length;
	}
	return false;
}

static void ipv6(struct cursor *cursor)
{
	struct layers *layers = cursor->layers;
	if (!holds(cursor, 40))
		return;
	uint32_t bytes = get_u16(cursor->at + 4);
	if (bytes == 0) /* a jumbogram, or segmentation offload */
		bytes = (uint32_t)(cursor->end - cursor->at - 40);
	bound(cursor, 40 + (size_t)bytes);
	layers->has |= LAYERS_IP;
	layers->version = 6;
	layers->ip_id = 0;
	layers->protocol = cursor->at[6];
	layers->ttl = cursor->at[7];
	layers->source = cursor->at + 8;
	layers->target = cursor->at + 24;
	cursor->at += 40;
	if (extensions(cursor, &bytes))
		transport(cursor, bytes);
}

static void cooked(struct cursor *cursor, size_t header, size_t type_at)
{
	if (!holds(cursor, header))
		return;
	unsigned ethertype = get_u16(cursor->at + type_at);
	cursor->at += header;
	network(cursor, ethertype);
}

void layers_of(const struct capture_frame *frame, struct layers *ret_layers)
{
	uint32_t captured = frame->captured < frame->length ? frame->captured : frame->length;
	struct cursor cursor = {
		.base = frame->bytes, .at = frame->bytes, .end = frame->bytes + captured, .layers = ret_layers};
	/* `fragment` means nothing without its flags and is not cleared: 10 % of a reading's time */
	memset(ret_layers, 0, offsetof(struct layers, fragment));
	switch (frame->link) {
	case LINK_ETHERNET:
		ethernet(&cursor);
		break;
	case LINK_SLL:
		cooked(&cursor, 16, 14);
		break;
	case LINK_SLL2:
		cooked(&cursor, 20, 0);
		break;
	case LINK_NULL:
	case LINK_LOOP:
		if (!holds(&cursor, 4))
			return;
		cursor.at += 4; /* the family's number differs between systems; the version does not */
		by_version(&cursor);
		break;
	case LINK_RAW:
	case LINK_RAW_12:
	case LINK_RAW_14:
	case LINK_IPV4:
	case LINK_IPV6:
		by_version(&cursor);
		break;
	default:
		break;
	}
}

void layers_of_joined(struct layers *layers, const uint8_t *bytes, uint32_t captured, uint32_t count)
{
	struct cursor cursor = {.base = bytes, .at = bytes, .end = bytes + captured, .layers = layers};
	/* offsets lead into a frame, and there is none */
	layers->avsp_at = layers->ttag_at = layers->gigamon_at = layers->erspan_at = 0;
	layers->has = (layers->has & LAYERS_TUNNEL) | LAYERS_IP;
	layers->protocol = layers->fragment.protocol;
	layers->payload = NULL;
	layers->payload_bytes = layers->payload_captured = 0;
	if (layers->version == 4 || extensions(&cursor, &count))
		transport(&cursor, count);
	layers->has |= LAYERS_JOINED;
}

void layers_format_address(const uint8_t *address, uint8_t version, uint16_t port, char *buffer, size_t room)
{
	char words[INET6_ADDRSTRLEN] = "?";
	if (address)
		inet_ntop(version == 6 ? AF_INET6 : AF_INET, address, words, sizeof(words));
	if (port)
		snprintf(buffer, room, version == 6 ? "[%s]:%u" : "%s:%u", words, port);
	else
		snprintf(buffer, room, "%s", words);
}
