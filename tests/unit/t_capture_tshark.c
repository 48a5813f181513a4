/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Somebody else's reading of the same bytes: times and lengths of every capture in
 * tests/data, and the hardware stamps that tshark can decode, of files made here.
 */
#include <dirent.h>
#include <unistd.h>

#include "capture_test.h"
#include "import/capture/marker.h"

static char folder[] = "/tmp/tare-tshark-XXXXXX";

static bool write_file(const char *name, const struct mk_file *file)
{
	FILE *out = fopen(name, "wb");
	bool fine = out && fwrite(file->bytes, 1, file->count, out) == file->count;
	return out && fclose(out) == 0 && fine;
}

/* A stream of tab-separated fields, one line a packet. */
static FILE *tshark(const char *options, const char *path, const char *fields)
{
	char command[4096];
	snprintf(command, sizeof(command), "TZ=UTC tshark -r '%s' %s -T fields %s 2>/dev/null", path, options, fields);
	return popen(command, "r");
}

/* tshark also lists blocks that are no packets; those have no time. */
static bool next_timed(FILE *stream, char *line, int room)
{
	while (fgets(line, room, stream)) {
		if (line[0] != '\t')
			return true;
	}
	return false;
}

static void compare_file(const char *path)
{
	struct mk_file file = {0};
	struct opened opened;
	struct capture_frame got;
	static uint8_t bytes[1 << 20];
	char line[512];
	int64_t frames = 0, other = 0;
	FILE *in = fopen(path, "rb");
	if (!in)
		return;
	mk_raw(&file, bytes, fread(bytes, 1, sizeof(bytes), in));
	fclose(in);
	FILE *theirs = tshark("", path, "-e frame.time_epoch -e frame.cap_len -e frame.len");
	bool fine = open_frames(&opened, file.bytes, file.count, false);
	while (fine && capture_file_next(opened.file, &got, &opened.err) == 1) {
		long long seconds = 0, ns = 0, captured = 0, length = 0;
		/* ours without a time are theirs with an empty one; impossible fractions they carry over */
		if (got.flags & CAPTURE_NO_TIME)
			continue;
		frames++;
		if (!next_timed(theirs, line, sizeof(line))) {
			other++;
			continue;
		}
		sscanf(line, "%lld.%9lld %lld %lld", &seconds, &ns, &captured, &length);
		bool same = seconds == got.time.seconds && ns == got.time.picoseconds / 1000 &&
			    captured == got.captured && length == got.length;
		if (same || got.flags & CAPTURE_BAD_FRACTION)
			continue;
		printf("# packet %" PRIu64 ": %" PRId64 ".%09" PRId64 " %u %u, tshark %s", got.number, got.time.seconds,
			got.time.picoseconds / 1000, got.captured, got.length, line);
		other++;
	}
	while (next_timed(theirs, line, sizeof(line)))
		other++;
	pclose(theirs);
	OK(fine && other == 0, "%s: %" PRId64 " packets as tshark has them", strrchr(path, '/') + 1, frames);
	opened_end(&opened);
	mk_file_end(&file);
}

static void compare_folder(const char *name)
{
	char path[1024];
	snprintf(path, sizeof(path), "%s/captures/%s", getenv("TARE_TEST_DATA"), name);
	DIR *directory = opendir(path);
	struct dirent *entry;
	while (directory && (entry = readdir(directory)) != NULL) {
		char file[1500];
		/* a run of tshark takes a second; that both byte orders are alike is tested elsewhere */
		if (entry->d_name[0] == '.' || strstr(entry->d_name, "-be."))
			continue;
		snprintf(file, sizeof(file), "%s/%s", path, entry->d_name);
		compare_file(file);
	}
	if (directory)
		closedir(directory);
}

struct oracle {
	const char *name, *options, *field;
	void (*put)(struct mk_frame *frame, struct mk_time time);
	bool fcs, inside;
	enum stamp_format format;
};

static void put_hpt(struct mk_frame *frame, struct mk_time time)
{
	mk_hpt(frame, time, 3, 47);
}
static void put_metawatch(struct mk_frame *frame, struct mk_time time)
{
	mk_metawatch(frame, time, 1, 19484, 46, NULL, 0);
}
static void put_extended(struct mk_frame *frame, struct mk_time time)
{
	static const uint32_t words[] = {0x00002a00 | 0x20, 0x12345601};
	mk_metawatch(frame, time, 3, 19484, 46, words, 2);
}
static void put_ixia(struct mk_frame *frame, struct mk_time time)
{
	mk_ixia(frame, time, 6);
}
static void put_vss(struct mk_frame *frame, struct mk_time time)
{
	mk_vss(frame, time, 3, 1, 9);
}
static void put_gigamon(struct mk_frame *frame, struct mk_time time)
{
	mk_gigamon_header(frame, time, 0x010203);
}

static const struct oracle oracles[] = {
	{"HPT", "--enable-heuristic exablaze_eth", "exablaze.timestamp", put_hpt, true, false, STAMP_HPT},
	{"MetaWatch", "--enable-heuristic metamako_eth", "metamako.time", put_metawatch, false, false, STAMP_METAWATCH},
	{"MetaWatch with extensions", "--enable-heuristic metamako_eth", "metamako.time", put_extended, false, false,
		STAMP_METAWATCH},
	{"Ixia", "", "ixiatrailer.timestamp", put_ixia, false, false, STAMP_IXIA},
	{"VSS", "", "vssmonitoring.time", put_vss, true, false, STAMP_VSS},
	{"Gigamon header", "", "gmhdr.timestamp", put_gigamon, false, true, STAMP_GIGAMON},
};

/* "May 29, 2018 00:09:49.170404442 UTC": the time of the day in ns. */
static int64_t day_ns(const char *text)
{
	long long hours, minutes, seconds, ns;
	const char *colon = strchr(text, ':');
	if (!colon || colon - text < 2 ||
		sscanf(colon - 2, "%2lld:%2lld:%2lld.%9lld", &hours, &minutes, &seconds, &ns) != 4)
		return -1;
	return ((hours * 60 + minutes) * 60 + seconds) * 1000000000 + ns;
}

static void compare_stamps(const struct oracle *oracle)
{
	enum { FRAMES = 24 };
	static const struct mk_time start = {1700000000, 123456789000};
	static const struct mk_ends ends = {1, 2, 40000, 7000, 5};
	struct mk_file file = {0};
	struct opened opened;
	struct feed_packet packet;
	char path[200], fields[200], line[512];
	mk_pcap(&file, 0xa1b23c4d, false, LINK_ETHERNET);
	for (unsigned i = 0; i < FRAMES; i++) {
		struct mk_frame frame;
		struct mk_time time = mk_later(start, i * INT64_C(250000123000));
		uint8_t payload[40] = {(uint8_t)i};
		mk_udp(&frame, &ends, payload, sizeof(payload));
		oracle->put(&frame, time);
		if (oracle->fcs)
			mk_fcs(&frame, false);
		mk_record(&file, time, &frame, frame.count, 0);
	}
	snprintf(path, sizeof(path), "%s/stamps.pcap", folder);
	snprintf(fields, sizeof(fields), "-e %s", oracle->field);
	bool fine = write_file(path, &file) && open_feed(&opened, &file, STAMP_FORMAT_COUNT) &&
		    feed_verdict(opened.feed)->format == oracle->format;
	FILE *theirs = tshark(oracle->options, path, fields);
	unsigned same = 0;
	while (fine && feed_next(opened.feed, &packet, &opened.err) == 1 && fgets(line, sizeof(line), theirs)) {
		int64_t ours = packet.time.seconds % 86400 * 1000000000 + packet.time.picoseconds / 1000,
			other = day_ns(line);
		if (ours == other)
			same++;
		else
			printf("# %" PRId64 " ns of the day, tshark %s", ours, line);
	}
	pclose(theirs);
	IS_I64(same, FRAMES, oracle->name);
	unlink(path);
	opened_end(&opened);
	mk_file_end(&file);
}

/* Datagrams in fragments, IPv4 and IPv6, out of order: the payloads that tshark puts together. */
static void compare_fragments(void)
{
	enum { DATAGRAMS = 12, PAYLOAD = 300, PART = 104 };
	static const struct mk_time start = {1700000000, 0};
	static const struct mk_ends ends = {1, 2, 40000, 7000, 5};
	struct mk_file file = {0};
	struct opened opened;
	struct feed_packet packet;
	char path[200], line[4096], ours[4096];
	mk_pcap(&file, 0xa1b23c4d, false, LINK_ETHERNET);
	for (unsigned i = 0; i < DATAGRAMS; i++) {
		struct mk_frame whole, part;
		uint8_t payload[PAYLOAD];
		for (unsigned k = 0; k < PAYLOAD; k++)
			payload[k] = (uint8_t)(k * 7 + i);
		if (i % 2)
			mk_udp6(&whole, &ends, payload, sizeof(payload));
		else
			mk_udp(&whole, &ends, payload, sizeof(payload));
		for (unsigned k = 0; k < 3; k++) {
			mk_fragment(&part, &whole, 50 + i, (size_t)((k + i) % 3) * PART, PART);
			mk_record(&file, mk_later(start, (i * 10 + k) * INT64_C(1000000)), &part, part.count, 0);
		}
	}
	snprintf(path, sizeof(path), "%s/fragments.pcap", folder);
	bool fine = write_file(path, &file) && open_feed(&opened, &file, STAMP_NONE);
	FILE *theirs = tshark("-o ip.defragment:TRUE -o ipv6.defragment:TRUE -Y udp", path, "-e data.data");
	unsigned same = 0;
	while (fine && feed_next(opened.feed, &packet, &opened.err) == 1 && fgets(line, sizeof(line), theirs)) {
		for (uint32_t k = 0; k < packet.layers.payload_captured; k++)
			snprintf(ours + 2 * (size_t)k, 3, "%02x", packet.layers.payload[k]);
		line[strcspn(line, "\n")] = '\0';
		if (strcmp(ours, line) == 0)
			same++;
		else
			printf("# %s\n# tshark %s\n", ours, line);
	}
	pclose(theirs);
	IS_I64(same, DATAGRAMS, "datagrams put together as tshark does");
	unlink(path);
	opened_end(&opened);
	mk_file_end(&file);
}

/* Marker packets, whose dissector tshark has. */
static void compare_markers(void)
{
	enum { MARKERS = 8 };
	struct mk_file file = {0};
	struct opened opened;
	struct capture_frame frame;
	char path[200], line[512];
	mk_pcap(&file, 0xa1b23c4d, false, LINK_ETHERNET);
	for (unsigned i = 0; i < MARKERS; i++) {
		struct mk_frame packet;
		const struct mk_marker marker = {.ticks = UINT64_C(0xfedcba987654) + i * UINT64_C(0x123456789ab),
			.utc = {1700000000 + i, INT64_C(123456000000) + i},
			.sequence = 70000 + i,
			.from = 9,
			.session = (uint8_t)(i + 3),
			.granularity = 4,
			.utc_offset = 37};
		mk_marker(&packet, &marker);
		mk_record(&file, marker.utc, &packet, packet.count, 0);
	}
	snprintf(path, sizeof(path), "%s/markers.pcap", folder);
	bool fine = write_file(path, &file) && open_frames(&opened, file.bytes, file.count, false);
	FILE *theirs = tshark("-d udp.port==8880,erspan-marker", path,
		"-e erspan-marker.ssid -e erspan-marker.granularity -e erspan-marker.utc_offset -e "
		"erspan-marker.timestamp "
		"-e erspan-marker.utc_sec -e erspan-marker.utc_usec -e erspan-marker.sequence_number");
	unsigned same = 0;
	while (fine && capture_file_next(opened.file, &frame, &opened.err) == 1 && fgets(line, sizeof(line), theirs)) {
		struct layers layers;
		struct marker marker = {0};
		char ours[512];
		layers_of(&frame, &layers);
		fine = marker_read(&frame, &layers, &marker);
		snprintf(ours, sizeof(ours), "%u\t%u\t%u\t%" PRIu64 "\t%" PRId64 "\t%" PRId64 "\t%u\n", marker.session,
			marker.granularity, marker.utc_offset, marker.ticks, marker.utc_us / 1000000,
			marker.utc_us % 1000000, marker.sequence);
		if (strcmp(ours, line) == 0)
			same++;
		else
			printf("# %s# tshark %s", ours, line);
	}
	pclose(theirs);
	IS_I64(same, MARKERS, "marker packets");
	unlink(path);
	opened_end(&opened);
	mk_file_end(&file);
}

int main(void)
{
	if (system("tshark -v >/dev/null 2>&1") != 0) {
		SKIP(1, "no tshark here");
		return tap_done();
	}
	if (!mkdtemp(folder))
		return 1;
	compare_folder("tcpdump");
	compare_folder("pcapng-test-generator");
	compare_folder("zeek");
	compare_folder("pcapplusplus");
	compare_folder("pcap-parser");
	for (size_t i = 0; i < sizeof(oracles) / sizeof(*oracles); i++)
		compare_stamps(&oracles[i]);
	compare_fragments();
	compare_markers();
	rmdir(folder);
	return tap_done();
}
