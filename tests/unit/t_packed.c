/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Packed times: what comes out, one by one and in blocks, is what went in, for
 * every width, with holes anywhere, at the ends of the 64-bit range and on both
 * sides of every step from one width to the next.
 */
#include "lib/packed.h"

#include <stdlib.h>

#include "recording_data.h"
#include "tap.h"

enum { SEED = 20261130, SLICE = 1000, SLICES = 4, COUNT = (SLICES - 1) * SLICE + 137, ROUNDS = 300 };

static int64_t times[COUNT], unpacked[COUNT];

static size_t pack_and_compare(struct tare_packed *packed, int64_t step_ns, uint64_t *state)
{
	struct tare_err err = {0};
	struct tare_series series = {.count = COUNT};
	size_t different = 0;
	packed_restart(packed, SLICE, step_ns);
	for (size_t first = 0; first < COUNT; first += SLICE)
		MUST(packed_add(packed, times + first, COUNT - first < SLICE ? COUNT - first : SLICE, &err));
	series.packed[TARE_STAGE_USER_TX] = packed;
	for (size_t i = 0; i < COUNT; i++)
		different += tare_stage_at(&series, TARE_STAGE_USER_TX, i) != times[i];
	for (size_t first = 0, count; first < COUNT; first += count) {
		count = 1 + (size_t)(fake_draw(state) % (2 * SLICE));
		count = count < COUNT - first ? count : COUNT - first;
		tare_stage_times(&series, TARE_STAGE_USER_TX, first, count, unpacked + first);
	}
	for (size_t i = 0; i < COUNT; i++)
		different += unpacked[i] != times[i];
	return different;
}

static void test_any(void)
{
	struct tare_packed packed = {0};
	uint64_t state = SEED, seen = 0;
	size_t different = 0;
	printf("# seed %d\n", SEED);
	for (int round = 0; round < ROUNDS; round++) {
		static const int64_t steps[] = {0, 1, 20000, 1000000000, INT64_MAX};
		int64_t step = steps[fake_draw(&state) % 5], centre = (int64_t)fake_draw(&state);
		unsigned bits = (unsigned)(fake_draw(&state) % 65), missing = (unsigned)(fake_draw(&state) % 4) * 33;
		for (size_t i = 0; i < COUNT; i++) {
			uint64_t noise = bits ? fake_draw(&state) >> (64 - bits) : 0;
			bool hole = fake_draw(&state) % 100 < missing;
			times[i] = hole ? TARE_NO_TIME : (int64_t)((uint64_t)centre + i * (uint64_t)step + noise);
		}
		different += pack_and_compare(&packed, step, &state);
		for (size_t i = 0; i < packed.count; i++)
			seen |= UINT64_C(1) << packed.slice[i].width;
	}
	OK(different == 0, "%d rounds of %d times come back as they were", ROUNDS, COUNT);
	IS_I64(seen, 1 << 0 | 1 << 1 | 1 << 2 | 1 << 4 | 1 << 8, "in every width");
	packed_end(&packed);
}

/* One time that lies `range` beyond the line of all others; and the same with a hole, which needs a value more. */
static void test_borders(void)
{
	static const struct {
		int64_t range;
		uint8_t width;
	} borders[] = {{0, 0}, {1, 1}, {254, 1}, {255, 2}, {256, 2}, {65534, 2}, {65535, 4}, {4294967294, 4},
		{4294967295, 8}, {INT64_MAX - 5000000, 8}};
	struct tare_packed packed = {0};
	uint64_t state = SEED;
	for (size_t k = 0; k < sizeof(borders) / sizeof(borders[0]); k++) {
		for (int hole = 0; hole < 2; hole++) {
			for (size_t i = 0; i < COUNT; i++)
				times[i] = 5 + (int64_t)i * 1000;
			times[0] = hole ? TARE_NO_TIME : times[0];
			times[500] += borders[k].range;
			size_t different = pack_and_compare(&packed, 1000, &state);
			uint8_t width = hole && k == 0 ? 1 : borders[k].width;
			OK(different == 0 && packed.slice[0].width == width && packed.slice[1].width == 0,
				"%lld ns off the line%s: %u bytes a time", (long long)borders[k].range,
				hole ? " and a hole" : "", packed.slice[0].width);
		}
	}
	for (size_t i = 0; i < COUNT; i++)
		times[i] = i % 2 ? INT64_MAX : INT64_MIN + 1;
	OK(pack_and_compare(&packed, INT64_MAX, &state) == 0, "both ends of the range in one slice");
	for (size_t i = 0; i < COUNT; i++)
		times[i] = TARE_NO_TIME;
	OK(pack_and_compare(&packed, 1000, &state) == 0 && packed.slice[0].width == 0,
		"nothing observed takes nothing");
	packed_end(&packed);
}

int main(void)
{
	test_any();
	test_borders();
	return tap_done();
}
