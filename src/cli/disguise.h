/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names taken out of records before they leave the house: targets, addresses,
 * labels and what a run says of its host. The same name always becomes the same
 * number, and the kind of a target stays, since figures mean nothing without it.
 */
#pragma once
#include "tare/run.h"

struct disguise;
int disguise_open(struct disguise **ret_disguise, struct tare_err *err) TARE_MUST_USE;
void disguise_free(struct disguise *disguise); /* NULL is fine */
/* Puts a copy in place of the record, its samples still those of the original; valid until the next call. NULL: nothing. */
int disguise_record(struct disguise *disguise, const struct tare_record **record, struct tare_err *err) TARE_MUST_USE;
/* "label-3"; "" stays. Owned by the disguise; NULL without memory. */
const char *disguise_label(struct disguise *disguise, const char *label);
/* "udp://target-1" */
const char *disguise_target(struct disguise *disguise, const char *url, const char *kind);
