/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Values that lie alone: a sorted list of (value, count) and, before it, a
 * buffer of values not yet sorted in. counts.c moves what grows dense out of the
 * list into pages.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "tare/stat.h"

struct lone {
	struct tare_bin *bins, *spare; /* sorted, without doubles; spare is where the next merge is written */
	size_t count, room;            /* room >= count + waiting_room: sorting in needs no memory */
	int64_t *waiting;              /* twice waiting_room, for the sort */
	size_t waiting_count, waiting_room;
};

/* Makes room for `more` bins beside a full buffer. */
int lone_reserve(struct lone *lone, size_t more, struct tare_err *err) TARE_MUST_USE;
/* Sorts the buffer into the list. Needs no memory; true when there was anything to do. */
bool lone_settle(struct lone *lone);
/* Adds sorted bins; the room must have been reserved. */
void lone_add(struct lone *lone, const struct tare_bin *bins, size_t count);
void lone_end(struct lone *lone);
