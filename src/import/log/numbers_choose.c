/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Columns by their names: "rtt_us" is a time, "sent_ns" when something left. */
#include <string.h>
#include <strings.h>

#include "import/number.h"
#include "import/log/numbers.h"

/* Where the unit of a name begins; 0 where there is none. */
static size_t unit_at(struct field name, int64_t *ret_unit_ps)
{
	size_t end = name.bytes;
	int power;
	while (end && (name.text[end - 1] == ')' || name.text[end - 1] == ']'))
		end--;
	size_t from = end;
	while (from && !strchr("_([ .-", name.text[from - 1]))
		from--;
	*ret_unit_ps = from ? numbers_unit_ps(name.text + from, end - from) : 0;
	if (from && !*ret_unit_ps && end - from > 1 && number_unit(name.text + from, end - from, &power)) {
		*ret_unit_ps = 1;
		for (power -= UNIT_PS; power > 0; power--)
			*ret_unit_ps *= 10;
	}
	return *ret_unit_ps ? from : 0;
}

int64_t numbers_unit_in_name(struct field name)
{
	int64_t unit_ps;
	unit_at(name, &unit_ps);
	return unit_ps;
}

/* 0 due, 1 sent, 2 received; -1: another word. */
static int stamp_of(struct field name, size_t unit)
{
	static const struct {
		const char *word;
		int stamp;
	} words[] = {{"due", 0}, {"scheduled", 0}, {"sent", 1}, {"send", 1}, {"tx", 1}, {"received", 2}, {"receive", 2},
		{"recv", 2}, {"rcvd", 2}, {"rx", 2}};
	size_t bytes = unit;
	while (bytes && strchr("_([ .-", name.text[bytes - 1]))
		bytes--;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strlen(words[i].word) == bytes && strncasecmp(name.text, words[i].word, bytes) == 0)
			return words[i].stamp;
	}
	return -1;
}

void numbers_choose(const struct table_line *header, struct numbers_choice *ret_choice)
{
	struct numbers_choice choice = {.column = SIZE_MAX, .stamp = {SIZE_MAX, SIZE_MAX, SIZE_MAX}};
	bool only_stamps = true;
	for (size_t i = 0; i < header->count; i++) {
		int64_t unit_ps;
		size_t unit = unit_at(header->field[i], &unit_ps);
		if (!unit)
			continue;
		int stamp = stamp_of(header->field[i], unit);
		only_stamps = only_stamps && stamp >= 0 && choice.stamp[stamp] == SIZE_MAX;
		if (stamp >= 0)
			choice.stamp[stamp] = i;
		choice.column = i;
		choice.times++;
	}
	if (choice.times != 1)
		choice.column = SIZE_MAX;
	/* a time of day alone is no latency either */
	if (choice.times == 1 && (choice.stamp[0] != SIZE_MAX || choice.stamp[1] != SIZE_MAX || choice.stamp[2] != SIZE_MAX))
		choice.column = SIZE_MAX;
	if (!only_stamps || choice.stamp[1] == SIZE_MAX || choice.stamp[2] == SIZE_MAX)
		choice.stamp[0] = choice.stamp[1] = choice.stamp[2] = SIZE_MAX;
	*ret_choice = choice;
}
