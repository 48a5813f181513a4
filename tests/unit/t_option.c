/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Option tables: values of every type, argv in all its forms, files, origins, the sentences of refusals, the help. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/option.h"
#include "base/text.h"
#include "tap.h"

struct config {
	bool spin, quiet;
	uint64_t count, size_bytes;
	int64_t every_ns, rate_ns, timeout_ns;
	double margin;
	struct option_cpus cpus;
	const char *output;
	int wait;
};

enum { WAIT_SLEEP, WAIT_SPIN, ROWS = 12 };
static const struct option_choice waits[] = {
	{"sleep", WAIT_SLEEP, "give the CPU up until shortly before"}, {"spin", WAIT_SPIN, "burn it"}, {NULL, 0, NULL}};

static const struct option table[] = {
	{"spin", 's', OPTION_FLAG, NULL, "yes", "spin until the time has come", OPTION_AT(struct config, spin), 0, 0,
		NULL},
	{"quiet", 'q', OPTION_FLAG, NULL, NULL, "no progress", OPTION_AT(struct config, quiet), 0, 0, NULL},
	{"count", 'n', OPTION_COUNT, NULL, "10k", "requests in a round", OPTION_AT(struct config, count), 1, 1e6, NULL},
	{"size", 0, OPTION_SIZE, NULL, "64", "payload", OPTION_AT(struct config, size_bytes), 16, 0, NULL},
	{"every", 'e', OPTION_DURATION, NULL, "1ms",
		"time between two requests of one target; several targets are interleaved in this time, so that no two "
		"leave together",
		OPTION_AT(struct config, every_ns), 1000, 10e9, NULL},
	{"rate", 0, OPTION_RATE, NULL, NULL, "requests a second instead", OPTION_AT(struct config, rate_ns), 1000, 60e9,
		NULL},
	{"timeout", 0, OPTION_DURATION, NULL, "1s", "", OPTION_AT(struct config, timeout_ns), 0, 0, NULL},
	{"margin", 0, OPTION_NUMBER, "FRACTION", NULL, "negligible", OPTION_AT(struct config, margin), -0.5, 0.5, NULL},
	{"cpus", 0, OPTION_CPUS, NULL, NULL, "where to run", OPTION_AT(struct config, cpus), 0, 0, NULL},
	{"output", 'o', OPTION_TEXT, "FILE", NULL, "recording", OPTION_AT(struct config, output), 0, 0, NULL},
	{"wait-for-the-next-request", 0, OPTION_CHOICE, NULL, "sleep", "how to wait", OPTION_AT(struct config, wait), 0,
		0, waits},
	{NULL, 0, OPTION_FLAG, NULL, NULL, NULL, 0, 0, 0, NULL},
};

/* A set with its room; `err` keeps the last failure. */
struct fixture {
	struct config config;
	struct option_origin origins[ROWS];
	struct option_set set;
	struct tare_err err;
	char *argv[16];
	int operands;
	bool help;
};

static void fixture_start(struct fixture *fixture)
{
	*fixture = (struct fixture){.operands = -7};
	fixture->set = (struct option_set){
		.command = "run", .table = table, .config = &fixture->config, .origins = fixture->origins};
	if (option_fallbacks(&fixture->set, &fixture->err) < 0)
		OK(false, "fallbacks: %s", fixture->err.text);
}

/* `arguments` ends with NULL. */
static int parse(struct fixture *fixture, const char *const *arguments)
{
	fixture_start(fixture);
	int count = 0;
	for (; arguments[count]; count++)
		fixture->argv[count] = (char *)(uintptr_t)arguments[count];
	return option_argv(&fixture->set, count, fixture->argv, &fixture->operands, &fixture->help, &fixture->err);
}
#define PARSE(fixture, ...) parse((fixture), (const char *const[]){__VA_ARGS__, NULL})

#define REFUSES(want, ...)                                                                                             \
	do {                                                                                                           \
		struct fixture refused;                                                                                \
		int result_ = PARSE(&refused, __VA_ARGS__);                                                            \
		IS_STR(refused.err.text, (want), (want));                                                              \
		OK(result_ == -1 && refused.err.code == TARE_E_USAGE && refused.operands == -7, "… a usage error");    \
		option_end(&refused.set);                                                                              \
	} while (0)

static void fallbacks(void)
{
	struct fixture f;
	fixture_start(&f);
	IS_I64(option_count(table), ROWS - 1, "rows of the table");
	OK(f.config.spin && !f.config.quiet && f.config.count == 10000 && f.config.size_bytes == 64,
		"fallbacks hold (1)");
	OK(f.config.every_ns == 1000000 && f.config.rate_ns == 0 && f.config.wait == WAIT_SLEEP, "fallbacks hold (2)");
	IS_STR(f.origins[2].source, "default", "a fallback's origin");
	IS_STR(f.origins[2].value, "10k", "and its text");
	OK(!f.origins[5].source && !option_given(&f.set, "count") && !option_given(&f.set, "nonsense"),
		"nothing was given");

	static const struct option bad[] = {
		{"count", 0, OPTION_COUNT, NULL, "many", "", OPTION_AT(struct config, count), 0, 0, NULL},
		{NULL, 0, OPTION_FLAG, NULL, NULL, NULL, 0, 0, 0, NULL}};
	f.set.table = bad;
	IS_I64(option_fallbacks(&f.set, &f.err), -1, "a table's own mistake is found");
	IS_STR(f.err.text, "default of '--count': 'many' is not a count like 10k", "and named");
}

static void values(void)
{
	struct fixture f;
	IS_I64(PARSE(&f, "--count=5k", "--size", "4KiB", "-e10us", "--rate", "50k/s", "--margin", "-0.25", "--cpus",
		       "0-2,7", "-o", "x.tare", "--wait-for-the-next-request=spin", "--no-spin", "-q"),
		0, "one of every type");
	OK(f.config.count == 5000 && f.config.size_bytes == 4096, "count and size");
	OK(f.config.every_ns == 10000 && f.config.rate_ns == 20000, "duration and rate");
	OK(f.config.margin < -0.2499 && f.config.margin > -0.2501, "a negative number as a value");
	OK(f.config.cpus.count == 4 && f.config.cpus.cpu[3] == 7, "CPUs");
	IS_STR(f.config.output, "x.tare", "text");
	OK(f.config.wait == WAIT_SPIN && !f.config.spin && f.config.quiet, "choice and flags");
	OK(f.operands == 0 && !f.help, "no operands, no help");
	IS_STR(f.origins[2].source, "command line", "an origin");
	IS_STR(f.origins[2].value, "5k", "with the text as written");
	IS_STR(f.origins[0].value, "no", "--no-spin is noted as no");
	OK(option_given(&f.set, "count") && !option_given(&f.set, "timeout"), "what was given");

	PARSE(&f, "--count", "1", "--count", "2", "--spin=off", "-o=");
	OK(f.config.count == 2 && !f.config.spin, "the last one wins; a flag takes a word");
	IS_STR(f.config.output, "=", "a letter's value is all behind it");
	PARSE(&f, "--output=");
	IS_STR(f.config.output, "", "text may be empty");
}

static void letters(void)
{
	struct fixture f;
	IS_I64(PARSE(&f, "-qsn", "7"), 0, "flags' letters joined, the last with a value");
	OK(f.config.quiet && f.config.spin && f.config.count == 7, "all three hold");
	REFUSES("option '--count': 'o' is not a count like 10k", "-qno");
	REFUSES("unknown option '-z', see --help", "-z5");
	REFUSES("unknown option '-qz', see --help", "-qz");
	REFUSES("unknown option '-timeout=1s', nearest is '--timeout'", "-timeout=1s");
}

static void operands(void)
{
	struct fixture f;
	IS_I64(PARSE(&f, "a", "--count", "5", "-", "-q", "-3", "--", "-.5", "-e", "1s", "b"), 0, "options anywhere");
	IS_I64(f.operands, 6, "six operands");
	static const char *const want[] = {"a", "-", "-3", "--", "-.5", "b", "--count", "5", "-q", "-e", "1s"};
	for (int i = 0; i < 11; i++)
		IS_STR(f.argv[i], want[i], "operands first and in order, then the options");
	OK(f.config.count == 5 && f.config.quiet && f.config.every_ns == 1000000000, "options behind -- count");
	IS_I64(option_argv(&f.set, 0, f.argv, &f.operands, &f.help, NULL), 0, "no arguments");
	IS_I64(f.operands, 0, "no operands");

	static const struct option digits[] = {
		{"ipv6", '6', OPTION_FLAG, NULL, NULL, "", OPTION_AT(struct config, quiet), 0, 0, NULL},
		{NULL, 0, OPTION_FLAG, NULL, NULL, NULL, 0, 0, 0, NULL}};
	fixture_start(&f);
	f.set.table = digits;
	f.argv[0] = (char *)(uintptr_t) "-6";
	f.argv[1] = (char *)(uintptr_t) "-4";
	OK(option_argv(&f.set, 2, f.argv, &f.operands, &f.help, NULL) == 0 && f.config.quiet && f.operands == 1,
		"a digit that is a letter of the table is an option");
}

static void help_asked(void)
{
	struct fixture f;
	OK(PARSE(&f, "a", "--help", "--nonsense") == 0 && f.help && f.operands == 1, "--help ends the reading");
	OK(PARSE(&f, "-qh") == 0 && f.help && f.config.quiet, "so does -h");
	REFUSES("unknown option '--hlp', nearest is '--help'", "--hlp");
}

static void refusals(void)
{
	REFUSES("unknown option '--evry', nearest is '--every'", "--evry", "1ms");
	REFUSES("unknown option '--evry', nearest is '--every'", "--evry=1ms");
	REFUSES("unknown option '--zzzzz', see --help", "--zzzzz");
	REFUSES("unknown option '--', see --help", "--=5");
	REFUSES("unknown option '--no-spn', nearest is '--no-spin'", "--no-spn");
	REFUSES("option '--no-spin' takes no value", "--no-spin=yes");
	REFUSES("option '--every': '10' needs a unit: ns, us, ms, s, min, h", "--every", "10");
	REFUSES("option '--every' needs a value: TIME", "--every");
	REFUSES("option '--every' needs a value: TIME", "-e", "--count");
	REFUSES("option '--output' needs a value: FILE", "-o", "--");
	REFUSES("option '--quiet': 'maybe' is neither yes nor no", "--quiet=maybe");
	REFUSES("option '--every': '999ns' is outside 1 µs to 10 s", "--every=999ns");
	REFUSES("option '--every': '11s' is outside 1 µs to 10 s", "--every=11s");
	REFUSES("option '--rate': '2M/s' is outside 1/min to 1M/s", "--rate=2M/s");
	REFUSES("option '--rate': '0.5/min' is outside 1/min to 1M/s", "--rate", "0.5/min");
	REFUSES("option '--count': '0' is outside 1 to 1000000", "--count=0");
	REFUSES("option '--size': '15' is below 16", "--size=15");
	REFUSES("option '--margin': '0.51' is outside -0.5 to 0.5", "--margin=0.51");
	REFUSES("option '--cpus': '' names no CPU", "--cpus=");
	REFUSES("option '--cpus': '0-2000' names 2001 CPUs, more than 1024", "--cpus=0-2000");
	REFUSES("option '--wait-for-the-next-request': 'spn' is none of sleep, spin; nearest is 'spin'",
		"--wait-for-the-next-request=spn");
	REFUSES("option '--wait-for-the-next-request': 'zzz' is none of sleep, spin",
		"--wait-for-the-next-request=zzz");
	struct fixture f;
	OK(PARSE(&f, "--every=1us", "--count=1000000", "--rate=1M/s", "--size=18446744073709551615", "--margin=-0.5") ==
			0,
		"the limits themselves are inside");
}

static void refuses_text(const char *text, const char *want)
{
	struct fixture f;
	fixture_start(&f);
	int result = option_text(&f.set, text, "tare.conf", &f.err);
	IS_STR(f.err.text, want, want);
	OK(result == -1 && f.err.code == TARE_E_FORMAT, "… a bad input file");
	option_end(&f.set);
}

static void texts(void)
{
	struct fixture f;
	fixture_start(&f);
	AUTO_FREE char *text =
		strdup("# comment\n[echo]\nport = 7\n\n[run]\n  every = 10us\n\tcount=5k ; note\nspin: no\r\n"
		       "output = a name with blanks \n[run]\nquiet = yes");
	IS_I64(option_text(&f.set, text, "tare.conf", &f.err), 0, "a file with comments, indentation, other sections");
	if (text)
		memset(text, 'x', strlen(text));
	OK(f.config.every_ns == 10000 && f.config.count == 5000 && !f.config.spin && f.config.quiet, "its values hold");
	IS_STR(f.config.output, "a name with blanks", "text outlives the file");
	IS_STR(f.origins[4].source, "tare.conf:6", "an origin names file and line");
	IS_STR(f.origins[4].value, "10us", "and the text");
	OK(option_given(&f.set, "every") && !option_given(&f.set, "timeout"), "what a file says is given");
	f.argv[0] = (char *)(uintptr_t) "--every=20us";
	IS_I64(option_argv(&f.set, 1, f.argv, &f.operands, &f.help, &f.err), 0, "then the command line");
	OK(f.config.every_ns == 20000 && f.config.count == 5000, "overrides what it names");
	IS_STR(f.origins[4].source, "command line", "and is the origin");
	IS_I64(option_text(&f.set, "", "tare.conf", &f.err), 0, "an empty text");
	IS_I64(option_text(&f.set, "\xef\xbb\xbf[run]\ncount = 3", "tare.conf", &f.err), 0, "a byte order mark");
	IS_I64((int64_t)f.config.count, 3, "is no hindrance");
	option_end(&f.set);
}

static void bad_texts(void)
{
	refuses_text("[run]\n\nevry = 1ms\n", "tare.conf:3: unknown option 'evry', nearest is 'every'");
	refuses_text("[run]\nzzzzz = 1\n", "tare.conf:2: unknown option 'zzzzz'");
	refuses_text("[run]\nevery = 10\n", "tare.conf:2: every: '10' needs a unit: ns, us, ms, s, min, h");
	refuses_text("[run]\ncount = 0\n", "tare.conf:2: count: '0' is outside 1 to 1000000");
	refuses_text("every = 1ms\n", "tare.conf:1: a value stands before any [section]");
	refuses_text("[run]\nevery 1ms\ncount = 0\n", "tare.conf:2: neither a [section] nor name = value");
	refuses_text("[run]\ncount = 0\nevery 1ms\n", "tare.conf:2: count: '0' is outside 1 to 1000000");
	refuses_text("[run\n", "tare.conf:1: neither a [section] nor name = value");
	refuses_text("[run]\n  every = 1ms\n  count = x\n", "tare.conf:3: count: 'x' is not a count like 10k");
	char lengthy[300] = "[run]\noutput = ";
	memset(lengthy + 15, 'o', 250);
	refuses_text(lengthy, "tare.conf:2: the line is longer than 197 bytes");
}

/* The longest line that passes is whole, and one byte more is refused: nothing in between is cut in silence. */
static void long_lines(void)
{
	char line[256] = "[run]\noutput=";
	size_t start = strlen(line);
	for (size_t length = 196; length <= 198; length++) {
		struct fixture f;
		fixture_start(&f);
		memset(line + start, 'o', length - 7);
		line[6 + length] = '\0';
		int result = option_text(&f.set, line, "tare.conf", &f.err);
		if (length <= 197)
			OK(result == 0 && f.config.output && strlen(f.config.output) == length - 7,
				"%zu bytes are whole", length);
		else
			IS_I64(result, -1, "198 bytes are refused");
		option_end(&f.set);
	}
}

static int write_file(const char *path, const char *bytes, size_t count)
{
	AUTO_FILE file = fopen(path, "w");
	return file && fwrite(bytes, 1, count, file) == count ? 0 : -1;
}

static void is_file_refused(const char *path, const char *before, const char *behind, enum tare_code code)
{
	struct fixture f;
	char expected[256];
	fixture_start(&f);
	snprintf(expected, sizeof(expected), "%s%s%s", before, path, behind);
	int result = option_file(&f.set, path, &f.err);
	IS_STR(f.err.text, expected, behind);
	OK(result == -1 && f.err.code == code, "… with its code");
	option_end(&f.set);
}

static void files(void)
{
	struct fixture f;
	char folder[] = "/tmp/tare-option-XXXXXX", path[64], below[80];
	if (!mkdtemp(folder)) {
		OK(false, "a folder in /tmp");
		return;
	}
	snprintf(path, sizeof(path), "%s/tare.conf", folder);
	fixture_start(&f);
	IS_I64(option_file(&f.set, path, &f.err), 0, "a missing file is fine");
	IS_I64(write_file(path, "[run]\ncount = 12\n", 17), 0, "a file is written");
	IS_I64(option_file(&f.set, path, &f.err), 0, "and read");
	IS_I64((int64_t)f.config.count, 12, "its value holds");
	snprintf(below, sizeof(below), "%s/x", path);
	IS_I64(option_file(&f.set, below, &f.err), 0, "a file below a file is missing too");
	option_end(&f.set);

	write_file(path, "[run]\ncount = 0\n", 16);
	is_file_refused(path, "", ":2: count: '0' is outside 1 to 1000000", TARE_E_FORMAT);
	write_file(path, "[run]\0\n", 7);
	is_file_refused(path, "'", "' is no text: it holds a zero byte", TARE_E_FORMAT);
	AUTO_FREE char *large = calloc(1, (1 << 20) + 1);
	if (large) {
		memset(large, '\n', (1 << 20) + 1);
		write_file(path, large, 1 << 20);
		fixture_start(&f);
		IS_I64(option_file(&f.set, path, &f.err), 0, "1 MiB is read");
		write_file(path, large, (1 << 20) + 1);
		is_file_refused(path, "'", "' is larger than 1 MiB, too much for a configuration", TARE_E_FORMAT);
	}
	unlink(path);
	if (mkfifo(path, 0600) == 0) {
		fixture_start(&f);
		IS_I64(option_file(&f.set, path, &f.err), 0, "a pipe nobody writes to does not hold us up");
		unlink(path);
	}
	is_file_refused(folder, "cannot read '", "': Is a directory", TARE_E_SYSTEM);
	rmdir(folder);
}

static const char help_text[] = "  -s, --[no-]spin        spin until the time has come (default on)\n"
				"  -q, --quiet            no progress\n"
				"  -n, --count N          requests in a round (default 10k)\n"
				"      --size BYTES       payload (default 64)\n"
				"  -e, --every TIME       time between two requests of one target; several\n"
				"                         targets are interleaved in this time, so that no two\n"
				"                         leave together (default 1ms)\n"
				"      --rate RATE        requests a second instead\n"
				"      --timeout TIME     (default 1s)\n"
				"      --margin FRACTION  negligible\n"
				"      --cpus CPUS        where to run\n"
				"  -o, --output FILE      recording\n"
				"      --wait-for-the-next-request WORD\n"
				"                         how to wait (default sleep)\n"
				"                           sleep  give the CPU up until shortly before\n"
				"                           spin   burn it\n"
				"  -h, --help             print this and exit\n";

/* Choices without a help of their own stand in the line; widths are characters: each µ is two bytes. */
static const struct option_choice units[] = {{"µs", 0, NULL}, {"ms", 1, NULL}, {NULL, 0, NULL}};
static const struct option small_table[] = {
	{"unit", 0, OPTION_CHOICE, "µ|m", "µs", "µµµµµµµµµµ µµµµµµµµµµ µµµµµµµµµµ µµµµµµµµµµ µµµµµµµµµµ µµ µµµµµµµµµµ",
		OPTION_AT(struct config, wait), 0, 0, units},
	{NULL, 0, OPTION_FLAG, NULL, NULL, NULL, 0, 0, 0, NULL},
};
static const char small_help_text[] = "      --unit µ|m  µµµµµµµµµµ µµµµµµµµµµ µµµµµµµµµµ µµµµµµµµµµ µµµµµµµµµµ µµ\n"
				      "                  µµµµµµµµµµ (one of µs, ms) (default µs)\n"
				      "  -h, --help      print this and exit\n";

static void is_help(const struct option *rows, const char *want, const char *name)
{
	char *bytes = NULL;
	size_t count = 0;
	FILE *out = open_memstream(&bytes, &count);
	if (!out) {
		OK(false, "memory for the help");
		return;
	}
	option_help(out, rows);
	fclose(out);
	AUTO_FREE char *text = bytes;
	IS_STR(text, want, name);
}

int main(void)
{
	fallbacks();
	values();
	letters();
	operands();
	help_asked();
	refusals();
	texts();
	bad_texts();
	long_lines();
	files();
	is_help(table, help_text, "the help: aligned, at most 80 columns");
	is_help(small_table, small_help_text, "the help: choices in the line, characters counted");
	return tap_done();
}
