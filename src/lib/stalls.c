/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stalls of a round in one pass. Blocks without a value above the lowest limit
 * are passed over by their maximum, so that a quiet round costs a scan of its
 * columns and no more.
 */
#include "tare/stalls.h"

#include <stdio.h>

#include <inttypes.h>
#include <math.h>

#include "base/text.h"
#include "lib/packed.h"
#include "lib/series.h"

static const int64_t ladder_ns[TARE_LADDER_STEPS] = {20000, 50000, 100000, 1000000, 10000000};

/* What the pass remembers between values. */
struct watch {
	const struct tare_series *series;
	const struct tare_stall_rules *rules;
	struct tare_stalls *sum;
	struct tare_stall *list;
	size_t room;
	uint64_t good;            /* good requests since the last stall */
	int64_t start_ns, end_ns; /* of the episode now open; TARE_NO_TIME without times */
	int64_t counted_to_ns;    /* end of the time already in stalled_ns */
};

const char *tare_limit_kind_name(enum tare_limit_kind kind)
{
	static const char *const names[] = {"ratio", "absolute", "calibrated"};
	return (unsigned)kind <= TARE_LIMIT_CALIBRATED ? names[kind] : "unknown";
}

int64_t tare_ladder_ns(size_t step)
{
	return step < TARE_LADDER_STEPS ? ladder_ns[step] : TARE_NO_TIME;
}

static int64_t stage_at(const struct tare_series *series, enum tare_stage stage, size_t i)
{
	return series_stage_at(series, stage, i);
}

static int64_t began_at(const struct tare_series *series, size_t i)
{
	int64_t due = stage_at(series, TARE_STAGE_DUE, i);
	return due != TARE_NO_TIME ? due : stage_at(series, TARE_STAGE_USER_TX, i);
}

/* When the request was over: its receive time, else start and value. */
static int64_t ended_at(const struct tare_series *series, size_t i, int64_t value_ns)
{
	int64_t end = stage_at(series, TARE_STAGE_USER_RX, i), begin = began_at(series, i), sum;
	if (end != TARE_NO_TIME)
		return end;
	return begin == TARE_NO_TIME || __builtin_add_overflow(begin, value_ns, &sum) ? TARE_NO_TIME : sum;
}

static void close_episode(struct watch *watch)
{
	struct tare_stalls *sum = watch->sum;
	int64_t start = watch->start_ns, end = watch->end_ns, length;
	if (start != TARE_NO_TIME && end > start && !__builtin_sub_overflow(end, start, &length)) {
		if (sum->longest_ns == TARE_NO_TIME || length > sum->longest_ns)
			sum->longest_ns = length;
		int64_t from = start > watch->counted_to_ns ? start : watch->counted_to_ns;
		if (end > from && __builtin_add_overflow(sum->stalled_ns, end - from, &sum->stalled_ns))
			sum->stalled_ns = INT64_MAX;
		if (end > watch->counted_to_ns)
			watch->counted_to_ns = end;
	}
	watch->start_ns = watch->end_ns = TARE_NO_TIME;
}

static void list_stall(struct watch *watch, size_t i, int64_t value_ns)
{
	const struct tare_series *series = watch->series;
	if (watch->sum->samples > watch->room)
		return;
	struct tare_stall *stall = &watch->list[watch->sum->samples - 1];
	*stall = (struct tare_stall){
		.sequence = i,
		.episode = (size_t)watch->sum->episodes,
		.at_ns = began_at(series, i),
		.value_ns = value_ns,
		.of_median = NAN,
		.of_p999 = NAN,
		.fate = series->fate[i],
		.flags = series->flags ? series->flags[i] : 0,
	};
	for (int place = 0; place < TARE_CPU_PLACES; place++)
		stall->cpu[place] = series->cpu[place] ? series->cpu[place][i] : TARE_NO_CPU;
}

static void stalled(struct watch *watch, size_t i, int64_t value_ns)
{
	struct tare_stalls *sum = watch->sum;
	if (!sum->episodes || watch->good > watch->rules->gap) {
		if (sum->episodes)
			close_episode(watch);
		sum->episodes++;
		watch->start_ns = began_at(watch->series, i);
	}
	sum->samples++;
	watch->good = 0;
	int64_t end = ended_at(watch->series, i, value_ns);
	if (end > watch->end_ns)
		watch->end_ns = end;
	if (sum->worst_ns == TARE_NO_TIME || value_ns > sum->worst_ns)
		sum->worst_ns = value_ns;
	list_stall(watch, i, value_ns);
}

static void climb(struct tare_stalls *sum, int64_t value_ns)
{
	for (size_t step = 0; step < TARE_LADDER_STEPS && value_ns > ladder_ns[step]; step++)
		sum->ladder[step]++;
}

/* Largest value and number of values observed in a block. */
static int64_t scan_block(const int64_t *values_ns, size_t count, uint64_t *ret_observed)
{
	int64_t most = TARE_NO_TIME;
	uint64_t observed = 0;
	for (size_t i = 0; i < count; i++) {
		most = values_ns[i] > most ? values_ns[i] : most;
		observed += values_ns[i] != TARE_NO_TIME;
	}
	*ret_observed = observed;
	return most;
}

/* Time watched: the kept requests' starts plus one interval, taken from the schedule or from the starts themselves. */
static int64_t exposure_of(const struct tare_series *series, const struct tare_stall_rules *rules)
{
	size_t first = rules->first, last = series->count;
	while (first < last && began_at(series, first) == TARE_NO_TIME)
		first++;
	while (last > first && began_at(series, last - 1) == TARE_NO_TIME)
		last--;
	int64_t span;
	if (last <= first || __builtin_sub_overflow(began_at(series, last - 1), began_at(series, first), &span) ||
		span < 0)
		return 0;
	int64_t interval = rules->interval_ns;
	if (interval <= 0)
		interval = last - first > 1 ? span / (int64_t)(last - first - 1) : 0;
	return __builtin_add_overflow(span, interval, &span) ? 0 : span;
}

void tare_stalls_of(const struct tare_series *series, enum tare_span span, const struct tare_stall_rules *rules,
	struct tare_stalls *ret_stalls, struct tare_stall *ret_list, size_t room)
{
	struct tare_stalls sum = {.limit_ns = rules->limit_ns, .worst_ns = TARE_NO_TIME, .longest_ns = TARE_NO_TIME};
	struct watch watch = {.series = series,
		.rules = rules,
		.sum = &sum,
		.list = ret_list,
		.room = room,
		.start_ns = TARE_NO_TIME,
		.end_ns = TARE_NO_TIME,
		.counted_to_ns = TARE_NO_TIME};
	int64_t scratch_ns[SERIES_BLOCK];
	int64_t limit = rules->limit_ns == TARE_NO_TIME ? INT64_MAX : rules->limit_ns;
	int64_t lowest = limit < ladder_ns[0] ? limit : ladder_ns[0];
	for (size_t at = rules->first; at < series->count; at += SERIES_BLOCK) {
		size_t block = series->count - at < SERIES_BLOCK ? series->count - at : SERIES_BLOCK;
		const int64_t *values_ns = series_block(series, span, at, block, scratch_ns);
		uint64_t observed;
		int64_t most = scan_block(values_ns, block, &observed);
		sum.n += observed;
		if (most <= lowest) {
			watch.good += observed;
			continue;
		}
		for (size_t i = 0; i < block; i++) {
			if (values_ns[i] == TARE_NO_TIME)
				continue;
			climb(&sum, values_ns[i]);
			if (values_ns[i] > limit)
				stalled(&watch, at + i, values_ns[i]);
			else
				watch.good++;
		}
	}
	if (sum.episodes)
		close_episode(&watch);
	sum.exposure_ns = exposure_of(series, rules);
	*ret_stalls = sum;
}

void tare_stalls_compare(struct tare_stall *list, size_t count, int64_t median_ns, int64_t p999_ns)
{
	for (size_t i = 0; i < count; i++) {
		double value = (double)list[i].value_ns;
		list[i].of_median = median_ns > 0 ? value / (double)median_ns : NAN;
		list[i].of_p999 = p999_ns > 0 ? value / (double)p999_ns : NAN;
	}
}

void tare_stalls_add(struct tare_stalls *into, const struct tare_stalls *from)
{
	if (into->limit_ns != from->limit_ns)
		into->limit_ns = TARE_NO_TIME;
	if (from->worst_ns > into->worst_ns)
		into->worst_ns = from->worst_ns;
	if (from->longest_ns > into->longest_ns)
		into->longest_ns = from->longest_ns;
	into->n += from->n;
	into->samples += from->samples;
	into->episodes += from->episodes;
	if (__builtin_add_overflow(into->stalled_ns, from->stalled_ns, &into->stalled_ns))
		into->stalled_ns = INT64_MAX;
	/* Rounds without known times leave the whole without a rate: a rate over part of the rounds would be too high.
	 */
	if (!into->exposure_ns || !from->exposure_ns ||
		__builtin_add_overflow(into->exposure_ns, from->exposure_ns, &into->exposure_ns))
		into->exposure_ns = 0;
	for (size_t step = 0; step < TARE_LADDER_STEPS; step++)
		into->ladder[step] += from->ladder[step];
}

struct tare_stall_rate tare_stalls_rate(const struct tare_stalls *stalls, double level)
{
	if (stalls->exposure_ns <= 0)
		return (struct tare_stall_rate){NAN, NAN, NAN, NAN};
	double hours = (double)stalls->exposure_ns / 3.6e12;
	struct tare_bounds bounds = stalls->episodes ? tare_events_interval(stalls->episodes, level)
						     : (struct tare_bounds){0, tare_no_event_bound(level)};
	return (struct tare_stall_rate){
		.per_hour = (double)stalls->episodes / hours,
		.low = bounds.low / hours,
		.high = bounds.high / hours,
		/* the last episode may outlast the schedule: an answer that came after it */
		.share = fmin(1, (double)stalls->stalled_ns / (double)stalls->exposure_ns),
	};
}

/* About two digits of a share in percent. */
static int share_decimals(double share)
{
	return share >= 0.1 ? 0 : share >= 0.01 ? 1 : share >= 0.001 ? 2 : share >= 0.0001 ? 3 : 4;
}

/* Four digits, never an exponent: "0.3602", "720", "14380". */
static const char *rate_text(double per_hour, char buffer[32])
{
	snprintf(buffer, 32, per_hour >= 10000 ? "%.0f" : "%.4g", per_hour);
	return buffer;
}

void tare_stalls_sentence(const struct tare_stalls *stalls, char *ret_text, size_t room)
{
	struct text text = {.bytes = ret_text, .room = room};
	struct tare_stall_rate rate = tare_stalls_rate(stalls, 0.95);
	char limit[32] = "its round's limit", longest[32], watched[32], per_hour[32], low[32], high[32];
	if (stalls->limit_ns != TARE_NO_TIME)
		format_duration(stalls->limit_ns, limit, sizeof(limit));
	else if (stalls->samples > 1)
		snprintf(limit, sizeof(limit), "their rounds' limits");
	format_duration(stalls->exposure_ns, watched, sizeof(watched));
	if (!stalls->samples) {
		text_add(&text, "no stall above %s", limit);
		if (stalls->exposure_ns > 0)
			text_add(&text, " in %s, which shows less than %s an hour (95 %%)", watched, rate_text(rate.high, high));
		return;
	}
	text_add(&text, "%" PRIu64 " stall%s above %s in %" PRIu64 " episode%s", stalls->samples,
		stalls->samples == 1 ? "" : "s", limit, stalls->episodes, stalls->episodes == 1 ? "" : "s");
	if (stalls->longest_ns != TARE_NO_TIME) {
		format_duration(stalls->longest_ns, longest, sizeof(longest));
		text_add(&text, ", the longest %s", longest);
	}
	if (stalls->exposure_ns > 0)
		text_add(&text, ", %.*f %% of the time; %s an hour (%s to %s)", share_decimals(rate.share), 100 * rate.share,
			rate_text(rate.per_hour, per_hour), rate_text(rate.low, low), rate_text(rate.high, high));
}
