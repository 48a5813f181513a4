/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * When replies really left, for follow-up telemetry (RFC 8972 section 4.7): the kernel's
 * transmit stamps of a listener, brought to the sessions they belong to. Read right
 * behind the send call, where the stamp of a plain network card already waits. One
 * per listener, for its one thread. Private to this folder.
 */
#pragma once
#include <stdbool.h>

#include "echo/flows.h"
#include "tare/err.h"

/* Stamps under way; a power of two. One that comes later than so many sends is lost. */
enum { FOLLOW_ROOM = 256 };

struct follow_sent {
	struct flow *flow; /* NULL: nobody's */
	struct flow_key key;
	uint32_t sequence;
};
struct follow {
	bool on, refused; /* the kernel stamps; or cannot */
	bool kernel_rx;   /* receive stamps are on as well, and stay */
	uint32_t next;    /* the kernel's number of the next send */
	uint32_t awaited; /* stamps that have not come: without any, a spinning thread need not ask for them */
	struct follow_sent sent[FOLLOW_ROOM];
};

/* From the first request on that asks for it: stamps cost a system call behind every reply. */
void follow_begin(struct follow *follow, int fd);
/* Behind a send call; flow NULL: of no session. */
void follow_sent(struct follow *follow, int fd, bool left, struct flow *flow, uint32_t sequence);
/* Takes the stamps that have come. */
void follow_drain(struct follow *follow, int fd);
