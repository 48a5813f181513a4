/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Cleanup by attribute: AUTO_FD fd = -1; AUTO_FREE char *text = NULL; … always
 * with an initial value. take_fd() and take_ptr() hand ownership on. `unused`
 * is in the macro since clang 14 warns where gcc does not.
 */
#pragma once
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline void auto_fd_end(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void auto_file_end(FILE *const *file)
{
	if (*file)
		fclose(*file);
}

static inline void auto_free_end(void *slot)
{
	free(*(void **)slot);
}

#define AUTO_CLEANUP(end) __attribute__((cleanup(end), unused))
#define AUTO_FD AUTO_CLEANUP(auto_fd_end) int
#define AUTO_FILE AUTO_CLEANUP(auto_file_end) FILE *
#define AUTO_FREE AUTO_CLEANUP(auto_free_end)

static inline int take_fd(int *fd)
{
	int had = *fd;
	*fd = -1;
	return had;
}

/* take_ptr(p): the pointer, leaving NULL behind. */
#define take_ptr(p) (__extension__({ __typeof__(p) had_ = (p); (p) = NULL; had_; }))
