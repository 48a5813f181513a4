/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * After a crash. The recording names the prefix of its spools; each "prefix.N"
 * that no living process locks is sealed like a live round and written, unless the
 * recording has that round already.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "session/private.h"

static void dir_end(DIR *const *dir)
{
	if (*dir)
		closedir(*dir);
}
#define AUTO_DIR AUTO_CLEANUP(dir_end) DIR *

/* An unfinished run of the recording, and what lies there of it. */
struct orphan {
	struct tare_run run;
	struct tare_target targets[SPOOL_TARGETS_MAX];
	size_t target_count;
	char prefix[SPOOL_PATH_BYTES];
};

static void recording_end(struct tare_recording *const *recording)
{
	tare_recording_free(*recording);
}

/* Only files directly in a temporary folder and named as ours are ever looked at. */
static bool plausible_prefix(const char *prefix)
{
	const char *slash = strrchr(prefix, '/');
	return prefix[0] == '/' && slash && strncmp(slash, "/tare-", 6) == 0 && !strstr(prefix, "/../");
}

/* Rounds found beside the prefix, as numbers; at most `room`. */
static size_t find_rounds(const char *prefix, uint32_t *ret_numbers, size_t room)
{
	char folder[SPOOL_PATH_BYTES];
	const char *name = strrchr(prefix, '/') + 1;
	size_t found = 0, length = strlen(name);
	snprintf(folder, sizeof folder, "%.*s", (int)(name - prefix), prefix);
	AUTO_DIR dir = opendir(folder);
	if (!dir)
		return 0;
	for (struct dirent *entry = readdir(dir); entry && found < room; entry = readdir(dir)) {
		if (strncmp(entry->d_name, name, length) != 0 || entry->d_name[length] != '.')
			continue;
		char *end;
		unsigned long number = strtoul(entry->d_name + length + 1, &end, 10);
		if (*end == '\0' && number > 0 && number <= UINT32_MAX)
			ret_numbers[found++] = (uint32_t)number;
	}
	return found;
}

/* The last moment of which the spool tells: younger requests had no time to be answered. */
static int64_t last_moment(const struct spool *spool)
{
	int64_t last_ns = spool->header->epoch_mono_ns;
	uint64_t readings = raw_read(&spool->header->readings_count);
	if (readings)
		last_ns = spool->readings[readings - 1].mono_after_ns;
	for (size_t t = 0; t < spool->header->target_count; t++) {
		const struct raw_sample *samples = spool_samples(spool, t);
		uint64_t slots = raw_read(&spool->counters[t].slots);
		for (uint64_t i = slots > 4096 ? slots - 4096 : 0; i < slots; i++) {
			last_ns = samples[i].user_tx_ns > last_ns ? samples[i].user_tx_ns : last_ns;
			last_ns = samples[i].user_rx_ns > last_ns ? samples[i].user_rx_ns : last_ns;
		}
	}
	return last_ns;
}

static bool belongs(const struct spool *spool, const struct orphan *orphan)
{
	const struct spool_header *header = spool->header;
	return header->seed == orphan->run.seed && header->epoch_mono_ns == orphan->run.epoch_mono_ns &&
		header->epoch_real_ns == orphan->run.epoch_real_ns && header->first_target <= orphan->target_count &&
		header->target_count <= orphan->target_count - header->first_target;
}

static uint64_t requests_in(const struct spool *spool)
{
	uint64_t requests = 0;
	for (size_t i = 0; i < spool->header->target_count; i++)
		requests += raw_read(&spool->counters[i].slots);
	return requests;
}

static int write_spool(struct tare_writer *writer, const struct orphan *orphan, struct spool *spool,
	struct tare_err *err)
{
	struct writer_job *job;
	struct sealing_of_spool sealing = {.run = &orphan->run,
		.targets = &orphan->targets[spool->header->first_target],
		.spool = spool,
		.ended_mono_ns = last_moment(spool),
		.status = "salvaged"};
	uint64_t requests = requests_in(spool);
	if (session_seal(&sealing, &job, err) < 0)
		return -1;
	int status = tare_writer_round(writer, &job->round, job->records, job->record_count, job->events,
		job->event_count, job->readings, job->reading_count, err);
	if (status == 0) {
		char sentence[200];
		snprintf(sentence, sizeof sentence, "round %u: %llu requests brought in from the spool of a run that was cut off",
			job->round.number, (unsigned long long)requests);
		struct tare_event event = {.at_ns = job->round.ended_ns, .kind = "salvaged", .text = sentence};
		status = tare_writer_event(writer, orphan->run.id, job->round.id, &event, err);
	}
	writer_job_free(job, false);
	return status;
}

/* One "prefix.N": 0 also when it is still in use, foreign or already written. */
static int salvage_round(struct tare_writer *writer, const struct orphan *orphan, uint32_t number, uint32_t rounds_written,
	struct text *note, struct tare_err *err)
{
	char path[SPOOL_PATH_BYTES + 16];
	struct spool spool;
	struct tare_err why = {0};
	snprintf(path, sizeof path, "%s.%u", orphan->prefix, number);
	int adopted = spool_adopt(path, &spool, &why);
	if (adopted <= 0) {
		if (adopted < 0)
			text_add(note, "%s%s", note->used ? "; " : "", why.text);
		return 0;
	}
	int status = 0;
	bool ours = belongs(&spool, orphan);
	if (ours && number > rounds_written && requests_in(&spool) > 0)
		status = write_spool(writer, orphan, &spool, err);
	spool_close(&spool, ours && status == 0);
	return status;
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return (x > y) - (x < y);
}

static int salvage_run(const char *path, const struct orphan *orphan, uint32_t rounds_written, struct text *note,
	struct tare_err *err)
{
	uint32_t numbers[64];
	size_t count = find_rounds(orphan->prefix, numbers, sizeof numbers / sizeof numbers[0]);
	struct tare_writer *writer = NULL;
	struct tare_err why = {0};
	if (count == 0)
		return 0;
	if (tare_writer_open(path, TARE_RESUME, &writer, &why) < 0) {
		/* read-only place, or its process lives: what is in the file can be read all the same */
		text_add(note, "%sthe last round of this run is still in '%s.*': %s", note->used ? "; " : "", orphan->prefix,
			why.text);
		return 0;
	}
	qsort(numbers, count, sizeof numbers[0], by_number);
	int status = 0;
	for (size_t i = 0; i < count && status == 0; i++)
		status = salvage_round(writer, orphan, numbers[i], rounds_written, note, err);
	if (status == 0)
		status = tare_writer_close(&writer, err);
	tare_writer_free(writer);
	return status;
}

static int copy_orphan(struct tare_recording *recording, const struct tare_run *run, struct orphan *ret_orphan)
{
	const struct tare_target *target;
	if (!run->spool || !plausible_prefix(run->spool) || strlen(run->spool) >= SPOOL_PATH_BYTES)
		return -1;
	*ret_orphan = (struct orphan){.run = *run};
	memcpy(ret_orphan->prefix, run->spool, strlen(run->spool) + 1);
	while ((target = tare_recording_target(recording, run->id, ret_orphan->target_count)) != NULL) {
		if (ret_orphan->target_count == SPOOL_TARGETS_MAX)
			return -1;
		ret_orphan->targets[ret_orphan->target_count++] = *target;
	}
	return ret_orphan->target_count ? 0 : -1;
}

int session_salvage(const char *path, char *note, size_t note_room, struct tare_err *err)
{
	struct text text = {.bytes = note, .room = note_room};
	const struct tare_run *runs;
	note[0] = '\0';
	AUTO_CLEANUP(recording_end) struct tare_recording *recording = NULL;
	if (tare_recording_open(path, true, &recording, err) < 0)
		return -1;
	size_t run_count = tare_recording_runs(recording, &runs);
	for (size_t i = 0; i < run_count; i++) {
		const struct tare_round *round;
		struct orphan orphan;
		if (runs[i].status != TARE_RUN_UNFINISHED || copy_orphan(recording, &runs[i], &orphan) < 0)
			continue;
		uint32_t written = 0;
		for (size_t r = 0; (round = tare_recording_round(recording, runs[i].id, r)) != NULL; r++)
			written = round->number > written ? round->number : written;
		/* the reader stays open: SQLite lets one writer in beside it */
		if (salvage_run(path, &orphan, written, &text, err) < 0)
			return -1;
	}
	return 0;
}
