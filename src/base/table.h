/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Column tables: every kind of record has one, standing beside the record, and
 * every output (text, JSON, CSV, later OpenMetrics and HTML) is a loop over it.
 * A cell is a value or one of four reasons for having none, which are never a
 * number, in no format: text shows a mark of its own for each, JSON null, CSV
 * an empty field.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum cell_state {
	CELL_VALUE,
	CELL_TOO_FEW,        /* too few samples to say; "–" */
	CELL_NOT_MEASURED,   /* could exist, was not observed; "·" */
	CELL_LOST,           /* infinitely late: a rank among requests without an answer; "lost" */
	CELL_NOT_APPLICABLE, /* makes no sense for this record: the round of a merged row; blank */
};
enum cell_type { CELL_COUNT, CELL_INTEGER, CELL_REAL, CELL_TEXT };
enum cell_unit { UNIT_NONE, UNIT_NS, UNIT_RATIO, UNIT_RATE }; /* UNIT_RATE: per second */

struct cell {
	enum cell_state state;
	enum cell_type type;
	union { uint64_t count; int64_t integer; double real; const char *text; } as;
	int64_t resolution_ns; /* UNIT_NS: step of the source; text shows no digit below it. 0: 1 ns */
	/*
	 * UNIT_NS: the figure lies somewhere from low_ns to as.integer, and text shows both, rounded outwards.
	 * as.integer INT64_MAX: no upper bound is known; JSON null, CSV empty, text "> low".
	 */
	bool ranged;
	int64_t low_ns;
	char mark;             /* printed behind the value in text, '?' for a weak percentile; 0: none */
};

/*
 * `name` is the key in JSON and CSV ("p999_ns"), `heading` what text prints
 * ("p99.9"). `group` non-NULL puts the cell into an object of that name in JSON
 * ({"behind":{"p999":10}}), names it "behind.p999" in CSV and leaves it out of
 * text unless asked for; columns of one group stand side by side. `get` receives
 * the record and the column itself, whose `index` it may use.
 */
struct column {
	const char *name, *heading, *help, *group;
	enum cell_unit unit;
	bool is_text; /* aligned to the left */
	struct cell (*get)(const void *record, const struct column *column);
	size_t index;
};

static inline struct cell cell_count(uint64_t value)
{
	return (struct cell){.type = CELL_COUNT, .as.count = value};
}
static inline struct cell cell_integer(int64_t value)
{
	return (struct cell){.type = CELL_INTEGER, .as.integer = value};
}
static inline struct cell cell_real(double value)
{
	return (struct cell){.type = CELL_REAL, .as.real = value};
}
/* NULL becomes "not measured". */
static inline struct cell cell_text(const char *value)
{
	return (struct cell){.state = value ? CELL_VALUE : CELL_NOT_MEASURED, .type = CELL_TEXT, .as.text = value};
}
static inline struct cell cell_absent(enum cell_state state)
{
	return (struct cell){.state = state};
}

/* "behind.p999" or "p999_ns" against a column. */
static inline bool column_is(const struct column *column, const char *name)
{
	size_t group = column->group ? strlen(column->group) : 0;
	if (group == 0)
		return strcmp(column->name, name) == 0;
	return strncmp(column->group, name, group) == 0 && name[group] == '.' &&
	       strcmp(column->name, name + group + 1) == 0;
}
/* The column of this name, or NULL. */
static inline const struct column *column_find(const struct column *columns, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++) {
		if (column_is(&columns[i], name))
			return &columns[i];
	}
	return NULL;
}
