/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The settings lie in sysfs, which shows the interfaces of whoever mounted it: a
 * sysfs of our own namespace is made where that is allowed, and the one at /sys is
 * believed only if it shows the same interface. Everything the child does is safe in a
 * copy of a process that had other threads.
 */
#include "net/napi.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"

/* Two interrupts' worth of patience, and 0.2 ms until they are let in again if nobody polls. */
#define DEFER_IRQS "2"
#define FLUSH_NS   "200000"

enum { SETTINGS = 2, VALUE_BYTES = 32 };
/* System calls of Linux 5.2 and 5.9 that older C libraries do not name. */
enum { CREATE = 6 /* FSCONFIG_CMD_CREATE */, CLOEXEC = 1 };

struct setting {
	int fd;
	char was[VALUE_BYTES];
};

struct napi {
	pid_t child;
	int pipe; /* closed: the child puts the settings back */
};

static const char *const names[SETTINGS] = {"napi_defer_hard_irqs", "gro_flush_timeout"};
static const char *const values[SETTINGS] = {DEFER_IRQS, FLUSH_NS};

static int own_sysfs(void)
{
	AUTO_FD context = (int)syscall(SYS_fsopen, "sysfs", CLOEXEC);
	if (context < 0 || syscall(SYS_fsconfig, context, CREATE, NULL, NULL, 0) < 0)
		return -1;
	return (int)syscall(SYS_fsmount, context, CLOEXEC, 0);
}

static ssize_t read_at(int folder, const char *path, char *buffer, size_t room)
{
	AUTO_FD fd = openat(folder, path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, buffer, room - 1);
	buffer[got > 0 ? got : 0] = '\0';
	return got;
}

static int open_setting(
	int folder, const char *device, const char *name, struct setting *ret_setting, struct tare_err *err)
{
	char path[96];
	snprintf(path, sizeof path, "class/net/%.20s/%s", device, name);
	if (read_at(folder, path, ret_setting->was, sizeof ret_setting->was) <= 0 ||
		(ret_setting->fd = openat(folder, path, O_WRONLY | O_CLOEXEC)) < 0)
		return tare_fail_errno(
			err, errno, "cannot change %s of %s (sysfs: %s), which busy= needs", name, device, path);
	return 0;
}

static bool shows(int folder, const char *device, unsigned index)
{
	char path[96], text[VALUE_BYTES];
	snprintf(path, sizeof path, "class/net/%.20s/ifindex", device);
	return read_at(folder, path, text, sizeof text) > 0 && strtoul(text, NULL, 10) == index;
}

static int open_settings(const char *device, unsigned index, struct setting *settings, struct tare_err *err)
{
	AUTO_FD folder = own_sysfs();
	if (folder < 0)
		folder = open("/sys", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0 || !shows(folder, device, index))
		return tare_fail(err, TARE_E_SYSTEM,
			"cannot switch busy polling on: /sys shows no %s of this network namespace\n"
			"  run it by ip netns exec, or without busy=",
			device);
	for (int i = 0; i < SETTINGS; i++)
		if (open_setting(folder, device, names[i], &settings[i], err) < 0)
			return -1;
	return 0;
}

static void put_back(const struct setting *settings)
{
	for (int i = 0; i < SETTINGS; i++)
		if (pwrite(settings[i].fd, settings[i].was, strlen(settings[i].was), 0) < 0)
			continue; /* the interface may be gone */
}

/* Keeps three descriptors and nothing else, out of reach of the terminal's signals. */
static _Noreturn void wait_for_end(int wait, const struct setting *settings)
{
	int kept[3] = {wait, settings[0].fd, settings[1].fd};
	char byte;
	setsid();
	signal(SIGTERM, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	for (int fd = 0; fd < 3; fd++) /* sorted, for the gaps between them */
		for (int other = fd + 1; other < 3; other++)
			if (kept[other] < kept[fd]) {
				int swapped = kept[fd];
				kept[fd] = kept[other];
				kept[other] = swapped;
			}
	unsigned from = 0;
	for (int i = 0; i < 3; i++) {
		if (kept[i] > (int)from)
			syscall(SYS_close_range, from, (unsigned)kept[i] - 1, 0);
		from = (unsigned)kept[i] + 1;
	}
	syscall(SYS_close_range, from, ~0u, 0);
	while (read(wait, &byte, 1) < 0 && errno == EINTR)
		continue;
	put_back(settings);
	_exit(0);
}

static int start_child(struct napi *napi, const struct setting *settings, struct tare_err *err)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) < 0)
		return tare_fail_errno(err, errno, "cannot open a pipe");
	napi->pipe = ends[1];
	napi->child = fork();
	if (napi->child == 0) {
		close(ends[1]);
		wait_for_end(ends[0], settings);
	}
	int why = errno;
	close(ends[0]);
	return napi->child < 0 ? tare_fail_errno(err, why, "cannot start a process that ends busy polling") : 0;
}

/* Returns once the child listens no more to anything but us. */
int napi_defer(const char *device, unsigned index, struct napi **ret_napi, struct tare_err *err)
{
	struct setting settings[SETTINGS] = {{.fd = -1}, {.fd = -1}};
	struct napi *napi = calloc(1, sizeof *napi);
	int status =
		napi ? open_settings(device, index, settings, err) : tare_fail_errno(err, ENOMEM, "cannot poll busily");
	if (status == 0) {
		*napi = (struct napi){.child = -1, .pipe = -1};
		status = start_child(napi, settings, err);
	}
	for (int i = 0; status == 0 && i < SETTINGS; i++)
		if (pwrite(settings[i].fd, values[i], strlen(values[i]), 0) < 0)
			status =
				tare_fail_errno(err, errno, "cannot set %s of %s, which busy= needs", names[i], device);
	for (int i = 0; i < SETTINGS; i++)
		if (settings[i].fd >= 0)
			close(settings[i].fd);
	if (status == 0) {
		*ret_napi = napi;
		return 0;
	}
	if (napi && napi->child > 0)
		napi_restore(napi);
	else
		free(napi);
	return -1;
}

void napi_restore(struct napi *napi)
{
	if (!napi)
		return;
	close(napi->pipe);
	while (waitpid(napi->child, NULL, 0) < 0 && errno == EINTR)
		continue;
	free(napi);
}
