/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * many FILE COUNT ROUNDS: a recording of COUNT samples in all, with kernel stamps, two modes by the CPU that
 * answered and one stall of 1.5 ms, for measuring what reads recordings. Figures follow from the index.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tare/tare.h"

struct made {
	int64_t *at[TARE_STAGE_COUNT];
	int16_t *cpu;
	uint8_t *fate;
};

static const enum tare_stage stages[] = {
	TARE_STAGE_DUE, TARE_STAGE_USER_TX, TARE_STAGE_KERNEL_TX, TARE_STAGE_KERNEL_RX, TARE_STAGE_USER_RX};

static void *room(size_t count, size_t size)
{
	void *memory = calloc(count, size);
	if (!memory)
		exit(1);
	return memory;
}

static uint64_t mixed(uint64_t i)
{
	i = (i ^ i >> 30) * 0xbf58476d1ce4e5b9u;
	i = (i ^ i >> 27) * 0x94d049bb133111ebu;
	return i ^ i >> 31;
}

static void fill(struct made *made, size_t count, uint64_t before, uint64_t stall, const struct tare_round *round)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t random = mixed(before + i);
		int64_t due = round->first_due_ns + (int64_t)i * round->interval_ns,
			sent = due + 40 + (int64_t)(random & 15);
		bool slow = i >= count / 2;
		int64_t rtt = (slow ? 4700 : 3900) + (int64_t)((random >> 8) & 255) + (int64_t)((random >> 16) & 255);
		rtt += (random >> 24) % 997 == 0 ? 9000 + (int64_t)((random >> 40) & 4095) : 0;
		rtt += i < 2 ? 16000 : before + i == stall ? 1544000 : 0;
		made->at[TARE_STAGE_DUE][i] = due;
		made->at[TARE_STAGE_USER_TX][i] = sent;
		made->at[TARE_STAGE_KERNEL_TX][i] = sent + 900;
		made->at[TARE_STAGE_KERNEL_RX][i] = sent + rtt - 470;
		made->at[TARE_STAGE_USER_RX][i] = sent + rtt;
		made->cpu[i] = slow ? 19 : 25;
		made->fate[i] = TARE_ANSWERED;
	}
}

static int write_all(const char *path, uint64_t count, uint32_t rounds, struct tare_err *err)
{
	struct tare_writer *writer = NULL;
	struct tare_run run = {.epoch_real_ns = 1700000000000000000,
		.seed = 1,
		.tool = "many",
		.host = "a",
		.kernel = "6.1.0",
		.command_line = "many"};
	struct tare_target target = {
		.url = "udp://10.0.0.2:7", .kind = "udp", .address = "10.0.0.2:7", .payload_bytes = 64};
	size_t each = (size_t)(count / rounds);
	struct made made = {.cpu = room(each, sizeof(int16_t)), .fate = room(each, 1)};
	for (size_t i = 0; i < sizeof(stages) / sizeof(stages[0]); i++)
		made.at[stages[i]] = room(each, sizeof(int64_t));
	if (tare_writer_open(path, TARE_CREATE, &writer, err) ||
		tare_writer_begin_run(writer, &run, &target, 1, NULL, 0, err))
		return -1;
	for (uint32_t number = 1; number <= rounds; number++) {
		struct tare_round round = {.number = number,
			.label = "",
			.interval_ns = 20000,
			.timeout_ns = 1000000000,
			.axis_error_ns = 300,
			.warmup = 2,
			.status = "finished"};
		round.first_due_ns = (int64_t)(number - 1) * ((int64_t)each * round.interval_ns + 1000000000);
		round.ended_ns = round.first_due_ns + (int64_t)each * round.interval_ns;
		fill(&made, each, (uint64_t)(number - 1) * each, count / 4 * 3 + 777, &round);
		struct tare_record record = {.run = &run, .target = &target, .round = &round, .resolution_ns = 1};
		record.series = (struct tare_series){.count = each, .fate = made.fate};
		for (size_t i = 0; i < sizeof(stages) / sizeof(stages[0]); i++)
			record.series.at_ns[stages[i]] = made.at[stages[i]];
		record.series.cpu[TARE_CPU_PEER_RX] = made.cpu;
		record.beside.stamps_asked = 1u << TARE_STAGE_KERNEL_TX | 1u << TARE_STAGE_KERNEL_RX;
		if (tare_writer_round(writer, &round, &record, 1, NULL, 0, NULL, 0, err))
			return -1;
	}
	return tare_writer_end_run(writer, run.id, TARE_RUN_FINISHED, err) || tare_writer_close(&writer, err) ? -1 : 0;
}

int main(int argc, char **argv)
{
	struct tare_err err = {0};
	uint64_t count = argc == 4 ? strtoull(argv[2], NULL, 10) : 0,
		 rounds = argc == 4 ? strtoull(argv[3], NULL, 10) : 0;
	if (argc != 4 || rounds == 0 || rounds > 100000 || count < rounds || count > 1000000000) {
		fprintf(stderr, "usage: many FILE COUNT ROUNDS\n");
		return 2;
	}
	if (write_all(argv[1], count, (uint32_t)rounds, &err)) {
		fprintf(stderr, "many: %s\n", err.text);
		return 1;
	}
	return 0;
}
