/* SPDX-License-Identifier: GPL-3.0-or-later */
/* zsh: specifications for _arguments, which has rules of its own for brackets and colons in them. */
#include "cli/completion.h"

static const char special[] = "[]:\\";

static const char tail[] =
	"\tesac\n"
	"}\n"
	"\n"
	"# As a file in fpath it is the function itself; sourced, it has to be made known.\n"
	"if [[ ${funcstack[1]} == _tare ]]; then\n"
	"\t_tare \"$@\"\n"
	"else\n"
	"\tcompdef _tare tare\n"
	"fi\n";

static void print_action(FILE *out, enum completes completes)
{
	static const char *const actions[] = {[COMPLETES_NOTHING] = " ",
		[COMPLETES_FILES] = "_files",
		[COMPLETES_RECORDINGS] = "_files -g \"*.tare\"",
		[COMPLETES_FOLDERS] = "_files -/",
		[COMPLETES_COMMANDS] = "_command_names",
		[COMPLETES_TARGETS] = "_tare_targets"};
	fputs(actions[completes], out);
}

static void print_value(FILE *out, const struct option *option)
{
	fputc(':', out);
	completion_quoted(out, option->metavar ? option->metavar : "value", special, true);
	fputc(':', out);
	if (completes_value(option) != COMPLETES_WORDS) {
		print_action(out, completes_value(option));
		return;
	}
	fputs(completes_list(option) ? "_values -s , value" : "(", out);
	for (size_t i = 0; completion_word(option, i); i++) {
		fputs(i || completes_list(option) ? " " : "", out);
		completion_quoted(out, completion_word(option, i), special, true);
	}
	fputs(completes_list(option) ? "" : ")", out);
}

static void print_spec(FILE *out, const struct option *option, bool letter)
{
	bool flag = option->type == OPTION_FLAG;
	fputs(" \\\n\t\t\t'", out);
	if (letter)
		fprintf(out, "-%c%s[", option->letter, flag ? "" : "+");
	else
		fprintf(out, "--%s%s%s[", flag && option_is_on(option) ? "no-" : "", option->name, flag ? "" : "=");
	completion_quoted(out, option->help ? option->help : "", special, true);
	fputc(']', out);
	if (!flag)
		print_value(out, option);
	fputc('\'', out);
}

static void print_command(FILE *out, const struct command *command)
{
	fprintf(out, "\t%s)\n\t\t_arguments -s", command->name);
	for (const struct option *option = command->options; option->name; option++) {
		print_spec(out, option, false);
		if (option->letter)
			print_spec(out, option, true);
	}
	fputs(" \\\n\t\t\t'--help[print the options and exit]' \\\n\t\t\t'*:operand:", out);
	if (completes_operand(command) == COMPLETES_WORDS) {
		fputc('(', out);
		for (size_t i = 0; command->words(i); i++) {
			fputs(i ? " " : "", out);
			completion_quoted(out, command->words(i), special, true);
		}
		fputc(')', out);
	} else {
		print_action(out, completes_operand(command));
	}
	fputs("'\n\t\t;;\n", out);
}

void completion_zsh(FILE *out, const struct command *const *commands)
{
	fputs("#compdef tare\n# zsh completion of tare, written by `tare completion zsh` from its option tables\n\n"
	      "_tare_targets()\n{\n\tcompadd -S '' --",
		out);
	for (size_t i = 0; completion_scheme(i); i++)
		fprintf(out, " %s://", completion_scheme(i));
	fputs("\n}\n\n_tare()\n{\n\tlocal -a known\n\tknown=(\n", out);
	for (size_t i = 0; commands[i]; i++) {
		fprintf(out, "\t\t'%s:", commands[i]->name);
		completion_quoted(out, commands[i]->summary, special, true);
		fputs("'\n", out);
	}
	fputs("\t\t'help:explains a command and its options'\n\t)\n"
	      "\tif ((CURRENT == 2)) || [[ ${words[2]} == help ]]; then\n"
	      "\t\t_describe command known\n\t\treturn\n\tfi\n"
	      "\tlocal command=${words[2]}\n\tshift words\n\t((CURRENT--))\n\tcase $command in\n",
		out);
	for (size_t i = 0; commands[i]; i++)
		print_command(out, commands[i]);
	fputs(tail, out);
}
