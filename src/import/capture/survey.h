/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a first reading says about the times of a capture: how fine they really
 * are (the greatest common divisor of what was seen, whatever the header claims),
 * where they run backwards, which cannot be. Constant memory.
 */
#pragma once
#include "import/capture/frame.h"

enum { SURVEY_NUMBERS = 8 };

/* A count and the first frames it counted. */
struct survey_list {
	uint64_t count, first[SURVEY_NUMBERS];
};

struct survey {
	uint64_t frames, timed;
	struct capture_time earliest, latest, previous;
	bool any_possible;
	int64_t step_ps;              /* 0: no two different times */
	struct survey_list backwards; /* earlier than the frame before */
	int64_t backwards_most_ps;
	struct survey_list bad_fraction, no_time, cut, rx_error, implausible; /* outside 1990 .. now + 1 day */
	uint32_t cut_at_least, cut_at_most;                                   /* bytes captured of cut frames */
	int64_t now_seconds; /* 0: no upper limit for plausible times */
};

/* now_seconds: the wall clock, for the check against times in the future; 0: none. */
void survey_begin(struct survey *survey, int64_t now_seconds);
void survey_add(struct survey *survey, const struct capture_frame *frame);
/*
 * Whether a time may be used: not when it is before 1990 or in the future, unless most are, which is a clock of
 * its own epoch. After the whole reading.
 */
bool survey_trusts(const struct survey *survey, struct capture_time time);
/* More than ten frames that all carry one time: no clock at all. */
bool survey_stands_still(const struct survey *survey);
