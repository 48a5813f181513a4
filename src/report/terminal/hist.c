/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How often which value: a line a step, its count beside it, so that the lines can
 * be added up. Anything above zero has a sliver at least. Parts of a bar (CPUs,
 * labels) are told apart by what they are filled with.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "report/report.h"
#include "report/terminal/private.h"

enum { STEPS_MOST = 20, LABEL = 20, COUNT_ROOM = 22 };

struct step {
	int64_t from_ns, to_ns;
	uint64_t n, of_class[PLOT_CLASSES_MAX];
};

/* Neighbouring bins join until there are few enough. */
static size_t take_steps(const struct plot_histogram *histogram, struct step *steps)
{
	size_t count = 0, each = (histogram->bin_count + STEPS_MOST - 1) / STEPS_MOST;
	for (size_t bin = 0; bin < histogram->bin_count; bin++) {
		struct step *step = &steps[count ? count - 1 : 0];
		if (bin % each == 0) {
			step = &steps[count++];
			*step = (struct step){.from_ns = histogram->edges_ns[bin]};
		}
		step->to_ns = histogram->edges_ns[bin + 1];
		for (size_t class = 0; class < histogram->class_count; class ++) {
			step->of_class[class] += histogram->classes[class].bins[bin];
			step->n += histogram->classes[class].bins[bin];
		}
	}
	return count;
}

static const char *fill_of(const struct terminal *terminal, size_t class)
{
	static const char *const blocks[] = {"█", "▒", "░", "▓"}, *const ascii[] = {"#", "=", "+", "%"};
	return terminal->style == TERMINAL_ASCII ? ascii[class % 4] : blocks[class % 4];
}

/* The bar of one step; `most` fills `room` columns. Returns the columns it took. */
static size_t put_bar(FILE *out, const struct terminal *terminal, const struct step *step, size_t classes, uint64_t most,
	size_t room)
{
	static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
	static const enum ink inks[] = {INK_PLAIN, INK_SECOND, INK_THIRD, INK_FIRST};
	uint64_t sum = 0;
	size_t used = 0;
	for (size_t class = 0; class < classes; class ++) {
		if (!step->of_class[class])
			continue;
		sum += step->of_class[class];
		size_t end = (size_t)((double)sum / (double)most * (double)room + (classes > 1 ? 0.5 : 0));
		ink_set(out, terminal->colour && class > 0, inks[class % 4]);
		for (; used < end; used++)
			fputs(fill_of(terminal, class), out);
		ink_set(out, terminal->colour && class > 0, INK_PLAIN);
	}
	size_t rest = (size_t)(((double)sum / (double)most * (double)room - (double)used) * 8);
	if (terminal->style == TERMINAL_ASCII || classes > 1) {
		if (sum == 0 || used)
			return used;
		fputc('|', out);
		return 1;
	}
	if (sum && !used && !rest)
		rest = 1;
	if (rest == 0 || rest > 7)
		return used;
	fputs(eighths[rest], out);
	return used + 1;
}

static void put_step(FILE *out, const struct terminal *terminal, const struct plot_histogram *histogram,
	const struct step *step, const struct scale *scale, uint64_t most, size_t room)
{
	char from[48], to[48];
	scale_format(scale, step->from_ns, 1, from, sizeof(from));
	scale_format(scale, step->to_ns, 1, to, sizeof(to));
	fprintf(out, "%8s – %8s %s", from, to, terminal->style == TERMINAL_ASCII ? "|" : "│");
	size_t used = put_bar(out, terminal, step, histogram->class_count, most, room);
	fprintf(out, "%*s%" PRIu64, (int)(room - used) + 1, "", step->n);
	for (size_t i = 0; i < histogram->modes.count && histogram->modes.by != TARE_MODES_NONE; i++)
		if (histogram->modes.count > 1 && histogram->modes.mode[i].median_ns >= step->from_ns && histogram->modes.mode[i].median_ns < step->to_ns)
			fputs(" mode", out);
	if (histogram->mean_ns >= (double)step->from_ns && histogram->mean_ns < (double)step->to_ns)
		fputs(" mean", out);
	fputc('\n', out);
}

static void put_beyond(FILE *out, const struct terminal *terminal, const char *word, int64_t edge_ns,
	const struct scale *scale, uint64_t count, size_t room)
{
	char edge[48];
	if (!count)
		return;
	scale_format(scale, edge_ns, 1, edge, sizeof(edge));
	fprintf(out, "%8s   %8s %s%*s%" PRIu64 "\n", word, edge, terminal->style == TERMINAL_ASCII ? "|" : "│", (int)room + 1, "",
		count);
}

static void put_legend(FILE *out, const struct terminal *terminal, const struct plot_target *target)
{
	const struct plot_histogram *histogram = &target->histogram;
	char line[900], mean[32];
	struct text text = TEXT_IN(line);
	for (size_t i = 0; i < histogram->class_count && histogram->class_count > 1; i++) {
		char median[32];
		format_duration(histogram->classes[i].median_ns, median, sizeof(median));
		text_add(&text, "%s%s %s: %" PRIu64 ", median %s", i ? "; " : "", fill_of(terminal, i),
			histogram->classes[i].name, histogram->classes[i].n, median);
	}
	if (text.used)
		report_sentence(out, terminal->width, "%s.", line);
	format_duration((int64_t)llround(histogram->mean_ns), mean, sizeof(mean));
	report_sentence(out, terminal->width, "%" PRIu64 " values behind the warm-up%s.", histogram->n,
		histogram->log ? "; steps grow with the value" : "");
	if (histogram->mean_in_gap)
		report_sentence(out, terminal->width, "the mean of %s lies between modes, where hardly any request was.", mean);
}

/* A unit in which neighbouring steps do not look the same. */
static const struct scale *scale_of(const struct step *steps, size_t count, int64_t resolution_ns)
{
	const struct scale *scale = scale_for(steps[0].from_ns > 0 ? steps[0].from_ns : steps[count - 1].to_ns, resolution_ns);
	int64_t step_ns = steps[0].to_ns - steps[0].from_ns;
	while (scale->ns > 1) {
		int64_t digit_ns = scale->ns;
		for (int i = 0; i < scale->decimals; i++)
			digit_ns /= 10;
		if (step_ns >= digit_ns)
			break;
		/* the largest figure that the next finer unit is taken for */
		scale = scale_for(scale->ns == 1000 ? 999 : scale->ns == 1000000 ? 9999999 : 9999999999, 1);
	}
	return scale;
}

int draw_hist(FILE *out, const struct terminal *terminal, const struct plot_target *target, struct tare_err *err)
{
	const struct plot_histogram *histogram = &target->histogram;
	AUTO_FREE struct step *steps = calloc(STEPS_MOST + 1, sizeof(*steps));
	size_t room = (size_t)terminal->width > LABEL + 1 + COUNT_ROOM + 4 ? (size_t)terminal->width - LABEL - 1 - COUNT_ROOM : 4;
	uint64_t most = 1;
	if (!steps)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory for a plot");
	if (!histogram->bin_count) {
		report_sentence(out, terminal->width, "%s: no value behind the warm-up, there is no histogram.", target->url);
		return 0;
	}
	size_t count = take_steps(histogram, steps);
	for (size_t i = 0; i < count; i++)
		most = steps[i].n > most ? steps[i].n : most;
	const struct scale *scale = scale_of(steps, count, target->resolution_ns);
	report_sentence(out, terminal->width, "%s   %s in %s, how many requests took how long", target->url,
		tare_span_name(target->span), scale->unit);
	put_beyond(out, terminal, "below", steps[0].from_ns, scale, histogram->below, room);
	for (size_t i = 0; i < count; i++)
		put_step(out, terminal, histogram, &steps[i], scale, most, room);
	put_beyond(out, terminal, "from", steps[count - 1].to_ns, scale, histogram->above, room);
	put_legend(out, terminal, target);
	return 0;
}
