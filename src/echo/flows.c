/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A hash table whose entries may stand in one of eight places; the longest silent one is overwritten. */
#include "echo/flows.h"

#include <string.h>

struct flow_key flow_key_of(const struct sockaddr_storage *from, uint32_t listener, uint16_t ssid)
{
	struct flow_key key = {.listener = listener, .ssid = ssid};
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)from;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)from;
	key.port = v4->sin_port; /* at the same place in both families */
	if (from->ss_family == AF_INET6)
		memcpy(key.address, &v6->sin6_addr, sizeof key.address);
	else
		memcpy(key.address, &v4->sin_addr, sizeof v4->sin_addr);
	return key;
}

/* FNV-1a; whoever forges sources can make them meet, and then loses only counts of others' sessions. */
static uint32_t place_of(const struct flow_key *key)
{
	const uint8_t *bytes = (const uint8_t *)key;
	uint32_t hash = 2166136261u;
	for (size_t i = 0; i < sizeof *key; i++)
		hash = (hash ^ bytes[i]) * 16777619u;
	return hash % (FLOWS_ROOM - FLOWS_NEAR);
}

uint32_t flows_count(struct flows *flows, const struct flow_key *key, int64_t now_ns, struct flow **ret_flow)
{
	struct flow *near = &flows->flow[place_of(key)], *oldest = near;
	for (int i = 0; i < FLOWS_NEAR; i++) {
		struct flow *flow = &near[i];
		if (flow->used_ns && memcmp(&flow->key, key, sizeof *key) == 0) {
			if (now_ns - flow->used_ns > FLOWS_SILENT_NS)
				*flow = (struct flow){.key = *key};
			flow->used_ns = now_ns;
			*ret_flow = flow;
			return flow->next++;
		}
		if (flow->used_ns < oldest->used_ns)
			oldest = flow;
	}
	*oldest = (struct flow){.key = *key, .next = 1, .used_ns = now_ns};
	*ret_flow = oldest;
	return 0;
}
