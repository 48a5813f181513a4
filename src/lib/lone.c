/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Lone values are buffered, sorted by their differing bytes only, and merged
 * into a sorted list. The buffer is as long as the list, so a value is moved
 * about once however many there are.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/counts.h"

enum { WAITING_FIRST = 512, WAITING_PLENTY = 4096 };

/* Least significant byte first, over the bytes in which smallest and largest differ: 3 passes for a spread of 16 ms. */
static void sort_values(int64_t *values, int64_t *scratch, size_t n)
{
	int64_t least = values[0], most = values[0];
	for (size_t i = 1; i < n; i++) {
		least = values[i] < least ? values[i] : least;
		most = values[i] > most ? values[i] : most;
	}
	uint64_t spread = (uint64_t)most - (uint64_t)least;
	int64_t *from = values, *to = scratch;
	for (unsigned shift = 0; shift < 64 && spread >> shift; shift += 8) {
		size_t start[256] = {0}, sum = 0;
		for (size_t i = 0; i < n; i++)
			start[(((uint64_t)from[i] - (uint64_t)least) >> shift) & 255]++;
		for (size_t digit = 0; digit < 256; digit++) {
			size_t here = start[digit];
			start[digit] = sum;
			sum += here;
		}
		for (size_t i = 0; i < n; i++)
			to[start[(((uint64_t)from[i] - (uint64_t)least) >> shift) & 255]++] = from[i];
		int64_t *swap = from;
		from = to;
		to = swap;
	}
	if (from != values)
		memcpy(values, from, n * sizeof(*values));
}

int lone_reserve(struct lone *lone, size_t more, struct tare_err *err)
{
	size_t waiting_room = lone->waiting_room ? lone->waiting_room : WAITING_FIRST;
	if (lone->waiting_room && !lone->waiting_count) {
		size_t next = waiting_room < WAITING_PLENTY ? 2 * waiting_room : WAITING_PLENTY;
		next = next > lone->count ? next : lone->count;
		waiting_room = next > waiting_room ? next : waiting_room;
	}
	size_t room = lone->count + waiting_room + more;
	if (waiting_room > lone->waiting_room) {
		int64_t *waiting = realloc(lone->waiting, 2 * waiting_room * sizeof(*waiting));
		if (!waiting)
			return tare_fail(err, TARE_E_SYSTEM, "out of memory while counting %zu values", room);
		lone->waiting = waiting;
		lone->waiting_room = waiting_room;
	}
	if (room <= lone->room)
		return 0;
	struct tare_bin *bins = realloc(lone->bins, room * sizeof(*bins));
	if (bins)
		lone->bins = bins;
	struct tare_bin *spare = realloc(lone->spare, room * sizeof(*spare));
	if (spare)
		lone->spare = spare;
	if (!bins || !spare)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory while counting %zu values", room);
	lone->room = room;
	return 0;
}

static void append(struct tare_bin *bins, size_t *count, int64_t value_ns, uint64_t times)
{
	if (*count && bins[*count - 1].value_ns == value_ns)
		bins[*count - 1].count += times;
	else
		bins[(*count)++] = (struct tare_bin){value_ns, times};
}

static void swap_lists(struct lone *lone, size_t count)
{
	struct tare_bin *had = lone->bins;
	lone->bins = lone->spare;
	lone->spare = had;
	lone->count = count;
}

bool lone_settle(struct lone *lone)
{
	size_t n = lone->waiting_count, at = 0, count = 0;
	if (!n)
		return false;
	sort_values(lone->waiting, lone->waiting + lone->waiting_room, n);
	for (size_t i = 0; i < lone->count; i++) {
		for (; at < n && lone->waiting[at] <= lone->bins[i].value_ns; at++)
			append(lone->spare, &count, lone->waiting[at], 1);
		append(lone->spare, &count, lone->bins[i].value_ns, lone->bins[i].count);
	}
	for (; at < n; at++)
		append(lone->spare, &count, lone->waiting[at], 1);
	lone->waiting_count = 0;
	swap_lists(lone, count);
	return true;
}

void lone_add(struct lone *lone, const struct tare_bin *bins, size_t bin_count)
{
	size_t at = 0, count = 0;
	for (size_t i = 0; i < lone->count; i++) {
		for (; at < bin_count && bins[at].value_ns <= lone->bins[i].value_ns; at++)
			append(lone->spare, &count, bins[at].value_ns, bins[at].count);
		append(lone->spare, &count, lone->bins[i].value_ns, lone->bins[i].count);
	}
	for (; at < bin_count; at++)
		append(lone->spare, &count, bins[at].value_ns, bins[at].count);
	swap_lists(lone, count);
}

void lone_end(struct lone *lone)
{
	free(lone->bins);
	free(lone->spare);
	free(lone->waiting);
	*lone = (struct lone){0};
}
