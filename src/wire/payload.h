/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The payload of udp and icmp requests, which any echo server returns as it is:
 * 8 octets cookie (random per run and target: other people's replies do not
 * carry it), 8 octets number, then fill. The 16-bit ICMP sequence is only a hint.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/bytes.h"

enum { PAYLOAD_MIN_BYTES = 16, PAYLOAD_NUMBER_AT = 8 };

/* Fills `bytes` octets (>= PAYLOAD_MIN_BYTES), number 0, the fill a fixed pattern. Once per series. */
void payload_fill(uint8_t *payload, size_t bytes, uint64_t cookie);
/* The only thing that changes from request to request. */
static inline void payload_number(uint8_t *payload, uint64_t number)
{
	put_u64(payload + PAYLOAD_NUMBER_AT, number);
}
/* False when it is too short or not ours. The fill is not looked at. */
bool payload_read(const uint8_t *payload, size_t bytes, uint64_t cookie, uint64_t *ret_number);
