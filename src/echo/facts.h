/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Facts of this host for senders that have the key. A thread of low priority, away from the serving CPUs, reads them
 * when a sender asks with a token that is new; serving threads only copy a piece of what is there, and never wait for
 * it: a sender that comes too early, or while the shelf is being changed, is told to ask again. Private to this folder.
 */
#pragma once
#include <sys/socket.h>

#include "tare/err.h"
#include "wire/facts.h"

struct facts_desk;

/* How many snapshots may be read at once before it is one a second; and how many are kept. */
enum { FACTS_DESK_BURST = 4, FACTS_DESK_KEPT = 4 };

/* `cpus`: those that are served on, which the reading leaves alone. Nothing runs yet. */
int facts_desk_open(const int *cpus, size_t cpu_count, const char *tool, struct facts_desk **ret_desk,
	struct tare_err *err) TARE_MUST_USE;
/* The thread inherits the signal mask, and has no capabilities. */
int facts_desk_start(struct facts_desk *desk, struct tare_err *err) TARE_MUST_USE;
/* Ends the thread, behind a reading that is under way (0.2 s). */
void facts_desk_free(struct facts_desk *desk); /* NULL is fine */
/* Fills the facts TLV of a reply, for any serving thread. A system call only where a new snapshot is asked for. */
void facts_desk_answer(
	struct facts_desk *desk, uint8_t *reply, const struct stamp_made *made, const struct sockaddr_storage *from);
