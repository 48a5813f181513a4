/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where facts are read from: this host, or a folder that holds another host's
 * /proc, /sys, /dev and /etc. Nothing read there can lead out of the folder
 * (absolute links resolve within it), and only plain files are opened. Such a
 * folder may hold how a read failed, too: a link to "!EBUSY" reads as that error.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "host/fact.h"

struct host_tree {
	int root_fd;    /* AT_FDCWD stands for "/" */
	int net_sys_fd; /* -1, or a sysfs of another network namespace, asked for /sys/class/net and what lies below */
	bool foreign;   /* not this host: no system calls, no netlink */
};
#define HOST_TREE_NONE                                                                                                 \
	{                                                                                                              \
		.root_fd = -1, .net_sys_fd = -1                                                                        \
	}

/* `root` NULL: this host. */
int tree_open(const char *root, struct host_tree *ret_tree, struct tare_err *err) TARE_MUST_USE;
void tree_close(struct host_tree *tree);

/*
 * The whole text of a file, terminated; paths are absolute, as on the host. Bytes NUL become blanks. On failure
 * *ret_errno holds why; a file longer than the room is EFBIG (malformed). Never blocks.
 */
enum host_status tree_read(
	const struct host_tree *tree, const char *path, char *buffer, size_t room, size_t *ret_bytes, int *ret_errno);
/* The same, bytes NUL and all. */
enum host_status tree_read_raw(
	const struct host_tree *tree, const char *path, char *buffer, size_t room, size_t *ret_bytes, int *ret_errno);
/* The last part of what a link points to ("../../../0000:3b:00.0" → "0000:3b:00.0"). False when it is no link. */
bool tree_link(const struct host_tree *tree, const char *path, char *buffer, size_t room);
bool tree_exists(const struct host_tree *tree, const char *path);

/* Names in a folder, natural order ("cpu2" before "cpu10"), in the arena. count 0 when it is empty or unreadable. */
struct tree_names {
	const char **name;
	size_t count;
	bool cut; /* there were more than HOST_NAMES_MAX */
};
enum { HOST_NAMES_MAX = 8192 };
enum host_status tree_list(const struct host_tree *tree, const char *path, struct arena *arena,
	struct tree_names *ret_names, int *ret_errno);
