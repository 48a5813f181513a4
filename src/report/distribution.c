/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gathering: one entry a series, its values counted exactly, or its bins. */
#include "report/distribution.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/distribution_priv.h"

int distribution_open(const struct tare_rules *rules, struct distribution **ret, struct tare_err *err)
{
	struct distribution *distribution = calloc(1, sizeof(*distribution));
	if (!distribution)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	distribution->rules = *rules;
	*ret = distribution;
	return 0;
}

void distribution_free(struct distribution *distribution)
{
	if (!distribution)
		return;
	for (size_t i = 0; i < distribution->count; i++) {
		struct entry *entry = &distribution->entry[i];
		free(entry->target);
		free(entry->label);
		free(entry->range);
	}
	free(distribution->entry);
	free(distribution);
}

static int by_low(const void *a, const void *b)
{
	const struct tare_range *left = a, *right = b;
	return (left->low_ns > right->low_ns) - (left->low_ns < right->low_ns);
}

/* Samples and bins alike as ranges, those of samples of width 1. */
static int take_ranges(struct entry *entry, const struct tare_counts *counts, const struct tare_bins *bins, struct tare_err *err)
{
	struct tare_counts_cursor cursor = tare_counts_walk(counts);
	struct tare_bin bin;
	size_t count = bins ? bins->count : 0;
	while (tare_counts_next(&cursor, &bin))
		count++;
	entry->range = calloc(count ? count : 1, sizeof(*entry->range));
	if (!entry->range)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory for %zu values", count);
	cursor = tare_counts_walk(counts);
	while (tare_counts_next(&cursor, &bin))
		entry->range[entry->range_count++] = (struct tare_range){bin.value_ns, bin.value_ns, bin.count};
	for (size_t i = 0; bins && i < bins->count; i++)
		entry->range[entry->range_count++] = bins->range[i];
	if (bins && bins->count)
		qsort(entry->range, entry->range_count, sizeof(*entry->range), by_low);
	entry->binned = bins && bins->count;
	return 0;
}

static void counts_end(struct tare_counts *const *counts)
{
	tare_counts_free(*counts);
}

static int count_values(const struct tare_record *record, enum tare_span span, size_t first, struct tare_counts *counts,
	struct tare_err *err)
{
	enum { BLOCK = 1024 };
	int64_t values_ns[BLOCK];
	for (size_t i = first; i < record->series.count; i += BLOCK) {
		size_t block = record->series.count - i < BLOCK ? record->series.count - i : BLOCK;
		tare_span_values(&record->series, span, i, block, values_ns);
		if (tare_counts_add(counts, values_ns, block, err))
			return -1;
	}
	return 0;
}

int distribution_add(struct distribution *distribution, const struct tare_record *record, struct tare_err *err)
{
	if (record->origin.shape == TARE_SHAPE_SUMMARY && !record->series.count && !(record->bins && record->bins->count)) {
		distribution->summaries++;
		return 0;
	}
	const struct tare_rules *rules = &distribution->rules;
	uint64_t warmup = rules->warmup < 0 ? record->round->warmup : (uint64_t)rules->warmup;
	size_t first = warmup < record->series.count ? (size_t)warmup : record->series.count;
	struct entry *larger =
		reallocarray(distribution->entry, distribution->count + 1, sizeof(*distribution->entry));
	AUTO_CLEANUP(counts_end) struct tare_counts *counts = NULL;
	if (!larger)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	distribution->entry = larger;
	struct entry *entry = &larger[distribution->count];
	struct tare_fates fates = tare_fates_of(&record->series);
	*entry = (struct entry){.target = strdup(record->target->url ? record->target->url : ""),
		.label = strdup(record->round->label ? record->round->label : ""),
		.span = tare_base_span(record),
		.round = record->round->number,
		.started_ns = record->round->first_due_ns,
		.ended_ns = record->round->ended_ns,
		.epoch_real_ns = record->run ? record->run->epoch_real_ns : 0,
		.sent = fates.sent,
		.lost = fates.count[TARE_LOST],
		.losses_known = !(record->origin.left_out & (TARE_LEFT_OUT_LOST | TARE_LEFT_OUT_UNKNOWN))};
	distribution->count++;
	if (!entry->target || !entry->label || tare_counts_open(&counts, err))
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	if (count_values(record, entry->span, first, counts, err) || take_ranges(entry, counts, record->bins, err))
		return -1;
	for (size_t i = 0; i < entry->range_count; i++)
		entry->n += entry->range[i].count;
	if (record->bins) {
		entry->lost += record->bins->lost;
		entry->losses_known |= record->bins->lost != 0;
		entry->sent += record->bins->lost + (record->series.count ? 0 : entry->n);
	}
	return 0;
}

int64_t entry_at(const struct entry *entry, uint64_t rank)
{
	uint64_t before = 0;
	for (size_t i = 0; i < entry->range_count; i++) {
		before += entry->range[i].count;
		if (before >= rank)
			return entry->range[i].high_ns;
	}
	return TARE_NO_TIME;
}

int distribution_write(
	const struct distribution *distribution, enum distribution_format format, FILE *out, struct tare_err *err)
{
	if (!distribution->count)
		return tare_fail(err, TARE_E_USAGE, distribution->summaries ? "nothing to export: a summary has no samples and no bins"
									    : "nothing to export: there is no round");
	switch (format) {
	case DISTRIBUTION_HGRM:
		return write_hgrm(distribution, out, err);
	case DISTRIBUTION_HLOG:
		return write_hlog(distribution, out, err);
	case DISTRIBUTION_OPENMETRICS:
		return write_openmetrics(distribution, out, err);
	case DISTRIBUTION_BENCHSTAT:
		return write_benchstat(distribution, out, err);
	case DISTRIBUTION_HYPERFINE:
		return write_hyperfine(distribution, out, err);
	}
	return 0;
}
