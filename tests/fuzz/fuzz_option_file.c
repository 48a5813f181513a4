/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A configuration file from memory against a table with every type. A refusal
 * must name a place; what was taken must lie in its range and have an origin.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/option.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct config {
	bool flag;
	uint64_t count, size_bytes;
	int64_t every_ns, rate_ns;
	double number;
	struct option_cpus cpus;
	const char *output;
	int wait;
};

enum { ROWS = 10 };
static const struct option_choice waits[] = {{"sleep", 1, NULL}, {"spin", 2, NULL}, {NULL, 0, NULL}};
static const struct option table[] = {
	{"flag", 0, OPTION_FLAG, NULL, NULL, "", OPTION_AT(struct config, flag), 0, 0, NULL},
	{"count", 0, OPTION_COUNT, NULL, "1", "", OPTION_AT(struct config, count), 1, 1000, NULL},
	{"size", 0, OPTION_SIZE, NULL, "64", "", OPTION_AT(struct config, size_bytes), 16, 0, NULL},
	{"every", 0, OPTION_DURATION, NULL, "1ms", "", OPTION_AT(struct config, every_ns), 1000, 1e9, NULL},
	{"rate", 0, OPTION_RATE, NULL, NULL, "", OPTION_AT(struct config, rate_ns), 1000, 0, NULL},
	{"number", 0, OPTION_NUMBER, NULL, NULL, "", OPTION_AT(struct config, number), -1, 1, NULL},
	{"cpus", 0, OPTION_CPUS, NULL, NULL, "", OPTION_AT(struct config, cpus), 0, 0, NULL},
	{"output", 0, OPTION_TEXT, NULL, NULL, "", OPTION_AT(struct config, output), 0, 0, NULL},
	{"wait", 0, OPTION_CHOICE, NULL, "sleep", "", OPTION_AT(struct config, wait), 0, 0, waits},
	{NULL, 0, OPTION_FLAG, NULL, NULL, NULL, 0, 0, 0, NULL},
};

static void hold(bool condition)
{
	if (!condition)
		abort();
}

static void check(const struct option_set *set, const struct config *config)
{
	hold(config->count >= 1 && config->count <= 1000 && config->size_bytes >= 16);
	hold(config->every_ns >= 1000 && config->every_ns <= 1000000000);
	hold(config->number >= -1 && config->number <= 1 && (config->wait == 1 || config->wait == 2));
	hold(config->cpus.count <= OPTION_CPUS_MAX);
	hold(option_given(set, "rate") == (config->rate_ns >= 1000));
	hold(option_given(set, "output") == (config->output && strlen(config->output) < 200));
	for (int row = 0; row < ROWS - 1; row++)
		hold(!set->origins[row].given || strncmp(set->origins[row].source, "fuzz:", 5) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct config config = {.flag = false};
	struct option_origin origins[ROWS] = {{.source = NULL}};
	struct option_set set = {.command = "run", .table = table, .config = &config, .origins = origins};
	struct tare_err err = {.text = ""};
	char *text = malloc(size + 1);
	if (!text)
		return 0;
	if (size > 0)
		memcpy(text, data, size);
	text[size] = '\0';
	hold(option_fallbacks(&set, &err) == 0);
	if (option_text(&set, text, "fuzz", &err) < 0)
		hold(err.code == TARE_E_FORMAT && strncmp(err.text, "fuzz:", 5) == 0);
	free(text);
	check(&set, &config);
	option_end(&set);
	return 0;
}
