/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A packet socket with a filter for one connection, and reading of its headers. */
#include "net/tap.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "net/stamps.h"

/* Headers are all that is looked at: IPv4 with options (60) and TCP with options (60), rounded up. */
enum { TAP_BYTES = 128, TAP_BUFFER_BYTES = 4 << 20 };

static uint32_t word_at(const uint8_t *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static uint32_t half_at(const uint8_t *at)
{
	return (uint32_t)at[0] << 8 | at[1];
}

/* Where TCP begins and how long it is; 0 for anything else. */
static size_t find_tcp(const uint8_t *packet, size_t bytes, size_t *ret_length)
{
	enum { IPV4_LEAST = 20, IPV6_HEADER = 40 };
	if (bytes >= IPV4_LEAST && packet[0] >> 4 == 4) {
		size_t header = (packet[0] & 15u) * 4, whole = half_at(packet + 2);
		if (header < IPV4_LEAST || whole < header || packet[9] != IPPROTO_TCP || half_at(packet + 6) & 0x3fff)
			return 0;
		*ret_length = whole - header;
		return header;
	}
	if (bytes >= IPV6_HEADER && packet[0] >> 4 == 6 && packet[6] == IPPROTO_TCP) {
		*ret_length = half_at(packet + 4);
		return IPV6_HEADER;
	}
	return 0;
}

bool net_segment_of(const uint8_t *packet, size_t bytes, struct net_segment *ret_segment)
{
	enum { TCP_LEAST = 20, SYN = 2 };
	size_t length = 0, at = find_tcp(packet, bytes, &length);
	if (at == 0 || bytes < at + TCP_LEAST)
		return false;
	const uint8_t *tcp = packet + at;
	size_t header = (tcp[12] >> 4) * 4u;
	if (header < TCP_LEAST || length < header)
		return false;
	*ret_segment = (struct net_segment){
		.sequence = word_at(tcp + 4), .bytes = (uint32_t)(length - header), .begins = (tcp[13] & SYN) != 0};
	return true;
}

int net_tap_open(unsigned stamps)
{
	/* protocol 0: sees nothing until it is bound to one */
	AUTO_FD fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	unsigned got = 0;
	if (fd < 0 || net_stamps_on(fd, stamps & (NET_STAMP_RX | NET_STAMP_NIC_RX), &got, NULL) < 0 || !got)
		return -1;
	net_buffers(fd, TAP_BUFFER_BYTES);
	return take_fd(&fd);
}

#define LOAD(size, at)        BPF_STMT(BPF_LD | (size) | BPF_ABS, (at))
#define LOAD_BEHIND(size, at) BPF_STMT(BPF_LD | (size) | BPF_IND, (at))
/* Goes on when equal, else over `rest` further steps to the last one, which drops. */
#define IS(value, rest) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, (rest))

static int aim_v4(int fd, const struct sockaddr_in *peer, uint16_t own_port)
{
	struct sock_filter steps[] = {
		LOAD(BPF_B, 9),
		IS(IPPROTO_TCP, 10),
		LOAD(BPF_H, 6),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0x3fff, 8, 0),
		LOAD(BPF_W, 12),
		IS(ntohl(peer->sin_addr.s_addr), 6),
		BPF_STMT(BPF_LDX | BPF_B | BPF_MSH, 0),
		LOAD_BEHIND(BPF_H, 0),
		IS(ntohs(peer->sin_port), 3),
		LOAD_BEHIND(BPF_H, 2),
		IS(own_port, 1),
		BPF_STMT(BPF_RET | BPF_K, TAP_BYTES),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	struct sock_fprog filter = {.len = sizeof steps / sizeof steps[0], .filter = steps};
	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter);
}

static int aim_v6(int fd, const struct sockaddr_in6 *peer, uint16_t own_port)
{
	const uint8_t *from = peer->sin6_addr.s6_addr;
	struct sock_filter steps[] = {
		LOAD(BPF_B, 6),
		IS(IPPROTO_TCP, 13),
		LOAD(BPF_W, 8),
		IS(word_at(from), 11),
		LOAD(BPF_W, 12),
		IS(word_at(from + 4), 9),
		LOAD(BPF_W, 16),
		IS(word_at(from + 8), 7),
		LOAD(BPF_W, 20),
		IS(word_at(from + 12), 5),
		LOAD(BPF_H, 40),
		IS(ntohs(peer->sin6_port), 3),
		LOAD(BPF_H, 42),
		IS(own_port, 1),
		BPF_STMT(BPF_RET | BPF_K, TAP_BYTES),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	struct sock_fprog filter = {.len = sizeof steps / sizeof steps[0], .filter = steps};
	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter);
}

int net_tap_aim(int fd, const struct sockaddr *peer, uint16_t own_port)
{
	bool v6 = peer->sa_family == AF_INET6;
	struct sockaddr_ll all = {.sll_family = AF_PACKET, .sll_protocol = htons(v6 ? ETH_P_IPV6 : ETH_P_IP)};
	int aimed = v6 ? aim_v6(fd, (const struct sockaddr_in6 *)(const void *)peer, own_port)
		       : aim_v4(fd, (const struct sockaddr_in *)(const void *)peer, own_port);
	return aimed == 0 && bind(fd, (struct sockaddr *)&all, sizeof all) == 0 ? 0 : -errno;
}

int net_tap_next(int fd, struct net_segment *ret_segment)
{
	uint8_t packet[TAP_BYTES];
	struct net_arrival arrival;
	for (;;) {
		struct net_segment segment;
		ssize_t got = net_receive(fd, packet, sizeof packet, &arrival);
		if (got < 0)
			return got == -EAGAIN ? 0 : (int)got;
		if (!net_segment_of(packet, (size_t)got, &segment))
			continue;
		segment.kernel_rx = arrival.kernel_rx;
		segment.nic_rx = arrival.nic_rx;
		*ret_segment = segment;
		return 1;
	}
}
