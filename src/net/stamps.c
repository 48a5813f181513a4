/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The kernel's and the card's stamps. Receive stamps come as control data of the
 * datagram, transmit stamps as messages of their own on the error queue, numbered
 * by the kernel's count of sends (OPT_ID) and without the payload (OPT_TSONLY).
 * Kernel and card each send one (OPT_TX_SWHW), in any order, the card's
 * sometimes milliseconds later or never.
 */
#include "net/stamps.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdatomic.h>
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

#define FLAG(bit) (UINT32_C(1) << (bit))
/* Bits that came after the headers of Debian 12. */
enum { BIT_OPT_ID_TCP = 16, BIT_OPT_RX_FILTER = 17, BIT_TX_COMPLETION = 18 };

const struct net_flag net_flags[] = {
	{"tx-hardware", "transmit stamps by the card", FLAG(0), 0},
	{"tx-software", "transmit stamps by the kernel, at the driver", FLAG(1), 0},
	{"rx-hardware", "receive stamps by the card", FLAG(2), 0},
	{"rx-software", "receive stamps by the kernel", FLAG(3), 0},
	{"software", "software stamps are reported", FLAG(4), 0},
	{"raw-hardware", "the card's stamps are reported, by its own clock", FLAG(6), 0},
	{"opt-id", "transmit stamps are numbered", FLAG(7), 0},
	{"tx-sched", "transmit stamps before the queueing discipline", FLAG(8), 0},
	{"tx-ack", "transmit stamps when the peer's TCP acknowledged", FLAG(9), 0},
	{"opt-cmsg", "transmit stamps come with control data", FLAG(10), 0},
	{"opt-tsonly", "transmit stamps come without the packet", FLAG(11), 0},
	{"opt-stats", "transmit stamps come with counters of TCP", FLAG(12), FLAG(11)},
	{"opt-pktinfo", "receive stamps say which card", FLAG(13), 0},
	{"opt-tx-swhw", "both transmit stamps where the card makes one", FLAG(14), 0},
	{"opt-id-tcp", "tcp: numbers begin with what is written", FLAG(BIT_OPT_ID_TCP), FLAG(7)},
	{"opt-rx-filter", "receive stamps only for who asked", FLAG(BIT_OPT_RX_FILTER), 0},
	{"tx-completion", "transmit stamps when the card said it was done", FLAG(BIT_TX_COMPLETION), 0},
};
const size_t net_flag_count = sizeof net_flags / sizeof net_flags[0];

int net_flag_try(const struct net_flag *flag)
{
	AUTO_FD fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	uint32_t flags = flag->bit | flag->needs;
	return fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &flags, sizeof flags) == 0 ? 0 : errno;
}

uint32_t net_flags_taken(void)
{
	/* the highest bit says that it was asked; two threads asking at once find the same */
	static _Atomic uint32_t remembered;
	uint32_t taken = atomic_load_explicit(&remembered, memory_order_relaxed);
	if (taken)
		return taken;
	for (size_t i = 0; i < net_flag_count; i++)
		if (net_flag_try(&net_flags[i]) == 0)
			taken |= net_flags[i].bit;
	atomic_store_explicit(&remembered, taken | FLAG(31), memory_order_relaxed);
	return taken | FLAG(31);
}

static uint32_t stamp_flags(unsigned stamps)
{
	uint32_t flags = SOF_TIMESTAMPING_SOFTWARE, optional = 0;
	if (stamps & NET_STAMP_RX)
		flags |= SOF_TIMESTAMPING_RX_SOFTWARE;
	/* Onload gives the card's stamps only where SYS_HARDWARE, which the kernel ignores, is there too */
	if (stamps & NET_STAMP_NIC_RX)
		flags |= SOF_TIMESTAMPING_RX_HARDWARE | SOF_TIMESTAMPING_RAW_HARDWARE | SOF_TIMESTAMPING_SYS_HARDWARE;
	if (stamps & NET_STAMP_TX)
		flags |= SOF_TIMESTAMPING_TX_SOFTWARE;
	if (stamps & NET_STAMP_NIC_TX)
		flags |= SOF_TIMESTAMPING_TX_HARDWARE | SOF_TIMESTAMPING_RAW_HARDWARE | SOF_TIMESTAMPING_SYS_HARDWARE;
	if (stamps & (NET_STAMP_TX | NET_STAMP_NIC_TX)) {
		flags |= SOF_TIMESTAMPING_OPT_ID | SOF_TIMESTAMPING_OPT_TSONLY | SOF_TIMESTAMPING_OPT_CMSG;
		optional |= SOF_TIMESTAMPING_OPT_TX_SWHW | FLAG(BIT_OPT_ID_TCP);
	}
	return flags | (optional & net_flags_taken());
}

int net_stamps_on(int fd, unsigned want, unsigned *ret_got, struct tare_err *err)
{
	unsigned got = 0;
	static const unsigned single[] = {NET_STAMP_RX, NET_STAMP_TX, NET_STAMP_NIC_RX, NET_STAMP_NIC_TX};
	for (size_t i = 0; i < sizeof single / sizeof single[0]; i++) {
		uint32_t flags = stamp_flags(got | single[i]);
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
	uint32_t off = stamp_flags(stamps & ~(unsigned)(NET_STAMP_TX | NET_STAMP_NIC_TX)), on = stamp_flags(stamps);
	if (setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &off, sizeof off) != 0 ||
		setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &on, sizeof on) != 0)
		return -errno;
	return 0;
}

/*
 * Like CMSG_FIRSTHDR and CMSG_NXTHDR, but a length that leads out of the buffer ends the walk, also that of the
 * first message, which those trust.
 */
static const struct cmsghdr *next_control(const struct msghdr *message, const struct cmsghdr *before)
{
	const char *at = message->msg_control, *end = at + message->msg_controllen;
	if (before) {
		size_t left = (size_t)(end - (const char *)before);
		if (before->cmsg_len < sizeof *before || before->cmsg_len > left || CMSG_ALIGN(before->cmsg_len) > left)
			return NULL;
		at = (const char *)before + CMSG_ALIGN(before->cmsg_len);
	}
	return at && (size_t)(end - at) >= sizeof(struct cmsghdr) ? (const struct cmsghdr *)(const void *)at : NULL;
}

/* A control message's payload of known size; false where its own length or the buffer's end forbids it. */
static bool take_control(const struct msghdr *message, const struct cmsghdr *control, void *ret_data, size_t bytes)
{
	const char *end = (const char *)message->msg_control + message->msg_controllen;
	const char *data = (const char *)CMSG_DATA(control);
	if (control->cmsg_len < CMSG_LEN(bytes) || data > end || (size_t)(end - data) < bytes)
		return false;
	memcpy(ret_data, data, bytes);
	return true;
}

/* 0 for what is no time, or more than 64 bits hold. */
static int64_t stamp_ns(const struct timespec *t)
{
	int64_t ns;
	if (t->tv_nsec < 0 || t->tv_nsec >= 1000000000 ||
		__builtin_mul_overflow((int64_t)t->tv_sec, INT64_C(1000000000), &ns) ||
		__builtin_add_overflow(ns, (int64_t)t->tv_nsec, &ns))
		return 0;
	return ns;
}

static void take_stamps(
	const struct msghdr *message, const struct cmsghdr *control, clock_real *ret_kernel, clock_phc *ret_nic)
{
	struct scm_timestamping stamps;
	if (!take_control(message, control, &stamps, sizeof stamps))
		return;
	/* the second of the three was once the card's time made wall time; no kernel fills it any more */
	ret_kernel->ns = stamp_ns(&stamps.ts[0]);
	ret_nic->ns = stamp_ns(&stamps.ts[2]);
}

void net_arrival_of(const struct msghdr *message, struct net_arrival *ret_arrival)
{
	*ret_arrival = (struct net_arrival){.ttl = -1, .tos = -1, .cut = (message->msg_flags & MSG_CTRUNC) != 0};
	for (const struct cmsghdr *c = next_control(message, NULL); c; c = next_control(message, c)) {
		int value;
		uint8_t octet;
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SO_TIMESTAMPING)
			take_stamps(message, c, &ret_arrival->kernel_rx, &ret_arrival->nic_rx);
		else if (((c->cmsg_level == SOL_IP && c->cmsg_type == IP_TTL) ||
				 (c->cmsg_level == SOL_IPV6 && c->cmsg_type == IPV6_HOPLIMIT)) &&
			take_control(message, c, &value, sizeof value))
			ret_arrival->ttl = value;
		else if (c->cmsg_level == SOL_IPV6 && c->cmsg_type == IPV6_TCLASS &&
			take_control(message, c, &value, sizeof value))
			ret_arrival->tos = value;
		/* IPv4 gives one octet, IPv6 an int */
		else if (c->cmsg_level == SOL_IP && c->cmsg_type == IP_TOS && take_control(message, c, &octet, sizeof octet))
			ret_arrival->tos = octet;
	}
}

static bool is_error(const struct cmsghdr *c)
{
	return (c->cmsg_level == SOL_IP && c->cmsg_type == IP_RECVERR) ||
	       (c->cmsg_level == SOL_IPV6 && c->cmsg_type == IPV6_RECVERR);
}

void net_notice_of(const struct msghdr *message, struct net_notice *ret_notice)
{
	struct net_notice notice = {.cut = (message->msg_flags & MSG_CTRUNC) != 0};
	for (const struct cmsghdr *c = next_control(message, NULL); c; c = next_control(message, c)) {
		struct sock_extended_err detail;
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SO_TIMESTAMPING)
			take_stamps(message, c, &notice.kernel_tx, &notice.nic_tx);
		if (!is_error(c) || !take_control(message, c, &detail, sizeof detail))
			continue;
		notice.is_stamp = detail.ee_origin == SO_EE_ORIGIN_TIMESTAMPING;
		notice.key = notice.is_stamp ? detail.ee_data : 0;
		notice.error = notice.is_stamp ? 0 : (int)detail.ee_errno;
		notice.moment = notice.is_stamp ? (enum net_moment)detail.ee_info : NET_MOMENT_SENT;
	}
	/* a stamp of another moment, or without the message that says of which packet, is none of ours */
	if (!notice.is_stamp || notice.moment != NET_MOMENT_SENT) {
		notice.kernel_tx.ns = 0;
		notice.nic_tx.ns = 0;
	}
	*ret_notice = notice;
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
	net_notice_of(&message, ret_notice);
	ret_notice->payload = buffer;
	ret_notice->payload_bytes = (size_t)got;
	return 1;
}
