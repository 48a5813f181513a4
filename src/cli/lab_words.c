/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Never a negative cost: a difference of the wrong sign is the host's noise and is called that. */
#include "cli/lab_words.h"

#include <math.h>
#include <stdio.h>

#define STEP_NS 1000.0

const char *lab_us(double ns, char buffer[32])
{
	if (!isfinite(ns))
		snprintf(buffer, 32, "·");
	else
		snprintf(buffer, 32, "%.*f", fabs(ns) < 99950 ? 1 : 0, ns / 1000);
	return buffer;
}

void lab_resolution_words(double small_ns, double large_ns, size_t bytes, char *ret_text, size_t room)
{
	double cost_ns = large_ns - small_ns;
	double steps = floor(large_ns / STEP_NS) - floor(small_ns / STEP_NS);
	if (!isfinite(cost_ns))
		snprintf(ret_text, room, "One of the rounds got no answer: there is nothing to compare.");
	else if (cost_ns <= 0)
		snprintf(ret_text, room,
			"What %zu bytes more cost is not seen: the larger packet was no slower, by %.0f ns, which is "
			"the "
			"host's own noise between two rounds. A quieter one shows it better.",
			bytes, fabs(cost_ns));
	else if (cost_ns < STEP_NS)
		snprintf(ret_text, room,
			"%zu bytes more cost %.0f ns of median round trip, less than one step of 1 µs: such a display "
			"shows %s, as the medians happen to lie.",
			bytes, cost_ns, steps > 0 ? "a whole step instead" : "nothing of it");
	else
		snprintf(ret_text, room,
			"%zu bytes more cost %.1f µs of median round trip; a display of 1 µs shows %.0f step%s of it.",
			bytes, cost_ns / 1000, steps, steps == 1 ? "" : "s");
}

void lab_rate_words(double low_ns, double high_ns, char *ret_text, size_t room)
{
	char low[32], high[32];
	lab_us(low_ns, low);
	lab_us(high_ns, high);
	if (!isfinite(low_ns) || !isfinite(high_ns))
		snprintf(ret_text, room, "One of the rounds got no answer: there is nothing to compare.");
	else if (low_ns <= 0 || high_ns <= 0)
		snprintf(ret_text, room,
			"Waiting by sleeping took no longer than by looking %s: this host was too busy to show what a "
			"wake-up costs. A quieter one shows it better.",
			low_ns <= 0 && high_ns <= 0 ? "at either rate"
			: low_ns <= 0               ? "at 1 000/s"
						    : "at 20 000/s");
	else
		snprintf(ret_text, room,
			"Waiting by sleeping or by looking: the difference is %s µs at 1 000/s and %s at 20 000/s, "
			"%.1f "
			"times as much or as little.",
			low, high, high_ns / low_ns);
}
