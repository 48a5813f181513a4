/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One pass puts each value into its label's counts, through a small buffer per
 * label so that labels changing at every request cost no more than long runs.
 */
#include "lib/labels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LABELS = 32768, SIDE_LEAST = 30, FEW = 100 };

static int flush_slot(struct label_slot *slot, struct tare_err *err)
{
	size_t used = slot->used;
	slot->used = 0;
	return used ? tare_counts_add(slot->counts, slot->waiting_ns, used, err) : 0;
}

/* 0 with *ret_slot NULL when there are more labels than can be told apart. */
static int slot_for(struct label_split *split, int16_t label, struct label_slot **ret_slot, struct tare_err *err)
{
	*ret_slot = NULL;
	if (split->slot_of[label] == LABEL_NONE) {
		if (split->count == TARE_MODE_LABELS_MAX)
			return 0;
		struct label_slot *slot = &split->slots[split->count];
		if (tare_counts_open(&slot->counts, err))
			return -1;
		slot->label = label;
		slot->mode = LABEL_NONE;
		split->slot_of[label] = (uint8_t)split->count++;
	}
	*ret_slot = &split->slots[split->slot_of[label]];
	return 0;
}

/* False, with the split left empty, when there are too many labels. */
static int count_labels(const int64_t *values_ns, size_t count, const int16_t *labels, struct label_split *split,
	bool *ret_fits, struct tare_err *err)
{
	*ret_fits = true;
	for (size_t i = 0; i < count; i++) {
		if (labels[i] < 0 || values_ns[i] == TARE_NO_TIME)
			continue;
		struct label_slot *slot;
		if (slot_for(split, labels[i], &slot, err))
			return -1;
		if (!slot) {
			*ret_fits = false;
			return 0;
		}
		slot->waiting_ns[slot->used++] = values_ns[i];
		if (slot->used == LABEL_BUFFER && flush_slot(slot, err))
			return -1;
	}
	for (size_t i = 0; i < split->count; i++) {
		if (flush_slot(&split->slots[i], err))
			return -1;
	}
	return 0;
}

/* Labels with enough values first, by median. */
static int by_median(const void *a, const void *b)
{
	const struct label_slot *left = a, *right = b;
	bool left_few = left->part.n == 0, right_few = right->part.n == 0;
	if (left_few != right_few)
		return left_few ? 1 : -1;
	return (left->part.median > right->part.median) - (left->part.median < right->part.median);
}

static void group_labels(struct label_split *split, uint64_t all, double least_apart)
{
	uint64_t least = all / 100 > SIDE_LEAST ? all / 100 : SIDE_LEAST;
	for (size_t i = 0; i < split->count; i++) {
		uint64_t n = tare_counts_n(split->slots[i].counts);
		split->slots[i].part =
			n >= least ? shape_part_of(split->slots[i].counts, 1, n) : (struct shape_part){0};
	}
	qsort(split->slots, split->count, sizeof(*split->slots), by_median);
	for (size_t i = 0; i < split->count; i++)
		split->slot_of[split->slots[i].label] = (uint8_t)i;
	split->apart = INFINITY;
	for (size_t i = 0; i < split->count && split->slots[i].part.n; i++) {
		struct shape_part *here = &split->slots[i].part, *before = i ? &split->slots[i - 1].part : NULL;
		double d = before ? tare_ashman_d(before->median, before->scale, here->median, here->scale) : INFINITY;
		double needed = before && (before->n < FEW || here->n < FEW) ? 2 : 1;
		bool apart = !before || (d >= needed && here->median - before->median >= least_apart);
		if (apart && split->modes < TARE_MODES_MAX) {
			split->modes++;
			split->apart = fmin(split->apart, d);
		}
		split->slots[i].mode = (uint8_t)(split->modes - 1);
	}
}

int label_split_make(const int64_t *values_ns, size_t count, const int16_t *labels, int64_t step_ns, double median,
	struct label_split *ret_split, struct tare_err *err)
{
	struct label_split split = {
		.slots = calloc(TARE_MODE_LABELS_MAX, sizeof(*split.slots)), .slot_of = malloc(LABELS)};
	bool fits = false;
	if (!split.slots || !split.slot_of) {
		label_split_end(&split);
		return tare_fail(err, TARE_E_SYSTEM, "out of memory for values by label");
	}
	memset(split.slot_of, LABEL_NONE, LABELS);
	if (count_labels(values_ns, count, labels, &split, &fits, err)) {
		label_split_end(&split);
		return -1;
	}
	uint64_t all = 0;
	for (size_t i = 0; i < split.count; i++)
		all += tare_counts_n(split.slots[i].counts);
	if (fits)
		group_labels(&split, all, fmax(2 * (double)step_ns, fabs(median) / 100));
	*ret_split = split;
	return 0;
}

void label_split_end(struct label_split *split)
{
	for (size_t i = 0; split->slots && i < split->count; i++)
		tare_counts_free(split->slots[i].counts);
	free(split->slots);
	free(split->slot_of);
	*split = (struct label_split){0};
}
