/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Column chunks: difference, byte planes, zstd. Decoding goes through a block of
 * 1024 values that stays in the first-level cache, so that a column of ten
 * million samples is read at about the speed zstd gives out its bytes.
 */
#include "lib/chunk.h"

#include <errno.h>
#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/cleanup.h"
#include "tare/sample.h"

enum { BLOCK = 1024, LEVEL = 3 };

struct chunk_codec {
	ZSTD_CCtx *compress;
	ZSTD_DCtx *decompress;
	size_t room;
	uint64_t *stored; /* encoding: CHUNK_SAMPLES_MAX */
	uint8_t *planes;  /* CHUNK_SAMPLES_MAX x 8 */
	uint8_t *packed;  /* encoding: `room` */
};

static void auto_codec_end(struct chunk_codec **codec)
{
	chunk_codec_free(*codec);
}

int chunk_codec_open(bool encode, struct chunk_codec **ret_codec, struct tare_err *err)
{
	AUTO_CLEANUP(auto_codec_end) struct chunk_codec *codec = calloc(1, sizeof(*codec));
	if (!codec)
		return tare_fail_errno(err, ENOMEM, "cannot set up the chunk codec");
	codec->planes = malloc((size_t)CHUNK_SAMPLES_MAX * 8);
	if (encode) {
		/* Every plane may add a block header beyond what the bound for one stream allows for. */
		codec->room = ZSTD_compressBound((size_t)CHUNK_SAMPLES_MAX * 8) + 256;
		codec->compress = ZSTD_createCCtx();
		codec->stored = malloc((size_t)CHUNK_SAMPLES_MAX * sizeof(*codec->stored));
		codec->packed = malloc(codec->room);
	} else {
		codec->decompress = ZSTD_createDCtx();
	}
	if (!codec->planes || (encode ? !codec->compress || !codec->stored || !codec->packed : !codec->decompress))
		return tare_fail_errno(err, ENOMEM, "cannot set up the chunk codec");
	if (encode) {
		ZSTD_CCtx_setParameter(codec->compress, ZSTD_c_compressionLevel, LEVEL);
		ZSTD_CCtx_setParameter(codec->compress, ZSTD_c_checksumFlag, 1);
	}
	*ret_codec = take_ptr(codec);
	return 0;
}

void chunk_codec_free(struct chunk_codec *codec)
{
	if (!codec)
		return;
	ZSTD_freeCCtx(codec->compress);
	ZSTD_freeDCtx(codec->decompress);
	free(codec->stored);
	free(codec->planes);
	free(codec->packed);
	free(codec);
}

/* ---- encoding ---- */

/* False when an observed value has no reference. *ret_observed is how many there are. */
static bool differences(uint64_t *ret_differences, const int64_t *values, const struct chunk_against *against,
	struct chunk *chunk, uint32_t *ret_observed)
{
	uint64_t previous = 0;
	uint32_t observed = 0;

	for (uint32_t i = 0; i < chunk->n; i++) {
		uint64_t prediction = 0;

		if (values[i] == TARE_NO_TIME)
			continue;
		if (against->relation == CHUNK_PREVIOUS) {
			if (observed == 0) {
				chunk->base = values[i];
				previous = (uint64_t)values[i];
			}
			prediction = previous;
			previous = (uint64_t)values[i];
		} else if (against->relation == CHUNK_GRID) {
			prediction = against->first + i * against->step;
		} else if (against->relation == CHUNK_STAGE) {
			if (against->stage[i] == TARE_NO_TIME)
				return false;
			prediction = (uint64_t)against->stage[i];
		}
		ret_differences[i] = (uint64_t)values[i] - prediction;
		int64_t difference = (int64_t)ret_differences[i];
		chunk->min = observed == 0 || difference < chunk->min ? difference : chunk->min;
		chunk->max = observed == 0 || difference > chunk->max ? difference : chunk->max;
		observed++;
	}
	*ret_observed = observed;
	return true;
}

static uint32_t width_of(uint64_t largest)
{
	if (largest <= UINT8_MAX)
		return 1;
	if (largest <= UINT16_MAX)
		return 2;
	return largest <= UINT32_MAX ? 4 : 8;
}

static int pack(struct chunk_codec *codec, const struct chunk *chunk, size_t *ret_bytes, struct tare_err *err)
{
	ZSTD_outBuffer out = {codec->packed, codec->room, 0};

	ZSTD_CCtx_reset(codec->compress, ZSTD_reset_session_only);
	ZSTD_CCtx_setPledgedSrcSize(codec->compress, (uint64_t)chunk->n * chunk->width);
	for (uint32_t plane = 0; plane < chunk->width; plane++) {
		uint8_t *bytes = codec->planes + (size_t)plane * chunk->n;
		for (uint32_t i = 0; i < chunk->n; i++)
			bytes[i] = (uint8_t)(codec->stored[i] >> (8 * plane));
		ZSTD_inBuffer in = {bytes, chunk->n, 0};
		size_t left = ZSTD_compressStream2(
			codec->compress, &out, &in, plane + 1 == chunk->width ? ZSTD_e_end : ZSTD_e_flush);
		if (ZSTD_isError(left))
			return tare_fail(err, TARE_E_SYSTEM, "cannot compress samples: %s", ZSTD_getErrorName(left));
		if (left != 0)
			return tare_fail(err, TARE_E_SYSTEM, "cannot compress samples: the result is too large");
	}
	*ret_bytes = out.pos;
	return 0;
}

int chunk_encode(struct chunk_codec *codec, const int64_t *values, uint32_t n, const struct chunk_against *against,
	struct chunk *ret_chunk, const void **ret_data, size_t *ret_bytes, struct tare_err *err)
{
	struct chunk chunk = {.n = n};
	uint32_t observed = 0;
	size_t bytes = 0;

	if (!differences(codec->stored, values, against, &chunk, &observed))
		return 0;
	uint64_t range = (uint64_t)chunk.max - (uint64_t)chunk.min;
	if (range == UINT64_MAX)
		return 0;
	chunk.empty = observed == 0;
	if (!chunk.empty && (range > 0 || observed < n)) {
		chunk.width = width_of(range + 1);
		for (uint32_t i = 0; i < n; i++)
			codec->stored[i] = values[i] == TARE_NO_TIME ? 0 : codec->stored[i] - (uint64_t)chunk.min + 1;
		if (pack(codec, &chunk, &bytes, err) < 0)
			return -1;
	}
	*ret_chunk = chunk;
	*ret_data = codec->packed;
	*ret_bytes = bytes;
	return 1;
}

/* ---- decoding ---- */

/* Joins the planes of `count` values from index `from` on; returns the largest. */
static uint64_t join(
	uint64_t *ret_stored, const uint8_t *planes, const struct chunk *chunk, uint32_t from, uint32_t count)
{
	const size_t n = chunk->n;
	const uint8_t *at = planes + from;
	uint64_t largest = 0;

	switch (chunk->width) {
	case 1:
		for (uint32_t i = 0; i < count; i++)
			ret_stored[i] = at[i];
		break;
	case 2:
		for (uint32_t i = 0; i < count; i++)
			ret_stored[i] = (uint64_t)at[i] | (uint64_t)at[n + i] << 8;
		break;
	case 4:
		for (uint32_t i = 0; i < count; i++)
			ret_stored[i] = (uint64_t)at[i] | (uint64_t)at[n + i] << 8 | (uint64_t)at[2 * n + i] << 16 |
					(uint64_t)at[3 * n + i] << 24;
		break;
	default:
		for (uint32_t i = 0; i < count; i++) {
			uint64_t value = 0;
			for (uint32_t plane = 0; plane < 8; plane++)
				value |= (uint64_t)at[plane * n + i] << (8 * plane);
			ret_stored[i] = value;
		}
	}
	for (uint32_t i = 0; i < count; i++)
		largest = ret_stored[i] > largest ? ret_stored[i] : largest;
	return largest;
}

/* `shift` is min - 1: what a stored value is short of its difference. */
static void restore(int64_t *ret_values, const uint64_t *stored, const struct chunk_against *against, uint32_t from,
	uint32_t count, uint64_t shift, uint64_t *previous)
{
	switch (against->relation) {
	case CHUNK_ZERO:
		for (uint32_t i = 0; i < count; i++)
			ret_values[i] = stored[i] ? (int64_t)(shift + stored[i]) : TARE_NO_TIME;
		break;
	case CHUNK_GRID:
		for (uint32_t i = 0; i < count; i++) {
			uint64_t grid = against->first + (from + i) * against->step;
			ret_values[i] = stored[i] ? (int64_t)(grid + shift + stored[i]) : TARE_NO_TIME;
		}
		break;
	case CHUNK_STAGE:
		for (uint32_t i = 0; i < count; i++) {
			int64_t stage = against->stage[from + i];
			uint64_t reference = stage == TARE_NO_TIME ? 0 : (uint64_t)stage;
			ret_values[i] = stored[i] ? (int64_t)(reference + shift + stored[i]) : TARE_NO_TIME;
		}
		break;
	case CHUNK_PREVIOUS:
		for (uint32_t i = 0; i < count; i++) {
			*previous = stored[i] ? *previous + shift + stored[i] : *previous;
			ret_values[i] = stored[i] ? (int64_t)*previous : TARE_NO_TIME;
		}
		break;
	}
}

/* The planes of a chunk that has data. */
static const char *unpack(struct chunk_codec *codec, const struct chunk *chunk, const void *data, size_t bytes)
{
	size_t want = (size_t)chunk->n * chunk->width;

	if (chunk->empty || (chunk->width != 1 && chunk->width != 2 && chunk->width != 4 && chunk->width != 8))
		return "width";
	if (chunk->max < chunk->min)
		return "bounds";
	if (!data || ZSTD_getFrameContentSize(data, bytes) != want)
		return "size";
	size_t got = ZSTD_decompressDCtx(codec->decompress, codec->planes, want, data, bytes);
	if (ZSTD_isError(got))
		return ZSTD_getErrorCode(got) == ZSTD_error_checksum_wrong ? "checksum" : "compressed data";
	return got == want ? NULL : "size";
}

const char *chunk_decode(struct chunk_codec *codec, const struct chunk *chunk, const void *data, size_t bytes,
	const struct chunk_against *against, int64_t *ret_values)
{
	uint64_t stored[BLOCK];
	uint64_t previous = (uint64_t)chunk->base, shift = (uint64_t)chunk->min - 1;
	uint64_t most = (uint64_t)chunk->max - (uint64_t)chunk->min + 1;

	if (chunk->n == 0 || chunk->n > CHUNK_SAMPLES_MAX)
		return "count";
	if (chunk->width > 0) {
		const char *reason = unpack(codec, chunk, data, bytes);
		if (reason)
			return reason;
	} else if (bytes > 0) {
		return "size";
	} else {
		for (uint32_t i = 0; i < BLOCK; i++)
			stored[i] = !chunk->empty;
	}
	for (uint32_t from = 0; from < chunk->n; from += BLOCK) {
		uint32_t count = chunk->n - from < BLOCK ? chunk->n - from : BLOCK;
		/* most wraps to 0 only for a range no writer makes: then nothing but "missing" is in bounds. */
		if (chunk->width > 0 && join(stored, codec->planes, chunk, from, count) > most)
			return "bounds";
		restore(ret_values + from, stored, against, from, count, shift, &previous);
	}
	return NULL;
}
