/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a watch keeps when its memory is full: evidence is given to it, no thread or CPU is watched. */
#include <linux/perf_event.h>
#include <stdlib.h>

#include "cause/ring.h"
#include "cause/wakeups.h"
#include "cause/watch.h"
#include "tap.h"

enum { ROOM = 16 };

static struct tare_evidence piece(enum tare_evidence_kind kind, int64_t from_ns, int64_t to_ns)
{
	return (struct tare_evidence){.from_ns = from_ns,
		.to_ns = to_ns,
		.kind = (uint8_t)kind,
		.cpu = 3,
		.cpu_after = 3,
		.pid = -1,
		.sequence = -1};
}

static struct watch *opened(bool recent)
{
	struct watch_plan plan = {.room = ROOM, .recent = recent};
	struct watch *watch = NULL;
	struct tare_err err = {0};
	return watch_open(&plan, &watch, &err) == 0 ? watch : NULL;
}

static bool holds(struct watch *watch, const struct tare_evidence *wanted)
{
	const struct tare_evidence *items;
	size_t count = watch_evidence(watch, &items);
	for (size_t i = 0; i < count; i++)
		if (items[i].kind == wanted->kind && items[i].from_ns == wanted->from_ns &&
			items[i].to_ns == wanted->to_ns)
			return true;
	return false;
}

/* The thread's records are read first; then come those of its CPU, most of which are older. */
static void test_recent(void)
{
	struct watch *watch = opened(true);
	if (!OK(watch, "a watch that keeps what is recent"))
		return;
	struct tare_evidence off = piece(TARE_EVIDENCE_OFF, 900000, 1900000), last = {0};
	watch_add(watch, &off);
	for (int64_t i = 0; i < 5 * ROOM; i++) {
		last = piece(TARE_EVIDENCE_INTERRUPT, i * 10000, i * 10000 + 400);
		watch_add(watch, &last);
	}
	const struct tare_evidence *items;
	size_t count = watch_evidence(watch, &items);
	bool in_order = true;
	for (size_t i = 1; i < count; i++)
		in_order &= items[i - 1].from_ns <= items[i].from_ns;
	OK(holds(watch, &off), "the sleep that ended last is kept, though it was told first");
	OK(holds(watch, &last), "so is the latest interrupt");
	OK(count >= ROOM / 2 && count <= ROOM, "no more than there is room for: %zu", count);
	OK(in_order, "in the order of their beginning");
	watch_free(watch);
}

static void test_full(void)
{
	struct watch *watch = opened(false);
	if (!OK(watch, "a watch of a whole round"))
		return;
	struct tare_evidence first = piece(TARE_EVIDENCE_OFF, 0, 10);
	watch_add(watch, &first);
	for (int64_t i = 1; i < 3 * ROOM; i++) {
		struct tare_evidence item = piece(TARE_EVIDENCE_RAN, i * 1000, i * 1000 + 500);
		watch_add(watch, &item);
	}
	struct tare_evidence missing = piece(TARE_EVIDENCE_MISSING, ROOM * 1000, INT64_MAX);
	OK(holds(watch, &first), "its beginning is kept");
	OK(holds(watch, &missing), "and from when on nothing was is told");
	watch_free(watch);
}

static void test_wakeups(void)
{
	struct tare_evidence items[] = {
		piece(TARE_EVIDENCE_OFF, 1000, 2000),
		piece(TARE_EVIDENCE_FAULT, 2100, 2100),
		piece(TARE_EVIDENCE_OFF, 3000, 4000),
		piece(TARE_EVIDENCE_OFF, 5000, 9000000000),
	};
	items[2].flags = TARE_EVIDENCE_PREEMPTED;
	OK(wakeups_note(items, 4, 1900) && items[0].detail == 100,
		"a sleep holds how long before its end it was woken");
	OK(!wakeups_note(items, 4, 2100), "between sleeps there is nothing to note");
	OK(!wakeups_note(items, 4, 3500) && items[2].detail == 0, "who was pushed aside was ready all the time");
	OK(!wakeups_note(items, 4, 5000), "what wakes is later than the sleep's beginning");
	OK(wakeups_note(items, 4, 2000) && items[0].detail == 1, "at its very end: not the mark of not told");
	OK(wakeups_note(items, 4, 6000) && items[3].detail == INT32_MAX, "what is longer than fits is cut");
}

/* The kernel drops what does not fit, and says so only with the next record: a ring with no room for one counts as full. */
static void test_full_ring(void)
{
	enum { BYTES = 8192 };
	struct perf_event_mmap_page *page = calloc(1, 2 * BYTES);
	if (!OK(page, "a ring"))
		return;
	struct ring ring = {.map = page, .bytes = BYTES};
	page->data_offset = BYTES;
	OK(!ring_full(&ring), "an empty ring has room");
	page->data_head = BYTES / 2;
	OK(!ring_full(&ring), "so has one that is half full");
	page->data_head = BYTES - 64;
	OK(ring_full(&ring), "64 octets are less than a record may take");
	page->data_tail = 4096;
	OK(!ring_full(&ring), "what was read makes room");
	page->data_head = 4096 + BYTES;
	OK(ring_full(&ring), "wherever in the ring it lies");
	free(page);
}

int main(void)
{
	test_full_ring();
	test_wakeups();
	test_recent();
	test_full();
	return tap_done();
}
