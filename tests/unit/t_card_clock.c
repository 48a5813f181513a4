/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A card's clock on the axis: interpolation, drift, error bounds, steps, readings that make no sense. */
#include "tare/card_clock.h"

#include <math.h>
#include <stdlib.h>

#include "clock/phc.h"
#include "tap.h"
#include "tare/sample.h"

#define SECOND INT64_C(1000000000)
/* A card that counts TAI since 2026 while we count since boot. */
#define CARD_AHEAD INT64_C(1777777777000000000)

static struct tare_reading readings[64];

/* Readings every 100 ms of a card that runs `ppm` fast, each bracket `width` wide with the card's read anywhere in it.
 */
static size_t drifting(size_t count, int64_t ppm, int64_t width)
{
	for (size_t i = 0; i < count; i++) {
		int64_t mono = (int64_t)i * SECOND / 10;
		int64_t at = width ? rand() % (width + 1) : 0;
		readings[i] =
			(struct tare_reading){mono - at, CARD_AHEAD + mono + mono / 1000000 * ppm, mono - at + width};
	}
	return count;
}

static void check_exact(void)
{
	struct tare_card_clock clock = tare_card_clock_of(readings, drifting(11, 0, 0));
	IS_I64(clock.count, 11, "eleven readings");
	IS_I64(clock.error_ns, 0, "brackets without width have no error");
	OK(clock.drift_ppm == 0 && clock.steps == 0, "no drift, no step");
	IS_I64(tare_card_mono_of(&clock, CARD_AHEAD + 123456789, 123456789), 123456789, "a stamp between two");
	IS_I64(tare_card_mono_of(&clock, CARD_AHEAD, 0), 0, "the first reading itself");
	IS_I64(tare_card_mono_of(&clock, CARD_AHEAD + SECOND, SECOND), SECOND, "the last itself");
	IS_I64(tare_card_mono_of(&clock, CARD_AHEAD + SECOND + 1, SECOND), TARE_NO_TIME, "after the last: nothing");
	IS_I64(tare_card_mono_of(&clock, CARD_AHEAD - 1, 0), TARE_NO_TIME, "before the first: nothing");
	IS_I64(tare_card_mono_of(&clock, CARD_AHEAD + 99999999, 100000500), 99999999,
		"a stamp just before a reading, the call just behind it");
	IS_I64(tare_card_mono_of(&clock, CARD_AHEAD + 100000001, 99999500), 100000001, "and the other way round");
	IS_I64(tare_card_mono_of(&clock, CARD_AHEAD + 500000000, 0), TARE_NO_TIME,
		"far from where it should be: another clock's");
}

static void check_drift(void)
{
	int64_t worst = 0;
	srand(20260817);
	struct tare_card_clock clock = tare_card_clock_of(readings, drifting(64, 40, 400));
	OK(fabs(clock.drift_ppm - 40) < 0.2, "40 ppm fast: seen as %.3f ppm (seed 20260817)", clock.drift_ppm);
	for (int i = 0; i < 20000; i++) {
		int64_t mono = rand() % (63 * (SECOND / 10)), ppm = mono / 1000000 * 40 + mono % 1000000 * 40 / 1000000;
		int64_t got = tare_card_mono_of(&clock, CARD_AHEAD + mono + ppm, mono + 2000);
		int64_t off = llabs(got - mono);
		worst = off > worst ? off : worst;
	}
	OK(clock.error_ns == 200, "the bound is half a bracket: %lld ns", (long long)clock.error_ns);
	OK(worst > 50 && worst <= clock.error_ns, "of 20000 stamps none is wrong by more: %lld ns", (long long)worst);
	drifting(11, 0, 100);
	readings[5].mono_before_ns += 700;
	readings[5].mono_after_ns += 700;
	clock = tare_card_clock_of(readings, 11);
	OK(clock.error_ns > 500, "a reading beside the line of its neighbours counts as wander: %lld ns",
		(long long)clock.error_ns);
}

static void check_steps(void)
{
	drifting(11, 0, 10);
	for (size_t i = 6; i < 11; i++)
		readings[i].real_ns += 37 * SECOND;
	struct tare_card_clock clock = tare_card_clock_of(readings, 11);
	IS_I64(clock.steps, 1, "the card's clock was set once");
	OK(clock.drift_ppm < 1, "which is no drift");
	OK(clock.error_ns < 20, "nor error");
	IS_I64(tare_card_mono_of(&clock, CARD_AHEAD + 550000000, 550000000), TARE_NO_TIME,
		"a stamp across it has no time");
	OK(llabs(tare_card_mono_of(&clock, CARD_AHEAD + 450000000, 450000000) - 450000000) <= 10, "one before it has");
	OK(llabs(tare_card_mono_of(&clock, CARD_AHEAD + 37 * SECOND + 850000000, 850000000) - 850000000) <= 10,
		"one behind it too");
	drifting(11, 0, 10);
	for (size_t i = 6; i < 11; i++)
		readings[i].real_ns -= SECOND / 4;
	clock = tare_card_clock_of(readings, 11);
	IS_I64(clock.steps, 1, "set back");
	OK(llabs(tare_card_mono_of(&clock, CARD_AHEAD + 400000001, 400000000) - 400000001) <= 10,
		"the same card time twice: the call tells which, the first");
	OK(llabs(tare_card_mono_of(&clock, CARD_AHEAD + 400000001, 650000000) - 650000001) <= 10, "and the second");
}

static void check_rubbish(void)
{
	drifting(6, 0, 10);
	readings[1].mono_after_ns = readings[1].mono_before_ns - 1;
	readings[2] = readings[0];
	readings[3].real_ns = INT64_MAX;
	struct tare_card_clock clock = tare_card_clock_of(readings, 6);
	IS_I64(clock.count, 3, "reversed, repeated and impossible readings are dropped");
	OK(llabs(tare_card_mono_of(&clock, CARD_AHEAD + 200000000, 200000000) - 200000000) <= 10,
		"the others bridge them");
	clock = tare_card_clock_of(readings, 1);
	IS_I64(clock.error_ns, TARE_NO_TIME, "one reading is no clock");
	IS_I64(tare_card_mono_of(&clock, CARD_AHEAD, 0), TARE_NO_TIME, "and brings nothing over");
	clock = tare_card_clock_of(readings, 0);
	IS_I64(tare_card_mono_of(&clock, 0, 0), TARE_NO_TIME, "none at all neither");
	srand(7);
	for (int turn = 0; turn < 2000; turn++) {
		for (size_t i = 0; i < 8; i++)
			readings[i] = (struct tare_reading){(int64_t)((uint64_t)rand() << (rand() % 34)),
				(int64_t)((uint64_t)rand() << (rand() % 34)), (int64_t)((uint64_t)rand() << (rand() % 34))};
		clock = tare_card_clock_of(readings, 8);
		tare_card_mono_of(&clock, (int64_t)((uint64_t)rand() << (rand() % 34)), (int64_t)((uint64_t)rand() << (rand() % 34)));
	}
	OK(true, "2000 sets of random readings (seed 7) end well");
}

static void check_brackets(void)
{
	struct tare_reading got, wall = {1000, 50001020, 1040};
	struct phc_bracket brackets[] = {
		{2000, 777, 2900}, {3000, 778, 3050}, {4000, 779, 3999}, {5000, INT64_MIN, 5001}};
	OK(phc_narrowest(brackets, 4, NULL, &got) && got.mono_before_ns == 3000 && got.mono_after_ns == 3050 &&
			got.real_ns == 778,
		"the narrowest of the sane");
	struct phc_bracket in_wall = {50003000, 778, 50003050};
	OK(phc_narrowest(&in_wall, 1, &wall, &got), "in wall time");
	/* wall - mono is 49999980 to 50000020 */
	OK(got.mono_before_ns == 2980 && got.mono_after_ns == 3070,
		"widened by what the pair leaves open: %lld to %lld", (long long)got.mono_before_ns,
		(long long)got.mono_after_ns);
	OK(!phc_narrowest(&brackets[2], 2, NULL, &got), "none that makes sense");
	OK(!phc_narrowest(brackets, 0, NULL, &got), "none at all");
}

int main(void)
{
	check_exact();
	check_drift();
	check_steps();
	check_rubbish();
	check_brackets();
	return tap_done();
}
