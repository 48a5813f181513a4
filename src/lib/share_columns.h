/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The columns of what took a CPU (tare/cause.h), for `tare stat --shared`: a line for each. */
#pragma once
#include "lib/place_columns.h"
#include "tare/cause.h"

struct share_at {
	struct place_at place;
	const struct tare_share *share;
};
extern const struct column share_columns[];
extern const size_t share_column_count;
