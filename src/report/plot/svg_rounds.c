/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Plots in which a round is a point: in the order measured with the verdict
 * beside them, by rate, and as smoke. A round without answers leaves a gap.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "report/plot/canvas.h"

enum { ROUNDS_WITH_TITLE = 100, ROUNDS_SHARP = 300, HEIGHT = 320, TOP = 34, BOTTOM = 266, PANEL = 690 };

/* ---- which figure of a round ---- */

enum { FIGURE_MIN = PLOT_QUANTILE_COUNT, FIGURE_MAX };

static double figure_of(const struct plot_round *round, int figure)
{
	int64_t ns = figure == FIGURE_MIN   ? round->min_ns
		     : figure == FIGURE_MAX ? round->max_ns
					    : round->quantile_ns[figure];
	return ns == TARE_NO_TIME ? NAN : (double)ns;
}

static const char *figure_name(int figure)
{
	static const char *const names[] = {[PLOT_P1] = "p1",
		[PLOT_P5] = "p5",
		[PLOT_P10] = "p10",
		[PLOT_P25] = "p25",
		[PLOT_P50] = "p50",
		[PLOT_P75] = "p75",
		[PLOT_P90] = "p90",
		[PLOT_P95] = "p95",
		[PLOT_P99] = "p99",
		[PLOT_P999] = "p99.9",
		[FIGURE_MIN] = "min",
		[FIGURE_MAX] = "max"};
	return names[figure];
}

/* The verdict's own figure; -1 when rounds do not keep it, as pdv or loss. */
static int figure_of_verdict(const struct plot_target *target, const struct tare_verdict *verdict)
{
	if (!verdict || verdict->figure.span != target->span)
		return -1;
	for (int figure = 0; figure <= FIGURE_MAX; figure++)
		if (strcmp(figure_name(figure), verdict->figure.name) == 0)
			return figure;
	return -1;
}

/* ---- in order ---- */

struct order {
	FILE *out;
	const struct plot_target *target;
	struct axis x, y;
};

/* Each round's point; with its title while they are few. */
static void draw_points(const struct order *order, int figure, size_t series, char arm)
{
	FILE *out = order->out;
	bool crowd = order->target->round_count > ROUNDS_WITH_TITLE;
	fprintf(out, crowd ? "<path class=\"m c%zu crowd\" d=\"" : "<g class=\"m c%zu\">", series);
	for (size_t i = 0; i < order->target->round_count; i++) {
		const struct plot_round *round = &order->target->rounds[i];
		double value = figure_of(round, figure);
		char text[32];
		if ((arm && round->arm != arm) || !isfinite(value))
			continue;
		double x = axis_at(&order->x, (double)i + 1), y = axis_at(&order->y, value);
		if (crowd) {
			/* a circle has three times the bytes; the colours tell the figures apart */
			svg_shape_coarse(out, series ? series_shape(series + 1) : SHAPE_DIAMOND, x, y);
			continue;
		}
		fputs("<path d=\"", out);
		svg_shape(out, series_shape(series + 1), x, y);
		format_duration(llround(value), text, sizeof(text));
		fprintf(out, "\"><title>round %" PRIu32 "%s%.1s: %s %s</title></path>\n", round->number,
			arm ? ", " : "", &arm, figure_name(figure), text);
	}
	fputs(crowd ? "\"/>\n" : "</g>\n", out);
}

/*
 * Of very many rounds the lowest and the highest of every three pixels, which marks of six cover anyway: no extreme is
 * left out.
 */
static void draw_extremes(const struct order *order, int figure, size_t series, char arm)
{
	enum { TOGETHER = 3 };
	FILE *out = order->out;
	enum svg_shape shape = series ? series_shape(series + 1) : SHAPE_DIAMOND;
	struct svg_pen pen = {0};
	double low_x = NAN, low = NAN, high_x = NAN, high = NAN;
	long column = -1;
	fprintf(out, "<path class=\"m c%zu crowd\" d=\"", series);
	for (size_t i = 0; i <= order->target->round_count; i++) {
		bool end = i == order->target->round_count;
		const struct plot_round *round = &order->target->rounds[end ? 0 : i];
		double value = end ? NAN : figure_of(round, figure), x = axis_at(&order->x, (double)i + 1);
		if (!end && ((arm && round->arm != arm) || !isfinite(value)))
			continue;
		double y = end ? NAN : axis_at(&order->y, value);
		if ((end || (long)(x / TOGETHER) != column) && !isnan(low)) {
			svg_shape_row(out, shape, low_x, low, &pen);
			if (lround(low) != lround(high))
				svg_shape_row(out, shape, high_x, high, &pen);
			low = high = NAN;
		}
		column = (long)(x / TOGETHER);
		if (isnan(low) || y > low) {
			low = y;
			low_x = x;
		}
		if (isnan(high) || y < high) {
			high = y;
			high_x = x;
		}
	}
	fputs("\"/>\n", out);
}

static void draw_series(const struct order *order, int figure, size_t series, char arm)
{
	FILE *out = order->out;
	bool pen = false;
	/* points closer than a pixel are a line of their own */
	if (order->target->round_count > ROUNDS_SHARP) {
		draw_extremes(order, figure, series, arm);
		return;
	}
	fprintf(out, "<path class=\"thin c%zu\" d=\"", series);
	for (size_t i = 0; i < order->target->round_count; i++) {
		const struct plot_round *round = &order->target->rounds[i];
		double value = figure_of(round, figure);
		if (arm && round->arm != arm)
			continue;
		if (!isfinite(value)) {
			pen = false;
			continue;
		}
		fprintf(out, "%c%.1f %.1f", pen ? 'L' : 'M', axis_at(&order->x, (double)i + 1), axis_at(&order->y, value));
		pen = true;
	}
	fputs("\"/>\n", out);
	draw_points(order, figure, series, arm);
}

static void widen(double value, double *low, double *high)
{
	if (!isfinite(value))
		return;
	*low = fmin(*low, value);
	*high = fmax(*high, value);
}

/* Effect, interval, band and drift in ns, whatever the verdict was decided in. */
struct effect {
	double a, b, low, high, band, drift;
};

static struct effect effect_of(const struct tare_verdict *v)
{
	double unit = v->as_share ? v->value_a : 1;
	struct effect effect = {
		.a = v->value_a, .b = v->value_a + v->effect_ns, .band = v->limit * unit, .drift = v->drift * unit};
	effect.low = v->as_share ? v->value_a * (1 + v->low) : v->value_a + v->low;
	effect.high = v->as_share ? v->value_a * (1 + v->high) : v->value_a + v->high;
	return effect;
}

static void draw_verdict(const struct order *order, const struct tare_verdict *verdict, const struct effect *effect)
{
	FILE *out = order->out;
	const struct axis *y = &order->y;
	char text[48];
	double x = (PANEL + SVG_RIGHT) / 2.0 + 20;
	fprintf(out, "<path class=\"zero\" d=\"M%.1f %.1fH%d\"/>\n", order->x.from, axis_at(y, effect->a), SVG_RIGHT);
	if (isfinite(effect->drift) && effect->drift != 0) {
		double n = (double)order->target->round_count, middle = (n + 1) / 2;
		fprintf(out, "<path class=\"change\" d=\"M%.1f %.1fL%.1f %.1f\"><title>drift</title></path>\n",
			axis_at(&order->x, 1), axis_at(y, effect->a + effect->drift * (1 - middle)),
			axis_at(&order->x, n), axis_at(y, effect->a + effect->drift * (n - middle)));
	}
	fprintf(out, "<path class=\"seam\" d=\"M%d %dV%d\"/>\n", PANEL + 10, TOP, BOTTOM);
	if (isfinite(effect->low) && isfinite(effect->high))
		fprintf(out, "<path class=\"bar\" d=\"M%.1f %.1fV%.1fm-7 0h14M%.1f %.1fh14\"/>\n", x,
			axis_at(y, effect->low), axis_at(y, effect->high), x - 7, axis_at(y, effect->low));
	fputs("<path class=\"m c1\" d=\"", out);
	svg_shape(out, SHAPE_SQUARE, x, axis_at(y, effect->b));
	format_duration(llround(verdict->effect_ns), text, sizeof(text));
	fprintf(out, "\"><title>B - A: %s</title></path>\n", text);
	svg_label(out, x, TOP - 8, 'm', "t strong", "B - A: %s%s", verdict->effect_ns > 0 ? "+" : "", text);
	svg_label(out, x, BOTTOM + 15, 'm', "t", "effect, 95 %%");
}

/* Rounds without a verdict: median, p99 and maximum. */
static void draw_plain(const struct order *order, struct legend *legend)
{
	static const int figures[] = {PLOT_P50, PLOT_P99, FIGURE_MAX};
	for (size_t i = 0; i < 3; i++) {
		char class[16];
		draw_series(order, figures[i], i, 0);
		snprintf(class, sizeof(class), "m c%zu", i);
		legend_entry(legend, class, (int)series_shape(i + 1), figure_name(figures[i]), 0);
	}
}

static void draw_arms(const struct order *order, const struct tare_verdict *verdict, int figure, struct legend *legend)
{
	char text[96];
	draw_series(order, figure, 0, 'A');
	draw_series(order, figure, 1, 'B');
	snprintf(text, sizeof(text), strcmp(verdict->name_a, "A") ? "A: %s" : "%s", verdict->name_a);
	legend_entry(legend, "m c0", (int)series_shape(1), text, 40);
	snprintf(text, sizeof(text), strcmp(verdict->name_b, "B") ? "B: %s" : "%s", verdict->name_b);
	legend_entry(legend, "m c1", (int)series_shape(2), text, 40);
}

static void number_rounds(const struct order *order)
{
	size_t count = order->target->round_count, stride = count / 20 + 1;
	for (size_t i = 0; i < count; i += stride) {
		const struct plot_round *round = &order->target->rounds[i];
		double x = axis_at(&order->x, (double)i + 1);
		if (round->arm)
			svg_label(order->out, x, BOTTOM + 15, 'm', "t", "%" PRIu32 " %c", round->number, round->arm);
		else
			svg_label(order->out, x, BOTTOM + 15, 'm', "t", "%" PRIu32, round->number);
	}
	svg_label(order->out, (order->x.from + order->x.to) / 2, BOTTOM + 32, 'm', "t", "%s",
		count > ROUNDS_SHARP ? "round (of those that fall together the lowest and the highest)" : "round");
}

static void order_range(
	const struct plot_target *target, int figure, bool arms, const struct effect *effect, double *low, double *high)
{
	*low = INFINITY;
	*high = -INFINITY;
	for (size_t i = 0; i < target->round_count; i++) {
		const struct plot_round *round = &target->rounds[i];
		if (arms && !round->arm)
			continue;
		widen(figure_of(round, figure), low, high);
		if (!arms) {
			widen(figure_of(round, PLOT_P99), low, high);
			widen(figure_of(round, FIGURE_MAX), low, high);
		}
	}
	if (arms) {
		double room = *high - *low;
		widen(effect->low > *low - 2 * room ? effect->low : *low, low, high);
		widen(effect->high < *high + 2 * room ? effect->high : *high, low, high);
		widen(effect->a - fmin(effect->band, 2 * room + 1), low, high);
		widen(effect->a + fmin(effect->band, 2 * room + 1), low, high);
		room = fmax((*high - *low) * 0.08, 1);
		*low -= room;
		*high += room;
	}
	if (!isfinite(*low) || !isfinite(*high)) {
		*low = 1;
		*high = 10;
	}
}

int svg_rounds(FILE *out, const struct plot_target *target, const struct plot_svg_rules *rules)
{
	int figure = figure_of_verdict(target, rules->verdict);
	bool arms = figure >= 0 && rules->verdict->kind != TARE_VERDICT_INVALID && isfinite(rules->verdict->value_a) &&
		    isfinite(rules->verdict->effect_ns);
	struct effect effect = {0};
	double low, high;
	struct legend legend = {.out = out, .x = SVG_LEFT, .y = HEIGHT + 2};
	figure = arms ? figure : PLOT_P50;
	if (arms)
		effect = effect_of(rules->verdict);
	order_range(target, figure, arms, &effect, &low, &high);
	struct order order = {.out = out, .target = target};
	order.x = (struct axis){.low = 0.4,
		.high = (double)target->round_count + 0.6,
		.from = SVG_LEFT,
		.to = arms ? PANEL : SVG_RIGHT};
	order.y = arms ? (struct axis){.low = low, .high = high, .from = BOTTOM, .to = TOP}
		       : axis_of(true, low, high, BOTTOM, TOP);
	if (arms && isfinite(effect.band)) {
		double top = axis_at(&order.y, effect.a + effect.band),
		       bottom = axis_at(&order.y, effect.a - effect.band);
		fprintf(out, "<path class=\"retest\" d=\"M%d %.1fH%dV%.1fH%dz\"/>\n", SVG_LEFT, top, SVG_RIGHT, bottom,
			SVG_LEFT);
	}
	number_rounds(&order);
	svg_axis_y(out, &order.y, SVG_LEFT, arms ? PANEL : SVG_RIGHT, TICK_TIME, "");
	svg_label(out, SVG_LEFT, 16, 's', "t", "%s%s%s", arms ? figure_name(figure) : "", arms ? " of " : "",
		tare_span_name(target->span));
	svg_frame(out, SVG_LEFT, TOP, SVG_RIGHT, BOTTOM);
	if (arms) {
		draw_verdict(&order, rules->verdict, &effect);
		draw_arms(&order, rules->verdict, figure, &legend);
		legend_entry(&legend, "retest", SHAPE_SQUARE,
			"what re-measuring alone may differ by: an effect must leave it", 0);
		if (isfinite(effect.drift) && effect.drift != 0)
			legend_entry(&legend, "change", -1, "drift, taken out", 0);
	} else {
		draw_plain(&order, &legend);
	}
	return (int)legend.y + 14;
}

/* ---- by rate ---- */

static int by_interval(const void *one, const void *other)
{
	const struct plot_round *left = *(const struct plot_round *const *)one,
				*right = *(const struct plot_round *const *)other;
	return (left->interval_ns < right->interval_ns) - (left->interval_ns > right->interval_ns);
}

int svg_rate(FILE *out, const struct plot_target *target)
{
	static const int figures[] = {PLOT_P50, PLOT_P99, PLOT_P999};
	AUTO_FREE const struct plot_round **sorted = calloc(target->round_count + 1, sizeof(*sorted));
	double low = INFINITY, high = 1, slow = INFINITY, fast = 0;
	size_t count = 0;
	for (size_t i = 0; sorted && i < target->round_count; i++) {
		const struct plot_round *round = &target->rounds[i];
		if (round->interval_ns <= 0)
			continue;
		sorted[count++] = round;
		widen(1e9 / (double)round->interval_ns, &slow, &fast);
		for (size_t k = 0; k < 3; k++)
			widen(figure_of(round, figures[k]), &low, &high);
	}
	if (!count)
		return 0;
	qsort(sorted, count, sizeof(struct plot_round *), by_interval);
	struct axis x = {.log = true, .low = slow / 1.3, .high = fast * 1.3, .from = SVG_LEFT, .to = SVG_RIGHT};
	struct axis y = axis_of(true, isfinite(low) ? low : 1, high, BOTTOM, TOP);
	struct legend legend = {.out = out, .x = SVG_LEFT, .y = HEIGHT + 2};
	svg_axis_x(out, &x, TOP, BOTTOM, TICK_COUNT, "requests a second, logarithmic");
	svg_axis_y(out, &y, SVG_LEFT, SVG_RIGHT, TICK_TIME, "");
	svg_label(out, SVG_LEFT, 16, 's', "t", "%s, logarithmic", tare_span_name(target->span));
	svg_frame(out, SVG_LEFT, TOP, SVG_RIGHT, BOTTOM);
	for (size_t k = 0; k < 3; k++) {
		char class[16];
		fprintf(out, "<path class=\"m c%zu\" d=\"", k);
		for (size_t i = 0; i < count; i++) {
			double value = figure_of(sorted[i], figures[k]);
			if (isfinite(value))
				svg_shape(out, series_shape(k + 1), axis_at(&x, 1e9 / (double)sorted[i]->interval_ns),
					axis_at(&y, value));
		}
		fputs("\"/>\n", out);
		snprintf(class, sizeof(class), "m c%zu", k);
		legend_entry(&legend, class, (int)series_shape(k + 1), figure_name(figures[k]), 0);
	}
	return (int)legend.y + 14;
}

/* ---- smoke ---- */

/* Of very many rounds one outline a stretch without gaps: what is within the band of any round of a pixel. */
static void draw_smoke_outline(FILE *out, const struct plot_target *target, const struct axis *x, const struct axis *y,
	int low, int high)
{
	enum { PIXELS = SVG_RIGHT - SVG_LEFT + 2 };
	int top[PIXELS], bottom[PIXELS] = {0}; /* 0: nothing there, which no band reaches */
	for (size_t i = 0; i < target->round_count; i++) {
		double from = figure_of(&target->rounds[i], low), to = figure_of(&target->rounds[i], high);
		double left = axis_at(x, (double)i), right = axis_at(x, (double)i + 1);
		if (!isfinite(from) || !isfinite(to))
			continue;
		int above = (int)lround(axis_at(y, to)), below = (int)lround(axis_at(y, from) + 0.5);
		for (int at = (int)lround(left); at < (int)lround(fmax(right, left + 1)); at++) {
			int pixel = at - SVG_LEFT < PIXELS ? at - SVG_LEFT : PIXELS - 1;
			top[pixel] = bottom[pixel] && top[pixel] < above ? top[pixel] : above;
			bottom[pixel] = bottom[pixel] > below ? bottom[pixel] : below;
		}
	}
	for (int first = 0, end; first < PIXELS; first = end + 1) {
		for (end = first; end < PIXELS && bottom[end]; end++)
			;
		for (int at = first; at < end; at++) {
			if (at == first)
				fprintf(out, "M%d %d", SVG_LEFT + at, top[at]);
			else if (top[at] != top[at - 1])
				fprintf(out, "H%dV%d", SVG_LEFT + at, top[at]);
		}
		for (int at = end - 1; at >= first; at--) {
			if (at == end - 1)
				fprintf(out, "H%dV%d", SVG_LEFT + end, bottom[at]);
			else if (bottom[at] != bottom[at + 1])
				fprintf(out, "H%dV%d", SVG_LEFT + at + 1, bottom[at]);
		}
		if (end > first)
			fprintf(out, "H%dz", SVG_LEFT + first);
	}
}

static void draw_smoke(FILE *out, const struct plot_target *target, const struct axis *x, const struct axis *y, int low,
	int high, const char *class)
{
	fprintf(out, "<path class=\"%s\" d=\"", class);
	if (target->round_count > ROUNDS_SHARP)
		draw_smoke_outline(out, target, x, y, low, high);
	for (size_t i = 0; i < target->round_count && target->round_count <= ROUNDS_SHARP; i++) {
		double from = figure_of(&target->rounds[i], low), to = figure_of(&target->rounds[i], high);
		double left = axis_at(x, (double)i), right = axis_at(x, (double)i + 1);
		if (isfinite(from) && isfinite(to))
			fprintf(out, "M%.1f %.1fH%.1fV%.1fH%.1fz", left, axis_at(y, to), right,
				axis_at(y, from) + 0.5, left);
	}
	fputs("\"/>\n", out);
}

/* Those of rounds with losses look different; returns how many. */
static size_t draw_medians(
	FILE *out, const struct plot_target *target, const struct axis *x, const struct axis *y, bool lossy)
{
	size_t count = 0;
	struct svg_levels levels = {0};
	for (size_t i = 0; i < target->round_count; i++) {
		double median = figure_of(&target->rounds[i], PLOT_P50);
		if (!isfinite(median) || (target->rounds[i].lost > 0) != lossy)
			continue;
		if (!count++)
			fprintf(out, "<path class=\"median%s\" d=\"", lossy ? " lossy" : "");
		double from = axis_at(x, (double)i), to = axis_at(x, (double)i + 1);
		if (target->round_count > ROUNDS_SHARP)
			svg_level(out, &levels, from, to, axis_at(y, median));
		else
			fprintf(out, "M%.1f %.1fH%.1f", from, axis_at(y, median), to);
	}
	svg_levels_end(out, &levels);
	if (count)
		fputs("\"/>\n", out);
	return count;
}

int svg_smoke(FILE *out, const struct plot_target *target)
{
	static const struct {
		int low, high;
		const char *class, *text;
	} bands[] = {{PLOT_P1, PLOT_P99, "s1", "98 % of requests"}, {PLOT_P5, PLOT_P95, "s2", "90 %"},
		{PLOT_P10, PLOT_P90, "s3", "80 %"}, {PLOT_P25, PLOT_P75, "s4", "50 %"}};
	struct axis x = {.low = 0, .high = (double)target->round_count, .from = SVG_LEFT, .to = SVG_RIGHT};
	double low = INFINITY, high = 1;
	size_t stride = target->round_count / 20 + 1;
	for (size_t i = 0; i < target->round_count; i++) {
		widen(figure_of(&target->rounds[i], PLOT_P1), &low, &high);
		widen(figure_of(&target->rounds[i], PLOT_P50), &low, &high);
		widen(figure_of(&target->rounds[i], PLOT_P99), &low, &high);
	}
	struct axis y = axis_of(true, isfinite(low) ? low : 1, high, BOTTOM, TOP);
	struct legend legend = {.out = out, .x = SVG_LEFT, .y = HEIGHT + 2};
	for (size_t i = 0; i < target->round_count; i += stride)
		svg_label(
			out, axis_at(&x, (double)i + 0.5), BOTTOM + 15, 'm', "t", "%" PRIu32, target->rounds[i].number);
	svg_label(out, (SVG_LEFT + SVG_RIGHT) / 2.0, BOTTOM + 32, 'm', "t", "round");
	svg_axis_y(out, &y, SVG_LEFT, SVG_RIGHT, TICK_TIME, "");
	svg_label(out, SVG_LEFT, 16, 's', "t", "%s, logarithmic", tare_span_name(target->span));
	svg_frame(out, SVG_LEFT, TOP, SVG_RIGHT, BOTTOM);
	for (size_t i = 0; i < sizeof(bands) / sizeof(bands[0]); i++) {
		/* of very many rounds two bands are enough to see, and half the bytes */
		if (target->round_count > ROUNDS_SHARP && i % 2 == 0)
			continue;
		draw_smoke(out, target, &x, &y, bands[i].low, bands[i].high, bands[i].class);
		legend_entry(&legend, bands[i].class, SHAPE_SQUARE, bands[i].text, 0);
	}
	if (draw_medians(out, target, &x, &y, false))
		legend_entry(&legend, "median", -1, "median", 0);
	if (draw_medians(out, target, &x, &y, true))
		legend_entry(&legend, "median lossy", -1, "median of a round with losses", 0);
	return (int)legend.y + 14;
}
