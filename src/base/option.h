/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A command's options as a table over its configuration struct. The same table
 * reads argv and tare.conf, prints --help, is compared with the man page and
 * tells a recording which settings took effect and where each came from.
 *
 *	static const struct option table[] = {
 *		{"every", 0, OPTION_DURATION, "TIME", "1ms", "time between requests", OPTION_AT(struct cfg, every_ns),
 *			.least = 1000, .most = 60e9},
 *		{NULL},
 *	};
 *	struct cfg cfg = {0};
 *	struct option_origin origins[sizeof(table) / sizeof(table[0])] = {{0}};
 *	struct option_set set = {.command = "run", .table = table, .config = &cfg, .origins = origins};
 *	…option_fallbacks, option_file, option_argv…; option_end(&set) when cfg is used no more.
 *
 * A failure leaves the struct half filled. Messages quote what the user wrote and say where it stands:
 * "option '--every': '10' needs a unit: …", "/etc/tare/tare.conf:7: every: …".
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tare/err.h"

enum option_type {
	OPTION_FLAG,     /* bool; in files yes/no, on/off, true/false, 1/0 */
	OPTION_COUNT,    /* uint64_t; 10k, 1M */
	OPTION_DURATION, /* int64_t ns */
	OPTION_RATE,     /* int64_t: the interval in ns */
	OPTION_SIZE,     /* uint64_t bytes */
	OPTION_NUMBER,   /* double */
	OPTION_CPUS,     /* struct option_cpus */
	OPTION_TEXT,     /* const char *, borrowed from argv or the table, or kept by the option set */
	OPTION_CHOICE,   /* int, one of `choices` */
};

struct option_choice {
	const char *word;
	int value;
	const char *help;
};
enum { OPTION_CPUS_MAX = 1024 };
struct option_cpus {
	int cpu[OPTION_CPUS_MAX];
	size_t count;
};

struct option {
	const char *name; /* "every", without dashes */
	char letter;      /* 0: none */
	enum option_type type;
	const char *metavar, *fallback, *help; /* without a fallback option_fallbacks leaves the member alone */
	size_t offset;
	/*
	 * Both 0: any; most < least: no upper limit. Durations and rates in ns (a rate's limits are those of
	 * its interval), counts, sizes and numbers as they are; the other types have no range.
	 */
	double least, most;
	const struct option_choice *choices; /* ends with word == NULL */
};
#define OPTION_AT(config, member) offsetof(config, member)

/*
 * Where a value came from; kept per option. `source` is "default", "command line" or "FILE:LINE" (kept by
 * the set), NULL when there is no value; `value` as it was written, cut to fit; `given`: not the fallback.
 */
struct option_origin {
	const char *source;
	char value[64];
	bool given;
};

/* A table at work: the struct being filled and, per option, its origin. */
struct option_set {
	const char *command;
	const struct option *table; /* ends with name == NULL */
	void *config;
	struct option_origin *origins; /* one per table row, given by the caller */
	struct option_kept *kept;      /* starts as NULL; text that came from files */
};

size_t option_count(const struct option *table);
/* Fallbacks of the table first; then option_file for each configuration file; then option_argv. */
int option_fallbacks(struct option_set *set, struct tare_err *err) TARE_MUST_USE;
/*
 * Section [command] of an INI file; a missing file is fine. Unknown names are errors with the nearest name;
 * other sections are not looked at. Failures of content are TARE_E_FORMAT. Lines up to 197 bytes, files up to
 * 1 MiB; ';' behind a blank starts a comment; there are no continuation lines.
 */
int option_file(struct option_set *set, const char *path, struct tare_err *err) TARE_MUST_USE;
/* The same from memory; `name` stands for the file in messages and origins. */
int option_text(struct option_set *set, const char *text, const char *name, struct tare_err *err) TARE_MUST_USE;
/*
 * Options and operands in any order; "--name=value", "--name value", "-x value", "-xvalue", "--no-flag", and
 * flags' letters joined ("-qv"). "-" and negative numbers are operands, and so is "--" (it separates arms;
 * options go on behind it). argv[0] is the first argument, not the command. Operands are moved to the front of
 * argv, in order; *ret_operands is their number. Stops at -h or --help and sets *ret_help.
 */
int option_argv(struct option_set *set, int argc, char **argv, int *ret_operands, bool *ret_help,
	struct tare_err *err) TARE_MUST_USE;
/* On the command line or in a file. */
bool option_given(const struct option_set *set, const char *name);
/* A flag that is on unless turned off: shown as --[no-]NAME. */
bool option_is_on(const struct option *option);
/* At most 80 columns wide. */
void option_help(FILE *out, const struct option *table);
/* Releases what files brought: texts in the struct and sources in the origins end here. */
void option_end(struct option_set *set);
