/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rounds of two arms in a planned order, switched in between by commands, by a
 * responder started anew or by a person; this host's facts, and those
 * that the first target's responder serves, are read at both ends of every round. Whatever ends it, the setting of A is put back, and that is
 * said; only kill -9 leaves things as they are.
 */
#pragma once
#include "host/compare.h"
#include "session/session.h"
#include "tare/plan.h"

struct arms_config {
	const char *a, *b;            /* commands that switch; NULL: none */
	const char *restore;          /* NULL: a */
	const char *serve;            /* a responder, started anew for every round */
	const char *a_env, *b_env;    /* exported to it */
	bool manual;                  /* ask() switches */
	int64_t settle_ns, command_limit_ns;
	const char *order;            /* of the scored rounds, "ABBA…"; one leading round like the first is not scored */
	const bool *done;             /* by place in the order, of a run that is resumed; NULL: none */
	const char *const *declared, *const *allowed; /* keys of facts; 0 declared: whatever goes with the arms */
	size_t declared_count, allowed_count;
	bool null;                    /* both arms are A */
	const char *tool, *peer;      /* peer: numeric address whose route is a fact, NULL */
};

struct arms_events {
	struct session_events session; /* round() gets each round; arms_position() tells whose it is */
	/* Before each round, once its setting is on. position 0: the leading one. */
	void (*begins)(void *context, uint32_t position, char arm);
	/* A person is to switch; false: he gave up. */
	bool (*ask)(void *context, char arm);
	void *context;
};

enum arms_ending { ARMS_COMPLETE, ARMS_INTERRUPTED, ARMS_FAILED };

struct arms;
int arms_open(const struct arms_config *config, struct session *session, struct arms **ret_arms,
	struct tare_err *err) TARE_MUST_USE;
void arms_free(struct arms *arms); /* stops a responder; NULL is fine */
/*
 * All rounds, then the setting put back. ARMS_FAILED: a command failed, the responder died, or the session did; err
 * says which. The run in the recording is not ended yet.
 */
enum arms_ending arms_run(struct arms *arms, const struct arms_events *events, struct tare_err *err);
/* The round under way: 0 the leading one, then 1 to the number of scored rounds. */
uint32_t arms_position(const struct arms *arms);
/* "the setting of A was put back", or why not; "" when nothing was switched. */
const char *arms_restored(const struct arms *arms);
/* What the facts say over all rounds: sentences that void the comparison into *ret_reasons' room, others as a note. */
int arms_settings(struct arms *arms, char ret_reasons[][256], size_t room, size_t *ret_count, char *ret_note,
	size_t note_room, struct tare_err *err) TARE_MUST_USE;
