/* SPDX-License-Identifier: GPL-3.0-or-later */
/* exanic-measure, exact-pcap-match and nanoping, as their sources write (none of them runs without its hardware). */
#include "log_read.h"

static struct log_read *read_as(const char *text, const char *format, size_t records)
{
	struct log_read *log = log_text(text, (struct import_rules){0});
	OK(log->result == 0, "%s is read: %s", format, log->err.text);
	IS_STR(log->record[0].format, format, "told from its content");
	IS_I64(log->records, records, "its rounds");
	return log;
}

static void refused(const char *text, const char *sentence, size_t kept)
{
	struct log_read *log = log_text(text, (struct import_rules){0});
	IS_I64(log->result, -1, sentence);
	SAYS(log->err.text, sentence);
	free(log);
	log = log_text(text, (struct import_rules){.lenient = true});
	IS_I64(log->record[0].count, kept, "lenient: the others are kept");
	SAYS(log->notes, "1 damaged line passed over");
	free(log);
}

#define EXANIC "Sample, Latency, Sequence, CPU_DELAY_NS, TX_NIC_NS, RX_NIC_NS, TX_CPU_NS, RX_CPU_NS\n"

static void test_exanic(void)
{
	/* -w -: the table among what the tool says; number 3 was dropped */
	struct log_read *log = read_as("Taken 100000 samples\n" EXANIC
				       "0, 512.25, 1, 2310, 1700000000000000000, 1700000000000000600, 1700000000000000001, 1700000000000002311\n"
				       "1, 513.75, 2, 2290, 1700000000000001000, 1700000000000001600, 1700000000000001001, 1700000000000003291\n"
				       "2, 600.00, 4, 2400, 1700000000000003000, 1700000000000003700, 1700000000000003001, 1700000000000005401\n"
				       "Average: 542.00\nPercentile 99.00 = 600.00 ns\nPercentile 50.00 = 513.75 ns\nPercentile 0.00 = 512.25 ns\n",
		"exanic-measure", 1);
	IS_I64(log->record[0].count, 4, "a number that is missing was a dropped frame");
	IS_I64(log->record[0].fate[2], TARE_LOST, "lost");
	IS_I64(log->record[0].value_ns[TARE_SPAN_WIRE][0], 512, "wire is its latency");
	IS_I64(log->record[0].row.span, TARE_SPAN_WIRE, "wire stands first");
	free(log);
	refused(EXANIC "0, 512.25, 1, 2310, 1, 2, 3, 4\n1, -3.00, 2, 2310, 1, 2, 3, 4\n", "'log':3: a negative latency", 1);
	refused(EXANIC "0, 512.25, 1, 2310, 1, 2, 3, 4\n1, 512.25, 1, 2310, 1, 2, 3, 4\n", "'log':3: a sequence number that does not follow", 1);
	refused(EXANIC "0, 512.25, 1, 2310, 1, 2, 3, 4\n1, nan, 2, 2310, 1, 2, 3, 4\n", "'log':3: is not a number (NaN)", 1);
	refused(EXANIC "0, 512.25, 1, 2310, 1, 2, 3, 4\n1, 5.0, 2\n", "'log':3: not the eight columns", 1);
}

static void test_match(void)
{
	struct log_read *log = read_as("-345,1,10.000000345,60,ffffffffffff,-->,10.000000000,60,\n"
				       "-350,2,10.000001350,60,ffffffffffff,-->,10.000001000,60,10.000000000,60,\n"
				       "-340,1,10.000002340,60,ffffffffffff,-->,10.000002000,60,\n"
				       "12,1,10.000002340,60,ffffffffffff,-->,10.000002352,60,\n",
		"exact-pcap-match", 1);
	IS_I64(log->record[0].value_ns[TARE_SPAN_ONE_WAY][0], 345, "the reference's time less the input's: turned round");
	SAYS(log->notes, "one_way is from the reference capture to the input");
	SAYS(log->notes, "1 of 4 go the other way");
	SAYS(log->notes, "1 packets matched more than one");
	free(log);
	log = read_as("345,344678,1,3,10.000000345678,10.000000345,60,ffff,-->,4,10.000000000000,10.000000000,60,\n"
		      "346,345500,1,3,10.000001345500,10.000001345,60,ffff,-->,4,10.000001000000,10.000001000,60,\n",
		"exact-pcap-match", 1);
	IS_I64(log->record[0].value_ns[TARE_SPAN_ONE_WAY][0], 345, "expcap: picoseconds count, to the nearest ns");
	IS_I64(log->record[0].value_ns[TARE_SPAN_ONE_WAY][1], 346, "half up");
	SAYS(log->notes, "one_way is from the input capture to the reference");
	free(log);
	refused("-345,1,10.0,60,ff,-->,10.0,60,\n-345,x,10.0,60,ff,-->,10.0,60,\n", "'log':2: a number of matches that is none", 1);
	refused("-345,1,10.0,60,ff,-->,10.0,60,\n1e400,1,10.0,60,ff,-->,10.0,60,\n", "'log':2: is too large", 1);
}

#define NANOPING "seq,stat,t0,t1,t2,t3,t3-t0,t2-t1,sum,delta_t,num_txs\n"
#define OK_ROW(n, t0, t3) #n ",ok," t0 ",5.000000000,5.000000040," t3 ",0.000000500,0.000000040,0.000000460,0.000000230,1\n"

static void test_nanoping(void)
{
	/* the answers to 4 and to 6, 7, 8 were lost: no line for 3, and none for 5, 6, 7 */
	struct log_read *log = read_as(NANOPING OK_ROW(1, "10.000000100", "10.000000600") OK_ROW(2, "10.000001100", "10.000001600")
			"4,rx_dropped\n" "9,rem_txs_failed\n" "8,rx_dropped\n" OK_ROW(10, "10.000002100", "10.000002650"),
		"nanoping", 1);
	struct log_record *record = &log->record[0];
	static const uint8_t fates[] = {TARE_ANSWERED, TARE_ANSWERED, TARE_ANSWERED, TARE_LOST, TARE_ANSWERED, TARE_LOST, TARE_LOST,
		TARE_LOST, TARE_ANSWERED, TARE_ANSWERED};
	IS_I64(record->count, 10, "ten requests");
	for (size_t i = 0; i < 10; i++)
		IS_I64(record->fate[i], fates[i], "a fate");
	IS_I64(record->value_ns[TARE_SPAN_WIRE][0], 500, "wire");
	IS_I64(record->value_ns[TARE_SPAN_HOST][0], 40, "host");
	IS_I64(record->value_ns[TARE_SPAN_WIRE][2], TARE_NO_TIME, "without a line: no time");
	IS_I64(record->row.n, 3, "three values");
	SAYS(log->notes, "1 stamps failed: answered, but no time is known");
	SAYS(log->notes, "4 requests have no line");
	free(log);
	refused(NANOPING OK_ROW(1, "10.0", "10.1") "2,ok,10.0\n", "'log':3: fewer columns than the header", 1);
	refused(NANOPING OK_ROW(1, "10.0", "10.1") OK_ROW(2, "10.2", "10.1"), "'log':3: an answer before its request", 1);
	refused(NANOPING OK_ROW(1, "10.0", "10.1") "x,ok\n", "'log':3: not a row of seq and stat", 1);
	refused(NANOPING OK_ROW(1, "10.0", "10.1") OK_ROW(99999999, "10.0", "10.1"), "'log':3: a sequence number far", 1);
}

int main(void)
{
	test_exanic();
	test_match();
	test_nanoping();
	return tap_done();
}
