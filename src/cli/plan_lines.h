/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a comparison will be able to see, said before the first round. */
#pragma once
#include "cli/cli.h"
#include "cli/run_options.h"
#include "cli/verdict_options.h"

struct comparison_plan {
	const char *order;        /* "ABBABAAB" */
	size_t done;              /* rounds measured already */
	int64_t settle_ns;
	const char *a, *b;        /* commands, for what they say about interrupt moderation; may be NULL */
	const struct session_config *session;
	const struct question *question;
	const char *calibration;  /* NULL: none */
	const struct tare_trial *like; /* the key: kind, url, interval, payload, warm-up */
	bool quiet;               /* nothing is printed; what cannot be seen is still refused */
};
/* TARE_E_USAGE when the primary figure cannot be seen at this count. */
int plan_lines_print(struct cli *cli, const struct comparison_plan *plan, struct tare_err *err) TARE_MUST_USE;
/* Requests a round and target after the warm-up. */
uint64_t plan_requests(const struct session_config *config);
/* TARE_E_USAGE, with the counts that would do, when fewer than 10 of n values lie behind a percentile or PDV. */
int plan_check_visible(const struct tare_figure *figure, uint64_t n, struct tare_err *err) TARE_MUST_USE;
/* "rx-usecs 100" or "rx-usecs=100" in a command, in µs; 0: none. */
uint64_t plan_moderation_us(const char *command);
