/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fish: one `complete` a command and option. */
#include "cli/completion.h"

static const char special[] = "\\'";

static const char head[] =
	"# fish completion of tare, written by `tare completion fish` from its option tables\n"
	"\n"
	"# The command is the first word behind tare; it may stand as a value elsewhere.\n"
	"function __tare_is\n"
	"\tset -l words (commandline -opc)\n"
	"\ttest (count $words) -gt 1; and contains -- $words[2] $argv\n"
	"end\n"
	"\n"
	"function __tare_alone\n"
	"\ttest (count (commandline -opc)) -eq 1\n"
	"end\n"
	"\n"
	"function __tare_recordings\n"
	"\t__fish_complete_suffix .tare\n"
	"end\n"
	"\n";

static void print_description(FILE *out, const char *text)
{
	fputs(" -d '", out);
	completion_quoted(out, text ? text : "", special, false);
	fputs("'\n", out);
}

static void print_action(FILE *out, enum completes completes)
{
	static const char *const actions[] = {[COMPLETES_NOTHING] = "",
		[COMPLETES_FILES] = " -F",
		[COMPLETES_RECORDINGS] = " -k -a '(__tare_recordings)'",
		[COMPLETES_FOLDERS] = " -a '(__fish_complete_directories)'",
		[COMPLETES_COMMANDS] = " -a '(__fish_complete_command)'",
		[COMPLETES_TARGETS] = " -a '(__tare_targets)'"};
	fputs(actions[completes], out);
}

static void print_option(FILE *out, const char *command, const struct option *option)
{
	bool flag = option->type == OPTION_FLAG;
	fprintf(out, "complete -c tare -n '__tare_is %s' -l %s%s", command, flag && option_is_on(option) ? "no-" : "",
		option->name);
	if (option->letter)
		fprintf(out, " -s %c", option->letter);
	if (!flag)
		fputs(completes_value(option) == COMPLETES_FILES ? " -r" : " -x", out);
	if (!flag && completes_value(option) == COMPLETES_WORDS) {
		fputs(completes_list(option) ? " -a '(__fish_append ," : " -a '", out);
		for (size_t i = 0; completion_word(option, i); i++) {
			fputs(i || completes_list(option) ? " " : "", out);
			completion_quoted(out, completion_word(option, i), special, false);
		}
		fputs(completes_list(option) ? ")'" : "'", out);
	} else if (!flag) {
		print_action(out, completes_value(option));
	}
	print_description(out, option->help);
}

static void print_command(FILE *out, const struct command *command)
{
	fprintf(out, "\ncomplete -c tare -n __tare_alone -a %s", command->name);
	print_description(out, command->summary);
	for (const struct option *option = command->options; option->name; option++)
		print_option(out, command->name, option);
	fprintf(out, "complete -c tare -n '__tare_is %s' -l help -s h", command->name);
	print_description(out, "print the options and exit");
	if (completes_operand(command) == COMPLETES_NOTHING)
		return;
	fprintf(out, "complete -c tare -n '__tare_is %s'", command->name);
	if (completes_operand(command) == COMPLETES_WORDS) {
		fputs(" -a '", out);
		for (size_t i = 0; command->words(i); i++) {
			fputs(i ? " " : "", out);
			completion_quoted(out, command->words(i), special, false);
		}
		fputc('\'', out);
	} else {
		print_action(out, completes_operand(command));
	}
	fputc('\n', out);
}

void completion_fish(FILE *out, const struct command *const *commands)
{
	fputs(head, out);
	fputs("function __tare_targets\n\tprintf '%s\\n'", out);
	for (size_t i = 0; completion_scheme(i); i++)
		fprintf(out, " %s://", completion_scheme(i));
	fputs("\nend\n\ncomplete -c tare -f\ncomplete -c tare -n __tare_alone -a help", out);
	print_description(out, "explains a command and its options");
	for (size_t i = 0; commands[i]; i++)
		print_command(out, commands[i]);
	fputs("\ncomplete -c tare -n '__tare_is help' -a '", out);
	for (size_t i = 0; commands[i]; i++)
		fprintf(out, "%s%s", i ? " " : "", commands[i]->name);
	fputs("'\n", out);
}
