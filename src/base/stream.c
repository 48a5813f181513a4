/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A write that failed in the middle leaves a flag and no reason, and a later
 * flush or close succeeds with nothing left to write: a full disk then reads as
 * "Input/output error". What stopped the writing still does, so it is asked for
 * by writing on, more than the rest of a block that may still be free.
 */
#include "base/stream.h"

#include <errno.h>
#include <unistd.h>

enum { PROBES = 64 };

int stream_errno(FILE *stream)
{
	static const char zeros[4096];
	errno = 0;
	if (!ferror(stream)) {
		if (fflush(stream) == 0)
			return 0;
		return errno ? errno : EIO;
	}
	int fd = fileno(stream);
	if (fflush(stream) && errno)
		return errno;
	for (int i = 0; i < PROBES && fd >= 0; i++) {
		errno = 0;
		if (write(fd, zeros, sizeof(zeros)) < 0 && errno)
			return errno;
	}
	return EIO;
}
