/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where the time of single requests went: those at p50, p99 and p99.9 of the
 * response, and the slowest. Each bar is one real request, whose parts add up to
 * its response. Over several rounds the percentile is that of all, and the
 * request shown is the nearest among those at each round's own percentiles.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/plot/collect.h"

enum { WANTED = 3, CANDIDATES_MOST = 3 * 4096 };
static const struct {
	const char *name;
	uint64_t num, den;
} wanted[WANTED] = {{"p50", 1, 2}, {"p99", 99, 100}, {"p99.9", 999, 1000}};

/* Takes `span` out of what is left when it was stamped and fits in there. */
static void take_part(const struct tare_series *series, enum tare_span span, size_t i, enum plot_part part,
	struct plot_breakdown *bar, int64_t *left_ns)
{
	int64_t ns = tare_span_of(series, span, i);
	if (ns == TARE_NO_TIME || ns < 0 || ns > *left_ns) {
		bar->folded |= (uint8_t)(1u << part);
		return;
	}
	bar->part_ns[part] = ns;
	*left_ns -= ns;
}

static bool break_down(const struct placing *placing, size_t i, struct plot_breakdown *ret_bar)
{
	const struct tare_series *series = placing->series;
	struct plot_breakdown bar = {.sequence = i, .round = placing->round};
	int64_t parts_ns[4];
	int folded = tare_response_parts(series, i, parts_ns);
	if (folded < 0)
		return false;
	bar.response_ns = tare_span_of(series, TARE_SPAN_RESPONSE, i);
	bar.part_ns[PLOT_PART_LATE] = parts_ns[0];
	bar.part_ns[PLOT_PART_TX] = parts_ns[1];
	bar.part_ns[PLOT_PART_WAKE] = parts_ns[3];
	bar.folded = (uint8_t)((folded >> 1 & 1) << PLOT_PART_TX | (folded >> 3 & 1) << PLOT_PART_WAKE);
	int64_t left_ns = parts_ns[2];
	take_part(series, TARE_SPAN_TX_NIC, i, PLOT_PART_TX_NIC, &bar, &left_ns);
	take_part(series, TARE_SPAN_RX_NIC, i, PLOT_PART_RX_NIC, &bar, &left_ns);
	enum tare_span peer =
		tare_span_of(series, TARE_SPAN_HOST, i) != TARE_NO_TIME ? TARE_SPAN_HOST : TARE_SPAN_RESIDENCE;
	take_part(series, peer, i, PLOT_PART_RESIDENCE, &bar, &left_ns);
	bar.part_ns[PLOT_PART_WITHIN] = left_ns;
	const struct tare_cause *cause = placing_cause(placing, i);
	bar.word = cause ? (uint8_t)cause->word : TARE_WORD_NONE;
	*ret_bar = bar;
	return true;
}

static void keep_slowest(const struct placing *placing, size_t i, int64_t response_ns)
{
	struct target_state *target = placing->target;
	struct plot_breakdown bar;
	size_t at = target->slowest_count;
	if (at == PLOT_SLOWEST && response_ns <= target->slowest[at - 1].response_ns)
		return;
	if (!break_down(placing, i, &bar))
		return;
	at -= at == PLOT_SLOWEST;
	for (; at > 0 && target->slowest[at - 1].response_ns < response_ns; at--)
		target->slowest[at] = target->slowest[at - 1];
	target->slowest[at] = bar;
	target->slowest_count += target->slowest_count < PLOT_SLOWEST;
}

/* The first request with each of the values wanted. */
static int keep_candidates(const struct placing *placing, const int64_t *want_ns, struct tare_err *err)
{
	struct target_state *target = placing->target;
	const struct tare_series *series = placing->series;
	int64_t values_ns[COLLECT_BLOCK];
	bool found[WANTED];
	size_t open = 0;
	for (size_t k = 0; k < WANTED; k++)
		open += !(found[k] = want_ns[k] == TARE_NO_TIME);
	for (size_t first = placing->input->warmup; first < series->count && open; first += COLLECT_BLOCK) {
		size_t count = series->count - first < COLLECT_BLOCK ? series->count - first : COLLECT_BLOCK;
		tare_span_values(series, TARE_SPAN_RESPONSE, first, count, values_ns);
		for (size_t i = 0; i < count; i++) {
			for (size_t k = 0; k < WANTED; k++) {
				struct plot_breakdown bar;
				if (found[k] || values_ns[i] != want_ns[k] || !break_down(placing, first + i, &bar))
					continue;
				void *list = target->candidates;
				if (plot_grow(
					    &list, target->candidate_count, &target->candidate_room, sizeof(bar), err))
					return -1;
				target->candidates = list;
				target->candidates[target->candidate_count++] = bar;
				found[k] = true;
				open--;
			}
		}
	}
	return 0;
}

int collect_breakdowns(const struct placing *placing, struct tare_err *err)
{
	struct target_state *target = placing->target;
	const struct tare_series *series = placing->series;
	int64_t values_ns[COLLECT_BLOCK], want_ns[WANTED];
	if (!tare_span_exists(series, TARE_SPAN_RESPONSE) || !tare_stage_seen(series, TARE_STAGE_USER_TX))
		return 0;
	tare_counts_clear(target->response_round);
	for (size_t first = placing->input->warmup; first < series->count; first += COLLECT_BLOCK) {
		size_t count = series->count - first < COLLECT_BLOCK ? series->count - first : COLLECT_BLOCK;
		tare_span_values(series, TARE_SPAN_RESPONSE, first, count, values_ns);
		if (tare_counts_add(target->response_round, values_ns, count, err))
			return -1;
		int64_t least_ns = target->slowest_count == PLOT_SLOWEST ? target->slowest[PLOT_SLOWEST - 1].response_ns
									 : TARE_NO_TIME;
		for (size_t i = 0; i < count; i++) {
			if (values_ns[i] == TARE_NO_TIME || values_ns[i] <= least_ns)
				continue;
			keep_slowest(placing, first + i, values_ns[i]);
			if (target->slowest_count == PLOT_SLOWEST)
				least_ns = target->slowest[PLOT_SLOWEST - 1].response_ns;
		}
	}
	if (tare_counts_merge(target->response, target->response_round, err))
		return -1;
	for (size_t k = 0; k < WANTED; k++)
		want_ns[k] = counts_quantile(target->response_round, wanted[k].num, wanted[k].den);
	return target->candidate_count < CANDIDATES_MOST ? keep_candidates(placing, want_ns, err) : 0;
}

static uint64_t distance(int64_t one, int64_t other)
{
	return one > other ? (uint64_t)one - (uint64_t)other : (uint64_t)other - (uint64_t)one;
}

int finish_breakdowns(struct target_state *target, struct tare_err *err)
{
	struct plot_target *plot = &target->plot;
	(void)err;
	for (size_t k = 0; k < WANTED; k++) {
		int64_t value_ns = counts_quantile(target->response, wanted[k].num, wanted[k].den);
		const struct plot_breakdown *nearest = NULL;
		for (size_t i = 0; value_ns != TARE_NO_TIME && i < target->candidate_count; i++)
			if (!nearest || distance(target->candidates[i].response_ns, value_ns) <
						distance(nearest->response_ns, value_ns))
				nearest = &target->candidates[i];
		if (!nearest)
			continue;
		struct plot_breakdown *bar = &plot->breakdowns[plot->breakdown_count++];
		*bar = *nearest;
		struct text name = TEXT_IN(bar->name);
		text_add(&name, "%s", wanted[k].name);
	}
	for (size_t i = 0; i < target->slowest_count; i++) {
		struct plot_breakdown *bar = &plot->breakdowns[plot->breakdown_count++];
		*bar = target->slowest[i];
		struct text name = TEXT_IN(bar->name);
		text_add(&name, "slowest %zu", i + 1);
	}
	return 0;
}
