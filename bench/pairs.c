/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes a nanosecond pcap of UDP requests and replies for bench/capture: PAIRS
 * pairs, one every 10 us, 64 bytes of payload each with a cookie and a number as
 * tare's own requests have them, answered after 4 to 20 us so that replies and
 * later requests overlap.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "wire/bytes.h"

enum { PAYLOAD = 64, FRAME = 14 + 20 + 8 + PAYLOAD, INTERVAL_NS = 10000 };

struct packet {
	uint64_t at_ns, number;
	int reply;
};

static void put_little(uint8_t *at, uint32_t value)
{
	value = htole32(value);
	memcpy(at, &value, sizeof(value));
}

static void write_packet(FILE *out, const struct packet *packet)
{
	uint8_t record[16 + FRAME] = {0}, *frame = record + 16, *ip = frame + 14, *udp = ip + 20;
	uint64_t at_ns = packet->at_ns;
	put_little(record, (uint32_t)(1700000000 + at_ns / 1000000000));
	put_little(record + 4, (uint32_t)(at_ns % 1000000000));
	put_little(record + 8, FRAME);
	put_little(record + 12, FRAME);
	put_u16(frame + 12, 0x0800);
	ip[0] = 0x45;
	put_u16(ip + 2, 20 + 8 + PAYLOAD);
	put_u16(ip + 4, (uint16_t)packet->number);
	ip[8] = 64;
	ip[9] = 17;
	put_u32(ip + (packet->reply ? 16 : 12), 0x0a000001);
	put_u32(ip + (packet->reply ? 12 : 16), 0x0a000002);
	put_u16(udp + (packet->reply ? 2 : 0), 40000);
	put_u16(udp + (packet->reply ? 0 : 2), 7000);
	put_u16(udp + 4, 8 + PAYLOAD);
	put_u64(udp + 8, 0x1122334455667788);
	put_u64(udp + 16, packet->number);
	fwrite(record, 1, sizeof(record), out);
}

int main(int argc, char **argv)
{
	static const uint8_t header[24] = {0x4d, 0x3c, 0xb2, 0xa1, 2, 0, 4, 0, [18] = 4, [20] = 1};
	if (argc != 3) {
		fprintf(stderr, "usage: pairs PAIRS FILE\n");
		return 2;
	}
	uint64_t pairs = strtoull(argv[1], NULL, 10), state = 1;
	AUTO_FILE out = fopen(argv[2], "w");
	if (!out) {
		perror(argv[2]);
		return 1;
	}
	fwrite(header, 1, sizeof(header), out);
	/* replies wait in a small ring until it is their turn */
	struct packet waiting[4] = {{0}};
	unsigned first = 0, count = 0;
	for (uint64_t i = 0; i < pairs; i++) {
		struct packet request = {i * INTERVAL_NS, i, 0};
		while (count && waiting[first].at_ns <= request.at_ns) {
			write_packet(out, &waiting[first]);
			first = (first + 1) % 4;
			count--;
		}
		write_packet(out, &request);
		state = state * 6364136223846793005u + 1442695040888963407u;
		uint64_t took_ns = 4000 + (state >> 33) % 16000;
		uint64_t last_ns = count ? waiting[(first + count - 1) % 4].at_ns : 0;
		uint64_t at_ns = request.at_ns + took_ns;
		waiting[(first + count++) % 4] = (struct packet){at_ns > last_ns ? at_ns : last_ns + 1, i, 1};
	}
	for (; count; count--, first = (first + 1) % 4)
		write_packet(out, &waiting[first]);
	return fflush(out) || ferror(out);
}
