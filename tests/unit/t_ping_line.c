/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Single lines: languages, systems, code pages, marks, and numbers that cannot
 * be. A table each; a line is understood by structure, so the words do not matter.
 */
#include <errno.h>
#include <stdlib.h>

#include "import/log/ping_line.h"
#include "tap.h"
#include "tare/sample.h"

#define NONE TARE_NO_TIME

static const struct {
	const char *text;
	int64_t seq, rtt_ns, resolution_ns;
} replies[] = {
	{"64 bytes from 172.217.23.206: icmp_seq=0 ttl=119 time=30,406 ms", 0, 30406000, 1000},
	{"64 Byte von a.net (216.58.204.78): icmp_seq=5 ttl=116 Zeit=6,16 ms", 5, 6160000, 10000},
	{"64 Bytes von 10.0.0.1: icmp_seq=1 ttl=64 Zeit=19.0 ms", 1, 19000000, 100000},
	{"64 octets de 10.0.0.1 : icmp_seq=1 ttl=64 temps=130 ms", 1, 130000000, 1000000},
	{"64 bytes desde 10.0.0.1: icmp_seq=1 ttl=64 tiempo=81.0 ms", 1, 81000000, 100000},
	{"64 \xD0\xB1\xD0\xB0\xD0\xB9\xD1\x82 \xD0\xBE\xD1\x82 10.0.0.1: icmp_seq=2 ttl=64 "
	 "\xD0\xB2\xD1\x80\xD0\xB5\xD0\xBC\xD1\x8F=0,045 \xD0\xBC\xD1\x81",
		2, 45000, 1000},
	{"64 \xE3\x83\x90\xE3\x82\xA4\xE3\x83\x88\xE5\xBF\x9C\xE7\xAD\x94 10.0.0.1: icmp_seq=3 ttl=64 "
	 "\xE6\x99\x82\xE9\x96\x93=0.344\xE3\x83\x9F\xE3\x83\xAA\xE7\xA7\x92",
		3, 344000, 1000},
	{"64 \xE5\xAD\x97\xE8\x8A\x82\xEF\xBC\x8C\xE6\x9D\xA5\xE8\x87\xAA 10.0.0.1: icmp_seq=4 ttl=64 "
	 "\xE6\x97\xB6\xE9\x97\xB4=0.0300 \xE6\xAF\xAB\xE7\xA7\x92",
		4, 30000, 100},
	{"64 bytes from 10.0.0.1: seq=7 ttl=42 time=1.331 ms", 7, 1331000, 1000},
	{"64 bytes from 10.0.0.1: icmp_req=1 ttl=57 time=3.08 ms", 1, 3080000, 10000},
	{"64 bytes from host (10.0.0.1): icmp_seq=0. time=1.5 ms", 0, 1500000, 100000},
	{"16 bytes from ::1, icmp_seq=65535 hlim=64 time=0.058 ms", 65535, 58000, 1000},
	{"64 bytes from fe80::1%eth0: icmp_seq=1 ttl=64 time=0.123 ms", 1, 123000, 1000},
	{"24 bytes from 127.0.0.1: icmp_seq=0 ttl=64 time=45.2\xC2\xB5s", 0, 45200, 100},
	{"Nov 30 11:00:00 host ping[77]: 64 bytes from 10.0.0.1: icmp_seq=9 ttl=64 time=2.00 ms", 9, 2000000, 10000},
	{"^C64 bytes from 10.0.0.1: icmp_seq=1 ttl=64 time=0.100 ms", 1, 100000, 1000},
	{"64 bytes from 10.0.0.1: icmp_seq=1 ttl=64 (truncated)", 1, NONE, 0},
	{"64 bytes from 10.0.0.1: icmp_seq=1 ttl=64", 1, NONE, 0},
	{"Reply from 8.8.8.8: bytes=32 time=37ms TTL=55", -1, 37000000, 1000000},
	{"Antwort von 8.8.8.8: Bytes=32 Zeit<1ms TTL=128", -1, NONE, 1000000},
	{"Odpov\xC4\x9B\xC4\x8F od 8.8.8.8: bajty=32 \xC4\x8D"
	 "as < 1ms TTL=128",
		-1, NONE, 1000000},
	{"V\xC3\xA1lasz 8.8.8.8: b\xC3\xA1jt=32 id\xC5\x91=12 ezredmp. TTL=56", -1, 12000000, 1000000},
	{"8.8.8.8 \xE3\x81\x8B\xE3\x82\x89\xE3\x81\xAE\xE5\xBF\x9C\xE7\xAD\x94: "
	 "\xE3\x83\x90\xE3\x82\xA4\xE3\x83\x88\xE6\x95\xB0 =32 \xE6\x99\x82\xE9\x96\x93 =5ms TTL=56",
		-1, 5000000, 1000000},
	{"Reply from ::1: time<1ms", -1, NONE, 1000000},
	/* cp866: no valid UTF-8 anywhere */
	{"\x8E\xE2\xA2\xA5\xE2 \xAE\xE2 8.8.8.8: \xE7\xA8\xE1\xAB\xAE \xA1\xA0\xA9\xE2=32 "
	 "\xA2\xE0\xA5\xAC\xEF=236\xAC\xE1 TTL=46",
		-1, 236000000, 1000000},
	/* latin-1 */
	{"R\xE9ponse de 8.8.8.8\xA0: octets=32 temps=14 ms TTL=46", -1, 14000000, 1000000},
};

static void test_replies(void)
{
	for (size_t i = 0; i < sizeof(replies) / sizeof(*replies); i++) {
		struct ping_line line;
		ping_line_read(replies[i].text, strlen(replies[i].text), (struct ping_context){0}, &line);
		bool seq = replies[i].seq < 0 ? !line.has_seq : line.has_seq && line.seq == replies[i].seq;
		if (!OK(line.kind == PING_REPLY && seq && line.rtt_ns == replies[i].rtt_ns &&
				    line.resolution_ns == replies[i].resolution_ns,
			    "%s", replies[i].text))
			printf("# kind %d seq %u rtt %" PRId64 " step %" PRId64 " %s\n", (int)line.kind, line.seq,
				line.rtt_ns, line.resolution_ns, line.damage ? line.damage : "");
	}
}

static const struct {
	const char *text;
	enum ping_kind kind;
	int reason;
	bool windows, statistics;
} others[] = {
	{"", PING_BLANK, 0, false, false},
	{"PING localhost (127.0.0.1) 56(84) Bytes an Daten.", PING_HEADER, 0, false, false},
	{"PING ::1(::1) 56 data bytes", PING_HEADER, 0, false, false},
	{"PING6(56=40+8+8 bytes) ::1 --> ::1", PING_HEADER, 0, false, false},
	{"Pinging google.com [142.250.1.1] with 32 bytes of data:", PING_HEADER, 0, false, false},
	{"no answer yet for icmp_seq=4", PING_NO_ANSWER, 0, false, false},
	{"[1595037214.261953] noch keine Antwort auf icmp_seq=4", PING_NO_ANSWER, 0, false, false},
	{"Request timeout for icmp_seq 4", PING_NO_ANSWER, 0, false, false},
	{"From 10.0.0.1 icmp_seq=1 Destination Net Unreachable", PING_ERROR, ENETUNREACH, false, false},
	{"From 10.0.0.1 icmp_seq=1 Destination Port Unreachable", PING_ERROR, ECONNREFUSED, false, false},
	{"From 10.0.0.1 icmp_seq=1 Frag needed and DF set (mtu = 1400)", PING_ERROR, EMSGSIZE, false, false},
	{"From 10.0.0.1 icmp_seq=1 Time to live exceeded", PING_ERROR, EHOSTUNREACH, false, false},
	{"From 2001:db8::1 icmp_seq=1 Destination unreachable: No route", PING_ERROR, ENETUNREACH, false, false},
	{"Von 10.0.0.1 icmp_seq=1 Zielhost nicht erreichbar", PING_ERROR, EHOSTUNREACH, false, false},
	{"From 10.0.0.1 icmp_seq=1 something in no language known", PING_ERROR, 0, false, false},
	{"From 10.0.0.1: icmp_seq=1 Redirect Host(New nexthop: 10.0.0.2)", PING_REDIRECT, 0, false, false},
	{"92 bytes from gw (10.0.0.1): Destination Host Unreachable", PING_ERROR, EHOSTUNREACH, false, false},
	{"Reply from 10.0.0.5: Destination host unreachable.", PING_ERROR, EHOSTUNREACH, true, false},
	{"ping: sendmsg: Network is unreachable", PING_LOCAL_ERROR, ENETUNREACH, false, false},
	{"ping: sendto: No route to host", PING_LOCAL_ERROR, EHOSTUNREACH, false, false},
	{"ping: sendmsg: Das Netzwerk ist nicht erreichbar", PING_LOCAL_ERROR, ENETUNREACH, false, false},
	{"ping: local error: message too long, mtu=1500", PING_LOCAL_ERROR, EMSGSIZE, false, false},
	{"ping: sendmsg: Operation not permitted", PING_LOCAL_ERROR, EPERM, false, false},
	{"Warning: time of day goes back (-1500us), taking countermeasures.", PING_CLOCK, 0, false, false},
	{"WARNING: pinging broadcast address", PING_KNOWN, 0, false, false},
	{"3/3 packets, 0% loss, min/avg/ewma/max = 0.041/0.048/0.044/0.081 ms", PING_KNOWN, 0, false, false},
	{"--- google.com Ping-Statistik ---", PING_STATISTICS, 0, false, false},
	{"pipe 3", PING_KNOWN, 0, false, false},
	{"Request timed out.", PING_TIMEOUT, 0, true, false},
	{"D\xE9lai d'attente de la demande d\xE9pass\xE9.", PING_TIMEOUT, 0, true, false},
	{"Request timed out.", PING_NOISE, 0, false, false},
	{"PING: transmit failed. General failure.", PING_LOCAL_ERROR, 0, true, false},
	{"Ping statistics for 8.8.8.8:", PING_STATISTICS, 0, true, false},
	{"M\xC3\xADnimo = 14ms, M\xC3\xA1ximo = 15ms, Media = 14ms", PING_TIMES, 0, true, true},
	{"$ ping -c 3 host", PING_NOISE, 0, false, false},
	{"On host 10.0.0.1 the answer is 42", PING_NOISE, 0, false, false},
	{"temperature<40 C at 10.0.0.1", PING_NOISE, 0, false, false},
};

static void test_others(void)
{
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		struct ping_line line;
		struct ping_context context = {.windows = others[i].windows, .statistics = others[i].statistics};
		ping_line_read(others[i].text, strlen(others[i].text), context, &line);
		if (!OK(line.kind == others[i].kind && line.reason == others[i].reason, "'%s'", others[i].text))
			printf("# kind %d reason %d %s\n", (int)line.kind, line.reason, line.damage ? line.damage : "");
	}
}

static const char *const impossible[] = {
	"64 bytes from 10.0.0.1: icmp_seq=1 ttl=64 time=1e400 ms",
	"64 bytes from 10.0.0.1: icmp_seq=1 ttl=64 time=-0.5 ms",
	"64 bytes from 10.0.0.1: icmp_seq=1 ttl=64 time=18446744073709551616 ms",
	"64 bytes from 10.0.0.1: icmp_seq=1 ttl=64 time=9223372036854775808 ms",
	"64 bytes from 10.0.0.1: icmp_seq=1 ttl=64 time=99999999999 ms",
	"64 bytes from 10.0.0.1: icmp_seq=1 ttl=64 time=1.234.567 ms",
	"64 bytes from 10.0.0.1: icmp_seq=1 ttl=64 time=1.23 parsecs",
	"64 bytes from 10.0.0.1: icmp_seq=1 ttl=64 time=0.12345678901 ms",
	"64 bytes from 10.0.0.1: icmp_seq=1 ttl=64 time=nan ms",
	"64 bytes from 10.0.0.1: icmp_seq=1 ttl=64 time=0.123 ms and more",
	"64 bytes from 10.0.0.1: icmp_seq=65536 ttl=64 time=0.123 ms",
	"64 bytes from 10.0.0.1: icmp_seq=-1 ttl=64 time=0.123 ms",
	"64 bytes from 10.0.0.1: icmp_seq=1",
	"[99999999999999999999.5] 64 bytes from 10.0.0.1: icmp_seq=1 ttl=64 time=0.123 ms",
	"[-5.000000] 64 bytes from 10.0.0.1: icmp_seq=1 ttl=64 time=0.123 ms",
	"[1e400.0] 64 bytes from 10.0.0.1: icmp_seq=1 ttl=64 time=0.123 ms",
};

static void test_impossible(void)
{
	for (size_t i = 0; i < sizeof(impossible) / sizeof(*impossible); i++) {
		struct ping_line line;
		ping_line_read(impossible[i], strlen(impossible[i]), (struct ping_context){0}, &line);
		OK(line.kind == PING_DAMAGED && line.damage, "refused: %s (%s)", impossible[i],
			line.damage ? line.damage : "taken");
	}
}

static void test_marks(void)
{
	struct ping_line line;
	const char *text =
		"64 bytes from 10.0.0.1: icmp_seq=1 ttl=64 time=0.123 ms (DUP!) (BAD CHECKSUM!) (DIFFERENT ADDRESS!)";
	ping_line_read(text, strlen(text), (struct ping_context){0}, &line);
	OK(line.duplicate && line.bad_checksum && line.other_address, "all marks of a line are read");
	text = "64 bytes from 10.0.0.1: icmp_seq=1 ttl=64 time=0.123 ms (DOPPELT!)";
	ping_line_read(text, strlen(text), (struct ping_context){0}, &line);
	OK(line.kind == PING_REPLY && line.marked && !line.duplicate, "a mark in another language is seen as one");
}

static const struct {
	const char *text;
	uint64_t transmitted, received, duplicates, errors;
} totals[] = {
	{"5 Pakete \xC3\xBC"
	 "bertragen, 5 empfangen, 0% Paketverlust, Zeit 9ms",
		5, 5, 0, 0},
	{"2 packets transmitted, 2 received, +19 duplicates, 0% packet loss, time 1013ms", 2, 2, 19, 0},
	{"3 packets transmitted, 0 received, +3 errors, 100% packet loss, time 2049ms", 3, 0, 0, 3},
	{"8 packets transmitted, 0 packets received, 100.0% packet loss", 8, 0, 0, 0},
	{"4 packets transmitted, 4 packets received, 1 duplicates, 0% packet loss", 4, 4, 1, 0},
	{"4 paquets transmis, 3 re\xC3\xA7us, 25 % paquets perdus, temps 3004 ms", 4, 3, 0, 0},
	{"\xE9\x80\x81\xE4\xBF\xA1\xE3\x83\x91\xE3\x82\xB1\xE3\x83\x83\xE3\x83\x88\xE6\x95\xB0 3, "
	 "\xE5\x8F\x97\xE4\xBF\xA1\xE3\x83\x91\xE3\x82\xB1\xE3\x83\x83\xE3\x83\x88\xE6\x95\xB0 2, 33% loss",
		3, 2, 0, 0},
	{"    Packets: Sent = 4, Received = 3, Lost = 1 (25% loss),", 4, 3, 0, 0},
};

static void test_totals(void)
{
	for (size_t i = 0; i < sizeof(totals) / sizeof(*totals); i++) {
		struct ping_line line;
		ping_line_read(
			totals[i].text, strlen(totals[i].text), (struct ping_context){.statistics = true}, &line);
		OK(line.kind == PING_TOTALS && line.transmitted == totals[i].transmitted &&
				line.received == totals[i].received && line.duplicates == totals[i].duplicates &&
				line.errors == totals[i].errors,
			"%s", totals[i].text);
	}
}

int main(void)
{
	test_replies();
	test_others();
	test_impossible();
	test_marks();
	test_totals();
	return tap_done();
}
