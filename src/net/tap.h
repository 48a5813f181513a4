/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The segments of one TCP connection as they arrive, each with its receive stamp.
 * The connection's own socket cannot give them: segments that wait there are joined,
 * and the kernel keeps the last one's stamp for all. A packet socket sees each before
 * that, with the stamp that TCP was given. Needs CAP_NET_RAW.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "clock/clock.h"

/* A segment towards us. */
struct net_segment {
	uint32_t sequence; /* of its first byte, or of its SYN */
	uint32_t bytes;    /* of payload */
	bool begins;       /* SYN: the first byte of payload has the number behind it */
	clock_real kernel_rx;
	clock_phc nic_rx;
};
/* Pure: from an IP header on, as far as it was captured. False for what is no TCP, cut within the headers, or a fragment. */
bool net_segment_of(const uint8_t *packet, size_t bytes, struct net_segment *ret_segment);

/* Opens a tap that sees nothing yet; -1 without the privilege. `stamps`: enum net_stamp, of which the receive ones count. */
int net_tap_open(unsigned stamps);
/* From now on: what `peer` (address and port) sends to our port. 0 or -errno. */
int net_tap_aim(int fd, const struct sockaddr *peer, uint16_t own_port);
/* Next segment: 1, 0 when there is none, -errno. What is no segment is passed over. */
int net_tap_next(int fd, struct net_segment *ret_segment);
