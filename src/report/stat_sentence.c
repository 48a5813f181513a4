/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The sentences under a table: each says something that a reader of the figures
 * alone would get wrong, and only when it is true of this series.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/stat_insight.h"
#include "report/stat_note.h"

/* Below this deviations and jitters say more of the sample than of the path. */
enum { JITTER_LEAST = 30 };

/* One sentence under way, in a fixed room. */
struct saying {
	FILE *out;
	int width;
	const struct scale *scale;
};

static const struct tare_row *row_of(const struct stat_block *block, enum tare_span span)
{
	for (size_t i = 0; i < block->count; i++) {
		if (block->row[i]->span == span)
			return block->row[i];
	}
	return NULL;
}

/* A figure of the table once more, in its unit: "19.96 µs". */
static const char *figure(const struct scale *scale, const struct tare_row *row, int64_t ns, char buffer[48])
{
	char digits[32];
	scale_format(scale, ns, row->resolution_ns, digits, sizeof(digits));
	snprintf(buffer, 48, "%s %s", digits, scale->unit);
	return buffer;
}

/* Two digits: "0.05 %", "12 %"; never 0 % for what happened, nor 100 % for what did not quite. */
static const char *percent(uint64_t part, uint64_t whole, char buffer[32])
{
	double share = whole ? 100.0 * (double)part / (double)whole : 0;
	if (share > 0 && share < 1e-4)
		snprintf(buffer, 32, "under 0.0001 %%");
	else if (share < 99.5 || part == whole)
		snprintf(buffer, 32, share < 10 ? "%.2g %%" : "%.0f %%", share);
	else
		snprintf(buffer, 32, "over 99 %%");
	return buffer;
}

/* Errors that are answers, only not the ones expected. */
static uint64_t count_wrong(const struct stat_note *note)
{
	uint64_t wrong = 0;
	for (size_t i = 0; note && i < note->reason_count; i++)
		wrong += tare_reason_answered(note->reasons[i].reason) ? note->reasons[i].errors : 0;
	return wrong;
}

void stat_head_line(FILE *out, int width, const struct stat_block *block)
{
	const struct tare_row *row = block->row[0];
	uint64_t unanswered = row->lost + row->overdue + row->pending + row->error;
	uint64_t answered = row->sent > unanswered ? row->sent - unanswered : 0, wrong = count_wrong(block->note);
	char line[512], share[32];
	struct text text = TEXT_IN(line);

	if (row->sent == 0 && row->not_sent == 0) {
		bool summary = row->origin.shape == TARE_SHAPE_SUMMARY && !row->origin_mixed;
		report_sentence(out, width, "%s   %s", row->target ? row->target : "",
			summary ? "a summary, no samples" : "no request");
		return;
	}
	if (tare_row_losses_known(row))
		text_add(&text, "%" PRIu64 " sent, %" PRIu64 " answered, %" PRIu64 " lost", row->sent, answered, row->lost);
	else
		text_add(&text, "%" PRIu64 " answered; what was lost is not in the source", answered);
	if (row->lost)
		text_add(&text, " (%s)", percent(row->lost, row->sent, share));
	if (row->overdue)
		text_add(&text, ", %" PRIu64 " overdue", row->overdue);
	if (wrong)
		text_add(&text, ", %" PRIu64 " answered otherwise", wrong);
	if (row->error > wrong)
		text_add(&text, ", %" PRIu64 " refused", row->error - wrong);
	if (row->pending)
		text_add(&text, ", %" PRIu64 " pending", row->pending);
	if (row->not_sent)
		text_add(&text, ", %" PRIu64 " not sent", row->not_sent);
	report_sentence(out, width, "%s   %s", row->target ? row->target : "", line);
}

static void say_first(const struct saying *say, const struct stat_block *block, const struct tare_rules *rules)
{
	const struct tare_row *row = block->row[0];
	int64_t warmup = rules->warmup >= 0 ? rules->warmup : block->note ? block->note->warmup : 2;
	char first[48], second[48], ratio[32] = "";
	if (row->round == 0 || row->first_ns == TARE_NO_TIME)
		return;
	figure(say->scale, row, row->first_ns, first);
	for (uint32_t i = 0; i < rules->percentiles; i++) {
		const struct tare_ranked *median = &row->ranked[i];
		if (strcmp(rules->percentile[i].text, "50") == 0 && median->value_ns > 0)
			snprintf(ratio, sizeof(ratio), " (%.1f x p50)",
				(double)row->first_ns / (double)median->value_ns);
	}
	if (row->second_ns == TARE_NO_TIME) {
		report_sentence(say->out, say->width, "first request %s%s: %s.", first, ratio,
			warmup > 0 ? "kept apart" : "counted");
		return;
	}
	figure(say->scale, row, row->second_ns, second);
	if (warmup == 1)
		report_sentence(say->out, say->width, "first request %s%s: kept apart; second %s: counted.", first,
			ratio, second);
	else
		report_sentence(say->out, say->width, "first request %s%s, second %s: %s.", first, ratio, second,
			warmup == 0  ? "counted"
			: warmup > 2 ? "kept apart with the rest of the warm-up"
				     : "kept apart");
}

/* The highest percentile that may be read and still lies below the stalls, or NULL. */
static const char *blind_percentile(const struct tare_row *row, const struct tare_rules *rules)
{
	const char *blind = NULL;
	int64_t highest_ns = 0;
	for (uint32_t i = 0; i < rules->percentiles; i++) {
		const struct tare_ranked *ranked = &row->ranked[i];
		if (ranked->grade == TARE_GRADE_NONE || ranked->value_ns > row->stall_limit_ns)
			continue;
		if (!blind || ranked->value_ns >= highest_ns) {
			blind = rules->percentile[i].text;
			highest_ns = ranked->value_ns;
		}
	}
	return blind;
}

/* Counts as episodes and rates where the samples were seen, else the count of the row. */
static void say_stalls(const struct saying *say, const struct stat_block *block, const struct tare_rules *rules)
{
	const struct tare_row *row = block->row[0];
	const struct tare_row *late = row_of(block, TARE_SPAN_LATE);
	char limit[48], share[32], blind[64] = "", line[INSIGHT_TEXT];
	const char *p = row->stalls && row->stall_limit_ns != TARE_NO_TIME ? blind_percentile(row, rules) : NULL;
	if (p)
		snprintf(blind, sizeof(blind), "; p%s does not see %s", p, row->stalls == 1 ? "it" : "them");
	if (block->note && block->note->stalls.n && row->span != TARE_SPAN_GAP) {
		tare_stalls_sentence(&block->note->stalls, line, sizeof(line));
		report_sentence(say->out, say->width, "%s%s.", line, blind);
	} else if (row->stalls > 0) {
		report_sentence(say->out, say->width, "%" PRIu64 " %s above %s, %s of requests%s.", row->stalls,
			row->stalls == 1 ? "stall" : "stalls",
			row->stall_limit_ns == TARE_NO_TIME ? "the limits of their rounds"
							    : figure(say->scale, row, row->stall_limit_ns, limit),
			percent(row->stalls, row->n, share), blind);
	}
	if (late && late->stalls > 0) {
		report_sentence(say->out, say->width,
			"%" PRIu64 " %s left later than %s: that is our side, and rtt does not see it.", late->stalls,
			late->stalls == 1 ? "request" : "requests",
			late->stall_limit_ns == TARE_NO_TIME ? "the stall limits of their rounds"
							     : figure(say->scale, late, late->stall_limit_ns, limit));
	}
}

static void add_reason(struct text *text, uint16_t reason, uint64_t count, bool first)
{
	char words[48];
	tare_reason_text(reason, words, sizeof words);
	text_add(text, "%s%" PRIu64 " x %s", first ? "" : ", ", count, words);
	if (reason && reason < TARE_REASON_UNEXPECTED && strerrorname_np(reason))
		text_add(text, " (%s)", strerrorname_np(reason));
}

/* Which of the three sentences about failures a reason belongs to. */
enum failure { FAILURE_REFUSED, FAILURE_ANSWERED, FAILURE_NOT_SENT, FAILURES };

static uint64_t count_of_failure(const struct stat_note *note, size_t i, enum failure failure)
{
	bool answered = tare_reason_answered(note->reasons[i].reason);
	if (failure == FAILURE_NOT_SENT)
		return note->reasons[i].not_sent;
	return answered == (failure == FAILURE_ANSWERED) ? note->reasons[i].errors : 0;
}

static void say_errors(const struct saying *say, const struct stat_note *note)
{
	static const char *const words[FAILURES] = {
		"refused by the network", "answered otherwise than expected", "not accepted by the kernel"};
	for (int failure = 0; failure < FAILURES; failure++) {
		char line[400];
		struct text text = TEXT_IN(line);
		for (size_t i = 0; i < note->reason_count; i++) {
			uint64_t count = count_of_failure(note, i, (enum failure)failure);
			if (count)
				add_reason(&text, note->reasons[i].reason, count, text.used == 0);
		}
		if (text.used)
			report_sentence(say->out, say->width, "%s: %s%s.", words[failure], line,
				text.cut || note->other_reasons ? ", …" : "");
	}
}

static void say_count(const struct saying *say, uint64_t count, const char *one, const char *many)
{
	if (count)
		report_sentence(say->out, say->width, "%" PRIu64 " %s.", count, count == 1 ? one : many);
}

static void say_fates(const struct saying *say, const struct stat_block *block, const struct tare_rules *rules)
{
	const struct tare_row *row = block->row[0];
	char timeout[32], line[200];
	struct text text = TEXT_IN(line);

	if (row->overdue) {
		format_duration(block->note ? block->note->round->timeout_ns : 0, timeout, sizeof(timeout));
		report_sentence(say->out, say->width,
			"%" PRIu64 " answered after the timeout%s%s: counted, with the time taken.", row->overdue,
			block->note ? " of " : "", block->note ? timeout : "");
	}
	if (row->unanswered && row->n && rules->over_sent)
		report_sentence(say->out, say->width,
			"percentiles are over the %" PRIu64 " received and %" PRIu64 " unanswered, which count as infinitely late.",
			row->n, row->unanswered);
	else if (row->lost && row->n)
		report_sentence(say->out, say->width,
			"percentiles are over the %" PRIu64 " received; what was lost is in none.", row->n);
	if (row->n == 0 && row->sent)
		report_sentence(say->out, say->width, "nothing was counted: no figure can be given.");
	if (row->duplicate)
		text_add(&text, "%" PRIu64 " duplicate", row->duplicate);
	if (row->reordered)
		text_add(&text, "%s%" PRIu64 " reordered", text.used ? ", " : "", row->reordered);
	if (row->foreign)
		text_add(&text, "%s%" PRIu64 " foreign", text.used ? ", " : "", row->foreign);
	if (text.used)
		report_sentence(say->out, say->width, "%s: counted beside.", line);
}

static void say_stamps(const struct saying *say, const struct stat_note *note)
{
	for (unsigned stage = 0; stage < TARE_STAGE_COUNT; stage++) {
		uint64_t missing = note->stamp_missing[stage], asked = note->stamp_asked[stage];
		const char *name = tare_stage_name((enum tare_stage)stage);
		if (missing && missing == asked)
			report_sentence(
				say->out, say->width, "stamp %s: asked for, none of %" PRIu64 " arrived.", name, asked);
		else if (missing)
			report_sentence(say->out, say->width,
				"stamp %s: %" PRIu64 " of %" PRIu64 " asked for did not arrive.", name, missing, asked);
	}
}

static uint64_t flagged(const struct stat_note *note, unsigned flag)
{
	return note->flagged[__builtin_ctz(flag)];
}

static void say_flags(const struct saying *say, const struct stat_note *note)
{
	say_count(say, flagged(note, TARE_FLAG_SKIPPED), "slot was skipped as too late",
		"slots were skipped as too late");
	say_count(say, flagged(note, TARE_FLAG_IMPOSSIBLE), "request had a stamp out of order, which was dropped",
		"requests had stamps out of order, which were dropped");
	say_count(say, flagged(note, TARE_FLAG_CLOCK_STEP),
		"request lies at a step of the wall clock: its kernel stamps were dropped",
		"requests lie at a step of the wall clock: their kernel stamps were dropped");
	say_count(say, flagged(note, TARE_FLAG_TRUNCATED), "reply came with its control data cut",
		"replies came with their control data cut");
	if (flagged(note, TARE_FLAG_INJECTING))
		report_sentence(say->out, say->width,
			"faults were injected on purpose: this round shows them, not the system.");
	say_count(say, flagged(note, TARE_FLAG_INJECTED), "request was held or disturbed on purpose",
		"requests were held or disturbed on purpose");
	say_count(say, flagged(note, TARE_FLAG_GUESSED),
		"error message named no request: the oldest open one was taken",
		"error messages named no request: the oldest open ones were taken");
	say_count(say, note->foreign_errors, "error message fitted no open request",
		"error messages fitted no open request");
}

static void say_text(const struct saying *say, const char *text)
{
	if (text[0])
		report_sentence(say->out, say->width, "%s.", text);
}

/* The grid goes without saying. */
static void say_schedule(const struct saying *say, const struct tare_row *row)
{
	if (strcmp(row->schedule, "poisson") == 0)
		report_sentence(say->out, say->width,
			"Poisson schedule: gaps are exponential, and some requests meet the one before them.");
	else if (strncmp(row->schedule, "burst:", 6) == 0)
		report_sentence(say->out, say->width,
			"bursts: %s requests are due together, and all but the first wait behind others.", row->schedule + 6);
}

static void say_insight(const struct saying *say, const struct stat_insight *insight)
{
	if (!insight)
		return;
	say_text(say, insight->modes);
	say_text(say, insight->changes);
	say_text(say, insight->warmup);
	say_text(say, insight->dependence);
}

static void say_variation(const struct saying *say, const struct tare_row *row, const struct tare_rules *rules)
{
	const struct tare_row_variation *v = &row->variation;
	char p50[48], p99[48], others[4][32], jitter[32] = "";
	if (row->pdv_ns != TARE_NO_TIME && v->ipdv_p50_ns != TARE_NO_TIME)
		report_sentence(say->out, say->width,
			"pdv is p99.9 - min of %" PRIu64 " requests; neighbours differ by %s at p50, %s at p99 (IPDV, RFC 3393).", row->n,
			figure(say->scale, row, v->ipdv_p50_ns, p50), figure(say->scale, row, v->ipdv_p99_ns, p99));
	if (!rules->moments || !(v->mean_ns == v->mean_ns))
		return;
	const double values[] = {v->mean_ns, v->deviation_ns, v->mean_first_ns, v->deviation_first_ns};
	for (size_t i = 0; i < 4; i++) {
		if (values[i] == values[i])
			snprintf(others[i], sizeof(others[i]), "%.2f", values[i] / (double)say->scale->ns);
		else
			snprintf(others[i], sizeof(others[i]), "not known");
	}
	if (v->rfc3550_jitter_ns == v->rfc3550_jitter_ns)
		snprintf(jitter, sizeof(jitter), ", RFC 3550 J %.2f", v->rfc3550_jitter_ns / (double)say->scale->ns);
	report_sentence(say->out, say->width,
		"mean %s, standard deviation %s; with the first two requests %s and %s; p95 - p50 %s%s.", others[0], others[1],
		others[2], others[3],
		v->p95_less_p50_ns == TARE_NO_TIME ? "not known" : figure(say->scale, row, v->p95_less_p50_ns, p50), jitter);
	if (row->n < JITTER_LEAST)
		report_sentence(say->out, say->width, "deviations and jitters of fewer than %d requests mean little.", JITTER_LEAST);
}

static void say_intervals(const struct saying *say, const struct tare_row *row, const struct tare_rules *rules)
{
	char line[700], low[48], high[48];
	struct text text = TEXT_IN(line);
	if (!(rules->level > 0) || !row->n)
		return;
	for (uint32_t i = 0; i < rules->percentiles; i++) {
		const struct tare_ranked *ranked = &row->ranked[i];
		text_add(&text, "%sp%s ", i ? ", " : "", rules->percentile[i].text);
		if (ranked->low_ns == TARE_NO_TIME && ranked->high_ns == TARE_NO_TIME)
			text_add(&text, "none");
		else if (ranked->high_ns == TARE_NO_TIME)
			text_add(&text, "above %s", figure(say->scale, row, ranked->low_ns, low));
		else if (ranked->low_ns == TARE_NO_TIME)
			text_add(&text, "below %s", figure(say->scale, row, ranked->high_ns, high));
		else
			text_add(&text, "%s to %s", figure(say->scale, row, ranked->low_ns, low),
				figure(say->scale, row, ranked->high_ns, high));
	}
	report_sentence(say->out, say->width, "%g %% intervals of %s, independent requests taken for granted: %s.",
		100 * rules->level, tare_span_name(row->span), line);
}

void stat_sentences(
	FILE *out, int width, const struct stat_block *block, const struct tare_rules *rules, const struct scale *scale)
{
	struct saying say = {.out = out, .width = width, .scale = scale};
	say_schedule(&say, block->row[0]);
	say_first(&say, block, rules);
	say_stalls(&say, block, rules);
	say_insight(&say, block->note ? block->note->insight : NULL);
	say_variation(&say, block->row[0], rules);
	say_intervals(&say, block->row[0], rules);
	say_fates(&say, block, rules);
	if (!block->note)
		return;
	say_errors(&say, block->note);
	say_flags(&say, block->note);
	say_stamps(&say, block->note);
}
