/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Options of the path on a socket. A wrong interface or address would silently
 * measure another way than the one asked for, so nothing here is best effort.
 */
#include "net/path.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/text.h"

/* RFC 2474, 2597, 3246, 5865, 8622. */
static const struct { const char *word; int dscp; } classes[] = {
	{"CS0", 0}, {"CS1", 8}, {"CS2", 16}, {"CS3", 24}, {"CS4", 32}, {"CS5", 40}, {"CS6", 48}, {"CS7", 56},
	{"AF11", 10}, {"AF12", 12}, {"AF13", 14}, {"AF21", 18}, {"AF22", 20}, {"AF23", 22}, {"AF31", 26}, {"AF32", 28},
	{"AF33", 30}, {"AF41", 34}, {"AF42", 36}, {"AF43", 38}, {"EF", 46}, {"VA", 44}, {"LE", 1},
};
enum { CLASSES = sizeof classes / sizeof classes[0] };

int net_dscp_parse(const char *text, int *ret_dscp, struct tare_err *err)
{
	uint64_t number = 0;
	for (size_t i = 0; i < CLASSES; i++)
		if (strcasecmp(text, classes[i].word) == 0) {
			*ret_dscp = classes[i].dscp;
			return 0;
		}
	if (text[0] < '0' || text[0] > '9' || parse_count(text, &number, NULL) < 0 || number > 63)
		return tare_fail(err, TARE_E_USAGE, "--dscp: '%.40s' is no class like EF, AF41 or CS5, and no number up to 63", text);
	*ret_dscp = (int)number;
	return 0;
}

void net_dscp_text(int dscp, char *buffer, size_t room)
{
	struct text text = {.bytes = buffer, .room = room};
	text_add(&text, "%d", dscp);
	for (size_t i = 0; dscp && i < CLASSES; i++)
		if (classes[i].dscp == dscp)
			text_add(&text, " (%s)", classes[i].word);
}

int net_source_parse(const char *text, struct net_address *ret_source, struct tare_err *err)
{
	struct net_address source = {.length = 0};
	struct sockaddr_in *v4 = (struct sockaddr_in *)&source.storage;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&source.storage;
	char bare[64];
	const char *scope = strchr(text, '%');
	size_t length = scope ? (size_t)(scope - text) : strlen(text);
	if (length >= sizeof bare)
		return tare_fail(err, TARE_E_USAGE, "--source: '%.60s' is no numeric address", text);
	memcpy(bare, text, length);
	bare[length] = '\0';
	if (!scope && inet_pton(AF_INET, bare, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		source.length = sizeof *v4;
	} else if (inet_pton(AF_INET6, bare, &v6->sin6_addr) == 1) {
		v6->sin6_family = AF_INET6;
		v6->sin6_scope_id = scope ? if_nametoindex(scope + 1) : 0;
		source.length = sizeof *v6;
	}
	if (source.length == 0 || (scope && !v6->sin6_scope_id))
		return tare_fail(err, TARE_E_USAGE, "--source: '%.60s' is no numeric address of this host", text);
	net_address_text(&source, false);
	*ret_source = source;
	return 0;
}

static int set_int(int fd, int level, int option, int value)
{
	return setsockopt(fd, level, option, &value, sizeof value);
}

static int bind_device(int fd, const char *interface, struct tare_err *err)
{
	if (strlen(interface) >= IFNAMSIZ || if_nametoindex(interface) == 0)
		return tare_fail(err, TARE_E_USAGE, "--interface: there is no interface '%.40s'", interface);
	if (setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, interface, (socklen_t)strlen(interface)) == 0)
		return 0;
	if (errno == EPERM)
		return tare_fail(err, TARE_E_PERMISSION,
			"cannot bind to interface %s: Operation not permitted\n"
			"  needs CAP_NET_RAW (before Linux 5.7): sudo setcap cap_net_raw+ep $(command -v tare)",
			interface);
	return tare_fail_errno(err, errno, "cannot bind to interface %s", interface);
}

static int bind_source(int fd, const struct net_path *path, const struct net_address *to, struct tare_err *err)
{
	struct net_address from = path->source;
	if (from.length && from.storage.ss_family != to->storage.ss_family)
		return tare_fail(err, TARE_E_USAGE, "--source %s is of another family than %s", from.text, to->text);
	from.storage.ss_family = to->storage.ss_family;
	from.length = to->length;
	/* both families keep the port at the same place */
	((struct sockaddr_in *)&from.storage)->sin_port = htons((uint16_t)path->source_port);
	set_int(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	if (bind(fd, (const struct sockaddr *)&from.storage, from.length) == 0)
		return 0;
	int why = errno;
	if (why == EADDRINUSE)
		return tare_fail(err, TARE_E_SYSTEM, "source port %d is in use; take another with --source-port", path->source_port);
	if (why == EADDRNOTAVAIL)
		return tare_fail(err, TARE_E_USAGE, "--source %s: no interface of this host has that address", path->source.text);
	if (why == EACCES)
		return tare_fail(err, TARE_E_PERMISSION, "--source-port %d: ports below 1024 need CAP_NET_BIND_SERVICE",
			path->source_port);
	return tare_fail_errno(err, why, "cannot send from %s port %d", path->source.length ? path->source.text : "any address",
		path->source_port);
}

int net_path_apply(int fd, const struct net_path *path, const struct net_address *to, struct tare_err *err)
{
	bool v6 = to->storage.ss_family == AF_INET6;
	int level = v6 ? SOL_IPV6 : SOL_IP;
	if (path->interface && bind_device(fd, path->interface, err) < 0)
		return -1;
	if (path->ttl && set_int(fd, level, v6 ? IPV6_UNICAST_HOPS : IP_TTL, path->ttl) < 0)
		return tare_fail_errno(err, errno, "cannot send to %s with a hop limit of %d", to->text, path->ttl);
	if (path->has_class) {
		int tos = path->dscp << 2 | path->ecn;
		if (set_int(fd, level, v6 ? IPV6_TCLASS : IP_TOS, tos) < 0)
			return tare_fail_errno(err, errno, "cannot send to %s with traffic class 0x%02x", to->text, tos);
	}
	if (path->dont_fragment &&
		set_int(fd, level, v6 ? IPV6_MTU_DISCOVER : IP_MTU_DISCOVER, v6 ? IPV6_PMTUDISC_DO : IP_PMTUDISC_DO) < 0)
		return tare_fail_errno(err, errno, "cannot send to %s without fragments", to->text);
	if (path->dont_fragment && v6 && set_int(fd, level, IPV6_DONTFRAG, 1) < 0)
		return tare_fail_errno(err, errno, "cannot send to %s without fragments", to->text);
	return path->source.length || path->source_port ? bind_source(fd, path, to, err) : 0;
}

int net_path_try(const struct net_path *path, const struct net_address *to, int type, struct tare_err *err)
{
	AUTO_FD fd = socket(to->storage.ss_family, type | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return tare_fail_errno(err, errno, "cannot open a socket to %s", to->text);
	return net_path_apply(fd, path, to, err);
}

bool net_path_asks(const struct net_path *path)
{
	return path->ttl || path->has_class || path->source_port || path->dont_fragment ||
	       path->interface || path->source.length;
}

void net_path_watch(int fd, bool v6, bool on)
{
	set_int(fd, v6 ? SOL_IPV6 : SOL_IP, v6 ? IPV6_RECVHOPLIMIT : IP_RECVTTL, on);
	set_int(fd, v6 ? SOL_IPV6 : SOL_IP, v6 ? IPV6_RECVTCLASS : IP_RECVTOS, on);
}

int net_path_mtu(int fd, bool v6)
{
	int mtu = 0;
	socklen_t length = sizeof mtu;
	if (fd < 0 || getsockopt(fd, v6 ? SOL_IPV6 : SOL_IP, v6 ? IPV6_MTU : IP_MTU, &mtu, &length) < 0)
		return 0;
	return mtu;
}

void net_path_see(struct net_path_seen *seen, const struct net_arrival *arrival)
{
	if (arrival->ttl < 0 && arrival->tos < 0)
		return;
	if (seen->looked++ == 0) {
		seen->ttl = arrival->ttl;
		seen->tos = arrival->tos;
		return;
	}
	if (arrival->ttl != seen->ttl) {
		seen->other_ttl++;
		seen->last_other_ttl = arrival->ttl;
	}
	if (arrival->tos != seen->tos) {
		seen->other_tos++;
		seen->last_other_tos = arrival->tos;
	}
}
