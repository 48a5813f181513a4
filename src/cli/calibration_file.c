/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which rounds of a calibration belong to what is measured now, and how far it
 * can still be trusted: its age and the facts that differ are told, since a limit
 * outlives the setting it was made under more often than not.
 */
#include "cli/calibration_file.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/trial_set.h"
#include "host/host.h"
#include "tare/recording.h"

struct calibration_file {
	struct tare_trials *rounds, *instrument;
	struct tare_trial *sorted;      /* those with the key */
	size_t count;
	struct tare_trial *alone;       /* of the instrument */
	size_t alone_count;
	size_t other_class;             /* rounds left out, of the other CPU class */
	int hour;                       /* of what is measured now */
	size_t near, left_out;          /* rounds from about this hour; others that were left out for them */
	bool hours_known;
};

static int take_rounds(void *context, const struct tare_record *record)
{
	(void)context;
	return strcmp(record->round->label ? record->round->label : "", CALIBRATION_INSTRUMENT) == 0 ? -1 : 0;
}

static int take_instrument(void *context, const struct tare_record *record)
{
	return take_rounds(context, record) < 0 ? 0 : -1;
}

static bool same_key(const struct tare_trial *one, const struct tare_trial *like)
{
	if (strcmp(one->kind, like->kind) != 0 || strcmp(one->url, like->url) != 0)
		return false;
	/* payload 0: whatever the kind takes by itself */
	if ((like->payload_bytes && one->payload_bytes != like->payload_bytes) || one->warmup != like->warmup)
		return false;
	return like->interval_ns <= 0 ||
	       fabs((double)(one->interval_ns - like->interval_ns)) <= 0.005 * (double)like->interval_ns;
}

/* ---- CPU class ---- */

enum cpu_class cpu_class_of(int cpu)
{
	char line[1024];
	int isolated[1024];
	size_t count = 0;
	if (cpu < 0)
		return CPU_CLASS_ORDINARY;
	AUTO_FILE file = fopen("/sys/devices/system/cpu/isolated", "re");
	if (!file)
		return CPU_CLASS_UNKNOWN;
	if (!fgets(line, sizeof line, file))
		return CPU_CLASS_ORDINARY;
	line[strcspn(line, "\n")] = '\0';
	if (line[0] && parse_cpu_list(line, isolated, 1024, &count, NULL) < 0)
		return CPU_CLASS_UNKNOWN;
	for (size_t i = 0; i < count; i++)
		if (isolated[i] == cpu)
			return CPU_CLASS_ISOLATED;
	return CPU_CLASS_ORDINARY;
}

/* The fact stands with runs that named a CPU; any run that has facts and lacks it took what the scheduler gave. */
static enum cpu_class class_of_run(struct tare_recording *recording, int64_t run)
{
	const struct tare_fact *facts;
	size_t count;
	if (tare_recording_facts(recording, run, 0, &facts, &count, NULL) < 0 || count == 0)
		return CPU_CLASS_UNKNOWN;
	for (size_t i = 0; i < count; i++)
		if (facts[i].key && facts[i].value && strcmp(facts[i].key, "placement.isolated") == 0)
			return strcmp(facts[i].value, "yes") == 0 ? CPU_CLASS_ISOLATED : CPU_CLASS_ORDINARY;
	return CPU_CLASS_ORDINARY;
}

enum cpu_class cpu_class_recorded(const char *path, uint32_t run)
{
	struct tare_recording *recording = NULL;
	if (!path || tare_recording_open(path, true, &recording, NULL) < 0)
		return CPU_CLASS_UNKNOWN;
	enum cpu_class class = class_of_run(recording, run);
	tare_recording_free(recording);
	return class;
}

/* Leaves out the runs of the other class; says how many rounds that were. */
static void keep_class(struct calibration_file *file, const char *path, enum cpu_class wanted)
{
	struct tare_recording *recording = NULL;
	size_t kept = 0, before = file->count;
	if (wanted == CPU_CLASS_UNKNOWN || tare_recording_open(path, true, &recording, NULL) < 0)
		return;
	for (size_t i = 0; i < file->count; i++) {
		enum cpu_class class = class_of_run(recording, file->sorted[i].run);
		if (class == CPU_CLASS_UNKNOWN || class == wanted)
			file->sorted[kept++] = file->sorted[i];
	}
	file->count = kept;
	file->other_class = before - kept;
	tare_recording_free(recording);
}

/* ---- the rest of the key ---- */

static void keep_key(struct calibration_file *file, const struct tare_trial *like)
{
	size_t kept = 0;
	for (size_t i = 0; i < file->count; i++)
		if (same_key(&file->sorted[i], like) && file->sorted[i].row_count)
			file->sorted[kept++] = file->sorted[i];
	file->count = kept;
}

static int hour_of(int64_t at_ns)
{
	time_t seconds = (time_t)(at_ns / 1000000000);
	struct tm local;
	return localtime_r(&seconds, &local) ? local.tm_hour : -1;
}

/* 23 and 0 are neighbours. */
static bool is_near(int hour, int other)
{
	int apart = abs(hour - other);
	return apart <= 1 || apart == 23;
}

/* Nights are quieter than noons: ten rounds of this hour say more than all of the day. */
static void keep_hour(struct calibration_file *file, const struct tare_trial *like)
{
	int64_t now_ns = like->at_ns != TARE_NO_TIME ? like->at_ns : (int64_t)time(NULL) * 1000000000;
	size_t near = 0, known = 0;
	file->hour = hour_of(now_ns);
	for (size_t i = 0; i < file->count; i++) {
		if (file->sorted[i].at_ns == TARE_NO_TIME)
			continue;
		known++;
		near += is_near(hour_of(file->sorted[i].at_ns), file->hour);
	}
	file->near = near;
	file->hours_known = known == file->count;
	if (!file->hours_known || near == file->count || near < TARE_CALIBRATION_ROUNDS)
		return;
	size_t kept = 0;
	for (size_t i = 0; i < file->count; i++)
		if (is_near(hour_of(file->sorted[i].at_ns), file->hour))
			file->sorted[kept++] = file->sorted[i];
	file->left_out = file->count - kept;
	file->count = kept;
}

static int read_file(const char *path, const struct tare_rules *rules, const struct tare_figure *figures,
	size_t figure_count, const struct calibration_key *key, struct calibration_file *file, struct tare_err *err)
{
	const struct tare_trial *like = key->like;
	const struct source_rules source_rules = {0};
	size_t added;
	if (tare_trials_open(rules, figures, figure_count, &file->rounds, err) < 0 ||
		tare_trials_open(rules, figures, figure_count, &file->instrument, err) < 0 ||
		trial_set_read(file->rounds, path, &source_rules, like ? like->url : NULL, take_rounds, NULL, &added, err) < 0 ||
		trial_set_read(file->instrument, path, &source_rules, NULL, take_instrument, NULL, &added, err) < 0)
		return -1;
	file->sorted = trial_set_sorted(file->rounds, &file->count);
	file->alone = trial_set_sorted(file->instrument, &file->alone_count);
	if (!file->sorted || !file->alone)
		return tare_fail_errno(err, ENOMEM, "cannot read '%s'", path);
	if (like) {
		keep_key(file, like);
		keep_class(file, path, key->cpu_class);
		keep_hour(file, like);
	} else if (file->count) {
		/* several keys may be in one file: the newest is told */
		const struct tare_trial newest = file->sorted[file->count - 1];
		keep_key(file, &newest);
		keep_class(file, path, cpu_class_recorded(path, newest.run));
	}
	return 0;
}

static void say_age(const struct calibration_file *file, const char *path, const struct tare_trial *like, char *note,
	size_t room)
{
	struct text text = {.bytes = note, .room = room};
	const struct tare_trial *last = &file->sorted[file->count - 1];
	int64_t last_ns = last->at_ns;
	char rate[32] = "any rate";
	if (last->interval_ns > 0)
		format_rate(1e9 / (double)last->interval_ns, rate, sizeof rate);
	text_add(&text, "calibration %s of %s at %s: %zu rounds", path, last->url, rate, file->count);
	if (file->count < TARE_CALIBRATION_ROUNDS)
		text_add(&text, ", fewer than the %d it takes", TARE_CALIBRATION_ROUNDS);
	if (last_ns == TARE_NO_TIME)
		return;
	double days = ((double)time(NULL) * 1e9 - (double)last_ns) / 86400e9;
	if (days >= 2)
		text_add(&text, ", %.0f days old", days);
	if (file->left_out)
		text_add(&text, " of about %02d h, %zu of other hours left out", file->hour, file->left_out);
	else if (file->hours_known && like && file->near == 0)
		text_add(&text, ", none of about %02d h: another hour may scatter differently", file->hour);
	if (like && like->host[0] && strcmp(like->host, file->sorted[0].host) != 0)
		text_add(&text, ", of another host: spreads of a host are its own");
}

/* The hash of the settings that the last run was made under; false when it has none. */
static bool recorded_hash(struct tare_recording *recording, const char *host, char *hash, size_t room)
{
	const struct tare_run *runs;
	const struct tare_fact *facts;
	size_t count, found = 0, run_count = tare_recording_runs(recording, &runs);
	for (size_t i = 0; i < run_count; i++) {
		if (strcmp(runs[i].host ? runs[i].host : "", host) != 0 ||
			tare_recording_facts(recording, runs[i].id, 0, &facts, &count, NULL) < 0)
			continue;
		for (size_t k = 0; k < count; k++)
			if (facts[k].key && facts[k].value && strcmp(facts[k].key, CALIBRATION_SETTINGS) == 0)
				found += snprintf(hash, room, "%s", facts[k].value) > 0;
	}
	return found > 0;
}

/* Limits outlive the settings they were made under: told when this host's are no longer the same. */
static void say_settings(const char *path, char *note, size_t room)
{
	struct host_question question = {.tool = cli_version()};
	struct tare_recording *recording = NULL;
	struct host_snapshot *snapshot = NULL;
	char hash[HOST_HASH_BYTES];
	struct text text = {.bytes = note, .used = strlen(note), .room = room};
	if (tare_recording_open(path, true, &recording, NULL) < 0)
		return;
	if (host_read(&question, &snapshot, NULL) == 0 && snapshot->header.host &&
		recorded_hash(recording, snapshot->header.host, hash, sizeof hash) &&
		strcmp(hash, snapshot->header.hash) != 0)
		text_add(&text, "; settings of this host have changed since: calibrate again");
	host_snapshot_free(snapshot);
	tare_recording_free(recording);
}

static int refuse_key(const char *path, const struct calibration_key *key, const struct calibration_file *file,
	struct tare_err *err)
{
	const struct tare_trial *like = key->like;
	char rate[32] = "any rate", bytes[40] = "", with_rate[48] = "", with_size[40] = "";
	if (file->other_class)
		return tare_fail(err, TARE_E_USAGE,
			"'%s' was calibrated on %s, this is measured on %s: each class of CPU has its own spread", path,
			key->cpu_class == CPU_CLASS_ISOLATED ? "ordinary CPUs" : "an isolated CPU",
			key->cpu_class == CPU_CLASS_ISOLATED ? "an isolated one" : "an ordinary one");
	if (like && like->interval_ns > 0) {
		format_rate(1e9 / (double)like->interval_ns, rate, sizeof rate);
		snprintf(with_rate, sizeof with_rate, " --rate %s", rate);
	}
	if (like && like->payload_bytes) {
		snprintf(bytes, sizeof bytes, " with %u bytes", like->payload_bytes);
		snprintf(with_size, sizeof with_size, " --size %u", like->payload_bytes);
	}
	return tare_fail(err, TARE_E_USAGE,
		"'%s' holds no calibration of %s at %s%s: tare calibrate %s%s%s -o %s makes one", path,
		like ? like->url : "anything", rate, bytes, like ? like->url : "TARGET", with_rate, with_size, path);
}

int calibration_file_open(const char *path, const struct tare_rules *rules, const struct tare_figure *figures,
	size_t figure_count, const struct calibration_key *key, struct calibration_file **ret_file, char *ret_note,
	size_t note_room, struct tare_err *err)
{
	const struct tare_trial *like = key->like;
	struct calibration_file *file = calloc(1, sizeof *file);
	if (!file)
		return tare_fail_errno(err, ENOMEM, "cannot read '%s'", path);
	int status = read_file(path, rules, figures, figure_count, key, file, err);
	if (status == 0 && file->count < 2)
		status = refuse_key(path, key, file, err);
	if (status < 0) {
		calibration_file_free(file);
		return -1;
	}
	say_age(file, path, like, ret_note, note_room);
	say_settings(path, ret_note, note_room);
	*ret_file = file;
	return 0;
}

void calibration_file_free(struct calibration_file *file)
{
	if (!file)
		return;
	free(file->sorted);
	free(file->alone);
	tare_trials_free(file->rounds);
	tare_trials_free(file->instrument);
	free(file);
}

bool calibration_file_figure(const struct calibration_file *file, const struct tare_figure *figure,
	struct tare_calibration *ret_calibration)
{
	return !tare_figure_is_count(figure) &&
	       tare_calibration_of(file->sorted, file->count, figure, ret_calibration, NULL) == 0;
}

bool calibration_file_instrument(const struct calibration_file *file, const struct tare_figure *figure, double *ret_share)
{
	struct tare_calibration alone, whole;
	if (file->alone_count < 2 || tare_calibration_of(file->alone, file->alone_count, figure, &alone, NULL) < 0 ||
		tare_calibration_of(file->sorted, file->count, figure, &whole, NULL) < 0)
		return false;
	*ret_share = alone.sitting_ns.s / whole.centre_ns;
	return true;
}

static int by_value(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;
	return (a > b) - (a < b);
}

int64_t calibration_file_stall_limit_ns(const struct calibration_file *file)
{
	struct tare_figure median;
	double *values = calloc(file->count ? file->count : 1, sizeof *values);
	size_t n = 0;
	int64_t limit_ns = TARE_NO_TIME;
	if (!values)
		return TARE_NO_TIME;
	if (tare_figure_parse("p50", &median, NULL) == 0)
		for (size_t i = 0; i < file->count; i++) {
			double value = tare_trial_figure(&file->sorted[i], &median);
			if (value > 0)
				values[n++] = value;
		}
	/* the lower quartile of the rounds' medians lies in the lowest mode that a quarter of the rounds were in */
	if (n) {
		qsort(values, n, sizeof *values, by_value);
		limit_ns = (int64_t)(10 * values[n / 4]);
	}
	free(values);
	return limit_ns;
}

int calibration_stall_limit(const char *path, const struct calibration_key *key, int64_t *ret_limit_ns,
	struct tare_err *err)
{
	struct calibration_file *file = NULL;
	struct tare_figure median;
	struct tare_rules rules;
	char note[CALIBRATION_NOTE];
	tare_rules_default(&rules);
	if (tare_figure_parse("p50", &median, err) < 0 ||
		calibration_file_open(path, &rules, &median, 1, key, &file, note, sizeof note, err) < 0)
		return -1;
	*ret_limit_ns = calibration_file_stall_limit_ns(file);
	calibration_file_free(file);
	return 0;
}

struct tare_trial calibration_like(const char *url, int64_t interval_ns, uint32_t warmup, char *kind, size_t room)
{
	snprintf(kind, room, "%.*s", (int)strcspn(url, ":"), url);
	return (struct tare_trial){.url = url,
		.kind = kind,
		.host = "",
		.label = "",
		.interval_ns = interval_ns,
		.warmup = warmup,
		.at_ns = TARE_NO_TIME,
		.rate_held = NAN,
		.slow_share = NAN};
}

int calibrated_like(const char *calibration, const char *path, const struct source_rules *rules, const char *url,
	bool limit_wanted, struct calibrated *ret_calibrated, struct tare_err *err)
{
	AUTO_CLEANUP(source_end) struct source *source = NULL;
	const struct tare_record *record = NULL;
	char kind[32];
	*ret_calibrated = (struct calibrated){CPU_CLASS_UNKNOWN, TARE_NO_TIME};
	if (!source_is_rereadable(path))
		return tare_fail(err, TARE_E_USAGE, "--calibration needs files that can be read twice, and '%s' is none", path);
	if (source_open(path, rules, &source, err) < 0)
		return -1;
	int found = source_next(source, &record, err);
	if (found <= 0)
		return found;
	struct tare_trial like = calibration_like(
		url ? url : record->target->url, record->round->interval_ns, record->round->warmup, kind, sizeof kind);
	if (record->run->epoch_real_ns)
		like.at_ns = record->run->epoch_real_ns;
	struct calibration_key key = {.like = &like, .cpu_class = CPU_CLASS_UNKNOWN};
	if (source_recording(source))
		key.cpu_class = cpu_class_recorded(path, (uint32_t)record->run->id);
	ret_calibrated->cpu_class = key.cpu_class;
	return limit_wanted ? calibration_stall_limit(calibration, &key, &ret_calibrated->stall_limit_ns, err) : 0;
}

size_t calibration_file_rounds(const struct calibration_file *file)
{
	return file->count;
}
