/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Counting at 1 ns. Where values lie dense there are pages of 1024 counters,
 * found through a small hash table by value / 1024: one load, one compare, one
 * increment, 0.9 ns a sample. Values without a page lie alone (lone.c) until 64
 * distinct ones or 256 samples share a page's range, which then gets its page.
 * The surprise: there is one accumulator, not four. Four interleaved ones guard
 * against the same counter being loaded while its store is still in flight, but
 * measured 25 % slower on two close modes and on equal values, and 3 times
 * slower on a heavy tail, whose counters then no longer fit the caches.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/counts.h"

enum {
	PAGE_VALUES = 1024,
	PAGE_SHIFT = 10,
	DENSE_DISTINCT = 64, /* a page then takes 4 times the memory of the list at most */
	DENSE_SAMPLES = 256,
	SLOTS_FIRST = 64,
	SLAB_FIRST = 4,
	SLAB_MOST = 512,
	SLOTS_PER_PAGE = 4, /* neighbouring pages take neighbouring slots, so far fewer than 1 in 4 collide */
	CHAIN_MOST = 8,     /* a page that would lie further off its slot is not made: made-up values cannot slow us */
};

/* Counters are 32 bits wide to halve the cache they need; before one can overflow they are carried over. */
struct page {
	_Alignas(64) uint32_t cells[PAGE_VALUES];
	int64_t key;
	uint64_t *carried; /* NULL or PAGE_VALUES counters */
};

/*
 * Pages come out of slabs that double in size: neighbours in value, mostly made
 * one after the other, then share translation entries (3.6 to 2.2 ns a sample on
 * a heavy tail over single allocations from a used heap).
 */
struct slab {
	struct slab *next;
	size_t count, used;
	void *pages; /* 64 bytes aligned somewhere behind this */
};

struct slot {
	int64_t key;
	uint32_t *cells; /* NULL: free */
};

struct inner {
	struct page **pages; /* sorted by key when `ordered` */
	struct slab *slabs;
	size_t page_count, page_room;
	bool ordered;
	struct slot *slots;
	size_t slot_count; /* a power of two */
	struct lone lone;
	uint64_t most; /* no cell is above this */
};

struct tare_counts {
	uint64_t n;
	struct inner *inner; /* apart, since asking settles what waits and yet changes no answer */
};

static int64_t key_of(int64_t value_ns)
{
	return value_ns >> PAGE_SHIFT; /* arithmetic with gcc and clang: -1 is in page -1 */
}

/* The page of TARE_NO_TIME may not exist, so that the hot loop need not test for it. */
static bool may_have_page(int64_t key)
{
	return key != key_of(TARE_NO_TIME);
}

static uint32_t *cells_of(const struct inner *inner, int64_t key)
{
	size_t mask = inner->slot_count - 1;
	for (size_t i = (uint64_t)key & mask; inner->slots[i].cells; i = (i + 1) & mask) {
		if (inner->slots[i].key == key)
			return inner->slots[i].cells;
	}
	return NULL;
}

static struct slot *free_slot(struct slot *slots, size_t slot_count, int64_t key)
{
	size_t mask = slot_count - 1, i = (uint64_t)key & mask;
	while (slots[i].cells)
		i = (i + 1) & mask;
	return &slots[i];
}

/* Room for one page more in the list and in the hash; false without memory, everything as it was. */
static bool room_for_page(struct inner *inner)
{
	if (inner->page_count == inner->page_room) {
		size_t room = inner->page_room ? 2 * inner->page_room : SLOTS_FIRST / SLOTS_PER_PAGE;
		struct page **pages = realloc(inner->pages, room * sizeof(struct page *));
		if (!pages)
			return false;
		inner->pages = pages;
		inner->page_room = room;
	}
	if ((inner->page_count + 1) * SLOTS_PER_PAGE <= inner->slot_count)
		return true;
	size_t slot_count = 2 * inner->slot_count;
	struct slot *slots = calloc(slot_count, sizeof(*slots));
	if (!slots)
		return false;
	for (size_t i = 0; i < inner->page_count; i++)
		*free_slot(slots, slot_count, inner->pages[i]->key) =
			(struct slot){inner->pages[i]->key, inner->pages[i]->cells};
	free(inner->slots);
	inner->slots = slots;
	inner->slot_count = slot_count;
	return true;
}

static struct page *page_from_slab(struct inner *inner)
{
	struct slab *slab = inner->slabs;
	if (!slab || slab->used == slab->count) {
		size_t count = slab ? 2 * slab->count : SLAB_FIRST;
		count = count < SLAB_MOST ? count : SLAB_MOST;
		struct slab *fresh = calloc(1, sizeof(*fresh) + _Alignof(struct page) + count * sizeof(struct page));
		if (!fresh)
			return NULL;
		uintptr_t behind = (uintptr_t)(fresh + 1) + _Alignof(struct page) - 1;
		fresh->pages = (void *)(behind & ~(uintptr_t)(_Alignof(struct page) - 1));
		fresh->count = count;
		fresh->next = slab;
		inner->slabs = slab = fresh;
	}
	return (struct page *)slab->pages + slab->used++;
}

/* NULL without memory and where the page would lie too far off its slot; its values then stay lone. */
static struct page *add_page(struct inner *inner, int64_t key)
{
	if (!may_have_page(key) || !room_for_page(inner))
		return NULL;
	struct slot *slot = free_slot(inner->slots, inner->slot_count, key);
	size_t mask = inner->slot_count - 1, chain = ((size_t)(slot - inner->slots) - (uint64_t)key) & mask;
	struct page *page = chain <= CHAIN_MOST ? page_from_slab(inner) : NULL;
	if (!page)
		return NULL;
	page->key = key;
	if (inner->page_count && inner->pages[inner->page_count - 1]->key > key)
		inner->ordered = false;
	inner->pages[inner->page_count++] = page;
	*slot = (struct slot){key, page->cells};
	return page;
}

static struct page *page_of(struct inner *inner, int64_t key)
{
	uint32_t *cells = cells_of(inner, key);
	return cells ? (struct page *)(void *)((char *)cells - offsetof(struct page, cells)) : NULL;
}

/* False without memory for the carried counters, nothing having been added. */
static bool add_times(struct inner *inner, struct page *page, size_t cell, uint64_t times)
{
	uint64_t sum = page->cells[cell] + times;
	if (times <= UINT32_MAX && sum <= UINT32_MAX) {
		page->cells[cell] = (uint32_t)sum;
		inner->most = sum > inner->most ? sum : inner->most;
		return true;
	}
	if (!page->carried)
		page->carried = calloc(PAGE_VALUES, sizeof(*page->carried));
	if (!page->carried)
		return false;
	page->carried[cell] += times;
	return true;
}

static int carry_all(struct inner *inner, struct tare_err *err)
{
	for (size_t i = 0; i < inner->page_count; i++) {
		struct page *page = inner->pages[i];
		if (!page->carried)
			page->carried = calloc(PAGE_VALUES, sizeof(*page->carried));
		if (!page->carried)
			return tare_fail(
				err, TARE_E_SYSTEM, "out of memory for counters of %zu pages", inner->page_count);
		for (size_t cell = 0; cell < PAGE_VALUES; cell++) {
			page->carried[cell] += page->cells[cell];
			page->cells[cell] = 0;
		}
	}
	inner->most = 0;
	return 0;
}

static uint64_t cell_count(const struct page *page, size_t cell)
{
	return page->cells[cell] + (page->carried ? page->carried[cell] : 0);
}

static uint64_t page_total(const struct page *page)
{
	uint64_t total = 0;
	for (size_t cell = 0; cell < PAGE_VALUES; cell++)
		total += page->cells[cell];
	for (size_t cell = 0; page->carried && cell < PAGE_VALUES; cell++)
		total += page->carried[cell];
	return total;
}

static int by_key(const void *a, const void *b)
{
	const struct page *left = *(struct page *const *)a, *right = *(struct page *const *)b;
	return (left->key > right->key) - (left->key < right->key);
}

static void order_pages(struct inner *inner)
{
	if (!inner->ordered && inner->page_count)
		qsort(inner->pages, inner->page_count, sizeof(struct page *), by_key);
	inner->ordered = true;
}

/*
 * Gives pages to what has grown dense in the list and takes it out there. Only
 * after a merge do lone values have a page already, and only then can it fail.
 */
static int promote(struct inner *inner, struct tare_err *err)
{
	struct lone *lone = &inner->lone;
	size_t kept = 0;
	for (size_t i = 0, end; i < lone->count; i = end) {
		int64_t key = key_of(lone->bins[i].value_ns);
		uint64_t samples = 0;
		for (end = i; end < lone->count && key_of(lone->bins[end].value_ns) == key; end++)
			samples += lone->bins[end].count;
		struct page *page = page_of(inner, key);
		bool dense = (end - i >= DENSE_DISTINCT || samples >= DENSE_SAMPLES) && samples <= UINT32_MAX;
		if (!page && dense)
			page = add_page(inner, key);
		if (!page) {
			memmove(lone->bins + kept, lone->bins + i, (end - i) * sizeof(*lone->bins));
			kept += end - i;
		}
		for (size_t j = i; page && j < end; j++) {
			size_t cell = (size_t)(lone->bins[j].value_ns & (PAGE_VALUES - 1));
			if (!add_times(inner, page, cell, lone->bins[j].count))
				return tare_fail(err, TARE_E_SYSTEM, "out of memory while merging counts");
		}
	}
	lone->count = kept;
	return 0;
}

static void settle(struct inner *inner)
{
	if (lone_settle(&inner->lone))
		(void)promote(inner, NULL);
	order_pages(inner);
}

int tare_counts_open(struct tare_counts **ret_counts, struct tare_err *err)
{
	struct tare_counts *counts = calloc(1, sizeof(*counts));
	struct inner *inner = counts ? calloc(1, sizeof(*inner)) : NULL;
	struct slot *slots = inner ? calloc(SLOTS_FIRST, sizeof(*slots)) : NULL;
	if (!slots) {
		free(inner);
		free(counts);
		return tare_fail(err, TARE_E_SYSTEM, "out of memory for a table of counts");
	}
	*inner = (struct inner){.slots = slots, .slot_count = SLOTS_FIRST, .ordered = true};
	counts->inner = inner;
	*ret_counts = counts;
	return 0;
}

void tare_counts_clear(struct tare_counts *counts)
{
	struct inner *inner = counts->inner;
	for (size_t i = 0; i < inner->page_count; i++)
		free(inner->pages[i]->carried);
	while (inner->slabs) {
		struct slab *slab = inner->slabs;
		inner->slabs = slab->next;
		free(slab);
	}
	memset(inner->slots, 0, inner->slot_count * sizeof(*inner->slots));
	inner->page_count = 0;
	inner->ordered = true;
	inner->most = 0;
	inner->lone.count = inner->lone.waiting_count = 0;
	counts->n = 0;
}

void tare_counts_free(struct tare_counts *counts)
{
	if (!counts)
		return;
	tare_counts_clear(counts);
	lone_end(&counts->inner->lone);
	free(counts->inner->pages);
	free(counts->inner->slots);
	free(counts->inner);
	free(counts);
}

/* A value the hot loop found no page for in the first slot. */
static int add_rare(struct tare_counts *counts, int64_t value_ns, struct tare_err *err)
{
	struct inner *inner = counts->inner;
	struct lone *lone = &inner->lone;
	uint32_t *cells = cells_of(inner, key_of(value_ns));
	if (cells) {
		cells[value_ns & (PAGE_VALUES - 1)]++;
		return 0;
	}
	if (value_ns == TARE_NO_TIME) {
		counts->n--;
		return 0;
	}
	if (lone->waiting_count == lone->waiting_room) {
		settle(inner);
		if (lone_reserve(lone, 0, err))
			return -1;
	}
	lone->waiting[lone->waiting_count++] = value_ns;
	return 0;
}

int tare_counts_add(struct tare_counts *counts, const int64_t *values_ns, size_t n, struct tare_err *err)
{
	struct inner *inner = counts->inner;
	while (n) {
		size_t block = n < UINT32_MAX / 4 ? n : UINT32_MAX / 4;
		if (inner->most + block > UINT32_MAX && carry_all(inner, err))
			return -1;
		if (inner->lone.count + inner->lone.waiting_room > inner->lone.room || !inner->lone.waiting_room) {
			if (lone_reserve(&inner->lone, 0, err))
				return -1;
		}
		counts->n += block;
		const struct slot *slots = inner->slots;
		size_t mask = inner->slot_count - 1;
		for (size_t i = 0; i < block; i++) {
			int64_t key = key_of(values_ns[i]);
			const struct slot *slot = &slots[(uint64_t)key & mask];
			if (__builtin_expect(slot->key == key && slot->cells, 1)) {
				slot->cells[values_ns[i] & (PAGE_VALUES - 1)]++;
				continue;
			}
			if (add_rare(counts, values_ns[i], err))
				return -1;
			slots = inner->slots;
			mask = inner->slot_count - 1;
		}
		inner->most += block;
		values_ns += block;
		n -= block;
	}
	return 0;
}

int tare_counts_add_bins(struct tare_counts *counts, const struct tare_bin *bins, size_t count, struct tare_err *err)
{
	struct inner *inner = counts->inner;
	uint64_t n = counts->n;
	settle(inner);
	for (size_t i = 0; i < count; i++) {
		if (__builtin_add_overflow(n, bins[i].count, &n))
			return tare_fail(err, TARE_E_FORMAT, "more values than 64 bits can count");
	}
	if (lone_reserve(&inner->lone, count, err))
		return -1;
	lone_add(&inner->lone, bins, count);
	if (promote(inner, err))
		return -1;
	order_pages(inner);
	counts->n = n;
	return 0;
}

static int merge_page(struct inner *inner, const struct page *page, struct tare_err *err)
{
	struct page *target = page_of(inner, page->key);
	if (!target)
		target = add_page(inner, page->key);
	struct tare_bin bins[PAGE_VALUES];
	size_t count = 0;
	for (size_t cell = 0; cell < PAGE_VALUES; cell++) {
		uint64_t times = cell_count(page, cell);
		if (times && target && !add_times(inner, target, cell, times))
			return tare_fail(err, TARE_E_SYSTEM, "out of memory while merging counts");
		if (times && !target)
			bins[count++] = (struct tare_bin){page->key * PAGE_VALUES + (int64_t)cell, times};
	}
	if (!count)
		return 0;
	if (lone_reserve(&inner->lone, count, err))
		return -1;
	lone_add(&inner->lone, bins, count);
	return 0;
}

int tare_counts_merge(struct tare_counts *into, const struct tare_counts *from, struct tare_err *err)
{
	struct inner *inner = into->inner, *other = from->inner;
	settle(other);
	settle(inner);
	uint64_t n = from->n;
	for (size_t i = 0, count = other->page_count; i < count; i++) {
		if (merge_page(inner, other->pages[i], err))
			return -1;
	}
	if (lone_reserve(&inner->lone, other->lone.count, err))
		return -1;
	lone_add(&inner->lone, other->lone.bins, other->lone.count);
	if (promote(inner, err))
		return -1;
	order_pages(inner);
	into->n += n;
	return 0;
}

uint64_t tare_counts_n(const struct tare_counts *counts)
{
	return counts->n;
}

struct tare_counts_cursor tare_counts_walk(const struct tare_counts *counts)
{
	settle(counts->inner);
	return (struct tare_counts_cursor){.counts = counts};
}

bool tare_counts_next(struct tare_counts_cursor *cursor, struct tare_bin *ret_bin)
{
	const struct inner *inner = cursor->counts->inner;
	for (;;) {
		const struct page *page = cursor->page < inner->page_count ? inner->pages[cursor->page] : NULL;
		const struct tare_bin *lone = cursor->lone < inner->lone.count ? &inner->lone.bins[cursor->lone] : NULL;
		if (lone && (!page || key_of(lone->value_ns) < page->key)) {
			cursor->lone++;
			*ret_bin = *lone;
			return true;
		}
		if (!page)
			return false;
		while (cursor->cell < PAGE_VALUES) {
			size_t cell = cursor->cell++;
			uint64_t count = cell_count(page, cell);
			if (count) {
				*ret_bin = (struct tare_bin){page->key * PAGE_VALUES + (int64_t)cell, count};
				return true;
			}
		}
		cursor->page++;
		cursor->cell = 0;
	}
}

void tare_counts_ranks(const struct tare_counts *counts, const uint64_t *ranks, size_t count, int64_t *ret_values_ns)
{
	const struct inner *inner = counts->inner;
	struct tare_counts_cursor cursor = tare_counts_walk(counts);
	uint64_t before = 0;
	for (size_t i = 0; i < count; i++)
		ret_values_ns[i] = TARE_NO_TIME;
	size_t i = 0;
	while (i < count && ranks[i] < 1)
		i++;
	while (i < count && ranks[i] <= counts->n) {
		/* Whole pages below the rank are passed over by their total. */
		const struct page *page = cursor.page < inner->page_count ? inner->pages[cursor.page] : NULL;
		bool at_page = page && cursor.cell == 0 &&
			       (cursor.lone == inner->lone.count ||
				       key_of(inner->lone.bins[cursor.lone].value_ns) > page->key);
		uint64_t total = at_page ? page_total(page) : 0;
		if (at_page && before + total < ranks[i]) {
			before += total;
			cursor.page++;
			continue;
		}
		struct tare_bin bin;
		if (!tare_counts_next(&cursor, &bin))
			return;
		before += bin.count;
		for (; i < count && ranks[i] <= before; i++)
			ret_values_ns[i] = bin.value_ns;
	}
}

int64_t tare_counts_at(const struct tare_counts *counts, uint64_t k)
{
	int64_t value_ns;
	tare_counts_ranks(counts, &k, 1, &value_ns);
	return value_ns;
}

uint64_t tare_counts_above(const struct tare_counts *counts, int64_t limit_ns)
{
	const struct inner *inner = counts->inner;
	uint64_t above = 0;
	settle(counts->inner);
	for (size_t i = 0; i < inner->lone.count; i++)
		above += inner->lone.bins[i].value_ns > limit_ns ? inner->lone.bins[i].count : 0;
	for (size_t i = inner->page_count; i-- && inner->pages[i]->key >= key_of(limit_ns);) {
		const struct page *page = inner->pages[i];
		size_t first = page->key > key_of(limit_ns) ? 0 : (size_t)(limit_ns & (PAGE_VALUES - 1)) + 1;
		for (size_t cell = first; cell < PAGE_VALUES; cell++)
			above += cell_count(page, cell);
	}
	return above;
}
