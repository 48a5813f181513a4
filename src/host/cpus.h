/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sets of CPUs. The kernel writes them as lists ("0-3,8"), as strided lists
 * ("0-31:2"), as masks in comma groups whose leading zeros come and go
 * ("0000,00000000"), as "(null)" or as nothing at all; everything is held as
 * bits here and printed as one list form, so that equal sets are equal text.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HOST_CPUS_MAX = 8192 };
struct host_cpus {
	uint64_t bits[HOST_CPUS_MAX / 64];
};

/*
 * A list. "N" stands for `last` (the highest possible CPU; -1: "N" and "all" are refused), "all" for 0 to
 * `last`; an empty text and "(null)" are the empty set. False, with *ret_cpus untouched, for what is no list.
 */
bool host_cpus_of_list(const char *text, int last, struct host_cpus *ret_cpus);
/* A hexadecimal mask, with or without comma groups and "0x". */
bool host_cpus_of_mask(const char *text, struct host_cpus *ret_cpus);
/* "0-1,24"; "" for the empty set. False when it does not fit. */
bool host_cpus_text(const struct host_cpus *cpus, char *buffer, size_t room);

bool host_cpus_has(const struct host_cpus *cpus, int cpu);
void host_cpus_add(struct host_cpus *cpus, int cpu); /* outside of 0..8191: nothing */
void host_cpus_join(struct host_cpus *into, const struct host_cpus *from);
int host_cpus_count(const struct host_cpus *cpus);
/* The lowest CPU above `cpu`, or -1; start with -1. */
int host_cpus_next(const struct host_cpus *cpus, int cpu);
bool host_cpus_subset(const struct host_cpus *part, const struct host_cpus *whole);
bool host_cpus_meet(const struct host_cpus *one, const struct host_cpus *other);
