/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One writer at a time. The lock is an open-file-description lock on a byte far
 * behind any SQLite file (SQLite's own are POSIX locks at 1 GiB), so it ends
 * with the process, however that dies. The kernel does not tell who holds such a
 * lock, hence the surprise: the holder locks a second byte, whose distance from
 * the first is its process id.
 */
#include <errno.h>
#include <fcntl.h>

#include "base/cleanup.h"
#include "lib/recording_write.h"

#define LOCK_AT ((off_t)1 << 62)
/* PID_MAX_LIMIT of 64-bit kernels. */
enum { LOCK_PIDS = 4 << 20 };

static struct flock lock_range(off_t from, off_t bytes)
{
	return (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = LOCK_AT + from, .l_len = bytes};
}

/* Process id of the holder, 0 when it cannot be told. */
static int64_t holder_pid(int fd)
{
	struct flock lock = lock_range(1, LOCK_PIDS);

	if (fcntl(fd, F_OFD_GETLK, &lock) < 0 || lock.l_type == F_UNLCK || lock.l_start <= LOCK_AT)
		return 0;
	return lock.l_start - LOCK_AT;
}

int recording_lock(int fd, const char *path, struct tare_err *err)
{
	struct flock lock = lock_range(0, 1), mark = lock_range(getpid(), 1);

	if (fcntl(fd, F_OFD_SETLK, &lock) < 0) {
		if (errno != EAGAIN && errno != EACCES)
			return tare_fail_errno(err, errno, "cannot lock '%s' against other writers", path);
		int64_t pid = holder_pid(fd);
		if (pid > 0)
			return tare_fail(err, TARE_E_SYSTEM, "'%s' is being written by pid %lld", path, (long long)pid);
		return tare_fail(err, TARE_E_SYSTEM, "'%s' is being written by another process", path);
	}
	if (fcntl(fd, F_OFD_SETLK, &mark) < 0)
		return tare_fail_errno(err, errno, "cannot lock '%s' against other writers", path);
	return 0;
}

int64_t tare_recording_writer(const char *path)
{
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct flock lock = lock_range(0, 1);

	if (fd < 0 || fcntl(fd, F_OFD_GETLK, &lock) < 0 || lock.l_type == F_UNLCK)
		return 0;
	int64_t pid = holder_pid(fd);
	return pid > 0 ? pid : -1;
}
