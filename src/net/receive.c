/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Receiving one datagram with or without its control data, and socket buffers. */
#include <errno.h>
#include <string.h>

#include "net/net.h"
#include "net/stamps.h"

void net_receive_buffer(int fd, int bytes)
{
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes) != 0)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
}

int net_buffers(int fd, int bytes)
{
	int has = 0;
	socklen_t length = sizeof has;
	net_receive_buffer(fd, bytes);
	if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof bytes) != 0)
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
	return getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &has, &length) == 0 ? has : -1;
}

ssize_t net_receive(int fd, void *buffer, size_t room, struct net_arrival *ret_arrival)
{
	if (!ret_arrival) {
		ssize_t plain = recv(fd, buffer, room, MSG_DONTWAIT);
		return plain < 0 ? -errno : plain;
	}
	return net_receive_from(fd, buffer, room, ret_arrival, NULL, NULL);
}

ssize_t net_receive_from(int fd, void *buffer, size_t room, struct net_arrival *ret_arrival,
	struct sockaddr_storage *ret_from, socklen_t *ret_from_length)
{
	_Alignas(struct cmsghdr) char control[NET_CONTROL_BYTES];
	struct iovec part = {.iov_base = buffer, .iov_len = room};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_name = ret_from};
	message.msg_namelen = ret_from ? sizeof *ret_from : 0;
	if (ret_arrival) {
		message.msg_control = control;
		message.msg_controllen = sizeof control;
	}
	ssize_t got = recvmsg(fd, &message, MSG_DONTWAIT);
	if (got < 0)
		return -errno;
	if (ret_from_length)
		*ret_from_length = message.msg_namelen;
	if (ret_arrival)
		net_arrival_of(&message, ret_arrival);
	return got;
}
