/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pages of metrics as exporters serve them, and what is known hop by hop: mtr, trippy. */
#include "log_read.h"

static char folder[400];

static void test_smokeping(void)
{
	struct log_read *log = log_file_as(folder, "smokeping_prober_0.6.1.prom", "prometheus", 2);
	IS_STR(log->record[1].target, "smokeping_response_duration_seconds{host=127.0.0.2,ip=127.0.0.2}", "a host by its labels");
	IS_I64(log->record[0].row.n, 200, "answered");
	IS_I64(log->record[0].row.lost, 1, "asked and in no bucket");
	IS_RANGE(&log->record[0].row.ranked[P50], 100001, 200000, "rank 100 of 21 up to 100 µs, 194 up to 200 µs");
	IS_RANGE(&log->record[0].row.ranked[P99], 200001, 400000, "rank 198: behind the 194");
	SAYS(log->notes, "are lost, or were still on their way when the page was made");
	free(log);
	log = log_as("# TYPE smokeping_response_duration_seconds histogram\n"
		     "smokeping_response_duration_seconds_bucket{host=\"h\",le=\"0.001\"} 5\n"
		     "smokeping_response_duration_seconds_bucket{host=\"h\",le=\"+Inf\"} 9\n"
		     "http_requests_total{host=\"h\"} 900\nsmokeping_requests_total{host=\"h\"} 12\n"
		     "smokeping_response_duplicates_total{host=\"h\"} 2\n",
		"prometheus", 1);
	IS_I64(log->record[0].row.lost, 3, "another program's requests are not ours");
	IS_I64(log->record[0].beside.duplicate, 2, "duplicates beside");
	IS_I64(log->record[0].row.ranked[P50].value_ns, 1000000, "a bound belongs to its bucket");
	free(log);
}

static void test_blackbox(void)
{
	struct log_read *log = log_file_as(folder, "blackbox_0.23_http.prom", "prometheus", 4);
	IS_I64(log->record[0].value_ns[TARE_SPAN_VALUE][0], 112677, "connect");
	SAYS(log->notes, "phases of 0 s, which did not take place: 1");
	free(log);
	log = log_as("# TYPE probe_success gauge\nprobe_icmp_duration_seconds{phase=\"rtt\"} 0\nprobe_success 0\n", "prometheus", 1);
	IS_I64(log->record[0].fate[0], TARE_LOST, "a probe that failed has no time of 0");
	SAYS(log->notes, "the probe failed");
	free(log);
}

static void test_open_metrics(void)
{
	struct log_read *log = log_as("# TYPE rpc_latency_seconds histogram\n# UNIT rpc_latency_seconds seconds\n"
				      "rpc_latency_seconds_bucket{le=\"0.01\"} 0\n"
				      "rpc_latency_seconds_bucket{le=\"0.1\"} 8 # {trace_id=\"oHg5\"} 0.054 1520879607.789\n"
				      "rpc_latency_seconds_bucket{le=\"1.0\"} 1.1e+01 1520879607.789 # {trace_id=\"KOO5\"} 0.67\n"
				      "rpc_latency_seconds_bucket{le=\"+Inf\"} 17\nrpc_latency_seconds_created 1520430000.123\n"
				      "rpc_latency_seconds_count 17\nqueue_msgs_bucket{le=\"5\"} 3\nsize_bytes_bucket{le=\"100\"} 4\n# EOF\n",
		"prometheus", 1);
	IS_I64(log->record[0].row.n, 17, "exemplars, timestamps and _created do not count");
	IS_RANGE(&log->record[0].row.ranked[P50], 100000001, 1000000000, "rank 9");
	IS_I64(log->record[0].row.max_ns, INT64_MAX, "+Inf has no bound");
	SAYS(log->notes, "passed over: 2, the first of 'queue_msgs_bucket'");
	free(log);
	REFUSES("# TYPE x_seconds summary\nx_seconds{quantile=\"0.5\"} 0.1\n", "quantiles of a window of time, which are no distribution");
	REFUSES("# TYPE q histogram\nq_bucket{le=\"5\"} 3\n", "the name of 'q_bucket' does not say in which unit it counts");
	REFUSES("# TYPE up gauge\nup 1\n", "a page of metrics without a histogram or a probe's phases");
	REFUSES("# TYPE a_seconds histogram\na_seconds_bucket{le=\"0.1\"} 5\na_seconds_bucket{le=\"0.2\"} 4\n",
		"'log':3: a bucket below the one before");
	REFUSES("# TYPE a_seconds histogram\na_seconds_bucket{le=\"0.1\"} NaN\n", "'log':2: is not a number (NaN)");
	REFUSES("# TYPE a_seconds histogram\na_seconds_bucket{le=\"0.1} 5\n", "'log':2: not a metric and its value");
}

static void test_mtr(void)
{
	struct log_read *log = log_file_as(folder, "mtr_0.95_raw.txt", "mtr-raw", 2);
	IS_I64(log->record[0].count, 3, "three requests to the first hop");
	IS_I64(log->record[0].value_ns[TARE_SPAN_RTT][0], 162000, "in µs");
	IS_I64(log->record[0].row.ranked[P50].value_ns, 55000, "nearest rank");
	SAYS(log->notes, "hop 1: 127.0.0.1");
	free(log);
	log = log_as("x 0 33000\nh 0 10.0.0.11\nh 0 10.0.0.1\np 0 412 33000\nx 0 33001\nx 1 33002\np 1 900 33002\n", "mtr-raw", 2);
	IS_I64(log->record[0].fate[1], TARE_LOST, "one without an answer is lost");
	SAYS(log->notes, "hop 1: 10.0.0.11, 10.0.0.1");
	free(log);
	log = log_as("{\"report\":{\"mtr\":{\"src\":\"a\",\"dst\":\"b\"},\"hubs\":[{\"count\":\"3\",\"host\":\"h\",\"Avg\":1.5}]}}", "mtr-json", 1);
	IS_I64(log->record[0].origin.shape, TARE_SHAPE_SUMMARY, "mtr's JSON is a summary");
	IS_STR(log->record[0].target, "mtr:hop-3", "the hop as it counts it");
	free(log);
	log = log_as("Mtr_Version,Start_Time,Status,Host,Hop,Ip,Loss%,Snt, ,Last,Avg,Best,Wrst,StDev,\n"
		     "MTR.0.95,1796062204,OK,127.0.0.1,1,127.0.0.1,0.00,3,0,0.05,0.05,0.05,0.05,0.00\n",
		"mtr-csv", 1);
	SAYS(log->notes, "Hop 1, Ip 127.0.0.1, Loss% 0.00, Snt 3");
	free(log);
	log = log_as("Start: 2026-11-30T18:09:52+0000\nHOST: vm                          Loss%   Snt   Last   Avg  Best  Wrst StDev\n"
		     "  1.|-- 127.0.0.1                  0.0%     3    0.1   0.0   0.0   0.1   0.0\n",
		"mtr-report", 1);
	SAYS(log->notes, "127.0.0.1 0.0% 3 0.1 0.0 0.0 0.1 0.0");
	free(log);
	REFUSES("x 0 33000\np 0 9223372036854775807 33000\n", "'log':2: a hop or time out of range");
	REFUSES("x 0 33000\np 0 nan 33000\n", "'log':2: not a hop and its numbers");
}

static void test_trippy(void)
{
	struct log_read *log = log_as("{\"info\":{\"target\":{\"ip\":\"10.0.0.1\",\"hostname\":\"h\"}},\"hops\":[{\"ttl\":2,\"hosts\":[],"
				      "\"extensions\":[],\"loss_pct\":\"0.00\",\"sent\":10,\"last\":\"1.23\"}]}",
		"trippy", 1);
	IS_STR(log->record[0].target, "trippy:hop-2", "by its ttl");
	free(log);
	log = log_as("Target,TargetIp,Hop,IPs,Addrs,Loss%,Snt,Recv,Last,Avg,Best,Wrst,StdDev\n"
		     "h,10.0.0.1,1,192.168.1.1,router,0.00,10,10,1.2,1.20,1.0,1.5,0.10\nh,10.0.0.1,2,???,???,100.00,10,0,???,0.00,???,???,0.00\n",
		"trippy-csv", 2);
	SAYS(log->notes, "Hop 2, IPs ???, Addrs ???, Loss% 100.00");
	free(log);
	REFUSES("Target,TargetIp,Hop,IPs\nh,1,x,y\n", "'log':2: not a row of the table");
}

int main(void)
{
	snprintf(folder, sizeof(folder), "%s/logs", getenv("TARE_TEST_DATA") ? getenv("TARE_TEST_DATA") : ".");
	test_smokeping();
	test_blackbox();
	test_open_metrics();
	test_mtr();
	test_trippy();
	return tap_done();
}
