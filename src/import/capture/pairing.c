/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Directions, flows and TCP. TCP requests are messages, not segments: a message
 * ends with a segment that has PSH, since stacks set it on the last segment of a
 * write; the reply is the first data back that acknowledges all of it. A reply's
 * further segments belong to it until its own PSH.
 */
#include "import/capture/pairing.h"

#include <stdlib.h>

enum { CONNECTIONS = 32768, WAITING = 16 };

/* One per flow, in a table in which a newcomer takes an old one's place: bounded, whatever the capture holds. */
struct connection {
	uint64_t check;
	uint32_t next[2];             /* highest sequence seen behind data, per direction: 0 from the client */
	uint32_t waiting[2][WAITING]; /* ends of segments that wait for their acknowledgement, oldest first */
	uint8_t waiting_count[2];
	bool known[2], open[2]; /* open: the last segment had no PSH */
};

struct pairing {
	struct pairing_rules rules;
	struct match *match;
	struct connection *connections; /* NULL unless TCP */
	struct pairing_counts counts;
};

int pairing_open(const struct pairing_rules *rules, struct pairing **ret_pairing, struct tare_err *err)
{
	struct pairing *pairing = calloc(1, sizeof(*pairing));
	if (!pairing)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	pairing->rules = *rules;
	pairing->rules.match.in_order = key_in_order(rules->key.kind);
	if (!pairing->rules.connections)
		pairing->rules.connections = CONNECTIONS;
	bool tcp = rules->service.protocol == PROTOCOL_TCP || key_protocol(&rules->key) == PROTOCOL_TCP;
	if (tcp)
		pairing->connections = calloc(pairing->rules.connections, sizeof(*pairing->connections));
	if ((tcp && !pairing->connections) || match_open(&pairing->rules.match, &pairing->match, err)) {
		pairing_free(pairing);
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	}
	*ret_pairing = pairing;
	return 0;
}

void pairing_free(struct pairing *pairing)
{
	if (!pairing)
		return;
	match_free(pairing->match);
	free(pairing->connections);
	free(pairing);
}

struct match *pairing_match(struct pairing *pairing)
{
	return pairing->match;
}

const struct pairing_counts *pairing_counts(const struct pairing *pairing)
{
	return &pairing->counts;
}

static struct hash flow_of(const struct pairing *pairing, const struct layers *layers, bool request)
{
	struct hash hash = hash_begin(pairing->rules.seed);
	size_t bytes = service_address_bytes(layers->version);
	uint64_t client_port = request ? layers->source_port : layers->target_port;
	uint64_t port = request ? layers->target_port : layers->source_port;
	hash_word(&hash, client_port << 32 | port << 16 | layers->protocol);
	if (bytes == 4) {
		uint32_t client, server;
		memcpy(&client, request ? layers->source : layers->target, sizeof(client));
		memcpy(&server, request ? layers->target : layers->source, sizeof(server));
		hash_word(&hash, (uint64_t)client << 32 | server);
	} else {
		hash_bytes(&hash, request ? layers->source : layers->target, bytes);
		hash_bytes(&hash, request ? layers->target : layers->source, bytes);
	}
	return hash;
}

/*
 * Cheap, for copies within one flow and key: what a second packet would hardly share. Where the capture itself
 * numbers packets, two with one number are one packet seen at two interfaces.
 */
static uint64_t copy_identity(const struct feed_packet *packet)
{
	const struct layers *layers = &packet->layers;
	uint64_t tail = 0;
	if (packet->frame.packet_id)
		return hash_fold(packet->frame.packet_id ^ 0xa0761d6478bd642f, 0x9e3779b97f4a7c15);
	if (layers->payload_captured >= sizeof(tail))
		memcpy(&tail, layers->payload + layers->payload_captured - sizeof(tail), sizeof(tail));
	return hash_fold((uint64_t)layers->ip_id << 32 | layers->payload_bytes,
		       0x9e3779b97f4a7c15 ^ ((uint64_t)layers->tcp_sequence << 32 | layers->tcp_acknowledged)) ^
	       tail;
}

bool packet_identity(const struct layers *layers, uint32_t payload_most, uint64_t seed, struct hash *ret_hash)
{
	struct hash hash = hash_begin(seed);
	if (!layers->source)
		return false;
	size_t bytes = service_address_bytes(layers->version);
	uint32_t payload = layers->payload_captured < payload_most ? layers->payload_captured : payload_most;
	hash_bytes(&hash, layers->source, bytes);
	hash_bytes(&hash, layers->target, bytes);
	hash_word(&hash, (uint64_t)layers->source_port << 48 | (uint64_t)layers->target_port << 32 |
				 (uint64_t)layers->ip_id << 16 | (uint64_t)layers->protocol << 8 | layers->tcp_flags);
	hash_word(&hash, (uint64_t)layers->tcp_sequence << 32 | layers->tcp_acknowledged);
	hash_word(
		&hash, (uint64_t)layers->payload_bytes << 32 | (uint64_t)layers->echo_id << 16 | layers->echo_sequence);
	if (layers->has & LAYERS_ANY_FRAGMENT)
		hash_word(
			&hash, (uint64_t)layers->fragment.id << 32 | layers->fragment.at << 1 | layers->fragment.last);
	if (payload)
		hash_bytes(&hash, layers->payload, payload);
	*ret_hash = hash;
	return true;
}

static struct connection *connection_of(struct pairing *pairing, const struct hash *flow)
{
	struct connection *connection = &pairing->connections[flow->place % pairing->rules.connections];
	if (connection->check != flow->check)
		*connection = (struct connection){.check = flow->check};
	return connection;
}

static uint32_t end_of(const struct layers *layers)
{
	uint32_t counted = layers->tcp_flags & TCP_SYN ? 1 : 0;
	return layers->tcp_sequence + layers->payload_bytes + counted;
}

/* Data and acknowledgements of both directions, for the sentence that tells the kernel's share from the service's. */
static void count_acknowledged(
	struct pairing *pairing, struct connection *connection, const struct layers *layers, int side)
{
	uint32_t *waiting = connection->waiting[!side];
	uint8_t *count = &connection->waiting_count[!side], left = 0;
	bool exact = false;
	for (uint8_t i = 0; layers->tcp_flags & TCP_ACK && i < *count; i++) {
		exact = exact || waiting[i] == layers->tcp_acknowledged;
		if ((int32_t)(layers->tcp_acknowledged - waiting[i]) < 0)
			waiting[left++] = waiting[i];
	}
	if (layers->tcp_flags & TCP_ACK)
		*count = left;
	pairing->counts.acknowledged_data += exact;
	if (end_of(layers) == layers->tcp_sequence)
		return;
	if (connection->waiting_count[side] == WAITING) {
		memmove(connection->waiting[side], connection->waiting[side] + 1, (WAITING - 1) * sizeof(uint32_t));
		connection->waiting_count[side]--;
	}
	connection->waiting[side][connection->waiting_count[side]++] = end_of(layers);
}

/* True when the segment brings nothing that was not seen before. */
static bool seen_before(struct connection *connection, const struct layers *layers, int side)
{
	uint32_t end = end_of(layers);
	if (connection->known[side] && (int32_t)(end - connection->next[side]) <= 0)
		return true;
	connection->known[side] = true;
	connection->next[side] = end;
	return false;
}

static int add_message(struct pairing *pairing, struct connection *connection, const struct layers *layers,
	struct match_packet *packet, int side, struct tare_err *err)
{
	bool continues = connection->open[side];
	connection->open[side] = !(layers->tcp_flags & TCP_PSH);
	if (side == 0) {
		packet->mark = end_of(layers);
		if (!continues)
			return match_request(pairing->match, packet, err);
		match_extend(pairing->match, &packet->key, packet->mark);
		return 0;
	}
	packet->mark = layers->tcp_acknowledged;
	if (!continues)
		match_reply(pairing->match, packet);
	return 0;
}

static int add_acknowledgement(struct pairing *pairing, const struct layers *layers, struct match_packet *packet,
	int side, bool fresh, struct tare_err *err)
{
	if (side == 0) {
		packet->mark = end_of(layers);
		return fresh ? match_request(pairing->match, packet, err) : 0;
	}
	packet->mark = layers->tcp_acknowledged;
	if (layers->tcp_flags & TCP_ACK)
		match_acknowledge(pairing->match, packet);
	return 0;
}

static int add_handshake(struct pairing *pairing, const struct layers *layers, struct match_packet *packet, int side,
	struct tare_err *err)
{
	unsigned flags = layers->tcp_flags & (TCP_SYN | TCP_ACK);
	hash_word(&packet->key, side == 0 ? layers->tcp_sequence + 1 : layers->tcp_acknowledged);
	if (side == 0 && flags == TCP_SYN)
		return match_request(pairing->match, packet, err);
	if (side == 1 && flags == (TCP_SYN | TCP_ACK))
		match_reply(pairing->match, packet);
	return 0;
}

static int add_tcp(struct pairing *pairing, const struct layers *layers, struct match_packet *packet, bool request,
	struct tare_err *err)
{
	int side = request ? 0 : 1;
	bool carries = end_of(layers) != layers->tcp_sequence;
	struct connection *connection = connection_of(pairing, &packet->key);
	if (layers->tcp_flags & TCP_SYN) {
		connection->known[side] = connection->open[side] = false;
	}
	bool again = carries && seen_before(connection, layers, side);
	pairing->counts.retransmitted += again;
	count_acknowledged(pairing, connection, layers, side);
	switch (pairing->rules.key.kind) {
	case KEY_TCP_SYN:
		return add_handshake(pairing, layers, packet, side, err);
	case KEY_TCP_ACK:
		return add_acknowledgement(pairing, layers, packet, side, carries && !again, err);
	default:
		if (!layers->payload_bytes || again || layers->tcp_flags & TCP_SYN)
			return 0;
		return add_message(pairing, connection, layers, packet, side, err);
	}
}

int pairing_add(struct pairing *pairing, const struct feed_packet *from, struct tare_err *err)
{
	const struct layers *layers = &from->layers;
	enum service_direction direction = service_direction(&pairing->rules.service, layers);
	if (direction == SERVICE_NEITHER)
		return 0;
	bool request = direction == SERVICE_REQUEST;
	pairing->counts.packets++;
	if (!from->timed) {
		pairing->counts.not_timed++;
		return 0;
	}
	if (request && !pairing->counts.payload_bytes)
		pairing->counts.payload_bytes = layers->payload_bytes;
	bool late = layers->has & LAYERS_JOINED && request == pairing->rules.inside;
	struct match_packet packet = {
		.time = late ? from->last : from->time, .number = from->frame.number, .identity = copy_identity(from)};
	packet.key = flow_of(pairing, layers, request);
	enum key_result result = key_add(&pairing->rules.key, layers, request, &packet.key);
	pairing->counts.not_captured += result == KEY_NOT_CAPTURED;
	pairing->counts.keyless += result == KEY_OTHER;
	if (result != KEY_FOUND)
		return 0;
	enum key_kind kind = pairing->rules.key.kind;
	if (kind == KEY_TCP || kind == KEY_TCP_ACK || kind == KEY_TCP_SYN)
		return add_tcp(pairing, layers, &packet, request, err);
	if (request)
		return match_request(pairing->match, &packet, err);
	match_reply(pairing->match, &packet);
	return 0;
}
