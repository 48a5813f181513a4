/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Options of the commands that print a table at their end. */
#pragma once
#include "base/option.h"
#include "report/report.h"

/* Rows of an option table whose configuration has a `struct table_asked table`; letter: of --columns, or 0. */
#define TABLE_OPTIONS(config, letter)                                                                                          \
	{"columns", letter, OPTION_TEXT, "NAME,...", NULL, "one flat table of these columns, named as in --csv",          \
		OPTION_AT(config, table.columns), 0, 0, NULL},                                                         \
	{"sort", 0, OPTION_TEXT, "[-]COLUMN", NULL, "order of a table's lines; with '-' the largest first",            \
		OPTION_AT(config, table.sort), 0, 0, NULL}

/* For commands with .pages; main reads it. The configuration has a `bool pager`. */
#define PAGER_OPTION(config)                                                                                           \
	{"pager", 0, OPTION_FLAG, NULL, "yes", "page what is longer than the terminal; --no-pager prints it at once",  \
		OPTION_AT(config, pager), 0, 0, NULL}
