/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The load a round was to put on its target, and the load it did put there. */
#pragma once
#include <stdbool.h>

#include "tare/run.h"

/* Below this share of the asked rate a round measured another load than the one asked for. */
#define TARE_RATE_HELD 0.99

/*
 * Requests a second, NAN where the source has no schedule or no due times. Held
 * follows from lateness: the median `late` of the last requests minus that of the
 * first is what the schedule slipped, so that one stall does not count and a
 * constant lateness (a slow wake-up) neither; with slots that were skipped it is
 * the share that was not. ok: nothing is known to speak against it.
 */
struct tare_rate { double asked, held; bool ok; };
TARE_API struct tare_rate tare_rate_of(const struct tare_record *record);

/* How requests were spread over time, as their due times tell. */
enum tare_schedule {
	TARE_SCHEDULE_UNKNOWN,  /* not measured by tare, or too few requests to tell */
	TARE_SCHEDULE_PERIODIC, /* the grid, within its jitter */
	TARE_SCHEDULE_BURST,    /* several due together, whole bursts on the grid */
	TARE_SCHEDULE_POISSON,  /* drawn: the interval is a mean */
};
enum { TARE_SCHEDULE_TEXT = 24 };
/* *ret_burst: requests at once, 1 where there are no bursts. */
TARE_API enum tare_schedule tare_schedule_of(const struct tare_record *record, uint32_t *ret_burst);
/* As `--schedule` has it: "periodic", "burst:8", "poisson"; "" when unknown. */
TARE_API void tare_schedule_text(const struct tare_record *record, char ret_text[TARE_SCHEDULE_TEXT]);
