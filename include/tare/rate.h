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
