/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The format and its page agree: every table and column is described in
 * docs/recording.md, every column is sealed, and the page's Python example reads
 * the fixture.
 */
#include "lib/recording_schema.h"

#include "recording_data.h"

static char *page;

static const char *source(const char *name)
{
	static char path[512];
	const char *data = getenv("TARE_TEST_DATA");
	snprintf(path, sizeof(path), "%s/%s", data ? data : "tests/data", name);
	return path;
}

static void load_page(void)
{
	size_t bytes;
	uint8_t *raw = fake_read_file(source("../../docs/recording.md"), &bytes);
	page = fake_array(bytes + 1, 1);
	memcpy(page, raw, bytes);
	free(raw);
}

/* Whether the section of a table has `column` between backquotes. */
static bool described(const char *table, const char *column)
{
	char heading[64], quoted[64];

	snprintf(heading, sizeof(heading), "\n### %s", table);
	snprintf(quoted, sizeof(quoted), "`%s`", column);
	const char *section = strstr(page, heading);
	const char *end = section ? strstr(section + 1, "\n##") : NULL;
	const char *found = section ? strstr(section, quoted) : NULL;
	return found && end && found < end;
}

static void test_tables(void)
{
	struct tare_err err = {0};
	sqlite3 *db = NULL;

	if (sqlite3_open(":memory:", &db) != SQLITE_OK)
		return;
	MUST(recording_connection(db, ":memory:", &err));
	MUST(recording_create(db, ":memory:", &err));
	int version = 0;
	MUST(recording_schema_check(db, ":memory:", &version, &err));
	IS_I64(version, TARE_RECORDING_VERSION, "a new recording has the newest format");
	for (int i = TABLE_ALWAYS; i < TABLE_COUNT; i++)
		MUST(recording_create_table(db, ":memory:", (enum recording_table)i, &err));
	MUST(recording_schema_check(db, ":memory:", &version, &err));
	for (int i = 0; i < TABLE_COUNT; i++) {
		char sealed[512] = "", missing[256] = "";
		const char *name = recording_tables[i].name;
		sqlite3_stmt *info = recording_prepare(
			db, "read", ":memory:", &err, "SELECT name FROM pragma_table_info('%s')", name);
		while (info && sqlite3_step(info) == SQLITE_ROW) {
			const char *column = (const char *)sqlite3_column_text(info, 0);
			if (strcmp(column, "seal") != 0 && strcmp(column, "data") != 0)
				snprintf(sealed + strlen(sealed), sizeof(sealed) - strlen(sealed), "%s%s",
					sealed[0] ? ", " : "", column);
			if (!described(name, column))
				snprintf(missing + strlen(missing), sizeof(missing) - strlen(missing), " %s", column);
		}
		sqlite3_finalize(info);
		IS_STR(sealed, recording_tables[i].sealed, "every column is sealed");
		OK(missing[0] == '\0', "table %s: every column has its line in the page%s", name, missing);
	}
	sqlite3_close(db);
}

static void test_columns(void)
{
	for (int i = 0; i < SAMPLE_COLUMNS; i++) {
		const struct sample_column *column = &sample_columns[i];
		char quoted[64];
		snprintf(quoted, sizeof(quoted), "`%s`", column->kind == COLUMN_GIVEN ? "given_NAME" : column->name);
		OK(strstr(page, quoted) && column_by_name(column->name, strlen(column->name)) == i,
			"column %s is described and found", column->name);
		if (column->reference >= i ||
			(column->reference >= 0 && sample_columns[column->reference].kind != COLUMN_STAGE))
			OK(false, "column %s: its reference is a stage before it", column->name);
	}
	for (int stage = 0; stage < TARE_STAGE_COUNT; stage++)
		IS_STR(sample_columns[column_of_stage((enum tare_stage)stage)].name,
			tare_stage_name((enum tare_stage)stage), "a stage's column has its name");
	OK(column_of_given(TARE_SPAN_BACKWARD) == SAMPLE_COLUMNS - 1, "the last span is the last column");
}

/* Known answers: the hash is part of the format. */
static void test_seal(void)
{
	struct tare_err err = {0};
	sqlite3 *db = NULL;

	if (sqlite3_open(":memory:", &db) != SQLITE_OK)
		return;
	MUST(recording_connection(db, ":memory:", &err));
	sqlite3_stmt *row = recording_prepare(
		db, "read", ":memory:", &err, "SELECT tare_seal(), tare_seal(NULL), tare_seal(1, 'a'), tare_seal(-1)");
	if (row && sqlite3_step(row) == SQLITE_ROW) {
		IS_I64(sqlite3_column_int64(row, 0), (int64_t)UINT64_C(0xcbf29ce484222325), "seal of nothing");
		IS_I64(sqlite3_column_int64(row, 1), (int64_t)UINT64_C(0xaf63e34c8601f871), "seal of NULL");
		IS_I64(sqlite3_column_int64(row, 2), (int64_t)UINT64_C(0xe0c85434fc5bd339), "seal of 1, 'a'");
		IS_I64(sqlite3_column_int64(row, 3), (int64_t)UINT64_C(0xcd848774fe983d1c), "seal of -1");
	}
	sqlite3_finalize(row);
	sqlite3_close(db);
}

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

/* What the example should print: number and median of the rtt of series 1, as our own reader has it. */
static void expected_line(char *line, size_t room)
{
	struct tare_err err = {0};
	struct tare_recording *recording = NULL;
	const struct tare_record *record;
	size_t count = 0;

	MUST(tare_recording_open(source("recording-v1.tare"), false, &recording, &err));
	MUST(tare_recording_next(recording, &record, &err));
	int64_t *values = fake_array(record->series.count, sizeof(*values));
	for (size_t i = 0; i < record->series.count; i++) {
		values[count] = tare_span_of(&record->series, TARE_SPAN_RTT, i);
		count += values[count] != TARE_NO_TIME;
	}
	qsort(values, count, sizeof(*values), compare);
	snprintf(line, room, "%zu %" PRId64, count, values[count / 2]);
	free(values);
	tare_recording_free(recording);
}

/* The first block of Python on the page, run over the fixture. */
static void test_example(void)
{
	char *folder = fake_folder(), script[512], command[1200], line[128] = "", expected[128];
	const char *from = strstr(page, "```python\n"), *to = from ? strstr(from, "\n```\n") : NULL;

	if (!from || !to) {
		OK(false, "the page has an example");
		return;
	}
	expected_line(expected, sizeof(expected));
	from = strchr(from, '\n') + 1;
	snprintf(script, sizeof(script), "%s/example.py", folder);
	fake_write_file(script, from, (size_t)(to - from));
	snprintf(command, sizeof(command),
		"if command -v python3 >/dev/null && command -v zstd >/dev/null && python3 -c 'import sqlite3' "
		"2>/dev/null; "
		"then python3 '%s' '%s'; else echo none; fi",
		script, source("recording-v1.tare"));
	FILE *out = popen(command, "r");
	if (out && fgets(line, sizeof(line), out))
		line[strcspn(line, "\n")] = '\0';
	if (out)
		pclose(out);
	if (strcmp(line, "none") == 0)
		SKIP(1, "python3 with sqlite3, or the zstd command, is not here");
	else
		IS_STR(line, expected, "the page's example reads the fixture");
	unlink(script);
	rmdir(folder);
}

int main(void)
{
	load_page();
	test_tables();
	test_columns();
	test_seal();
	test_example();
	free(page);
	return tap_done();
}
