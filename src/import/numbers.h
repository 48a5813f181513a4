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
