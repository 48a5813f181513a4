/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From records to models: which target a record belongs to, where its round
 * stands on the axes of time, and who is called for the rest.
 */
#include "report/plot/plot.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/plot/collect.h"
#include "report/stat_insight.h"

static const int64_t assumed_interval_ns = 1000000; /* of a log without times among others that have them */

int plot_grow(void **array, size_t count, size_t *room, size_t size, struct tare_err *err)
{
	if (count < *room)
		return 0;
	size_t wanted = *room ? 2 * *room : 64;
	void *larger = reallocarray(*array, wanted, size);
	if (!larger)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory for a plot");
	*array = larger;
	*room = wanted;
	return 0;
}

const char *plot_part_name(enum plot_part part)
{
	static const char *const names[PLOT_PART_COUNT] = {
#define X(id, text) [PLOT_PART_##id] = text,
		PLOT_PARTS(X)
#undef X
	};
	return part < PLOT_PART_COUNT ? names[part] : "unknown";
}

int plots_open(struct plots **ret_plots, struct tare_err *err)
{
	struct plots *plots = calloc(1, sizeof(*plots));
	if (!plots)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory for plots");
	*ret_plots = plots;
	return 0;
}

static void free_target(struct target_state *target)
{
	if (!target)
		return;
	struct plot_target *plot = &target->plot;
	plot_grid_end(&plot->time.grid);
	plot_grid_end(&plot->heat);
	free(plot->time.marks);
	for (size_t i = 0; i < PLOT_SERIES_MAX; i++) {
		free(plot->curves[i].points);
		free(target->band[i]);
		for (size_t class = 0; class < PLOT_CLASSES_MAX; class ++)
			tare_counts_free(target->leaf[i][class]);
	}
	for (size_t class = 0; class < PLOT_CLASSES_MAX; class ++) {
		tare_counts_free(target->scratch[class]);
		free(plot->histogram.classes[class].bins);
	}
	tare_counts_free(target->whole);
	tare_counts_free(target->response);
	tare_counts_free(target->response_round);
	free(plot->histogram.edges_ns);
	if (plot->lateness)
		free(plot->lateness->cell);
	free(plot->lateness);
	free(plot->rounds);
	free(target->candidates);
	free(target);
}

void plots_free(struct plots *plots)
{
	if (!plots)
		return;
	for (size_t i = 0; i < plots->count; i++)
		free_target(plots->target[i]);
	free(plots);
}

static bool same_text(const char *one, const char *other)
{
	return one == other || (one && other && strcmp(one, other) == 0);
}

static int new_target(const struct plot_input *input, struct target_state **ret_target, struct tare_err *err)
{
	struct target_state *target = calloc(1, sizeof(*target));
	if (!target)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory for plots");
	struct plot_target *plot = &target->plot;
	plot->url = input->record->target->url;
	plot->kind = input->record->target->kind;
	plot->span = input->row->span;
	plot->resolution_ns = 1;
	plot->max_ns = TARE_NO_TIME;
	if (plot_grid_open(&plot->time.grid, PLOT_COLUMNS, err) ||
		plot_grid_open(&plot->heat, PLOT_HEAT_COLUMNS, err) || tare_counts_open(&target->whole, err) ||
		tare_counts_open(&target->response, err) || tare_counts_open(&target->response_round, err)) {
		free_target(target);
		return -1;
	}
	*ret_target = target;
	return 0;
}

/* *ret_target stays NULL when there are too many. Different quantities of one target are not drawn into one plot. */
static int find_target(
	struct plots *plots, const struct plot_input *input, struct target_state **ret_target, struct tare_err *err)
{
	for (size_t i = 0; i < plots->count; i++) {
		const struct plot_target *plot = &plots->target[i]->plot;
		if (same_text(plot->url, input->record->target->url) &&
			same_text(plot->kind, input->record->target->kind) && plot->span == input->row->span) {
			*ret_target = plots->target[i];
			return 0;
		}
	}
	if (plots->count == PLOT_TARGETS_MAX) {
		plots->left_out++;
		return 0;
	}
	if (new_target(input, &plots->target[plots->count], err))
		return -1;
	*ret_target = plots->target[plots->count++];
	return 0;
}

/* The curve of this name; what comes after the last free one goes into that. */
static size_t find_curve(struct plot_target *plot, const struct plot_input *input)
{
	const char *name = input->series ? input->series : "";
	for (size_t i = 0; i < plot->curve_count; i++)
		if (strcmp(plot->curves[i].name, name) == 0)
			return i;
	if (plot->curve_count == PLOT_SERIES_MAX) {
		plot->curves_more++;
		return PLOT_SERIES_MAX - 1;
	}
	plot->curves[plot->curve_count] = (struct plot_curve){.name = name, .arm = input->arm};
	return plot->curve_count++;
}

int64_t placing_x(const struct placing *placing, size_t i)
{
	return placing_x_at(placing, i,
		placing->timed ? tare_stage_at(placing->series, placing->stage, i) : TARE_NO_TIME);
}

int64_t placing_x_at(const struct placing *placing, size_t i, int64_t at_ns)
{
	if (at_ns == TARE_NO_TIME)
		return placing->x_from + (int64_t)i * placing->x_step;
	return placing->x_from + (at_ns - placing->at_first_ns);
}

/* The first and the last time there is; false without any. */
static bool find_ends(const struct placing *placing, int64_t *ret_first, int64_t *ret_last)
{
	int64_t times_ns[COLLECT_BLOCK], first = INT64_MAX, last = INT64_MIN;
	size_t count = placing->series->count;
	for (size_t from = 0; from < count; from += COLLECT_BLOCK) {
		size_t block = count - from < COLLECT_BLOCK ? count - from : COLLECT_BLOCK;
		tare_stage_times(placing->series, placing->stage, from, block, times_ns);
		for (size_t i = 0; i < block; i++) {
			if (times_ns[i] == TARE_NO_TIME)
				continue;
			first = times_ns[i] < first ? times_ns[i] : first;
			last = times_ns[i] > last ? times_ns[i] : last;
		}
	}
	*ret_first = first;
	*ret_last = last;
	return first <= last;
}

/* Sets times and steps; returns the extent of the round in x. */
static int64_t place_in_time(struct placing *placing)
{
	const struct tare_series *series = placing->series;
	struct plot_time *time = &placing->target->plot.time;
	const struct tare_round *round = placing->input->record->round;
	int64_t first, last, interval = round->interval_ns > 0 ? round->interval_ns : 0;
	placing->stage = tare_stage_seen(series, TARE_STAGE_DUE) ? TARE_STAGE_DUE : TARE_STAGE_USER_TX;
	/* Stamps from a file may lie centuries apart; half of what 64 bits hold is no measurement. */
	placing->timed = find_ends(placing, &first, &last) && last / 2 - first / 2 <= INT64_MAX / 8;
	if (!time->end)
		time->by_request = !placing->timed && !interval;
	if (time->by_request)
		placing->timed = false;
	int64_t none = time->by_request ? 1 : assumed_interval_ns;
	placing->at_first_ns = placing->timed ? first : 0;
	placing->x_step = interval && !time->by_request ? interval : none;
	placing->x_from = time->end;
	int64_t by_place = 0;
	if (__builtin_mul_overflow((int64_t)series->count, placing->x_step, &by_place) || by_place > INT64_MAX / 8)
		placing->x_step = by_place = (int64_t)series->count;
	if (!placing->timed)
		return by_place ? by_place : 1;
	int64_t extent = last - first + (interval && interval < INT64_MAX / 8 ? interval : 1);
	return extent > by_place ? extent : by_place;
}

/* The heat map lies on the wall clock, of which an imported log may know nothing. */
static void place_in_heat(struct placing *placing, int64_t extent)
{
	struct plot_target *plot = &placing->target->plot;
	int64_t epoch_ns = placing->input->record->run->epoch_real_ns, from_ns, to_ns;
	placing->heat_shift_ns = INT64_MIN;
	if (!placing->timed || epoch_ns <= 0 || __builtin_add_overflow(epoch_ns, placing->at_first_ns, &from_ns) ||
		__builtin_add_overflow(from_ns, extent, &to_ns) || from_ns <= 0)
		return;
	if (plot->heat_from_real_ns == plot->heat_to_real_ns) {
		plot->heat_from_real_ns = from_ns;
		plot->heat_to_real_ns = to_ns;
	} else if (from_ns < plot->heat_from_real_ns) {
		plot->heat_from_real_ns -= plot_grid_shift(&plot->heat, plot->heat_from_real_ns - from_ns);
	}
	plot->heat_to_real_ns = to_ns > plot->heat_to_real_ns ? to_ns : plot->heat_to_real_ns;
	plot_grid_reach(&plot->heat, to_ns - plot->heat_from_real_ns);
	placing->heat_shift_ns = epoch_ns - plot->heat_from_real_ns;
}

static int by_sequence(const void *one, const void *other)
{
	const struct tare_cause *left = one, *right = other;
	return (left->sequence > right->sequence) - (left->sequence < right->sequence);
}

static int take_causes(struct placing *placing, struct tare_err *err)
{
	const struct plot_input *input = placing->input;
	if (!input->cause_count)
		return 0;
	placing->causes = calloc(input->cause_count, sizeof(*placing->causes));
	if (!placing->causes)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory for %zu causes", input->cause_count);
	for (size_t i = 0; i < input->cause_count; i++)
		if (!input->causes[i].control && input->causes[i].target == input->record->target->position)
			placing->causes[placing->cause_count++] = input->causes[i];
	qsort(placing->causes, placing->cause_count, sizeof(*placing->causes), by_sequence);
	return 0;
}

const struct tare_cause *placing_cause(const struct placing *placing, size_t i)
{
	const struct tare_cause wanted = {.sequence = (int64_t)i};
	if (!placing->cause_count)
		return NULL;
	return bsearch(&wanted, placing->causes, placing->cause_count, sizeof(wanted), by_sequence);
}

static int new_round(struct placing *placing, int64_t extent, struct tare_err *err)
{
	struct target_state *target = placing->target;
	struct plot_target *plot = &target->plot;
	const struct plot_input *input = placing->input;
	const struct tare_record *record = input->record;
	void *rounds = plot->rounds;
	if (plot_grow(&rounds, plot->round_count, &target->round_room, sizeof(*plot->rounds), err))
		return -1;
	plot->rounds = rounds;
	placing->round = (uint32_t)plot->round_count;
	plot->rounds[plot->round_count++] = (struct plot_round){.file = input->file,
		.label = record->round->label ? record->round->label : "",
		.run = record->run->id,
		.number = record->round->number,
		.started_real_ns = record->run->epoch_real_ns > 0 && placing->timed
					   ? record->run->epoch_real_ns + placing->at_first_ns
					   : TARE_NO_TIME,
		.interval_ns = record->round->interval_ns,
		.arm = input->arm,
		.series = placing->curve,
		.sent = input->row->sent,
		.n = input->row->n,
		.lost = input->row->lost,
		.stalls = input->row->stalls,
		.stall_limit_ns = input->row->stall_limit_ns,
		.first_ns = input->row->first_ns,
		.min_ns = input->row->min_ns,
		.max_ns = input->row->max_ns,
		.binned = record->bins != NULL,
		.x_from = plot->time.end,
		.x_to = plot->time.end + extent};
	plot->binned |= record->bins != NULL;
	plot->requests += record->series.count;
	if (record->resolution_ns > plot->resolution_ns)
		plot->resolution_ns = record->resolution_ns;
	return 0;
}

static void take_changes(const struct placing *placing)
{
	const struct stat_insight *insight = placing->input->insight;
	struct plot_time *time = &placing->target->plot.time;
	for (size_t i = 0; insight && i < insight->change_count; i++) {
		const struct tare_change *change = &insight->change[i];
		if (time->change_count == PLOT_CHANGES_MAX || change->at >= placing->series->count) {
			time->changes_more++;
			continue;
		}
		time->changes[time->change_count++] = (struct plot_change){.x = placing_x(placing, change->at),
			.before_ns = change->before_ns,
			.after_ns = change->after_ns};
	}
}

int plots_add(struct plots *plots, const struct plot_input *input, struct tare_err *err)
{
	struct target_state *target = NULL;
	if (find_target(plots, input, &target, err))
		return -1;
	if (!target)
		return 0;
	struct plot_target *plot = &target->plot;
	struct placing placing = {.target = target, .input = input, .series = &input->record->series};
	int64_t extent = placing.series->count ? place_in_time(&placing) : 0;
	/* A file may claim any times: the axis ends where it would run over, and what is beyond is not drawn. */
	if (extent > INT64_MAX / 4 - plot->time.end)
		return tare_fail(
			err, TARE_E_FORMAT, "the rounds of '%.80s' together are longer than 73 years", plot->url);
	placing.curve = find_curve(plot, input);
	if (placing.series->count) {
		plot_grid_reach(&plot->time.grid, plot->time.end + extent - 1);
		place_in_heat(&placing, extent);
	}
	if (new_round(&placing, extent, err) || take_causes(&placing, err))
		return -1;
	int failed = collect_samples(&placing, err) || collect_distribution(&placing, err) ||
		     collect_lateness(&placing, err) || collect_breakdowns(&placing, err);
	take_changes(&placing);
	free(placing.causes);
	plot->time.end += extent;
	return failed ? -1 : 0;
}

int plots_finish(struct plots *plots, struct tare_err *err)
{
	for (size_t i = 0; i < plots->count; i++) {
		struct target_state *target = plots->target[i];
		if (finish_curves(target, err) || finish_histogram(target, err) || finish_breakdowns(target, err))
			return -1;
	}
	return 0;
}

size_t plots_targets(const struct plots *plots, const struct plot_target *const **ret_targets)
{
	struct plots *own = (struct plots *)(uintptr_t)plots;
	for (size_t i = 0; i < plots->count; i++)
		own->seen[i] = &plots->target[i]->plot;
	*ret_targets = plots->seen;
	return plots->count;
}

uint64_t plots_targets_left_out(const struct plots *plots)
{
	return plots->left_out;
}
