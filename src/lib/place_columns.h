/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where a line of a table comes from: the columns that shares, stalls and budgets have in common. Such a record
 * begins with a place, which is what these read.
 */
#pragma once
#include "base/table.h"
#include "tare/run.h"

struct place_at {
	const char *file; /* NULL: a live run */
	const struct tare_run *run;
	const struct tare_target *target;
	const struct tare_round *round;
};

struct cell place_file(const void *record, const struct column *column);
struct cell place_run(const void *record, const struct column *column);
struct cell place_target(const void *record, const struct column *column);
struct cell place_round(const void *record, const struct column *column);
struct cell place_label(const void *record, const struct column *column);

/* clang-format off: a column a line */
#define PLACE_FILE {"file", "file", "file the round comes from", .get = place_file, .is_text = true}
#define PLACE_RUN {"run", "run", "run within the file", .get = place_run}
#define PLACE_TARGET {"target", "target", "what was asked, as a URL", .get = place_target, .is_text = true}
#define PLACE_ROUND {"round", "round", "round within the run", .get = place_round}
#define PLACE_LABEL {"label", "label", "label of the round", .get = place_label, .is_text = true}
/* clang-format on */
