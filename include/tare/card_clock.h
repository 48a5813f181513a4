/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The clock of a network card (PHC) on the time axis. A card's clock runs at a
 * rate of its own, so that, unlike the wall clock's, one offset does not hold for a
 * round: between two paired readings (mono, card, mono) it is interpolated. A
 * reading is the middle of its bracket, wrong by at most half its width; so a
 * stamp between two readings is wrong by at most the larger of both halves plus
 * what the rate wandered in between, which is taken from how far each reading
 * lies from the line through its neighbours. Outside of the readings nothing is said.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "tare/err.h"
#include "tare/recording.h"

/* The card was set, or ran by more than 1 % off, between two readings: stamps in between have no time. */
#define TARE_CARD_RATE_MOST 0.01

struct tare_card_clock {
	const struct tare_reading *reading; /* real_ns holds the card's time; ascending, borrowed */
	size_t count;
	int64_t error_ns;                   /* bound as above; TARE_NO_TIME with fewer than two readings */
	double drift_ppm;                   /* against CLOCK_MONOTONIC over all readings, steps left out; NAN: not known */
	size_t steps;
};

/*
 * From readings in the order they were taken, of which those that make no sense (bracket or order reversed) are
 * dropped: the array is compacted in place.
 */
TARE_API struct tare_card_clock tare_card_clock_of(struct tare_reading *readings, size_t count);

/*
 * A card stamp as CLOCK_MONOTONIC; near_mono_ns is any monotonic time close to it (the send or receive call). It
 * picks the readings where the card's clock was set in between. TARE_NO_TIME outside of all readings or across a step.
 */
TARE_API int64_t tare_card_mono_of(const struct tare_card_clock *clock, int64_t card_ns, int64_t near_mono_ns);
