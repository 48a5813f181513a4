/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Recordings and logs behind one door. Regular files are told apart by their
 * first bytes; a pipe is never looked at before it is read for good, so it can
 * only be a log.
 */
#include "cli/source.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cli/one_way.h"
#include "import/import.h"
#include "session/session.h"
#include "tare/recording.h"

/* Below this a series takes little memory in any form (24 MB with five stages). */
enum { PACK_LEAST = 500000 };

struct source {
	const char *path;
	const struct source_rules *rules;
	struct tare_recording *recording; /* one of the two is set */
	struct import *import;
	FILE *stream;               /* the log's, where we opened it */
	struct tare_record bounded;  /* the last record, with the bound on the clocks' offset that its run was told */
	bool *run_seen;     /* by place among the recording's runs */
	int64_t writer;     /* process that is writing the recording now; 0: none */
	char salvaged[512]; /* what was brought in from the spool of a run that died, or why not */
};

/* 1 recording, 0 something else, -1. */
static int is_recording(const char *path, struct tare_err *err)
{
	char head[4096];
	struct stat status;
	if (strcmp(path, "-") == 0)
		return 0;
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &status))
		return tare_fail_errno(err, errno, "cannot open '%s'", path);
	if (!S_ISREG(status.st_mode))
		return 0;
	ssize_t bytes = pread(fd, head, sizeof(head), 0);
	if (bytes < 0)
		return tare_fail_errno(err, errno, "cannot read '%s'", path);
	return tare_recording_looks_like(head, (size_t)bytes);
}

bool source_is_rereadable(const char *path)
{
	struct stat status;
	return strcmp(path, "-") != 0 && stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

static const char *name_of(const struct source *source)
{
	return source->rules->name ? source->rules->name : source->path;
}

/* A run that was killed may have left its last round in memory: it belongs to the file. */
static int open_recording(struct source *source, struct tare_err *err)
{
	struct tare_err why = {0};
	if (strcmp(name_of(source), source->path) != 0)
		return tare_fail(err, TARE_E_USAGE, "%s is a recording, which cannot be read from a pipe: name the file",
			name_of(source));
	source->writer = tare_recording_writer(source->path);
	if (source->writer == 0 && session_salvage(source->path, source->salvaged, sizeof(source->salvaged), &why))
		snprintf(source->salvaged, sizeof(source->salvaged),
			"what a killed run left could not be brought in: %.400s", why.text);
	if (tare_recording_open(source->path, source->rules->lenient, &source->recording, err))
		return -1;
	tare_recording_pack(source->recording, source->rules->packed ? PACK_LEAST : 0);
	return 0;
}

/* Under another name than its path: a stream, which import does not close. */
static int open_log(struct source *source, const struct import_rules *rules, struct tare_err *err)
{
	if (!source->rules->name || strcmp(source->path, "-") == 0)
		return import_open(source->path, rules, &source->import, err);
	source->stream = fopen(source->path, "re");
	if (!source->stream)
		return tare_fail_errno(err, errno, "cannot open '%s'", source->rules->name);
	return import_open_stream(source->stream, source->rules->name, rules, &source->import, err);
}

int source_open(const char *path, const struct source_rules *rules, struct source **ret_source, struct tare_err *err)
{
	int recording = is_recording(path, err);
	if (recording < 0)
		return -1;
	struct source *source = calloc(1, sizeof(*source));
	if (!source)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	source->path = path;
	source->rules = rules;
	const struct import_rules import_rules = {
		.every_ns = rules->every_ns,
		.lenient = rules->lenient,
		.format = rules->format,
		.with = rules->with,
		.column = rules->column,
		.unit = rules->unit,
		.capture = rules->capture};
	if (recording ? open_recording(source, err) : open_log(source, &import_rules, err)) {
		source_free(source);
		return -1;
	}
	*ret_source = source;
	return 0;
}

void source_free(struct source *source)
{
	if (!source)
		return;
	tare_recording_free(source->recording);
	import_free(source->import);
	if (source->stream)
		fclose(source->stream);
	free(source->run_seen);
	free(source);
}

struct tare_recording *source_recording(const struct source *source)
{
	return source->recording;
}

const struct import *source_import(const struct source *source)
{
	return source->import;
}

static void note_run(struct source *source, const struct tare_record *record)
{
	const struct tare_run *runs;
	size_t count = source->recording ? tare_recording_runs(source->recording, &runs) : 0;
	if (!source->run_seen && count)
		source->run_seen = calloc(count, sizeof(*source->run_seen));
	for (size_t i = 0; source->run_seen && i < count; i++)
		source->run_seen[i] |= runs[i].id == record->run->id;
}

static bool is_wanted(const struct source_rules *rules, const struct tare_round *round)
{
	if (rules->round && rules->round != round->number)
		return false;
	return !rules->label || strcmp(rules->label, round->label ? round->label : "") == 0;
}

/* Every command sees the same spans, so the bound goes on here. */
static const struct tare_record *with_bound(struct source *source, const struct tare_record *record)
{
	const struct tare_setting *settings = NULL;
	size_t count = 0;
	struct tare_err ignored;
	if (!source->recording ||
		tare_recording_settings(source->recording, record->run->id, &settings, &count, &ignored) < 0)
		return record;
	source->bounded = *record;
	source->bounded.series.clock_bound_ns = one_way_bound_of(settings, count);
	return &source->bounded;
}

int source_next(struct source *source, const struct tare_record **ret_record, struct tare_err *err)
{
	const struct tare_record *record;
	for (;;) {
		int found = source->recording ? tare_recording_next(source->recording, &record, err)
					      : import_next(source->import, &record, err);
		if (found <= 0)
			return found;
		note_run(source, record);
		if (is_wanted(source->rules, record->round))
			break;
	}
	*ret_record = with_bound(source, record);
	return 1;
}

bool source_damage(const struct source *source, char *buffer, size_t room)
{
	struct text text = {.bytes = buffer, .room = room};
	if (!source->recording)
		return false;
	struct tare_damage damage = tare_recording_damage(source->recording);
	if (damage.readable == damage.expected && !damage.reason[0])
		return false;
	text_add(&text, "%s: %" PRIu64 " of %" PRIu64 " samples are readable (%s)", name_of(source), damage.readable,
		damage.expected, damage.reason);
	return true;
}

static int tell_recording(struct source *source, struct stat_view *view, struct tare_err *err)
{
	const struct tare_run *runs;
	size_t count = tare_recording_runs(source->recording, &runs);
	char line[512];
	for (size_t i = 0; i < count; i++) {
		const struct tare_event *events;
		size_t event_count;
		if (!source->run_seen || !source->run_seen[i]) {
			struct text text = TEXT_IN(line);
			text_add(&text, "%s: run %" PRId64 " holds no samples", source->path, runs[i].id);
			if (stat_view_remark(view, line, err))
				return -1;
		}
		if (tare_recording_events(source->recording, runs[i].id, &events, &event_count, err))
			return -1;
		struct tare_run run = runs[i];
		if (run.status == TARE_RUN_UNFINISHED && source->writer > 0) {
			struct text text = TEXT_IN(line);
			text_add(&text, "%s: run %" PRId64 " is being measured by process %" PRId64 ": what it has stored so far is here",
				 source->path, run.id, source->writer);
			if (stat_view_remark(view, line, err))
				return -1;
			run.status = TARE_RUN_FINISHED;
		}
		if (stat_view_run(view, source->path, &run, events, event_count, err))
			return -1;
	}
	if (source->salvaged[0]) {
		struct text text = TEXT_IN(line);
		text_add(&text, "%s: %s", source->path, source->salvaged);
		if (stat_view_remark(view, line, err))
			return -1;
	}
	if (source_damage(source, line, sizeof(line)))
		return stat_view_remark(view, line, err);
	return 0;
}

int source_causes(struct source *source, const struct tare_record *record, const struct tare_cause **ret_causes,
	size_t *ret_count, struct tare_err *err)
{
	*ret_count = 0;
	*ret_causes = NULL;
	if (!source->recording)
		return 0;
	return tare_recording_causes(source->recording, record->round->id, ret_causes, ret_count, err);
}

int source_tell(struct source *source, struct stat_view *view, struct tare_err *err)
{
	const struct import_note *notes;
	if (source->recording)
		return tell_recording(source, view, err);
	size_t count = import_notes(source->import, &notes);
	for (size_t i = 0; i < count; i++) {
		const struct stat_source_note note = {
			.file = source->path, .kind = import_note_name(notes[i].kind), .text = notes[i].text, .round = notes[i].round};
		if (stat_view_note(view, &note, err))
			return -1;
	}
	return 0;
}
