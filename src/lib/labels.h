/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values apart by label, and the labels that belong together. */
#pragma once
#include "lib/shape.h"

enum { LABEL_BUFFER = 256, LABEL_NONE = 255 };

struct label_slot {
	int16_t label;
	struct tare_counts *counts;
	struct shape_part part;
	uint8_t mode;              /* LABEL_NONE: too few values */
	size_t used;
	int64_t waiting_ns[LABEL_BUFFER];
};

struct label_split {
	struct label_slot *slots;  /* those with enough values come first, by median, once grouped */
	size_t count;
	uint8_t *slot_of;          /* by label; LABEL_NONE: not seen */
	size_t modes;              /* 0: too many labels to say anything */
	double apart;              /* least D between neighbouring modes */
};

/* Counts the values of each label and groups them. */
int label_split_make(const int64_t *values_ns, size_t count, const int16_t *labels, int64_t step_ns, double median,
		     struct label_split *ret_split, struct tare_err *err) TARE_MUST_USE;
void label_split_end(struct label_split *split);
/* Mode of a label, or LABEL_NONE. */
static inline uint8_t label_mode(const struct label_split *split, int16_t label)
{
	uint8_t slot = label < 0 ? LABEL_NONE : split->slot_of[label];
	return slot == LABEL_NONE ? LABEL_NONE : split->slots[slot].mode;
}
