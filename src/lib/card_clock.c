/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A card's clock between its readings. Products of differences are taken in 128
 * bits: two readings an hour apart and a stamp between them exceed 64.
 */
#include "tare/card_clock.h"

#include <math.h>

#include "tare/sample.h"

__extension__ typedef __int128 wide;

static int64_t middle_of(const struct tare_reading *reading)
{
	return reading->mono_before_ns + (reading->mono_after_ns - reading->mono_before_ns) / 2;
}

static int64_t half_width_of(const struct tare_reading *reading)
{
	int64_t width = reading->mono_after_ns - reading->mono_before_ns;
	return width / 2 + width % 2;
}

/* Differences of readings must fit: times beyond +-2^61 are no clock's. */
static bool is_sane(const struct tare_reading *reading)
{
	const int64_t most = INT64_C(1) << 61;
	return reading->mono_before_ns > -most && reading->mono_before_ns <= reading->mono_after_ns &&
	       reading->mono_after_ns < most && reading->real_ns > -most && reading->real_ns < most;
}

/* True when the card was set between two neighbours, beyond what their brackets and 1 % of rate explain. */
static bool is_step(const struct tare_reading *one, const struct tare_reading *next)
{
	int64_t mono = middle_of(next) - middle_of(one), card = next->real_ns - one->real_ns;
	double slack = (double)(half_width_of(one) + half_width_of(next)) + TARE_CARD_RATE_MOST * (double)mono;
	return fabs((double)card - (double)mono) > slack;
}

/* Times beyond it are nonsense; differences of what lies within fit 64 bits. */
#define FARTHEST_NS (INT64_MAX / 4)

/* The card's time interpolated between two readings, or beyond them: then it may be anything, and is held to that. */
static int64_t between(const struct tare_reading *one, const struct tare_reading *next, int64_t card_ns)
{
	wide card = (wide)next->real_ns - one->real_ns, mono = (wide)middle_of(next) - middle_of(one);
	wide at = card ? middle_of(one) + ((wide)card_ns - one->real_ns) * mono / card : middle_of(one);
	return at > FARTHEST_NS ? FARTHEST_NS : at < -FARTHEST_NS ? -FARTHEST_NS : (int64_t)at;
}

/* How far a reading lies from the line through its neighbours, beyond what the three brackets explain. */
static int64_t wander_of(const struct tare_reading *at)
{
	int64_t off = between(&at[-1], &at[1], at->real_ns) - middle_of(at);
	int64_t beside =
		half_width_of(&at[-1]) > half_width_of(&at[1]) ? half_width_of(&at[-1]) : half_width_of(&at[1]);
	off = (off < 0 ? -off : off) - half_width_of(at) - beside;
	return off > 0 ? off : 0;
}

static int64_t error_of(const struct tare_card_clock *clock)
{
	int64_t widest = 0, wander = 0;
	for (size_t i = 0; i < clock->count; i++) {
		const struct tare_reading *at = &clock->reading[i];
		if (half_width_of(at) > widest)
			widest = half_width_of(at);
		if (i == 0 || i + 1 == clock->count || is_step(at - 1, at) || is_step(at, at + 1))
			continue;
		int64_t off = wander_of(at);
		wander = off > wander ? off : wander;
	}
	return widest + wander;
}

struct tare_card_clock tare_card_clock_of(struct tare_reading *readings, size_t count)
{
	struct tare_card_clock clock = {.reading = readings, .error_ns = TARE_NO_TIME, .drift_ppm = NAN};
	double card = 0, mono = 0;
	for (size_t i = 0; i < count; i++) {
		if (!is_sane(&readings[i]) ||
			(clock.count && middle_of(&readings[i]) <= middle_of(&readings[clock.count - 1])))
			continue;
		readings[clock.count++] = readings[i];
	}
	if (clock.count < 2)
		return clock;
	for (size_t i = 1; i < clock.count; i++) {
		if (is_step(&readings[i - 1], &readings[i])) {
			clock.steps++;
			continue;
		}
		card += (double)(readings[i].real_ns - readings[i - 1].real_ns);
		mono += (double)(middle_of(&readings[i]) - middle_of(&readings[i - 1]));
	}
	if (mono > 0)
		clock.drift_ppm = (card - mono) / mono * 1e6;
	clock.error_ns = error_of(&clock);
	return clock;
}

/* The last reading at or before a monotonic time, the last but one at most. */
static size_t reading_before(const struct tare_card_clock *clock, int64_t mono_ns)
{
	size_t below = 0, above = clock->count - 1;
	while (above - below > 1) {
		size_t half = below + (above - below) / 2;
		if (middle_of(&clock->reading[half]) <= mono_ns)
			below = half;
		else
			above = half;
	}
	return below;
}

int64_t tare_card_mono_of(const struct tare_card_clock *clock, int64_t card_ns, int64_t near_mono_ns)
{
	if (clock->count < 2 || clock->error_ns == TARE_NO_TIME)
		return TARE_NO_TIME;
	size_t near = reading_before(clock, near_mono_ns);
	/* the stamp may be some microseconds on the other side of a reading */
	for (size_t i = near ? near - 1 : 0; i <= near + 1 && i + 1 < clock->count; i++) {
		const struct tare_reading *one = &clock->reading[i], *next = one + 1;
		if (card_ns >= one->real_ns && card_ns <= next->real_ns && !is_step(one, next))
			return between(one, next, card_ns);
	}
	return TARE_NO_TIME;
}
