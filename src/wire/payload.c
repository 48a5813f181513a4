/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Our own payload. The fill counts up from 0x10 as ping's does, so that a
 * capture of ours looks familiar; nothing depends on it.
 */
#include "wire/payload.h"

void payload_fill(uint8_t *payload, size_t bytes, uint64_t cookie)
{
	put_u64(payload, cookie);
	payload_number(payload, 0);
	for (size_t i = PAYLOAD_MIN_BYTES; i < bytes; i++)
		payload[i] = (uint8_t)i;
}

bool payload_read(const uint8_t *payload, size_t bytes, uint64_t cookie, uint64_t *ret_number)
{
	if (bytes < PAYLOAD_MIN_BYTES || get_u64(payload) != cookie)
		return false;
	*ret_number = get_u64(payload + PAYLOAD_NUMBER_AT);
	return true;
}
