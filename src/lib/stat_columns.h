/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The columns of struct tare_row (tare/stat.h), from which text, JSON, CSV and
 * the documentation of `tare stat` follow. Built at run time, as the percentiles
 * are the user's choice. docs/stat.md explains each column.
 */
#pragma once
#include "base/table.h"
#include "tare/stat.h"

struct stat_columns;
int stat_columns_open(
	const struct tare_rules *rules, struct stat_columns **ret_columns, struct tare_err *err) TARE_MUST_USE;
void stat_columns_free(struct stat_columns *columns); /* NULL is fine */
/* Records are struct tare_row; lives as long as the object. */
const struct column *stat_columns_table(const struct stat_columns *columns, size_t *ret_count);
