/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Kernel stamps. Receive stamps come as control data of the datagram, transmit
 * stamps as messages of their own on the error queue, numbered by the kernel's
 * count of sends (OPT_ID) and without the payload (OPT_TSONLY).
 */
#include "net/stamps.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

int net_keeper_open(void)
{
	AUTO_FD fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int flags = SOF_TIMESTAMPING_RX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE;
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &flags, sizeof flags) != 0)
		return -1;
	struct sockaddr_in self = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof self;
	if (bind(fd, (struct sockaddr *)&self, sizeof self) != 0 ||
		getsockname(fd, (struct sockaddr *)&self, &length) != 0)
		return take_fd(&fd);
	/* The switch is thrown by a worker of the kernel: a few datagrams to ourselves show when it is through. */
	for (int i = 0; i < 20; i++) {
		struct pollfd ready = {.fd = fd, .events = POLLIN};
		struct net_arrival arrival = {0};
		char byte = 0;
		if (sendto(fd, &byte, 1, 0, (struct sockaddr *)&self, sizeof self) != 1 || poll(&ready, 1, 5) != 1)
			continue;
		if (net_receive(fd, &byte, 1, &arrival) >= 0 && arrival.kernel_rx.ns)
			break;
		poll(NULL, 0, 5);
	}
	return take_fd(&fd);
}

static int stamp_flags(unsigned stamps)
{
	int flags = SOF_TIMESTAMPING_SOFTWARE;
	if (stamps & NET_STAMP_RX)
		flags |= SOF_TIMESTAMPING_RX_SOFTWARE;
	if (stamps & NET_STAMP_TX)
		flags |= SOF_TIMESTAMPING_TX_SOFTWARE | SOF_TIMESTAMPING_OPT_ID | SOF_TIMESTAMPING_OPT_TSONLY |
			SOF_TIMESTAMPING_OPT_CMSG;
	return flags;
}

int net_stamps_on(int fd, unsigned want, unsigned *ret_got, struct tare_err *err)
{
	unsigned got = 0;
	static const unsigned single[] = {NET_STAMP_RX, NET_STAMP_TX};
	for (size_t i = 0; i < sizeof single / sizeof single[0]; i++) {
		int flags = stamp_flags(got | single[i]);
		if ((want & single[i]) && setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &flags, sizeof flags) == 0)
			got |= single[i];
		else if ((want & single[i]) && errno != EINVAL && errno != EOPNOTSUPP && errno != ENOPROTOOPT)
			return tare_fail_errno(err, errno, "cannot switch kernel stamps on");
	}
	*ret_got = got;
	return 0;
}

int net_stamps_restart(int fd, unsigned stamps)
{
	int off = stamp_flags(stamps & ~(unsigned)NET_STAMP_TX), on = stamp_flags(stamps);
	if (setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &off, sizeof off) != 0 ||
		setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &on, sizeof on) != 0)
		return -errno;
	return 0;
}

static clock_real software_stamp(const struct cmsghdr *control)
{
	struct scm_timestamping stamps;
	if (control->cmsg_len < CMSG_LEN(sizeof stamps))
		return (clock_real){0};
	memcpy(&stamps, CMSG_DATA(control), sizeof stamps);
	return (clock_real){(int64_t)stamps.ts[0].tv_sec * 1000000000 + stamps.ts[0].tv_nsec};
}

/* IPv4 gives one octet, IPv6 an int. */
static int octet_of(const struct cmsghdr *control)
{
	return control->cmsg_len >= CMSG_LEN(1) ? *CMSG_DATA(control) : -1;
}

static int int_of(const struct cmsghdr *control)
{
	int value = -1;
	if (control->cmsg_len >= CMSG_LEN(sizeof value))
		memcpy(&value, CMSG_DATA(control), sizeof value);
	return value;
}

void net_arrival_of(struct msghdr *message, struct net_arrival *ret_arrival)
{
	*ret_arrival = (struct net_arrival){.ttl = -1, .tos = -1, .cut = (message->msg_flags & MSG_CTRUNC) != 0};
	for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SO_TIMESTAMPING)
			ret_arrival->kernel_rx = software_stamp(c);
		else if ((c->cmsg_level == SOL_IP && c->cmsg_type == IP_TTL) ||
			(c->cmsg_level == SOL_IPV6 && c->cmsg_type == IPV6_HOPLIMIT))
			ret_arrival->ttl = int_of(c);
		else if (c->cmsg_level == SOL_IP && c->cmsg_type == IP_TOS)
			ret_arrival->tos = octet_of(c);
		else if (c->cmsg_level == SOL_IPV6 && c->cmsg_type == IPV6_TCLASS)
			ret_arrival->tos = int_of(c);
	}
}

int net_next_notice(int fd, void *buffer, size_t room, struct net_notice *ret_notice)
{
	_Alignas(struct cmsghdr) char control[NET_CONTROL_BYTES];
	struct iovec part = {.iov_base = buffer, .iov_len = room};
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
	ssize_t got = recvmsg(fd, &message, MSG_ERRQUEUE | MSG_DONTWAIT);
	if (got < 0)
		return errno == EAGAIN ? 0 : -errno;
	struct net_notice notice = {.payload = buffer, .payload_bytes = (size_t)got};
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c)) {
		struct sock_extended_err detail;
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SO_TIMESTAMPING)
			notice.kernel_tx = software_stamp(c);
		if (!((c->cmsg_level == SOL_IP && c->cmsg_type == IP_RECVERR) ||
			    (c->cmsg_level == SOL_IPV6 && c->cmsg_type == IPV6_RECVERR)) ||
			c->cmsg_len < CMSG_LEN(sizeof detail))
			continue;
		memcpy(&detail, CMSG_DATA(c), sizeof detail);
		notice.is_stamp = detail.ee_origin == SO_EE_ORIGIN_TIMESTAMPING;
		notice.key = detail.ee_data;
		notice.error = notice.is_stamp ? 0 : (int)detail.ee_errno;
		if (notice.is_stamp && detail.ee_info != SCM_TSTAMP_SND)
			notice.kernel_tx = (clock_real){0};
	}
	*ret_notice = notice;
	return 1;
}
