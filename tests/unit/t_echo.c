/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The responder on real sockets of the loopback interface: structure and counts, no time decides. */
#include <arpa/inet.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "clock/cpu.h"
#include "echo/echo.h"
#include "tap.h"
#include "stamp_request.h"
#include "wire/stamp.h"

static const uint64_t COOKIE = 4711;
static bool has_v6;

static struct sockaddr_storage name_of(const char *address, uint16_t port, socklen_t *ret_length)
{
	struct sockaddr_storage storage = {0};
	struct sockaddr_in *v4 = (struct sockaddr_in *)&storage;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&storage;
	*ret_length = sizeof *v4;
	v4->sin_family = AF_INET;
	if (inet_pton(AF_INET, address, &v4->sin_addr) != 1) {
		v6->sin6_family = AF_INET6;
		*ret_length = sizeof *v6;
		inet_pton(AF_INET6, address, &v6->sin6_addr);
	}
	v4->sin_port = htons(port);
	return storage;
}

/* A socket that hears only what comes from address:port, so that a reply from elsewhere is lost. */
static int asker(const char *address, uint16_t port, uint16_t own_port)
{
	socklen_t length;
	struct sockaddr_storage to = name_of(address, port, &length), own = name_of(address, own_port, &length);
	AUTO_FD fd = socket(to.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || (own_port && bind(fd, (struct sockaddr *)&own, length) < 0) ||
		connect(fd, (struct sockaddr *)&to, length) < 0)
		return -1;
	return take_fd(&fd);
}

/* A port that is free in both families now. */
static uint16_t free_port(void)
{
	for (int i = 0; i < 100; i++) {
		struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_ANY)};
		socklen_t length = sizeof name;
		AUTO_FD fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
		if (fd < 0 || bind(fd, (struct sockaddr *)&name, sizeof name) < 0 ||
			getsockname(fd, (struct sockaddr *)&name, &length) < 0)
			continue;
		struct sockaddr_in6 name6 = {.sin6_family = AF_INET6, .sin6_port = name.sin_port};
		AUTO_FD fd6 = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
		int only = 1;
		if (fd6 < 0 || (setsockopt(fd6, SOL_IPV6, IPV6_V6ONLY, &only, sizeof only) == 0 &&
				       bind(fd6, (struct sockaddr *)&name6, sizeof name6) == 0))
			return ntohs(name.sin_port);
	}
	return 40404;
}

/* Sends and waits for the answer, 2 s at most; its length, or -1. */
static ssize_t ask(int fd, const void *request, size_t bytes, uint8_t *reply, size_t room)
{
	struct pollfd ready = {.fd = fd, .events = POLLIN};
	if (send(fd, request, bytes, 0) < 0 || poll(&ready, 1, 2000) != 1)
		return -1;
	return recv(fd, reply, room, 0);
}

/* For "%.*s": the first line of an error, as a description is one line. */
#define FIRST_LINE(err) (int)strcspn((err).text, "\n"), (err).text

static struct echo *open_echo(
	struct echo_config config, const char *format, const char *format2, uint16_t port, uint16_t port2)
{
	char url[64], url2[64];
	const char *urls[2] = {url, url2};
	struct echo *echo = NULL;
	struct tare_err err = {0};
	snprintf(url, sizeof url, "%s:%u", format, port);
	snprintf(url2, sizeof url2, "%s:%u", format2 ? format2 : "", port2);
	config.urls = urls;
	config.url_count = format2 ? 2 : 1;
	if (echo_open(&config, &echo, &err) < 0 || echo_start(echo, &err) < 0) {
		printf("# %.*s\n", FIRST_LINE(err));
		echo_free(echo);
		return NULL;
	}
	return echo;
}

static void plain(struct echo_config config, const char *host, const char *asked, const char *what)
{
	uint16_t port = free_port();
	static uint8_t request[65507], reply[65536];
	for (size_t i = 0; i < sizeof request; i++)
		request[i] = (uint8_t)(i * 31);
	struct echo *echo = open_echo(config, host, NULL, port, 0);
	AUTO_FD fd = asker(asked, port, 0);
	if (!OK(echo && fd >= 0, "%s: open", what)) {
		echo_free(echo);
		return;
	}
	static const size_t sizes[] = {0, 1, 16, 64, 1472, 9000, 65507};
	size_t wrong = 0, count = sizeof sizes / sizeof sizes[0];
	for (size_t i = 0; i < count; i++) {
		ssize_t got = ask(fd, request, sizes[i], reply, sizeof reply);
		wrong += got != (ssize_t)sizes[i] || memcmp(request, reply, sizes[i]) != 0;
	}
	IS_I64(wrong, 0, what);
	echo_stop(echo);
	struct echo_counts counts = echo_counts(echo, 0);
	IS_I64(counts.requests, count, "every request is counted");
	IS_I64(counts.replies, count, "and every reply");
	IS_I64(counts.refused + counts.limited + counts.too_short + counts.send_errors + counts.overrun, 0,
		"and nothing else");
	echo_free(echo);
}

/* Takes answers until none has come for 2 s: how many were right, each once. */
static size_t collect(int fd, const uint8_t *sent, const size_t *bytes, size_t count, bool *seen)
{
	static uint8_t reply[65536];
	struct pollfd ready = {.fd = fd, .events = POLLIN};
	size_t right = 0;
	while (right < count && poll(&ready, 1, 2000) == 1) {
		ssize_t got = recv(fd, reply, sizeof reply, 0);
		uint16_t number;
		if (got < (ssize_t)sizeof number)
			continue;
		memcpy(&number, reply, sizeof number);
		bool fits = number < count && !seen[number] && (size_t)got == bytes[number] &&
			memcmp(reply + 2, sent + 2, (size_t)got - 2) == 0;
		if (fits)
			seen[number] = true;
		right += fits;
	}
	return right;
}

/* Requests that lie there before the responder looks come in batches; half of them are of a source not allowed. */
static void piled_up(struct echo_config config, const char *what)
{
	enum { COUNT = 100 }; /* their replies fit the smallest buffer there is */
	static uint8_t request[2000];
	static size_t bytes[COUNT];
	static bool seen[COUNT];
	uint16_t port = free_port();
	char url[64];
	const char *urls[1] = {url};
	struct echo *echo = NULL;
	struct tare_err err = {0};
	snprintf(url, sizeof url, "udp://127.0.0.1:%u", port);
	config.urls = urls;
	config.url_count = 1;
	config.allow = "127.0.0.1";
	AUTO_FD fd = -1;
	AUTO_FD other = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in from = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000002)};
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int opened = echo_open(&config, &echo, &err);
	fd = asker("127.0.0.1", port, 0);
	if (!OK(opened == 0 && fd >= 0 && bind(other, (struct sockaddr *)&from, sizeof from) == 0, "%s: open", what)) {
		echo_free(echo);
		return;
	}
	for (size_t i = 0; i < sizeof request; i++)
		request[i] = (uint8_t)(i * 7);
	memset(seen, 0, sizeof seen);
	size_t sent = 0;
	for (uint16_t i = 0; i < COUNT; i++) {
		bytes[i] = 2 + (size_t)i * 5;
		memcpy(request, &i, sizeof i);
		sent += send(fd, request, bytes[i], 0) == (ssize_t)bytes[i];
		sendto(other, request, bytes[i], 0, (struct sockaddr *)&to, sizeof to);
	}
	IS_I64(sent, COUNT, "they lie there");
	int started = echo_start(echo, &err);
	OK(started == 0, "%s: start %.*s", what, FIRST_LINE(err));
	IS_I64(collect(fd, request, bytes, COUNT, seen), COUNT, what);
	uint8_t reply[16];
	IS_I64(ask(fd, "alone", 5, reply, sizeof reply), 5, "one by itself is answered afterwards");
	echo_stop(echo);
	struct echo_counts counts = echo_counts(echo, 0);
	IS_I64(counts.requests, 2 * COUNT + 1, "every request is counted");
	IS_I64(counts.replies, COUNT + 1, "and every reply");
	IS_I64(counts.refused, COUNT, "and what is not answered");
	echo_free(echo);
}

static void stamp(struct echo_config config, const char *host, const char *asked, const char *what)
{
	uint16_t port = free_port();
	uint8_t request[200], reply[256];
	struct echo *echo = open_echo(config, host, NULL, port, 0);
	AUTO_FD fd = asker(asked, port, 0);
	if (!OK(echo && fd >= 0, "%s: open", what)) {
		echo_free(echo);
		return;
	}
	request_fill(request, 104, COOKIE, 77, 1);
	request_number(request, 0x100000003, 0xabcdef);
	ssize_t got = ask(fd, request, 104, reply, sizeof reply);
	struct stamp_reply r = {0};
	IS_I64(got, 104, what);
	OK(got > 0 && reply_read(reply, (size_t)got, COOKIE, &r) && r.has_number && r.number == 0x100000003,
		"the number comes back");
	OK(r.sender_t1_ntp == 0xabcdef && r.ssid == 77 && r.sequence == 3, "T1, SSID and sequence come back");
	OK(r.sender_ttl > 0, "the TTL was read");
	unsigned want = STAMP_VALID_USER_RX | STAMP_VALID_USER_TX | STAMP_VALID_RX_CPU | STAMP_VALID_TX_CPU;
	OK(r.has_peer && (r.peer.valid & want) == want, "our TLV is filled");
	OK(r.peer.user_rx_ns <= r.peer.user_tx_ns, "received before sent");
	OK(!(r.peer.valid & STAMP_VALID_KERNEL_RX) || r.peer.kernel_rx_ns > 0, "a kernel stamp is a time");
	OK(echo_place(echo, 0).without_kernel_stamps || r.peer.valid & STAMP_VALID_KERNEL_RX,
		"and there where it was promised");

	IS_I64(ask(fd, request, 44, reply, sizeof reply), 44, "a sender without TLVs is answered");
	if (config.light)
		IS_I64(ask(fd, request, 14, reply, sizeof reply), 44, "light: 14 octets are answered with 44");
	send(fd, request, 13, 0);
	send(fd, request, 0, 0);
	/* the answer to this one shows that those before were dealt with */
	IS_I64(ask(fd, request, 104, reply, sizeof reply), 104, "garbage is no end");
	echo_stop(echo);
	struct echo_counts counts = echo_counts(echo, 0);
	IS_I64(counts.requests, config.light ? 6 : 5, "requests");
	IS_I64(counts.replies, config.light ? 4 : 3, "replies");
	IS_I64(counts.too_short, 2, "too short");
	IS_I64(counts.foreign, config.light ? 2 : 1, "foreign senders");
	echo_free(echo);
}

/* A key in a file of its own; the caller unlinks it. */
static bool write_key(char path[], mode_t mode)
{
	AUTO_FD fd = mkstemp(path);
	return fd >= 0 && write(fd, "0123456789abcdef0123456789abcdef", 32) == 32 && fchmod(fd, mode) == 0;
}

static ssize_t ask_sealed(int fd, const struct stamp_asking *asking, uint8_t reply[512])
{
	uint8_t request[400];
	stamp_request_fill(request, asking);
	stamp_request_number(request, asking, 8);
	stamp_request_time(request, asking, 1);
	return ask(fd, request, asking->bytes, reply, 512);
}

static void authenticated(const char *host, const char *asked)
{
	static const uint8_t right[16] = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef};
	uint16_t port = free_port();
	uint8_t reply[512], request[400];
	char path[] = "/tmp/t_echo_key.XXXXXX";
	struct stamp_key *key = NULL, *wrong = NULL;
	struct tare_err err;
	struct stamp_reply r;
	struct echo_config config = {.key_file = path, .stateful = true};
	struct echo *echo = write_key(path, 0600) ? open_echo(config, host, NULL, port, 0) : NULL;
	AUTO_FD fd = asker(asked, port, 0);
	if (!OK(echo && fd >= 0 && stamp_key_open(right, sizeof right, &key, &err) == 0 &&
			    stamp_key_open(right, 15, &wrong, &err) == 0,
		    "%s with a key", host)) {
		echo_free(echo);
		return;
	}
	struct stamp_asking asking = {.bytes = STAMP_REQUEST_FULL_BYTES + STAMP_SEALED_MORE_BYTES, .key = key, .cookie = COOKIE};
	IS_I64(ask_sealed(fd, &asking, reply), (int64_t)asking.bytes, "answered with as many octets");
	OK(stamp_reply_read(reply, asking.bytes, &asking, &r) == STAMP_READ_REPLY && r.number == 8 && r.has_peer && !r.tlvs_forged,
		"and with both HMACs");
	struct stamp_asking forged = asking, plain = asking;
	forged.key = wrong;
	plain.key = NULL;
	stamp_request_fill(request, &forged);
	stamp_request_number(request, &forged, 9);
	stamp_request_time(request, &forged, 1);
	send(fd, request, forged.bytes, 0);
	stamp_request_fill(request, &plain);
	stamp_request_time(request, &plain, 1);
	send(fd, request, plain.bytes, 0);
	send(fd, request, 44, 0);
	send(fd, request, 43, 0);
	stamp_request_fill(request, &asking);
	stamp_request_number(request, &asking, 8);
	request[asking.bytes - 1] ^= 1;
	stamp_request_time(request, &asking, 1);
	IS_I64(ask(fd, request, asking.bytes, reply, sizeof reply), (int64_t)asking.bytes, "wrong TLVs: answered all the same");
	OK(stamp_reply_read(reply, asking.bytes, &asking, &r) == STAMP_READ_REPLY && r.tlvs_forged && !r.has_number, "without them");
	IS_I64(r.sequence, 1, "and what was dropped was not counted as a session's");
	echo_stop(echo);
	struct echo_counts counts = echo_counts(echo, 0);
	IS_I64(counts.requests, 6, "requests");
	IS_I64(counts.replies, 2, "replies");
	IS_I64(counts.wrong_hmac, 1, "wrong HMAC: dropped and counted");
	IS_I64(counts.unauthenticated, 2, "unauthenticated: dropped and counted");
	IS_I64(counts.wrong_tlvs, 1, "wrong TLVs: counted");
	IS_I64(counts.too_short, 1, "too short");
	echo_free(echo);
	stamp_key_free(key);
	stamp_key_free(wrong);
	unlink(path);
}

/*
 * A reflector that counts tells with each reply when the one before really left, and answers with the DSCP asked for.
 * Loopback stamps within the send call, so that the time is always there.
 */
static void followed(const char *host, const char *asked)
{
	uint16_t port = free_port();
	uint8_t reply[512];
	struct echo *echo = open_echo((struct echo_config){.stateful = true}, host, NULL, port, 0);
	AUTO_FD fd = asker(asked, port, 0);
	if (!OK(echo && fd >= 0, "%s, counting", host)) {
		echo_free(echo);
		return;
	}
	struct stamp_asking asking = {.bytes = STAMP_REQUEST_FULL_BYTES, .cookie = COOKIE, .reply_dscp = 34};
	struct stamp_reply r[4];
	size_t read = 0, wrong = 0;
	for (size_t i = 0; i < 4; i++) {
		ask_sealed(fd, &asking, reply);
		read += stamp_reply_read(reply, asking.bytes, &asking, &r[i]) == STAMP_READ_REPLY && r[i].has_info && r[i].has_class;
	}
	IS_I64(read, 4, "each with information and class");
	OK(!r[0].has_follow_up, "the first has nothing before it");
	/* stamps are switched on behind the first request, so the first reply is the first that has one */
	for (size_t i = 1; i < 4; i++)
		wrong += !r[i].has_follow_up || r[i].follow_up.sequence != r[i - 1].sequence || r[i].follow_up.t3 < r[i - 1].t3 ||
			 r[i].follow_up.t3 > r[i].t2 || r[i].follow_up.method != STAMP_METHOD_SOFTWARE;
	IS_I64(wrong, 0, "then the time of the one before: not before its own T3, not behind the next request's T2");
	OK(r[3].class.asked_dscp == 34 && !r[3].class.refused && r[3].class.seen_dscp == 0, "DSCP asked, granted and seen");
	echo_free(echo);
}

/* Opening fails, with this error code and this within its text. */
static void open_fails(struct echo_config config, const char *url, enum tare_code code, const char *within)
{
	struct echo *echo = NULL;
	const char *urls[1] = {url};
	struct tare_err err = {0};
	config.urls = urls;
	config.url_count = url ? 1 : 0;
	int status = echo_open(&config, &echo, &err);
	OK(status == -1 && !echo && err.code == code && strstr(err.text, within), "%s: refused: %.*s",
		url ? url : "no listener", FIRST_LINE(err));
	echo_free(echo);
}

/* The number of the next reply, and what its TLV says of faults; UINT64_MAX when none comes within 2 s. */
static uint64_t next_number(int fd, unsigned *ret_valid)
{
	uint8_t reply[256];
	struct stamp_reply r = {0};
	struct pollfd ready = {.fd = fd, .events = POLLIN};
	if (poll(&ready, 1, 2000) != 1)
		return UINT64_MAX;
	ssize_t got = recv(fd, reply, sizeof reply, 0);
	if (got < 0 || !reply_read(reply, (size_t)got, COOKIE, &r) || !r.has_number)
		return UINT64_MAX;
	*ret_valid = r.peer.valid & (STAMP_VALID_INJECTING | STAMP_VALID_INJECTED);
	return r.number;
}

static void injected(void)
{
	uint16_t port = free_port();
	uint8_t request[200];
	struct echo_config config = {.inject = "drop at 2, duplicate at 3, reorder at 4, delay 1us at 6"};
	struct echo *echo = open_echo(config, "stamp://127.0.0.1", NULL, port, 0);
	AUTO_FD fd = asker("127.0.0.1", port, 0);
	if (!OK(echo && fd >= 0, "a responder that injects faults")) {
		echo_free(echo);
		return;
	}
	request_fill(request, 104, COOKIE, 77, 1);
	for (uint64_t number = 1; number <= 6; number++) {
		request_number(request, number, 1);
		send(fd, request, 104, 0);
	}
	/* 2 is dropped, 3 comes twice, 4 behind 5 */
	static const uint64_t expected[] = {1, 3, 3, 5, 4, 6};
	size_t wrong = 0, unsaid = 0;
	for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
		unsigned valid = 0;
		wrong += next_number(fd, &valid) != expected[i];
		bool hit = expected[i] == 3 || expected[i] == 4 || expected[i] == 6;
		unsaid += valid != (STAMP_VALID_INJECTING | (hit ? STAMP_VALID_INJECTED : 0u));
	}
	IS_I64(wrong, 0, "dropped, duplicated and reordered as asked");
	IS_I64(unsaid, 0, "every reply says that faults are injected, and those hit that they were");
	echo_free(echo);
	open_fails(config, "udp://127.0.0.1:7", TARE_E_USAGE, "--inject");
	config.inject = "drop 1";
	open_fails(config, "stamp://127.0.0.1:8", TARE_E_USAGE, "needs to know when");
}

static void reflectors(void)
{
	uint16_t port = free_port(), port2 = free_port();
	while (port2 == port)
		port2 = free_port();
	struct echo *echo = open_echo((struct echo_config){0}, "udp://127.0.0.1", "stamp://127.0.0.1", port, port2);
	AUTO_FD same = asker("127.0.0.2", port, port), other = asker("127.0.0.2", port, port2);
	AUTO_FD fine = asker("127.0.0.1", port, 0);
	socklen_t length;
	struct sockaddr_storage to = name_of("127.0.0.1", port, &length);
	uint8_t reply[64];
	if (OK(echo && same >= 0 && other >= 0 && fine >= 0, "a listener of each kind")) {
		connect(same, (struct sockaddr *)&to, length);
		connect(other, (struct sockaddr *)&to, length);
		send(same, "x", 1, 0);
		send(other, "x", 1, 0);
		IS_I64(ask(fine, "y", 1, reply, sizeof reply), 1, "an honest source is answered");
		echo_stop(echo);
		struct echo_counts counts = echo_counts(echo, 0);
		IS_I64(counts.refused, 2, "sources on our own ports are not");
		IS_I64(counts.replies, 1, "one reply");
		IS_STR(echo_place(echo, 1).listener, echo_counts(echo, 1).listener, "listeners are named");
	}
	echo_free(echo);
}

static void trouble(void)
{
	char path[] = "/tmp/t_echo_key.XXXXXX";
	struct echo_config none = {0}, sealed = {.key_file = path}, listed = {.allow = "10.0.0.1/8"};
	uint16_t port = free_port();
	char url[64];
	snprintf(url, sizeof url, "udp://127.0.0.1:%u", port);
	struct echo *echo = open_echo(none, "udp://127.0.0.1", NULL, port, 0);
	OK(echo, "port taken");
	open_fails(none, url, TARE_E_SYSTEM, "in use\n");
	echo_free(echo);
	open_fails(none, "udp://127.0.0.1", TARE_E_USAGE, "needs a port");
	open_fails(none, "stmap://127.0.0.1", TARE_E_USAGE, "'stamp'");
	open_fails(none, "udp://203.0.113.77:9999", TARE_E_SYSTEM, "no interface");
	open_fails(none, "stamp://224.0.0.1:9999", TARE_E_USAGE, "only udp:// answers to multicast groups");
	open_fails(none, "udp://127.0.0.1:9999?if=lo", TARE_E_USAGE, "are for multicast groups");
	open_fails(none, NULL, TARE_E_USAGE, "nothing to listen on");
	open_fails(listed, url, TARE_E_USAGE, "10.0.0.1/8");
	open_fails(sealed, "stamp://127.0.0.1:8999", TARE_E_SYSTEM, "cannot open the key file");
	if (OK(write_key(path, 0644), "a key that others can read"))
		open_fails(sealed, "stamp://127.0.0.1:8999", TARE_E_SYSTEM, "chmod 600");
	if (OK(chmod(path, 0400) == 0, "and one that nobody else can"))
		open_fails(sealed, "udp://127.0.0.1:8999", TARE_E_USAGE, "for stamp://");
	sealed.light = true;
	open_fails(sealed, "stamp://127.0.0.1:8999", TARE_E_USAGE, "--light");
	unlink(path);

	int absent[1] = {1023};
	const char *urls[1] = {url};
	struct echo_config pinned = {.urls = urls, .url_count = 1, .cpus = absent, .cpu_count = 1};
	struct tare_err err = {0};
	echo = NULL;
	OK(echo_open(&pinned, &echo, &err) == 0, "the port is free again");
	int status = echo ? echo_start(echo, &err) : 0;
	OK(status == -1 && strstr(err.text, "1023"), "an absent CPU: refused: %.*s", FIRST_LINE(err));
	echo_free(echo);
	echo_free(NULL);
}

static void allow_and_names(void)
{
	uint16_t port = free_port();
	uint8_t reply[8];
	struct echo *echo = open_echo(
		(struct echo_config){.allow = "127.0.0.2", .limit_interval_ns = 1000}, "udp://", NULL, port, 0);
	char url[64];
	snprintf(url, sizeof url, "udp://127.0.0.1:%u", port);
	AUTO_FD refused = asker("127.0.0.1", port, 0);
	socklen_t length;
	struct sockaddr_storage own = name_of("127.0.0.2", 0, &length), to = name_of("127.0.0.1", port, &length);
	AUTO_FD bound = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (OK(echo && refused >= 0 && bind(bound, (struct sockaddr *)&own, length) == 0 &&
			    connect(bound, (struct sockaddr *)&to, length) == 0,
		    "an allowed source")) {
		IS_STR(echo_place(echo, 0).listener, url, "without a host: 127.0.0.1");
		send(refused, "x", 1, 0);
		IS_I64(ask(bound, "y", 1, reply, sizeof reply), 1, "is answered");
		echo_stop(echo);
		IS_I64(echo_counts(echo, 0).refused, 1, "the other is refused");
	}
	echo_free(echo);
}

static void columns(void)
{
	struct echo_counts counts = {.listener = "udp://x", .requests = 1, .overrun = 8};
	size_t n = 0;
	uint64_t sum = 0;
	for (const struct column *column = echo_columns; column->name; column++, n++) {
		struct cell cell = column->get(&counts, column);
		sum += cell.type == CELL_COUNT ? cell.as.count : 0;
	}
	IS_I64(n, 12, "twelve columns");
	IS_I64(sum, 9, "each shows its own count");
}

int main(void)
{
	AUTO_FD v6 = asker("::1", 9, 0);
	has_v6 = v6 >= 0;
	int here[1] = {cpu_current()};
	struct echo_config blocking = {0}, spinning = {.spin = true, .cpus = here, .cpu_count = 1},
			   light = {.light = true};
	plain(blocking, "udp://127.0.0.1", "127.0.0.1", "udp, blocking");
	plain(spinning, "udp://127.0.0.1", "127.0.0.1", "udp, spinning on a CPU");
	plain(blocking, "udp://0.0.0.0", "127.0.0.2", "udp on every address answers from the one asked");
	piled_up(blocking, "udp that has piled up, blocking");
	piled_up(spinning, "udp that has piled up, spinning");
	stamp(blocking, "stamp://127.0.0.1", "127.0.0.1", "stamp, blocking");
	stamp(spinning, "stamp://127.0.0.1", "127.0.0.1", "stamp, spinning on a CPU");
	stamp(light, "stamp://0.0.0.0", "127.0.0.2", "stamp, light, on every address");
	if (has_v6) {
		plain(blocking, "udp://[::1]", "::1", "udp over IPv6");
		plain(blocking, "udp://[::]", "::1", "udp on every IPv6 address");
		stamp(blocking, "stamp://[::]", "::1", "stamp on every IPv6 address");
	} else {
		SKIP(3, "no IPv6 here");
	}
	authenticated("stamp://127.0.0.1", "127.0.0.1");
	followed("stamp://127.0.0.1", "127.0.0.1");
	if (has_v6) {
		authenticated("stamp://[::1]", "::1");
		followed("stamp://[::]", "::1");
	}
	else
		SKIP(1, "no IPv6 here");
	injected();
	reflectors();
	allow_and_names();
	trouble();
	columns();
	return tap_done();
}
