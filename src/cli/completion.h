/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Completion scripts for shells, written from the tables of commands and options: what no table tells is not
 * completed. A word that starts a target keeps the cursor behind it ("icmp://"), and lists are completed
 * element by element.
 */
#pragma once
#include <stdio.h>

#include "cli/cli.h"

enum completes {
	COMPLETES_NOTHING,    /* a number, a time, free text */
	COMPLETES_WORDS,      /* completion_word() lists them */
	COMPLETES_FILES,
	COMPLETES_RECORDINGS, /* *.tare and folders first */
	COMPLETES_FOLDERS,
	COMPLETES_COMMANDS,   /* of the system */
	COMPLETES_TARGETS,    /* completion_scheme() lists their beginnings */
};

enum completes completes_value(const struct option *option);
enum completes completes_operand(const struct command *command);
/* Several may be given, separated by commas. */
bool completes_list(const struct option *option);
/* The i-th word of a value, NULL behind the last. */
const char *completion_word(const struct option *option, size_t i);
/* "icmp" and so on, NULL behind the last. */
const char *completion_scheme(size_t i);
/* `text` with a backslash before each character of `special`; an apostrophe as '\'' where the shell wants that. */
void completion_quoted(FILE *out, const char *text, const char *special, bool doubled_apostrophe);

/* Whole scripts. */
void completion_bash(FILE *out, const struct command *const *commands);
void completion_zsh(FILE *out, const struct command *const *commands);
void completion_fish(FILE *out, const struct command *const *commands);
