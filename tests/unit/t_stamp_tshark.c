/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Somebody else's reading of our packets: a request and its reply in a capture, decoded by tshark. */
#include <stdlib.h>
#include <unistd.h>

#include "tap.h"
#include "stamp_request.h"
#include "wire/stamp.h"

enum { FRAME_HEAD = 14 + 20 + 8, PACKET_BYTES = STAMP_REQUEST_FULL_BYTES };

static void put_le32(FILE *file, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		fputc((int)(value >> 8 * i & 0xff), file);
}

/* One UDP datagram over IPv4 and Ethernet, checksums left 0. */
static void write_frame(FILE *file, const uint8_t *packet, uint16_t source, uint16_t destination)
{
	uint8_t head[FRAME_HEAD] = {
		[12] = 8, [14] = 0x45, [22] = 64, [23] = 17, [26] = 127, [29] = 1, [30] = 127, [33] = 1};
	put_u16(head + 16, 20 + 8 + PACKET_BYTES);
	put_u16(head + 34, source);
	put_u16(head + 36, destination);
	put_u16(head + 38, 8 + PACKET_BYTES);
	put_le32(file, 1700000000);
	put_le32(file, 0);
	put_le32(file, FRAME_HEAD + PACKET_BYTES);
	put_le32(file, FRAME_HEAD + PACKET_BYTES);
	fwrite(head, 1, sizeof(head), file);
	fwrite(packet, 1, PACKET_BYTES, file);
}

static bool write_capture(const char *path)
{
	FILE *file = fopen(path, "wb");
	if (!file)
		return false;
	static const uint32_t head[6] = {0xa1b2c3d4, 4 << 16 | 2, 0, 0, 65535, 1};
	for (size_t i = 0; i < 6; i++)
		put_le32(file, head[i]);

	uint8_t packet[PACKET_BYTES];
	request_fill(packet, sizeof(packet), 0xfeed, 0, 0x8a91);
	request_number(packet, 70000, stamp_ntp_of_real(1700000000250000000));
	write_frame(file, packet, 40000, STAMP_PORT);
	struct stamp_follow_up left = {69999, stamp_ntp_of_real(1700000001750000000), STAMP_METHOD_SOFTWARE};
	struct stamp_arrival in = {.has_tos = true,
		.tos = 0xb9,
		.info = {STAMP_SYNC_NTP, STAMP_METHOD_SOFTWARE, STAMP_SYNC_NTP, STAMP_METHOD_SOFTWARE},
		.follow_up = &left,
		.ttl = 63, .error_estimate = 0x0c85, .t2_ntp = stamp_ntp_of_real(1700000001500000000)};
	struct stamp_made made;
	stamp_reflect(packet, sizeof(packet), &in, packet, sizeof(packet), &made);
	stamp_reflect_sent(packet, &made, stamp_ntp_of_real(1700000002750000000), 1, 0);
	write_frame(file, packet, STAMP_PORT, 40000);
	return fclose(file) == 0;
}

enum { LINE_BYTES = 1024 };

struct expected {
	const char *field, *text;
	bool is_part; /* compared as a part of what is printed */
};

/* All fields of one frame as tshark prints them, a tab between; false when it could not be run. */
static bool decode(const char *path, int frame, const struct expected *want, size_t count, char line[LINE_BYTES])
{
	char command[2048];
	int used = snprintf(command, sizeof(command),
		"TZ=UTC tshark -n -r %s -d udp.port==862,twamp.test -Y frame.number==%d -T fields", path, frame);
	for (size_t i = 0; i < count; i++)
		used += snprintf(command + used, sizeof(command) - (size_t)used, " -e twamp.test.%s", want[i].field);
	snprintf(command + used, sizeof(command) - (size_t)used, " 2>/dev/null");
	FILE *pipe = popen(command, "r");
	if (!pipe)
		return false;
	bool read = fgets(line, LINE_BYTES, pipe) != NULL;
	line[strcspn(line, "\n")] = 0;
	return pclose(pipe) == 0 && read;
}

/* Flags are printed as True by some versions. */
static unsigned long number_of(const char *text)
{
	return *text == 'T' ? 1 : strtoul(text, NULL, 0);
}

/*
 * Numbers come in decimal or hex and times in one of two date formats, by tshark's
 * version: what is compared is the number, or the time of day within the text.
 */
static void check_frame(const char *path, int frame, const struct expected *want, size_t count)
{
	char line[LINE_BYTES] = "", *rest = line;
	OK(decode(path, frame, want, count, line), "tshark reads frame %d", frame);
	for (size_t i = 0; i < count; i++) {
		const char *got = strsep(&rest, "\t");
		bool same = got && (want[i].is_part ? strstr(got, want[i].text) != NULL
						    : number_of(got) == number_of(want[i].text));
		OK(same, "frame %d: %s", frame, want[i].field);
		if (!same)
			printf("# got '%s', expected '%s'\n", got ? got : "nothing", want[i].text);
	}
}

static void check(const char *path)
{
	static const struct expected request[] = {
		{"seq_number", "70000", false},
		{"timestamp", "22:13:20.250000000", true},
		{"error_estimate", "0x8a91", false},
		{"error_estimate.s", "1", false},
		{"error_estimate.z", "0", false},
		{"error_estimate.scale", "0xa", false},
		{"error_estimate.multiplier", "0x91", false},
		/* TLVs are padding to it: ours (1, 249, 250), then 3, 4 and 7 as asked */
		{"padding",
			"800100100000000000011170000000000000feed"
			"80f90024544152450100000000000000000000000000000000000000000000000000000000000000"
			"80fa002854415245010000000000000000000000000000000000000000000000000000000000000000000000"
			"8003000400000000"
			"8004000400000000"
			"8007001000000000000000000000000000000000",
			true},
	};
	static const struct expected reply[] = {
		{"seq_number", "70000", false},
		{"timestamp", "22:13:22.750000000", true},
		{"error_estimate", "0x0c85", false},
		{"error_estimate.multiplier", "0x85", false},
		{"receive_timestamp", "22:13:21.500000000", true},
		{"sender_seq_number", "70000", false},
		{"sender_timestamp", "22:13:20.250000000", true},
		{"sender_error_estimate", "0x8a91", false},
		{"sender_ttl", "63", false},
		{"error_estimate.s", "0", false},
		{"error_estimate.scale", "0xc", false},
		{"mbz2", "0", false},
		/* and as answered, but for 250; the time in 7 is 1700000001.75 s */
		{"padding",
			"000100100000000000011170000000000000feed"
			"00f90024544152450114000000000000000000000000000000000000000000000000000000000001"
			"80fa002854415245010000000000000000000000000000000000000000000000000000000000000000000000"
			"0003000401020102"
			"0004000402e40000"
			"000700100001116fe8fe6f81c000000002000000",
			true},
	};
	check_frame(path, 1, request, sizeof(request) / sizeof(*request));
	check_frame(path, 2, reply, sizeof(reply) / sizeof(*reply));
}

int main(void)
{
	if (system("tshark -v >/dev/null 2>&1") != 0) {
		SKIP(25, "tshark is not installed");
		return tap_done();
	}
	char path[] = "/tmp/t_stamp_tshark.XXXXXX";
	int fd = mkstemp(path);
	OK(fd >= 0 && write_capture(path), "capture written");
	check(path);
	if (fd >= 0)
		close(fd);
	unlink(path);
	SKIP(1, "authenticated packets: tshark reads every test packet as an unauthenticated one");
	return tap_done();
}
