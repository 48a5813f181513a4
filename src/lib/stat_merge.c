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

enum { EXTREMES = 2, RANKS_MOST = 3 * TARE_PERCENTILES_MAX + 1 + EXTREMES };

/* A rank and where its value goes; sorted, so that one pass over the counts serves all. */
struct wish {
	uint64_t rank;
	int64_t *value_ns;
};

static int by_rank(const void *a, const void *b)
{
	const struct wish *left = a, *right = b;
	return (left->rank > right->rank) - (left->rank < right->rank);
}

static void grant(struct wish *wishes, size_t count, const struct tare_counts *counts)
{
	uint64_t ranks[RANKS_MOST];
	int64_t values_ns[RANKS_MOST];
	qsort(wishes, count, sizeof(*wishes), by_rank);
	for (size_t i = 0; i < count; i++)
		ranks[i] = wishes[i].rank;
	tare_counts_ranks(counts, ranks, count, values_ns);
	for (size_t i = 0; i < count; i++)
		*wishes[i].value_ns = values_ns[i];
}

/* Rank and grade; `infinite` requests lie above all n values counted. */
static struct tare_ranked ranked_of(const struct tare_percentile *p, uint64_t n, uint64_t infinite)
{
	uint64_t rank = tare_rank(p, n + infinite);
	struct tare_ranked ranked = {.value_ns = TARE_NO_TIME,
		.least_ns = TARE_NO_TIME,
		.rank = rank,
		.behind = n + infinite - rank,
		.low_ns = TARE_NO_TIME,
		.high_ns = TARE_NO_TIME};
	ranked.grade = tare_grade_of(ranked.behind);
	ranked.lost = rank > n;
	return ranked;
}

/* The value of a percentile and, at a level, the bounds of its interval: one that falls among the infinite is open. */
static size_t wish_for(struct wish *wishes, struct tare_ranked *ranked, const struct tare_percentile *p, uint64_t n,
	double level)
{
	size_t wished = 0;
	if (ranked->grade != TARE_GRADE_NONE)
		wishes[wished++] = (struct wish){ranked->rank, &ranked->value_ns};
	if (level > 0 && n) {
		struct tare_rank_interval interval = tare_interval_of_rank(p, n, level);
		wishes[wished++] = (struct wish){interval.low, &ranked->low_ns};
		wishes[wished++] = (struct wish){interval.high, &ranked->high_ns};
	}
	return wished;
}

static int64_t step_at(const struct tare_counts *steps, uint64_t num, uint64_t den)
{
	const struct tare_percentile p = {.num = num, .den = den};
	struct tare_ranked ranked = ranked_of(&p, tare_counts_n(steps), 0);
	return ranked.grade == TARE_GRADE_NONE ? TARE_NO_TIME : tare_counts_at(steps, ranked.rank);
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
	if (values->steps && rules->moments && !values->lows) {
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

/* high - low; without an upper bound there is none of the difference either. */
static int64_t spread(int64_t high_ns, int64_t low_ns)
{
	int64_t difference_ns;
	if (high_ns == TARE_NO_TIME || low_ns == TARE_NO_TIME)
		return TARE_NO_TIME;
	if (high_ns == INT64_MAX)
		return INT64_MAX;
	return __builtin_sub_overflow(high_ns, low_ns, &difference_ns) ? TARE_NO_TIME : difference_ns;
}

/* The same ranks among the lower bounds of ranges. */
static void lower_bounds(struct tare_row *row, const struct tare_rules *rules, const struct tare_counts *lows,
	uint64_t infinite, struct tare_ranked *high)
{
	struct tare_ranked low[TARE_PERCENTILES_MAX];
	struct wish wishes[RANKS_MOST] = {{1, &row->min_least_ns}, {row->n, &row->max_least_ns}};
	size_t wished = EXTREMES;
	for (uint32_t i = 0; i < rules->percentiles; i++) {
		low[i] = ranked_of(&rules->percentile[i], row->n, infinite);
		wished += wish_for(&wishes[wished], &low[i], &rules->percentile[i], row->n + infinite, rules->level);
	}
	if (high->grade != TARE_GRADE_NONE)
		wishes[wished++] = (struct wish){high->rank, &high->least_ns};
	grant(wishes, wished, lows);
	for (uint32_t i = 0; i < rules->percentiles; i++) {
		row->ranked[i].least_ns = low[i].value_ns;
		row->ranked[i].low_ns = low[i].low_ns;
	}
}

void row_figures(struct tare_row *row, const struct tare_rules *rules, const struct row_values *values)
{
	static const struct tare_percentile of_pdv = {.num = 999, .den = 1000};
	const struct tare_counts *counts = values->counts;
	uint64_t infinite = rules->over_sent && tare_span_needs_answer(row->span) ? row->unanswered : 0;
	row->n = tare_counts_n(counts);
	struct tare_ranked high = ranked_of(&of_pdv, row->n, infinite);
	struct wish wishes[RANKS_MOST] = {{1, &row->min_ns}, {row->n, &row->max_ns}};
	size_t wished = EXTREMES;
	memset(row->ranked, 0, sizeof(row->ranked));
	for (uint32_t i = 0; i < rules->percentiles; i++) {
		row->ranked[i] = ranked_of(&rules->percentile[i], row->n, infinite);
		wished += wish_for(&wishes[wished], &row->ranked[i], &rules->percentile[i], row->n + infinite, rules->level);
	}
	if (high.grade != TARE_GRADE_NONE)
		wishes[wished++] = (struct wish){high.rank, &high.value_ns};
	grant(wishes, wished, counts);
	high.least_ns = high.value_ns;
	row->min_least_ns = row->min_ns;
	row->max_least_ns = row->max_ns;
	for (uint32_t i = 0; i < rules->percentiles; i++)
		row->ranked[i].least_ns = row->ranked[i].value_ns;
	row->binned = values->lows != NULL;
	if (row->binned)
		lower_bounds(row, rules, values->lows, infinite, &high);
	row->pdv_ns = spread(high.value_ns, row->min_least_ns);
	row->pdv_least_ns = spread(high.least_ns, row->min_ns);
	if (row->binned && row->pdv_least_ns < 0 && row->pdv_least_ns != TARE_NO_TIME)
		row->pdv_least_ns = 0;
	row->variation = variation_of(rules, values, row->round ? row->variation.rfc3550_jitter_ns : NAN);
}

/* Steps of a sweep. Half a per cent is what an interval in whole ns rounds a rate by at most. */
static bool is_other_load(const struct tare_row *one, const struct tare_row *other)
{
	bool payloads = one->payload_bytes && other->payload_bytes && one->payload_bytes != other->payload_bytes;
	bool schedules = one->schedule[0] && other->schedule[0] && strcmp(one->schedule, other->schedule) != 0;
	return payloads || schedules || fabs(one->rate_asked - other->rate_asked) > 0.005 * one->rate_asked;
}

static bool same_origin(const struct tare_origin *one, const struct tare_origin *other)
{
	return text_equal(one->format, other->format) && one->quantity == other->quantity && one->clock == other->clock &&
	       one->pacing == other->pacing && one->lateness == other->lateness && one->shape == other->shape &&
	       one->left_out == other->left_out;
}

void row_merge(struct tare_row *into, const struct tare_row *from)
{
	into->origin_mixed |= from->origin_mixed || !same_origin(&into->origin, &from->origin);
	if (is_other_load(into, from) || isnan(from->rate_asked))
		into->rate_asked = NAN;
	if (!(into->rate_held <= from->rate_held))
		into->rate_held = from->rate_held;
	if (strcmp(into->schedule, from->schedule) != 0)
		into->schedule[0] = '\0';
	if (into->payload_bytes != from->payload_bytes)
		into->payload_bytes = 0;
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
		tare_counts_free(part->lows);
		tare_counts_free(part->steps);
		free(part->firsts_ns);
	}
	free(part);
}

struct row_values row_values_of(const struct row_part *part)
{
	return (struct row_values){part->counts, part->steps, part->firsts_ns, part->first_count, part->lows};
}

/* The caller's table becomes the part's, an empty one the caller's. */
static int take_over(struct tare_counts **into, struct tare_counts **from, struct tare_err *err)
{
	struct tare_counts *empty = NULL;
	if (tare_counts_open(&empty, err))
		return -1;
	tare_counts_free(*into);
	*into = *from;
	*from = empty;
	return 0;
}

static int add_counts(struct tare_counts **into, const struct tare_counts *values, struct tare_counts **owner,
	struct tare_err *err)
{
	if (!*into && owner)
		return take_over(into, owner, err);
	if (!*into && tare_counts_open(into, err))
		return -1;
	return tare_counts_merge(*into, values, err);
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

/* The first ranges in a part: what it held so far was exact, so its lower bounds are its values. Before the counts. */
static int add_lows(struct row_part *part, const struct row_values *values, struct tare_err *err)
{
	if (!values->lows && !part->lows)
		return 0;
	if (!part->lows && (tare_counts_open(&part->lows, err) ||
				   (part->counts && tare_counts_merge(part->lows, part->counts, err))))
		return -1;
	return tare_counts_merge(part->lows, values->lows ? values->lows : values->counts, err);
}

int row_part_add(struct row_part **part, const struct tare_row *row, const struct row_values *values,
	const struct row_tables *take, struct tare_err *err)
{
	if (*part) {
		(*part)->mixed |= is_other_load(&(*part)->row, row);
		row_merge(&(*part)->row, row);
	} else {
		*part = calloc(1, sizeof(**part));
		if (!*part)
			return tare_fail(err, TARE_E_SYSTEM, "out of memory for statistics");
		(*part)->row = *row;
	}
	(*part)->rounds++;
	if (values->first_count && add_firsts(*part, values, err))
		return -1;
	if (add_lows(*part, values, err))
		return -1;
	if (values->steps && add_counts(&(*part)->steps, values->steps, take ? take->steps : NULL, err))
		return -1;
	return add_counts(&(*part)->counts, values->counts, take ? take->counts : NULL, err);
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
	bool mixed = false;
	int failed = 0;
	for (size_t i = first; i < count && !failed; i++) {
		const struct row_part *part = groups[i].part[span];
		if (part && same_target(&groups[first], &groups[i])) {
			struct row_values values = row_values_of(part);
			failed = row_part_add(&sum, &part->row, &values, NULL, err);
			mixed |= part->mixed;
		}
	}
	if (sum && !failed && !mixed && !sum->mixed) {
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
			if (!part || (by_run && (part->rounds < 2 || part->mixed)))
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
