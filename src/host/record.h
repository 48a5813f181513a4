/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Facts as rows of a recording. A run holds all of them once, at its start; at
 * the start and end of each round only what has changed since the snapshot before
 * it is kept, counters as differences, under a hash of the whole: a reader can put
 * the state at any moment together, and a round costs a few rows.
 */
#pragma once
#include <stddef.h>

#include "base/arena.h"
#include "host/compare.h"
#include "host/snapshot.h"
#include "tare/recording.h"

/* Every fact that could be read, and ":STATUS" for what could not; strings in the arena. NULL rows when it is full. */
size_t host_record_all(const struct host_snapshot *snapshot, struct arena *arena, const char *side, const char *moment,
	const struct tare_fact **ret_rows);
/*
 * "snapshot.hash", "snapshot.keys", "snapshot.unreadable", the settings and states that differ from `before`, and
 * "delta.KEY" for counters that moved. `before` NULL: only the first three.
 */
size_t host_record_changes(const struct host_snapshot *before, const struct host_snapshot *is, struct arena *arena,
	const char *side, const char *moment, const struct tare_fact **ret_rows);

/*
 * What a round's two snapshots say about it, as sentences for events: settings that moved, counters of errors
 * that grew. At most `room`; the texts are in the arena.
 */
size_t host_record_events(const struct host_snapshot *start, const struct host_snapshot *end, struct arena *arena,
	const char **ret_sentences, size_t room);
