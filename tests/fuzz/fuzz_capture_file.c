/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Any bytes as a capture file, packed or not: frames lie within what was read,
 * times are proper times, the layers of each frame point into it, and lenient
 * reading gets as far as strict reading does.
 */
#include <stdlib.h>

#include "import/capture/file.h"
#include "import/capture/layers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void require(int holds)
{
	if (!holds)
		abort();
}

static void check_layers(const struct capture_frame *frame)
{
	struct layers layers;
	layers_of(frame, &layers);
	const uint8_t *end = frame->bytes + frame->captured;
	require(!layers.payload || (layers.payload >= frame->bytes && layers.payload + layers.payload_captured <= end));
	require(layers.payload_captured <= layers.payload_bytes);
	size_t address = layers.version == 6 ? 16 : 4;
	require(!layers.source || (layers.source >= frame->bytes && layers.source + address <= end));
	require(!layers.target || (layers.target >= frame->bytes && layers.target + address <= end));
	require(layers.net_at <= frame->captured && layers.erspan_at <= frame->captured);
}

static uint64_t read_all(const uint8_t *data, size_t bytes, bool lenient, bool *ret_failed)
{
	struct input *input = NULL;
	struct capture_file *file = NULL;
	struct tare_err err = {0};
	struct capture_frame frame;
	uint64_t frames = 0;
	int found = -1;
	if (input_open_bytes(data, bytes, "fuzz", &input, &err) == 0) {
		input_limit(input, 1 << 22, 100);
		if (capture_file_open(input, "fuzz", lenient, &file, &err) == 0) {
			while ((found = capture_file_next(file, &frame, &err)) == 1) {
				volatile uint8_t last = frame.captured ? frame.bytes[frame.captured - 1] : 0;
				(void)last;
				require(frame.captured <= CAPTURE_FRAME_BYTES_MAX && frame.number == ++frames);
				require(frame.time.picoseconds >= 0 && frame.time.picoseconds < PS_PER_SECOND);
				check_layers(&frame);
			}
		}
	}
	require(found == 0 || err.text[0]);
	*ret_failed = found != 0;
	capture_file_free(file);
	input_free(input);
	return frames;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	bool strict_failed, lenient_failed;
	uint64_t strict = read_all(data, bytes, false, &strict_failed);
	uint64_t lenient = read_all(data, bytes, true, &lenient_failed);
	require(strict == lenient);
	require(strict_failed || !lenient_failed);
	return 0;
}
