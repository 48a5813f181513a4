/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From records to output. A report is one table under way; a format is three
 * functions that loop over its columns (base/table.h), so text, JSON and CSV
 * can never disagree about what a record holds. JSON, JSON lines and CSV write
 * each row at once and need no memory; text keeps its cells until the end, as
 * widths follow from all of them. Write errors stay in `out` (ferror).
 */
#pragma once
#include <stdint.h>
#include <stdio.h>

#include "base/table.h"
#include "tare/err.h"

/* ---- durations in one unit ---- */

/* One unit for a whole table, so that its figures compare at sight. */
struct scale {
	const char *unit; /* "ns", "µs", "ms", "s" */
	int64_t ns;       /* one of it */
	int decimals;
};
/* For a table whose smallest headline figure is `reference_ns`; no unit finer than the resolution is taken. */
const struct scale *scale_for(int64_t reference_ns, int64_t resolution_ns);
/* Digits only, rounded half away from zero; none below `resolution_ns` (0 or 1: all the scale has). */
void scale_format(const struct scale *scale, int64_t ns, int64_t resolution_ns, char *buffer, size_t room);

/*
 * The range from low_ns to high_ns (INT64_MAX: no upper bound), "400–500", "> 30", rounded outwards and with no more
 * digits than its width allows: "1744–1746", never "1744.830–1745.879".
 */
void scale_format_range(const struct scale *scale, int64_t low_ns, int64_t high_ns, char *buffer, size_t room);

/* ---- sentences ---- */

/* One line of made-harmless text, broken at blanks before `width` columns (0: never), later lines indented by two. */
void report_sentence(FILE *out, int width, const char *format, ...) TARE_PRINTF(3, 4);

/* ---- tables ---- */

struct text_grid;

struct report {
	FILE *out;
	const struct column *columns;
	size_t column_count;
	const char *schema; /* JSON: "tare.stat/1" */
	const char *facts;  /* JSON: members of the whole behind the schema, as "\"for_ns\":3000000000"; NULL: none */
	/* The rest is for text. */
	int width;                 /* columns of the terminal, 0: any */
	/*
	 * NULL: chosen from the smallest duration in the table, or in the column with own_units, and told in a line
	 * under the headings.
	 */
	const struct scale *scale;
	bool own_units;            /* for tables whose columns do not compare: a gap of ns beside one of ms */
	const char *corner;        /* heading of the first column instead of its own; NULL: its own */
	const char *indent;        /* before every line; NULL: none */
	struct text_grid *grid;    /* made by begin, released by end and by report_free */
	uint64_t rows;
};

struct format {
	const char *name; /* "text", "json", "jsonl", "csv" */
	int (*begin)(struct report *report, struct tare_err *err);
	int (*row)(struct report *report, const void *record, struct tare_err *err);
	int (*end)(struct report *report, struct tare_err *err);
};

/* A JSON string; bytes that are no UTF-8 as '?'. */
void report_json_text(FILE *out, const char *text);

extern const struct format format_text;
extern const struct format format_json;  /* {"schema":…,"rows":[…]}, a row a line */
extern const struct format format_jsonl; /* an object a line */
extern const struct format format_html;  /* a table of HTML, 100 rows of it at most; a page holds it */
extern const struct format format_csv;   /* RFC 4180 quoting, a header line, lines end in LF */

/* What a failed or abandoned report still holds; needless after end. */
void report_free(struct report *report);

/* What a user asked of a table, for --columns and --sort; NULL: as it suits. */
struct table_asked {
	const char *columns, *sort;
};
/*
 * A whole table of `count` records of `record_bytes` each. report->columns are all there are; `usual` lists those that
 * text shows unless told otherwise (NULL: all). Any column may be sorted by, shown or not.
 */
int report_table(struct report *report, const struct format *format, const struct table_asked *asked, const char *usual,
	const void *records, size_t count, size_t record_bytes, struct tare_err *err) TARE_MUST_USE;
/* Fails as report_table would for names that are no columns: to be asked before anything long is begun. */
int report_check(const struct table_asked *asked, const struct column *columns, size_t column_count,
	struct tare_err *err) TARE_MUST_USE;
/*
 * Puts records into the order of one column: "p99_ns", or "-p99_ns" for the largest first; NULL leaves them. Equal ones
 * keep their order; lost is larger than any value; what has no value comes last either way. Fails for what is no column.
 */
int report_sort(const struct column *columns, size_t column_count, const char *by, const void **records, size_t count,
	struct tare_err *err) TARE_MUST_USE;

/*
 * The columns of a list "round,p50_ns,behind.p50" in its order, into `room`
 * places; text that is no column is refused with the nearest name.
 */
int report_choose(const struct column *columns, size_t count, const char *list, struct column *ret_chosen, size_t room,
	size_t *ret_count, struct tare_err *err) TARE_MUST_USE;
