/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From snapshots to rows of a recording. */
#include "host/record.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "host/delta.h"
#include "host/difference.h"

struct rows {
	struct arena *arena;
	const char *side, *moment;
	struct tare_fact *row;
	size_t count, room;
};

static bool rows_open(struct rows *rows, size_t room)
{
	rows->room = room;
	rows->row = ARENA_ARRAY(rows->arena, struct tare_fact, room);
	return rows->row != NULL;
}

static void put(struct rows *rows, const char *key, const char *value)
{
	const char *kept_key = arena_text(rows->arena, key), *kept = arena_text(rows->arena, value);
	if (kept_key && kept && rows->count < rows->room)
		rows->row[rows->count++] = (struct tare_fact){rows->side, rows->moment, kept_key, kept};
}

static void put_fact(struct rows *rows, const struct host_fact *fact)
{
	char status[32];
	if (fact->status == HOST_OK) {
		put(rows, fact->key, fact->value);
		return;
	}
	snprintf(status, sizeof status, ":%s", host_status_name(fact->status));
	put(rows, fact->key, status);
}

static void put_head(struct rows *rows, const struct host_snapshot *snapshot)
{
	struct host_tally tally = host_tally_of(snapshot);
	char number[32];
	put(rows, "snapshot.hash", snapshot->header.hash);
	snprintf(number, sizeof number, "%zu", tally.keys);
	put(rows, "snapshot.keys", number);
	snprintf(number, sizeof number, "%zu", tally.unreadable);
	put(rows, "snapshot.unreadable", number);
}

size_t host_record_all(const struct host_snapshot *snapshot, struct arena *arena, const char *side, const char *moment,
	const struct tare_fact **ret_rows)
{
	struct rows rows = {.arena = arena, .side = side, .moment = moment};
	*ret_rows = NULL;
	if (!rows_open(&rows, snapshot->count + 3))
		return 0;
	put_head(&rows, snapshot);
	for (size_t i = 0; i < snapshot->count; i++) {
		enum host_status status = snapshot->facts[i].status;
		/* what this host does not have is no fact about it */
		if (status != HOST_ABSENT && status != HOST_UNSUPPORTED)
			put_fact(&rows, &snapshot->facts[i]);
	}
	*ret_rows = rows.row;
	return rows.count;
}

static bool moved(const struct host_snapshot *before, const struct host_fact *is)
{
	const struct host_fact *was = host_find(before, is->key);
	if (!was)
		return is->status == HOST_OK;
	return was->status != is->status || (is->status == HOST_OK && strcmp(was->value, is->value) != 0);
}

size_t host_record_changes(const struct host_snapshot *before, const struct host_snapshot *is, struct arena *arena,
	const char *side, const char *moment, const struct tare_fact **ret_rows)
{
	struct rows rows = {.arena = arena, .side = side, .moment = moment};
	struct host_deltas deltas;
	*ret_rows = NULL;
	if (!rows_open(&rows, 2 * is->count + 3))
		return 0;
	put_head(&rows, is);
	for (size_t i = 0; before && i < is->count; i++)
		if (is->facts[i].kind != HOST_COUNTER && moved(before, &is->facts[i]))
			put_fact(&rows, &is->facts[i]);
	if (before && host_deltas_of(before, is, &deltas, NULL) == 0) {
		for (size_t i = 0; i < deltas.count; i++) {
			char key[600], number[64];
			if (deltas.row[i].state == HOST_DELTA_BACKWARDS)
				continue;
			snprintf(key, sizeof key, "delta.%.580s", deltas.row[i].is->key);
			snprintf(number, sizeof number, "%" PRIu64, deltas.row[i].delta);
			put(&rows, key, number);
		}
		host_deltas_free(&deltas);
	}
	*ret_rows = rows.row;
	return rows.count;
}

struct sentences {
	struct arena *arena;
	const char **text;
	size_t count, room;
};

static void say(struct sentences *sentences, const char *text)
{
	const char *copy = sentences->count < sentences->room ? arena_text(sentences->arena, text) : NULL;
	if (copy)
		sentences->text[sentences->count++] = copy;
}

static const char *shown(const struct host_fact *fact)
{
	if (!fact)
		return "absent";
	return fact->status == HOST_OK ? fact->value : host_status_name(fact->status);
}

static void say_changes(struct sentences *sentences, const struct host_snapshot *start, const struct host_snapshot *end)
{
	struct host_differences all;
	char line[700];
	if (host_difference_of(start, end, NULL, &all, NULL) < 0)
		return;
	for (size_t i = 0; i < all.count; i++) {
		const struct host_difference *row = &all.row[i];
		if (row->change == HOST_UNREADABLE && row->both)
			continue;
		snprintf(line, sizeof line, "%.200s changed during the round: %.200s -> %.200s", row->key,
			shown(row->was), shown(row->is));
		say(sentences, line);
	}
	host_differences_free(&all);
}

static void say_errors(struct sentences *sentences, const struct host_snapshot *start, const struct host_snapshot *end)
{
	struct host_deltas deltas;
	char line[400];
	if (host_deltas_of(start, end, &deltas, NULL) < 0)
		return;
	for (size_t i = 0; i < deltas.count; i++) {
		const struct host_delta *delta = &deltas.row[i];
		unsigned flags = delta->is->row ? delta->is->row->flags : 0;
		if (delta->delta == 0 || !(flags & HOST_ERRORS))
			continue;
		snprintf(
			line, sizeof line, "%.200s grew by %" PRIu64 " during the round", delta->is->key, delta->delta);
		say(sentences, line);
	}
	host_deltas_free(&deltas);
}

size_t host_record_events(const struct host_snapshot *start, const struct host_snapshot *end, struct arena *arena,
	const char **ret_sentences, size_t room)
{
	struct sentences sentences = {.arena = arena, .text = ret_sentences, .room = room};
	say_changes(&sentences, start, end);
	say_errors(&sentences, start, end);
	return sentences.count;
}
