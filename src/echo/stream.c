/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Echo over TCP. A peer that does not read what it asked for is not read from either:
 * what could not be sent back waits in the connection's own room, and nothing more is
 * taken until it is gone. While a thread spins it asks the connections themselves, which
 * costs less than asking epoll first.
 */
#include "echo/stream.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* What an epoll event is about: a connection by its place, or one of these. */
enum { ABOUT_LISTENER = STREAM_CONNECTIONS, ABOUT_WAKE };
/* Spinning: new connections are looked for once in so many turns. */
enum { TURNS_PER_ACCEPT = 256 };

struct connection {
	int fd;            /* -1: free */
	uint8_t *rest;     /* STREAM_ROOM, from the first time on that something had to wait */
	size_t from, left; /* of rest: not sent yet */
};

struct stream {
	int listening, wake;
	unsigned turn, used; /* used: places below this may be taken */
	struct connection connection[STREAM_CONNECTIONS];
};

static void watch(const struct listener *listener, int fd, uint32_t about, uint32_t events, int operation)
{
	struct epoll_event event = {.events = events, .data.u32 = about};
	epoll_ctl(listener->fd, operation, fd, &event);
}

int stream_open(struct listener *listener, struct tare_err *err)
{
	struct stream *stream = calloc(1, sizeof *stream);
	if (!stream)
		return tare_fail_errno(err, ENOMEM, "cannot serve %s", listener->url);
	for (size_t i = 0; i < STREAM_CONNECTIONS; i++)
		stream->connection[i].fd = -1;
	stream->listening = listener->fd;
	listener->stream = stream;
	listener->fd = epoll_create1(EPOLL_CLOEXEC);
	stream->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (listener->fd < 0 || stream->wake < 0)
		return tare_fail_errno(err, errno, "cannot watch %s", listener->url);
	if (listen(stream->listening, SOMAXCONN) < 0)
		return tare_fail_errno(err, errno, "cannot listen on %s", listener->url);
	watch(listener, stream->listening, ABOUT_LISTENER, EPOLLIN, EPOLL_CTL_ADD);
	watch(listener, stream->wake, ABOUT_WAKE, EPOLLIN, EPOLL_CTL_ADD);
	return 0;
}

static void end_connection(struct connection *connection)
{
	if (connection->fd >= 0)
		close(connection->fd);
	connection->fd = -1;
	connection->left = 0;
}

void stream_close(struct listener *listener)
{
	struct stream *stream = listener->stream;
	if (!stream)
		return;
	for (size_t i = 0; i < STREAM_CONNECTIONS; i++) {
		end_connection(&stream->connection[i]);
		free(stream->connection[i].rest);
	}
	close(stream->listening);
	if (stream->wake >= 0)
		close(stream->wake);
	free(stream);
	listener->stream = NULL;
}

void stream_wake(const struct listener *listener)
{
	uint64_t one = 1;
	/* it stays readable for ever: nobody reads it */
	if (write(listener->stream->wake, &one, sizeof one) < 0)
		return;
}

/* The place of a new connection; -1 when all are taken. */
static int free_place(const struct stream *stream)
{
	for (int i = 0; i < STREAM_CONNECTIONS; i++)
		if (stream->connection[i].fd < 0)
			return i;
	return -1;
}

static int accept_one(struct server *server, struct listener *listener)
{
	struct stream *stream = listener->stream;
	struct sockaddr_storage from = {0};
	socklen_t length = sizeof from;
	int on = 1, place = free_place(stream);
	int fd = accept4(stream->listening, (struct sockaddr *)&from, &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd < 0)
		return errno == EAGAIN || errno == EINTR || errno == ECONNABORTED ? 0 : -errno;
	enum answer_verdict verdict = answer_source(server->rules, server->limit, &from);
	if (place < 0 || verdict != ANSWER_REPLY) {
		count_one(verdict == ANSWER_LIMITED ? &listener->limited : &listener->refused);
		close(fd);
		return 1;
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	stream->connection[place].fd = fd;
	if ((unsigned)place >= stream->used)
		stream->used = (unsigned)place + 1;
	watch(listener, fd, (uint32_t)place, EPOLLIN, EPOLL_CTL_ADD);
	return 1;
}

/* Keeps what the kernel did not take; false without memory for it. */
static bool keep_rest(struct connection *connection, const uint8_t *bytes, size_t count)
{
	if (!connection->rest)
		connection->rest = malloc(STREAM_ROOM);
	if (!connection->rest)
		return false;
	memcpy(connection->rest, bytes, count);
	connection->from = 0;
	connection->left = count;
	return true;
}

static int send_rest(struct listener *listener, size_t place)
{
	struct connection *connection = &listener->stream->connection[place];
	ssize_t sent = send(
		connection->fd, connection->rest + connection->from, connection->left, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (sent < 0 && errno == EAGAIN)
		return 0;
	if (sent < 0) {
		end_connection(connection);
		return 1;
	}
	connection->from += (size_t)sent;
	connection->left -= (size_t)sent;
	if (connection->left == 0)
		watch(listener, connection->fd, (uint32_t)place, EPOLLIN, EPOLL_CTL_MOD);
	return 1;
}

static int echo_bytes(struct server *server, struct listener *listener, size_t place)
{
	struct connection *connection = &listener->stream->connection[place];
	if (connection->left)
		return send_rest(listener, place);
	ssize_t got = recv(connection->fd, server->packet, STREAM_ROOM, MSG_DONTWAIT);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (got <= 0) {
		end_connection(connection);
		return 1;
	}
	count_one(&listener->requests);
	ssize_t sent = send(connection->fd, server->packet, (size_t)got, MSG_DONTWAIT | MSG_NOSIGNAL);
	count_one(sent < 0 ? &listener->send_errors : &listener->replies);
	if (sent == got)
		return 1;
	size_t taken = sent > 0 ? (size_t)sent : 0;
	if ((sent < 0 && errno != EAGAIN) || !keep_rest(connection, server->packet + taken, (size_t)got - taken))
		end_connection(connection);
	else
		watch(listener, connection->fd, (uint32_t)place, EPOLLOUT, EPOLL_CTL_MOD);
	return 1;
}

static int serve_event(struct server *server, struct listener *listener, int wait_ms)
{
	struct epoll_event event;
	int ready = epoll_wait(listener->fd, &event, 1, wait_ms);
	if (ready <= 0)
		return ready == 0 || errno == EINTR ? 0 : -errno;
	if (event.data.u32 == ABOUT_WAKE)
		return 0;
	if (event.data.u32 == ABOUT_LISTENER)
		return accept_one(server, listener);
	return listener->stream->connection[event.data.u32].fd >= 0 ? echo_bytes(server, listener, event.data.u32) : 0;
}

int stream_serve(struct server *server, struct listener *listener, int receive_flags)
{
	struct stream *stream = listener->stream;
	if (!server->spin)
		return serve_event(server, listener, receive_flags & MSG_DONTWAIT ? 0 : -1);
	int served = 0;
	for (size_t i = 0; i < stream->used; i++)
		if (stream->connection[i].fd >= 0)
			served |= echo_bytes(server, listener, i);
	if (stream->turn++ % TURNS_PER_ACCEPT == 0)
		return accept_one(server, listener);
	return served;
}
