/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Bars of single requests, each scaled to its own response: what share which part
 * had. Beside each stand the response itself and the request, so that bars of
 * 4 µs and of 1.5 ms can be read under each other.
 */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "report/plot/canvas.h"

enum { ROW = 24, TOP = 30, LEFT = 190, RIGHT = 846, WIDTH = RIGHT - LEFT };

static void draw_bar(FILE *out, const struct plot_target *target, const struct plot_breakdown *bar, double y)
{
	char value[32], part_text[32];
	double at = LEFT;
	format_duration(bar->response_ns, value, sizeof(value));
	svg_label(out, 8, y + 13, 's', "t", "%s", bar->name);
	svg_label(out, 152, y + 13, 'e', "t strong", "%s", value);
	for (size_t part = 0; part < PLOT_PART_COUNT; part++) {
		int64_t ns = bar->part_ns[part];
		if (ns <= 0 || bar->response_ns <= 0)
			continue;
		double width = WIDTH * (double)ns / (double)bar->response_ns;
		format_duration(ns, part_text, sizeof(part_text));
		fprintf(out,
			"<path class=\"part q%zu\" d=\"M%.1f %.1fh%.1fv16h-%.1fz\"><title>%s %s, request %" PRIu64
			" of round %" PRIu32 "</title></path>\n",
			part, at, y, width, width, plot_part_name((enum plot_part)part), part_text, bar->sequence,
			target->rounds[bar->round].number);
		if (width > 7.5 * (double)(strlen(part_text) + 1))
			svg_label(out, at + width / 2, y + 12, 'm', "t on", "%s", part_text);
		at += width;
	}
}

int svg_parts(FILE *out, const struct plot_target *target)
{
	struct legend legend = {.out = out, .x = SVG_LEFT, .y = TOP + ROW * (double)target->breakdown_count + 12};
	bool seen[PLOT_PART_COUNT] = {false};
	char class[16];
	svg_label(out, 8, 16, 's', "t", "request at");
	svg_label(out, 152, 16, 'e', "t", "response");
	svg_label(out, LEFT, 16, 's', "t", "its parts, each bar as wide as its response");
	for (size_t i = 0; i < target->breakdown_count; i++) {
		draw_bar(out, target, &target->breakdowns[i], TOP + ROW * (double)i);
		for (size_t part = 0; part < PLOT_PART_COUNT; part++)
			seen[part] |= target->breakdowns[i].part_ns[part] > 0;
	}
	for (size_t part = 0; part < PLOT_PART_COUNT; part++) {
		if (!seen[part])
			continue;
		snprintf(class, sizeof(class), "part q%zu", part);
		legend_entry(&legend, class, SHAPE_SQUARE, plot_part_name((enum plot_part)part), 0);
	}
	return (int)legend.y + 14;
}
