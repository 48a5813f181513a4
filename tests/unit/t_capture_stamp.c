/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Every layout of hardware stamps made with chosen times and read back exactly to
 * its resolution: found over the whole file or named, with check sequences of all
 * kinds, padding, wraps, lost keyframes, wrong clocks; and files that carry none.
 */
#include "capture_test.h"

enum { FRAMES = 24 };
static const struct mk_time start = {1700000000, 123456789012};
static const int64_t INTERVAL_PS = INT64_C(250000123457); /* 0.25 s and a bit */

/* How one layout is put on a frame. `fcs`: 0 none behind, 1 a new check sequence. */
struct layout {
	const char *name;
	enum stamp_format format;
	void (*put)(struct mk_frame *frame, struct mk_time time);
	int64_t resolution_ps;
	bool fcs;
	bool named;     /* only by name */
	bool inside;    /* a tag: nothing behind the frame */
	size_t payload; /* of the frame */
	uint32_t port;
};

static void put_metawatch(struct mk_frame *frame, struct mk_time time)
{
	mk_metawatch(frame, time, 1, 19484, 46, NULL, 0);
}
static void put_metawatch_ps(struct mk_frame *frame, struct mk_time time)
{
	/* sequence (tag 0, not last on the way back), then sub-ns: the word nearest to the seconds is read first */
	uint32_t part = (uint32_t)((((uint64_t)time.ps % 1000 << 24) + 999) / 1000);
	const uint32_t words[] = {0x00002a00 | 0x20, part << 8 | 1};
	mk_metawatch(frame, time, 3, 19484, 46, words, 2);
}
static void put_hpt(struct mk_frame *frame, struct mk_time time)
{
	mk_hpt(frame, time, 3, 47);
}
static void put_ixia(struct mk_frame *frame, struct mk_time time)
{
	mk_ixia(frame, time, 6);
}
static void put_gigamon(struct mk_frame *frame, struct mk_time time)
{
	mk_gigamon_trailer(frame, time, 0x010203);
}
static void put_gigamon_header(struct mk_frame *frame, struct mk_time time)
{
	mk_gigamon_header(frame, time, 0x010203);
}
static void put_avsp_64(struct mk_frame *frame, struct mk_time time)
{
	mk_avsp(frame, time, 0x0111);
}
static void put_avsp_48(struct mk_frame *frame, struct mk_time time)
{
	mk_avsp(frame, time, 0x0020);
}
static void put_vss_0(struct mk_frame *frame, struct mk_time time)
{
	mk_vss(frame, time, 3, 0, 0);
}
static void put_vss_1(struct mk_frame *frame, struct mk_time time)
{
	mk_vss(frame, time, 2, 1, 9);
}
static void put_vss_2(struct mk_frame *frame, struct mk_time time)
{
	mk_vss(frame, time, 1, 2, 0x0912);
}
static void put_brcm(struct mk_frame *frame, struct mk_time time)
{
	mk_brcm(frame, time, 0x070605);
}

static void put_lda(struct mk_frame *frame, struct mk_time time)
{
	mk_lda(frame, time, &(struct mk_lda){.device = 5, .port = 12, .speed = 1});
}
static void put_lda_be(struct mk_frame *frame, struct mk_time time)
{
	mk_lda(frame, time, &(struct mk_lda){.device = 5, .port = 12, .speed = 1, .dissected = true});
}
static void put_lda_kept(struct mk_frame *frame, struct mk_time time)
{
	mk_fcs(frame, false);
	put_lda(frame, time);
}

static const struct layout layouts[] = {
	{"LDA Neo as described", STAMP_LDA_LE, put_lda, 1, false, false, false, 40, 12},
	{"LDA Neo as described, new FCS", STAMP_LDA_LE, put_lda, 1, true, false, false, 2, 12},
	{"LDA Neo as described, FCS kept", STAMP_LDA_LE, put_lda_kept, 1, false, false, false, 40, 12},
	{"LDA Neo as dissected", STAMP_LDA_BE, put_lda_be, 1, false, false, false, 40, 12},
	{"LDA Neo as dissected, new FCS", STAMP_LDA_BE, put_lda_be, 1, true, false, false, 2, 12},
	{"MetaWatch", STAMP_METAWATCH, put_metawatch, 1000, false, false, false, 40, 46},
	{"MetaWatch, new FCS", STAMP_METAWATCH, put_metawatch, 1000, true, false, false, 40, 46},
	{"MetaWatch, padded frame", STAMP_METAWATCH, put_metawatch, 1000, false, false, false, 2, 46},
	{"MetaWatch with extensions", STAMP_METAWATCH, put_metawatch_ps, 1, true, false, false, 40, 46},
	{"cPacket", STAMP_CPACKET, put_metawatch, 1000, false, true, false, 40, 46},
	{"HPT", STAMP_HPT, put_hpt, 1, false, false, false, 40, 47},
	{"HPT, new FCS", STAMP_HPT, put_hpt, 1, true, false, false, 40, 47},
	{"HPT, padded frame", STAMP_HPT, put_hpt, 1, true, false, false, 3, 47},
	{"Ixia", STAMP_IXIA, put_ixia, 1000, false, false, false, 40, 0},
	{"Ixia, new FCS", STAMP_IXIA, put_ixia, 1000, true, false, false, 1, 0},
	{"Gigamon trailer", STAMP_GIGAMON, put_gigamon, 1000, true, false, false, 40, 0x010203},
	{"Gigamon header", STAMP_GIGAMON, put_gigamon_header, 1000, false, false, true, 40, 0x010203},
	{"0xD28B, 64 bits", STAMP_AVSP, put_avsp_64, 1000, false, false, true, 40, 0},
	{"0xD28B, 48 bits", STAMP_AVSP, put_avsp_48, 1000, false, false, true, 40, 0},
	{"48 bits in the source MAC", STAMP_AVSP_MAC, mk_avsp_mac, 1000, false, true, true, 40, 0},
	{"VSS without port", STAMP_VSS, put_vss_0, 1000, true, false, false, 40, 0},
	{"VSS, port of 1 byte", STAMP_VSS, put_vss_1, 1000, false, false, false, 40, 9},
	{"VSS, port of 2 bytes", STAMP_VSS, put_vss_2, 1000, true, false, false, 2, 0x0912},
	{"TTAG", STAMP_TTAG, mk_ttag, 1000, false, false, true, 40, 0},
	{"TTAG trailer", STAMP_TTAG_TRAILER, mk_ttag_trailer, 1000, false, true, false, 40, 0},
	{"Broadcom", STAMP_BRCM, put_brcm, 1000, false, true, false, 40, 0x070605},
};

static const struct mk_ends ends = {1, 2, 40000, 7000, 5};

static void base_frame(struct mk_frame *frame, size_t payload, unsigned i)
{
	uint8_t bytes[64] = {(uint8_t)i, (uint8_t)(i * 7), 3};
	mk_udp(frame, &ends, bytes, payload);
}

/* The stamp lies 150 ms before the capture's own clock, which is wrong by `wrong` seconds. */
static void make_file(const struct layout *layout, int64_t wrong, struct mk_file *file)
{
	mk_pcap(file, 0xa1b23c4d, false, LINK_ETHERNET);
	for (unsigned i = 0; i < FRAMES; i++) {
		struct mk_frame frame;
		struct mk_time time = mk_later(start, INTERVAL_PS * i),
			       captured = mk_later(time, INT64_C(150000000000));
		captured.seconds += wrong;
		base_frame(&frame, layout->payload, i);
		if (!layout->inside)
			mk_pad(&frame, 60);
		layout->put(&frame, time);
		if (layout->fcs)
			mk_fcs(&frame, false);
		mk_record(file, captured, &frame, frame.count, 0);
	}
}

static unsigned right_times(struct opened *opened, const struct layout *layout)
{
	struct feed_packet packet;
	unsigned right = 0;
	for (unsigned i = 0; feed_next(opened->feed, &packet, &opened->err) > 0; i++) {
		struct mk_time want = mk_later(start, INTERVAL_PS * i);
		want.ps -= want.ps % layout->resolution_ps;
		right += packet.has_stamp && same_time(packet.time, want) && packet.stamp.port == layout->port;
	}
	return right;
}

static void test_layouts(void)
{
	for (size_t i = 0; i < sizeof(layouts) / sizeof(*layouts); i++) {
		const struct layout *layout = &layouts[i];
		struct mk_file file = {0};
		struct opened opened;
		make_file(layout, 0, &file);
		bool fine = open_feed(&opened, &file, layout->named ? layout->format : STAMP_FORMAT_COUNT);
		OK(fine && feed_verdict(opened.feed)->format == layout->format, "%s: %s", layout->name,
			fine ? feed_verdict(opened.feed)->words : opened.err.text);
		IS_I64(fine ? right_times(&opened, layout) : 0, FRAMES, "all times are exact, the port too");
		opened_end(&opened);
		mk_file_end(&file);
	}
}

/* A capture host whose clock is wrong must not hide stamps that prove themselves. */
static void test_wrong_clock(void)
{
	for (size_t i = 0; i < sizeof(layouts) / sizeof(*layouts); i++) {
		const struct layout *layout = &layouts[i];
		struct mk_file file = {0};
		struct opened opened;
		if (layout->named)
			continue;
		make_file(layout, 37, &file);
		bool fine = open_feed(&opened, &file, STAMP_FORMAT_COUNT);
		OK(fine && feed_verdict(opened.feed)->format == layout->format &&
				feed_verdict(opened.feed)->offset_seconds == -37,
			"%s, capture clock 37 s off: %s", layout->name,
			fine ? feed_verdict(opened.feed)->words : opened.err.text);
		opened_end(&opened);
		mk_file_end(&file);
	}
}

static void test_nothing(void)
{
	/* 0: plain, 1: check sequence, 2: padding, 3: padding and check sequence, 4: eight random bytes behind */
	for (unsigned kind = 0; kind < 5; kind++) {
		struct mk_file file = {0};
		struct opened opened;
		uint64_t state = 88172645463325252u;
		mk_pcap(&file, 0xa1b23c4d, false, LINK_ETHERNET);
		for (unsigned i = 0; i < FRAMES * 2; i++) {
			struct mk_frame frame;
			base_frame(&frame, kind == 2 || kind == 3 ? 2 : 50, i);
			mk_pad(&frame, kind == 2 || kind == 3 ? 60 : 0);
			state ^= state << 13;
			state ^= state >> 7;
			state ^= state << 17;
			if (kind == 4)
				mk_put_u64(&frame, state);
			if (kind == 1 || kind == 3)
				mk_fcs(&frame, false);
			mk_record(&file, mk_later(start, INTERVAL_PS * i), &frame, frame.count, 0);
		}
		bool fine = open_feed(&opened, &file, STAMP_FORMAT_COUNT);
		OK(fine && feed_verdict(opened.feed)->format == STAMP_NONE &&
				!feed_verdict(opened.feed)->undecodable_ticks,
			"no stamps, kind %u: none found", kind);
		opened_end(&opened);
		mk_file_end(&file);
	}
}

static void test_contradiction(void)
{
	struct mk_file file = {0};
	struct opened opened;
	mk_pcap(&file, 0xa1b23c4d, false, LINK_ETHERNET);
	for (unsigned i = 0; i < FRAMES; i++) {
		struct mk_frame frame;
		base_frame(&frame, 40, i);
		mk_metawatch(&frame, mk_later(start, INTERVAL_PS * i), 1, 1, 1, NULL, 0);
		frame.bytes[50] ^=
			i % 4 ? 0
			      : 0xff; /* the frame under a quarter of the trailers is not the one they were made for */
		mk_record(&file, mk_later(start, INTERVAL_PS * i), &frame, frame.count, 0);
	}
	OK(open_feed(&opened, &file, STAMP_FORMAT_COUNT) && feed_verdict(opened.feed)->format == STAMP_NONE,
		"checksums that disagree in a quarter of the frames: not taken");
	opened_end(&opened);
	OK(open_feed(&opened, &file, STAMP_METAWATCH) && feed_verdict(opened.feed)->format == STAMP_METAWATCH,
		"but taken when named");
	struct feed_packet packet;
	while (feed_next(opened.feed, &packet, &opened.err) > 0)
		;
	IS_I64(feed_seen(opened.feed)->bad_fcs, FRAMES / 4, "with the damaged ones marked");
	opened_end(&opened);
	OK(!open_feed(&opened, &file, STAMP_IXIA) && strstr(opened.err.text, "no frame carries"),
		"a named format that is not there: %s", opened.err.text);
	opened_end(&opened);
	mk_file_end(&file);
}

static void test_flags(void)
{
	struct mk_file file = {0};
	struct opened opened;
	struct feed_packet packet;
	unsigned given = 0, timed = 0;
	mk_pcap(&file, 0xa1b23c4d, false, LINK_ETHERNET);
	for (unsigned i = 0; i < 40; i++) {
		struct mk_frame frame;
		unsigned flags = i == 3 ? 1 | 4 : i == 5 ? 1 | 16 : 1;
		base_frame(&frame, 40, i);
		mk_metawatch(&frame, mk_later(start, INTERVAL_PS * i), flags, 1, 1, NULL, 0);
		mk_record(&file, mk_later(start, INTERVAL_PS * i), &frame, i == 7 ? 70 : frame.count, frame.count);
	}
	OK(open_feed(&opened, &file, STAMP_FORMAT_COUNT), "flags");
	while (feed_next(opened.feed, &packet, &opened.err) > 0) {
		given++;
		timed += packet.timed;
	}
	IS_I64(given, 39, "a frame that the switch marks as a copy is passed over");
	IS_I64(timed, 37, "a stamp of a degraded clock is no time, nor has a cut frame one");
	OK(feed_seen(opened.feed)->duplicates == 1 && feed_seen(opened.feed)->degraded == 1 &&
			feed_seen(opened.feed)->without_stamp == 1,
		"all are counted");
	opened_end(&opened);
	mk_file_end(&file);
}

static void test_expcap(void)
{
	struct mk_file file = {0};
	struct opened opened;
	struct feed_packet packet;
	unsigned right = 0;
	mk_pcap(&file, 0xa1b23c4d, false, LINK_ETHERNET);
	for (unsigned i = 0; i < FRAMES; i++) {
		struct mk_frame frame;
		struct mk_time time = mk_later(start, INTERVAL_PS * i);
		base_frame(&frame, 40, i);
		size_t length = frame.count;
		mk_expcap(&frame, time, i == 2 ? 0x20 : 0, 4, 1, i == 2 ? 17 : 0);
		mk_record(&file, time, &frame, frame.count, length);
		if (i % 8 == 7)
			mk_record_raw(&file, 0, 0, 32, 0, frame.bytes); /* filling of a block */
	}
	OK(open_feed(&opened, &file, STAMP_FORMAT_COUNT) && feed_verdict(opened.feed)->format == STAMP_EXPCAP,
		"exact-capture");
	for (unsigned i = 0; feed_next(opened.feed, &packet, &opened.err) > 0; i++)
		right += same_time(packet.time, mk_later(start, INTERVAL_PS * i)) && packet.stamp.device == 4 &&
			 packet.stamp.port == 1;
	IS_I64(right, FRAMES, "picoseconds, device and port");
	IS_I64(feed_seen(opened.feed)->lost, 17, "losses of the card surface");
	IS_I64(feed_about(opened.feed)->padding_records, 3, "padding records are none of the packets");
	opened_end(&opened);
	mk_file_end(&file);
}

static void test_rollover(void)
{
	/* R/R2: the upper seconds are read 4 s later than the lower two bits */
	struct mk_file file = {0};
	struct opened opened;
	struct feed_packet packet;
	unsigned right = 0;
	mk_pcap(&file, 0xa1b23c4d, false, LINK_ETHERNET);
	for (unsigned i = 0; i < FRAMES; i++) {
		struct mk_frame frame;
		struct mk_time time = mk_later(start, INTERVAL_PS * i), told = time;
		told.seconds += i % 6 == 5 ? 4 : 0;
		base_frame(&frame, 40, i);
		mk_avsp(&frame, told, 0x0010);
		mk_record(&file, mk_later(time, INT64_C(1000000000)), &frame, frame.count, 0);
	}
	OK(open_feed(&opened, &file, STAMP_FORMAT_COUNT) && feed_verdict(opened.feed)->format == STAMP_AVSP,
		"seconds that jump by 4");
	for (unsigned i = 0; feed_next(opened.feed, &packet, &opened.err) > 0; i++) {
		struct mk_time want = mk_later(start, INTERVAL_PS * i);
		want.ps -= want.ps % 1000;
		right += same_time(packet.time, want) && packet.stamp.scale == STAMP_SCALE_TAI;
	}
	IS_I64(right, FRAMES, "are repaired");
	IS_I64(feed_seen(opened.feed)->repaired, 4, "and counted");
	opened_end(&opened);
	mk_file_end(&file);
}

static void test_leap(void)
{
	/* TAI goes on where UTC repeats a second: the stamps' differences are right, the capture's are not */
	struct mk_file file = {0};
	struct opened opened;
	struct feed_packet packet;
	const struct mk_time before = {1483228798, 0};
	unsigned right = 0;
	mk_pcap(&file, 0xa1b23c4d, false, LINK_ETHERNET);
	for (unsigned i = 0; i < FRAMES; i++) {
		struct mk_frame frame;
		struct mk_time utc = mk_later(before, INTERVAL_PS * i), tai = utc;
		tai.seconds += 36;
		if (utc.seconds >= 1483228800)
			utc.seconds -= 1; /* the leap second: 23:59:60 is told as 23:59:59 once more */
		base_frame(&frame, 40, i);
		mk_avsp(&frame, tai, 0x0011);
		mk_record(&file, utc, &frame, frame.count, 0);
	}
	OK(open_feed(&opened, &file, STAMP_FORMAT_COUNT) && feed_verdict(opened.feed)->format == STAMP_AVSP,
		"over a leap second");
	OK(feed_verdict(opened.feed)->offset_seconds == 37, "the distance found is TAI's");
	OK(feed_survey(opened.feed)->backwards.count == 1, "the capture's clock runs backwards once");
	for (unsigned i = 0; feed_next(opened.feed, &packet, &opened.err) > 0; i++) {
		struct mk_time want = mk_later(before, INTERVAL_PS * i);
		want.seconds += 36;
		want.ps -= want.ps % 1000;
		right += same_time(packet.time, want);
	}
	IS_I64(right, FRAMES, "the stamps do not");
	opened_end(&opened);
	mk_file_end(&file);
}

static void test_wraps(void)
{
	/* TTAG: 48 bits of ns wrap inside the file; also over the border of the 16-bit seconds of 0xD28B */
	static const uint64_t wrap = UINT64_C(1) << 48;
	uint64_t border_ns = (UINT64_C(1700000000) * 1000000000 / wrap + 1) * wrap;
	for (int kind = 0; kind < 2; kind++) {
		struct mk_file file = {0};
		struct opened opened;
		struct feed_packet packet;
		unsigned right = 0;
		struct mk_time from = {(int64_t)(border_ns / 1000000000) - 3, 500000000000};
		if (kind == 1)
			from = (struct mk_time){(1700000000 / 65536 + 1) * 65536 - 3, 0};
		mk_pcap(&file, 0xa1b23c4d, false, LINK_ETHERNET);
		for (unsigned i = 0; i < FRAMES; i++) {
			struct mk_frame frame;
			struct mk_time time = mk_later(from, INTERVAL_PS * i);
			base_frame(&frame, 40, i);
			if (kind == 0)
				mk_ttag(&frame, time);
			else
				mk_avsp(&frame, time, 0x0121);
			mk_record(&file, mk_later(time, INT64_C(2000000000)), &frame, frame.count, 0);
		}
		OK(open_feed(&opened, &file, STAMP_FORMAT_COUNT) &&
				feed_verdict(opened.feed)->format == (kind ? STAMP_AVSP : STAMP_TTAG),
			kind ? "16 bits of seconds" : "48 bits of nanoseconds");
		for (unsigned i = 0; feed_next(opened.feed, &packet, &opened.err) > 0; i++) {
			struct mk_time want = mk_later(from, INTERVAL_PS * i);
			want.ps -= want.ps % 1000;
			right += same_time(packet.time, want);
		}
		IS_I64(right, FRAMES, "wrap inside the file");
		opened_end(&opened);
		mk_file_end(&file);
	}
}

static void test_erspan(void)
{
	static const struct {
		const char *name;
		unsigned granularity;
		int platform;
		int64_t unit_ns;
	} kinds[] = {
		{"100 us, 32 bits", 0, -1, 100000},
		{"100 ns, 32 bits", 1, -1, 100},
		{"100 ns, 64 bits", 1, 3, 100},
		{"ns of a second", 2, -1, 1},
		{"ns with seconds", 2, 5, 1},
		{"ns, 64 bits, index", 3, 7, 1},
	};
	for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++) {
		struct mk_file file = {0};
		struct opened opened;
		struct feed_packet packet;
		unsigned right = 0;
		mk_pcap(&file, 0xa1b23c4d, false, LINK_ETHERNET);
		for (unsigned i = 0; i < FRAMES; i++) {
			struct mk_frame frame;
			struct mk_time time = mk_later(start, INTERVAL_PS * i);
			uint64_t units = ((uint64_t)time.seconds * 1000000000 + (uint64_t)(time.ps / 1000)) /
					 (uint64_t)kinds[k].unit_ns;
			uint32_t low = (uint32_t)units, high = (uint32_t)(units >> 32);
			if (kinds[k].granularity == 2) {
				low = (uint32_t)(time.ps / 1000);
				high = (uint32_t)time.seconds;
			}
			base_frame(&frame, 40, i);
			mk_erspan3(&frame, kinds[k].granularity, kinds[k].platform, low, high);
			mk_record(&file, mk_later(time, INT64_C(150000000)), &frame, frame.count, 0);
		}
		bool fine = open_feed(&opened, &file, STAMP_FORMAT_COUNT);
		OK(fine && feed_verdict(opened.feed)->format == STAMP_ERSPAN3, "ERSPAN III, %s: %s", kinds[k].name,
			fine ? feed_verdict(opened.feed)->words : opened.err.text);
		for (unsigned i = 0; fine && feed_next(opened.feed, &packet, &opened.err) > 0; i++) {
			struct mk_time want = mk_later(start, INTERVAL_PS * i);
			want.ps -= want.ps % (kinds[k].unit_ns * 1000);
			right += same_time(packet.time, want) && packet.layers.target_port == 7000 &&
				 packet.stamp.device == (kinds[k].platform == 5 ? 0 : 5);
		}
		IS_I64(right, FRAMES, "exact to its step, and the packet inside is seen");
		opened_end(&opened);
		mk_file_end(&file);
	}
}

int main(void)
{
	test_layouts();
	test_wrong_clock();
	test_nothing();
	test_contradiction();
	test_flags();
	test_expcap();
	test_rollover();
	test_leap();
	test_wraps();
	test_erspan();
	return tap_done();
}
