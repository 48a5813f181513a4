/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Every parse_ function on one text, and what must hold behind them: outputs
 * stay untouched on failure, a duration reads back from its whole ns, CPU lists
 * are sorted without doubles.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ROOM = 512, UNTOUCHED = -77 };

static void hold(bool condition)
{
	if (!condition)
		abort();
}

static void try_times(const char *text, struct tare_err *err)
{
	int64_t ns = UNTOUCHED, again = 0, interval_ns = UNTOUCHED;
	char bytes[64];
	if (parse_duration_ns(text, &ns, err) < 0) {
		hold(ns == UNTOUCHED && err->text[0]);
	} else {
		snprintf(bytes, sizeof(bytes), "%" PRId64 "ns", ns);
		hold(ns >= 0 && parse_duration_ns(bytes, &again, err) == 0 && again == ns);
		format_duration(ns, bytes, sizeof(bytes));
	}
	if (parse_interval_of_rate(text, &interval_ns, err) < 0)
		hold(interval_ns == UNTOUCHED);
	else
		hold(interval_ns >= 1);
}

static void try_numbers(const char *text, struct tare_err *err)
{
	uint64_t count = 77, size_bytes = 77;
	double number = UNTOUCHED;
	char bytes[64];
	if (parse_count(text, &count, err) < 0)
		hold(count == 77);
	else
		/* every count is a size too, but for the letters: k M G mean the same in both */
		hold(parse_size_bytes(text, &size_bytes, err) == 0 && size_bytes == count);
	if (parse_number(text, &number, err) == 0)
		format_rate(number, bytes, sizeof(bytes));
}

static void try_cpus(const char *text, struct tare_err *err)
{
	int cpus[ROOM] = {UNTOUCHED};
	size_t count = ROOM + 1;
	if (parse_cpu_list(text, cpus, ROOM, &count, err) < 0) {
		hold(cpus[0] == UNTOUCHED && count == ROOM + 1);
		return;
	}
	hold(count <= ROOM);
	for (size_t i = 1; i < count; i++)
		hold(cpus[i] > cpus[i - 1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	if (!text)
		return 0;
	if (size > 0)
		memcpy(text, data, size);
	text[size] = '\0';
	struct tare_err err = {.text = ""};
	try_times(text, &err);
	try_numbers(text, &err);
	try_cpus(text, &err);
	static const char *const words[] = {"every", "count", "output", NULL};
	nearest_word(text, words);
	free(text);
	return 0;
}
