/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Entry: finds the command, fills its configuration from the option table's
 * fallbacks, the configuration files and argv, runs it, and turns failures into
 * a sentence and an exit status. SIGPIPE is ignored for the whole process: a
 * pager that is closed must not kill a measurement before it is saved.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/pager.h"
#include "report/utf8.h"

/* Monitoring plugins: whatever keeps a check from being made is UNKNOWN. */
enum { EXIT_MONITORING_UNKNOWN = 3 };

const struct command *const cli_commands[] = {
	&command_run,
	&command_echo,
	&command_stat,
	&command_plot,
	&command_export,
	&command_import,
	&command_abba,
	&command_calibrate,
	&command_compare,
	&command_verify,
	&command_inspect,
	&command_report,
	&command_lab,
	&command_load,
	&command_noise,
	&command_completion,
	NULL,
};

static const char summary_head[] = "tare measures network latency and verifies whether a change really changed it.\n\n";
static const char summary_tail[] =
	"\n"
	"  tare echo stamp://127.0.0.1:8620 --cpu 1 --spin &\n"
	"  tare run  stamp://127.0.0.1:8620 --every 1ms --count 10000 --cpu 0 --spin -o before.tare\n"
	"  tare stat before.tare\n"
	"\n"
	"tare help COMMAND explains a command and its options; tare --version tells the version.\n";

const char *cli_version(void)
{
	return "tare " TARE_VERSION;
}

void cli_warn(struct cli *cli, const char *format, ...)
{
	char line[1024];
	va_list args;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	fputs("tare: ", cli->note);
	utf8_write_safe(cli->note, line, "\n");
	fputc('\n', cli->note);
}

static void print_summary(FILE *out)
{
	int widest = 0;
	fputs(summary_head, out);
	for (size_t i = 0; cli_commands[i]; i++) {
		int width = (int)strlen(cli_commands[i]->name);
		widest = width > widest ? width : widest;
	}
	for (size_t i = 0; cli_commands[i]; i++)
		fprintf(out, "  tare %-*s  %s\n", widest, cli_commands[i]->name, cli_commands[i]->summary);
	fputs(summary_tail, out);
}

/* The columns in a form that a test reads: "  name  help" below a line a table. */
static void print_columns(FILE *out, const struct command *command)
{
	if (command->columns)
		command->columns(out);
	else
		fprintf(out, "tare %s has no columns to choose from\n", command->name);
}

static void print_help(FILE *out, const struct command *command)
{
	fprintf(out, "tare %s: %s\n\nusage: tare %s %s\n\n", command->name, command->summary, command->name,
		command->operands);
	option_help(out, command->options);
	if (command->examples)
		fprintf(out, "\nexamples:\n%s", command->examples);
}

static const struct command *find_command(const char *name, struct tare_err *err)
{
	const char *names[sizeof(cli_commands) / sizeof(cli_commands[0]) + 1] = {NULL};
	for (size_t i = 0; cli_commands[i]; i++) {
		if (strcmp(cli_commands[i]->name, name) == 0)
			return cli_commands[i];
		names[i] = cli_commands[i]->name;
	}
	const char *near = nearest_word(name, names);
	if (near)
		tare_fail(err, TARE_E_USAGE, "unknown command '%s', nearest is '%s'", name, near);
	else
		tare_fail(err, TARE_E_USAGE, "unknown command '%s'; 'tare' alone lists them", name);
	return NULL;
}

static bool text_set(const char *name)
{
	const char *value = getenv(name);
	return value && value[0];
}

static int terminal_columns(bool out_tty, int *ret_lines)
{
	struct winsize size = {0};
	uint64_t columns = 0;
	bool known = out_tty && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
	*ret_lines = known && size.ws_row > 0 ? size.ws_row : out_tty ? 24 : 0;
	if (known && size.ws_col > 0)
		return size.ws_col;
	if (text_set("COLUMNS") && parse_count(getenv("COLUMNS"), &columns, NULL) == 0 && columns > 0 &&
		columns < 10000)
		return (int)columns;
	return out_tty ? 80 : 0;
}

static void cli_open(struct cli *cli)
{
	const char *term = getenv("TERM");
	cli->out = stdout;
	cli->note = stderr;
	cli->out_tty = isatty(STDOUT_FILENO) == 1;
	cli->note_tty = isatty(STDERR_FILENO) == 1;
	cli->colour = cli->out_tty && !text_set("NO_COLOR") && !(term && strcmp(term, "dumb") == 0);
	cli->note_colour = cli->note_tty && !text_set("NO_COLOR") && !(term && strcmp(term, "dumb") == 0);
	cli->columns = terminal_columns(cli->out_tty, &cli->lines);
}

/* A home that is closed to us (sudo -u keeps $HOME) holds no settings of ours: said, and gone on without. */
static bool is_closed_to_us(struct cli *cli, const char *path)
{
	if (access(path, R_OK) == 0 || errno != EACCES)
		return false;
	cli_warn(cli, "cannot read '%s': permission denied; going on without it", path);
	return true;
}

/* System-wide first, so that the user's own file overrides it. */
static int read_config_files(struct cli *cli, struct option_set *set, struct tare_err *err)
{
	char path[4096];
	struct text user = TEXT_IN(path);

	if (option_file(set, "/etc/tare/tare.conf", err))
		return -1;
	if (text_set("XDG_CONFIG_HOME"))
		text_add(&user, "%s/tare/tare.conf", getenv("XDG_CONFIG_HOME"));
	else if (text_set("HOME"))
		text_add(&user, "%s/.config/tare/tare.conf", getenv("HOME"));
	/* A relative folder is to be ignored, says the XDG base directory specification. */
	if (user.used == 0 || user.cut || path[0] != '/')
		return 0;
	return is_closed_to_us(cli, path) ? 0 : option_file(set, path, err);
}

/* --no-pager, or none to be had. */
static bool is_paged(const struct cli *cli, const struct command *command, const void *config)
{
	for (const struct option *option = command->options; command->pages && cli->out_tty && option->name; option++) {
		if (strcmp(option->name, "pager") == 0)
			return *(const bool *)((const char *)config + option->offset);
	}
	return false;
}

/* A result for a pager is collected first; what a command printed before it failed is shown as well. */
static int run_paged(struct cli *cli, const struct command *command, void *config, int operand_count, char **operands,
	struct tare_err *err)
{
	AUTO_FREE char *text = NULL;
	size_t bytes = 0;
	FILE *whole = is_paged(cli, command, config) ? open_memstream(&text, &bytes) : NULL;
	if (!whole)
		return command->run(cli, config, operand_count, operands, err);
	FILE *out = cli->out;
	cli->out = whole;
	int status = command->run(cli, config, operand_count, operands, err);
	cli->out = out;
	if (fclose(whole) != 0)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory for the result; --no-pager prints it at once");
	pager_show(out, text, bytes, cli->lines, cli->columns);
	return status;
}

/* argv[0] is the command's name. */
static int run_command(struct cli *cli, const struct command *command, int argc, char **argv, struct tare_err *err)
{
	size_t rows = option_count(command->options);
	AUTO_FREE void *config = calloc(1, command->config_bytes ? command->config_bytes : 1);
	AUTO_FREE struct option_origin *origins = calloc(rows + 1, sizeof(*origins));
	int operands = 0;
	bool help = false;

	if (!config || !origins)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	AUTO_CLEANUP(option_end)
	struct option_set set = {
		.command = command->name, .table = command->options, .config = config, .origins = origins};
	if (option_fallbacks(&set, err) || read_config_files(cli, &set, err))
		return -1;
	if (option_argv(&set, argc - 1, argv + 1, &operands, &help, err))
		return -1;
	if (help) {
		print_help(cli->out, command);
		return 0;
	}
	cli->options = &set;
	int status = run_paged(cli, command, config, operands, argv + 1, err);
	cli->options = NULL;
	return status;
}

static int dispatch(struct cli *cli, int argc, char **argv, struct tare_err *err)
{
	const char *first = argc > 1 ? argv[1] : "help";
	const struct command *command;

	if (strcmp(first, "--version") == 0 || strcmp(first, "-V") == 0) {
		fprintf(cli->out, "%s\n", cli_version());
		return 0;
	}
	if (strcmp(first, "help") == 0 || strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0) {
		if (argc <= 2) {
			print_summary(cli->out);
			return 0;
		}
		command = find_command(argv[2], err);
		if (!command)
			return -1;
		if (argc > 3 && strcmp(argv[3], "--columns") != 0)
			return tare_fail(err, TARE_E_USAGE, "expected nothing or --columns behind 'help %s'", command->name);
		if (argc > 3)
			print_columns(cli->out, command);
		else
			print_help(cli->out, command);
		return 0;
	}
	if (first[0] == '-')
		return tare_fail(err, TARE_E_USAGE, "expected a command before '%s'; 'tare' alone lists them", first);
	command = find_command(first, err);
	if (!command)
		return -1;
	cli->monitoring = command->monitoring;
	return run_command(cli, command, argc - 1, argv + 1, err);
}

/* A reader that left early (head, a closed pager) is no failure; anything else that ate the result is. */
static int close_out(int status)
{
	bool failed = ferror(stdout) != 0;
	errno = 0;
	if (fflush(stdout))
		failed = true;
	int reason = errno;
	if (!failed)
		return status;
	struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
	if (reason == EPIPE || (poll(&out, 1, 0) == 1 && (out.revents & POLLERR)))
		return status;
	fprintf(stderr, "tare: cannot write to standard output%s%s\n", reason ? ": " : "",
		reason ? strerror(reason) : "");
	return status ? status : tare_exit_status(TARE_E_SYSTEM);
}

int main(int argc, char **argv)
{
	struct cli cli = {0};
	struct tare_err err = {0};
	/* Reading the options reorders argv; the recording wants it as it was typed. */
	AUTO_FREE const char **as_typed = calloc((size_t)argc + 1, sizeof(*as_typed));

	signal(SIGPIPE, SIG_IGN);
	cli_open(&cli);
	for (int i = 0; as_typed && i < argc; i++)
		as_typed[i] = argv[i];
	cli.argc = as_typed ? argc : 0;
	cli.argv = as_typed;
	int status = dispatch(&cli, argc, argv, &err);
	if (status < 0) {
		fflush(stdout);
		cli_warn(&cli, "%s", err.text);
		status = cli.monitoring ? EXIT_MONITORING_UNKNOWN : tare_exit_status(err.code);
	}
	return close_out(status);
}
