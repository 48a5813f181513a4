/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Captures of others: those whose licence allows it lie in tests/data/captures,
 * the others are looked for in the folder that $TARE_SHARED names (or "shared"
 * beside the source tree) and skipped where there is none.
 */
#include "capture_test.h"
#include "import/import.h"
#include "shared.h"

static char path[4096];

static const char *data(const char *name)
{
	snprintf(path, sizeof(path), "%s/captures/%s", getenv("TARE_TEST_DATA"), name);
	return path;
}

static void slurp(const char *name, struct mk_file *file)
{
	static uint8_t bytes[1 << 20];
	FILE *stream = fopen(name, "rb");
	*file = (struct mk_file){0};
	if (!stream)
		return;
	size_t count = fread(bytes, 1, sizeof(bytes), stream);
	mk_raw(file, bytes, count);
	fclose(stream);
}

struct summary {
	int64_t samples, answered, min_ns, max_ns, sum_ns, rounds;
	char notes[4096];
	struct tare_err err;
};

static struct summary import_file(const char *name, const char *key, const char *service)
{
	struct summary summary = {.min_ns = INT64_MAX};
	const struct import_rules rules = {.capture = {.key = key, .service = service}};
	struct import *import = NULL;
	const struct tare_record *record;
	int found = import_open(name, &rules, &import, &summary.err) ? -1 : 0;
	while (found == 0 && import_next(import, &record, &summary.err) == 1) {
		summary.rounds++;
		for (size_t i = 0; i < record->series.count; i++) {
			int64_t ns = tare_span_of(&record->series, TARE_SPAN_STACK, i);
			if (ns == TARE_NO_TIME)
				ns = tare_span_of(&record->series, TARE_SPAN_WIRE, i);
			summary.samples++;
			if (ns == TARE_NO_TIME)
				continue;
			summary.answered++;
			summary.sum_ns += ns;
			summary.min_ns = ns < summary.min_ns ? ns : summary.min_ns;
			summary.max_ns = ns > summary.max_ns ? ns : summary.max_ns;
		}
	}
	const struct import_note *notes;
	size_t count = import ? import_notes(import, &notes) : 0, used = 0;
	for (size_t i = 0; i < count && used < sizeof(summary.notes) - 1; i++)
		used += (size_t)snprintf(summary.notes + used, sizeof(summary.notes) - used, "%s\n", notes[i].text);
	import_free(import);
	return summary;
}

static void test_cases(void)
{
	struct summary got = import_file(data("tcpdump/tcp-handshake-nano.pcap"), NULL, NULL);
	IS_I64(got.min_ns, 127521774, "SYN to SYN/ACK in nanoseconds, cooked frames");
	got = import_file(data("tcpdump/tcp-handshake-nano.pcap"), "tcp-ack", "131.155.215.69:46656");
	IS_I64(got.min_ns, 87895, "SYN/ACK to ACK");
	got = import_file(data("zeek/icmp_request_mirrored_twice.pcap"), NULL, NULL);
	OK(got.samples == 4 && got.answered == 4 && got.min_ns == 3897000 && got.max_ns == 4361000,
		"4 pings mirrored twice: the first copy counts");
	OK(strstr(got.notes, "4 copies") != NULL, "the copies are counted");
	got = import_file(data("zeek/icmp_sll2_lo.pcap"), NULL, NULL);
	OK(got.rounds == 2 && got.min_ns == 29000 && got.max_ns == 30000,
		"cooked frames of version 2: 29 us over IPv4, 30 us over IPv6");
	got = import_file(data("pcap-parser/icmp_modified_magic.pcap"), NULL, NULL);
	OK(got.samples == 1 && got.answered == 0, "the modified format: a request without reply");
	got = import_file(data("tcpdump/timestamp_invalid_nano.pcap"), NULL, NULL);
	OK(got.answered == 0 && strstr(got.notes, "2 packets (2, 3) have a fraction"),
		"impossible fractions: no value");
	got = import_file(data("tcpdump/timestamp_invalid_micro.pcap"), NULL, NULL);
	OK(got.answered == 0 && strstr(got.notes, "2 packets (2, 3) have a fraction"), "in microseconds too");
	got = import_file(data("pcapplusplus/many_interfaces_mixed_dlt.pcapng"), NULL, NULL);
	OK(strstr(got.notes, "times run backwards at 1 packet (3)") != NULL,
		"one step backwards between interfaces, as it is");
}

static void test_times(void)
{
	static const struct {
		const char *name;
		int64_t seconds;
	} files[] = {{"time_2038_overflow.pcap", 2147483648}, {"time_2106_max.pcap", 4294967295},
		{"time_2106_overflow.pcapng", 4294967296}, {"time_2107.pcapng", 4323283200}};
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		struct mk_file file;
		struct opened opened;
		struct capture_frame got = {0};
		char name[100];
		snprintf(name, sizeof(name), "tcpdump/%s", files[i].name);
		slurp(data(name), &file);
		OK(open_frames(&opened, file.bytes, file.count, false) &&
				capture_file_next(opened.file, &got, &opened.err) == 1,
			"%s", name);
		IS_I64(got.time.seconds, files[i].seconds, "its year");
		opened_end(&opened);
		mk_file_end(&file);
	}
}

static void test_interfaces(void)
{
	struct mk_file file;
	struct opened opened;
	struct capture_frame got;
	const struct capture_interface *interfaces;
	slurp(data("pcapplusplus/many_interfaces_mixed_dlt.pcapng"), &file);
	OK(open_frames(&opened, file.bytes, file.count, false), "many interfaces");
	while (capture_file_next(opened.file, &got, &opened.err) == 1)
		;
	IS_I64(capture_file_interfaces(opened.file, &interfaces), 11, "eleven of them");
	OK(interfaces[0].frames == 62 && interfaces[10].frames == 2 && interfaces[10].link != interfaces[0].link,
		"62 packets on the first, 2 on the last, of another link type");
	opened_end(&opened);
	mk_file_end(&file);
}

static void test_byte_orders(void)
{
	static const int numbers[] = {
		1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 100, 101, 102, 200, 201, 202};
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		struct mk_file file[2];
		struct opened opened[2];
		struct capture_frame got[2];
		char name[100];
		bool same = true;
		int found = 1;
		int64_t frames = 0;
		for (int order = 0; order < 2; order++) {
			snprintf(name, sizeof(name), "pcapng-test-generator/test%03d-%s.pcapng", numbers[i],
				order ? "be" : "le");
			slurp(data(name), &file[order]);
			same = open_frames(&opened[order], file[order].bytes, file[order].count, false) && same;
		}
		while (same && found == 1) {
			found = capture_file_next(opened[0].file, &got[0], &opened[0].err);
			same = found >= 0 && capture_file_next(opened[1].file, &got[1], &opened[1].err) == found;
			if (!same || !found)
				break;
			frames++;
			same = got[0].time.seconds == got[1].time.seconds &&
			       got[0].time.picoseconds == got[1].time.picoseconds &&
			       got[0].captured == got[1].captured && got[0].length == got[1].length &&
			       got[0].link == got[1].link && memcmp(got[0].bytes, got[1].bytes, got[0].captured) == 0;
		}
		OK(same, "test%03d: %" PRId64 " packets, the same in both byte orders%s%s", numbers[i], frames,
			same ? "" : ": ", same ? "" : opened[0].err.text);
		for (int order = 0; order < 2; order++) {
			opened_end(&opened[order]);
			mk_file_end(&file[order]);
		}
	}
}

static void test_arista(void)
{
	struct mk_file file;
	struct opened opened;
	struct feed_packet packet;
	slurp(data("tcpdump/arista_ether.pcap"), &file);
	OK(open_feed(&opened, &file, STAMP_FORMAT_COUNT) && feed_verdict(opened.feed)->format == STAMP_AVSP,
		"0xD28B in all 16 frames");
	IS_I64(feed_verdict(opened.feed)->stamped, 16, "all eight version codes are stamps");
	OK(feed_next(opened.feed, &packet, &opened.err) == 1 && packet.time.seconds == 1559162199 &&
			packet.time.picoseconds == 944724424000 && packet.frame.time.seconds == 1559162200 &&
			packet.frame.time.picoseconds == 91512000000,
		"the stamp and the host's time side by side");
	OK(packet.stamp.scale == STAMP_SCALE_TAI && feed_verdict(opened.feed)->offset_seconds == 0,
		"labelled TAI, and 0 s from the host's clock: the distance is told, not the label believed");
	opened_end(&opened);
	mk_file_end(&file);
}

struct shared_case {
	const char *name;
	enum stamp_format format;
	uint64_t stamped;
	int64_t least_ns, most_ns; /* capture - stamp */
};

static void test_shared_stamps(void)
{
	static const struct shared_case cases[] = {
		{"n3550-timestamp-decoder/exa.mode.append-compat.pcap", STAMP_TICKS, 3, 9000000, 11000000},
		{"n3550-timestamp-decoder/exa.mode.append.pcap", STAMP_TICKS, 3, 9000000, 11000000},
		{"n3550-timestamp-decoder/exa.mode.fcs-compat.pcap", STAMP_TICKS, 3, 9000000, 11000000},
		{"n3550-timestamp-decoder/exa.mode.fcs.pcap", STAMP_TICKS, 3, 9000000, 11000000},
		{"n3550-timestamp-decoder/exnic-fcsu.pcap", STAMP_TICKS, 18, 100000000, 120000000},
		{"n3550-timestamp-decoder/fusion_hpt_example.pcap", STAMP_HPT, 20, -1, 0},
		{"n3550-timestamp-decoder/pingout.pcap", STAMP_TICKS, 1625, 558600000000, 558700000000},
		{"omi-data-packets/CancelOrderMessage.pcap", STAMP_METAWATCH, 1, 0, 0},
		{"omi-data-packets/CanceledMessage.pcap", STAMP_METAWATCH, 1, 0, 0},
		{"omi-data-packets/ClientHeartbeatPacket.pcap", STAMP_METAWATCH, 1, 0, 0},
		{"omi-data-packets/OrderAcceptedMessage.pcap", STAMP_METAWATCH, 1, 0, 0},
		{"omi-data-packets/ServerHeartbeatPacket.pcap", STAMP_METAWATCH, 1, 0, 0},
		{"omi-data-packets/asx-AddOrderMessage.pcap", STAMP_NONE, 0, 0, 0},
		{"omi-data-packets/asx-Heartbeat.pcap", STAMP_NONE, 0, 0, 0},
		{"omi-data-packets/asx-ImpliedOrderReplacedMessage.pcap", STAMP_NONE, 0, 0, 0},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct mk_file file;
		struct opened opened;
		struct feed_packet packet;
		char name[200];
		snprintf(name, sizeof(name), "captures/%s", cases[i].name);
		const char *found = shared_file(name);
		if (!found) {
			SKIP(1, "no folder of captures that may not be copied");
			continue;
		}
		slurp(found, &file);
		uint64_t stamped = 0, inside = 0;
		bool fine = open_feed(&opened, &file, STAMP_FORMAT_COUNT);
		while (fine && feed_next(opened.feed, &packet, &opened.err) == 1) {
			if (!packet.has_stamp)
				continue;
			int64_t after_ns = capture_time_ns(packet.frame.time, packet.time);
			stamped++;
			inside += after_ns >= cases[i].least_ns && after_ns <= cases[i].most_ns;
		}
		OK(fine && feed_verdict(opened.feed)->format == cases[i].format && stamped == cases[i].stamped &&
				inside == stamped &&
				feed_verdict(opened.feed)->undecodable_ticks == (cases[i].format == STAMP_NONE),
			"%s: %s", cases[i].name, fine ? feed_verdict(opened.feed)->words : opened.err.text);
		opened_end(&opened);
		mk_file_end(&file);
	}
}

/* One capture in four formats, each exact to its format's resolution. (The ERF file once went through a conversion of
 * line ends: where a stamp holds 0x0a it became 0x0d, 3 us.) */
static void test_four_formats(void)
{
	static const char *const names[] = {"captures/libtrace/100_packets.erf", "captures/libtrace/100_packets.pcap",
		"captures/libtrace/100_packets.pcapng", "captures/libtrace/100_packetsns.pcap"};
	struct mk_file file[4];
	struct opened opened[4];
	struct capture_frame got[4];
	int same = 0;
	if (!shared_file(names[0])) {
		SKIP(2, "no folder of captures that may not be copied");
		return;
	}
	for (int i = 0; i < 4; i++) {
		slurp(shared_file(names[i]), &file[i]);
		if (!open_frames(&opened[i], file[i].bytes, file[i].count, false))
			printf("# %s\n", opened[i].err.text);
	}
	for (int frame = 0; frame < 100; frame++) {
		bool alike = true;
		for (int i = 0; i < 4; i++)
			alike = capture_file_next(opened[i].file, &got[i], &opened[i].err) == 1 && alike;
		for (int i = 1; i < 4 && alike; i++) {
			int64_t apart = capture_time_ps(got[i].time, got[0].time);
			alike = apart > -4000000 && apart < 4000000 && got[i].length == got[0].length &&
				got[i].captured == got[0].captured &&
				memcmp(got[i].bytes, got[1].bytes, got[1].captured) == 0;
		}
		same += alike;
	}
	IS_I64(same, 100, "a hundred packets in ERF, pcap, pcapng and nanosecond pcap");
	struct survey survey;
	opened_end(&opened[3]);
	OK(open_frames(&opened[3], file[3].bytes, file[3].count, false), "the nanosecond file once more");
	survey_begin(&survey, 0);
	while (capture_file_next(opened[3].file, &got[3], &opened[3].err) == 1)
		survey_add(&survey, &got[3]);
	IS_I64(survey.step_ps, 1000000, "its nanoseconds are microseconds: what is observed is told");
	for (int i = 0; i < 4; i++) {
		opened_end(&opened[i]);
		mk_file_end(&file[i]);
	}
}

static void test_pings(void)
{
	const char *found = shared_file("cases/icmp_75pings_us.pcap");
	if (!found) {
		SKIP(2, "no folder of captures that may not be copied");
		return;
	}
	struct summary got = import_file(found, NULL, NULL);
	OK(got.samples == 75 && got.min_ns == 164000 && got.max_ns == 256000 && (got.sum_ns + 37) / 75 / 100 == 2113,
		"75 pings: 164, 211.4, 256 us");
	/* the same, cut to 60 bytes a frame */
	struct mk_file file, cut = {0};
	struct opened opened;
	struct capture_frame frame;
	struct mk_frame copy;
	slurp(found, &file);
	mk_pcap(&cut, 0xa1b2c3d4, false, LINK_ETHERNET);
	if (open_frames(&opened, file.bytes, file.count, false)) {
		while (capture_file_next(opened.file, &frame, &opened.err) == 1) {
			copy.count = 0;
			mk_put(&copy, frame.bytes, frame.captured);
			mk_record(&cut, (struct mk_time){frame.time.seconds, frame.time.picoseconds}, &copy, 60,
				frame.length);
		}
	}
	FILE *stream = fmemopen(cut.bytes, cut.count, "r");
	struct import *import = NULL;
	const struct tare_record *record = NULL;
	struct tare_err err = {0};
	int64_t sum_ns = 0;
	bool fine =
		import_open_stream(stream, "cut", NULL, &import, &err) == 0 && import_next(import, &record, &err) == 1;
	for (size_t i = 0; fine && i < record->series.count; i++)
		sum_ns += tare_span_of(&record->series, TARE_SPAN_STACK, i);
	IS_I64(sum_ns, got.sum_ns, "cut to 60 bytes: the same times");
	import_free(import);
	fclose(stream);
	opened_end(&opened);
	mk_file_end(&file);
	mk_file_end(&cut);
}

static void test_tcp_session(void)
{
	const char *found = shared_file("cases/fix_order_tcp.pcap");
	if (!found) {
		SKIP(2, "no folder of captures that may not be copied");
		return;
	}
	struct summary got = import_file(found, NULL, NULL);
	OK(strstr(got.notes, "1261 packets over 22.88 s") != NULL, "an order session over TCP");
	int64_t acknowledgements = 0;
	for (const char *at = got.notes; (at = strstr(at, " acknowledgements of data")) != NULL; at++) {
		const char *number = at;
		while (number > got.notes && number[-1] >= '0' && number[-1] <= '9')
			number--;
		acknowledgements += strtol(number, NULL, 10);
	}
	IS_I64(acknowledgements, 634, "as many acknowledged segments as tshark finds, none of them called an answer");
}

int main(void)
{
	test_cases();
	test_times();
	test_interfaces();
	test_byte_orders();
	test_arista();
	test_shared_stamps();
	test_four_formats();
	test_pings();
	test_tcp_session();
	return tap_done();
}
