/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Kind tcp against a server that this test plays itself, on loopback: replies in
 * pieces, together, too many, wrong; connections that break. No time decides.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "probe/probe.h"
#include "tap.h"

enum { REQUESTS = 64 };

struct stage {
	struct probe_target target;
	struct raw_sample samples[REQUESTS];
	struct raw_counters counters;
	struct probe_exchange exchange;
	int listening, peer;
};

static int listen_on(uint16_t port, uint16_t *ret_port)
{
	struct sockaddr_in name = {
		.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof name;
	int on = 1;
	AUTO_FD fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (fd < 0 || bind(fd, (struct sockaddr *)&name, sizeof name) < 0 || listen(fd, 8) < 0 ||
		getsockname(fd, (struct sockaddr *)&name, &length) < 0)
		return -1;
	*ret_port = ntohs(name.sin_port);
	return take_fd(&fd);
}

static void make_address(struct net_address *address, uint16_t port)
{
	struct sockaddr_in name = {
		.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	memcpy(&address->storage, &name, sizeof name);
	address->length = sizeof name;
	net_address_text(address, true);
}

static bool set_up(struct stage *s, const char *send, const char *expect)
{
	struct tare_err err = {0};
	uint16_t port = 0;
	memset(s, 0, sizeof *s);
	s->listening = listen_on(0, &port);
	s->target = (struct probe_target){.kind = &probe_tcp,
		.fd = -1,
		.clock = &clock_system,
		.count = REQUESTS,
		.samples = s->samples,
		.counters = &s->counters};
	s->target.request = (struct probe_request){.payload_bytes = 32, .seed = 7, .stamps = PROBE_STAMPS_USER};
	make_address(&s->target.request.address, port);
	if (send) {
		s->exchange = (struct probe_exchange){.send = (const uint8_t *)send,
			.send_bytes = strlen(send),
			.expect = (const uint8_t *)expect,
			.expect_bytes = strlen(expect)};
		s->target.request.exchange = &s->exchange;
	}
	if (s->listening < 0 || probe_tcp.open(&s->target, &err) < 0)
		return false;
	s->peer = accept(s->listening, NULL, NULL);
	probe_tcp.begin(&s->target);
	return s->peer >= 0;
}

static void tear_down(struct stage *s)
{
	probe_tcp.close(&s->target);
	if (s->peer >= 0)
		close(s->peer);
	if (s->listening >= 0)
		close(s->listening);
}

/* As the loop does. */
static void send_requests(struct stage *s, unsigned count)
{
	int sent = probe_tcp.send(&s->target, s->target.next, count);
	s->target.open += sent > 0 ? (uint64_t)sent : 0;
	s->target.next += sent > 0 ? (uint64_t)sent : 0;
}

static void serve(struct stage *s, const char *bytes, size_t count)
{
	if (write(s->peer, bytes, count) != (ssize_t)count)
		printf("# the test's own server cannot write\n");
}

/* Until the answers are in, or a second has passed. */
static void await_answers(struct stage *s, uint64_t answers)
{
	for (int i = 0; i < 1000 && raw_read(&s->counters.answered) < answers; i++)
		if (probe_tcp.drain(&s->target) == 0)
			poll(NULL, 0, 1);
}

static void drain_until_quiet(struct stage *s)
{
	for (int quiet = 0; quiet < 20;) {
		quiet = probe_tcp.drain(&s->target) ? 0 : quiet + 1;
		poll(NULL, 0, 1);
	}
}

static void pieces(void)
{
	struct stage s;
	if (!OK(set_up(&s, "PING\r\n", "+PONG"), "a connection"))
		return;
	send_requests(&s, 3);
	serve(&s, "+PO", 3);
	drain_until_quiet(&s);
	IS_I64(raw_read(&s.counters.answered), 0, "half a reply answers nothing");
	serve(&s, "NG\r\n+PONG\r\n+PO", 14);
	await_answers(&s, 2);
	IS_I64(raw_read(&s.counters.answered), 2, "the other half and one more: two answers");
	OK(s.samples[0].user_rx_ns && s.samples[1].user_rx_ns && !s.samples[2].user_rx_ns, "of the first two requests");
	serve(&s, "NG\r\n+PONG\r\n", 11);
	await_answers(&s, 3);
	drain_until_quiet(&s);
	IS_I64(raw_read(&s.counters.answered), 3, "three requests, three answers");
	IS_I64(raw_read(&s.counters.foreign), 1, "a fourth reply is nobody's");
	IS_I64(s.target.open, 0, "none is open");
	tear_down(&s);
}

static void wrong_replies(void)
{
	struct stage s;
	if (!OK(set_up(&s, "PING\r\n", "+PONG"), "a connection"))
		return;
	send_requests(&s, 3);
	serve(&s, "+PONG\r\n-ERR no\r\n+PONG\r\n", 23);
	await_answers(&s, 3);
	IS_I64(s.samples[0].reason, 0, "right");
	IS_I64(s.samples[1].reason, TARE_REASON_UNEXPECTED, "wrong: with its reason");
	OK(s.samples[1].user_rx_ns != 0, "and its time");
	IS_I64(s.samples[2].reason, 0, "right again");
	IS_I64(s.target.open, 0, "none is open");
	tear_down(&s);
}

static void own_payload(void)
{
	struct stage s;
	char bytes[256];
	if (!OK(set_up(&s, NULL, NULL), "a connection"))
		return;
	send_requests(&s, 4);
	ssize_t got = 0;
	while (got < 4 * 32) {
		ssize_t more = read(s.peer, bytes + got, sizeof bytes - (size_t)got);
		if (more <= 0)
			break;
		got += more;
	}
	IS_I64(got, 4 * 32, "four requests of 32 bytes");
	serve(&s, bytes, 40);
	serve(&s, bytes + 40, 88);
	await_answers(&s, 4);
	IS_I64(raw_read(&s.counters.answered), 4, "echoed in two uneven pieces: four answers");
	send_requests(&s, 1);
	serve(&s, bytes, 32); /* number 0 once more: not what was asked */
	drain_until_quiet(&s);
	OK(s.samples[4].user_rx_ns != 0, "a stream answers in order");
	tear_down(&s);
}

static void broken(void)
{
	struct stage s;
	if (!OK(set_up(&s, "PING\r\n", "+PONG"), "a connection"))
		return;
	struct linger reset = {.l_onoff = 1};
	send_requests(&s, 2);
	serve(&s, "+PONG\r\n", 7);
	await_answers(&s, 1);
	poll(NULL, 0, 12); /* the last attempt to connect is long enough ago */
	setsockopt(s.peer, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
	close(s.peer);
	drain_until_quiet(&s);
	IS_I64(s.samples[1].reason, ECONNRESET, "the request under way fails with the connection");
	IS_I64(s.target.open, 0, "none is open");
	s.peer = accept(s.listening, NULL, NULL);
	OK(s.peer >= 0, "a new connection is there at once");
	send_requests(&s, 1);
	serve(&s, "+PONG\r\n", 7);
	await_answers(&s, 2);
	OK(s.samples[2].user_rx_ns != 0, "and carries the next request");
	IS_I64(raw_read(&s.counters.reconnects), 1, "counted as one");
	tear_down(&s);
}

static void nobody(void)
{
	struct stage s;
	if (!OK(set_up(&s, "PING\r\n", "+PONG"), "a connection"))
		return;
	close(s.listening);
	close(s.peer);
	s.listening = s.peer = -1;
	drain_until_quiet(&s);
	send_requests(&s, 2);
	IS_I64(s.target.next, 2, "with nobody there requests still have their turn");
	OK(s.samples[0].reason == ECONNREFUSED || s.samples[0].reason == ECONNRESET, "and fail with a reason: %s",
		strerror(s.samples[0].reason));
	OK(s.samples[0].user_tx_ns && !s.samples[0].user_rx_ns, "sent, not answered");
	IS_I64(s.target.open, 0, "none is open");
	tear_down(&s);
}

/* Unanswered requests of one round must not be answered in the next. */
static void next_round(void)
{
	struct stage s;
	if (!OK(set_up(&s, "PING\r\n", "+PONG"), "a connection"))
		return;
	send_requests(&s, 1);
	memset(s.samples, 0, sizeof s.samples);
	s.target.next = s.target.open = 0;
	probe_tcp.begin(&s.target);
	int second = accept(s.listening, NULL, NULL);
	serve(&s, "+PONG\r\n", 7);
	send_requests(&s, 1);
	drain_until_quiet(&s);
	OK(second >= 0 && s.samples[0].user_rx_ns == 0, "an answer to the round before reaches nobody");
	close(s.peer);
	s.peer = second;
	serve(&s, "+PONG\r\n", 7);
	await_answers(&s, 1);
	OK(s.samples[0].user_rx_ns != 0, "the right one does");
	tear_down(&s);
}

int main(void)
{
	pieces();
	wrong_replies();
	own_payload();
	broken();
	nobody();
	next_round();
	return tap_done();
}
