/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Capture files made with chosen times: every format, byte order and resolution; what is damaged is named. */
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "capture_test.h"

static const struct mk_time noon = {1418145369, 924505488000};
static const struct mk_ends ends = {1, 2, 40000, 7000, 5};

static void simple_frame(struct mk_frame *frame, size_t payload)
{
	static const uint8_t zeros[512];
	mk_udp(frame, &ends, zeros, payload);
}

static void test_pcap_magics(void)
{
	static const struct {
		uint32_t magic;
		int64_t step_ps;
		const char *words;
	} kinds[] = {{0xa1b2c3d4, 1000000, "pcap, microseconds"}, {0xa1b23c4d, 1000, "pcap, nanoseconds"},
		{0xa1b2cd34, 1000000, "modified pcap, microseconds"}};
	for (int i = 0; i < 6; i++) {
		struct mk_file file = {0};
		struct mk_frame frame;
		struct opened opened;
		struct capture_frame got = {0};
		simple_frame(&frame, 20);
		mk_pcap(&file, kinds[i / 2].magic, i % 2, LINK_ETHERNET);
		mk_record(&file, noon, &frame, 60, frame.count);
		mk_record(&file, mk_later(noon, 100000000), &frame, frame.count, 0);
		OK(open_frames(&opened, file.bytes, file.count, false), "%s, %s order opens", kinds[i / 2].words,
			i % 2 ? "other" : "own");
		IS_STR(opened.file ? capture_file_about(opened.file)->words : "", kinds[i / 2].words, "is what it is");
		OK(capture_file_next(opened.file, &got, &opened.err) == 1 && got.time.seconds == noon.seconds &&
				got.time.picoseconds == noon.ps / kinds[i / 2].step_ps * kinds[i / 2].step_ps,
			"its time is exact to its resolution");
		OK(got.captured == 60 && got.length == frame.count && got.flags == CAPTURE_CUT,
			"a cut frame has both lengths");
		OK(capture_file_next(opened.file, &got, &opened.err) == 1 && got.captured == frame.count &&
				got.number == 2 && memcmp(got.bytes, frame.bytes, frame.count) == 0,
			"the second frame is whole");
		IS_I64(capture_file_next(opened.file, &got, &opened.err), 0, "then the end");
		opened_end(&opened);
		mk_file_end(&file);
	}
}

static void test_odd_records(void)
{
	struct mk_file file = {0};
	struct mk_frame frame;
	struct opened opened;
	struct capture_frame got = {0};
	simple_frame(&frame, 20);
	mk_pcap(&file, 0xa1b23c4d, false, LINK_ETHERNET | 1u << 26 | 2u << 28);
	mk_record_raw(&file, 100, 1000000000, (uint32_t)frame.count, (uint32_t)frame.count, frame.bytes);
	mk_record_raw(&file, 100, 2147483648u, (uint32_t)frame.count, (uint32_t)frame.count, frame.bytes);
	mk_record_raw(&file, 0xffffffff, 999999999, (uint32_t)frame.count, 10, frame.bytes);
	mk_record_raw(&file, 0, 0, 40, 0, frame.bytes);
	mk_record_raw(&file, 101, 0, 0, 60, frame.bytes);
	OK(open_frames(&opened, file.bytes, file.count, false), "odd records open");
	OK(capture_file_next(opened.file, &got, &opened.err) == 1 && got.flags & CAPTURE_BAD_FRACTION,
		"a fraction of 1 s is flagged");
	IS_I64(got.fcs_bytes, 4, "the link type's upper bits say how long a check sequence is");
	IS_I64(got.link, LINK_ETHERNET, "and are no part of the link type");
	OK(capture_file_next(opened.file, &got, &opened.err) == 1 && got.flags & CAPTURE_BAD_FRACTION,
		"and one of 2^31 ns");
	OK(capture_file_next(opened.file, &got, &opened.err) == 1 && got.time.seconds == 4294967295 &&
			got.flags == CAPTURE_LONGER,
		"seconds are unsigned: 2106-02-07 06:28:15");
	OK(capture_file_next(opened.file, &got, &opened.err) == 1 && got.time.seconds == 101 && got.captured == 0,
		"padding of exact-capture is passed over, a frame of no bytes is not");
	IS_I64(capture_file_about(opened.file)->padding_records, 1, "and counted");
	opened_end(&opened);
	mk_file_end(&file);
}

static void test_resolutions(void)
{
	/* K6-01 and K6-07: ticks in, the same time out; high and low word are one unsigned number */
	static const struct {
		int resolution;
		uint64_t raw;
		int64_t offset;
		struct mk_time want;
	} cases[] = {
		{9, UINT64_C(1418145369924505488), 0, {1418145369, 924505488000}},
		{9, UINT64_C(380005616) << 32 | 889405284, 0, {1632111693, 905739620000}},
		{-1, UINT64_C(1418145369924505), 0, {1418145369, 924505000000}},
		{3, UINT64_C(1418145369924), 0, {1418145369, 924000000000}},
		{0, 1418145369, 0, {1418145369, 0}},
		{12, UINT64_C(1418145369924505488), 0, {1418145, 369924505488}},
		{15, UINT64_C(1418145369924505488), 5, {1418 + 5, 145369924505}},
		{19, UINT64_MAX, 0, {1, 844674407370}},
		{20, UINT64_MAX, 0, {0, 184467440737}},
		{0x80 + 32, UINT64_C(1418145369) << 32 | 0x80000000, 0, {1418145369, 500000000000}},
		{0x80 + 0, 7, 0, {7, 0}},
		{0x80 + 63, UINT64_C(3) << 62, 0, {1, 500000000000}},
		{9, UINT64_C(1000000001), -10, {-9, 1000}},
		{6, UINT64_C(4294967296000000), 0, {4294967296, 0}},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct mk_file file = {0};
		struct mk_frame frame;
		struct opened opened;
		struct capture_frame got = {0};
		const struct mk_interface interface = {
			LINK_ETHERNET, 65535, "eth0", cases[i].resolution, cases[i].offset, 4};
		const struct mk_packet packet = {.raw = cases[i].raw};
		simple_frame(&frame, 20);
		mk_section(&file, i % 2);
		mk_interface(&file, &interface);
		mk_packet(&file, &packet, &frame);
		bool fine = open_frames(&opened, file.bytes, file.count, false) &&
			    capture_file_next(opened.file, &got, &opened.err) == 1 &&
			    same_time(got.time, cases[i].want);
		OK(fine && !got.flags, "resolution %d: %" PRId64 ".%012" PRId64, cases[i].resolution, got.time.seconds,
			got.time.picoseconds);
		IS_I64(got.fcs_bytes, 4, "with the check sequence its interface announces");
		opened_end(&opened);
		mk_file_end(&file);
	}
}

static void test_sections(void)
{
	struct mk_file file = {0};
	struct mk_frame frame;
	struct opened opened;
	struct capture_frame got = {0};
	const struct mk_interface micro = {LINK_ETHERNET, 64, "first", -1, 0, -1},
				  nano = {LINK_RAW, 0, "second", 9, 0, -1};
	const struct capture_interface *interfaces;
	simple_frame(&frame, 60);
	mk_section(&file, false);
	mk_interface(&file, &micro);
	mk_interface(&file, &nano);
	mk_unknown_block(&file, 0x0bad, 33);
	mk_packet(&file,
		&(struct mk_packet){.interface = 1, .raw = 5000000001, .flags = 2 | 4 << 5, .dropped = 3, .id = 99},
		&frame);
	mk_simple(&file, &frame);
	mk_statistics(&file, 0, 10, 2, 1);
	mk_section(&file, true);
	mk_interface(&file, &nano);
	mk_packet(&file, &(struct mk_packet){.raw = 7000000002, .flags = 1}, &frame);
	mk_packet(&file,
		&(struct mk_packet){.raw = 8000000003, .old = true, .dropped = 4, .captured = 50, .length = 90},
		&frame);
	OK(open_frames(&opened, file.bytes, file.count, false), "two sections of different byte order");
	OK(capture_file_next(opened.file, &got, &opened.err) == 1 && got.time.picoseconds == 1000 &&
			got.link == LINK_RAW && got.flags == CAPTURE_OUTBOUND && got.fcs_bytes == 4 &&
			got.packet_id == 99,
		"a packet has its interface's resolution and link type, its direction and id");
	OK(capture_file_next(opened.file, &got, &opened.err) == 1 && got.flags & CAPTURE_NO_TIME &&
			got.captured == 64 && got.interface == 0,
		"a simple packet has no time and is cut at the snap length");
	OK(capture_file_next(opened.file, &got, &opened.err) == 1 && got.interface == 2 && got.time.seconds == 7 &&
			got.time.picoseconds == 2000 && got.flags == CAPTURE_INBOUND,
		"interfaces of the next section begin anew");
	OK(capture_file_next(opened.file, &got, &opened.err) == 1 && got.time.seconds == 8 && got.flags == CAPTURE_CUT,
		"the obsolete packet block");
	IS_I64(capture_file_next(opened.file, &got, &opened.err), 0, "then the end");
	OK(capture_file_interfaces(opened.file, &interfaces) == 3 && interfaces[0].dropped_by_interface == 2 &&
			interfaces[0].dropped_by_system == 1 && interfaces[1].dropped_between == 3 &&
			interfaces[2].dropped_between == 4,
		"drops are kept for each interface");
	OK(interfaces[2].section == 2 && strcmp(interfaces[1].name, "second") == 0, "with its name and section");
	IS_I64(capture_file_about(opened.file)->unknown_blocks, 1, "unknown blocks are passed over");
	OK(capture_file_about(opened.file)->comments == 3, "comments are counted");
	opened_end(&opened);
	mk_file_end(&file);
}

static void test_erf(void)
{
	struct mk_file file = {0};
	struct mk_frame frame;
	struct opened opened;
	struct capture_frame got = {0};
	simple_frame(&frame, 21);
	mk_erf(&file, 2, noon, 1, 0, &frame, frame.count + 4);
	mk_erf(&file, 27, noon, 0, 1, &frame, 0);
	mk_erf(&file, 16, mk_later(noon, 233), 3, 2, &frame, frame.count);
	OK(open_frames(&opened, file.bytes, file.count, false), "ERF, told by its records");
	OK(capture_file_next(opened.file, &got, &opened.err) == 1 && got.interface == 1 &&
			got.length == frame.count + 4,
		"an Ethernet record");
	int64_t off = got.time.picoseconds - noon.ps;
	OK(got.time.seconds == noon.seconds && off >= 0 && off < 233, "its time is exact to 2^-32 s");
	OK(capture_file_next(opened.file, &got, &opened.err) == 1 && got.interface == 3 &&
			got.captured == frame.count && memcmp(got.bytes, frame.bytes, frame.count) == 0,
		"extension headers are stepped over, meta records passed over, padding left out");
	IS_I64(capture_file_about(opened.file)->meta_records, 1, "and counted");
	opened_end(&opened);
	mk_file_end(&file);
	OK(capture_format_of("PING 10.0.0.1 (10.0.0.1) 56(84) bytes of data.\n", 47) == CAPTURE_NONE, "text is no ERF");
}

static void test_erf_inside(void)
{
	struct mk_file file = {0}, record = {0};
	struct mk_frame frame, inside = {.count = 0};
	struct opened opened;
	struct capture_frame got = {0};
	simple_frame(&frame, 20);
	mk_erf(&record, 2, noon, 0, 0, &frame, frame.count);
	mk_put(&inside, record.bytes, record.count);
	mk_pcap(&file, 0xa1b2c3d4, false, LINK_ERF);
	mk_record(&file, noon, &inside, inside.count, 0);
	OK(open_frames(&opened, file.bytes, file.count, false) &&
			capture_file_next(opened.file, &got, &opened.err) == 1 && got.link == LINK_ETHERNET &&
			got.captured == frame.count && got.time.picoseconds / 1000 == noon.ps / 1000,
		"an ERF record inside pcap brings its own, finer time");
	opened_end(&opened);
	mk_file_end(&file);
	mk_file_end(&record);
}

/* Reads to the end; -1 or the number of frames. */
static int64_t count_frames(struct opened *opened)
{
	struct capture_frame got;
	int64_t count = 0;
	int found;
	while ((found = capture_file_next(opened->file, &got, &opened->err)) > 0)
		count++;
	return found < 0 ? -1 : count;
}

static void test_damage(void)
{
	struct mk_file file = {0};
	struct mk_frame frame;
	struct opened opened;
	simple_frame(&frame, 20);
	mk_pcap(&file, 0xa1b2c3d4, false, LINK_ETHERNET);
	mk_record(&file, noon, &frame, frame.count, 0);
	size_t whole = file.count;
	mk_record(&file, noon, &frame, frame.count, 0);
	for (size_t cut = whole + 1; cut < file.count; cut += 7) {
		bool fine = open_frames(&opened, file.bytes, cut, false) && count_frames(&opened) == 1 &&
			    capture_file_about(opened.file)->ends_inside == whole;
		OK(fine, "cut off at byte %zu: the packet before is kept, the place is told", cut);
		opened_end(&opened);
	}
	file.count = whole;
	mk_record_raw(&file, 1, 2, 0xffffffff, 0xffffffff, NULL);
	mk_raw(&file, frame.bytes, 24);
	OK(open_frames(&opened, file.bytes, file.count, false) && count_frames(&opened) == -1,
		"a length of 4 GB ends the reading");
	OK(strstr(opened.err.text, "byte 102, packet 2") != NULL, "with place and packet: %s", opened.err.text);
	opened_end(&opened);
	OK(open_frames(&opened, file.bytes, file.count, true) && count_frames(&opened) == 1,
		"lenient keeps what was read");
	OK(strstr(capture_file_about(opened.file)->damage, "captured bytes") != NULL, "and tells the reason");
	opened_end(&opened);
	OK(!open_frames(&opened, file.bytes, 20, false) && strstr(opened.err.text, "header") != NULL,
		"a cut file header is refused");
	opened_end(&opened);
	mk_file_end(&file);
	mk_section(&file, false);
	mk_packet(&file, &(struct mk_packet){.raw = 1}, &frame);
	OK(open_frames(&opened, file.bytes, file.count, false) && count_frames(&opened) == -1 &&
			strstr(opened.err.text, "interface") != NULL,
		"a packet of an interface nobody described: %s", opened.err.text);
	opened_end(&opened);
	file.bytes[file.count - 1] ^= 1;
	OK(open_frames(&opened, file.bytes, file.count, false) && count_frames(&opened) == -1 &&
			strstr(opened.err.text, "lengths differ") != NULL,
		"a block whose lengths differ");
	opened_end(&opened);
	mk_file_end(&file);
}

static size_t pack_gzip(const void *bytes, size_t count, uint8_t *to, size_t room)
{
	z_stream stream = {0};
	deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
	stream.next_in = (Bytef *)(uintptr_t)bytes;
	stream.avail_in = (uInt)count;
	stream.next_out = to;
	stream.avail_out = (uInt)room;
	deflate(&stream, Z_FINISH);
	deflateEnd(&stream);
	return room - stream.avail_out;
}

static void test_packed(void)
{
	enum { PACKED = 1 << 16, ZEROS = 1 << 22 };
	static uint8_t packed[2 * PACKED], zeros[ZEROS];
	struct mk_file file = {0};
	struct mk_frame frame;
	struct opened opened;
	struct tare_err err = {0};
	simple_frame(&frame, 20);
	mk_pcap(&file, 0xa1b2c3d4, false, LINK_ETHERNET);
	for (int i = 0; i < 5000; i++)
		mk_record(&file, mk_later(noon, i * INT64_C(1000000)), &frame, frame.count, 0);
	size_t bytes = pack_gzip(file.bytes, file.count, packed, PACKED);
	OK(open_frames(&opened, packed, bytes, false) && count_frames(&opened) == 5000, "gzip");
	IS_STR(capture_file_about(opened.file)->coding, "gzip", "is said to be");
	OK(input_rewind(opened.input, &err) == 0 && input_need(opened.input, 24, &err) >= 24, "can be read again");
	opened_end(&opened);
	size_t half = pack_gzip(file.bytes, 1000, packed, PACKED);
	half += pack_gzip(file.bytes + 1000, file.count - 1000, packed + half, PACKED);
	OK(open_frames(&opened, packed, half, false) && count_frames(&opened) == 5000, "gzip of two members");
	opened_end(&opened);
	OK(open_frames(&opened, packed, half - 20, false) && count_frames(&opened) == -1 &&
			strstr(opened.err.text, "cut off inside its gzip"),
		"cut gzip: %s", opened.err.text);
	opened_end(&opened);
	bytes = ZSTD_compress(packed, PACKED, file.bytes, file.count, 3);
	OK(open_frames(&opened, packed, bytes, false) && count_frames(&opened) == 5000, "zstd");
	opened_end(&opened);
	OK(open_frames(&opened, packed, bytes - 5, false) && count_frames(&opened) == -1 &&
			strstr(opened.err.text, "zstd"),
		"cut zstd: %s", opened.err.text);
	opened_end(&opened);
	bytes = pack_gzip(zeros, ZEROS, packed, PACKED);
	OK(input_open_bytes(packed, bytes, "bomb", &opened.input, &err) == 0, "4 MiB of zeros");
	input_limit(opened.input, 1 << 20, 500);
	OK(input_need(opened.input, ZEROS, &err) < 0 && strstr(err.text, "bomb"), "above 1 MiB and 500 times: %s",
		err.text);
	opened_end(&opened);
	mk_file_end(&file);
}

static void test_pipe(void)
{
	struct mk_file file = {0};
	struct mk_frame frame;
	struct tare_err err = {0};
	struct input *input = NULL;
	int ends_of_pipe[2];
	simple_frame(&frame, 200);
	mk_pcap(&file, 0xa1b2c3d4, false, LINK_ETHERNET);
	for (int i = 0; i < 100; i++)
		mk_record(&file, noon, &frame, frame.count, 0);
	OK(pipe(ends_of_pipe) == 0 && write(ends_of_pipe[1], file.bytes, file.count) == (ssize_t)file.count,
		"a capture in a pipe");
	close(ends_of_pipe[1]);
	FILE *stream = fdopen(ends_of_pipe[0], "r");
	OK(input_open(stream, "pipe", &input, &err) == 0, "opens");
	for (int reading = 0; reading < 3; reading++) {
		struct capture_file *capture = NULL;
		struct opened opened = {0};
		OK(capture_file_open(input, "pipe", false, &capture, &err) == 0, "reading %d", reading + 1);
		opened.file = capture;
		IS_I64(count_frames(&opened), 100, "gives all packets");
		capture_file_free(capture);
		OK(input_rewind(input, &err) == 0, "and is put back to the beginning");
	}
	input_free(input);
	fclose(stream);
	mk_file_end(&file);
}

int main(void)
{
	test_pcap_magics();
	test_odd_records();
	test_resolutions();
	test_sections();
	test_erf();
	test_erf_inside();
	test_damage();
	test_packed();
	test_pipe();
	return tap_done();
}
