/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Effective n: bursts, autoregression, independence, blocks. */
#include "tare/dependence.h"

#include <math.h>
#include <stdlib.h>

#include "tap.h"
#include "tare/sample.h"

enum { MOST = 400000 };

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

static struct tare_dependence dependence_of(size_t n, int64_t limit_ns)
{
	struct tare_dependence dependence = {0};
	struct tare_err err = {0};
	if (tare_dependence_of(values, n, limit_ns, &dependence, &err)) {
		printf("Bail out! %s\n", err.text);
		exit(1);
	}
	return dependence;
}

static void check_bursts(void)
{
	for (size_t i = 0; i < 100; i++)
		values[i] = (i >= 20 && i < 25) || (i >= 60 && i < 65) ? 9000 : 4000;
	struct tare_dependence dependence = dependence_of(100, 5230);
	OK(dependence.n == 100 && dependence.above == 10 && dependence.bursts == 2, "10 above in 2 bursts");
	OK(fabs(dependence.effective_n - 22) < 0.7, "effective n %.1f", dependence.effective_n);
	OK(dependence.grade == TARE_GRADE_WEAK, "10 behind would be thin; 2.2 are weak");
	char text[200];
	tare_dependence_sentence(&dependence, 5230, text, sizeof(text));
	IS_STR(text, "the 10 requests above 5.23 µs came in 2 bursts: as good as 2 independent ones", "sentence");
	/* Losses are no border of a burst. */
	values[22] = values[63] = TARE_NO_TIME;
	dependence = dependence_of(100, 5230);
	OK(dependence.n == 98 && dependence.above == 8 && dependence.bursts == 2, "holes do not part a burst");
	struct tare_dependence sum = dependence;
	tare_dependence_add(&sum, &dependence);
	OK(sum.above == 16 && fabs(sum.effective_n - 2 * dependence.effective_n) < 1e-9, "rounds add");
}

static void check_edges(void)
{
	struct tare_dependence dependence = dependence_of(0, 5);
	OK(dependence.n == 0 && dependence.above == 0 && dependence.grade == TARE_GRADE_NONE, "n = 0");
	for (size_t i = 0; i < 1000; i++)
		values[i] = 4000;
	dependence = dependence_of(1000, 5000);
	OK(dependence.effective_n >= 1000 && dependence.above == 0 && dependence.bursts == 0, "none above");
	dependence = dependence_of(1000, 3000);
	OK(dependence.effective_n >= 1000 && dependence.above == 1000 && dependence.bursts == 1, "all above");
	dependence = dependence_of(1, 3000);
	OK(dependence.effective_n >= 1 && dependence.above == 1, "n = 1");
	char text[200] = "x";
	tare_dependence_sentence(&dependence, 5230, text, sizeof(text));
	IS_STR(text, "", "nothing to say about independent ones");
}

/* Independent, and AR(1) with rho .6, of which the sign's autocorrelation is (2/pi) asin(rho^k). */
static void check_series(size_t n, double low, double high)
{
	for (size_t i = 0; i < n; i++)
		values[i] = (int64_t)(4000 + 100 * normal());
	double kept = dependence_of(n, 4000).effective_n / (double)n;
	OK(kept > 0.75, "independent: %.2f of %zu", kept, n);
	kept = dependence_of(n, 4233).effective_n / (double)n;
	OK(kept > 0.75, "independent, p99: %.2f", kept);
	double state = 0, sum = 1;
	for (int k = 1; k < 60; k++)
		sum += 2 * 2 / 3.141592653589793 * asin(pow(0.6, k));
	for (size_t i = 0; i < n; i++) {
		state = 0.6 * state + 0.8 * normal();
		values[i] = (int64_t)(4000 + 1000 * state);
	}
	kept = dependence_of(n, 4000).effective_n / (double)n * sum;
	OK(kept > low && kept < high, "AR(1): %.2f of the theoretical 1 / %.2f", kept, sum);
}

int main(int argc, char **argv)
{
	seed_state = argc > 1 ? strtoull(argv[1], NULL, 10) : 11;
	printf("# seed %" PRIu64 "\n", seed_state);
	check_bursts();
	check_edges();
	check_series(16000, 0.8, 1.25);
	check_series(MOST, 0.8, 1.25);
	return tap_done();
}
