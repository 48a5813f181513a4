/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Small logs of every format that has no file of its own: what each line becomes, and what its origin says. */
#include "log_read.h"

static void test_irtt(void)
{
	struct log_read *log = log_as(
		"{\"version\":{\"irtt\":\"0.9.2\",\"protocol\":1,\"json_format\":1},\"config\":{\"remote_address\":\"h:2112\","
		"\"params\":{\"interval\":1000000,\"length\":60}},\"stats\":{\"start_time\":{\"wall\":1707277440772833268,"
		"\"monotonic\":1000},\"duplicates\":1,\"expected_packets_sent\":4,\"packets_sent\":3},\"round_trips\":["
		"{\"seqno\":0,\"lost\":\"false\",\"timestamps\":{\"client\":{\"receive\":{\"wall\":1707277440772853721,"
		"\"monotonic\":21500},\"send\":{\"wall\":1707277440772833721,\"monotonic\":1500}},\"server\":{\"receive\":"
		"{\"wall\":9007199254740993,\"monotonic\":70},\"send\":{\"wall\":9007199254741000,\"monotonic\":77}}},"
		"\"delay\":{\"rtt\":19993}},"
		"{\"seqno\":1,\"lost\":\"true_down\",\"timestamps\":{\"client\":{\"receive\":{},\"send\":{\"wall\":5,"
		"\"monotonic\":1001000}}}},"
		"{\"seqno\":2,\"lost\":false,\"timestamps\":{\"client\":{\"receive\":{\"wall\":6,\"monotonic\":3001900},"
		"\"send\":{\"wall\":6,\"monotonic\":3001100}},\"late\":true},\"delay\":{\"rtt\":800}}]}",
		"irtt-json", 1);
	struct log_record *record = &log->record[0];
	IS_I64(record->count, 4, "irtt: three trips in four slots");
	IS_I64(record->value_ns[TARE_SPAN_RTT][0], 20000, "rtt");
	IS_I64(record->value_ns[TARE_SPAN_SERVICE][0], 7, "service, above 2^53");
	IS_I64(record->value_ns[TARE_SPAN_LATE][0], 500, "lateness from start and interval");
	IS_I64(record->fate[1], TARE_LOST, "'true_down' is lost");
	IS_I64(record->fate[2], TARE_NOT_SENT, "a slot passed over");
	IS_I64(record->value_ns[TARE_SPAN_LATE][3], 100, "lateness behind it");
	IS_I64(record->beside.duplicate, 1, "duplicates beside");
	IS_I64(record->beside.reordered, 0, "a late mark without an answer overtaken is of a duplicate");
	SAYS(log->notes, "1 of 4 slots were passed over");
	free(log);
	log = log_as("0 0.021500 NaN NaN NaN 0 0\n2 0.030000 NaN NaN 0.01 0 1\n2 NaN NaN NaN NaN 1 NaN\n", "irtt-raw", 1);
	IS_I64(log->record[0].value_ns[TARE_SPAN_RTT][0], 21500, "irtt -r: ms");
	IS_I64(log->record[0].fate[1], TARE_LOST, "a number without a line");
	IS_I64(log->record[0].beside.duplicate, 1, "dup stands before late");
	IS_I64(log->record[0].beside.reordered, 1, "late");
	free(log);
}

static void test_fping(void)
{
	struct log_read *log = log_as("[1700000000.00001] 10.0.0.1 : [0], 64 bytes, 0.123 ms (0.123 avg, 0% loss)\n"
				       "[1700000001.00001] 10.0.0.1 : [1], timed out (NaN avg, 50% loss)\n"
				       "10.0.0.1 : duplicate for [0], 64 bytes, 1.00 ms\n"
				       "10.0.0.1 : xmt/rcv/%loss = 2/1/50%, min/avg/max = 0.123/0.123/0.123\n",
		"fping", 1);
	IS_STR(log->record[0].target, "icmp://10.0.0.1", "fping -D: target");
	IS_I64(log->record[0].value_ns[TARE_SPAN_RTT][0], 123000, "rtt");
	IS_I64(log->record[0].fate[1], TARE_LOST, "timed out");
	IS_I64(log->record[0].beside.duplicate, 1, "duplicate");
	free(log);
	log = log_as("a : 0.022 0.036 - 0.039\nb : 1.50 -\n", "fping", 2);
	IS_I64(log->record[0].count, 4, "fping -C: four requests");
	IS_I64(log->record[0].fates.count[TARE_LOST], 1, "one lost");
	IS_I64(log->record[1].value_ns[TARE_SPAN_RTT][0], 1500000, "the other host");
	free(log);
	log = log_as("{\"resp\": {\"timestamp\": \"1\", \"host\": \"a\", \"seq\": 0, \"size\": 64, \"rtt\": 5.12}}\n"
		      "{\"timeout\": {\"host\": \"a\", \"seq\": 1}}\n"
		      "{\"vSum\": {\"host\": \"b\", \"values\": [1.5, null]}}\n",
		"fping-json", 2);
	IS_I64(log->record[0].value_ns[TARE_SPAN_RTT][0], 5120000, "fping -J");
	IS_I64(log->record[0].fate[1], TARE_LOST, "timeout");
	IS_I64(log->record[1].fates.count[TARE_LOST], 1, "null is lost");
	free(log);
	log = log_as("{\"bytes\": 64, \"host\": \"h\", \"seq\": 1, \"ttl\": 64, \"time\": \"0.023\"}\n"
		      "{\"bytes\": 64, \"host\": \"h\", \"seq\": 3, \"ttl\": 64, \"time\": \"0.040\"}\n"
		      "{\"host\": \"h\", \"transmitted\": 4, \"received\": 2, \"loss\": 50, \"time\": 3, \"rtt\": {\"min\": \"0.023\", "
		      "\"avg\": \"0.031\", \"max\": \"0.040\", \"mdev\": \"0.008\"}}\n",
		"ping-json", 1);
	IS_I64(log->record[0].count, 4, "ping -j: transmitted");
	IS_I64(log->record[0].fates.count[TARE_LOST], 2, "lost");
	IS_I64(log->record[0].value_ns[TARE_SPAN_RTT][0], 23000, "a time as text");
	SAYS(log->notes, "ping prints avg 0.031 ms (tare: 0.0315): it cuts its average to whole µs");
	free(log);
}

static void test_solarflare(void)
{
	struct log_read *log = log_as("# cmdline: ./sfnt-pingpong --rtt udp h\n# percentile=99\n"
				       "#\tsize\tmean\tmin\tmedian\tmax\t%ile\tstddev\titer\n\t1\t2480\t2410\t2471\t15212\t2560\t95\t303000\n",
		"sfnt", 1);
	IS_I64(log->record[0].origin.quantity, TARE_QUANTITY_RTT, "sfnt-pingpong --rtt: whole");
	IS_I64(log->record[0].origin.shape, TARE_SHAPE_SUMMARY, "a summary");
	IS_I64(log->record[0].row.n, 0, "no value is made of it");
	SAYS(log->notes, "p99 2560");
	free(log);
	log = log_as("# version: 1\n#send-target(ns)\tsend-actual(ns)\tlatency(ns)\n0.000000000\t0.000000150\t0.000004700\n"
		      "0.000010000\t0.000010020\t0.000004800\n",
		"sfnt-stream-raw", 1);
	IS_I64(log->record[0].value_ns[TARE_SPAN_LATE][0], 150, "sfnt-stream raw: lateness is measured");
	IS_I64(log->record[0].value_ns[TARE_SPAN_ONE_WAY][1], 4800, "seconds, whatever the header says");
	IS_I64(log->record[0].origin.lateness, TARE_LATENESS_MEASURED, "and so it is called");
	free(log);
	log = log_as("paylen\tmean\tmin\t50%\t95%\t99%\tmax\n0\t1.5\t1.4\t1.5\t1.6\t1.7\t9.9\n", "eflatency", 1);
	SAYS(log->notes, "summary only");
	free(log);
	log = log_as("results:\n  - { payload_len: 16, frame_len: 60, mean: 1, min: 1, median: 1, 95%: 1, 99%: 1, max: 2, "
		      "runtime_mean: 1 }\n",
		"eflatency-yaml", 1);
	IS_STR(log->record[0].target, "eflatency:size=16", "eflatency YAML");
	free(log);
}

static void test_tables(void)
{
	struct log_read *log = log_as("Sample, Latency, Sequence, CPU_DELAY_NS, TX_NIC_NS, RX_NIC_NS, TX_CPU_NS, RX_CPU_NS\n"
				       "0, 512.25, 0, 10, 1000, 1600, 900, 1700\n",
		"exanic-measure", 1);
	IS_I64(log->record[0].value_ns[TARE_SPAN_WIRE][0], 512, "exanic-measure: its latency, the offset taken off");
	IS_I64(log->record[0].origin.clock, TARE_CLOCK_HARDWARE, "by the card's clock");
	free(log);
	log = log_as("-345,1,1.000000345,60,ff,-->,1.000000000,60,\n", "exact-pcap-match", 1);
	IS_I64(log->record[0].row.span, TARE_SPAN_ONE_WAY, "exact-pcap-match: from tap to tap");
	free(log);
	log = log_as("seq,stat,t0,t1,t2,t3,t3-t0,t2-t1,sum,delta_t,num_txs\n"
		      "1,ok,10.000000100,5.000000000,5.000000040,10.000000600,500,40,0,0,1\n2,rem_rxs_failed\n",
		"nanoping", 1);
	IS_I64(log->record[0].value_ns[TARE_SPAN_WIRE][0], 500, "nanoping: wire");
	IS_I64(log->record[0].value_ns[TARE_SPAN_HOST][0], 40, "host");
	IS_I64(log->record[0].value_ns[TARE_SPAN_WIRE][1], TARE_NO_TIME, "a short row has no stamps");
	free(log);
}

int main(void)
{
	test_irtt();
	test_fping();
	test_solarflare();
	test_tables();
	return tap_done();
}
