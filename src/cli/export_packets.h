/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tare export --packets: the packets of a capture with both of their times, a line each. */
#pragma once
#include "cli/cli.h"
#include "import/import.h"
#include "report/report.h"

/* `columns` NULL: all of them. Remarks go to the command's notes. */
int export_packets(struct cli *cli, FILE *out, const char *path, const struct import_rules *rules,
	const struct format *format, const char *columns, struct tare_err *err) TARE_MUST_USE;
