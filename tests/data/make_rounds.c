/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Makes a recording for a test while it runs:
 *     make-rounds FILE [--url U] [--every NS] [--count N] [--start S] [--host H] [--size B] [--warmup N]
 *                 [--isolated yes|no] [--append] ROUND...
 * ROUND is LABEL:MEDIAN_NS[:CPU[:LOST[:HELD]]]; rounds begin a minute apart, --start seconds after a fixed
 * wall-clock time. A round's values lie within 1 % about its median, the first two
 * requests are slower, HELD per cent of the rate is kept. Nothing is random.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tare/tare.h"

struct making {
	const char *path, *url, *host, *isolated;
	int64_t every_ns, start_ns;
	size_t count;
	uint32_t size, warmup;
	bool append;
};

static void must(int status, const struct tare_err *err)
{
	if (status >= 0)
		return;
	fprintf(stderr, "make-rounds: %s\n", err->text);
	exit(1);
}

/* The last of the requests are lost; lateness grows evenly to what the held rate leaves. */
static void fill(const struct making *making, const struct tare_round *round, double median_ns, size_t lost, double held,
	int64_t *at_ns[3], uint8_t *fate)
{
	for (size_t i = 0; i < making->count; i++) {
		double slip = (double)making->every_ns * (double)i * (100 / held - 1);
		int64_t due = round->first_due_ns + (int64_t)i * making->every_ns;
		double value = median_ns * (1 + (double)((int64_t)(i * 37 % 201) - 100) * 1e-4);
		value += i == 0 ? 4 * median_ns : i == 1 ? median_ns : 0;
		at_ns[0][i] = due;
		at_ns[1][i] = due + 50 + (int64_t)slip;
		at_ns[2][i] = at_ns[1][i] + (int64_t)(value + 0.5);
		fate[i] = TARE_ANSWERED;
		if (i >= making->count - lost) {
			fate[i] = TARE_LOST;
			at_ns[2][i] = TARE_NO_TIME;
		}
	}
}

static void write_round(struct tare_writer *writer, const struct making *making, const struct tare_run *run,
	const struct tare_target *target, uint32_t number, char *spec)
{
	struct tare_err err = {0};
	const char *label = strtok_r(spec, ":", &spec), *median = strtok_r(NULL, ":", &spec);
	const char *cpu_text = strtok_r(NULL, ":", &spec), *lost = strtok_r(NULL, ":", &spec);
	const char *held = strtok_r(NULL, ":", &spec);
	struct tare_round round = {.number = number, .label = label, .first_due_ns = (int64_t)number * 60000000000,
		.interval_ns = making->every_ns, .timeout_ns = 1000000000, .axis_error_ns = TARE_NO_TIME,
		.warmup = making->warmup, .status = "finished"};
	round.ended_ns = round.first_due_ns + (int64_t)making->count * making->every_ns;
	int64_t *at_ns[3];
	uint8_t *fate = calloc(making->count, 1);
	int16_t *cpu = calloc(making->count, sizeof *cpu);
	for (int i = 0; i < 3; i++)
		at_ns[i] = calloc(making->count, sizeof(int64_t));
	if (!label || !median || !fate || !cpu || !at_ns[0] || !at_ns[1] || !at_ns[2])
		exit(1);
	fill(making, &round, strtod(median, NULL), lost ? strtoul(lost, NULL, 10) : 0, held ? strtod(held, NULL) : 100, at_ns,
		fate);
	for (size_t i = 0; cpu_text && i < making->count; i++)
		cpu[i] = (int16_t)strtol(cpu_text, NULL, 10);
	struct tare_record record = {.run = run, .target = target, .round = &round, .resolution_ns = 1};
	record.series = (struct tare_series){.count = making->count, .fate = fate};
	record.series.at_ns[TARE_STAGE_DUE] = at_ns[0];
	record.series.at_ns[TARE_STAGE_USER_TX] = at_ns[1];
	record.series.at_ns[TARE_STAGE_USER_RX] = at_ns[2];
	record.series.cpu[TARE_CPU_PEER_TX] = cpu_text ? cpu : NULL;
	must(tare_writer_round(writer, &round, &record, 1, NULL, 0, NULL, 0, &err), &err);
	for (int i = 0; i < 3; i++)
		free(at_ns[i]);
	free(fate);
	free(cpu);
}

static int parse(int argc, char **argv, struct making *making)
{
	int at = 2;
	for (; at + 1 < argc && strncmp(argv[at], "--", 2) == 0; at += 2) {
		const char *name = argv[at] + 2, *value = argv[at + 1];
		if (strcmp(name, "append") == 0) {
			making->append = true;
			at--;
		} else if (strcmp(name, "url") == 0) {
			making->url = value;
		} else if (strcmp(name, "host") == 0) {
			making->host = value;
		} else if (strcmp(name, "isolated") == 0) {
			making->isolated = value;
		} else if (strcmp(name, "every") == 0) {
			making->every_ns = strtoll(value, NULL, 10);
		} else if (strcmp(name, "count") == 0) {
			making->count = strtoul(value, NULL, 10);
		} else if (strcmp(name, "start") == 0) {
			making->start_ns = strtoll(value, NULL, 10) * 1000000000;
		} else if (strcmp(name, "size") == 0) {
			making->size = (uint32_t)strtoul(value, NULL, 10);
		} else if (strcmp(name, "warmup") == 0) {
			making->warmup = (uint32_t)strtoul(value, NULL, 10);
		}
	}
	return at;
}

int main(int argc, char **argv)
{
	struct making making = {.url = "stamp://10.0.0.2:862", .host = "a", .every_ns = 1000000, .count = 1002, .size = 64,
		.warmup = 2};
	struct tare_err err = {0};
	struct tare_writer *writer = NULL;
	if (argc < 3)
		return fprintf(stderr, "usage: make-rounds FILE [OPTION VALUE]... LABEL:MEDIAN_NS[:CPU[:LOST[:HELD]]]...\n"), 2;
	int at = parse(argc, argv, &making);
	struct tare_run run = {.epoch_real_ns = 1700000000000000000 + making.start_ns, .seed = 1, .tool = "tare 0.1.0",
		.host = making.host, .kernel = "6.1.0", .command_line = "made for a test"};
	char kind[16] = "";
	memcpy(kind, making.url, strcspn(making.url, ":") < 15 ? strcspn(making.url, ":") : 15);
	struct tare_target target = {.url = making.url, .kind = kind, .address = "10.0.0.2", .payload_bytes = making.size};
	must(tare_writer_open(argv[1], making.append ? TARE_APPEND : TARE_CREATE, &writer, &err), &err);
	must(tare_writer_begin_run(writer, &run, &target, 1, NULL, 0, &err), &err);
	struct tare_fact isolated = {.side = "local", .moment = "start", .key = "placement.isolated", .value = making.isolated};
	if (making.isolated)
		must(tare_writer_facts(writer, run.id, 0, &isolated, 1, &err), &err);
	for (uint32_t number = 1; at < argc; at++, number++)
		write_round(writer, &making, &run, &target, number, argv[at]);
	must(tare_writer_end_run(writer, run.id, TARE_RUN_FINISHED, &err), &err);
	must(tare_writer_close(&writer, &err), &err);
	return 0;
}
