/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that appear whole or not at all: written under another name beside their place, then renamed. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/stream.h"
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
	bool there = stat(path, &status) == 0;
	/* What is no file cannot be replaced by one: /dev/null, a pipe. */
	if (there && !S_ISREG(status.st_mode))
		return open_directly(path, ret_file, err);
	if (there && ret_file->is_new)
		return tare_fail_errno(err, EEXIST, "cannot create '%s'", path);
	file.is_new = ret_file->is_new;
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

/* 0 or errno. Some file systems cannot rename without replacing: there the look at the start has to do. */
static int take_name(const struct report_file *file)
{
	if (file->is_new && renameat2(AT_FDCWD, file->beside, AT_FDCWD, file->path, RENAME_NOREPLACE) == 0)
		return 0;
	if (file->is_new && errno != EINVAL && errno != ENOSYS)
		return errno;
	return rename(file->beside, file->path) ? errno : 0;
}

int report_file_close(struct report_file *file, struct tare_err *err)
{
	if (!file->beside && !file->direct)
		return 0;
	int error = stream_errno(file->out);
	if (!error && !file->direct && fsync(fileno(file->out)) != 0)
		error = errno;
	if (fclose(file->out) != 0 && !error)
		error = errno;
	file->out = NULL;
	if (!error && !file->direct)
		error = take_name(file);
	if (error) {
		report_file_abandon(file);
		return tare_fail_errno(err, error, "cannot write '%s'", file->path);
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
