/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What pings really print besides plain answers, taken down from iputils 20221126, inetutils 2.4 and BusyBox
 * 1.35 with their rarer options, and from Windows in Japanese, Chinese and German: routes, bells, floods,
 * interim states, data that changed, and requests that no total counts.
 */
#include <errno.h>

#include "ping_read.h"

#define HEAD            "PING 10.77.0.2 (10.77.0.2) 56(124) bytes of data.\n"
#define ANSWER(seq, ms) "64 bytes from 10.77.0.2: icmp_seq=" #seq " ttl=64 time=" ms " ms"
#define TOTALS(n)       "\n--- 10.77.0.2 ping statistics ---\n" #n " packets transmitted, " #n " received, 0% packet loss, time 93ms\n"

/* Three answers of 31, 78 and 49 µs in one round, and not a line that was not understood. */
static struct read_log *three(const char *text, const char *what)
{
	static const int64_t rtt_ns[] = {31000, 78000, 49000};
	struct read_log *log = read_text(text);
	OK(log->result == 0, "%s: %s", what, log->err.text);
	IS_I64(log->records, 1, what);
	IS_I64(log->record[0].count, 3, what);
	for (size_t i = 0; i < 3; i++)
		IS_I64(log->record[0].rtt_ns[i], rtt_ns[i], what);
	OK(!strstr(log->notes, "not of ping"), "%s: every line is known: %s", what, log->notes);
	return log;
}

static void test_routes(void)
{
	free(three(HEAD ANSWER(1, "0.031") "\nRR: \t10.77.0.1\n\t10.77.0.2\n\t10.77.0.2\n\t10.77.0.1\n\n"
			ANSWER(2, "0.078") "\t(same route)\n" ANSWER(3, "0.049") "\t(same route)\n" TOTALS(3),
		"iputils -R"));
	free(three("PING 10.77.0.2 (10.77.0.2): 56 data bytes\n"
		   "64 bytes from 10.77.0.2: icmp_seq=0 ttl=64 time=0.031 ms\nRR: \t10.77.0.1\n\tgw.lan (10.77.0.2)\n"
		   "64 bytes from 10.77.0.2: icmp_seq=1 ttl=64 time=0.078 ms\t (same route)\n"
		   "64 bytes from 10.77.0.2: icmp_seq=2 ttl=64 time=0.049 ms\t (same route)\n",
		"inetutils -R"));
	free(three(HEAD ANSWER(1, "0.031") "\nTS: \t10.77.0.1\t65502980 absolute\n\t10.77.0.2\t0\n\t10.77.0.1\t-3\n"
					   "Unrecorded hops: 2\n\n" ANSWER(2, "0.078")
			"\nTS: \t65502980 absolute\n\t0\n" ANSWER(3, "0.049") "\n" TOTALS(3),
		"iputils -T"));
}

static void test_marks(void)
{
	free(three(HEAD ANSWER(1, "0.031") "\a\n" ANSWER(2, "0.078") "\a\n" ANSWER(3, "0.049") "\a\n" TOTALS(3),
		"iputils -a"));
	free(three("PATTERN: 0xff00\n" HEAD ANSWER(1, "0.031") "\n" ANSWER(2, "0.078") "\n" ANSWER(3, "0.049") "\n",
		"iputils -p"));
	free(three("ping: sock4.fd: 3 (socktype: SOCK_RAW), sock6.fd: 4 (socktype: SOCK_RAW), hints.ai_family: AF_UNSPEC\n\n"
		   "ai->ai_family: AF_INET, ai->ai_canonname: '10.77.0.2'\n" HEAD
		   "64 bytes from 10.77.0.2: icmp_seq=1 ident=29933 ttl=64 time=0.031 ms\n" ANSWER(2, "0.078") "\n"
			ANSWER(3, "0.049") "\n",
		"iputils -v"));
	struct read_log *log = three(HEAD ANSWER(1, "0.031") "\n" ANSWER(2, "0.078")
			"\nwrong data byte #55 should be 0x37 but was 0xc8\n#16\t10 11 12 13 1e 1f \n#48\t30 31 36 c8 \n"
			ANSWER(3, "0.049") "\n" TOTALS(3),
		"changed data");
	SAYS(log->notes, "1 remark of ping, the first on line 4: 'wrong data byte #55 should be 0x37 but was 0xc8'");
	free(log);
	log = three("PING h (10.77.0.2): 56 data bytes\n64 bytes from 10.77.0.2: icmp_seq=0 ttl=64 time=0.031 ms\n"
		    "checksum mismatch from 10.77.0.2\n64 bytes from 10.77.0.2: icmp_seq=1 ttl=64 time=0.078 ms\n"
		    "64 bytes from 10.77.0.2: icmp_seq=2 ttl=64 time=0.049 ms\n",
		"inetutils, bad checksum");
	SAYS(log->notes, "1 remark of ping, the first on line 3: 'checksum mismatch from 10.77.0.2'");
	free(log);
}

static void test_interim(void)
{
	free(three(HEAD ANSWER(1, "0.031") "\n" ANSWER(2, "0.078")
			"\n\r2/2 packets, 0% loss, min/avg/ewma/max = 0.031/0.048/0.046/0.078 ms\n" ANSWER(3, "0.049")
			"\n" TOTALS(3),
		"iputils, SIGQUIT"));
	free(three("PING h (10.77.0.2): 56 data bytes\n64 bytes from 10.77.0.2: icmp_seq=0 ttl=64 time=0.031 ms\n"
		   "64 bytes from 10.77.0.2: icmp_seq=1 ttl=64 time=0.078 ms\n"
		   "2/2 packets received (100.0%) 0.031 min / 0.054 avg / 0.078 max\n"
		   "64 bytes from 10.77.0.2: icmp_seq=2 ttl=64 time=0.049 ms\n",
		"macOS, SIGINFO"));
}

static void test_flood(void)
{
	struct read_log *log = read_text(HEAD ".\b \b.\b \b..\b \b.\bC.\b \bE\b \b\n\n--- 10.77.0.2 ping statistics ---\n"
					      "300 packets transmitted, 240 received, 20% packet loss, time 9ms\n"
					      "rtt min/avg/max/mdev = 0.004/0.014/0.059/0.017 ms, ipg/ewma 3.210/0.011 ms\n");
	IS_I64(log->record[0].fates[TARE_LOST], 60, "iputils -f: losses by the totals");
	OK(!strstr(log->notes, "not of ping"), "the dots are ping's: %s", log->notes);
	SAYS(log->notes, "the log's own figures, not used: 'rtt min/avg/max/mdev = 0.004/0.014/0.059/0.017 ms");
	free(log);
	log = read_text("PING 10.77.0.2 (10.77.0.2): 56 data bytes\n\b.\b.\b.\b--- 10.77.0.2 ping statistics ---\n"
			"50 packets transmitted, 49 packets received, 2% packet loss\n");
	IS_I64(log->record[0].count, 50, "inetutils -f: the statistics stand behind the last dot");
	IS_I64(log->record[0].fates[TARE_LOST], 1, "and are read");
	OK(!strstr(log->notes, "not of ping"), "all known: %s", log->notes);
	free(log);
}

static void test_refused(void)
{
	struct read_log *log = read_text("PING 10.88.0.1 (10.88.0.1): 56 data bytes\nping: sendto: Network is unreachable\n");
	IS_I64(log->record[0].fates[TARE_NOT_SENT], 1, "BusyBox ends at the first refusal: one request, not sent");
	IS_I64(log->record[0].reason[0], ENETUNREACH, "and why");
	free(log);
	log = read_text("PING 10.88.0.1 (10.88.0.1): 56 data bytes\n/usr/bin/ping: sending packet: Network is unreachable\n");
	IS_I64(log->record[0].fates[TARE_NOT_SENT], 1, "so does inetutils, in other words");
	free(log);
	log = read_text(HEAD ANSWER(1, "0.031") "\nping: sendmsg: Network is unreachable\nping: sendmsg: Network is unreachable\n");
	IS_I64(log->record[0].count, 3, "an interrupted log: what was refused at its end was asked all the same");
	IS_I64(log->record[0].fates[TARE_NOT_SENT], 2, "and never left");
	free(log);
	log = read_text("PING 10.77.0.2 (10.77.0.2): sending timestamp requests\n40 bytes from 10.77.0.2: icmp_seq=0\n"
			"icmp_otime = 65644195\nicmp_rtime = 65644195\nicmp_ttime = 65644195\n"
			"40 bytes from 10.77.0.2: icmp_seq=2\nicmp_otime = 65644195\nicmp_rtime = 65644195\nicmp_ttime = 65644195\n"
			"--- 10.77.0.2 ping statistics ---\n3 packets transmitted, 2 packets received, 33% packet loss\n");
	OK(log->result == 0, "ICMP timestamps have no round trip: %s", log->err.text);
	IS_I64(log->record[0].fates[TARE_ANSWERED], 2, "two answered");
	IS_I64(log->record[0].known, 0, "without a time");
	IS_I64(log->record[0].fates[TARE_LOST], 1, "one lost");
	free(log);
}

/* Japanese ends a number with an ideographic comma, German IPv6 has digits in its address that are no number. */
static void test_windows(void)
{
	struct read_log *log = read_text("8.8.8.8 に ping を送信しています 32 バイトのデータ:\n"
					"8.8.8.8 からの応答: バイト数 =32 時間 =4ms TTL=58\n"
					"8.8.8.8 からの応答: バイト数 =32 時間 =9ms TTL=58\n\n8.8.8.8 の ping 統計:\n"
					"    パケット数: 送信 = 3、受信 = 2、損失 = 1 (33% の損失)、\n"
					"ラウンド トリップの概算時間 (ミリ秒):\n    最小 = 4ms、最大 = 9ms、平均 = 6ms\n");
	IS_I64(log->records, 1, "Japanese: one round");
	IS_I64(log->record[0].count, 3, "of the totals");
	SAYS(log->notes, "ping prints avg 6 ms (tare: 6.5)");
	free(log);
	log = read_text("\nPing wird ausgef\xc3\xbchrt f\xc3\xbcr google.de [2a00:1450:4001:810::2003] mit 32 Bytes Daten:\n"
			"Antwort von 2a00:1450:4001:810::2003: Zeit=11ms\nAntwort von 2a00:1450:4001:810::2003: Zeit=18ms\n\n"
			"Ping-Statistik f\xc3\xbcr 2a00:1450:4001:810::2003:\n    Pakete: Gesendet = 2, Empfangen = 2, Verloren = 0\n"
			"    (0% Verlust),\nCa. Zeitangaben in Millisek.:\n    Minimum = 11ms, Maximum = 18ms, Mittelwert = 14ms\n");
	IS_I64(log->records, 1, "German, IPv6: the line of the statistics is no header");
	IS_I64(log->record[0].count, 2, "two requests");
	free(log);
}

/* As the catalogue zh_CN of iputils translates it: word, unit, marks and totals. */
static void test_translated(void)
{
	struct read_log *log = read_text("PING h (10.77.0.2) 56(84) \xe5\xad\x97\xe8\x8a\x82\xef\xbc\x8c\n"
					"64 字节，来自 10.77.0.2: icmp_seq=1 ttl=64 时间=0.031 毫秒\n"
					"64 字节，来自 10.77.0.2: icmp_seq=1 ttl=64 时间=0.078 毫秒 (重复!)\n"
					"64 字节，来自 10.77.0.2: icmp_seq=3 ttl=64 时间=1.25 毫秒 (CHECKSUM 错误)\n"
					"来自 10.77.0.9: icmp_seq=4 目标主机不可达\n\n"
					"--- h ping 统计 ---\n已发送 6 个包， 已接收 1 个包, +1 重复, +1 错误, 83.3333% 包丢失, 耗时 93 毫秒\n");
	struct read_record *record = &log->record[0];
	OK(log->result == 0, "Chinese: %s", log->err.text);
	IS_I64(record->count, 6, "six requests by its totals");
	IS_I64(record->rtt_ns[0], 31000, "a time");
	IS_I64(record->beside.duplicate, 1, "a duplicate");
	IS_I64(record->fate[1], TARE_LOST, "a loss");
	IS_I64(record->reason[2], EBADMSG, "a bad checksum");
	IS_I64(record->fate[3], TARE_ERROR, "an error");
	free(log);
}

#define OBJECT(seq, time) "{\"bytes\": 64, \"host\": \"h\", \"seq\": " #seq ", \"ttl\": 64, \"time\": \"" time "\"}\n"
#define SUMMARY(sent, got, avg, most)                                                                                        \
	"{\"host\": \"h\", \"transmitted\": " #sent ", \"received\": " #got ", \"duplicates\": 1, \"corrupted\": 0, "      \
	"\"errors\": 0, \"loss\": 0, \"time\": 3, \"rtt\": {\"min\": \"0.023\", \"avg\": \"" avg                            \
	"\", \"max\": \"" most "\", \"mdev\": \"0.008\"}}\n"

/* -j, as ping_json.c and ping_output.c of iputils write it; no release has it yet. */
static void test_json(void)
{
	struct read_log *log = read_text("[1700000000.000100] " OBJECT(1, "0.023") "[1700000000.000300]  (DUP!)" OBJECT(1, "0.200")
			OBJECT(3, "0.041") "{\"error\": [\"sendmsg\", \"Network is unreachable\"]}\n" OBJECT(2, "0.030")
			SUMMARY(4, 3, "0.073", "0.041") OBJECT(1, "0.023") SUMMARY(1, 1, "0.023", "0.023"));
	struct read_record *record = &log->record[0];
	OK(log->result == 0, "ping -j: %s", log->err.text);
	IS_I64(log->records, 2, "a summary ends a run");
	IS_I64(record->count, 4, "four requests by the totals");
	IS_I64(record->rtt_ns[0], 23000, "a time as text");
	IS_I64(record->rx_ns[0], 0, "-D: its bracket");
	IS_I64(record->beside.duplicate, 1, "twice answered");
	IS_I64(record->beside.reordered, 1, "one late");
	IS_I64(record->fate[3], TARE_LOST, "one lost");
	SAYS(log->notes, "1 error without the number of a request, the first: 'Network is unreachable'");
	SAYS(log->notes, "ping prints avg 0.073 ms (tare: 0.031333): it cuts its average to whole µs, counts duplicates, too");
	OK(!strstr(log->notes, "2 ping prints"), "no word on the run whose figures agree: %s", log->notes);
	free(log);
	log = read_text(SUMMARY(5, 4, "0.031", "0.041"));
	IS_I64(log->record[0].fates[TARE_LOST], 1, "-j -q: the totals");
	SAYS(log->notes, "its summary counts 4 received, its lines are 0");
	free(log);
	log = read_text(OBJECT(1, "0.023") OBJECT(2, "-0.023"));
	SAYS(log->err.text, "'log':2: a negative time");
	free(log);
	log = read_text(OBJECT(1, "0.023") OBJECT(2, "1e400"));
	SAYS(log->err.text, "'log':2: an answer whose time is no number");
	free(log);
	log = read_text(OBJECT(1, "0.023") OBJECT(70000, "0.023"));
	SAYS(log->err.text, "'log':2: an answer without a sequence number of 16 bits");
	free(log);
	log = read_bytes(OBJECT(1, "0.023") "{\"seq\": 2, \"seq\": 3}\n" OBJECT(4, "0.023") "{\"seq\":",
		strlen(OBJECT(1, "0.023") "{\"seq\": 2, \"seq\": 3}\n" OBJECT(4, "0.023") "{\"seq\":"), (struct import_rules){.lenient = true});
	IS_I64(log->record[0].known, 2, "lenient: a line with a key twice is passed over");
	SAYS(log->notes, "1 damaged line passed over, the first is line 2");
	SAYS(log->notes, "the last line is cut off");
	free(log);
}

int main(void)
{
	test_routes();
	test_marks();
	test_interim();
	test_flood();
	test_refused();
	test_windows();
	test_translated();
	test_json();
	return tap_done();
}
