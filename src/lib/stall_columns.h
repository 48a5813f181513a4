/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The columns of one stall (tare/stalls.h), for `tare stat --stalls`: a line a stall. */
#pragma once
#include "base/table.h"
#include "tare/cause.h"
#include "tare/run.h"
#include "tare/stalls.h"

struct stall_at {
	const char *file;
	const struct tare_run *run;
	const struct tare_target *target;
	const struct tare_round *round;
	enum tare_span span;
	const struct tare_stall *stall;
	const struct tare_cause *cause; /* NULL: the round was not watched */
	const char *why;                /* its sentence */
};
extern const struct column stall_columns[];
extern const size_t stall_column_count;
