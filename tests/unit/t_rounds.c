/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Seventy generated rounds with the features of the second field note: stalls in
 * 9 rounds, all on ordinary CPUs; the first request slowest in 57; the first two
 * among the ten slowest in 61.
 */
#include "tare/rounds.h"

#include <math.h>
#include <stdlib.h>

#include "tap.h"

enum { ROUNDS = 70, COUNT = 2002 };

static uint64_t seed_state;
static int64_t values[COUNT];
static int16_t peer[COUNT];
static uint8_t fate[COUNT];
static struct tare_round_facts facts[ROUNDS];

static double uniform(void)
{
	seed_state ^= seed_state >> 12;
	seed_state ^= seed_state << 25;
	seed_state ^= seed_state >> 27;
	return (double)((seed_state * UINT64_C(2685821657736338717)) >> 11) * 0x1p-53;
}

static void make_round(uint32_t number)
{
	/* 30 rounds on the isolated CPU 1, then ordinary ones, some of them moving from 19 to 25. */
	static const struct tare_run run = {.id = 1, .epoch_real_ns = 1700000000000000000};
	static const struct tare_target target = {.url = "udp://peer:7000", .kind = "udp"};
	static struct tare_round rounds[ROUNDS];
	bool isolated = number < 30;
	for (size_t i = 0; i < COUNT; i++) {
		bool moved = !isolated && number % 4 == 0 && i > 1200;
		peer[i] = isolated ? 1 : number % 2 || moved ? 25 : 19;
		values[i] = (int64_t)((isolated               ? 4150
					      : peer[i] == 19 ? 4700
							      : 3900) +
				      400 * (uniform() - 0.5)) +
			    (number % 3) * 10;
		fate[i] = TARE_ANSWERED;
	}
	bool stalled =
		!isolated && ((number % 4 == 1 && number < 46) || (number % 4 == 2 && number > 30 && number < 52));
	if (stalled)
		values[1000] = 1548860;
	values[0] = number < 57 ? 19960 : number < 61 ? 4500 : 4000;
	values[1] = number < 61 ? 5500 : 4000;
	for (size_t i = 100; number >= 57 && number < 61 && i < 101; i++)
		values[i] = 6000;
	if (number >= 57 && number < 61)
		values[0] = 5600;
	if (number < 57 && values[1000] > 1000000)
		values[0] = 1600000;
	rounds[number] = (struct tare_round){.number = number + 1,
		.label = isolated ? "isolated" : "ordinary",
		.first_due_ns = (int64_t)number * 20000000000};
	struct tare_record record = {.run = &run, .target = &target, .round = &rounds[number], .resolution_ns = 1};
	record.series = (struct tare_series){.count = COUNT, .fate = fate};
	record.series.given_ns[TARE_SPAN_HOST] = values;
	record.series.cpu[TARE_CPU_PEER_RX] = peer;
	struct tare_err err = {0};
	if (tare_round_facts_of(&record, "seventy.tare", TARE_SPAN_HOST, 2, 41000, &facts[number], &err)) {
		printf("Bail out! %s\n", err.text);
		exit(1);
	}
}

static void check_seventy(void)
{
	char text[200];
	struct tare_across across;
	struct tare_err err = {0};
	for (uint32_t number = 0; number < ROUNDS; number++)
		make_round(number);
	OK(facts[29].peer.count == 1 && facts[29].peer.cpu[0] == 1, "an isolated round");
	OK(facts[32].peer.count == 2 && facts[32].peer.cpu[0] == 19 && facts[32].peer.cpu[1] == 25,
		"a round that moved");
	OK(facts[33].stalls == 1 && facts[33].max_ns == 1548860 && facts[33].slowest.position == 998,
		"a stalled round");
	IS_I64(facts[33].n, 2000, "n after the warm-up");
	IS_I64(facts[33].started_real_ns - facts[32].started_real_ns, 20000000000, "started 20 s later");
	if (tare_across_of(facts, ROUNDS, &across, &err))
		printf("Bail out! %s\n", err.text);
	tare_across_sentence(&across, TARE_ACROSS_STALLS, text, sizeof(text));
	IS_STR(text,
		"stalls in 9 of 70 rounds, all with the responder on CPU 19 or 25 (none in the 30 rounds elsewhere)",
		"where");
	tare_across_sentence(&across, TARE_ACROSS_FIRST, text, sizeof(text));
	IS_STR(text, "the slowest request is the first in 57 of 70 rounds", "first");
	tare_across_sentence(&across, TARE_ACROSS_FIRST_TWO, text, sizeof(text));
	IS_STR(text, "the first two are both among the ten slowest in 61 of 70 rounds", "first two");
	tare_across_sentence(&across, TARE_ACROSS_REPEAT, text, sizeof(text));
	OK(strstr(text, "s_r of p50 ") == text && strstr(text, ", largest retest difference ") != NULL, "%s", text);
	IS_I64(across.median.pairs, 29 + 39, "differences within each setting only");

	facts[40].peer.count = 0;
	facts[40].stalls = 1;
	if (tare_across_of(facts, ROUNDS, &across, &err))
		printf("Bail out! %s\n", err.text);
	tare_across_sentence(&across, TARE_ACROSS_STALLS, text, sizeof(text));
	IS_STR(text, "stalls in 10 of 70 rounds", "one unknown CPU and nothing is said of CPUs");
	if (tare_across_of(facts, 1, &across, &err))
		printf("Bail out! %s\n", err.text);
	tare_across_sentence(&across, TARE_ACROSS_REPEAT, text, sizeof(text));
	IS_STR(text, "", "one round has no repeatability");
	tare_across_sentence(&across, TARE_ACROSS_STALLS, text, sizeof(text));
	IS_STR(text, "no stall in 1 round", "none");
	if (tare_across_of(facts, 0, &across, &err))
		printf("Bail out! %s\n", err.text);
	tare_across_sentence(&across, TARE_ACROSS_STALLS, text, sizeof(text));
	IS_STR(text, "", "no round, no sentence");
}

static void check_repeatability(void)
{
	static const double medians[] = {4.70, 4.69, 4.66, 4.64, 4.61};
	struct tare_repeatability repeat = tare_repeatability_of(medians, 5);
	OK(fabs(repeat.plain - .0367) < 5e-5 && fabs(repeat.successive - .0170) < 5e-5, "plain %.4f, successive %.4f",
		repeat.plain, repeat.successive);
	OK(fabs(repeat.largest - .03) < 1e-9 && repeat.pairs == 4, "largest difference");
	/* A1 4.70, A2 4.66; B1 4.31, B2 4.29: s_r .02236 */
	static const double a[] = {4.70, 4.66}, b[] = {4.31, 4.29};
	struct tare_repeatability both = tare_repeatability_of(a, 2), other = tare_repeatability_of(b, 2);
	tare_repeatability_add(&both, &other);
	OK(fabs(both.plain - .02236) < 5e-6 && both.pairs == 2 && fabs(both.largest - .04) < 1e-9, "pooled s_r %.5f",
		both.plain);
	OK(fabs(tare_repeatability_limit(.02236, 0, 0.95) - .062) < 5e-5, "limit, normal");
	OK(fabs(tare_repeatability_limit(.02236, 2, 0.95) - .136) < 5e-4, "limit, t with 2 degrees");
	struct tare_repeatability none = tare_repeatability_of(a, 1);
	OK(none.pairs == 0 && isnan(none.plain), "one round has none");
	tare_repeatability_add(&none, &both);
	OK(fabs(none.plain - both.plain) < 1e-12 && fabs(none.largest - .04) < 1e-9, "added to none it stays");
}

static void check_sets(void)
{
	char text[80];
	struct tare_cpu_set set = {{25, 3, 19}, 3};
	tare_cpu_set_text(&set, text, sizeof(text));
	IS_STR(text, "3, 19 or 25", "three CPUs");
	set.count = 1;
	tare_cpu_set_text(&set, text, sizeof(text));
	IS_STR(text, "25", "one");
	set.count = 0;
	tare_cpu_set_text(&set, text, sizeof(text));
	IS_STR(text, "unknown", "none");
	for (size_t i = 0; i < COUNT; i++)
		peer[i] = i < 10 ? 7 : i < 500 ? TARE_NO_CPU : i < 900 ? 2 : 5;
	struct tare_series series = {.count = COUNT, .fate = fate};
	series.cpu[TARE_CPU_RX] = peer;
	set = tare_cpu_set_of(&series, TARE_CPU_RX);
	OK(set.count == 2 && set.cpu[0] == 5 && set.cpu[1] == 2, "most frequent first, below 1 %% left out");
	OK(tare_cpu_set_of(&series, TARE_CPU_TX).count == 0, "none told");
}

int main(int argc, char **argv)
{
	seed_state = argc > 1 ? strtoull(argv[1], NULL, 10) : 8;
	printf("# seed %" PRIu64 "\n", seed_state);
	check_seventy();
	check_repeatability();
	check_sets();
	return tap_done();
}
