/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From trials to a printed verdict and an exit status; the same for rounds just
 * measured and for rounds from files.
 */
#pragma once
#include "cli/calibration_file.h"
#include "cli/cli.h"
#include "cli/verdict_options.h"
#include "report/verdict_view.h"
#include "session/session.h"

struct judging {
	const struct verdict_options *options;
	const struct question *question;
	const struct table_asked *table;   /* NULL: as it suits */
	const char *name_a, *name_b;       /* NULL: A and B */
	const char *order;                 /* as planned; NULL: as found when interleaved */
	uint64_t seed;
	int64_t stall_limit_ns;
	bool stall_limit_calibrated;       /* it is the calibration's */
	enum cpu_class cpu_class;          /* of what was measured, for the calibration */
	struct tare_reasons reasons;       /* what the caller found wrong: settings that moved */
	const char *withhold;              /* why "no effect" may not be said; NULL: it may */
	const char *notes[COMPARISON_NOTES_MAX];
	size_t note_count;
};

/* Before anything is measured: the CPU class, and the stall limit of a calibration unless another one was given. */
int take_calibrated(const struct verdict_options *options, const struct session_config *session, struct question *question,
	struct judging *judging, struct tare_err *err) TARE_MUST_USE;
/* Prints and returns the exit status, -1 on failure. *ret_primary, which may be NULL, is the deciding verdict. */
int judge_trials(struct cli *cli, struct judging *judging, const struct tare_trial *trials, size_t count,
	struct tare_verdict *ret_primary, struct tare_err *err) TARE_MUST_USE;
