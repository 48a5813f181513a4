/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Events of the host while a round runs: two snapshots cannot see what changed and
 * changed back, but the kernel announces links, drivers' settings, queue
 * disciplines and neighbours by netlink. The sockets are opened before a round
 * and read between its requests' ends: nothing happens unless something happens.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tare/err.h"

struct host_watch;

/*
 * Everything of this network namespace. What the kernel or the rights do not allow is left out: *ret_watch may
 * watch less (see host_watch_missing); fails only for lack of memory.
 */
int host_watch_open(struct host_watch **ret_watch, struct tare_err *err) TARE_MUST_USE;
void host_watch_close(struct host_watch *watch); /* NULL is fine */
/* What is not watched, as "ethtool, neighbours"; "" for nothing. */
const char *host_watch_missing(const struct host_watch *watch);

/* Descriptors that become readable when something happened; at most `room`, returns their number. */
size_t host_watch_fds(const struct host_watch *watch, int *ret_fds, size_t room);

/* One event: when it was taken from the socket (CLOCK_MONOTONIC), what, and where. */
struct host_event {
	int64_t at_ns;
	char text[160]; /* "eth0: link down", "eth0: ethtool coalesce changed", "neighbour 10.0.0.2 on eth0: stale" */
};
/*
 * What has happened since the last call, without waiting; repeated states of a link or neighbour are told once.
 * Returns their number, at most `room`; *ret_lost: the kernel had more than the socket could hold.
 */
size_t host_watch_drain(struct host_watch *watch, struct host_event *ret_events, size_t room, bool *ret_lost);

/* Takes one message as it was received, of route or generic netlink; false when it tells nothing new. */
bool host_watch_message(
	struct host_watch *watch, bool generic, const void *bytes, size_t count, struct host_event *ret_event);
