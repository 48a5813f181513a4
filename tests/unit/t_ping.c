/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Logs of real pings, with reference values worked out apart from this reader:
 * iputils of three ages, BusyBox, macOS, Windows; and the case this project
 * started from, a ping that a busy core held up by 454 µs a packet.
 */
#include <errno.h>

#include "ping_read.h"

static void test_iputils(void)
{
	struct read_log *log = read_file("gcp_100");
	struct read_record *record = &log->record[0];
	IS_I64(log->records, 1, "gcp: one section");
	IS_I64(record->count, 100, "gcp: 100 requests");
	IS_I64(record->fates[TARE_ANSWERED], 100, "gcp: all answered");
	IS_I64(record->min_ns, 280000, "gcp: min");
	IS_I64(record->max_ns, 602000, "gcp: max");
	IS_I64(record->sum_ns, 35287000, "gcp: mean of the lines, not of the summary (0.352)");
	IS_I64(record->resolution_ns, 1000, "gcp: resolution");
	IS_I64(record->warmup, 2, "gcp: warm-up as for every source");
	IS_I64(record->payload_bytes, 56, "gcp: payload");
	IS_STR(record->url, "icmp://10.0.0.3", "gcp: target");
	IS_STR(record->tool, "ping (iputils)", "gcp: tool");
	OK(!record->has_schedule, "gcp: no send times, no schedule");
	SAYS(log->notes, "1 resolution 1 µs; RTT counts from the actual send");
	SAYS(log->notes, "1 percentiles finer than 1 µs cannot be told from this log");
	SAYS(log->notes, "no send times in this log");
	free(log);

	log = read_file("iputils_centos7_D_O");
	record = &log->record[0];
	IS_I64(record->count, 20, "-D: 20 requests");
	IS_I64(record->min_ns, 41000, "-D: min");
	IS_I64(record->max_ns, 81000, "-D: max");
	IS_I64(record->sum_ns, 964000, "-D: mean 0.0482 ms");
	IS_I64(record->epoch_ns, 1595037214261953000, "-D: the first bracket is the epoch");
	IS_I64(record->rx_ns[0], 0, "-D: received at the bracket");
	IS_I64(record->tx_ns[0], -41000, "-D: sent at the bracket less the time");
	IS_I64(record->gap_ns[0], TARE_NO_TIME, "-D: the first request has no gap");
	IS_I64(record->gap_ns[1], 1002838000, "-D: the second has");
	IS_I64(record->with_gap, 19, "-D: 19 gaps");
	IS_I64(record->schedule.asked_ns, 1000000000, "-D: 1 s inferred, although the first percentile is below it");
	OK(record->schedule.inferred, "-D: marked as inferred");
	IS_I64(record->schedule.slip_ns, 81101000, "-D: slip");
	free(log);
}

static void test_trouble(void)
{
	struct read_log *log = read_file("iputils_broadcast_dup");
	struct read_record *record = &log->record[0];
	IS_I64(record->count, 2, "broadcast: two requests");
	IS_I64(record->beside.duplicate, 19, "broadcast: 19 duplicates");
	IS_I64(record->sum_ns, 1447000, "broadcast: the first answers' times only, mean 0.7235 ms");
	IS_I64(record->flags[0] & TARE_FLAG_DUPLICATED, TARE_FLAG_DUPLICATED, "broadcast: flagged");
	free(log);

	log = read_file("iputils_host_unreachable_pipe3");
	record = &log->record[0];
	IS_I64(record->count, 3, "unreachable: three requests");
	IS_I64(record->fates[TARE_ERROR], 3, "unreachable: three errors");
	IS_I64(record->reason[0], EHOSTUNREACH, "unreachable: reason");
	IS_I64(record->known, 0, "unreachable: no time");
	SAYS(log->notes, "3 requests refused, the first by '10.0.0.1': 'Destination Host Unreachable'");
	free(log);

	log = read_file("iputils_net_unreachable_midrun");
	record = &log->record[0];
	IS_I64(record->count, 19, "mid-run: 19 requests");
	IS_I64(record->fates[TARE_ANSWERED], 11, "mid-run: 11 answered");
	IS_I64(record->fates[TARE_LOST], 8, "mid-run: 8 lost");
	OK(record->fate[5] == TARE_LOST && record->fate[12] == TARE_LOST && record->fate[13] == TARE_ANSWERED,
		"mid-run: they are 6 to 13");
	IS_I64(record->events, 3, "mid-run: three refused sends");
	IS_I64(record->sum_ns / 11, 73750454, "mid-run: mean 73.750 ms, where the summary has 73.819");
	IS_I64(record->resolution_ns, 1000, "mid-run: the step of the median answer");
	SAYS(log->notes, "resolution 1 µs to 1 ms");
	SAYS(log->notes,
		"3 sends refused by the host itself ('Network is unreachable'); ping does not say which, so 3");
	free(log);

	log = read_file("macos_unreachable");
	record = &log->record[0];
	IS_I64(record->count, 8, "macOS: 8 requests");
	IS_I64(record->fates[TARE_LOST], 8, "macOS: all lost");
	IS_I64(record->beside.unmatched_errors, 6, "macOS: 6 errors that name no request");
	SAYS(log->notes,
		"6 errors without an open request, the first by '192.168.1.220': 'Destination Host Unreachable'");
	OK(!strstr(log->notes, "not of ping"), "macOS: dumps of headers are no noise");
	free(log);
}

static void test_others(void)
{
	struct read_log *log = read_file("busybox_alpine");
	struct read_record *record = &log->record[0];
	IS_I64(record->count, 4, "BusyBox: counts from 0");
	IS_I64(record->fates[TARE_ANSWERED], 4, "BusyBox: all answered");
	IS_I64(record->min_ns, 1281000, "BusyBox: min");
	IS_I64(record->max_ns, 1408000, "BusyBox: max");
	IS_STR(record->tool, "ping (BusyBox)", "BusyBox: tool");
	free(log);

	log = read_file("windows_fr_lt1ms");
	record = &log->record[0];
	IS_I64(record->count, 4, "French Windows: 4 requests");
	IS_I64(record->fates[TARE_ANSWERED], 4, "French Windows: all answered");
	IS_I64(record->known, 0, "French Windows: below 1 ms is neither 0 nor 1");
	SAYS(log->notes, "all of the 4 answers took less than 1 ms: no time is known");
	free(log);

	log = read_file("windows_ru");
	record = &log->record[0];
	IS_I64(record->count, 4, "Russian Windows: 4 requests");
	IS_I64(record->min_ns, 33000000, "Russian Windows: min");
	IS_I64(record->max_ns, 38000000, "Russian Windows: max");
	IS_I64(record->sum_ns, 142000000, "Russian Windows: mean 35.5 ms");
	IS_I64(record->payload_bytes, 32, "Russian Windows: payload");
	IS_STR(record->tool, "ping (Windows)", "Russian Windows: tool");
	OK(!strstr(log->notes, "own summary counts"), "Russian Windows: the totals agree");
	free(log);
}

static void test_own(void)
{
	struct read_log *log = read_file("iputils_20221126_D_kept");
	struct read_record *record = &log->record[0];
	IS_I64(record->count, 200, "own, kept: 200 requests");
	IS_I64(record->schedule.gaps, 199, "own, kept: 199 gaps");
	IS_I64(record->schedule.asked_ns, 5000000, "own, kept: 5 ms inferred");
	IS_STR(record->status, "finished", "own, kept: finished");
	SAYS(log->notes, "kept: the median gap is within 10 µs of the 5 ms asked");
	free(log);
	log = read_file("iputils_20221126_D_held_up");
	record = &log->record[0];
	IS_I64(record->schedule.asked_ns, 5000000, "own, held up: 5 ms inferred");
	SAYS(log->notes, "the schedule slipped 589 ms; the RTT column shows 8 µs a packet");
	free(log);
}

/* 2000 packets, 5 ms asked, every gap 5.454 ms, times of 1 and 2 µs. */
static void test_note_1(bool every, const char *name)
{
	enum { ROOM = 2000 * 96 + 400 };
	char *text = malloc(ROOM);
	size_t used = (size_t)snprintf(text, ROOM, "PING 127.0.0.1 (127.0.0.1) 56(84) bytes of data.\n");
	int64_t at_us = 1796033392244645;
	for (int i = 1; i <= 2000; i++, at_us += 5454) {
		int rtt_us = i % 2 ? 1 : 2;
		used += (size_t)snprintf(text + used, ROOM - used,
			"[%" PRId64 ".%06" PRId64 "] 64 bytes from 127.0.0.1: icmp_seq=%d ttl=64 time=0.00%d ms\n",
			(at_us + rtt_us) / 1000000, (at_us + rtt_us) % 1000000, i, rtt_us);
	}
	used += (size_t)snprintf(text + used, ROOM - used,
		"\n--- 127.0.0.1 ping statistics ---\n2000 packets transmitted, 2000 received, 0%% packet loss, time "
		"10903ms\n"
		"rtt min/avg/max/mdev = 0.001/0.001/0.002/0.000 ms\n");
	struct read_log *log = read_bytes(text, used, (struct import_rules){.every_ns = every ? 5000000 : 0});
	struct ping_schedule *schedule = &log->record[0].schedule;
	IS_I64(log->record[0].count, 2000, name);
	IS_I64(schedule->asked_ns, 5000000, name);
	OK(schedule->inferred == !every, "%s: %s", name, every ? "as asked" : "inferred");
	IS_I64(schedule->median_ns, 5454000, name);
	IS_I64(schedule->p99_ns, 5454000, name);
	IS_I64(schedule->max_ns, 5454000, name);
	IS_I64(schedule->mean_excess_ns, 454000, name);
	IS_I64(schedule->slip_ns, 907546000, name);
	SAYS(log->notes,
		"every gap was 454 µs too long, the schedule slipped 908 ms; the RTT column shows 1 µs a packet");
	SAYS(log->notes, every ? "2000 packets, asked 5 ms apart\n" : "2000 packets, asked 5 ms apart (inferred)\n");
	SAYS(log->notes, "percentiles finer than 1 µs cannot be told from this log");
	free(log);
	free(text);
}

int main(void)
{
	test_iputils();
	test_trouble();
	test_others();
	test_own();
	test_note_1(true, "note 1");
	test_note_1(false, "note 1 without --every");
	return tap_done();
}
