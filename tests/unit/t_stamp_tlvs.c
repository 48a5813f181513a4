/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Timestamp information, class of service and follow-up telemetry (RFC 8972), octet by octet at both ends. */
#include <stdlib.h>

#include "tap.h"
#include "wire/stamp.h"

enum { BYTES = STAMP_REQUEST_FULL_BYTES, INFO_AT = 148, CLASS_AT = 156, FOLLOW_AT = 164 };
static const struct stamp_asking asking = {.bytes = BYTES, .cookie = 7, .reply_dscp = 46};

static struct stamp_made reflect(const struct stamp_arrival *in, uint8_t *p)
{
	struct stamp_made made = {0};
	stamp_request_fill(p, &asking);
	stamp_request_number(p, &asking, 3);
	stamp_reflect(p, BYTES, in, p, BYTES, &made);
	stamp_reflect_sent(p, &made, 9, 10, 11);
	return made;
}

static struct stamp_reply read_back(const uint8_t *p)
{
	struct stamp_reply r = {0};
	stamp_reply_read(p, BYTES, &asking, &r);
	return r;
}

static void asked(void)
{
	uint8_t p[BYTES];
	stamp_request_fill(p, &asking);
	OK(memcmp(p + INFO_AT, "\x80\3\0\4\0\0\0\0", 8) == 0, "timestamp information is asked for with zeros");
	OK(memcmp(p + CLASS_AT, "\x80\4\0\4\xb8\0\0\0", 8) == 0, "class of service: DSCP 46 in the first six bits");
	OK(memcmp(p + FOLLOW_AT, "\x80\7\0\x10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 20) == 0, "follow-up telemetry with zeros");
	struct stamp_reply r = read_back(p);
	OK(!r.has_info && !r.has_class && !r.has_follow_up && r.unknown == 6 && r.understood == 0,
		"copied by a reflector that knows none: nothing is believed");
}

static void info(void)
{
	uint8_t p[BYTES];
	struct stamp_arrival in = {.info = {STAMP_SYNC_PTP, STAMP_METHOD_HARDWARE, STAMP_SYNC_GNSS, STAMP_METHOD_SOFTWARE}};
	reflect(&in, p);
	OK(memcmp(p + INFO_AT, "\0\3\0\4\2\1\4\2", 8) == 0, "source and method of receive stamps, then of send stamps");
	struct stamp_reply r = read_back(p);
	OK(r.has_info && r.info.sync_in == 2 && r.info.method_in == 1 && r.info.sync_out == 4 && r.info.method_out == 2, "read");
	in = (struct stamp_arrival){0};
	reflect(&in, p);
	OK(p[INFO_AT] == 0x80 && !read_back(p).has_info, "not told: U stays");
}

static void class_of_service(void)
{
	uint8_t p[BYTES];
	struct stamp_arrival in = {.has_tos = true, .tos = 10 << 2 | 1};
	struct stamp_made made = reflect(&in, p);
	OK(made.has_dscp && made.dscp == 46, "the reply shall leave with what was asked");
	/* 101110 001010 01 00: asked 46, seen 10, ECN 1, granted */
	OK(memcmp(p + CLASS_AT, "\0\4\0\4\xb8\xa4\0\0", 8) == 0, "asked, seen, ECN, granted");
	struct stamp_reply r = read_back(p);
	OK(r.has_class && r.class.asked_dscp == 46 && r.class.seen_dscp == 10 && r.class.seen_ecn == 1 && !r.class.refused, "read");
	in.class_refused = true;
	made = reflect(&in, p);
	OK(!made.has_dscp && p[CLASS_AT + 5] == 0xa5 && read_back(p).class.refused, "refused: said, and not done");
	in = (struct stamp_arrival){0};
	made = reflect(&in, p);
	OK(!made.has_dscp && p[CLASS_AT] == 0x80, "not known what it arrived with: U stays");
	size_t wrong = 0;
	for (unsigned tos = 0; tos < 256; tos++) {
		in = (struct stamp_arrival){.has_tos = true, .tos = (uint8_t)tos};
		reflect(&in, p);
		r = read_back(p);
		wrong += r.class.seen_dscp != tos >> 2 || r.class.seen_ecn != (tos & 3) || r.class.asked_dscp != 46 || r.class.refused;
	}
	IS_I64(wrong, 0, "every DSCP and ECN");
}

static void follow_up(void)
{
	uint8_t p[BYTES];
	struct stamp_follow_up left = {0x01020304, 0x1112131415161718, STAMP_METHOD_SOFTWARE};
	struct stamp_arrival in = {.follow_up = &left};
	struct stamp_made made = reflect(&in, p);
	OK(made.follow_up, "the sender wants to know when this one leaves");
	OK(memcmp(p + FOLLOW_AT, "\0\7\0\x10\1\2\3\4\x11\x12\x13\x14\x15\x16\x17\x18\2\0\0\0", 20) == 0,
		"sequence, time, method, reserved");
	struct stamp_reply r = read_back(p);
	OK(r.has_follow_up && r.follow_up.sequence == 0x01020304 && r.follow_up.t3 == 0x1112131415161718 &&
			r.follow_up.method == 2,
		"read");
	in.follow_up = NULL;
	reflect(&in, p);
	r = read_back(p);
	OK(p[FOLLOW_AT] == 0 && !r.has_follow_up, "nothing known: zeros, which tell nothing");
}

/* The TLV at `at` with another length: malformed, and nothing behind it is parsed. */
static void malformed(void)
{
	static const struct { size_t at; const char *name; } each[] = {
		{INFO_AT, "timestamp information"}, {CLASS_AT, "class of service"}, {FOLLOW_AT, "follow-up telemetry"}};
	for (size_t i = 0; i < 3; i++) {
		uint8_t p[BYTES];
		struct stamp_arrival in = {.has_tos = true, .info = {1, 2, 1, 2}};
		struct stamp_made made = {0};
		stamp_request_fill(p, &asking);
		put_u16(p + each[i].at + 2, (uint16_t)(get_u16(p + each[i].at + 2) - 1));
		stamp_reflect(p, BYTES, &in, p, BYTES, &made);
		bool behind = true;
		for (size_t j = i + 1; j < 3; j++)
			behind &= p[each[j].at] == 0x80;
		OK(p[each[i].at] == 0xc0 && behind, "%s of another length: U and M, and the rest as it came", each[i].name);
		OK(read_back(p).malformed >= 1, "%s: counted as malformed", each[i].name);
	}
}

int main(void)
{
	asked();
	info();
	class_of_service();
	follow_up();
	malformed();
	return tap_done();
}
