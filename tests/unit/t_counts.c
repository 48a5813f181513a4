/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exact counting against a plain sort: every rank, whatever the shape, the order of adding or the merging. */
#include "tare/stat.h"

#include <stdlib.h>

#include "tap.h"

enum { N = 20000 };

static uint64_t seed_state;

static uint64_t random_bits(void)
{
	/* xorshift64*, Vigna 2014 */
	seed_state ^= seed_state >> 12;
	seed_state ^= seed_state << 25;
	seed_state ^= seed_state >> 27;
	return seed_state * UINT64_C(2685821657736338717);
}

static int by_value(const void *a, const void *b)
{
	int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
	return (left > right) - (left < right);
}

static struct tare_counts *fresh(void)
{
	struct tare_counts *counts = NULL;
	struct tare_err err = {0};
	if (tare_counts_open(&counts, &err)) {
		printf("Bail out! %s\n", err.text);
		exit(1);
	}
	return counts;
}

static void add(struct tare_counts *counts, const int64_t *values, size_t n)
{
	struct tare_err err = {0};
	if (tare_counts_add(counts, values, n, &err)) {
		printf("Bail out! %s\n", err.text);
		exit(1);
	}
}

static void merge(struct tare_counts *into, const struct tare_counts *from)
{
	struct tare_err err = {0};
	if (tare_counts_merge(into, from, &err)) {
		printf("Bail out! %s\n", err.text);
		exit(1);
	}
}

/* Every distinct value with its count, the ranks at its borders, and the number above it. */
static size_t differences(const struct tare_counts *counts, const int64_t *sorted, size_t n)
{
	size_t wrong = tare_counts_n(counts) != n, i = 0, bins = 0;
	struct tare_counts_cursor cursor = tare_counts_walk(counts);
	struct tare_bin bin;
	while (tare_counts_next(&cursor, &bin)) {
		size_t end = i;
		while (end < n && sorted[end] == sorted[i])
			end++;
		wrong += i >= n || bin.value_ns != sorted[i < n ? i : n - 1] || bin.count != end - i;
		if (bins++ % 97 == 0)
			wrong += tare_counts_above(counts, bin.value_ns) != n - end;
		i = end;
	}
	wrong += i != n;
	enum { RANKS = 200 };
	uint64_t ranks[RANKS];
	int64_t values[RANKS];
	for (size_t r = 0; r < RANKS; r++)
		ranks[r] = 1 + r * (n - 1) / (RANKS - 1);
	tare_counts_ranks(counts, ranks, RANKS, values);
	for (size_t r = 0; r < RANKS; r++) {
		wrong += values[r] != sorted[ranks[r] - 1];
		if (r % 20 == 0)
			wrong += tare_counts_at(counts, ranks[r]) != sorted[ranks[r] - 1];
	}
	return wrong;
}

static int64_t shaped(int shape)
{
	uint64_t r = random_bits();
	switch (shape) {
	case 0: /* two close modes */
		return (r & 1 ? 3900 : 4700) + (int64_t)((r >> 8) % 200);
	case 1: /* six decades */
		return (int64_t)(1000.0 / ((double)(r >> 11) * 0x1p-53 + 1e-6));
	case 2: /* all equal */
		return 5000000000;
	case 3: /* steps of 1 us */
		return 1000 * (int64_t)(r % 7);
	case 4: /* 20 ms away, wide */
		return 20000000 + (int64_t)(r % 4000000);
	case 5: /* around zero */
		return (int64_t)(r % 3000) - 1500;
	case 6: /* anything, hardly any twice */
		return r == (uint64_t)TARE_NO_TIME ? 0 : (int64_t)r;
	case 7: /* made so that all would want one slot of the hash */
		return (int64_t)((r % 40) << 40);
	default: /* most of it elsewhere after a while */
		return (int64_t)(r % 16 ? r % 900 : r % 90000000) - 300;
	}
}

static const char *const shape_names[] = {"two modes", "six decades", "all equal", "1 us steps", "20 ms away",
	"around zero", "any 64 bits", "one hash slot", "dense and sparse"};

static void check_shape(int shape)
{
	int64_t *values = calloc(N, sizeof(*values)), *sorted = calloc(N, sizeof(*sorted));
	struct tare_counts *all = fresh(), *left = fresh(), *right = fresh(), *single = fresh();
	for (size_t i = 0; i < N; i++)
		sorted[i] = values[i] = shaped(shape);
	qsort(sorted, N, sizeof(*sorted), by_value);
	add(all, values, N);
	IS_I64(differences(all, sorted, N), 0, shape_names[shape]);
	size_t cut = 1 + random_bits() % (N - 2);
	add(left, values, cut);
	add(right, values + cut, N - cut);
	merge(left, right);
	IS_I64(differences(left, sorted, N), 0, "merged from two parts");
	merge(right, right);
	OK(tare_counts_n(right) == 2 * (N - cut), "merged with itself it is twice as many");
	/* One at a time, asking in between, in another order. */
	for (size_t i = N; i--;) {
		add(single, &values[i], 1);
		if (i % 1777 == 0)
			(void)tare_counts_at(single, 1);
	}
	IS_I64(differences(single, sorted, N), 0, "one at a time, backwards, with questions in between");
	/* Used again after clearing. */
	tare_counts_clear(all);
	add(all, sorted, N);
	IS_I64(differences(all, sorted, N), 0, "cleared and filled again, sorted");
	tare_counts_free(all);
	tare_counts_free(left);
	tare_counts_free(right);
	tare_counts_free(single);
	free(values);
	free(sorted);
}

static void check_extremes(void)
{
	static const int64_t sorted[] = {INT64_MIN + 1, INT64_MIN + 2, -5, -1, 0, 1, INT64_C(1) << 31, INT64_C(1) << 32,
		INT64_C(1) << 53, (INT64_C(1) << 53) + 1, INT64_C(1) << 62, INT64_MAX};
	static const int64_t order[] = {3, 0, 7, 11, 9, 1, 8, 5, 2, 10, 4, 6};
	enum { COUNT = sizeof(sorted) / sizeof(sorted[0]) };
	struct tare_counts *counts = fresh();
	for (int repeat = 0; repeat < 300; repeat++) {
		for (size_t i = 0; i < COUNT; i++)
			add(counts, &sorted[order[i]], 1);
		for (size_t k = 1; k <= COUNT && (repeat == 0 || repeat == 299); k++) {
			uint64_t rank = (k - 1) * (uint64_t)(repeat + 1) + 1;
			char name[64];
			snprintf(name, sizeof(name), "%" PRId64 " is exact", sorted[k - 1]);
			IS_I64(tare_counts_at(counts, rank), sorted[k - 1], name);
		}
	}
	IS_I64(tare_counts_above(counts, INT64_MAX), 0, "nothing above the largest");
	IS_I64(tare_counts_above(counts, INT64_MIN + 1), 300 * (COUNT - 1), "all but the smallest above it");
	IS_I64(tare_counts_above(counts, -1), 300 * (COUNT - 4), "above -1");
	tare_counts_free(counts);
}

static void check_few(void)
{
	struct tare_counts *counts = fresh();
	static const int64_t holes[] = {TARE_NO_TIME, TARE_NO_TIME};
	IS_I64(tare_counts_at(counts, 1), TARE_NO_TIME, "n = 0 has no rank 1");
	IS_I64(tare_counts_above(counts, 0), 0, "n = 0 has nothing above 0");
	add(counts, holes, 2);
	IS_I64(tare_counts_n(counts), 0, "what was not observed is passed over");
	static const int64_t two[] = {7, TARE_NO_TIME, 3};
	add(counts, two, 1);
	IS_I64(tare_counts_at(counts, 1), 7, "n = 1");
	add(counts, two, 0);
	add(counts, two + 1, 2);
	IS_I64(tare_counts_n(counts), 2, "n = 2");
	IS_I64(tare_counts_at(counts, 1), 3, "n = 2, smaller");
	IS_I64(tare_counts_at(counts, 2), 7, "n = 2, larger");
	IS_I64(tare_counts_at(counts, 0), TARE_NO_TIME, "rank 0");
	IS_I64(tare_counts_at(counts, 3), TARE_NO_TIME, "rank n + 1");
	tare_counts_free(counts);
	tare_counts_free(NULL);
}

/* Doubled 34 times, a count no longer fits 32 bits; adding goes on after that. */
static void check_carry(void)
{
	struct tare_counts *counts = fresh();
	int64_t values[3000];
	for (size_t i = 0; i < 3000; i++)
		values[i] = i % 3 ? 4000 : 4700;
	add(counts, values, 3000);
	for (int i = 0; i < 34; i++)
		merge(counts, counts);
	add(counts, values, 3000);
	uint64_t slow = 1000 * ((UINT64_C(1) << 34) + 1);
	IS_I64(tare_counts_n(counts), 3 * slow, "n beyond 32 bits");
	IS_I64(tare_counts_above(counts, 4000), slow, "count of one value beyond 32 bits");
	IS_I64(tare_counts_at(counts, 2 * slow), 4000, "last rank of the fast value");
	IS_I64(tare_counts_at(counts, 2 * slow + 1), 4700, "first rank of the slow value");
	struct tare_counts *other = fresh();
	merge(other, counts);
	IS_I64(tare_counts_above(other, 4000), slow, "merged into an empty one");
	tare_counts_free(other);
	tare_counts_free(counts);
}

int main(int argc, char **argv)
{
	seed_state = argc > 1 ? strtoull(argv[1], NULL, 10) : 20240611;
	printf("# seed %" PRIu64 "\n", seed_state);
	check_few();
	check_extremes();
	check_carry();
	for (int shape = 0; shape < 9; shape++)
		check_shape(shape);
	return tap_done();
}
