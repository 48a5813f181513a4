/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Made-up recordings for tests: the same seed gives the same samples on every
 * machine, since only integers are drawn. What is written is compared value by
 * value with what is read.
 */
#pragma once
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "tap.h"
#include "tare/recording.h"

struct fake {
	size_t count;
	int64_t *at_ns[TARE_STAGE_COUNT], *given_ns[TARE_SPAN_COUNT];
	int16_t *cpu[TARE_CPU_PLACES];
	uint8_t *fate;
	uint16_t *flags, *reason;
};

static inline uint64_t fake_draw(uint64_t *state)
{
	uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* About a bell curve: the sum of four even draws, 0 to 4 x (width - 1). */
static inline int64_t fake_bell(uint64_t *state, uint64_t width)
{
	uint64_t sum = 0;
	for (int i = 0; i < 4; i++)
		sum += fake_draw(state) % width;
	return (int64_t)sum;
}

static inline void fake_free(struct fake *fake)
{
	for (int i = 0; i < TARE_STAGE_COUNT; i++)
		free(fake->at_ns[i]);
	for (int i = 0; i < TARE_SPAN_COUNT; i++)
		free(fake->given_ns[i]);
	for (int i = 0; i < TARE_CPU_PLACES; i++)
		free(fake->cpu[i]);
	free(fake->fate);
	free(fake->flags);
	free(fake->reason);
}

static inline void *fake_array(size_t count, size_t bytes)
{
	void *array = calloc(count ? count : 1, bytes);
	if (!array) {
		printf("Bail out! out of memory\n");
		exit(1);
	}
	return array;
}

enum fake_kind {
	FAKE_USER,   /* what a run without kernel stamps has: due, user_tx, user_rx, CPUs */
	FAKE_STAMPS, /* every stage */
	FAKE_GIVEN,  /* an imported log: no stages, spans given */
	FAKE_WILD,   /* anything anywhere, extremes and holes included */
};

/* Late of 30 to 100 ns, a rtt of two modes, some preempted, some lost. */
static inline void fake_user(struct fake *fake, uint64_t *state, int64_t first_due_ns, int64_t interval_ns)
{
	int64_t *due = fake->at_ns[TARE_STAGE_DUE] = fake_array(fake->count, sizeof(int64_t));
	int64_t *tx = fake->at_ns[TARE_STAGE_USER_TX] = fake_array(fake->count, sizeof(int64_t));
	int64_t *rx = fake->at_ns[TARE_STAGE_USER_RX] = fake_array(fake->count, sizeof(int64_t));

	fake->flags = fake_array(fake->count, sizeof(uint16_t));
	fake->reason = fake_array(fake->count, sizeof(uint16_t));
	fake->cpu[TARE_CPU_TX] = fake_array(fake->count, sizeof(int16_t));
	fake->cpu[TARE_CPU_RX] = fake_array(fake->count, sizeof(int16_t));
	for (size_t i = 0; i < fake->count; i++) {
		bool held = fake_draw(state) % 1000 == 0, lost = fake_draw(state) % 5000 == 0;
		int64_t mode = fake_draw(state) % 10 < 7 ? 3900 : 4700;
		due[i] = first_due_ns + (int64_t)i * interval_ns;
		tx[i] = due[i] + 30 + fake_bell(state, 18) + (held ? (int64_t)(fake_draw(state) % 500000) : 0);
		rx[i] = tx[i] + mode + fake_bell(state, 150) + (held ? (int64_t)(fake_draw(state) % 2000000) : 0);
		fake->fate[i] = TARE_ANSWERED;
		fake->cpu[TARE_CPU_TX][i] = 2;
		fake->cpu[TARE_CPU_RX][i] = fake_draw(state) % 5000 == 0 ? 3 : 2;
		if (lost) {
			fake->fate[i] = TARE_LOST;
			rx[i] = TARE_NO_TIME;
			fake->cpu[TARE_CPU_RX][i] = TARE_NO_CPU;
		}
		fake->flags[i] = fake_draw(state) % 2000 == 0 ? TARE_FLAG_REORDERED : 0;
	}
}

static inline void fake_stamps(struct fake *fake, uint64_t *state)
{
	/* The peer's clock is an hour ahead and runs 20 ppm fast. */
	const int64_t *tx = fake->at_ns[TARE_STAGE_USER_TX], *rx = fake->at_ns[TARE_STAGE_USER_RX];

	for (int stage = 0; stage < TARE_STAGE_COUNT; stage++) {
		if (!fake->at_ns[stage])
			fake->at_ns[stage] = fake_array(fake->count, sizeof(int64_t));
	}
	fake->cpu[TARE_CPU_PEER_RX] = fake_array(fake->count, sizeof(int16_t));
	for (size_t i = 0; i < fake->count; i++) {
		int64_t *const *at = fake->at_ns;
		bool lost = rx[i] == TARE_NO_TIME;
		int64_t peer = tx[i] + tx[i] / 50000 + INT64_C(3600000000000);

		at[TARE_STAGE_KERNEL_TX][i] = tx[i] + 200 + fake_bell(state, 20);
		at[TARE_STAGE_NIC_TX][i] = at[TARE_STAGE_KERNEL_TX][i] + 300 + fake_bell(state, 10);
		at[TARE_STAGE_PEER_NIC_RX][i] = lost ? TARE_NO_TIME : peer + 900 + fake_bell(state, 30);
		at[TARE_STAGE_PEER_RX][i] = lost ? TARE_NO_TIME : peer + 1200 + fake_bell(state, 30);
		at[TARE_STAGE_PEER_USER][i] = lost ? TARE_NO_TIME : peer + 1800 + fake_bell(state, 30);
		at[TARE_STAGE_PEER_TX][i] = lost ? TARE_NO_TIME : peer + 2100 + fake_bell(state, 30);
		at[TARE_STAGE_PEER_NIC_TX][i] = lost ? TARE_NO_TIME : peer + 2400 + fake_bell(state, 30);
		at[TARE_STAGE_KERNEL_RX][i] = lost ? TARE_NO_TIME : rx[i] - 500 - fake_bell(state, 20);
		at[TARE_STAGE_NIC_RX][i] = lost || fake_draw(state) % 100 == 0 ? TARE_NO_TIME : rx[i] - 900;
		fake->cpu[TARE_CPU_PEER_RX][i] = (int16_t)(fake_draw(state) % 4);
	}
}

static inline int64_t fake_wild_time(uint64_t *state)
{
	static const int64_t extremes[] = {INT64_MIN, INT64_MIN + 1, INT64_MAX, 0, -1};
	uint64_t which = fake_draw(state) % 16;
	return which < 5 ? extremes[which] : (int64_t)(fake_draw(state) >> (fake_draw(state) % 64));
}

static inline void fake_wild(struct fake *fake, uint64_t *state)
{
	for (int stage = 0; stage < TARE_STAGE_COUNT; stage++)
		fake->at_ns[stage] = fake_draw(state) % 4 ? fake_array(fake->count, sizeof(int64_t)) : NULL;
	for (int span = 0; span < TARE_SPAN_COUNT; span++)
		fake->given_ns[span] = fake_draw(state) % 4 ? NULL : fake_array(fake->count, sizeof(int64_t));
	for (int place = 0; place < TARE_CPU_PLACES; place++)
		fake->cpu[place] = fake_draw(state) % 2 ? fake_array(fake->count, sizeof(int16_t)) : NULL;
	fake->flags = fake_array(fake->count, sizeof(uint16_t));
	fake->reason = fake_array(fake->count, sizeof(uint16_t));
	for (size_t i = 0; i < fake->count; i++) {
		for (int stage = 0; stage < TARE_STAGE_COUNT; stage++) {
			if (fake->at_ns[stage])
				fake->at_ns[stage][i] = fake_wild_time(state);
		}
		for (int span = 0; span < TARE_SPAN_COUNT; span++) {
			if (fake->given_ns[span])
				fake->given_ns[span][i] = fake_wild_time(state);
		}
		for (int place = 0; place < TARE_CPU_PLACES; place++) {
			if (fake->cpu[place])
				fake->cpu[place][i] = (int16_t)((int)(fake_draw(state) % 65536) - 32768);
		}
		fake->fate[i] = (uint8_t)(fake_draw(state) % TARE_FATE_COUNT);
		fake->flags[i] = (uint16_t)fake_draw(state);
		fake->reason[i] = (uint16_t)fake_draw(state);
	}
}

static inline struct fake fake_make(
	enum fake_kind kind, size_t count, uint64_t seed, int64_t first_due_ns, int64_t interval_ns)
{
	struct fake fake = {.count = count, .fate = fake_array(count, sizeof(uint8_t))};
	uint64_t state = seed;

	if (kind == FAKE_USER || kind == FAKE_STAMPS)
		fake_user(&fake, &state, first_due_ns, interval_ns);
	if (kind == FAKE_STAMPS)
		fake_stamps(&fake, &state);
	if (kind == FAKE_WILD)
		fake_wild(&fake, &state);
	if (kind == FAKE_GIVEN) {
		fake.given_ns[TARE_SPAN_RTT] = fake_array(count, sizeof(int64_t));
		for (size_t i = 0; i < count; i++) {
			bool lost = fake_draw(&state) % 100 == 0;
			fake.fate[i] = lost ? TARE_LOST : TARE_ANSWERED;
			fake.given_ns[TARE_SPAN_RTT][i] = lost ? TARE_NO_TIME : (50 + fake_bell(&state, 9)) * 1000;
		}
	}
	return fake;
}

static inline struct tare_series fake_series(const struct fake *fake)
{
	struct tare_series series = {
		.count = fake->count, .fate = fake->fate, .flags = fake->flags, .reason = fake->reason};
	for (int i = 0; i < TARE_STAGE_COUNT; i++)
		series.at_ns[i] = fake->at_ns[i];
	for (int i = 0; i < TARE_SPAN_COUNT; i++)
		series.given_ns[i] = fake->given_ns[i];
	for (int i = 0; i < TARE_CPU_PLACES; i++)
		series.cpu[i] = fake->cpu[i];
	return series;
}

/* ---- comparing ---- */

/* Values from which a column may be NULL on either side: then the other side must hold nothing. */
static inline int64_t fake_time(const int64_t *values, size_t i)
{
	return values ? values[i] : TARE_NO_TIME;
}

/* Index of the first sample that differs in any column, or count. */
static inline size_t fake_difference(const struct tare_series *a, const struct tare_series *b)
{
	if (a->count != b->count)
		return 0;
	for (size_t i = 0; i < a->count; i++) {
		bool same = a->fate[i] == b->fate[i];
		same &= (a->flags ? a->flags[i] : 0) == (b->flags ? b->flags[i] : 0);
		same &= (a->reason ? a->reason[i] : 0) == (b->reason ? b->reason[i] : 0);
		for (int stage = 0; stage < TARE_STAGE_COUNT; stage++)
			same &= fake_time(a->at_ns[stage], i) == fake_time(b->at_ns[stage], i);
		for (int span = 0; span < TARE_SPAN_COUNT; span++)
			same &= fake_time(a->given_ns[span], i) == fake_time(b->given_ns[span], i);
		for (int place = 0; place < TARE_CPU_PLACES; place++)
			same &= (a->cpu[place] ? a->cpu[place][i] : TARE_NO_CPU) ==
				(b->cpu[place] ? b->cpu[place][i] : TARE_NO_CPU);
		if (!same)
			return i;
	}
	return a->count;
}

static inline bool fake_same(const struct tare_series *a, const struct tare_series *b)
{
	return a->count == b->count && fake_difference(a, b) == a->count;
}

/* ---- writing ---- */

static inline char *fake_folder(void)
{
	static char folder[256];
	const char *base = getenv("TMPDIR");
	snprintf(folder, sizeof(folder), "%s/tare-test-XXXXXX", base ? base : "/tmp");
	if (!mkdtemp(folder)) {
		printf("Bail out! no folder for the test\n");
		exit(1);
	}
	return folder;
}

/* Ends the program when a step every check needs fails. */
#define MUST(call)                                                                                                     \
	do {                                                                                                           \
		if ((call) < 0) {                                                                                      \
			printf("Bail out! %s: %s\n", #call, err.text);                                                 \
			exit(1);                                                                                       \
		}                                                                                                      \
	} while (0)

/* One round of one target. Fails like tare_writer_round. */
static inline int fake_round(struct tare_writer *writer, const struct tare_run *run, const struct tare_target *target,
	uint32_t number, const struct fake *fake, int64_t interval_ns, struct tare_err *err)
{
	struct tare_round round = {.number = number,
		.label = "",
		.interval_ns = interval_ns,
		.timeout_ns = 1000000000,
		.status = "finished"};
	struct tare_record record = {
		.run = run, .target = target, .round = &round, .series = fake_series(fake), .resolution_ns = 1};
	struct tare_reading reading = {1000 + number, 2000 + number, 3000 + number};
	return tare_writer_round(writer, &round, &record, 1, NULL, 0, &reading, 1, err);
}

/* A recording of one finished run with `rounds` rounds of `count` samples, seeds `seed`, seed + 1, … */
static inline void fake_recording(const char *path, enum fake_kind kind, uint32_t rounds, size_t count, uint64_t seed)
{
	struct tare_err err = {0};
	struct tare_writer *writer = NULL;
	struct tare_run run = {.tool = "tare test", .host = "here", .kernel = "6.1", .seed = seed, .epoch_mono_ns = 5};
	struct tare_target target = {
		.url = "udp://127.0.0.1:7", .kind = "udp", .address = "127.0.0.1:7", .payload_bytes = 64};
	struct tare_setting setting = {"every", "1ms", "argv"};
	struct tare_fact fact = {"local", "start", "cpu", "made up"};
	struct tare_event event = {.at_ns = 17, .kind = "note", .text = "made by a test"};

	MUST(tare_writer_open(path, TARE_CREATE, &writer, &err));
	MUST(tare_writer_begin_run(writer, &run, &target, 1, &setting, 1, &err));
	for (uint32_t i = 0; i < rounds; i++) {
		struct fake fake = fake_make(kind, count, seed + i, 1000, 1000000);
		MUST(fake_round(writer, &run, &target, i + 1, &fake, 1000000, &err));
		fake_free(&fake);
	}
	MUST(tare_writer_facts(writer, run.id, 0, &fact, 1, &err));
	MUST(tare_writer_event(writer, run.id, 0, &event, &err));
	MUST(tare_writer_end_run(writer, run.id, TARE_RUN_FINISHED, &err));
	MUST(tare_writer_close(&writer, &err));
}

/* A whole file; *ret_bytes its size. */
static inline uint8_t *fake_read_file(const char *path, size_t *ret_bytes)
{
	struct stat stat_buffer;
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &stat_buffer) < 0) {
		printf("Bail out! cannot read %s\n", path);
		exit(1);
	}
	uint8_t *bytes = fake_array((size_t)stat_buffer.st_size, 1);
	*ret_bytes = (size_t)stat_buffer.st_size;
	if (read(fd, bytes, *ret_bytes) != stat_buffer.st_size) {
		printf("Bail out! cannot read %s\n", path);
		exit(1);
	}
	return bytes;
}

static inline void fake_write_file(const char *path, const void *bytes, size_t count)
{
	AUTO_FD fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0 || write(fd, bytes, count) != (ssize_t)count) {
		printf("Bail out! cannot write %s\n", path);
		exit(1);
	}
}
