/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The reader of ping logs: line after line into a section, section after section
 * into a record. A line that starts the next section is held back until that one
 * is asked for, so nothing is read twice and a pipe will do.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "import/import_private.h"
#include "import/log/ping_section.h"
#include "tare/sample.h"

/* A target is looked for among the last few: logs of many hosts must not cost the square of their number. */
enum { TARGETS_REMEMBERED = 64 };

struct ping {
	struct ping_section section;
	struct line held;
	bool has_held, at_end, epoch_known;
	struct tare_target *targets[TARGETS_REMEMBERED];
	size_t target_count;
	struct tare_record record;
};

enum step { STEP_ON, STEP_HOLD, STEP_FAIL };

static bool ping_knows(struct lines *head)
{
	struct line line;
	bool windows_header = false, windows_totals = false;
	while (lines_next(head, &line, NULL) == 1) {
		struct ping_line read;
		ping_line_read(line.text, line.bytes, (struct ping_context){0}, &read);
		windows_header = windows_header || (read.kind == PING_HEADER && read.dialect == PING_WINDOWS);
		windows_totals = windows_totals || (read.kind == PING_TOTALS && read.dialect == PING_WINDOWS);
		bool unix_totals = read.kind == PING_TOTALS && read.dialect != PING_WINDOWS;
		bool numbered = read.has_seq &&
				(read.kind == PING_REPLY || read.kind == PING_NO_ANSWER || read.kind == PING_ERROR);
		bool header = read.kind == PING_HEADER && read.dialect != PING_WINDOWS;
		bool windows_reply = read.kind == PING_REPLY && read.dialect == PING_WINDOWS;
		if (numbered || header || windows_reply || unix_totals || (windows_header && windows_totals))
			return true;
		/* an impossible number in an otherwise clear line: known, so that the reader can say what is wrong */
		if (read.kind == PING_DAMAGED && (read.has_seq || ping_says(line.text, "icmp_seq=")))
			return true;
	}
	return false;
}

static int ping_open(struct import *import, void **ret_reader, struct tare_err *err)
{
	struct ping *ping = calloc(1, sizeof(*ping));
	if (!ping)
		return tare_fail_errno(err, ENOMEM, "cannot read '%s'", import->name);
	import->run = (struct tare_run){.id = 1,
		.status = TARE_RUN_FINISHED,
		.tool = ping_tool(PING_UNKNOWN),
		.host = "",
		.kernel = "",
		.command_line = ""};
	*ret_reader = ping;
	return 0;
}

static void ping_free(void *reader)
{
	struct ping *ping = reader;
	ping_section_free(&ping->section);
	free(ping);
}

static void copy_name(struct slice from, char *to, size_t room)
{
	size_t used = 0;
	for (; used < from.bytes && used + 1 < room; used++) {
		char c = from.at[used];
		bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
		to[used] = plain || (c && strchr(".:%_-", c)) ? c : '?';
	}
	to[used] = '\0';
}

static void take_header(struct ping_section *section, const struct ping_line *line)
{
	section->has_header = true;
	section->dialect = line->dialect;
	section->payload_bytes = line->payload_bytes;
	section->no_times = line->stamps;
	copy_name(line->who, section->host, sizeof(section->host));
	copy_name(line->address, section->address, sizeof(section->address));
}

static void take_dialect(struct ping_section *section, const struct ping_line *line)
{
	if (line->dialect == PING_BUSYBOX || section->dialect == PING_UNKNOWN)
		section->dialect = line->dialect;
	if (!section->address[0] && line->address.bytes && line->kind == PING_REPLY) {
		copy_name(line->address, section->address, sizeof(section->address));
		copy_name(line->address, section->host, sizeof(section->host));
	}
}

static enum step damaged(struct import *import, struct ping_section *section, const struct line *line, const char *why,
	struct tare_err *err)
{
	if (line->unterminated) {
		section->cut++;
		return STEP_ON;
	}
	if (!import->rules.lenient) {
		tare_fail(err, TARE_E_FORMAT, "'%s':%llu: %s: %s", import->name, (unsigned long long)line->number, why,
			quote(line->text, line->bytes).text);
		return STEP_FAIL;
	}
	if (!section->damaged++) {
		struct text text = TEXT_IN(section->first_damage);
		section->damaged_line = line->number;
		text_add(&text, "%s: %s", why, quote(line->text, line->bytes).text);
	}
	return STEP_ON;
}

static void take_noise(struct ping_section *section, const struct line *line)
{
	if (!section->noise++) {
		section->noise_line = line->number;
		section->first_noise =
			line->overlong ? quote("longer than 4095 bytes", 22) : quote(line->text, line->bytes);
	}
}

/* A line about one request. */
static enum step take_request(struct import *import, struct ping_section *section, const struct line *line,
	const struct ping_line *read, struct tare_err *err)
{
	int64_t index = 0;
	bool reply = read->kind == PING_REPLY;
	bool mixed = read->has_seq ? !section->numbered && section->highest >= 0 : section->numbered;
	if (!read->has_seq && (mixed || (section->dialect != PING_WINDOWS && section->dialect != PING_UNKNOWN))) {
		take_noise(section, line);
		return STEP_ON;
	}
	if (section->statistics || mixed)
		return STEP_HOLD;
	enum ping_place place = ping_section_place(section, read, line->unterminated, &index);
	if (place == PLACE_RESTART)
		return STEP_HOLD;
	if (place == PLACE_FAR)
		return damaged(
			import, section, line, "a jump in the numbers that would need millions of lost requests", err);
	take_dialect(section, read);
	if (place == PLACE_BEFORE) {
		section->before_first++;
		return STEP_ON;
	}
	if (read->has_seq && !section->numbered) {
		section->numbered = true;
		section->base = (int64_t)read->seq - index;
	}
	if (ping_section_reach(section, index, reply, err))
		return STEP_FAIL;
	if (reply)
		ping_section_answer(section, index, read);
	else if (read->kind == PING_ERROR)
		ping_section_error(section, index, read);
	return STEP_ON;
}

static void first_error(struct ping_section *section, const struct ping_line *read)
{
	if (section->errors || section->unmatched_errors)
		return;
	section->first_error = quote(read->what.at, read->what.bytes);
	section->first_reporter = read->who.bytes ? quote(read->who.at, read->who.bytes) : quote("?", 1);
}

static int64_t event_time(const struct import *import, const struct ping_section *section)
{
	return section->last_stamp_ns == TARE_NO_TIME ? TARE_NO_TIME
						      : section->last_stamp_ns - import->run.epoch_real_ns;
}

/* Sends that our host refused. On Windows such a line stands for one request. */
static enum step take_local_error(struct import *import, struct ping_section *section, const struct line *line,
	const struct ping_line *read, struct tare_err *err)
{
	if (!section->local_errors++)
		section->first_local_error = quote(read->what.at, read->what.bytes);
	if (!section->refused.count++)
		section->refused.reason = read->reason;
	if (import_event(import, event_time(import, section), "not-sent", err, "line %llu: %s",
		    (unsigned long long)line->number, quote(read->what.at, read->what.bytes).text))
		return STEP_FAIL;
	if (section->dialect == PING_WINDOWS && ping_section_reach(section, section->highest + 1, false, err))
		return STEP_FAIL;
	return STEP_ON;
}

static enum step take_event(struct import *import, struct ping_section *section, const struct line *line,
	const struct ping_line *read, struct tare_err *err)
{
	bool clock = read->kind == PING_CLOCK;
	section->clock_warned = section->clock_warned || clock;
	if (import_event(import, event_time(import, section), clock ? "wall-step" : "note", err, "line %llu: %s",
		    (unsigned long long)line->number, quote(read->what.at, read->what.bytes).text))
		return STEP_FAIL;
	return STEP_ON;
}

static enum step take_header_line(struct ping_section *section, const struct line *line, const struct ping_line *read)
{
	/* text of others may have the shape of Windows' header; inside a numbered section it is no header */
	if (read->dialect == PING_WINDOWS && section->numbered && !section->statistics &&
		!ping_says(line->text, "ping")) {
		take_noise(section, line);
		return STEP_ON;
	}
	/* errors go to another stream and may come before the header that they belong to */
	if (section->has_header || section->samples.count || section->has_totals)
		return STEP_HOLD;
	take_header(section, read);
	section->unsure = read->dialect == PING_WINDOWS && !ping_says(line->text, "ping");
	return STEP_ON;
}

static void take_summary(struct ping_section *section, const struct ping_line *read)
{
	section->statistics = true;
	if (read->kind == PING_STATISTICS && !section->host[0] && read->who.bytes) {
		copy_name(read->who, section->host, sizeof(section->host));
		copy_name(read->who, section->address, sizeof(section->address));
	} else if (read->kind == PING_TOTALS && !section->has_totals) {
		section->has_totals = true;
		section->transmitted = read->transmitted;
		section->received = read->received;
		if (read->dialect == PING_WINDOWS && section->dialect == PING_UNKNOWN)
			section->dialect = PING_WINDOWS;
	} else if (read->kind == PING_TIMES && !section->has_times) {
		section->has_times = true;
		section->times = quote(read->what.at, read->what.bytes);
		memcpy(section->times_ns, read->times_ns, sizeof(section->times_ns));
		section->times_step_ns = read->times_step_ns;
	}
}

static bool may_end_the_file(const struct ping_line *read)
{
	if (read->kind == PING_REPLY)
		return read->complete;
	return read->kind == PING_BLANK || read->kind == PING_HEADER || read->kind == PING_KNOWN ||
	       read->kind == PING_STATISTICS || read->kind == PING_TOTALS || read->kind == PING_TIMES ||
	       read->kind == PING_REMARK || read->kind == PING_NOISE;
}

static enum step take_line(struct import *import, struct ping *ping, const struct line *line, struct tare_err *err)
{
	struct ping_section *section = &ping->section;
	struct ping_line read;
	struct ping_context context = {
		.windows = section->dialect == PING_WINDOWS,
		.statistics = section->statistics,
		.dump = section->dump,
		.stamps = section->no_times};
	section->last_line = line->number;
	if (line->overlong) {
		take_noise(section, line);
		return STEP_ON;
	}
	ping_line_read(line->text, line->bytes, context, &read);
	section->dump = ping_says(line->text, "vr hl tos");
	if (line->unterminated && !may_end_the_file(&read)) {
		section->cut++;
		return STEP_ON;
	}
	if (read.stamp_ns != TARE_NO_TIME) {
		if (!ping->epoch_known)
			import->run.epoch_real_ns = read.stamp_ns;
		ping->epoch_known = true;
		section->last_stamp_ns = read.stamp_ns;
	}
	switch (read.kind) {
	case PING_BLANK:
	case PING_KNOWN:
		return STEP_ON;
	case PING_HEADER:
		return take_header_line(section, line, &read);
	case PING_ERROR:
		first_error(section, &read);
		if (read.has_seq || section->dialect == PING_WINDOWS)
			return take_request(import, section, line, &read, err);
		section->unmatched_errors++;
		return STEP_ON;
	case PING_REPLY:
	case PING_NO_ANSWER:
	case PING_TIMEOUT:
		return take_request(import, section, line, &read, err);
	case PING_LOCAL_ERROR:
		return take_local_error(import, section, line, &read, err);
	case PING_REMARK:
		if (!section->remarks++) {
			section->remark_line = line->number;
			section->first_remark = quote(read.what.at, read.what.bytes);
		}
		return STEP_ON;
	case PING_CLOCK:
	case PING_REDIRECT:
		return take_event(import, section, line, &read, err);
	case PING_STATISTICS:
	case PING_TOTALS:
	case PING_TIMES:
		take_summary(section, &read);
		return STEP_ON;
	case PING_DAMAGED:
		return damaged(import, section, line, read.damage, err);
	case PING_NOISE:
	default:
		take_noise(section, line);
		return STEP_ON;
	}
}

/* Reads until a section is complete. 0: nothing is left. */
static int read_section(struct import *import, struct ping *ping, struct tare_err *err)
{
	ping_section_reset(&ping->section, ping->has_held ? ping->held.number : 1);
	while (!ping->at_end) {
		if (!ping->has_held) {
			int got = lines_next(import->lines, &ping->held, err);
			if (got < 0)
				return -1;
			if (got == 0) {
				ping->at_end = true;
				break;
			}
		}
		ping->has_held = false;
		enum step step = take_line(import, ping, &ping->held, err);
		if (step == STEP_FAIL)
			return -1;
		if (step == STEP_HOLD) {
			ping->has_held = true;
			if (ping_section_holds(&ping->section))
				return 1;
			ping_section_reset(&ping->section, ping->held.number);
		}
	}
	return ping_section_holds(&ping->section);
}

static const struct tare_target *find_target(struct import *import, struct ping *ping, struct tare_err *err)
{
	const struct ping_section *section = &ping->section;
	char url[160];
	struct text text = TEXT_IN(url);
	const char *host = section->host[0] ? section->host : "unknown";
	text_add(&text, strchr(host, ':') ? "icmp://[%s]" : "icmp://%s", host);
	for (size_t i = 0; i < ping->target_count && i < TARGETS_REMEMBERED; i++) {
		struct tare_target *known = ping->targets[i];
		if (strcmp(known->url, url) == 0 && strcmp(known->address, section->address) == 0 &&
			known->payload_bytes == section->payload_bytes)
			return known;
	}
	struct tare_target *target = import_take(import, 1, sizeof(*target), err);
	if (!target || !(target->url = import_text(import, url, err)) ||
		!(target->address = import_text(import, section->address, err)))
		return NULL;
	target->id = (int64_t)ping->target_count + 1;
	target->position = (uint32_t)ping->target_count;
	target->kind = "icmp";
	target->payload_bytes = section->payload_bytes;
	ping->targets[ping->target_count++ % TARGETS_REMEMBERED] = target;
	return target;
}

static const struct tare_round *new_round(
	struct import *import, const struct ping_section *section, struct tare_err *err)
{
	const struct ping_samples *samples = &section->samples;
	struct tare_round *round = import_take(import, 1, sizeof(*round), err);
	if (!round)
		return NULL;
	*round = (struct tare_round){.id = import->round,
		.number = import->round,
		.label = "",
		.interval_ns = import->rules.every_ns,
		.axis_error_ns = TARE_NO_TIME,
		.warmup = 2,
		.status = section->statistics ? "finished" : "interrupted"};
	for (size_t i = 0; i < samples->count; i++) {
		if (samples->tx_ns[i] != TARE_NO_TIME) {
			round->first_due_ns = samples->tx_ns[i];
			break;
		}
	}
	if (section->last_stamp_ns != TARE_NO_TIME)
		round->ended_ns = section->last_stamp_ns - import->run.epoch_real_ns;
	return round;
}

static int make_record(struct import *import, struct ping *ping, struct tare_err *err)
{
	struct ping_section *section = &ping->section;
	struct ping_samples *samples = &section->samples;
	import->round++;
	static const uint8_t no_fate[1];
	if (ping_section_close(section, import, err))
		return -1;
	ping->record = (struct tare_record){.run = &import->run,
		.target = find_target(import, ping, err),
		.round = new_round(import, section, err),
		.beside = {.duplicate = section->duplicates,
			.reordered = section->reordered,
			.unmatched_errors = section->unmatched_errors},
		.series = {.count = samples->count,
			.fate = samples->fate ? samples->fate : no_fate,
			.flags = samples->flags,
			.reason = samples->reason},
		.resolution_ns = ping_section_step(section),
		.origin = {.format = "ping",
			.quantity = TARE_QUANTITY_RTT,
			.clock = TARE_CLOCK_WALL,
			.pacing = TARE_PACING_OPEN,
			.lateness = TARE_LATENESS_UNKNOWN}};
	if (!ping->record.target || !ping->record.round)
		return -1;
	struct tare_series *series = &ping->record.series;
	series->given_ns[TARE_SPAN_RTT] = samples->rtt_ns;
	if (section->has_stamps) {
		series->given_ns[TARE_SPAN_GAP] = samples->gap_ns;
		series->at_ns[TARE_STAGE_USER_TX] = samples->tx_ns;
		series->at_ns[TARE_STAGE_USER_RX] = samples->rx_ns;
		ping_schedule_of(
			samples->tx_ns, samples->count, import->rules.every_ns, samples->scratch, &import->schedule);
		import->has_schedule = true;
	}
	if (import->round == 1)
		import->run.tool = ping_tool(section->dialect);
	import->run.status = section->statistics ? TARE_RUN_FINISHED : TARE_RUN_INTERRUPTED;
	return ping_section_notes(section, import, err);
}

static int ping_next(struct import *import, void *reader, const struct tare_record **ret_record, struct tare_err *err)
{
	struct ping *ping = reader;
	int got = read_section(import, ping, err);
	if (got < 0)
		return -1;
	if (got == 0 && import->round == 0)
		return tare_fail(
			err, TARE_E_FORMAT, "'%s': looks like a ping log, but no line of it can be read", import->name);
	if (got == 0)
		return 0;
	if (make_record(import, ping, err))
		return -1;
	*ret_record = &ping->record;
	return 1;
}

const struct import_format ping_format = {
	.name = "ping", .help = "ping of any system", .tool = "ping", .knows = ping_knows, .open = ping_open, .next = ping_next, .free = ping_free};
