/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Constants of SO_TIMESTAMPING newer than Debian 12's headers, and reading of control messages. */
#pragma once
#include <time.h> /* before errqueue.h, which uses struct timespec without declaring it */

#include <linux/errqueue.h>
#include <linux/net_tstamp.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "net/net.h"

/* Room for a stamp (48 octets of cmsg), a hop limit and an extended error with its address. */
enum { NET_CONTROL_BYTES = 256 };

/* Fills *ret_arrival from a received message header. */
void net_arrival_of(struct msghdr *message, struct net_arrival *ret_arrival);

/* One message of the error queue: a transmit stamp or an ICMP error. */
struct net_notice {
	bool is_stamp;
	uint32_t key;              /* is_stamp: number of sends since stamps were switched on */
	clock_real kernel_tx;      /* is_stamp and software; ns 0: a hardware or scheduler stamp */
	int error;                 /* errno of an ICMP or local error, 0 for stamps */
	const uint8_t *payload;    /* of the refused request, in the caller's buffer; may be empty */
	size_t payload_bytes;
};
/* Next notice: 1, 0 when the queue is empty, -errno. `buffer` receives the refused request. */
int net_next_notice(int fd, void *buffer, size_t room, struct net_notice *ret_notice);

/* Starts the kernel's count of stamped sends at 0 again, after a send failed. */
int net_stamps_restart(int fd, unsigned stamps);
