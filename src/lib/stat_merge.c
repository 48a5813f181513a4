/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Figures from counts, and rows merged over rounds and runs. Percentiles are
 * never averaged: counts are added and ranked anew, so a merged p99.9 is again
 * the value of one real request.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/row.h"

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

/* `infinite` requests lie above all values counted. */
static struct tare_ranked ranked_at(
	const struct tare_percentile *p, const struct tare_counts *counts, uint64_t infinite)
{
	uint64_t n = tare_counts_n(counts) + infinite, rank = tare_rank(p, n);
	struct tare_ranked ranked = {.value_ns = TARE_NO_TIME, .rank = rank, .behind = n - rank};
	ranked.grade = tare_grade_of(ranked.behind);
	ranked.lost = rank > n - infinite;
	if (ranked.grade != TARE_GRADE_NONE)
		ranked.value_ns = tare_counts_at(counts, rank);
	return ranked;
}

void row_figures(struct tare_row *row, const struct tare_rules *rules, const struct tare_counts *counts)
{
	static const struct tare_percentile of_pdv = {.num = 999, .den = 1000};
	uint64_t infinite = rules->over_sent && tare_span_needs_answer(row->span) ? row->unanswered : 0;
	row->n = tare_counts_n(counts);
	row->min_ns = tare_counts_at(counts, 1);
	row->max_ns = tare_counts_at(counts, row->n);
	memset(row->ranked, 0, sizeof(row->ranked));
	for (uint32_t i = 0; i < rules->percentiles; i++)
		row->ranked[i] = ranked_at(&rules->percentile[i], counts, infinite);
	int64_t high_ns = ranked_at(&of_pdv, counts, infinite).value_ns;
	if (high_ns == TARE_NO_TIME || __builtin_sub_overflow(high_ns, row->min_ns, &row->pdv_ns))
		row->pdv_ns = TARE_NO_TIME;
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
	if (part)
		tare_counts_free(part->counts);
	free(part);
}

int row_part_add(
	struct row_part **part, const struct tare_row *row, const struct tare_counts *counts, struct tare_err *err)
{
	if (!*part) {
		struct row_part *fresh = calloc(1, sizeof(*fresh));
		if (!fresh)
			return tare_fail(err, TARE_E_SYSTEM, "out of memory for statistics");
		if (tare_counts_open(&fresh->counts, err)) {
			free(fresh);
			return -1;
		}
		fresh->row = *row;
		*part = fresh;
	} else {
		row_merge(&(*part)->row, row);
	}
	(*part)->rounds++;
	return tare_counts_merge((*part)->counts, counts, err);
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
		if (part && same_target(&groups[first], &groups[i]))
			failed = row_part_add(&sum, &part->row, part->counts, err);
	}
	if (sum && !failed) {
		sum->row.run = 0;
		sum->row.round = 0;
		sum->row.first_ns = sum->row.second_ns = TARE_NO_TIME;
		row_figures(&sum->row, rules, sum->counts);
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
			row_figures(&row, rules, part->counts);
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
