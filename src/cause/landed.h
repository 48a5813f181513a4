/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a kernel counts by CPU, before and after a round: interrupts, soft
 * interrupts, time the hypervisor took, throttling, and system management
 * interrupts where the processor counts them (perf's msr unit). Counts need no
 * privilege but the last; they tell how often, not when, so they prove nothing about
 * one request and rule out much.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "tare/cause.h"
#include "tare/err.h"

enum { LANDED_CPUS_MAX = 64, LANDED_ROWS_MAX = 512 };

/* One line of /proc/interrupts or /proc/softirqs: what it is called, and a count for each CPU asked for. */
struct landed_row {
	uint8_t kind; /* TARE_SHARE_INTERRUPT, TARE_SHARE_SOFTIRQ */
	char name[TARE_COMM_BYTES];
	char key[24]; /* what stands before the colon: tells lines apart that share a name */
	uint64_t count[LANDED_CPUS_MAX];
};
/*
 * Pure: adds the lines of such a file to `rows`, which holds *count of at most LANDED_ROWS_MAX. The first line says
 * which column is which CPU; CPUs that are not there count nothing. `text` is changed.
 */
void landed_parse(enum tare_share_kind kind, char *text, const int *cpus, size_t cpu_count, struct landed_row *rows,
	size_t *count);
/* Pure: field `steal` of "cpuN ..." lines of /proc/stat, in ticks. `text` is changed. */
void landed_parse_steal(char *text, const int *cpus, size_t cpu_count, uint64_t *ret_ticks);

struct landed;
/* For these CPUs; more than LANDED_CPUS_MAX: the first ones. Fails only without memory. */
int landed_open(const int *cpus, size_t count, struct landed **ret_landed, struct tare_err *err) TARE_MUST_USE;
void landed_free(struct landed *landed); /* NULL is fine */
size_t landed_cpus(const struct landed *landed);
int landed_cpu(const struct landed *landed, size_t cpu_at);
/* The moment from which differences count. */
void landed_begin(struct landed *landed);
/*
 * What was counted since, on the CPU at this position: at most `room` rows, the most frequent first within each kind;
 * rows of zero are left out. Returns their number.
 */
size_t landed_since(struct landed *landed, size_t cpu_at, struct tare_share *ret_shares, size_t room);
/* Reads the counters anew, once for all CPUs; landed_since compares with the last reading. */
void landed_end(struct landed *landed);
