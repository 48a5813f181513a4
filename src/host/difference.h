/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What differs between two snapshots, key by key. What cannot be read is never
 * "same", what a newer tool can read is no drift, and what was read by netlink
 * does not equal what was read by ioctl, which cannot tell zero from unsupported.
 */
#pragma once
#include "host/policy.h"
#include "host/snapshot.h"

enum host_change {
	HOST_SAME,
	HOST_CHANGED,        /* another value, or one that the policy does not allow */
	HOST_APPEARED,       /* was absent then */
	HOST_VANISHED,       /* is absent now */
	HOST_UNREADABLE,     /* at one of the two moments, or both: nothing can be said */
	HOST_NEW_CAPABILITY, /* the older snapshot's tool could not know it */
	HOST_CHANGE_COUNT
};
const char *host_change_name(enum host_change change);

struct host_difference {
	const char *key;
	enum host_change change;
	const struct host_fact *was, *is; /* NULL where a snapshot has no such key */
	bool both;                        /* HOST_UNREADABLE then and now */
	int64_t matched_ns;               /* wall clock at which it was last found as it should be; 0: not known */
	char note[120];                   /* "" or what the change itself does not say */
};

/* Rows are borrowed from the snapshots, in order of keys; same ones are counted, not listed. */
struct host_differences {
	struct host_difference *row;
	size_t count;
	size_t compared, same, changed, appeared, vanished, unreadable, new_capability, not_applicable;
};

/* Policy may be NULL. Both snapshots must be finished, and outlive the result. */
int host_difference_of(const struct host_snapshot *was, const struct host_snapshot *is,
	const struct host_policy *policy, struct host_differences *ret_differences, struct tare_err *err) TARE_MUST_USE;
void host_differences_free(struct host_differences *differences);
