/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tally of null comparisons: the same setting in both arms, judged like any
 * other. A bench that finds effects there in more than one case of twenty
 * misleads its user, and this is how he finds out. One line each in
 * tare/null-verdicts under the XDG state folder.
 */
#pragma once
#include <stddef.h>

#include "tare/verdict.h"

/*
 * Adds a line for the bench of this trial (target and rate) and sums up: "null verdicts of this bench so far: 3 effects
 * in 41, 7.3 % (95 % 1.5 to 20), 2 of them worse; of all benches of this user: ...".
 */
int null_tally_add(const struct tare_verdict *verdict, const struct tare_trial *trial, char *ret_note, size_t room,
	struct tare_err *err) TARE_MUST_USE;
/* FOLDER/tare/NAME under $XDG_STATE_HOME, or ~/.local/state; the folders are made. */
int state_path(const char *name, char *ret_path, size_t room, struct tare_err *err) TARE_MUST_USE;
