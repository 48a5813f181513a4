/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Busy polling: the receiving thread drives the device's queue itself instead of waiting for its interrupt. */
#pragma once
#include <stdbool.h>

#include "tare/err.h"

/* Asked for, or granted as the socket says. */
struct net_busy_poll {
	int us;          /* SO_BUSY_POLL; 0: off */
	int budget;      /* SO_BUSY_POLL_BUDGET, packets a poll; 0: the system's */
	bool prefer;     /* SO_PREFER_BUSY_POLL: interrupts stay off while we poll often enough */
};
/* Asks a socket for it; *ret_granted is what it then has. Fails where the privilege is missing. */
int net_busy_poll_on(int fd, const struct net_busy_poll *asked, struct net_busy_poll *ret_granted,
	struct tare_err *err) TARE_MUST_USE;
/* The queue (NAPI) that brought the socket its last packet; 0: none that can be polled, as with loopback and veth. */
unsigned net_napi_of(int fd);
