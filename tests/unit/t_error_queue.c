/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A fake error queue: messages as a driver and the kernel would write them, byte for byte,
 * through the parser and into the requests of a real target whose sends went nowhere.
 * Wrong order, loss, repeats, late ones, hardware and software apart and together,
 * numbers that wrap, control data cut anywhere.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <unistd.h>

#include "net/stamps.h"
#include "probe/datagram.h"
#include "tap.h"

enum { REQUESTS = 6000, CONTROL = 512 };

static struct probe_target target;
static struct raw_sample samples[REQUESTS];
static struct raw_counters counters;
static struct net_notice notice;
static int silent = -1; /* a socket that takes requests and never answers */

/* ---- messages ---- */

struct feed {
	_Alignas(struct cmsghdr) char control[CONTROL];
	size_t used;
};

static void add(struct feed *feed, int level, int type, const void *data, size_t bytes)
{
	struct cmsghdr head = {.cmsg_level = level, .cmsg_type = type, .cmsg_len = CMSG_LEN(bytes)};
	memcpy(feed->control + feed->used, &head, sizeof head);
	memcpy(feed->control + feed->used + CMSG_LEN(0), data, bytes);
	feed->used += CMSG_SPACE(bytes);
}

static void add_stamps(struct feed *feed, int64_t kernel_ns, int64_t card_ns)
{
	struct scm_timestamping stamps = {{{kernel_ns / 1000000000, kernel_ns % 1000000000}, {0, 0},
		{card_ns / 1000000000, card_ns % 1000000000}}};
	add(feed, SOL_SOCKET, SO_TIMESTAMPING, &stamps, sizeof stamps);
}

static void add_detail(struct feed *feed, uint32_t moment, uint32_t key)
{
	struct {
		struct sock_extended_err detail;
		struct sockaddr_in offender;
	} error = {
		.detail = {
			.ee_errno = ENOMSG, .ee_origin = SO_EE_ORIGIN_TIMESTAMPING, .ee_info = moment, .ee_data = key}};
	add(feed, SOL_IP, IP_RECVERR, &error, sizeof error);
}

static void parse(const struct feed *feed, size_t bytes, int flags)
{
	struct feed copy = *feed;
	struct msghdr message = {.msg_control = copy.control, .msg_controllen = bytes, .msg_flags = flags};
	net_notice_of(&message, &notice);
}

static void feed_to(void (*take)(struct probe_target *, const struct net_notice *), uint32_t key, int64_t kernel_ns,
	int64_t card_ns)
{
	struct feed feed = {.used = 0};
	add_stamps(&feed, kernel_ns, card_ns);
	add_detail(&feed, NET_MOMENT_SENT, key);
	parse(&feed, feed.used, 0);
	take(&target, &notice);
}

static void feed_udp(uint32_t key, int64_t kernel_ns, int64_t card_ns)
{
	feed_to(datagram_take_notice, key, kernel_ns, card_ns);
}

/* ---- the target ---- */

static bool open_target(void)
{
	struct tare_err err = {0};
	struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof name;
	memset(samples, 0, sizeof samples);
	memset(&counters, 0, sizeof counters);
	silent = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (silent < 0 || bind(silent, (struct sockaddr *)&name, sizeof name) != 0 ||
		getsockname(silent, (struct sockaddr *)&name, &length) != 0)
		return false;
	target = (struct probe_target){.kind = &probe_udp,
		.fd = -1,
		.clock = &clock_system,
		.count = REQUESTS,
		.samples = samples,
		.counters = &counters};
	target.request = (struct probe_request){.payload_bytes = 64,
		.seed = 1,
		.stamps = PROBE_STAMPS_NIC,
		.transmit_stamps = true,
		.card_stamps = true};
	memcpy(&target.request.address.storage, &name, sizeof name);
	target.request.address.length = sizeof name;
	net_address_text(&target.request.address, true);
	return probe_udp.open(&target, &err) == 0;
}

static void close_target(void)
{
	probe_udp.close(&target);
	close(silent);
}

static void send_many(uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		target.next++;
		if (probe_udp.send(&target, target.next - 1, 1) != 1)
			OK(false, "request %d is sent", (int)target.next - 1);
	}
}

/* Reads away what the real kernel said of our sends, which is not what is tested here. */
static void forget_real(void)
{
	struct net_notice real;
	uint8_t nothing[64];
	while (net_next_notice(target.fd, nothing, sizeof nothing, &real) > 0)
		continue;
}

static uint64_t strays(void)
{
	return raw_read(&counters.stray_stamps);
}

static void check_parser(void)
{
	struct feed feed = {.used = 0};
	add_stamps(&feed, 1000000007, 5000000009);
	add_detail(&feed, NET_MOMENT_SENT, 77);
	parse(&feed, feed.used, 0);
	OK(notice.is_stamp && notice.key == 77 && notice.kernel_tx.ns == 1000000007 && notice.nic_tx.ns == 5000000009,
		"both stamps in one message");
	feed.used = 0;
	add_detail(&feed, NET_MOMENT_SENT, 78);
	add_stamps(&feed, 0, 3);
	parse(&feed, feed.used, 0);
	OK(notice.key == 78 && notice.kernel_tx.ns == 0 && notice.nic_tx.ns == 3,
		"the card's alone, parts in the other order");
	for (uint32_t moment = NET_MOMENT_SCHEDULED; moment <= NET_MOMENT_COMPLETED; moment++) {
		feed.used = 0;
		add_stamps(&feed, 1, 2);
		add_detail(&feed, moment, 5);
		parse(&feed, feed.used, 0);
		OK(notice.is_stamp && notice.kernel_tx.ns == 0 && notice.nic_tx.ns == 0,
			"moment %u is no transmit stamp", moment);
	}
	feed.used = 0;
	add_stamps(&feed, 11, 12);
	parse(&feed, feed.used, 0);
	OK(!notice.is_stamp && notice.kernel_tx.ns == 0 && notice.nic_tx.ns == 0,
		"stamps that do not say of which packet");
	feed.used = 0;
	struct scm_timestamping wild = {{{1, 1000000000}, {0, 0}, {INT64_MAX / 2, 0}}};
	add(&feed, SOL_SOCKET, SO_TIMESTAMPING, &wild, sizeof wild);
	add_detail(&feed, NET_MOMENT_SENT, 1);
	parse(&feed, feed.used, 0);
	OK(notice.kernel_tx.ns == 0 && notice.nic_tx.ns == 0, "times that are none");
	feed.used = 0;
	struct sock_extended_err refused = {.ee_errno = ECONNREFUSED, .ee_origin = SO_EE_ORIGIN_ICMP, .ee_data = 9};
	add(&feed, SOL_IPV6, IPV6_RECVERR, &refused, sizeof refused);
	parse(&feed, feed.used, 0);
	OK(!notice.is_stamp && notice.error == ECONNREFUSED && notice.key == 0, "an ICMP error over IPv6");
}

static void check_truncation(void)
{
	struct feed feed = {.used = 0};
	add_stamps(&feed, 1000000007, 5000000009);
	add_detail(&feed, NET_MOMENT_SENT, 77);
	bool sane = true, whole = false;
	for (size_t bytes = 0; bytes <= feed.used; bytes++) {
		parse(&feed, bytes, bytes < feed.used ? MSG_CTRUNC : 0);
		whole = notice.is_stamp && notice.key == 77 && notice.kernel_tx.ns == 1000000007;
		/* either all of it, or nothing that could be taken for a stamp */
		sane &= whole || (notice.kernel_tx.ns == 0 && notice.nic_tx.ns == 0);
		sane &= notice.cut == (bytes < feed.used);
	}
	OK(sane, "cut after any octet: all or nothing");
	OK(whole, "and all where nothing is cut");
	struct cmsghdr *head = (struct cmsghdr *)(void *)feed.control;
	static const size_t lengths[] = {0, 1, sizeof(struct cmsghdr) - 1, 4096, SIZE_MAX, SIZE_MAX - 7, SIZE_MAX / 2};
	for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
		head->cmsg_len = lengths[i];
		parse(&feed, feed.used, 0);
	}
	OK(notice.kernel_tx.ns == 0, "lengths that lead out of the buffer end the reading");
}

static void check_order(void)
{
	send_many(8);
	forget_real();
	for (uint32_t key = 8; key-- > 0;) {
		feed_udp(key, 0, 900 + key);
		feed_udp(key, 100 + key, 0);
	}
	bool right = true;
	for (int64_t i = 0; i < 8; i++)
		right &= samples[i].kernel_tx_ns == 100 + i && samples[i].nic_tx_ns == 900 + i;
	OK(right, "backwards, the card's before the kernel's: each finds its request");
	OK(strays() == 0 && raw_read(&counters.double_stamps) == 0, "nothing is left over");
	IS_I64(target.stamps_awaited, 0, "no more is awaited");
	feed_udp(3, 1, 0);
	feed_udp(3, 0, 1);
	OK(samples[3].kernel_tx_ns == 103 && samples[3].nic_tx_ns == 903, "a repeat changes nothing");
	IS_I64(raw_read(&counters.double_stamps), 2, "and is counted");
}

static void check_loss(void)
{
	uint64_t first = target.next;
	send_many(4);
	forget_real();
	feed_udp((uint32_t)first, 51, 0);
	feed_udp((uint32_t)first + 1, 0, 62);
	feed_udp((uint32_t)first + 3, 53, 63);
	OK(samples[first].kernel_tx_ns == 51 && samples[first].nic_tx_ns == 0, "the card's was lost");
	OK(samples[first + 1].kernel_tx_ns == 0 && samples[first + 1].nic_tx_ns == 62, "the kernel's was lost");
	OK(samples[first + 2].kernel_tx_ns == 0 && samples[first + 2].nic_tx_ns == 0, "both were");
	OK(samples[first + 3].kernel_tx_ns == 53 && samples[first + 3].nic_tx_ns == 63, "the next has its own");
	IS_I64(target.stamps_awaited, 4, "four are still awaited");
	feed_udp((uint32_t)target.next, 99, 99);
	feed_udp(UINT32_MAX, 99, 99);
	IS_I64(strays(), 2, "numbers not given yet are strays");
}

static void check_late(void)
{
	uint64_t first = target.next;
	uint64_t before = strays();
	send_many(DATAGRAM_KEYS + 1);
	forget_real();
	feed_udp((uint32_t)first, 71, 72);
	IS_I64(strays() - before, 1, "one that comes 4097 sends late is a stray");
	OK(samples[first].kernel_tx_ns == 0, "and no request's");
	feed_udp((uint32_t)first + 1, 0, 73);
	IS_I64(samples[first + 1].nic_tx_ns, 73, "4096 sends late it still finds its request");
}

static void check_wrapping(void)
{
	struct datagram *d = datagram_of(&target);
	d->key_next = UINT32_MAX - 1;
	uint64_t first = target.next;
	send_many(4);
	forget_real();
	feed_udp(1, 84, 0);
	feed_udp(0, 83, 0);
	feed_udp(UINT32_MAX, 82, 0);
	feed_udp(UINT32_MAX - 1, 81, 0);
	bool right = true;
	for (uint64_t i = 0; i < 4; i++)
		right &= samples[first + i].kernel_tx_ns == 81 + (int64_t)i;
	OK(right, "numbers wrap after 2^32 sends");
}

/* A send that the kernel refuses: whether it counted it differs between kernels, so the count begins anew. */
static void check_resync(void)
{
	struct datagram *d = datagram_of(&target);
	uint64_t first = target.next;
	size_t usual = d->packet_bytes;
	d->packet_bytes = 70000; /* EMSGSIZE */
	target.next++;
	OK(probe_udp.send(&target, first, 1) < 0, "a request that the kernel refuses");
	d->packet_bytes = usual;
	send_many(3);
	IS_I64(d->key_next, 3, "the count began anew with the next");
	int taken = 0;
	for (int i = 0; i < 50 && taken < 3; i++)
		taken += datagram_drain_notices(&target);
	bool right = true;
	for (uint64_t i = 1; i <= 3; i++)
		right &= samples[first + i].kernel_tx_ns != 0 &&
			 (i == 1 || samples[first + i].kernel_tx_ns > samples[first + i - 1].kernel_tx_ns);
	OK(right && samples[first].kernel_tx_ns == 0, "the kernel's own stamps agree: every request has its own");
}

/* Random messages, valid and not, in random order: nothing but their own requests may change. */
static void check_random(void)
{
	bool sane = true;
	uint64_t first = target.next;
	send_many(100);
	forget_real();
	srand(20260330);
	for (int i = 0; i < 20000; i++) {
		struct feed feed = {.used = 0};
		uint32_t index = (uint32_t)rand() % 100, key = (uint32_t)datagram_of(&target)->key_next - 100 + index;
		if (rand() % 4)
			add_stamps(
				&feed, rand() % 2 ? 1000 + (int64_t)index : 0, rand() % 2 ? 2000 + (int64_t)index : 0);
		if (rand() % 8)
			add_detail(&feed, rand() % 6 ? 0 : (uint32_t)rand() % 5, key);
		if (rand() % 10 == 0 && feed.used)
			feed.control[rand() % 20] = (char)rand();
		parse(&feed, rand() % 5 ? feed.used : (size_t)rand() % (feed.used + 1), 0);
		if (notice.is_stamp && !notice.error)
			datagram_take_notice(&target, &notice);
	}
	for (uint64_t i = 0; i < 100; i++) {
		const struct raw_sample *s = &samples[first + i];
		sane &= (s->kernel_tx_ns == 0 || s->kernel_tx_ns == 1000 + (int64_t)i || s->kernel_tx_ns > 1000000) &&
			(s->nic_tx_ns == 0 || s->nic_tx_ns == 2000 + (int64_t)i || s->nic_tx_ns > 1000000);
	}
	OK(sane, "20000 random messages (seed 20260330): a request has its own stamps or none");
}

int main(void)
{
	check_parser();
	check_truncation();
	if (!OK(open_target(), "a target whose requests go nowhere"))
		return tap_done();
	OK(target.stamps & NET_STAMP_NIC_TX && target.stamps & NET_STAMP_NIC_RX,
		"the kernel takes the flags for card stamps");
	check_order();
	check_loss();
	check_late();
	check_wrapping();
	check_resync();
	check_random();
	close_target();
	return tap_done();
}
