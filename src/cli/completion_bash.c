/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bash: one function a command, and one that calls it. Plain bash, without the helpers of the bash-completion
 * package, which may be absent. bash breaks words at '=', so that "--stamps=ker" arrives as three.
 */
#include "cli/completion.h"

static const char head[] =
	"# bash completion of tare, written by `tare completion bash` from its option tables\n"
	"\n"
	"_tare_words()\n"
	"{\n"
	"\tmapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$cur\")\n"
	"}\n"
	"\n"
	"# The last element of a list.\n"
	"_tare_list()\n"
	"{\n"
	"\tlocal before=\n"
	"\t[[ $cur == *,* ]] && before=${cur%,*},\n"
	"\tmapfile -t COMPREPLY < <(compgen -P \"$before\" -W \"$1\" -- \"${cur##*,}\")\n"
	"\tcompopt -o nospace 2>/dev/null\n"
	"}\n"
	"\n"
	"_tare_files()\n"
	"{\n"
	"\tmapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
	"\tcompopt -o filenames 2>/dev/null\n"
	"}\n"
	"\n"
	"_tare_folders()\n"
	"{\n"
	"\tmapfile -t COMPREPLY < <(compgen -d -- \"$cur\")\n"
	"\tcompopt -o filenames 2>/dev/null\n"
	"}\n"
	"\n"
	"# Any file where there is no recording: logs and captures have many names.\n"
	"_tare_recordings()\n"
	"{\n"
	"\tmapfile -t COMPREPLY < <(compgen -f -X '!*.tare' -- \"$cur\")\n"
	"\tif ((${#COMPREPLY[@]})); then\n"
	"\t\tlocal folders\n"
	"\t\tmapfile -t folders < <(compgen -d -- \"$cur\")\n"
	"\t\tCOMPREPLY+=(\"${folders[@]}\")\n"
	"\telse\n"
	"\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
	"\tfi\n"
	"\tcompopt -o filenames 2>/dev/null\n"
	"}\n"
	"\n"
	"_tare_commands()\n"
	"{\n"
	"\tmapfile -t COMPREPLY < <(compgen -c -- \"$cur\")\n"
	"}\n"
	"\n";

static const char tail[] =
	"_tare()\n"
	"{\n"
	"\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
	"\tCOMPREPLY=()\n"
	"\tif [[ $cur == = ]]; then\n"
	"\t\tcur=\n"
	"\telif [[ $prev == = ]]; then\n"
	"\t\tprev=${COMP_WORDS[COMP_CWORD-2]}\n"
	"\tfi\n"
	"\tif ((COMP_CWORD == 1)); then\n"
	"\t\t_tare_words \"$_tare_known help --help --version\"\n"
	"\telif [[ ${COMP_WORDS[1]} == help ]]; then\n"
	"\t\t_tare_words \"$_tare_known\"\n"
	"\telif declare -F \"_tare_of_${COMP_WORDS[1]}\" >/dev/null; then\n"
	"\t\t\"_tare_of_${COMP_WORDS[1]}\"\n"
	"\tfi\n"
	"}\n"
	"complete -F _tare tare\n";

static void print_targets(FILE *out)
{
	fputs("# No blank behind them: the host follows.\n_tare_targets()\n{\n\t_tare_words '", out);
	for (size_t i = 0; completion_scheme(i); i++)
		fprintf(out, "%s%s://", i ? " " : "", completion_scheme(i));
	fputs("'\n\tcompopt -o nospace 2>/dev/null\n}\n\n", out);
}

static void print_pattern(FILE *out, const struct option *option, bool *first)
{
	fprintf(out, "%s--%s", *first ? "\t" : " | ", option->name);
	if (option->letter)
		fprintf(out, " | -%c", option->letter);
	*first = false;
}

static void print_action(FILE *out, enum completes completes)
{
	static const char *const functions[] = {[COMPLETES_FILES] = "_tare_files",
		[COMPLETES_RECORDINGS] = "_tare_recordings",
		[COMPLETES_FOLDERS] = "_tare_folders",
		[COMPLETES_COMMANDS] = "_tare_commands",
		[COMPLETES_TARGETS] = "_tare_targets"};
	fputs(functions[completes] ? functions[completes] : ":", out);
}

/* Values whose words differ by option have a case of their own, the rest one by what it completes. */
static void print_values(FILE *out, const struct option *table)
{
	for (const struct option *option = table; option->name; option++) {
		bool first = true;
		if (option->type == OPTION_FLAG || completes_value(option) != COMPLETES_WORDS)
			continue;
		print_pattern(out, option, &first);
		fprintf(out, ") %s '", completes_list(option) ? "_tare_list" : "_tare_words");
		for (size_t i = 0; completion_word(option, i); i++)
			fprintf(out, "%s%s", i ? " " : "", completion_word(option, i));
		fputs("' ; return ;;\n", out);
	}
	for (int completes = COMPLETES_NOTHING; completes <= COMPLETES_TARGETS; completes++) {
		bool first = true;
		for (const struct option *option = table; option->name; option++) {
			if (option->type != OPTION_FLAG && completes != COMPLETES_WORDS &&
				completes_value(option) == (enum completes)completes)
				print_pattern(out, option, &first);
		}
		if (first)
			continue;
		fputs(") ", out);
		print_action(out, (enum completes)completes);
		fputs(" ; return ;;\n", out);
	}
}

static void print_command(FILE *out, const struct command *command)
{
	fprintf(out, "_tare_of_%s()\n{\n\tcase $prev in\n", command->name);
	print_values(out, command->options);
	fputs("\tesac\n\tif [[ $cur == -* ]]; then\n\t\t_tare_words '", out);
	for (const struct option *option = command->options; option->name; option++)
		fprintf(out, "--%s%s ", option->type == OPTION_FLAG && option_is_on(option) ? "no-" : "", option->name);
	fputs("--help'\n\telse\n\t\t", out);
	if (completes_operand(command) == COMPLETES_WORDS) {
		fputs("_tare_words '", out);
		for (size_t i = 0; command->words(i); i++)
			fprintf(out, "%s%s", i ? " " : "", command->words(i));
		fputc('\'', out);
	} else {
		print_action(out, completes_operand(command));
	}
	fputs("\n\tfi\n}\n\n", out);
}

void completion_bash(FILE *out, const struct command *const *commands)
{
	fputs(head, out);
	print_targets(out);
	for (size_t i = 0; commands[i]; i++)
		print_command(out, commands[i]);
	fputs("_tare_known='", out);
	for (size_t i = 0; commands[i]; i++)
		fprintf(out, "%s%s", i ? " " : "", commands[i]->name);
	fputs("'\n\n", out);
	fputs(tail, out);
}
