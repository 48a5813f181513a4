/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The plan: how long, what it can see, and what no plan at this rate can say.
 * Being told that eight rounds see 1.4 % is worth more before than after.
 */
#include "cli/plan_lines.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/calibration_file.h"
#include "report/report.h"

uint64_t plan_moderation_us(const char *command)
{
	static const char word[] = "rx-usecs";
	for (const char *at = command; at && (at = strstr(at, word)); at += sizeof word - 1) {
		const char *number = at + sizeof word - 1;
		number += strspn(number, " =");
		if (number[0] >= '0' && number[0] <= '9')
			return strtoull(number, NULL, 10);
	}
	return 0;
}

uint64_t plan_requests(const struct session_config *config)
{
	if (!config->for_ns)
		return config->count;
	uint64_t slots = (uint64_t)(config->for_ns / config->every_ns);
	return slots > config->warmup ? slots - config->warmup : 0;
}

static void print_schedule(struct cli *cli, const struct comparison_plan *plan)
{
	char line[400], each[32], apart[32], whole[32];
	struct text text = TEXT_IN(line);
	size_t rounds = strlen(plan->order);
	/* an answer that is overdue stretches a round by the timeout at most */
	int64_t round_ns = (int64_t)(plan_requests(plan->session) + plan->session->warmup) * plan->session->every_ns;
	format_duration(round_ns, each, sizeof each);
	format_duration(plan->settle_ns, apart, sizeof apart);
	format_duration((int64_t)(rounds - plan->done + 1) * (round_ns + plan->settle_ns), whole, sizeof whole);
	text_add(&text, "plan: one round to settle, then");
	for (size_t i = 0; i < rounds && i < 48; i++)
		text_add(&text, " %c", plan->order[i]);
	if (rounds > 48)
		text_add(&text, " ...");
	if (plan->done)
		text_add(&text, " (%zu of %zu are measured)", plan->done, rounds);
	text_add(&text, ", %s each and %s between, about %s", each, apart, whole);
	report_sentence(cli->note, cli->note_tty ? cli->columns : 0, "%s.", line);
}

/* What this many rounds see, as a share or in units of s_r. */
static void print_power(struct cli *cli, const struct comparison_plan *plan, const struct calibration_file *file)
{
	const struct question *question = plan->question;
	const struct tare_figure *figure = &question->figures[0];
	struct tare_design design = tare_design_of(strlen(plan->order));
	struct tare_calibration calibration;
	char line[400];
	struct text text = TEXT_IN(line);
	if (tare_figure_is_count(figure)) {
		/* that k fall into one of two equal arms has the chance 2 / 2^k: six are the fewest below 5 % */
		report_sentence(cli->note, cli->columns,
			"      a count: with none in one arm, 6 in the other are an effect (p 0.03); where they come in bursts the "
			"rounds must differ too.");
		return;
	}
	if (!file || !calibration_file_figure(file, figure, &calibration)) {
		text_add(&text, "without a calibration: sees %.1f s_r of %s at 80 %% power, whatever s_r is here",
			tare_detectable(design.per_s, design.degrees, 0.95, 0.80), figure->name);
		report_sentence(cli->note, cli->columns, "      %s.", line);
		return;
	}
	double s = calibration.sitting.s;
	double sees = s * tare_detectable(design.per_s, design.degrees + calibration.sitting.degrees, 0.95, 0.80);
	text_add(&text, "with %" PRIu64 " rounds of calibration (s_r %.2g %%) this sees %.2g %% of %s at 80 %% power",
		calibration.rounds, 100 * s, 100 * sees, figure->name);
	double wanted = question->margin_share > 0 ? question->margin_share
			: question->margin_ns      ? (double)question->margin_ns / calibration.centre_ns
						   : sees / 2;
	uint64_t needed = question->margin_share > 0 || question->margin_ns ? tare_rounds_to_claim_same(wanted / s, 0.95, 0.80)
									    : tare_rounds_to_find(wanted / s, 0.95, 0.80);
	if (needed)
		text_add(&text, "; %s %.2g %% needs %" PRIu64,
			question->margin_share > 0 || question->margin_ns ? "\"no effect within\"" : "", 100 * wanted, needed);
	report_sentence(cli->note, cli->columns, "      %s.", line);
}

int plan_check_visible(const struct tare_figure *figure, uint64_t n, struct tare_err *err)
{
	struct tare_percentile p = figure->percentile;
	if (figure->kind == TARE_FIGURE_PDV) {
		if (tare_percentile_parse("99.9", &p, err) < 0)
			return -1;
	} else if (figure->kind != TARE_FIGURE_PERCENTILE) {
		return 0;
	}
	uint64_t behind = n - tare_rank(&p, n);
	if (behind >= 10)
		return 0;
	return tare_fail(err, TARE_E_USAGE,
		"%s cannot be seen with %" PRIu64 " requests a round (%" PRIu64 " behind it): --count %" PRIu64
		" shows it, %" PRIu64 " compares it well",
		figure->name, n, behind, tare_needed(&p, 10), tare_needed(&p, 100));
}

static void print_grade(struct cli *cli, const struct comparison_plan *plan)
{
	const struct tare_figure *figure = &plan->question->figures[0];
	if (figure->kind != TARE_FIGURE_PERCENTILE)
		return;
	uint64_t n = plan_requests(plan->session), behind = n - tare_rank(&figure->percentile, n);
	fprintf(cli->note, "      %s has %" PRIu64 " behind it in each round: %s%s.\n", figure->name, behind,
		tare_grade_name(tare_grade_of(behind)),
		behind < 100 ? "; identical rounds differ by tens of per cent there" : "");
}

static void print_moderation(struct cli *cli, const struct comparison_plan *plan)
{
	uint64_t a = plan_moderation_us(plan->a), b = plan_moderation_us(plan->b), us = a > b ? a : b;
	char crossover[32], rate[32];
	if (us == 0)
		return;
	double per_second = 1e9 / (double)plan->session->every_ns;
	format_rate(1e6 / (double)us, crossover, sizeof crossover);
	format_rate(per_second, rate, sizeof rate);
	if (per_second < 1e6 / (double)us)
		report_sentence(cli->note, cli->columns,
			"      note: rx-usecs %" PRIu64 " holds packets for certain from %s on; at %s it depends on the driver "
			"whether lone packets are delayed: verify at peak.",
			us, crossover, rate);
	else
		report_sentence(cli->note, cli->columns, "      note: rx-usecs %" PRIu64 " holds packets at this rate (from %s on).",
			us, crossover);
}

int plan_lines_print(struct cli *cli, const struct comparison_plan *plan, struct tare_err *err)
{
	struct calibration_file *file = NULL;
	char note[CALIBRATION_NOTE] = "";
	const struct calibration_key key = {.like = plan->like, .cpu_class = cpu_class_of(plan->session->cpu)};
	if (plan_check_visible(&plan->question->figures[0], plan_requests(plan->session), err) < 0)
		return -1;
	if (plan->calibration && calibration_file_open(plan->calibration, &plan->question->rules, plan->question->figures,
					 plan->question->count, &key, &file, note, sizeof note, err) < 0)
		return -1;
	if (!plan->quiet) {
		print_schedule(cli, plan);
		print_grade(cli, plan);
		print_power(cli, plan, file);
		if (note[0])
			report_sentence(cli->note, cli->columns, "      %s.", note);
		print_moderation(cli, plan);
		fflush(cli->note);
	}
	calibration_file_free(file);
	return 0;
}
