/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Distributions in bins: figures as ranges, merged with each other and with
 * exact values, shown without a false digit, kept in a recording of format 2 and
 * appended to one of format 1.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/recording_schema.h"
#include "report/report.h"
#include "tap.h"
#include "tare/tare.h"

enum { SEED = 11, ROUNDS = 200, VALUES = 400 };

static const struct tare_run run = {.id = 1, .status = TARE_RUN_FINISHED};
static const struct tare_target target = {.url = "log", .kind = "log"};
static struct tare_round rounds[2] = {{.number = 1, .label = "", .status = "finished"},
	{.number = 2, .label = "", .status = "finished"}};
static const uint8_t no_fate[1];

static struct tare_record binned(const struct tare_bins *bins, int round)
{
	return (struct tare_record){.run = &run,
		.target = &target,
		.round = &rounds[round],
		.series = {.fate = no_fate},
		.resolution_ns = 1,
		.origin = {.format = "test", .quantity = TARE_QUANTITY_RTT, .shape = TARE_SHAPE_BINS},
		.bins = bins};
}

static struct tare_row first_row(const struct tare_record *records, size_t count, size_t which)
{
	struct tare_rules rules;
	struct tare_stat *stat = NULL;
	const struct tare_row *rows = NULL;
	size_t row_count = 0;
	struct tare_err err = {0};
	tare_rules_default(&rules);
	rules.warmup = 0;
	struct tare_row row = {0};
	if (tare_stat_open(&rules, 1, &stat, &err))
		return row;
	for (size_t i = 0; i < count; i++) {
		if (tare_stat_add(stat, "f", &records[i], &err))
			return row;
	}
	if (tare_stat_rows(stat, &rows, &row_count, &err) == 0 && which < row_count)
		row = rows[which];
	tare_stat_free(stat);
	return row;
}

/* 100 microseconds wide bins, as netperf's. */
static void test_figures(void)
{
	static const struct tare_range ranges[] = {
		{300000, 399999, 5}, {400000, 499999, 900}, {500000, 599999, 94}, {1000000, INT64_MAX, 1}};
	static const struct tare_bins bins = {.count = 4, .range = ranges, .lost = 3};
	struct tare_record record = binned(&bins, 0);
	struct tare_row row = first_row(&record, 1, 0);
	IS_I64(row.n, 1000, "n is the sum of the bins");
	IS_I64(row.sent, 1003, "sent holds the lost ones too");
	OK(row.binned, "marked");
	IS_I64(row.ranked[0].least_ns, 400000, "p50: lower bound");
	IS_I64(row.ranked[0].value_ns, 499999, "p50: upper bound");
	IS_I64(row.ranked[2].value_ns, 599999, "p99");
	IS_I64(row.ranked[3].behind, 1, "p99.9 has one behind");
	IS_I64(row.max_ns, INT64_MAX, "max: beyond the last bin");
	IS_I64(row.max_least_ns, 1000000, "max: above its edge");
	IS_I64(row.stalls, 0, "a stall is what lies above the limit for sure");
}

static int by_value(const void *a, const void *b)
{
	int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
	return (left > right) - (left < right);
}

/* The true order statistic lies in the range, whatever the bins are, merged or not. */
static void test_property(void)
{
	unsigned seed = SEED;
	int outside = 0;
	printf("# seed %d\n", SEED);
	for (int round = 0; round < ROUNDS; round++) {
		static int64_t values[VALUES];
		struct tare_range ranges[2][VALUES];
		for (int i = 0; i < VALUES; i++) {
			int64_t width = 1 + rand_r(&seed) % (i < VALUES / 2 ? 7 : 1000);
			values[i] = rand_r(&seed) % 5000;
			int64_t low = values[i] - values[i] % width;
			ranges[i >= VALUES / 2][i % (VALUES / 2)] = (struct tare_range){low, low + width - 1, 1};
		}
		struct tare_bins bins[2] = {{VALUES / 2, ranges[0], 0}, {VALUES / 2, ranges[1], 0}};
		for (int i = 0; i < 2; i++) {
			for (size_t j = 1; j < bins[i].count; j++) {
				for (size_t k = j; k && ranges[i][k].low_ns < ranges[i][k - 1].low_ns; k--) {
					struct tare_range swap = ranges[i][k];
					ranges[i][k] = ranges[i][k - 1];
					ranges[i][k - 1] = swap;
				}
			}
		}
		struct tare_record records[2] = {binned(&bins[0], 0), binned(&bins[1], 1)};
		struct tare_row row = first_row(records, 2, 2);
		qsort(values, VALUES, sizeof(values[0]), by_value);
		for (int p = 0; p < 3; p++) {
			int64_t truth = values[row.ranked[p].rank - 1];
			outside += truth < row.ranked[p].least_ns || truth > row.ranked[p].value_ns;
		}
		outside += row.n != VALUES || values[0] < row.min_least_ns || values[0] > row.min_ns;
	}
	IS_I64(outside, 0, "merged rounds of bins: every true percentile lies in its range");
}

static void test_mixed(void)
{
	static const struct tare_range ranges[] = {{0, 9, 10}};
	static const struct tare_bins bins = {.count = 1, .range = ranges};
	static int64_t exact[20];
	static uint8_t fate[20];
	for (int i = 0; i < 20; i++) {
		exact[i] = 100 + i;
		fate[i] = TARE_ANSWERED;
	}
	struct tare_record records[2] = {binned(&bins, 0), binned(NULL, 1)};
	records[1].series = (struct tare_series){.count = 20, .fate = fate, .given_ns = {[TARE_SPAN_RTT] = exact}};
	struct tare_row row = first_row(records, 2, 2);
	IS_I64(row.n, 30, "bins and samples merge");
	IS_I64(row.ranked[0].least_ns, 104, "an exact one stays exact");
	IS_I64(row.ranked[0].value_ns, 104, "on both sides");
	IS_I64(row.min_least_ns, 0, "the smallest is in the bin");
	IS_I64(row.min_ns, 9, "somewhere");
	struct tare_record swapped[2] = {records[1], records[0]};
	OK(first_row(swapped, 2, 2).ranked[0].value_ns == row.ranked[0].value_ns, "in either order");
}

static void test_text(void)
{
	char text[80];
	const struct scale *us = scale_for(5000, 1);
	scale_format_range(us, 5000, 5999, text, sizeof(text));
	IS_STR(text, "5–6", "a bin of 1 µs");
	scale_format_range(us, 400000, 499999, text, sizeof(text));
	IS_STR(text, "400–500", "a bin of 100 µs");
	scale_format_range(us, 4345, 4354, text, sizeof(text));
	IS_STR(text, "4.34–4.36", "a bin of 10 ns, rounded outwards");
	scale_format_range(us, 30000, INT64_MAX, text, sizeof(text));
	IS_STR(text, "> 30", "no upper bound");
	scale_format_range(us, -1500, 1500, text, sizeof(text));
	IS_STR(text, "-2–2", "below 0");
	const struct scale *ms = scale_for(1700000000, 1);
	scale_format_range(ms, 1744830464, 1745879039, text, sizeof(text));
	IS_STR(text, "1744–1746", "no digit that the bin does not know");
}

static void copy_fixture(const char *to)
{
	char path[512], bytes[4096];
	snprintf(path, sizeof(path), "%s/recording-v1.tare", getenv("TARE_TEST_DATA"));
	int in = open(path, O_RDONLY | O_CLOEXEC), out = open(to, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	ssize_t got;
	while ((got = read(in, bytes, sizeof(bytes))) > 0) {
		if (write(out, bytes, (size_t)got) != got)
			break;
	}
	close(in);
	close(out);
}

static void test_recording(void)
{
	static const struct tare_range ranges[] = {{1, 10, 3}, {11, INT64_MAX, 1}};
	static const struct tare_bins bins = {.count = 2, .range = ranges, .lost = 7};
	char folder[] = "/tmp/tare-bins-XXXXXX", path[64];
	struct tare_err err = {0};
	struct tare_writer *writer = NULL;
	struct tare_recording *recording = NULL;
	const struct tare_record *got = NULL;
	struct tare_run own = {.tool = "test"};
	struct tare_target own_target = {.url = "log", .kind = "log"};
	struct tare_round round = {.number = 1, .label = "", .status = "finished"};
	OK(mkdtemp(folder) != NULL, "a folder");
	snprintf(path, sizeof(path), "%s/a.tare", folder);
	copy_fixture(path);
	OK(tare_writer_open(path, TARE_APPEND, &writer, &err) == 0, "a file of format 1 is appended to: %s", err.text);
	OK(tare_writer_begin_run(writer, &own, &own_target, 1, NULL, 0, &err) == 0, "a run: %s", err.text);
	struct tare_record record = binned(&bins, 0);
	record.run = &own;
	record.target = &own_target;
	record.round = &round;
	record.origin = (struct tare_origin){"hgrm", TARE_QUANTITY_HALF_RTT, TARE_CLOCK_HARDWARE, TARE_PACING_CLOSED,
		TARE_LATENESS_UNKNOWN, TARE_SHAPE_BINS, TARE_LEFT_OUT_LOST | TARE_LEFT_OUT_SOME};
	OK(tare_writer_round(writer, &round, &record, 1, NULL, 0, NULL, 0, &err) == 0, "a round: %s", err.text);
	OK(tare_writer_end_run(writer, own.id, TARE_RUN_FINISHED, &err) == 0, "ended");
	OK(tare_writer_close(&writer, &err) == 0, "closed");

	OK(tare_recording_open(path, false, &recording, &err) == 0, "read: %s", err.text);
	struct tare_record last = {0};
	size_t old = 0;
	while (recording && tare_recording_next(recording, &got, &err) == 1) {
		last = *got;
		old += got->origin.format == NULL && !got->bins;
	}
	OK(old > 0, "the rounds of format 1 are tare's own");
	IS_STR(last.origin.format, "hgrm", "format");
	OK(last.origin.quantity == TARE_QUANTITY_HALF_RTT && last.origin.clock == TARE_CLOCK_HARDWARE &&
			last.origin.pacing == TARE_PACING_CLOSED && last.origin.lateness == TARE_LATENESS_UNKNOWN &&
			last.origin.shape == TARE_SHAPE_BINS &&
			last.origin.left_out == (TARE_LEFT_OUT_LOST | TARE_LEFT_OUT_SOME),
		"the words of the origin");
	OK(last.bins && last.bins->count == 2 && last.bins->lost == 7 &&
			memcmp(last.bins->range, ranges, sizeof(ranges)) == 0,
		"the bins, bit by bit");
	IS_I64(tare_base_span(&last), TARE_SPAN_HALF_RTT, "what they are of");
	tare_recording_free(recording);
	unlink(path);
	rmdir(folder);
}

int main(void)
{
	test_figures();
	test_property();
	test_mixed();
	test_text();
	test_recording();
	return tap_done();
}
