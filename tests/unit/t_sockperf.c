/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sockperf's full log as 3.7 writes it in its modes and 3.8 by its source: ranks against those of its own rule,
 * lateness only where it can be rebuilt, several servers, the histogram behind a table, and rows that cannot be.
 */
#include "import/log/sockperf_due.h"
#include "log_read.h"

#define LINE "------------------------------\n"
#define PARAMETERS(more) LINE "test was performed using the following parameters: " more "\n" LINE
#define TABLE(unit) LINE "packet, txTime(sec), rxTime(sec), " unit "(usec)\n"

enum { ROOM = 1 << 20 };
static char text[ROOM];
static size_t used;

__attribute__((format(printf, 1, 2))) static void add(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	used += (size_t)vsnprintf(text + used, ROOM - used, format, args);
	va_end(args);
}

static struct log_read *read_it(size_t records)
{
	struct log_read *log = log_text(text, (struct import_rules){0});
	OK(log->result == 0, "read: %s", log->err.text);
	IS_I64(log->records, records, "its rounds");
	return log;
}

/* A request every period, `late` of them by how_late, the answer 20 µs behind each. */
static void add_rows(int rows, int64_t period_ns, int every, int64_t how_late)
{
	for (int i = 0; i < rows; i++) {
		int64_t tx = 2000000000 + i * period_ns + (every && i % every == every - 1 ? how_late : i % 3);
		int64_t rx = tx + 20000 + i;
		add("%d, %lld.%09lld, %lld.%09lld, %.3f\n", i, (long long)(tx / 1000000000), (long long)(tx % 1000000000),
			(long long)(rx / 1000000000), (long long)(rx % 1000000000), (double)(rx - tx) / 2000);
	}
	add(LINE);
}

static void begin(const char *parameters, int rows, double took_s)
{
	used = 0;
	add(PARAMETERS("%s"), parameters);
	add("sockperf: [Total Run] RunTime=1.000 sec; Warm up time=400 msec; SentMessages=1001; ReceivedMessages=1001\n"
	    "sockperf: ========= Printing statistics for Server No: 0\n"
	    "sockperf: [Valid Duration] RunTime=%.3f sec; SentMessages=%d; ReceivedMessages=%d\n"
	    "sockperf: \x1b[2;35m====> avg-latency=9.9 (std-dev=46.851, mean-ad=3.1, median-ad=1.0, siqr=0.5, cv=0.1, std-error=0.2, "
	    "99.0%% ci=[9.1, 10.2])\x1b[0m\nsockperf: # dropped messages = 0; # duplicated messages = 0; # out-of-order messages = 0\n",
		took_s, rows, rows);
}

static void test_lateness(void)
{
	/* one of ten late by 1.8 of 2 ms: looks 0.2 ms early, and once made all the others 0.2 ms late */
	begin("--mps=500 --burst=1 --reply-every=1 --msg-size=14 --time=1", 100, 0.198);
	add(TABLE("latency"));
	add_rows(100, 2000000, 10, 1800000);
	struct log_read *log = read_it(1);
	IS_I64(log->record[0].origin.lateness, TARE_LATENESS_REBUILT, "lateness is rebuilt");
	IS_I64(log->record[0].value_ns[TARE_SPAN_LATE][0], 0, "in time");
	IS_I64(log->record[0].value_ns[TARE_SPAN_LATE][2], 2, "within 2 ns");
	IS_I64(log->record[0].value_ns[TARE_SPAN_LATE][9], 1800000, "late by nearly a whole interval");
	SAYS(log->notes, "at the phase where 90 % of the requests left");
	free(log);
	begin("--mps=1000 --burst=4 --reply-every=1 --msg-size=14 --time=1", 100, 0.1);
	add(TABLE("latency"));
	add_rows(100, 1000000, 0, 0);
	log = read_it(1);
	IS_I64(log->record[0].origin.lateness, TARE_LATENESS_UNKNOWN, "bursts: not rebuilt");
	SAYS(log->notes, "sent in bursts of 4");
	free(log);
	begin("--mps=500 --burst=1 --reply-every=1 --msg-size=14 --time=1", 100, 0.300);
	add(TABLE("latency"));
	add_rows(100, 3000000, 0, 0);
	log = read_it(1);
	IS_I64(log->record[0].origin.lateness, TARE_LATENESS_UNKNOWN, "rate not held: not rebuilt");
	SAYS(log->notes, "asked for every 2000000 ns, kept every 30");
	free(log);
	/* four of five rows lost: the rate was held all the same */
	begin("--mps=1000 --burst=1 --reply-every=1 --msg-size=14 --time=1", 500, 0.4951);
	add(TABLE("latency"));
	add_rows(100, 5000000, 0, 0);
	log = read_it(1);
	IS_I64(log->record[0].origin.lateness, TARE_LATENESS_REBUILT, "losses do not hide that the rate was held");
	free(log);
	double scratch[4];
	struct sockperf_grid grid;
	OK(!sockperf_grid_of((const int64_t[]){0, 1300, 2700, 3100}, 4, 1000, scratch, &grid), "nowhere a crowd: no phase");
	OK(sockperf_grid_of((const int64_t[]){0, 1995, 3000, 4005}, 4, 1000, scratch, &grid) && grid.share == 1.0,
		"a crowd around the first send, on both sides");
}

static void test_modes(void)
{
	begin("--mps=600000 --burst=1 --reply-every=1 --msg-size=14 --time=1", 50, 0.001);
	add(TABLE("latency"));
	add_rows(50, 20100, 0, 0);
	struct log_read *log = read_it(1);
	IS_I64(log->record[0].origin.pacing, TARE_PACING_CLOSED, "requests that follow answers at once: ping-pong");
	free(log);
	begin("--burst=1 --msg-size=14 --number-of-packets=50", 50, 0.1);
	add(TABLE("rtt"));
	add_rows(50, 2000000, 0, 0);
	log = read_it(1);
	IS_I64(log->record[0].origin.pacing, TARE_PACING_CLOSED, "a number of packets: ping-pong");
	IS_I64(log->record[0].origin.quantity, TARE_QUANTITY_RTT, "--full-rtt, by the head of its table");
	free(log);
	begin("--mps=100000 --burst=1 --reply-every=1 --msg-size=14 --time=1 --dummy-send=1000000", 50, 0.0005);
	add(TABLE("latency"));
	add_rows(50, 10000, 0, 0);
	log = read_it(1);
	IS_I64(log->record[0].origin.pacing, TARE_PACING_OPEN, "requests before the answer in front of them: under-load");
	free(log);
}

/* 3.8: --histogram puts a block behind each table, and its parameters are not the test's. */
static void test_servers(void)
{
	begin("--mps=1000 --burst=1 --reply-every=1 --msg-size=14 --time=1", 20, 0.019);
	add(TABLE("latency"));
	add_rows(20, 1000000, 0, 0);
	add("histogram was built using the following parameters: --h_bin_size_us=5 --h_lower_range_us=0 --h_upper_range_us=2000000\n"
	    LINE "bin (usec)            frequency\n10                            20\n2000000-2100000               1\n" LINE);
	add("sockperf: ========= Printing statistics for Server No: 1\n"
	    "sockperf: [Valid Duration] RunTime=0.019 sec; SentMessages=20; ReceivedMessages=18\n"
	    "sockperf: \x1b[0;31m# dropped messages = 2; # duplicated messages = 3; # out-of-order messages = 1\x1b[0m\n"
	    "sockperf: Test end before test start. Ending statistics early\n" TABLE("latency"));
	add_rows(20, 1000000, 0, 0);
	struct log_read *log = read_it(2);
	IS_STR(log->record[1].target, "sockperf:server-1", "two servers");
	IS_I64(log->record[1].origin.lateness, TARE_LATENESS_REBUILT, "the histogram leaves the rate alone");
	IS_I64(log->record[1].beside.duplicate, 3, "duplicates");
	IS_I64(log->record[1].beside.reordered, 1, "out of order");
	SAYS(log->notes, "without a row: 2 answers that did not come, 1 that came out of order");
	free(log);
}

static void test_bad(void)
{
	static const struct {
		const char *row, *sentence;
	} bad[] = {{"5, 1.0, 2.0\n", "'log':7: not a row of packet, txTime, rxTime and latency"},
		{"5, 1.0, 2.0, nan\n", "'log':7: is not a number (NaN)"}, {"5, 1.0, 2.0, -3\n", "'log':7: a negative time"},
		{"5, 1e400, 2.0, 3\n", "'log':7: is too large"}, {"5, 2.0, 1.0, 3\n", "'log':7: an answer before its request"},
		{"0, 1.0, 2.0, 3\n", "'log':7: a packet that is not behind the one before"},
		{"x, 1.0, 2.0, 3\n", "'log':7: not a row of packet"}};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		used = 0;
		add(PARAMETERS("--mps=1000 --burst=1") TABLE("latency") "0, 1.000000000, 1.000020000, 10.000\n%s"
			"7, 1.000000000, 1.000020000, 10.000\n" LINE, bad[i].row);
		struct log_read *log = log_text(text, (struct import_rules){0});
		IS_I64(log->result, -1, bad[i].row);
		SAYS(log->err.text, bad[i].sentence);
		free(log);
		log = log_text(text, (struct import_rules){.lenient = true});
		IS_I64(log->record[0].count, 2, "lenient: the others are kept");
		SAYS(log->notes, "1 damaged line passed over, the first is line 7");
		free(log);
	}
	used = 0;
	add(PARAMETERS("--mps=1000 --burst=1") TABLE("latency") "0, 1.000000000, 1.000020000, 10.000\n1, 1.001000000, 1.001020000, 1");
	struct log_read *log = read_it(1);
	IS_I64(log->record[0].count, 1, "a number without its decimals is cut off, even where the row reads as one");
	SAYS(log->notes, "the last line is cut off");
	free(log);
}

int main(void)
{
	test_lateness();
	test_modes();
	test_servers();
	test_bad();
	return tap_done();
}
