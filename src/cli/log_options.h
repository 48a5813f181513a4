/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What every command that reads other tools' logs lets the user say about them: LOG_OPTIONS(struct its_config, member). */
#pragma once
#include "base/option.h"

struct log_rules {
	const char *format, *column, *unit, *with; /* as in struct import_rules */
};

#define LOG_OPTIONS(config, member)                                                                                    \
	{.name = "format",                                                                                             \
		.letter = 'f',                                                                                         \
		.type = OPTION_TEXT,                                                                                   \
		.metavar = "NAME",                                                                                     \
		.help = "logs: read as this, whatever it looks like: ping, irtt-json, sockperf, ... (default: told from " \
			"the content)",                                                                                \
		.offset = OPTION_AT(config, member.format)},                                                           \
		{.name = "with",                                                                                       \
			.type = OPTION_TEXT,                                                                           \
			.metavar = "FILE,...",                                                                         \
			.help = "logs: files that belong to this one, joined to it: the EC2 tool's other CSV files",   \
			.offset = OPTION_AT(config, member.with)},                                                     \
		{.name = "column",                                                                                     \
			.type = OPTION_TEXT,                                                                           \
			.metavar = "NAME",                                                                             \
			.help = "of a table of numbers: the column, by name or number from 1 (default: the only one whose name ends with a unit)",                        \
			.offset = OPTION_AT(config, member.column)},                                                   \
	{                                                                                                              \
		.name = "unit", .type = OPTION_TEXT, .metavar = "UNIT",                                                \
		.help = "of numbers that do not say theirs: ps, ns, us, ms or s (default: as the column's name ends, else ns)", .offset = OPTION_AT(config, member.unit) \
	}
