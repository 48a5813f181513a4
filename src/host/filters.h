/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules of nftables as one number: what of them is configuration. Private to this folder. */
#pragma once
#include <stdint.h>

#include "host/netlink.h"

struct filters {
	uint64_t hash, rules;
	unsigned chains, hooks; /* hooks: chains that the kernel calls by itself */
};
#define FILTERS_HASH_START UINT64_C(14695981039346656037) /* FNV-1a */

/* Both take messages of a dump; others are passed over. `context` is struct filters. */
void filters_take_chain(const struct nlmsghdr *message, void *context);
void filters_take_rule(const struct nlmsghdr *message, void *context);
/* "none", "1 rule, 0123456789abcdef". */
void filters_text(uint64_t count, const char *what, uint64_t hash, char *buffer, size_t room);
