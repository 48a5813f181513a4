/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Insights of a series. Each becomes a sentence or nothing: an analysis that
 * finds nothing prints nothing, and logs of a few coarse values are not analysed
 * beyond what they can bear.
 */
#include "report/stat_insight.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "tare/change.h"
#include "tare/dependence.h"
#include "tare/warmup.h"

static size_t warmup_of(const struct tare_record *record, const struct tare_rules *rules)
{
	uint64_t warmup = rules->warmup < 0 ? record->round->warmup : (uint64_t)rules->warmup;
	return warmup < record->series.count ? (size_t)warmup : record->series.count;
}

/* A percentile of the rules by its text, TARE_NO_TIME where it is not among them. */
static int64_t figure_of(const struct tare_row *row, const struct tare_rules *rules, uint64_t num, uint64_t den)
{
	for (uint32_t i = 0; i < rules->percentiles; i++)
		if (rules->percentile[i].num == num && rules->percentile[i].den == den)
			return row->ranked[i].value_ns;
	return TARE_NO_TIME;
}

static int take_stalls(struct stat_insight *insight, const struct tare_record *record, const struct tare_row *row,
	const struct tare_rules *rules, bool list, struct tare_err *err)
{
	struct tare_stall_rules stall_rules = {.limit_ns = row->stall_limit_ns,
		.gap = 1,
		.first = warmup_of(record, rules),
		.interval_ns = record->round->interval_ns};
	insight->stalls.limit_ns = TARE_NO_TIME;
	if (row->stall_limit_ns == TARE_NO_TIME)
		return 0;
	size_t room = list && row->stalls < STALLS_LISTED_MOST ? (size_t)row->stalls : list ? STALLS_LISTED_MOST : 0;
	if (room && !(insight->list = calloc(room, sizeof(*insight->list))))
		return tare_fail(err, TARE_E_SYSTEM, "out of memory for %zu stalls", room);
	tare_stalls_of(&record->series, row->span, &stall_rules, &insight->stalls, insight->list, room);
	insight->list_count = insight->stalls.samples < room ? (size_t)insight->stalls.samples : room;
	tare_stalls_compare(insight->list, insight->list_count, figure_of(row, rules, 1, 2), figure_of(row, rules, 999, 1000));
	return 0;
}

static void add_change(struct text *text, const struct tare_change *change, size_t first)
{
	char before[32], after[32];
	format_duration(change->before_ns, before, sizeof(before));
	format_duration(change->after_ns, after, sizeof(after));
	text_add(text, "%s from request %zu on %s instead of %s", text->used ? "," : "the median changed in the round:",
		change->at + first, after, before);
}

static int take_changes(struct stat_insight *insight, const int64_t *values_ns, size_t count, size_t first,
	int64_t resolution_ns, struct tare_err *err)
{
	struct tare_change changes[INSIGHT_CHANGES_KEPT];
	struct tare_change_rules rules = {.resolution_ns = resolution_ns};
	size_t found;
	struct text text = TEXT_IN(insight->changes);
	if (tare_changes_of(values_ns, count, &rules, changes, INSIGHT_CHANGES_KEPT, &found, err))
		return -1;
	size_t kept = found < INSIGHT_CHANGES_KEPT ? found : INSIGHT_CHANGES_KEPT;
	if (kept && !(insight->change = calloc(kept, sizeof(*insight->change))))
		return tare_fail(err, TARE_E_SYSTEM, "out of memory for %zu changes", kept);
	for (size_t i = 0; i < kept; i++) {
		insight->change[i] = changes[i];
		insight->change[i].at += first;
	}
	insight->change_count = kept;
	for (size_t i = 0; i < found && i < INSIGHT_CHANGES; i++)
		add_change(&text, &changes[i], first);
	if (found > INSIGHT_CHANGES)
		text_add(&text, " and %zu more times", found - INSIGHT_CHANGES);
	return 0;
}

/* A transient that the warm-up does not cover, by the rule of MSER on block medians. */
static void take_warmup(struct stat_insight *insight, const int64_t *values_ns, size_t count)
{
	enum { BLOCK = 50, BLOCKS = 200 };
	double medians[BLOCKS];
	size_t blocks = count / BLOCK < BLOCKS ? count / BLOCK : BLOCKS;
	if (blocks < 10)
		return;
	for (size_t i = 0; i < blocks; i++) {
		int64_t sorted_ns[BLOCK];
		size_t n = 0;
		for (size_t j = 0; j < BLOCK; j++) {
			int64_t value_ns = values_ns[i * BLOCK + j];
			size_t at = n;
			if (value_ns == TARE_NO_TIME)
				continue;
			for (; at > 0 && sorted_ns[at - 1] > value_ns; at--)
				sorted_ns[at] = sorted_ns[at - 1];
			sorted_ns[at] = value_ns;
			n++;
		}
		if (n < BLOCK / 2)
			return;
		medians[i] = (double)sorted_ns[n / 2];
	}
	size_t cut = tare_warmup_suggest(medians, blocks, NULL);
	/* at the edge of what the rule may cut, and for differences below 5 %, it says nothing */
	if (cut == 0 || cut >= blocks / 2 || fabs(medians[0] - medians[blocks - 1]) < 0.05 * medians[blocks - 1])
		return;
	struct text text = TEXT_IN(insight->warmup);
	text_add(&text, "the round settles after about %zu requests: --warmup %zu would leave the rest alike", cut * BLOCK,
		cut * BLOCK);
}

/* Of the highest percentile that is shown with ten or more behind it. */
static int take_dependence(struct stat_insight *insight, const int64_t *values_ns, size_t count,
	const struct tare_row *row, const struct tare_rules *rules, struct tare_err *err)
{
	int64_t limit_ns = TARE_NO_TIME;
	struct tare_dependence dependence;
	for (uint32_t i = 0; i < rules->percentiles; i++)
		if (row->ranked[i].grade >= TARE_GRADE_THIN && row->ranked[i].value_ns != TARE_NO_TIME)
			limit_ns = row->ranked[i].value_ns;
	if (limit_ns == TARE_NO_TIME)
		return 0;
	if (tare_dependence_of(values_ns, count, limit_ns, &dependence, err))
		return -1;
	/* said when it changes the grade, or leaves less than half */
	if (dependence.grade < tare_grade_of(dependence.above) || dependence.effective_above < 0.5 * (double)dependence.above)
		tare_dependence_sentence(&dependence, limit_ns, insight->dependence, sizeof(insight->dependence));
	return 0;
}

/* What looks at the values in the order of the requests; they are let go before anything else takes memory. */
static int take_of_values(struct stat_insight *insight, const struct tare_record *record, const struct tare_row *row,
	const struct tare_rules *rules, size_t first, struct tare_err *err)
{
	size_t count = record->series.count - first;
	AUTO_FREE int64_t *values_ns = reallocarray(NULL, count ? count : 1, sizeof(*values_ns));
	if (!values_ns)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory for %zu values", count);
	tare_span_values(&record->series, row->span, first, count, values_ns);
	if (take_changes(insight, values_ns, count, first, record->resolution_ns, err) ||
		take_dependence(insight, values_ns, count, row, rules, err))
		return -1;
	take_warmup(insight, values_ns, count);
	return 0;
}

int stat_insight_take(struct stat_insight *ret_insight, const char *file, const struct tare_record *record,
	const struct tare_row *row, const struct tare_rules *rules, bool list, struct tare_err *err)
{
	const struct tare_series *series = &record->series;
	size_t first = warmup_of(record, rules);
	struct stat_insight insight = {.span = row->span};
	struct tare_modes modes;
	if (take_stalls(&insight, record, row, rules, list, err) ||
		take_of_values(&insight, record, row, rules, first, err) ||
		tare_modes_of_series(series, row->span, first, record->resolution_ns, &modes, err) ||
		tare_round_facts_of(record, file, row->span, first, row->stall_limit_ns, &insight.facts, err)) {
		stat_insight_end(&insight);
		return -1;
	}
	tare_modes_sentence(&modes, insight.modes, sizeof(insight.modes));
	/* a switch of modes is the change: once is enough */
	if (modes.by != TARE_MODES_NONE && modes.order == TARE_ORDER_SWITCHED)
		insight.changes[0] = insight.warmup[0] = '\0';
	if (insight.changes[0])
		insight.warmup[0] = '\0';
	insight.facts_known = series->count > 0; /* bins tell nothing of single requests */
	*ret_insight = insight;
	return 0;
}

void stat_insight_end(struct stat_insight *insight)
{
	free(insight->list);
	free(insight->change);
	insight->list = NULL;
	insight->change = NULL;
}

static int say_warmup(FILE *out, int width, const struct tare_round_facts *facts, size_t count, struct tare_err *err)
{
	enum { EARLY = 10 };
	struct tare_warmup_check check;
	char line[INSIGHT_TEXT];
	AUTO_FREE struct tare_slowest *slowest = calloc(count, sizeof(*slowest));
	if (!slowest)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory for %zu rounds", count);
	for (size_t i = 0; i < count; i++)
		slowest[i] = facts[i].slowest;
	if (tare_warmup_check(slowest, count, EARLY, &check, err))
		return -1;
	tare_warmup_sentence(&check, EARLY, line, sizeof(line));
	if (check.too_short)
		report_sentence(out, width, "%s.", line);
	return 0;
}

/* Drift of the median over the session, told when it is more than chance. */
static int say_drift(FILE *out, int width, const struct tare_round_facts *facts, size_t count, struct tare_err *err)
{
	struct tare_drift drift;
	AUTO_FREE int64_t *at_ns = calloc(count, sizeof(*at_ns));
	AUTO_FREE double *median = calloc(count, sizeof(*median));
	if (!at_ns || !median)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory for %zu rounds", count);
	for (size_t i = 0; i < count; i++) {
		at_ns[i] = facts[i].started_real_ns;
		median[i] = facts[i].median_ns == TARE_NO_TIME ? NAN : (double)facts[i].median_ns;
	}
	if (tare_drift_of(at_ns, median, count, &drift, err))
		return -1;
	if (drift.rounds < 5 || !(drift.chance < 0.05) || !isfinite(drift.per_hour))
		return 0;
	char slope[32];
	format_duration((int64_t)llround(drift.per_hour), slope, sizeof(slope));
	report_sentence(out, width, "p50 drifts by %s an hour, %+.2g %% over these rounds (chance %.2g).", slope,
		100 * drift.share, drift.chance);
	return 0;
}

int stat_across(FILE *out, int width, const struct tare_round_facts *facts, size_t count, struct tare_err *err)
{
	struct tare_across across;
	char line[INSIGHT_TEXT];
	if (count < 2)
		return 0;
	if (tare_across_of(facts, count, &across, err))
		return -1;
	for (int which = 0; which < TARE_ACROSS_COUNT; which++) {
		tare_across_sentence(&across, (enum tare_across_sentence)which, line, sizeof(line));
		if (line[0])
			report_sentence(out, width, "%s.", line);
	}
	return say_warmup(out, width, facts, count, err) || say_drift(out, width, facts, count, err) ? -1 : 0;
}
