/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A ring of perf records: opened on a thread or on a CPU, all times
 * CLOCK_MONOTONIC. Records that found no room are told by one that says how many;
 * nothing is ever waited for. Private to this folder.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tare/err.h"

enum { RING_EVENTS_MAX = 16, RING_RAW_BYTES = 160 };

struct ring {
	int fd[RING_EVENTS_MAX]; /* the first one owns the memory */
	uint64_t id[RING_EVENTS_MAX];
	int tag[RING_EVENTS_MAX]; /* the caller's name for an event */
	size_t events, bytes;
	void *map;
};

/* What is asked of the first event. */
struct ring_plan {
	int pid, cpu;   /* as perf_event_open(2): 0, -1 the calling thread; -1, N a CPU */
	unsigned pages; /* a power of two */
	bool names;     /* also records of new and renamed tasks */
	bool events_only; /* no context switches: what ring_add adds alone */
	bool user_only; /* what an unprivileged caller may watch */
};
/* Context switches of a thread or CPU. */
int ring_open(const struct ring_plan *plan, struct ring *ret_ring, struct tare_err *err) TARE_MUST_USE;
/* Adds an event (type and config as perf_event_open) to the same memory; `filter` may be NULL. -errno when refused. */
int ring_add(
	struct ring *ring, const struct ring_plan *plan, uint32_t type, uint64_t config, const char *filter, int tag);
void ring_close(struct ring *ring);

enum ring_type { RING_SWITCH_OUT, RING_SWITCH_IN, RING_NAME, RING_FORK, RING_EVENT, RING_LOST };
struct ring_record {
	enum ring_type type;
	bool preempt;      /* SWITCH_OUT: it wanted to go on */
	uint32_t pid, tid; /* whose record; FORK: the new task */
	int32_t other_tid; /* SWITCH on a CPU: who comes next or was before, -1: not told; FORK: the parent */
	int16_t cpu;
	int64_t at_ns;
	int tag;                     /* EVENT */
	uint64_t lost;               /* LOST: records */
	char comm[16];               /* NAME */
	uint8_t raw[RING_RAW_BYTES]; /* EVENT of a tracepoint */
	size_t raw_bytes;
};
/* Takes the oldest record that is understood; false when there is none. */
bool ring_next(struct ring *ring, struct ring_record *ret_record);
/*
 * To be asked before records are taken: whether later ones may have found no room. The kernel tells of those it left
 * out only with the next record that fits, which at the end of a round never comes.
 */
bool ring_full(const struct ring *ring);
/* Looked at without a system call: whether anything is there. */
bool ring_waiting(const struct ring *ring);
size_t ring_bytes_waiting(const struct ring *ring); /* likewise */
