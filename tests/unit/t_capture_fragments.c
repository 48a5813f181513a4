/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Datagrams in fragments: put together byte for byte whatever the order, timed by
 * the right one of them, counted once; and what is left of those that are damaged.
 */
#include "capture_read.h"

enum { PAYLOAD = 1600, PART = 512 };

static void fill(uint8_t payload[PAYLOAD], unsigned number)
{
	memset(payload, 0x55, PAYLOAD);
	for (int i = 0; i < 4; i++)
		payload[1500 + i] = (uint8_t)(number >> (8 * i));
	payload[0] = 0x20; /* the beginning is alike in all */
}

enum sort { UDP4, UDP6, IN_TUNNEL, TUNNEL_CUT };

static void make_whole(struct mk_frame *frame, enum sort sort, const struct mk_ends *ends, unsigned number)
{
	uint8_t payload[PAYLOAD];
	fill(payload, number);
	if (sort == UDP6)
		mk_udp6(frame, ends, payload, sizeof(payload));
	else
		mk_udp(frame, ends, payload, sizeof(payload));
	if (sort == TUNNEL_CUT) {
		/* IP in IP: the outer packet is what is cut */
		memmove(frame->bytes, frame->bytes + 14, frame->count - 14);
		frame->count -= 14;
		mk_wrap_ip(frame, 4);
	}
}

/* Fragments of 512 bytes, one every 1000 ns, in the order of `order`. */
static void put_parts(struct mk_file *file, enum sort sort, int64_t at_ns, const struct mk_frame *whole, uint32_t id,
	const int *order, size_t count)
{
	struct mk_frame part;
	for (size_t i = 0; i < count; i++) {
		mk_fragment(&part, whole, id, (size_t)order[i] * PART, PART);
		if (sort == IN_TUNNEL) {
			memmove(part.bytes, part.bytes + 14, part.count - 14);
			part.count -= 14;
			mk_wrap_ip(&part, 4);
		}
		put(file, at_ns + (int64_t)i * 1000, &part);
	}
}

static const int forwards[] = {0, 1, 2, 3}, backwards[] = {3, 2, 1, 0}, mixed[] = {1, 3, 0, 2};
static const struct capture_rules by_key = {.key = "udp.payload[1500:1504]", .service = "7000"};

static void make_pairs(struct mk_file *file, enum sort sort, const int *order)
{
	struct mk_frame whole;
	mk_pcap(file, 0xa1b23c4d, false, LINK_ETHERNET);
	for (unsigned i = 0; i < 10; i++) {
		make_whole(&whole, sort, &to, i);
		put_parts(file, sort, i * 100000, &whole, 100 + i, order, 4);
		make_whole(&whole, sort, &from, i);
		put_parts(file, sort, i * 100000 + 50000 + i, &whole, 600 + i, order, 4);
	}
}

static void test_pairs(void)
{
	static const char *const names[] = {"IPv4", "IPv6", "inside a tunnel", "around a tunnel"};
	static const int *const orders[] = {forwards, backwards, mixed};
	for (int sort = UDP4; sort <= TUNNEL_CUT; sort++) {
		for (size_t k = 0; k < 3; k++) {
			struct mk_file file = {0};
			struct read read;
			make_pairs(&file, (enum sort)sort, orders[k]);
			read_file(&read, &file, &by_key);
			bool right = count_of(&read) == 10 && fate_of(&read, TARE_ANSWERED) == 10;
			for (size_t i = 0; i < 10 && right; i++)
				right = value_of(&read, i) == 53000 + (int64_t)i;
			OK(right, "%s, order %zu: from the first of a request to the last of its reply: %s",
				names[sort], k, read.err.text);
			OK(said(&read,
				   "20 datagrams came in fragments: time runs from the first fragment of a request"),
				"and this is said");
			read_end(&read);
			mk_file_end(&file);
		}
	}
}

static void test_inside(void)
{
	struct mk_file file = {0};
	struct read read;
	struct capture_rules rules = by_key;
	make_pairs(&file, UDP4, forwards);
	rules.seen_at = "server-nic";
	read_file(&read, &file, &rules);
	IS_I64(value_of(&read, 4), 47004, "at the server from the request's last to the reply's first");
	OK(said(&read, "from the last fragment of a request to the first of its reply"), "and this is said");
	read_end(&read);
	mk_file_end(&file);
}

static void test_found_out(void)
{
	struct mk_file file = {0};
	struct read read;
	make_pairs(&file, TUNNEL_CUT, forwards);
	read_file(&read, &file, NULL);
	OK(read.fine && strcmp(read.record->target->url, "udp://10.0.0.2:7000") == 0 && count_of(&read) == 10,
		"a service whose tunnel is cut into fragments is found: %s", read.err.text);
	read_end(&read);
	mk_file_end(&file);
}

static void test_echo(void)
{
	struct mk_file file = {0};
	struct read read;
	struct mk_frame whole, part;
	mk_pcap(&file, 0xa1b23c4d, false, LINK_ETHERNET);
	for (unsigned i = 0; i < 5; i++) {
		for (int64_t reply = 0; reply < 2; reply++) {
			mk_echo(&whole, reply ? &from : &to, reply, 7, (uint16_t)i);
			for (size_t at = 0; at < 48; at += 16) {
				mk_fragment(&part, &whole, 9 + i, at, 16);
				put(&file, i * 100000 + reply * 30000 + (int64_t)at * 10, &part);
			}
		}
	}
	read_file(&read, &file, NULL);
	OK(count_of(&read) == 5 && fate_of(&read, TARE_ANSWERED) == 5 && value_of(&read, 2) == 30320,
		"pings in fragments: %s", read.err.text);
	read_end(&read);
	mk_file_end(&file);
}

/* A mirror's copies: each fragment twice in a row, or all of them a second time. */
static void test_copies(void)
{
	static const int twice[] = {0, 0, 1, 1, 2, 2, 3, 3}, again[] = {0, 1, 2, 3, 0, 1, 2, 3};
	for (int k = 0; k < 2; k++) {
		struct mk_file file = {0};
		struct read read;
		struct mk_frame whole;
		mk_pcap(&file, 0xa1b23c4d, false, LINK_ETHERNET);
		for (unsigned i = 0; i < 4; i++) {
			make_whole(&whole, UDP4, &to, i);
			put_parts(&file, UDP4, i * 100000, &whole, i, k ? again : twice, 8);
			make_whole(&whole, UDP4, &from, i);
			put_parts(&file, UDP4, i * 100000 + 50000, &whole, i, k ? again : twice, 8);
		}
		read_file(&read, &file, &by_key);
		IS_I64(count_of(&read), 4, "copies are no datagrams of their own");
		OK(value_of(&read, 3) == (k ? 53000 : 56000) && fate_of(&read, TARE_ANSWERED) == 4 &&
				read.record->beside.duplicate == 0,
			"nor replies: %" PRId64, value_of(&read, 3));
		OK(said(&read, k ? "8 copies of packets left out" : "32 that were captured twice") &&
				!said(&read, "without all fragments"),
			"and nothing is missing");
		read_end(&read);
		mk_file_end(&file);
	}
}

static void test_missing(void)
{
	static const int three[] = {0, 1, 3};
	struct mk_file file = {0};
	struct read read;
	struct mk_frame whole;
	mk_pcap(&file, 0xa1b23c4d, false, LINK_ETHERNET);
	for (unsigned i = 0; i < 4; i++) {
		make_whole(&whole, UDP4, &to, i);
		put_parts(&file, UDP4, i * INT64_C(2000000000), &whole, 5, i == 1 ? three : forwards, i == 1 ? 3 : 4);
		make_whole(&whole, UDP4, &from, i);
		put_parts(&file, UDP4, i * INT64_C(2000000000) + 50000, &whole, 5, i == 2 ? three : forwards,
			i == 2 ? 3 : 4);
	}
	read_file(&read, &file, &by_key);
	OK(count_of(&read) == 3 && fate_of(&read, TARE_ANSWERED) == 2 && read.record->beside.foreign == 1,
		"a request that is not whole is none, whose number comes round as well: %s", read.err.text);
	OK(said(&read, "2 datagrams (9, 20) without all fragments"), "both are counted with their place");
	read_end(&read);
	mk_file_end(&file);
}

static void test_overlaps(void)
{
	struct mk_file file = {0};
	struct read read;
	struct mk_frame whole, forged, part;
	mk_pcap(&file, 0xa1b23c4d, false, LINK_ETHERNET);
	make_whole(&whole, UDP4, &to, 1);
	make_whole(&forged, UDP4, &to, 2);
	static const int three[] = {0, 1, 2};
	put_parts(&file, UDP4, 0, &whole, 5, three, 3);
	mk_fragment(&part, &forged, 5, 1504, 8);
	put(&file, 4000, &part); /* other bytes over the key, which is there */
	mk_fragment(&part, &forged, 5, 1528, 80);
	put(&file, 4100, &part); /* half over what is there */
	mk_fragment_raw(&part, &forged, 5, 512, 64, false);
	put(&file, 4200, &part); /* an end in the middle */
	mk_fragment(&part, &whole, 5, 1536, 512);
	put(&file, 5000, &part);
	mk_fragment_raw(&part, &forged, 5, 65528, 16, false);
	put(&file, 5100, &part); /* ends beyond what a datagram has */
	mk_fragment_raw(&part, &forged, 6, 0, 13, true);
	put(&file, 5200, &part); /* not in eights */
	make_whole(&whole, UDP4, &from, 1);
	put_parts(&file, UDP4, 50000, &whole, 5, forwards, 4);
	make_whole(&whole, UDP4, &from, 2);
	put_parts(&file, UDP4, 60000, &whole, 6, forwards, 4);
	read_file(&read, &file, &by_key);
	OK(count_of(&read) == 1 && value_of(&read, 0) == 53000 && read.record->beside.foreign == 1,
		"the bytes that came first count: %s", read.err.text);
	OK(said(&read, "3 that overlap others") && said(&read, "2 that cannot be"), "what was refused is counted");
	read_end(&read);
	mk_file_end(&file);
}

static void test_cut(void)
{
	struct mk_file file = {0};
	struct read read;
	struct mk_frame whole, part;
	mk_pcap(&file, 0xa1b23c4d, false, LINK_ETHERNET);
	for (unsigned i = 0; i < 8; i++) {
		make_whole(&whole, UDP4, i % 2 ? &from : &to, i / 2);
		for (size_t at = 0; at < 1608; at += 512) {
			mk_fragment(&part, &whole, i, at, 512);
			mk_record(&file, mk_later(start, (i * INT64_C(100000) + (int64_t)at) * 1000), &part, 200,
				part.count);
		}
	}
	read_file(&read, &file, &by_key);
	OK(!read.fine && strstr(read.err.text, "was not captured: of 8 packets"), "a key that was cut off: %s",
		read.err.text);
	read_end(&read);
	const struct capture_rules early = {.key = "udp.payload[100:108]", .service = "7000"};
	read_file(&read, &file, &early);
	OK(count_of(&read) == 4 && value_of(&read, 0) == 101536, "one that was captured serves: %s", read.err.text);
	read_end(&read);
	mk_file_end(&file);
}

/* What a filter by port leaves of datagrams. */
static void test_first_only(void)
{
	struct mk_file file = {0};
	struct read read;
	struct mk_frame whole;
	mk_pcap(&file, 0xa1b23c4d, false, LINK_ETHERNET);
	for (unsigned i = 0; i < 6; i++) {
		make_whole(&whole, UDP4, i % 2 ? &from : &to, i / 2);
		whole.bytes[42] = (uint8_t)(i / 2);
		put_parts(&file, UDP4, i * 10000, &whole, i, forwards, 1);
		/* others' datagrams are whole, which says nothing about these */
		make_whole(&whole, UDP4, &(struct mk_ends){3, 4, 999, 999, 0}, i);
		put_parts(&file, UDP4, i * 10000 + 5000, &whole, i, forwards, 4);
	}
	const struct capture_rules early = {.key = "udp.payload[0:4]"};
	read_file(&read, &file, &early);
	OK(count_of(&read) == 3 && value_of(&read, 1) == 10000, "first fragments alone still match: %s", read.err.text);
	OK(said(&read, "of 6 datagrams in fragments only the first is in this capture"), "and it is said");
	read_end(&read);
	read_file(&read, &file, &by_key);
	OK(!read.fine && strstr(read.err.text, "was not captured"), "what lies in the others was not captured: %s",
		read.err.text);
	read_end(&read);
	mk_file_end(&file);
}

/* One frame into the reassembler. */
static int add(struct fragments *fragments, const struct mk_frame *part, uint64_t number, int64_t second,
	struct joined *ret_joined)
{
	struct tare_err err = {0};
	struct layers layers;
	const struct capture_frame frame = {.number = number,
		.time = {1700000000 + second, 0},
		.bytes = part->bytes,
		.captured = (uint32_t)part->count,
		.length = (uint32_t)part->count,
		.link = LINK_ETHERNET};
	layers_of(&frame, &layers);
	const struct fragment fragment = {.layers = &layers,
		.number = number,
		.clock = frame.time,
		.first = frame.time,
		.last = frame.time,
		.has_clock = true,
		.timed = true};
	return fragments_add(fragments, &fragment, ret_joined, &err);
}

static void test_limits(void)
{
	enum { DATAGRAMS = 60000 };
	struct fragments *fragments = NULL;
	struct tare_err err = {0};
	struct joined joined;
	struct mk_frame whole, part;
	make_whole(&whole, UDP4, &to, 1);
	OK(fragments_open(3, &fragments, &err) == 0, "a reassembler");
	int joins = 0;
	for (uint32_t i = 0; i < DATAGRAMS; i++) {
		/* the ends of long datagrams, so that each holds as much as it can */
		mk_fragment_raw(&part, &whole, i, i % 2 ? 64000 : 0, 512, i % 2 == 0);
		joins += add(fragments, &part, i + 1, 0, &joined);
	}
	fragments_finish(fragments);
	const struct fragments_counts *counts = fragments_counts(fragments);
	IS_I64(joins, 0, "nothing is whole");
	OK(counts->incomplete >= DATAGRAMS && counts->no_room > 0,
		"all are counted: %" PRIu64 " incomplete, %" PRIu64 " fragments without room", counts->incomplete,
		counts->no_room);
	OK(counts->bytes_most <= 16 << 20, "in %zu bytes", counts->bytes_most);
	fragments_free(fragments);
}

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

enum { OPEN = 4, PARTS = 40 };
struct part {
	uint8_t which;
	uint16_t at, count;
};

/* Cuts four datagrams anywhere, some parts twice, and shuffles all. */
static size_t cut(struct mk_frame whole[OPEN], struct part parts[OPEN * PARTS], uint32_t *state)
{
	size_t count = 0;
	for (uint8_t k = 0; k < OPEN; k++) {
		make_whole(&whole[k], k % 2 ? UDP6 : UDP4, &to, next_random(state));
		size_t total = whole[k].count - (k % 2 ? 62 : 34), at = 0;
		while (at < total) {
			size_t step = (next_random(state) % 40 + 6) * 8;
			step = at + step > total ? total - at : step;
			for (int copies = next_random(state) % 8 == 0 ? 2 : 1; copies > 0; copies--)
				parts[count++] = (struct part){k, (uint16_t)at, (uint16_t)step};
			at += step;
		}
	}
	for (size_t i = count; i-- > 1;) {
		size_t j = next_random(state) % (i + 1);
		struct part swap = parts[i];
		parts[i] = parts[j];
		parts[j] = swap;
	}
	return count;
}

/* Any cut, any order, several at a time, copies in between: the bytes are those that were sent. */
static void test_random(void)
{
	enum { ROUNDS = 300 };
	uint32_t state = 20260;
	int whole_ones = 0, wrong = 0;
	struct fragments *fragments = NULL;
	struct tare_err err = {0};
	struct mk_frame whole[OPEN], frame;
	struct part parts[OPEN * PARTS];
	struct joined joined;
	printf("# seed %u\n", state);
	OK(fragments_open(7, &fragments, &err) == 0, "a reassembler");
	for (uint32_t round = 0; round < ROUNDS; round++) {
		size_t count = cut(whole, parts, &state);
		for (size_t i = 0; i < count; i++) {
			const struct mk_frame *sent = &whole[parts[i].which];
			mk_fragment(&frame, sent, round * OPEN + parts[i].which, parts[i].at, parts[i].count);
			if (add(fragments, &frame, round * 1000 + i + 1, round, &joined) != 1)
				continue;
			whole_ones++;
			wrong += joined.layers.payload_captured != PAYLOAD || joined.layers.payload_bytes != PAYLOAD ||
				 memcmp(joined.layers.payload, sent->bytes + sent->count - PAYLOAD, PAYLOAD) != 0 ||
				 joined.layers.target_port != 7000;
		}
	}
	OK(whole_ones == ROUNDS * OPEN && wrong == 0, "%d datagrams put together, %d wrong", whole_ones, wrong);
	fragments_finish(fragments);
	const struct fragments_counts *counts = fragments_counts(fragments);
	OK(counts->overlapping == 0 && counts->incomplete == 0, "no fragment was refused, none is left");
	fragments_free(fragments);
}

int main(void)
{
	test_pairs();
	test_inside();
	test_found_out();
	test_echo();
	test_copies();
	test_missing();
	test_overlaps();
	test_cut();
	test_first_only();
	test_limits();
	test_random();
	return tap_done();
}
