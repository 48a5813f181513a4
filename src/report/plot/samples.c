/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Every request of a round, once: into the columns and cells of the plots over
 * time, to the marks, and counted by the CPU that answered. About 10 ns a sample,
 * so that ten million are no burden.
 */
#include "report/plot/collect.h"

/* The column at hand: samples come in order of time, so it is seldom another one. */
struct column_at {
	size_t column;
	int64_t from, to;
};

static size_t column_of(const struct plot_grid *grid, struct column_at *at, int64_t x)
{
	if (x < at->from || x >= at->to) {
		at->column = plot_grid_at(grid, x);
		at->from = (int64_t)at->column * grid->step;
		at->to = at->from + grid->step;
	}
	return at->column;
}

static size_t class_of_cpu(struct target_state *target, int16_t cpu)
{
	if (cpu < 0)
		return PLOT_CLASSES_MAX - 1;
	for (size_t i = 0; i < target->cpu_count; i++)
		if (target->cpus[i] == cpu)
			return i;
	if (target->cpu_count == PLOT_CLASSES_MAX - 1)
		return PLOT_CLASSES_MAX - 1;
	target->cpus[target->cpu_count] = cpu;
	return target->cpu_count++;
}

static int count_class(
	struct target_state *target, size_t class, const int64_t *values_ns, size_t count, struct tare_err *err)
{
	if (!target->scratch[class] && tare_counts_open(&target->scratch[class], err))
		return -1;
	return tare_counts_add(target->scratch[class], values_ns, count, err);
}

/* Values of a block to the counts of the CPUs that answered: stretches of one CPU at once. */
static int count_block(
	const struct placing *placing, const int64_t *values_ns, size_t first, size_t count, struct tare_err *err)
{
	const int16_t *cpus = placing->series->cpu[TARE_CPU_PEER_RX];
	size_t skip = first < placing->input->warmup ? placing->input->warmup - first : 0;
	for (size_t i = skip, end; i < count; i = end) {
		end = count;
		if (cpus)
			for (end = i + 1; end < count && cpus[first + end] == cpus[first + i];)
				end++;
		size_t class = cpus ? class_of_cpu(placing->target, cpus[first + i]) : PLOT_CLASSES_MAX - 1;
		if (count_class(placing->target, class, values_ns + i, end - i, err))
			return -1;
	}
	return 0;
}

static int add_mark(
	const struct placing *placing, enum plot_mark_kind kind, size_t i, int64_t value_ns, struct tare_err *err)
{
	struct target_state *target = placing->target;
	struct plot_time *time = &target->plot.time;
	bool first = kind == PLOT_FIRST;
	time->kinds[kind]++;
	if ((first ? target->firsts_shown : time->mark_count - target->firsts_shown) >= PLOT_MARKS_MAX) {
		time->marks_cut |= !first;
		return 0;
	}
	void *marks = time->marks;
	if (plot_grow(&marks, time->mark_count, &target->mark_room, sizeof(*time->marks), err))
		return -1;
	time->marks = marks;
	const struct tare_cause *cause = placing_cause(placing, i);
	const struct tare_series *series = placing->series;
	time->marks[time->mark_count++] = (struct plot_mark){.x = placing_x(placing, i),
		.value_ns = value_ns,
		.sequence = i,
		.round = placing->round,
		.reason = series->reason ? series->reason[i] : 0,
		.kind = (uint8_t)kind,
		.word = cause && !cause->weak ? (uint8_t)cause->word
			: cause               ? TARE_WORD_UNEXPLAINED
					      : TARE_WORD_NONE,
		.peer = cause && cause->peer,
		.injected = cause && cause->injected};
	target->firsts_shown += first;
	return 0;
}

static void raise_stall(const struct placing *placing, struct plot_column *column, size_t i, int64_t value_ns)
{
	column->stalls++;
	if (column->stall_ns != TARE_NO_TIME && value_ns <= column->stall_ns)
		return;
	const struct tare_cause *cause = placing_cause(placing, i);
	column->stall_ns = value_ns;
	column->stall_x = placing_x(placing, i);
	column->stall_sequence = i;
	column->stall_round = placing->round;
	column->stall_word = cause ? (uint8_t)cause->word : TARE_WORD_NONE;
}

static int add_missing(const struct placing *placing, size_t i, size_t column, struct tare_err *err)
{
	struct plot_target *plot = &placing->target->plot;
	enum plot_mark_kind kind;
	switch (placing->series->fate[i]) {
	case TARE_LOST:
		kind = PLOT_LOST;
		break;
	case TARE_ERROR:
		kind = PLOT_ERROR;
		break;
	case TARE_NOT_SENT:
		kind = PLOT_NOT_SENT;
		break;
	default:
		return 0;
	}
	if (kind != PLOT_NOT_SENT) {
		plot->unanswered++;
		plot->time.grid.column[column].unanswered++;
	}
	return add_mark(placing, kind, i, TARE_NO_TIME, err);
}

struct walk {
	struct column_at time, heat;
	int64_t limit_ns;
};

static int add_value(const struct placing *placing, struct walk *walk, size_t i, int64_t at_ns, int64_t value_ns,
	struct tare_err *err)
{
	struct plot_target *plot = &placing->target->plot;
	struct plot_time *time = &plot->time;
	int64_t x = placing_x_at(placing, i, placing->timed ? at_ns : TARE_NO_TIME);
	size_t column = column_of(&time->grid, &walk->time, x);
	bool heated = placing->heat_shift_ns != INT64_MIN && at_ns != TARE_NO_TIME;
	size_t heat = heated ? column_of(&plot->heat, &walk->heat, at_ns + placing->heat_shift_ns) : 0;
	if (value_ns == TARE_NO_TIME) {
		if (heated && (placing->series->fate[i] == TARE_LOST || placing->series->fate[i] == TARE_ERROR))
			plot->heat.column[heat].unanswered++;
		return add_missing(placing, i, column, err);
	}
	bool above = walk->limit_ns != TARE_NO_TIME && value_ns > walk->limit_ns, warm = i < placing->input->warmup;
	plot->values++;
	if (value_ns > plot->max_ns)
		plot->max_ns = value_ns;
	plot_column_add(&time->grid.column[column], x, value_ns);
	if (heated) {
		plot_column_add(&plot->heat.column[heat], at_ns + placing->heat_shift_ns, value_ns);
		plot_grid_count(&plot->heat, heat, value_ns);
		if (above && !warm)
			raise_stall(placing, &plot->heat.column[heat], i, value_ns);
	}
	if (warm && i < 2)
		return add_mark(placing, PLOT_FIRST, i, value_ns, err);
	if (above && warm)
		return add_mark(placing, PLOT_WARMUP, i, value_ns, err);
	if (above) {
		raise_stall(placing, &time->grid.column[column], i, value_ns);
		return add_mark(placing, PLOT_STALL, i, value_ns, err);
	}
	plot_grid_count(&time->grid, column, value_ns);
	return 0;
}

int collect_samples(const struct placing *placing, struct tare_err *err)
{
	int64_t values_ns[COLLECT_BLOCK], times_ns[COLLECT_BLOCK];
	const struct tare_series *series = placing->series;
	enum tare_span span = placing->target->plot.span;
	struct walk walk = {.limit_ns = placing->input->row->stall_limit_ns};
	for (size_t class = 0; class < PLOT_CLASSES_MAX; class ++)
		if (placing->target->scratch[class])
			tare_counts_clear(placing->target->scratch[class]);
	for (size_t first = 0; first < series->count; first += COLLECT_BLOCK) {
		size_t count = series->count - first < COLLECT_BLOCK ? series->count - first : COLLECT_BLOCK;
		tare_span_values(series, span, first, count, values_ns);
		tare_stage_times(series, placing->stage, first, count, times_ns);
		if (count_block(placing, values_ns, first, count, err))
			return -1;
		for (size_t i = 0; i < count; i++)
			if (add_value(placing, &walk, first + i, times_ns[i], values_ns[i], err))
				return -1;
	}
	return 0;
}
