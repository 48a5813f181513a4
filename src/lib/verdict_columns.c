/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Columns of a verdict; `index` is the member's offset. What is not a finite number has no value. */
#include "lib/verdict_columns.h"

#include <math.h>

#define VERDICT(record)              ((const struct tare_verdict *)(record))
#define MEMBER(type, record, column) (*(type const *)((const char *)(record) + (column)->index))

static struct cell get_real(const void *record, const struct column *column)
{
	double value = MEMBER(double, record, column);
	return isfinite(value) ? cell_real(value) : cell_absent(CELL_NOT_MEASURED);
}

static struct cell get_count(const void *record, const struct column *column)
{
	return cell_count(MEMBER(uint64_t, record, column));
}

static struct cell get_flag(const void *record, const struct column *column)
{
	return cell_count(MEMBER(bool, record, column));
}

static struct cell get_array(const void *record, const struct column *column)
{
	const char *text = (const char *)record + column->index;
	return text[0] ? cell_text(text) : cell_absent(CELL_NOT_APPLICABLE);
}

static struct cell get_figure(const void *record, const struct column *column)
{
	(void)column;
	return cell_text(VERDICT(record)->figure.name);
}

static struct cell get_kind(const void *record, const struct column *column)
{
	(void)column;
	return cell_text(tare_verdict_name(VERDICT(record)->kind));
}

static struct cell get_unit(const void *record, const struct column *column)
{
	(void)column;
	bool counts = tare_figure_is_count(&VERDICT(record)->figure);
	return cell_text(counts ? "ratio" : VERDICT(record)->as_share ? "share" : "ns");
}

static struct cell get_behind(const void *record, const struct column *column)
{
	(void)column;
	if (VERDICT(record)->figure.kind != TARE_FIGURE_PERCENTILE)
		return cell_absent(CELL_NOT_APPLICABLE);
	return cell_count(VERDICT(record)->behind);
}

#define REAL(name, member, help) {name, name, help, NULL, UNIT_NONE, false, get_real, offsetof(struct tare_verdict, member)}
#define COUNT(name, member, help) {name, name, help, NULL, UNIT_NONE, false, get_count, offsetof(struct tare_verdict, member)}
#define FLAG(name, member, help) {name, name, help, NULL, UNIT_NONE, false, get_flag, offsetof(struct tare_verdict, member)}
#define TEXT(name, get, at, help) {name, name, help, NULL, UNIT_NONE, true, get, at}

static const struct column columns[] = {
	TEXT("figure", get_figure, 0, "what was compared"),
	TEXT("verdict", get_kind, 0, "effect, negligible, same, inconclusive or invalid"),
	TEXT("reason", get_array, offsetof(struct tare_verdict, reason), "why it is invalid"),
	TEXT("a", get_array, offsetof(struct tare_verdict, name_a), "name of the first arm"),
	TEXT("b", get_array, offsetof(struct tare_verdict, name_b), "name of the second arm"),
	COUNT("rounds_a", rounds_a, "rounds of A"),
	COUNT("rounds_b", rounds_b, "rounds of B"),
	COUNT("n", n, "values in the smallest round"),
	{"behind", "behind", "values above the percentile's rank in the smallest round", NULL, UNIT_NONE, false, get_behind, 0},
	REAL("value_a", value_a, "mean over the rounds of A, in ns; stalls an hour; share lost"),
	REAL("value_b", value_b, "the same of B"),
	REAL("effect_ns", effect_ns, "B - A in ns"),
	REAL("effect_share", effect_share, "B - A as a share of A"),
	TEXT("unit", get_unit, 0, "of the columns from low95 to total: ns, share, or ratio of B to A"),
	REAL("low95", low, "95 % interval of the effect"),
	REAL("high95", high, "its other end"),
	REAL("low90", low90, "90 % interval, which decides on \"no effect within\""),
	REAL("high90", high90, "its other end"),
	REAL("margin", margin, "declared margin; 0: none"),
	REAL("s_r", s, "standard deviation between identical rounds"),
	REAL("degrees", degrees, "degrees of freedom behind s_r"),
	REAL("repeatability", limit, "two single rounds differ by less in 95 % of cases"),
	REAL("retest", retest, "largest difference seen between identical rounds"),
	REAL("drift", drift, "drift a round"),
	REAL("detectable80", detectable, "effect that so many rounds find in 80 % of cases"),
	REAL("below", below, "any effect is smaller than this"),
	REAL("total", total, "effect without regard to the CPU"),
	REAL("p", chance, "two-sided chance of such a difference without an effect"),
	REAL("p_adjusted", chance_adjusted, "after Holm, among the figures beside the primary one"),
	REAL("carry", carry, "what a round after B has more than one after A; fitted from sixteen rounds on"),
	REAL("p_carry", carry_chance, "two-sided chance of that without one"),
	REAL("p_sign_flip", sign_flip, "exact, over blocks of four rounds"),
	COUNT("rounds_needed", rounds_needed, "rounds in all that would settle it; 0: not known"),
	FLAG("ordered", ordered, "1: rounds alternate and drift is taken out"),
	FLAG("drift_term", drift_term, "1: the fit has a drift"),
	FLAG("calibrated", calibrated, "1: s_r is pooled with a calibration"),
	FLAG("by_label", by_label, "1: CPU shares are taken out"),
	FLAG("moved", moved, "1: the responder's CPU moved with the arm"),
	TEXT("places", get_array, offsetof(struct tare_verdict, places), "how CPU shares differ between the arms"),
	COUNT("count_a", count_a, "stalls or losses of A"),
	COUNT("count_b", count_b, "stalls or losses of B"),
	FLAG("bursts", bursts, "1: counts scatter more than chance, rounds were compared"),
};

const struct column *verdict_columns_table(size_t *ret_count)
{
	*ret_count = sizeof columns / sizeof *columns;
	return columns;
}
