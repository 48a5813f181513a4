/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Faults that users of other tools reported in public, as far as they concern
 * logs and what is made of them, and are not tested with the reader itself. Each
 * is named by the project and number it was reported under.
 */
#include "log_read.h"

static struct log_read *read_as(const char *text, struct import_rules rules)
{
	struct log_read *log = log_text(text, rules);
	OK(log->result == 0, "read: %s", log->err.text);
	return log;
}

/* Some lines of numbers. free() it. */
static char *lines_of(const char *header, size_t count, const char *(*line)(size_t i))
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);
	fputs(header, out);
	for (size_t i = 0; i < count; i++)
		fprintf(out, "%s\n", line(i));
	fclose(out);
	return text;
}

static const char *one_negative(size_t i)
{
	return i == 500 ? "-1" : "50000";
}

/* go-ping/ping#194: a negative time went into the mean unnoticed. */
static void test_negative(void)
{
	char *text = lines_of("", 1000, one_negative);
	struct log_read *log = log_text(text, (struct import_rules){.unit = "ns"});
	IS_I64(log->result, -1, "a negative time is a fault");
	SAYS(log->err.text, "'log':501: '-1' is negative");
	free(log);
	log = read_as(text, (struct import_rules){.unit = "ns", .lenient = true});
	IS_I64(log->record[0].row.n, 999, "999 of 1000 are counted");
	OK(log->record[0].row.min_ns == 50000 && log->record[0].row.max_ns == 50000, "all of them 50 us");
	SAYS(log->notes, "1 line passed over, the first is line 501");
	free(log);
	free(text);
}

/* danielzzz/node-ping#80, #64, #129; sebhildebrandt/systeminformation#204: other languages and code pages. */
static void test_languages(void)
{
	struct log_read *log = read_as(
		"\x8E\xE2\xA2\xA5\xE2 \xAE\xE2 8.8.8.8: \xE7\xA8\xE1\xAB\xAE \xA1\xA0\xA9\xE2=32 \xA2\xE0\xA5\xAC\xEF=236\xAC\xE1 TTL=46\r\n",
		(struct import_rules){0});
	IS_I64(log->record[0].value_ns[TARE_SPAN_RTT][0], 236000000, "code page 866: the number is read");
	SAYS(log->notes, "1 line is no UTF-8 (an old code page?): numbers are read, words are not");
	free(log);
	log = read_as("Haciendo ping a 8.8.8.8 con 32 bytes de datos:\n"
		      "Respuesta desde 8.8.8.8: bytes=32 tiempo=14ms TTL=117\nRespuesta desde 8.8.8.8: bytes=32 tiempo=15ms TTL=117\n\n"
		      "    M\xC3\xADnimo = 14ms, M\xC3\xA1ximo = 15ms, Media = 14ms\n",
		(struct import_rules){0});
	IS_I64(log->record[0].count, 2, "Spanish Windows: two requests");
	IS_I64(log->record[0].value_ns[TARE_SPAN_RTT][1], 15000000, "in ms");
	SAYS(log->notes, "'M\xC3\xADnimo = 14ms, M\xC3\xA1ximo = 15ms, Media = 14ms'");
	OK(!strstr(log->notes, "UTF-8"), "which is UTF-8");
	free(log);
	log = read_as("PING google.co.jp (172.217.161.67) 56(84) bytes of data.\n"
		      "64 \xE3\x83\x90\xE3\x82\xA4\xE3\x83\x88\xE5\xBF\x9C\xE7\xAD\x94 \xE9\x80\x81\xE4\xBF\xA1\xE5\x85\x83 nrt (172.217.161.67): "
		      "icmp_seq=1 ttl=53 \xE6\x99\x82\xE9\x96\x93=4.05\xE3\x83\x9F\xE3\x83\xAA\xE7\xA7\x92\n",
		(struct import_rules){0});
	IS_I64(log->record[0].value_ns[TARE_SPAN_RTT][0], 4050000, "Japanese: found by its shape");
	free(log);
}

/* danielzzz/node-ping#17: four "unreachable" answers passed for four replies. */
static void test_unreachable(void)
{
	struct log_read *log = read_as("Pinging 192.168.1.69 with 32 bytes of data:\n"
				       "Reply from 192.168.1.69: Destination host unreachable.\nReply from 192.168.1.69: Destination host unreachable.\n"
				       "\nPing statistics for 192.168.1.69:\n    Packets: Sent = 2, Received = 2, Lost = 0 (0% loss),\n",
		(struct import_rules){0});
	IS_I64(log->record[0].fates.count[TARE_ANSWERED], 0, "an error is no reply");
	IS_I64(log->record[0].fates.count[TARE_ERROR], 2, "but an error");
	free(log);
}

/* schweikert/fping#116, #51: split intervals with nothing received had a negative latency, others a minimum of 0. */
static void test_intervals(void)
{
	struct log_read *log = log_text("[10:00:00]\n10.0.0.1 : xmt/rcv/%loss = 5/0/100%\n"
					"10.0.0.2 : xmt/rcv/%loss = 5/5/0%, min/avg/max = 37.5/37.5/37.5\n",
		(struct import_rules){.format = "fping"});
	OK(log->result < 0 || log->total == 0, "a summary of intervals gives no value: %s", log->err.text);
	free(log);
}

static const char *twice_ninety(size_t i)
{
	static char text[16];
	snprintf(text, sizeof(text), "%zu", 90 + i % 11);
	return text;
}

static const char *far_off(size_t i)
{
	(void)i;
	return "1000000005000000";
}

static const char *outliers(size_t i)
{
	return i % 5000 == 4999 ? "95743000" : "31000000";
}

/* HdrHistogram_c#5; esnet/iperf#1182, #672; memtier_benchmark#184; k8s-netperf#148. */
static void test_figures(void)
{
	char *text = lines_of("", 22, twice_ninety);
	struct log_read *log = read_as(text, (struct import_rules){.unit = "ns"});
	OK(log->record[0].row.ranked[P50].rank == 11 && log->record[0].row.ranked[P50].value_ns == 95, "p50 of 22 is rank 11");
	OK(log->record[0].row.ranked[P90].rank == 20 && log->record[0].row.ranked[P90].value_ns == 99, "p90 rank 20");
	free(log);
	free(text);
	text = lines_of("", 100000, outliers);
	log = read_as(text, (struct import_rules){.unit = "ns"});
	IS_I64(log->record[0].row.ranked[P9999].value_ns, 95743000, "20 outliers of 100000: p99.99 is one of them");
	IS_I64(log->record[0].row.ranked[P999].value_ns, 31000000, "p99.9 is none");
	free(log);
	free(text);
	text = lines_of("", 100, far_off);
	log = read_as(text, (struct import_rules){.unit = "ns"});
	IS_I64(log->record[0].row.variation.ipdv_p50_ns, 0, "a constant offset between clocks is no jitter, not even at first");
	free(log);
	free(text);
}

/* ntop/nProbe#183: "not available" as the largest number of its field. */
static void test_sentinel(void)
{
	struct log_read *log = read_as("5\n4294967295\n6\n", (struct import_rules){.unit = "us"});
	IS_I64(log->record[0].row.n, 2, "2^32 - 1 is no time");
	IS_I64(log->record[0].row.max_ns, 6000, "and no maximum");
	SAYS(log->notes, "1 value of 4294967295");
	free(log);
}

/* oetiker/SmokePing#437, esnet/iperf#802: what is missing is no number, and no 0. */
static void test_missing(void)
{
	struct log_read *log = read_as("PING h (10.0.0.1) 56(84) bytes of data.\n", (struct import_rules){0});
	IS_I64(log->record[0].row.sent, 0, "a head alone: nothing sent");
	free(log);
	log = read_as("5\n6\n", (struct import_rules){.unit = "us"});
	OK(!tare_row_losses_known(&log->record[0].row), "plain numbers do not tell what was lost");
	free(log);
	log = read_as("PING h (10.0.0.1) 56(84) bytes of data.\n64 bytes from 10.0.0.1: icmp_seq=1 ttl=64 time=1 ms\n",
		(struct import_rules){0});
	OK(tare_row_losses_known(&log->record[0].row), "a log of ping does");
	free(log);
}

/* melihbirim/csvql#103: a byte order mark in the first name; line ends of every system. */
static void test_line_ends(void)
{
	static const char *const texts[] = {"\xEF\xBB\xBFseq,rtt_us\r\n0,5.1\r\n\r\n\r\n", "\xEF\xBB\xBFseq,rtt_us\r0,5.1\r\r\r",
		"seq,rtt_us\n0,5.1"};
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct log_read *log = read_as(texts[i], (struct import_rules){.column = "rtt_us"});
		IS_I64(log->record[0].count, 1, "one sample");
		IS_I64(log->record[0].value_ns[TARE_SPAN_RTT][0], 5100, "of 5100 ns");
		free(log);
	}
	struct log_read *log = read_as("PING h (10.0.0.1): 56 data bytes\r64 bytes from 10.0.0.1: icmp_seq=0 ttl=64 time=1.5 ms\r",
		(struct import_rules){0});
	IS_I64(log->record[0].value_ns[TARE_SPAN_RTT][0], 1500000, "a log of ping with such line ends");
	free(log);
	log = read_as("PING h (10.0.0.1): 56 data bytes\n50 %\r64 bytes from 10.0.0.1: icmp_seq=0 ttl=64 time=1.5 ms\n"
		      "64 bytes from 10.0.0.1: icmp_seq=1 ttl=64 time=2.5 ms\n",
		(struct import_rules){0});
	IS_I64(log->record[0].count, 2, "elsewhere a lone CR ends no line");
	free(log);
}

/* What another program measured is never told as our own. */
static void test_origin(void)
{
	static const char *const texts[] = {
		"PING 10.0.0.3 (10.0.0.3) 56(84) bytes of data.\n64 bytes from 10.0.0.3: icmp_seq=1 ttl=64 time=0.3 ms\n",
		"{\"bytes\": 64, \"host\": \"127.0.0.1\", \"seq\": 1, \"ttl\": 64, \"time\": \"0.023\"}\n",
		"10.0.0.1 : [0], 84 bytes, 0.3 ms (0.3 avg, 0% loss)\n", "1\n2\n3\n"};
	static const char *const formats[] = {"ping", "ping-json", "fping", "numbers"};
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct log_read *log = read_as(texts[i], (struct import_rules){0});
		IS_STR(log->record[0].format, formats[i], "its source is named");
		OK(log->record[0].origin.clock != TARE_CLOCK_MONOTONIC, "and not by our clock");
		free(log);
	}
}

/* A log of TWAMP between small devices, whose tick counters have 16 bits: they wrap, the differences do not jump. */
static void test_counters(void)
{
	const struct import_rules wide = {.format = "counters16", .unit = "us"};
	struct log_read *log = read_as("29872,29862,3.5\n-30929,-30938,4.0\n32760,-32766,4.5\n# a remark\n\n-32768;32767\n", wide);
	static const int64_t expected[] = {10000, 9000, -10000, 1000};
	IS_I64(log->record[0].count, 4, "a pair a line");
	for (size_t i = 0; i < 4; i++)
		IS_I64(log->record[0].value_ns[TARE_SPAN_ONE_WAY][i], expected[i], "modulo 2^16");
	OK(log->record[0].origin.quantity == TARE_QUANTITY_ONE_WAY && log->record[0].origin.clock == TARE_CLOCK_MIXED,
		"one way, by two clocks");
	SAYS(log->notes, "what the counters are apart is in it");
	free(log);
	log = read_as("4294967290 10\n", (struct import_rules){.format = "counters32", .unit = "ns"});
	IS_I64(log->record[0].value_ns[TARE_SPAN_ONE_WAY][0], -16, "32 bits, blanks between");
	free(log);
	log = log_text("1,2\n70000,1\n", wide);
	IS_I64(log->result, -1, "wider than declared is a fault");
	SAYS(log->err.text, "'log':2: not two counters of that width");
	free(log);
	log = log_text("1,2\n-32769,1\n5,3\n", (struct import_rules){.format = "counters16", .unit = "us", .lenient = true});
	IS_I64(log->record[0].count, 2, "leniently it is passed over");
	free(log);
	log = log_text("1,2\n", (struct import_rules){.format = "counters16"});
	SAYS(log->err.text, "does not say in which unit");
	free(log);
	log = log_text("\n", wide);
	SAYS(log->err.text, "holds no pair of counters");
	free(log);
}

int main(void)
{
	test_negative();
	test_languages();
	test_unreachable();
	test_intervals();
	test_figures();
	test_sentinel();
	test_missing();
	test_line_ends();
	test_origin();
	test_counters();
	return tap_done();
}
