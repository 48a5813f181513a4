/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Modes of a column: shape and labels are both tried, a label that tells the
 * shape's modes apart (association 0.9 or more) wins, and where the shape shows
 * nothing a label may still. The order in time is judged last, in one pass.
 */
#include "tare/modes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "lib/labels.h"
#include "tare/variation.h"

/* Everything a search holds on to. */
struct search {
	const int64_t *values_ns;
	size_t count;
	const struct tare_labels *labels;
	size_t label_columns;
	struct tare_counts *counts;
	struct shape_part part[TARE_MODES_MAX];
	size_t parts;
	struct label_split *split; /* one per column */
	double *association;       /* NAN: not known */
	size_t chosen;             /* column that tells the modes apart; label_columns: none */
};

static void search_end(struct search *search)
{
	for (size_t i = 0; search->split && i < search->label_columns; i++)
		label_split_end(&search->split[i]);
	free(search->split);
	free(search->association);
	tare_counts_free(search->counts);
}

/* Without a branch: which mode comes next is as good as random. */
static size_t part_of(const struct search *search, int64_t value_ns)
{
	size_t part = 0;
	for (size_t i = 0; i + 1 < search->parts; i++)
		part += value_ns > search->part[i].to_ns;
	return part;
}

/* How well a column's labels tell the parts apart. */
static double column_association(const struct search *search, size_t column)
{
	const struct label_split *split = &search->split[column];
	const int16_t *labels = search->labels[column].of;
	uint64_t table[TARE_MODES_MAX * TARE_MODE_LABELS_MAX] = {0};
	if (search->parts < 2 || !split->count || !split->modes)
		return NAN;
	for (size_t i = 0; i < search->count; i++) {
		int64_t value = search->values_ns[i];
		if (value != TARE_NO_TIME && labels[i] >= 0)
			table[part_of(search, value) * split->count + split->slot_of[labels[i]]]++;
	}
	return tare_association(table, search->parts, split->count);
}

/* By shape the label with the highest association; without shape the one whose modes are furthest apart. */
static void choose_column(struct search *search)
{
	double best = 0;
	search->chosen = search->label_columns;
	for (size_t i = 0; i < search->label_columns; i++) {
		double merit = search->association[i];
		if (search->parts < 2)
			merit = search->split[i].modes > 1 ? search->split[i].apart : 0;
		/* Earlier columns are likelier causes: a later one must tell clearly more. */
		if (merit > best * 1.02) {
			best = merit;
			search->chosen = i;
		}
	}
}

static struct tare_ranked ranked_in(
	const struct tare_counts *counts, uint64_t first, uint64_t n, uint64_t num, uint64_t den)
{
	struct tare_percentile p = {.num = num, .den = den};
	uint64_t rank = tare_rank(&p, n);
	struct tare_ranked ranked = {.value_ns = TARE_NO_TIME, .rank = rank, .behind = n - rank};
	ranked.grade = tare_grade_of(ranked.behind);
	if (ranked.grade != TARE_GRADE_NONE)
		ranked.value_ns = tare_counts_at(counts, first - 1 + rank);
	return ranked;
}

/* One mode from `n` ranks of counts; ret_core is p5 and p95. */
static struct tare_mode mode_from(
	const struct tare_counts *counts, uint64_t first, uint64_t n, uint64_t all, int64_t ret_core_ns[2])
{
	struct shape_part part = shape_part_of(counts, first, n);
	struct tare_mode mode = {
		.from_ns = part.from_ns,
		.to_ns = part.to_ns,
		.n = n,
		.share = (double)n / (double)all,
		.median_ns = (int64_t)part.median,
		.p99 = ranked_in(counts, first, n, 99, 100),
		.pdv_ns = ranked_in(counts, first, n, 999, 1000).value_ns,
	};
	if (mode.pdv_ns != TARE_NO_TIME && __builtin_sub_overflow(mode.pdv_ns, mode.from_ns, &mode.pdv_ns))
		mode.pdv_ns = TARE_NO_TIME;
	ret_core_ns[0] = tare_counts_at(counts, first + n / 20);
	ret_core_ns[1] = tare_counts_at(counts, first + n - 1 - n / 20);
	return mode;
}

static int fill_by_label(
	const struct search *search, struct tare_modes *modes, int64_t core_ns[][2], struct tare_err *err)
{
	const struct label_split *split = &search->split[search->chosen];
	uint64_t all = tare_counts_n(search->counts);
	for (size_t m = 0; m < split->modes; m++) {
		struct tare_counts *counts = NULL;
		struct tare_mode mode = {0};
		if (tare_counts_open(&counts, err))
			return -1;
		int failed = 0;
		for (size_t i = 0; i < split->count && !failed; i++) {
			if (split->slots[i].mode != m)
				continue;
			mode.label[mode.labels++] = split->slots[i].label;
			failed = tare_counts_merge(counts, split->slots[i].counts, err);
		}
		if (!failed) {
			struct tare_mode figures = mode_from(counts, 1, tare_counts_n(counts), all, core_ns[m]);
			memcpy(figures.label, mode.label, sizeof(mode.label));
			figures.labels = mode.labels;
			modes->mode[m] = figures;
		}
		tare_counts_free(counts);
		if (failed)
			return -1;
	}
	modes->count = split->modes;
	return 0;
}

static void fill_by_shape(const struct search *search, struct tare_modes *modes, int64_t core_ns[][2])
{
	modes->count = search->parts;
	for (size_t m = 0; m < search->parts; m++)
		modes->mode[m] = mode_from(search->counts, search->part[m].first, search->part[m].n,
			tare_counts_n(search->counts), core_ns[m]);
}

/* Where the mean and the median lie among the modes. */
static void place_middles(struct tare_modes *modes, int64_t core_ns[][2])
{
	size_t holding = 0;
	modes->median_in = modes->gap_below = modes->count;
	for (size_t m = 0; m < modes->count; m++) {
		bool inside =
			modes->by == TARE_MODES_SHAPE
				? modes->median_ns >= modes->mode[m].from_ns && modes->median_ns <= modes->mode[m].to_ns
				: modes->median_ns >= core_ns[m][0] && modes->median_ns <= core_ns[m][1];
		if (inside) {
			modes->median_in = m;
			holding++;
		}
		if (m + 1 < modes->count && modes->mean_ns > (double)core_ns[m][1] &&
			modes->mean_ns < (double)core_ns[m + 1][0])
			modes->gap_below = m;
	}
	if (holding != 1)
		modes->median_in = modes->count;
}

static uint8_t mode_at(const struct search *search, const struct tare_modes *modes, size_t i)
{
	if (search->values_ns[i] == TARE_NO_TIME)
		return LABEL_NONE;
	if (modes->by == TARE_MODES_SHAPE)
		return (uint8_t)part_of(search, search->values_ns[i]);
	return label_mode(&search->split[search->chosen], search->labels[search->chosen].of[i]);
}

static void judge_order(const struct search *search, struct tare_modes *modes)
{
	uint64_t sizes[TARE_MODES_MAX] = {0}, n = 0;
	uint8_t before = LABEL_NONE;
	/* ahead: how many more of the first mode than of the second so far; its extremes are the best splits. */
	int64_t ahead = 0, most = 0, least = 0;
	size_t most_at = 0, least_at = 0;
	for (size_t i = 0; i < search->count; i++) {
		uint8_t mode = mode_at(search, modes, i);
		if (mode == LABEL_NONE)
			continue;
		modes->runs += mode != before;
		before = mode;
		sizes[mode]++;
		n++;
		ahead += mode == 0 ? 1 : -1;
		most_at = ahead > most ? i + 1 : most_at;
		most = ahead > most ? ahead : most;
		least_at = ahead < least ? i + 1 : least_at;
		least = ahead < least ? ahead : least;
	}
	tare_runs_test(modes->runs, sizes, modes->count, &modes->runs_expected, &modes->runs_z);
	double agree_first = (double)most + (double)sizes[1], agree_second = (double)sizes[0] - (double)least;
	bool first = agree_first >= agree_second;
	if (modes->count == 2 && modes->runs_z < -3 && fmax(agree_first, agree_second) >= 0.95 * (double)n) {
		modes->order = TARE_ORDER_SWITCHED;
		modes->switched_at = first ? most_at : least_at;
	} else {
		modes->order = modes->runs_z < -3 ? TARE_ORDER_STRETCHES : TARE_ORDER_INTERLEAVED;
	}
}

/* Shape, labels, and which of them to believe. */
static int look(struct search *search, int64_t resolution_ns, struct tare_modes *modes, struct tare_err *err)
{
	uint64_t n = tare_counts_n(search->counts);
	int64_t step = shape_step(search->counts);
	step = step > resolution_ns ? step : resolution_ns;
	if (shape_modes(search->counts, step, search->part, &search->parts, err))
		return -1;
	for (size_t i = 0; i < search->label_columns; i++) {
		search->association[i] = NAN;
		if (!search->labels[i].of)
			continue;
		if (label_split_make(search->values_ns, search->count, search->labels[i].of, step,
			    (double)tare_counts_at(search->counts, n / 2 + n % 2), &search->split[i], err))
			return -1;
		search->association[i] = column_association(search, i);
	}
	choose_column(search);
	bool chosen = search->chosen < search->label_columns;
	if (chosen) {
		modes->label_name = search->labels[search->chosen].name;
		modes->association = search->association[search->chosen];
	}
	bool told =
		chosen && search->split[search->chosen].modes > 1 && (search->parts < 2 || modes->association >= 0.9);
	modes->by = told ? TARE_MODES_LABEL : search->parts > 1 ? TARE_MODES_SHAPE : TARE_MODES_NONE;
	return 0;
}

static int search_run(struct search *search, int64_t resolution_ns, struct tare_modes *modes, struct tare_err *err)
{
	int64_t core_ns[TARE_MODES_MAX][2];
	if (tare_counts_open(&search->counts, err) ||
		tare_counts_add(search->counts, search->values_ns, search->count, err))
		return -1;
	search->split = calloc(search->label_columns + 1, sizeof(*search->split));
	search->association = calloc(search->label_columns + 1, sizeof(*search->association));
	if (!search->split || !search->association)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory for modes");
	uint64_t n = tare_counts_n(search->counts);
	modes->mean_ns = tare_moments_of(search->counts, NULL, 0).mean_ns;
	modes->median_ns = tare_counts_at(search->counts, n / 2 + n % 2);
	if (!n)
		return 0;
	if (look(search, resolution_ns, modes, err))
		return -1;
	if (modes->by == TARE_MODES_NONE)
		return 0;
	if (modes->by == TARE_MODES_SHAPE)
		fill_by_shape(search, modes, core_ns);
	else if (fill_by_label(search, modes, core_ns, err))
		return -1;
	place_middles(modes, core_ns);
	judge_order(search, modes);
	return 0;
}

int tare_modes_of(const int64_t *values_ns, size_t count, const struct tare_labels *labels, size_t label_columns,
	int64_t resolution_ns, struct tare_modes *ret_modes, struct tare_err *err)
{
	struct search search = {
		.values_ns = values_ns, .count = count, .labels = labels, .label_columns = label_columns};
	struct tare_modes modes = {.association = NAN, .runs_expected = NAN, .runs_z = NAN};
	int failed = search_run(&search, resolution_ns, &modes, err);
	search_end(&search);
	if (!failed)
		*ret_modes = modes;
	return failed;
}

int tare_modes_of_series(const struct tare_series *series, enum tare_span span, size_t first, int64_t resolution_ns,
	struct tare_modes *ret_modes, struct tare_err *err)
{
	static const struct {
		const char *name;
		enum tare_cpu_place place;
	} places[] = {{"peer CPU", TARE_CPU_PEER_RX}, {"peer's sending CPU", TARE_CPU_PEER_TX},
		{"receiving CPU", TARE_CPU_RX}, {"sending CPU", TARE_CPU_TX}};
	enum { PLACES = sizeof(places) / sizeof(places[0]) };
	struct tare_labels labels[PLACES];
	first = first < series->count ? first : series->count;
	size_t count = series->count - first;
	AUTO_FREE int64_t *values_ns = malloc((count + 1) * sizeof(*values_ns));
	if (!values_ns)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory for %zu values", count);
	tare_span_values(series, span, first, count, values_ns);
	for (size_t i = 0; i < PLACES; i++) {
		const int16_t *cpu = series->cpu[places[i].place];
		labels[i] = (struct tare_labels){places[i].name, cpu ? cpu + first : NULL};
	}
	if (tare_modes_of(values_ns, count, labels, PLACES, resolution_ns, ret_modes, err))
		return -1;
	if (ret_modes->order == TARE_ORDER_SWITCHED)
		ret_modes->switched_at += first;
	return 0;
}
