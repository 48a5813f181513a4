/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tare run --live: the session's own thread, which does not measure, draws ten times
 * a second on stderr. While every CPU carries a spinning thread of ours it leaves the
 * terminal alone, and says so. What is said meanwhile (notes, warnings) waits until
 * the terminal is given back.
 */
#pragma once
#include "cli/cli.h"
#include "cli/plotting.h"
#include "session/session.h"

struct live;

enum { LIVE_MS = 100 }; /* between two draws */

/* Fails where stderr is no terminal. cli->note is the live view's until live_close. */
int live_open(struct cli *cli, const struct session *session, const struct session_config *config,
	enum plot_style style, struct live **ret_live, struct tare_err *err) TARE_MUST_USE;
/* Gives the terminal back and says what has waited. NULL is fine. */
void live_close(struct live *live);

/* For session_events: a round begins; progress; input, true to end the run. */
void live_begin(struct live *live, const struct session *session, bool quiet);
void live_progress(struct live *live, const struct session *session);
bool live_input(struct live *live);
int live_fd(const struct live *live);
