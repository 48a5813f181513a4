/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tcp:// of the responder: connections whose bytes are sent back as they come
 * (RFC 862). To the serving loop it is one descriptor like every other listener: an
 * epoll that holds the listening socket, an event to wake it, and all connections.
 * Private to this folder.
 */
#pragma once
#include "echo/listener.h"
#include "echo/serve.h"

/* Connections at a time; more are refused. */
enum { STREAM_CONNECTIONS = 256, STREAM_ROOM = 65536 };

struct stream;

/* Takes over the bound socket listener->fd and puts the epoll in its place. */
int stream_open(struct listener *listener, struct tare_err *err) TARE_MUST_USE;
void stream_close(struct listener *listener);
void stream_wake(const struct listener *listener);
/* As serve_one: serves one connection's bytes or accepts one connection. */
int stream_serve(struct server *server, struct listener *listener, int receive_flags);
