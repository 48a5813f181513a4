/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Numbers of foreign files as whole nanoseconds, exactly: "180.816" in
 * microseconds is 180816 ns, and never went through a double. Digits below 1 ns
 * are rounded half away from zero.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Powers of ten from ns. */
enum { UNIT_PS = -3, UNIT_ONE_NS = 0, UNIT_US = 3, UNIT_MS = 6, UNIT_S = 9 };

struct number {
	int64_t ns;
	int64_t step_ns; /* what one unit of its last digit is, at least 1 */
	const char *why; /* NULL: fine; else "is no number", "is not a number (NaN)", "is infinite", "is too large" */
};
/* `text` of `bytes` bytes, blanks around it allowed: sign, digits, a point or a comma, an exponent. */
struct number number_read(const char *text, size_t bytes, int unit);
/* "ns", "us", "µs", "usec", "ms", "msec", "s", "sec", …; false when it is none. Case counts only for "S". */
bool number_unit(const char *text, size_t bytes, int *ret_unit);
/* A whole number without sign; false when it is none or does not fit. */
bool number_count(const char *text, size_t bytes, uint64_t *ret_count);
