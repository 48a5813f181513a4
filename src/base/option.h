/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A command's options as a table over its configuration struct. The same table
 * reads argv and tare.conf, prints --help, is compared with the man page and
 * tells a recording which settings took effect and where each came from.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tare/err.h"

enum option_type {
	OPTION_FLAG,     /* bool */
	OPTION_COUNT,    /* uint64_t */
	OPTION_DURATION, /* int64_t ns */
	OPTION_RATE,     /* int64_t: the interval in ns */
	OPTION_SIZE,     /* uint64_t bytes */
	OPTION_NUMBER,   /* double */
	OPTION_CPUS,     /* struct option_cpus */
	OPTION_TEXT,     /* const char *, borrowed from argv or kept by the option set */
	OPTION_CHOICE,   /* int, one of `choices` */
};

struct option_choice { const char *word; int value; const char *help; };
enum { OPTION_CPUS_MAX = 1024 };
struct option_cpus { int cpu[OPTION_CPUS_MAX]; size_t count; };

struct option {
	const char *name;                    /* "every", without dashes */
	char letter;                         /* 0: none */
	enum option_type type;
	const char *metavar, *fallback, *help;
	size_t offset;
	double least, most;                  /* both 0: any; durations and counts as their own unit */
	const struct option_choice *choices; /* ends with word == NULL */
};
#define OPTION_AT(config, member) offsetof(config, member)

/* Where a value came from; kept per option. */
struct option_origin { const char *source; char value[64]; bool given; };

/* A table at work: the struct being filled and, per option, its origin. */
struct option_set {
	const char *command;
	const struct option *table; /* ends with name == NULL */
	void *config;
	struct option_origin *origins; /* one per table row, given by the caller */
};

size_t option_count(const struct option *table);
/* Fallbacks of the table first; then option_file for each configuration file; then option_argv. */
int option_fallbacks(struct option_set *set, struct tare_err *err) TARE_MUST_USE;
/* Section [command] of an INI file; a missing file is fine. Unknown names are errors with the nearest name. */
int option_file(struct option_set *set, const char *path, struct tare_err *err) TARE_MUST_USE;
/*
 * Options and operands in any order; "--name=value", "--name value", "-x value", "-xvalue", "--no-flag".
 * "--" is handed on as an operand (it separates arms). Operands are moved to the front of argv;
 * *ret_operands is their number. *ret_help is set when -h or --help was met.
 */
int option_argv(struct option_set *set, int argc, char **argv, int *ret_operands, bool *ret_help,
		struct tare_err *err) TARE_MUST_USE;
bool option_given(const struct option_set *set, const char *name);
void option_help(FILE *out, const struct option *table);
