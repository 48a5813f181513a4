/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The reason TLV: left empty by the sender, filled by a responder that watches itself, read back. */
#include "tap.h"
#include "stamp_request.h"
#include "wire/stamp.h"

static const uint64_t COOKIE = 99;

int main(void)
{
	uint8_t p[200];
	struct stamp_arrival in = {.peer = {.valid = STAMP_VALID_USER_RX}};
	struct stamp_made made;
	struct stamp_reply r = {0};
	struct stamp_reason said = {.word = 1,
				    .detail = 3,
				    .cpu_before = 19,
				    .cpu_after = 25,
				    .pid = 812,
				    .covered_ns = 1539000,
				    .off_ns = 1600000,
				    .comm = "backup-agent"},
			    seen;
	size_t wrong = 0;
	for (size_t bytes = STAMP_REQUEST_MIN_BYTES; bytes <= sizeof p; bytes++) {
		request_fill(p, bytes, COOKIE, 0, 1);
		request_number(p, 7, 1);
		wrong += stamp_reflect(p, bytes, &in, p, sizeof p, &made) != STAMP_REFLECT || made.bytes != bytes ||
			 !made.peer_at;
		wrong += (made.reason_at != 0) != (bytes >= STAMP_REQUEST_REASON_BYTES);
		wrong += !reply_read(p, bytes, COOKIE, &r) || !r.has_number || !r.has_peer || r.reason_at != 0;
	}
	IS_I64(wrong, 0, "every size: the TLV is there from 148 octets on, and says nothing unless filled");
	request_fill(p, 148, COOKIE, 0, 1);
	stamp_reflect(p, 148, &in, p, sizeof p, &made);
	stamp_reflect_reason(p, &made, &said);
	OK(reply_read(p, 148, COOKIE, &r) && r.reason_at == made.reason_at, "filled: it is found");
	stamp_reason_read(p + made.reason_at, &seen);
	OK(seen.word == 1 && seen.detail == 3 && seen.cpu_before == 19 && seen.cpu_after == 25 && seen.pid == 812 &&
			seen.covered_ns == 1539000 && seen.off_ns == 1600000,
		"and read as written");
	IS_STR(seen.comm, "backup-agent", "the name too");
	memset(p + made.reason_at + 24, 'x', 16);
	stamp_reason_read(p + made.reason_at, &seen);
	IS_I64(strlen(seen.comm), 15, "a name without an end is ended");
	p[made.reason_at] ^= 1;
	OK(reply_read(p, 148, COOKIE, &r) && r.reason_at == 0, "another cookie: not ours");
	made.reason_at = 0;
	uint8_t before[sizeof p];
	memcpy(before, p, sizeof p);
	stamp_reflect_reason(p, &made, &said);
	OK(memcmp(before, p, sizeof p) == 0, "a request without it gets none");
	return tap_done();
}
