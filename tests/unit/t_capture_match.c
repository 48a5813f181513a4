/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From captures to samples through the door of import: every key, copies,
 * retransmissions, losses, all with chosen times and therefore with exact
 * figures.
 */
#include "capture_read.h"
#include "import/capture/series.h"

static void test_echo(void)
{
	struct mk_file file = {0};
	struct read read;
	uint8_t payload[32];
	mk_pcap(&file, 0xa1b23c4d, false, LINK_ETHERNET);
	for (int i = 0; i < 10; i++) {
		int64_t at = i * INT64_C(1000000);
		numbered(payload, (uint64_t)i);
		put_udp(&file, at, &to, (uint16_t)(100 + i), payload, 32);
		if (i == 3)
			put_udp(&file, at + 1000, &to, 103, payload, 32); /* the mirror's copy */
		if (i == 4)
			put_udp(&file, at + 1000, &to, 900, payload, 32); /* sent again */
		if (i == 5)
			continue; /* no reply */
		put_udp(&file, at + 20000 + i, &from, (uint16_t)(200 + i), payload, 32);
		if (i == 6)
			put_udp(&file, at + 30000, &from, 206, payload, 32); /* copy of the reply */
		if (i == 7)
			put_udp(&file, at + 40000, &from, 777, payload, 32); /* a second reply */
	}
	numbered(payload, 5);
	put_udp(&file, INT64_C(1505000000), &from, 300, payload, 32); /* 1.5 s later */
	numbered(payload, 999);
	put_udp(&file, INT64_C(1506000000), &from, 301, payload, 32); /* to no request */
	numbered(payload, 1000);
	put_udp(&file, INT64_C(1507000000), &to, 400, payload, 32); /* too young to be lost */
	numbered(payload, 2000);
	read_file(&read, &file, NULL);
	OK(read.fine, "udp, found out: %s", read.err.text);
	IS_STR(read.fine ? read.record->target->url : "", "udp://10.0.0.2:7000", "names who answers");
	IS_I64(count_of(&read), 11, "requests, copies and retransmissions left out");
	for (size_t i = 0; i < 10 && i < count_of(&read); i++)
		IS_I64(value_of(&read, i), i == 5 ? 1500000000 : 20000 + (int64_t)i, "its value is exact");
	OK(fate_of(&read, TARE_ANSWERED) == 9 && fate_of(&read, TARE_OVERDUE) == 1 && fate_of(&read, TARE_PENDING) == 1,
		"answered late is overdue, too young is pending");
	OK(read.fine && read.record->series.flags[7] & TARE_FLAG_DUPLICATED &&
			!(read.record->series.flags[6] & TARE_FLAG_DUPLICATED),
		"a second reply marks its request, a copy of the first does not");
	OK(read.fine && read.record->series.flags[5] & TARE_FLAG_REORDERED && read.record->beside.reordered == 1 &&
			read.record->beside.duplicate == 1 && read.record->beside.foreign == 1,
		"counted beside");
	OK(said(&read, "2 copies") && said(&read, "1 retransmissions"), "and said");
	OK(said(&read, "udp.payload[0:16]"), "the key is named");
	IS_I64(read.fine ? read.record->resolution_ns : 0, 1, "times are as fine as they were seen to be");
	read_end(&read);
	const struct capture_rules last = {.last_copy = true, .seen_at = "server-nic"};
	read_file(&read, &file, &last);
	const struct tare_origin *origin = read.fine ? &read.record->origin : NULL;
	OK(origin && strcmp(origin->format, "pcap") == 0 && origin->quantity == TARE_QUANTITY_RESIDENCE &&
			origin->clock == TARE_CLOCK_WALL && origin->pacing == TARE_PACING_UNKNOWN &&
			origin->lateness == TARE_LATENESS_UNKNOWN && origin->left_out == 0,
		"a service's residence by a wall clock, of unknown pacing");
	IS_I64(value_of(&read, 3), 19003, "with the last copy time runs from that");
	OK(read.fine && tare_span_exists(&read.record->series, TARE_SPAN_HOST),
		"seen at the server's card it is the host's time");
	read_end(&read);
	mk_file_end(&file);
}

static void test_keys(void)
{
	static const struct {
		const char *key, *kind;
		uint16_t port;
	} keys[] = {{"stamp", "stamp", 862}, {"dns", "dns", 53}, {"order", "udp", 7000},
		{"udp.payload[4:8]", "udp", 7000}, {"re:id=([0-9]+);", "udp", 7000}, {"payload", "udp", 7000}};
	for (size_t k = 0; k < sizeof(keys) / sizeof(*keys); k++) {
		struct mk_file file = {0};
		struct read read;
		struct mk_ends there = to, back = from;
		there.target_port = back.source_port = keys[k].port;
		mk_pcap(&file, 0xa1b23c4d, false, LINK_ETHERNET);
		for (int i = 0; i < 6; i++) {
			uint8_t request[48] = {(uint8_t)(k == 1), (uint8_t)i, 1, 2, 9, 9, 9, (uint8_t)i},
				reply[48] = {0};
			if (k == 0) {
				request[0] = 0;
				request[3] = (uint8_t)i;
				reply[3] = (uint8_t)(i + 50); /* its own sequence */
				memcpy(reply + 24, request, 12);
			} else if (k == 4) {
				snprintf((char *)request, sizeof(request), "order id=%d; buy", i);
				snprintf((char *)reply, sizeof(reply), "done for id=%d; thanks", i);
			} else {
				memcpy(reply, request, sizeof(reply));
				reply[40] = k == 5 ? 0 : 1;
			}
			put_udp(&file, i * 100000, &there, (uint16_t)i, request, sizeof(request));
			put_udp(&file, i * 100000 + 5000 + i, &back, (uint16_t)i, reply, sizeof(reply));
		}
		const struct capture_rules rules = {.key = k < 2 ? NULL : keys[k].key};
		read_file(&read, &file, &rules);
		OK(read.fine, "key %s: %s", keys[k].key, read.err.text);
		IS_STR(read.fine ? read.record->target->kind : "", keys[k].kind, "its kind");
		bool right = count_of(&read) == 6 && fate_of(&read, TARE_ANSWERED) == 6;
		for (size_t i = 0; i < 6 && right; i++)
			right = value_of(&read, i) == 5000 + (int64_t)i;
		OK(right, "all values are right");
		OK(said(&read, keys[k].key), "the key is said");
		read_end(&read);
		mk_file_end(&file);
	}
}

static void test_other_layers(void)
{
	struct mk_file file = {0};
	struct read read;
	struct mk_frame frame;
	uint8_t payload[32];
	mk_pcap(&file, 0xa1b2c3d4, true, LINK_ETHERNET);
	for (int i = 0; i < 5; i++) {
		numbered(payload, (uint64_t)i);
		static const uint8_t tags[8] = {0x88, 0xa8, 0, 5, 0x81, 0, 0, 6};
		mk_udp6(&frame, &to, payload, 32);
		mk_insert(&frame, 12, tags, sizeof(tags));
		put(&file, i * 1000000, &frame);
		mk_udp6(&frame, &from, payload, 32);
		put(&file, i * 1000000 + 7000, &frame);
	}
	read_file(&read, &file, NULL);
	OK(count_of(&read) == 5 && value_of(&read, 4) == 7000, "IPv6 with an extension header in two VLAN tags: %s",
		read.err.text);
	IS_STR(read.fine ? read.record->target->url : "", "udp://[fd00::2]:7000", "its address");
	IS_I64(read.fine ? read.record->resolution_ns : 0, 1000, "microseconds are told as such");
	read_end(&read);
	mk_file_end(&file);
	mk_pcap(&file, 0xa1b23c4d, false, LINK_ETHERNET);
	for (int i = 0; i < 8; i++) {
		/* VXLAN, GRE with Ethernet inside, IP in IP, MPLS, in turns */
		for (int reply = 0; reply < 2; reply++) {
			struct mk_frame outer;
			static const uint8_t vxlan[8] = {8}, gre[4] = {0, 0, 0x65, 0x58}, label[4] = {0, 1, 0x01, 64};
			static const struct mk_ends tunnel = {50, 51, 1234, 4789, 0};
			mk_echo(&frame, reply ? &from : &to, reply, 77, (uint16_t)i);
			if (i % 4 == 0) {
				mk_insert(&frame, 0, vxlan, sizeof(vxlan));
				mk_udp(&outer, &tunnel, frame.bytes, frame.count);
				frame = outer;
			} else if (i % 4 == 1) {
				mk_insert(&frame, 0, gre, sizeof(gre));
				mk_wrap_ip(&frame, 47);
			} else if (i % 4 == 2) {
				memmove(frame.bytes, frame.bytes + 14, frame.count - 14);
				frame.count -= 14;
				mk_wrap_ip(&frame, 4);
			} else {
				frame.bytes[12] = 0x88;
				frame.bytes[13] = 0x47;
				mk_insert(&frame, 14, label, sizeof(label));
			}
			put(&file, i * 1000000 + reply * (3000 + i), &frame);
		}
	}
	read_file(&read, &file, NULL);
	bool right = count_of(&read) == 8;
	for (size_t i = 0; i < 8 && right; i++)
		right = value_of(&read, i) == 3000 + (int64_t)i;
	OK(right, "pings inside VXLAN, GRE, IP in IP and MPLS: %s", read.err.text);
	IS_STR(read.fine ? read.record->target->url : "", "icmp://10.0.0.2", "the address inside counts");
	read_end(&read);
	mk_file_end(&file);
}

static void put_tcp(struct mk_file *file, int64_t at_ns, bool reply, uint32_t sequence, uint32_t acknowledged,
	unsigned flags, size_t bytes)
{
	static const uint8_t data[1400];
	struct mk_frame frame;
	mk_tcp(&frame, reply ? &from : &to, sequence, acknowledged, flags, data, bytes);
	put(file, at_ns, &frame);
}

static void test_tcp(void)
{
	struct mk_file file = {0};
	struct read read;
	mk_pcap(&file, 0xa1b23c4d, false, LINK_ETHERNET);
	put_tcp(&file, 0, false, 999, 0, TCP_SYN, 0);
	put_tcp(&file, 50000, true, 4999, 1000, TCP_SYN | TCP_ACK, 0);
	put_tcp(&file, 60000, false, 1000, 5000, TCP_ACK, 0);
	/* a request of two segments, acknowledged at once, answered later in two segments */
	put_tcp(&file, 100000, false, 1000, 5000, TCP_ACK, 1000);
	put_tcp(&file, 101000, false, 2000, 5000, TCP_ACK | TCP_PSH, 200);
	put_tcp(&file, 102000, false, 2000, 5000, TCP_ACK | TCP_PSH, 200); /* again */
	put_tcp(&file, 110000, true, 5000, 2200, TCP_ACK, 0);
	put_tcp(&file, 400000, true, 5000, 2200, TCP_ACK, 1000);
	put_tcp(&file, 401000, true, 6000, 2200, TCP_ACK | TCP_PSH, 10);
	put_tcp(&file, 402000, false, 2200, 6010, TCP_ACK, 0);
	/* two requests before the first answer */
	put_tcp(&file, 500000, false, 2200, 6010, TCP_ACK | TCP_PSH, 50);
	put_tcp(&file, 501000, false, 2250, 6010, TCP_ACK | TCP_PSH, 50);
	put_tcp(&file, 520000, true, 6010, 2250, TCP_ACK | TCP_PSH, 20);
	put_tcp(&file, 530000, true, 6030, 2300, TCP_ACK | TCP_PSH, 20);
	/* the service speaks without being asked */
	put_tcp(&file, 600000, true, 6050, 2300, TCP_ACK | TCP_PSH, 20);
	read_file(&read, &file, NULL);
	OK(read.fine && strcmp(read.record->target->kind, "tcp") == 0, "tcp: %s", read.err.text);
	IS_I64(count_of(&read), 3, "messages, not segments");
	OK(value_of(&read, 0) == 300000 && value_of(&read, 1) == 20000 && value_of(&read, 2) == 29000,
		"request to reply, in order, by acknowledgement");
	IS_I64(read.fine ? (int64_t)read.record->beside.foreign : 0, 1, "what the service sends unasked is no reply");
	OK(said(&read, "acknowledgements of data"), "the kernel's acknowledgements are told apart");
	read_end(&read);
	const struct capture_rules ack = {.key = "tcp-ack"}, syn = {.key = "tcp-syn"};
	read_file(&read, &file, &ack);
	OK(count_of(&read) == 5 && value_of(&read, 0) == 50000 && value_of(&read, 1) == TARE_NO_TIME &&
			value_of(&read, 2) == 9000 && value_of(&read, 3) == 20000 && value_of(&read, 4) == 29000,
		"tcp-ack: what an acknowledgement covers exactly has a time, what it covers beside has none");
	OK(said(&read, "not to an answer of the service"), "and is never called the service's");
	read_end(&read);
	read_file(&read, &file, &syn);
	OK(count_of(&read) == 1 && value_of(&read, 0) == 50000 && strcmp(read.record->target->kind, "connect") == 0,
		"tcp-syn");
	read_end(&read);
	mk_file_end(&file);
}

static void test_not_captured(void)
{
	struct mk_file file = {0};
	struct read read;
	uint8_t payload[32];
	mk_pcap(&file, 0xa1b23c4d, false, LINK_ETHERNET);
	for (int i = 0; i < 20; i++) {
		struct mk_frame frame;
		numbered(payload, (uint64_t)i);
		mk_udp(&frame, i % 2 ? &from : &to, payload, 32);
		mk_record(&file, mk_later(start, i * INT64_C(1000000)), &frame, 42, frame.count);
	}
	read_file(&read, &file, NULL);
	OK(!read.fine && strstr(read.err.text, "was not captured") && strstr(read.err.text, "cut at 42 bytes"),
		"snapped at 42 bytes: %s", read.err.text);
	read_end(&read);
	const struct capture_rules named = {.key = "udp.payload[0:16]"}, order = {.key = "order"};
	read_file(&read, &file, &named);
	OK(!read.fine && read.err.code == TARE_E_INVALID && strstr(read.err.text, "was not captured"),
		"named as well: %s", read.err.text);
	read_end(&read);
	read_file(&read, &file, &order);
	OK(count_of(&read) == 10 && value_of(&read, 0) == 1000, "order needs headers only");
	OK(said(&read, "by order alone"), "and says what it is worth");
	read_end(&read);
	mk_file_end(&file);
}

static void test_no_clock(void)
{
	for (int ng = 0; ng < 2; ng++) {
		struct mk_file file = {0};
		struct read read;
		const struct mk_interface interface = {LINK_ETHERNET, 0, NULL, 9, 0, -1};
		if (ng) {
			mk_section(&file, false);
			mk_interface(&file, &interface);
		} else {
			mk_pcap(&file, 0xa1b2c3d4, false, LINK_ETHERNET);
		}
		for (int i = 0; i < 100; i++) {
			struct mk_frame frame;
			mk_echo(&frame, i % 2 ? &from : &to, i % 2, 1, (uint16_t)(i / 2));
			if (ng)
				mk_packet(&file, &(struct mk_packet){.raw = UINT64_C(1700000000000000000)}, &frame);
			else
				mk_record(&file, start, &frame, frame.count, 0);
		}
		read_file(&read, &file, NULL);
		OK(!read.fine && read.err.code == TARE_E_INVALID && strstr(read.err.text, "same time"),
			"a clock that stands still: %s", read.err.text);
		read_end(&read);
		mk_file_end(&file);
	}
}

static void test_bad_times(void)
{
	struct mk_file file = {0};
	struct read read;
	struct mk_frame frame;
	mk_pcap(&file, 0xa1b2c3d4, false, LINK_ETHERNET);
	for (int i = 0; i < 40; i++) {
		struct mk_time time = mk_later(start, i * INT64_C(1000000000));
		if (i == 10)
			time.seconds = 0xfffffff0;
		if (i == 21)
			time = mk_later(time, -INT64_C(3000000000));
		mk_echo(&frame, i % 2 ? &from : &to, i % 2, 1, (uint16_t)(i / 2));
		mk_record(&file, time, &frame, frame.count, 0);
	}
	read_file(&read, &file, NULL);
	OK(said(&read, "1 packet (11) have times before 1990 or in the future"),
		"a year that cannot be, with its number");
	OK(said(&read, "times run backwards at 2 packets (12, 22)"), "times that run backwards, with their numbers");
	/* the sixth request had the impossible year and is none: the eleventh is at place 9 */
	OK(value_of(&read, 9) == TARE_NO_TIME && read.fine && read.record->series.flags[9] & TARE_FLAG_IMPOSSIBLE,
		"a reply before its request is no value");
	read_end(&read);
	mk_file_end(&file);
}

static void test_services(void)
{
	struct mk_file file = {0};
	struct read read;
	mk_pcap(&file, 0xa1b23c4d, false, LINK_ETHERNET);
	for (int i = 0; i < 30; i++) {
		struct mk_ends there = to, back = from;
		uint8_t payload[32];
		numbered(payload, (uint64_t)i);
		there.target_port = back.source_port = i % 3 ? 7000 : 8000;
		put_udp(&file, i * 1000000, &there, (uint16_t)i, payload, 32);
		put_udp(&file, i * 1000000 + 1000 * (1 + i % 3), &back, (uint16_t)i, payload, 32);
	}
	read_file(&read, &file, NULL);
	IS_I64(count_of(&read), 20, "the busiest service is the first round");
	const struct tare_record *second = NULL;
	OK(import_next(read.import, &second, &read.err) == 1 && second->series.count == 10 &&
			second->round->number == 2,
		"the other the second");
	OK(import_next(read.import, &second, &read.err) == 0, "then the end");
	read_end(&read);
	const struct capture_rules one = {.service = "10.0.0.2:8000"}, none = {.service = "10.0.0.9"};
	read_file(&read, &file, &one);
	OK(count_of(&read) == 10 && value_of(&read, 0) == 1000, "one is named");
	read_end(&read);
	read_file(&read, &file, &none);
	OK(!read.fine && strstr(read.err.text, "of this service"), "one that is not there: %s", read.err.text);
	read_end(&read);
	mk_file_end(&file);
}

/* More samples than are kept in memory: none is lost on the way into the file. */
static void test_many(void)
{
	enum { COUNT = 1300000 };
	const struct match_rules rules = {.timeout_ns = 1000000, .copy_ns = 1000};
	struct match *match = NULL;
	struct series series = {0};
	struct tare_err err = {0};
	const struct capture_time base = {1700000000, 0};
	bool fine = match_open(&rules, &match, &err) == 0;
	for (uint64_t i = 0; i < COUNT && fine; i++) {
		struct match_packet packet = {.key = {i * 0x9e3779b97f4a7c15, ~i},
			.time = capture_time_add_ps(base, (int64_t)i * 2000000),
			.number = 2 * i + 1};
		fine = match_request(match, &packet, &err) == 0;
		packet.time = capture_time_add_ps(packet.time, 1000000 + (int64_t)(i % 1000) * 1000);
		packet.number++;
		if (i % 1000 != 7)
			match_reply(match, &packet);
		if (i % 4096 == 0)
			fine = series_take(&series, match, base, &err) == 0 && fine;
	}
	match_finish(match);
	fine = fine && series_take(&series, match, base, &err) == 0;
	size_t right = 0;
	for (size_t i = 0; i < series.count; i++) {
		int64_t begin = series_from_ns(&series)[i], behind = series_to_ns(&series)[i];
		right += begin == (int64_t)i * 2000 &&
			 behind == (i % 1000 == 7 ? TARE_NO_TIME : begin + 1000 + (int64_t)(i % 1000));
	}
	OK(fine, "1.3 million requests: %s", err.text);
	IS_I64(series.count, COUNT, "come out, in order");
	IS_I64(right, COUNT, "with their times");
	OK(match_counts(match)->in_flight_most < 4096,
		"%" PRIu64 " at most were in flight, a lost one holding up those behind it",
		match_counts(match)->in_flight_most);
	series_end(&series);
	match_free(match);
}

static void test_usage(void)
{
	struct mk_file file = {0};
	struct read read;
	static const struct {
		struct capture_rules rules;
		const char *words;
	} cases[] = {
		{{.key = "udp.payload[8:4]"}, "udp.payload[4:8]"},
		{{.key = "icpm"}, "nearest is 'icmp'"},
		{{.key = "re:("}, "re:("},
		{{.service = "host:7"}, "numeric address"},
		{{.service = "70000"}, "numeric address"},
		{{.stamps = "meta"}, "metawatch"},
		{{.seen_at = "middle"}, "server-nic"},
		{{.clock = "5"}, "needs a unit"},
		{{.marks = "middle"}, "first"},
		{{.line_rate = "fast"}, "--line-rate"},
		{{.from = "there", .to = "x"}, "interface:NAME"},
	};
	mk_pcap(&file, 0xa1b23c4d, false, LINK_ETHERNET);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		read_file(&read, &file, &cases[i].rules);
		OK(!read.fine && read.err.code == TARE_E_USAGE && strstr(read.err.text, cases[i].words), "refused: %s",
			read.err.text);
		read_end(&read);
	}
	read_file(&read, &file, NULL);
	OK(!read.fine && strstr(read.err.text, "holds no packets"), "an empty capture: %s", read.err.text);
	read_end(&read);
	mk_file_end(&file);
}

/* What a capture says of its own completeness. */
static void test_whole(void)
{
	for (uint64_t dropped = 0; dropped < 2; dropped++) {
		struct mk_file file = {0};
		struct read read;
		struct mk_frame frame;
		mk_section(&file, false);
		mk_interface(&file, &(struct mk_interface){.link = LINK_ETHERNET, .resolution = 9, .fcs = -1});
		for (unsigned i = 0; i < 6; i++) {
			mk_echo(&frame, i % 2 ? &from : &to, i % 2, 1, (uint16_t)(i / 2));
			mk_packet(&file, &(struct mk_packet){.raw = UINT64_C(1700000000000000000) + i * 1000}, &frame);
		}
		mk_statistics(&file, 0, 6, dropped, 0);
		read_file(&read, &file, NULL);
		OK(read.fine && strcmp(read.record->origin.format, "pcapng") == 0 &&
				read.record->origin.left_out == (dropped ? TARE_LEFT_OUT_SOME : 0),
			"%s: %s", dropped ? "some left out, as its counters say" : "nothing left out", read.err.text);
		read_end(&read);
		mk_file_end(&file);
	}
}

int main(void)
{
	test_whole();
	test_echo();
	test_keys();
	test_other_layers();
	test_tcp();
	test_not_captured();
	test_no_clock();
	test_bad_times();
	test_services();
	test_many();
	test_usage();
	return tap_done();
}
