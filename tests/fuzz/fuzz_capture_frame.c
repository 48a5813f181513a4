/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Any bytes as one frame: link type and sort of length from the first two, then
 * decoded, searched for stamps of every format by name and without, matched
 * against itself under every key.
 */
#include <stdlib.h>

#include "import/capture/key.h"
#include "import/capture/pairing.h"
#include "import/capture/stamp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void require(int holds)
{
	if (!holds)
		abort();
}

static void try_stamps(const struct capture_frame *frame, const struct layers *layers)
{
	for (int format = 0; format <= STAMP_FORMAT_COUNT; format++) {
		struct stamp_watch *watch = NULL;
		struct stamp_verdict verdict;
		struct stamp stamp;
		struct tare_err err = {0};
		if (stamp_watch_open((enum stamp_format)format, &watch, &err))
			return;
		/* twice, so that a keyframe serves the frame behind it */
		require(stamp_watch_add(watch, frame, layers, &err) == 0);
		require(stamp_watch_add(watch, frame, layers, &err) == 0);
		if (stamp_watch_verdict(watch, "fuzz", &verdict, &err) == 0) {
			if (stamp_read(watch, &verdict, frame, layers, &stamp))
				require(stamp.time.picoseconds >= 0 && stamp.time.picoseconds < PS_PER_SECOND);
		} else {
			require(err.text[0]);
		}
		stamp_watch_free(watch);
	}
}

static void try_keys(const struct capture_frame *frame, const struct layers *layers)
{
	static const char *const keys[] = {"icmp", "tare", "stamp", "dns", "tcp", "tcp-ack", "tcp-syn", "order",
		"payload", "payload[3:9]", "re:a(b+)c"};
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		struct key_rule rule;
		struct tare_err err = {0};
		struct pairing *pairing = NULL;
		struct match_sample samples[4];
		require(key_parse(keys[i], &rule, &err) == 0);
		const struct pairing_rules rules = {.key = rule,
			.service = {.port = layers->target_port},
			.match = {.timeout_ns = 1000, .copy_ns = 10},
			.seed = 1,
			.connections = 4};
		struct feed_packet packet = {.frame = *frame, .layers = *layers, .time = frame->time, .timed = true};
		require(pairing_open(&rules, &pairing, &err) == 0);
		for (int repeat = 0; repeat < 3; repeat++) {
			packet.time.seconds += repeat;
			require(pairing_add(pairing, &packet, &err) == 0);
		}
		match_finish(pairing_match(pairing));
		require(match_take(pairing_match(pairing), samples, 4) <= 3);
		pairing_free(pairing);
		key_end(&rule);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static const uint16_t links[] = {
		LINK_ETHERNET, LINK_SLL, LINK_SLL2, LINK_RAW, LINK_NULL, LINK_LOOP, LINK_UNKNOWN};
	if (bytes < 2)
		return 0;
	struct capture_frame frame = {
		.number = 1,
		.time = {1700000000, 5},
		.bytes = data + 2,
		.captured = (uint32_t)bytes - 2,
		.length = (uint32_t)bytes - 2,
		.link = links[data[0] % (sizeof(links) / sizeof(*links))],
	};
	if (data[1] & 1) {
		frame.length += data[1];
		frame.flags |= CAPTURE_CUT;
	} else if (data[1] & 2 && frame.length >= 16) {
		frame.length -= 16;
		frame.flags |= CAPTURE_LONGER;
	}
	struct layers layers;
	layers_of(&frame, &layers);
	try_stamps(&frame, &layers);
	try_keys(&frame, &layers);
	return 0;
}
