/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Plain numbers: one value a line, or one column of a table; see import_rules in import.h. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One of a unit in picoseconds: "ns", "us", "µs", "ms", "s"; 0 for anything else. */
int64_t numbers_unit_ps(const char *text, size_t bytes);

/* Why a field is no duration. */
enum number_fault { NUMBER_FINE, NUMBER_NONE, NUMBER_NOT_FINITE, NUMBER_NEGATIVE, NUMBER_TOO_LARGE };
/*
 * Exact decimal text ("12", "3.75", "1.2e-5") times a unit, rounded to the nearest
 * ns; never by way of a double. *ret_step_ps is what one of its last digit means.
 */
enum number_fault numbers_read(const char *text, size_t bytes, int64_t unit_ps, int64_t *ret_ns, int64_t *ret_step_ps);
const char *number_fault_text(enum number_fault fault);

/* ---- which column of a table, when the user did not say ---- */

enum { NUMBERS_FIELDS = 256, NUMBERS_STAMPS = 3 };
struct field { const char *text; size_t bytes; };
struct table_line { struct field field[NUMBERS_FIELDS]; size_t count; };

/* "rtt_us", "latency(ns)", "rtt [ms]": the unit that a name ends with, in ps; 0 without. */
int64_t numbers_unit_in_name(struct field name);
/*
 * Of a header: the only column whose name ends with a unit of time, or columns that are nothing but when a request
 * was due (may be absent), sent and received, each once. SIZE_MAX: none.
 */
struct numbers_choice {
	size_t times;  /* columns whose names end with a unit */
	size_t column; /* the only one */
	size_t stamp[NUMBERS_STAMPS]; /* due, sent, received */
};
void numbers_choose(const struct table_line *header, struct numbers_choice *ret_choice);
