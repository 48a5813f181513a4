/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Facts of each round and what they say together. Retest differences are taken
 * between neighbours in time of the same file, target and label only: a change
 * of setting between two rounds is not repeatability.
 */
#include "tare/rounds.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "lib/row.h"

enum { CPUS = 1024, TEN = 10, FIRST_LEAST = 20 };

struct tare_cpu_set tare_cpu_set_of(const struct tare_series *series, enum tare_cpu_place place)
{
	uint32_t seen[CPUS] = {0};
	uint64_t known = 0;
	struct tare_cpu_set set = {.count = 0};
	const int16_t *cpu = series->cpu[place];
	for (size_t i = 0; cpu && i < series->count; i++) {
		if (cpu[i] < 0 || cpu[i] >= CPUS || seen[cpu[i]] == UINT32_MAX)
			continue;
		seen[cpu[i]]++;
		known++;
	}
	while (known && set.count < TARE_ROUND_CPUS_MAX) {
		size_t most = 0;
		for (size_t i = 1; i < CPUS; i++)
			most = seen[i] > seen[most] ? i : most;
		if (!seen[most] || (double)seen[most] < (double)known / 100)
			break;
		set.cpu[set.count++] = (int16_t)most;
		seen[most] = 0;
	}
	return set;
}

/* Requests slower than this value: whether the first two are among the ten slowest. */
static void judge_first(const int64_t *values_ns, size_t count, struct tare_round_facts *facts)
{
	uint64_t observed = 0, above_first = 0, above_second = 0;
	if (count < 2 || values_ns[0] == TARE_NO_TIME || values_ns[1] == TARE_NO_TIME)
		return;
	for (size_t i = 0; i < count; i++) {
		observed += values_ns[i] != TARE_NO_TIME;
		above_first += values_ns[i] > values_ns[0];
		above_second += values_ns[i] > values_ns[1];
	}
	facts->first_known = observed >= FIRST_LEAST;
	facts->first_slowest = facts->first_known && above_first == 0;
	facts->first_two_in_ten = facts->first_known && above_first < TEN && above_second < TEN;
}

static int64_t graded_at(const struct tare_counts *counts, uint64_t num, uint64_t den)
{
	const struct tare_percentile p = {.num = num, .den = den};
	uint64_t n = tare_counts_n(counts), rank = tare_rank(&p, n);
	return rank < n ? tare_counts_at(counts, rank) : TARE_NO_TIME;
}

static int fill_figures(
	const int64_t *values_ns, size_t count, int64_t limit_ns, struct tare_round_facts *facts, struct tare_err *err)
{
	struct tare_counts *counts = NULL;
	if (tare_counts_open(&counts, err))
		return -1;
	if (tare_counts_add(counts, values_ns, count, err)) {
		tare_counts_free(counts);
		return -1;
	}
	facts->n = tare_counts_n(counts);
	facts->stalls = limit_ns == TARE_NO_TIME ? 0 : tare_counts_above(counts, limit_ns);
	facts->median_ns = graded_at(counts, 1, 2);
	facts->p99_ns = graded_at(counts, 99, 100);
	facts->p999_ns = graded_at(counts, 999, 1000);
	facts->max_ns = tare_counts_at(counts, facts->n);
	tare_counts_free(counts);
	return 0;
}

int tare_round_facts_of(const struct tare_record *record, const char *file, enum tare_span span, size_t first,
	int64_t limit_ns, struct tare_round_facts *ret_facts, struct tare_err *err)
{
	const struct tare_series *series = &record->series;
	size_t count = series->count, skipped = first < count ? first : count;
	AUTO_FREE int64_t *values_ns = malloc((count + 1) * sizeof(*values_ns));
	if (!values_ns)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory for %zu values", count);
	tare_span_values(series, span, 0, count, values_ns);
	struct tare_round_facts facts = {
		.file = file,
		.label = record->round->label,
		.target = record->target->url,
		.kind = record->target->kind,
		.run = record->run ? record->run->id : 0,
		.round = record->round->number,
		.peer = tare_cpu_set_of(series, TARE_CPU_PEER_RX),
		.slowest = tare_slowest_of(values_ns + skipped, count - skipped),
	};
	if (__builtin_add_overflow(
		    record->run ? record->run->epoch_real_ns : 0, record->round->first_due_ns, &facts.started_real_ns))
		facts.started_real_ns = 0;
	judge_first(values_ns, count, &facts);
	if (fill_figures(values_ns + skipped, count - skipped, limit_ns, &facts, err))
		return -1;
	*ret_facts = facts;
	return 0;
}

struct tare_repeatability tare_repeatability_of(const double *values, size_t count)
{
	struct tare_repeatability repeat = {0, NAN, NAN, NAN};
	if (count < 2)
		return repeat;
	double mean = 0, squares = 0, steps = 0, largest = 0;
	for (size_t i = 0; i < count; i++)
		mean += values[i] / (double)count;
	for (size_t i = 0; i < count; i++) {
		squares += (values[i] - mean) * (values[i] - mean);
		double step = i ? fabs(values[i] - values[i - 1]) : 0;
		steps += step * step;
		largest = fmax(largest, step);
	}
	double pairs = (double)(count - 1);
	return (struct tare_repeatability){count - 1, sqrt(squares / pairs), sqrt(steps / 2 / pairs), largest};
}

static double pooled(double a, uint64_t a_pairs, double b, uint64_t b_pairs)
{
	double a_squares = a_pairs ? a * a * (double)a_pairs : 0, b_squares = b_pairs ? b * b * (double)b_pairs : 0;
	uint64_t pairs = a_pairs + b_pairs;
	return pairs ? sqrt((a_squares + b_squares) / (double)pairs) : NAN;
}

void tare_repeatability_add(struct tare_repeatability *into, const struct tare_repeatability *from)
{
	into->plain = pooled(into->plain, into->pairs, from->plain, from->pairs);
	into->successive = pooled(into->successive, into->pairs, from->successive, from->pairs);
	into->largest = fmax(into->largest, from->largest); /* of NAN and a number fmax takes the number */
	into->pairs += from->pairs;
}

double tare_repeatability_limit(double s_r, double freedom, double level)
{
	if (!(level > 0 && level < 1) || isnan(s_r))
		return NAN;
	double tail = (1 - level) / 2;
	double factor = freedom > 0 ? gsl_cdf_tdist_Qinv(tail, freedom) : gsl_cdf_ugaussian_Qinv(tail);
	return factor * M_SQRT2 * s_r;
}

static bool same_setting(const struct tare_round_facts *a, const struct tare_round_facts *b)
{
	return text_equal(a->target, b->target) && text_equal(a->kind, b->kind) && text_equal(a->label, b->label) &&
	       text_equal(a->file, b->file);
}

static int by_start(const void *a, const void *b)
{
	const struct tare_round_facts *left = *(const struct tare_round_facts *const *)a;
	const struct tare_round_facts *right = *(const struct tare_round_facts *const *)b;
	if (left->started_real_ns != right->started_real_ns)
		return left->started_real_ns < right->started_real_ns ? -1 : 1;
	if (left->run != right->run)
		return left->run < right->run ? -1 : 1;
	return (left->round > right->round) - (left->round < right->round);
}

/* Medians of the rounds under each setting, in time order; each round is used with the first of its setting. */
static struct tare_repeatability repeat_medians(
	const struct tare_round_facts *const *sorted, size_t count, double *scratch)
{
	struct tare_repeatability all = {0, NAN, NAN, NAN};
	for (size_t i = 0; i < count; i++) {
		size_t before = 0, n = 0;
		while (before < i && !same_setting(sorted[before], sorted[i]))
			before++;
		if (before < i)
			continue;
		for (size_t j = i; j < count; j++) {
			if (sorted[j]->median_ns != TARE_NO_TIME && same_setting(sorted[i], sorted[j]))
				scratch[n++] = (double)sorted[j]->median_ns;
		}
		struct tare_repeatability here = tare_repeatability_of(scratch, n);
		tare_repeatability_add(&all, &here);
	}
	return all;
}

static bool holds(const struct tare_cpu_set *set, int16_t cpu)
{
	for (size_t i = 0; i < set->count; i++) {
		if (set->cpu[i] == cpu)
			return true;
	}
	return false;
}

static bool overlap(const struct tare_cpu_set *a, const struct tare_cpu_set *b)
{
	for (size_t i = 0; i < a->count; i++) {
		if (holds(b, a->cpu[i]))
			return true;
	}
	return false;
}

static void place_stalls(const struct tare_round_facts *facts, size_t count, struct tare_across *across)
{
	bool told = true;
	struct tare_cpu_set *set = &across->stalled_peer;
	for (size_t i = 0; i < count; i++) {
		if (!facts[i].stalls)
			continue;
		across->stalled_rounds++;
		told = told && facts[i].peer.count > 0;
		for (size_t j = 0; j < facts[i].peer.count; j++) {
			if (holds(set, facts[i].peer.cpu[j]))
				continue;
			told = told && set->count < TARE_ROUND_CPUS_MAX;
			if (told)
				set->cpu[set->count++] = facts[i].peer.cpu[j];
		}
	}
	if (!told)
		set->count = 0;
	for (size_t i = 0; i < count && set->count; i++)
		across->elsewhere_rounds += facts[i].peer.count && !overlap(&facts[i].peer, set);
}

int tare_across_of(
	const struct tare_round_facts *facts, size_t count, struct tare_across *ret_across, struct tare_err *err)
{
	AUTO_FREE const struct tare_round_facts **sorted = malloc((count + 1) * sizeof(*sorted));
	AUTO_FREE double *scratch = malloc((count + 1) * sizeof(*scratch));
	if (!sorted || !scratch)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory for %zu rounds", count);
	struct tare_across across = {.rounds = count};
	for (size_t i = 0; i < count; i++) {
		sorted[i] = &facts[i];
		across.first_known += facts[i].first_known;
		across.first_slowest += facts[i].first_slowest;
		across.first_two_in_ten += facts[i].first_two_in_ten;
	}
	qsort(sorted, count, sizeof(*sorted), by_start);
	across.median = repeat_medians(sorted, count, scratch);
	place_stalls(facts, count, &across);
	*ret_across = across;
	return 0;
}
