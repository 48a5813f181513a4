/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is written to a recording is read back, value by value; what it costs in
 * bytes; reading only what is wanted; and a file of format 1 that stays in the
 * tree for ever.
 */
#include <string.h>

#include "recording_data.h"

enum { SEED = 7, SERIES = 8 };

static char *folder;

static const char *in_folder(const char *name)
{
	static char path[4][512];
	static int at;
	at = (at + 1) % 4;
	snprintf(path[at], sizeof(path[at]), "%s/%s", folder, name);
	return path[at];
}

/* ---- identity ---- */

/* Two targets, rounds of every kind; kept to compare with. */
struct written {
	struct fake fake[SERIES];
	struct tare_round round[SERIES / 2];
};

static void write_rounds(struct tare_writer *writer, const struct tare_run *run, const struct tare_target targets[2],
	struct written *written)
{
	struct tare_err err = {0};
	static const size_t counts[SERIES] = {10000, 40000, 3, 16384, 16385, 500, 0, 1};
	static const enum fake_kind kinds[SERIES] = {
		FAKE_USER, FAKE_STAMPS, FAKE_WILD, FAKE_STAMPS, FAKE_WILD, FAKE_GIVEN, FAKE_USER, FAKE_WILD};

	printf("# seed %d\n", SEED);
	for (int i = 0; i < SERIES / 2; i++) {
		struct tare_round *round = &written->round[i];
		struct tare_record records[2];
		struct tare_event event = {.at_ns = i * 1000, .kind = "not-sent", .text = "EMSGSIZE"};
		struct tare_reading readings[2] = {{i, i + 1, i + 2}, {-i, INT64_MAX, INT64_MIN}};

		*round = (struct tare_round){.number = (uint32_t)i + 1,
			.label = i % 2 ? "B" : "A",
			.first_due_ns = 1000 + i,
			.interval_ns = i == 3 ? 0 : 20000,
			.phase_ns = 77,
			.jitter_ns = 5,
			.timeout_ns = 1000000000,
			.ended_ns = 123456789,
			.axis_error_ns = i ? 300 : TARE_NO_TIME,
			.warmup = 2,
			.status = "finished"};
		for (int j = 0; j < 2; j++) {
			int at = i * 2 + j;
			written->fake[at] =
				fake_make(kinds[at], counts[at], SEED + (uint64_t)at, 1000 + j * 10000, 20000);
			records[j] = (struct tare_record){.run = run,
				.target = &targets[j],
				.round = round,
				.resolution_ns = j ? 1000 : 1,
				.beside = {1, 2, 3, UINT64_MAX, 0xfff},
				.series = fake_series(&written->fake[at])};
		}
		MUST(tare_writer_round(writer, round, records, 2, &event, 1, readings, 2, &err));
	}
}

static void check_record(const struct tare_record *record, const struct written *written, int at)
{
	const struct tare_round *round = &written->round[at / 2];
	struct tare_series series = fake_series(&written->fake[at]);

	OK(fake_same(&record->series, &series), "series %d: %zu samples as written (differs at %zu)", at, series.count,
		fake_difference(&record->series, &series));
	OK(record->run->id == 1 && record->target->position == (uint32_t)(at % 2) && record->round->id == at / 2 + 1,
		"series %d: in the order run, round, target", at);
	OK(record->round->number == round->number && record->round->first_due_ns == round->first_due_ns &&
			record->round->interval_ns == round->interval_ns && record->round->phase_ns == 77 &&
			record->round->jitter_ns == 5 && record->round->timeout_ns == 1000000000 &&
			record->round->ended_ns == 123456789 && record->round->axis_error_ns == round->axis_error_ns &&
			record->round->warmup == 2 && strcmp(record->round->label, round->label) == 0 &&
			strcmp(record->round->status, "finished") == 0,
		"series %d: the round", at);
	OK(record->beside.duplicate == 1 && record->beside.reordered == 2 && record->beside.foreign == 3 &&
			record->beside.unmatched_errors == UINT64_MAX && record->beside.stamps_asked == 0xfff &&
			record->resolution_ns == (at % 2 ? 1000 : 1),
		"series %d: the counters beside", at);
	for (int stage = 0; stage < TARE_STAGE_COUNT; stage++) {
		if (!series.at_ns[stage] && record->series.at_ns[stage])
			OK(false, "series %d: stage %d was never observed", at, stage);
	}
}

static void check_sides(struct tare_recording *recording)
{
	struct tare_err err = {0};
	const struct tare_setting *settings;
	const struct tare_event *events;
	const struct tare_fact *facts;
	const struct tare_reading *readings;
	size_t count;

	MUST(tare_recording_settings(recording, 1, &settings, &count, &err));
	IS_I64(count, 2, "two settings");
	IS_STR(settings[1].value, "10k", "a setting's value");
	OK(settings[1].origin == NULL, "a text that was NULL is NULL");
	MUST(tare_recording_events(recording, 1, &events, &count, &err));
	IS_I64(count, SERIES / 2 + 1, "an event per round and one beside");
	OK(events[2].at_ns == 2000 && strcmp(events[2].text, "EMSGSIZE") == 0, "an event");
	OK(events[4].at_ns == TARE_NO_TIME, "an event without a time");
	MUST(tare_recording_facts(recording, 1, 0, &facts, &count, &err));
	IS_I64(count, 1, "a fact of the run");
	IS_STR(facts[0].key, "kernel", "its key");
	MUST(tare_recording_facts(recording, 1, 2, &facts, &count, &err));
	IS_I64(count, 2, "facts of a round");
	IS_STR(facts[1].value, "performance", "in order");
	MUST(tare_recording_facts(recording, 1, 3, &facts, &count, &err));
	IS_I64(count, 0, "no facts of another");
	MUST(tare_recording_readings(recording, 3, &readings, &count, &err));
	IS_I64(count, 2, "clock readings of a round");
	OK(readings[0].mono_before_ns == 2 && readings[1].mono_before_ns == -2 && readings[1].real_ns == INT64_MAX &&
			readings[1].mono_after_ns == INT64_MIN,
		"as taken");
}

static void test_identity(void)
{
	struct tare_err err = {0};
	struct tare_writer *writer = NULL;
	struct tare_recording *recording = NULL;
	const char *path = in_folder("identity.tare");
	struct tare_run run = {.epoch_real_ns = 1700000000000000000,
		.epoch_mono_ns = 123,
		.seed = UINT64_MAX - 5,
		.tool = "tare 0.1.0",
		.host = "h\xc3\xb6st",
		.kernel = "6.1.0",
		.command_line = "tare run 'a b'"};
	struct tare_target targets[2] = {
		{.position = 0, .url = "udp://a:7", .kind = "udp", .address = "192.0.2.1:7", .payload_bytes = 64},
		{.position = 1, .url = "icmp://b", .kind = "icmp", .address = NULL, .payload_bytes = 56}};
	struct tare_setting settings[2] = {{"every", "20us", "argv"}, {"count", "10k", NULL}};
	struct tare_fact facts[3] = {{"local", "start", "kernel", "6.1.0"}, {"local", "start", "governor", "powersave"},
		{"local", "end", "governor", "performance"}};
	struct tare_event note = {.at_ns = TARE_NO_TIME, .kind = "note", .text = "no time"};
	static struct written written;

	MUST(tare_writer_open(path, TARE_CREATE, &writer, &err));
	MUST(tare_writer_begin_run(writer, &run, targets, 2, settings, 2, &err));
	OK(run.id == 1 && targets[0].id == 1 && targets[1].id == 2, "ids are written back");
	write_rounds(writer, &run, targets, &written);
	OK(written.round[3].id == 4, "a round's id too");
	MUST(tare_writer_facts(writer, run.id, 2, facts + 1, 2, &err));
	MUST(tare_writer_facts(writer, run.id, 0, facts, 1, &err));
	MUST(tare_writer_event(writer, run.id, 0, &note, &err));
	MUST(tare_writer_end_run(writer, run.id, TARE_RUN_INTERRUPTED, &err));
	MUST(tare_writer_close(&writer, &err));
	OK(access(in_folder("identity.tare-journal"), F_OK) < 0 && access(in_folder("identity.tare-wal"), F_OK) < 0,
		"nothing lies beside a closed recording");

	MUST(tare_recording_open(path, false, &recording, &err));
	const struct tare_run *runs;
	IS_I64(tare_recording_runs(recording, &runs), 1, "one run");
	OK(runs->seed == run.seed && runs->epoch_real_ns == run.epoch_real_ns && runs->epoch_mono_ns == 123 &&
			runs->status == TARE_RUN_INTERRUPTED && !runs->spool && strcmp(runs->host, run.host) == 0 &&
			strcmp(runs->command_line, run.command_line) == 0,
		"the run as written");
	const struct tare_record *record;
	int at = 0;
	for (; tare_recording_next(recording, &record, &err) == 1; at++)
		check_record(record, &written, at);
	IS_I64(at, SERIES, "every series");
	check_sides(recording);
	struct tare_damage damage = tare_recording_damage(recording);
	OK(damage.expected == damage.readable && damage.reason[0] == '\0', "no damage");
	tare_recording_free(recording);
	for (int i = 0; i < SERIES; i++)
		fake_free(&written.fake[i]);
}

/* ---- append and resume ---- */

static uint64_t count_samples(const char *path, struct tare_err *err)
{
	struct tare_recording *recording = NULL;
	const struct tare_record *record;
	uint64_t samples = 0;

	if (tare_recording_open(path, false, &recording, err) < 0)
		return UINT64_MAX;
	while (tare_recording_next(recording, &record, err) == 1)
		samples += record->series.count;
	tare_recording_free(recording);
	return samples;
}

static void test_append(void)
{
	struct tare_err err = {0};
	struct tare_writer *writer = NULL;
	const char *path = in_folder("append.tare");
	struct tare_run run = {.tool = "tare test"};
	struct tare_target target = {.url = "icmp://x", .kind = "icmp"};
	struct fake fake = fake_make(FAKE_USER, 700, SEED, 0, 1000);

	OK(tare_writer_open(path, TARE_RESUME, &writer, &err) < 0 && strstr(err.text, "No such file"),
		"nothing to resume: %s", err.text);
	MUST(tare_writer_open(path, TARE_APPEND, &writer, &err));
	MUST(tare_writer_begin_run(writer, &run, &target, 1, NULL, 0, &err));
	MUST(fake_round(writer, &run, &target, 1, &fake, 1000, &err));
	MUST(tare_writer_spool(writer, run.id, "/dev/shm/tare-spool", &err));
	tare_writer_free(writer); /* as if killed */

	struct tare_recording *recording = NULL;
	MUST(tare_recording_open(path, false, &recording, &err));
	const struct tare_run *unfinished = tare_recording_unfinished(recording);
	OK(unfinished && unfinished->id == 1 && unfinished->status == TARE_RUN_UNFINISHED, "the run is unfinished");
	IS_STR(unfinished ? unfinished->spool : NULL, "/dev/shm/tare-spool", "its spool is named");
	tare_recording_free(recording);

	struct tare_run second = {.tool = "tare test"};
	MUST(tare_writer_open(path, TARE_APPEND, &writer, &err));
	MUST(tare_writer_begin_run(writer, &second, &target, 1, NULL, 0, &err));
	IS_I64(second.id, 2, "a second run");
	MUST(fake_round(writer, &second, &target, 1, &fake, 1000, &err));
	MUST(tare_writer_end_run(writer, second.id, TARE_RUN_FINISHED, &err));
	OK(fake_round(writer, &second, &target, 2, &fake, 1000, &err) < 0 && err.code == TARE_E_USAGE,
		"an ended run takes no round: %s", err.text);
	MUST(tare_writer_close(&writer, &err));

	/* The salvager: another round into the first run, which still comes before the second. */
	struct tare_target first_target = {.id = 1, .url = "icmp://x", .kind = "icmp"};
	MUST(tare_writer_open(path, TARE_RESUME, &writer, &err));
	MUST(fake_round(writer, &run, &first_target, 2, &fake, 1000, &err));
	MUST(tare_writer_end_run(writer, 1, TARE_RUN_INTERRUPTED, &err));
	MUST(tare_writer_close(&writer, &err));
	OK(tare_writer_open(path, TARE_RESUME, &writer, &err) < 0 && err.code == TARE_E_USAGE, "%s", err.text);
	IS_I64(count_samples(path, &err), 2100, "three rounds of 700");

	MUST(tare_recording_open(path, false, &recording, &err));
	OK(tare_recording_unfinished(recording) == NULL, "no run is unfinished any more");
	const struct tare_record *record;
	int64_t order = 0;
	while (tare_recording_next(recording, &record, &err) == 1)
		order = order * 100 + record->run->id * 10 + record->round->number;
	IS_I64(order, 111221, "run 1 round 1, run 1 round 2, run 2 round 1");
	tare_recording_free(recording);

	fake_write_file(in_folder("nothing.tare"), "", 0);
	MUST(tare_writer_open(in_folder("nothing.tare"), TARE_APPEND, &writer, &err));
	MUST(tare_writer_close(&writer, &err));
	IS_I64(count_samples(in_folder("nothing.tare"), &err), 0, "an empty file becomes a recording by appending");
	fake_free(&fake);
}

/* ---- size ---- */

/* The bar is 8 bytes a sample for rtt + late + flags + CPU. */
static void test_size(void)
{
	const char *path = in_folder("size.tare");
	struct stat stat_buffer;
	const size_t count = 500000;

	fake_recording(path, FAKE_USER, 1, count, SEED);
	if (stat(path, &stat_buffer) < 0) {
		OK(false, "the recording is there");
		return;
	}
	double bytes = (double)stat_buffer.st_size / (double)count;
	OK(bytes < 4,
		"%.2f bytes a sample for due, user_tx, user_rx, fate, flags and CPUs: below half of the 8 allowed",
		bytes);
	fake_recording(in_folder("stamps.tare"), FAKE_STAMPS, 1, count, SEED);
	if (stat(in_folder("stamps.tare"), &stat_buffer) == 0)
		printf("# %.2f bytes a sample with all twelve stages\n", (double)stat_buffer.st_size / (double)count);
	fake_recording(in_folder("small.tare"), FAKE_USER, 1, 10000, SEED);
	if (stat(in_folder("small.tare"), &stat_buffer) == 0)
		OK(stat_buffer.st_size < 100000, "10000 samples make a file of %lld bytes",
			(long long)stat_buffer.st_size);
}

/* ---- wanting ---- */

static void test_want(void)
{
	struct tare_err err = {0};
	struct tare_recording *recording = NULL;
	const struct tare_record *record;
	const char *path = in_folder("want.tare");
	struct fake fake = fake_make(FAKE_STAMPS, 20000, SEED, 1000, 1000000);
	struct tare_series whole = fake_series(&fake);

	fake_recording(path, FAKE_STAMPS, 1, 20000, SEED);
	MUST(tare_recording_open(path, false, &recording, &err));
	tare_recording_want(recording, 1U << TARE_SPAN_WAKE, 0, 0);
	MUST(tare_recording_next(recording, &record, &err));
	const struct tare_series *got = &record->series;
	OK(got->at_ns[TARE_STAGE_KERNEL_RX] && got->at_ns[TARE_STAGE_USER_RX], "wake needs two stages");
	OK(!got->at_ns[TARE_STAGE_DUE] && !got->at_ns[TARE_STAGE_USER_TX] && !got->at_ns[TARE_STAGE_PEER_RX] &&
			!got->flags && !got->cpu[TARE_CPU_RX],
		"and gives no others, though they are stored against them");
	size_t different = 0;
	for (size_t i = 0; i < got->count; i++)
		different += got->at_ns[TARE_STAGE_KERNEL_RX][i] != whole.at_ns[TARE_STAGE_KERNEL_RX][i] ||
			     got->at_ns[TARE_STAGE_USER_RX][i] != whole.at_ns[TARE_STAGE_USER_RX][i] ||
			     got->fate[i] != whole.fate[i];
	IS_I64(different, 0, "with the right values");
	tare_recording_free(recording);

	/* Every span alone gives what it gives with everything read. */
	for (int span = 0; span < TARE_SPAN_COUNT; span++) {
		MUST(tare_recording_open(path, false, &recording, &err));
		tare_recording_want(recording, 1U << span, 0, TARE_WANT_CPU | TARE_WANT_FLAGS);
		MUST(tare_recording_next(recording, &record, &err));
		different = 0;
		for (size_t i = 0; i < record->series.count; i++)
			different += tare_span_of(&record->series, (enum tare_span)span, i) !=
				     tare_span_of(&whole, (enum tare_span)span, i);
		OK(different == 0 && record->series.cpu[TARE_CPU_RX] && record->series.flags, "%s alone",
			tare_span_name((enum tare_span)span));
		tare_recording_free(recording);
	}
	fake_free(&fake);
}

/* ---- packed ---- */

/* Values in which the two differ, over all stages and spans. */
static size_t differences(const struct tare_series *one, const struct tare_series *other)
{
	enum { BLOCK = 5000 };
	static int64_t left[BLOCK], right[BLOCK];
	size_t different = one->count != other->count;
	for (size_t first = 0; !different && first < one->count; first += BLOCK) {
		size_t count = one->count - first < BLOCK ? one->count - first : BLOCK;
		for (int i = 0; i < TARE_STAGE_COUNT + TARE_SPAN_COUNT; i++) {
			enum tare_stage stage = (enum tare_stage)i;
			enum tare_span span = (enum tare_span)(i - TARE_STAGE_COUNT);
			if (i < TARE_STAGE_COUNT) {
				tare_stage_times(one, stage, first, count, left);
				tare_stage_times(other, stage, first, count, right);
			} else {
				tare_span_values(one, span, first, count, left);
				tare_span_values(other, span, first, count, right);
			}
			different += memcmp(left, right, count * sizeof(left[0])) != 0;
		}
	}
	for (int span = 0; span < TARE_SPAN_COUNT; span++)
		different += tare_span_exists(one, (enum tare_span)span) != tare_span_exists(other, (enum tare_span)span);
	return different;
}

static void test_packed(void)
{
	static const struct {
		enum fake_kind kind;
		const char *name;
	} kinds[] = {{FAKE_USER, "user"}, {FAKE_STAMPS, "stamps"}, {FAKE_GIVEN, "given"}, {FAKE_WILD, "wild"}};
	const size_t count = 150000; /* three chunks, the last one short */
	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		struct tare_err err = {0};
		struct tare_recording *plain = NULL, *packed = NULL;
		const struct tare_record *one, *other;
		const char *path = in_folder("packed.tare");
		size_t different = 0, arrays = 0;
		fake_recording(path, kinds[k].kind, 2, count, SEED);
		MUST(tare_recording_open(path, false, &plain, &err));
		MUST(tare_recording_open(path, false, &packed, &err));
		tare_recording_pack(packed, count);
		for (int round = 0; round < 2; round++) {
			OK(tare_recording_next(plain, &one, &err) == 1 && tare_recording_next(packed, &other, &err) == 1,
				"%s: round %d both ways", kinds[k].name, round + 1);
			different += differences(&one->series, &other->series);
			for (int stage = 0; stage < TARE_STAGE_COUNT; stage++) {
				arrays += other->series.at_ns[stage] != NULL;
				different += (one->series.at_ns[stage] != NULL) !=
					     tare_stage_seen(&other->series, (enum tare_stage)stage);
			}
		}
		OK(different == 0 && arrays == 0, "%s: packed stages hold what arrays do", kinds[k].name);
		tare_recording_free(packed);
		tare_recording_free(plain);

		MUST(tare_recording_open(path, false, &packed, &err));
		tare_recording_pack(packed, count + 1);
		OK(tare_recording_next(packed, &other, &err) == 1 && !other->series.packed[TARE_STAGE_USER_TX],
			"%s: shorter series come as arrays", kinds[k].name);
		tare_recording_free(packed);
		unlink(path);
	}
}

/* ---- the fixture ---- */

/*
 * Written by format 1's first writer and never again. What it holds is what
 * fake_recording(path, FAKE_STAMPS, 2, 1200, 99) made; the figures below are
 * told by the file alone, should the maker of data ever change.
 */
static void test_fixture(void)
{
	struct tare_err err = {0};
	struct tare_recording *recording = NULL;
	const struct tare_record *record;
	char path[512];
	const char *data = getenv("TARE_TEST_DATA");
	static const struct {
		int64_t rtt_sum, late_sum, lost, wake_7;
	} want[2] = {{5433031, 808744, 0, 551}, {6181072, 250724, 1, 557}};

	snprintf(path, sizeof(path), "%s/recording-v1.tare", data ? data : "tests/data");
	if (getenv("TARE_MAKE_FIXTURE"))
		fake_recording(path, FAKE_STAMPS, 2, 1200, 99);
	if (tare_recording_open(path, false, &recording, &err) < 0) {
		OK(false, "the fixture opens: %s", err.text);
		return;
	}
	for (int round = 0; round < 2; round++) {
		MUST(tare_recording_next(recording, &record, &err));
		struct tare_fates fates = tare_fates_of(&record->series);
		int64_t rtt_sum = 0, late_sum = 0;
		for (size_t i = 0; i < record->series.count; i++) {
			int64_t rtt = tare_span_of(&record->series, TARE_SPAN_RTT, i);
			rtt_sum += rtt == TARE_NO_TIME ? 0 : rtt;
			late_sum += tare_span_of(&record->series, TARE_SPAN_LATE, i);
		}
		IS_I64(record->series.count, 1200, "fixture: 1200 samples");
		IS_I64(rtt_sum, want[round].rtt_sum, "fixture: the sum of rtt");
		IS_I64(late_sum, want[round].late_sum, "fixture: the sum of late");
		IS_I64(fates.count[TARE_LOST], want[round].lost, "fixture: lost");
		IS_I64(tare_span_of(&record->series, TARE_SPAN_WAKE, 7), want[round].wake_7,
			"fixture: wake of sample 7");
		IS_STR(record->target->url, "udp://127.0.0.1:7", "fixture: the target");
	}
	OK(tare_recording_next(recording, &record, &err) == 0, "fixture: two rounds");
	tare_recording_free(recording);
}

int main(void)
{
	folder = fake_folder();
	test_identity();
	test_append();
	test_size();
	test_want();
	test_packed();
	test_fixture();
	static const char *const names[] = {
		"identity.tare", "append.tare", "nothing.tare", "size.tare", "stamps.tare", "small.tare", "want.tare"};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		unlink(in_folder(names[i]));
	rmdir(folder);
	return tap_done();
}
