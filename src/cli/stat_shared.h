/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `tare stat --shared`: what took the CPUs of each round. */
#pragma once
#include "cli/cli.h"
#include "cli/source.h"
#include "report/stat_view.h"

int stat_shared(struct cli *cli, const struct source_rules *rules, int count, char **paths,
	const struct stat_layout *layout, struct tare_err *err) TARE_MUST_USE;
