/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tare import: one recording of many files, each a run of its own: logs,
 * captures and recordings. All files are read twice, first for their targets,
 * which a recording wants to know before the first round, and for their faults:
 * what cannot be read is found before anything is written, and a recording that
 * could not be finished is taken back. A pipe goes into a nameless temporary file
 * for that. Memory follows one round.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/stream.h"
#include "base/text.h"
#include "cli/capture_options.h"
#include "cli/cli.h"
#include "cli/disguise.h"
#include "cli/import_kept.h"
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

/* ---- what is read ---- */

struct input_file {
	const char *path, *name; /* what is opened, and what messages call it */
	FILE *spool;             /* a pipe's content; NULL: it can be read again */
	char spooled[64];
	struct found found;
	bool left_out; /* it cannot be read, leniently */
};

struct inputs {
	struct input_file *file;
	int count;
};

static void inputs_end(const struct inputs *inputs)
{
	for (int i = 0; i < inputs->count; i++) {
		if (inputs->file[i].spool)
			fclose(inputs->file[i].spool);
		found_end(&inputs->file[i].found);
	}
	free(inputs->file);
}

/* A pipe once more, from a nameless temporary file. */
static FILE *spool_input(const char *path, struct tare_err *err)
{
	bool standard = strcmp(path, "-") == 0;
	AUTO_FILE own = standard ? NULL : fopen(path, "re");
	AUTO_FILE spool = tmpfile();
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
	int error = ferror(in) ? (errno ? errno : EIO) : stream_errno(spool);
	if (error) {
		tare_fail_errno(err, error, "cannot copy '%s' into a temporary file", path);
		return NULL;
	}
	return take_ptr(spool);
}

static int first_reading(struct input_file *file, struct source_rules rules, struct tare_err *err)
{
	AUTO_CLEANUP(source_end) struct source *source = NULL;
	const struct tare_record *record;
	int found;
	if (!source_is_rereadable(file->path)) {
		struct stat status;
		/* a folder is none to wait for */
		if (strcmp(file->path, "-") != 0 && (stat(file->path, &status) != 0 || S_ISDIR(status.st_mode)))
			return source_open(file->path, &rules, &source, err);
		file->spool = spool_input(file->path, err);
		if (!file->spool)
			return -1;
		snprintf(file->spooled, sizeof(file->spooled), "/proc/self/fd/%d", fileno(file->spool));
		file->path = file->spooled;
	}
	rules.name = file->name;
	if (source_open(file->path, &rules, &source, err))
		return -1;
	while ((found = source_next(source, &record, err)) > 0) {
		if (found_add(&file->found, record, err))
			return -1;
	}
	if (found == 0 && !file->found.count)
		return tare_fail(err, TARE_E_FORMAT, "'%s' holds no round", file->name);
	return found;
}

/* Its rounds would count twice, and twice the same makes every difference look sure. */
static int check_twice(int count, char **paths, struct tare_err *err)
{
	for (int i = 0; i < count; i++) {
		struct stat one, other;
		bool standard = strcmp(paths[i], "-") == 0;
		for (int j = 0; j < i; j++) {
			bool same = standard ? strcmp(paths[j], "-") == 0
					     : stat(paths[i], &one) == 0 && S_ISREG(one.st_mode) && stat(paths[j], &other) == 0 &&
						       one.st_dev == other.st_dev && one.st_ino == other.st_ino;
			if (same)
				return tare_fail(err, TARE_E_USAGE, "'%s' is named twice: its rounds would count twice", paths[i]);
		}
	}
	return 0;
}

/* Leniently, what cannot be read at all is left out with its reason, as long as something is left. */
static int read_all(struct cli *cli, const struct source_rules *rules, int count, char **paths, struct inputs *inputs,
	struct tare_err *err)
{
	int usable = 0;
	inputs->file = calloc((size_t)count, sizeof(*inputs->file));
	if (!inputs->file)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	for (int i = 0; i < count; i++) {
		struct input_file *file = &inputs->file[i];
		struct tare_err why = {0};
		inputs->count = i + 1;
		file->path = paths[i];
		file->name = strcmp(paths[i], "-") == 0 ? "standard input" : paths[i];
		if (first_reading(file, *rules, &why) == 0) {
			usable++;
			continue;
		}
		bool last = i + 1 == count && !usable;
		bool damaged = why.code == TARE_E_FORMAT || why.code == TARE_E_INVALID;
		if (!rules->lenient || last || !damaged) {
			*err = why;
			return -1;
		}
		file->left_out = true;
		cli_warn(cli, "left out: %s", why.text);
	}
	return usable;
}

/* ---- writing ---- */

struct making {
	const struct import_config *config;
	struct tare_writer *writer;
	struct disguise *disguise;
	struct source *source;
	const struct found *found; /* of the file being written */
	struct kept kept;
	const char *label; /* NULL: as they are */
	int64_t source_run; /* run of the source being written; 0: none yet */
	struct tare_run run;
	struct tare_target *targets; /* of that run */
	size_t target_count;
	const struct tare_round *source_round;
	uint64_t samples, rounds;
};

/* Of a recording: what happened in the round, or was said of it. */
static int keep_source_events(struct making *making, struct tare_err *err)
{
	struct tare_recording *recording = source_recording(making->source);
	const struct tare_event *events;
	size_t count = 0;
	if (!recording || making->disguise)
		return 0;
	if (tare_recording_events(recording, making->source_run, &events, &count, err))
		return -1;
	for (size_t i = 0; i < count; i++) {
		if (events[i].round == making->kept.round.id && kept_events(&making->kept, &events[i], 1, err))
			return -1;
	}
	return 0;
}

/* What the reader had to say of a round, 0: of the whole file, as events of it. */
static int keep_notes(struct making *making, uint32_t round, struct tare_err *err)
{
	static const enum import_note_kind last = IMPORT_DAMAGE;
	const struct import_note *notes;
	const struct import *import = source_import(making->source);
	size_t count = import && !making->disguise ? import_notes(import, &notes) : 0;
	if (round && keep_source_events(making, err))
		return -1;
	for (enum import_note_kind kind = IMPORT_HEAD; kind <= last; kind++) {
		for (size_t i = 0; i < count; i++) {
			const struct tare_event event = {
				.at_ns = TARE_NO_TIME, .kind = import_note_name(kind), .text = notes[i].text};
			if (notes[i].kind != kind || notes[i].round != round)
				continue;
			if (round ? kept_events(&making->kept, &event, 1, err)
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
		if (!events[i].round && tare_writer_event(making->writer, making->run.id, 0, &events[i], err))
			return -1;
	}
	return 0;
}

static int begin_run(struct making *making, const struct tare_record *record, int64_t source_run, struct tare_err *err)
{
	const struct tare_setting *settings = NULL;
	struct tare_setting bound;
	char bound_text[32];
	size_t setting_count = 0;
	struct tare_recording *recording = source_recording(making->source);
	free(making->targets);
	making->target_count = 0;
	making->targets = calloc(making->found->count, sizeof(*making->targets));
	if (!making->targets)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	for (size_t i = 0; i < making->found->count; i++) {
		struct found_target *item = &making->found->item[i];
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
	if (!recording && record->series.clock_bound_ns > 0) {
		snprintf(bound_text, sizeof(bound_text), "%" PRId64 "ns", record->series.clock_bound_ns);
		bound = (struct tare_setting){.name = "clock-bound", .value = bound_text, .origin = "command line"};
		settings = &bound;
		setting_count = 1;
	}
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
	for (size_t i = 0; i < making->found->count; i++) {
		if (making->found->item[i].run != source_run)
			continue;
		if (making->found->item[i].id == id)
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
	if (kept_events(&making->kept, events, event_count, err))
		return -1;
	struct tare_record placed = *record;
	placed.run = &making->run;
	placed.target = target_in_run(making, source_run, target_id);
	if (!placed.target)
		return tare_fail(err, TARE_E_FORMAT, "the file changed while it was read");
	return kept_record(&making->kept, &placed, err);
}

static int take_file(struct making *making, struct cli *cli, const struct input_file *file, struct source_rules rules,
	struct tare_err *err)
{
	AUTO_CLEANUP(source_end) struct source *source = NULL;
	const struct tare_record *record;
	char damage[512];
	enum tare_run_status status = TARE_RUN_FINISHED;
	int found;
	making->found = &file->found;
	making->source_round = NULL;
	rules.name = file->name;
	if (source_open(file->path, &rules, &source, err))
		return -1;
	making->source = source;
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
	return 0;
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
	kept_end(&making->kept);
	free(making->targets);
}

/* What could not be finished is no recording; one that was there before keeps what is whole in it. */
static void take_back(struct cli *cli, struct making *making, int written)
{
	const char *path = making->config->output;
	AUTO_FREE char *journal = NULL;
	if (making->config->append) {
		if (written)
			cli_warn(cli, "'%s' has the %d file%s before that", path, written, written == 1 ? "" : "s");
		return;
	}
	tare_writer_free(take_ptr(making->writer));
	unlink(path);
	if (asprintf(&journal, "%s-journal", path) > 0)
		unlink(journal);
}

/* Given here, it names as much as one that was in the file. */
static int disguise_own_label(struct making *making, struct tare_err *err)
{
	if (!making->disguise || !making->label)
		return 0;
	making->label = disguise_label(making->disguise, making->label);
	return making->label ? 0 : tare_fail(err, TARE_E_SYSTEM, "out of memory");
}

static int write_all(struct cli *cli, struct making *making, const struct inputs *inputs, const struct source_rules *rules,
	struct tare_err *err)
{
	const struct import_config *config = making->config;
	char label[256];
	int written = 0;
	for (int i = 0; i < inputs->count; i++) {
		if (inputs->file[i].left_out)
			continue;
		making->label = config->labels ? label : NULL;
		if ((config->labels && label_of(config->labels, i, inputs->count, label, sizeof(label), err)) ||
			disguise_own_label(making, err) || take_file(making, cli, &inputs->file[i], *rules, err)) {
			take_back(cli, making, written);
			return -1;
		}
		written++;
	}
	return 0;
}

static int make(struct cli *cli, const struct import_config *config, int count, char **paths, struct tare_err *err)
{
	const struct source_rules rules = {.every_ns = config->every_ns,
		.lenient = config->lenient,
		.format = config->log.format,
		.column = config->log.column,
		.unit = config->log.unit,
		.with = config->log.with,
		.capture = config->capture};
	AUTO_CLEANUP(making_end) struct making making = {.config = config};
	AUTO_CLEANUP(inputs_end) struct inputs inputs = {NULL, 0};
	struct stat status;
	char label[256];
	if (config->labels && label_of(config->labels, 0, count, label, sizeof(label), err))
		return -1;
	/* before hours of reading; whoever makes it meanwhile is met by the writer */
	if (!config->append && stat(config->output, &status) == 0)
		return tare_fail(err, TARE_E_USAGE, "'%s' exists; --append adds a run to it", config->output);
	if (check_twice(count, paths, err) || (config->anonymize && disguise_open(&making.disguise, err)))
		return -1;
	int usable = read_all(cli, &rules, count, paths, &inputs, err);
	if (usable < 0 || tare_writer_open(config->output, config->append ? TARE_APPEND : TARE_CREATE, &making.writer, err) ||
		write_all(cli, &making, &inputs, &rules, err) || tare_writer_close(&making.writer, err))
		return -1;
	fprintf(cli->out, "%s: %d file%s, %llu round%s, %llu samples\n", config->output, usable, usable == 1 ? "" : "s",
		(unsigned long long)making.rounds, making.rounds == 1 ? "" : "s", (unsigned long long)making.samples);
	return 0;
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
