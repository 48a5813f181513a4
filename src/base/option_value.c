/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One option's text into its member of the configuration struct: the type's
 * parser, the range, the choices. The member is written only when all held, and
 * the origin right behind it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/option_private.h"
#include "base/text.h"

/* A limit as the user would write it; a rate's limits are kept as intervals. */
static void format_limit(const struct option *option, double limit, char *buffer, size_t room)
{
	struct text text = {.bytes = buffer, .room = room};
	if (option->type == OPTION_DURATION)
		format_duration((int64_t)limit, buffer, room);
	else if (option->type == OPTION_RATE)
		format_rate(1e9 / limit, buffer, room);
	else if (option->type == OPTION_NUMBER)
		text_add(&text, "%g", limit);
	else
		text_add(&text, "%.0f", limit);
}

static int refuse_range(const struct option *option, const char *value, struct tare_err *err)
{
	char low[32] = "", high[32] = "", bytes[128];
	bool has_high = option->most >= option->least, has_low = true;
	format_limit(option, option->least, low, sizeof(low));
	if (has_high)
		format_limit(option, option->most, high, sizeof(high));
	if (option->type == OPTION_RATE) {
		/* the longest interval is the lowest rate; an interval above 0 ns is no limit at all */
		char swap[32];
		memcpy(swap, low, sizeof(swap));
		memcpy(low, high, sizeof(low));
		memcpy(high, swap, sizeof(high));
		has_low = has_high;
		has_high = option->least > 0;
	}
	struct text sentence = TEXT_IN(bytes);
	text_add_quoted(&sentence, value);
	if (has_low && has_high)
		text_add(&sentence, " is outside %s to %s", low, high);
	else
		text_add(&sentence, " is %s %s", has_low ? "below" : "above", has_low ? low : high);
	return tare_fail(err, TARE_E_USAGE, "%s", bytes);
}

static int check_range(const struct option *option, double number, const char *value, struct tare_err *err)
{
	if (!(option->least < 0) && !(option->least > 0) && !(option->most < 0) && !(option->most > 0))
		return 0;
	if (number < option->least || (option->most >= option->least && number > option->most))
		return refuse_range(option, value, err);
	return 0;
}

static int store_flag(bool *member, const char *value, struct tare_err *err)
{
	static const struct {
		const char *word;
		bool value;
	} words[] = {
		{"yes", true},
		{"no", false},
		{"on", true},
		{"off", false},
		{"true", true},
		{"false", false},
		{"1", true},
		{"0", false},
	};
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(value, words[i].word) == 0) {
			*member = words[i].value;
			return 0;
		}
	}
	char bytes[128];
	struct text quoted = TEXT_IN(bytes);
	text_add_quoted(&quoted, value);
	return tare_fail(err, TARE_E_USAGE, "%s is neither yes nor no", bytes);
}

static int store_unsigned(const struct option *option, uint64_t *member, const char *value, struct tare_err *err)
{
	uint64_t number = 0;
	int failed =
		option->type == OPTION_COUNT ? parse_count(value, &number, err) : parse_size_bytes(value, &number, err);
	if (failed < 0 || check_range(option, (double)number, value, err) < 0)
		return -1;
	*member = number;
	return 0;
}

static int store_ns(const struct option *option, int64_t *member, const char *value, struct tare_err *err)
{
	int64_t ns = 0;
	int failed = option->type == OPTION_RATE ? parse_interval_of_rate(value, &ns, err)
						 : parse_duration_ns(value, &ns, err);
	if (failed < 0 || check_range(option, (double)ns, value, err) < 0)
		return -1;
	*member = ns;
	return 0;
}

static int store_number(const struct option *option, double *member, const char *value, struct tare_err *err)
{
	double number = 0;
	if (parse_number(value, &number, err) < 0 || check_range(option, number, value, err) < 0)
		return -1;
	*member = number;
	return 0;
}

static int store_cpus(struct option_cpus *member, const char *value, struct tare_err *err)
{
	size_t count = 0;
	if (parse_cpu_list(value, member->cpu, OPTION_CPUS_MAX, &count, err) < 0)
		return -1;
	if (count == 0)
		return tare_fail(err, TARE_E_USAGE, "'' names no CPU");
	member->count = count;
	return 0;
}

static int refuse_choice(const struct option *option, const char *value, struct tare_err *err)
{
	char bytes[384];
	struct text sentence = TEXT_IN(bytes);
	text_add_quoted(&sentence, value);
	text_add(&sentence, " is none of ");
	size_t count = 0;
	for (; option->choices[count].word; count++)
		text_add(&sentence, "%s%s", count ? ", " : "", option->choices[count].word);
	AUTO_FREE const char **words = calloc(count + 1, sizeof(*words));
	for (size_t i = 0; words && i < count; i++)
		words[i] = option->choices[i].word;
	const char *nearest = words ? nearest_word(value, words) : NULL;
	if (nearest)
		text_add(&sentence, "; nearest is '%s'", nearest);
	return tare_fail(err, TARE_E_USAGE, "%s", bytes);
}

static int store_choice(const struct option *option, int *member, const char *value, struct tare_err *err)
{
	for (const struct option_choice *choice = option->choices; choice->word; choice++) {
		if (strcmp(choice->word, value) == 0) {
			*member = choice->value;
			return 0;
		}
	}
	return refuse_choice(option, value, err);
}

static int store_text(struct option_set *set, const char **member, const char *value, bool copy, struct tare_err *err)
{
	const char *text = copy ? option_keep(set, value) : value;
	if (!text)
		return tare_fail_errno(err, ENOMEM, "cannot keep a value");
	*member = text;
	return 0;
}

static int store_member(
	struct option_set *set, const struct option *option, const char *value, bool copy, struct tare_err *err)
{
	void *member = (char *)set->config + option->offset;
	switch (option->type) {
	case OPTION_FLAG:
		return store_flag(member, value, err);
	case OPTION_COUNT:
	case OPTION_SIZE:
		return store_unsigned(option, member, value, err);
	case OPTION_DURATION:
	case OPTION_RATE:
		return store_ns(option, member, value, err);
	case OPTION_NUMBER:
		return store_number(option, member, value, err);
	case OPTION_CPUS:
		return store_cpus(member, value, err);
	case OPTION_TEXT:
		return store_text(set, member, value, copy, err);
	case OPTION_CHOICE:
		return store_choice(option, member, value, err);
	}
	return tare_fail(err, TARE_E_USAGE, "has an unknown type");
}

int option_store(
	struct option_set *set, int row, const char *value, const struct option_place *place, struct tare_err *err)
{
	const char *source = place->copy ? option_keep(set, place->source) : place->source;
	if (!source)
		return tare_fail_errno(err, ENOMEM, "cannot keep a value");
	if (store_member(set, &set->table[row], value, place->copy, err) < 0)
		return -1;
	struct option_origin *origin = &set->origins[row];
	struct text shown = TEXT_IN(origin->value);
	text_add(&shown, "%s", value);
	origin->source = source;
	origin->given = place->given;
	return 0;
}
