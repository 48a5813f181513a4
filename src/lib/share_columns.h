/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The columns of what took a CPU (tare/cause.h), for `tare stat --shared`: a line for each. */
#pragma once
#include "base/table.h"
#include "tare/cause.h"
#include "tare/run.h"

struct share_at {
	const char *file;
	const struct tare_run *run;
	const struct tare_round *round;
	const struct tare_share *share;
};
extern const struct column share_columns[];
extern const size_t share_column_count;
