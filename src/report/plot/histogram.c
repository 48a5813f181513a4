/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The histogram of what most values are: bins from the 0.1th percentile to the
 * 99.5th, of equal width, or of a 32nd of an octave where that range is more than
 * twentyfold. The rest is counted and told, not squeezed in: the tail has the
 * percentile curve. Values are stacked by the CPU that answered where there are
 * two, else by label.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "report/plot/collect.h"

enum { BINS_WANTED = 90, MODE_VALUES = 50000, LOG_BINS_AN_OCTAVE = 32, BINS_MOST = 1024 };

/* 1, 2 or 5 times a power of ten, at least `least`, and a multiple of the resolution. */
static int64_t round_step(int64_t least, int64_t resolution_ns)
{
	static const int64_t steps[] = {1, 2, 5};
	int64_t step = 1;
	for (int64_t power = 1;; power *= 10) {
		for (size_t i = 0; i < 3; i++) {
			step = steps[i] * power;
			if (step >= least && step % resolution_ns == 0)
				return step;
		}
		if (power > INT64_MAX / 100)
			return (least / resolution_ns + 1) * resolution_ns;
	}
}

static void equal_edges(struct plot_histogram *histogram, int64_t low_ns, int64_t high_ns, int64_t resolution_ns)
{
	int64_t step = round_step((high_ns - low_ns) / BINS_WANTED + 1, resolution_ns > 0 ? resolution_ns : 1);
	int64_t edge = low_ns / step * step - (low_ns % step < 0 ? step : 0);
	size_t count = 0;
	for (; edge <= high_ns && count < BINS_MOST; edge += step)
		histogram->edges_ns[count++] = edge;
	histogram->edges_ns[count] = edge;
	histogram->bin_count = count;
}

static void log_edges(struct plot_histogram *histogram, int64_t low_ns, int64_t high_ns)
{
	size_t count = 0;
	double step = exp2(1.0 / LOG_BINS_AN_OCTAVE), edge = (double)low_ns;
	int64_t last = low_ns - 1;
	histogram->log = true;
	for (; last <= high_ns && count < BINS_MOST; edge *= step) {
		int64_t next = llround(edge) > last ? llround(edge) : last + 1;
		histogram->edges_ns[count++] = last = next;
	}
	histogram->bin_count = count ? count - 1 : 0;
}

static void fill(const struct plot_histogram *histogram, const struct tare_counts *counts, uint64_t *bins,
	uint64_t *below, uint64_t *above)
{
	struct tare_counts_cursor cursor = tare_counts_walk(counts);
	struct tare_bin value;
	size_t bin = 0;
	while (tare_counts_next(&cursor, &value)) {
		while (bin < histogram->bin_count && value.value_ns >= histogram->edges_ns[bin + 1])
			bin++;
		if (value.value_ns < histogram->edges_ns[0])
			*below += value.count;
		else if (bin == histogram->bin_count)
			*above += value.count;
		else
			bins[bin] += value.count;
	}
}

static double mean_of(const struct tare_counts *counts)
{
	struct tare_counts_cursor cursor = tare_counts_walk(counts);
	struct tare_bin value;
	long double sum = 0;
	while (tare_counts_next(&cursor, &value))
		sum += (long double)value.value_ns * (long double)value.count;
	return (double)(sum / (long double)tare_counts_n(counts));
}

/* Modes by shape, of evenly spaced ranks: their order in time is not known here and not asked for. */
static int find_modes(
	const struct tare_counts *counts, int64_t resolution_ns, struct plot_histogram *histogram, struct tare_err *err)
{
	uint64_t n = tare_counts_n(counts);
	size_t taken = n < MODE_VALUES ? (size_t)n : MODE_VALUES;
	AUTO_FREE uint64_t *ranks = calloc(taken + 1, sizeof(*ranks));
	AUTO_FREE int64_t *values_ns = calloc(taken + 1, sizeof(*values_ns));
	if (!ranks || !values_ns)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory for a histogram");
	for (size_t i = 0; i < taken; i++)
		ranks[i] = 1 + (uint64_t)(((double)i + 0.5) * (double)n / (double)taken);
	for (size_t i = 0; i < taken; i++)
		ranks[i] = ranks[i] > n ? n : ranks[i];
	tare_counts_ranks(counts, ranks, taken, values_ns);
	if (tare_modes_of(values_ns, taken, NULL, 0, resolution_ns, &histogram->modes, err))
		return -1;
	histogram->mean_ns = mean_of(counts);
	for (size_t i = 0; i + 1 < histogram->modes.count; i++)
		histogram->mean_in_gap |= histogram->mean_ns > (double)histogram->modes.mode[i].to_ns &&
					  histogram->mean_ns < (double)histogram->modes.mode[i + 1].from_ns;
	histogram->mean_in_gap |= histogram->modes.count > 1 && histogram->modes.gap_below < histogram->modes.count;
	return 0;
}

/* Sum of a row or column of leaves into `into`. */
static int gather(
	const struct target_state *target, size_t which, bool by_curve, struct tare_counts *into, struct tare_err *err)
{
	tare_counts_clear(into);
	for (size_t other = 0; other < (by_curve ? PLOT_CLASSES_MAX : PLOT_SERIES_MAX); other++) {
		const struct tare_counts *leaf = by_curve ? target->leaf[which][other] : target->leaf[other][which];
		if (leaf && tare_counts_merge(into, leaf, err))
			return -1;
	}
	return 0;
}

static void name_class(const struct target_state *target, size_t which, struct plot_class *class)
{
	const struct plot_histogram *histogram = &target->plot.histogram;
	if (histogram->stack == PLOT_STACK_NONE)
		class->name[0] = '\0';
	else if (histogram->stack == PLOT_STACK_LABEL)
		snprintf(class->name, sizeof(class->name), "%s", target->plot.curves[which].name);
	else if (which < target->cpu_count)
		snprintf(class->name, sizeof(class->name), "peer CPU %d", target->cpus[which]);
	else
		snprintf(class->name, sizeof(class->name), "%s",
			target->cpu_count == PLOT_CLASSES_MAX - 1 ? "other CPUs" : "CPU not told");
}

static int add_class(struct target_state *target, size_t which, struct tare_counts *counts, struct tare_err *err)
{
	struct plot_histogram *histogram = &target->plot.histogram;
	struct plot_class *class = &histogram->classes[histogram->class_count];
	if (!tare_counts_n(counts))
		return 0;
	class->bins = calloc(histogram->bin_count + 1, sizeof(*class->bins));
	if (!class->bins)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory for a histogram");
	histogram->class_count++;
	name_class(target, which, class);
	class->n = tare_counts_n(counts);
	class->median_ns = counts_quantile(counts, 1, 2);
	fill(histogram, counts, class->bins, &histogram->below, &histogram->above);
	return 0;
}

/* By CPU when at least two of them have one value in a hundred each. */
static enum plot_stack stack_of(const struct target_state *target, uint64_t n)
{
	size_t cpus = 0;
	for (size_t class = 0; class < target->cpu_count; class ++) {
		uint64_t of_cpu = 0;
		for (size_t curve = 0; curve < PLOT_SERIES_MAX; curve++)
			of_cpu += target->leaf[curve][class] ? tare_counts_n(target->leaf[curve][class]) : 0;
		cpus += of_cpu >= n / 100 && of_cpu > 0;
	}
	return cpus > 1 ? PLOT_STACK_CPU : target->plot.curve_count > 1 ? PLOT_STACK_LABEL : PLOT_STACK_NONE;
}

static int set_edges(
	struct plot_histogram *histogram, const struct tare_counts *all, int64_t resolution_ns, struct tare_err *err)
{
	int64_t low_ns = counts_quantile(all, 1, 1000), high_ns = counts_quantile(all, 995, 1000);
	low_ns = low_ns == TARE_NO_TIME ? tare_counts_at(all, 1) : low_ns;
	high_ns = high_ns == TARE_NO_TIME ? tare_counts_at(all, tare_counts_n(all)) : high_ns;
	/* Bounds that a file may claim: no arithmetic here runs over. */
	low_ns = low_ns < -(INT64_MAX / 4) ? -(INT64_MAX / 4) : low_ns;
	high_ns = high_ns > INT64_MAX / 4 ? INT64_MAX / 4 : high_ns;
	histogram->edges_ns = calloc(BINS_MOST + 2, sizeof(*histogram->edges_ns));
	if (!histogram->edges_ns)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory for a histogram");
	if (low_ns > 0 && high_ns / 20 > low_ns)
		log_edges(histogram, low_ns, high_ns);
	else
		equal_edges(histogram, low_ns, high_ns, resolution_ns);
	return 0;
}

int finish_histogram(struct target_state *target, struct tare_err *err)
{
	struct plot_histogram *histogram = &target->plot.histogram;
	struct tare_counts *all = target->whole, *part = target->response_round;
	tare_counts_clear(all);
	for (size_t curve = 0; curve < PLOT_SERIES_MAX; curve++) {
		if (gather(target, curve, true, part, err) || tare_counts_merge(all, part, err))
			return -1;
	}
	histogram->n = tare_counts_n(all);
	histogram->modes.by = TARE_MODES_NONE;
	if (!histogram->n)
		return 0;
	histogram->stack = stack_of(target, histogram->n);
	if (set_edges(histogram, all, target->plot.resolution_ns, err) ||
		find_modes(all, target->plot.resolution_ns, histogram, err))
		return -1;
	if (histogram->stack == PLOT_STACK_NONE)
		return add_class(target, 0, all, err);
	bool by_curve = histogram->stack == PLOT_STACK_LABEL;
	for (size_t which = 0; which < (by_curve ? PLOT_SERIES_MAX : PLOT_CLASSES_MAX); which++) {
		if (gather(target, which, by_curve, part, err) || add_class(target, which, part, err))
			return -1;
	}
	return 0;
}
