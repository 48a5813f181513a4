/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whole logs of other tools against figures computed elsewhere: those of the
 * public case files, and the nearest rank of the raw rows. Each format's own
 * summary may differ; the note says why.
 */
#include "log_read.h"
#include "shared.h"

static char folder[512];

static struct log_read *file(const char *name, struct import_rules rules)
{
	struct log_read *log = log_file(folder, name, rules);
	OK(log && log->result == 0, "%s is read: %s", name, log ? log->err.text : "missing");
	return log;
}

static void test_sockperf(void)
{
	struct log_read *log = file("sockperf_fulllog_bom_ansi.txt.gz", (struct import_rules){0});
	struct tare_row *row = &log->record[0].row;
	IS_STR(log->record[0].format, "sockperf", "through gzip, a byte order mark and colours");
	IS_I64(row->n, 14975, "rows");
	IS_I64(row->span, TARE_SPAN_RTT, "--full-rtt: the whole round trip");
	IS_I64(row->min_ns, 48651, "min");
	IS_I64(row->ranked[P50].value_ns, 104528, "p50");
	IS_I64(row->ranked[P90].value_ns, 123090, "p90");
	IS_I64(row->ranked[P99].value_ns, 180816, "p99 is the nearest rank, not sockperf's 180.199");
	IS_I64(row->ranked[P999].value_ns, 193048, "p99.9");
	IS_I64(row->ranked[P9999].value_ns, 300000, "p99.99");
	IS_I64(row->ranked[P9999].behind, 1, "with one behind");
	IS_I64(row->max_ns, 531956, "max");
	IS_I64(row->stalls, 0, "no stall above ten medians");
	SAYS(log->notes, "p99 180.199 µs (tare: 180.816)");
	SAYS(log->notes, ": its rank is round(p x n), tare's ceil(p x n), of 14975 rows");
	IS_I64(log->record[0].origin.pacing, TARE_PACING_OPEN, "one answer of a hundred: under-load");
	OK(log->record[0].origin.left_out & TARE_LEFT_OUT_SOME, "one of a hundred answers is kept");
	IS_I64(log->record[0].origin.lateness, TARE_LATENESS_REBUILT, "lateness is rebuilt");
	free(log);
	log = file("sockperf_3.7_half.txt", (struct import_rules){0});
	row = &log->record[0].row;
	IS_I64(row->span, TARE_SPAN_HALF_RTT, "without --full-rtt: half");
	IS_I64(row->n, 164, "of 164 rows");
	IS_I64(log->record[0].value_ns[TARE_SPAN_HALF_RTT][0], 21281, "as printed");
	IS_I64(log->record[0].value_ns[TARE_SPAN_RTT][0], 42563, "and the whole from its stamps");
	SAYS(log->notes, "half_rtt is half of a round trip");
	free(log);
}

static void test_irtt(void)
{
	struct log_read *log = file("irtt_0.9.0.json.gz", (struct import_rules){0});
	struct log_record *record = &log->record[0];
	IS_I64(record->count, 40, "irtt 0.9.0: requests");
	IS_I64(record->fates.count[TARE_ANSWERED], 40, "all answered");
	IS_I64(record->origin.lateness, TARE_LATENESS_UNKNOWN, "0.9.0 has no monotonic start: no lateness");
	OK(record->value_ns[TARE_SPAN_RTT][0] - record->value_ns[TARE_SPAN_SERVICE][0] ==
			record->value_ns[TARE_SPAN_PATH][0],
		"rtt less service is irtt's rtt, to the nanosecond");
	free(log);
}

static void test_irtt_modes(void)
{
	struct log_read *log = file("irtt_0.9.0_loss.json.gz", (struct import_rules){0});
	IS_I64(log->record[0].count, 10, "irtt with losses: requests");
	IS_I64(log->record[0].fates.count[TARE_LOST], 3, "'true', 'true_up' are lost");
	IS_I64(log->record[0].value_ns[TARE_SPAN_RTT][1], 21861350 - 21622446, "rtt by its stamps");
	OK(!strstr(log->notes, "prints"), "an odd number: the median agrees: %s", log->notes);
	free(log);
	log = file("irtt_0.9.0_mid.json.gz", (struct import_rules){0});
	IS_I64(log->record[0].value_ns[TARE_SPAN_SERVICE][3], TARE_NO_TIME, "one stamp in the middle is no service of 0 ns");
	IS_I64(log->record[0].value_ns[TARE_SPAN_PATH][3], TARE_NO_TIME, "and no path");
	SAYS(log->notes, "the server's processing in it");
	SAYS(log->notes, "irtt prints median 153.368 µs (tare: 153.108): its median of an even number is the mean of the middle two");
	free(log);
}

static void test_netperf(void)
{
	struct log_read *log = file("netperf_udp_rr_hist.txt", (struct import_rules){0});
	struct tare_row *row = &log->record[0].row;
	IS_I64(row->n, 133024, "netperf: the bins hold HIST_TOTAL");
	IS_I64(row->ranked[P50].least_ns, 400000, "p50 from");
	IS_I64(row->ranked[P50].value_ns, 499999, "to");
	OK(row->ranked[P99].least_ns <= 589000 && row->ranked[P99].value_ns >= 589000, "the printed p99 lies in its bin");
	SAYS(log->notes, "interpolated in such a bin");
	free(log);
}

static void test_spectrum(void)
{
	struct log_read *log = file("wrk2_spectrum.txt", (struct import_rules){0});
	struct tare_row *row = &log->record[0].row;
	IS_I64(row->n, 99500, "wrk2: n");
	IS_I64(row->span, TARE_SPAN_RESPONSE, "from when it was due");
	IS_I64(row->ranked[P9999].behind, 9, "p99.99 has 9 behind");
	IS_I64(row->ranked[P9999].grade, TARE_GRADE_WEAK, "and is weak");
	IS_I64(row->ranked[P99999].grade, TARE_GRADE_NONE, "p99.999 is not visible");
	OK(row->max_least_ns <= 44064000 && row->max_ns >= 44064000, "max 44.064 ms lies in its range");
	OK(row->ranked[P50].least_ns <= 1183000 && row->ranked[P50].value_ns >= 1183000, "so does the printed p50");
	free(log);
	log = log_file(folder, "hgrm_example1.txt", (struct import_rules){0});
	IS_I64(log->result, -1, ".hgrm without a unit is refused");
	IS_I64(log->err.code, TARE_E_USAGE, "as a matter of usage");
	SAYS(log->err.text, "--unit ms");
	free(log);
	log = file("hgrm_example1.txt", (struct import_rules){.unit = "ms"});
	IS_I64(log->record[0].row.n, 475109, ".hgrm: n");
	OK(log->record[0].row.max_least_ns <= 9420800000 && log->record[0].row.max_ns >= 9420800000,
		"the largest value lies in the last bin");
	SAYS(log->notes, "Max = 9420.800");
	free(log);
}

static void test_hlog(void)
{
	struct log_read *log = file("jhiccup_v2.hlog", (struct import_rules){0});
	IS_I64(log->records, 62, "V2: intervals");
	IS_I64(log->total, 48761, "values");
	/* the reference merges intervals into a histogram of three digits, by lower edges: its figures lie in our ranges */
	OK(log->all.ranked[P999].least_ns == 1744830464 && log->all.ranked[P999].value_ns >= 1745879039,
		"p99.9 of all is from 1744830464 on and holds 1745879039");
	OK(log->all.max_least_ns == 1795162112 && log->all.max_ns >= 1796210687, "max holds 1796210687");
	free(log);
	log = file("hlog_tagged_v2.hlog", (struct import_rules){0});
	uint64_t tagged = 0, untagged = 0;
	for (size_t i = 0; i < log->records; i++) {
		bool tag = strcmp(log->record[i].target, "hlog:tag=A") == 0;
		tagged += tag ? log->record[i].row.n : 0;
		untagged += tag ? 0 : log->record[i].row.n;
	}
	IS_I64(log->records, 42, "tags: lines");
	IS_I64(log->total, 32290, "values");
	IS_I64(tagged, 16145, "tag A");
	IS_I64(untagged, 16145, "equals the untagged");
	free(log);
	log = file("jhiccup_v0.hlog", (struct import_rules){0});
	IS_I64(log->records, 81, "V0: intervals");
	free(log);
}

#define INTERVAL "1.007,2.769,HISTFAAAAEV42pNpmSzMwMCgyAABTBDKT4GBgdnNYMcCBvsPEBEJISEuATEZMQ4uASkhIR4nrxg9v2lMaxhvMekILGZkKmcCAEf2CsI="

/* When the first interval of a log with this head began, from the log's own StartTime; -1 where it is refused. */
static int64_t began(const char *head, const char *start)
{
	char text[600];
	struct import *import = NULL;
	const struct tare_record *record = NULL;
	struct tare_err err;
	snprintf(text, sizeof(text), "#[Histogram log format version 1.3]\n%s%s," INTERVAL "\n", head, start);
	FILE *stream = fmemopen(text, strlen(text), "r");
	bool read = import_open_stream(stream, "log", &(struct import_rules){0}, &import, &err) == 0 &&
		    import_next(import, &record, &err) == 1;
	int64_t began_ns = read ? record->round->first_due_ns : -1;
	if (!read)
		printf("# %s\n", err.text);
	import_free(import);
	fclose(stream);
	return began_ns;
}

static void test_hlog_times(void)
{
	IS_I64(began("#[StartTime: 1441812279.474 (seconds since epoch)]\n", "0.127"), 127000000, "from StartTime");
	IS_I64(began("#[StartTime: 1441812279.474 (seconds since epoch)]\n", "1441812280.474"), 1000000000, "from 1970");
	IS_I64(began("#[StartTime: 1441812279.0 (s)]\n#[BaseTime: 1441812200.0 (s)]\n", "84.0"), 5000000000,
		"from BaseTime, which lies before StartTime");
	IS_I64(began("", "1441812280.474"), 0, "without any head: the first interval begins the log");
	IS_I64(began("", "9e18"), -1, "a time out of range is refused");
	struct log_read *log = log_text("#[Histogram log format version 1.3]\n0.1,1.0,2.0,DHISTwAAAAAAAAAA\n", (struct import_rules){0});
	SAYS(log->err.text, "'log':2: it is a histogram of doubles, which is not supported");
	free(log);
}

/* Files that may not be copied here; checked where somebody has them. */
static void test_cases(void)
{
	char cases[4096];
	const char *found = shared_file("cases/irtt_clock_offset_10s.json");
	if (!found) {
		SKIP(1, "no folder of public cases");
		return;
	}
	snprintf(cases, sizeof(cases), "%.*s", (int)(strrchr(found, '/') - found), found);
	struct log_read *log = log_file(cases, "irtt_clock_offset_10s.json", (struct import_rules){0});
	struct log_record *record = &log->record[0];
	IS_I64(record->count, 5, "irtt: 5 sent, none lost though 'lost' is a text");
	IS_I64(record->fates.count[TARE_LOST], 0, "none lost");
	IS_I64(record->value_ns[TARE_SPAN_RTT][0], 17293750, "rtt: receive less send");
	IS_I64(record->value_ns[TARE_SPAN_PATH][0], 17291970, "less the server's 1780 ns");
	SAYS(log->notes, "10.478979 s ahead");
	free(log);
	log = log_file(cases, "cyclictest_4threads_hist.txt", (struct import_rules){0});
	static const uint64_t totals[] = {11055136, 11055141, 11055141, 11055131};
	static const int64_t largest[] = {27, 28, 21, 25};
	for (int i = 0; i < 4; i++) {
		IS_I64(log->record[i].row.n, totals[i], "cyclictest: total of a thread");
		IS_I64(log->record[i].row.min_least_ns, 4000, "min");
		IS_I64(log->record[i].row.max_least_ns, largest[i] * 1000, "max");
	}
	free(log);
	log = log_file(cases, "sfnt_pingpong_tcp_tabs.txt", (struct import_rules){0});
	IS_I64(log->records, 17, "sfnt-pingpong: 17 sizes");
	IS_I64(log->record[1].row.n, 0, "no distribution is invented");
	SAYS(log->notes, "max 257486, p99 8064");
	free(log);
	log = log_file(cases, "fping_loop_wrap65536.txt", (struct import_rules){0});
	IS_I64(log->record[0].beside.foreign + log->record[1].beside.foreign, 4, "fping: 4 foreign answers");
	SAYS(log->notes, "no loss is computed");
	free(log);
	log = log_file(cases, "mtr_empty_hubs_invalid.json", (struct import_rules){0});
	SAYS(log->err.text, "'log':11:16: no valid JSON");
	free(log);
	log = log_file(cases, "blackbox_icmp_probe.prom", (struct import_rules){0});
	IS_I64(log->records, 3, "blackbox: three phases");
	IS_I64(log->record[0].value_ns[TARE_SPAN_VALUE][0], 195704171, "resolve");
	IS_I64(log->record[1].value_ns[TARE_SPAN_RTT][0], 182456226, "rtt");
	IS_I64(log->record[2].value_ns[TARE_SPAN_VALUE][0], 145827, "setup");
	free(log);
}

int main(void)
{
	snprintf(folder, sizeof(folder), "%s/logs", getenv("TARE_TEST_DATA") ? getenv("TARE_TEST_DATA") : ".");
	test_sockperf();
	test_irtt();
	test_irtt_modes();
	test_netperf();
	test_spectrum();
	test_hlog();
	test_hlog_times();
	test_cases();
	return tap_done();
}
