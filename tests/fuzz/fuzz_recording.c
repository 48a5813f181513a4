/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A whole recording from the input, read strictly and leniently to its end, then
 * appended to. It goes through a file on tmpfs, which SQLite's own locks need.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "tare/recording.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[64], path[96], journal[104];

static void clean_up(void)
{
	unlink(path);
	unlink(journal);
	rmdir(folder);
}

static void set_up(void)
{
	snprintf(folder, sizeof(folder), "%s/tare-fuzz-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	if (!mkdtemp(folder))
		abort();
	snprintf(path, sizeof(path), "%s/x.tare", folder);
	snprintf(journal, sizeof(journal), "%s-journal", path);
	atexit(clean_up);
}

static void read_all(bool lenient, bool packed)
{
	struct tare_err err = {0};
	struct tare_recording *recording = NULL;
	const struct tare_record *record;
	const struct tare_run *runs;
	uint64_t sum = 0;

	if (tare_recording_open(path, lenient, &recording, &err) < 0) {
		if (err.text[0] == '\0' || recording)
			abort();
		return;
	}
	tare_recording_pack(recording, packed);
	while (tare_recording_next(recording, &record, &err) == 1) {
		for (size_t i = 0; i < record->series.count; i++) {
			/* Every fate is an index into tables. */
			if (record->series.fate[i] >= TARE_FATE_COUNT)
				abort();
			for (int stage = 0; stage < TARE_STAGE_COUNT; stage++)
				sum += (uint64_t)tare_stage_at(&record->series, (enum tare_stage)stage, i);
		}
	}
	for (size_t i = 0, count = tare_recording_runs(recording, &runs); i < count; i++) {
		const struct tare_setting *settings;
		const struct tare_fact *facts;
		const struct tare_event *events;
		const struct tare_reading *readings;
		size_t rows;
		if (tare_recording_settings(recording, runs[i].id, &settings, &rows, &err) == 0)
			sum += rows;
		if (tare_recording_facts(recording, runs[i].id, 0, &facts, &rows, &err) == 0)
			sum += rows;
		if (tare_recording_events(recording, runs[i].id, &events, &rows, &err) == 0)
			sum += rows;
		if (tare_recording_readings(recording, 1, &readings, &rows, &err) == 0)
			sum += rows;
	}
	struct tare_damage damage = tare_recording_damage(recording);
	if (damage.readable > damage.expected)
		abort();
	tare_recording_free(recording);
	__asm__ volatile("" : : "r"(sum));
}

static void append(void)
{
	struct tare_err err = {0};
	struct tare_writer *writer = NULL;
	struct tare_run run = {.tool = "fuzz"};
	struct tare_target target = {.url = "icmp://x"};

	if (tare_writer_open(path, TARE_APPEND, &writer, &err) == 0 &&
		tare_writer_begin_run(writer, &run, &target, 1, NULL, 0, &err) == 0 &&
		tare_writer_end_run(writer, run.id, TARE_RUN_FINISHED, &err) == 0 && run.id < 1)
		abort();
	tare_writer_free(writer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!folder[0])
		set_up();
	{
		AUTO_FD fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		if (fd < 0 || write(fd, data, size) != (ssize_t)size)
			abort();
	}
	read_all(false, false);
	read_all(true, false);
	read_all(true, true);
	append();
	unlink(path);
	unlink(journal);
	return 0;
}
