/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "import/log/sockperf_due.h"

#include <math.h>
#include <stdlib.h>

/* How near to each other requests that left in time are: a spinning sender is within some 100 ns of intervals of 10 µs on. */
static const double NEAR = 0.01;

static int by_value(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;
	return (left > right) - (left < right);
}

static double phase_of(double since_ns, double period_ns)
{
	double phase = fmod(since_ns, period_ns);
	return phase < 0 ? phase + period_ns : phase;
}

bool sockperf_grid_of(const int64_t *sent_ns, size_t count, double period_ns, double *scratch, struct sockperf_grid *ret_grid)
{
	double width = period_ns * NEAR;
	size_t best = 0, best_at = 0, end = 0;
	if (count < 2 || period_ns <= 0)
		return false;
	for (size_t i = 0; i < count; i++)
		scratch[i] = phase_of((double)(sent_ns[i] - sent_ns[0]), period_ns);
	qsort(scratch, count, sizeof(*scratch), by_value);
	/* a window that goes round the circle once: `end` may pass the last and go on with the first */
	for (size_t i = 0; i < count; i++) {
		end = end < i ? i : end;
		while (end + 1 < i + count) {
			size_t next = (end + 1) % count;
			double at = scratch[next] + (end + 1 >= count ? period_ns : 0);
			if (at - scratch[i] > width)
				break;
			end++;
		}
		if (end - i + 1 > best) {
			best = end - i + 1;
			best_at = i;
		}
	}
	if (best * 2 < count)
		return false;
	*ret_grid = (struct sockperf_grid){.phase_ns = scratch[best_at], .share = (double)best / (double)count};
	for (size_t i = 0; i < count; i++) {
		double before = phase_of(scratch[best_at] - scratch[i], period_ns);
		ret_grid->early += before > 0 && before <= width;
	}
	return true;
}

double sockperf_due(const struct sockperf_grid *grid, double period_ns, double since_first_ns)
{
	double late = phase_of(since_first_ns - grid->phase_ns, period_ns);
	if (late > period_ns * (1 - NEAR))
		return since_first_ns; /* by clock or rounding a little before its slot: in time */
	return since_first_ns - late;
}
