/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tare run --self-test: what this host and its interfaces can stamp, and what each level of stamps costs here. */
#pragma once
#include "cli/cli.h"
#include "report/report.h"

extern const struct column self_test_columns[];
extern const size_t self_test_column_count;

/* `url` or `interface` picks one interface; both NULL: all of them. Takes about a second; sends to 127.0.0.1 only. */
int self_test_run(struct cli *cli, const char *url, const char *interface, const struct format *format,
	struct tare_err *err) TARE_MUST_USE;
