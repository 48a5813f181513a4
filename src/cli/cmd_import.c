/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tare import: one recording of many files, each a run of its own: logs,
 * captures and recordings. A file is read twice, first for its targets, which a
 * recording wants to know before the first round; a pipe goes into a nameless
 * temporary file for that. Memory follows one round.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cli/capture_options.h"
#include "cli/cli.h"
#include "cli/disguise.h"
#include "cli/log_options.h"
#include "cli/source.h"
#include "tare/recording.h"

struct import_config {
	bool append, lenient, anonymize, list;
	const char *output, *labels;
	int64_t every_ns;
	struct capture_rules capture;
	struct log_rules log;
};

static const struct option import_options[] = {
	{.name = "output",
		.letter = 'o',
		.type = OPTION_TEXT,
		.metavar = "FILE",
		.help = "the recording to make; an existing one is refused",
		.offset = OPTION_AT(struct import_config, output)},
	{.name = "append",
		.type = OPTION_FLAG,
		.help = "add the runs to an existing recording",
		.offset = OPTION_AT(struct import_config, append)},
	{.name = "label",
		.letter = 'l',
		.type = OPTION_TEXT,
		.metavar = "TEXT,...",
		.help = "label of all rounds: one for all files, or one for each, in their order",
		.offset = OPTION_AT(struct import_config, labels)},
	{.name = "every",
		.letter = 'e',
		.type = OPTION_DURATION,
		.metavar = "TIME",
		.help = "interval that a log was asked to keep (default: inferred)",
		.offset = OPTION_AT(struct import_config, every_ns),
		.least = 1,
		.most = 9e18},
	{.name = "lenient",
		.type = OPTION_FLAG,
		.help = "pass over what is damaged, and say how much that was",
		.offset = OPTION_AT(struct import_config, lenient)},
	{.name = "anonymize",
		.type = OPTION_FLAG,
		.help = "without hosts, addresses, labels, settings, facts and events",
		.offset = OPTION_AT(struct import_config, anonymize)},
	{.name = "list-formats",
		.type = OPTION_FLAG,
		.help = "print the logs that tare knows, and end",
		.offset = OPTION_AT(struct import_config, list)},
	LOG_OPTIONS(struct import_config, log),
	CAPTURE_OPTIONS(struct import_config, capture),
	{.name = NULL},
};

static void source_end(struct source *const *source)
{
	source_free(*source);
}

static void file_end(FILE *const *file)
{
	if (*file)
		fclose(*file);
}

/* ---- targets, found in the first reading ---- */

struct found_target {
	int64_t run, id; /* in the source */
	struct tare_target target; /* its texts are owned */
};

struct found {
	struct found_target *item;
	size_t count;
};

static void found_end(const struct found *found)
{
	for (size_t i = 0; i < found->count; i++) {
		free((void *)(uintptr_t)found->item[i].target.url);
		free((void *)(uintptr_t)found->item[i].target.kind);
		free((void *)(uintptr_t)found->item[i].target.address);
	}
	free(found->item);
}

static struct found_target *find(const struct found *found, const struct tare_record *record)
{
	for (size_t i = found->count; i--;) {
		if (found->item[i].run == record->run->id && found->item[i].id == record->target->id)
			return &found->item[i];
	}
	return NULL;
}

static char *copy_of(const char *text)
{
	return strdup(text ? text : "");
}

static int note_target(struct found *found, const struct tare_record *record, struct tare_err *err)
{
	if (find(found, record))
		return 0;
	struct found_target *larger = reallocarray(found->item, found->count + 1, sizeof(*larger));
	if (!larger)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	found->item = larger;
	struct found_target *item = &larger[found->count++];
	*item = (struct found_target){.run = record->run->id, .id = record->target->id, .target = *record->target};
	item->target.url = copy_of(record->target->url);
	item->target.kind = copy_of(record->target->kind);
	item->target.address = copy_of(record->target->address);
	return item->target.url && item->target.kind && item->target.address ? 0
									      : tare_fail(err, TARE_E_SYSTEM, "out of memory");
}

/* ---- one round, copied: a record lives only until the next one is read ---- */

struct kept {
	struct tare_record *record;
	void **memory;
	size_t count, memory_count;
	struct tare_round round;
	struct tare_event *events; /* of the round so far; texts live as long as the source */
	size_t event_count;
};

static void kept_clear(struct kept *kept)
{
	for (size_t i = 0; i < kept->memory_count; i++)
		free(kept->memory[i]);
	kept->memory_count = kept->count = kept->event_count = 0;
}

static void kept_end(struct kept *kept)
{
	kept_clear(kept);
	free(kept->memory);
	free(kept->record);
	free(kept->events);
}

static int keep_events(struct kept *kept, const struct tare_event *events, size_t count, struct tare_err *err)
{
	struct tare_event *larger = reallocarray(kept->events, kept->event_count + count + 1, sizeof(*larger));
	if (!larger)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	kept->events = larger;
	for (size_t i = 0; i < count; i++)
		larger[kept->event_count++] = events[i];
	return 0;
}

/* A copy that lives until kept_clear; NULL for NULL or without memory. */
static void *keep(struct kept *kept, const void *data, size_t bytes, bool *ok)
{
	if (!data)
		return NULL;
	void **larger = reallocarray(kept->memory, kept->memory_count + 1, sizeof(*larger));
	if (larger)
		kept->memory = larger;
	void *copy = larger ? malloc(bytes ? bytes : 1) : NULL;
	if (!copy) {
		*ok = false;
		return NULL;
	}
	memcpy(copy, data, bytes);
	kept->memory[kept->memory_count++] = copy;
	return copy;
}

static int keep_record(struct kept *kept, const struct tare_record *record, struct tare_err *err)
{
	struct tare_record *larger = reallocarray(kept->record, kept->count + 1, sizeof(*larger));
	bool ok = larger != NULL;
	size_t n = record->series.count;
	if (ok) {
		kept->record = larger;
		struct tare_record *copy = &larger[kept->count++];
		*copy = *record;
		struct tare_series *series = &copy->series;
		for (int i = 0; i < TARE_STAGE_COUNT; i++)
			series->at_ns[i] = keep(kept, series->at_ns[i], n * sizeof(int64_t), &ok);
		for (int i = 0; i < TARE_SPAN_COUNT; i++)
			series->given_ns[i] = keep(kept, series->given_ns[i], n * sizeof(int64_t), &ok);
		for (int i = 0; i < TARE_CPU_PLACES; i++)
			series->cpu[i] = keep(kept, series->cpu[i], n * sizeof(int16_t), &ok);
		series->fate = keep(kept, series->fate, n, &ok);
		series->flags = keep(kept, series->flags, n * sizeof(uint16_t), &ok);
		series->reason = keep(kept, series->reason, n * sizeof(uint16_t), &ok);
		struct tare_bins *bins = keep(kept, copy->bins, sizeof(*bins), &ok);
		if (bins)
			bins->range = keep(kept, bins->range, bins->count * sizeof(*bins->range), &ok);
		copy->bins = bins;
	}
	return ok ? 0 : tare_fail(err, TARE_E_SYSTEM, "out of memory for a round of %zu samples", n);
}

/* ---- writing ---- */

struct making {
	const struct import_config *config;
	struct tare_writer *writer;
	struct disguise *disguise;
	struct source *source;
	struct found found;
	struct kept kept;
	const char *label; /* NULL: as they are */
	int64_t source_run; /* run of the source being written; 0: none yet */
	struct tare_run run;
	struct tare_target *targets; /* of that run */
	size_t target_count;
	const struct tare_round *source_round;
	uint64_t samples, rounds;
};

/* What the reader had to say of a round, 0: of the whole file, as events of it. */
static int keep_notes(struct making *making, uint32_t round, struct tare_err *err)
{
	static const enum import_note_kind last = IMPORT_DAMAGE;
	const struct import_note *notes;
	const struct import *import = source_import(making->source);
	size_t count = import && !making->disguise ? import_notes(import, &notes) : 0;
	for (enum import_note_kind kind = IMPORT_HEAD; kind <= last; kind++) {
		for (size_t i = 0; i < count; i++) {
			const struct tare_event event = {
				.at_ns = TARE_NO_TIME, .kind = import_note_name(kind), .text = notes[i].text};
			if (notes[i].kind != kind || notes[i].round != round)
				continue;
			if (round ? keep_events(&making->kept, &event, 1, err)
				  : tare_writer_event(making->writer, making->run.id, 0, &event, err))
				return -1;
		}
	}
	return 0;
}

static int flush_round(struct making *making, struct tare_err *err)
{
	struct kept *kept = &making->kept;
	if (!kept->count)
		return 0;
	for (size_t i = 0; i < kept->count; i++) {
		kept->record[i].round = &kept->round;
		making->samples += kept->record[i].series.count;
	}
	if (keep_notes(making, kept->round.number, err) ||
		tare_writer_round(making->writer, &kept->round, kept->record, kept->count, kept->events, kept->event_count,
			NULL, 0, err))
		return -1;
	making->rounds++;
	kept_clear(kept);
	return 0;
}

static int end_run(struct making *making, enum tare_run_status status, struct tare_err *err)
{
	if (!making->source_run)
		return 0;
	if (flush_round(making, err) || keep_notes(making, 0, err))
		return -1;
	making->source_run = 0;
	return tare_writer_end_run(making->writer, making->run.id,
		status == TARE_RUN_UNFINISHED ? TARE_RUN_INTERRUPTED : status, err);
}

/* Settings, facts and events of a run that comes out of a recording. */
static int copy_sides(struct making *making, int64_t source_run, struct tare_err *err)
{
	struct tare_recording *recording = source_recording(making->source);
	const struct tare_fact *facts;
	const struct tare_event *events;
	size_t count;
	if (!recording || making->disguise)
		return 0;
	if (tare_recording_facts(recording, source_run, 0, &facts, &count, err) ||
		(count && tare_writer_facts(making->writer, making->run.id, 0, facts, count, err)) ||
		tare_recording_events(recording, source_run, &events, &count, err))
		return -1;
	for (size_t i = 0; i < count; i++) {
		if (tare_writer_event(making->writer, making->run.id, 0, &events[i], err))
			return -1;
	}
	return 0;
}

static int begin_run(struct making *making, const struct tare_record *record, int64_t source_run, struct tare_err *err)
{
	const struct tare_setting *settings = NULL;
	size_t setting_count = 0;
	struct tare_recording *recording = source_recording(making->source);
	free(making->targets);
	making->target_count = 0;
	making->targets = calloc(making->found.count, sizeof(*making->targets));
	if (!making->targets)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	for (size_t i = 0; i < making->found.count; i++) {
		struct found_target *item = &making->found.item[i];
		if (item->run != source_run)
			continue;
		struct tare_target *target = &making->targets[making->target_count++];
		*target = item->target;
		if (making->disguise) {
			target->url = disguise_target(making->disguise, target->url, target->kind);
			target->address = "";
		}
		if (!target->url)
			return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	}
	if (recording && !making->disguise &&
		tare_recording_settings(recording, source_run, &settings, &setting_count, err))
		return -1;
	making->run = *record->run;
	making->run.spool = NULL;
	making->source_run = source_run;
	if (tare_writer_begin_run(making->writer, &making->run, making->targets, making->target_count, settings,
		    setting_count, err))
		return -1;
	return copy_sides(making, source_run, err);
}

static const struct tare_target *target_in_run(const struct making *making, int64_t source_run, int64_t id)
{
	size_t at = 0;
	for (size_t i = 0; i < making->found.count; i++) {
		if (making->found.item[i].run != source_run)
			continue;
		if (making->found.item[i].id == id)
			return &making->targets[at];
		at++;
	}
	return NULL;
}

static int take_record(struct making *making, const struct tare_record *record, struct tare_err *err)
{
	const struct tare_round *round = record->round;
	int64_t source_run = record->run->id, target_id = record->target->id;
	enum tare_run_status status = record->run->status;
	if (making->source_round != round && flush_round(making, err))
		return -1;
	if (making->source_run && making->source_run != source_run && end_run(making, status, err))
		return -1;
	if (disguise_record(making->disguise, &record, err))
		return -1;
	if (!making->source_run && begin_run(making, record, source_run, err))
		return -1;
	if (making->source_round != round || !making->kept.count) {
		making->kept.round = *record->round;
		if (making->label)
			making->kept.round.label = making->label;
	}
	making->source_round = round;
	const struct import *import = source_import(making->source);
	const struct tare_event *events = NULL;
	size_t event_count = import && !making->disguise ? import_events(import, &events) : 0;
	if (keep_events(&making->kept, events, event_count, err))
		return -1;
	struct tare_record placed = *record;
	placed.run = &making->run;
	placed.target = target_in_run(making, source_run, target_id);
	if (!placed.target)
		return tare_fail(err, TARE_E_FORMAT, "the file changed while it was read");
	return keep_record(&making->kept, &placed, err);
}

static int first_reading(struct making *making, const char *path, const struct source_rules *rules, struct tare_err *err)
{
	AUTO_CLEANUP(source_end) struct source *source = NULL;
	const struct tare_record *record;
	int found;
	if (source_open(path, rules, &source, err))
		return -1;
	while ((found = source_next(source, &record, err)) > 0) {
		if (note_target(&making->found, record, err))
			return -1;
	}
	return found;
}

/* A pipe once more, from a nameless temporary file. */
static FILE *spool_input(const char *path, char *ret_path, size_t room, struct tare_err *err)
{
	bool standard = strcmp(path, "-") == 0;
	AUTO_CLEANUP(file_end) FILE *own = standard ? NULL : fopen(path, "re");
	AUTO_CLEANUP(file_end) FILE *spool = tmpfile();
	FILE *in = standard ? stdin : own;
	char buffer[65536];
	size_t got;
	if (!in || !spool) {
		tare_fail_errno(err, errno, in ? "cannot make a temporary file for '%s'" : "cannot open '%s'", path);
		return NULL;
	}
	while ((got = fread(buffer, 1, sizeof(buffer), in)) > 0) {
		if (fwrite(buffer, 1, got, spool) != got)
			break;
	}
	if (ferror(in) || fflush(spool) || ferror(spool)) {
		tare_fail_errno(err, errno ? errno : EIO, "cannot copy '%s' into a temporary file", path);
		return NULL;
	}
	snprintf(ret_path, room, "/proc/self/fd/%d", fileno(spool));
	return take_ptr(spool);
}

static int take_file(struct making *making, struct cli *cli, const char *path, const struct source_rules *rules,
	struct tare_err *err)
{
	AUTO_CLEANUP(file_end) FILE *spool = NULL;
	AUTO_CLEANUP(source_end) struct source *source = NULL;
	const struct tare_record *record;
	char spooled[64], damage[512];
	enum tare_run_status status = TARE_RUN_FINISHED;
	int found;
	if (!source_is_rereadable(path)) {
		spool = spool_input(path, spooled, sizeof(spooled), err);
		if (!spool)
			return -1;
		path = spooled;
	}
	found_end(&making->found);
	making->found = (struct found){.count = 0};
	making->source_round = NULL;
	if (first_reading(making, path, rules, err) || source_open(path, rules, &source, err))
		return -1;
	making->source = source;
	uint64_t rounds = making->rounds;
	while ((found = source_next(source, &record, err)) > 0) {
		status = record->run->status;
		if (take_record(making, record, err))
			return -1;
	}
	if (found < 0 || end_run(making, status, err))
		return -1;
	if (source_damage(source, damage, sizeof(damage)))
		cli_warn(cli, "%s", damage);
	making->source = NULL;
	return making->rounds > rounds ? 0 : tare_fail(err, TARE_E_FORMAT, "'%s' holds no round", path);
}

/* The i-th of a list, or its only one. */
static int label_of(const char *list, int i, int count, char *ret, size_t room, struct tare_err *err)
{
	int labels = 1;
	for (const char *at = list; *at; at++)
		labels += *at == ',';
	if (labels != 1 && labels != count)
		return tare_fail(err, TARE_E_USAGE, "%d labels for %d files: one for all, or one for each", labels, count);
	for (int j = 0; j < i && labels > 1; j++)
		list = strchr(list, ',') + 1;
	struct text text = {.bytes = ret, .room = room};
	text_add(&text, "%.*s", (int)strcspn(list, ","), list);
	return 0;
}

static void making_end(struct making *making)
{
	tare_writer_free(making->writer);
	disguise_free(making->disguise);
	found_end(&making->found);
	kept_end(&making->kept);
	free(making->targets);
}

static int make(struct cli *cli, const struct import_config *config, int count, char **paths, struct tare_err *err)
{
	const struct source_rules rules = {.every_ns = config->every_ns,
		.lenient = config->lenient,
		.format = config->log.format,
		.column = config->log.column,
		.unit = config->log.unit,
		.capture = config->capture};
	AUTO_CLEANUP(making_end) struct making making = {.config = config};
	char label[256];
	/* before anything is made: a mistyped format or label list leaves no file */
	if (config->labels && label_of(config->labels, 0, count, label, sizeof(label), err))
		return -1;
	if (config->anonymize && disguise_open(&making.disguise, err))
		return -1;
	if (tare_writer_open(config->output, config->append ? TARE_APPEND : TARE_CREATE, &making.writer, err))
		return -1;
	for (int i = 0; i < count; i++) {
		making.label = NULL;
		if (config->labels) {
			if (label_of(config->labels, i, count, label, sizeof(label), err))
				return -1;
			making.label = label;
		}
		if (take_file(&making, cli, paths[i], &rules, err)) {
			if (!config->append && i == 0)
				unlink(config->output);
			return -1;
		}
	}
	fprintf(cli->out, "%s: %d file%s, %llu round%s, %llu samples\n", config->output, count, count == 1 ? "" : "s",
		(unsigned long long)making.rounds, making.rounds == 1 ? "" : "s", (unsigned long long)making.samples);
	return tare_writer_close(&making.writer, err);
}

static int import_run(struct cli *cli, void *configuration, int operand_count, char **operands, struct tare_err *err)
{
	const struct import_config *config = configuration;
	if (config->list) {
		enum { FORMATS_MOST = 64 };
		struct cli_word words[FORMATS_MOST];
		size_t formats = 0;
		while (formats < FORMATS_MOST && (words[formats].name = import_format_name(formats, &words[formats].what)))
			formats++;
		return cli_list(cli, "format", words, formats, err);
	}
	if (operand_count == 0 || !config->output)
		return tare_fail(err, TARE_E_USAGE, "import needs one FILE or more, and -o for the recording; see 'tare help import'");
	return make(cli, config, operand_count, operands, err);
}

const struct command command_import = {
	.name = "import",
	.summary = "one recording of many logs, captures and recordings",
	.operands = "FILE...",
	.examples = "  tare import before.log after.log -o both.tare --label before,after\n"
		    "  tare import --list-formats\n"
		    "  sockperf ... --full-log /dev/stdout | tare import - -o sockperf.tare\n",
	.options = import_options,
	.config_bytes = sizeof(struct import_config),
	.run = import_run,
};
