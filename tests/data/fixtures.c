/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Makes the recordings beside this file, which the command line's cases read:
 *     fixtures FOLDER
 * They were made once and stay as they are, so that a later version of the
 * reader meets files of this one. The figures follow from the index of a
 * request, so that every expectation can be checked by hand.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tare/tare.h"

enum { REQUESTS = 152 };

/* A series under construction. */
struct made {
	int64_t at[TARE_STAGE_COUNT][REQUESTS];
	int16_t cpu[TARE_CPU_PLACES][REQUESTS];
	uint8_t fate[REQUESTS];
	uint16_t flags[REQUESTS], reason[REQUESTS];
	struct tare_record record;
};

static void die(const struct tare_err *err)
{
	fprintf(stderr, "fixtures: %s\n", err->text);
	exit(1);
}

static void unanswer(struct made *made, size_t i, enum tare_fate fate, int reason)
{
	made->fate[i] = (uint8_t)fate;
	made->reason[i] = (uint16_t)reason;
	for (unsigned stage = TARE_STAGE_PEER_RX; stage <= TARE_STAGE_USER_RX; stage++)
		made->at[stage][i] = TARE_NO_TIME;
}

static void delay(struct made *made, size_t i, int64_t ns)
{
	made->at[TARE_STAGE_KERNEL_RX][i] += ns;
	made->at[TARE_STAGE_USER_RX][i] += ns;
}

/* rtt 4.00 to 4.74 µs in steps of 5 ns, late 40 to 49 ns; the first two requests slow. */
static void make(struct made *made, const struct tare_run *run, const struct tare_target *target,
	const struct tare_round *round, int64_t extra_ns)
{
	memset(made, 0, sizeof(*made));
	for (size_t i = 0; i < REQUESTS; i++) {
		int64_t due = round->first_due_ns + (int64_t)i * round->interval_ns, sent = due + 40 + (int64_t)i % 10;
		int64_t rtt = 4000 + 5 * ((int64_t)i * 37 % 150) + extra_ns + (i == 0 ? 16000 : i == 1 ? 3000 : 0);
		made->at[TARE_STAGE_DUE][i] = due;
		made->at[TARE_STAGE_USER_TX][i] = sent;
		made->at[TARE_STAGE_KERNEL_TX][i] = sent + 1200;
		made->at[TARE_STAGE_PEER_RX][i] = due + 500000000 + 2000;
		made->at[TARE_STAGE_PEER_USER][i] = due + 500000000 + 2300;
		made->at[TARE_STAGE_PEER_TX][i] = due + 500000000 + 2800;
		made->at[TARE_STAGE_KERNEL_RX][i] = sent + rtt - 470;
		made->at[TARE_STAGE_USER_RX][i] = sent + rtt;
		made->cpu[TARE_CPU_PEER_RX][i] = made->cpu[TARE_CPU_PEER_TX][i] = 25;
		made->fate[i] = TARE_ANSWERED;
	}
	made->record = (struct tare_record){.run = run, .target = target, .round = round, .resolution_ns = 1};
	made->record.series = (struct tare_series){
		.count = REQUESTS, .fate = made->fate, .flags = made->flags, .reason = made->reason};
	for (unsigned stage = 0; stage < TARE_STAGE_COUNT; stage++) {
		bool nic = stage == TARE_STAGE_NIC_TX || stage == TARE_STAGE_NIC_RX ||
			   stage == TARE_STAGE_PEER_NIC_RX || stage == TARE_STAGE_PEER_NIC_TX;
		made->record.series.at_ns[stage] = nic ? NULL : made->at[stage];
	}
	for (unsigned place = 0; place < TARE_CPU_PLACES; place++)
		made->record.series.cpu[place] = made->cpu[place];
	made->record.beside.stamps_asked =
		1u << TARE_STAGE_KERNEL_TX | 1u << TARE_STAGE_KERNEL_RX | 1u << TARE_STAGE_PEER_RX;
}

static struct tare_run run_of(const char *command_line)
{
	return (struct tare_run){.epoch_real_ns = 1700000000000000000,
		.seed = 1,
		.tool = "tare 0.1.0",
		.host = "a",
		.kernel = "6.1.0",
		.command_line = command_line};
}

static struct tare_round round_of(uint32_t number, const char *label)
{
	return (struct tare_round){.number = number,
		.label = label,
		.first_due_ns = (int64_t)number * 1000000000,
		.interval_ns = 1000000,
		.timeout_ns = 100000000,
		.ended_ns = (int64_t)number * 1000000000 + 300000000,
		.axis_error_ns = 300,
		.warmup = 2,
		.status = "finished"};
}

/* Round 3 towards the first target is the one with trouble. */
static void spoil(struct made *made)
{
	delay(made, 50, 1544000);
	delay(made, 60, 200000000);
	made->fate[60] = TARE_OVERDUE;
	unanswer(made, 70, TARE_LOST, 0);
	unanswer(made, 71, TARE_ERROR, ECONNREFUSED);
	unanswer(made, 72, TARE_NOT_SENT, ENETDOWN);
	made->at[TARE_STAGE_USER_TX][72] = made->at[TARE_STAGE_KERNEL_TX][72] = TARE_NO_TIME;
	for (size_t i = 80; i < 83; i++) {
		made->at[TARE_STAGE_KERNEL_TX][i] = TARE_NO_TIME;
		made->flags[i] = TARE_FLAG_NO_KERNEL_TX | (i == 80 ? TARE_FLAG_CLOCK_STEP : 0);
	}
	made->record.beside.duplicate = 2;
	made->record.beside.foreign = 1;
}

static void write_rounds(const char *path)
{
	static struct made first, second;
	struct tare_err err = {0};
	struct tare_writer *writer = NULL;
	struct tare_run run = run_of("tare run stamp://10.0.0.2:8620 icmp://10.0.0.2");
	struct tare_target targets[] = {
		{.url = "stamp://10.0.0.2:8620", .kind = "stamp", .address = "10.0.0.2:8620", .payload_bytes = 64},
		{.position = 1, .url = "icmp://10.0.0.2", .kind = "icmp", .address = "10.0.0.2", .payload_bytes = 64}};
	const struct tare_event event = {
		.at_ns = 3010000000, .kind = "wall-step", .text = "wall clock stepped by +3 s"};

	if (tare_writer_open(path, TARE_CREATE, &writer, &err) ||
		tare_writer_begin_run(writer, &run, targets, 2, NULL, 0, &err))
		die(&err);
	for (uint32_t number = 1; number <= 5; number++) {
		struct tare_round round = round_of(number, number < 4 ? "base" : "tuned");
		make(&first, &run, &targets[0], &round, number < 4 ? 0 : -500);
		make(&second, &run, &targets[1], &round, 3000);
		for (unsigned stage = TARE_STAGE_PEER_RX; stage <= TARE_STAGE_PEER_TX; stage++)
			second.record.series.at_ns[stage] = NULL;
		second.record.series.cpu[TARE_CPU_PEER_RX] = second.record.series.cpu[TARE_CPU_PEER_TX] = NULL;
		second.record.beside.stamps_asked &= ~(1u << TARE_STAGE_PEER_RX);
		if (number == 3)
			spoil(&first);
		const struct tare_record records[] = {first.record, second.record};
		if (tare_writer_round(writer, &round, records, 2, &event, number == 3, NULL, 0, &err))
			die(&err);
	}
	if (tare_writer_end_run(writer, run.id, TARE_RUN_FINISHED, &err) || tare_writer_close(&writer, &err))
		die(&err);
}

/* Foreign text in every place that takes some, in a run that nobody finished, and one without samples. */
static void write_hostile(const char *path)
{
	static struct made made;
	struct tare_err err = {0};
	struct tare_writer *writer = NULL;
	struct tare_run run = run_of("tare run"), empty = run_of("tare run");
	struct tare_target target = {
		.url = "udp://\x1b]0;owned\x07,\"x\":7\xe2\x80\xae", .kind = "ud\x9bp", .address = "10.0.0.2:7"};
	struct tare_round round = round_of(1, "\x1b[31mred\nor not\xff");
	const struct tare_event event = {.at_ns = 1, .kind = "no\rte", .text = "\x1b[2J"};

	if (tare_writer_open(path, TARE_CREATE, &writer, &err) ||
		tare_writer_begin_run(writer, &empty, &target, 1, NULL, 0, &err) ||
		tare_writer_end_run(writer, empty.id, TARE_RUN_FAILED, &err) ||
		tare_writer_begin_run(writer, &run, &target, 1, NULL, 0, &err))
		die(&err);
	make(&made, &run, &target, &round, 0);
	if (tare_writer_round(writer, &round, &made.record, 1, &event, 1, NULL, 0, &err) ||
		tare_writer_close(&writer, &err))
		die(&err);
}

/* A comparison of eight rounds after a leading one; B is 300 ns slower, and one setting moves with it. */
static void write_comparison(const char *path)
{
	static const char order[] = "ABBABAAB";
	static struct made made;
	struct tare_err err = {0};
	struct tare_writer *writer = NULL;
	struct tare_run run = run_of("tare abba --a 'set 0' --b 'set 100' --primary p50 --margin 2% udp://10.0.0.2:7");
	struct tare_target target = {.url = "udp://10.0.0.2:7", .kind = "udp", .address = "10.0.0.2:7", .payload_bytes = 64};
	const struct tare_plan plan = {
		.kind = "abba", .order = order, .seed = 7, .a = "set 0", .b = "set 100", .primary = "p50", .margin = "2%"};

	if (tare_writer_open(path, TARE_CREATE, &writer, &err) || tare_writer_begin_run(writer, &run, &target, 1, NULL, 0, &err) ||
		tare_writer_plan(writer, run.id, &plan, &err))
		die(&err);
	for (uint32_t number = 1; number <= 9; number++) {
		bool scored = number > 1, b = scored && order[number - 2] == 'B';
		struct tare_round round = round_of(number, b ? "B" : "A");
		const struct tare_plan_step step = {.round = number, .position = number - 1, .arm = b ? "B" : "A", .scored = scored, .settings = ""};
		const struct tare_fact facts[] = {{"local", "start", "nic.eth0.rx-usecs", b ? "100" : "0"},
			{"local", "start", "cpu.governor", "performance"},
			{"local", "start", "nic.eth0.driver", "<b>\"ice\"</b>"}};
		make(&made, &run, &target, &round, (b ? 300 : 0) + 5 * (int64_t)(number * 7 % 5));
		if (tare_writer_round(writer, &round, &made.record, 1, NULL, 0, NULL, 0, &err) ||
			tare_writer_step(writer, run.id, &step, &err) || tare_writer_facts(writer, run.id, round.id, facts, 3, &err))
			die(&err);
	}
	if (tare_writer_end_run(writer, run.id, TARE_RUN_FINISHED, &err) || tare_writer_close(&writer, &err))
		die(&err);
}

int main(int argc, char **argv)
{
	char path[4096];
	if (argc != 2) {
		fprintf(stderr, "usage: fixtures FOLDER\n");
		return 2;
	}
	snprintf(path, sizeof(path), "%s/rounds.tare", argv[1]);
	write_rounds(path);
	snprintf(path, sizeof(path), "%s/hostile.tare", argv[1]);
	write_hostile(path);
	snprintf(path, sizeof(path), "%s/abba.tare", argv[1]);
	write_comparison(path);
	return 0;
}
