/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What every plot promises: each planted stall and loss has a mark, the plotted
 * maximum is the maximum, and what is drawn adds up to what was measured.
 */
#include <stdlib.h>

#include "report/plot/plot.h"
#include "tap.h"

/* A record of n requests with a given rtt, everything answered. */
struct made {
	size_t n;
	int64_t *due_ns, *sent_ns, *came_ns;
	uint8_t *fate;
	int16_t *cpu;
	struct tare_run run;
	struct tare_target target;
	struct tare_round round;
	struct tare_record record;
	struct tare_row row;
};

static int64_t usual(size_t i)
{
	return 4000 + (int64_t)(i * 37 % 150) * 5;
}

static void set_rtt(struct made *made, size_t i, int64_t rtt_ns)
{
	made->came_ns[i] = made->sent_ns[i] + rtt_ns;
}

static void make(struct made *made, size_t n, uint32_t number)
{
	*made = (struct made){.n = n};
	made->due_ns = calloc(n, sizeof(int64_t));
	made->sent_ns = calloc(n, sizeof(int64_t));
	made->came_ns = calloc(n, sizeof(int64_t));
	made->fate = calloc(n, 1);
	made->cpu = calloc(n, sizeof(int16_t));
	made->run = (struct tare_run){.id = 1, .epoch_real_ns = 1700000000000000000};
	made->target = (struct tare_target){.url = "udp://10.0.0.2:7", .kind = "udp"};
	made->round = (struct tare_round){.number = number, .label = "", .interval_ns = 1000000, .warmup = 2};
	for (size_t i = 0; i < n; i++) {
		made->due_ns[i] = (int64_t)number * 1000000000000 + (int64_t)i * 1000000;
		made->sent_ns[i] = made->due_ns[i] + 40;
		set_rtt(made, i, usual(i));
		made->fate[i] = TARE_ANSWERED;
		made->cpu[i] = 25;
	}
	made->record = (struct tare_record){
		.run = &made->run, .target = &made->target, .round = &made->round, .resolution_ns = 1};
	made->record.series = (struct tare_series){.count = n, .fate = made->fate};
	made->record.series.at_ns[TARE_STAGE_DUE] = made->due_ns;
	made->record.series.at_ns[TARE_STAGE_USER_TX] = made->sent_ns;
	made->record.series.at_ns[TARE_STAGE_USER_RX] = made->came_ns;
	made->record.series.cpu[TARE_CPU_PEER_RX] = made->cpu;
	made->row = (struct tare_row){.span = TARE_SPAN_RTT, .stall_limit_ns = 43700, .n = n - 2, .sent = n};
}

static void unmake(struct made *made)
{
	free(made->due_ns);
	free(made->sent_ns);
	free(made->came_ns);
	free(made->fate);
	free(made->cpu);
}

static struct plot_input input_of(const struct made *made)
{
	return (struct plot_input){.file = "f", .record = &made->record, .row = &made->row, .warmup = 2};
}

static const struct plot_target *only(const struct plots *plots)
{
	const struct plot_target *const *targets;
	return plots_targets(plots, &targets) == 1 ? targets[0] : NULL;
}

/* cells + stalls + marks of the warm-up = values; columns hold them all; the maximum is exact. */
static void adds_up(const struct plot_target *plot, uint64_t values, int64_t max_ns, const char *what)
{
	const struct plot_time *time = &plot->time;
	uint64_t cells = 0, n = 0;
	int64_t highest = TARE_NO_TIME;
	for (size_t i = 0; i < time->grid.columns; i++) {
		n += time->grid.column[i].n;
		if (time->grid.column[i].n && time->grid.column[i].max_ns > highest)
			highest = time->grid.column[i].max_ns;
		for (size_t row = 0; row < PLOT_ROWS; row++)
			cells += plot_grid_cell(&time->grid, i, row);
	}
	char line[200];
	snprintf(line, sizeof(line), "%s: cells and marks add up to the values", what);
	IS_I64(cells + time->kinds[PLOT_STALL] + time->kinds[PLOT_FIRST] + time->kinds[PLOT_WARMUP], values, line);
	snprintf(line, sizeof(line), "%s: columns hold them all", what);
	IS_I64(n, values, line);
	snprintf(line, sizeof(line), "%s: the plotted maximum is the maximum", what);
	IS_I64(highest, max_ns, line);
}

static void planted(void)
{
	enum { N = 10000 };
	static const size_t at[] = {2, 50, 51, 52, 5000, 9998, 9999};
	const size_t stalls = sizeof(at) / sizeof(at[0]);
	struct made made;
	struct plots *plots = NULL;
	struct tare_err err = {0};
	make(&made, N, 1);
	set_rtt(&made, 0, 90000);
	for (size_t i = 0; i < stalls; i++)
		set_rtt(&made, at[i], 100000 + (int64_t)i);
	made.fate[70] = TARE_LOST;
	made.fate[71] = TARE_ERROR;
	made.fate[72] = TARE_NOT_SENT;
	for (size_t i = 70; i < 73; i++)
		made.came_ns[i] = TARE_NO_TIME;
	const struct tare_cause causes[] = {{.sequence = 50, .word = TARE_WORD_PREEMPTED, .peer = true},
		{.sequence = 9999, .word = TARE_WORD_MIGRATED},
		{.sequence = 5000, .word = TARE_WORD_IDLE, .control = true},
		{.sequence = 51, .word = TARE_WORD_IDLE, .target = 1}};
	struct plot_input input = input_of(&made);
	input.causes = causes;
	input.cause_count = 4;
	if (!OK(plots_open(&plots, &err) == 0 && plots_add(plots, &input, &err) == 0 && plots_finish(plots, &err) == 0,
		    "a record becomes plots: %s", err.text))
		return;
	const struct plot_target *plot = only(plots);
	size_t found = 0, words = 0;
	for (size_t k = 0; k < plot->time.mark_count; k++) {
		const struct plot_mark *mark = &plot->time.marks[k];
		for (size_t i = 0; i < stalls; i++)
			found += mark->kind == PLOT_STALL && mark->sequence == at[i] &&
				 mark->value_ns == 100000 + (int64_t)i && mark->x == (int64_t)at[i] * 1000000;
		words += mark->kind == PLOT_STALL && mark->word == (mark->sequence == 50 ? TARE_WORD_PREEMPTED
									   : mark->sequence == 9999 ? TARE_WORD_MIGRATED
												    : TARE_WORD_NONE);
	}
	IS_I64(found, stalls, "each planted stall is a mark, at its time and value");
	IS_I64(words, stalls, "with its own cause, not that of a control or of another target");
	IS_I64(plot->time.kinds[PLOT_LOST] + plot->time.kinds[PLOT_ERROR] + plot->time.kinds[PLOT_NOT_SENT], 3,
		"each loss, error and unsent request too");
	IS_I64(plot->time.kinds[PLOT_FIRST], 2, "the first two are marks of their own");
	IS_I64(plot->unanswered, 2, "two without an answer");
	adds_up(plot, N - 3, 100006, "planted");
	IS_I64(plot->curves[0].max_ns, 100006, "the curve ends in the maximum");
	IS_I64(plot->curves[0].points[plot->curves[0].point_count - 1].value_ns, 100006, "at its last point");
	bool solid = true;
	for (size_t i = 0; i < plot->curves[0].point_count; i++)
		solid &= plot->curves[0].points[i].solid == (plot->curves[0].points[i].behind >= 10);
	OK(solid, "a curve is solid while ten lie behind");
	uint64_t binned = plot->histogram.below + plot->histogram.above;
	for (size_t i = 0; i < plot->histogram.bin_count; i++)
		binned += plot->histogram.classes[0].bins[i];
	IS_I64(binned, N - 5, "bins and what lies outside add up to the values after the warm-up");
	plots_free(plots);
	unmake(&made);
}

static void many_stalls(void)
{
	enum { N = 20000 };
	struct made made;
	struct plots *plots = NULL;
	struct tare_err err = {0};
	make(&made, N, 1);
	for (size_t i = 2; i < N; i += 2)
		set_rtt(&made, i, 100000 + (int64_t)i);
	struct plot_input input = input_of(&made);
	if (!OK(plots_open(&plots, &err) == 0 && plots_add(plots, &input, &err) == 0 && plots_finish(plots, &err) == 0,
		    "a record of stalls becomes plots: %s", err.text))
		return;
	const struct plot_target *plot = only(plots);
	uint64_t stalls = 0;
	bool shown = true;
	for (size_t i = 0; i < plot->time.grid.columns; i++) {
		const struct plot_column *column = &plot->time.grid.column[i];
		stalls += column->stalls;
		shown &= !column->stalls || column->stall_ns == column->max_ns;
	}
	OK(plot->time.marks_cut, "more stalls than marks: it is said");
	IS_I64(stalls, N / 2 - 1, "columns know how many");
	OK(shown, "and each keeps its highest");
	adds_up(plot, N, 100000 + N - 2, "many");
	plots_free(plots);
	unmake(&made);
}

static void one_in_ten_million(void)
{
	enum { N = 10000000, AT = 7654321 };
	struct made made;
	struct plots *plots = NULL;
	struct tare_err err = {0};
	make(&made, N, 1);
	set_rtt(&made, AT, 1548860);
	struct plot_input input = input_of(&made);
	if (!OK(plots_open(&plots, &err) == 0 && plots_add(plots, &input, &err) == 0 && plots_finish(plots, &err) == 0,
		    "ten million samples become plots: %s", err.text))
		return;
	const struct plot_target *plot = only(plots);
	size_t found = 0;
	for (size_t k = 0; k < plot->time.mark_count; k++)
		found += plot->time.marks[k].kind == PLOT_STALL && plot->time.marks[k].sequence == AT &&
			 plot->time.marks[k].value_ns == 1548860;
	IS_I64(found, 1, "one stall in ten million is a mark");
	IS_I64(plot->time.kinds[PLOT_STALL], 1, "and the only one");
	adds_up(plot, N, 1548860, "ten million");
	plots_free(plots);
	unmake(&made);
}

/* Rounds stand side by side, whatever lies between them in time; A and B are two curves. */
static void rounds(void)
{
	enum { N = 500 };
	static const char order[] = "ABBA";
	struct made made[4];
	struct plots *plots = NULL;
	struct tare_err err = {0};
	bool added = plots_open(&plots, &err) == 0;
	for (uint32_t k = 0; k < 4; k++) {
		make(&made[k], N, 4 - k);
		for (size_t i = 0; i < N; i++) {
			made[k].cpu[i] = i < N / 2 ? 19 : 25;
			set_rtt(&made[k], i, usual(i) + (order[k] == 'B' ? 1000 : 0) + (i < N / 2 ? 3000 : 0));
		}
		struct plot_input input = input_of(&made[k]);
		input.series = order[k] == 'A' ? "A" : "B";
		input.arm = order[k];
		added = added && plots_add(plots, &input, &err) == 0;
	}
	if (!OK(added && plots_finish(plots, &err) == 0, "rounds become plots: %s", err.text))
		return;
	const struct plot_target *plot = only(plots);
	IS_I64(plot->round_count, 4, "four rounds");
	bool beside = true;
	for (size_t k = 0; k < 4; k++)
		beside &= plot->rounds[k].x_from == (int64_t)k * N * 1000000 &&
			  plot->rounds[k].x_to == (int64_t)(k + 1) * N * 1000000;
	OK(beside, "side by side, pauses left out");
	IS_I64(plot->curve_count, 2, "two curves");
	OK(plot->curves[1].arm == 'B' && plot->curves[1].n == 2 * (N - 2), "the second is B's, of both its rounds");
	OK(plot->curves[0].points[0].low_ns != TARE_NO_TIME &&
			plot->curves[0].points[0].low_ns <= plot->curves[0].points[0].high_ns,
		"with a band");
	OK(plot->histogram.stack == PLOT_STACK_CPU && plot->histogram.class_count == 2,
		"the histogram is stacked by CPU");
	IS_STR(plot->histogram.classes[0].name, "peer CPU 19", "named");
	OK(plot->histogram.modes.count >= 2, "two modes are found");
	adds_up(plot, 4 * N, 4000 + 745 + 1000 + 3000, "rounds");
	uint64_t heat = 0;
	for (size_t i = 0; i < plot->heat.columns; i++)
		heat += plot->heat.column[i].n;
	IS_I64(heat, 4 * N, "the map by the clock holds them all, though they came from last to first");
	OK(plot->heat_to_real_ns - plot->heat_from_real_ns >= INT64_C(3000000000000), "over its whole time");
	plots_free(plots);
	for (size_t k = 0; k < 4; k++)
		unmake(&made[k]);
}

static void parts(void)
{
	enum { N = 2000 };
	struct made made;
	struct plots *plots = NULL;
	struct tare_err err = {0};
	make(&made, N, 1);
	for (size_t i = 100; i < 115; i++)
		made.sent_ns[i] += 1000 * (int64_t)i, set_rtt(&made, i, 5000);
	struct plot_input input = input_of(&made);
	if (!OK(plots_open(&plots, &err) == 0 && plots_add(plots, &input, &err) == 0 && plots_finish(plots, &err) == 0,
		    "a record with late requests becomes plots: %s", err.text))
		return;
	const struct plot_target *plot = only(plots);
	bool sums = true;
	for (size_t i = 0; i < plot->breakdown_count; i++) {
		int64_t sum = 0;
		for (size_t part = 0; part < PLOT_PART_COUNT; part++)
			sum += plot->breakdowns[i].part_ns[part];
		sums &= sum == plot->breakdowns[i].response_ns;
	}
	OK(sums, "parts of every bar add up to its response");
	IS_I64(plot->breakdown_count, 3 + PLOT_SLOWEST, "p50, p99, p99.9 and the slowest");
	IS_STR(plot->breakdowns[1].name, "p99", "by name");
	IS_I64(plot->breakdowns[3].sequence, 114, "the slowest first");
	IS_I64(plot->breakdowns[3].part_ns[PLOT_PART_LATE], 114040, "and its lateness is what it was");
	IS_I64(plot->lateness->n, N - 2, "lateness against rtt holds every request after the warm-up");
	plots_free(plots);
	unmake(&made);
}

/* Times, values and bounds that only a damaged or hostile file claims. */
static void absurd(void)
{
	struct made made;
	struct plots *plots = NULL;
	struct tare_err err = {0};
	make(&made, 10, 1);
	made.due_ns[3] = INT64_MAX;
	made.due_ns[4] = INT64_MIN + 1;
	made.sent_ns[5] = INT64_MIN + 5;
	made.came_ns[5] = INT64_MAX;
	made.round.interval_ns = INT64_MAX;
	const struct tare_range range = {.low_ns = INT64_MIN + 1, .high_ns = INT64_MAX, .count = UINT64_MAX / 2};
	const struct tare_bins bins = {.count = 1, .range = &range};
	made.record.bins = &bins;
	struct plot_input input = input_of(&made);
	OK(plots_open(&plots, &err) == 0, "open");
	int status = plots_add(plots, &input, &err);
	OK(status == 0 || err.text[0], "absurd times are drawn or refused in words");
	OK(status != 0 || plots_finish(plots, &err) == 0, "and finished");
	plots_free(plots);
	unmake(&made);
}

int main(void)
{
	planted();
	many_stalls();
	rounds();
	parts();
	absurd();
	one_in_ten_million();
	return tap_done();
}
