/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A snapshot: all facts of one moment, sorted by key, with a header that says
 * whose they are and with what rights they were read. Its configuration hash
 * covers what was set (kinds B, R and I), not what was going on (G, C): two
 * snapshots with equal configuration have equal hashes, whoever took them when.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "host/fact.h"

struct host_fact {
	const char *key;
	const struct host_key *row; /* NULL: not in this table (a newer tool's snapshot) */
	const char *value;          /* canonical; NULL unless HOST_OK */
	const char *source;         /* path, or words as in host_key.path */
	enum host_status status;
	enum host_kind kind;
	enum host_via via;
	int failure;  /* errno; 0 where there was none */
	bool unknown; /* the source says that it does not know; value is "unknown" */
};

enum { HOST_HASH_BYTES = 65 }; /* 64 hexadecimal digits and the end */

struct host_header {
	unsigned schema, revision;         /* of the file format and of the table */
	const char *tool, *host, *machine; /* machine: a hash of machine-id; clones share it, so it is no key */
	const char *boot, *kernel;
	int64_t real_ns, up_ns; /* wall clock, and time since boot */
	unsigned uid;
	const char *caps; /* effective capabilities, hexadecimal */
	const char *netns, *mountns, *cgroup;
	bool foreign;                    /* read below --root */
	const char *approved, *by, *why; /* role, who and reason; NULL unless approved */
	int64_t approved_ns;
	char hash[HOST_HASH_BYTES]; /* of the configuration */
};

struct host_snapshot {
	struct arena *arena;
	struct host_header header;
	struct host_fact *facts;
	size_t count, room;
	bool cut; /* memory or HOST_FACTS_MAX ran out: facts are missing */
};
enum { HOST_FACTS_MAX = 60000 };

int host_snapshot_open(struct host_snapshot **ret_snapshot, struct tare_err *err) TARE_MUST_USE;
void host_snapshot_free(struct host_snapshot *snapshot); /* NULL is fine */

/* Copies all text. A key that is there already keeps its first value. */
void host_snapshot_add(struct host_snapshot *snapshot, const struct host_fact *fact);
/* Sorts by key and computes the hash; needed before host_find and all that compares. */
int host_snapshot_finish(struct host_snapshot *snapshot, struct tare_err *err) TARE_MUST_USE;

/* NULL when there is none. */
const struct host_fact *host_find(const struct host_snapshot *snapshot, const char *key);
/* The value of a key that could be read and is known, else NULL. */
const char *host_value(const struct host_snapshot *snapshot, const char *key);
/* The same as a number; false when there is none. */
bool host_number(const struct host_snapshot *snapshot, const char *key, int64_t *ret_number);
/* "nic[]" + "0000:3b:00.0" + ".mtu" as one look-up. */
const struct host_fact *host_find_of(const struct host_snapshot *snapshot, const char *name, const char *instance);
/* Walks the facts whose key begins with `prefix`; start with *cursor = 0. NULL at the end. */
const struct host_fact *host_next(const struct host_snapshot *snapshot, const char *prefix, size_t *cursor);

/* Kinds B, R and I: what the hash covers and differences are about. */
bool host_is_setting(const struct host_fact *fact);

/* How many facts there are by what became of them. */
struct host_tally {
	size_t keys, readable, unreadable, not_applicable, skipped; /* skipped: left alone on purpose, told by name */
};
struct host_tally host_tally_of(const struct host_snapshot *snapshot);
/* Readable of those that could apply, 0 to 100; 100 when nothing does. */
double host_completeness(const struct host_tally *tally);

/* The configuration hash of one section: keys that begin with it up to '.' or '['. */
int host_section_hash(const struct host_snapshot *snapshot, const char *section, char ret_hash[HOST_HASH_BYTES],
	struct tare_err *err) TARE_MUST_USE;
