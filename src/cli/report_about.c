/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What was measured and how: one list a target and run, gathered while its samples are at hand. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cli/report.h"
#include "tare/rate.h"

/* Stamps looked at together. */
enum { STAMP_BLOCK = 1024 };

struct entry {
	const char *path;
	const struct tare_run *run;
	const struct tare_target *target;
	const struct tare_round *first;
	struct tare_origin origin;
	uint32_t rounds, stamps_asked;
	uint64_t samples, binned, stamped[TARE_STAGE_COUNT];
	double rate_asked_low, rate_asked_high, held_share; /* held_share: the lowest of its rounds; NAN: not known */
	int64_t axis_error_ns, resolution_ns;
};

struct report_about {
	struct entry *entry;
	size_t count, room;
};

int report_about_open(struct report_about **ret_about, struct tare_err *err)
{
	struct report_about *about = calloc(1, sizeof(*about));
	if (!about)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	*ret_about = about;
	return 0;
}

void report_about_free(struct report_about *about)
{
	if (!about)
		return;
	free(about->entry);
	free(about);
}

static struct entry *entry_of(struct report_about *about, const char *path, const struct tare_record *record)
{
	for (size_t i = about->count; i-- > 0;)
		if (about->entry[i].path == path && about->entry[i].run == record->run &&
			about->entry[i].target == record->target)
			return &about->entry[i];
	if (about->count == about->room) {
		size_t room = about->room ? 2 * about->room : 16;
		struct entry *larger = reallocarray(about->entry, room, sizeof(*larger));
		if (!larger)
			return NULL;
		about->entry = larger;
		about->room = room;
	}
	about->entry[about->count] = (struct entry){.path = path,
		.run = record->run,
		.target = record->target,
		.first = record->round,
		.origin = record->origin,
		.held_share = NAN,
		.rate_asked_low = INFINITY,
		.axis_error_ns = TARE_NO_TIME,
		.resolution_ns = record->resolution_ns};
	return &about->entry[about->count++];
}

static uint64_t stamped_in(const struct tare_series *series, enum tare_stage stage)
{
	int64_t times_ns[STAMP_BLOCK];
	uint64_t stamped = 0;
	for (size_t first = 0; tare_stage_seen(series, stage) && first < series->count; first += STAMP_BLOCK) {
		size_t count = series->count - first < STAMP_BLOCK ? series->count - first : STAMP_BLOCK;
		tare_stage_times(series, stage, first, count, times_ns);
		for (size_t i = 0; i < count; i++)
			stamped += times_ns[i] != TARE_NO_TIME;
	}
	return stamped;
}

int report_about_record(
	struct report_about *about, const char *path, const struct tare_record *record, struct tare_err *err)
{
	struct entry *entry = entry_of(about, path, record);
	const struct tare_series *series = &record->series;
	if (!entry)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	entry->rounds++;
	entry->samples += series->count;
	for (size_t i = 0; record->bins && i < record->bins->count; i++)
		entry->binned += record->bins->range[i].count;
	entry->stamps_asked |= record->beside.stamps_asked;
	for (int stage = 0; stage < TARE_STAGE_COUNT; stage++)
		if (entry->stamps_asked >> stage & 1)
			entry->stamped[stage] += stamped_in(series, (enum tare_stage)stage);
	if (record->round->axis_error_ns != TARE_NO_TIME && record->round->axis_error_ns > entry->axis_error_ns)
		entry->axis_error_ns = record->round->axis_error_ns;
	if (record->round->interval_ns <= 0)
		return 0;
	double asked = 1e9 / (double)record->round->interval_ns, held = tare_rate_of(record).held / asked;
	entry->rate_asked_low = fmin(entry->rate_asked_low, asked);
	entry->rate_asked_high = fmax(entry->rate_asked_high, asked);
	if (isfinite(held) && !(entry->held_share <= held))
		entry->held_share = held;
	return 0;
}

static void when_text(int64_t real_ns, char *buffer, size_t room)
{
	time_t seconds = (time_t)(real_ns / 1000000000);
	struct tm broken;
	buffer[0] = '\0';
	if (real_ns > 0 && gmtime_r(&seconds, &broken))
		strftime(buffer, room, "%Y-%m-%d %H:%M:%S UTC", &broken);
}

static void write_rate(const struct page *page, const struct entry *entry)
{
	char low[32], high[32], line[160];
	struct text text = TEXT_IN(line);
	if (!isfinite(entry->rate_asked_low))
		return;
	format_rate(entry->rate_asked_low, low, sizeof(low));
	format_rate(entry->rate_asked_high, high, sizeof(high));
	text_add(&text, "%s", low);
	if (strcmp(low, high) != 0)
		text_add(&text, " to %s", high);
	text_add(&text, " asked");
	if (isfinite(entry->held_share))
		text_add(&text, ", %.4g %% of it held at least", 100 * fmin(entry->held_share, 1));
	page_item(page, "rate", line);
}

static void write_stamps(const struct page *page, const struct entry *entry)
{
	char line[600];
	struct text text = TEXT_IN(line);
	for (size_t stage = 0; stage < TARE_STAGE_COUNT; stage++)
		if (entry->stamps_asked >> stage & 1)
			text_add(&text, "%s%s: %" PRIu64 " of %" PRIu64, text.used ? ", " : "",
				tare_stage_name((enum tare_stage)stage), entry->stamped[stage], entry->samples);
	page_item(page, "stamps asked for, and how many came",
		text.used              ? line
		: entry->origin.format ? ""
				       : "none beyond the program's own");
}

static void write_clock(const struct page *page, const struct entry *entry)
{
	char error[32], step[32], line[200];
	struct text text = TEXT_IN(line);
	text_add(&text, "%s", tare_clock_name(entry->origin.clock));
	if (entry->resolution_ns > 1) {
		format_duration(entry->resolution_ns, step, sizeof(step));
		text_add(&text, ", in steps of %s", step);
	}
	if (entry->axis_error_ns != TARE_NO_TIME) {
		format_duration(entry->axis_error_ns, error, sizeof(error));
		text_add(&text, "; kernel stamps are on this axis to within ±%s", error);
	}
	page_item(page, "clock", line);
}

static void write_origin(const struct page *page, const struct entry *entry)
{
	char line[300];
	struct text text = TEXT_IN(line);
	if (!entry->origin.format)
		return;
	text_add(&text, "read as %s: %s; paced: %s; lateness: %s", entry->origin.format,
		tare_quantity_name(entry->origin.quantity), tare_pacing_name(entry->origin.pacing),
		tare_lateness_name(entry->origin.lateness));
	page_item(page, "source", line);
}

static void write_entry(const struct page *page, const struct entry *entry)
{
	char line[300], when[48];
	struct text text = TEXT_IN(line);
	fputs("<h3>", page->out);
	page_text(page, entry->target->url, 200);
	fputs("</h3>\n", page->out);
	page_list(page);
	page_item(page, "file", entry->path);
	when_text(entry->run->epoch_real_ns, when, sizeof(when));
	page_item(page, "begun", when);
	if (entry->binned)
		text_add(&text, "%" PRIu32 "; %" PRIu64 " requests, counted in bins", entry->rounds, entry->binned);
	else
		text_add(&text, "%" PRIu32 "; %" PRIu64 " requests, the first %" PRIu32 " of each round kept apart as warm-up",
		entry->rounds, entry->samples, entry->first->warmup);
	page_item(page, "rounds", line);
	write_rate(page, entry);
	page_item(page, "address", entry->target->address);
	text = (struct text)TEXT_IN(line);
	if (entry->target->payload_bytes)
		text_add(&text, "%" PRIu32 " bytes", entry->target->payload_bytes);
	page_item(page, "payload", text.used ? line : "");
	page_item(page, "host", entry->run->host);
	page_item(page, "kernel", entry->run->kernel);
	page_item(page, "measured by", entry->run->tool);
	write_origin(page, entry);
	write_clock(page, entry);
	write_stamps(page, entry);
	page_list_end(page);
}

int report_about_write(const struct page *page, const struct report_about *about, struct tare_err *err)
{
	enum { ENTRIES_MOST = 24 };
	(void)err;
	for (size_t i = 0; i < about->count && i < ENTRIES_MOST; i++)
		write_entry(page, &about->entry[i]);
	if (about->count > ENTRIES_MOST)
		fprintf(page->out, "<p>and %zu more targets and runs.</p>\n", about->count - ENTRIES_MOST);
	return 0;
}
