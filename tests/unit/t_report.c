/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text, JSON and CSV of one table; units; sentences; foreign text. */
#include "report/report.h"

#include <jansson.h>
#include <stdlib.h>

#include "report/utf8.h"
#include "tap.h"

struct thing {
	const char *name;
	int64_t ns, resolution_ns;
	uint64_t count;
	double real;
	enum cell_state state;
	char mark;
};

static struct cell get_name(const void *record, const struct column *column)
{
	(void)column;
	return cell_text(((const struct thing *)record)->name);
}

static struct cell get_ns(const void *record, const struct column *column)
{
	const struct thing *thing = record;
	(void)column;
	struct cell cell = thing->state ? cell_absent(thing->state) : cell_integer(thing->ns);
	cell.mark = thing->mark;
	cell.resolution_ns = thing->resolution_ns;
	return cell;
}

static struct cell get_count(const void *record, const struct column *column)
{
	(void)column;
	return cell_count(((const struct thing *)record)->count);
}

static struct cell get_real(const void *record, const struct column *column)
{
	(void)column;
	return cell_real(((const struct thing *)record)->real);
}

static const struct column columns[] = {
	{"name", "name", "a name", .get = get_name, .is_text = true},
	{"p50_ns", "p50", "a duration", .unit = UNIT_NS, .get = get_ns},
	{"n", "n", "a count", .get = get_count},
	{"p50", "p50", "behind it", "behind", .get = get_count},
	{"p99", "p99", "behind it", "behind", .get = get_count},
	{"p50", "p50", "its grade", "grade", .get = get_name, .is_text = true},
};
enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };

static const struct thing things[] = {
	{.name = "rtt", .ns = 4620, .count = 10000},
	{.name = "late, \"ours\"", .ns = 1548860, .count = 7, .mark = '?'},
	{.name = "none", .state = CELL_TOO_FEW},
	{.name = "lost", .state = CELL_NOT_MEASURED},
	{.name = "blank", .state = CELL_NOT_APPLICABLE},
};

static char *written;

/* The whole of a report; valid until the next call. */
static const char *write_all(
	const struct format *format, const struct thing *list, size_t count, size_t shown, int width)
{
	size_t bytes;
	struct tare_err err = {0};
	free(written);
	FILE *out = open_memstream(&written, &bytes);
	struct report report = {
		.out = out, .columns = columns, .column_count = shown, .schema = "tare.test/1", .width = width};
	bool fine = format->begin(&report, &err) == 0;
	for (size_t i = 0; i < count && fine; i++)
		fine = format->row(&report, &list[i], &err) == 0;
	fine = fine && format->end(&report, &err) == 0;
	report_free(&report);
	fclose(out);
	if (!fine)
		printf("# %s\n", err.text);
	return written;
}

static void test_scale(void)
{
	static const struct {
		int64_t ns, reference_ns, resolution_ns;
		const char *unit, *digits;
	} cases[] = {
		{4620, 4620, 1, "µs", "4.62"},
		{4625, 4620, 1, "µs", "4.63"},
		{4624, 4620, 1, "µs", "4.62"},
		{-4625, 4620, 1, "µs", "-4.63"},
		{-4, 4620, 1, "µs", "0.00"},
		{999, 999, 1, "ns", "999"},
		{999, 1000, 1, "µs", "1.00"},
		{12034567, 12034567, 1, "ms", "12.035"},
		{9999999, 9999999, 1, "µs", "10000.00"},
		{10000000000, 10000000000, 1, "s", "10.000"},
		{3000, 3000, 1000, "µs", "3"},
		{3000, 500, 1000, "µs", "3"},
		{23000000, 23000000, 1000000, "ms", "23"},
		{23400000, 23400000, 100000, "ms", "23.4"},
		{INT64_MAX, INT64_MAX, 1, "s", "9223372036.855"},
		{INT64_MIN, 5000000000, 1, "ms", "-9223372036854.776"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char digits[48], name[96];
		const struct scale *scale = scale_for(cases[i].reference_ns, cases[i].resolution_ns);
		scale_format(scale, cases[i].ns, cases[i].resolution_ns, digits, sizeof(digits));
		snprintf(name, sizeof(name), "%" PRId64 " ns at %" PRId64, cases[i].ns, cases[i].resolution_ns);
		IS_STR(digits, cases[i].digits, name);
		IS_STR(scale->unit, cases[i].unit, "in this unit");
	}
}

static void test_text(void)
{
	IS_STR(write_all(&format_text, things, 5, 3, 0),
		"name              p50       n\n"
		"                   µs\n"
		"rtt              4.62   10000\n"
		"late, \"ours\"  1548.86?      7\n"
		"none                –       0\n"
		"lost                ·       0\n"
		"blank                       0\n",
		"text: one unit, marks beside aligned digits, a mark for each reason");
	IS_STR(write_all(&format_text, things, 1, 3, 12),
		"name   p50\n"
		"        µs\n"
		"rtt   4.62\n"
		"(no room for\n"
		"  n)\n",
		"text: columns are left out from the right and named");
	IS_STR(write_all(&format_text, things, 1, 3, 5),
		"name   p50\n"
		"        µs\n"
		"rtt   4.62\n"
		"(no\n"
		"  room\n"
		"  for\n"
		"  n)\n",
		"text: two columns always stay");
	IS_STR(write_all(&format_text, things, 0, 2, 0), "name  p50\n", "text: no rows");
	const struct thing wide[] = {
		{.name = "日本", .ns = 1000}, {.name = "é", .ns = 2000}, {.name = "abcd", .ns = 1}};
	IS_STR(write_all(&format_text, wide, 3, 2, 0),
		"name   p50\n"
		"        ns\n"
		"日本  1000\n"
		"é     2000\n"
		"abcd     1\n",
		"text: wide characters take two columns");
	const struct thing mixed[] = {{.name = "own", .ns = 4620}, {.name = "ping", .ns = 5000, .resolution_ns = 1000}};
	IS_STR(write_all(&format_text, mixed, 2, 2, 0),
		"name   p50\n"
		"        µs\n"
		"own   4.62\n"
		"ping     5\n",
		"text: no digit below the source's resolution");
}

static const char *write_table(const struct table_asked *asked, const struct thing *list, size_t count, struct tare_err *err)
{
	size_t bytes;
	free(written);
	FILE *out = open_memstream(&written, &bytes);
	struct report report = {.out = out, .columns = columns, .column_count = COLUMNS};
	int failed = report_table(&report, &format_text, asked, "name,p50_ns", list, count, sizeof(*list), err);
	fclose(out);
	return failed ? "failed" : written;
}

static void test_table(void)
{
	const struct thing list[] = {{.name = "b", .ns = 2000, .count = 1},
		{.name = "too few", .state = CELL_TOO_FEW, .count = 9},
		{.name = "a", .ns = 1000, .count = 1},
		{.name = "lost", .state = CELL_LOST, .count = 1},
		{.name = "c", .ns = 2000, .count = 0}};
	struct tare_err err = {0};
	IS_STR(write_table(NULL, list, 5, &err),
		"name      p50\n           µs\nb        2.00\ntoo few     –\na        1.00\nlost     lost\nc        2.00\n",
		"table: the usual columns, rows as they come");
	struct table_asked rising = {.sort = "p50_ns"}, falling = {.sort = "-p50_ns", .columns = "name"};
	IS_STR(write_table(&rising, list, 5, &err),
		"name      p50\n           µs\na        1.00\nb        2.00\nc        2.00\nlost     lost\ntoo few     –\n",
		"sorted: equal rows keep their order, lost is largest, what has no value comes last");
	IS_STR(write_table(&falling, list, 5, &err), "name\nlost\nb\nc\na\ntoo few\n",
		"falling, by a column that is not shown: what has no value still comes last");
	struct table_asked by_text = {.sort = "-name", .columns = "name"}, unknown = {.sort = "p5_ns"},
			   no_column = {.columns = "nam"};
	IS_STR(write_table(&by_text, list, 5, &err), "name\ntoo few\nlost\nc\nb\na\n", "text is sorted too");
	IS_STR(write_table(&unknown, list, 0, &err), "failed", "an unknown column to sort by is refused without rows too");
	IS_STR(err.text, "unknown column 'p5_ns', nearest is 'p50_ns'", "with the nearest name");
	IS_STR(write_table(&no_column, list, 5, &err), "failed", "and so is an unknown column to show");
	OK(report_check(&rising, columns, COLUMNS, &err) == 0, "a check passes what the table would");
	OK(report_check(&unknown, columns, COLUMNS, &err) != 0, "and refuses what it would not");
}

static void test_csv(void)
{
	IS_STR(write_all(&format_csv, things, 4, COLUMNS, 0),
		"name,p50_ns,n,behind.p50,behind.p99,grade.p50\n"
		"rtt,4620,10000,10000,10000,rtt\n"
		"\"late, \"\"ours\"\"\",1548860,7,7,7,\"late, \"\"ours\"\"\"\n"
		"none,,0,0,0,none\n"
		"lost,,0,0,0,lost\n",
		"csv: quoted as RFC 4180 says, nothing where there is no value");
	const struct thing lines[] = {{.name = "a\nb"}};
	IS_STR(write_all(&format_csv, lines, 1, 1, 0), "name\n\"a\nb\"\n", "csv: a line feed stands in quotes");
}

static void test_json(void)
{
	json_error_t where;
	const char *text = write_all(&format_json, things, 4, COLUMNS, 0);
	json_t *root = json_loads(text, 0, &where);
	OK(root != NULL, "json: jansson reads it");
	const json_t *rows = json_object_get(root, "rows");
	IS_STR(json_string_value(json_object_get(root, "schema")), "tare.test/1", "json: schema");
	IS_I64(json_array_size(rows), 4, "json: rows");
	const json_t *late = json_array_get(rows, 1);
	IS_STR(json_string_value(json_object_get(late, "name")), "late, \"ours\"", "json: text");
	IS_I64(json_integer_value(json_object_get(late, "p50_ns")), 1548860, "json: integer ns");
	IS_I64(json_integer_value(json_object_get(json_object_get(late, "behind"), "p99")), 7,
		"json: a group is an object");
	IS_I64(json_object_size(late), 5, "json: each group once");
	OK(json_is_null(json_object_get(json_array_get(rows, 2), "p50_ns")), "json: too few is null");
	OK(json_is_null(json_object_get(json_array_get(rows, 3), "p50_ns")), "json: not measured is null");
	json_decref(root);

	root = json_loads(write_all(&format_json, things, 0, COLUMNS, 0), 0, &where);
	OK(root && json_array_size(json_object_get(root, "rows")) == 0, "json: no rows are an empty array");
	json_decref(root);
	IS_STR(write_all(&format_jsonl, things, 2, 3, 0),
		"{\"name\":\"rtt\",\"p50_ns\":4620,\"n\":10000}\n"
		"{\"name\":\"late, \\\"ours\\\"\",\"p50_ns\":1548860,\"n\":7}\n",
		"jsonl: an object a line");
}

static void test_extremes(void)
{
	static const struct column some[] = {{"p50_ns", "p50", "", .unit = UNIT_NS, .get = get_ns},
		{"n", "n", "", .get = get_count}, {"real", "real", "", .get = get_real}};
	const struct thing least = {.ns = INT64_MIN, .count = UINT64_MAX, .real = 0.1};
	const struct thing endless = {.ns = INT64_MAX, .real = 1.0 / 0.0};
	size_t bytes;
	struct tare_err err = {0};
	free(written);
	FILE *out = open_memstream(&written, &bytes);
	struct report report = {.out = out, .columns = some, .column_count = 3};
	OK(format_jsonl.begin(&report, &err) == 0 && format_jsonl.row(&report, &least, &err) == 0 &&
			format_jsonl.row(&report, &endless, &err) == 0 && format_jsonl.end(&report, &err) == 0,
		"extreme values are written");
	fclose(out);
	IS_STR(written,
		"{\"p50_ns\":-9223372036854775808,\"n\":18446744073709551615,\"real\":0.10000000000000001}\n"
		"{\"p50_ns\":9223372036854775807,\"n\":0,\"real\":null}\n",
		"as they are, and infinity as null");
}

/* Everything a terminal would obey: no byte below blank but line feeds, no DEL, no C1, no broken UTF-8. */
static bool is_harmless(const char *text)
{
	size_t left = strlen(text);
	while (left > 0) {
		uint32_t code;
		size_t used = utf8_next(text, left, &code);
		if (code == UTF8_INVALID || (code < 0x20 && code != '\n') || (code >= 0x7f && code < 0xa0) ||
			(code >= 0x202a && code <= 0x202e))
			return false;
		text += used;
		left -= used;
	}
	return true;
}

static void test_hostile(void)
{
	static const char *const labels[] = {"\x1b[31mred\x1b]0;title\x07", "a\rb\bc\tb",
		"\x7f\xc2\x9b"
		"31m",
		"\xff\xfe\xc0\xaf\xed\xa0\x80\xf4\x90\x80\x80",
		"\xe2\x80\xae"
		"evil",
		"cut \xe2\x82",
		"\xef\xbb\xbf"
		"bom"};
	static const struct format *const formats[] = {&format_text, &format_json, &format_jsonl, &format_csv};
	for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++) {
		const struct thing thing = {.name = labels[i], .ns = 1000};
		for (size_t j = 0; j < sizeof(formats) / sizeof(formats[0]); j++)
			OK(is_harmless(write_all(formats[j], &thing, 1, COLUMNS, 0)), "hostile text %zu in %s", i,
				formats[j]->name);
		json_error_t where;
		json_t *line = json_loads(write_all(&format_jsonl, &thing, 1, COLUMNS, 0), 0, &where);
		OK(line != NULL, "hostile text %zu: still JSON", i);
		json_decref(line);
	}
	char *safe = utf8_safe("\x1b[0m\xc2\x85\xff µ", "");
	IS_STR(safe, "\\x1b[0m\\u0085\\xff µ", "control characters are shown, other text stays");
	free(safe);
	uint32_t code;
	IS_I64(utf8_next("\xf4\x8f\xbf\xbf", 4, &code), 4, "the last character");
	IS_I64(code, 0x10ffff, "is U+10FFFF");
	IS_I64(utf8_columns("e\xcc\x81x"), 2, "a combining accent takes no column");
}

static const char *sentence(int width, const char *text)
{
	size_t bytes;
	free(written);
	FILE *out = open_memstream(&written, &bytes);
	report_sentence(out, width, "%s", text);
	fclose(out);
	return written;
}

static void test_sentence(void)
{
	IS_STR(sentence(0, "as long as it likes to be"), "as long as it likes to be\n", "no width: no break");
	IS_STR(sentence(12, "µµµµ µµµµ µµ µµµµ"), "µµµµ µµµµ µµ\n  µµµµ\n", "breaks count columns, not bytes");
	IS_STR(sentence(5, "unbreakable word"), "unbreakable\n  word\n", "a word longer than the width stays whole");
	IS_STR(sentence(10, "  a b c d e f"), "  a b c d\n    e f\n", "its indentation stays");
	IS_STR(sentence(40, "label\nforged."), "label\\x0aforged.\n", "a line feed does not make a second sentence");
	IS_STR(sentence(40, "a\x1b[2J b"), "a\\x1b[2J b\n", "foreign text is made harmless");
}

static void test_choose(void)
{
	struct column chosen[COLUMNS];
	size_t count = 0;
	struct tare_err err = {0};
	OK(report_choose(columns, COLUMNS, "n,behind.p99,name,behind.p50", chosen, COLUMNS, &count, &err) == 0,
		"columns by name");
	IS_I64(count, 4, "as many as named");
	IS_STR(chosen[0].name, "n", "in the order given");
	IS_STR(chosen[2].name, "p50", "but a group's columns side by side");
	IS_STR(chosen[3].name, "name", "and the rest behind");
	OK(report_choose(columns, COLUMNS, "p50_n", chosen, COLUMNS, &count, &err) == -1, "an unknown one is refused");
	IS_STR(err.text, "unknown column 'p50_n', nearest is 'p50_ns'", "with the nearest");
	OK(report_choose(columns, COLUMNS, "n,n", chosen, COLUMNS, &count, &err) == -1,
		"one asked for twice is refused");
	OK(report_choose(columns, COLUMNS, "n,", chosen, COLUMNS, &count, &err) == -1, "an empty one is refused");
	OK(report_choose(columns, COLUMNS, "n,name", chosen, 1, &count, &err) == -1, "more than fit are refused");
}

int main(void)
{
	test_scale();
	test_text();
	test_table();
	test_csv();
	test_json();
	test_extremes();
	test_hostile();
	test_sentence();
	test_choose();
	free(written);
	return tap_done();
}
