/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The codec of one column chunk: up to 65536 values of one column, each stored
 * as its difference from a prediction. Differences are taken modulo 2^64, so
 * that no pair of values overflows and decoding is exact for every input.
 *
 *   stored = 0                          nothing observed
 *   stored = (value - prediction) - min + 1
 *
 * `width` bytes hold a stored value (1, 2, 4 or 8, whatever the chunk's range
 * needs), split into planes: all lowest bytes, then all second ones, and so on;
 * each plane is a zstd block of its own since its bytes are distributed
 * differently (2 to 4 % smaller than one block for all). Width 0 has no data:
 * every value is prediction + min or, where `empty`, none is there.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tare/err.h"

enum { CHUNK_SAMPLES_MAX = 65536 };

enum chunk_relation {
	CHUNK_ZERO,     /* prediction 0 */
	CHUNK_PREVIOUS, /* the last observed value of this chunk; `base` before the first */
	CHUNK_GRID,     /* first + i x step */
	CHUNK_STAGE,    /* the same sample's value in another column, 0 where that is missing */
};

/* What the values are stored against. */
struct chunk_against {
	enum chunk_relation relation;
	const int64_t *stage; /* CHUNK_STAGE: n values, TARE_NO_TIME where missing */
	uint64_t first, step; /* CHUNK_GRID, modulo 2^64 */
};

struct chunk {
	uint32_t n;       /* 1 to CHUNK_SAMPLES_MAX */
	uint32_t width;   /* 0, 1, 2, 4, 8 */
	bool empty;       /* nothing observed in the whole chunk; width 0, min and max mean nothing */
	int64_t base;     /* CHUNK_PREVIOUS only, else 0 */
	int64_t min, max; /* of the differences */
};

/* Buffers and zstd contexts for one direction, reused from chunk to chunk. */
struct chunk_codec;
int chunk_codec_open(bool encode, struct chunk_codec **ret_codec, struct tare_err *err) TARE_MUST_USE;
void chunk_codec_free(struct chunk_codec *codec); /* NULL is fine */

/*
 * 1 with the data borrowed until the next call; 0 when these values cannot be
 * stored against this (an observed value whose reference is missing, or more
 * than 2^64 - 2 between smallest and largest difference): the caller tries the
 * next relation, CHUNK_ZERO at last, which always holds. -1 on failure.
 */
int chunk_encode(struct chunk_codec *codec, const int64_t *values, uint32_t n, const struct chunk_against *against,
	struct chunk *ret_chunk, const void **ret_data, size_t *ret_bytes, struct tare_err *err) TARE_MUST_USE;

/*
 * Fills n values. NULL when that went well, otherwise the reason in a word or
 * two ("checksum"); ret_values then holds nothing of use. Nothing about the
 * chunk or its data is trusted.
 */
const char *chunk_decode(struct chunk_codec *codec, const struct chunk *chunk, const void *data, size_t bytes,
	const struct chunk_against *against, int64_t *ret_values) TARE_MUST_USE;
