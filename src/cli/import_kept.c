/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copies, each block of memory noted so that a round is released at once. */
#include "cli/import_kept.h"

#include <stdlib.h>
#include <string.h>

void found_end(struct found *found)
{
	for (size_t i = 0; i < found->count; i++) {
		free((void *)(uintptr_t)found->item[i].target.url);
		free((void *)(uintptr_t)found->item[i].target.kind);
		free((void *)(uintptr_t)found->item[i].target.address);
	}
	free(found->item);
	*found = (struct found){.count = 0};
}

static struct found_target *find(const struct found *found, const struct tare_record *record)
{
	for (size_t i = found->count; i--;) {
		if (found->item[i].run == record->run->id && found->item[i].id == record->target->id)
			return &found->item[i];
	}
	return NULL;
}

static char *copy_of(const char *text)
{
	return strdup(text ? text : "");
}

int found_add(struct found *found, const struct tare_record *record, struct tare_err *err)
{
	if (find(found, record))
		return 0;
	struct found_target *larger = reallocarray(found->item, found->count + 1, sizeof(*larger));
	if (!larger)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	found->item = larger;
	struct found_target *item = &larger[found->count++];
	*item = (struct found_target){.run = record->run->id, .id = record->target->id, .target = *record->target};
	item->target.url = copy_of(record->target->url);
	item->target.kind = copy_of(record->target->kind);
	item->target.address = copy_of(record->target->address);
	return item->target.url && item->target.kind && item->target.address ? 0
									      : tare_fail(err, TARE_E_SYSTEM, "out of memory");
}

/* ---- one round ---- */

void kept_clear(struct kept *kept)
{
	for (size_t i = 0; i < kept->memory_count; i++)
		free(kept->memory[i]);
	kept->memory_count = kept->count = kept->event_count = 0;
}

void kept_end(struct kept *kept)
{
	kept_clear(kept);
	free(kept->memory);
	free(kept->record);
	free(kept->events);
}

int kept_events(struct kept *kept, const struct tare_event *events, size_t count, struct tare_err *err)
{
	struct tare_event *larger = reallocarray(kept->events, kept->event_count + count + 1, sizeof(*larger));
	if (!larger)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	kept->events = larger;
	for (size_t i = 0; i < count; i++)
		larger[kept->event_count++] = events[i];
	return 0;
}

/* A copy that lives until kept_clear; NULL for NULL or without memory. */
static void *keep(struct kept *kept, const void *data, size_t bytes, bool *ok)
{
	if (!data)
		return NULL;
	void **larger = reallocarray(kept->memory, kept->memory_count + 1, sizeof(*larger));
	if (larger)
		kept->memory = larger;
	void *copy = larger ? malloc(bytes ? bytes : 1) : NULL;
	if (!copy) {
		*ok = false;
		return NULL;
	}
	memcpy(copy, data, bytes);
	kept->memory[kept->memory_count++] = copy;
	return copy;
}

int kept_record(struct kept *kept, const struct tare_record *record, struct tare_err *err)
{
	struct tare_record *larger = reallocarray(kept->record, kept->count + 1, sizeof(*larger));
	bool ok = larger != NULL;
	size_t n = record->series.count;
	if (ok) {
		kept->record = larger;
		struct tare_record *copy = &larger[kept->count++];
		*copy = *record;
		struct tare_series *series = &copy->series;
		for (int i = 0; i < TARE_STAGE_COUNT; i++)
			series->at_ns[i] = keep(kept, series->at_ns[i], n * sizeof(int64_t), &ok);
		for (int i = 0; i < TARE_SPAN_COUNT; i++)
			series->given_ns[i] = keep(kept, series->given_ns[i], n * sizeof(int64_t), &ok);
		for (int i = 0; i < TARE_CPU_PLACES; i++)
			series->cpu[i] = keep(kept, series->cpu[i], n * sizeof(int16_t), &ok);
		series->fate = keep(kept, series->fate, n, &ok);
		series->flags = keep(kept, series->flags, n * sizeof(uint16_t), &ok);
		series->reason = keep(kept, series->reason, n * sizeof(uint16_t), &ok);
		struct tare_bins *bins = keep(kept, copy->bins, sizeof(*bins), &ok);
		if (bins)
			bins->range = keep(kept, bins->range, bins->count * sizeof(*bins->range), &ok);
		copy->bins = bins;
	}
	return ok ? 0 : tare_fail(err, TARE_E_SYSTEM, "out of memory for a round of %zu samples", n);
}
