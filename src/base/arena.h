/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One block of memory, handed out piece by piece and released as a whole. It
 * never grows and never moves: what the hot loop uses is taken from one that was
 * prefaulted and locked before the first request.
 */
#pragma once
#include <stddef.h>

#include "tare/err.h"

struct arena;
enum arena_flag { ARENA_PREFAULT = 1 << 0, ARENA_LOCK = 1 << 1 };

/*
 * ARENA_LOCK locks as far as RLIMIT_MEMLOCK allows, from the front, which is handed out first;
 * that less could be locked is no failure. Fails with TARE_E_SYSTEM when the memory is not to be had.
 */
int arena_open(size_t capacity_bytes, unsigned flags, struct arena **ret_arena, struct tare_err *err) TARE_MUST_USE;
/* 1 when all of it is locked, else 0. */
int arena_locked(const struct arena *arena);
/* How much is locked, for the sentence that says so. */
size_t arena_locked_bytes(const struct arena *arena);
/* Zeroed, aligned to `align` (a power of two); NULL when the arena is full or the product overflows. */
void *arena_take(struct arena *arena, size_t count, size_t size, size_t align);
/* A copy of text; NULL when full. */
char *arena_text(struct arena *arena, const char *text);
void arena_free(struct arena *arena); /* NULL is fine */
#define ARENA_ARRAY(arena, type, n) ((type *)arena_take((arena), (n), sizeof(type), _Alignof(type)))
