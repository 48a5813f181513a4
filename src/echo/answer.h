/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a request gets, decided from its bytes, its source and its times alone. Private to this folder. */
#pragma once
#include "clock/clock.h"
#include "echo/source.h"
#include "wire/stamp.h"

enum answer_verdict { ANSWER_REPLY, ANSWER_TOO_SHORT, ANSWER_REFUSED, ANSWER_LIMITED, ANSWER_UNSEALED, ANSWER_FORGED };

/* Shared by all threads, never changed while they run. */
struct answer_rules {
	struct source_ports refused_ports;
	struct source_allow allow;
	bool light;
	const struct stamp_key *key; /* NULL: STAMP without authentication */
};

/* `limit` may be NULL: none. */
enum answer_verdict answer_source(const struct answer_rules *rules, struct source_limit *limit,
	const struct sockaddr_storage *from);

/* How a STAMP request came in. */
struct answer_arrival {
	clock_real kernel_rx, user_rx; /* kernel ns 0: not stamped */
	int ttl, tos, rx_cpu;          /* -1: not known */
	struct stamp_info info;        /* how the clock is kept; sync_in 0: not told */
	const struct stamp_follow_up *follow_up; /* NULL: nothing known */
	uint16_t error_estimate;
	const uint32_t *own_sequence;  /* NULL: stateless */
};
/* Whether a STAMP request is one to answer, before anything is remembered of it. */
enum answer_verdict answer_check(const struct answer_rules *rules, const uint8_t *packet, size_t bytes);
/* Makes the reply in place, for one that answer_check has passed; `room` is at least 44. T3 is left to stamp_reflect_sent. */
enum answer_verdict answer_stamp(const struct answer_rules *rules, const struct answer_arrival *in, uint8_t *packet,
	size_t bytes, size_t room, struct stamp_made *ret_made);
/*
 * Of this host's clock now, from adjtimex: synchronised or not, the kernel's bound of its error, and what keeps it.
 * The kernel knows of a pulse per second (said to be GNSS) and of a disciplined clock, but not by whom: that is said to
 * be NTP, also where it is PTP. Stamps are the kernel's or ours: software.
 */
struct answer_clock {
	uint16_t error_estimate;
	struct stamp_info info;
};
struct answer_clock answer_clock_now(void);
