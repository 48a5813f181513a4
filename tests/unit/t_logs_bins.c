/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Logs that hold counts: lagscope, netperf, wrk2, percentile tables. Each percentile is the bin that holds the nearest
 * rank; where the tool printed another figure, a line says which and why, and where they agree there is none.
 */
#include "log_read.h"

static void test_lagscope(void)
{
	struct log_read *log = log_as("Index, Latency(us)\n0, 45\n1, 50\n2, 47\n", "lagscope", 1);
	IS_I64(log->record[0].value_ns[TARE_SPAN_RTT][1], 50000, "lagscope -R");
	IS_I64(log->record[0].row.ranked[P50].value_ns, 47000, "nearest rank");
	IS_I64(log->record[0].resolution_ns, 1000, "whole µs");
	free(log);
	log = log_text("Index, Latency(us)\n0, 45123\n", (struct import_rules){.unit = "ns"});
	IS_I64(log->record[0].value_ns[TARE_SPAN_RTT][0], 45123, "--unit ns, whatever the heading says");
	free(log);
	log = log_as("{\"latencies\":[{\"latency\":45,\"frequency\":3},{\"latency\":46,\"frequency\":1}]}", "lagscope-json", 1);
	IS_RANGE(&log->record[0].row.ranked[P50], 45000, 45999, "lagscope JSON: a range of 1 µs");
	free(log);
	log = log_as("13:36:24 INFO:  Number of successful Pings: 6\n"
		     "13:36:24 INFO:  Minimum = 3.994us, Maximum = 28.894us, Average = 14.063us\n"
		     "\nPercentile\t Latency(us)\n     50% \t 12\n     75% \t 20\n\nInterval(usec)\t Frequency\n"
		     "      0 \t 1\n     10 \t 3\n     15 \t 0\n     20 \t 2\n",
		"lagscope-text", 1);
	IS_RANGE(&log->record[0].row.ranked[P50], 10000, 14999, "-H: an interval ends where the next begins");
	IS_I64(log->record[0].row.max_ns, 28894, "the last one at the printed maximum");
	SAYS(log->notes, "its own percentiles, cut to whole units, not used: 50% 12, 75% 20");
	OK(!strstr(log->notes, "the histogram holds"), "and it holds all pings");
	free(log);
	log = log_as("Number of successful Pings: 4\nInterval(usec)\t Frequency\n      0 \t 1\n     10 \t 2\n", "lagscope-text", 1);
	IS_I64(log->record[0].row.max_ns, INT64_MAX, "without a maximum nothing ends the last");
	SAYS(log->notes, "4 pings, and the histogram holds 3");
	free(log);
	REFUSES("Interval(usec)\t Frequency\n      10 \t 1\n     5 \t 2\n", "'log':3: an interval that does not follow the one before");
	REFUSES("{\"latencies\":[{\"latency\":45,\"frequency\":3,\"frequency\":4}]}", "no valid JSON: 'duplicate object key");
	REFUSES("{\"latencies\":[{\"latency\":45,\"frequency\":-3}]}", "entry 1 has no latency and frequency");
}

#define NETPERF                                                                                                        \
	"MIGRATED TCP REQUEST/RESPONSE TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 10.0.0.1 () port 0 AF_INET : first " \
	"burst 0\n"

static void test_netperf(void)
{
	static const char rows[] = "Histogram of request/response times\nUNIT_USEC     :    0:    1:    0:    0:    0:    0:    0:    0:"
				   "    0:    0\nTEN_USEC      :    0:    0:    3:    0:    0:    0:    0:    0:    0:    0\n"
				   ">100_SECS: 0\nHIST_TOTAL:      4\n";
	char text[1200];
	snprintf(text, sizeof(text), "%s50th Percentile Latency Microseconds,90th Percentile\nLatency Microseconds\n15,29\n\n%s", NETPERF, rows);
	struct log_read *log = log_as(text, "netperf", 1);
	IS_RANGE(&log->record[0].row.ranked[P50], 20000, 29999, "rank 2 of 4");
	IS_I64(log->record[0].row.min_least_ns, 1000, "a bin of 1 µs");
	SAYS(log->notes, "netperf's p50 is 15 µs, interpolated in a bin from the rank int(p x n); the value of rank ceil(p x n) lies in 20 µs–");
	OK(!strstr(log->notes, "p90 is"), "no line where they agree, though its header is broken in two");
	free(log);
	log = log_as("P50_LATENCY=442\nP99_LATENCY=589\nSTDDEV_LATENCY=-nan\nP50_LATENCY=3\n", "netperf-keyval", 2);
	SAYS(log->notes, "P50_LATENCY=442, P99_LATENCY=589, STDDEV_LATENCY=n/a (µs)");
	free(log);
	log = log_as(NETPERF "Throughput,Minimum Latency Microseconds,99th Percentile Latency Microseconds\n2.5,4,33\n", "netperf-csv", 1);
	SAYS(log->notes, "Minimum Latency Microseconds=4, 99th Percentile Latency Microseconds=33 (µs)");
	IS_I64(log->record[0].origin.shape, TARE_SHAPE_SUMMARY, "-o is a summary");
	free(log);
	REFUSES("Histogram of request/response times\nUNIT_USEC     :    0:    1:    nan:0\n", "'log':2: not ten counts");
}

#define DISTRIBUTION "  Latency Distribution (HdrHistogram - Recorded Latency)\n 50.000%%    %s\n 99.000%%    4.00ms\n100.000%%    4.00ms\n\n"
#define SPECTRUM                                                                                                       \
	"  Detailed Percentile spectrum:\n       Value   Percentile   TotalCount 1/(1-Percentile)\n\n"                    \
	"       1.000     0.000000            1         1.00\n       2.001     0.500000            3         2.00\n"        \
	"       4.003     1.000000            4          inf\n#[Mean    =        1.4, StdDeviation   =        2.2]\n"        \
	"#[Max     =       4.000, Total count    =            4]\n"

static void test_wrk2(void)
{
	char text[2400];
	snprintf(text, sizeof(text), "Running 1m test @ http://h/x\n" DISTRIBUTION SPECTRUM "----\n"
		"  Latency Distribution (HdrHistogram - Uncorrected Latency (measured without taking delayed starts into account))\n"
		" 50.000%%  900.00us\n\n" SPECTRUM "----\n  5 requests in 1.00m, 1.0MB read\n"
		"  Socket errors: connect 0, read 0, write 0, timeout 7\n", "2.00ms");
	struct log_read *log = log_as(text, "wrk2", 2);
	IS_STR(log->record[0].target, "wrk2:http://h/x", "whom it asked");
	IS_I64(log->record[0].origin.quantity, TARE_QUANTITY_RESPONSE, "from when it was due");
	IS_I64(log->record[1].origin.quantity, TARE_QUANTITY_RTT, "-U: from when it left, another quantity");
	IS_RANGE(&log->record[0].row.ranked[P50], 1000500 - 1000, 2001500, "rank 2 lies between two rows");
	SAYS(log->notes, "of the whole run: Socket errors: connect 0, read 0, write 0, timeout 7");
	SAYS(log->notes, "wrk2's p50 is 900 µs: its rank is round(p x n)");
	const char *first = strstr(log->notes, "wrk2's p");
	OK(first && !strstr(first + 1, "wrk2's p"), "no line for the first table, which agrees");
	free(log);
	REFUSES("Running 30s test @ http://h/\n  2 threads and 10 connections\n  Thread Stats   Avg      Stdev     Max   +/- Stdev\n"
		"    Latency   635.91us    0.89ms  12.92ms   93.69%\n", "wrk2 with --latency prints the whole spectrum");
	log = log_text("\"Value\",\"Percentile\",\"TotalCount\",\"1/(1-Percentile)\"\n1.0,0.0,1,1.0\n2.0,0.5,3,2.0\n4.0,1.0,4,Infinity\n",
		(struct import_rules){.unit = "us"});
	IS_I64(log->record[0].row.n, 4, "a percentile table as CSV");
	IS_RANGE(&log->record[0].row.ranked[P50], 950, 2050, "in the unit that the user names, to half of its last digit");
	free(log);
	log = log_text("       Value     Percentile TotalCount 1/(1-Percentile)\n\n   5.0 0.5 3 2.0\n   4.0 0.9 5 9.0\n",
		(struct import_rules){.unit = "ms"});
	SAYS(log->err.text, "'log':4: a value below the one before");
	free(log);
	log = log_text("       Value     Percentile TotalCount 1/(1-Percentile)\n\n   5.0 0.5 3 2.0\n   6.0 0.9 2 9.0\n",
		(struct import_rules){.unit = "ms"});
	SAYS(log->err.text, "'log':4: a count below the one before");
	free(log);
}

int main(void)
{
	test_lagscope();
	test_netperf();
	test_wrk2();
	return tap_done();
}
