/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The option set itself and the command line. argv is permuted in place as it
 * is walked: operands gather at the front, so that the caller needs no second
 * list; "--" is an operand like any other.
 */
#include "base/option.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/option_private.h"
#include "base/text.h"

struct option_kept {
	struct option_kept *next;
	char bytes[];
};

size_t option_count(const struct option *table)
{
	size_t count = 0;
	while (table[count].name)
		count++;
	return count;
}

int option_row(const struct option *table, const char *name, size_t length)
{
	for (int row = 0; table[row].name; row++) {
		if (strlen(table[row].name) == length && memcmp(table[row].name, name, length) == 0)
			return row;
	}
	return OPTION_NONE;
}

char *option_keep(struct option_set *set, const char *text)
{
	size_t length = strlen(text);
	struct option_kept *kept = malloc(sizeof(*kept) + length + 1);
	if (!kept)
		return NULL;
	memcpy(kept->bytes, text, length + 1);
	kept->next = set->kept;
	set->kept = kept;
	return kept->bytes;
}

void option_end(struct option_set *set)
{
	while (set->kept) {
		struct option_kept *next = set->kept->next;
		free(set->kept);
		set->kept = next;
	}
}

const char *option_nearest(const struct option *table, const char *name, bool flags_only)
{
	AUTO_FREE const char **words = calloc(option_count(table) + 2, sizeof(*words));
	if (!words)
		return NULL;
	size_t count = 0;
	for (; table->name; table++) {
		if (!flags_only || table->type == OPTION_FLAG)
			words[count++] = table->name;
	}
	if (!flags_only)
		words[count] = "help";
	return nearest_word(name, words);
}

int option_fallbacks(struct option_set *set, struct tare_err *err)
{
	static const struct option_place place = {.source = "default"};
	for (int row = 0; set->table[row].name; row++) {
		const struct option *option = &set->table[row];
		set->origins[row] = (struct option_origin){.source = NULL};
		if (option->fallback && option_store(set, row, option->fallback, &place, err) < 0)
			return tare_err_prefix(err, "default of '--%s'", option->name);
	}
	return 0;
}

bool option_given(const struct option_set *set, const char *name)
{
	int row = option_row(set->table, name, strlen(name));
	return row != OPTION_NONE && set->origins[row].given;
}

/* A walk over argv: `at` is the argument in hand, operands lie before `operands`. */
struct walk {
	struct option_set *set;
	char **argv;
	int argc, at, operands;
	bool help;
};

static int letter_row(const struct option *table, char letter)
{
	for (int row = 0; table[row].name; row++) {
		if (table[row].letter && table[row].letter == letter)
			return row;
	}
	return OPTION_NONE;
}

static bool is_operand(const struct option *table, const char *argument)
{
	if (argument[0] != '-' || argument[1] == '\0' || strcmp(argument, "--") == 0)
		return true;
	char next = argument[1] == '.' ? argument[2] : argument[1];
	/* a negative number, unless digits are letters of this table as in -4 and -6 */
	return next >= '0' && next <= '9' && letter_row(table, argument[1]) == OPTION_NONE;
}

static int store_given(struct walk *walk, int row, const char *value, struct tare_err *err)
{
	static const struct option_place place = {.source = "command line", .given = true};
	if (option_store(walk->set, row, value, &place, err) < 0)
		return tare_err_prefix(err, "option '--%s'", walk->set->table[row].name);
	return 0;
}

static int refuse_name(const struct option *table, const char *name, size_t length, struct tare_err *err)
{
	char shown[72], quoted[96];
	struct text plain = TEXT_IN(shown), sentence = TEXT_IN(quoted);
	text_add(&plain, "--%.*s", (int)(length < sizeof(shown) ? length : sizeof(shown)), name);
	text_add_quoted(&sentence, shown);
	const char *bare = shown + 2;
	const char *nearest = option_nearest(table, bare, false);
	if (nearest)
		return tare_fail(err, TARE_E_USAGE, "unknown option %s, nearest is '--%s'", quoted, nearest);
	nearest = strncmp(bare, "no-", 3) == 0 ? option_nearest(table, bare + 3, true) : NULL;
	if (nearest)
		return tare_fail(err, TARE_E_USAGE, "unknown option %s, nearest is '--no-%s'", quoted, nearest);
	return tare_fail(err, TARE_E_USAGE, "unknown option %s, see --help", quoted);
}

/* The argument behind the one in hand as the value of `row`. */
static int take_next(struct walk *walk, int row, struct tare_err *err)
{
	const struct option *option = &walk->set->table[row];
	const char *next = walk->at + 1 < walk->argc ? walk->argv[walk->at + 1] : NULL;
	if (!next || strncmp(next, "--", 2) == 0)
		return tare_fail(
			err, TARE_E_USAGE, "option '--%s' needs a value: %s", option->name, option_metavar(option));
	walk->at++;
	return store_given(walk, row, next, err);
}

/* "--name", "--name=value", "--no-flag". */
static int take_long(struct walk *walk, struct tare_err *err)
{
	const struct option *table = walk->set->table;
	const char *name = walk->argv[walk->at] + 2, *equals = strchr(name, '=');
	size_t length = equals ? (size_t)(equals - name) : strlen(name);
	int row = option_row(table, name, length);
	const char *flag_value = equals ? equals + 1 : "yes";
	if (row == OPTION_NONE && !equals && strcmp(name, "help") == 0) {
		walk->help = true;
		return 0;
	}
	if (row == OPTION_NONE && length > 3 && strncmp(name, "no-", 3) == 0) {
		row = option_row(table, name + 3, length - 3);
		if (row != OPTION_NONE && table[row].type != OPTION_FLAG)
			row = OPTION_NONE;
		if (row != OPTION_NONE && equals)
			return tare_fail(err, TARE_E_USAGE, "option '--no-%s' takes no value", table[row].name);
		flag_value = "no";
	}
	if (row == OPTION_NONE)
		return refuse_name(table, name, length, err);
	if (table[row].type == OPTION_FLAG)
		return store_given(walk, row, flag_value, err);
	return equals ? store_given(walk, row, equals + 1, err) : take_next(walk, row, err);
}

static int refuse_letter(const struct option *table, const char *argument, const char *at, struct tare_err *err)
{
	char quoted[96];
	struct text sentence = TEXT_IN(quoted);
	size_t length = strcspn(argument + 1, "=");
	int row = option_row(table, argument + 1, length);
	if (row != OPTION_NONE || at > argument + 1 || (unsigned char)*at >= 0x80) {
		text_add_quoted(&sentence, argument);
	} else {
		const char letter[] = {'-', *at, '\0'};
		text_add_quoted(&sentence, letter);
	}
	if (row != OPTION_NONE)
		return tare_fail(err, TARE_E_USAGE, "unknown option %s, nearest is '--%s'", quoted, table[row].name);
	return tare_fail(err, TARE_E_USAGE, "unknown option %s, see --help", quoted);
}

/* "-x value", "-xvalue", "-qv". */
static int take_letters(struct walk *walk, struct tare_err *err)
{
	const char *argument = walk->argv[walk->at];
	for (const char *at = argument + 1; *at; at++) {
		int row = letter_row(walk->set->table, *at);
		if (row == OPTION_NONE && *at == 'h') {
			walk->help = true;
			return 0;
		}
		if (row == OPTION_NONE)
			return refuse_letter(walk->set->table, argument, at, err);
		if (walk->set->table[row].type != OPTION_FLAG)
			return at[1] ? store_given(walk, row, at + 1, err) : take_next(walk, row, err);
		if (store_given(walk, row, "yes", err) < 0)
			return -1;
	}
	return 0;
}

/* Keeps the order of operands, and of all else behind them. */
static void move_operand(struct walk *walk)
{
	char *operand = walk->argv[walk->at];
	size_t between = (size_t)(walk->at - walk->operands);
	memmove(&walk->argv[walk->operands + 1], &walk->argv[walk->operands], between * sizeof(*walk->argv));
	walk->argv[walk->operands++] = operand;
}

int option_argv(struct option_set *set, int argc, char **argv, int *ret_operands, bool *ret_help, struct tare_err *err)
{
	struct walk walk = {.set = set, .argv = argv, .argc = argc};
	for (; walk.at < argc && !walk.help; walk.at++) {
		int failed = 0;
		if (is_operand(set->table, argv[walk.at]))
			move_operand(&walk);
		else if (strncmp(argv[walk.at], "--", 2) == 0)
			failed = take_long(&walk, err);
		else
			failed = take_letters(&walk, err);
		if (failed < 0)
			return -1;
	}
	*ret_operands = walk.operands;
	*ret_help = walk.help;
	return 0;
}
