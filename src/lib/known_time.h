/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Arithmetic on times that may not be known. */
#pragma once
#include "tare/sample.h"

/* TARE_NO_TIME where either is, or where the difference has no room. */
static inline int64_t known_difference(int64_t later, int64_t earlier)
{
	int64_t span;
	if (later == TARE_NO_TIME || earlier == TARE_NO_TIME || __builtin_sub_overflow(later, earlier, &span))
		return TARE_NO_TIME;
	return span;
}
