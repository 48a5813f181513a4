/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whole logs with trouble in them: encodings, cut and endless lines, wrapped and
 * restarted numbers, summaries that disagree, jumps that must not cost memory.
 */
#include <errno.h>

#include "ping_read.h"

#define HEAD              "PING h (10.0.0.1) 56(84) bytes of data.\n"
#define ANSWER(seq, time) "64 bytes from 10.0.0.1: icmp_seq=" #seq " ttl=64 time=" time " ms\n"
#define STATISTICS        "\n--- h ping statistics ---\n"

static void test_encodings(void)
{
	static const char text[] =
		"PING h (10.0.0.1) 56(84) bytes of data.\r\n64 bytes from 10.0.0.1: icmp_seq=1 ttl=64 time=0.5 ms\r\n";
	unsigned char wide[2 + 2 * sizeof(text)], marked[3 + sizeof(text)], holed[sizeof(text) + 5000];
	for (int big = 0; big < 2; big++) {
		wide[0] = big ? 0xFE : 0xFF;
		wide[1] = big ? 0xFF : 0xFE;
		for (size_t i = 0; i + 1 < sizeof(text); i++) {
			wide[2 + 2 * i + (size_t)big] = (unsigned char)text[i];
			wide[3 + 2 * i - (size_t)big] = 0;
		}
		struct read_log *log = read_bytes(wide, 2 * sizeof(text), (struct import_rules){0});
		IS_I64(log->records ? log->record[0].rtt_ns[0] : -1, 500000, big ? "UTF-16BE" : "UTF-16LE");
		free(log);
	}
	memcpy(marked, "\xEF\xBB\xBF", 3);
	memcpy(marked + 3, text, sizeof(text));
	struct read_log *log = read_bytes(marked, sizeof(marked) - 1, (struct import_rules){0});
	IS_I64(log->record[0].rtt_ns[0], 500000, "UTF-8 with a byte order mark, CRLF");
	free(log);
	/* a crashed host leaves a run of NULs inside the log */
	memcpy(holed, text, 41);
	memset(holed + 41, 0, 5000);
	memcpy(holed + 5041, text + 41, sizeof(text) - 41);
	log = read_bytes(holed, sizeof(holed) - 1, (struct import_rules){0});
	IS_I64(log->record[0].rtt_ns[0], 500000, "5000 NUL bytes between two lines");
	free(log);
}

static void test_ends(void)
{
	struct read_log *log = read_text(HEAD ANSWER(1, "0.5") "64 bytes from 10.0.0.1: icmp_seq=2 ttl=64 time=0.0");
	IS_I64(log->result, 0, "cut in mid-line is no error");
	IS_I64(log->record[0].count, 1, "and that line no sample");
	SAYS(log->notes, "cut off in mid-line");
	SAYS(log->notes, "no summary");
	IS_STR(log->record[0].status, "interrupted", "without a summary: interrupted");
	free(log);
	log = read_text(HEAD ANSWER(1, "0.5") "64 bytes from 10.0.0.1: icmp_seq=2 ttl=64 time=0.020 ms");
	IS_I64(log->record[0].count, 2, "only the line's end is missing: taken");
	free(log);
	char *endless = malloc(300000);
	size_t used = (size_t)snprintf(endless, 300000, "%s", HEAD ANSWER(1, "0.5"));
	memset(endless + used, 'x', 200000);
	snprintf(endless + used + 200000, 300000 - used - 200000, "\n" ANSWER(2, "0.25"));
	log = read_text(endless);
	IS_I64(log->record[0].count, 2, "an endless line is passed over");
	IS_I64(log->record[0].rtt_ns[1], 250000, "and what follows is read");
	SAYS(log->notes, "1 line not of ping, the first is line 3");
	free(log);
	free(endless);
	log = read_text("PING \nPING6( \t\n--- \n[\n^\n" HEAD ANSWER(1, "0.5") "PING \n");
	IS_I64(log->record[0].count, 1, "blanks at a line's end belong to nothing");
	free(log);
	log = read_text("");
	IS_STR(log->err.text, "'log' is empty", "empty");
	free(log);
	log = read_text("fping, \x1B[31m something else\nmore\n");
	IS_STR(log->err.text,
		"'log': not a tare recording, and no capture or log that tare knows (first line: 'fping, ?[31m something else')",
		"unknown");
	IS_I64(log->err.code, TARE_E_FORMAT, "unknown: code");
	free(log);
}

static void test_numbers(void)
{
	/* 70 000 answers: across the 16-bit number, one lost on each side, one late, one twice */
	enum { REQUESTS = 70000, ROOM = REQUESTS * 72 + 500 };
	char *text = malloc(ROOM);
	size_t used = (size_t)snprintf(text, ROOM, HEAD);
	for (int i = 1; i <= REQUESTS; i++) {
		int seq = i == 65530 ? 65531 : i == 65531 ? 65530 : i;
		if (i == 65535 || i == 65537)
			continue;
		used += (size_t)snprintf(text + used, ROOM - used,
			"64 bytes from 10.0.0.1: icmp_seq=%d ttl=64 time=0.%03d ms%s\n", seq % 65536, i % 1000, "");
		if (i == 65540)
			used += (size_t)snprintf(text + used, ROOM - used,
				"64 bytes from 10.0.0.1: icmp_seq=4 ttl=64 time=9.00 ms (DUP!)\n");
	}
	struct read_log *log = read_text(text);
	struct read_record *record = &log->record[0];
	IS_I64(log->records, 1, "wrap: one section");
	IS_I64(record->count, REQUESTS, "wrap: 70000 requests");
	IS_I64(record->fates[TARE_LOST], 2, "wrap: 2 lost");
	IS_I64(record->fates[TARE_ANSWERED], REQUESTS - 2, "wrap: the others answered");
	IS_I64(record->beside.reordered, 1, "wrap: 1 reordered");
	IS_I64(record->beside.duplicate, 1, "wrap: 1 duplicate");
	free(log);
	free(text);

	log = read_text(HEAD ANSWER(1, "1.00") ANSWER(40000, "2.00") ANSWER(30000, "3.00") ANSWER(30001, "4.00"));
	IS_I64(log->record[0].count, 40000, "a late answer stays in its place");
	IS_I64(log->record[0].beside.reordered, 2, "and is reordered");
	free(log);
	log = read_text(HEAD ANSWER(1, "1.00") ANSWER(2, "1.00") ANSWER(40002, "2.00") ANSWER(2, "3.00"));
	IS_I64(log->record[0].count, 65538, "an answered number without a mark is 65536 further on");
	free(log);
	log = read_text("64 bytes from 10.0.0.1: icmp_seq=0 ttl=64 time=1 ms\n64 bytes from 10.0.0.1: icmp_seq=1 "
			"ttl=64 time=2 ms\n"
			"64 bytes from 10.0.0.1: icmp_seq=0 ttl=64 time=3 ms\n");
	IS_I64(log->records, 2, "numbering that starts anew is another section");
	IS_I64(log->record[0].count, 2, "of two");
	IS_I64(log->record[1].number, 2, "the second round");
	free(log);
	log = read_text(ANSWER(500, "1.00") ANSWER(502, "1.00") ANSWER(499, "1.00"));
	IS_I64(log->record[0].count, 3, "a log without its head begins where it begins");
	SAYS(log->notes, "the log begins at request 500");
	SAYS(log->notes, "1 answer to requests from before this log left out");
	free(log);
}

static void test_jumps(void)
{
	/* 400 lines that each jump by 32767 would need 13 million places */
	enum { LINES = 400, ROOM = LINES * 72 + 500 };
	char *text = malloc(ROOM);
	size_t used = (size_t)snprintf(text, ROOM, HEAD);
	for (int i = 0; i < LINES; i++)
		used += (size_t)snprintf(text + used, ROOM - used,
			"64 bytes from 10.0.0.1: icmp_seq=%d ttl=64 time=1 ms\n", i * 32767 % 65536);
	struct read_log *log = read_text(text);
	IS_I64(log->result, -1, "jumps: refused");
	SAYS(log->err.text, "'log':");
	SAYS(log->err.text, "a jump in the numbers");
	free(log);
	log = read_bytes(text, used, (struct import_rules){.lenient = true});
	IS_I64(log->result, 0, "jumps: passed over when lenient");
	OK(log->record[0].count <= (1 << 20) + 4 * (LINES + 2), "jumps: memory stays bounded");
	SAYS(log->notes, "damaged line");
	free(log);
	free(text);
	log = read_text(HEAD ANSWER(1, "1.00") STATISTICS
		"4000000000 packets transmitted, 1 received, 99% packet loss, time 1ms\n");
	IS_I64(log->record[0].count, 1, "totals that no line justifies make no samples");
	SAYS(log->notes, "counts 4000000000 transmitted and 1 received, its lines show 1 and 1");
	free(log);
}

static void test_damage(void)
{
	static const char text[] = HEAD ANSWER(1, "1.00") ANSWER(2, "1e400") ANSWER(3, "-1.0") ANSWER(4, "2.00");
	struct read_log *log = read_text(text);
	IS_I64(log->result, -1, "strict: an impossible time ends the reading");
	IS_STR(log->err.text,
		"'log':3: a time without a unit that tare knows: '64 bytes from 10.0.0.1: icmp_seq=2 ttl=64 time=1e400 "
		"ms'",
		"strict: file, line and reason");
	free(log);
	log = read_bytes(text, sizeof(text) - 1, (struct import_rules){.lenient = true});
	IS_I64(log->result, 0, "lenient: read on");
	IS_I64(log->record[0].fates[TARE_ANSWERED], 2, "lenient: the others are kept");
	SAYS(log->notes, "2 damaged lines passed over, the first is line 3");
	free(log);
}

static void test_totals(void)
{
	struct read_log *log = read_text(
		HEAD ANSWER(1, "1.00") STATISTICS "5 packets transmitted, 1 received, 80% packet loss, time 4000ms\n");
	IS_I64(log->record[0].count, 5, "the totals tell of requests after the last answer");
	IS_I64(log->record[0].fates[TARE_LOST], 4, "which are lost");
	OK(!strstr(log->notes, "own summary counts"), "and nothing disagrees");
	free(log);
	log = read_text(HEAD STATISTICS "5 packets transmitted, 4 received, 20% packet loss, time 4000ms\n");
	IS_I64(log->record[0].fates[TARE_ANSWERED], 4, "-q: answered as the summary says");
	IS_I64(log->record[0].fates[TARE_LOST], 1, "-q: lost as well");
	IS_I64(log->record[0].known, 0, "-q: without a single value");
	SAYS(log->notes, "summary only: 5 transmitted, 4 received");
	free(log);
	log = read_text("64 Byte von h (10.0.0.1): icmp_seq=5 ttl=116 Zeit=6.16 ms\n\n--- h Ping-Statistik ---\n"
			"5 Pakete \xC3\xBC"
			"bertragen, 5 empfangen, 0% Paketverlust, Zeit 9ms\n"
			"rtt min/avg/max/mdev = 5,893/6,096/6,387/0,194 ms\n");
	IS_I64(log->record[0].count, 5, "a log without its head: 5 sent");
	IS_I64(log->record[0].fates[TARE_ANSWERED], 5, "5 answered");
	IS_I64(log->record[0].known, 1, "1 time known");
	IS_I64(log->record[0].rtt_ns[4], 6160000, "that of the fifth");
	SAYS(log->notes, "the log's own figures, not used: 'rtt min/avg/max/mdev = 5,893/6,096/6,387/0,194 ms'");
	free(log);
	log = read_text(HEAD ANSWER(1, "1.00") ANSWER(2, "1.00") STATISTICS
		"2 packets transmitted, 1 received, 50% packet loss, time 4000ms\n");
	SAYS(log->notes, "the log's own summary counts 2 transmitted and 1 received, its lines show 2 and 2");
	free(log);
}

static void test_refused(void)
{
	struct read_log *log = read_text(HEAD ANSWER(
		1, "1.00") "ping: sendmsg: Network is unreachable\nping: sendmsg: Network is unreachable\n" ANSWER(4,
		"1.00") "ping: sendmsg: Network is unreachable\n" STATISTICS
			"5 packets transmitted, 2 received, 60% packet loss, time 4000ms\n");
	struct read_record *record = &log->record[0];
	IS_I64(record->count, 5, "refused by the host: 5 requests");
	IS_I64(record->fates[TARE_NOT_SENT], 3, "no doubt which: not sent");
	IS_I64(record->reason[1], ENETUNREACH, "with their reason");
	IS_I64(record->fate[4], TARE_NOT_SENT, "the last one, too");
	IS_I64(record->fates[TARE_LOST], 0, "and none lost");
	IS_I64(record->events, 3, "each is an event");
	free(log);
	log = read_text(HEAD "64 bytes from 10.0.0.1: icmp_seq=1 ttl=64 time=0.5 ms (BAD CHECKSUM!)\n"
			     "From 10.0.0.9 icmp_seq=2 Destination Host Unreachable\n" ANSWER(
				     2, "3.00") "no answer yet for icmp_seq=3\n" ANSWER(3, "1500"));
	record = &log->record[0];
	IS_I64(record->fate[0], TARE_ERROR, "an answer with a bad checksum is none");
	IS_I64(record->reason[0], EBADMSG, "with its reason");
	IS_I64(record->fate[1], TARE_ANSWERED, "an answer after an error is an answer");
	IS_I64(record->rtt_ns[2], 1500000000, "an answer after 'no answer yet' as well");
	free(log);
}

static void test_clock(void)
{
	struct read_log *log = read_text(HEAD ANSWER(1, "1.00") ANSWER(
		2, "1.10") "Warning: time of day goes back (-1500us), taking countermeasures.\n" ANSWER(3, "0.000")
			ANSWER(4, "1.20"));
	struct read_record *record = &log->record[0];
	IS_I64(record->fates[TARE_ANSWERED], 4, "clock warning: all answers are kept");
	IS_I64(record->events, 1, "clock warning: one event");
	SAYS(log->events, "wall-step: line 4: 'Warning: time of day goes back (-1500us), taking");
	IS_I64(record->rtt_ns[2], TARE_NO_TIME, "clock warning: the 0 that ping prints then is no time");
	IS_I64(record->known, 3, "clock warning: the others are");
	free(log);
	log = read_text(HEAD "[1000.000000] " ANSWER(1, "1.00") "[1001.000000] " ANSWER(
		2, "1.00") "[881.000000] " ANSWER(3, "1.00") "[882.000000] " ANSWER(4, "1.00"));
	record = &log->record[0];
	IS_I64(record->gap_ns[2], TARE_NO_TIME, "clock set back: no gap there");
	IS_I64(record->gap_ns[3], 1000000000, "but behind it");
	IS_I64(record->schedule.slip_ns, 0, "and no slip");
	IS_I64(record->events, 1, "an event tells");
	free(log);
}

static void test_sections(void)
{
	struct read_log *log = read_text("$ ping h\n" HEAD ANSWER(1, "1.00") STATISTICS
		"1 packets transmitted, 1 received, 0% packet loss, time 0ms\n"
		"PING ::1(::1) 56 data bytes\n64 bytes from ::1: icmp_seq=2 ttl=64 time=0.020 ms\n"
		"PING b (10.0.0.2): 56 data bytes\n64 bytes from 10.0.0.2: icmp_seq=2 ttl=64 time=0.020 ms\n"
		"\nPinging 10.0.0.3 with 32 bytes of data:\nReply from 10.0.0.3: bytes=32 time=2ms TTL=64\nRequest "
		"timed out.\n"
		"Reply from 10.0.0.9: Destination host unreachable.\nGeneral failure.\n"
		"\nPing statistics for 10.0.0.3:\n    Packets: Sent = 4, Received = 2, Lost = 2 (50% loss),\n");
	IS_I64(log->records, 4, "each header is a round");
	IS_STR(log->record[0].url, "icmp://h", "first target");
	IS_STR(log->record[1].url, "icmp://[::1]", "second target");
	IS_I64(log->record[1].count, 2, "iputils counts from 1");
	IS_I64(log->record[2].count, 3, "BSD counts from 0");
	struct read_record *windows = &log->record[3];
	IS_I64(windows->count, 4, "Windows: every line without an answer is a request");
	OK(windows->fate[0] == TARE_ANSWERED && windows->fate[1] == TARE_LOST && windows->fate[2] == TARE_ERROR &&
			windows->fate[3] == TARE_NOT_SENT,
		"Windows: answered, timed out, refused on the way, refused by the host");
	OK(!strstr(log->notes, "own summary counts"), "Windows: an error counts as received there");
	SAYS(log->notes, "1 1 line not of ping, the first is line 1: '$ ping h'");
	free(log);
	log = read_text("There are 32 hosts like 10.0.0.3:\nand so on.\n" HEAD ANSWER(1, "1.00"));
	IS_I64(log->records, 1, "other text in the shape of Windows' header is no section");
	IS_I64(log->record[0].count, 1, "and costs none of the real one");
	free(log);
	log = read_text(HEAD);
	IS_I64(log->records, 1, "a header alone is a record");
	IS_I64(log->record[0].count, 0, "of nothing");
	free(log);
}

static void test_bounds(void)
{
	struct read_log *log =
		read_text("\nPinging 10.0.0.3 with 32 bytes of data:\nReply from 10.0.0.3: bytes=32 time<1ms TTL=64\n"
			  "Reply from 10.0.0.3: bytes=32 time=3ms TTL=64\n");
	IS_I64(log->record[0].known, 1, "mixed with values: those are kept");
	SAYS(log->notes, "1 of 2 answers took less than 1 ms and have no value: figures of the other 1");
	free(log);
	log = read_text(HEAD ANSWER(1, "0.000"));
	IS_I64(log->record[0].known, 1, "a printed 0 is a value");
	SAYS(log->notes, "1 time printed as 0: less than 1 µs, not nothing");
	free(log);
	OK(import_looks_like(HEAD, strlen(HEAD)), "a head is enough to know a log");
	OK(!import_looks_like("SQLite format 3", 16), "a recording is none");
	OK(!import_looks_like("", 0), "nothing is none");
	struct import *import = NULL;
	struct tare_err err = {0};
	IS_I64(import_open("/", NULL, &import, &err), -1, "a directory is refused");
	IS_STR(err.text, "'/' is a directory", "with a sentence");
}

int main(void)
{
	test_encodings();
	test_ends();
	test_numbers();
	test_jumps();
	test_damage();
	test_totals();
	test_refused();
	test_clock();
	test_sections();
	test_bounds();
	return tap_done();
}
