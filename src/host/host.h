/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The facts of a host: read at once, unprivileged as far as that goes, without
 * disturbing isolated CPUs. The headers behind this one: fact.h (what a fact
 * is), snapshot.h (all facts of a moment), store.h (files, approval), policy.h
 * and difference.h (drift), delta.h (counters), compare.h (A against B),
 * finding.h (what matters), watch.h (events during a round), record.h (rows for
 * a recording), exchange.h (switches, LLDP).
 */
#pragma once
#include <stdbool.h>
#include <sys/types.h>

#include "host/cpus.h"
#include "host/snapshot.h"

/* What to read; all zero is this host without a process. */
struct host_question {
	const char *root;     /* folder with another host's /proc, /sys, /dev and /etc; NULL: this host */
	const char *netns;    /* name below /run/netns, path, or process id; NULL: the caller's */
	struct host_cpus hot; /* CPUs whose threads are measured: treated like isolated ones */
	pid_t pid;            /* the responder's process; 0: see exe */
	const char *exe;      /* or the base name of its program: the oldest of that name */
	const char *peer;     /* numeric address whose route and neighbour are wanted; NULL: none */
	bool intrusive;       /* also asks isolated CPUs what interrupts them */
	bool slow;            /* also what takes long or grows with the host: who holds /dev/cpu_dma_latency */
	const char *tool;     /* "tare 0.1.0", for the header */
};

/*
 * Reads everything. What cannot be read is a fact with its status; only lack of memory, a folder that cannot be
 * opened, a network namespace that cannot be entered or a process that is not there make it fail. With `netns` the
 * calling thread enters that namespace and stays there.
 */
int host_read(
	const struct host_question *question, struct host_snapshot **ret_snapshot, struct tare_err *err) TARE_MUST_USE;

/*
 * Settings of stacks that bypass the kernel's in the environment of this process (LD_PRELOAD, EF_..., VMA_..., XLIO_...,
 * EXASOCK_...) with a blank between two; "" for none.
 */
void host_bypass_settings(char *buffer, size_t room);

/* CPUs that are nobody's in particular: online, neither isolated nor nohz_full nor hot. Never empty unless `online` is.
 */
void host_housekeeping(const struct host_snapshot *snapshot, const struct host_cpus *hot, struct host_cpus *ret_cpus);
/* Isolated and nohz_full CPUs. */
void host_isolated(const struct host_snapshot *snapshot, struct host_cpus *ret_cpus);

/*
 * Moves this thread away from isolated, nohz_full and hot CPUs, as far as it may go elsewhere, before it reads
 * anything; does nothing where no CPU is to be left alone.
 */
void host_move_aside(const struct host_cpus *hot);
