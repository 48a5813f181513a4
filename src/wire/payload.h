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

enum { PAYLOAD_MIN_BYTES = 16 };

/* Fills `bytes` octets (>= PAYLOAD_MIN_BYTES), the fill a fixed pattern. Once per series. */
void payload_fill(uint8_t *payload, size_t bytes, uint64_t cookie);
/* The only thing that changes from request to request. */
void payload_number(uint8_t *payload, uint64_t number);
/* False when it is too short or not ours. */
bool payload_read(const uint8_t *payload, size_t bytes, uint64_t cookie, uint64_t *ret_number);
