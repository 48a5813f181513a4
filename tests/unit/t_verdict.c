/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Verdicts on trials made here: the ladder, its gates, labels, counts, and the comparisons of the second field note. */
#include <math.h>
#include <stdlib.h>

#include "tap.h"
#include "tare/verdict.h"

enum { TRIALS_MOST = 32 };

static struct tare_row rows[TRIALS_MOST];
static struct tare_stalls stalls[TRIALS_MOST];
static struct tare_trial trials[TRIALS_MOST];
static const struct tare_verdict_rules plain = {.level = .95};

static void is_near(double got, double want, double within, const char *name)
{
	if (!OK(fabs(got - want) <= within, "%s", name))
		printf("#      got %.9g\n# expected %.9g\n", got, want);
}

static struct tare_figure figure_of(const char *text)
{
	struct tare_figure figure;
	struct tare_err err = {0};
	OK(tare_figure_parse(text, &figure, &err) == 0, "figure %s %s", text, err.text);
	return figure;
}

/* Rounds of 10000 requests a minute apart whose every percentile is the value given, in µs. */
static void make(const char *order, const double *values_us)
{
	for (size_t i = 0; order[i]; i++) {
		int64_t ns = (int64_t)(values_us[i] * 1000 + .5);
		rows[i] = (struct tare_row){.span = TARE_SPAN_RTT, .sent = 10002, .n = 10000, .min_ns = ns, .max_ns = ns,
			.first_ns = 5 * ns, .second_ns = 2 * ns, .pdv_ns = 410, .stall_limit_ns = 50000};
		static const char *const percentiles[] = {"50", "99", "99.9"};
		for (int k = 0; k < 3; k++) {
			struct tare_percentile p;
			if (tare_percentile_parse(percentiles[k], &p, NULL) < 0)
				abort();
			rows[i].ranked[k] = (struct tare_ranked){.value_ns = ns, .rank = tare_rank(&p, 10000),
				.behind = 10000 - tare_rank(&p, 10000), .grade = TARE_GRADE_THIN};
		}
		stalls[i] = (struct tare_stalls){.limit_ns = 50000, .n = 10000, .exposure_ns = 10000000000};
		trials[i] = (struct tare_trial){.arm = order[i] == 'B', .at_ns = (int64_t)(i + 1) * 60000000000, .label = "",
			.url = "stamp://h", .kind = "stamp", .round = (uint32_t)i + 1, .payload_bytes = 64, .warmup = 2,
			.interval_ns = 1000000, .rate_asked = 1000, .rate_held = 1000, .rows = &rows[i],
			.stalls = &stalls[i], .row_count = 1, .slow_share = NAN,
			.slowest = {.n = 10000, .position = 5000 + i, .ties = 1}};
	}
}

static struct tare_verdict judge(size_t n, const char *figure_text, const struct tare_verdict_rules *rules)
{
	struct tare_figure figure = figure_of(figure_text);
	struct tare_verdict verdict = {0};
	struct tare_err err = {0};
	if (!OK(tare_verdict_of(trials, n, &figure, rules, &verdict, &err) == 0, "judged %s", err.text))
		abort();
	return verdict;
}

static void says(const struct tare_verdict *verdict, const char *want)
{
	char text[512];
	tare_verdict_sentence(verdict, text, sizeof text);
	IS_STR(text, want, "sentence");
}

static void test_ladder(void)
{
	const double eight[] = {4.70, 4.31, 4.30, 4.67, 4.28, 4.66, 4.64, 4.27};
	make("ABBABAAB", eight);
	struct tare_verdict v = judge(8, "p99", &plain);
	IS_STR(tare_verdict_name(v.kind), "effect", "eight rounds, 8 % apart");
	is_near(v.low, -389.1, .05, "with drift term: low");
	is_near(v.high, -365.9, .05, "high");
	is_near(v.drift, -7.98, .005, "drift");
	IS_I64(tare_verdict_exit(&v), 0, "better: exit 0");
	says(&v, "effect: B is 0.378 µs (8.1 %) faster on p99 (4.290 against 4.668), 95 % -0.389 ... -0.366 µs");
	for (int i = 0; i < 8; i++)
		trials[i].arm ^= 1;
	v = judge(8, "p99", &plain);
	IS_I64(tare_verdict_exit(&v), 1, "worse: exit 1");
	says(&v, "effect: B is 0.378 µs (8.8 %) slower on p99 (4.668 against 4.290), 95 % +0.366 ... +0.389 µs");

	struct tare_verdict_rules wide = {.level = .95, .margin_ns = 500};
	v = judge(8, "p99", &wide);
	IS_STR(tare_verdict_name(v.kind), "negligible", "within 0.5 µs");
	IS_I64(tare_verdict_exit(&v), 0, "negligible: exit 0");

	const double same[] = {4.70, 4.69, 4.71, 4.68, 4.70, 4.69, 4.70, 4.71};
	make("ABBABAAB", same);
	struct tare_verdict_rules two = {.level = .95, .margin_share = .02};
	v = judge(8, "p99", &two);
	IS_STR(tare_verdict_name(v.kind), "same", "none within 2 %");
	says(&v, "no effect within 2 % on p99: B - A = +0.01 µs (+0.21 %), 95 % -0.18 ... +0.61 %, 90 % -0.09 ... +0.52 %");
	IS_I64(tare_verdict_exit(&v), 0, "same: exit 0");
	v = judge(8, "p99", &plain);
	IS_STR(tare_verdict_name(v.kind), "inconclusive", "without a margin: cannot tell");
	IS_I64(tare_verdict_exit(&v), 3, "inconclusive: exit 3");
	OK(v.below > 20 && v.below < 30, "any effect is smaller than %.1f ns", v.below);
	struct tare_verdict_rules narrow = {.level = .95, .margin_ns = 10};
	v = judge(8, "p99", &narrow);
	IS_STR(tare_verdict_name(v.kind), "inconclusive", "0.01 µs is too fine for these rounds");
}

static void test_four(void)
{
	const double values[] = {4.70, 4.31, 4.29, 4.66};
	make("ABBA", values);
	struct tare_verdict v = judge(4, "p50", &plain);
	is_near(v.effect, -380, .001, "ABBA");
	is_near(v.s, 22.36, .005, "s_r");
	is_near(v.low, -476, .5, "low");
	is_near(v.high, -284, .5, "high");
	is_near(v.limit, 136, .5, "two single rounds differ by less");
	is_near(v.retest, 40, .001, "seen");
	OK(!v.drift_term, "four rounds: plain t");
	struct tare_spread calibration = {20, 9};
	struct tare_verdict_rules calibrated = {.level = .95, .calibrated = &calibration};
	v = judge(4, "p50", &calibrated);
	is_near(v.low, -425, .5, "calibrated: low");
	is_near(v.high, -335, .5, "calibrated: high");
	OK(v.calibrated, "and it is said");
	struct tare_spread quiet = {2, 9};
	calibrated.calibrated = &quiet;
	v = judge(4, "p50", &calibrated);
	IS_STR(tare_verdict_name(v.kind), "invalid", "eleven times the calibrated scatter");
	IS_I64(tare_verdict_exit(&v), 4, "invalid: exit 4");

	/* an effect of 3 s_r, residuals of exactly s_r: not for four rounds; of 6 s_r: just so */
	const double three[] = {10.02, 10.08, 10.04, 9.98}, six[] = {10.02, 10.14, 10.10, 9.98};
	make("ABBA", three);
	v = judge(4, "p50", &plain);
	is_near(v.effect / v.s, 60 / 28.284, .001, "2.1 times the estimated s");
	IS_STR(tare_verdict_name(v.kind), "inconclusive", "four rounds claim nothing there");
	is_near(v.detectable / v.s, 5.65, .01, "they see 5.65 s_r at 80 %");
	make("ABBA", six);
	v = judge(4, "p50", &plain);
	IS_STR(tare_verdict_name(v.kind), "inconclusive", "nor at 4.2 s, the half width being 4.3");
	calibration = (struct tare_spread){28, 9};
	calibrated.calibrated = &calibration;
	v = judge(4, "p50", &calibrated);
	IS_STR(tare_verdict_name(v.kind), "effect", "which a calibration makes an effect");
}

static void test_order(void)
{
	const double a_then_b[] = {4.70, 4.66, 4.68, 4.71, 4.61, 4.58, 4.60, 4.63};
	make("AAAABBBB", a_then_b);
	struct tare_verdict v = judge(8, "p50", &plain);
	OK(!v.ordered, "all A, then all B: no order to use");
	is_near(v.effect, -80, .001, "Hodges and Lehmann");
	is_near(v.chance, .0286, .00005, "Mann and Whitney");
	IS_STR(tare_verdict_name(v.kind), "effect", "4 + 4 rounds that do not overlap");
	make("AAABBB", (const double[]){4.70, 4.66, 4.68, 4.61, 4.58, 4.60});
	v = judge(6, "p50", &plain);
	IS_STR(tare_verdict_name(v.kind), "inconclusive", "3 + 3 cannot reach 5 %");
	char text[512];
	tare_verdict_sentence(&v, text, sizeof text);
	OK(strstr(text, "3 + 3 rounds cannot reach 5 %") != NULL, "and it is said: %s", text);
	make("ABBABAAB", a_then_b);
	trials[3].at_ns = TARE_NO_TIME;
	v = judge(8, "p50", &plain);
	OK(!v.ordered, "a start time is missing: no order");
}

static void test_visible(void)
{
	make("ABBA", (const double[]){4.70, 4.31, 4.29, 4.66});
	struct tare_verdict v = judge(4, "p99.9", &plain);
	OK(v.kind != TARE_VERDICT_INVALID, "10 behind p99.9 are enough");
	rows[2].n = 9998;
	rows[2].ranked[2].rank = 9989;
	v = judge(4, "p99.9", &plain);
	IS_STR(v.reason, "p99.9 is not visible in 1 of 4 rounds: 9998 values in the smallest, it needs 10000", "9 are not");
	v = judge(4, "late:p50", &plain);
	IS_STR(tare_verdict_name(v.kind), "invalid", "a span that nobody measured");
}

static void test_label(void)
{
	/* peer CPU 25 at 3.90, CPU 19 at 4.70; the change itself takes 0.05 off */
	const double values[] = {3.901, 4.651, 3.849, 4.699, 3.850, 3.900, 3.899, 3.851};
	const int16_t cpu[] = {25, 19, 25, 19, 25, 25, 25, 25};
	make("ABBABAAB", values);
	for (int i = 0; i < 8; i++) {
		trials[i].cpus = 1;
		trials[i].peer_cpus = true;
		trials[i].on[0].cpu = cpu[i];
		trials[i].on[0].share = 1;
	}
	struct tare_verdict v = judge(8, "p50", &plain);
	OK(v.by_label, "the CPU is a covariate");
	is_near(v.effect, -50, 1, "the path, within a CPU");
	IS_STR(tare_verdict_name(v.kind), "effect", "is seen in spite of the moves");
	/* the responder moved with the arm */
	for (int i = 0; i < 8; i++) {
		trials[i].on[0].cpu = trials[i].arm ? 25 : 19;
		rows[i].ranked[0].value_ns = trials[i].arm ? 3900 + i : 4700 + i;
	}
	v = judge(8, "p50", &plain);
	OK(v.moved && !v.by_label, "place and change cannot be told apart");
	char text[512];
	tare_verdict_evidence(&v, text, sizeof text);
	OK(strstr(text, "the responder moved with the change (peer CPU 19 100 % -> 0 %, peer CPU 25 0 % -> 100 %)") != NULL,
		"and it is said: %s", text);
	/* shares: 60 % of A's requests on CPU 19, 20 % of B's; notes' decomposition -0.37 = -0.32 - 0.05 */
	for (int i = 0; i < 8; i++) {
		double share = (trials[i].arm ? .2 : .6) + (i % 4 < 2 ? .01 : -.01) * (i < 4 ? 1 : 2);
		trials[i].cpus = 2;
		trials[i].on[0].cpu = 19;
		trials[i].on[0].share = share;
		trials[i].on[1].cpu = 25;
		trials[i].on[1].share = 1 - share;
		rows[i].ranked[0].value_ns = (int64_t)(3900 + 800 * share - (trials[i].arm ? 50 : 0) + .5);
	}
	v = judge(8, "p50", &plain);
	is_near(v.effect, -50, 1, "shares: the path got 0.05 faster");
	is_near(v.total, -370, 10, "of 0.37 in all");
	OK(strstr(v.places, "peer CPU 19 60 % -> 20 %") != NULL, "the rest is the place: %s", v.places);
}

/* Each round has 0.20 µs of what the round before left behind; the arms differ by 0.40. */
static void test_carry(void)
{
	const double wobble[] = {0, .002, -.001, .001, -.002, .001, .002, -.001};
	const char *orders[] = {"ABBABAABBAABABBA", "ABABABABABABABAB", "ABBABAAB"};
	double values[16];
	for (int k = 0; k < 3; k++) {
		size_t n = strlen(orders[k]);
		for (size_t i = 0; i < n; i++)
			values[i] = 4 + .4 * (orders[k][i] == 'B') + .2 * (orders[k][i ? i - 1 : 0] == 'B') + wobble[i % 8];
		make(orders[k], values);
		struct tare_verdict v = judge(n, "p50", &plain);
		if (k > 0) {
			OK(isnan(v.carry) && isfinite(v.effect), "%s: no term for it", orders[k]);
			continue;
		}
		OK(fabs(v.effect - 400) < 3, "the effect without what was left over, %.1f ns", v.effect);
		OK(fabs(v.carry - 200) < 3 && v.carry_chance < 1e-6, "what was left over, %.1f ns", v.carry);
		char text[512];
		tare_verdict_evidence(&v, text, sizeof text);
		OK(strstr(text, "left over from the round before +0.20"), "said: %s", text);
	}
}

static void modes_are(const char *order, const double *values, const double *shares, bool doubted, const char *what)
{
	struct tare_figure p50 = figure_of("p50");
	struct tare_reasons reasons = {0};
	char text[256] = "";
	make(order, values);
	for (int i = 0; i < 8; i++)
		trials[i].slow_share = shares[i];
	tare_trials_doubts(trials, 8, &p50, &reasons);
	bool told = tare_trials_modes(trials, 8, text, sizeof text);
	OK((reasons.count == 1) == doubted, "%s: %s%s", what, reasons.count ? reasons.text[0] : "no doubt, ", text);
	OK(!(doubted && told), "either a doubt or a note");
}

static void test_modes(const double *values)
{
	const double created[] = {NAN, .4, .5, NAN, .9, NAN, NAN, .3}, created_later[] = {NAN, NAN, NAN, NAN, .4, .5, .9, .3};
	const double steady[] = {.6, .2, .2, .6, .25, .55, .6, .2}, moving[] = {.1, .9, .95, .0, 1, .1, .55, .9};
	const double steady_later[] = {.6, .6, .6, .55, .2, .2, .25, .2}, lone[] = {NAN, .9, NAN, NAN, NAN, NAN, NAN, NAN};
	modes_are("ABBABAAB", values, created, false, "a second mode in all of B and none of A is B's");
	modes_are("AAAABBBB", values, created_later, false, "… also when they do not alternate");
	modes_are("ABBABAAB", values, steady, false, "shares that hold still within arms that alternate");
	modes_are("AAAABBBB", values, steady_later, true, "… after each other they may be anything's");
	modes_are("ABBABAAB", values, moving, true, "shares that move within an arm are not the arm's alone");
	modes_are("ABBABAAB", values, lone, false, "one round proves nothing");
}

static void test_doubts(void)
{
	struct tare_figure p50 = figure_of("p50");
	struct tare_reasons reasons = {0};
	const double values[] = {4.70, 4.31, 4.30, 4.67, 4.28, 4.66, 4.64, 4.27};
	make("ABBABAAB", values);
	tare_trials_doubts(trials, 8, &p50, &reasons);
	IS_I64(reasons.count, 0, "nothing to doubt");
	trials[3].rate_held = 940;
	tare_trials_doubts(trials, 8, &p50, &reasons);
	IS_STR(reasons.text[0], "the rate was not held in 1 of 8 rounds: 1k/s asked, 940/s held in the worst", "rate");
	reasons.count = 0;
	trials[3].rate_held = NAN;
	for (int i = 0; i < 8; i++)
		rows[i].unanswered = trials[i].arm ? 20 : 0;
	tare_trials_doubts(trials, 8, &p50, &reasons);
	OK(reasons.count == 1 && strncmp(reasons.text[0], "loss differs, 0 of 40000 against 80 of 40080", 44) == 0, "loss: %s",
		reasons.text[0]);
	reasons.count = 0;
	struct tare_figure loss = figure_of("loss");
	tare_trials_doubts(trials, 8, &loss, &reasons);
	IS_I64(reasons.count, 0, "where loss is the figure it is no doubt");
	make("ABBABAAB", values);
	for (int i = 0; i < 8; i++)
		trials[i].slowest.position = i < 5 ? 0 : 700;
	tare_trials_doubts(trials, 8, &p50, &reasons);
	OK(reasons.count == 1 && strstr(reasons.text[0], "warm-up is too short") != NULL, "warm-up: %s", reasons.text[0]);
	reasons.count = 0;
	make("ABBABAAB", values);
	test_modes(values);
	make("ABBABAAB", values);
	rows[6].n = 0;
	tare_trials_doubts(trials, 8, &p50, &reasons);
	OK(reasons.count == 1 && strstr(reasons.text[0], "nothing answered in 1 of 8 rounds, first in round 7") != NULL,
		"silence: %s", reasons.text[0]);
}

static void refused(const char *figure_text, const char *want)
{
	struct tare_figure figure = figure_of(figure_text);
	struct tare_err err = {0};
	OK(tare_trials_check(trials, 4, &figure, &err) < 0 && strstr(err.text, want), "refused: %s", err.text);
}

static void test_refusals(void)
{
	const double values[] = {4.70, 4.31, 4.29, 4.66};
	struct tare_figure p50 = figure_of("p50");
	make("ABBA", values);
	OK(tare_trials_check(trials, 4, &p50, NULL) == 0, "a fair comparison");
	make("AAAA", values);
	refused("p50", "B has no round");
	make("ABBA", values);
	trials[1].interval_ns = 20000;
	refused("p50", "1k/s");
	make("ABBA", values);
	trials[1].payload_bytes = 1400;
	refused("p50", "sizes");
	make("ABBA", values);
	trials[1].warmup = 0;
	refused("p50", "--warmup");
	make("ABBA", values);
	trials[1].kind = "icmp";
	refused("p50", "different quantities");
	make("ABBA", values);
	rows[2].span = TARE_SPAN_WIRE;
	refused("p50", "wire is another quantity");
	make("ABBA", values);
	rows[2].n = 5000;
	refused("pdv", "depends on how many");
	OK(tare_trials_check(trials, 4, &p50, NULL) == 0, "a median does not");
	struct tare_figure figure;
	struct tare_err err = {0};
	OK(tare_figure_parse("p101", &figure, &err) < 0, "%s", err.text);
	OK(tare_figure_parse("jitter", &figure, &err) < 0, "%s", err.text);
	OK(tare_figure_parse("elsewhere:p50", &figure, &err) < 0, "%s", err.text);
	OK(tare_figure_parse("late:p99.90", &figure, &err) == 0 && strcmp(figure.name, "late:p99.9") == 0, "late:p99.90");
}

static void test_counts(void)
{
	const double values[] = {4.7, 4.7, 4.7, 4.7, 4.7, 4.7, 4.7, 4.7};
	make("ABBABAAB", values);
	struct tare_verdict v = judge(8, "stalls", &plain);
	IS_STR(tare_verdict_name(v.kind), "inconclusive", "no stall in either");
	says(&v, "inconclusive on stalls (0 in 40 s against 0 in 40 s), which shows fewer than 270 an hour in each (95 %)");
	static const uint64_t few[] = {1, 3, 3, 1, 3, 0, 1, 3};
	for (int i = 0; i < 8; i++)
		stalls[i].episodes = few[i];
	v = judge(8, "stalls", &plain);
	IS_STR(tare_verdict_name(v.kind), "effect", "3 against 12");
	is_near(v.chance, .0352, .00005, "p");
	OK(!v.bursts, "one by one");
	/* all twelve in one round */
	for (int i = 0; i < 8; i++)
		stalls[i].episodes = i == 1 ? 40 : 0;
	v = judge(8, "stalls", &plain);
	OK(v.bursts && v.kind == TARE_VERDICT_INCONCLUSIVE, "40 in one round of B are one event");
	make("ABBABAAB", values);
	for (int i = 0; i < 8; i++)
		rows[i].unanswered = trials[i].arm ? 5 : 0;
	v = judge(8, "loss", &plain);
	IS_STR(tare_verdict_name(v.kind), "effect", "20 lost against none");
	IS_I64(tare_verdict_exit(&v), 1, "worse");
}

static void test_many(void)
{
	struct tare_verdict several[6];
	memset(several, 0, sizeof several);
	static const double chances[] = {.2, .001, .012, .03, .04, .2};
	for (int i = 0; i < 6; i++) {
		several[i].kind = TARE_VERDICT_EFFECT;
		several[i].chance = several[i].chance_adjusted = chances[i];
	}
	tare_verdicts_adjust(several, 6, .95);
	is_near(several[0].chance_adjusted, .2, 0, "the primary stands alone");
	is_near(several[1].chance_adjusted, .005, 1e-12, "Holm");
	is_near(several[2].chance_adjusted, .048, 1e-12, "Holm");
	OK(several[2].kind == TARE_VERDICT_EFFECT && several[3].kind == TARE_VERDICT_INCONCLUSIVE, "0.03 among five is none");
}

/* The second note: moderation of 100 against 0, at two rates, with its retest differences. */
static void test_moderation(void)
{
	const double slow[] = {4.66, 4.65, 4.63, 4.68, 4.64, 4.66, 4.65, 4.66};
	make("ABBABAAB", slow);
	struct tare_verdict_rules two = {.level = .95, .margin_share = .02};
	struct tare_verdict v = judge(8, "p50", &two);
	IS_STR(tare_verdict_name(v.kind), "same", "at 1 000/s: no effect within 2 %");
	const double fast[] = {4.35, 149.60, 149.70, 4.37, 149.62, 4.34, 4.34, 149.64};
	make("ABBABAAB", fast);
	v = judge(8, "p50", &plain);
	char text[512];
	tare_verdict_sentence(&v, text, sizeof text);
	OK(strncmp(text, "effect: B is 145.29 µs slower on p50 (149.64 against 4.35), 95 % +145.2", 71) == 0,
		"at 50 000/s: %s", text);
	/* the median of A drifts from 4.70 to 4.61 in 50 minutes and B with it */
	double drifting[8];
	for (int i = 0; i < 8; i++)
		drifting[i] = 4.70 - .09 * i / 7 + (i % 3 == 1 ? .004 : i % 3 == 2 ? -.003 : 0);
	make("ABBABAAB", drifting);
	v = judge(8, "p50", &plain);
	OK(v.kind == TARE_VERDICT_INCONCLUSIVE && v.drift < -10, "drift of %.1f ns a round is no effect (%.1f)", v.drift, v.effect);
	v = judge(8, "p50", &two);
	IS_STR(tare_verdict_name(v.kind), "same", "and none within 2 %");
}

int main(void)
{
	test_carry();
	test_ladder();
	test_four();
	test_order();
	test_visible();
	test_label();
	test_doubts();
	test_refusals();
	test_counts();
	test_many();
	test_moderation();
	return tap_done();
}
