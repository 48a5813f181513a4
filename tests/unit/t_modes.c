/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Modes by label and by shape, their order in time, and how often they are claimed wrongly. */
#include "tare/modes.h"

#include <math.h>
#include <stdlib.h>

#include "tap.h"

enum { MOST = 20000 };

static int64_t values[MOST];
static int16_t peer[MOST], local[MOST];
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

static struct tare_modes modes_of(size_t n, bool labelled, int64_t resolution_ns)
{
	const struct tare_labels labels[] = {{"peer CPU", peer}, {"receiving CPU", local}};
	struct tare_modes modes = {0};
	struct tare_err err = {0};
	if (tare_modes_of(values, n, labels, labelled ? 2 : 0, resolution_ns, &modes, &err)) {
		printf("Bail out! %s\n", err.text);
		exit(1);
	}
	return modes;
}

static void check_pieces(void)
{
	static const uint64_t table[] = {3990, 10, 12, 5988};
	OK(fabs(tare_association(table, 2, 2) - .9954) < 5e-5, "phi %.4f", tare_association(table, 2, 2));
	static const uint64_t single[] = {5, 7};
	OK(isnan(tare_association(single, 2, 1)), "one label tells nothing");
	OK(fabs(tare_ashman_d(3.90, .08, 4.70, .10) - 8.83) < 5e-3, "D %.2f", tare_ashman_d(3.90, .08, 4.70, .10));
	double expected, z;
	static const uint64_t halves[] = {5, 5};
	tare_runs_test(2, halves, 2, &expected, &z);
	OK(fabs(expected - 6) < 1e-12 && fabs(z + 2.68) < 5e-3, "0000011111: 2 runs, expected %.0f, z %.2f", expected,
		z);
	tare_runs_test(10, halves, 2, &expected, &z);
	OK(fabs(z - 2.68) < 5e-3, "0101010101: z %.2f", z);
	OK(fabs(tare_coincidence_chance(4, 1e-3, 600) - 1.3e-5) < 5e-7, "4 changes in 600 s within 1 ms");
	struct tare_parted parted = tare_part_difference(.6, .2, .80, 3.90 + .6 * .80, 3.85 + .2 * .80);
	OK(fabs(parted.total + .37) < 1e-9 && fabs(parted.by_share + .32) < 1e-9 && fabs(parted.within + .05) < 1e-9,
		"%.2f = share %.2f + within %.2f", parted.total, parted.by_share, parted.within);
}

/* Note 2: 4.70 us while on CPU 19, 3.90 on CPU 25, moved at request 6012. */
static void check_note(void)
{
	for (size_t i = 0; i < 10000; i++) {
		bool moved = i >= 6012;
		values[i] = (int64_t)((moved ? 3900 : 4700) + (moved ? 80 : 100) * normal());
		peer[i] = moved ? 25 : 19;
		local[i] = (int16_t)(i % 3);
	}
	struct tare_modes modes = modes_of(10000, true, 1);
	OK(modes.by == TARE_MODES_LABEL && modes.count == 2, "two modes, by label");
	IS_STR(modes.label_name, "peer CPU", "the peer's");
	OK(modes.association > 0.99, "association %.4f", modes.association);
	OK(modes.mode[0].labels == 1 && modes.mode[0].label[0] == 25 && modes.mode[1].label[0] == 19, "CPUs 25 and 19");
	OK(llabs(modes.mode[0].median_ns - 3900) < 10 && llabs(modes.mode[1].median_ns - 4700) < 10,
		"medians %" PRId64 " and %" PRId64, modes.mode[0].median_ns, modes.mode[1].median_ns);
	OK(modes.mode[0].n == 3988 && modes.mode[1].n == 6012, "n of each");
	OK(modes.gap_below == 0 && fabs(modes.mean_ns - 4381) < 5, "mean %.0f in the gap", modes.mean_ns);
	OK(modes.median_in == 1, "overall median in the larger mode only");
	OK(modes.order == TARE_ORDER_SWITCHED && modes.switched_at == 6012 && modes.runs == 2, "switched at 6012");
	OK(modes.mode[0].p99.grade == TARE_GRADE_THIN && modes.mode[0].pdv_ns > 300 && modes.mode[0].pdv_ns < 700,
		"p99 and PDV of a mode");
	char text[400];
	tare_modes_sentence(&modes, text, sizeof(text));
	OK(strstr(text, "mean 4.3") == text && strstr(text, "lies in the gap between two modes, 3.") &&
			strstr(text, "(peer CPU 25, 40 %)") && strstr(text, "(peer CPU 19, 60 %)") &&
			strstr(text, "; switched once, at request 6012; median 4.") &&
			strstr(text, " is of the second alone"),
		"%s", text);

	modes = modes_of(10000, false, 1);
	OK(modes.by == TARE_MODES_SHAPE && modes.count == 2, "without labels by shape");
	OK(llabs((int64_t)modes.mode[1].n - 6012) <= 3, "%" PRIu64 " in the slow one", modes.mode[1].n);
	OK(modes.order == TARE_ORDER_SWITCHED && llabs((int64_t)modes.switched_at - 6012) < 3,
		"and still switched at %zu", modes.switched_at);
	for (size_t i = 0; i < 10000; i += 3)
		peer[i] = 19;
	modes = modes_of(10000, true, 1);
	OK(modes.by == TARE_MODES_SHAPE && modes.association > 0.5 && modes.association < 0.9,
		"a label that tells part: V %.2f", modes.association);
	tare_modes_sentence(&modes, text, sizeof(text));
	OK(strstr(text, "partly told by peer CPU") != NULL, "%s", text);
}

static void check_order(void)
{
	for (size_t i = 0; i < 10000; i++) {
		local[i] = 0;
		peer[i] = (int16_t)(uniform() < 0.4 ? 3 : 7);
		values[i] = (int64_t)((peer[i] == 3 ? 3900 : 4700) + 90 * normal());
	}
	struct tare_modes modes = modes_of(10000, true, 1);
	OK(modes.by == TARE_MODES_LABEL && modes.order == TARE_ORDER_INTERLEAVED, "two queues are interleaved, z %.1f",
		modes.runs_z);
	for (size_t i = 0; i < 10000; i++) {
		peer[i] = (int16_t)(i / 1000 % 2 ? 3 : 7);
		values[i] = (int64_t)((peer[i] == 3 ? 3900 : 4700) + 90 * normal());
	}
	modes = modes_of(10000, true, 1);
	OK(modes.order == TARE_ORDER_STRETCHES && modes.runs == 10, "moved to and fro: 10 stretches");
	/* Overlapping modes: the shape shows one, the label two. */
	for (size_t i = 0; i < 10000; i++) {
		peer[i] = (int16_t)(i % 2);
		values[i] = (int64_t)(4000 + 150 * (double)(i % 2) + 100 * normal());
	}
	OK(modes_of(10000, false, 1).by == TARE_MODES_NONE, "1.5 deviations apart: no modes by shape");
	modes = modes_of(10000, true, 1);
	OK(modes.by == TARE_MODES_LABEL && isnan(modes.association), "but by label");
	/* Labels that say nothing. */
	for (size_t i = 0; i < 10000; i++) {
		peer[i] = (int16_t)(26 * uniform());
		values[i] = (int64_t)(4000 + 100 * normal());
	}
	OK(modes_of(10000, true, 1).by == TARE_MODES_NONE, "26 CPUs with the same latency are no modes");
	for (size_t i = 0; i < 10000; i++)
		peer[i] = (int16_t)i;
	OK(modes_of(10000, true, 1).by == TARE_MODES_NONE, "nor are 10 000 labels");
	/* Three at once, six decades, 20 ms away. */
	for (size_t i = 0; i < 10000; i++)
		values[i] = (int64_t)((i % 10 < 5 ? 4e3 : i % 10 < 8 ? 4e5 : 2e9) * (1 + 0.03 * normal()));
	modes = modes_of(10000, false, 1);
	OK(modes.count == 3 && modes.mode[0].n == 5000 && modes.mode[2].n == 2000, "%zu modes over six decades",
		modes.count);
	for (size_t i = 0; i < 10000; i++)
		values[i] = (int64_t)(20000000 + (i % 3 ? 0 : 400000) + 20000 * normal());
	OK(modes_of(10000, false, 1).count == 2, "2 %% apart at 20 ms");
}

static void check_quantised(void)
{
	for (size_t i = 0; i < 10000; i++)
		values[i] = uniform() < 0.6 ? 1000 : uniform() < 0.01 ? 2000 : 3000;
	OK(modes_of(10000, false, 1000).by == TARE_MODES_NONE, "display steps of 1 us are no modes");
	OK(modes_of(10000, false, 1).by == TARE_MODES_NONE, "nor where the source does not say that it has steps");
	for (size_t i = 0; i < 10000; i++)
		values[i] = 40 * (int64_t)(100 + 5 * normal());
	OK(modes_of(10000, false, 1).by == TARE_MODES_NONE, "a 40 ns clock makes no modes");
	for (size_t i = 0; i < 10000; i++)
		values[i] = 40 * (int64_t)((i % 2 ? 100 : 150) + 5 * normal());
	OK(modes_of(10000, false, 1).count == 2, "but does not hide real ones");
	for (size_t i = 0; i < 200; i++)
		values[i] = i % 2 ? 1000 + (int64_t)i : 9000 + (int64_t)i;
	OK(modes_of(200, false, 1).by == TARE_MODES_NONE, "200 values are too few");
	for (size_t i = 0; i < 10000; i++)
		values[i] = 4000;
	OK(modes_of(10000, false, 1).by == TARE_MODES_NONE, "all equal");
	OK(modes_of(0, true, 1).by == TARE_MODES_NONE, "n = 0");
	struct tare_modes modes = modes_of(1, true, 1);
	char text[20] = "x";
	tare_modes_sentence(&modes, text, sizeof(text));
	OK(modes.by == TARE_MODES_NONE && !text[0], "n = 1, nothing to say");
}

static double shaped(int shape)
{
	return shape == 0   ? 4000 + 100 * normal()
	       : shape == 1 ? 4000 - 300 * log(uniform() + 1e-300)
			    : 1000 * pow(uniform() + 1e-12, -0.5);
}

/* False claims on unimodal rounds, and what is found of two modes. */
static void print_detection(void)
{
	static const char *const names[] = {"normal", "exponential", "Pareto, index 2"};
	int all = 0;
	for (int shape = 0; shape < 3; shape++) {
		int claimed = 0;
		for (int round = 0; round < 334; round++) {
			size_t n = round % 4 == 0 ? 1000 : round % 4 == 1 ? 2000 : round % 4 == 2 ? 5000 : 10000;
			for (size_t i = 0; i < n; i++)
				values[i] = (int64_t)shaped(shape);
			claimed += modes_of(n, false, 1).by != TARE_MODES_NONE;
		}
		printf("# %s: modes claimed in %d of 334 unimodal rounds\n", names[shape], claimed);
		all += claimed;
	}
	OK(all <= 10, "modes claimed in %d of 1002 unimodal rounds", all);
	int missed = 0;
	static const double apart[] = {0.5, 1, 2, 3, 4, 6, 8}, shares[] = {0.01, 0.05, 0.2, 0.5};
	for (size_t s = 0; s < sizeof(shares) / sizeof(shares[0]); s++) {
		printf("# slow share %2.0f %%:", 100 * shares[s]);
		for (size_t a = 0; a < sizeof(apart) / sizeof(apart[0]); a++) {
			int found = 0;
			for (int round = 0; round < 10; round++) {
				for (size_t i = 0; i < 10000; i++)
					values[i] = (int64_t)(4000 + (uniform() < shares[s] ? 100 * apart[a] : 0) +
							      100 * normal());
				found += modes_of(10000, false, 1).count == 2;
			}
			printf(" %g: %d/10", apart[a], found);
			missed += apart[a] >= 4 && shares[s] >= 0.2 && found < 9;
		}
		printf(" (deviations apart: found, of 10 000 requests)\n");
	}
	IS_I64(missed, 0, "modes from 20 % and 4 deviations on are found in at least 9 of 10 rounds");
}

int main(int argc, char **argv)
{
	seed_state = argc > 1 ? strtoull(argv[1], NULL, 10) : 4;
	printf("# seed %" PRIu64 "\n", seed_state);
	check_pieces();
	check_note();
	check_order();
	check_quantised();
	print_detection();
	return tap_done();
}
