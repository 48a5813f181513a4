/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Column tables: every kind of record has one, standing beside the record, and
 * every output (text, JSON, CSV, later OpenMetrics and HTML) is a loop over it.
 * A cell is a value, "too few samples", or "not measured": the last two are
 * never a number, in no format.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cell_state { CELL_VALUE, CELL_TOO_FEW, CELL_NOT_MEASURED };
enum cell_type { CELL_COUNT, CELL_INTEGER, CELL_REAL, CELL_TEXT };
enum cell_unit { UNIT_NONE, UNIT_NS, UNIT_RATIO };

struct cell {
	enum cell_state state;
	enum cell_type type;
	union { uint64_t count; int64_t integer; double real; const char *text; } as;
	char mark;  /* printed behind the value in text, '?' for a weak percentile; 0: none */
};

/*
 * `name` is the key in JSON and CSV ("p999_ns"), `heading` what text prints
 * ("p99.9"). `group` non-NULL puts the cell into an object of that name in JSON
 * (behind.p999) and is left out of text and CSV unless asked for. `get` receives
 * the record and the column itself, whose `index` it may use.
 */
struct column {
	const char *name, *heading, *help, *group;
	enum cell_unit unit;
	struct cell (*get)(const void *record, const struct column *column);
	size_t index;
	bool text_only_in_wide;   /* left out of the default text table */
	bool machine_only;        /* never in text */
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
