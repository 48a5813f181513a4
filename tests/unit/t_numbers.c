/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Plain numbers: exact decimals, tables, and what is refused with its line. */
#include <stdlib.h>

#include "import/import.h"
#include "import/log/numbers.h"
#include "tap.h"

static int64_t ns_of(const char *text, int64_t unit_ps)
{
	int64_t ns = -1, step_ps;
	return numbers_read(text, strlen(text), unit_ps, &ns, &step_ps) == NUMBER_FINE ? ns : -1;
}

static enum number_fault fault_of(const char *text)
{
	int64_t ns, step_ps;
	return numbers_read(text, strlen(text), 1000, &ns, &step_ps);
}

static void exact_decimals(void)
{
	const int64_t us = 1000000, s = 1000000000000;
	IS_I64(ns_of("3.9", us), 3900, "3.9 us");
	IS_I64(ns_of("0.1", us), 100, "0.1 us, which no double holds");
	IS_I64(ns_of("9007199254740993", 1000), 9007199254740993, "2^53 + 1");
	IS_I64(ns_of("4611686018427387904", 1000), INT64_C(4611686018427387904), "2^62");
	IS_I64(ns_of("1.2e-5", s), 12000, "an exponent");
	IS_I64(ns_of("0.0004", us), 0, "below half a nanosecond");
	IS_I64(ns_of("0.0005", us), 1, "half a nanosecond rounds up");
	IS_I64(ns_of("1499", 1), 1, "picoseconds");
	IS_I64(ns_of("+7", 1000), 7, "a plus sign");
	IS_I64(ns_of("-0", 1000), 0, "minus nothing is nothing");
	IS_I64(fault_of("-1"), NUMBER_NEGATIVE, "negative");
	IS_I64(fault_of("NaN"), NUMBER_NOT_FINITE, "NaN");
	IS_I64(fault_of("-Inf"), NUMBER_NOT_FINITE, "minus infinity");
	IS_I64(fault_of("9223372036854775808"), NUMBER_TOO_LARGE, "2^63");
	IS_I64(fault_of("1e400"), NUMBER_TOO_LARGE, "1e400");
	IS_I64(fault_of("1,5"), NUMBER_NONE, "a decimal comma");
	IS_I64(fault_of("0x10"), NUMBER_NONE, "hexadecimal");
	IS_I64(fault_of(""), NUMBER_NONE, "nothing");
	IS_I64(fault_of("1e"), NUMBER_NONE, "an exponent without digits");
}

struct outcome { size_t count; int64_t first_ns, last_ns, resolution_ns; char text[512]; };

static struct outcome import_of(const char *text, const char *column, const char *unit, bool lenient)
{
	struct outcome outcome = {0};
	struct tare_err err = {0};
	struct import *import = NULL;
	const struct tare_record *record;
	struct import_rules rules = {.column = column, .unit = unit, .lenient = lenient};
	FILE *stream = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
	int found = -1;
	if (stream && import_open_stream(stream, "n.txt", &rules, &import, &err) == 0)
		found = import_next(import, &record, &err);
	if (found > 0) {
		const int64_t *values_ns = record->series.given_ns[TARE_SPAN_RTT];
		outcome.count = record->series.count;
		outcome.first_ns = values_ns[0];
		outcome.last_ns = values_ns[outcome.count - 1];
		outcome.resolution_ns = record->resolution_ns;
	}
	snprintf(outcome.text, sizeof(outcome.text), "%s", err.text);
	import_free(import);
	if (stream)
		fclose(stream);
	return outcome;
}

static void tables(void)
{
	struct outcome o = import_of("\xef\xbb\xbf# made by hand\r\n\r\n4100\r\n3900\r\n4000\r\n", NULL, NULL, false);
	IS_I64(o.count, 3, "BOM, CRLF, a comment and a blank line");
	IS_I64(o.last_ns, 4000, "nanoseconds where nothing is said");
	o = import_of("seq;rtt_us\n0;3.900\n1;4.001\n", "rtt_us", NULL, false);
	IS_I64(o.last_ns, 4001, "a column by name, its unit from the name");
	IS_I64(o.resolution_ns, 1, "and its step from the digits");
	o = import_of("seq,rtt\n0,4.1\n1,4.2\n", "2", "ms", false);
	IS_I64(o.first_ns, 4100000, "by number, with --unit");
	IS_I64(o.resolution_ns, 100000, "a step of 0.1 ms");
	o = import_of("1 10\n2 20\n3 30\n", "2", NULL, false);
	IS_I64(o.last_ns, 30, "blanks separate as well");
	o = import_of("1\n2\n3", NULL, NULL, false);
	IS_I64(o.count, 3, "a last line without its end");
}

/* Several columns and no --column: by their names, where those leave one answer. */
static void chosen(void)
{
	struct outcome o = import_of("\xef\xbb\xbfseq,rtt_us\r\n0,5.1\r\n", NULL, NULL, false);
	IS_I64(o.count, 1, "the only column that is a time, from a table with BOM and CRLF");
	IS_I64(o.first_ns, 5100, "5.1 µs");
	o = import_of("seq;latency(msec);note\n0;1.5;x\n", NULL, NULL, false);
	IS_I64(o.first_ns, 1500000, "units in words too");
	IS_STR(import_of("seq,rtt_us,late_us\n0,5,6\n", NULL, NULL, false).text,
		"'n.txt' has several columns of times: 'rtt_us', 'late_us'; --column says which", "two of them are listed");
	IS_STR(import_of("seq,tx_ns\n0,5\n", NULL, NULL, false).text,
		"'n.txt' has several columns; --column takes a number from 1 to 2 or a name: 'seq', 'tx_ns'",
		"when something left is no latency");
	OK(strncmp(import_of("seq,rtt_us\n0,1\n1,1e400\n", NULL, NULL, false).text, "'n.txt':3: '1e400' is too large", 31) == 0,
		"1e400 with its line");
	OK(strncmp(import_of("seq,rtt_us\n0,1\n1,1\n2,1\n3,1\n4,1\n5\n", NULL, NULL, false).text, "'n.txt':7: ", 11) == 0, "a short row with its line");
}

static void stamped(void)
{
	static const char text[] = "seq,due_us,sent_us,received_ns\n0,100,101,151000\n1,1100,1103,1160000\n2,2100,2101,\n";
	struct import *import = NULL;
	const struct tare_record *record = NULL;
	struct tare_err err = {0};
	FILE *stream = fmemopen((void *)(uintptr_t)text, sizeof(text) - 1, "r");
	OK(stream && import_open_stream(stream, "n.txt", NULL, &import, &err) == 0 && import_next(import, &record, &err) == 1,
		"due, sent and received: %s", err.text);
	IS_I64(tare_span_of(&record->series, TARE_SPAN_RTT, 1), 57000, "rtt of two stamps, each in its unit");
	IS_I64(tare_span_of(&record->series, TARE_SPAN_LATE, 1), 3000, "late");
	IS_I64(tare_span_of(&record->series, TARE_SPAN_RESPONSE, 1), 60000, "response");
	IS_I64(record->series.fate[2], TARE_LOST, "without an answer it is lost");
	IS_I64(record->origin.lateness, TARE_LATENESS_MEASURED, "lateness is measured");
	import_free(import);
	fclose(stream);
}

static void refusals(void)
{
	IS_STR(import_of("a;b\n1;2\n3;4\n", NULL, NULL, false).text,
		"'n.txt' has several columns; --column takes a number from 1 to 2 or a name: 'a', 'b'", "which column");
	IS_STR(import_of("a;b\n1;2\n", "c", NULL, false).text,
		"'n.txt' has no such column; --column takes a number from 1 to 2 or a name: 'a', 'b'", "no such column");
	IS_STR(import_of("1\n2\n3\n4\n5\n6\nnan\n", NULL, NULL, false).text,
		"'n.txt':7: 'nan' is not a finite number\n  --lenient passes over such lines and counts them", "NaN with its line");
	IS_STR(import_of("1\n2\n3\n4\n5\n6\n-3\n", NULL, NULL, false).text,
		"'n.txt':7: '-3' is negative\n  --lenient passes over such lines and counts them", "negative with its line");
	OK(strncmp(import_of("1;2\n1;2\n1;2\n1;2\n1;2\n1,5\n", "1", NULL, false).text, "'n.txt':6: ", 11) == 0,
		"mixed separators with the line");
	IS_I64(import_of("1\n2\n3\n4\n5\n6\nnan\n8\n1,5\n", NULL, NULL, true).count, 7, "lenient keeps the others");
	IS_STR(import_of("1\n2\n", NULL, "fortnight", false).text, "--unit 'fortnight' is none of ps, ns, us, ms, s", "unit");
	OK(import_of("all work\nand no play\n", NULL, NULL, false).count == 0, "prose is no table");
	OK(import_of("2026-11-30 error 7\n2026-11-30 error 8\n", NULL, NULL, false).count == 0, "nor is a log");
}

int main(void)
{
	exact_decimals();
	tables();
	chosen();
	stamped();
	refusals();
	return tap_done();
}
