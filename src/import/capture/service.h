/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The side that answers: an address, a port, or both. Packets to it are requests,
 * packets from it replies.
 */
#pragma once
#include "import/capture/layers.h"
#include "tare/err.h"

struct service {
	uint8_t version; /* of the address: 4, 6; 0: any address */
	uint8_t address[16];
	uint16_t port;    /* 0: any, or none (ICMP) */
	uint8_t protocol; /* 0: any */
};

/* "7000", "10.0.0.2", "10.0.0.2:7000", "[fe80::1]:53", "fe80::1". */
int service_parse(const char *text, struct service *ret_service, struct tare_err *err) TARE_MUST_USE;

enum service_direction { SERVICE_NEITHER, SERVICE_REQUEST, SERVICE_REPLY };
enum service_direction service_direction(const struct service *service, const struct layers *layers);
/* Whether these are the same answering side, any matching any. */
bool service_covers(const struct service *wanted, const struct service *other);
static inline size_t service_address_bytes(uint8_t version)
{
	return version == 6 ? 16 : 4;
}
