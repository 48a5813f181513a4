/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The list of plots: what each is called, when it has something to show, who
 * draws it, and how all of them look. Colours are those of Okabe and Ito, told
 * apart by shape as well; in the dark only lightness changes.
 */
#include "report/plot/svg.h"

#include <stdlib.h>

#include "report/plot/canvas.h"

enum { ROUNDS_FOR_SMOKE = 8 };
static const int64_t heat_least_ns = 3600000000000;

static const struct kind {
	const char *name, *title, *explanation;

} kinds[PLOT_KIND_COUNT] = {
#define X(id, name, title, explanation) [PLOT_KIND_##id] = {name, title, explanation},
	PLOT_KINDS(X)
#undef X
};

const char *plot_kind_name(enum plot_kind kind)
{
	return kinds[kind].name;
}

const char *plot_kind_title(enum plot_kind kind)
{
	return kinds[kind].title;
}

const char *plot_kind_explanation(enum plot_kind kind)
{
	return kinds[kind].explanation;
}

static bool has_two_rates(const struct plot_target *target)
{
	for (size_t i = 1; i < target->round_count; i++)
		if (target->rounds[i].interval_ns > 0 && target->rounds[0].interval_ns > 0 &&
			target->rounds[i].interval_ns != target->rounds[0].interval_ns)
			return true;
	return false;
}

const char *plot_kind_missing(const struct plot_target *target, enum plot_kind kind)
{
	bool any = false;
	for (size_t i = 0; i < target->curve_count; i++)
		any |= target->curves[i].n > 0;
	switch (kind) {
	case PLOT_KIND_TIME:
		return target->requests ? NULL : "the source gives no single requests";
	case PLOT_KIND_CURVE:
		return any ? NULL : "nothing was answered after the warm-up";
	case PLOT_KIND_HISTOGRAM:
		return any && target->histogram.bin_count ? NULL : "nothing was answered after the warm-up";
	case PLOT_KIND_LATENESS:
		return target->lateness && target->lateness->n ? NULL : "it is not known when requests were due";
	case PLOT_KIND_PARTS:
		return target->breakdown_count ? NULL : "there are no stamps to take responses apart by";
	case PLOT_KIND_ROUNDS:
		return target->round_count > 1 ? NULL : "there is one round only";
	case PLOT_KIND_RATE:
		return has_two_rates(target) ? NULL : "all rounds have one rate";
	case PLOT_KIND_SMOKE:
		return target->round_count >= ROUNDS_FOR_SMOKE && any ? NULL : "there are fewer than 8 rounds";
	case PLOT_KIND_HEAT:
		return target->heat_to_real_ns - target->heat_from_real_ns >= heat_least_ns &&
				       target->heat.row_low <= target->heat.row_high
			       ? NULL
			       : "it took less than an hour, or the wall clock is not known";
	case PLOT_KIND_COUNT:
		break;
	}
	return "there is no such plot";
}

static int draw(FILE *out, const struct plot_target *target, enum plot_kind kind, const struct plot_svg_rules *rules)
{
	switch (kind) {
	case PLOT_KIND_TIME:
		return svg_time(out, target);
	case PLOT_KIND_CURVE:
		return svg_curve(out, target);
	case PLOT_KIND_HISTOGRAM:
		return svg_histogram(out, target);
	case PLOT_KIND_LATENESS:
		return svg_lateness(out, target);
	case PLOT_KIND_PARTS:
		return svg_parts(out, target);
	case PLOT_KIND_ROUNDS:
		return svg_rounds(out, target, rules);
	case PLOT_KIND_RATE:
		return svg_rate(out, target);
	case PLOT_KIND_SMOKE:
		return svg_smoke(out, target);
	case PLOT_KIND_HEAT:
		return svg_heat(out, target);
	case PLOT_KIND_COUNT:
		break;
	}
	return 0;
}

/* The legend's length is only known at the end, and the height stands at the beginning. */
int plot_svg(FILE *out, const struct plot_target *target, enum plot_kind kind, const struct plot_svg_rules *rules,
	struct tare_err *err)
{
	const char *id = rules->id ? rules->id : "plot";
	char *drawn = NULL;
	size_t bytes = 0;
	FILE *body = open_memstream(&drawn, &bytes);
	int height = body ? draw(body, target, kind, rules) : 0;
	if (!body || fclose(body) != 0) {
		free(drawn);
		return tare_fail(err, TARE_E_SYSTEM, "out of memory for a plot");
	}
	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\" viewBox=\"0 0 %d %d\" role=\"img\" "
		"aria-labelledby=\"%s-t %s-d\">\n<title id=\"%s-t\">%s: ",
		SVG_WIDTH, height, id, id, id, plot_kind_title(kind));
	svg_text_safe(out, target->url, 200);
	fprintf(out, "</title><desc id=\"%s-d\">%s</desc>\n", id, plot_kind_explanation(kind));
	if (!rules->id)
		fprintf(out, "<style>%s</style>\n<path class=\"ground\" d=\"M0 0h%dv%dh-%dz\"/>\n", plot_style,
			SVG_WIDTH, height, SVG_WIDTH);
	fwrite(drawn, 1, bytes, out);
	fputs("</svg>\n", out);
	free(drawn);
	return 0;
}

#define COLOURS_LIGHT                                                                                                  \
	"--ground:#fff;--ink:#1a1a1a;--dim:#595959;--line:#8a8a8a;--grid:#e4e4e4;"                                     \
	"--d1:#cfe3f1;--d2:#a6cde6;--d3:#74b1d7;--d4:#4292c6;--d5:#2171b5;--d6:#08519c;--s1:#ececec;--s2:#d8d8d8;"     \
	"--s3:#c0c0c0;--s4:#a2a2a2;--c0:#0072b2;--c1:#d55e00;--c2:#007a5a;--c3:#a34e83;--c4:#9a6a00;--c5:#2a82b8;"     \
	"--c6:#b3261e;--c7:#4d4d4d;--on:#fff"
#define COLOURS_DARK                                                                                                   \
	"--ground:#14171a;--ink:#ececec;--dim:#a8a8a8;--line:#7d7d7d;--grid:#2c3136;"                                  \
	"--d1:#1d3a52;--d2:#24527a;--d3:#2f6fa5;--d4:#4a90c9;--d5:#7db5e0;--d6:#b9dbf5;--s1:#24292e;--s2:#343a40;"     \
	"--s3:#495057;--s4:#636b73;--c0:#56b4e9;--c1:#f0883e;--c2:#2fc59b;--c3:#dd9cc4;--c4:#e6b32e;--c5:#8ecdf3;"     \
	"--c6:#ff7b72;--c7:#c9c9c9;--on:#14171a"

const char plot_style[] =
	":root{color-scheme:light dark;" COLOURS_LIGHT "}"
	"@media(prefers-color-scheme:dark){:root{" COLOURS_DARK "}}"
	"@media print{:root{color-scheme:light;" COLOURS_LIGHT "}}"
	".plot text{font:12px system-ui,sans-serif;fill:var(--ink)}.plot .tm{text-anchor:middle}.plot "
	".te{text-anchor:end}"
	".plot .dim{fill:var(--dim)}.plot .small{font-size:11px}.plot .strong{font-weight:600}.plot .on{fill:var(--on)}"
	".ground{fill:var(--ground)}.frame{fill:none;stroke:var(--line)}.grid{stroke:var(--grid)}"
	".d1{fill:var(--d1)}.d2{fill:var(--d2)}.d3{fill:var(--d3)}.d4{fill:var(--d4)}.d5{fill:var(--d5)}.d6{fill:var(--"
	"d6)}"
	".s1{fill:var(--s1)}.s2{fill:var(--s2)}.s3{fill:var(--s3)}.s4{fill:var(--s4)}"
	".c0{color:var(--c0)}.c1{color:var(--c1)}.c2{color:var(--c2)}.c3{color:var(--c3)}"
	".c4{color:var(--c4)}.c5{color:var(--c5)}.c6{color:var(--c6)}.c7{color:var(--c7)}.ink{color:var(--ink)}"
	".m,.bin{fill:currentColor}.m{stroke:var(--ground);stroke-width:.6}.m.crowd{stroke:none}.hollow{fill:none;"
	"stroke:var(--ink);stroke-width:1.3}"
	".line,.thin,.p999,.change,.bar,.zero,.seam,.median{fill:none}.line{stroke:currentColor;stroke-width:1.8}"
	".thin{stroke:currentColor;stroke-width:.8;opacity:.6}.dashed{stroke-dasharray:4 3;stroke-width:1.4}"
	".band{fill:currentColor;opacity:.16}.p999{stroke:var(--c1);stroke-width:1.6}.p999.weak{stroke-dasharray:3 3}"
	".change{stroke:var(--c3);stroke-width:1.4;stroke-dasharray:6 3}.seam{stroke:var(--line);stroke-dasharray:1 3}"
	".mean{fill:var(--ground);stroke:var(--ink);stroke-width:1.2}.retest{fill:var(--s2)}.zero{stroke:var(--line)}"
	".bar{stroke:var(--c1);stroke-width:2}.median{stroke:var(--c0);stroke-width:2}.median.lossy{stroke:var(--c6)}"
	".part{stroke:var(--ground)}.q0{fill:var(--c6)}.q1{fill:var(--c4)}.q2{fill:var(--c3)}.q3{fill:var(--c7)}.q4{"
	"fill:var(--c0)}"
	".q5{fill:var(--c5)}.q6{fill:var(--c2)}";
