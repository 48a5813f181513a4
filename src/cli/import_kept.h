/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What `tare import` holds of a source while it writes: the targets of all its
 * runs, which a recording wants to know before the first round, and one round,
 * copied, since a record lives only until the next one is read.
 */
#pragma once
#include "tare/recording.h"

/* ---- targets, found in a first reading ---- */

struct found_target {
	int64_t run, id;           /* in the source */
	struct tare_target target; /* its texts are owned */
};

struct found {
	struct found_target *item;
	size_t count;
};
int found_add(struct found *found, const struct tare_record *record, struct tare_err *err) TARE_MUST_USE;
void found_end(struct found *found);

/* ---- one round ---- */

struct kept {
	struct tare_record *record;
	void **memory;
	size_t count, memory_count;
	struct tare_round round;
	struct tare_event *events; /* of the round so far; texts live as long as the source */
	size_t event_count;
};
int kept_record(struct kept *kept, const struct tare_record *record, struct tare_err *err) TARE_MUST_USE;
int kept_events(struct kept *kept, const struct tare_event *events, size_t count, struct tare_err *err) TARE_MUST_USE;
void kept_clear(struct kept *kept);
void kept_end(struct kept *kept);
