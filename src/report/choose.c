/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Columns by name, for --columns. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "report/report.h"

static int unknown_column(const struct column *columns, size_t count, const char *name, struct tare_err *err)
{
	AUTO_FREE const char **names = calloc(count + 1, sizeof(*names));
	for (size_t i = 0; names && i < count; i++)
		names[i] = columns[i].name;
	const char *near = names ? nearest_word(name, names) : NULL;
	if (near)
		return tare_fail(err, TARE_E_USAGE, "unknown column '%s', nearest is '%s'", name, near);
	return tare_fail(err, TARE_E_USAGE, "unknown column '%s'; --csv names them all in its first line", name);
}

/* Columns of one group stand side by side, or JSON would hold the same object twice. */
static void place(struct column *chosen, size_t count, const struct column *column)
{
	size_t at = count;
	for (size_t i = 0; column->group && i < count; i++) {
		if (chosen[i].group && strcmp(chosen[i].group, column->group) == 0)
			at = i + 1;
	}
	memmove(&chosen[at + 1], &chosen[at], (count - at) * sizeof(*chosen));
	chosen[at] = *column;
}

int report_choose(const struct column *columns, size_t count, const char *list, struct column *ret_chosen, size_t room,
	size_t *ret_count, struct tare_err *err)
{
	size_t chosen = 0;
	for (const char *at = list;;) {
		char name[64];
		size_t length = strcspn(at, ",");
		if (length == 0 || length >= sizeof(name))
			return tare_fail(err, TARE_E_USAGE, "'%s' is not a list of columns separated by commas", list);
		memcpy(name, at, length);
		name[length] = 0;
		const struct column *column = column_find(columns, count, name);
		if (!column)
			return unknown_column(columns, count, name, err);
		if (column_find(ret_chosen, chosen, name))
			return tare_fail(err, TARE_E_USAGE, "column '%s' is asked for twice", name);
		if (chosen == room)
			return tare_fail(err, TARE_E_USAGE, "more than %zu columns asked for", room);
		place(ret_chosen, chosen++, column);
		if (!at[length])
			break;
		at += length + 1;
	}
	*ret_count = chosen;
	return 0;
}
