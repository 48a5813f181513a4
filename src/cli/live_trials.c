/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One line a round: its place, its arm, its primary figure. */
#include "cli/live_trials.h"

#include <math.h>
#include <string.h>

#include "base/text.h"

enum { SILENT_MOST = 2 };
#include "tare/rate.h"

static void clear_progress(struct live_trials *live)
{
	if (live->progress_shown)
		fputs("\r\033[K", live->cli->note);
	live->progress_shown = false;
}

/* "A  "; nothing where there is one setting only. */
static const char *arm_of(const struct live_trials *live)
{
	return live->one_arm ? "" : live->arm == 'B' ? "B  " : "A  ";
}

static void say_round(struct live_trials *live, const struct tare_trial *trial)
{
	char value[32] = "not visible";
	double figure = trial ? tare_trial_figure(trial, live->figure) : NAN;
	if (live->quiet)
		return;
	if (!isnan(figure) && tare_figure_is_count(live->figure))
		snprintf(value, sizeof value, "%.0f", figure);
	else if (!isnan(figure))
		format_duration((int64_t)figure, value, sizeof value);
	if (live->position == 0)
		fprintf(live->cli->note, "  settling %c\n", live->arm);
	else
		fprintf(live->cli->note, "  %u of %u  %s%s %s\n", live->position, live->positions, arm_of(live),
			live->figure->name, value);
	fflush(live->cli->note);
}

static uint64_t answers_of(const struct tare_record *record)
{
	uint64_t answered = 0;
	for (size_t i = 0; i < record->series.count; i++)
		answered += record->series.fate[i] == TARE_ANSWERED || record->series.fate[i] == TARE_OVERDUE;
	return answered;
}

/*
 * Told now, not after an hour of rounds: what has no answer or no such stamps cannot be compared. A single silent
 * round may be a blip, two in a row are a responder that is gone.
 */
static int check_round(struct live_trials *live, const struct tare_record *record, struct tare_err *err)
{
	enum tare_span span = live->figure->span;
	bool silent = answers_of(record) == 0;
	live->silent = silent ? live->silent + 1 : 0;
	if (live->silent >= SILENT_MOST && !live->one_arm && live->figure->kind != TARE_FIGURE_LOSS)
		return tare_fail(err, TARE_E_INVALID, "nothing answered at %s in %u rounds in a row: is a responder there?",
			record->target->url, live->silent);
	if (silent || tare_span_exists(&record->series, span))
		return 0;
	char there[200];
	struct text text = TEXT_IN(there);
	for (int other = 0; other < TARE_SPAN_COUNT; other++)
		if (tare_span_exists(&record->series, (enum tare_span)other))
			text_add(&text, "%s%s", text.used ? ", " : "", tare_span_name((enum tare_span)other));
	return tare_fail(err, TARE_E_USAGE, "%s cannot be told: %s lacks the stamps of %s at this --stamps; there are %s",
		live->figure->name, record->target->url, tare_span_name(span), there);
}

static int take_round(void *context, const struct tare_record *records, size_t count, struct tare_err *err)
{
	struct live_trials *live = context;
	const struct tare_trial *list = NULL;
	clear_progress(live);
	if (count == 0 || strcmp(records[0].round->status, "interrupted") == 0)
		return 0;
	if (check_round(live, &records[0], err) < 0)
		return -1;
	if (live->position == 0) {
		say_round(live, NULL);
		return 0;
	}
	double held = tare_rate_of(&records[0]).held;
	if (tare_trials_add(live->trials, live->arm == 'B', NULL, &records[0], held, err) < 0)
		return -1;
	size_t have = tare_trials_list(live->trials, &list);
	live->kept++;
	say_round(live, &list[have - 1]);
	return 0;
}

static void show_progress(void *context, const struct session *session)
{
	struct live_trials *live = context;
	struct session_progress p = session_progress_of(session);
	if (live->quiet || !live->cli->note_tty)
		return;
	fprintf(live->cli->note, "\r\033[K  round %u of %u  %s%llu/%llu sent", live->position, live->positions, arm_of(live),
		(unsigned long long)p.sent, (unsigned long long)p.slots_all);
	fflush(live->cli->note);
	live->progress_shown = true;
}

static void take_note(void *context, const char *text)
{
	struct live_trials *live = context;
	clear_progress(live);
	fprintf(live->cli->note, "note: %s\n", text);
}

struct session_events live_trials_events(struct live_trials *live)
{
	return (struct session_events){.round = take_round, .progress = show_progress, .note = take_note, .context = live};
}

struct tare_trial live_trials_like(const struct session_config *config, const struct session *session)
{
	const struct tare_target *targets;
	session_targets(session, &targets);
	return (struct tare_trial){
		.url = targets[0].url,
		.kind = targets[0].kind,
		.host = session_run_of(session)->host ? session_run_of(session)->host : "",
		.label = "",
		.payload_bytes = targets[0].payload_bytes,
		.warmup = config->warmup,
		.interval_ns = config->every_ns,
		.at_ns = TARE_NO_TIME,
		.rate_held = NAN,
		.slow_share = NAN,
	};
}
