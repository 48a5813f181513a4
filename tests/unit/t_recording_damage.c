/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Recordings that are none, or not whole: cut off anywhere, a bit flipped
 * anywhere. Whatever was done to the file, the reader gives the samples that
 * were written or a sentence with the file's name, never other samples.
 */
#include <sqlite3.h>

#include "recording_data.h"

enum { SEED = 11, ROUNDS = 3, SAMPLES = 17000, FLIPS = 300, CUTS = 80 };

static char *folder;
static char whole_path[512], path[512];
static struct fake fakes[ROUNDS];

/* What reading a file came to. */
struct outcome {
	bool opened, ended;
	bool wrong; /* a sample, a text or a figure that nobody wrote */
	uint64_t samples, same_rounds;
	struct tare_damage damage;
	struct tare_err err;
};

static bool text_is(const char *text, const char *wanted)
{
	return text && strcmp(text, wanted) == 0;
}

/* Whether all that surrounds the samples is as fake_recording() made it. */
static bool surroundings_fit(const struct tare_record *record)
{
	const struct tare_run *run = record->run;
	const struct tare_round *round = record->round;
	return text_is(run->tool, "tare test") && text_is(run->host, "here") && text_is(run->kernel, "6.1") &&
	       run->seed == SEED && run->epoch_mono_ns == 5 && run->status == TARE_RUN_FINISHED &&
	       text_is(record->target->url, "udp://127.0.0.1:7") && record->target->payload_bytes == 64 &&
	       text_is(round->label, "") && text_is(round->status, "finished") && round->interval_ns == 1000000 &&
	       round->number >= 1 && round->number <= ROUNDS && record->resolution_ns == 1;
}

/* Every value there is as written; samples and values may be missing where `lenient`. */
static bool samples_fit(const struct tare_series *got, const struct tare_series *made, bool lenient)
{
	if (!lenient)
		return fake_same(got, made);
	size_t at = 0;
	for (size_t i = 0; i < got->count; i++) {
		/* Left out are whole chunks; due is unique, and so is user_tx for a due that is lost. */
		const int64_t *due = got->at_ns[TARE_STAGE_DUE];
		while (at < made->count && due && due[i] != TARE_NO_TIME && made->at_ns[TARE_STAGE_DUE][at] != due[i])
			at++;
		if (at == made->count)
			return false;
		for (int stage = 0; due && due[i] != TARE_NO_TIME && stage < TARE_STAGE_COUNT; stage++) {
			int64_t value = fake_time(got->at_ns[stage], i);
			if (value != TARE_NO_TIME && value != fake_time(made->at_ns[stage], at))
				return false;
		}
		if (due && due[i] != TARE_NO_TIME && got->fate[i] != made->fate[at])
			return false;
	}
	return true;
}

static void read_sides(struct tare_recording *recording, struct outcome *outcome)
{
	const struct tare_setting *settings;
	const struct tare_fact *facts;
	const struct tare_event *events;
	const struct tare_reading *readings;
	size_t count = 0;

	if (tare_recording_settings(recording, 1, &settings, &count, &outcome->err) < 0)
		return;
	for (size_t i = 0; i < count; i++)
		outcome->wrong |= !text_is(settings[i].name, "every") || !text_is(settings[i].value, "1ms");
	if (tare_recording_facts(recording, 1, 0, &facts, &count, &outcome->err) < 0)
		return;
	for (size_t i = 0; i < count; i++)
		outcome->wrong |= !text_is(facts[i].key, "cpu") || !text_is(facts[i].value, "made up");
	if (tare_recording_events(recording, 1, &events, &count, &outcome->err) < 0)
		return;
	for (size_t i = 0; i < count; i++)
		outcome->wrong |= events[i].at_ns != 17 || !text_is(events[i].text, "made by a test");
	for (int64_t round = 1; round <= ROUNDS; round++) {
		if (tare_recording_readings(recording, round, &readings, &count, &outcome->err) < 0)
			return;
		for (size_t i = 0; i < count; i++)
			outcome->wrong |= readings[i].real_ns != 2000 + round;
	}
	outcome->ended = true;
}

static struct outcome read_all(bool lenient)
{
	struct outcome outcome = {0};
	struct tare_recording *recording = NULL;
	const struct tare_record *record;
	int next;

	if (tare_recording_open(path, lenient, &recording, &outcome.err) < 0)
		return outcome;
	outcome.opened = true;
	while ((next = tare_recording_next(recording, &record, &outcome.err)) == 1) {
		if (!surroundings_fit(record)) {
			outcome.wrong = true;
			break;
		}
		struct tare_series made = fake_series(&fakes[record->round->number - 1]);
		outcome.samples += record->series.count;
		outcome.same_rounds += fake_same(&record->series, &made);
		outcome.wrong |= !samples_fit(&record->series, &made, lenient);
	}
	if (next == 0)
		read_sides(recording, &outcome);
	outcome.damage = tare_recording_damage(recording);
	tare_recording_free(recording);
	return outcome;
}

/* A sentence that names the file, or all there is. */
static bool strict_is_right(const struct outcome *outcome)
{
	if (outcome->wrong)
		return false;
	if (outcome->ended)
		return outcome->same_rounds == ROUNDS;
	return outcome->err.code == TARE_E_FORMAT && strstr(outcome->err.text, path) != NULL;
}

static bool lenient_is_right(const struct outcome *outcome)
{
	if (outcome->wrong)
		return false;
	if (!outcome->ended)
		return outcome->err.code == TARE_E_FORMAT && strstr(outcome->err.text, path) != NULL;
	bool all = outcome->same_rounds == ROUNDS;
	return outcome->damage.readable <= outcome->samples && outcome->damage.readable <= outcome->damage.expected &&
	       (all || outcome->damage.reason[0] != '\0') &&
	       (outcome->damage.readable == ROUNDS * SAMPLES || outcome->damage.reason[0] != '\0');
}

/* ---- files that are something else ---- */

static void refused(const char *what, const char *part)
{
	struct outcome outcome = read_all(false), lenient = read_all(true);
	OK(!outcome.opened && strstr(outcome.err.text, part), "%s: %s", what, outcome.err.text);
	OK(!lenient.opened && strstr(lenient.err.text, part), "%s, when lenient too", what);
}

static void sql(const char *statement)
{
	sqlite3 *db = NULL;
	if (sqlite3_open(path, &db) != SQLITE_OK || sqlite3_exec(db, statement, NULL, NULL, NULL) != SQLITE_OK) {
		printf("Bail out! %s\n", sqlite3_errmsg(db));
		exit(1);
	}
	sqlite3_close(db);
}

static void test_foreign(const uint8_t *whole, size_t bytes)
{
	struct tare_writer *writer = NULL;
	struct tare_err err = {0};

	refused("a missing file", "No such file or directory");
	fake_write_file(path, "", 0);
	refused("an empty file", "is empty, not a recording");
	fake_write_file(path, "PING localhost (127.0.0.1)", 26);
	refused("another tool's log", "is not a recording");
	OK(tare_writer_open(path, TARE_APPEND, &writer, &err) < 0 && strstr(err.text, "is not a recording"),
		"nothing is appended to it: %s", err.text);
	OK(tare_writer_open(path, TARE_CREATE, &writer, &err) < 0 && err.code == TARE_E_USAGE &&
			strstr(err.text, "exists; --append adds a run to it"),
		"nor is it written over: %s", err.text);
	unlink(path);
	sql("CREATE TABLE other(a)");
	refused("another program's database", "of another program");
	OK(tare_writer_open(path, TARE_APPEND, &writer, &err) < 0 && strstr(err.text, "of another program"),
		"nothing is appended to it: %s", err.text);
	fake_write_file(path, whole, bytes);
	sql("PRAGMA user_version = 7");
	refused("a newer recording", "was written by a newer tare (format 7, this one reads up to 2)");
	OK(tare_writer_open(path, TARE_APPEND, &writer, &err) < 0 && strstr(err.text, "newer tare"),
		"nothing is appended to it");
	fake_write_file(path, whole, bytes);
	sql("PRAGMA journal_mode = WAL");
	refused("a recording put into write-ahead mode", "write-ahead mode");
	unlink(path);
	fake_write_file(path, whole, bytes);
	sql("DROP TABLE event; CREATE VIEW event AS WITH RECURSIVE f(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM f) "
	    "SELECT x AS id FROM f");
	refused("an endless view for a table", "no table 'event'");
	fake_write_file(path, whole, bytes);
	sql("ALTER TABLE round ADD COLUMN more");
	refused("a table with a column more", "table 'round' is not defined as format 2 has it");
	unlink(path);
	if (mkdir(path, 0755) == 0)
		refused("a folder", "Is a directory");
	rmdir(path);
	if (mkfifo(path, 0644) == 0)
		refused("a FIFO", "is not a regular file");
	unlink(path);
}

/* ---- damage at a known place ---- */

static void test_places(const uint8_t *whole, size_t bytes)
{
	fake_write_file(path, whole, bytes);
	/* Of the second round (2 slices of 12 + 6 columns before it), the second slice's user_rx: byte 100 of its data.
	 */
	sql("UPDATE chunk SET data = CAST(substr(data, 1, 100) || X'00' || substr(data, 102) AS BLOB) WHERE name = "
	    "'user_rx' "
	    "AND series = 2 AND first = 16384");
	struct outcome strict = read_all(false), lenient = read_all(true);
	OK(strict.opened && !strict.ended &&
			strstr(strict.err.text, "is damaged in sample chunk 4 of 6, run 1, round 2, column user_rx ("),
		"a flipped byte: %s", strict.err.text);
	OK(lenient.ended && lenient.samples == ROUNDS * SAMPLES && lenient.same_rounds == ROUNDS - 1 &&
			lenient.damage.readable == ROUNDS * SAMPLES - (SAMPLES - 16384) &&
			lenient.damage.expected == ROUNDS * SAMPLES && !lenient.wrong,
		"lenient: %s; %llu of %llu samples readable", lenient.damage.reason,
		(unsigned long long)lenient.damage.readable, (unsigned long long)lenient.damage.expected);

	fake_write_file(path, whole, bytes);
	sql("DELETE FROM chunk WHERE name = 'fate' AND series = 1 AND first = 0");
	strict = read_all(false);
	lenient = read_all(true);
	OK(!strict.ended && strstr(strict.err.text, "sample chunk 1 of 6, run 1, round 1, column fate (missing)"),
		"a missing row: %s", strict.err.text);
	OK(lenient.ended && lenient.samples == ROUNDS * SAMPLES - 16384 && !lenient.wrong &&
			lenient.damage.readable == lenient.samples,
		"lenient: samples without fate are left out, %llu remain", (unsigned long long)lenient.samples);

	fake_write_file(path, whole, bytes);
	sql("UPDATE chunk SET min = min + 1 WHERE name = 'due' AND series = 3");
	strict = read_all(false);
	OK(!strict.ended && strstr(strict.err.text, "round 3, column due (seal)"), "a changed minimum: %s",
		strict.err.text);

	fake_write_file(path, whole, bytes);
	sql("UPDATE round SET label = 'B' WHERE id = 2");
	strict = read_all(false);
	lenient = read_all(true);
	OK(!strict.opened && strstr(strict.err.text, "is damaged in table 'round', row 2 (seal)"),
		"a changed label: %s", strict.err.text);
	OK(lenient.ended && lenient.same_rounds == ROUNDS - 1 && lenient.damage.readable == (ROUNDS - 1) * SAMPLES &&
			lenient.damage.expected == ROUNDS * SAMPLES,
		"lenient: the others are read; %s", lenient.damage.reason);

	fake_write_file(path, whole, bytes);
	sql("DELETE FROM event");
	strict = read_all(false);
	OK(strict.opened && !strict.ended && strstr(strict.err.text, "table 'event', row 1 (missing)"),
		"an event gone: %s", strict.err.text);

	/* Counts from nowhere, sealed by no one. */
	fake_write_file(path, whole, bytes);
	sql("UPDATE series SET samples = 4611686018427387904 WHERE id = 1; UPDATE chunk SET n = 2147483647 WHERE id = "
	    "5; "
	    "UPDATE tally SET rows = 9223372036854775807");
	strict = read_all(false);
	lenient = read_all(true);
	OK(!strict.ended && strict_is_right(&strict), "counts beyond all: %s", strict.err.text);
	OK(lenient_is_right(&lenient), "lenient: %s", lenient.damage.reason);
}

/* ---- damage anywhere ---- */

static void test_cut_off(const uint8_t *whole, size_t bytes)
{
	size_t strict_wrong = 0, lenient_wrong = 0, taken = 0, partly = 0;
	uint64_t state = SEED;

	for (int i = 0; i < CUTS; i++) {
		size_t cut = i < 40 ? (bytes - 1) * (size_t)(40 - i) / 40 : (size_t)(fake_draw(&state) % bytes);
		fake_write_file(path, whole, cut);
		struct outcome strict = read_all(false), lenient = read_all(true);
		taken += strict.ended;
		strict_wrong += !strict_is_right(&strict);
		lenient_wrong += !lenient_is_right(&lenient);
		partly += lenient.ended && lenient.damage.readable > 0;
		if (i % 16 == 5)
			printf("# %zu of %zu bytes: %s\n#   %s; %llu of %llu samples readable\n", cut, bytes,
				strict.err.text, lenient.ended ? lenient.damage.reason : lenient.err.text,
				(unsigned long long)lenient.damage.readable,
				(unsigned long long)lenient.damage.expected);
	}
	IS_I64(taken, 0, "no cut-off file is taken for whole");
	IS_I64(strict_wrong, 0, "each has its sentence");
	IS_I64(lenient_wrong, 0, "lenient: what is read is what was written");
	OK(partly > CUTS / 3, "lenient: something could be read of %zu of %d", partly, CUTS);
}

static void test_flips(const uint8_t *whole, size_t bytes)
{
	uint8_t *copy = fake_array(bytes, 1);
	size_t strict_wrong = 0, lenient_wrong = 0, harmless = 0;
	uint64_t state = SEED + 1;

	memcpy(copy, whole, bytes);
	for (int i = 0; i < FLIPS; i++) {
		/* Half of them in the first pages: head, schema, roots, small tables. */
		size_t at = (size_t)(fake_draw(&state) % (i % 2 ? bytes : 13 * 4096 < bytes ? 13 * 4096 : bytes));
		uint8_t flip = (uint8_t)(1U << fake_draw(&state) % 8);
		copy[at] ^= flip;
		fake_write_file(path, copy, bytes);
		struct outcome strict = read_all(false), lenient = read_all(true);
		harmless += strict.ended;
		if (!strict_is_right(&strict) || !lenient_is_right(&lenient))
			printf("# byte %zu ^ %02x: %s / %s / %s\n", at, flip, strict.err.text, lenient.err.text,
				lenient.damage.reason);
		strict_wrong += !strict_is_right(&strict);
		lenient_wrong += !lenient_is_right(&lenient);
		copy[at] ^= flip;
	}
	free(copy);
	IS_I64(strict_wrong, 0, "a flipped bit gives the right samples or a sentence");
	IS_I64(lenient_wrong, 0, "lenient: never a sample that was not written");
	printf("# %zu of %d flips hit what no one reads\n", harmless, FLIPS);
}

int main(void)
{
	size_t bytes;

	printf("# seed %d\n", SEED);
	folder = fake_folder();
	snprintf(whole_path, sizeof(whole_path), "%s/whole.tare", folder);
	snprintf(path, sizeof(path), "%s/damaged.tare", folder);
	fake_recording(whole_path, FAKE_STAMPS, ROUNDS, SAMPLES, SEED);
	for (int i = 0; i < ROUNDS; i++)
		fakes[i] = fake_make(FAKE_STAMPS, SAMPLES, SEED + (uint64_t)i, 1000, 1000000);
	uint8_t *whole = fake_read_file(whole_path, &bytes);

	test_foreign(whole, bytes);
	fake_write_file(path, whole, bytes);
	struct outcome outcome = read_all(false);
	OK(outcome.ended && strict_is_right(&outcome), "the whole file is read");
	test_places(whole, bytes);
	test_cut_off(whole, bytes);
	test_flips(whole, bytes);

	for (int i = 0; i < ROUNDS; i++)
		fake_free(&fakes[i]);
	free(whole);
	unlink(whole_path);
	unlink(path);
	rmdir(folder);
	return tap_done();
}
