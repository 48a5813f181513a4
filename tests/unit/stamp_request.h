/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Requests without a key in one line each, for tests that are about something else. */
#pragma once
#include "wire/stamp.h"

static inline void request_fill(uint8_t *packet, size_t bytes, uint64_t cookie, uint16_t ssid, uint16_t error_estimate)
{
	stamp_request_fill(packet,
		&(struct stamp_asking){.bytes = bytes, .cookie = cookie, .ssid = ssid, .error_estimate = error_estimate});
}
static inline void request_number(uint8_t *packet, uint64_t number, uint64_t t1_ntp)
{
	struct stamp_asking asking = {.bytes = STAMP_REQUEST_MIN_BYTES};
	stamp_request_number(packet, &asking, number);
	stamp_request_time(packet, &asking, t1_ntp);
}
static inline bool reply_read(const uint8_t *packet, size_t bytes, uint64_t cookie, struct stamp_reply *ret_reply)
{
	return stamp_reply_read(packet, bytes, &(struct stamp_asking){.cookie = cookie}, ret_reply) == STAMP_READ_REPLY;
}
