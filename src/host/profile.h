/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A tuned profile as a yardstick: what it would set, against what is set. Nothing
 * is changed and tuned need not be installed; what a profile computes (variables,
 * functions, scripts) cannot be told from its text and is counted as such.
 */
#pragma once
#include "host/policy.h"
#include "host/snapshot.h"

struct host_profile {
	struct host_snapshot *wants; /* one fact per setting that could be understood; keys as in the table */
	struct host_policy *policy;  /* "performance|schedutil" and ">30" as rules */
	size_t lines, not_understood;
};
/*
 * Reads NAME/tuned.conf below /etc/tuned, /etc/tuned/profiles, /usr/lib/tuned and /usr/lib/tuned/profiles, and what
 * it includes, below `root` (NULL: this host). Settings that the table does not know are read into *facts, which is
 * finished again.
 */
int host_profile_load(const char *root, const char *name, struct host_snapshot *facts, struct host_profile *ret_profile,
	struct tare_err *err) TARE_MUST_USE;
void host_profile_free(struct host_profile *profile);
