/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Warm-up: position of the slowest over rounds, and the length of a transient. */
#include "tare/warmup.h"

#include <math.h>

#include "tap.h"
#include "tare/interval.h"
#include "tare/sample.h"

enum { ROUNDS = 70 };

static struct tare_warmup_check check_of(uint64_t early, uint64_t n, uint64_t h, uint64_t ties)
{
	struct tare_slowest rounds[ROUNDS + 1];
	for (uint64_t i = 0; i < ROUNDS; i++)
		rounds[i] = (struct tare_slowest){.n = n, .position = i < early ? 0 : n - 1, .ties = ties};
	rounds[ROUNDS] = (struct tare_slowest){0};
	struct tare_warmup_check check = {0};
	if (tare_warmup_check(rounds, ROUNDS + 1, h, &check, NULL))
		printf("Bail out! no memory\n");
	return check;
}

static void check_slowest(void)
{
	static const int64_t values[] = {TARE_NO_TIME, 5, 9, TARE_NO_TIME, 7, 9, 3};
	struct tare_slowest slowest = tare_slowest_of(values, 7);
	OK(slowest.n == 5 && slowest.position == 1 && slowest.ties == 2, "position among those observed, and ties");
	IS_I64(slowest.runner_up, 3, "the second slowest is the other 9");
	slowest = tare_slowest_of(values + 4, 3);
	OK(slowest.position == 1 && slowest.ties == 1 && slowest.runner_up == 0, "runner-up before the slowest");
	slowest = tare_slowest_of(values, 1);
	OK(slowest.n == 0 && slowest.runner_up == 0, "nothing observed");
	slowest = tare_slowest_of(values, 2);
	OK(slowest.n == 1 && slowest.ties == 1 && slowest.runner_up == 1, "one value has no runner-up");
}

static void check_rounds(void)
{
	struct tare_warmup_check two = check_of(2, 9998, 10, 1);
	OK(fabs(two.chance - .0023) < 5e-5 && two.too_short, "2 of 70 rounds within the first 10: p = %.4f, warn",
		two.chance);
	OK(two.rounds == 70 && two.early == 2, "the empty round is not counted");
	struct tare_warmup_check one = check_of(1, 9998, 10, 1);
	OK(one.chance > 0.05 && !one.too_short, "1 of 70: p = %.3f, no warning", one.chance);
	struct tare_warmup_check most = check_of(57, 10000, 1, 1);
	OK(fabs(most.chance / tare_at_least_chance(57, 70, 1e-4) - 1) < 1e-9 && most.chance < 1e-214,
		"57 of 70 at the very first: p = %.2g", most.chance);
	struct tare_warmup_check none = check_of(0, 9998, 10, 1);
	OK(none.chance >= 1 && !none.too_short, "none: chance 1");
	struct tare_warmup_check equal = check_of(70, 9998, 10, 9998);
	OK(equal.chance > 0.999 && !equal.too_short,
		"all values equal: the first is always the slowest and proves nothing");
	struct tare_warmup_check quantised = check_of(7, 10000, 10, 100);
	OK(fabs(quantised.chance - 0.49) < 0.15, "100 ties: early in 10 %% of rounds by chance (%.2f)",
		quantised.chance);
	char text[200];
	tare_warmup_sentence(&two, 10, text, sizeof(text));
	IS_STR(text,
		"the slowest of a round is among its first 10 kept requests in 2 of 70 rounds, chance 0.0023: the "
		"warm-up is too short",
		"sentence");
}

static void check_transient(void)
{
	static const double values[] = {50, 20, 4, 4, 5, 4, 4, 5, 4, 4};
	double score = 0;
	IS_I64(tare_warmup_suggest(values, 10, &score), 2, "the transient is two long");
	OK(fabs(score - 0.0234) < 5e-5, "score %.4f", score);
	static const double flat[] = {4, 4, 4, 4};
	IS_I64(tare_warmup_suggest(flat, 4, NULL), 0, "no transient in equal values");
	IS_I64(tare_warmup_suggest(flat, 0, &score), 0, "n = 0");
	OK(isnan(score), "has no score");
	IS_I64(tare_warmup_suggest(flat, 1, &score), 0, "n = 1");
}

static uint64_t seed_state = 5;

static uint64_t random_bits(void)
{
	seed_state ^= seed_state >> 12;
	seed_state ^= seed_state << 25;
	seed_state ^= seed_state >> 27;
	return seed_state * UINT64_C(2685821657736338717);
}

/* Of 1000 sets of rounds, those that warn; in `early_share` per cent of rounds request 3 of the kept ones is slow. */
static int warnings(size_t rounds, uint64_t early_share, uint64_t steps)
{
	enum { KEPT = 500, ROUNDS_MOST = 70 };
	static int64_t values[KEPT];
	struct tare_slowest slowest[ROUNDS_MOST];
	int warned = 0;
	for (int set = 0; set < 1000 / (early_share ? 10 : 1); set++) {
		for (size_t round = 0; round < rounds; round++) {
			for (size_t i = 0; i < KEPT; i++)
				values[i] = (int64_t)(random_bits() % steps);
			if (random_bits() % 100 < early_share)
				values[3] = (int64_t)steps;
			slowest[round] = tare_slowest_of(values, KEPT);
		}
		struct tare_warmup_check check = {0};
		if (tare_warmup_check(slowest, rounds, 5, &check, NULL))
			printf("Bail out! no memory\n");
		warned += check.too_short;
	}
	return warned;
}

static void print_detection(void)
{
	printf("# seed %" PRIu64 "\n", seed_state);
	int fine = warnings(10, 0, 1000000), stepped = warnings(10, 0, 50);
	/* 10 expected at a threshold of 1 %; 22 is beyond the 99.9 % bound */
	OK(fine <= 22, "10 rounds with a warm-up long enough: warned in %d of 1000", fine);
	OK(stepped <= 22, "the same in display steps: %d of 1000", stepped);
	static const uint64_t shares[] = {10, 30, 80};
	for (size_t i = 0; i < 3; i++) {
		int ten = warnings(10, shares[i], 1000000), seventy = warnings(70, shares[i], 1000000);
		printf("# request 3 slowest in %" PRIu64
		       " %% of rounds: warned in %d of 100 sets of 10 rounds, %d of 70\n",
			shares[i], ten, seventy);
		if (i == 2)
			OK(ten >= 95 && seventy >= 95, "a slow request 3 in most rounds is found");
	}
}

int main(void)
{
	check_slowest();
	check_rounds();
	check_transient();
	print_detection();
	return tap_done();
}
