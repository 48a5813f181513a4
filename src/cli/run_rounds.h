/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What `tare run` does with its rounds as they come in: figures, progress, and the judgement of the whole. */
#pragma once
#include "cli/cli.h"
#include "report/stat_view.h"
#include "session/session.h"

struct kept_round;
struct live;

struct run_rounds {
	struct cli *cli;
	const struct session_config *config;
	const struct format *format;
	struct stat_view *view;
	struct live *live;          /* NULL: a line of progress instead */
	struct kept_round *kept;    /* rounds and labels outlive the session's own, for the view */
	bool progress_shown;
	int64_t clock_bound_ns;     /* 0: not stated */
	uint64_t samples;
	uint64_t answered[64];      /* by target */
	double asked, held;         /* of the worst round; held 0: none judged */
	double best;                /* of a sweep of rates: the highest that was held; 0: none */
	char best_label[64];
	bool rate_missed, swept;    /* swept: rates differ by step */
	const char *urls[64];
	size_t targets;
};

/* stall_limit_ns 0: ten times each round's median. */
int run_rounds_open(struct cli *cli, const struct session_config *config, const struct format *format, uint32_t spans,
		    int64_t stall_limit_ns, struct run_rounds *ret_rounds, struct tare_err *err) TARE_MUST_USE;
struct session_events run_rounds_events(struct run_rounds *rounds);
/* The table and the sentences; returns the exit status (0, or 4 when the run says nothing), -1 on failure. */
int run_rounds_print(struct run_rounds *rounds, const struct tare_run *run, bool interrupted, struct tare_err *err);
void run_rounds_end(struct run_rounds *rounds);
