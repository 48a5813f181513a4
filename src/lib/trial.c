/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From records to trials. Each series goes through the statistics of stat.h
 * alone; what stays of it is some hundred bytes a span. The stall limit is frozen
 * by the first trial: a limit that follows each round's own median hides stalls
 * in the slower arm.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "tare/modes.h"
#include "tare/verdict.h"

struct tare_trials {
	struct tare_rules rules;
	uint32_t spans;
	struct tare_trial *list;
	size_t count, room;
	int64_t stall_limit_ns;
	enum tare_quantity quantity; /* of all; set by the first */
};

static int add_percentile(struct tare_rules *rules, const struct tare_percentile *p, struct tare_err *err)
{
	for (uint32_t i = 0; i < rules->percentiles; i++)
		if (rules->percentile[i].num == p->num && rules->percentile[i].den == p->den)
			return 0;
	if (rules->percentiles == TARE_PERCENTILES_MAX)
		return tare_fail(err, TARE_E_USAGE, "more than %d percentiles", TARE_PERCENTILES_MAX);
	rules->percentile[rules->percentiles++] = *p;
	return 0;
}

int tare_trials_open(const struct tare_rules *rules, const struct tare_figure *figures, size_t figure_count,
	struct tare_trials **ret_trials, struct tare_err *err)
{
	struct tare_trials *trials = calloc(1, sizeof *trials);
	if (!trials)
		return tare_fail_errno(err, ENOMEM, "cannot compare rounds");
	trials->rules = *rules;
	trials->spans = 1u << TARE_SPAN_RTT;
	trials->stall_limit_ns = rules->stall_limit_ns ? rules->stall_limit_ns : TARE_NO_TIME;
	for (size_t i = 0; i < figure_count; i++) {
		trials->spans |= 1u << figures[i].span;
		if (figures[i].kind == TARE_FIGURE_PERCENTILE &&
			add_percentile(&trials->rules, &figures[i].percentile, err) < 0) {
			free(trials);
			return -1;
		}
	}
	*ret_trials = trials;
	return 0;
}

static void trial_end(struct tare_trial *trial)
{
	free((void *)trial->rows);
	free((void *)trial->stalls);
	free((void *)trial->file);
	free((void *)trial->label);
	free((void *)trial->url);
	free((void *)trial->kind);
	free((void *)trial->host);
}

void tare_trials_free(struct tare_trials *trials)
{
	if (!trials)
		return;
	for (size_t i = 0; i < trials->count; i++)
		trial_end(&trials->list[i]);
	free(trials->list);
	free(trials);
}

static struct tare_stalls stalls_of(const struct tare_trials *trials, const struct tare_record *record,
	const struct tare_trial *trial, enum tare_span span)
{
	struct tare_stall_rules rules = {
		.limit_ns = trials->stall_limit_ns,
		.gap = 1,
		.first = trial->warmup,
		.interval_ns = record->round->interval_ns,
	};
	struct tare_stalls stalls = {.limit_ns = TARE_NO_TIME};
	if (trials->stall_limit_ns != TARE_NO_TIME)
		tare_stalls_of(&record->series, span, &rules, &stalls, NULL, 0);
	return stalls;
}

/* Rows of the spans, their percentiles and stalls. */
static int take_rows(struct tare_trials *trials, const struct tare_record *record, struct tare_trial *trial,
	struct tare_err *err)
{
	struct tare_stat *stat = NULL;
	const struct tare_row *rows;
	size_t count;
	if (tare_stat_open(&trials->rules, trials->spans, &stat, err) < 0)
		return -1;
	if (tare_stat_add(stat, NULL, record, err) < 0 || tare_stat_rows(stat, &rows, &count, err) < 0) {
		tare_stat_free(stat);
		return -1;
	}
	struct tare_row *kept = calloc(count ? count : 1, sizeof *kept);
	struct tare_stalls *stalls = calloc(count ? count : 1, sizeof *stalls);
	trial->rows = kept;
	trial->stalls = stalls;
	for (size_t i = 0; kept && stalls && i < count; i++) {
		kept[i] = rows[i];
		kept[i].label = kept[i].target = kept[i].kind = kept[i].file = NULL;
		if (trials->stall_limit_ns == TARE_NO_TIME)
			trials->stall_limit_ns = rows[i].stall_limit_ns;
		stalls[i] = stalls_of(trials, record, trial, rows[i].span);
		kept[i].stall_limit_ns = trials->stall_limit_ns;
		kept[i].stalls = stalls[i].samples;
		trial->row_count = i + 1;
	}
	tare_stat_free(stat);
	return kept && stalls ? 0 : tare_fail_errno(err, ENOMEM, "cannot compare rounds");
}

static int take_slowest(const struct tare_record *record, struct tare_trial *trial, struct tare_err *err)
{
	const struct tare_series *series = &record->series;
	if (trial->row_count == 0 || series->count <= trial->warmup)
		return 0;
	size_t count = series->count - trial->warmup;
	AUTO_FREE int64_t *values_ns = calloc(count, sizeof *values_ns);
	if (!values_ns)
		return tare_fail_errno(err, ENOMEM, "cannot compare rounds");
	tare_span_values(series, trial->rows[0].span, trial->warmup, count, values_ns);
	trial->slowest = tare_slowest_of(values_ns, count);
	return 0;
}

/* The CPUs with at least 1 % of the requests, the largest share first. */
static void take_cpus(const struct tare_record *record, struct tare_trial *trial)
{
	enum { CPUS = 8192 };
	static _Thread_local uint32_t seen[CPUS];
	const int16_t *of = record->series.cpu[TARE_CPU_PEER_TX];
	if (!of)
		of = record->series.cpu[TARE_CPU_PEER_RX];
	trial->peer_cpus = of != NULL;
	if (!of)
		of = record->series.cpu[TARE_CPU_TX];
	if (!of)
		return;
	uint64_t all = 0;
	memset(seen, 0, sizeof seen);
	for (size_t i = trial->warmup; i < record->series.count; i++)
		if (of[i] >= 0 && of[i] < CPUS) {
			seen[of[i]]++;
			all++;
		}
	while (all && trial->cpus < TARE_TRIAL_CPUS) {
		int largest = 0;
		for (int cpu = 1; cpu < CPUS; cpu++)
			if (seen[cpu] > seen[largest])
				largest = cpu;
		double share = (double)seen[largest] / (double)all;
		if (share < 0.01)
			return;
		trial->on[trial->cpus].cpu = (int16_t)largest;
		trial->on[trial->cpus++].share = share;
		seen[largest] = 0;
	}
}

/* Only modes that no CPU explains: those that one does are taken out by the CPU. */
static int take_modes(const struct tare_record *record, struct tare_trial *trial, struct tare_err *err)
{
	struct tare_modes modes;
	if (trial->row_count == 0)
		return 0;
	if (tare_modes_of_series(&record->series, trial->rows[0].span, trial->warmup, record->resolution_ns, &modes, err) < 0)
		return -1;
	if (modes.by == TARE_MODES_SHAPE && modes.count > 1)
		trial->slow_share = modes.mode[modes.count - 1].share;
	return 0;
}

static int fill(struct tare_trials *trials, const char *file, const struct tare_record *record, struct tare_trial *trial,
	struct tare_err *err)
{
	const struct tare_round *round = record->round;
	trial->warmup = trials->rules.warmup >= 0 ? (uint32_t)trials->rules.warmup : round->warmup;
	trial->interval_ns = round->interval_ns;
	trial->payload_bytes = record->target->payload_bytes;
	trial->run = (uint32_t)record->run->id;
	trial->round = round->number;
	trial->rate_asked = round->interval_ns > 0 ? 1e9 / (double)round->interval_ns : NAN;
	trial->slow_share = NAN;
	trial->at_ns = TARE_NO_TIME;
	if (record->run->epoch_real_ns && round->first_due_ns != TARE_NO_TIME)
		trial->at_ns = record->run->epoch_real_ns + round->first_due_ns;
	trial->file = file ? strdup(file) : NULL;
	trial->label = strdup(round->label ? round->label : "");
	trial->url = strdup(record->target->url ? record->target->url : "");
	trial->kind = strdup(record->target->kind ? record->target->kind : "");
	trial->host = strdup(record->run->host ? record->run->host : "");
	if (!trial->label || !trial->url || !trial->kind || !trial->host || (file && !trial->file))
		return tare_fail_errno(err, ENOMEM, "cannot compare rounds");
	if (take_rows(trials, record, trial, err) < 0 || take_slowest(record, trial, err) < 0)
		return -1;
	take_cpus(record, trial);
	return take_modes(record, trial, err);
}

int tare_trials_add(struct tare_trials *trials, unsigned char arm, const char *file, const struct tare_record *record,
	double held, struct tare_err *err)
{
	if (record->bins)
		return tare_fail(err, TARE_E_USAGE,
			"'%s' counted in bins: a range of each figure is no value, and rounds of it are not compared", file);
	if (trials->count && trials->quantity != record->origin.quantity)
		return tare_fail(err, TARE_E_USAGE,
			"'%s' holds %s, the rounds before hold %s: different quantities are not compared", file,
			tare_quantity_name(record->origin.quantity), tare_quantity_name(trials->quantity));
	trials->quantity = record->origin.quantity;
	if (trials->count == trials->room) {
		size_t room = trials->room ? 2 * trials->room : 32;
		struct tare_trial *list = reallocarray(trials->list, room, sizeof *list);
		if (!list)
			return tare_fail_errno(err, ENOMEM, "cannot compare rounds");
		trials->list = list;
		trials->room = room;
	}
	struct tare_trial *trial = &trials->list[trials->count];
	*trial = (struct tare_trial){.arm = arm, .rate_held = held};
	if (fill(trials, file, record, trial, err) < 0) {
		trial_end(trial);
		return -1;
	}
	trials->count++;
	return 0;
}

size_t tare_trials_list(const struct tare_trials *trials, const struct tare_trial **ret_list)
{
	*ret_list = trials->list;
	return trials->count;
}

int64_t tare_trials_stall_limit_ns(const struct tare_trials *trials)
{
	return trials->stall_limit_ns;
}
