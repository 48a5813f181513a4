/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The arena: alignment, zero content, its end, overflow, prefaulting, and what
 * is locked when the limit allows only a part (seen from a thread without
 * CAP_IPC_LOCK; sanitizers replace mlock by nothing, so not there).
 */
#include <linux/capability.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/caps.h"
#include "base/cleanup.h"
#include "tap.h"

#if defined(__SANITIZE_ADDRESS__)
#define MLOCK_WORKS false
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MLOCK_WORKS false
#endif
#endif
#ifndef MLOCK_WORKS
#define MLOCK_WORKS true
#endif

static void auto_arena_end(struct arena **arena)
{
	arena_free(*arena);
}
#define AUTO_ARENA AUTO_CLEANUP(auto_arena_end) struct arena *

static void pieces(void)
{
	AUTO_ARENA arena = NULL;
	struct tare_err err = {.text = ""};
	IS_I64(arena_open(100000, 0, &arena, &err), 0, "opens");
	if (!arena)
		return;
	char *byte = arena_take(arena, 1, 1, 1);
	int64_t *numbers = ARENA_ARRAY(arena, int64_t, 100);
	OK(byte && numbers && (uintptr_t)numbers % _Alignof(int64_t) == 0, "an array is aligned");
	int64_t sum = 0;
	for (int i = 0; numbers && i < 100; i++)
		sum |= numbers[i];
	IS_I64(sum, 0, "and zeroed");
	if (numbers)
		memset(numbers, 0xff, 100 * sizeof(*numbers));
	IS_I64(byte ? *byte : -1, 0, "pieces do not overlap");
	void *page = arena_take(arena, 1, 10, 8192);
	OK(page && (uintptr_t)page % 8192 == 0, "alignment above a page");
	IS_STR(arena_text(arena, "µ text"), "µ text", "a copy of text");
	OK(!arena_take(arena, 1, 1, 3) && !arena_take(arena, 1, 1, 0),
		"an alignment that is no power of two is refused");
	OK(!arena_take(arena, SIZE_MAX / 2, 4, 1) && !arena_take(arena, SIZE_MAX, 1, 64),
		"products that overflow are refused");
	OK(!arena_take(arena, 100001, 1, 1), "more than the capacity is refused");
	IS_I64(arena_locked(arena), 0, "not asked for: not locked");
	IS_I64(arena_locked_bytes(arena), 0, "not one byte");
}

static void its_end(void)
{
	AUTO_ARENA arena = NULL;
	IS_I64(arena_open(10, 0, &arena, NULL), 0, "a small one opens");
	if (!arena)
		return;
	OK(arena_take(arena, 10, 1, 1) != NULL, "all of it can be taken");
	OK(!arena_take(arena, 1, 1, 1), "then it is full, though its page is not");
	OK(!arena_text(arena, ""), "for text too");
	OK(arena_take(arena, 0, 8, 1) != NULL, "nothing still fits");
	arena_free(NULL);
	AUTO_ARENA empty = NULL;
	OK(arena_open(0, ARENA_PREFAULT, &empty, NULL) == 0 && !arena_take(empty, 1, 1, 1),
		"an empty one is full at once");
}

static void too_much(void)
{
	struct arena *untouched = (struct arena *)(uintptr_t)8, *arena = untouched;
	struct tare_err err = {.text = ""};
	IS_I64(arena_open(SIZE_MAX, 0, &arena, &err), -1, "more than the address space is refused");
	OK(arena == untouched && err.code == TARE_E_SYSTEM, "as the system's failure, nothing written");
	IS_I64(arena_open(SIZE_MAX / 2, ARENA_PREFAULT, &arena, &err), -1, "more than the system has is refused");
	OK(strstr(err.text, "bytes of memory: Cannot allocate memory") != NULL, "with a sentence: %s", err.text);
}

static void prefaulted(void)
{
	AUTO_ARENA arena = NULL;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	IS_I64(arena_open(16 * page, ARENA_PREFAULT, &arena, NULL), 0, "opens prefaulted");
	if (!arena)
		return;
	unsigned char resident[16] = {0};
	void *bytes = arena_take(arena, 16 * page, 1, page);
	int all = bytes && mincore(bytes, 16 * page, resident) == 0;
	for (int i = 0; i < 16; i++)
		all &= resident[i] & 1;
	IS_I64(all, 1, "every page is there before its first use");
}

static void locked_in_part(void)
{
	enum { CHECKS = 3, LIMIT = 1 << 16 };
	struct rlimit limit = {0};
	if (!MLOCK_WORKS) {
		SKIP(CHECKS, "the sanitizer replaces mlock");
		return;
	}
	if (getrlimit(RLIMIT_MEMLOCK, &limit) < 0 || limit.rlim_max < LIMIT) {
		SKIP(CHECKS, "RLIMIT_MEMLOCK allows less than 64 KiB");
		return;
	}
	limit.rlim_cur = LIMIT;
	if (caps_keep_only(NULL, 0, NULL) < 0 || setrlimit(RLIMIT_MEMLOCK, &limit) < 0) {
		SKIP(CHECKS, "the limit cannot be set");
		return;
	}
	AUTO_ARENA small = NULL;
	AUTO_ARENA large = NULL;
	OK(arena_open(LIMIT / 4, ARENA_LOCK, &small, NULL) == 0 && arena_locked(small) == 1,
		"what the limit allows is locked");
	arena_free(take_ptr(small));
	IS_I64(arena_open(16 * LIMIT, ARENA_LOCK | ARENA_PREFAULT, &large, NULL), 0, "less than all is no failure");
	OK(large && !arena_locked(large) && arena_locked_bytes(large) == LIMIT,
		"64 KiB of 1 MiB are locked, and said so");
}

int main(void)
{
	pieces();
	its_end();
	too_much();
	prefaulted();
	locked_in_part();
	return tap_done();
}
