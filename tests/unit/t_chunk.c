/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The chunk codec: decoding gives back exactly what was encoded, for values from
 * all over the 64-bit range, and every damaged byte is noticed.
 */
#include "lib/chunk.h"

#include <stdlib.h>

#include "tap.h"
#include "tare/sample.h"

enum { SEED = 20240611, ROUNDS = 400, N_MOST = 3000 };

static struct chunk_codec *encoder, *decoder;
static int64_t values[CHUNK_SAMPLES_MAX], stage[CHUNK_SAMPLES_MAX], decoded[CHUNK_SAMPLES_MAX];

static uint64_t state = SEED;

/* splitmix64 */
static uint64_t draw(void)
{
	uint64_t z = (state += UINT64_C(0x9e3779b97f4a7c15));
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* A value of one of several tempers: missing, extreme, anything, or `bits` bits around `centre`. */
static int64_t value_of(unsigned extremes_percent, unsigned missing_percent, unsigned bits, int64_t centre)
{
	static const int64_t extremes[] = {INT64_MIN + 1, INT64_MIN + 2, INT64_MAX, INT64_MAX - 1, 0, -1, 1};

	if (draw() % 100 < missing_percent)
		return TARE_NO_TIME;
	if (draw() % 100 < extremes_percent)
		return extremes[draw() % (sizeof(extremes) / sizeof(*extremes))];
	uint64_t noise = bits == 0 ? 0 : draw() >> (64 - bits);
	return (int64_t)((uint64_t)centre + noise);
}

static struct chunk_against against_of(enum chunk_relation relation)
{
	return (struct chunk_against){
		.relation = relation, .stage = stage, .first = draw(), .step = draw() >> (draw() % 64)};
}

/* Encodes and decodes; 1 identical, 0 not storable against this, -1 different or failed. */
static int round_trip(uint32_t n, const struct chunk_against *against)
{
	struct chunk chunk;
	const void *data;
	size_t bytes;
	int status = chunk_encode(encoder, values, n, against, &chunk, &data, &bytes, NULL);

	if (status != 1)
		return status;
	memset(decoded, 0x5a, n * sizeof(*decoded));
	if (chunk_decode(decoder, &chunk, data, bytes, against, decoded))
		return -1;
	return memcmp(values, decoded, n * sizeof(*values)) == 0 ? 1 : -1;
}

static void test_random_identity(void)
{
	int identical = 0, refused = 0, refused_zero = 0, different = 0;

	printf("# seed %d\n", SEED);
	for (int round = 0; round < ROUNDS; round++) {
		uint32_t n = 1 + (uint32_t)(draw() % N_MOST);
		unsigned extremes = draw() % 4 == 0 ? 5 : 0, missing = (unsigned)(draw() % 4) * 20;
		unsigned bits = (unsigned)(draw() % 65);
		int64_t centre = (int64_t)draw();
		bool stage_complete = draw() % 2;

		centre = centre == TARE_NO_TIME ? 0 : centre;
		for (uint32_t i = 0; i < n; i++) {
			values[i] = value_of(extremes, missing, bits, centre);
			stage[i] = value_of(extremes, stage_complete ? 0 : 10, 30, centre);
		}
		for (int relation = CHUNK_ZERO; relation <= CHUNK_STAGE; relation++) {
			struct chunk_against against = against_of((enum chunk_relation)relation);
			int status = round_trip(n, &against);
			identical += status == 1;
			different += status < 0;
			refused += status == 0;
			refused_zero += status == 0 && relation == CHUNK_ZERO;
		}
	}
	IS_I64(different, 0, "every chunk encoded decodes to the same values");
	IS_I64(refused_zero, 0, "relative to zero everything can be stored");
	OK(identical > ROUNDS * 2, "%d chunks compared", identical);
	OK(refused > 0, "%d had no reference or too wide a range, and were refused", refused);
}

static void test_extremes(void)
{
	const struct chunk_against zero = {.relation = CHUNK_ZERO}, previous = {.relation = CHUNK_PREVIOUS},
				   on_stage = {.relation = CHUNK_STAGE, .stage = stage};

	values[0] = INT64_MIN + 1;
	values[1] = INT64_MAX;
	values[2] = TARE_NO_TIME;
	IS_I64(round_trip(3, &zero), 1, "the whole range and a missing value, relative to zero");
	IS_I64(round_trip(3, &previous), 1, "the same relative to the previous");

	/* Differences INT64_MIN and INT64_MAX: all 2^64 values in between, no room for "missing". */
	values[0] = 0;
	stage[0] = INT64_MIN + 1;
	values[1] = 2;
	stage[1] = INT64_MIN + 2;
	values[2] = 0;
	stage[2] = 0;
	struct chunk chunk;
	const void *data;
	size_t bytes;
	IS_I64(chunk_encode(encoder, values, 2, &on_stage, &chunk, &data, &bytes, NULL), 0,
		"a range of 2^64 is refused");
	values[1] = 1;
	IS_I64(round_trip(3, &on_stage), 1, "a difference of INT64_MAX beside 0");

	stage[1] = TARE_NO_TIME;
	IS_I64(round_trip(3, &on_stage), 0, "a value whose reference is missing is refused");
	values[1] = TARE_NO_TIME;
	IS_I64(round_trip(3, &on_stage), 1, "a missing value needs no reference");
}

static void test_constant(void)
{
	const struct chunk_against grid = {.relation = CHUNK_GRID, .first = 777, .step = 1000000};
	const struct chunk_against zero = {.relation = CHUNK_ZERO};
	struct chunk chunk;
	const void *data;
	size_t bytes;

	for (int i = 0; i < CHUNK_SAMPLES_MAX; i++)
		values[i] = 777 + 5 + i * INT64_C(1000000);
	IS_I64(chunk_encode(encoder, values, CHUNK_SAMPLES_MAX, &grid, &chunk, &data, &bytes, NULL), 1,
		"a grid is stored");
	IS_I64(bytes, 0, "without data");
	IS_I64(chunk.width, 0, "at width 0");
	IS_I64(chunk.min, 5, "its distance as the minimum");
	IS_I64(round_trip(CHUNK_SAMPLES_MAX, &grid), 1, "and read back");
	for (int i = 0; i < 2000; i++)
		values[i] = TARE_NO_TIME;
	IS_I64(chunk_encode(encoder, values, 2000, &zero, &chunk, &data, &bytes, NULL), 1,
		"nothing observed is stored");
	OK(chunk.empty && bytes == 0, "as empty");
	IS_I64(round_trip(2000, &zero), 1, "and read back");
}

static void test_widths(void)
{
	static const struct {
		int64_t range;
		uint32_t width;
	} cases[] = {{0xfe, 1}, {0xff, 2}, {0xfffe, 2}, {0xffff, 4}, {0xfffffffe, 4}, {0xffffffff, 8}, {INT64_MAX, 8}};
	const struct chunk_against zero = {.relation = CHUNK_ZERO};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct chunk chunk = {0};
		const void *data;
		size_t bytes;
		values[0] = 0;
		values[1] = cases[i].range;
		int status = chunk_encode(encoder, values, 2, &zero, &chunk, &data, &bytes, NULL);
		OK(status == 1 && chunk.width == cases[i].width && round_trip(2, &zero) == 1,
			"a range of %" PRId64 " takes %u bytes", cases[i].range, cases[i].width);
	}
}

static void test_damage(void)
{
	const struct chunk_against zero = {.relation = CHUNK_ZERO};
	static uint8_t copy[8192];
	struct chunk chunk;
	const void *data;
	size_t bytes, unnoticed = 0, wrong = 0;

	for (int i = 0; i < 1000; i++)
		values[i] = value_of(0, 10, 12, 1000);
	if (chunk_encode(encoder, values, 1000, &zero, &chunk, &data, &bytes, NULL) != 1 || bytes > sizeof(copy)) {
		OK(false, "chunk for the damage test");
		return;
	}
	memcpy(copy, data, bytes);
	for (size_t at = 0; at < bytes; at++) {
		copy[at] ^= (uint8_t)(1U << draw() % 8);
		if (!chunk_decode(decoder, &chunk, copy, bytes, &zero, decoded)) {
			unnoticed++;
			wrong += memcmp(values, decoded, 1000 * sizeof(*values)) != 0;
		}
		memcpy(copy, data, bytes);
	}
	IS_I64(wrong, 0, "no flipped bit changes a value unnoticed");
	printf("# %zu of %zu flips changed nothing\n", unnoticed, bytes);
	size_t accepted = 0;
	for (size_t cut = 0; cut < bytes; cut++)
		accepted += chunk_decode(decoder, &chunk, copy, cut, &zero, decoded) == NULL;
	IS_I64(accepted, 0, "no cut-off chunk is taken");
	IS_STR(chunk_decode(decoder, &chunk, copy, bytes / 2, &zero, decoded), "compressed data", "cut in half");
	copy[bytes - 1] ^= 1;
	IS_STR(chunk_decode(decoder, &chunk, copy, bytes, &zero, decoded), "checksum", "a flipped checksum");
	copy[bytes - 1] ^= 1;
	chunk.n = 999;
	IS_STR(chunk_decode(decoder, &chunk, copy, bytes, &zero, decoded), "size", "another count");
	chunk.n = CHUNK_SAMPLES_MAX + 1;
	IS_STR(chunk_decode(decoder, &chunk, copy, bytes, &zero, decoded), "count", "a count beyond all");
	chunk.n = 1000;
	chunk.width = 3;
	IS_STR(chunk_decode(decoder, &chunk, copy, bytes, &zero, decoded), "width", "a width that is none");
	chunk.width = 2;
	chunk.max = chunk.min;
	IS_STR(chunk_decode(decoder, &chunk, copy, bytes, &zero, decoded), "bounds", "values outside the bounds");
}

int main(void)
{
	struct tare_err err;

	if (chunk_codec_open(true, &encoder, &err) < 0 || chunk_codec_open(false, &decoder, &err) < 0)
		return 1;
	test_random_identity();
	test_extremes();
	test_constant();
	test_widths();
	test_damage();
	chunk_codec_free(encoder);
	chunk_codec_free(decoder);
	return tap_done();
}
