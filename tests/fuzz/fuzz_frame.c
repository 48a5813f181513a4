/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Frames as an AF_XDP socket hands them over. What is read lies within the frame, and
 * its reply is read again with both ends exchanged and the payload as it was.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "wire/frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void must(int holds)
{
	if (!holds)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static const uint8_t own[FRAME_MAC_BYTES] = {2, 1, 1, 1, 1, 1};
	struct frame_udp udp, back;
	if (frame_udp_read(data, bytes, &udp) != FRAME_UDP)
		return 0;
	must(udp.payload_at + udp.payload_bytes <= bytes);
	uint8_t *reply = malloc(bytes);
	must(reply != NULL);
	memcpy(reply, data, bytes);
	frame_udp_turn(reply, &udp, own);
	must(frame_udp_read(reply, bytes, &back) == FRAME_UDP && back.payload_bytes == udp.payload_bytes);
	must(memcmp(back.to.address, udp.from.address, FRAME_ADDRESS_BYTES) == 0 && back.to.port == udp.from.port);
	must(memcmp(reply + udp.payload_at, data + udp.payload_at, bytes - udp.payload_at) == 0);
	free(reply);
	return 0;
}
