/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rounds are counted as they are sealed, since the session gives their memory
 * away afterwards; only the small records that the view points to are kept.
 */
#include "cli/run_rounds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cli/live.h"
#include "cli/one_way.h"
#include "tare/rate.h"

struct kept_round {
	struct kept_round *next;
	struct tare_round round;
	char label[256];
};

int run_rounds_open(struct cli *cli, const struct session_config *config, const struct format *format, uint32_t spans,
	int64_t stall_limit_ns, struct run_rounds *ret_rounds, struct tare_err *err)
{
	struct tare_rules rules;
	tare_rules_default(&rules);
	rules.stall_limit_ns = stall_limit_ns;
	struct run_rounds rounds = {.cli = cli, .config = config, .format = format};
	rounds.swept = config->step_count > 0 && config->steps[0].every_ns > 0;
	if (stat_view_open(&rules, spans, &rounds.view, err) < 0)
		return -1;
	*ret_rounds = rounds;
	return 0;
}

static const struct tare_round *keep(struct run_rounds *rounds, const struct tare_round *round)
{
	struct kept_round *kept = calloc(1, sizeof *kept);
	if (!kept)
		return NULL;
	kept->round = *round;
	snprintf(kept->label, sizeof kept->label, "%s", round->label);
	kept->round.label = kept->label;
	kept->round.status = strcmp(round->status, "interrupted") == 0 ? "interrupted" : "finished";
	kept->next = rounds->kept;
	rounds->kept = kept;
	return &kept->round;
}

static void clear_progress(struct run_rounds *rounds)
{
	if (rounds->progress_shown)
		fputs("\r\033[K", rounds->cli->note);
	rounds->progress_shown = false;
}

static void judge_rate(struct run_rounds *rounds, const struct tare_record *record)
{
	/* a round cut short by Ctrl-C says nothing about the rate of its end */
	struct tare_rate rate = tare_rate_of(record);
	if (rate.ok || record->series.count < 2)
		return;
	if (!rounds->rate_missed || rate.held < rounds->held) {
		rounds->asked = rate.asked;
		rounds->held = rate.held;
	}
	rounds->rate_missed = true;
}

/* The highest rate at which every target kept to the schedule, and lost no more than it may. */
static void judge_sweep(struct run_rounds *rounds, const struct tare_record *records, size_t count)
{
	double asked = tare_rate_of(&records[0]).asked;
	for (size_t i = 0; i < count; i++) {
		struct tare_fates fates = tare_fates_of(&records[i].series);
		double lost = fates.sent ? (double)fates.count[TARE_LOST] / (double)fates.sent : 1;
		if (!tare_rate_of(&records[i]).ok || (rounds->config->stop_loss >= 0 && lost > rounds->config->stop_loss))
			return;
	}
	if (rounds->swept && asked > rounds->best) {
		rounds->best = asked;
		snprintf(rounds->best_label, sizeof rounds->best_label, "%s", records[0].round->label);
	}
}

static void say_round(struct run_rounds *rounds, const struct tare_round *round, uint64_t sent, uint64_t answered)
{
	size_t steps = rounds->config->step_count ? rounds->config->step_count : 1;
	if (rounds->config->rounds * steps == 1 || rounds->cli->note_tty)
		return;
	fprintf(rounds->cli->note, "round %u of %zu%s%s: %llu sent, %llu answered\n", round->number,
		rounds->config->rounds * steps, rounds->config->step_count ? ", " : "",
		rounds->config->step_count ? round->label : "", (unsigned long long)sent, (unsigned long long)answered);
	fflush(rounds->cli->note);
}

static int take_round(void *context, const struct tare_record *records, size_t count, struct tare_err *err)
{
	struct run_rounds *rounds = context;
	uint64_t sent = 0, answered = 0;
	const struct tare_round *round = keep(rounds, records[0].round);
	clear_progress(rounds);
	if (!round)
		return tare_fail_errno(err, ENOMEM, "cannot keep a round");
	rounds->targets = count;
	for (size_t i = 0; i < count; i++) {
		struct tare_record record = records[i];
		struct tare_fates fates = tare_fates_of(&record.series);
		record.round = round;
		rounds->urls[i] = record.target->url;
		rounds->answered[i] += fates.count[TARE_ANSWERED] + fates.count[TARE_OVERDUE];
		rounds->samples += record.series.count;
		sent += fates.sent;
		answered += fates.count[TARE_ANSWERED] + fates.count[TARE_OVERDUE];
		judge_rate(rounds, &record);
		if (one_way_add(rounds->view, NULL, &record, rounds->clock_bound_ns, rounds->clock_bound_ns > 0, err) < 0)
			return -1;
	}
	judge_sweep(rounds, records, count);
	say_round(rounds, round, sent, answered);
	return 0;
}

/* How many causes are listed by themselves; all of them are in the recording. */
enum { LISTED = 5 };

static int by_excess(const void *left, const void *right)
{
	const struct tare_cause *const *a = left, *const *b = right;
	if ((*a)->excess_ns != (*b)->excess_ns)
		return (*a)->excess_ns > (*b)->excess_ns ? -1 : 1;
	return ((*a)->sequence > (*b)->sequence) - ((*a)->sequence < (*b)->sequence);
}

static void list_worst(struct run_rounds *rounds, uint32_t round, const struct tare_cause *causes, size_t count)
{
	AUTO_FREE const struct tare_cause **stalls = calloc(count + 1, sizeof *stalls);
	size_t n = 0;
	for (size_t i = 0; stalls && i < count; i++)
		if (!causes[i].control)
			stalls[n++] = &causes[i];
	if (!stalls)
		return;
	qsort(stalls, n, sizeof *stalls, by_excess);
	for (size_t i = 0; i < n && i < LISTED; i++) {
		char line[320], why[200], length[32] = "lost";
		struct tare_err ignored;
		if (stalls[i]->excess_ns != TARE_NO_TIME)
			format_duration(stalls[i]->excess_ns, length, sizeof length);
		tare_cause_sentence(stalls[i], why, sizeof why);
		snprintf(line, sizeof line, "#%lld %s%s: %s", (long long)stalls[i]->sequence, length,
			stalls[i]->excess_ns == TARE_NO_TIME ? "" : " over the median", why);
		if (stat_view_say(rounds->view, NULL, round, false, line, &ignored) < 0)
			return;
	}
	if (n > LISTED) {
		struct tare_err ignored;
		if (stat_view_say(rounds->view, NULL, round, false,
			    rounds->config->output ? "the others: tare stat --stalls" : "the others with -o FILE and tare stat --stalls",
			    &ignored) < 0)
			return;
	}
}

static void take_causes(void *context, const struct tare_record *records, size_t count, const struct tare_cause *causes,
	size_t cause_count)
{
	struct run_rounds *rounds = context;
	struct tare_err ignored;
	char line[600];
	(void)count;
	tare_causes_summary(causes, cause_count, line, sizeof line);
	if (line[0] && stat_view_say(rounds->view, NULL, records[0].round->number, false, line, &ignored) == 0)
		list_worst(rounds, records[0].round->number, causes, cause_count);
}

static void take_sentence(void *context, uint32_t round, const char *sentence)
{
	struct run_rounds *rounds = context;
	struct tare_err ignored;
	if (stat_view_say(rounds->view, NULL, round, false, sentence, &ignored) < 0)
		cli_warn(rounds->cli, "%s", sentence);
}

static void show_progress(void *context, const struct session *session)
{
	struct run_rounds *rounds = context;
	struct session_progress p = session_progress_of(session);
	char left[32];
	if (rounds->live) {
		live_progress(rounds->live, session);
		return;
	}
	if (!rounds->cli->note_tty)
		return;
	format_duration((p.left_ns + 500000000) / 1000000000 * 1000000000, left, sizeof left);
	fprintf(rounds->cli->note, "\r\033[K");
	if (p.rounds > 1)
		fprintf(rounds->cli->note, "round %u/%u  ", p.round, p.rounds);
	fprintf(rounds->cli->note, "%llu/%llu sent  %llu unanswered  %s left", (unsigned long long)p.sent,
		(unsigned long long)p.slots_all, (unsigned long long)(p.sent > p.answered ? p.sent - p.answered : 0), left);
	fflush(rounds->cli->note);
	rounds->progress_shown = true;
}

static void take_note(void *context, const char *text)
{
	struct run_rounds *rounds = context;
	clear_progress(rounds);
	fprintf(rounds->cli->note, "note: %s\n", text);
}

static void begin_live(void *context, const struct session *session, bool quiet)
{
	struct run_rounds *rounds = context;
	live_begin(rounds->live, session, quiet);
}

static bool take_input(void *context)
{
	struct run_rounds *rounds = context;
	return live_input(rounds->live);
}

struct session_events run_rounds_events(struct run_rounds *rounds)
{
	struct session_events events = {.round = take_round,
		.progress = show_progress,
		.note = take_note,
		.causes = take_causes,
		.say = take_sentence,
		.context = rounds};
	if (rounds->live) {
		events.progress_ms = LIVE_MS;
		events.begin = begin_live;
		events.input = take_input;
		events.input_fd = live_fd(rounds->live);
	}
	return events;
}

/* Sentences on what the figures above cannot be trusted for; the exit status they ask for. */
static int judge(struct run_rounds *rounds, bool interrupted)
{
	size_t silent = 0;
	for (size_t i = 0; i < rounds->targets; i++)
		silent += rounds->answered[i] == 0;
	int status = 0;
	if (silent && silent == rounds->targets) {
		cli_warn(rounds->cli, "nothing answered: these figures say nothing about latency");
		status = 4;
	} else {
		for (size_t i = 0; i < rounds->targets; i++)
			if (rounds->answered[i] == 0)
				cli_warn(rounds->cli, "%s never answered", rounds->urls[i]);
	}
	/* a sweep of rates is there to find the one that is not held */
	if (rounds->rate_missed && !(rounds->swept && rounds->best > 0)) {
		char asked[32], held[32];
		format_rate(rounds->asked, asked, sizeof asked);
		format_rate(rounds->held, held, sizeof held);
		cli_warn(rounds->cli, "asked %s, held %s: not the load that was asked for", asked, held);
		status = interrupted ? status : 4;
	}
	return status;
}

int run_rounds_print(struct run_rounds *rounds, const struct tare_run *run, bool interrupted, struct tare_err *err)
{
	struct stat_layout layout = {.format = rounds->format, .width = rounds->cli->columns};
	clear_progress(rounds);
	if (interrupted)
		cli_warn(rounds->cli, "interrupted: what was measured until then follows%s",
			rounds->config->output ? " and is in the recording" : "");
	struct tare_run ended = *run;
	ended.status = interrupted ? TARE_RUN_INTERRUPTED : TARE_RUN_FINISHED;
	if (rounds->targets == 0)
		return 4;
	char line[120];
	snprintf(line, sizeof line, "highest rate held: %s", rounds->best_label);
	if ((rounds->best > 0 && stat_view_remark(rounds->view, line, err) < 0) ||
		stat_view_run(rounds->view, NULL, &ended, NULL, 0, err) < 0 ||
		stat_view_print(rounds->cli->out, rounds->view, &layout, err) < 0)
		return -1;
	fflush(rounds->cli->out);
	return judge(rounds, interrupted);
}

void run_rounds_end(struct run_rounds *rounds)
{
	stat_view_free(rounds->view);
	while (rounds->kept) {
		struct kept_round *next = rounds->kept->next;
		free(rounds->kept);
		rounds->kept = next;
	}
}
