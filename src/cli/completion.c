/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a value or an operand completes to: told by its words or its metavar, which --help shows as well. */
#include "cli/completion.h"

#include <string.h>

#include "import/import.h"
#include "probe/probe.h"
#include "tare/sample.h"

/* Figures of verdicts; percentiles are without number, these are the usual ones. */
static const char *const figures[] = {
	"p50", "p90", "p99", "p99.9", "min", "max", "pdv", "first", "second", "stalls", "loss", NULL};
static const char *const units[] = {"ps", "ns", "us", "ms", "s", NULL};

static const char *figure_word(size_t i)
{
	return figures[i];
}

static const char *unit_word(size_t i)
{
	return units[i];
}

static const char *format_word(size_t i)
{
	const char *help;
	return import_format_name(i, &help);
}

static const char *span_word(size_t i)
{
	return i < TARE_SPAN_COUNT ? tare_span_name((enum tare_span)i) : NULL;
}

/* Texts that are words of a list somewhere. An option is known by name and metavar: --format may mean another thing elsewhere. */
static const struct {
	const char *name, *metavar;
	const char *(*word)(size_t i);
} word_lists[] = {
	{"format", "NAME", format_word},
	{"unit", "UNIT", unit_word},
	{"primary", "FIGURE", figure_word},
	{"also", "FIGURE,...", figure_word},
	{"span", "NAME,...", span_word},
};
enum { WORD_LISTS = sizeof word_lists / sizeof *word_lists };

static size_t word_list_of(const struct option *option)
{
	size_t i = 0;
	while (i < WORD_LISTS && (strcmp(word_lists[i].name, option->name) != 0 || !option->metavar ||
					 strcmp(word_lists[i].metavar, option->metavar) != 0))
		i++;
	return i;
}

static const struct kind {
	const char *metavar;
	enum completes completes;
} kinds[] = {
	{"FILE", COMPLETES_FILES},
	{"FOLDER", COMPLETES_FOLDERS},
	{"CMD", COMPLETES_COMMANDS},
	{"COMMAND", COMPLETES_COMMANDS},
	{"URL", COMPLETES_TARGETS},
	{"TARGET", COMPLETES_TARGETS},
};

/* Options whose FILE is a recording. */
static const char *const recordings[] = {"baseline", "calibration"};

/* The metavar is the first word of `text`, in capitals. */
static enum completes by_metavar(const char *text)
{
	size_t length = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		if (strlen(kinds[i].metavar) == length && memcmp(text, kinds[i].metavar, length) == 0)
			return kinds[i].completes;
	}
	return COMPLETES_NOTHING;
}

enum completes completes_value(const struct option *option)
{
	if (option->choices || word_list_of(option) < WORD_LISTS)
		return COMPLETES_WORDS;
	for (size_t i = 0; i < sizeof recordings / sizeof *recordings; i++) {
		if (strcmp(option->name, recordings[i]) == 0)
			return COMPLETES_RECORDINGS;
	}
	return option->metavar ? by_metavar(option->metavar) : COMPLETES_NOTHING;
}

enum completes completes_operand(const struct command *command)
{
	if (command->words)
		return COMPLETES_WORDS;
	enum completes completes = by_metavar(command->operands + strspn(command->operands, "["));
	/* "A... -- B..." of compare are recordings too. */
	if (completes == COMPLETES_FILES || strncmp(command->operands, "A...", 4) == 0)
		return COMPLETES_RECORDINGS;
	return completes;
}

bool completes_list(const struct option *option)
{
	return option->metavar && strstr(option->metavar, ",...");
}

const char *completion_word(const struct option *option, size_t i)
{
	return option->choices ? option->choices[i].word : word_lists[word_list_of(option)].word(i);
}

const char *completion_scheme(size_t i)
{
	return probe_kinds[i] ? probe_kinds[i]->scheme : NULL;
}

void completion_quoted(FILE *out, const char *text, const char *special, bool doubled_apostrophe)
{
	for (; *text; text++) {
		if (*text == '\'' && doubled_apostrophe) {
			fputs("'\\''", out);
			continue;
		}
		if (strchr(special, *text))
			fputc('\\', out);
		fputc(*text, out);
	}
}
