/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The columns of one sample, for `tare export`: one line is one request. Spans
 * and CPUs that a file never observed have no column; docs/stat.md lists them all.
 */
#pragma once
#include "base/table.h"
#include "tare/run.h"

/* What the columns read. `scratch` is room for the text of flags; a cell's text lives until the next call. */
enum { SAMPLE_SCRATCH_BYTES = 256 };
struct sample_at {
	const struct tare_record *record;
	size_t index;
	char *scratch;
};

/* What a file holds: 1 << enum tare_span and 1 << enum tare_cpu_place, gathered over its records. */
struct sample_parts {
	uint32_t spans, cpus;
};
void sample_parts_add(struct sample_parts *parts, const struct tare_record *record);

/* What the column of flags says for each bit of enum tare_flag, and what the columns of CPUs are called. */
enum { SAMPLE_FLAG_NAMES = 13 };
extern const char *const sample_flag_names[SAMPLE_FLAG_NAMES], *const sample_cpu_names[TARE_CPU_PLACES];

enum { SAMPLE_COLUMNS_MAX = 16 + TARE_SPAN_COUNT + TARE_CPU_PLACES };
/* Returns the number of columns; late, rtt and response are always there. */
size_t sample_table_columns(const struct sample_parts *parts, struct column ret_columns[SAMPLE_COLUMNS_MAX]);
