/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Columns of the records of this folder: one table each, for every output. */
#pragma once
#include "base/table.h"
#include "host/compare.h"
#include "host/delta.h"
#include "host/finding.h"

struct host_columns {
	const struct column *column;
	size_t count;
};
extern const struct host_columns host_finding_columns;  /* struct host_finding */
extern const struct host_columns host_fact_columns;     /* struct host_fact */
extern const struct host_columns host_delta_columns;    /* struct host_delta */
extern const struct host_columns host_compared_columns; /* struct host_compared */
