/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Packing and unpacking of times. All arithmetic is modulo 2^64, so that no
 * times a file may hold can overflow; only the distances decide the width.
 */
#include "lib/packed.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

/* Least and largest distance from the line through the first observed time. */
struct distances {
	uint64_t origin;
	int64_t least, most;
	size_t observed;
};

static struct distances distances_of(const int64_t *times_ns, size_t n, uint64_t step_ns)
{
	struct distances d = {0};
	size_t i = 0;
	while (i < n && times_ns[i] == TARE_NO_TIME)
		i++;
	if (i == n)
		return d;
	d.origin = (uint64_t)times_ns[i] - i * step_ns;
	for (; i < n; i++) {
		if (times_ns[i] == TARE_NO_TIME)
			continue;
		int64_t distance = (int64_t)((uint64_t)times_ns[i] - i * step_ns - d.origin);
		d.least = distance < d.least ? distance : d.least;
		d.most = distance > d.most ? distance : d.most;
		d.observed++;
	}
	return d;
}

static uint8_t width_of(const struct distances *d, size_t n)
{
	uint64_t range = (uint64_t)d->most - (uint64_t)d->least;
	if (d->observed == 0 || (range == 0 && d->observed == n))
		return 0;
	if (range < UINT8_MAX)
		return 1;
	if (range < UINT16_MAX)
		return 2;
	return range < UINT32_MAX ? 4 : 8;
}

static void store(struct packed_slice *slice, const int64_t *times_ns, size_t n, uint64_t step_ns)
{
	uint8_t *bytes = slice->stored;
	uint16_t *words = slice->stored;
	uint32_t *doubles = slice->stored;
	for (size_t i = 0; i < n; i++) {
		uint64_t stored = (uint64_t)times_ns[i] - i * step_ns - slice->base;
		stored = times_ns[i] == TARE_NO_TIME ? 0 : stored;
		if (slice->width == 1)
			bytes[i] = (uint8_t)stored;
		else if (slice->width == 2)
			words[i] = (uint16_t)stored;
		else
			doubles[i] = (uint32_t)stored;
	}
}

int packed_add(struct tare_packed *packed, const int64_t *times_ns, size_t n, struct tare_err *err)
{
	if (packed->count == packed->room) {
		size_t room = packed->room ? 2 * packed->room : 16;
		struct packed_slice *slices = reallocarray(packed->slice, room, sizeof(*slices));
		if (!slices)
			return tare_fail(err, TARE_E_SYSTEM, "out of memory for %zu times", n);
		packed->slice = slices;
		packed->room = room;
	}
	struct distances d = distances_of(times_ns, n, packed->step_ns);
	struct packed_slice slice = {
		.base = d.origin + (uint64_t)d.least - 1, .width = width_of(&d, n), .empty = d.observed == 0};
	if (slice.width) {
		slice.stored = reallocarray(NULL, n, slice.width);
		if (!slice.stored)
			return tare_fail(err, TARE_E_SYSTEM, "out of memory for %zu times", n);
		if (slice.width == 8)
			memcpy(slice.stored, times_ns, n * sizeof(*times_ns));
		else
			store(&slice, times_ns, n, packed->step_ns);
	}
	packed->slice[packed->count++] = slice;
	return 0;
}

void packed_restart(struct tare_packed *packed, size_t slice_samples, int64_t step_ns)
{
	for (size_t i = 0; i < packed->count; i++)
		free(packed->slice[i].stored);
	packed->count = 0;
	packed->slice_samples = slice_samples;
	packed->step_ns = (uint64_t)step_ns;
}

void packed_end(struct tare_packed *packed)
{
	packed_restart(packed, 1, 0);
	free(packed->slice);
	packed->slice = NULL;
	packed->room = 0;
}

static void unpack(const struct packed_slice *slice, size_t from, size_t count, uint64_t step_ns, int64_t *ret_times_ns)
{
	uint64_t line = slice->base + from * step_ns;
	switch (slice->width) {
	case 0:
		for (size_t i = 0; i < count; i++)
			ret_times_ns[i] = slice->empty ? TARE_NO_TIME : (int64_t)(line + i * step_ns + 1);
		break;
	case 1: {
		const uint8_t *stored = (const uint8_t *)slice->stored + from;
		for (size_t i = 0; i < count; i++)
			ret_times_ns[i] = stored[i] ? (int64_t)(line + i * step_ns + stored[i]) : TARE_NO_TIME;
		break;
	}
	case 2: {
		const uint16_t *stored = (const uint16_t *)slice->stored + from;
		for (size_t i = 0; i < count; i++)
			ret_times_ns[i] = stored[i] ? (int64_t)(line + i * step_ns + stored[i]) : TARE_NO_TIME;
		break;
	}
	case 4: {
		const uint32_t *stored = (const uint32_t *)slice->stored + from;
		for (size_t i = 0; i < count; i++)
			ret_times_ns[i] = stored[i] ? (int64_t)(line + i * step_ns + stored[i]) : TARE_NO_TIME;
		break;
	}
	default:
		memcpy(ret_times_ns, (const int64_t *)slice->stored + from, count * sizeof(*ret_times_ns));
	}
}

void packed_values(const struct tare_packed *packed, size_t first, size_t count, int64_t *ret_times_ns)
{
	while (count) {
		size_t from = first % packed->slice_samples, left = packed->slice_samples - from;
		size_t piece = count < left ? count : left;
		unpack(&packed->slice[first / packed->slice_samples], from, piece, packed->step_ns, ret_times_ns);
		first += piece;
		count -= piece;
		ret_times_ns += piece;
	}
}

bool tare_stage_seen(const struct tare_series *series, enum tare_stage stage)
{
	return series_has(series, stage);
}

int64_t tare_stage_at(const struct tare_series *series, enum tare_stage stage, size_t i)
{
	return series_stage_at(series, stage, i);
}

void tare_stage_times(
	const struct tare_series *series, enum tare_stage stage, size_t first, size_t count, int64_t *ret_times_ns)
{
	if (series->at_ns[stage])
		memcpy(ret_times_ns, series->at_ns[stage] + first, count * sizeof(*ret_times_ns));
	else if (series->packed[stage])
		packed_values(series->packed[stage], first, count, ret_times_ns);
	else
		for (size_t i = 0; i < count; i++)
			ret_times_ns[i] = TARE_NO_TIME;
}
