/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Samples of one service (or of one pair of taps) collected as columns, and the
 * record made of them: 19 bytes a sample. Memory of an import is this and what is
 * in flight.
 */
#pragma once
#include "import/capture/match.h"
#include "tare/run.h"

struct series {
	int64_t *from_ns, *to_ns;
	uint8_t *fate;
	uint16_t *flags;
	size_t count, room;
	uint64_t lost_first[8]; /* frame numbers of the first requests that stayed without reply */
	uint64_t lost;
};

void series_end(struct series *series);
/* Takes what the matcher has finished. Times are relative to `base`. */
int series_take(
	struct series *series, struct match *match, struct capture_time base, struct tare_err *err) TARE_MUST_USE;
