/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * --help from the table: names on the left, words flowed on the right. Widths
 * count characters, not bytes, since "µs" is three bytes wide and two columns.
 */
#include <string.h>

#include "base/option_private.h"
#include "base/text.h"

enum { SCREEN_COLUMNS = 80, LEFT_MOST_COLUMNS = 30, GAP_COLUMNS = 2 };

const char *option_metavar(const struct option *option)
{
	if (option->metavar)
		return option->metavar;
	switch (option->type) {
	case OPTION_FLAG:
		return NULL;
	case OPTION_COUNT:
		return "N";
	case OPTION_DURATION:
		return "TIME";
	case OPTION_RATE:
		return "RATE";
	case OPTION_SIZE:
		return "BYTES";
	case OPTION_NUMBER:
		return "X";
	case OPTION_CPUS:
		return "CPUS";
	case OPTION_TEXT:
		return "TEXT";
	case OPTION_CHOICE:
		return "WORD";
	}
	return NULL;
}

static size_t columns_of(const char *text, size_t bytes)
{
	size_t columns = 0;
	for (size_t i = 0; i < bytes; i++)
		columns += ((unsigned char)text[i] & 0xc0) != 0x80;
	return columns;
}

bool option_is_on(const struct option *option)
{
	const char *fallback = option->fallback;
	return option->type == OPTION_FLAG && fallback && (strcmp(fallback, "yes") == 0 || strcmp(fallback, "on") == 0 ||
				   strcmp(fallback, "true") == 0 || strcmp(fallback, "1") == 0);
}

static void left_side(const struct option *option, struct text *left)
{
	const char *metavar = option_metavar(option);
	if (option->letter)
		text_add(left, "  -%c, ", option->letter);
	else
		text_add(left, "      ");
	/* who may want to turn a default off must see how */
	text_add(left, "--%s%s", option_is_on(option) ? "[no-]" : "", option->name);
	if (metavar)
		text_add(left, " %s", metavar);
}

/* Words flowed between `indent` and the edge of the screen; `column` is where the next would stand. */
struct flow {
	FILE *out;
	size_t indent, column;
};

static void flow_line(struct flow *flow, size_t indent)
{
	fprintf(flow->out, "\n%*s", (int)indent, "");
	flow->indent = indent;
	flow->column = indent;
}

static void flow_word(struct flow *flow, const char *word, size_t bytes)
{
	size_t columns = columns_of(word, bytes);
	bool first = flow->column == flow->indent;
	if (!first && flow->column + 1 + columns > SCREEN_COLUMNS) {
		flow_line(flow, flow->indent);
		first = true;
	}
	fprintf(flow->out, "%s%.*s", first ? "" : " ", (int)bytes, word);
	flow->column += columns + (first ? 0 : 1);
}

static void flow_text(struct flow *flow, const char *text)
{
	while (*text) {
		size_t bytes = strcspn(text, " ");
		if (bytes > 0)
			flow_word(flow, text, bytes);
		text += bytes + (text[bytes] == ' ');
	}
}

static bool choices_explained(const struct option_choice *choices)
{
	for (; choices && choices->word; choices++) {
		if (choices->help)
			return true;
	}
	return false;
}

static void flow_default(struct flow *flow, const struct option *option)
{
	bool flag = option->type == OPTION_FLAG;
	if (!option->fallback || option->fallback[0] == '\0' || (flag && !option_is_on(option)))
		return;
	char bytes[128];
	struct text text = TEXT_IN(bytes);
	text_add(&text, "(default %s)", flag ? "on" : option->fallback);
	flow_text(flow, bytes);
}

static void flow_choices(struct flow *flow, const struct option_choice *choices)
{
	size_t widest = 0, indent = flow->indent;
	for (const struct option_choice *choice = choices; choice->word; choice++) {
		size_t columns = columns_of(choice->word, strlen(choice->word));
		widest = columns > widest ? columns : widest;
	}
	for (; choices->word; choices++) {
		flow_line(flow, indent + GAP_COLUMNS);
		size_t columns = columns_of(choices->word, strlen(choices->word));
		fprintf(flow->out, "%s%*s", choices->word, (int)(widest + GAP_COLUMNS - columns), "");
		flow->indent = flow->column = indent + GAP_COLUMNS + widest + GAP_COLUMNS;
		flow_text(flow, choices->help ? choices->help : "");
	}
}

static void print_row(FILE *out, const struct option *option, size_t right)
{
	char bytes[128];
	struct text left = TEXT_IN(bytes);
	left_side(option, &left);
	struct flow flow = {.out = out, .indent = right, .column = right};
	size_t columns = columns_of(bytes, left.used);
	fputs(bytes, out);
	if (columns + GAP_COLUMNS > right)
		flow_line(&flow, right);
	else
		fprintf(out, "%*s", (int)(right - columns), "");
	flow_text(&flow, option->help ? option->help : "");
	bool explained = choices_explained(option->choices);
	if (option->choices && !explained) {
		flow_text(&flow, "(one of");
		for (const struct option_choice *choice = option->choices; choice->word; choice++) {
			char word[64];
			struct text text = TEXT_IN(word);
			text_add(&text, "%s%s", choice->word, choice[1].word ? "," : ")");
			flow_text(&flow, word);
		}
	}
	flow_default(&flow, option);
	if (explained)
		flow_choices(&flow, option->choices);
	fputc('\n', out);
}

void option_help(FILE *out, const struct option *table)
{
	static const struct option help = {
		.name = "help", .letter = 'h', .type = OPTION_FLAG, .help = "print this and exit"};
	size_t widest = 0;
	for (const struct option *option = table; option->name; option++) {
		char bytes[128];
		struct text left = TEXT_IN(bytes);
		left_side(option, &left);
		size_t columns = columns_of(bytes, left.used);
		if (columns > widest && columns <= LEFT_MOST_COLUMNS)
			widest = columns;
	}
	size_t least = columns_of("  -h, --help", strlen("  -h, --help"));
	widest = widest > least ? widest : least;
	for (const struct option *option = table; option->name; option++)
		print_row(out, option, widest + GAP_COLUMNS);
	if (option_row(table, "help", 4) == OPTION_NONE)
		print_row(out, &help, widest + GAP_COLUMNS);
}
