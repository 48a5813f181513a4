/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Snapshots made by hand, for the tests of what compares them. */
#pragma once
#include <stdlib.h>

#include "host/snapshot.h"
#include "tap.h"

struct made_fact {
	const char *key, *value; /* value NULL: the status */
	enum host_status status;
};

/* Kinds come from the table, R for keys it does not know. Up time in seconds, boot id as given. */
__attribute__((unused)) static struct host_snapshot *made(
	const struct made_fact *facts, size_t count, int64_t up_s, const char *boot)
{
	struct host_snapshot *snapshot = NULL;
	struct tare_err err;
	if (host_snapshot_open(&snapshot, &err) < 0)
		abort();
	for (size_t i = 0; i < count; i++) {
		const struct host_key *row = host_key_of(facts[i].key);
		host_snapshot_add(snapshot, &(struct host_fact){.key = facts[i].key,
						    .value = facts[i].value,
						    .status = facts[i].value ? HOST_OK : facts[i].status,
						    .kind = row ? row->kind : HOST_RUNTIME});
	}
	snapshot->header.up_ns = up_s * 1000000000;
	snapshot->header.real_ns = INT64_C(1700000000000000000) + up_s * 1000000000;
	snapshot->header.boot = arena_text(snapshot->arena, boot);
	snapshot->header.host = arena_text(snapshot->arena, "made");
	if (host_snapshot_finish(snapshot, &err) < 0)
		abort();
	return snapshot;
}
#define MADE(up_s, boot, ...)                                                                                          \
	made((const struct made_fact[]){__VA_ARGS__},                                                                  \
		sizeof((const struct made_fact[]){__VA_ARGS__}) / sizeof(struct made_fact), (up_s), (boot))
