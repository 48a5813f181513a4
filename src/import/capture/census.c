/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A hash table of services, and a small memory of what requests carried, to see
 * whether replies give it back. The test of contents stops after 4096 replies of
 * a service: it would cost more than the rest of the first reading.
 */
#include "import/capture/census.h"

#include <stdlib.h>

#include "wire/bytes.h"

enum { SLOTS = 8192, SERVICES_MAX = 4096, SEEN_SLOTS = 65536, TESTS_MAX = 4096, HEAD_BYTES = 16 };
enum { DNS_PORT = 53, STAMP_PORT_NUMBER = 862, WELL_KNOWN = 1024, EPHEMERAL = 32768 };

struct census {
	uint64_t seed;
	uint16_t slots[SLOTS]; /* index + 1 into services */
	struct census_service services[SERVICES_MAX];
	uint64_t hashes[SERVICES_MAX];
	size_t count;
	uint64_t beyond;
	uint64_t seen[SEEN_SLOTS];
};

int census_open(uint64_t seed, struct census **ret_census, struct tare_err *err)
{
	struct census *census = calloc(1, sizeof(*census));
	if (!census)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	census->seed = seed;
	*ret_census = census;
	return 0;
}

void census_free(struct census *census)
{
	free(census);
}

static uint64_t end_hash(
	const struct census *census, const struct layers *layers, const uint8_t *address, uint16_t port)
{
	struct hash hash = hash_begin(census->seed);
	hash_word(&hash, (uint64_t)layers->protocol << 24 | (uint64_t)layers->version << 16 | port);
	hash_bytes(&hash, address, service_address_bytes(layers->version));
	return hash.check | 1;
}

static struct census_service *lookup(struct census *census, uint64_t hash)
{
	for (size_t i = hash % SLOTS; census->slots[i]; i = (i + 1) % SLOTS) {
		size_t at = census->slots[i] - 1u;
		if (census->hashes[at] == hash)
			return &census->services[at];
	}
	return NULL;
}

static struct census_service *add(
	struct census *census, uint64_t hash, const struct layers *layers, const uint8_t *address, uint16_t port)
{
	if (census->count == SERVICES_MAX) {
		census->beyond++;
		return NULL;
	}
	size_t i = hash % SLOTS;
	while (census->slots[i])
		i = (i + 1) % SLOTS;
	struct census_service *service = &census->services[census->count];
	census->hashes[census->count] = hash;
	census->slots[i] = (uint16_t)++census->count;
	*service = (struct census_service){
		.service = {.version = layers->version, .port = port, .protocol = layers->protocol}};
	memcpy(service->service.address, address, service_address_bytes(layers->version));
	return service;
}

/* Notes what a request carried; true when the same was noted before. */
static bool remember(struct census *census, struct hash hash)
{
	uint64_t *slot = &census->seen[hash.place % SEEN_SLOTS];
	bool before = *slot == hash.check;
	*slot = hash.check;
	return before;
}

static bool remembers(const struct census *census, struct hash hash)
{
	return census->seen[hash.place % SEEN_SLOTS] == hash.check;
}

static struct hash flow_hash(const struct census *census, const struct layers *layers, bool request, uint64_t salt)
{
	struct hash hash = hash_begin(census->seed ^ salt);
	uint16_t client_port = request ? layers->source_port : layers->target_port;
	hash_word(&hash, client_port);
	hash_bytes(&hash, request ? layers->source : layers->target, service_address_bytes(layers->version));
	return hash;
}

static void test_contents(
	struct census *census, struct census_service *service, const struct layers *layers, bool request)
{
	enum { SALT_HEAD = 1, SALT_STAMP = 2, STAMP_LEAST = 14, REPLY_LEAST = 36 };
	if (layers->payload_bytes && !layers->payload_captured)
		service->uncaptured++;
	if (!layers->payload_captured || service->tested >= TESTS_MAX)
		return;
	uint32_t head = layers->payload_bytes < HEAD_BYTES ? layers->payload_bytes : HEAD_BYTES;
	if (layers->payload_captured < head) {
		service->uncaptured++;
		return;
	}
	struct hash hash = flow_hash(census, layers, request, SALT_HEAD);
	hash_bytes(&hash, layers->payload, head);
	struct hash stamp = flow_hash(census, layers, request, SALT_STAMP);
	if (request) {
		service->noted++;
		service->repeated += remember(census, hash);
		if (layers->payload_captured >= STAMP_LEAST) {
			hash_bytes(&stamp, layers->payload, 12);
			remember(census, stamp);
		}
		return;
	}
	service->tested++;
	service->short_payloads += head < HEAD_BYTES;
	service->echoed += remembers(census, hash);
	if (layers->payload_captured >= REPLY_LEAST) {
		hash_bytes(&stamp, layers->payload + 24, 12);
		service->echoed_stamp += remembers(census, stamp);
	}
}

static void count(struct census *census, struct census_service *service, const struct layers *layers, bool request)
{
	service->requests += request;
	service->replies += !request;
	if (request && !service->payload_bytes)
		service->payload_bytes = layers->payload_bytes;
	if (layers->protocol == PROTOCOL_UDP) {
		test_contents(census, service, layers, request);
	} else if (layers->has & LAYERS_TCP) {
		service->data_to += request && layers->payload_bytes;
		service->data_from += !request && layers->payload_bytes;
		service->syns += request && (layers->tcp_flags & (TCP_SYN | TCP_ACK)) == TCP_SYN;
	}
}

static void add_echo(struct census *census, const struct layers *layers)
{
	bool request = layers->has & LAYERS_ECHO_REQUEST;
	const uint8_t *address = request ? layers->target : layers->source;
	uint64_t hash = end_hash(census, layers, address, 0);
	struct census_service *service = lookup(census, hash);
	if (!service)
		service = add(census, hash, layers, address, 0);
	if (service)
		count(census, service, layers, request);
}

/* Of the first packet between two ends. */
static bool comes_from_service(const struct layers *layers)
{
	unsigned handshake = layers->tcp_flags & (TCP_SYN | TCP_ACK);
	if (layers->has & LAYERS_TCP && handshake & TCP_SYN)
		return handshake & TCP_ACK;
	if (layers->source_port < WELL_KNOWN || layers->target_port < WELL_KNOWN)
		return layers->source_port < layers->target_port;
	/* in the middle of a connection nobody came first: the lower port is the one that was chosen */
	if (layers->has & LAYERS_TCP)
		return layers->source_port < layers->target_port;
	return layers->source_port < EPHEMERAL && layers->target_port >= EPHEMERAL;
}

void census_add(struct census *census, const struct layers *layers)
{
	if (!layers->source || layers->has & LAYERS_FRAGMENT)
		return;
	if (layers->has & (LAYERS_ECHO_REQUEST | LAYERS_ECHO_REPLY)) {
		add_echo(census, layers);
		return;
	}
	if (!(layers->has & LAYERS_PORTS))
		return;
	uint64_t to = end_hash(census, layers, layers->target, layers->target_port);
	struct census_service *target = lookup(census, to);
	if (target) {
		count(census, target, layers, true);
		return;
	}
	uint64_t from = end_hash(census, layers, layers->source, layers->source_port);
	struct census_service *source = lookup(census, from);
	if (source) {
		count(census, source, layers, false);
		return;
	}
	bool reply = comes_from_service(layers);
	if (reply)
		target = add(census, from, layers, layers->source, layers->source_port);
	else
		target = add(census, to, layers, layers->target, layers->target_port);
	if (target)
		count(census, target, layers, !reply);
}

enum key_kind census_key(const struct census_service *service)
{
	uint8_t protocol = service->service.protocol;
	if (protocol == PROTOCOL_ICMP || protocol == PROTOCOL_ICMPV6)
		return KEY_ICMP;
	if (protocol == PROTOCOL_TCP)
		return service->data_to && service->data_from ? KEY_TCP : KEY_TCP_SYN;
	if (service->service.port == DNS_PORT)
		return KEY_DNS;
	if (service->tested && service->echoed_stamp * 2 >= service->tested)
		return KEY_STAMP;
	if (service->service.port == STAMP_PORT_NUMBER)
		return KEY_STAMP;
	/* every request seen twice by a mirror: half are repeated; one constant payload: nearly all */
	if (service->tested && service->echoed * 2 >= service->tested && service->repeated * 4 <= service->noted * 3)
		return service->short_payloads * 2 > service->tested ? KEY_PAYLOAD : KEY_TARE;
	if (service->uncaptured)
		return KEY_AUTO;
	return KEY_ORDER;
}

static bool worth(const struct census_service *service)
{
	if (service->service.protocol == PROTOCOL_ICMP || service->service.protocol == PROTOCOL_ICMPV6)
		return service->requests > 0;
	return service->requests && service->replies;
}

size_t census_choose(const struct census *census, const struct service *wanted, uint8_t protocol,
	const struct census_service **ret_services, size_t room)
{
	size_t chosen = 0;
	uint64_t most = 0;
	for (size_t i = 0; i < census->count; i++) {
		const struct census_service *service = &census->services[i];
		uint64_t packets = service->requests + service->replies;
		if (!worth(service) || !service_covers(wanted, &service->service) ||
			(protocol && protocol != service->service.protocol))
			continue;
		most = packets > most ? packets : most;
		size_t at = chosen < room ? chosen++ : room;
		while (at && ret_services[at - 1]->requests + ret_services[at - 1]->replies < packets) {
			if (at < room)
				ret_services[at] = ret_services[at - 1];
			at--;
		}
		if (at < room)
			ret_services[at] = service;
	}
	while (chosen && (ret_services[chosen - 1]->requests + ret_services[chosen - 1]->replies) * 100 < most)
		chosen--;
	return chosen;
}

uint64_t census_beyond(const struct census *census)
{
	return census->beyond;
}
