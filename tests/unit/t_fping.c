/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fping's text as fping 5.1 prints it, both streams in one file, against a peer that answers twice, late, from another
 * address or not at all; and what older and newer versions print by their source.
 */
#include "log_read.h"

static struct log_read *read_as(const char *text, size_t records)
{
	struct log_read *log = log_text(text, (struct import_rules){0});
	OK(log->result == 0, "read: %s", log->err.text);
	IS_STR(log->record[0].format, "fping", "told from its content");
	IS_I64(log->records, records, "its rounds");
	return log;
}

static void refused(const char *text, const char *sentence)
{
	struct log_read *log = log_text(text, (struct import_rules){0});
	IS_I64(log->result, -1, "refused");
	SAYS(log->err.text, sentence);
	free(log);
}

static void test_order(void)
{
	/* a loss is told after the answers behind it */
	struct log_read *log = read_as("10.0.0.24 : [0], 64 bytes, 0.093 ms (0.093 avg, 0% loss)\n"
				       "10.0.0.24 : [2], 64 bytes, 0.061 ms (0.077 avg, 0% loss)\n"
				       "10.0.0.24 : [1], timed out (0.077 avg, 33% loss)\n\n"
				       "10.0.0.24 : xmt/rcv/%loss = 3/2/33%, min/avg/max = 0.061/0.077/0.093\n",
		1);
	struct log_record *record = &log->record[0];
	IS_I64(record->count, 3, "three requests");
	IS_I64(record->fate[1], TARE_LOST, "in their own order");
	IS_I64(record->value_ns[TARE_SPAN_RTT][2], 61000, "not in that of the lines");
	IS_I64(record->beside.reordered, 0, "which is no reordering");
	OK(!strstr(log->notes, "prints"), "its figures agree: %s", log->notes);
	free(log);
	log = read_as("h : [0], 64 bytes, 0.100 ms (0.100 avg, 0% loss)\nh : [2], 64 bytes, 0.100 ms (0.100 avg, 0% loss)\n"
		      "h : [1], 64 bytes, 1.10 ms (0.400 avg, 0% loss)\n", 1);
	IS_I64(log->record[0].beside.reordered, 1, "a late answer is");
	free(log);
	log = read_as("h : [70001], 64 bytes, 0.100 ms (0.100 avg, 0% loss)\nh : [70000], timed out (0.100 avg, 50% loss)\n"
		      "h : [70002], 64 bytes, 0.100 ms (0.100 avg, 0% loss)\n", 1);
	IS_I64(log->record[0].count, 3, "a log that begins in the middle has no losses before it");
	IS_I64(log->record[0].fates.count[TARE_LOST], 1, "but those it tells");
	free(log);
}

static void test_twice(void)
{
	/* loop mode does not mark duplicates, and counts them as sent: 2 requests here */
	struct log_read *log = read_as("h : [0], 64 bytes, 0.155 ms (0.155 avg, 0% loss)\nh : [0], 64 bytes, 2.26 ms (1.21 avg, 0% loss)\n"
				       "h : [1], 64 bytes, 0.194 ms (0.869 avg, 0% loss)\nh : [1], 64 bytes, 2.26 ms (1.22 avg, 0% loss)\n\n"
				       "h : xmt/rcv/%loss = 4/4/0%, min/avg/max = 0.155/1.22/2.26\n",
		1);
	IS_I64(log->record[0].count, 2, "-l: an answer that comes twice is one request");
	IS_I64(log->record[0].beside.duplicate, 2, "and two duplicates");
	IS_I64(log->record[0].row.max_ns, 194000, "whose times are none");
	SAYS(log->notes, "fping, for h, prints avg 1.22 ms (tare: 0.1745), max 2.26 ms (tare: 0.194): it counts duplicates");
	free(log);
	/* -C prints every answer and then all of them again */
	log = read_as("a : [0], 64 bytes, 0.168 ms (0.168 avg, 0% loss)\nb : [0], 64 bytes, 0.093 ms (0.093 avg, 0% loss)\n"
		      "a : [1], 64 bytes, 0.150 ms (0.159 avg, 0% loss)\nb : [1], timed out (0.093 avg, 50% loss)\n\n"
		      "a : 0.168 0.150\nb : 0.093 -\n",
		2);
	IS_I64(log->record[0].count, 2, "-C: each answer once");
	IS_I64(log->record[1].fates.count[TARE_LOST], 1, "each loss, too");
	free(log);
	log = read_as("a : duplicate for [0], 64 bytes, 2.26 ms\na : 0.183 - 0.153\nb : - - -\nc : 0.100 50.2 1.00e+06\n", 3);
	IS_I64(log->record[0].beside.duplicate, 1, "-C -q: duplicates");
	IS_I64(log->record[0].fate[1], TARE_LOST, "a dash");
	IS_I64(log->record[1].fates.count[TARE_LOST], 3, "nothing but dashes");
	IS_I64(log->record[2].value_ns[TARE_SPAN_RTT][2], 1000000000000, "more than 1000 s");
	free(log);
}

static void test_foreign(void)
{
	struct log_read *log = read_as("[1796062472.41119] 10.0.0.13 : [0], 64 bytes, 0.075 ms (0.075 avg, 0% loss)\n"
				       " [<- 10.0.0.77][1796062472.52134] 10.0.0.13 : [1], 64 bytes, 0.067 ms (0.071 avg, 0% loss)\n"
				       "10.0.0.13 : [2], 64 bytes, 0.067 ms (0.071 avg, 0% loss) [<- 10.0.0.77]\n"
				       "10.0.0.13 : [3], 64 bytes, 0.067 ms (0.071 avg, 0% loss) (SRC 10.0.0.77)\n"
				       "[1796062472.62135] 10.0.0.13 : [4], 64 bytes, 0.070 ms (0.070 avg, 0% loss)\n",
		1);
	IS_I64(log->record[0].count, 5, "five requests");
	IS_I64(log->record[0].beside.foreign, 3, "the mark before its line, behind it, and as 5.2 has it");
	IS_I64(log->record[0].fates.count[TARE_ANSWERED], 2, "two answers of its own");
	SAYS(log->notes, "3 answers came from another address");
	free(log);
}

static void test_rounds(void)
{
	struct log_read *log = read_as("h : [0], 64 bytes, 0.100 ms (0.100 avg, 0% loss)\nh : [1], 64 bytes, 0.110 ms (0.105 avg, 0% loss)\n\n"
				       "h : xmt/rcv/%loss = 2/2/0%, min/avg/max = 0.100/0.105/0.110\n"
				       "h : [0], 64 bytes, 0.200 ms (0.200 avg, 0% loss)\n\n"
				       "h : xmt/rcv/%loss = 1/1/0%, min/avg/max = 0.300/0.300/0.300\n",
		2);
	IS_I64(log->record[0].count, 2, "a summary ends a round");
	IS_I64(log->record[1].value_ns[TARE_SPAN_RTT][0], 200000, "the next answer begins another");
	SAYS(log->notes, "its figures are of other answers than its lines");
	free(log);
	/* -Q: of an interval first, then of the whole run, both behind the same time of day where -q leaves no blank line */
	log = read_as("h : [0], 64 bytes, 0.100 ms (0.100 avg, 0% loss)\n[18:14:35]\nh : xmt/rcv/%loss = 1/1/0%, min/avg/max = 0.1/0.1/0.1\n"
		      "h : [1], 64 bytes, 0.110 ms (0.105 avg, 0% loss)\n[18:14:36]\nh : xmt/rcv/%loss = 2/1/50%, outage(ms) = 100, "
		      "min/avg/max = 0.110/0.110/0.110\nh : xmt/rcv/%loss = 4/2/50%, min/avg/max = 0.100/0.105/0.110\n",
		1);
	IS_I64(log->record[0].count, 4, "-Q: requests by the final figures");
	IS_I64(log->record[0].fates.count[TARE_LOST], 2, "two of them lost");
	SAYS(log->notes, "2 requests known from the final figures only");
	OK(!strstr(log->notes, "prints"), "its figures agree: %s", log->notes);
	free(log);
	/* a host to which nothing could be sent has a summary and not one line */
	log = read_as("a : [0], 64 bytes, 0.196 ms (0.196 avg, 0% loss)\nICMP Host Unreachable from 10.0.0.254 for ICMP Echo sent to a\n"
		      "a : [1], timed out (0.196 avg, 50% loss)\n\na : xmt/rcv/%loss = 2/1/50%, min/avg/max = 0.196/0.196/0.196\n"
		      "10.88.0.1  : xmt/rcv/%loss = 3/0/100%\n",
		2);
	IS_I64(log->record[1].fates.count[TARE_LOST], 3, "only the final figures know them");
	SAYS(log->notes, "1 ICMP error: fping does not say to which request");
	free(log);
	char *many = malloc(1 << 20);
	size_t used = 0;
	for (int run = 0; run < 2; run++) {
		for (int i = 0; i < 20; i++)
			used += (size_t)snprintf(many + used, (1 << 20) - used,
				"h : [%d], 64 bytes, 0.030 ms (0.030 avg, 0%% loss)\n", i);
	}
	log = read_as(many, 2);
	IS_I64(log->record[1].count, 20, "numbers that start anew are another round, without a summary, too");
	free(log);
	free(many);
}

static void test_names(void)
{
	struct log_read *log = read_as("localhost (127.0.0.1) : [0], 64 bytes, 0.030 ms (0.030 avg, 0% loss)\n"
				       "localhost (127.0.0.2) : [0], 64 bytes, 0.040 ms (0.030 avg, 0% loss)\n"
				       "10.0.0.9 (10.0.0.9)   : [0], 64 bytes, 0.050 ms (0.030 avg, 0% loss)\n"
				       "fd77::2               : [0], 64 bytes, 0.060 ms (0.030 avg, 0% loss)\n",
		4);
	IS_STR(log->record[0].target, "icmp://localhost", "a name");
	IS_STR(log->record[1].target, "icmp://127.0.0.2", "its second address (-m)");
	IS_STR(log->record[2].target, "icmp://10.0.0.9", "padded");
	IS_STR(log->record[3].target, "icmp://[fd77::2]", "IPv6");
	free(log);
	log = read_as("[2026-11-30T18:14:35+0100] h : [0], 64 bytes, 0.030 ms (0.030 avg, 0% loss)\n"
		      "[Mon Nov 30 18:14:35 2026] h : [1], 64 bytes, 0.031 ms (0.030 avg, 0% loss)\n",
		1);
	IS_I64(log->record[0].count, 2, "dates of --timestamp-format are passed over");
	free(log);
	log = read_as("10.0.0.2 is alive (0.036 ms)\n10.0.0.3 is unreachable\n", 2);
	IS_I64(log->record[0].value_ns[TARE_SPAN_RTT][0], 36000, "-e: alive");
	IS_I64(log->record[1].fates.count[TARE_LOST], 1, "or not");
	free(log);
	log = read_as("h : [0], 64 bytes, 0.030 ms (0.030 avg, 0% loss), timestamps: Originate=1 Receive=2 Transmit=3 Localreceive=4\n\n"
		      "       2 targets\n       1 alive\n       1 unreachable\n       0 unknown addresses\n\n"
		      "       3 timeouts (waiting for response)\n       6 ICMP Echos sent\n       3 ICMP Echo Replies received\n"
		      "       0 other ICMP received\n\n 0.030 ms (min round trip time)\n 0.030 ms (avg round trip time)\n"
		      " 0.030 ms (max round trip time)\n        0.410 sec (elapsed real time)\n\n",
		1);
	OK(!strstr(log->notes, "other text"), "-s: every line is known: %s", log->notes);
	free(log);
}

/* A number alone must not cost memory, not even from a new host in every line. */
static void test_claims(void)
{
	enum { HOSTS = 2000, ROOM = HOSTS * 80 };
	char *text = malloc(ROOM);
	size_t used = 0;
	for (int i = 0; i < HOSTS; i++)
		used += (size_t)snprintf(text + used, ROOM - used, "h%d : [%d], 64 bytes, 0.030 ms (0.030 avg, 0%% loss)\n", i % (HOSTS / 2), i < HOSTS / 2 ? 0 : 1000000);
	struct log_read *log = log_text(text, (struct import_rules){.lenient = true});
	SAYS(log->notes, "damaged lines passed over, the first is line");
	SAYS(log->notes, "a jump in the numbers");
	free(log);
	free(text);
}

static void test_bad(void)
{
#define GOOD "h : [0], 64 bytes, 0.030 ms (0.030 avg, 0% loss)\n"
	refused(GOOD "h : [1], 64 bytes, -0.5 ms (0.030 avg, 0% loss)\n", "'log':2: a negative time");
	refused(GOOD "h : [1], 64 bytes, 1e400 ms (0.030 avg, 0% loss)\n", "'log':2: is too large");
	refused(GOOD "h : [1], 64 bytes, NaN ms (0.030 avg, 0% loss)\n", "'log':2: is not a number (NaN)");
	refused(GOOD "h : [9007199254740993], 64 bytes, 0.1 ms (0.030 avg, 0% loss)\n", "'log':2: a jump in the numbers");
	struct log_read *timeless = log_as("h : [0], 64 bytes, 0.1 ms (0.1 avg, 0% loss)\nh : [1], 64 bytes, ms (0.1 avg, 0% loss)\n", "fping", 1);
	IS_I64(timeless->record[0].row.n, 1, "an answer without its time is none");
	free(timeless);
	refused("h : xmt/rcv/%loss = 3/3/0%, min/avg/max = 0.1/0.1/0.1\n", "fping's summary only");
	refused("CHART fping.h_packets '' 'FPing Packets' packets 'h' fping.packets line 110020 1\nBEGIN fping.h_packets\nSET xmt = 3\n"
		"END\n", "fping's figures for netdata (-N) only");
	struct log_read *log = log_text("\xEF\xBB\xBF" "h : [0], 64 bytes, 0,030 ms (0,030 avg, 0% loss)\r\nh : [1], 64 bytes, -1 ms (x\r\n"
					"h : [2], 64 bytes, 0,050 ms (0,030 avg, 0% loss)\r\nh : [3], 64 by",
		(struct import_rules){.lenient = true});
	IS_I64(log->record[0].value_ns[TARE_SPAN_RTT][0], 30000, "a byte order mark, CRLF, a decimal comma");
	IS_I64(log->record[0].fates.count[TARE_ANSWERED], 2, "lenient: the rest is kept");
	SAYS(log->notes, "1 damaged line passed over, the first is line 2: a negative time");
	free(log);
}

/* As output.c and stats.c of fping 5.5 write it. */
static void test_json(void)
{
	struct log_read *log = log_text(
		"{\"resp\": {\"timestamp\": \"1700000000.00010\", \"host\": \"a\", \"seq\": 0, \"size\": 64, \"rtt\": 5.12}}\n"
		"{\"resp\": {\"timestamp\": \"Mon Nov 30\", \"host\": \"a\", \"seq\": 2, \"size\": 64, \"rtt\": 0.093}}\n"
		"{\"timeout\": {\"host\": \"a\", \"seq\": 1}}\n"
		"{\"resp\": {\"host\": \"a\", \"seq\": 3, \"size\": 64, \"rtt\": 0.09, \"src\": \"10.0.0.7\"}}\n"
		"{\"intSum\": {\"time\": 1700000000,\"host\": \"a\", \"xmt\": 2, \"rcv\": 9, \"loss\": 0}}\n"
		"{\"summary\": {\"host\": \"a\", \"xmt\": 5, \"rcv\": 3, \"loss\": 40, \"rttMin\": 0.093, \"rttAvg\": 2.61, \"rttMax\": 5.12}}\n"
		"{\"resp\": {\"host\": \"a\", \"seq\": 0, \"size\": 64, \"rtt\": 0.1}}\n"
		"{\"vSum\": {\"host\": \"b\", \"values\": [1.5, null, 0.022]}}\n"
		"{\"stats\": {\"targets\": 1, \"rttMin\": 0, \"elapsed\": 0.1}}\n{\"future\": {\"host\": \"c\"}}\n",
		(struct import_rules){0});
	OK(log->result == 0, "fping -J: %s", log->err.text);
	IS_STR(log->record[0].format, "fping-json", "told from its content");
	IS_I64(log->records, 3, "a summary ends a round");
	IS_I64(log->record[0].count, 5, "requests by the summary");
	IS_I64(log->record[0].value_ns[TARE_SPAN_RTT][2], 93000, "in their order");
	IS_I64(log->record[0].beside.foreign, 1, "src: from another address");
	IS_I64(log->record[0].fates.count[TARE_LOST], 3, "three without an answer of their own");
	IS_I64(log->record[2].value_ns[TARE_SPAN_RTT][2], 22000, "vSum");
	OK(!strstr(log->notes, "prints"), "its figures agree to three digits: %s", log->notes);
	free(log);
	log = log_text("{\"resp\": {\"host\": \"a\", \"seq\": 0, \"rtt\": 0.1}}\n{\"resp\": {\"host\": \"a\", \"seq\": 1, \"rtt\": -nan}}\n"
		       "{\"resp\": {\"host\": \"a\", \"seq\": 2, \"rtt\": 0.3}}\n{\"resp\": {\"host\": \"a\", \"seq\": 2, \"seq\": 3, \"rtt\": 1}}\n"
		       "{\"resp\": {\"host\": \"a\", \"seq\": 4, \"rtt\": \"1e400\"}}\n",
		(struct import_rules){.lenient = true});
	IS_I64(log->record[0].fates.count[TARE_ANSWERED], 2, "lenient: what can be read is kept");
	SAYS(log->notes, "3 damaged lines passed over, the first is line 2");
	free(log);
	refused("{\"resp\": {\"host\": \"a\", \"seq\": 0, \"rtt\": 0.1}}\n{\"resp\": {\"host\": \"a\", \"seq\": 1, \"seq\": 2}}\n",
		"'log':2: no valid JSON");
	refused("{\"resp\": {\"host\": \"a\", \"seq\": 0, \"rtt\": 0.1}}\n{\"resp\": {\"host\": \"a\", \"rtt\": 0.1}}\n",
		"'log':2: without a sequence number");
	refused("{\"summary\": {\"host\": \"a\", \"xmt\": 5, \"rcv\": 3, \"loss\": 40}}\n", "fping's summary only");
}

/* oping 1.10, two hosts: their numbers stand among each other, which the reader of ping took for one host's. */
static void test_oping(void)
{
	struct log_read *log = log_text("PING 10.0.0.24 (10.0.0.24) 56 bytes of data.\nPING h (10.0.0.2) 56 bytes of data.\n"
					"echo reply from 10.0.0.24 (10.0.0.24): icmp_seq=1 timeout\n"
					"56 bytes from h (10.0.0.2): icmp_seq=1 ttl=64 time=0.03 ms\n"
					"56 bytes from 10.0.0.24 (10.0.0.24): icmp_seq=2 ttl=64 time=1.25 ms\n"
					"56 bytes from h (10.0.0.2): icmp_seq=2 ttl=64 time=0.05 ms\n\n"
					"--- 10.0.0.24 ping statistics ---\n3 packets transmitted, 1 received, 66.67% packet loss, time 1.2ms\n"
					"RTT[ms]: min = 1, median = 1, p(50) = 1, max = 1\n\n"
					"--- h ping statistics ---\n2 packets transmitted, 2 received, 0.00% packet loss, time 0.1ms\n",
		(struct import_rules){0});
	OK(log->result == 0, "oping: %s", log->err.text);
	IS_STR(log->record[0].format, "oping", "told from ping by its header");
	IS_I64(log->records, 2, "two hosts");
	IS_I64(log->record[0].count, 3, "requests by the totals");
	IS_I64(log->record[0].fate[0], TARE_LOST, "a timeout is a loss");
	IS_I64(log->record[0].value_ns[TARE_SPAN_RTT][1], 1250000, "its own answer");
	IS_I64(log->record[1].value_ns[TARE_SPAN_RTT][1], 50000, "the other host's");
	OK(!strstr(log->notes, "other text"), "every line is known: %s", log->notes);
	free(log);
	refused("PING h (10.0.0.2) 56 bytes of data.\n56 bytes from h (10.0.0.2): icmp_seq=1 ttl=64\n",
		"'log':2: neither a time nor a timeout");
}

int main(void)
{
	test_order();
	test_twice();
	test_foreign();
	test_rounds();
	test_names();
	test_claims();
	test_bad();
	test_json();
	test_oping();
	return tap_done();
}
