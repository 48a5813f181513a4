/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the option_*.c files share; nobody else includes it. */
#pragma once
#include "base/option.h"

/* Where a value stands: for its origin, and whether its text must be copied because it will not last. */
struct option_place {
	const char *source;
	bool given, copy;
};

enum { OPTION_NONE = -1 };

/* The row whose name is the `length` bytes at `name`, or OPTION_NONE. */
int option_row(const struct option *table, const char *name, size_t length);
/* Reads `value` into the struct and notes its origin. The sentence does not name the option: the caller does. */
int option_store(struct option_set *set, int row, const char *value, const struct option_place *place,
	struct tare_err *err) TARE_MUST_USE;
/* The table's name nearest to `name`, or NULL; with flags_only among the flags. */
const char *option_nearest(const struct option *table, const char *name, bool flags_only);
/* A copy that lives until option_end; NULL when memory is out. */
char *option_keep(struct option_set *set, const char *text);
/* The metavar of the table, else one by type; NULL for flags. */
const char *option_metavar(const struct option *option);
