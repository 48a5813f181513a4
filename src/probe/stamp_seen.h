/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a STAMP reflector turns out to be, from its replies of one round: reflectors
 * differ in what they copy, count, stamp and understand, and a figure is only as good
 * as that. And loss on the way there and back apart, where the reflector counts.
 */
#pragma once
#include "probe/raw.h"
#include "wire/stamp.h"

struct stamp_seen {
	bool sealed;                  /* with a key: set before the first reply */
	uint64_t forged;              /* dropped for their HMAC; not among the replies */
	uint64_t tlvs_forged;         /* replies whose TLVs were not used for theirs */
	uint64_t replies, ssid, padding, tare, same_times, same_sequence, same_length, ttl_zero;
	uint64_t infos, classes, class_changes, tos_known, followed, followed_used;
	uint16_t error_estimate;      /* of the last reply, as the four below */
	unsigned understood, unknown, malformed;
	struct stamp_info info;
	struct stamp_class class;
	uint8_t tos;                  /* the last reply's own, where tos_known */
	/* the replies to our earliest and our latest request so far: their number and the peer's own */
	bool any;
	uint64_t first, last;
	uint32_t first_own, last_own;
};
struct stamp_reply_seen {
	const struct stamp_reply *reply;
	uint64_t number;
	size_t sent_bytes, got_bytes;
	int tos; /* that it arrived with; -1: not known */
};
void stamp_seen_take(struct stamp_seen *seen, const struct stamp_reply_seen *one);

/*
 * Lost on the way there and on the way back between the first and the last request that was answered; what was
 * lost before or after those cannot be told. False when the reflector does not count, or lost its count.
 */
bool stamp_seen_losses(const struct stamp_seen *seen, const struct raw_sample *samples, uint64_t *ret_there,
		       uint64_t *ret_back);
/* One paragraph; "" when nothing was seen. */
void stamp_seen_tell(const struct stamp_seen *seen, const struct raw_sample *samples, char *buffer, size_t room);
