/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who ran on which CPU, out of evidence: the contention of a round proved or ruled out. Pure. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tare/cause.h"

struct share {
	char comm[TARE_COMM_BYTES];
	int64_t ns;
	size_t times; /* stretches */
};
enum { SHARES_MOST = 32 };
struct cpu_shares {
	struct share share[SHARES_MOST]; /* largest first, by name */
	size_t count;
	int64_t others_ns;     /* all tasks but the watched thread */
	int64_t interrupts_ns; /* interrupts and soft interrupts, as far as seen */
	bool missing;          /* records were lost: there was more */
};
/* Adds ns of one piece, whatever its CPU; shares start as zero. Sums need no memory of what went into them. */
void cpu_shares_add(struct cpu_shares *shares, const struct tare_evidence *item, int64_t ns);
void cpu_shares_sort(struct cpu_shares *shares);
enum { SHARES_ROWS = SHARES_MOST + 2 };
/*
 * As rows: tasks of at least `least_ns`, then `waited` (NULL: not known), then all interrupts in one. `of`: enum
 * tare_share_of. Returns how many of SHARES_ROWS were written.
 */
size_t cpu_shares_rows(const struct cpu_shares *shares, int16_t cpu, uint8_t of, int64_t least_ns,
	const struct tare_share *waited, struct tare_share *ret_rows);
/* Of [from_ns, to_ns] on one CPU; evidence in any order. */
void cpu_shares_of(const struct tare_evidence *items, size_t count, int16_t cpu, int64_t from_ns, int64_t to_ns,
	struct cpu_shares *ret_shares);
/* Time that threads with these ids (sorted) ran on a CPU, -1: on any that is watched. */
int64_t shares_of_tids(const struct tare_evidence *items, size_t count, const int32_t *tids, size_t tid_count,
	int16_t cpu, int64_t from_ns, int64_t to_ns);
