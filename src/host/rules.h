/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cross-checks, and what they share. Private to this folder. */
#pragma once
#include "host/finding.h"

/* One judgement under way. */
struct judging {
	const struct host_view *view;
	struct host_findings *findings;
	struct host_cpus hot; /* asked for, isolated or nohz_full */
};

/* `what`, `why`, `evidence`, `remedy` may be NULL; copied. */
void finding_add(struct judging *judging, enum host_level level, const char *rule, const char *key, const char *what,
	const char *why, const char *evidence, const char *remedy);
/* The difference of a counter since the last inspection: 0 when it did not move or is not known. */
uint64_t delta_of_key(const struct judging *judging, const char *key);
/* Another fact of the same instance: "irq[X].count" of "irq[X].affinity". */
const struct host_fact *beside(const struct judging *judging, const char *key, const char *name);
/* The value of it, NULL when it is not readable or not known. */
const char *value_beside(const struct judging *judging, const char *key, const char *name);
/* What the kernel calls the NIC with this key, for remedies. */
const char *nic_name(const struct judging *judging, const char *key);
/* Whether a key ends so. */
bool ends_with(const char *text, const char *end);
enum host_level worse_in_round(const struct judging *judging, enum host_level otherwise);

void rules_cpu(struct judging *judging);    /* X1 X2 X3 X5 X6 X12 X13 X17 */
void rules_nic(struct judging *judging);    /* X4 X7 X8 X9 X14 X15 X18 X19 */
void rules_config(struct judging *judging); /* X10 X11 X16 X20, drift, what could not be read */
