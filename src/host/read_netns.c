/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Another network namespace. Entering it changes sockets and /proc/self/net, but
 * /sys/class/net shows the namespace of whoever mounted sysfs: a sysfs of our own
 * is made, never attached anywhere, and asked through its descriptor.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "host/reading.h"

/* System calls of Linux 5.2 that C libraries before glibc 2.36 do not name. */
enum { CREATE = 6 /* FSCONFIG_CMD_CREATE */, CLOEXEC = 1 };

static int own_sysfs(void)
{
	AUTO_FD context = (int)syscall(SYS_fsopen, "sysfs", CLOEXEC);
	if (context < 0 || syscall(SYS_fsconfig, context, CREATE, NULL, NULL, 0) < 0)
		return -1;
	return (int)syscall(SYS_fsmount, context, CLOEXEC, MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC);
}

void reading_own_sysfs(struct reading *reading)
{
	/* without CAP_SYS_ADMIN the one that is mounted has to do; devices it shows of elsewhere are left out */
	if (!reading->tree.foreign && reading->tree.net_sys_fd < 0)
		reading->tree.net_sys_fd = own_sysfs();
}

int reading_enter_netns(struct reading *reading, struct tare_err *err)
{
	const char *name = reading->question->netns;
	char path[READING_PATH_BYTES];
	uint64_t pid = 0;
	if (strchr(name, '/'))
		snprintf(path, sizeof path, "%s", name);
	else if (parse_count(name, &pid, NULL) == 0)
		snprintf(path, sizeof path, "/proc/%llu/ns/net", (unsigned long long)pid);
	else
		snprintf(path, sizeof path, "/run/netns/%s", name);
	if (reading->tree.foreign)
		return tare_fail(
			err, TARE_E_USAGE, "a network namespace belongs to this host, not to one read from a folder");
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return tare_fail_errno(err, errno, "cannot open the network namespace '%s'", path);
	if (setns(fd, CLONE_NEWNET) < 0)
		return tare_fail_errno(err, errno, "cannot enter the network namespace '%s' (CAP_SYS_ADMIN)", path);
	reading->tree.net_sys_fd = own_sysfs();
	if (reading->tree.net_sys_fd < 0)
		return tare_fail_errno(err, errno, "cannot see the devices of the network namespace '%s'", path);
	return 0;
}
