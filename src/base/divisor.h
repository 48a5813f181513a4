/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Euclid's algorithm: the step that values share is their greatest common divisor. */
#pragma once
#include <stdint.h>

/* Of 0 and x it is x. */
static inline uint64_t common_divisor(uint64_t one, uint64_t other)
{
	while (other) {
		uint64_t rest = one % other;
		one = other;
		other = rest;
	}
	return one;
}
