/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Warm-up check over rounds and the length of a transient. The check needs no
 * threshold on the values themselves, only their order.
 */
#include "tare/warmup.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "tare/sample.h"

struct tare_slowest tare_slowest_of(const int64_t *values_ns, size_t count)
{
	struct tare_slowest slowest = {0};
	int64_t most = TARE_NO_TIME, second = TARE_NO_TIME;
	for (size_t i = 0; i < count; i++) {
		int64_t value = values_ns[i];
		if (value == TARE_NO_TIME)
			continue;
		if (value > most) {
			second = most;
			slowest.runner_up = slowest.position;
			most = value;
			slowest.position = slowest.n;
			slowest.ties = 1;
		} else {
			if (value > second) {
				second = value;
				slowest.runner_up = slowest.n;
			}
			slowest.ties += value == most;
		}
		slowest.n++;
	}
	if (slowest.n < 2)
		slowest.runner_up = slowest.n;
	return slowest;
}

/* That at least one of the tied slowest is among the first h: 1 - C(n - h, ties) / C(n, ties). */
static double chance_early(const struct tare_slowest *round, uint64_t h)
{
	double none = 1;
	if (h >= round->n || round->ties > round->n - h)
		return 1;
	for (uint64_t i = 0; i < round->ties && none > 1e-300; i++)
		none *= 1 - (double)h / (double)(round->n - i);
	return 1 - none;
}

int tare_warmup_check(const struct tare_slowest *rounds, size_t count, uint64_t h, struct tare_warmup_check *ret_check,
	struct tare_err *err)
{
	struct tare_warmup_check check = {.chance = 1};
	for (size_t i = 0; i < count; i++)
		check.early += rounds[i].n && rounds[i].position < h;
	/* missing[k]: probability of k early rounds so far, k < early; what is left over is `early or more`. */
	AUTO_FREE double *missing = calloc(check.early + 1, sizeof(*missing));
	if (!missing)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory for the warm-up check of %zu rounds", count);
	double reached = 0;
	missing[0] = 1;
	for (size_t i = 0; i < count; i++) {
		if (!rounds[i].n)
			continue;
		double early = chance_early(&rounds[i], h);
		check.rounds++;
		if (!check.early)
			continue;
		reached += missing[check.early - 1] * early;
		for (size_t k = check.early - 1; k > 0; k--)
			missing[k] = missing[k] * (1 - early) + missing[k - 1] * early;
		missing[0] *= 1 - early;
	}
	if (check.early)
		check.chance = reached;
	check.too_short = check.chance < 0.01;
	*ret_check = check;
	return 0;
}

void tare_warmup_sentence(const struct tare_warmup_check *check, uint64_t h, char *ret_text, size_t room)
{
	struct text text = {.bytes = ret_text, .room = room};
	text_add(&text,
		"the slowest of a round is among its first %" PRIu64 " kept requests in %" PRIu64 " of %" PRIu64
		" rounds, chance %.2g%s",
		h, check->early, check->rounds, check->chance, check->too_short ? ": the warm-up is too short" : "");
}

size_t tare_warmup_suggest(const double *values, size_t n, double *ret_score)
{
	/* From the end, so that each d adds one value (Welford). */
	size_t best = 0, kept = 0;
	double mean = 0, squares = 0, least = INFINITY;
	for (size_t d = n; d-- > 0;) {
		double off = values[d] - mean;
		kept++;
		mean += off / (double)kept;
		squares += off * (values[d] - mean);
		double score = squares / ((double)kept * (double)kept);
		if (d <= n / 2 && score <= least) {
			least = score;
			best = d;
		}
	}
	if (ret_score)
		*ret_score = n ? least : NAN;
	return best;
}
