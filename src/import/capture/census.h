/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Who answers whom in a capture, learnt in the first reading: the services seen,
 * and by which key their replies can be told apart. A TCP service is what a SYN
 * goes to; without one, the lower port. A UDP service is the target of the first
 * packet between two ends, unless the ports say otherwise: below 1024, or only
 * one of them below 32768, where systems take the ports of clients from.
 *
 * Bounded: 4096 services; what is beyond is counted, not kept.
 */
#pragma once
#include "import/capture/key.h"
#include "import/capture/service.h"

struct census_service {
	struct service service;
	uint64_t requests, replies;
	uint64_t tested, echoed, echoed_stamp; /* of UDP: replies looked at and what they gave back */
	uint64_t noted, repeated;              /* requests looked at, and those that carried what was carried before */
	uint64_t short_payloads;               /* echoes of fewer than 16 bytes */
	uint64_t data_to, data_from, syns;     /* of TCP */
	uint64_t uncaptured;                   /* payload was on the wire and not in the file */
	uint32_t payload_bytes;                /* of the first request with one */
};

struct census;
int census_open(uint64_t seed, struct census **ret_census, struct tare_err *err) TARE_MUST_USE;
void census_free(struct census *census); /* NULL is fine */
void census_add(struct census *census, const struct layers *layers);
/* The key that fits best; KEY_AUTO when the payload that would tell was not captured. */
enum key_kind census_key(const struct census_service *service);
/*
 * The services that `wanted` covers and that are worth a look, busiest first: with replies (or pings without
 * any), and at least 1 % of the busiest one's packets. Returns how many were put into ret_services.
 */
size_t census_choose(const struct census *census, const struct service *wanted, uint8_t protocol,
	const struct census_service **ret_services, size_t room);
uint64_t census_beyond(const struct census *census);
