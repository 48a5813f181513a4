/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Kind icmp: echo requests, answered by the target's kernel. A datagram ICMP
 * socket needs no privilege where net.ipv4.ping_group_range allows it; else a raw
 * one, filtered to echo replies (on loopback it would hear its own requests). Other
 * pings' replies reach a raw socket too: they lack our cookie and are foreign.
 */
#include <errno.h>
#include <linux/icmp.h>
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "probe/datagram.h"
#include "wire/icmp.h"
#include "wire/payload.h"

#ifndef SOL_RAW
#define SOL_RAW 255
#endif

static void icmp_prepare(struct datagram *d, uint8_t *packet, uint64_t number)
{
	icmp_request(packet, d->v6, d->id, (uint16_t)number);
	payload_number(packet + ICMP_ECHO_HEADER_BYTES, number);
	if (!d->v6)
		icmp_checksum(packet, d->packet_bytes);
}

static bool icmp_read(struct datagram *d, const uint8_t *message, size_t bytes, struct probe_reply *reply)
{
	struct icmp_echo echo;
	if (!icmp_reply(message, bytes, d->v6, d->raw && !d->v6, &echo))
		return false;
	if (d->raw && echo.id != d->id)
		return false;
	return payload_read(echo.payload, echo.payload_bytes, d->cookie, &reply->number);
}

static bool icmp_read_refused(struct datagram *d, const uint8_t *packet, size_t bytes, uint64_t *ret_number)
{
	return bytes > ICMP_ECHO_HEADER_BYTES &&
		payload_read(packet + ICMP_ECHO_HEADER_BYTES, bytes - ICMP_ECHO_HEADER_BYTES, d->cookie, ret_number);
}

static const struct datagram_format icmp_format = {
	.prepare = icmp_prepare, .read = icmp_read, .read_refused = icmp_read_refused};

static int fail_permission(struct tare_err *err)
{
	char range[64] = "?";
	AUTO_FILE file = fopen("/proc/sys/net/ipv4/ping_group_range", "re");
	if (file && fgets(range, sizeof range, file)) {
		range[strcspn(range, "\n")] = '\0';
		for (char *c = range; *c; c++)
			if (*c == '\t')
				*c = ' ';
	}
	return tare_fail(err, TARE_E_PERMISSION,
		"cannot open a raw ICMP socket: operation not permitted\n"
		"  needs CAP_NET_RAW, or net.ipv4.ping_group_range that includes your group (now \"%s\").\n"
		"  one of:  sudo setcap cap_net_raw+ep $(command -v tare)      (LD_PRELOAD stacks then stop working)\n"
		"           sudo sysctl -w net.ipv4.ping_group_range='0 2147483647'\n"
		"           tare run udp://HOST:PORT        (needs no privilege)",
		range);
}

/* The socket, datagram where allowed, else raw with a filter; -1 with the reason. */
static int open_socket(bool v6, bool *ret_raw, struct tare_err *err)
{
	int family = v6 ? AF_INET6 : AF_INET, protocol = v6 ? IPPROTO_ICMPV6 : IPPROTO_ICMP;
	*ret_raw = false;
	AUTO_FD fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, protocol);
	if (fd >= 0)
		return take_fd(&fd);
	fd = socket(family, SOCK_RAW | SOCK_CLOEXEC, protocol);
	if (fd < 0 && (errno == EPERM || errno == EACCES))
		return fail_permission(err);
	if (fd < 0)
		return tare_fail_errno(err, errno, "cannot open an ICMP socket");
	*ret_raw = true;
	struct icmp_filter filter = {.data = ~(1u << ICMP_ECHOREPLY)};
	struct icmp6_filter filter6;
	ICMP6_FILTER_SETBLOCKALL(&filter6);
	ICMP6_FILTER_SETPASS(ICMP6_ECHO_REPLY, &filter6);
	int status = v6 ? setsockopt(fd, IPPROTO_ICMPV6, ICMP6_FILTER, &filter6, sizeof filter6)
			: setsockopt(fd, SOL_RAW, ICMP_FILTER, &filter, sizeof filter);
	if (status != 0)
		return tare_fail_errno(err, errno, "cannot filter the raw ICMP socket");
	return take_fd(&fd);
}

static int icmp_open(struct probe_target *target, struct tare_err *err)
{
	bool raw, v6 = target->request.address.storage.ss_family == AF_INET6;
	target->fd = open_socket(v6, &raw, err);
	if (target->fd < 0)
		return -1;
	size_t bytes = ICMP_ECHO_HEADER_BYTES + target->request.payload_bytes;
	if (datagram_open(target, 0, 0, bytes, &icmp_format, err) < 0)
		return -1;
	struct datagram *d = datagram_of(target);
	d->raw = raw;
	for (unsigned i = 0; i < PROBE_BATCH_MAX; i++) {
		uint8_t *packet = datagram_packet(d, i);
		icmp_request(packet, v6, d->id, 0);
		payload_fill(packet + ICMP_ECHO_HEADER_BYTES, target->request.payload_bytes, d->cookie);
	}
	return 0;
}

const struct probe_kind probe_icmp = {
	.scheme = "icmp",
	.summary = "echo requests, answered by the kernel",
	.default_port = 0,
	.least_bytes = PAYLOAD_MIN_BYTES,
	.usual_bytes = 64,
	.most_bytes = 65507,
	.takes_path = true,
	.begin = datagram_begin,
	.open = icmp_open,
	.send = datagram_send,
	.send_at = datagram_send_at,
	.drain = datagram_drain,
	.drain_notices = datagram_drain_notices,
	.close = datagram_close,
};
