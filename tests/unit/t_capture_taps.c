/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The same packets at two places: clocks, bits, bounds, and what only one place saw. */
#include <unistd.h>

#include "capture_read.h"

/* Writes a file for --to and returns its name. */
static const char *write_second(const struct mk_file *file)
{
	static char name[] = "/tmp/tare-taps-XXXXXX";
	memcpy(name + sizeof(name) - 7, "XXXXXX", 6);
	int fd = mkstemp(name);
	if (fd < 0 || write(fd, file->bytes, file->count) != (ssize_t)file->count)
		abort();
	close(fd);
	return name;
}

static void make_taps(struct mk_file *before, struct mk_file *behind, size_t payload_bytes)
{
	static uint8_t payload[1500];
	mk_pcap(before, 0xa1b23c4d, false, LINK_ETHERNET);
	mk_pcap(behind, 0xa1b23c4d, false, LINK_ETHERNET);
	for (int i = 0; i < 20; i++) {
		struct mk_frame frame;
		struct mk_ends ends = to;
		payload[0] = (uint8_t)i;
		ends.ip_id = (uint16_t)i;
		mk_udp(&frame, &ends, payload, payload_bytes);
		if (i != 13)
			mk_record(before, mk_later(start, i * INT64_C(50000000)), &frame, frame.count, 0);
		frame.bytes[0] = 9; /* a router changes addresses */
		frame.bytes[22]--;  /* and the time to live */
		if (i != 4 && i != 6)
			mk_record(behind, mk_later(start, i * INT64_C(50000000) + 380000), &frame, frame.count, 0);
	}
}

static void test_taps(void)
{
	struct mk_file before = {0}, behind = {0};
	struct read read;
	make_taps(&before, &behind, 1408);
	const char *name = write_second(&behind);
	struct capture_rules rules = {.to = name};
	read_file(&read, &before, &rules);
	OK(!read.fine && read.err.code == TARE_E_USAGE && strstr(read.err.text, "--clock"),
		"two clocks of which nothing is known: %s", read.err.text);
	read_end(&read);
	rules.clock = "same";
	read_file(&read, &before, &rules);
	IS_I64(count_of(&read), 19, "two captures of the same packets");
	OK(value_of(&read, 0) == 380 && fate_of(&read, TARE_ANSWERED) == 17, "each has its time from one to the other");
	OK(read.fine && tare_span_exists(&read.record->series, TARE_SPAN_HOST),
		"which is the time of what lies between");
	OK(fate_of(&read, TARE_LOST) + fate_of(&read, TARE_PENDING) == 2 && read.record->beside.foreign == 1,
		"what only one of them saw is counted");
	OK(said(&read, "only at the second place: 1 packet (12)"), "and listed");
	OK(read.fine && read.record->round->axis_error_ns == 0, "one clock: no error");
	read_end(&read);
	rules.clock = "250ns";
	read_file(&read, &before, &rules);
	OK(read.fine && read.record->round->axis_error_ns == 250 && said(&read, "uncertain by 250 ns"),
		"a bound is the error");
	read_end(&read);
	rules.marks = "first,last";
	read_file(&read, &before, &rules);
	OK(!read.fine && strstr(read.err.text, "--line-rate"), "different bits without a rate: %s", read.err.text);
	read_end(&read);
	/* 14 + 20 + 8 + 1408 + 4 bytes of check sequence: 1454, 1163.2 ns at 10 Gbit/s */
	rules.line_rate = "10G";
	read_file(&read, &before, &rules);
	IS_I64(read.fine ? (int64_t)fate_of(&read, TARE_ANSWERED) : -1, 17, "last bits brought to first");
	OK(read.fine && read.record->series.flags[0] & TARE_FLAG_IMPOSSIBLE && said(&read, "arrived before they left"),
		"380 ns less 1163.2 ns is beyond the bound: no value");
	read_end(&read);
	rules.marks = "last,first";
	read_file(&read, &before, &rules);
	IS_I64(value_of(&read, 0), 1543, "380 ns and 1163.2 ns");
	read_end(&read);
	unlink(name);
	mk_file_end(&before);
	mk_file_end(&behind);
}

static void test_bound(void)
{
	/* the second clock is 300 ns behind: packets arrive before they left */
	struct mk_file before = {0}, behind = {0};
	struct read read;
	mk_pcap(&before, 0xa1b23c4d, false, LINK_ETHERNET);
	mk_pcap(&behind, 0xa1b23c4d, false, LINK_ETHERNET);
	for (int i = 0; i < 20; i++) {
		struct mk_frame frame;
		uint8_t payload[32];
		numbered(payload, (uint64_t)i);
		mk_udp(&frame, &to, payload, 32);
		mk_record(&before, mk_later(start, i * INT64_C(50000000)), &frame, frame.count, 0);
		mk_record(&behind, mk_later(start, i * INT64_C(50000000) - 100000), &frame, frame.count, 0);
	}
	const char *name = write_second(&behind);
	struct capture_rules rules = {.to = name, .clock = "300ns"};
	read_file(&read, &before, &rules);
	OK(count_of(&read) == 20 && value_of(&read, 19) == -100, "within the bound a negative time is kept");
	read_end(&read);
	rules.clock = "50ns";
	read_file(&read, &before, &rules);
	OK(count_of(&read) == 20 && value_of(&read, 19) == TARE_NO_TIME &&
			said(&read, "20 packets arrived before they left"),
		"beyond it there is no value");
	read_end(&read);
	unlink(name);
	mk_file_end(&before);
	mk_file_end(&behind);
}

static void test_taps_in_one(void)
{
	/* a switch stamps what it sees at two ports into one stream */
	struct mk_file file = {0};
	struct read read;
	mk_pcap(&file, 0xa1b23c4d, false, LINK_ETHERNET);
	for (int i = 0; i < 20; i++) {
		for (unsigned port = 1; port <= 2; port++) {
			struct mk_frame frame;
			uint8_t payload[32];
			struct mk_time time = mk_later(start, i * INT64_C(50000000) + port * INT64_C(450000));
			numbered(payload, (uint64_t)i);
			mk_udp(&frame, &to, payload, 32);
			mk_metawatch(&frame, time, 1, 7, port, NULL, 0);
			mk_record(&file, mk_later(time, INT64_C(3000000)), &frame, frame.count, 0);
		}
	}
	struct capture_rules rules = {.from = "port:1", .to = "port:7/2"};
	read_file(&read, &file, &rules);
	OK(count_of(&read) == 20 && value_of(&read, 0) == 450, "from port to port by the switch's own clock: %s",
		read.err.text);
	OK(said(&read, "one device stamped both"), "which is said");
	const struct tare_origin *origin = read.fine ? &read.record->origin : NULL;
	OK(origin && strcmp(origin->format, "pcap+metawatch") == 0 && origin->quantity == TARE_QUANTITY_ONE_WAY &&
			origin->clock == TARE_CLOCK_HARDWARE && tare_base_span(read.record) == TARE_SPAN_HOST,
		"one way by a switch's clock, and the span of what lies between: %s", origin ? origin->format : "");
	read_end(&read);
	rules.from = NULL;
	read_file(&read, &file, &rules);
	OK(!read.fine && strstr(read.err.text, "--from"), "one end alone: %s", read.err.text);
	read_end(&read);
	mk_file_end(&file);
}

/* Between two places every fragment is a packet with a time of its own. */
static void test_fragments(void)
{
	struct mk_file before = {0}, behind = {0};
	struct read read;
	static uint8_t payload[1400];
	mk_pcap(&before, 0xa1b23c4d, false, LINK_ETHERNET);
	mk_pcap(&behind, 0xa1b23c4d, false, LINK_ETHERNET);
	for (unsigned i = 0; i < 4; i++) {
		struct mk_frame whole, part;
		if (i % 2)
			mk_udp6(&whole, &to, payload, sizeof(payload));
		else
			mk_udp(&whole, &to, payload, sizeof(payload));
		for (size_t at = 0; at < 1408; at += 400) {
			mk_fragment(&part, &whole, i, at, 400);
			put(&before, i * INT64_C(1000000) + (int64_t)at * 10, &part);
			if (i != 3 || at != 800)
				put(&behind, i * INT64_C(1000000) + (int64_t)at * 10 + 500 + i, &part);
		}
	}
	const char *name = write_second(&behind);
	const struct capture_rules rules = {.to = name, .clock = "same"};
	read_file(&read, &before, &rules);
	OK(count_of(&read) == 16 && fate_of(&read, TARE_ANSWERED) == 15 && value_of(&read, 9) == 502 &&
			value_of(&read, 15) == 503 && value_of(&read, 14) == TARE_NO_TIME,
		"fragments by themselves: %s", read.err.text);
	read_end(&read);
	unlink(name);
	mk_file_end(&before);
	mk_file_end(&behind);
}

int main(void)
{
	test_taps();
	test_fragments();
	test_bound();
	test_taps_in_one();
	return tap_done();
}
