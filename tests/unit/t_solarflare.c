/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sfnettest's and eflatency's files as their sources write them: tables, YAML, and raw rows that say nothing of themselves. */
#include "log_read.h"

static void refused(const char *text, struct import_rules rules, const char *sentence)
{
	struct log_read *log = log_text(text, rules);
	IS_I64(log->result, -1, sentence);
	SAYS(log->err.text, sentence);
	free(log);
}

static void test_raw(void)
{
	static const char rows[] = "2471\n2410\n2560\n2480\n";
	struct log_read *log = log_text(rows, (struct import_rules){0});
	IS_STR(log->record[0].format, "numbers", "a bare raw file is plain numbers");
	IS_I64(log->record[0].value_ns[TARE_SPAN_RTT][0], 2471, "in ns");
	SAYS(log->notes, "nothing in the file says so; --unit names another unit, --format sfnt-raw (half round trips) or "
			 "eflatency-raw whose raw file it is");
	free(log);
	log = log_text(rows, (struct import_rules){.format = "sfnt-raw"});
	IS_I64(log->record[0].value_ns[TARE_SPAN_HALF_RTT][0], 2471, "sfnt-pingpong's: half round trips");
	IS_I64(log->record[0].origin.pacing, TARE_PACING_CLOSED, "each waited for the one before");
	SAYS(log->notes, "unless it ran with --rtt");
	SAYS(log->notes, "sfnt-pingpong itself prints median 2480 ns (tare: 2471): its rank is floor(p x n) + 1, its median the upper of two");
	free(log);
	log = log_text(rows, (struct import_rules){.format = "eflatency-raw"});
	IS_I64(log->record[0].value_ns[TARE_SPAN_RTT][0], 2471, "eflatency's: whole round trips");
	SAYS(log->notes, "eflatency itself prints 50% 2480 ns (tare: 2471)");
	free(log);
	refused("2471\n24x0\n", (struct import_rules){.format = "sfnt-raw"}, "'log':2: no whole number of ns: '24x0'");
	refused("2471\n-5\n", (struct import_rules){.format = "sfnt-raw"}, "'log':2: no whole number of ns");
	refused("2471\n2471.5\n", (struct import_rules){.format = "eflatency-raw"}, "'log':2: no whole number of ns");
	refused("\n\n", (struct import_rules){.format = "eflatency-raw"}, "holds no whole number of ns");
	log = log_text("2471\r\n99999999999999999999\r\n9007199254740993\r\n", (struct import_rules){.format = "sfnt-raw", .lenient = true});
	IS_I64(log->record[0].count, 2, "lenient: what fits");
	IS_I64(log->record[0].value_ns[TARE_SPAN_HALF_RTT][1], 9007199254740993, "2^53 + 1, exactly");
	free(log);
}

#define STREAM "#send-target(ns)\tsend-actual(ns)\tlatency(ns)\n"

static void test_stream(void)
{
	struct log_read *log = log_text(STREAM "0.000000000\t0.000000150\t0.000004700\n0.001000000\t0.001000020\t-0.000000300\n"
					STREAM "0.000000000\t0.000000010\t0.000004800\n",
		(struct import_rules){0});
	IS_I64(log->records, 2, "a header for each file");
	IS_I64(log->record[0].value_ns[TARE_SPAN_LATE][0], 150, "lateness is measured");
	IS_I64(log->record[0].value_ns[TARE_SPAN_ONE_WAY][1], -300, "below zero, as it stands there");
	SAYS(log->notes, "1 latencies are below zero");
	SAYS(log->notes, "its schedule moves on");
	free(log);
	refused(STREAM "0.000001000\t0.000000150\t0.000004700\n", (struct import_rules){0}, "'log':2: sent before its slot");
	refused(STREAM "0.000001000\t0.000000150\n", (struct import_rules){0}, "'log':2: not three columns");
	refused(STREAM "0.0\t0.0\tnan\n", (struct import_rules){0}, "'log':2: is not a number (NaN)");
	log = log_text(STREAM "0.000000000\t0.000000150\t0.000004700\n0.001000000\t0.001000020\t0.0000", (struct import_rules){0});
	IS_I64(log->record[0].count, 1, "a number without its nine decimals is cut off");
	free(log);
}

#define HEAD "#\tsize\tmean\tmin\tmedian\tmax\t%ile\tstddev\titer\n"

static void test_tables(void)
{
	struct log_read *log = log_text("# cmdline: ./sfnt-pingpong udp h\n# percentile=99.9\n#\n" HEAD "# WARNING: tsc_hz changed to 2100000000 on recheck\n"
					"\t0\t2480\t2410\t2471\t15212\t2560\t95\t303000\n\t1472\t2480\t2410\t2471\t15212\t2560\t95\t303000\n",
		(struct import_rules){0});
	IS_I64(log->records, 2, "two sizes");
	IS_I64(log->record[0].origin.quantity, TARE_QUANTITY_HALF_RTT, "half unless --rtt");
	SAYS(log->notes, "p99.9 2560");
	SAYS(log->notes, "the cycle counter's rate changed by more than 1 %");
	free(log);
	refused(HEAD "\t1\t2480\t24x0\t2471\t15212\t2560\t95\t303000\n", (struct import_rules){0}, "'log':2: a column that is no number");
	refused(HEAD "\t1\t2480\n", (struct import_rules){0}, "'log':2: too few columns");
	log = log_text("# NIC(s) 3 -1\n# udp payload len: 0:64:16\npaylen\tmean\tmin\t50%\t95%\t99%\tmax\n0\t1.5\t1.4\t1.5\t1.6\t1.7\t9.9\n"
		       "16\t1.5\t1.4\t1.5\t1.6\t1.7\t9.9\nmean round-trip time: 1.500 usec\n",
		(struct import_rules){0});
	IS_I64(log->records, 2, "eflatency: two sizes");
	IS_STR(log->record[1].target, "eflatency:size=16", "by payload");
	SAYS(log->notes, "its ranks are n/2, n - n/20, n - n/100 from 0, one above the nearest rank");
	free(log);
	log = log_text("# ef_vi_version_str: 1\n# udp payload len: 32\n# iterations: 100000\nmean round-trip time: 3.211 usec\n",
		(struct import_rules){0});
	IS_STR(log->record[0].target, "eflatency:size=32", "eflatency before its table: a mean alone");
	IS_I64(log->record[0].origin.shape, TARE_SHAPE_SUMMARY, "is a summary");
	free(log);
	refused("paylen\tmean\tmin\t50%\t95%\t99%\tmax\n0\t1.5\t1e400\t1.5\t1.6\t1.7\t9.9\n", (struct import_rules){0},
		"'log':2: not seven columns of numbers");
}

int main(void)
{
	test_raw();
	test_stream();
	test_tables();
	return tap_done();
}
