/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Asked and held rate, and that rounds of different loads are never merged. */
#include "tare/rate.h"

#include <math.h>

#include "tap.h"
#include "tare/stat.h"

enum { COUNT = 1001 };
#define INTERVAL_NS 100000

static int64_t due[COUNT], tx[COUNT], rx[COUNT];
static uint8_t fate[COUNT];
static uint16_t flags[COUNT];
static struct tare_run run = {.id = 1};
static struct tare_target target = {.url = "udp://peer:7000", .kind = "udp", .payload_bytes = 64};
static struct tare_round grid = {.number = 1, .label = "", .interval_ns = INTERVAL_NS};

/* Every request leaves `late_ns` late, growing by `slip_ns` with each. */
static struct tare_record record_of(struct tare_round *round, int64_t late_ns, int64_t slip_ns)
{
	for (int64_t i = 0; i < COUNT; i++) {
		due[i] = 1000 + i * round->interval_ns;
		tx[i] = due[i] + late_ns + i * slip_ns;
		rx[i] = tx[i] + 5000;
		fate[i] = TARE_ANSWERED;
		flags[i] = 0;
	}
	struct tare_record record = {.run = &run, .target = &target, .round = round, .resolution_ns = 1};
	record.series = (struct tare_series){.count = COUNT, .fate = fate, .flags = flags};
	record.series.at_ns[TARE_STAGE_DUE] = due;
	record.series.at_ns[TARE_STAGE_USER_TX] = tx;
	record.series.at_ns[TARE_STAGE_USER_RX] = rx;
	return record;
}

static bool is_near(double a, double b)
{
	return fabs(a - b) <= 0.002 * fabs(b);
}

static void held_and_not(void)
{
	struct tare_record record = record_of(&grid, 60000, 0);
	struct tare_rate rate = tare_rate_of(&record);
	OK(is_near(rate.asked, 10000) && is_near(rate.held, 10000) && rate.ok, "a constant lateness is no slower rate");
	record = record_of(&grid, 0, INTERVAL_NS);
	rate = tare_rate_of(&record);
	/* ends are medians of a tenth each, so nine tenths of the slip are seen: 1 / 1.9 */
	OK(is_near(rate.held, 10000 / 1.9) && !rate.ok, "twice the time for each: half the rate (%.0f)", rate.held);
	record = record_of(&grid, 0, 0);
	for (size_t i = 300; i < 340; i++)
		tx[i] += 5000000;
	rate = tare_rate_of(&record);
	OK(is_near(rate.held, 10000) && rate.ok, "a stall in the middle that is made up for does not count");
	for (size_t i = 0; i < COUNT; i += 2)
		flags[i] = TARE_FLAG_SKIPPED;
	rate = tare_rate_of(&record);
	OK(is_near(rate.held, 5000 * 1000 / 1001.0) && !rate.ok, "every second slot skipped: half the rate");
}

/* Planned time is what the due times span, whatever the mean interval would make of it. */
static void drawn_schedule(void)
{
	struct tare_record record = record_of(&grid, 0, 0);
	for (int64_t i = 0; i < COUNT; i++) {
		due[i] = 1000 + i * INTERVAL_NS / 2;
		tx[i] = due[i] + i * INTERVAL_NS / 2;
	}
	struct tare_rate rate = tare_rate_of(&record);
	OK(is_near(rate.held, 10000 / 1.9), "due times at half the interval slip by all of it (%.0f)", rate.held);
}

static void unknown(void)
{
	struct tare_round unpaced = {.number = 1, .label = ""};
	struct tare_record record = record_of(&unpaced, 0, 0);
	struct tare_rate rate = tare_rate_of(&record);
	OK(isnan(rate.asked) && isnan(rate.held) && rate.ok, "without an interval nothing is known");
	record = record_of(&grid, 0, 0);
	record.series.at_ns[TARE_STAGE_DUE] = NULL;
	rate = tare_rate_of(&record);
	OK(is_near(rate.asked, 10000) && isnan(rate.held) && rate.ok, "without due times only what was asked is");
}

static const char *schedule_of(int64_t (*due_of)(int64_t i), int64_t jitter_ns)
{
	static char text[TARE_SCHEDULE_TEXT];
	struct tare_round round = grid;
	round.jitter_ns = jitter_ns;
	struct tare_record record = record_of(&round, 0, 0);
	for (int64_t i = 0; i < COUNT; i++)
		due[i] = due_of(i);
	tare_schedule_text(&record, text);
	return text;
}

static int64_t due_on_grid(int64_t i)
{
	return 5000 + i * INTERVAL_NS;
}

static int64_t due_jittered(int64_t i)
{
	return due_on_grid(i) + (i % 2 ? 400 : -400);
}

static int64_t due_in_bursts(int64_t i)
{
	return due_on_grid(i - i % 8);
}

static int64_t due_drawn(int64_t i)
{
	return due_on_grid(i) + i % 7 * 30000;
}

static void schedules(void)
{
	IS_STR(schedule_of(due_on_grid, 0), "periodic", "a grid is periodic");
	IS_STR(schedule_of(due_jittered, 400), "periodic", "so is one moved by its jitter");
	IS_STR(schedule_of(due_jittered, 300), "poisson", "but not by more");
	IS_STR(schedule_of(due_in_bursts, 0), "burst:8", "bursts tell their size");
	IS_STR(schedule_of(due_drawn, 0), "poisson", "anything else was drawn");
	struct tare_record record = record_of(&grid, 0, 0);
	char text[TARE_SCHEDULE_TEXT];
	record.origin.format = "irtt-json";
	tare_schedule_text(&record, text);
	IS_STR(text, "", "what others measured is not judged");
	record.origin.format = NULL;
	record.series.count = 2;
	tare_schedule_text(&record, text);
	IS_STR(text, "", "nor what is too short");
}

/* How many merged rows two rounds of one run make. */
static size_t merged(int64_t interval_ns, uint32_t payload_bytes, struct tare_row *ret_row)
{
	struct tare_err err = {0};
	struct tare_rules rules;
	struct tare_stat *stat = NULL;
	const struct tare_row *rows = NULL;
	size_t count = 0, found = 0;
	struct tare_round second = {.number = 2, .label = "", .interval_ns = interval_ns};
	struct tare_target other = target;
	other.payload_bytes = payload_bytes;
	tare_rules_default(&rules);
	if (tare_stat_open(&rules, 0, &stat, &err) < 0)
		return SIZE_MAX;
	struct tare_record record = record_of(&grid, 0, 0);
	int status = tare_stat_add(stat, NULL, &record, &err);
	record = record_of(&second, 0, 0);
	record.target = &other;
	if (status < 0 || tare_stat_add(stat, NULL, &record, &err) < 0 || tare_stat_rows(stat, &rows, &count, &err) < 0)
		return SIZE_MAX;
	for (size_t i = 0; i < count; i++)
		if (rows[i].round == 0) {
			*ret_row = rows[i];
			found++;
		}
	tare_stat_free(stat);
	return found;
}

static void merging(void)
{
	struct tare_row row = {0};
	IS_I64(merged(INTERVAL_NS, 64, &row), 1, "rounds of one load are merged");
	OK(is_near(row.rate_asked, 10000) && row.payload_bytes == 64, "and keep their rate and payload");
	IS_I64(merged(INTERVAL_NS / 2, 64, &row), 0, "rounds of two rates are not");
	IS_I64(merged(INTERVAL_NS, 512, &row), 0, "rounds of two payloads are not");
	IS_I64(merged(INTERVAL_NS + 100, 64, &row), 1, "an interval rounded otherwise is the same rate");
}

int main(void)
{
	held_and_not();
	drawn_schedule();
	unknown();
	schedules();
	merging();
	return tap_done();
}
