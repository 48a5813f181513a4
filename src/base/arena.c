/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One anonymous mapping with a position in it. Nothing is ever given back, so
 * what is handed out is still the kernel's zero page content: no memset. Pages
 * are faulted in by MADV_POPULATE_WRITE where the kernel has it (5.14), since
 * MAP_POPULATE keeps silent when memory runs out.
 */
#include "base/arena.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

struct arena {
	unsigned char *bytes;
	size_t capacity_bytes, used_bytes; /* as asked for; the mapping is whole pages */
	size_t mapped_bytes, locked_bytes;
};

static size_t page_bytes(void)
{
	long bytes = sysconf(_SC_PAGESIZE);
	return bytes > 0 ? (size_t)bytes : 4096;
}

static int prefault(struct arena *arena, struct tare_err *err)
{
	if (madvise(arena->bytes, arena->mapped_bytes, MADV_POPULATE_WRITE) == 0)
		return 0;
	if (errno != EINVAL)
		return tare_fail_errno(err, errno, "cannot fault in %zu bytes of memory", arena->mapped_bytes);
	for (size_t at = 0; at < arena->mapped_bytes; at += page_bytes())
		*(volatile unsigned char *)(arena->bytes + at) = 0;
	return 0;
}

/* The whole, else what the limit names, else halves of that: other locks of the process count too. */
static void lock_what_is_allowed(struct arena *arena)
{
	size_t wanted = arena->mapped_bytes, page = page_bytes();
	if (mlock(arena->bytes, wanted) == 0) {
		arena->locked_bytes = wanted;
		return;
	}
	struct rlimit limit = {0};
	if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur < wanted)
		wanted = (size_t)limit.rlim_cur / page * page;
	for (; wanted >= page; wanted = wanted / 2 / page * page) {
		if (mlock(arena->bytes, wanted) == 0) {
			arena->locked_bytes = wanted;
			return;
		}
	}
}

int arena_open(size_t capacity_bytes, unsigned flags, struct arena **ret_arena, struct tare_err *err)
{
	size_t page = page_bytes(), mapped = 0;
	if (__builtin_add_overflow(capacity_bytes, page - 1, &mapped))
		return tare_fail_errno(err, ENOMEM, "cannot have %zu bytes of memory", capacity_bytes);
	mapped = mapped < page ? page : mapped / page * page;
	struct arena *arena = calloc(1, sizeof(*arena));
	if (!arena)
		return tare_fail_errno(err, errno, "cannot have %zu bytes of memory", capacity_bytes);
	void *bytes = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (bytes == MAP_FAILED) {
		int failure = errno;
		free(arena);
		return tare_fail_errno(err, failure, "cannot have %zu bytes of memory", capacity_bytes);
	}
	*arena = (struct arena){.bytes = bytes, .capacity_bytes = capacity_bytes, .mapped_bytes = mapped};
	if ((flags & ARENA_PREFAULT) && prefault(arena, err) < 0) {
		arena_free(arena);
		return -1;
	}
	if (flags & ARENA_LOCK)
		lock_what_is_allowed(arena);
	*ret_arena = arena;
	return 0;
}

int arena_locked(const struct arena *arena)
{
	return arena->locked_bytes == arena->mapped_bytes;
}

size_t arena_locked_bytes(const struct arena *arena)
{
	return arena->locked_bytes;
}

void *arena_take(struct arena *arena, size_t count, size_t size, size_t align)
{
	size_t wanted = 0, end = 0;
	if (align == 0 || (align & (align - 1)) != 0 || __builtin_mul_overflow(count, size, &wanted))
		return NULL;
	/* by address, since `align` may be more than a page; the mapping starts on one */
	size_t padding = (align - ((uintptr_t)arena->bytes + arena->used_bytes) % align) % align;
	if (__builtin_add_overflow(wanted, padding, &wanted) ||
		__builtin_add_overflow(arena->used_bytes, wanted, &end) || end > arena->capacity_bytes)
		return NULL;
	unsigned char *piece = arena->bytes + arena->used_bytes + padding;
	arena->used_bytes = end;
	return piece;
}

char *arena_text(struct arena *arena, const char *text)
{
	size_t length = strlen(text);
	char *copy = arena_take(arena, length + 1, 1, 1);
	if (copy)
		memcpy(copy, text, length + 1);
	return copy;
}

void arena_free(struct arena *arena)
{
	if (!arena)
		return;
	munmap(arena->bytes, arena->mapped_bytes);
	free(arena);
}
