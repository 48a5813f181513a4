/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tick stamps with their keyframes: all layouts over more than a wrap, keyframes
 * lost, the arithmetic against published numbers.
 */
#include "capture_test.h"

static const struct mk_time start = {1700000000, 123456789012};
static const struct mk_ends ends = {1, 2, 40000, 7000, 5};

static void base_frame(struct mk_frame *frame, size_t payload, unsigned i)
{
	uint8_t bytes[64] = {(uint8_t)i, (uint8_t)(i * 7), 3};
	mk_udp(frame, &ends, bytes, payload);
}

struct tick_case {
	const char *name;
	enum mk_keyframe keyframe;
	bool before_fcs, compat;
	unsigned lost_from, lost_to; /* keyframes that are not in the file */
	size_t payload;
};

static void make_ticks(const struct tick_case *ticks, uint64_t first, struct mk_file *file)
{
	mk_pcap(file, 0xa1b2c3d4, false, LINK_ETHERNET);
	for (unsigned i = 0; i < 200; i++) {
		/* 20 frames a second for ten seconds: more than a wrap; a keyframe each second */
		struct mk_frame frame;
		uint64_t count = first + UINT64_C(17500000) * i + i * 3;
		struct mk_time time = mk_tick_time(count);
		if (i % 20 == 10 && !(i / 20 >= ticks->lost_from && i / 20 < ticks->lost_to)) {
			uint64_t whole = count - count % 7; /* a multiple of 20 ns: keyframes tell whole nanoseconds */
			mk_keyframe(&frame, ticks->keyframe, mk_tick_time(whole),
				ticks->keyframe >= MK_COMPAT_1 ? whole & 0xffffffffffff : whole);
			mk_put_u32(&frame, 0);
			if (ticks->before_fcs)
				mk_fcs(&frame, false);
			mk_record(file, mk_later(time, INT64_C(9000000000)), &frame, frame.count, 0);
		}
		base_frame(&frame, ticks->payload, i);
		mk_pad(&frame, 60);
		mk_put_u32(&frame, mk_tick_field(count, ticks->compat));
		if (ticks->before_fcs)
			mk_fcs(&frame, false);
		mk_record(file, mk_later(time, INT64_C(9000000000) + i % 7 * INT64_C(1000000)), &frame, frame.count, 0);
	}
}

static void test_ticks(void)
{
	static const struct tick_case cases[] = {
		{"3550, appended", MK_NATIVE, true, false, 99, 0, 40},
		{"3550, in place of the FCS", MK_NATIVE_IP, false, false, 99, 0, 40},
		{"3550, older keyframes", MK_OLDER, false, false, 99, 0, 2},
		{"7150, before the FCS, keyframes of version 2", MK_COMPAT_2, true, true, 99, 0, 40},
		{"7150, in place of the FCS, keyframes of version 1", MK_COMPAT_1, false, true, 99, 0, 2},
		{"7150, three keyframes lost", MK_COMPAT_2, true, true, 4, 7, 40},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct mk_file file = {0};
		struct opened opened;
		struct feed_packet packet;
		unsigned right = 0, stamped = 0, at = 0;
		uint64_t first = mk_ticks(start);
		make_ticks(&cases[i], first, &file);
		bool fine = open_feed(&opened, &file, STAMP_FORMAT_COUNT);
		OK(fine && feed_verdict(opened.feed)->format == STAMP_TICKS, "%s: %s", cases[i].name,
			fine ? feed_verdict(opened.feed)->words : opened.err.text);
		while (fine && feed_next(opened.feed, &packet, &opened.err) > 0) {
			if (packet.layers.source_port != ends.source_port)
				continue;
			struct mk_time want = mk_tick_time(first + UINT64_C(17500000) * at + at * 3);
			int64_t off = (packet.time.seconds - want.seconds) * INT64_C(1000000000000) +
				      packet.time.picoseconds - want.ps;
			stamped += packet.has_stamp;
			right += packet.has_stamp && off >= -1 && off <= 1;
			at++;
		}
		IS_I64(stamped, 200, "every frame is near a keyframe");
		IS_I64(right, 200, "and every time is that of its tick");
		opened_end(&opened);
		mk_file_end(&file);
	}
}

static void test_lost_keyframes(void)
{
	struct mk_file file = {0};
	struct opened opened;
	struct feed_packet packet;
	unsigned stamped = 0, right = 0, at = 0;
	const struct tick_case gone = {"", MK_COMPAT_2, true, true, 1, 99, 40};
	uint64_t first = mk_ticks(start);
	make_ticks(&gone, first, &file);
	OK(open_feed(&opened, &file, STAMP_FORMAT_COUNT) && feed_verdict(opened.feed)->format == STAMP_TICKS,
		"one keyframe for ten seconds");
	while (feed_next(opened.feed, &packet, &opened.err) > 0) {
		if (packet.layers.source_port != ends.source_port)
			continue;
		struct mk_time want = mk_tick_time(first + UINT64_C(17500000) * at + at * 3);
		stamped += packet.has_stamp;
		right += packet.has_stamp && packet.time.seconds == want.seconds &&
			 llabs(packet.time.picoseconds - want.ps) <= 1;
		at++;
	}
	IS_I64(stamped, 110, "farther than 5 s from it, frames have no time");
	IS_I64(right, stamped, "nearer they have the right one, before it too");
	opened_end(&opened);
	mk_file_end(&file);
	const struct tick_case none = {"", MK_COMPAT_2, true, true, 0, 99, 40};
	make_ticks(&none, first, &file);
	OK(open_feed(&opened, &file, STAMP_FORMAT_COUNT) && feed_verdict(opened.feed)->undecodable_ticks &&
			strstr(feed_verdict(opened.feed)->words, "no keyframe in this file"),
		"no keyframe at all: %s", opened.feed ? feed_verdict(opened.feed)->words : "");
	opened_end(&opened);
	OK(!open_feed(&opened, &file, STAMP_TICKS) && strstr(opened.err.text, "no keyframe"),
		"named, it is an error: %s", opened.err.text);
	opened_end(&opened);
	mk_file_end(&file);
}

static void test_tick_arithmetic(void)
{
	IS_I64(tick_compat(0xff10ab76), 2139641334, "the padding bit is left out");
	IS_I64(tick_compat(mk_tick_field(2139641334, true)), 2139641334, "and put in the same place");
	struct tick_keyframe at = {
		.captured = {1387240828, 0}, .ticks = 2136278506, .utc_ns = 1387240828522243471, .compat = true};
	struct tick_keyframes keyframes = {.at = &at, .count = 1, .room = 1};
	const struct tick_keyframe *used;
	struct capture_time time;
	OK(tick_time(&keyframes, 0xff10ab76, at.captured, &time, &used), "the published example");
	IS_I64(time.seconds * 1000000000 + time.picoseconds / 1000, 1387240828522243471 + 9608080,
		"3362828 ticks are 9608080 ns");
	IS_I64(time.picoseconds % 1000, 0, "exactly");
	at.skew_num = 1000001;
	at.skew_den = 1000000;
	OK(tick_time(&keyframes, 0xff10ab76, at.captured, &time, &used) &&
			time.seconds * 1000000000 + time.picoseconds / 1000 - 1387240828522243471 == 9608089,
		"a skew of 1 ppm adds 9.6 ns");
}

/* Interpolation takes the oscillator's error out; a stepped clock is not interpolated over. */
static void test_tick_rate(void)
{
	struct tick_keyframe two[2] = {
		{.captured = {1000, 0}, .ticks = 1000, .utc_ns = 1700000000000000000},
		{.captured = {1001, 0}, .ticks = 1000 + 350007000, .utc_ns = 1700000001000000000},
	};
	struct tick_keyframes keyframes = {.at = two, .count = 2, .room = 2};
	const struct tick_keyframe *used;
	struct capture_time time;
	OK(tick_time(&keyframes, 1000 + 175003500, (struct capture_time){1000, 500000000000}, &time, &used) &&
			time.seconds == 1700000000 && time.picoseconds == 500000000000,
		"halfway between two keyframes of an oscillator 20 ppm fast");
	two[1].utc_ns += 300000000;
	OK(tick_time(&keyframes, 1000 + 35000000, (struct capture_time){1000, 100000000000}, &time, &used) &&
			time.picoseconds == 100000000000,
		"a clock stepped by 0.3 s between them: the nominal rate");
	struct tick_keyframe wrapped = {
		.captured = {1000, 0}, .ticks = (UINT64_C(1) << 32) - 10, .utc_ns = 1700000000000000000};
	keyframes = (struct tick_keyframes){.at = &wrapped, .count = 1, .room = 1};
	OK(tick_time(&keyframes, 340, (struct capture_time){1000, 0}, &time, &used) && time.seconds == 1700000000 &&
			time.picoseconds == 1000000,
		"32 bits wrap: 350 ticks are 1 us");
	OK(tick_time(&keyframes, (uint32_t)-360, (struct capture_time){1000, 0}, &time, &used) &&
			time.seconds == 1699999999 && time.picoseconds == 999999000000,
		"and backwards");
}

int main(void)
{
	test_ticks();
	test_lost_keyframes();
	test_tick_arithmetic();
	test_tick_rate();
	return tap_done();
}
