/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * SO_BUSY_POLL and its like. Numbers instead of names: PREFER and BUDGET are newer
 * (5.11) than some C libraries' headers. Kernels without them grant the first alone,
 * which then shows in what was granted.
 */
#include "net/busy.h"

#include <errno.h>
#include <sys/socket.h>

enum { BUSY_POLL = 46, NAPI_ID = 56, PREFER_BUSY_POLL = 69, BUSY_POLL_BUDGET = 70 };

static int get_int(int fd, int option)
{
	int value = 0;
	socklen_t length = sizeof value;
	return getsockopt(fd, SOL_SOCKET, option, &value, &length) == 0 ? value : 0;
}

static int refused(const char *name, int value, struct tare_err *err)
{
	if (errno == EPERM)
		return tare_fail(err, TARE_E_PERMISSION,
			"busy polling: %s %d is not permitted\n"
			"  needs CAP_NET_ADMIN: sudo setcap cap_net_admin+ep $(command -v tare)",
			name, value);
	return tare_fail_errno(err, errno, "cannot switch busy polling on (%s %d)", name, value);
}

int net_busy_poll_on(int fd, const struct net_busy_poll *asked, struct net_busy_poll *ret_granted, struct tare_err *err)
{
	int prefer = asked->prefer;
	if (setsockopt(fd, SOL_SOCKET, BUSY_POLL, &asked->us, sizeof asked->us) != 0)
		return refused("SO_BUSY_POLL", asked->us, err);
	if (setsockopt(fd, SOL_SOCKET, PREFER_BUSY_POLL, &prefer, sizeof prefer) != 0 && errno != ENOPROTOOPT)
		return refused("SO_PREFER_BUSY_POLL", prefer, err);
	if (asked->budget && setsockopt(fd, SOL_SOCKET, BUSY_POLL_BUDGET, &asked->budget, sizeof asked->budget) != 0 &&
		errno != ENOPROTOOPT)
		return refused("SO_BUSY_POLL_BUDGET", asked->budget, err);
	*ret_granted = (struct net_busy_poll){.us = get_int(fd, BUSY_POLL),
		.budget = get_int(fd, BUSY_POLL_BUDGET),
		.prefer = get_int(fd, PREFER_BUSY_POLL) != 0};
	return 0;
}

unsigned net_napi_of(int fd)
{
	return (unsigned)get_int(fd, NAPI_ID);
}
