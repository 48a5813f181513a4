/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Snapshots as files: JSON lines, the header first, then facts sorted by key, so
 * that diff(1) and git see what changed. The hash in the header is checked when a
 * file is read: a snapshot that was edited is refused. A state folder holds the
 * last inspection, the approved snapshots and since when something has differed.
 */
#pragma once
#include <stdio.h>

#include "host/difference.h"
#include "host/snapshot.h"

/* Write errors stay in `out`. */
int host_snapshot_print(const struct host_snapshot *snapshot, FILE *out, struct tare_err *err) TARE_MUST_USE;
/* Through a file beside it and a rename: a reader sees the old or the new one. `mode` as of chmod. */
int host_snapshot_save(
	const struct host_snapshot *snapshot, const char *path, unsigned mode, struct tare_err *err) TARE_MUST_USE;
/* Fails with TARE_E_FORMAT, naming file and line, for what is no snapshot; with TARE_E_SYSTEM when it cannot be read.
 */
int host_snapshot_load(const char *path, struct host_snapshot **ret_snapshot, struct tare_err *err) TARE_MUST_USE;
/* The same from memory; `name` stands for the file in messages. The text is changed. */
int host_snapshot_parse(
	char *text, const char *name, struct host_snapshot **ret_snapshot, struct tare_err *err) TARE_MUST_USE;

/* The JSON lines behind zlib. */
struct host_packed {
	uint8_t *bytes; /* to be freed */
	size_t count, plain_bytes;
};
/* Fails when it has more than plain_most octets unpacked. */
int host_snapshot_pack(const struct host_snapshot *snapshot, size_t plain_most, struct host_packed *ret_packed,
	struct tare_err *err) TARE_MUST_USE;
/* plain_bytes is believed, and bounded, by the caller; all else is checked. `name` as with host_snapshot_parse. */
int host_snapshot_unpack(const struct host_packed *packed, const char *name, struct host_snapshot **ret_snapshot,
	struct tare_err *err) TARE_MUST_USE;

enum { HOST_STORE_PATH_BYTES = 1024 };
struct host_store {
	char folder[HOST_STORE_PATH_BYTES];
};
/*
 * `asked`, or $STATE_DIRECTORY (systemd), or /var/lib/tare for root, or tare below $XDG_STATE_HOME or
 * ~/.local/state. With `make` it is made when it is missing.
 */
int host_store_open(const char *asked, bool make, struct host_store *ret_store, struct tare_err *err) TARE_MUST_USE;

/* The last inspection: 1 with *ret_snapshot, 0 when there is none yet. */
int host_store_last(
	const struct host_store *store, struct host_snapshot **ret_snapshot, struct tare_err *err) TARE_MUST_USE;
int host_store_keep(
	const struct host_store *store, const struct host_snapshot *snapshot, struct tare_err *err) TARE_MUST_USE;

/*
 * Makes this snapshot the yardstick of a role; who, when and why stand in its header. An earlier one of that name is
 * kept beside it under the time at which it was approved. Names are letters, digits, '-', '_' and '.'.
 */
int host_store_approve(const struct host_store *store, const char *role, struct host_snapshot *snapshot,
	const char *who, const char *why, struct tare_err *err) TARE_MUST_USE;
/* A role, or a file when the text holds a '/' or ends in .jsonl. */
int host_store_approved(const struct host_store *store, const char *role, struct host_snapshot **ret_snapshot,
	struct tare_err *err) TARE_MUST_USE;
/* The only role there is, into `role`: 1; 0 when there is none; -1 when there are several. */
int host_store_only_role(const struct host_store *store, char *role, size_t room, struct tare_err *err) TARE_MUST_USE;
/* The role's policy, ROLE.policy in the folder; an empty one when there is no such file. */
int host_store_policy(const struct host_store *store, const char *role, struct host_policy **ret_policy,
	struct tare_err *err) TARE_MUST_USE;

/*
 * Notes for every difference when it last matched: the moment of the inspection before the first that found it.
 * With `write`, remembers that for the next time.
 */
int host_store_since(const struct host_store *store, const char *role, struct host_differences *differences,
	int64_t previous_ns, bool write, struct tare_err *err) TARE_MUST_USE;
