/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Logs of scheduling latency: what real runs of cyclictest 2.4 and oslat 2.4 printed, and rtla and sysjitter as their
 * sources print. Each figure is the nearest rank of the rows, or the bin that holds it.
 */
#include "log_read.h"

static char folder[400];

static void test_cyclictest_histogram(void)
{
	/* -H -t 2: the third column is the sum, no thread */
	struct log_read *log = log_file_as(folder, "cyclictest_2.4_H.txt", "cyclictest", 2);
	struct log_record *record = &log->record[0];
	IS_STR(record->target, "cyclictest:thread-0", "a thread");
	IS_I64(record->row.n, 300, "290 in bins and 10 beyond");
	IS_RANGE(&record->row.ranked[P50], 65000, 65999, "p50: rank 150 of 145 up to 64 µs, 165 up to 65 µs");
	IS_I64(record->row.min_least_ns, 51000, "min");
	IS_RANGE(&record->row.ranked[P99], 80000, 3109999, "p99 lies beyond the last bin, below the maximum");
	IS_I64(record->row.max_least_ns, 3109000, "the largest");
	IS_I64(record->row.max_ns, 3109999, "is known to a µs");
	IS_I64(log->record[1].row.n, 300, "the other thread");
	IS_I64(record->origin.quantity, TARE_QUANTITY_WAKEUP, "no network in it");
	free(log);
	log = log_as("# Histogram\n000003 000000\t000001\t000001\n000004 000010\t000009\t000019\n", "cyclictest", 2);
	IS_I64(log->total, 20, "cut off behind the rows, a sum of the others is still no thread");
	free(log);
	log = log_as("# Histogram\n000003 000000\t000001\n000004 000010\t000009\n# Total: 000000012 000000010\n"
		     "# Avg Latencies: 00003 00003\n# Max Latencies: 00031 00004\n# Histogram Overflows: 00002 00000\n",
		"cyclictest", 2);
	IS_I64(log->record[0].row.n, 12, "bins and overflows");
	SAYS(log->notes, "the average of thread-1 that cyclictest prints, 3 µs, is cut: by the bins the mean lies in");
	free(log);
	log = log_as("# Histogram\n000005 000010\n# Min Latencies: 00007\n# Max Latencies: 00009\n", "cyclictest", 1);
	SAYS(log->notes, "the printed minimum and maximum of thread-0 do not fit its bins");
	IS_I64(log->record[0].row.max_ns, 5999, "which stand");
	free(log);
	log = log_text("# Histogram\n063104 000001\n063180 000003\n# Min Latencies: 63104\n", (struct import_rules){.unit = "ns"});
	IS_I64(log->record[0].row.ranked[P50].value_ns, 63180, "-N and --unit ns: exact");
	free(log);
	REFUSES("# Histogram\n000003 000001\t000001\n000004 000001\n", "'log':3: another number of columns than before");
	REFUSES("# Histogram\n000003 99999999999999999999\n", "'log':2: a count that is no number");
	REFUSES("# Histogram\n9223372036854775807 1\n", "'log':2: a bin that is no number or out of range");
	log = log_text("# Histogram\n000003 000001\n000004 -nan\n000005 000002\n", (struct import_rules){.lenient = true});
	IS_I64(log->total, 3, "--lenient keeps the other rows");
	SAYS(log->notes, "1 damaged line passed over, the first is line 3");
	free(log);
}

static void test_cyclictest_lines(void)
{
	struct log_read *log = log_file_as(folder, "cyclictest_2.4_v.txt", "cyclictest-verbose", 2);
	IS_I64(log->record[1].value_ns[TARE_SPAN_WAKEUP][23], 683000, "the value of cycle 23");
	OK(!strstr(log->notes, "other text"), "what surrounds them is no other text");
	OK(!strstr(log->notes, "cycle numbers"), "no cycle is missing");
	free(log);
	log = log_as("       0:       1:       5\n       0:       3:       6\n", "cyclictest-verbose", 1);
	SAYS(log->notes, "2 cycle numbers have no line");
	free(log);
	log = log_as("T: 0 (29612) P: 0 I:1000 C:    100 Min:     39 Act:   63 Avg:   61 Max:      67\n", "cyclictest", 1);
	IS_I64(log->record[0].origin.shape, TARE_SHAPE_SUMMARY, "without -h there is a summary only");
	SAYS(log->notes, "T: 0 (29612) P: 0 I:1000 C: 100 Min: 39 Act: 63 Avg: 61 Max: 67");
	free(log);
}

static void test_cyclictest_json(void)
{
	struct log_read *log = log_file_as(folder, "cyclictest_2.4.json", "cyclictest-json", 2);
	struct tare_row *row = &log->record[0].row;
	IS_I64(row->n, 300, "296 in bins, the rest of the cycles beyond");
	IS_RANGE(&row->ranked[P50], 67000, 67999, "p50: rank 150 of 140 up to 66 µs, 209 up to 67 µs");
	IS_I64(row->max_least_ns, 3504000, "max");
	free(log);
	log = log_as("{\"num_threads\":2,\"resolution_in_ns\":1,\"thread\":{\"0\":{\"histogram\":{\"18\":2},\"cycles\":2,\"min\":18,"
		     "\"max\":18},\"1\":{\"histogram\":{},\"cycles\":3,\"min\":40,\"max\":90}}}",
		"cyclictest-json", 2);
	IS_I64(log->record[0].row.ranked[P50].value_ns, 18, "in ns");
	IS_RANGE(&log->record[1].row.ranked[P50], 40, 90, "all beyond the histogram: between the extremes");
	free(log);
	log = log_as("{\"num_threads\":1,\"resolution_in_ns\":0,\"thread\":{\"0\":{\"histogram\":{},\"cycles\":3,\"min\":4}}}",
		"cyclictest-json", 1);
	IS_I64(log->record[0].origin.shape, TARE_SHAPE_SUMMARY, "without -h a summary");
	free(log);
	REFUSES("{\"num_threads\":1,\"resolution_in_ns\":0,\"thread\":{\"0\":{\"histogram\":{\"x\":1}}}}", "thread 0: a bin 'x'");
}

static void test_oslat(void)
{
	static const char *const names[] = {"oslat_2.4.json", "oslat_2.4.txt"};
	for (int i = 0; i < 2; i++) {
		struct log_read *log = log_file_as(folder, names[i], i ? "oslat-text" : "oslat", 2);
		struct tare_row *row = &log->record[0].row;
		IS_STR(log->record[0].target, "oslat:cpu-0", "a CPU");
		IS_I64(row->n, 57245001, "its histogram");
		IS_RANGE(&row->ranked[P50], 0, 999, "1 µs is everything below 1 µs: 57 million loops took 2 s");
		IS_RANGE(&row->ranked[P99999], 12000, 12999, "p99.999: rank 57244429 of 57244422 up to 12, 57244439 up to 13");
		IS_I64(row->max_least_ns, 16032000, "16033 is from 16032 µs");
		IS_I64(row->max_ns, 16032999, "up to below 16033");
		free(log);
	}
	REFUSES("{\"num_threads\":1,\"thread\":{\"0\":{\"freq\":1,\"histogram\":{\"0\":1}}}}", "thread 0: a bin '0'");
	REFUSES("        Core:\t 0 1\nCounter Freq:\t 2597 2597 (Mhz)\n    001 (us):\t 57\n", "'log':3: not a count for every CPU");
}

static void test_rtla(void)
{
	struct log_read *log = log_as(
		"# RTLA timerlat histogram\n# Time unit is microseconds (us)\n# Duration:   0 00:00:02\n"
		"Index   IRQ-000   Thr-000   Usr-000\n0             5         0         0\n3             1         6         4\n"
		"4             0         0         1\nover:         0         1         0\ncount:        6         7         5\n"
		"min:          0         3         3\navg:          0         9         3\nmax:          3        40         4\n"
		"ALL:        IRQ       Thr       Usr\ncount:        6         7         5\nmin:          0         3         3\n"
		"max:          9         9         9\n",
		"rtla", 3);
	IS_STR(log->record[1].target, "rtla:Thr-000", "a source and CPU");
	IS_I64(log->record[1].row.n, 7, "with what lies over");
	IS_I64(log->record[1].row.max_ns, 40999, "bounded by the printed maximum of the CPU, not of all");
	IS_RANGE(&log->record[0].row.ranked[P50], 0, 999, "p50");
	free(log);
	log = log_as("# RTLA osnoise histogram\n# Time unit is nanoseconds (ns)\nIndex   CPU-000   CPU-001\n"
		     "0             5         1\n200           3         0\n500           0         2\nover:         0         0\n"
		     "count:        8         3\nmin:         17        60\navg:         70       400\nmax:        299       510\n",
		"rtla", 2);
	IS_RANGE(&log->record[0].row.ranked[P50], 17, 99, "-n -b 100: bins of 100 ns, the first narrowed by the minimum");
	IS_RANGE(&log->record[1].row.ranked[P50], 500, 510, "the last by the maximum");
	SAYS(log->notes, "in bins of at most 100 ns");
	free(log);
	log = log_as("# RTLA timerlat histogram\n# Time unit is microseconds (us)\nIndex   IRQ-000\n0         5\n", "rtla", 1);
	IS_I64(log->record[0].row.max_ns, INT64_MAX, "one bin only: its width is unknown");
	free(log);
	REFUSES("# RTLA timerlat histogram\n# Time unit is microseconds (us)\n   IRQ-000   Thr-000\n        5         0\n",
		"'log':3: no column Index: with --no-index nothing tells which bin a row is");
	log = log_as("                                     Timer Latency\n"
		     "  0 00:00:01   |          IRQ Timer Latency (us)        |         Thread Timer Latency (us)\n"
		     "CPU COUNT      |      cur       min       avg       max |      cur       min       avg       max\n"
		     "  0 #1000      |        1         0         1         9 |       10         5         9        28\n"
		     "  0 #2000      |        1         0         1         9 |       10         5         9        31\n",
		"rtla-top", 1);
	IS_STR(log->record[0].target, "rtla:cpu-0", "top: a CPU once");
	SAYS(log->notes, "#2000 | 1 0 1 9 | 10 5 9 31");
	free(log);
}

static void test_sysjitter(void)
{
	static const char head[] = "# cpu_mhz: 2600\n# threshold: 200ns\n# n_interruptions: 2\n#\n";
	char text[600];
	snprintf(text, sizeof(text),
		"%s#      Timestamp      delta   <== interruption =>\n#         (nsec)     (usec)   (cycles)     (nsec)\n"
		"            1000          0        546        210\n            5000          4        800        307\n", head);
	struct log_read *log = log_as(text, "sysjitter", 1);
	IS_I64(log->record[0].value_ns[TARE_SPAN_WAKEUP][1], 307, "--raw: the last column");
	free(log);
	snprintf(text, sizeof(text),
		"%s#      Timestamp   <== interruption =>\n#         (nsec)   (cycles)     (nsec)\n"
		"            5000        546        210\n            1000        800        307\n", head);
	log = log_as(text, "sysjitter", 1);
	IS_I64(log->record[0].value_ns[TARE_SPAN_WAKEUP][0], 210, "--sort: three columns");
	free(log);
	log = log_as("core_i: 0 1\nthreshold(ns): 200 200\nint_n: 5 6\nint_n_per_sec: 1.000 1.200\nint_min(ns): 201 202\n"
		     "int_99(ns): 900 901\nint_total(%): 0.1 0.2\n",
		"sysjitter-table", 2);
	IS_STR(log->record[1].target, "sysjitter:core-1", "a core");
	SAYS(log->notes, "core 1, int_n 6, int_n_per_sec 1.200, int_min(ns) 202, int_99(ns) 901, int_total(%) 0.2");
	free(log);
}

/* Lines longer than any buffer, and a file that ends inside a number. */
static void test_endless(void)
{
	static const size_t lengths[] = {5000, 65536, 65537, 300000, 1100000};
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		char *text = malloc(lengths[i] + 100);
		size_t used = (size_t)snprintf(text, 40, "# Histogram\n000001 ");
		memset(text + used, '7', lengths[i]);
		snprintf(text + used + lengths[i], 40, "\n000002 000003\n");
		struct log_read *log = log_text(text, (struct import_rules){.lenient = true});
		IS_I64(log->total, 3, "an endless number is passed over, what follows is read");
		free(log);
		memcpy(text, "#[Histogram log format version 1.3]\n", 36);
		memset(text + 36, 'A', lengths[i]);
		snprintf(text + 36 + lengths[i], 40, "\n");
		log = log_text(text, (struct import_rules){0});
		OK(log->result == -1 && strstr(log->err.text, "'log':2: "), "so is an interval log's: %s", log->err.text);
		free(log);
		free(text);
	}
	struct log_read *log = log_as("# Histogram\n000003 000001\n000004 0000", "cyclictest", 1);
	IS_I64(log->total, 1, "a row without its end may lack digits");
	SAYS(log->notes, "the last line is cut off and passed over");
	free(log);
}

int main(void)
{
	snprintf(folder, sizeof(folder), "%s/logs", getenv("TARE_TEST_DATA") ? getenv("TARE_TEST_DATA") : ".");
	test_cyclictest_histogram();
	test_cyclictest_lines();
	test_cyclictest_json();
	test_oslat();
	test_rtla();
	test_sysjitter();
	test_endless();
	return tap_done();
}
