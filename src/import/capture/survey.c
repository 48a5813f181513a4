/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Observing times. The divisor shrinks a few times and then costs one division a frame. */
#include "import/capture/survey.h"
#include "base/divisor.h"

enum { SECONDS_1990 = 631152000, DAY_SECONDS = 86400, STILL_FRAMES = 10 };

static void note(struct survey_list *list, uint64_t number)
{
	if (list->count < SURVEY_NUMBERS)
		list->first[list->count] = number;
	list->count++;
}

void survey_begin(struct survey *survey, int64_t now_seconds)
{
	*survey = (struct survey){.now_seconds = now_seconds, .cut_at_least = UINT32_MAX};
}

static void add_bytes(struct survey *survey, const struct capture_frame *frame)
{
	if (frame->flags & CAPTURE_CUT) {
		note(&survey->cut, frame->number);
		if (frame->captured < survey->cut_at_least)
			survey->cut_at_least = frame->captured;
		if (frame->captured > survey->cut_at_most)
			survey->cut_at_most = frame->captured;
	}
	if (frame->flags & CAPTURE_RX_ERROR)
		note(&survey->rx_error, frame->number);
}

static bool is_possible(const struct survey *survey, struct capture_time time)
{
	return time.seconds >= SECONDS_1990 &&
	       (!survey->now_seconds || time.seconds <= survey->now_seconds + DAY_SECONDS);
}

static void extend(struct survey *survey, struct capture_time time)
{
	if (capture_time_before(time, survey->earliest))
		survey->earliest = time;
	if (capture_time_before(survey->latest, time))
		survey->latest = time;
}

void survey_add(struct survey *survey, const struct capture_frame *frame)
{
	struct capture_time time = frame->time;
	survey->frames++;
	if (frame->flags)
		add_bytes(survey, frame);
	if (frame->flags & (CAPTURE_NO_TIME | CAPTURE_BAD_FRACTION)) {
		note(frame->flags & CAPTURE_NO_TIME ? &survey->no_time : &survey->bad_fraction, frame->number);
		return;
	}
	bool possible = is_possible(survey, time);
	if (!possible)
		note(&survey->implausible, frame->number);
	if (survey->step_ps == 0 || time.picoseconds % survey->step_ps)
		survey->step_ps = (int64_t)common_divisor(
			(uint64_t)(time.picoseconds ? time.picoseconds : PS_PER_SECOND), (uint64_t)survey->step_ps);
	if (survey->timed++ && capture_time_before(time, survey->previous)) {
		int64_t back_ps = capture_time_ps(survey->previous, time);
		note(&survey->backwards, frame->number);
		if (back_ps > survey->backwards_most_ps)
			survey->backwards_most_ps = back_ps;
	}
	survey->previous = time;
	/* the span is that of possible times, once there is one */
	if (survey->timed == 1 || (possible && !survey->any_possible))
		survey->earliest = survey->latest = time;
	else if (possible || !survey->any_possible)
		extend(survey, time);
	survey->any_possible = survey->any_possible || possible;
}

bool survey_trusts(const struct survey *survey, struct capture_time time)
{
	return is_possible(survey, time) || survey->implausible.count * 2 > survey->timed;
}

bool survey_stands_still(const struct survey *survey)
{
	return survey->timed > STILL_FRAMES && capture_time_ps(survey->latest, survey->earliest) == 0;
}
