/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Changes within a round and drift across rounds. */
#include "tare/change.h"

#include <math.h>
#include <stdlib.h>

#include "tap.h"
#include "tare/sample.h"

enum { MOST = 100000 };

static int64_t values[MOST];
static uint64_t seed_state;

static double uniform(void)
{
	seed_state ^= seed_state >> 12;
	seed_state ^= seed_state << 25;
	seed_state ^= seed_state >> 27;
	return (double)((seed_state * UINT64_C(2685821657736338717)) >> 11) * 0x1p-53;
}

static double normal(void)
{
	double size = sqrt(-2 * log(uniform() + 1e-300));
	return size * cos(6.283185307179586 * uniform());
}

static size_t changes_of(size_t n, struct tare_change *changes, int64_t resolution_ns)
{
	size_t count = 99;
	struct tare_change_rules rules = {.resolution_ns = resolution_ns};
	struct tare_err err = {0};
	if (tare_changes_of(values, n, &rules, changes, 4, &count, &err)) {
		printf("Bail out! %s\n", err.text);
		exit(1);
	}
	return count;
}

static bool near(double got, double want, double absolute)
{
	if (fabs(got - want) > absolute)
		printf("# got %.10g, expected %.10g\n", got, want);
	return fabs(got - want) <= absolute;
}

static void check_pieces(void)
{
	static const double step[] = {3.90, 3.91, 3.89, 3.90, 3.92, 4.70, 4.69, 4.71, 4.70, 4.72};
	double noise = 0;
	size_t at = 0;
	IS_I64(tare_step_noise(step, 10, &noise, NULL), 0, "noise of a step");
	OK(near(noise, .0210, 5e-5), "is %.4f", noise);
	OK(near(tare_split_gain(step, 10, 0, INFINITY, &at), 1.600, 5e-4) && at == 5, "plain gain at 5");
	OK(near(tare_split_gain(step, 10, (3.92 + 4.69) / 2, 3 * noise, &at), .0396, 1e-4) && at == 5,
		"clipped gain at 5");
	OK(near(3 * noise * noise * log(10), .0030, 1e-4), "penalty");
	static const double spike[] = {10, 10.1, 9.9, 10, 10.1, 14, 10, 9.9, 10.1, 10};
	IS_I64(tare_step_noise(spike, 10, &noise, NULL), 0, "noise of a spike");
	OK(near(tare_split_gain(spike, 10, 0, INFINITY, &at), 1.52, 1e-2), "plain gain of a spike");
	OK(near(3 * noise * noise * log(10), .076, 5e-4), "is above the penalty: a false change");
	OK(near(tare_split_gain(spike, 10, 10, 3 * noise, &at), .0115, 1e-3), "clipped it is not");
}

static void check_rounds(void)
{
	struct tare_change changes[4];
	/* The responder moved at request 6012. */
	for (size_t i = 0; i < 10000; i++)
		values[i] = (int64_t)((i < 6012 ? 4700 : 3900) + 80 * normal());
	IS_I64(changes_of(10000, changes, 1), 1, "one change");
	OK(llabs((int64_t)changes[0].at - 6012) <= 2, "at request %zu", changes[0].at);
	OK(llabs(changes[0].before_ns - 4700) < 10 && llabs(changes[0].after_ns - 3900) < 10, "from 4.70 to 3.90 us");
	for (size_t i = 100; i < 10000; i += 7)
		values[i] = TARE_NO_TIME;
	IS_I64(changes_of(10000, changes, 1), 1, "with holes");
	OK(llabs((int64_t)changes[0].at - 6012) <= 2, "at request %zu", changes[0].at);

	/* Three levels, two of them on one side of the median. */
	for (size_t i = 0; i < 20000; i++)
		values[i] = (int64_t)((i < 12000 ? 3900 : i < 16000 ? 4700 : 5500) + 80 * normal());
	IS_I64(changes_of(20000, changes, 1), 2, "two changes");
	OK(llabs((int64_t)changes[0].at - 12000) <= 2 && llabs((int64_t)changes[1].at - 16000) <= 2, "at %zu and %zu",
		changes[0].at, changes[1].at);

	/* None: interleaved modes, a spike of 300 requests, one of 200 000 ns, a step of 10 ns. */
	for (size_t i = 0; i < 20000; i++)
		values[i] = (int64_t)((uniform() < 0.3 ? 3900 : 4700) + 80 * normal());
	IS_I64(changes_of(20000, changes, 1), 0, "interleaved modes are no change");
	for (size_t i = 0; i < 20000; i++)
		values[i] = (int64_t)(4000 + (i >= 7000 && i < 7300 ? 4000 : 0) + 80 * normal());
	values[500] = 200000000;
	IS_I64(changes_of(20000, changes, 1), 0, "a spike is no change");
	for (size_t i = 0; i < 100000; i++)
		values[i] = (int64_t)((i < 50000 ? 4000 : 4010) + 20 * normal());
	IS_I64(changes_of(100000, changes, 1), 0, "a step of 0.25 %% is below the gate");

	/* Quantised: a display of 1 us steps. */
	for (size_t i = 0; i < 2000; i++)
		values[i] = i < 1000 ? 1000 : 2000;
	IS_I64(changes_of(2000, changes, 1000), 1, "one display step for good is a change");
	OK(changes[0].at == 1000, "at request %zu", changes[0].at);
	for (size_t i = 0; i < 2000; i++)
		values[i] = uniform() < 0.5 ? 1000 : 2000;
	IS_I64(changes_of(2000, changes, 1000), 0, "medians flickering between two steps are none");

	/* Blocks long enough for the other way of finding medians; far from where most values lie, and back. */
	struct tare_change_rules rules = {.block = 2000, .resolution_ns = 1};
	size_t count = 0;
	for (size_t i = 0; i < MOST; i++)
		values[i] = (int64_t)((i < 60000 ? 4000 : i < 75000 ? 4000000000 : -9000) + 80 * normal());
	IS_I64(tare_changes_of(values, MOST, &rules, changes, 4, &count, NULL), 0, "blocks of 2000");
	OK(count == 2 && llabs((int64_t)changes[0].at - 60000) <= 2 && llabs((int64_t)changes[1].at - 75000) <= 2,
		"changes far outside of most values");
	OK(llabs(changes[0].after_ns - 4000000000) < 10 && llabs(changes[1].after_ns + 9000) < 10, "their medians");
	for (size_t i = 0; i < MOST; i++)
		values[i] = (i & 1 ? INT64_MAX - 5 : INT64_MIN + 5) - (int64_t)(i % 3);
	IS_I64(tare_changes_of(values, MOST, &rules, changes, 4, &count, NULL), 0, "values at both ends of 64 bits");

	for (size_t i = 0; i < MOST; i++)
		values[i] = 4000;
	IS_I64(changes_of(MOST, changes, 1), 0, "all equal");
	IS_I64(changes_of(0, changes, 1), 0, "n = 0");
	IS_I64(changes_of(999, changes, 1), 0, "fewer than ten blocks");
}

/* Seeded rounds without a change, and with one of half to eight deviations. */
static void print_detection(void)
{
	struct tare_change changes[4];
	int false_claims = 0;
	for (int round = 0; round < 300; round++) {
		for (size_t i = 0; i < 10000; i++) {
			double x = round % 3 == 0   ? 80 * normal()
				   : round % 3 == 1 ? -80 * log(uniform() + 1e-300)
						    : 300 * uniform();
			values[i] = (int64_t)(4000 + x);
		}
		false_claims += changes_of(10000, changes, 1) != 0;
	}
	OK(false_claims <= 3, "false changes in %d of 300 rounds without one", false_claims);
	static const double sizes[] = {0.25, 0.5, 1, 2, 4, 8};
	for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
		int found = 0;
		for (int round = 0; round < 20; round++) {
			size_t moved = 1000 + (size_t)(8000 * uniform());
			for (size_t i = 0; i < 10000; i++)
				values[i] = (int64_t)(4000 + (i < moved ? 0 : sizes[s] * 80) + 80 * normal());
			size_t count = changes_of(10000, changes, 1);
			found += count == 1 && llabs((int64_t)changes[0].at - (int64_t)moved) < 200;
		}
		printf("# step of %.2f deviations: found in %d of 20 rounds\n", sizes[s], found);
		if (sizes[s] >= 1)
			OK(found >= 19, "step of %.2f deviations found in %d of 20", sizes[s], found);
	}
}

static struct tare_drift drift_of(const int64_t *at_ns, const double *medians, size_t count)
{
	struct tare_drift drift = {0};
	struct tare_err err = {0};
	if (tare_drift_of(at_ns, medians, count, &drift, &err)) {
		printf("Bail out! %s\n", err.text);
		exit(1);
	}
	return drift;
}

static void check_drift(void)
{
	static const int64_t minute = INT64_C(60000000000);
	const int64_t at[] = {0, 10 * minute, 20 * minute, 35 * minute, 50 * minute, 51 * minute};
	static const double median[] = {4.70, 4.69, 4.66, 4.64, 4.61, NAN};
	struct tare_drift drift = drift_of(at, median, 6);
	IS_I64(drift.rounds, 5, "five rounds, one without a value");
	OK(near(drift.per_hour, -.114, 5e-4), "slope %.4f us/h", drift.per_hour);
	IS_I64(drift.score, -10, "S");
	OK(near(drift.chance, .0167, 5e-5), "exact chance");
	OK(near(drift.share, -.114 / 60 * 50 / 4.66, 2e-4), "%.1f %% over the session", 100 * drift.share);
	static const double flat[] = {4, 4, 4, 4, 4, 4};
	drift = drift_of(at, flat, 6);
	OK(drift.score == 0 && drift.chance >= 1, "all equal: no drift");
	drift = drift_of(at, flat, 1);
	OK(isnan(drift.per_hour) && drift.chance >= 1, "one round");
	drift = drift_of(at, flat, 0);
	OK(drift.rounds == 0 && isnan(drift.share), "none");
	/* The exact distribution and the normal one agree where both apply. */
	int64_t many[3000];
	double noisy[3000];
	for (size_t i = 0; i < 3000; i++) {
		many[i] = (int64_t)i * minute;
		noisy[i] = 4 - 0.001 * (double)i + 0.5 * normal();
	}
	double exact = drift_of(many, noisy, 60).chance;
	/* The two closest made equal: S moves by one, and with a tie the normal distribution is taken. */
	size_t low = 0, high = 1;
	for (size_t i = 0; i < 60; i++) {
		for (size_t j = i + 1; j < 60; j++) {
			if (fabs(noisy[i] - noisy[j]) < fabs(noisy[low] - noisy[high])) {
				low = i;
				high = j;
			}
		}
	}
	noisy[high] = noisy[low];
	double approximate = drift_of(many, noisy, 60).chance;
	OK(fabs(approximate - exact) < 0.02, "60 rounds: %.3f exact, %.3f normal", exact, approximate);
	drift = drift_of(many, noisy, 3000);
	OK(near(drift.per_hour, -.06, 3e-3) && drift.chance < 1e-9, "3000 rounds: %.4f an hour", drift.per_hour);
}

int main(int argc, char **argv)
{
	seed_state = argc > 1 ? strtoull(argv[1], NULL, 10) : 3;
	printf("# seed %" PRIu64 "\n", seed_state);
	check_pieces();
	check_rounds();
	print_detection();
	check_drift();
	return tap_done();
}
