/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Figures from counts, and rows merged over rounds and runs. Percentiles are
 * never averaged: counts are added and ranked anew, so a merged p99.9 is again
 * the value of one real request.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/row.h"
#include "tare/interval.h"
#include "tare/variation.h"

bool text_equal(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

int row_push(struct row_list *list, const struct tare_row *row, struct tare_err *err)
{
	if (list->count == list->room) {
		size_t room = list->room ? 2 * list->room : 16;
		struct tare_row *rows = realloc(list->rows, room * sizeof(*rows));
		if (!rows)
			return tare_fail(err, TARE_E_SYSTEM, "out of memory for %zu rows", room);
		list->rows = rows;
		list->room = room;
	}
	list->rows[list->count++] = *row;
	return 0;
}

/* `infinite` requests lie above all values counted: a bound that falls among them is open. */
static struct tare_ranked ranked_at(
	const struct tare_percentile *p, const struct tare_counts *counts, uint64_t infinite, double level)
{
	uint64_t n = tare_counts_n(counts) + infinite, rank = tare_rank(p, n);
	struct tare_ranked ranked = {.value_ns = TARE_NO_TIME,
		.rank = rank,
		.behind = n - rank,
		.low_ns = TARE_NO_TIME,
		.high_ns = TARE_NO_TIME};
	ranked.grade = tare_grade_of(ranked.behind);
	ranked.lost = rank > n - infinite;
	if (ranked.grade != TARE_GRADE_NONE)
		ranked.value_ns = tare_counts_at(counts, rank);
	if (level > 0 && n) {
		struct tare_rank_interval interval = tare_interval_of_rank(p, n, level);
		ranked.low_ns = tare_counts_at(counts, interval.low);
		ranked.high_ns = tare_counts_at(counts, interval.high);
	}
	return ranked;
}

static int64_t step_at(const struct tare_counts *steps, uint64_t num, uint64_t den)
{
	const struct tare_percentile p = {.num = num, .den = den};
	return ranked_at(&p, steps, 0, 0).value_ns;
}

static struct tare_row_variation variation_of(const struct tare_rules *rules, const struct row_values *values, double jitter_ns)
{
	struct tare_row_variation v = {TARE_NO_TIME, TARE_NO_TIME, TARE_NO_TIME, 0, NAN, NAN, NAN, NAN, jitter_ns, TARE_NO_TIME};
	if (values->steps && rules->variation) {
		v.ipdv_n = tare_counts_n(values->steps);
		v.ipdv_p50_ns = step_at(values->steps, 1, 2);
		v.ipdv_p99_ns = step_at(values->steps, 99, 100);
		v.ipdv_p999_ns = step_at(values->steps, 999, 1000);
	}
	if (values->steps && rules->moments) {
		struct tare_moments kept = tare_moments_of(values->counts, NULL, 0);
		struct tare_moments all = tare_moments_of(values->counts, values->firsts_ns, values->first_count);
		v.mean_ns = kept.mean_ns;
		v.deviation_ns = kept.deviation_ns;
		v.mean_first_ns = all.mean_ns;
		v.deviation_first_ns = all.deviation_ns;
		v.p95_less_p50_ns = tare_p95_less_p50(values->counts);
	}
	return v;
}

void row_figures(struct tare_row *row, const struct tare_rules *rules, const struct row_values *values)
{
	static const struct tare_percentile of_pdv = {.num = 999, .den = 1000};
	const struct tare_counts *counts = values->counts;
	uint64_t infinite = rules->over_sent && tare_span_needs_answer(row->span) ? row->unanswered : 0;
	row->n = tare_counts_n(counts);
	row->min_ns = tare_counts_at(counts, 1);
	row->max_ns = tare_counts_at(counts, row->n);
	memset(row->ranked, 0, sizeof(row->ranked));
	for (uint32_t i = 0; i < rules->percentiles; i++)
		row->ranked[i] = ranked_at(&rules->percentile[i], counts, infinite, rules->level);
	int64_t high_ns = ranked_at(&of_pdv, counts, infinite, 0).value_ns;
	if (high_ns == TARE_NO_TIME || __builtin_sub_overflow(high_ns, row->min_ns, &row->pdv_ns))
		row->pdv_ns = TARE_NO_TIME;
	row->variation = variation_of(rules, values, row->round ? row->variation.rfc3550_jitter_ns : NAN);
}

void row_merge(struct tare_row *into, const struct tare_row *from)
{
	if (!text_equal(into->label, from->label))
		into->label = NULL;
	if (!text_equal(into->file, from->file))
		into->file = NULL;
	if (into->stall_limit_ns != from->stall_limit_ns)
		into->stall_limit_ns = TARE_NO_TIME;
	if (into->resolution_ns < from->resolution_ns)
		into->resolution_ns = from->resolution_ns;
	into->sent += from->sent;
	into->lost += from->lost;
	into->overdue += from->overdue;
	into->pending += from->pending;
	into->error += from->error;
	into->not_sent += from->not_sent;
	into->unanswered += from->unanswered;
	into->duplicate += from->duplicate;
	into->reordered += from->reordered;
	into->foreign += from->foreign;
	into->stalls += from->stalls;
	if (into->run != from->run)
		into->run = 0;
	into->round = 0;
	into->first_ns = into->second_ns = TARE_NO_TIME;
}

void row_part_free(struct row_part *part)
{
	if (part) {
		tare_counts_free(part->counts);
		tare_counts_free(part->steps);
		free(part->firsts_ns);
	}
	free(part);
}

struct row_values row_values_of(const struct row_part *part)
{
	return (struct row_values){part->counts, part->steps, part->firsts_ns, part->first_count};
}

static struct row_part *new_part(const struct tare_row *row, const struct row_values *values, struct tare_err *err)
{
	struct row_part *part = calloc(1, sizeof(*part));
	if (!part) {
		tare_fail(err, TARE_E_SYSTEM, "out of memory for statistics");
		return NULL;
	}
	if (tare_counts_open(&part->counts, err) || (values->steps && tare_counts_open(&part->steps, err))) {
		row_part_free(part);
		return NULL;
	}
	part->row = *row;
	return part;
}

static int add_firsts(struct row_part *part, const struct row_values *values, struct tare_err *err)
{
	if (part->first_count + values->first_count > part->first_room) {
		size_t room = 2 * part->first_room + values->first_count;
		int64_t *firsts_ns = reallocarray(part->firsts_ns, room, sizeof(*firsts_ns));
		if (!firsts_ns)
			return tare_fail(err, TARE_E_SYSTEM, "out of memory for statistics");
		part->firsts_ns = firsts_ns;
		part->first_room = room;
	}
	for (size_t i = 0; i < values->first_count; i++)
		part->firsts_ns[part->first_count++] = values->firsts_ns[i];
	return 0;
}

int row_part_add(
	struct row_part **part, const struct tare_row *row, const struct row_values *values, struct tare_err *err)
{
	if (!*part)
		*part = new_part(row, values, err);
	else
		row_merge(&(*part)->row, row);
	if (!*part)
		return -1;
	(*part)->rounds++;
	if (values->steps && !(*part)->steps && tare_counts_open(&(*part)->steps, err))
		return -1;
	if (values->steps && tare_counts_merge((*part)->steps, values->steps, err))
		return -1;
	if (values->first_count && add_firsts(*part, values, err))
		return -1;
	return tare_counts_merge((*part)->counts, values->counts, err);
}

static bool same_target(const struct row_group *a, const struct row_group *b)
{
	return text_equal(a->target, b->target) && text_equal(a->kind, b->kind);
}

/* One span over all groups from `first` on with the same target. */
static int merge_span(struct row_list *list, const struct tare_rules *rules, const struct row_group *groups,
	size_t first, size_t count, int span, struct tare_err *err)
{
	struct row_part *sum = NULL;
	int failed = 0;
	for (size_t i = first; i < count && !failed; i++) {
		const struct row_part *part = groups[i].part[span];
		if (part && same_target(&groups[first], &groups[i])) {
			struct row_values values = row_values_of(part);
			failed = row_part_add(&sum, &part->row, &values, err);
		}
	}
	if (sum && !failed) {
		sum->row.run = 0;
		sum->row.round = 0;
		sum->row.first_ns = sum->row.second_ns = TARE_NO_TIME;
		struct row_values values = row_values_of(sum);
		row_figures(&sum->row, rules, &values);
		failed = row_push(list, &sum->row, err);
	}
	row_part_free(sum);
	return failed;
}

static int merge_runs(struct row_list *list, const struct tare_rules *rules, const struct row_group *groups,
	size_t first, size_t count, struct tare_err *err)
{
	size_t runs = 0;
	for (size_t i = 0; i < count; i++) {
		bool same = same_target(&groups[first], &groups[i]);
		if (same && i < first)
			return 0; /* done when its first run came by */
		runs += same;
	}
	for (int span = 0; span < TARE_SPAN_COUNT && runs > 1; span++) {
		if (merge_span(list, rules, groups, first, count, span, err))
			return -1;
	}
	return 0;
}

int row_merged(struct row_list *list, const struct tare_rules *rules, const struct row_group *groups, size_t count,
	struct tare_err *err)
{
	bool by_run = rules->group_by == TARE_GROUP_RUN;
	for (size_t i = 0; i < count; i++) {
		for (int span = 0; span < TARE_SPAN_COUNT; span++) {
			const struct row_part *part = groups[i].part[span];
			if (!part || (by_run && part->rounds < 2))
				continue;
			struct tare_row row = part->row;
			row.group = by_run ? NULL : groups[i].key;
			row.round = 0;
			row.first_ns = row.second_ns = TARE_NO_TIME;
			struct row_values values = row_values_of(part);
			row_figures(&row, rules, &values);
			if (row_push(list, &row, err))
				return -1;
		}
	}
	for (size_t i = 0; i < count && by_run; i++) {
		if (merge_runs(list, rules, groups, i, count, err))
			return -1;
	}
	return 0;
}
