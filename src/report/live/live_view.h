/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A round while it runs: figures so far and a strip of time, from requests as they
 * settle. Everything is "so far": a stall is above ten times the median at that
 * moment, and none is called one before a hundred values are known.
 */
#pragma once
#include "report/terminal/terminal.h"
#include "tare/run.h"

struct live_view;

enum { LIVE_TARGETS_MAX = 8 };

/* The urls themselves are borrowed, their list is not. Targets beyond LIVE_TARGETS_MAX are told and not drawn. */
int live_view_open(const char *const *urls, size_t targets, struct live_view **ret_view, struct tare_err *err) TARE_MUST_USE;
void live_view_free(struct live_view *view); /* NULL is fine */

/* A new round: nothing is known yet. length_ns: from its first to behind its last request. */
int live_view_round(struct live_view *view, uint32_t number, uint32_t rounds, int64_t length_ns, uint32_t warmup,
	struct tare_err *err) TARE_MUST_USE;

struct live_request {
	uint64_t sequence;
	int64_t at_ns;           /* due, since the first one was */
	int64_t late_ns, rtt_ns; /* TARE_NO_TIME: did not leave, no answer */
	uint8_t fate;            /* enum tare_fate */
};
/* In order of sequence. */
int live_view_add(struct live_view *view, size_t target, const struct live_request *requests, size_t count,
	struct tare_err *err) TARE_MUST_USE;

/* What the run says of itself. */
struct live_state {
	uint64_t sent, answered;  /* of all targets */
	int64_t left_ns;
	const char *hint;         /* the last line: how to end it; NULL: none */
};
/* At most `lines` lines of at most terminal->width columns, each ending in a line feed. */
int live_view_draw(FILE *out, struct live_view *view, const struct live_state *state, const struct terminal *terminal,
	size_t lines, struct tare_err *err) TARE_MUST_USE;
