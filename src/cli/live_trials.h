/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rounds as they are measured, on their way into trials, with a line each. */
#pragma once
#include "cli/run_options.h"
#include "tare/verdict.h"

struct live_trials {
	struct cli *cli;
	struct tare_trials *trials;
	const struct tare_figure *figure; /* shown for each round */
	uint32_t position, positions;     /* 0: not scored */
	char arm;
	unsigned silent;                  /* rounds in a row without an answer */
	bool one_arm;                     /* nothing alternates: no letter is shown */
	bool quiet, progress_shown;
	uint64_t kept;
};
/* Context is the struct. */
struct session_events live_trials_events(struct live_trials *live);
/* The key of what is about to be measured, as far as a session knows it before its first round. */
struct tare_trial live_trials_like(const struct session_config *config, const struct session *session);
