/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opens and closes what the user names beside a log. */
#include "import/log/beside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"

static void put_back(struct import *import, struct beside *beside)
{
	lines_free(import->lines);
	if (beside->unpacked)
		fclose(beside->unpacked);
	input_free(beside->input);
	if (beside->stream)
		fclose(beside->stream);
	free(import->name);
	import->name = beside->name;
	import->lines = beside->lines;
}

static int open_path(const char *path, FILE **ret_stream, struct tare_err *err)
{
	struct stat status;
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0 || fstat(fd, &status))
		return tare_fail_errno(err, errno, "cannot open '%s'", path);
	if (S_ISDIR(status.st_mode))
		return tare_fail(err, TARE_E_FORMAT, "'%s' is a directory", path);
	if (!(*ret_stream = fdopen(fd, "r")))
		return tare_fail_errno(err, errno, "cannot open '%s'", path);
	take_fd(&fd);
	return 0;
}

int beside_open(struct import *import, const char *path, struct beside *ret_beside, struct tare_err *err)
{
	struct beside beside = {.name = import->name, .lines = import->lines};
	char *name = strdup(path);
	if (!name)
		return tare_fail_errno(err, ENOMEM, "cannot read '%s'", path);
	import->name = name;
	import->lines = NULL;
	if (open_path(path, &beside.stream, err) || input_open(beside.stream, import->name, &beside.input, err) ||
		!(beside.unpacked = input_stream(beside.input, err)) ||
		lines_open(beside.unpacked, import->name, &import->lines, err)) {
		if (err && beside.input && input_failure(beside.input))
			*err = *input_failure(beside.input);
		put_back(import, &beside);
		return -1;
	}
	*ret_beside = beside;
	return 0;
}

int beside_close(struct import *import, struct beside *beside, struct tare_err *err)
{
	const struct tare_err *failure = input_failure(beside->input);
	if (failure && err)
		*err = *failure;
	int failed = failure ? -1 : 0;
	put_back(import, beside);
	return failed;
}
