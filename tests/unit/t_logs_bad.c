/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Bad input: the message names file, line and reason; what could be read is kept
 * when lenient. Numbers go to the nanosecond or are refused.
 */
#include <zlib.h>

#include "import/number.h"
#include "log_read.h"

static void refused(const char *what, const char *text, struct import_rules rules, const char *sentence)
{
	struct log_read *log = log_text(text, rules);
	IS_I64(log->result, -1, what);
	SAYS(log->err.text, sentence);
	free(log);
}

static void number(const char *text, int unit, int64_t ns, int64_t step_ns)
{
	struct number got = number_read(text, strlen(text), unit);
	OK(!got.why && got.ns == ns && got.step_ns == step_ns, "'%s' is %lld ns in steps of %lld (%s, %lld, %lld)", text,
		(long long)ns, (long long)step_ns, got.why ? got.why : "read", (long long)got.ns, (long long)got.step_ns);
}

static void test_numbers(void)
{
	number("180.816", UNIT_US, 180816, 1);
	number("30,406", UNIT_MS, 30406000, 1000);
	number(" 5 ", UNIT_MS, 5000000, 1000000);
	number("2.282787449e+09", UNIT_ONE_NS, 2282787449, 1);
	number("1e-3", UNIT_US, 1, 1);
	number("0.4", UNIT_ONE_NS, 0, 1);
	number("0.5", UNIT_ONE_NS, 1, 1);
	number("9007199254740993", UNIT_ONE_NS, 9007199254740993, 1);
	number("9223372036854775807", UNIT_ONE_NS, INT64_MAX, 1);
	number("-1.5", UNIT_US, -1500, 100);
	static const char *const wrong[] = {"", "1.2.3", "1e", "0x10", "12 ms", "--1", "1e400", "9223372036854775808", "nan",
		"-NaN", "inf", "-Infinity", "."};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		OK(number_read(wrong[i], strlen(wrong[i]), UNIT_ONE_NS).why != NULL, "'%s' is refused", wrong[i]);
}

static void test_usage(void)
{
	refused("no unit", "Value Percentile TotalCount 1/(1-Percentile)\n1.0 1.0 10 inf\n", (struct import_rules){0},
		"does not say in which unit its numbers are\n  --unit ms");
	refused("unknown unit", "Value Percentile TotalCount 1/(1-Percentile)\n1.0 1.0 10 inf\n",
		(struct import_rules){.unit = "jiffies"}, "unknown unit 'jiffies'");
	refused("unknown format", "5\n", (struct import_rules){.format = "sokperf"}, "nearest is 'sockperf'");
	struct log_read *log = log_text("0.022\n", (struct import_rules){.format = "numbers", .unit = "ms"});
	IS_I64(log->record[0].value_ns[TARE_SPAN_RTT][0], 22000, "a format by force");
	free(log);
}

static void test_json(void)
{
#define IRTT "{\"version\":{\"irtt\":\"0.9.1\",\"json_format\":1},"
	refused("cut off", IRTT "\"round_trips\":[", (struct import_rules){0}, "'log':1:");
	refused("a key twice", IRTT "\"a\":1,\"a\":2,\"round_trips\":[]}", (struct import_rules){0}, "duplicate object key");
	refused("NaN", IRTT "\"a\":-nan,\"round_trips\":[]}", (struct import_rules){0}, "no valid JSON");
	refused("another document", IRTT "\"round_trips\":[]}" IRTT "\"round_trips\":[1]}", (struct import_rules){0},
		"another document follows");
	struct log_read *log = log_text(IRTT "\"a\":-nan,\"b\":[inf,\"nan\"],\"round_trips\":[]}",
		(struct import_rules){.lenient = true});
	OK(log->result == 0, "NaN when lenient: %s", log->err.text);
	SAYS(log->notes, "2 bare NaN or infinite numbers taken as absent");
	free(log);
	log = log_text(IRTT "\"round_trips\":[]}\n" IRTT "\"round_trips\":[]}\n", (struct import_rules){0});
	SAYS(log->notes, "stands there twice, word for word");
	free(log);
}

/* Ends of lines of all systems, the oldest Macintosh included, and blank lines behind the last. */
static void test_ends(void)
{
	static const char *const ends[] = {"\n", "\r\n", "\r", "\n\n\n", "\r\r"};
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		char text[300];
		snprintf(text, sizeof(text), "\xEF\xBB\xBF" "h : [0], 64 bytes, 0.030 ms (0.030 avg, 0%% loss)%s"
					     "h : [1], 64 bytes, 0.050 ms (0.030 avg, 0%% loss)%s", ends[i], ends[i]);
		struct log_read *log = log_text(text, (struct import_rules){0});
		IS_I64(log->record[0].fates.count[TARE_ANSWERED], 2, "a line's end of any system");
		free(log);
	}
}

static void test_packed(void)
{
	/* 32 MiB of one line each in 32 kB: refused long before its end */
	enum { ROOM = 1 << 20 };
	static unsigned char packed[ROOM], plain[ROOM];
	memset(plain, '\n', sizeof(plain));
	memcpy(plain, "5\n", 2);
	z_stream zlib = {.next_out = packed, .avail_out = sizeof(packed)};
	OK(deflateInit2(&zlib, 9, Z_DEFLATED, 31, 9, Z_DEFAULT_STRATEGY) == Z_OK, "gzip");
	zlib.next_in = plain;
	zlib.avail_in = sizeof(plain);
	OK(deflate(&zlib, Z_FINISH) == Z_STREAM_END, "packed");
	size_t bytes = zlib.total_out;
	deflateEnd(&zlib);
	FILE *stream = fmemopen(packed, bytes, "r");
	struct log_read *log = log_stream(stream, (struct import_rules){.unit = "ns"});
	IS_I64(log->total, 1, "packed numbers are read");
	free(log);
	fclose(stream);
	stream = fmemopen(packed, bytes / 2, "r");
	log = log_stream(stream, (struct import_rules){.unit = "ns"});
	IS_I64(log->result, -1, "cut off in the middle");
	OK(log->err.text[0] && strstr(log->err.text, "log"), "with a sentence: %s", log->err.text);
	free(log);
	fclose(stream);
}

static void test_damage(void)
{
	refused("hlog: no base64",
		"#[Histogram log format version 1.2]\n\"StartTimestamp\",\"a\",\"b\",\"c\"\n0,1,2,@@@@\n",
		(struct import_rules){0}, "'log':3: a histogram that is no base64");
	refused("hlog: cut off", "#[Histogram log format version 1.2]\n0,1,2,HISTFAAAAEV42pNp\n", (struct import_rules){0},
		"'log':2: it is cut off");
	refused("netperf: no count", "Histogram of request/response times\nUNIT_USEC : 1: x\n", (struct import_rules){0},
		"'log':2: not ten counts");
	refused("hgrm: falling", "Value Percentile TotalCount 1/(1-Percentile)\n1.0 0.5 10 2\n2.0 0.6 5 2\n",
		(struct import_rules){.unit = "ms"}, "'log':3: a count below the one before");
	refused("prometheus: falling",
		"# TYPE x histogram\nx_seconds_bucket{le=\"1\"} 5\nx_seconds_bucket{le=\"2\"} 4\n", (struct import_rules){0},
		"'log':3: a bucket below the one before");
	refused("sockperf: a word", "packet, txTime(sec), rxTime(sec), rtt(usec)\n0, 1.0, 2.0, x\n", (struct import_rules){0},
		"'log':2: is no number");
	refused("sockperf: summary only", "sockperf: Summary: Latency is 4 usec\n", (struct import_rules){0},
		"--full-log");
	struct log_read *log = log_text("packet, txTime(sec), rxTime(sec), rtt(usec)\n0, 1.0, 2.0, 5\n1, 1.0, 2.0, 9.000", (struct import_rules){0});
	IS_I64(log->record[0].row.n, 2, "a last line without its end is read where it is whole");
	free(log);
}

int main(void)
{
	test_numbers();
	test_usage();
	test_json();
	test_ends();
	test_packed();
	test_damage();
	return tap_done();
}
