/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The few facts about this host that every recording notes: without them a figure
 * from last year cannot be placed. Keys as in docs/recording.md.
 */
#pragma once
#include <stddef.h>

#include "base/arena.h"
#include "tare/recording.h"

enum { HOST_BASICS_MAX = 24 };
/* Fills up to HOST_BASICS_MAX facts, side "local", strings in the arena; returns their number. Unreadable ones are left
 * out. */
size_t host_basics(struct arena *arena, const char *moment, struct tare_fact *ret_facts);
