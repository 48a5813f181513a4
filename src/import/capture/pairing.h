/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Packets of one service put together into requests and replies. Each call takes
 * one packet; samples are taken from pairing_match().
 */
#pragma once
#include "import/capture/feed.h"
#include "import/capture/match.h"

struct pairing_rules {
	struct key_rule key; /* never KEY_AUTO; borrowed */
	struct service service;
	struct match_rules match;
	uint64_t seed;
	uint32_t connections; /* of TCP remembered at a time; 0: 32768 */
	bool inside;          /* seen at the service's host: see below */
};

struct pairing_counts {
	uint64_t packets;           /* of the service, either direction */
	uint64_t not_captured;      /* whose key was on the wire and not in the file */
	uint64_t keyless;           /* that have no such key */
	uint64_t not_timed;         /* without a usable time */
	uint64_t retransmitted;     /* TCP segments seen before */
	uint64_t acknowledged_data; /* TCP: segments (SYNs too) acknowledged exactly, either direction */
	uint32_t payload_bytes;     /* of the first request with a payload */
};

/*
 * When a datagram in fragments left or came. Outside (a client, or the network in front of the service) time runs from
 * a request's first fragment, when it leaves, to a reply's last, before which nobody can have it. At the service's own
 * host it runs from the request's last fragment, before which there is nothing to answer, to the reply's first: the
 * transmission of fragments is the network's share, as RFC 1242 has it for devices that store and forward.
 */
struct pairing;
int pairing_open(const struct pairing_rules *rules, struct pairing **ret_pairing, struct tare_err *err) TARE_MUST_USE;
void pairing_free(struct pairing *pairing); /* NULL is fine */
int pairing_add(struct pairing *pairing, const struct feed_packet *packet, struct tare_err *err) TARE_MUST_USE;
struct match *pairing_match(struct pairing *pairing);
const struct pairing_counts *pairing_counts(const struct pairing *pairing);

/*
 * What stays the same of a packet through a switch or router: addresses, ports, IPv4 id, TCP numbers, lengths and
 * the first payload bytes. Frames without IP have none (false).
 */
bool packet_identity(const struct layers *layers, uint32_t payload_most, uint64_t seed, struct hash *ret_hash);
