/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tap.h"
#include "wire/payload.h"

static const uint64_t COOKIE = 0x1122334455667788;

static void layout(void)
{
	uint8_t payload[64];
	memset(payload, 0xee, sizeof(payload));
	payload_fill(payload, 40, COOKIE);
	static const uint8_t head[16] = {0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88};
	OK(memcmp(payload, head, 16) == 0, "cookie, then number zero");
	IS_I64(payload[16], 0x10, "fill begins at 0x10");
	IS_I64(payload[39], 39, "fill ends");
	IS_I64(payload[40], 0xee, "nothing written behind");

	uint8_t before[40];
	memcpy(before, payload, sizeof(before));
	payload_number(payload, 0x0102030405060708);
	static const uint8_t number[8] = {1, 2, 3, 4, 5, 6, 7, 8};
	OK(memcmp(payload + 8, number, 8) == 0, "number is big-endian behind the cookie");
	OK(memcmp(payload, before, 8) == 0 && memcmp(payload + 16, before + 16, 24) == 0, "and nothing else changes");
}

static void reading(void)
{
	uint8_t payload[200];
	payload_fill(payload, sizeof(payload), COOKIE);
	payload_number(payload, 70000);
	size_t wrong = 0;
	for (size_t bytes = 0; bytes <= sizeof(payload); bytes++) {
		uint64_t number = 7;
		bool read = payload_read(payload, bytes, COOKIE, &number);
		wrong += read != (bytes >= 16) || number != (read ? 70000u : 7u);
	}
	IS_I64(wrong, 0, "every length from 0 to 200: read from 16 on, output untouched below");

	uint64_t number = 7;
	OK(!payload_read(payload, sizeof(payload), COOKIE + 1, &number), "another cookie is foreign");
	IS_I64(number, 7, "and leaves the number");
	payload_number(payload, UINT64_MAX);
	OK(payload_read(payload, 16, COOKIE, &number) && number == UINT64_MAX, "the largest number");
}

int main(void)
{
	layout();
	reading();
	return tap_done();
}
