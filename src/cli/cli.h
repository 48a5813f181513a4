/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The command line: one file per command, each with an option table and a run
 * function. Only this folder prints to stderr and only main() exits. A new
 * command is a `const struct command command_NAME` in cmd_NAME.c, a line here
 * and one in the table of main.c.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/option.h"
#include "tare/err.h"

/* What a command has at hand. `columns` is 0 when the output is no terminal and COLUMNS is unset: no limit. */
struct cli {
	FILE *out;  /* the result */
	FILE *note; /* progress and diagnosis */
	bool out_tty, note_tty;
	bool colour; /* a terminal, and neither NO_COLOR nor TERM=dumb */
	bool note_colour; /* the same of note */
	int columns, lines; /* lines: 0 when the output is no terminal */
	bool monitoring; /* failures exit 3 (UNKNOWN) */
	const struct option_set *options; /* the command's options and where each value came from */
	int argc;                         /* the whole command line as it was given, for the recording */
	const char *const *argv;
};

/*
 * run() finds its configuration filled (fallbacks, configuration files, argv)
 * and returns the exit status, or -1 with err set: main prints "tare: TEXT" and
 * exits with tare_exit_status(err->code). main also notices a failed stdout.
 */
struct command {
	const char *name;
	const char *summary;          /* one line, lower case, no full stop */
	const char *operands;         /* "FILE..." */
	const char *examples;         /* whole lines, each indented by two spaces */
	const struct option *options; /* ends with name == NULL */
	size_t config_bytes;
	bool pages;                   /* prints a result at its end, which may be longer than a terminal (PAGER_OPTION) */
	bool monitoring;              /* exits 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN, for its own errors too */
	const char *(*words)(size_t i); /* for completion: the i-th word an operand may be, NULL behind the last */
	void (*columns)(FILE *out);     /* lists the columns it prints, for `tare help COMMAND --columns`; NULL: none */
	int (*run)(struct cli *cli, void *config, int operand_count, char **operands, struct tare_err *err);
};

/* "tare: TEXT" on cli->note, foreign characters made harmless; for what a command survives. */
void cli_warn(struct cli *cli, const char *format, ...) TARE_PRINTF(2, 3);
/* Names and what they are, a line each. */
struct cli_word {
	const char *name, *what;
};
int cli_list(struct cli *cli, const char *heading, const struct cli_word *words, size_t count, struct tare_err *err);
/* "tare 0.1.0", as recordings note it. */
const char *cli_version(void);

/* All of them in the order of `tare help`, NULL behind the last. */
extern const struct command *const cli_commands[];

extern const struct command command_run;
extern const struct command command_echo;
extern const struct command command_stat;
extern const struct command command_plot;
extern const struct command command_export;
extern const struct command command_import;
extern const struct command command_lab;
extern const struct command command_load;
extern const struct command command_abba;
extern const struct command command_calibrate;
extern const struct command command_noise;
extern const struct command command_compare;
extern const struct command command_verify;
extern const struct command command_inspect;
extern const struct command command_report;
extern const struct command command_completion;
