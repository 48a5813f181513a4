/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Watching the measuring thread through a run, and the causes of each round. Private to this folder. */
#pragma once
#include "session/private.h"

/* Opens what may be watched, when the run is to be explained. Notes its cost and what is missing. */
int why_open(struct session *session, struct tare_err *err) TARE_MUST_USE;
void why_close(struct session *session);
/* Before a round: forgets the last one. */
void why_begin(struct session *session);
/* In the measuring thread, with its privileges. */
void why_thread(struct session *session);
/* From the session's thread while the round runs, when a CPU is free for it. */
void why_look(struct session *session);
/* What was watched, as facts under "why." for the end of the run; strings in session->names. At most WHY_FACTS. */
enum { WHY_FACTS = 4 };
size_t why_facts(struct session *session, struct tare_fact *ret_facts);
/* Causes and the evidence behind them into the job; the spool still holds what the peer said. */
int why_explain(struct session *session, struct writer_job *job, struct tare_err *err) TARE_MUST_USE;
