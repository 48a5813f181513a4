/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the measuring thread will run and what else may run there. Private to this folder. */
#pragma once
#include "session/private.h"

enum { PLACEMENT_FACTS = 16 };
/* Facts under "placement.", strings in session->names; returns their number. Unreadable ones are left out. */
size_t placement_facts(struct session *session, struct tare_fact *ret_facts);
/* A sentence when the sender's CPU, or its SMT sibling, is another thread's of ours; false when it is not. */
bool placement_shared(const struct session *session, char *ret_note, size_t room);
