/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A stateful reflector's memory (RFC 8762 section 4): one count of reflected packets
 * per session, told by source address, source port, listener and SSID. The room is
 * fixed; one that has been silent for 900 s or, where many meet in one place, the
 * one silent longest gives way, and its sender sees the count begin at 0 again. Private
 * to this folder.
 */
#pragma once
#include <netinet/in.h>
#include <stdint.h>

#include "wire/stamp.h"

enum { FLOWS_ROOM = 4096, FLOWS_NEAR = 8 };
#define FLOWS_SILENT_NS ((int64_t)900 * 1000000000)

struct flow_key { uint8_t address[16]; uint16_t port, ssid; uint32_t listener; };
struct flow {
	struct flow_key key;
	uint32_t next;       /* what the next reply is numbered */
	int64_t used_ns;     /* 0: free */
	struct stamp_follow_up left; /* when an earlier reply really left; t3 0: not known */
};
struct flows { struct flow flow[FLOWS_ROOM]; };

struct flow_key flow_key_of(const struct sockaddr_storage *from, uint32_t listener, uint16_t ssid);
/*
 * The number of this session's next reply, which is counted, and the session, which is it until another takes its
 * place (its key then differs). now_ns from any clock that only grows, above 0.
 */
uint32_t flows_count(struct flows *flows, const struct flow_key *key, int64_t now_ns, struct flow **ret_flow);
