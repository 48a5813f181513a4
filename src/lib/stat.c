/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From series to rows. Each span is counted in blocks that fit the first-level
 * cache and its counts are added to those of its target and run, so the samples
 * are read once per span and never kept. The base span (rtt where there is one)
 * is counted first, since its median sets the stall limit of all.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "lib/row.h"
#include "lib/series.h"
#include "tare/rate.h"
#include "tare/variation.h"

struct tare_stat {
	struct tare_rules rules;
	uint32_t span_mask;
	size_t last;                 /* base row of the series added last */
	struct row_list rounds, all; /* rows per series; these and the merged ones */
	struct row_group *groups;
	size_t group_count, group_room;
	char **texts; /* keys of groups */
	size_t text_count, text_room;
	struct tare_counts *base, *scratch, *steps, *lows;
};

static int count_span(const struct tare_series *series, enum tare_span span, size_t first, struct tare_counts *counts,
	struct tare_err *err)
{
	int64_t values_ns[SERIES_BLOCK];
	tare_counts_clear(counts);
	while (first < series->count) {
		size_t block = series->count - first < SERIES_BLOCK ? series->count - first : SERIES_BLOCK;
		if (tare_counts_add(counts, series_block(series, span, first, block, values_ns), block, err))
			return -1;
		first += block;
	}
	return 0;
}

static int by_value(const void *a, const void *b)
{
	const struct tare_bin *left = a, *right = b;
	return (left->value_ns > right->value_ns) - (left->value_ns < right->value_ns);
}

/* One bound of every range. */
static int count_bound(const struct tare_bins *bins, bool upper, struct tare_counts *counts, struct tare_err *err)
{
	AUTO_FREE struct tare_bin *bound = calloc(bins->count, sizeof(*bound));
	if (!bound)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory for %zu ranges", bins->count);
	for (size_t i = 0; i < bins->count; i++)
		bound[i] = (struct tare_bin){upper ? bins->range[i].high_ns : bins->range[i].low_ns,
			bins->range[i].count};
	qsort(bound, bins->count, sizeof(*bound), by_value);
	return tare_counts_add_bins(counts, bound, bins->count, err);
}

/* Values of the base span: samples, and ranges where the source has them; *ret_lows NULL without. */
static int count_base(struct tare_stat *stat, const struct tare_record *record, enum tare_span base, size_t first,
	const struct tare_counts **ret_lows, struct tare_err *err)
{
	*ret_lows = NULL;
	if (count_span(&record->series, base, first, stat->base, err))
		return -1;
	if (!record->bins || !record->bins->count)
		return 0;
	tare_counts_clear(stat->lows);
	if (tare_counts_merge(stat->lows, stat->base, err) || count_bound(record->bins, false, stat->lows, err) ||
		count_bound(record->bins, true, stat->base, err))
		return -1;
	*ret_lows = stat->lows;
	return 0;
}

/* A median of 0 on a display of 1 us steps means "below one step": the step stands in for it. */
static int64_t stall_limit_of(const struct tare_rules *rules, const struct tare_counts *base, int64_t resolution_ns)
{
	if (rules->stall_limit_ns > 0)
		return rules->stall_limit_ns;
	uint64_t n = tare_counts_n(base);
	if (!n)
		return TARE_NO_TIME;
	int64_t median_ns = tare_counts_at(base, n / 2 + n % 2);
	int64_t least_ns = resolution_ns > 1 ? resolution_ns : 1;
	if (median_ns < least_ns)
		median_ns = least_ns;
	int64_t limit_ns;
	if (rules->stall_ratio >= 1 && rules->stall_ratio < 1e9 &&
		rules->stall_ratio <= (double)(int64_t)rules->stall_ratio)
		return __builtin_mul_overflow(median_ns, (int64_t)rules->stall_ratio, &limit_ns) ? INT64_MAX : limit_ns;
	double product = (double)median_ns * rules->stall_ratio;
	return product < 0x1p62 ? (int64_t)product : INT64_MAX;
}

/* A limit made from half round trips is half of what a whole one may take. */
static int64_t limit_for(int64_t limit_ns, const struct tare_rules *rules, enum tare_span base, enum tare_span span)
{
	int64_t whole_ns;
	if (rules->stall_limit_ns > 0 || limit_ns == TARE_NO_TIME || base != TARE_SPAN_HALF_RTT || span == base)
		return limit_ns;
	return __builtin_mul_overflow(limit_ns, 2, &whole_ns) ? INT64_MAX : whole_ns;
}

static uint64_t unanswered_from(const struct tare_series *series, size_t first)
{
	struct tare_series kept = {.count = series->count - first, .fate = series->fate + first};
	struct tare_fates fates = tare_fates_of(&kept);
	return fates.count[TARE_LOST] + fates.count[TARE_ERROR];
}

static void add_binned(struct tare_row *row, const struct tare_bins *bins)
{
	for (size_t i = 0; i < bins->count; i++)
		row->sent += bins->range[i].count;
	row->sent += bins->lost;
	row->lost += bins->lost;
	row->unanswered += bins->lost;
}

static void fill_row(struct tare_row *row, const char *file, const struct tare_record *record, size_t first)
{
	struct tare_fates fates = tare_fates_of(&record->series);
	struct tare_rate rate = tare_rate_of(record);
	char schedule[TARE_SCHEDULE_TEXT];
	tare_schedule_text(record, schedule);
	*row = (struct tare_row){
		.file = file,
		.run = record->run ? record->run->id : 0,
		.round = record->round->number,
		.label = record->round->label,
		.target = record->target->url,
		.kind = record->target->kind,
		.rate_asked = rate.asked,
		.rate_held = rate.held,
		.payload_bytes = record->target->payload_bytes,
		.sent = fates.sent,
		.lost = fates.count[TARE_LOST],
		.overdue = fates.count[TARE_OVERDUE],
		.pending = fates.count[TARE_PENDING],
		.error = fates.count[TARE_ERROR],
		.not_sent = fates.count[TARE_NOT_SENT],
		.unanswered = unanswered_from(&record->series, first),
		.duplicate = record->beside.duplicate,
		.reordered = record->beside.reordered,
		.foreign = record->beside.foreign,
		.resolution_ns = record->resolution_ns,
		.origin = record->origin,
	};
	memcpy(row->schedule, schedule, sizeof(schedule));
	tare_left_out_text(record->origin.left_out, row->left_out);
}

static void fill_span(struct tare_row *row, const struct tare_rules *rules, const struct tare_series *series,
	enum tare_span span, const struct row_values *values)
{
	int64_t first[2] = {TARE_NO_TIME, TARE_NO_TIME};
	tare_span_values(series, span, 0, series->count < 2 ? series->count : 2, first);
	row->span = span;
	row->first_ns = first[0];
	row->second_ns = first[1];
	row->stalls = row->stall_limit_ns == TARE_NO_TIME ? 0 : tare_counts_above(values->lows ? values->lows : values->counts, row->stall_limit_ns);
	row_figures(row, rules, values);
}

/* J is a filter over the order of the requests: the one figure that counts cannot give. */
static int jitter_of(const struct tare_series *series, enum tare_span span, size_t first, double *ret_jitter_ns,
	struct tare_err *err)
{
	size_t count = series->count - first;
	int64_t *values_ns = reallocarray(NULL, count ? count : 1, sizeof(*values_ns));
	if (!values_ns)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory for statistics");
	tare_span_values(series, span, first, count, values_ns);
	*ret_jitter_ns = tare_rfc3550_jitter(values_ns, count);
	free(values_ns);
	return 0;
}

/* False without memory. */
static bool own_text(struct tare_stat *stat, const char *text, const char **ret_owned)
{
	if (stat->text_count == stat->text_room) {
		size_t room = stat->text_room ? 2 * stat->text_room : 8;
		char **texts = realloc(stat->texts, room * sizeof(*texts));
		if (!texts)
			return false;
		stat->texts = texts;
		stat->text_room = room;
	}
	char *owned = strdup(text);
	if (!owned)
		return false;
	stat->texts[stat->text_count++] = owned;
	*ret_owned = owned;
	return true;
}

static bool in_group(const struct row_group *group, const struct tare_row *row, const char *key, bool by_run)
{
	bool same_run = group->run == row->run && text_equal(group->file, row->file);
	return text_equal(group->target, row->target) && text_equal(group->kind, row->kind) &&
	       (by_run ? same_run : text_equal(group->key, key));
}

static struct row_group *group_of(
	struct tare_stat *stat, const struct tare_row *row, const struct tare_record *record, struct tare_err *err)
{
	char key_text[128];
	const char *key = NULL;
	if (row_group_key(record, stat->rules.group_by, key_text, sizeof(key_text)))
		key = key_text;
	/* From the end: rounds of one run come one after the other. */
	for (size_t i = stat->group_count; i--;) {
		if (in_group(&stat->groups[i], row, key, stat->rules.group_by == TARE_GROUP_RUN))
			return &stat->groups[i];
	}
	bool fits = !key || own_text(stat, key_text, &key);
	if (fits && stat->group_count == stat->group_room) {
		size_t room = stat->group_room ? 2 * stat->group_room : 8;
		struct row_group *groups = realloc(stat->groups, room * sizeof(*groups));
		if (groups) {
			stat->groups = groups;
			stat->group_room = room;
		}
		fits = groups != NULL;
	}
	if (!fits) {
		tare_fail(err, TARE_E_SYSTEM, "out of memory for %zu groups of rounds", stat->group_count + 1);
		return NULL;
	}
	struct row_group *group = &stat->groups[stat->group_count++];
	*group = (struct row_group){
		.file = row->file, .run = row->run, .target = row->target, .kind = row->kind, .key = key};
	return group;
}

bool tare_row_losses_known(const struct tare_row *row)
{
	return row->lost || !(row->origin.left_out & (TARE_LEFT_OUT_LOST | TARE_LEFT_OUT_UNKNOWN));
}

void tare_rules_default(struct tare_rules *ret_rules)
{
	static const char *const usual[] = {"50", "90", "99", "99.9", "99.99"};
	*ret_rules = (struct tare_rules){.warmup = -1, .stall_ratio = 10, .variation = true};
	for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++) {
		if (tare_percentile_parse(usual[i], &ret_rules->percentile[i], NULL) == 0)
			ret_rules->percentiles++;
	}
}

int tare_stat_open(
	const struct tare_rules *rules, uint32_t span_mask, struct tare_stat **ret_stat, struct tare_err *err)
{
	if (rules->percentiles > TARE_PERCENTILES_MAX)
		return tare_fail(err, TARE_E_USAGE, "%u percentiles asked for, at most %d fit", rules->percentiles,
			TARE_PERCENTILES_MAX);
	struct tare_stat *stat = calloc(1, sizeof(*stat));
	if (!stat)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory for statistics");
	stat->rules = *rules;
	stat->span_mask = span_mask;
	if (tare_counts_open(&stat->base, err) || tare_counts_open(&stat->scratch, err) ||
		tare_counts_open(&stat->steps, err) || tare_counts_open(&stat->lows, err)) {
		tare_stat_free(stat);
		return -1;
	}
	*ret_stat = stat;
	return 0;
}

void tare_stat_free(struct tare_stat *stat)
{
	if (!stat)
		return;
	for (size_t i = 0; i < stat->group_count; i++) {
		for (int span = 0; span < TARE_SPAN_COUNT; span++)
			row_part_free(stat->groups[i].part[span]);
	}
	tare_counts_free(stat->base);
	tare_counts_free(stat->scratch);
	tare_counts_free(stat->steps);
	tare_counts_free(stat->lows);
	for (size_t i = 0; i < stat->text_count; i++)
		free(stat->texts[i]);
	free(stat->texts);
	free(stat->groups);
	free(stat->rounds.rows);
	free(stat->all.rows);
	free(stat);
}

/* Steps and first requests of the base span: what its figures need beside the counts. */
static int base_values(struct tare_stat *stat, const struct tare_series *series, enum tare_span base, size_t first,
	int64_t firsts_ns[2], struct row_values *ret_values, struct tare_err *err)
{
	struct row_values values = {.counts = stat->base, .steps = stat->steps};
	tare_counts_clear(stat->steps);
	if (stat->rules.variation && tare_ipdv_of(stat->steps, series, base, first, err))
		return -1;
	if (stat->rules.moments) {
		values.firsts_ns = firsts_ns;
		values.first_count = first < 2 ? first : 2;
		tare_span_values(series, base, 0, values.first_count, firsts_ns);
	}
	*ret_values = values;
	return 0;
}

int tare_stat_add(struct tare_stat *stat, const char *file, const struct tare_record *record, struct tare_err *err)
{
	const struct tare_series *series = &record->series;
	const struct tare_rules *rules = &stat->rules;
	uint64_t warmup = rules->warmup < 0 ? record->round->warmup : (uint64_t)rules->warmup;
	size_t first = warmup < series->count ? (size_t)warmup : series->count;
	enum tare_span base = tare_base_span(record);
	struct tare_row row;
	struct row_values of_base;
	int64_t firsts_ns[2];
	fill_row(&row, file, record, first);
	const struct tare_counts *lows;
	if (count_base(stat, record, base, first, &lows, err) ||
		base_values(stat, series, base, first, firsts_ns, &of_base, err))
		return -1;
	of_base.lows = lows;
	row.variation.rfc3550_jitter_ns = NAN;
	if (rules->moments && jitter_of(series, base, first, &row.variation.rfc3550_jitter_ns, err))
		return -1;
	if (record->bins)
		add_binned(&row, record->bins);
	row.stall_limit_ns = stall_limit_of(rules, stat->base, record->resolution_ns);
	struct row_group *group = group_of(stat, &row, record, err);
	if (!group)
		return -1;
	for (int i = -1; i < TARE_SPAN_COUNT; i++) {
		enum tare_span span = i < 0 ? base : (enum tare_span)i;
		bool asked = i < 0 || ((stat->span_mask >> i & 1) && span != base && tare_span_exists(series, span));
		if (!asked)
			continue;
		struct row_values values = i < 0 ? of_base : (struct row_values){.counts = stat->scratch};
		if (i >= 0 && count_span(series, span, first, stat->scratch, err))
			return -1;
		const struct row_tables take = {i < 0 ? &stat->base : &stat->scratch, &stat->steps};
		struct tare_row own = row;
		own.stall_limit_ns = limit_for(row.stall_limit_ns, rules, base, span);
		fill_span(&own, rules, series, span, &values);
		if (row_push(&stat->rounds, &own, err) || row_part_add(&group->part[span], &own, &values, &take, err))
			return -1;
		if (i < 0)
			stat->last = stat->rounds.count - 1;
		row.variation.rfc3550_jitter_ns = NAN;
	}
	return 0;
}

const struct tare_row *tare_stat_last(const struct tare_stat *stat)
{
	return stat->rounds.count ? &stat->rounds.rows[stat->last] : NULL;
}

int tare_stat_rows(struct tare_stat *stat, const struct tare_row **ret_rows, size_t *ret_count, struct tare_err *err)
{
	stat->all.count = 0;
	for (size_t i = 0; i < stat->rounds.count; i++) {
		if (row_push(&stat->all, &stat->rounds.rows[i], err))
			return -1;
	}
	if (row_merged(&stat->all, &stat->rules, stat->groups, stat->group_count, err))
		return -1;
	*ret_rows = stat->all.rows;
	*ret_count = stat->all.count;
	return 0;
}
