/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that appear whole or not at all: written under another name beside their place, then renamed. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/report.h"

static int open_directly(const char *path, struct report_file *ret_file, struct tare_err *err)
{
	FILE *out = fopen(path, "we");
	if (!out)
		return tare_fail_errno(err, errno, "cannot write '%s'", path);
	*ret_file = (struct report_file){.out = out, .path = path, .direct = true};
	return 0;
}

int report_file_open(const char *path, FILE *fallback, struct report_file *ret_file, struct tare_err *err)
{
	struct report_file file = {.path = path};
	if (strcmp(path, "-") == 0) {
		*ret_file = (struct report_file){.out = fallback, .path = path};
		return 0;
	}
	struct stat status;
	/* What is no file cannot be replaced by one: /dev/null, a pipe. */
	if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
		return open_directly(path, ret_file, err);
	if (asprintf(&file.beside, "%s.XXXXXX", path) < 0)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	AUTO_FD fd = mkostemp(file.beside, O_CLOEXEC);
	mode_t mask = umask(0);
	umask(mask);
	if (fd < 0 || fchmod(fd, 0666 & ~mask) || !(file.out = fdopen(fd, "w"))) {
		int error = errno;
		if (fd >= 0)
			unlink(file.beside);
		free(file.beside);
		return tare_fail_errno(err, error, "cannot create '%s'", path);
	}
	take_fd(&fd);
	*ret_file = file;
	return 0;
}

int report_file_close(struct report_file *file, struct tare_err *err)
{
	if (!file->beside && !file->direct)
		return 0;
	errno = 0;
	bool failed = ferror(file->out) != 0 || fflush(file->out) != 0 || (!file->direct && fsync(fileno(file->out)) != 0);
	int error = errno;
	failed |= fclose(file->out) != 0;
	file->out = NULL;
	if (!failed && !file->direct && rename(file->beside, file->path) != 0) {
		failed = true;
		error = errno;
	}
	if (failed) {
		report_file_abandon(file);
		return tare_fail_errno(err, error ? error : EIO, "cannot write '%s'", file->path);
	}
	free(file->beside);
	file->beside = NULL;
	return 0;
}

void report_file_abandon(struct report_file *file)
{
	if (!file->beside && !file->direct)
		return;
	if (file->out)
		fclose(file->out);
	if (file->beside)
		unlink(file->beside);
	free(file->beside);
	*file = (struct report_file){.path = file->path};
}
