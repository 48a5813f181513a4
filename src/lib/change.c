/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Changes within a round. Never more than 4096 blocks, since PELT prunes nothing
 * where nothing changes and then takes time with their square; the place is
 * afterwards found again among the requests of the blocks beside it.
 */
#include "tare/change.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "lib/select.h"
#include "tare/sample.h"

enum { BLOCK_LEAST = 100, BLOCKS_MOST = 4096, SEGMENT_LEAST = 5, CLIP = 3 };

struct blocks {
	double *median;
	size_t *start; /* index of the block's first value; one more than there are blocks */
	size_t count;
};

static void blocks_end(struct blocks *blocks)
{
	free(blocks->median);
	free(blocks->start);
}

static size_t observed_in(const int64_t *values_ns, size_t count)
{
	size_t observed = 0;
	for (size_t i = 0; i < count; i++)
		observed += values_ns[i] != TARE_NO_TIME;
	return observed;
}

/*
 * Where most values lie, from a thousand of them: medians are then found by
 * counting into 1024 bins of this window and selecting within one bin, in two
 * passes without a branch that could be mispredicted.
 */
struct window {
	int64_t low_ns;
	unsigned shift; /* bins are 2^shift ns wide */
};

enum { BINS = 1024, PROBES = 1000, COUNTED_LEAST = 1000 };

static struct window window_of(const int64_t *values_ns, size_t count)
{
	int64_t probe[PROBES];
	size_t n = 0, stride = count / PROBES + 1;
	for (size_t i = 0; i < count && n < PROBES; i += stride) {
		if (values_ns[i] != TARE_NO_TIME)
			probe[n++] = values_ns[i];
	}
	struct window window = {0};
	if (!n)
		return window;
	int64_t low = select_integer(probe, n, n / 100), high = select_integer(probe, n, n - 1 - n / 100), width;
	/* A tenth wider on both sides; what is far outside keeps its side. */
	if (__builtin_sub_overflow(high, low, &width) || width > INT64_MAX / 4 || low < INT64_MIN / 2)
		return (struct window){.low_ns = low, .shift = 53};
	window.low_ns = low - width / 10 - 1;
	while ((width + width / 5 + 2) >> window.shift >= BINS)
		window.shift++;
	return window;
}

static size_t bin_of(const struct window *window, int64_t value_ns)
{
	uint64_t above = (uint64_t)value_ns - (uint64_t)window->low_ns;
	uint64_t bin = (above >> window->shift) + 1;
	bin = bin > BINS ? BINS + 1 : bin;
	return value_ns < window->low_ns ? 0 : (size_t)bin;
}

/* Lower median of the block, which is reordered. */
static int64_t block_median(int64_t *values_ns, size_t n, const struct window *window)
{
	size_t k = (n - 1) / 2;
	if (n < COUNTED_LEAST)
		return select_integer(values_ns, n, k);
	uint32_t bins[BINS + 2] = {0};
	for (size_t i = 0; i < n; i++)
		bins[bin_of(window, values_ns[i])]++;
	size_t bin = 0, before = 0, kept = 0;
	while (before + bins[bin] <= k)
		before += bins[bin++];
	size_t here = bins[bin];
	for (size_t i = 0; i < n; i++) {
		int64_t value = values_ns[i];
		values_ns[kept] = value;
		kept += bin_of(window, value) == bin;
	}
	return select_integer(values_ns, here, k - before);
}

/* Whole blocks only: what is left over at the end joins the last block's range, not its median. */
static int make_blocks(
	const int64_t *values_ns, size_t count, size_t block, struct blocks *ret_blocks, struct tare_err *err)
{
	size_t observed = observed_in(values_ns, count);
	size_t wanted = block ? block : BLOCK_LEAST;
	if (observed / wanted > BLOCKS_MOST)
		wanted = (observed + BLOCKS_MOST - 1) / BLOCKS_MOST;
	size_t most = observed / wanted;
	struct blocks blocks = {.median = calloc(most + 1, sizeof(double)), .start = calloc(most + 1, sizeof(size_t))};
	AUTO_FREE int64_t *values = malloc((wanted + 1) * sizeof(*values));
	if (!blocks.median || !blocks.start || !values) {
		blocks_end(&blocks);
		return tare_fail(err, TARE_E_SYSTEM, "out of memory for %zu blocks of %zu values", most, wanted);
	}
	struct window window = window_of(values_ns, count);
	for (size_t i = 0; blocks.count < most;) {
		size_t filled = 0;
		while (values_ns[i] == TARE_NO_TIME)
			i++;
		blocks.start[blocks.count] = i;
		for (; filled < wanted; i++) {
			values[filled] = values_ns[i];
			filled += values_ns[i] != TARE_NO_TIME;
		}
		blocks.median[blocks.count++] = (double)block_median(values, wanted, &window);
	}
	blocks.start[blocks.count] = count;
	*ret_blocks = blocks;
	return 0;
}

static double median_of(const double *values, size_t n, double *scratch)
{
	memcpy(scratch, values, n * sizeof(*values));
	return median_real(scratch, n);
}

/* Neighbouring differences, sorted by size; n - 1 of them. */
static double *steps_of(const double *values, size_t n, struct tare_err *err)
{
	double *steps = malloc(n * sizeof(*steps));
	if (!steps) {
		tare_fail(err, TARE_E_SYSTEM, "out of memory for the noise of %zu values", n);
		return NULL;
	}
	for (size_t i = 0; i + 1 < n; i++)
		steps[i] = fabs(values[i + 1] - values[i]);
	return steps;
}

int tare_step_noise(const double *values, size_t n, double *ret_noise, struct tare_err *err)
{
	if (n < 2) {
		*ret_noise = 0;
		return 0;
	}
	AUTO_FREE double *steps = steps_of(values, n, err);
	if (!steps)
		return -1;
	*ret_noise = 1.4826 * median_real(steps, n - 1) / M_SQRT2;
	return 0;
}

/*
 * Medians that flicker between two display steps are equal to their neighbour
 * half of the time, which the median of differences takes for no noise at all:
 * the root mean square of all but the largest 5 % sees it.
 */
static int flicker_noise(const double *values, size_t n, double *ret_noise, struct tare_err *err)
{
	AUTO_FREE double *steps = steps_of(values, n, err);
	if (!steps)
		return -1;
	size_t kept = n - 1 - (n + 18) / 20;
	double squares = 0;
	select_real(steps, n - 1, kept);
	for (size_t i = 0; i < kept; i++)
		squares += steps[i] * steps[i];
	*ret_noise = kept ? sqrt(squares / (double)kept / 2) : 0;
	return 0;
}

static double clipped(double value, double centre, double clip)
{
	return fmin(fmax(value, centre - clip), centre + clip);
}

double tare_split_gain(const double *values, size_t n, double centre, double clip, size_t *ret_at)
{
	double total = 0, left = 0, best = 0;
	*ret_at = 0;
	for (size_t i = 0; i < n; i++)
		total += clipped(values[i], centre, clip) - centre;
	for (size_t i = 1; i < n; i++) {
		left += clipped(values[i - 1], centre, clip) - centre;
		double right = total - left, first = (double)i, second = (double)(n - i);
		double gain = left * left / first + right * right / second - total * total / (double)n;
		if (gain > best) {
			best = gain;
			*ret_at = i;
		}
	}
	return best;
}

/* PELT's tables for one stretch of blocks. */
struct pelt {
	double *sum, *square; /* prefix sums of the clipped values */
	double *cost;         /* least cost of the first i */
	size_t *last, *alive; /* start of the last segment in it; candidates not yet ruled out */
};

static double segment_cost(const struct pelt *pelt, size_t from, size_t to)
{
	double sum = pelt->sum[to] - pelt->sum[from];
	return pelt->square[to] - pelt->square[from] - sum * sum / (double)(to - from);
}

/* Starts of segments but the first, in descending order; returns how many. */
static size_t pelt_run(
	struct pelt *pelt, const double *values, size_t n, double centre, double clip, double penalty, size_t *ret_at)
{
	size_t alive = 0, found = 0;
	pelt->sum[0] = pelt->square[0] = 0;
	pelt->cost[0] = -penalty;
	for (size_t i = 0; i < n; i++) {
		double value = clipped(values[i], centre, clip) - centre;
		pelt->sum[i + 1] = pelt->sum[i] + value;
		pelt->square[i + 1] = pelt->square[i] + value * value;
		pelt->cost[i + 1] = INFINITY;
	}
	for (size_t to = SEGMENT_LEAST; to <= n; to++) {
		size_t fresh = to - SEGMENT_LEAST;
		if (!isinf(pelt->cost[fresh]))
			pelt->alive[alive++] = fresh;
		for (size_t j = 0; j < alive; j++) {
			size_t from = pelt->alive[j];
			double cost = pelt->cost[from] + segment_cost(pelt, from, to) + penalty;
			if (cost < pelt->cost[to]) {
				pelt->cost[to] = cost;
				pelt->last[to] = from;
			}
		}
		size_t kept = 0;
		for (size_t j = 0; j < alive; j++) {
			size_t from = pelt->alive[j];
			if (pelt->cost[from] + segment_cost(pelt, from, to) <= pelt->cost[to])
				pelt->alive[kept++] = from;
		}
		alive = kept;
	}
	for (size_t at = pelt->last[n]; at > 0; at = pelt->last[at])
		ret_at[found++] = at;
	return found;
}

/* One search: the blocks, the noise and what is found. */
struct search {
	const struct blocks *blocks;
	double noise, penalty;
	struct pelt pelt;
	double *scratch;
	size_t *border; /* starts of segments, sorted; border[0] = 0, border[count] = number of blocks */
	size_t count;
};

static int by_place(const void *a, const void *b)
{
	size_t left = *(const size_t *)a, right = *(const size_t *)b;
	return (left > right) - (left < right);
}

/* Searches each segment until none splits any more. Every turn adds a border, so it ends. */
static void split_segments(struct search *search, size_t *found)
{
	size_t turn = 0;
	while (turn < search->count) {
		size_t from = search->border[turn], n = search->border[turn + 1] - from;
		const double *values = search->blocks->median + from;
		size_t splits = 0;
		if (n >= 2 * SEGMENT_LEAST) {
			double centre = median_of(values, n, search->scratch);
			splits = pelt_run(
				&search->pelt, values, n, centre, CLIP * search->noise, search->penalty, found);
		}
		if (!splits) {
			turn++;
			continue;
		}
		for (size_t i = 0; i < splits; i++)
			search->border[search->count + 1 + i] = from + found[i];
		search->count += splits;
		qsort(search->border, search->count + 1, sizeof(*search->border), by_place);
	}
}

static double segment_median(const struct search *search, size_t segment)
{
	size_t from = search->border[segment];
	return median_of(search->blocks->median + from, search->border[segment + 1] - from, search->scratch);
}

/* Takes out the smallest step until all that are left reach `least`. */
static void drop_small(struct search *search, double least)
{
	for (;;) {
		size_t smallest = 0;
		double size = INFINITY;
		for (size_t i = 1; i < search->count; i++) {
			double step = fabs(segment_median(search, i) - segment_median(search, i - 1));
			if (step < size) {
				size = step;
				smallest = i;
			}
		}
		if (!smallest || size >= least)
			return;
		memmove(search->border + smallest, search->border + smallest + 1,
			(search->count - smallest) * sizeof(*search->border));
		search->count--;
	}
}

/* The place among the values of the blocks on both sides at which absolute deviations from both medians are least. */
static size_t refine(const struct search *search, const int64_t *values_ns, size_t border, double before, double after)
{
	size_t low = border > 1 ? border - 2 : 0, high = border + 2;
	if (high > search->blocks->count)
		high = search->blocks->count;
	size_t best = search->blocks->start[border];
	double sum = 0, least = INFINITY;
	for (size_t i = search->blocks->start[low]; i < search->blocks->start[high]; i++) {
		if (values_ns[i] == TARE_NO_TIME)
			continue;
		if (sum < least) {
			least = sum;
			best = i;
		}
		sum += fabs((double)values_ns[i] - before) - fabs((double)values_ns[i] - after);
	}
	return best;
}

static int search_begin(struct search *search, const struct blocks *blocks, size_t **ret_found, struct tare_err *err)
{
	size_t room = blocks->count + 2;
	double *reals = calloc(4 * room, sizeof(*reals));
	size_t *places = calloc(4 * room, sizeof(*places));
	if (!reals || !places) {
		free(reals);
		free(places);
		return tare_fail(err, TARE_E_SYSTEM, "out of memory for changes among %zu blocks", blocks->count);
	}
	*search = (struct search){
		.blocks = blocks,
		.pelt = {reals, reals + room, reals + 2 * room, places, places + room},
		.scratch = reals + 3 * room,
		.border = places + 2 * room,
		.count = 1,
	};
	search->border[1] = blocks->count;
	*ret_found = places + 3 * room;
	return 0;
}

static void report(struct search *search, const int64_t *values_ns, struct tare_change *ret_changes, size_t room)
{
	for (size_t i = 1; i < search->count && i <= room; i++) {
		double before = segment_median(search, i - 1), after = segment_median(search, i);
		ret_changes[i - 1] = (struct tare_change){
			.at = refine(search, values_ns, search->border[i], before, after),
			.before_ns = (int64_t)llround(before),
			.after_ns = (int64_t)llround(after),
		};
	}
}

int tare_changes_of(const int64_t *values_ns, size_t count, const struct tare_change_rules *rules,
	struct tare_change *ret_changes, size_t room, size_t *ret_count, struct tare_err *err)
{
	struct blocks blocks = {0};
	if (make_blocks(values_ns, count, rules->block, &blocks, err))
		return -1;
	struct search search = {0};
	size_t *found = NULL, changes = 0;
	int failed = tare_step_noise(blocks.median, blocks.count, &search.noise, err);
	double noise = search.noise, flicker = 0;
	if (!failed && blocks.count >= 2 * SEGMENT_LEAST)
		failed = flicker_noise(blocks.median, blocks.count, &flicker, err) ||
			 search_begin(&search, &blocks, &found, err);
	if (!failed && found) {
		double resolution = (double)(rules->resolution_ns > 1 ? rules->resolution_ns : 1);
		/* Rounding to steps is noise of a 1/sqrt 12 of a step, and hides what is below it. */
		search.noise = fmax(fmax(noise, flicker), resolution / sqrt(12));
		search.penalty = 3 * search.noise * search.noise * log((double)blocks.count);
		double least = (double)rules->least_ns;
		if (rules->least_ns <= 0)
			least = fabs(median_of(blocks.median, blocks.count, search.scratch)) / 100;
		split_segments(&search, found);
		drop_small(&search, fmax(least, resolution));
		changes = search.count - 1;
		report(&search, values_ns, ret_changes, room);
		free(search.pelt.sum);
		free(search.pelt.last);
	}
	blocks_end(&blocks);
	if (failed)
		return -1;
	*ret_count = changes;
	return 0;
}
