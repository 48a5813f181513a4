/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Marker packets that anchor the 32-bit times of ERSPAN III: exact across wraps of 32
 * and of 48 bits, on both sides of a marker, whatever their UTC says; and those that
 * cannot be used.
 */
#include "capture_test.h"

static const struct mk_time base = {1700000000, 0};

/* A switch whose counter stands at `first` at `base`, with markers every so often. */
struct scene {
	uint64_t first;
	int64_t unit_ps;      /* of its counter */
	unsigned granularity; /* as the headers say */
	int64_t frames, frame_gap_ps;
	int64_t marker_from_ps, marker_gap_ps, markers;
	int64_t lost_from, lost_to; /* markers that are not in the capture */
	bool two_switches, reset, one_wrong, one_cut;
};

static uint64_t ticks_at(const struct scene *scene, int64_t ps)
{
	return scene->first + (uint64_t)(ps / scene->unit_ps);
}

static void put_marker(struct mk_file *file, const struct scene *scene, int64_t i, int64_t at_ps)
{
	static const int64_t error_us[] = {0, 3, -2, 1, -1};
	struct mk_frame frame;
	struct mk_marker marker = {.ticks = ticks_at(scene, at_ps),
		.utc = mk_later(base, at_ps + error_us[i % 5] * 1000000),
		.sequence = (uint32_t)(UINT32_MAX - 1 + (uint64_t)i),
		.from = (uint8_t)(scene->two_switches && i % 2 ? 8 : 9),
		.utc_offset = 37};
	if (scene->reset && i > scene->markers / 2)
		marker.ticks -= UINT64_C(1000000) * 1000000;
	mk_marker(&frame, &marker);
	if (scene->one_wrong && i == 2)
		frame.bytes[frame.count - 1] ^= 1; /* its signature */
	size_t captured = scene->one_cut && i == 3 ? frame.count - 1 : frame.count;
	mk_record(file, mk_later(base, at_ps + INT64_C(10000000)), &frame, captured, frame.count);
}

/* Frames and markers in the order of time; captured some ms later than they were stamped, by turns. */
static void make(struct mk_file *file, const struct scene *scene)
{
	int64_t next = 0;
	mk_pcap(file, 0xa1b23c4d, false, LINK_ETHERNET);
	for (int64_t i = 0; i < scene->frames; i++) {
		struct mk_frame frame;
		int64_t at_ps = i * scene->frame_gap_ps;
		const struct mk_ends ends = {1, 2, 40000, 7000, (uint16_t)i};
		uint8_t payload[40] = {(uint8_t)i};
		for (; next < scene->markers && scene->marker_from_ps + next * scene->marker_gap_ps <= at_ps; next++) {
			if (next < scene->lost_from || next >= scene->lost_to)
				put_marker(file, scene, next, scene->marker_from_ps + next * scene->marker_gap_ps);
		}
		mk_udp(&frame, &ends, payload, sizeof(payload));
		mk_erspan3(&frame, scene->granularity, -1, (uint32_t)ticks_at(scene, at_ps), 0);
		mk_record(file, mk_later(base, at_ps + INT64_C(1000000000) * (1 + i % 3)), &frame, frame.count, 0);
	}
}

/* How many frames have exactly the time at which they were stamped; ret_without: how many have none. */
static int64_t right_times(struct opened *opened, const struct scene *scene, int64_t *ret_without)
{
	struct feed_packet packet;
	int64_t right = 0, i = 0;
	*ret_without = 0;
	while (feed_next(opened->feed, &packet, &opened->err) > 0) {
		if (!(packet.layers.has & LAYERS_TUNNEL))
			continue;
		int64_t at_ps = i++ * scene->frame_gap_ps;
		if (!packet.has_stamp)
			++*ret_without;
		else if (same_time(packet.time, mk_later(base, at_ps - at_ps % scene->unit_ps)))
			right++;
	}
	return right;
}

static bool open_scene(struct opened *opened, struct mk_file *file, const struct scene *scene)
{
	*file = (struct mk_file){0};
	make(file, scene);
	return open_feed(opened, file, STAMP_FORMAT_COUNT) && feed_verdict(opened->feed)->format == STAMP_ERSPAN3;
}

static const struct scene nanoseconds = {.first = UINT64_C(0xffffffffffff) - UINT64_C(5000000000), /* wraps after 5 s */
	.unit_ps = 1000,
	.granularity = 3,
	.frames = 100,
	.frame_gap_ps = INT64_C(250000123456),
	.marker_from_ps = INT64_C(1700000000000), /* the first frames come before the first marker */
	.marker_gap_ps = INT64_C(1000000000000),
	.markers = 22};

static void test_exact(void)
{
	struct opened opened;
	struct mk_file file;
	int64_t without;
	bool fine = open_scene(&opened, &file, &nanoseconds);
	OK(fine && strstr(feed_verdict(opened.feed)->words, "anchored by 22 markers, whose UTC is within 5 µs"),
		"found: %s", fine ? feed_verdict(opened.feed)->words : opened.err.text);
	IS_I64(fine ? right_times(&opened, &nanoseconds, &without) : 0, 100, "every frame to the nanosecond");
	opened_end(&opened);
	mk_file_end(&file);
	struct scene coarse = nanoseconds;
	coarse.unit_ps = 100000;
	coarse.granularity = 1;
	coarse.first = UINT64_C(0xffffffffffff) - 50000000;
	fine = open_scene(&opened, &file, &coarse);
	IS_I64(fine ? right_times(&opened, &coarse, &without) : 0, 100, "in steps of 100 ns");
	opened_end(&opened);
	mk_file_end(&file);
}

/* Counters half a wrap away from what the capture's clock would make of them: without markers they jump. */
static void test_phases(void)
{
	int64_t wrong = 0;
	for (uint64_t phase = 0; phase < 16; phase++) {
		struct opened opened;
		struct mk_file file;
		int64_t without;
		struct scene scene = nanoseconds;
		scene.first = UINT64_C(0x123400000000) + (phase << 28);
		bool fine = open_scene(&opened, &file, &scene);
		wrong += !fine || right_times(&opened, &scene, &without) != 100;
		opened_end(&opened);
		mk_file_end(&file);
	}
	IS_I64(wrong, 0, "whatever the counter's phase");
}

static void test_lost(void)
{
	struct opened opened;
	struct mk_file file;
	int64_t without = 0;
	struct scene scene = nanoseconds;
	scene.lost_from = 3;
	scene.lost_to = 6;
	bool fine = open_scene(&opened, &file, &scene);
	const char *words = fine ? feed_verdict(opened.feed)->words : opened.err.text;
	OK(fine && strstr(words, "19 markers") && strstr(words, "3 missing"), "lost markers are counted: %s", words);
	IS_I64(fine ? right_times(&opened, &scene, &without) : 0, 100, "and cost nothing within a wrap");
	opened_end(&opened);
	mk_file_end(&file);
	scene.lost_to = 15; /* none from 3.7 to 16.7 s: frames 32 (8.00 s) to 49 (12.25 s) are farther than 4.29 s from
			       either */
	fine = open_scene(&opened, &file, &scene);
	int64_t right = fine ? right_times(&opened, &scene, &without) : 0;
	OK(without == 18 && right == 82, "beyond it the time is unknown: %" PRId64 " right, %" PRId64 " without", right,
		without);
	opened_end(&opened);
	mk_file_end(&file);
}

static void test_single(void)
{
	struct opened opened;
	struct mk_file file;
	int64_t without = 0;
	struct scene scene = nanoseconds;
	scene.markers = 1;
	scene.frames = 22;
	bool fine = open_scene(&opened, &file, &scene);
	int64_t right = fine ? right_times(&opened, &scene, &without) : 0;
	OK(right == 22 && strstr(feed_verdict(opened.feed)->words, "anchored by 1 marker"),
		"one marker serves both sides");
	opened_end(&opened);
	mk_file_end(&file);
}

static void test_unusable(void)
{
	static const struct {
		const char *words;
		struct scene change;
	} cases[] = {
		{"markers of several switches", {.two_switches = true}},
		{"counter and UTC of the markers part", {.reset = true}},
		{"the markers count in other steps", {.granularity = 1}},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct opened opened;
		struct mk_file file;
		struct scene scene = nanoseconds;
		/* of the phase that serves without markers */
		scene.first = 1700000000 * UINT64_C(1000000000);
		scene.two_switches = cases[i].change.two_switches;
		scene.reset = cases[i].change.reset;
		if (cases[i].change.granularity)
			scene.granularity = cases[i].change.granularity;
		file = (struct mk_file){0};
		make(&file, &scene);
		bool fine = open_feed(&opened, &file, STAMP_ERSPAN3);
		const char *words = fine ? feed_verdict(opened.feed)->words : opened.err.text;
		OK(fine && strstr(words, cases[i].words), "said: %s", words);
		opened_end(&opened);
		mk_file_end(&file);
	}
	struct opened opened;
	struct mk_file file;
	int64_t without;
	struct scene scene = nanoseconds;
	scene.one_wrong = scene.one_cut = true;
	bool fine = open_scene(&opened, &file, &scene);
	const char *words = fine ? feed_verdict(opened.feed)->words : opened.err.text;
	OK(fine && strstr(words, "20 markers") && strstr(words, "2 missing"),
		"a wrong signature or a cut one is no marker: %s", words);
	IS_I64(fine ? right_times(&opened, &scene, &without) : 0, 100, "the others serve");
	opened_end(&opened);
	mk_file_end(&file);
}

int main(void)
{
	test_exact();
	test_phases();
	test_lost();
	test_single();
	test_unusable();
	return tap_done();
}
