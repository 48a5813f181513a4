/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Packets as a tap may capture them, cut anywhere: reading stays inside, and lengths stay those of a packet. */
#include <stdlib.h>
#include <string.h>

#include "net/tap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct net_segment segment;
	/* of exactly this size, so that a sanitizer sees a step beyond */
	uint8_t *packet = malloc(size ? size : 1);
	if (!packet)
		return 0;
	memcpy(packet, data, size);
	if (net_segment_of(packet, size, &segment) && segment.bytes > 65535)
		abort();
	free(packet);
	return 0;
}
