/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Adding facts: from text to a canonical value, or to the reason for none. */
#include "host/reading.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

const struct host_key *reading_row(const char *name)
{
	for (size_t i = 0; i < host_key_count(); i++)
		if (strcmp(host_key_at(i)->name, name) == 0)
			return host_key_at(i);
	return NULL;
}

static bool key_of(const struct host_key *row, const char *instance, const char *leaf, char *buffer, size_t room)
{
	char name[READING_KEY_BYTES];
	struct text text = TEXT_IN(name);
	size_t fixed = strlen(row->name) - (leaf && row->name[strlen(row->name) - 1] == '*');
	text_add(&text, "%.*s%s", (int)fixed, row->name, leaf ? leaf : "");
	return !text.cut && host_key_text(name, instance, buffer, room);
}

static void add(struct reading *reading, const struct host_key *row, const char *instance, const char *leaf,
	struct host_fact fact)
{
	char key[READING_KEY_BYTES];
	if (!row || !key_of(row, instance, leaf, key, sizeof key))
		return;
	fact.key = key;
	fact.row = row;
	fact.kind = row->kind;
	if (!fact.source)
		fact.source = row->path;
	fact.source += fact.source[0] == '@';
	host_snapshot_add(reading->snapshot, &fact);
}

void reading_add(struct reading *reading, const struct host_key *row, const char *instance, const char *leaf,
	enum host_via via, const char *source, const char *raw)
{
	bool unknown = false;
	if (!row)
		return;
	bool good = host_canonical(row->form, raw, reading->value, READING_VALUE_BYTES, &unknown);
	add(reading, row, instance, leaf,
		(struct host_fact){.value = good ? reading->value : NULL,
			.status = good ? HOST_OK : HOST_MALFORMED,
			.via = via,
			.source = source,
			.unknown = unknown});
}

void reading_add_number(
	struct reading *reading, const char *name, const char *instance, enum host_via via, int64_t number)
{
	char text[32];
	snprintf(text, sizeof text, "%" PRId64, number);
	reading_add(reading, reading_row(name), instance, NULL, via, NULL, text);
}

void reading_add_text(
	struct reading *reading, const char *name, const char *instance, enum host_via via, const char *raw)
{
	reading_add(reading, reading_row(name), instance, NULL, via, NULL, raw);
}

void reading_fail(struct reading *reading, const struct host_key *row, const char *instance, const char *leaf,
	enum host_via via, const char *source, enum host_status status, int failure)
{
	add(reading, row, instance, leaf,
		(struct host_fact){.status = status, .failure = failure, .via = via, .source = source});
}

void reading_fail_name(struct reading *reading, const char *name, const char *instance, enum host_via via, int failure)
{
	reading_fail(reading, reading_row(name), instance, NULL, via, NULL, host_status_of_errno(failure), failure);
}

void reading_file(struct reading *reading, const struct host_key *row, const char *instance, const char *path)
{
	char raw[4097];
	size_t bytes;
	int failure;
	enum host_status status = tree_read(&reading->tree, path, raw, sizeof raw, &bytes, &failure);
	if (status == HOST_OK)
		reading_add(reading, row, instance, NULL, HOST_VIA_FILE, path, raw);
	else
		reading_fail(reading, row, instance, NULL, HOST_VIA_FILE, path, status, failure);
}

void reading_scope(struct reading *reading, enum host_scope scope, const char *folder, const char *instance)
{
	for (size_t i = 0; i < host_key_count(); i++) {
		const struct host_key *row = host_key_at(i);
		char path[READING_PATH_BYTES];
		struct text text = TEXT_IN(path);
		if (row->scope != scope || row->path[0] == '@')
			continue;
		text_add(&text, "%s%s", folder, row->path);
		if (!text.cut)
			reading_file(reading, row, instance, path);
	}
}

char *reading_text(struct reading *reading, const char *path, enum host_status *ret_status, int *ret_errno)
{
	size_t bytes;
	*ret_status = tree_read(&reading->tree, path, reading->text, READING_TEXT_BYTES, &bytes, ret_errno);
	return *ret_status == HOST_OK ? reading->text : NULL;
}

bool reading_line(struct reading *reading, const char *path, char *buffer, size_t room)
{
	size_t bytes;
	int failure;
	if (tree_read(&reading->tree, path, buffer, room, &bytes, &failure) != HOST_OK)
		return false;
	buffer[strcspn(buffer, "\n")] = '\0';
	return true;
}

bool reading_counts_open(struct reading *reading, struct reading_counts *ret_counts)
{
	*ret_counts = (struct reading_counts){.room = (size_t)(reading->last_cpu < 0 ? 0 : reading->last_cpu) + 1};
	ret_counts->by_cpu = ARENA_ARRAY(reading->scratch, uint64_t, ret_counts->room);
	return ret_counts->by_cpu != NULL;
}

void reading_counts_add(struct reading *reading, const char *name, const char *instance, const char *leaf,
	const char *source, const struct reading_counts *counts)
{
	char *line = reading->value;
	struct text text = {.bytes = line, .room = READING_VALUE_BYTES};
	text_add(&text, "%s", "");
	for (size_t i = 0; i < counts->room; i++)
		if (counts->by_cpu[i])
			text_add(&text, "%s%zu=%" PRIu64, text.used ? " " : "", i, counts->by_cpu[i]);
	if (text.used == 0)
		text_add(&text, "0");
	const struct host_key *row = reading_row(name);
	add(reading, row, instance, leaf,
		(struct host_fact){.value = line,
			.status = text.cut ? HOST_MALFORMED : HOST_OK,
			.via = HOST_VIA_FILE,
			.source = source});
}
