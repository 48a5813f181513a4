/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rounds of files into trials, each with its arm. */
#pragma once
#include "cli/source.h"
#include "tare/verdict.h"

/* Which rounds belong to which arm: 0, 1, or -1 for neither. */
typedef int arm_of_record(void *context, const struct tare_record *record);

/* url NULL: the first target of each run. *ret_added counts the rounds taken; strings are copied. */
int trial_set_read(struct tare_trials *trials, const char *path, const struct source_rules *rules, const char *url,
	arm_of_record *arm_of, void *context, size_t *ret_added, struct tare_err *err) TARE_MUST_USE;

/* Arms as the steps of a recording's plan have them; this struct is the context. What was not scored has none. */
struct trial_steps {
	struct tare_recording *recording;
	size_t step_count; /* steps of the run asked about last; 0: no plan */
};
int trial_arm_by_step(void *context, const struct tare_record *record);

/* The trials in order of start when all are known and of one host, else as they are; free() it. NULL without memory. */
struct tare_trial *trial_set_sorted(const struct tare_trials *trials, size_t *ret_count);
