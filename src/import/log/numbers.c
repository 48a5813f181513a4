/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Format "numbers": one value a line, or one column of a table whose fields are
 * separated by comma, semicolon, tab or blanks. The separator is that of the first
 * data line and must not change: "1,5" among "1;2" would otherwise be read as
 * something that nobody wrote. Blank lines and lines that begin with '#' are
 * passed over; a first line without any number is a header. Of several columns
 * the only one whose name ends with a unit of time is taken, or those that tell
 * when requests were due, sent and received.
 */
#include "import/log/numbers.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "import/import_private.h"

enum { FIELDS_MAX = NUMBERS_FIELDS, KNOWN_BY_LINES = 5 };

static const enum tare_stage stages[NUMBERS_STAMPS] = {TARE_STAGE_DUE, TARE_STAGE_USER_TX, TARE_STAGE_USER_RX};

struct numbers {
	char separator;       /* 0: none, ' ': blanks */
	size_t fields, column;
	int64_t unit_ps;
	bool unit_told, done;
	char name[64];        /* of the column; "" without a header */
	bool stamped;         /* three columns instead of one */
	struct numbers_choice choice;
	int64_t stamp_unit_ps[NUMBERS_STAMPS], base_ns;
	int64_t *stamps_ns[NUMBERS_STAMPS];
	int64_t *values_ns;
	uint8_t *fates;
	size_t count, room;
	int64_t step_ps;      /* finest step seen */
	uint64_t passed_over, first_bad;
	uint64_t all_ones;
	struct tare_target target;
	struct tare_round round;
	struct tare_record record;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static struct field trimmed(const char *from, const char *to)
{
	while (from < to && is_blank(*from))
		from++;
	while (to > from && is_blank(to[-1]))
		to--;
	if (to - from >= 2 && *from == '"' && to[-1] == '"') {
		from++;
		to--;
	}
	return (struct field){from, (size_t)(to - from)};
}

/* The separator that a line shows; numbers without any have none. */
static char separator_of(const char *text)
{
	static const char candidates[] = {'\t', ';', ','};
	for (size_t i = 0; i < sizeof(candidates); i++)
		if (strchr(text, candidates[i]))
			return candidates[i];
	struct field whole = trimmed(text, text + strlen(text));
	for (size_t i = 0; i < whole.bytes; i++)
		if (whole.text[i] == ' ')
			return ' ';
	return 0;
}

static void split(const char *text, size_t bytes, char separator, struct table_line *ret_line)
{
	const char *at = text, *end = text + bytes;
	ret_line->count = 0;
	while (ret_line->count < FIELDS_MAX) {
		const char *stop = separator ? memchr(at, separator, (size_t)(end - at)) : NULL;
		ret_line->field[ret_line->count++] = trimmed(at, stop ? stop : end);
		if (!stop)
			return;
		at = stop + 1;
		while (separator == ' ' && at < end && *at == ' ')
			at++;
	}
}

static bool is_number(struct field field)
{
	int64_t ns, step_ps;
	return numbers_read(field.text, field.bytes, 1000, &ns, &step_ps) != NUMBER_NONE;
}

static bool is_passed_over(const struct line *line)
{
	const char *at = line->text;
	while (is_blank(*at))
		at++;
	return *at == '\0' || *at == '#';
}

/* How many fields of a line are numbers. */
static size_t numbers_in(const struct table_line *line)
{
	size_t found = 0;
	for (size_t i = 0; i < line->count; i++)
		found += is_number(line->field[i]);
	return found;
}

/* The first data lines must each hold a number and have as many fields as each other. */
static bool numbers_knows(struct lines *head)
{
	struct line line;
	struct table_line fields;
	size_t data = 0, width = 0;
	char separator = 0;
	bool header = false;
	while (data < KNOWN_BY_LINES && lines_next(head, &line, NULL) > 0) {
		if (line.overlong)
			return false;
		if (is_passed_over(&line))
			continue;
		if (data == 0)
			separator = separator_of(line.text);
		split(line.text, line.bytes, separator, &fields);
		size_t found = numbers_in(&fields);
		if (found == 0 && data == 0 && !header && !line.unterminated) {
			header = true;
			continue;
		}
		if (found == 0 || (data && fields.count != width))
			return false;
		width = fields.count;
		data++;
	}
	/* a lone number may be anything: two lines, or a header and one */
	return data >= 2 || (data == 1 && (header || width == 1));
}

static int fail_columns(const struct import *import, const struct table_line *header, const char *why, struct tare_err *err)
{
	char names[300];
	struct text text = TEXT_IN(names);
	for (size_t i = 0; i < header->count && !text.cut; i++)
		text_add(&text, "%s%s", i ? ", " : "", quote(header->field[i].text, header->field[i].bytes).text);
	return tare_fail(err, TARE_E_USAGE, "'%s' %s; --column takes a number from 1 to %zu%s%s", import->name, why,
		header->count, is_number(header->field[0]) ? "" : " or a name: ", is_number(header->field[0]) ? "" : names);
}

/* --column as a number or, with a header, a name. */
static int choose_column(struct import *import, struct numbers *numbers, const struct table_line *line, bool header,
	struct tare_err *err)
{
	const char *asked = import->rules.column;
	uint64_t at;
	numbers->fields = line->count;
	if (!asked)
		return line->count == 1 ? 0 : fail_columns(import, line, "has several columns", err);
	for (size_t i = 0; header && i < line->count; i++) {
		if (strlen(asked) == line->field[i].bytes && memcmp(asked, line->field[i].text, line->field[i].bytes) == 0) {
			numbers->column = i;
			return 0;
		}
	}
	if (parse_count(asked, &at, NULL) || at < 1 || at > line->count)
		return fail_columns(import, line, "has no such column", err);
	numbers->column = (size_t)at - 1;
	return 0;
}

/* Several columns and no word which: by their names. */
static int choose_by_names(struct import *import, struct numbers *numbers, const struct table_line *line, struct tare_err *err)
{
	char names[300] = "";
	struct text text = TEXT_IN(names);
	numbers_choose(line, &numbers->choice);
	numbers->fields = line->count;
	if (numbers->choice.column != SIZE_MAX) {
		numbers->column = numbers->choice.column;
		return 0;
	}
	numbers->stamped = numbers->choice.stamp[1] != SIZE_MAX;
	for (size_t i = 0; i < NUMBERS_STAMPS && numbers->stamped; i++) {
		size_t at = numbers->choice.stamp[i];
		numbers->stamp_unit_ps[i] = at == SIZE_MAX ? 0 : numbers_unit_in_name(line->field[at]);
	}
	if (numbers->stamped)
		return 0;
	for (size_t i = 0; i < line->count && !text.cut; i++) {
		if (numbers_unit_in_name(line->field[i]))
			text_add(&text, "%s%s", text.used ? ", " : "", quote(line->field[i].text, line->field[i].bytes).text);
	}
	if (numbers->choice.times < 2)
		return fail_columns(import, line, "has several columns", err);
	return tare_fail(err, TARE_E_USAGE, "'%s' has several columns of times: %s; --column says which", import->name, names);
}

static int take_header(struct import *import, struct numbers *numbers, const struct table_line *line, struct tare_err *err)
{
	if (!import->rules.column && line->count > 1) {
		if (choose_by_names(import, numbers, line, err))
			return -1;
		if (numbers->stamped) {
			snprintf(numbers->name, sizeof(numbers->name), "stamps");
			return 0;
		}
	} else if (choose_column(import, numbers, line, true, err)) {
		return -1;
	}
	struct field name = line->field[numbers->column];
	struct text text = TEXT_IN(numbers->name);
	text_add(&text, "%.*s", (int)(name.bytes < 48 ? name.bytes : 48), name.text);
	int64_t unit_ps = numbers_unit_in_name(name);
	if (unit_ps && !numbers->unit_told) {
		numbers->unit_ps = unit_ps;
		numbers->unit_told = true;
	}
	return 0;
}

static int keep(struct import *import, struct numbers *numbers, int64_t value_ns, struct tare_err *err)
{
	if (numbers->count == numbers->room) {
		size_t room = numbers->room ? 2 * numbers->room : 1024;
		int64_t *values_ns = reallocarray(numbers->values_ns, room, sizeof(*values_ns));
		if (values_ns)
			numbers->values_ns = values_ns;
		uint8_t *fates = reallocarray(numbers->fates, room, sizeof(*fates));
		if (fates)
			numbers->fates = fates;
		bool grown = values_ns && fates;
		for (size_t i = 0; i < NUMBERS_STAMPS && grown && numbers->stamped; i++) {
			int64_t *stamps_ns = reallocarray(numbers->stamps_ns[i], room, sizeof(*stamps_ns));
			numbers->stamps_ns[i] = stamps_ns ? stamps_ns : numbers->stamps_ns[i];
			grown = stamps_ns != NULL;
		}
		if (!grown)
			return tare_fail(err, TARE_E_SYSTEM, "out of memory for the values of '%s'", import->name);
		numbers->room = room;
	}
	numbers->values_ns[numbers->count] = value_ns;
	numbers->fates[numbers->count++] = TARE_ANSWERED;
	return 0;
}

/* A line that cannot be read: an error, or counted when lenient. */
static int refuse(struct import *import, struct numbers *numbers, uint64_t number, const char *why, struct field field,
	struct tare_err *err)
{
	if (!import->rules.lenient)
		return tare_fail(err, TARE_E_FORMAT, "'%s':%" PRIu64 ": %s is %s\n  --lenient passes over such lines and counts them",
			import->name, number, quote(field.text, field.bytes).text, why);
	if (!numbers->passed_over++)
		numbers->first_bad = number;
	return 0;
}

/* The largest number of 32 or 64 bits stands for "not available" where fields are unsigned; as a time it is 71 minutes. */
static bool is_all_ones(struct field field)
{
	static const char *const all_ones[] = {"4294967295", "18446744073709551615"};
	for (size_t i = 0; i < sizeof(all_ones) / sizeof(all_ones[0]); i++) {
		if (strlen(all_ones[i]) == field.bytes && memcmp(all_ones[i], field.text, field.bytes) == 0)
			return true;
	}
	return false;
}

/* When it was due, sent and received; without the last it is lost. */
static int take_stamps(struct import *import, struct numbers *numbers, uint64_t number, const struct table_line *line,
	struct tare_err *err)
{
	int64_t at_ns[NUMBERS_STAMPS] = {TARE_NO_TIME, TARE_NO_TIME, TARE_NO_TIME}, step_ps;
	for (size_t i = 0; i < NUMBERS_STAMPS; i++) {
		size_t column = numbers->choice.stamp[i];
		struct field field = column < line->count ? line->field[column] : (struct field){"", 0};
		if (column == SIZE_MAX || (i == 2 && !field.bytes))
			continue;
		enum number_fault fault =
			numbers_read(field.text, field.bytes, numbers->stamp_unit_ps[i], &at_ns[i], &step_ps);
		if (fault != NUMBER_FINE)
			return refuse(import, numbers, number, number_fault_text(fault), field, err);
		numbers->step_ps = step_ps > 0 && step_ps < numbers->step_ps ? step_ps : numbers->step_ps;
	}
	if (!numbers->count)
		numbers->base_ns = at_ns[1];
	if (keep(import, numbers, TARE_NO_TIME, err))
		return -1;
	for (size_t i = 0; i < NUMBERS_STAMPS; i++)
		numbers->stamps_ns[i][numbers->count - 1] = at_ns[i] == TARE_NO_TIME ? TARE_NO_TIME : at_ns[i] - numbers->base_ns;
	numbers->fates[numbers->count - 1] = at_ns[2] == TARE_NO_TIME ? TARE_LOST : TARE_ANSWERED;
	return 0;
}

static int take_value(struct import *import, struct numbers *numbers, uint64_t number, const struct table_line *line,
	struct tare_err *err)
{
	struct field field = line->field[numbers->column < line->count ? numbers->column : 0];
	struct field whole = {line->field[0].text,
		(size_t)(line->field[line->count - 1].text + line->field[line->count - 1].bytes - line->field[0].text)};
	int64_t value_ns, step_ps;
	if (line->count != numbers->fields)
		return refuse(import, numbers, number, "not as many fields as the lines before: another separator, or a decimal comma",
			whole, err);
	if (numbers->stamped)
		return take_stamps(import, numbers, number, line, err);
	if (is_all_ones(field)) {
		numbers->all_ones++;
		return keep(import, numbers, TARE_NO_TIME, err);
	}
	enum number_fault fault = numbers_read(field.text, field.bytes, numbers->unit_ps, &value_ns, &step_ps);
	if (fault != NUMBER_FINE)
		return refuse(import, numbers, number, number_fault_text(fault), field, err);
	if (step_ps > 0 && step_ps < numbers->step_ps)
		numbers->step_ps = step_ps;
	return keep(import, numbers, value_ns, err);
}

static int read_line(struct import *import, struct numbers *numbers, const struct line *line, bool *started,
	struct tare_err *err)
{
	struct table_line fields;
	if (line->overlong)
		return refuse(import, numbers, line->number, "longer than any line of numbers", (struct field){"", 0}, err);
	if (!*started)
		numbers->separator = separator_of(line->text);
	split(line->text, line->bytes, numbers->separator, &fields);
	if (!*started && numbers_in(&fields) == 0) {
		*started = true;
		return take_header(import, numbers, &fields, err);
	}
	if (!*started && choose_column(import, numbers, &fields, false, err))
		return -1;
	*started = true;
	return take_value(import, numbers, line->number, &fields, err);
}

static int numbers_open(struct import *import, void **ret_reader, struct tare_err *err)
{
	const char *unit = import->rules.unit;
	struct numbers *numbers = calloc(1, sizeof(*numbers));
	if (!numbers)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory for '%s'", import->name);
	numbers->unit_ps = unit ? numbers_unit_ps(unit, strlen(unit)) : 1000;
	numbers->unit_told = unit != NULL;
	numbers->step_ps = INT64_MAX;
	if (!numbers->unit_ps) {
		free(numbers);
		return tare_fail(err, TARE_E_USAGE, "--unit '%s' is none of ps, ns, us, ms, s", unit);
	}
	import->run = (struct tare_run){.id = 1, .status = TARE_RUN_FINISHED, .tool = "numbers"};
	*ret_reader = numbers;
	return 0;
}

static const char *unit_name(int64_t unit_ps)
{
	return unit_ps == 1 ? "ps" : unit_ps == 1000 ? "ns" : unit_ps == 1000000 ? "µs" : unit_ps == 1000000000 ? "ms" : "s";
}

static int add_notes(struct import *import, const struct numbers *numbers, struct tare_err *err)
{
	if (numbers->stamped)
		return import_note(import, IMPORT_HEAD, err,
			"numbers, %zu requests by when they were %ssent and received, each column in the unit that its name ends with",
			numbers->count, numbers->choice.stamp[0] == SIZE_MAX ? "" : "due, ");
	if (import_note(import, IMPORT_HEAD, err, "numbers, %zu values%s%s%s", numbers->count,
		    numbers->name[0] ? " of column '" : "", numbers->name, numbers->name[0] ? "'" : ""))
		return -1;
	if (!numbers->unit_told &&
		import_note(import, IMPORT_QUANTITY, err,
			"taken as round trips in nanoseconds: nothing in the file says so; --unit names another unit, --format sfnt-raw "
			"(half round trips) or eflatency-raw whose raw file it is"))
		return -1;
	if (numbers->unit_told && import_note(import, IMPORT_QUANTITY, err, "in %s, to the nearest ns", unit_name(numbers->unit_ps)))
		return -1;
	if (numbers->all_ones &&
		import_note(import, IMPORT_LIMIT, err, "%" PRIu64 " value%s of 4294967295 or 18446744073709551615, all ones: taken as 'not available'",
			numbers->all_ones, numbers->all_ones == 1 ? "" : "s"))
		return -1;
	if (numbers->passed_over)
		return import_note(import, IMPORT_DAMAGE, err, "%" PRIu64 " line%s passed over, the first is line %" PRIu64,
			numbers->passed_over, numbers->passed_over == 1 ? "" : "s", numbers->first_bad);
	return 0;
}

static int make_record(struct import *import, struct numbers *numbers, struct tare_err *err)
{
	const char *what = numbers->name[0] ? import_text(import, numbers->name, err) : "numbers";
	if (!what)
		return -1;
	int64_t step_ns = numbers->step_ps == INT64_MAX ? 1 : numbers->step_ps / 1000;
	import->round = 1;
	numbers->target = (struct tare_target){.id = 1, .url = what, .kind = "numbers", .address = ""};
	numbers->round = (struct tare_round){
		.id = 1, .number = 1, .label = "", .axis_error_ns = TARE_NO_TIME, .warmup = 2, .status = "finished"};
	numbers->record = (struct tare_record){.run = &import->run,
		.target = &numbers->target,
		.round = &numbers->round,
		.series = {.count = numbers->count, .fate = numbers->fates},
		.resolution_ns = step_ns > 0 ? step_ns : 1,
		.origin = {.format = "numbers",
			.clock = TARE_CLOCK_UNKNOWN,
			.pacing = TARE_PACING_UNKNOWN,
			.lateness = TARE_LATENESS_UNKNOWN,
			.left_out = TARE_LEFT_OUT_UNKNOWN}};
	if (!numbers->stamped)
		numbers->record.series.given_ns[TARE_SPAN_RTT] = numbers->values_ns;
	for (size_t i = 0; i < NUMBERS_STAMPS && numbers->stamped; i++) {
		if (numbers->choice.stamp[i] != SIZE_MAX)
			numbers->record.series.at_ns[stages[i]] = numbers->stamps_ns[i];
	}
	if (numbers->stamped && numbers->choice.stamp[0] != SIZE_MAX)
		numbers->record.origin.lateness = TARE_LATENESS_MEASURED;
	return add_notes(import, numbers, err);
}

static int numbers_next(struct import *import, void *reader, const struct tare_record **ret_record, struct tare_err *err)
{
	struct numbers *numbers = reader;
	struct line line;
	bool started = false;
	int found;
	if (numbers->done)
		return 0;
	while ((found = lines_next(import->lines, &line, err)) > 0)
		if (!is_passed_over(&line) && read_line(import, numbers, &line, &started, err))
			return -1;
	if (found < 0)
		return -1;
	numbers->done = true;
	if (numbers->count == 0)
		return tare_fail(err, TARE_E_FORMAT, "'%s' holds no number", import->name);
	if (make_record(import, numbers, err))
		return -1;
	*ret_record = &numbers->record;
	return 1;
}

static void numbers_free(void *reader)
{
	struct numbers *numbers = reader;
	free(numbers->values_ns);
	for (size_t i = 0; i < NUMBERS_STAMPS; i++)
		free(numbers->stamps_ns[i]);
	free(numbers->fates);
	free(numbers);
}

const struct import_format numbers_format = {
	.name = "numbers", .help = "one number a line, or a column of a table (--column, --unit)", .knows = numbers_knows, .open = numbers_open, .next = numbers_next, .free = numbers_free};
