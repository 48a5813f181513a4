/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What re-enactments say of two medians, whichever way these lie. */
#include "cli/lab_words.h"
#include "tap.h"

#include <math.h>

static const char *resolution(double small_ns, double large_ns)
{
	static char text[400];
	lab_resolution_words(small_ns, large_ns, 1368, text, sizeof text);
	return text;
}

static const char *rate(double low_ns, double high_ns)
{
	static char text[400];
	lab_rate_words(low_ns, high_ns, text, sizeof text);
	return text;
}

static bool has_minus(const char *text)
{
	for (; *text; text++)
		if (text[0] == '-' && text[1] >= '0' && text[1] <= '9')
			return true;
	return false;
}

static bool says(const char *text, const char *part)
{
	return strstr(text, part) != NULL && !has_minus(text);
}

int main(void)
{
	OK(says(resolution(8900, 11200), "cost 2.3 µs of median round trip; a display of 1 µs shows 3 steps"),
		"a difference of steps: %s", resolution(8900, 11200));
	OK(says(resolution(8100, 9300), "shows 1 step of it"), "one step: %s", resolution(8100, 9300));
	OK(says(resolution(8100, 8500), "cost 400 ns of median round trip, less than one step") &&
			says(resolution(8100, 8500), "nothing of it"),
		"within a step: %s", resolution(8100, 8500));
	OK(says(resolution(8900, 9100), "less than one step") && says(resolution(8900, 9100), "a whole step instead"),
		"across the edge of a step: %s", resolution(8900, 9100));
	OK(says(resolution(9600, 8300), "is not seen") && says(resolution(9600, 8300), "by 1300 ns") &&
			says(resolution(9600, 8300), "noise"),
		"the larger one faster: %s", resolution(9600, 8300));
	OK(says(resolution(9000, 9000), "is not seen"), "no difference: %s", resolution(9000, 9000));
	OK(says(resolution(NAN, 9000), "no answer"), "no answers: %s", resolution(NAN, 9000));

	OK(says(rate(20000, 10000), "20.0 µs at 1 000/s and 10.0 at 20 000/s, 0.5 times"), "two rates: %s",
		rate(20000, 10000));
	OK(says(rate(-20000, 10000), "no longer than by looking at 1 000/s"), "wrong sign at one: %s",
		rate(-20000, 10000));
	OK(says(rate(3000, 0), "at 20 000/s"), "nothing at the other: %s", rate(3000, 0));
	OK(says(rate(-1, -1), "at either rate"), "at both: %s", rate(-1, -1));
	OK(says(rate(1, NAN), "no answer"), "no answers");
	return tap_done();
}
