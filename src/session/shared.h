/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who shared the CPUs of a round, in sentences; the measuring thread's own counters. Private to this folder. */
#pragma once
#include "session/private.h"

/* Fills the job's rows of what took which CPU: tasks, interrupts, steal, SMI. Evidence as below. */
int shared_note(struct session *session, struct writer_job *job, const struct tare_evidence *items, size_t count,
	struct tare_err *err) TARE_MUST_USE;

/* In the measuring thread, before and after the loop. */
struct thread_use thread_use_now(void);
/*
 * One event in the job, and one word to the caller, for each of: the sender's CPU, and with a load what it did
 * there, at the responder, or elsewhere. Evidence is that of the round, on the run's axis, not yet thinned out.
 */
void shared_say(struct session *session, struct writer_job *job, const struct tare_evidence *items, size_t count);
