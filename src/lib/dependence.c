/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Effective number of observations from block sums of an indicator. Everything
 * is counted in integers until the autocovariances.
 */
#include "tare/dependence.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "tare/sample.h"

enum { BLOCKS_MOST = 16384, SCAN = 4096 };

static uint64_t observed_in(const int64_t *values_ns, size_t count)
{
	uint64_t observed = 0;
	for (size_t i = 0; i < count; i++)
		observed += values_ns[i] != TARE_NO_TIME;
	return observed;
}

/* Values above the limit and, by their neighbours, the bursts they form; without holes, so that it is vectorised. */
static void count_dense(const int64_t *values_ns, size_t count, int64_t limit_ns, bool before, uint64_t *ret_above,
	uint64_t *ret_bursts)
{
	uint64_t above = values_ns[0] > limit_ns, bursts = values_ns[0] > limit_ns && !before;
	for (size_t i = 1; i < count; i++) {
		above += values_ns[i] > limit_ns;
		bursts += (values_ns[i] > limit_ns) & (values_ns[i - 1] <= limit_ns);
	}
	*ret_above = above;
	*ret_bursts = bursts;
}

/* Fills the block sums and returns how many whole blocks there are. */
static size_t sum_blocks(const int64_t *values_ns, size_t count, int64_t limit_ns, size_t block, double *ret_sums,
	struct tare_dependence *dependence)
{
	size_t blocks = 0, filled = 0;
	uint64_t sum = 0;
	bool before = false;
	for (size_t i = 0; i < count;) {
		size_t piece = count - i < block - filled ? count - i : block - filled;
		piece = piece < SCAN ? piece : SCAN;
		uint64_t above = 0, bursts = 0,
			 observed = dependence->n == count ? piece : observed_in(values_ns + i, piece);
		if (observed == piece) {
			count_dense(values_ns + i, piece, limit_ns, before, &above, &bursts);
			before = values_ns[i + piece - 1] > limit_ns;
		} else {
			for (size_t j = i; j < i + piece; j++) {
				if (values_ns[j] == TARE_NO_TIME)
					continue;
				bool over = values_ns[j] > limit_ns;
				above += over;
				bursts += over && !before;
				before = over;
			}
		}
		dependence->above += above;
		dependence->bursts += bursts;
		sum += above;
		filled += observed;
		i += piece;
		if (filled == block) {
			ret_sums[blocks++] = (double)sum;
			filled = 0;
			sum = 0;
		}
	}
	return blocks;
}

/* Long-run variance of the sums over their blocks: V_0 + 2 (V_1 + V_2 + ...) while positive. */
static double long_run_variance(double *sums, size_t blocks)
{
	double mean = 0, total = 0;
	for (size_t i = 0; i < blocks; i++)
		mean += sums[i];
	mean /= (double)blocks;
	for (size_t i = 0; i < blocks; i++)
		sums[i] -= mean;
	for (size_t lag = 0; lag < blocks; lag++) {
		double covariance = 0;
		for (size_t i = 0; i + lag < blocks; i++)
			covariance += sums[i] * sums[i + lag];
		if (covariance <= 0)
			break;
		total += (lag ? 2 : 1) * covariance;
	}
	return total / (double)blocks;
}

static void grade(struct tare_dependence *dependence)
{
	double share = dependence->n ? dependence->effective_n / (double)dependence->n : 1;
	dependence->effective_above = (double)dependence->above * share;
	dependence->grade = tare_grade_of((uint64_t)(dependence->effective_above + 0.5));
}

int tare_dependence_of(const int64_t *values_ns, size_t count, int64_t limit_ns, struct tare_dependence *ret_dependence,
	struct tare_err *err)
{
	struct tare_dependence dependence = {.n = observed_in(values_ns, count)};
	size_t n = (size_t)dependence.n, block = (n + BLOCKS_MOST - 1) / BLOCKS_MOST;
	block = block ? block : 1;
	AUTO_FREE double *sums = malloc((n / block + 1) * sizeof(*sums));
	if (!sums)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory for the dependence of %zu values", n);
	size_t blocks = sum_blocks(values_ns, count, limit_ns, block, sums, &dependence);
	dependence.effective_n = (double)n;
	if (blocks && dependence.above && dependence.above < dependence.n) {
		double share = (double)dependence.above / (double)n;
		double variance = long_run_variance(sums, blocks) / (double)block;
		if (variance > 0)
			dependence.effective_n = fmin((double)n, (double)n * share * (1 - share) / variance);
	}
	grade(&dependence);
	*ret_dependence = dependence;
	return 0;
}

void tare_dependence_add(struct tare_dependence *into, const struct tare_dependence *from)
{
	into->n += from->n;
	into->above += from->above;
	into->bursts += from->bursts;
	into->effective_n += from->effective_n;
	into->effective_above += from->effective_above;
	into->grade = tare_grade_of((uint64_t)(into->effective_above + 0.5));
}

void tare_dependence_sentence(const struct tare_dependence *dependence, int64_t limit_ns, char *ret_text, size_t room)
{
	struct text text = {.bytes = ret_text, .room = room};
	char limit[32];
	if (room)
		ret_text[0] = '\0';
	/* Below a tenth it is the noise of the estimate. */
	if (!dependence->above || dependence->effective_above > 0.9 * (double)dependence->above)
		return;
	format_duration(limit_ns, limit, sizeof(limit));
	text_add(&text,
		"the %" PRIu64 " request%s above %s came in %" PRIu64 " burst%s: as good as %.0f independent one%s",
		dependence->above, dependence->above == 1 ? "" : "s", limit, dependence->bursts,
		dependence->bursts == 1 ? "" : "s", fmax(1, round(dependence->effective_above)),
		dependence->effective_above < 1.5 ? "" : "s");
}
