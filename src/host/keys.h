/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of the table of facts, and short words for writing its rows. */
#pragma once
#include "host/fact.h"

struct host_keys {
	const struct host_key *row;
	size_t count;
};
extern const struct host_keys host_keys_boot, host_keys_cpu, host_keys_system, host_keys_nic, host_keys_stack;

/* A plain file, a plain row; ROW_WITH adds cost and flags. */
#define ROW(name, path, kind, scope, form, meaning)                                                                    \
	{                                                                                                              \
		name, path, kind, scope, form, HOST_FILE, 0, 1, meaning                                                \
	}
#define ROW_WITH(name, path, kind, scope, form, cost, flags, meaning)                                                  \
	{                                                                                                              \
		name, path, kind, scope, form, cost, flags, 1, meaning                                                 \
	}
/* What a later revision of the table brought. */
#define ROW_SINCE(revision, name, path, kind, scope, form, cost, flags, meaning)                                       \
	{                                                                                                              \
		name, path, kind, scope, form, cost, flags, revision, meaning                                          \
	}
#define SETTING(name, path, form, meaning) ROW(name, path, HOST_RUNTIME, HOST_ONE, form, meaning)
#define KEYS_END(array)                                                                                                \
	{                                                                                                              \
		.row = (array), .count = sizeof(array) / sizeof((array)[0])                                            \
	}
