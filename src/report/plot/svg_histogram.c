/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The histogram: classes stacked, modes marked on top, the mean as a hollow line that says when it lies where nothing
 * is. */
#include <inttypes.h>
#include <math.h>

#include "base/text.h"
#include "report/plot/canvas.h"

enum { HEIGHT = 300, TOP = 44, BOTTOM = 256 };

static uint64_t tallest(const struct plot_histogram *histogram)
{
	uint64_t most = 1;
	for (size_t bin = 0; bin < histogram->bin_count; bin++) {
		uint64_t sum = 0;
		for (size_t i = 0; i < histogram->class_count; i++)
			sum += histogram->classes[i].bins[bin];
		most = sum > most ? sum : most;
	}
	return most;
}

static void draw_bins(FILE *out, const struct plot_histogram *histogram, const struct axis *x, const struct axis *y)
{
	for (size_t i = 0; i < histogram->class_count; i++) {
		fprintf(out, "<path class=\"bin c%zu\" d=\"", i);
		for (size_t bin = 0; bin < histogram->bin_count; bin++) {
			uint64_t below = 0, own = histogram->classes[i].bins[bin];
			for (size_t j = 0; j < i; j++)
				below += histogram->classes[j].bins[bin];
			if (!own)
				continue;
			double left = axis_at(x, (double)histogram->edges_ns[bin]),
			       right = axis_at(x, (double)histogram->edges_ns[bin + 1]);
			double bottom = axis_at(y, (double)below), top = axis_at(y, (double)(below + own));
			/* one value in a million must still be seen */
			top = fmin(top, bottom - 0.8);
			fprintf(out, "M%.1f %.1fV%.1fH%.1fV%.1fz", left, bottom, top, fmax(right - 0.3, left + 0.5),
				bottom);
		}
		fputs("\"/>\n", out);
	}
}

static bool inside(const struct axis *x, double value)
{
	return value >= x->low && value <= x->high;
}

static void draw_modes(FILE *out, const struct plot_histogram *histogram, const struct axis *x)
{
	char text[32];
	for (size_t i = 0; i < histogram->modes.count; i++) {
		const struct tare_mode *mode = &histogram->modes.mode[i];
		double at = axis_at(x, (double)mode->median_ns);
		if (!inside(x, (double)mode->median_ns))
			continue;
		fputs("<path class=\"m ink\" d=\"", out);
		svg_shape(out, SHAPE_DOWN, at, TOP - 4);
		format_duration(mode->median_ns, text, sizeof(text));
		fprintf(out, "\"><title>mode %zu: median %s</title></path>\n", i + 1, text);
		svg_label(out, at, TOP - 11,
			at > SVG_RIGHT - 50  ? 'e'
			: at < SVG_LEFT + 50 ? 's'
					     : 'm',
			"t small", "%s, %.0f %%", text, 100 * mode->share);
	}
}

static void draw_mean(FILE *out, const struct plot_histogram *histogram, const struct axis *x)
{
	char text[32];
	double at = axis_at(x, histogram->mean_ns);
	if (!inside(x, histogram->mean_ns))
		return;
	format_duration(llround(histogram->mean_ns), text, sizeof(text));
	fprintf(out, "<path class=\"mean\" d=\"M%.1f %dV%dh4V%dz\"/>\n", at - 2, BOTTOM, TOP, BOTTOM);
	if (histogram->mean_in_gap)
		svg_label(out, at < SVG_RIGHT - 400 ? at + 8 : at - 8, TOP + 12, at < SVG_RIGHT - 400 ? 's' : 'e',
			"t strong", "mean %s: between the modes, where no request is", text);
}

int svg_histogram(FILE *out, const struct plot_target *target)
{
	const struct plot_histogram *histogram = &target->histogram;
	double low = (double)histogram->edges_ns[0], high = (double)histogram->edges_ns[histogram->bin_count];
	struct axis x = {.log = histogram->log, .low = low, .high = high, .from = SVG_LEFT, .to = SVG_RIGHT};
	struct axis y = {.low = 0, .high = (double)tallest(histogram) * 1.06, .from = BOTTOM, .to = TOP};
	struct legend legend = {.out = out, .x = SVG_LEFT, .y = HEIGHT + 6};
	char class[16], text[96];
	svg_axis_x(out, &x, TOP, BOTTOM, TICK_TIME, tare_span_name(target->span));
	svg_axis_y(out, &y, SVG_LEFT, SVG_RIGHT, TICK_COUNT, "");
	svg_label(out, SVG_LEFT, 16, 's', "t", "requests a bin");
	draw_bins(out, histogram, &x, &y);
	svg_frame(out, SVG_LEFT, TOP, SVG_RIGHT, BOTTOM);
	draw_mean(out, histogram, &x);
	draw_modes(out, histogram, &x);
	for (size_t i = 0; i < histogram->class_count && histogram->stack != PLOT_STACK_NONE; i++) {
		snprintf(class, sizeof(class), "bin c%zu", i);
		legend_entry(&legend, class, SHAPE_SQUARE,
			histogram->classes[i].name[0] ? histogram->classes[i].name : "no label", 40);
	}
	if (histogram->modes.count > 1)
		legend_entry(&legend, "m ink", SHAPE_DOWN, "mode, by its median and share", 0);
	legend_entry(&legend, "mean", -1, "mean", 0);
	snprintf(text, sizeof(text), "%" PRIu64 " faster, %" PRIu64 " slower than shown", histogram->below,
		histogram->above);
	svg_label(out, SVG_RIGHT, 16, 'e', "t dim", "%s", text);
	return (int)legend.y + 14;
}
