/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Opening a listener. Addresses are not shared (no SO_REUSEADDR): a second
 * responder on the port would take half of the requests and answer them from
 * another CPU, so it is refused with a sentence instead.
 */
#include "echo/listener.h"

#include <errno.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "echo/bypass.h"
#include "echo/stream.h"

/* A backlog of 20 000 small datagrams: 60 ms of 300 000 a second. */
enum { BUFFER_BYTES = 16 << 20 };

static int read_url(struct listener *listener, const char *text, struct net_url *ret_url, struct tare_err *err)
{
	static const char *const schemes[] = {"udp", "stamp", "tcp", "xdp", NULL};
	struct net_url url;
	if (net_url_parse(text, &url, err) < 0)
		return -1;
	if (url.path[0] && strcmp(url.scheme, "xdp") != 0 && !(strcmp(url.scheme, "udp") == 0 && url.path[0] == '?'))
		return tare_fail(err, TARE_E_USAGE, "'%.200s' has something behind host and port: '%.100s'", text, url.path);
	if (strcmp(url.scheme, "stamp") == 0) {
		listener->kind = LISTENER_STAMP;
		if (url.port < 0)
			url.port = STAMP_PORT;
	} else if (strcmp(url.scheme, "udp") == 0) {
		listener->kind = LISTENER_UDP;
	} else if (strcmp(url.scheme, "tcp") == 0) {
		listener->kind = LISTENER_TCP;
	} else if (strcmp(url.scheme, "xdp") == 0) {
		listener->kind = LISTENER_XDP;
	} else {
		const char *near = nearest_word(url.scheme, schemes);
		return tare_fail(err, TARE_E_USAGE, "cannot answer %s://: the kinds are udp://, stamp://, tcp:// and xdp://%s%s%s",
			url.scheme, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
	}
	if (url.port < 0)
		return tare_fail(err, TARE_E_USAGE, "'%.200s' needs a port, as udp://127.0.0.1:7000", text);
	if (!url.host[0] && listener->kind == LISTENER_XDP)
		return tare_fail(err, TARE_E_USAGE, "'%.200s' needs an address of its interface, as xdp://10.0.0.2:7000", text);
	if (!url.host[0])
		snprintf(url.host, sizeof url.host, "127.0.0.1");
	*ret_url = url;
	return 0;
}

static bool is_wildcard(const struct net_address *address)
{
	if (address->storage.ss_family == AF_INET)
		return ((const struct sockaddr_in *)&address->storage)->sin_addr.s_addr == htonl(INADDR_ANY);
	return IN6_IS_ADDR_UNSPECIFIED(&((const struct sockaddr_in6 *)&address->storage)->sin6_addr);
}

/* The sentence, and what would help on a line of its own. */
static int fail_bind(const struct listener *listener, int why, struct tare_err *err)
{
	struct tare_err told = {0};
	struct text text = TEXT_IN(told.text);
	tare_fail_errno(&told, why, "cannot listen on %s", listener->url);
	text.used = strlen(told.text);
	if (why == EADDRINUSE)
		text_add(&text, "\n  another program has the port; 'ss -l%cnp sport = :%u' tells which", listener->kind == LISTENER_TCP ? 't' : 'u', listener->port);
	else if (why == EADDRNOTAVAIL)
		text_add(&text, "\n  no interface of this host has that address");
	else if (why == EACCES)
		text_add(&text, "\n  ports below 1024 need CAP_NET_BIND_SERVICE: "
				"setcap cap_net_bind_service+ep $(command -v tare), or take a port above");
	if (err)
		*err = told;
	return -1;
}

static int set_int(const struct listener *listener, int level, int option, int value)
{
	return setsockopt(listener->fd, level, option, &value, sizeof value);
}

/* What the reply needs to know about the request, by control data. */
static int ask_control(struct listener *listener, bool v6, struct tare_err *err)
{
	int level = v6 ? SOL_IPV6 : SOL_IP;
	if (listener->wildcard && set_int(listener, level, v6 ? IPV6_RECVPKTINFO : IP_PKTINFO, 1) < 0)
		return tare_fail_errno(err, errno, "cannot learn which address of %s was asked", listener->url);
	if (listener->kind != LISTENER_STAMP)
		return 0;
	/* RFC 5357: both ends send with 255, so that the other counts hops; without it the field says 255 */
	set_int(listener, level, v6 ? IPV6_RECVHOPLIMIT : IP_RECVTTL, 1);
	set_int(listener, level, v6 ? IPV6_UNICAST_HOPS : IP_TTL, 255);
	set_int(listener, level, v6 ? IPV6_RECVTCLASS : IP_RECVTOS, 1);
	unsigned got = 0;
	if (net_stamps_on(listener->fd, NET_STAMP_RX, &got, err) < 0)
		return tare_err_prefix(err, "%s", listener->url);
	listener->kernel_stamps = got & NET_STAMP_RX;
	return 0;
}

/* udp:// for a group has a kind of its own here; other kinds do not answer to groups. */
static int read_group(struct listener *listener, const struct net_url *url, struct tare_err *err)
{
	bool group = net_is_group(&listener->address);
	if (group && listener->kind != LISTENER_UDP)
		return tare_fail(err, TARE_E_USAGE, "cannot listen on %s: only udp:// answers to multicast groups", listener->url);
	if (!group && listener->kind == LISTENER_UDP && url->path[0])
		return tare_fail(err, TARE_E_USAGE, "%s: if=, source=, ttl=, loop= and reply= are for multicast groups, and this is none\n"
			"  groups are 224.0.0.0 to 239.255.255.255 and ff00::/8", listener->url);
	if (!group)
		return 0;
	if (net_group_read(url, &listener->address, NET_GROUP_RESPONDER, NULL, &listener->group, err) < 0)
		return -1;
	listener->kind = LISTENER_GROUP;
	net_group_scope(&listener->group, &listener->address);
	return 0;
}

int listener_open(struct listener *listener, const char *text, struct tare_err *err)
{
	struct net_url url;
	listener->fd = -1;
	if (read_url(listener, text, &url, err) < 0 || net_resolve(&url, AF_UNSPEC, &listener->address, err) < 0)
		return -1;
	bool v6 = listener->address.storage.ss_family == AF_INET6;
	listener->port = (uint16_t)url.port;
	listener->wildcard = is_wildcard(&listener->address);
	snprintf(listener->url, sizeof listener->url, "%s://%s", url.scheme, listener->address.text);
	if (read_group(listener, &url, err) < 0)
		return -1;
	if (listener->kind == LISTENER_XDP)
		return bypass_open(listener, &url, err);
	bool stream = listener->kind == LISTENER_TCP;
	listener->fd = socket(listener->address.storage.ss_family, (stream ? SOCK_STREAM | SOCK_NONBLOCK : SOCK_DGRAM) | SOCK_CLOEXEC, 0);
	if (listener->fd < 0)
		return tare_fail_errno(err, errno, "cannot open a socket for %s", listener->url);
	/* else [::] would take IPv4 as well and stand in the way of 0.0.0.0 */
	if (v6 && set_int(listener, SOL_IPV6, IPV6_V6ONLY, 1) < 0)
		return tare_fail_errno(err, errno, "cannot keep %s to IPv6", listener->url);
	/* connections of one before us may still be in TIME_WAIT; a second listener is refused all the same */
	if (stream && set_int(listener, SOL_SOCKET, SO_REUSEADDR, 1) < 0)
		return tare_fail_errno(err, errno, "cannot take the port of %s", listener->url);
	if (bind(listener->fd, (const struct sockaddr *)&listener->address.storage, listener->address.length) < 0)
		return fail_bind(listener, errno, err);
	if (stream)
		return stream_open(listener, err);
	net_buffers(listener->fd, BUFFER_BYTES);
	if (listener->kind == LISTENER_GROUP)
		return net_group_join(listener->fd, &listener->group, &listener->address, err);
	return ask_control(listener, v6, err);
}

void listener_close(struct listener *listener)
{
	stream_close(listener);
	bypass_close(listener);
	if (listener->fd >= 0)
		close(listener->fd);
	listener->fd = -1;
}

void listener_wake(const struct listener *listener)
{
	if (listener->kind == LISTENER_TCP) {
		stream_wake(listener);
		return;
	}
	if (listener->kind == LISTENER_XDP) /* knows no end; whoever waits for it waits for the echo's own end as well */
		return;
	/* says ENOTCONN, as the socket has no peer, but marks it as ended for receivers all the same */
	shutdown(listener->fd, SHUT_RD);
}

bool listener_describe(const struct listener *listener, char *buffer, size_t room)
{
	const struct net_group *group = &listener->group;
	struct text text = {.bytes = buffer, .room = room};
	text_add(&text, "joined %s", group->device[0] ? "on " : "as routed");
	text_add(&text, "%s", group->device);
	if (group->source.length)
		text_add(&text, ", for requests of %s only", group->source.host);
	text_add(&text, ", answers go to %s", group->reply_to_group ? "the group" : "who asked");
	return true;
}

uint64_t listener_overrun(const struct listener *listener)
{
	uint32_t words[SK_MEMINFO_VARS] = {0};
	if (listener->kind == LISTENER_TCP)
		return 0;
	if (listener->kind == LISTENER_XDP)
		return bypass_overrun(listener);
	socklen_t length = sizeof words;
	if (getsockopt(listener->fd, SOL_SOCKET, SO_MEMINFO, words, &length) < 0 || length < sizeof words)
		return 0;
	return words[SK_MEMINFO_DROPS];
}
