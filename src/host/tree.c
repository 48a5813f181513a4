/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bounded reads below a root. */
#include "host/tree.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"

enum { PATH_BYTES = 1024 };

/* Errors that a folder of another host can hold in place of a file. */
static const struct {
	const char *name;
	int failure;
} noted_errors[] = {
	{"!EINVAL", EINVAL},
	{"!EOPNOTSUPP", EOPNOTSUPP},
	{"!EBUSY", EBUSY},
	{"!EAGAIN", EAGAIN},
	{"!EACCES", EACCES},
	{"!EPERM", EPERM},
	{"!EIO", EIO},
	{"!ENOENT", ENOENT},
};

int tree_open(const char *root, struct host_tree *ret_tree, struct tare_err *err)
{
	struct host_tree tree = {.root_fd = AT_FDCWD, .net_sys_fd = -1};
	if (root) {
		tree.foreign = true;
		tree.root_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (tree.root_fd < 0)
			return tare_fail_errno(err, errno, "cannot open the folder '%s'", root);
	}
	*ret_tree = tree;
	return 0;
}

void tree_close(struct host_tree *tree)
{
	if (tree->root_fd >= 0)
		close(tree->root_fd);
	if (tree->net_sys_fd >= 0)
		close(tree->net_sys_fd);
	*tree = (struct host_tree)HOST_TREE_NONE;
}

/* The folder a path starts from, and the path from there. */
static int start_of(const struct host_tree *tree, const char *path, const char **ret_rest)
{
	*ret_rest = path;
	if (tree->net_sys_fd >= 0 && strncmp(path, "/sys/class/net", 14) == 0) {
		*ret_rest = path + 5;
		return tree->net_sys_fd;
	}
	if (!tree->foreign)
		return AT_FDCWD;
	*ret_rest = path + strspn(path, "/");
	if (**ret_rest == '\0')
		*ret_rest = ".";
	return tree->root_fd;
}

static int tree_openat(const struct host_tree *tree, const char *path, int flags)
{
	const char *rest;
	int from = start_of(tree, path, &rest);
	/* openat2 refuses what O_PATH makes pointless */
	flags |= flags & O_PATH ? O_CLOEXEC : O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	if (!tree->foreign)
		return openat(from, rest, flags);
	struct open_how how = {.flags = (unsigned)flags, .resolve = RESOLVE_IN_ROOT};
	return (int)syscall(SYS_openat2, from, rest, &how, sizeof how);
}

/* The error that stands in place of a file, or 0. */
static int noted_error(const struct host_tree *tree, const char *path)
{
	char target[16];
	const char *rest;
	int from = start_of(tree, path, &rest);
	ssize_t length = readlinkat(from, rest, target, sizeof target - 1);
	if (length <= 0 || target[0] != '!')
		return 0;
	target[length] = '\0';
	for (size_t i = 0; i < sizeof noted_errors / sizeof noted_errors[0]; i++)
		if (strcmp(target, noted_errors[i].name) == 0)
			return noted_errors[i].failure;
	return 0;
}

static enum host_status failed(int failure, int *ret_errno)
{
	*ret_errno = failure;
	return host_status_of_errno(failure);
}

static enum host_status read_bytes(int fd, char *buffer, size_t room, size_t *ret_bytes, int *ret_errno)
{
	size_t used = 0;
	for (;;) {
		ssize_t got = read(fd, buffer + used, room - 1 - used);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			/* listed and opened, yet not there: the object has no such attribute (xps_cpus of one queue) */
			enum host_status status = failed(errno, ret_errno);
			return status == HOST_ABSENT ? HOST_UNSUPPORTED : status;
		}
		used += (size_t)got;
		if (got == 0)
			break;
		if (used == room - 1)
			return failed(EFBIG, ret_errno);
	}
	buffer[used] = '\0';
	*ret_bytes = used;
	return HOST_OK;
}

enum host_status tree_read_raw(
	const struct host_tree *tree, const char *path, char *buffer, size_t room, size_t *ret_bytes, int *ret_errno)
{
	struct stat about;
	*ret_errno = 0;
	AUTO_FD fd = tree_openat(tree, path, O_RDONLY);
	if (fd < 0) {
		int failure = errno;
		int noted = tree->foreign && failure == ENOENT ? noted_error(tree, path) : 0;
		return failed(noted ? noted : failure, ret_errno);
	}
	if (fstat(fd, &about) < 0)
		return failed(errno, ret_errno);
	if (!S_ISREG(about.st_mode))
		return failed(S_ISDIR(about.st_mode) ? EISDIR : EINVAL, ret_errno);
	return read_bytes(fd, buffer, room, ret_bytes, ret_errno);
}

enum host_status tree_read(
	const struct host_tree *tree, const char *path, char *buffer, size_t room, size_t *ret_bytes, int *ret_errno)
{
	enum host_status status = tree_read_raw(tree, path, buffer, room, ret_bytes, ret_errno);
	for (size_t i = 0; status == HOST_OK && i < *ret_bytes; i++)
		if (buffer[i] == '\0')
			buffer[i] = ' ';
	return status;
}

bool tree_link(const struct host_tree *tree, const char *path, char *buffer, size_t room)
{
	char target[PATH_BYTES];
	const char *rest;
	int from = start_of(tree, path, &rest);
	ssize_t length = readlinkat(from, rest, target, sizeof target - 1);
	if (length <= 0 || (size_t)length >= sizeof target - 1)
		return false;
	target[length] = '\0';
	const char *last = strrchr(target, '/');
	last = last ? last + 1 : target;
	size_t bytes = strlen(last);
	if (bytes == 0 || bytes >= room)
		return false;
	memcpy(buffer, last, bytes + 1);
	return true;
}

bool tree_exists(const struct host_tree *tree, const char *path)
{
	AUTO_FD fd = tree_openat(tree, path, O_PATH);
	return fd >= 0;
}

/* "cpu2" before "cpu10": digits compare as numbers. */
static int natural(const void *left, const void *right)
{
	const char *a = *(const char *const *)left, *b = *(const char *const *)right;
	for (;;) {
		if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
			while (*a == '0' && isdigit((unsigned char)a[1]))
				a++;
			while (*b == '0' && isdigit((unsigned char)b[1]))
				b++;
			size_t digits_a = strspn(a, "0123456789"), digits_b = strspn(b, "0123456789");
			if (digits_a != digits_b)
				return digits_a < digits_b ? -1 : 1;
		}
		if (*a != *b || !*a)
			return (unsigned char)*a - (unsigned char)*b;
		a++;
		b++;
	}
}

static void close_dir(DIR *const *dir)
{
	if (*dir)
		closedir(*dir);
}

enum host_status tree_list(const struct host_tree *tree, const char *path, struct arena *arena,
	struct tree_names *ret_names, int *ret_errno)
{
	struct tree_names names = {0};
	size_t room = 0;
	*ret_errno = 0;
	*ret_names = names;
	AUTO_FD fd = tree_openat(tree, path, O_RDONLY | O_DIRECTORY);
	if (fd < 0)
		return failed(errno, ret_errno);
	AUTO_CLEANUP(close_dir) DIR *dir = fdopendir(fd);
	if (!dir)
		return failed(errno, ret_errno);
	(void)take_fd(&fd);
	AUTO_FREE const char **found = NULL;
	for (const struct dirent *entry; (entry = readdir(dir)) != NULL;) {
		if (entry->d_name[0] == '.')
			continue;
		if (names.count == HOST_NAMES_MAX) {
			names.cut = true;
			break;
		}
		if (names.count == room) {
			room = room ? room * 2 : 64;
			const char **more = realloc(found, room * sizeof *more);
			if (!more)
				return failed(ENOMEM, ret_errno);
			found = more;
		}
		found[names.count] = arena_text(arena, entry->d_name);
		if (!found[names.count])
			return failed(ENOMEM, ret_errno);
		names.count++;
	}
	if (names.count == 0)
		return HOST_OK;
	qsort(found, names.count, sizeof *found, natural);
	names.name = ARENA_ARRAY(arena, const char *, names.count);
	if (!names.name)
		return failed(ENOMEM, ret_errno);
	memcpy(names.name, found, names.count * sizeof *found);
	*ret_names = names;
	return HOST_OK;
}
