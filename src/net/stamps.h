/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Flags of SO_TIMESTAMPING, those newer than Debian 12's headers too, and reading of control messages. */
#pragma once
#include <time.h> /* before errqueue.h, which uses struct timespec without declaring it */

#include <linux/errqueue.h>
#include <linux/net_tstamp.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "net/net.h"

/* Room for a stamp (64 octets of cmsg), a hop limit and an extended error with its address. */
enum { NET_CONTROL_BYTES = 256 };

/* Fills *ret_arrival from a received message header. Reads nothing beyond its control data, whatever that claims. */
void net_arrival_of(const struct msghdr *message, struct net_arrival *ret_arrival);

/* Which moment of a packet's way out a stamp is of: ee_info of its message. */
enum net_moment { NET_MOMENT_SENT, NET_MOMENT_SCHEDULED, NET_MOMENT_ACKNOWLEDGED, NET_MOMENT_COMPLETED };

/* One message of the error queue: a transmit stamp or an ICMP error. */
struct net_notice {
	bool is_stamp;
	uint32_t key;              /* is_stamp: number of sends (tcp: bytes) since stamps were switched on */
	enum net_moment moment;
	clock_real kernel_tx;      /* is_stamp, of SENT, by software; ns 0: none */
	clock_phc nic_tx;          /* the same by the card, which may come in a message of its own */
	int error;                 /* errno of an ICMP or local error, 0 for stamps */
	bool cut;                  /* control data truncated: nothing else can be relied on */
	const uint8_t *payload;    /* of the refused request, in the caller's buffer; may be empty */
	size_t payload_bytes;
};
/* Pure: what a received message of the error queue says; payload is left alone. */
void net_notice_of(const struct msghdr *message, struct net_notice *ret_notice);
/* Next notice: 1, 0 when the queue is empty, -errno. `buffer` receives the refused request. */
int net_next_notice(int fd, void *buffer, size_t room, struct net_notice *ret_notice);

/* Starts the kernel's count of stamped sends at 0 again, after a send failed. */
int net_stamps_restart(int fd, unsigned stamps);

/* A flag of SO_TIMESTAMPING: what it is called, and what it needs beside it. */
struct net_flag {
	const char *name, *help;
	uint32_t bit, needs;
};
extern const struct net_flag net_flags[];
extern const size_t net_flag_count;
/*
 * Whether this kernel takes a flag: 0, or the errno it is refused with (EINVAL: unknown to it). Tried on a socket
 * of its own; a kernel may be newer or older than the headers, so nothing else tells.
 */
int net_flag_try(const struct net_flag *flag);
/* Of the optional ones, those taken; asked once, then remembered. */
uint32_t net_flags_taken(void);
