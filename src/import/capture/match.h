/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Requests waiting for their replies. Samples come out in the order of the
 * requests, each once it can change no more: memory follows what is in flight
 * (rate x 4 timeouts at most, where replies are missing), never the size of the
 * capture.
 *
 * A packet seen twice (a mirror port that copies both directions, two taps into
 * one file) is not a second request: a copy is the same packet again within
 * copy_ns. The same key in another packet while the first is open is a
 * retransmission, and time runs from the first. Under a key that was answered, or
 * timed out, it is a new request: 16-bit numbers do come round.
 */
#pragma once
#include "import/capture/frame.h"
#include "import/capture/hash.h"
#include "tare/err.h"
#include "tare/sample.h"

struct match_rules {
	int64_t timeout_ns; /* answered later is overdue; forgotten after four times this */
	int64_t copy_ns;    /* 10 ms */
	int64_t early_ns;   /* an answer may lie this much before its request: the bound of two clocks; 0: none */
	bool in_order;      /* several open requests under one key are answered first come, first served */
	bool last_copy;     /* time runs from the last copy of a request */
};

/* A packet as the matcher sees it. */
struct match_packet {
	struct hash key;
	struct capture_time time;
	uint64_t number;   /* of its frame */
	uint64_t identity; /* equal for copies of one packet */
	uint32_t mark;     /* in_order: what the reply must reach (TCP: end of the request) */
};

struct match_sample {
	struct capture_time sent;
	int64_t took_ns;         /* TARE_NO_TIME: not answered, or impossible */
	uint64_t request, reply; /* frame numbers; reply 0: none */
	uint8_t fate;
	uint16_t flags;
};

struct match_counts {
	uint64_t requests, replies;
	uint64_t copies; /* of either, left out */
	uint64_t retransmitted;
	uint64_t duplicates; /* further replies to an answered request */
	uint64_t foreign;    /* replies without a request */
	uint64_t reordered, impossible;
	uint64_t in_flight_most;
	uint64_t foreign_first[8]; /* frame numbers */
};

struct match;
int match_open(const struct match_rules *rules, struct match **ret_match, struct tare_err *err) TARE_MUST_USE;
void match_free(struct match *match); /* NULL is fine */

int match_request(struct match *match, const struct match_packet *packet, struct tare_err *err) TARE_MUST_USE;
/* False when it was no answer to anything new. */
bool match_reply(struct match *match, const struct match_packet *packet);
/* in_order: moves the mark of the last open request under the key: its message goes on. */
void match_extend(struct match *match, const struct hash *key, uint32_t mark);
/*
 * in_order: an acknowledgement up to packet->mark: the request that ends exactly there is answered, those before
 * are answered at an unknown time. Returns whether one was answered exactly.
 */
bool match_acknowledge(struct match *match, const struct match_packet *packet);
/* The capture's end: who is younger than the timeout is pending, everyone comes out. */
void match_finish(struct match *match);

/* Finished samples, at most `room`; call it often. */
size_t match_take(struct match *match, struct match_sample *ret_samples, size_t room);
const struct match_counts *match_counts(const struct match *match);
