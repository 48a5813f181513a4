/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The chunk codec: input as a chunk to decode (11 bytes of its row, then data),
 * and input as values to encode, which must come back.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/chunk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEAD = 11, N_MOST = 4096 };

static struct chunk_codec *encoder, *decoder;
static int64_t values[CHUNK_SAMPLES_MAX], decoded[CHUNK_SAMPLES_MAX], stage[CHUNK_SAMPLES_MAX];

static void decode(const uint8_t *data, size_t size)
{
	struct chunk chunk = {
		.n = (uint32_t)data[0] | (uint32_t)data[1] << 8 | (uint32_t)(data[2] & 1) << 16,
		.empty = data[2] & 2,
		.width = data[3],
		.base = (int8_t)data[4],
		.min = (int64_t)((uint64_t)(int8_t)data[5] << data[6] % 64),
		.max = (int64_t)((uint64_t)(int8_t)data[7] << data[8] % 64),
	};
	struct chunk_against against = {
		.relation = (enum chunk_relation)(data[9] % 4), .stage = stage, .first = data[10], .step = 1000};
	(void)!chunk_decode(decoder, &chunk, data + HEAD, size - HEAD, &against, decoded);
}

static void encode(const uint8_t *data, size_t size)
{
	uint32_t n = size / 8 < N_MOST ? (uint32_t)(size / 8) : N_MOST;

	memcpy(values, data, (size_t)n * 8);
	for (int relation = CHUNK_ZERO; n > 0 && relation <= CHUNK_STAGE; relation++) {
		struct chunk_against against = {
			.relation = (enum chunk_relation)relation, .stage = stage, .step = 1000};
		struct chunk chunk;
		const void *packed;
		size_t bytes;
		int status = chunk_encode(encoder, values, n, &against, &chunk, &packed, &bytes, NULL);
		if (status < 0 || (status == 0 && relation == CHUNK_ZERO))
			abort();
		if (status == 1 && (chunk_decode(decoder, &chunk, packed, bytes, &against, decoded) ||
					   memcmp(values, decoded, (size_t)n * 8) != 0))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!encoder && (chunk_codec_open(true, &encoder, NULL) < 0 || chunk_codec_open(false, &decoder, NULL) < 0))
		abort();
	for (int i = 0; !stage[0] && i < CHUNK_SAMPLES_MAX; i++)
		stage[i] = i * INT64_C(1000000) + 1;
	if (size >= HEAD)
		decode(data, size);
	encode(data, size);
	return 0;
}
