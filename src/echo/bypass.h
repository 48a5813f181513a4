/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * xdp:// of the responder: plain echo past the kernel's stack (AF_XDP). Frames that
 * arrived are turned round where they lie and sent from there. Private to this folder.
 */
#pragma once
#include "echo/listener.h"
#include "echo/serve.h"

struct bypass;

#ifdef HAVE_XDP
/* Opens the socket of a listener whose address is resolved; its descriptor becomes listener->fd. */
int bypass_open(struct listener *listener, const struct net_url *url, struct tare_err *err) TARE_MUST_USE;
void bypass_close(struct listener *listener); /* safe for listeners of other kinds */
/* Answers what has arrived, at most one batch; returns the number of frames, never waits. */
int bypass_serve(struct server *server, struct listener *listener);
uint64_t bypass_overrun(const struct listener *listener);
/* How it listens, and at the end what its counters say of losses. False: nothing was lost. */
void bypass_describe(const struct listener *listener, char *buffer, size_t room);
bool bypass_losses(const struct listener *listener, char *buffer, size_t room);
#else
/* In a build without libxdp: said when asked for, and nothing else is ever called with such a listener. */
static inline int bypass_open(struct listener *listener, const struct net_url *url, struct tare_err *err)
{
	(void)url;
	return tare_fail(err, TARE_E_USAGE,
		"cannot listen on %s: this build has no xdp://: libxdp or libbpf was not there", listener->url);
}
static inline void bypass_close(struct listener *listener)
{
	(void)listener;
}
static inline int bypass_serve(struct server *server, struct listener *listener)
{
	(void)server;
	(void)listener;
	return 0;
}
static inline uint64_t bypass_overrun(const struct listener *listener)
{
	(void)listener;
	return 0;
}
static inline void bypass_describe(const struct listener *listener, char *buffer, size_t room)
{
	(void)listener;
	if (room)
		buffer[0] = '\0';
}
static inline bool bypass_losses(const struct listener *listener, char *buffer, size_t room)
{
	bypass_describe(listener, buffer, room);
	return false;
}
#endif
