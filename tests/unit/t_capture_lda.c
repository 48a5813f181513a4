/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * LDA Neo trailers, whose description and whose dissector contradict each other: the
 * order of bytes that the file shows, what the fields say, and files that leave it open.
 * tshark 4.0 cannot read them, so that there is no oracle.
 */
#include "capture_read.h"

enum { FRAMES = 24 };
static const int64_t INTERVAL_PS = INT64_C(250000123457);

/* Frames with a trailer each, which `change` may change. */
static void make(struct mk_file *file, unsigned frames, bool dissected, void (*change)(unsigned i, struct mk_lda *lda))
{
	mk_pcap(file, 0xa1b23c4d, false, LINK_ETHERNET);
	for (unsigned i = 0; i < frames; i++) {
		struct mk_frame frame;
		struct mk_time time = mk_later(start, INTERVAL_PS * i);
		struct mk_lda lda = {
			.sequence = (uint16_t)i, .device = 1, .port = 49, .speed = 2, .dissected = dissected};
		uint8_t payload[40] = {(uint8_t)i};
		if (change)
			change(i, &lda);
		mk_udp(&frame, &to, payload, sizeof(payload));
		mk_lda(&frame, time, &lda);
		mk_record(file, mk_later(time, 5000000), &frame, frame.count, 0);
	}
}

static void test_fields(void)
{
	for (int dissected = 0; dissected < 2; dissected++) {
		struct mk_file file = {0};
		struct opened opened;
		struct feed_packet packet;
		unsigned right = 0;
		make(&file, FRAMES, dissected, NULL);
		bool fine = open_feed(&opened, &file, STAMP_LDA);
		OK(fine, "named: %s", opened.err.text);
		for (unsigned i = 0; fine && feed_next(opened.feed, &packet, &opened.err) > 0; i++)
			right += packet.has_stamp && same_time(packet.time, mk_later(start, INTERVAL_PS * i)) &&
				 packet.stamp.device == 1 && packet.stamp.port == 49 && packet.stamp.speed == 40 &&
				 packet.stamp.flags == 0;
		IS_I64(right, FRAMES, dissected ? "as dissected: every field" : "as described: every field");
		OK(feed_seen(opened.feed)->missing == 0 && feed_seen(opened.feed)->speeds[0] == 40,
			"no gap; 40 Gbit/s");
		opened_end(&opened);
		fine = open_feed(&opened, &file, dissected ? STAMP_LDA_LE : STAMP_LDA_BE);
		OK(!fine && strstr(opened.err.text, "no frame carries LDA Neo trailers"),
			"in the other order there is none: %s", opened.err.text);
		opened_end(&opened);
		mk_file_end(&file);
	}
}

/* 65530 to 65535 and on from 0, but 3 are missing; then the device starts anew; another port has its own numbers. */
static void number(unsigned i, struct mk_lda *lda)
{
	lda->sequence = (uint16_t)(i < 10 ? 65530 + i : i < 18 ? 65533 + i : i - 18);
	lda->damaged = i == 4 || i == 20;
	if (i % 6 == 5) {
		lda->port = 3;
		lda->speed = 0;
		lda->sequence = (uint16_t)(700 + i / 6 * 2);
	} else if (i > 5) {
		lda->sequence = (uint16_t)(lda->sequence - (i < 18 ? (i + 1) / 6 : (i + 1) / 6 - 3));
	}
}

static void test_numbers(void)
{
	for (int dissected = 0; dissected < 2; dissected++) {
		struct mk_file file = {0};
		struct opened opened;
		struct feed_packet packet;
		make(&file, FRAMES, dissected, number);
		bool fine = open_feed(&opened, &file, STAMP_FORMAT_COUNT);
		OK(fine, "found out: %s", opened.err.text);
		while (fine && feed_next(opened.feed, &packet, &opened.err) > 0)
			;
		/* 3 of port 49, and every second of port 3, between 4 frames of it */
		IS_I64((int64_t)feed_seen(opened.feed)->missing, 6, "what the ports' numbers leave out");
		IS_I64((int64_t)feed_seen(opened.feed)->bad_fcs, 2, "damaged frames");
		OK(feed_seen(opened.feed)->speeds[0] == 40 && feed_seen(opened.feed)->speeds[1] == 10, "both speeds");
		opened_end(&opened);
		mk_file_end(&file);
	}
}

static void set_time(uint8_t *trailer, const uint8_t half[5])
{
	for (int i = 0; i < 5; i++)
		trailer[6 + i] = trailer[15 - i] = half[i];
}

/* Times that read the same from either end. */
static void test_open(void)
{
	struct mk_file file = {0};
	struct opened opened;
	mk_pcap(&file, 0xa1b23c4d, false, LINK_ETHERNET);
	for (unsigned i = 0; i < FRAMES; i++) {
		struct mk_frame frame;
		uint8_t half[5] = {0, 0x5c, 0x28, 0x5f, (uint8_t)i};
		__extension__ unsigned __int128 ps = 0;
		mk_udp(&frame, &to, half, sizeof(half));
		mk_pad(&frame, 60);
		mk_lda(&frame, start, &(struct mk_lda){.port = 1});
		set_time(frame.bytes + 60, half);
		for (int k = 0; k < 10; k++)
			ps = ps << 8 | frame.bytes[66 + k];
		const struct mk_time time = {(int64_t)(ps / 1000000000000), (int64_t)(ps % 1000000000000)};
		mk_record(&file, time, &frame, frame.count, 0);
	}
	bool fine = open_feed(&opened, &file, STAMP_FORMAT_COUNT);
	const char *words = fine ? feed_verdict(opened.feed)->words : opened.err.text;
	OK(fine && feed_verdict(opened.feed)->format == STAMP_LDA_LE &&
			strstr(words, "the other order of bytes fits as well"),
		"a file that leaves it open says so: %s", words);
	opened_end(&opened);
	OK(open_feed(&opened, &file, STAMP_LDA_BE) && !strstr(feed_verdict(opened.feed)->words, "fits as well"),
		"by name it is settled");
	opened_end(&opened);
	mk_file_end(&file);
}

static void wrong_port(unsigned i, struct mk_lda *lda)
{
	lda->port = i % 4 == 0 ? 57 : i % 4 == 1 ? 0 : lda->port;
	lda->speed = i % 4 == 2 ? 3 : lda->speed;
}

static void test_bad(void)
{
	struct mk_file file = {0};
	struct opened opened;
	struct feed_packet packet;
	make(&file, 6, false, NULL);
	OK(open_feed(&opened, &file, STAMP_FORMAT_COUNT) && feed_verdict(opened.feed)->format == STAMP_NONE,
		"six frames without a check are not enough");
	opened_end(&opened);
	mk_file_end(&file);
	make(&file, FRAMES, false, wrong_port);
	OK(open_feed(&opened, &file, STAMP_FORMAT_COUNT) && feed_verdict(opened.feed)->format == STAMP_NONE,
		"ports and speeds that do not exist are no trailers");
	opened_end(&opened);
	mk_file_end(&file);
	/* one frame of 24 was cut in its trailer, another carries what fits no check sequence behind it */
	mk_pcap(&file, 0xa1b23c4d, false, LINK_ETHERNET);
	for (unsigned i = 0; i < FRAMES; i++) {
		struct mk_frame frame;
		struct mk_time time = mk_later(start, INTERVAL_PS * i);
		uint8_t payload[40] = {(uint8_t)i};
		mk_udp(&frame, &to, payload, sizeof(payload));
		mk_lda(&frame, time, &(struct mk_lda){.port = 7, .sequence = (uint16_t)i});
		mk_fcs(&frame, i == 5);
		mk_record(&file, time, &frame, i == 9 ? frame.count - 9 : frame.count, frame.count);
	}
	bool fine = open_feed(&opened, &file, STAMP_FORMAT_COUNT);
	OK(fine && feed_verdict(opened.feed)->format == STAMP_LDA_LE, "still found: %s", opened.err.text);
	for (unsigned i = 0; fine && feed_next(opened.feed, &packet, &opened.err) > 0; i++) {
		if (i == 5 || i == 9)
			OK(!packet.has_stamp && !packet.timed, "frame %u has no stamp and no time", i);
	}
	IS_I64((int64_t)feed_seen(opened.feed)->without_stamp, 2, "and counts as such");
	opened_end(&opened);
	mk_file_end(&file);
}

int main(void)
{
	test_fields();
	test_numbers();
	test_open();
	test_bad();
	return tap_done();
}
