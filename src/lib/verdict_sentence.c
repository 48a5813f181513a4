/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Verdicts in words. One unit for all durations of a sentence, chosen by A's
 * value; faster and slower, fewer and more are said with the same weight.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "tare/interval.h"
#include "tare/verdict.h"

struct unit { const char *name; double ns; int decimals; };

/* Two digits of the scatter, at least two decimals of µs. */
static struct unit unit_of(const struct tare_verdict *verdict)
{
	double value = fmax(fabs(verdict->value_a), fabs(verdict->value_b));
	double scatter = verdict->as_share ? verdict->s * verdict->value_a : verdict->s;
	struct unit unit = value < 10e6 ? (struct unit){"µs", 1e3, 2} : value < 10e9 ? (struct unit){"ms", 1e6, 2}
										      : (struct unit){"s", 1e9, 2};
	if (scatter > 0 && scatter / unit.ns < 0.01)
		unit.decimals = 3;
	return unit;
}

static void add_value(struct text *text, const struct unit *unit, double ns, bool sign)
{
	if (isinf(ns))
		text_add(text, "%sinfinite", ns < 0 ? "-" : sign ? "+" : "");
	else if (sign)
		text_add(text, "%+.*f", unit->decimals, ns / unit->ns);
	else
		text_add(text, "%.*f", unit->decimals, ns / unit->ns);
}

static int share_decimals(double share)
{
	double size = fabs(share) * 100;
	return size >= 0.95 || size == 0 ? 1 : size >= 0.095 ? 2 : 3;
}

static void add_share(struct text *text, double share, int decimals, bool sign)
{
	if (isinf(share))
		text_add(text, "%sinfinite", share < 0 ? "-" : sign ? "+" : "");
	else if (sign)
		text_add(text, "%+.*f", decimals, 100 * share);
	else
		text_add(text, "%.*f", decimals, 100 * share);
}

/* A quantity in the unit of the effect. */
static void add_amount(struct text *text, const struct tare_verdict *verdict, const struct unit *unit, double amount)
{
	if (verdict->as_share) {
		add_share(text, amount, share_decimals(amount), false);
		text_add(text, " %%");
	} else {
		add_value(text, unit, amount, false);
		text_add(text, " %s", unit->name);
	}
}

static void add_interval(struct text *text, const struct tare_verdict *verdict, const struct unit *unit, int level,
	double low, double high)
{
	text_add(text, ", %d %% ", level);
	if (isinf(low) || isinf(high)) {
		text_add(text, "unbounded");
	} else if (verdict->as_share) {
		int decimals = share_decimals(high - low);
		add_share(text, low, decimals, true);
		text_add(text, " ... ");
		add_share(text, high, decimals, true);
		text_add(text, " %%");
	} else {
		add_value(text, unit, low, true);
		text_add(text, " ... ");
		add_value(text, unit, high, true);
		text_add(text, " %s", unit->name);
	}
}

static void add_margin(struct text *text, const struct tare_verdict *verdict)
{
	char margin[32];
	if (verdict->as_share || tare_figure_is_count(&verdict->figure)) {
		text_add(text, "%.4g %%", 100 * verdict->margin);
		return;
	}
	format_duration((int64_t)verdict->margin, margin, sizeof margin);
	text_add(text, "%s", margin);
}

static bool is_variation(const struct tare_figure *figure)
{
	return figure->kind == TARE_FIGURE_PDV;
}

/* "B is 145.29 µs (2.1 %) slower on p50 (149.64 against 4.35)" */
static void add_direction(struct text *text, const struct tare_verdict *verdict, const struct unit *unit)
{
	bool worse = verdict->effect > 0;
	text_add(text, "%s is ", verdict->name_b);
	add_value(text, unit, fabs(verdict->effect_ns), false);
	text_add(text, " %s", unit->name);
	/* a factor is plainer than 3339 % */
	if (fabs(verdict->effect_share) < 1) {
		text_add(text, " (");
		add_share(text, fabs(verdict->effect_share), share_decimals(verdict->effect_share), false);
		text_add(text, " %%)");
	}
	text_add(text, " %s on %s (", is_variation(&verdict->figure) ? worse ? "larger" : "smaller" : worse ? "slower" : "faster",
		verdict->figure.name);
	add_value(text, unit, verdict->value_b, false);
	text_add(text, " against ");
	add_value(text, unit, verdict->value_a, false);
	text_add(text, ")");
}

/* "B - A = -0.02 µs (-0.3 %)" */
static void add_difference(struct text *text, const struct tare_verdict *verdict, const struct unit *unit)
{
	text_add(text, "%s - %s = ", verdict->name_b, verdict->name_a);
	add_value(text, unit, verdict->effect_ns, true);
	text_add(text, " %s (", unit->name);
	add_share(text, verdict->effect_share, share_decimals(verdict->effect_share), true);
	text_add(text, " %%)");
}

static void add_outlook(struct text *text, const struct tare_verdict *verdict, const struct unit *unit)
{
	uint64_t rounds = verdict->rounds_a + verdict->rounds_b;
	if (isfinite(verdict->detectable)) {
		text_add(text, "; %llu rounds see ", (unsigned long long)rounds);
		add_amount(text, verdict, unit, verdict->detectable);
		text_add(text, " at 80 %% power");
	} else {
		text_add(text, "; %llu + %llu rounds cannot reach 5 %%", (unsigned long long)verdict->rounds_a,
			(unsigned long long)verdict->rounds_b);
	}
	if (verdict->rounds_needed > rounds && verdict->margin > 0 && fabs(verdict->effect) < verdict->margin)
		text_add(text, ", %llu would settle whether it is within the margin",
			(unsigned long long)verdict->rounds_needed);
	else if (verdict->rounds_needed > rounds)
		text_add(text, ", %llu would see the difference there is", (unsigned long long)verdict->rounds_needed);
	if (isfinite(verdict->below)) {
		text_add(text, "; any effect is smaller than ");
		add_amount(text, verdict, unit, verdict->below);
	}
}

/* ---- counts ---- */

static void add_count(struct text *text, const struct tare_verdict *verdict, uint64_t count, double exposure)
{
	if (verdict->figure.kind == TARE_FIGURE_LOSS)
		text_add(text, "%llu of %.0f", (unsigned long long)count, exposure);
	else
		text_add(text, "%llu in %.4g %s", (unsigned long long)count, exposure < 1 ? exposure * 3600 : exposure,
			exposure < 1 ? "s" : "h");
}

static void count_sentence(const struct tare_verdict *verdict, struct text *text)
{
	const char *what = verdict->figure.kind == TARE_FIGURE_LOSS ? "losses" : "stalls";
	switch (verdict->kind) {
	case TARE_VERDICT_EFFECT:
	case TARE_VERDICT_NEGLIGIBLE:
		text_add(text, "effect%s: %s has %s %s (", verdict->kind == TARE_VERDICT_EFFECT ? "" : ", but negligible",
			verdict->name_b, verdict->effect > 0 ? "more" : "fewer", what);
		break;
	case TARE_VERDICT_SAME:
		text_add(text, "no effect within %.4g %% on %s (", 100 * verdict->margin, what);
		break;
	default:
		text_add(text, "inconclusive on %s (", what);
		break;
	}
	add_count(text, verdict, verdict->count_b, verdict->exposure_b);
	text_add(text, " against ");
	add_count(text, verdict, verdict->count_a, verdict->exposure_a);
	text_add(text, ")");
	if (verdict->count_a + verdict->count_b == 0) {
		double least = fmin(verdict->exposure_a, verdict->exposure_b);
		if (verdict->figure.kind == TARE_FIGURE_LOSS)
			text_add(text, ", which shows less than %.2g %% in each (95 %%)",
				100 * tare_no_event_bound(0.95) / least);
		else
			text_add(text, ", which shows fewer than %.*f an hour in each (95 %%)",
				tare_no_event_bound(0.95) / least < 10 ? 2 : 0, tare_no_event_bound(0.95) / least);
		return;
	}
	text_add(text, ", p = %.2g", verdict->chance);
	if (isfinite(verdict->high))
		text_add(text, ", ratio 95 %% %.3g ... %.3g", verdict->low, verdict->high);
	else
		text_add(text, ", ratio above %.3g (95 %%)", verdict->low);
	if (verdict->bursts)
		text_add(text, "; they come in bursts, so that rounds and not events were compared");
}

/* ---- public ---- */

void tare_verdict_sentence(const struct tare_verdict *verdict, char *ret_text, size_t room)
{
	struct text text = {.bytes = ret_text, .room = room};
	struct unit unit = unit_of(verdict);
	if (verdict->kind == TARE_VERDICT_INVALID) {
		text_add(&text, "invalid on %s: %s", verdict->figure.name, verdict->reason);
		return;
	}
	if (tare_figure_is_count(&verdict->figure)) {
		count_sentence(verdict, &text);
		return;
	}
	switch (verdict->kind) {
	case TARE_VERDICT_EFFECT:
		text_add(&text, "effect: ");
		add_direction(&text, verdict, &unit);
		break;
	case TARE_VERDICT_NEGLIGIBLE:
		text_add(&text, "effect, but negligible (within ");
		add_margin(&text, verdict);
		text_add(&text, "): ");
		add_direction(&text, verdict, &unit);
		break;
	case TARE_VERDICT_SAME:
		text_add(&text, "no effect within ");
		add_margin(&text, verdict);
		text_add(&text, " on %s: ", verdict->figure.name);
		add_difference(&text, verdict, &unit);
		break;
	default:
		text_add(&text, "inconclusive on %s: ", verdict->figure.name);
		add_difference(&text, verdict, &unit);
		break;
	}
	add_interval(&text, verdict, &unit, 95, verdict->low, verdict->high);
	if (verdict->margin > 0 && verdict->kind != TARE_VERDICT_EFFECT)
		add_interval(&text, verdict, &unit, 90, verdict->low90, verdict->high90);
	if (verdict->kind == TARE_VERDICT_INCONCLUSIVE)
		add_outlook(&text, verdict, &unit);
}

static void add_label(struct text *text, const struct tare_verdict *verdict, const struct unit *unit)
{
	if (verdict->moved && verdict->places[0]) {
		text_add(text, "; the responder moved with the change (%s): place and path cannot be told apart",
			verdict->places);
		return;
	}
	if (!verdict->by_label || !verdict->places[0])
		return;
	text_add(text, "; of the whole difference ");
	add_amount(text, verdict, unit, verdict->total);
	text_add(text, ", ");
	add_amount(text, verdict, unit, verdict->total - verdict->effect);
	text_add(text, " came with the place (%s), the rest within a CPU", verdict->places);
}

void tare_verdict_evidence(const struct tare_verdict *verdict, char *ret_text, size_t room)
{
	struct text text = {.bytes = ret_text, .room = room};
	struct unit unit = unit_of(verdict);
	ret_text[0] = '\0';
	if (tare_figure_is_count(&verdict->figure) || isnan(verdict->s))
		return;
	text_add(&text, "retest difference seen ");
	if (isnan(verdict->retest))
		text_add(&text, "none");
	else
		add_amount(&text, verdict, &unit, verdict->retest);
	text_add(&text, ", s_r ");
	add_amount(&text, verdict, &unit, verdict->s);
	text_add(&text, "%s, two single rounds within ", verdict->calibrated ? " (with the calibration)" : "");
	add_amount(&text, verdict, &unit, verdict->limit);
	if (verdict->drift_term && !isnan(verdict->drift)) {
		text_add(&text, ", drift ");
		if (verdict->as_share)
			text_add(&text, "%+.*f %%", share_decimals(verdict->drift), 100 * verdict->drift);
		else
			add_value(&text, &unit, verdict->drift, true);
		text_add(&text, " per round");
	}
	if (!isnan(verdict->carry)) {
		text_add(&text, ", left over from the round before ");
		if (verdict->as_share)
			text_add(&text, "%+.*f %%", share_decimals(verdict->carry), 100 * verdict->carry);
		else
			add_value(&text, &unit, verdict->carry, true);
		text_add(&text, " (p %.2g)", verdict->carry_chance);
	}
	if (!isnan(verdict->sign_flip))
		text_add(&text, ", sign-flip p %.2g", verdict->sign_flip);
	if (!verdict->ordered)
		text_add(&text, "; rounds in no common order: Hodges-Lehmann shift, Mann-Whitney p %.2g", verdict->chance);
	add_label(&text, verdict, &unit);
}

void tare_verdict_brief(const struct tare_verdict *verdict, char *ret_text, size_t room)
{
	struct text text = {.bytes = ret_text, .room = room};
	struct unit unit = unit_of(verdict);
	text_add(&text, "%s ", verdict->figure.name);
	if (verdict->kind == TARE_VERDICT_INVALID) {
		text_add(&text, "invalid (%s)", verdict->reason);
		return;
	}
	if (tare_figure_is_count(&verdict->figure) && verdict->count_a + verdict->count_b == 0) {
		text = (struct text){.bytes = ret_text, .room = room};
		text_add(&text, "no %s in either", verdict->figure.name);
		return;
	}
	if (tare_figure_is_count(&verdict->figure)) {
		text_add(&text, "%llu / %llu: ", (unsigned long long)verdict->count_a, (unsigned long long)verdict->count_b);
	} else {
		add_value(&text, &unit, verdict->value_a, false);
		text_add(&text, " / ");
		add_value(&text, &unit, verdict->value_b, false);
		text_add(&text, " %s: ", unit.name);
	}
	switch (verdict->kind) {
	case TARE_VERDICT_EFFECT:
		text_add(&text, verdict->effect > 0 ? "worse" : "better");
		break;
	case TARE_VERDICT_NEGLIGIBLE:
		text_add(&text, "negligible");
		break;
	case TARE_VERDICT_SAME:
		text_add(&text, "no effect within ");
		add_margin(&text, verdict);
		break;
	default:
		text_add(&text, verdict->chance < 0.05 ? "not beyond chance among so many figures" : "cannot tell");
		break;
	}
}
