/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of threads by their id: read once from /proc, then kept up with what perf tells. Private to this folder. */
#pragma once
#include <stddef.h>
#include <stdint.h>

enum { NAMES_SLOTS = 8192, NAMES_BYTES = 16 };

/* About 160 KiB; zeroed is empty. When full, new threads have no name. */
struct names {
	struct {
		int32_t tid;
		char comm[NAMES_BYTES];
	} slot[NAMES_SLOTS];
	size_t count;
};
/* All threads there are now. */
void names_read_all(struct names *names);
void names_put(struct names *names, int32_t tid, const char *comm);
/* "" when not told; asks /proc for an unknown one when `ask`. */
const char *names_get(struct names *names, int32_t tid, int ask);
