/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The columns of one stall (tare/stalls.h), for `tare stat --stalls`: a line a stall. */
#pragma once
#include "lib/place_columns.h"
#include "tare/cause.h"
#include "tare/stalls.h"

struct stall_at {
	struct place_at place;
	enum tare_span span;
	const struct tare_stall *stall;
	const struct tare_cause *cause; /* NULL: the round was not watched */
	const char *why;                /* its sentence */
};
extern const struct column stall_columns[];
extern const size_t stall_column_count;
