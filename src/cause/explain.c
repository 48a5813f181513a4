/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From intervals to words. A thread that gave its CPU away unwillingly was
 * preempted; one that had been waiting for its timer or packet, and that became
 * ready when the window began, waited behind whoever ran there, or for the CPU to
 * wake up from idling; one that went to sleep while it had work blocked itself.
 */
#include "cause/explain.h"

#include <string.h>

/* A stopped thread runs again within this long after its process was continued. */
#define CONTINUED_WITHIN_NS ((int64_t)1000000)

void explain_latest(const struct tare_evidence *items, size_t count, int64_t *ret_latest_ns)
{
	int64_t latest_ns = INT64_MIN;
	for (size_t i = 0; i < count; i++) {
		latest_ns = items[i].to_ns > latest_ns ? items[i].to_ns : latest_ns;
		ret_latest_ns[i] = latest_ns;
	}
}

/* First item that may reach `at_ns`: all before it ended earlier. */
static size_t first_reaching(const struct explain_index *index, int64_t at_ns)
{
	size_t low = 0, high = index->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (index->latest_ns[middle] < at_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int64_t overlap_ns(const struct tare_evidence *item, int64_t from_ns, int64_t to_ns)
{
	int64_t from = item->from_ns > from_ns ? item->from_ns : from_ns,
		to = item->to_ns < to_ns ? item->to_ns : to_ns;
	return to > from ? to - from : 0;
}

static void add_part(struct explain_sums *sums, enum tare_word word, int64_t ns, const struct tare_evidence *item)
{
	struct explain_part *part = &sums->part[word];
	if (ns <= 0)
		return;
	part->ns += ns;
	if (ns <= part->longest_ns)
		return;
	part->longest_ns = ns;
	part->cpu = item->cpu;
	part->cpu_after = item->cpu_after;
	part->pid = item->pid;
	part->detail = item->detail;
	memcpy(part->comm, item->comm, TARE_COMM_BYTES);
}

/* Who ran on a CPU in [from, to]: the sum, and the one that ran longest. */
static int64_t others_ran(
	const struct explain_index *index, int16_t cpu, int64_t from_ns, int64_t to_ns, struct tare_evidence *longest)
{
	int64_t sum_ns = 0, longest_ns = 0;
	for (size_t i = first_reaching(index, from_ns); i < index->count && index->item[i].from_ns < to_ns; i++) {
		const struct tare_evidence *item = &index->item[i];
		if (item->kind != TARE_EVIDENCE_RAN || item->cpu != cpu)
			continue;
		int64_t ns = overlap_ns(item, from_ns, to_ns);
		sum_ns += ns;
		if (ns > longest_ns) {
			longest_ns = ns;
			longest->pid = item->pid;
			memcpy(longest->comm, item->comm, TARE_COMM_BYTES);
		}
	}
	return sum_ns;
}

static bool was_stopped(const struct explain_index *index, const struct tare_evidence *off)
{
	for (size_t i = first_reaching(index, off->from_ns); i < index->count; i++) {
		const struct tare_evidence *item = &index->item[i];
		if (item->from_ns > off->to_ns + CONTINUED_WITHIN_NS)
			break;
		/* the handler runs in whichever thread comes first, before or after this one goes on */
		if (item->kind == TARE_EVIDENCE_CONTINUED && item->from_ns > off->from_ns)
			return true;
	}
	return false;
}

/* The task that moves threads between CPUs, one a CPU. */
static bool is_mover(const char *comm)
{
	return strncmp(comm, "migration/", 10) == 0;
}

/* When it was woken, within [from, to]. What others ran before was in nobody's way. */
static int64_t ready_since(const struct tare_evidence *off, int64_t from_ns, int64_t to_ns)
{
	int64_t woken_ns = off->detail > 0 ? off->to_ns - off->detail : from_ns;
	return woken_ns < from_ns ? from_ns : woken_ns > to_ns ? to_ns : woken_ns;
}

static void add_off(const struct explain_index *index, const struct explain_window *window,
	const struct tare_evidence *off, struct explain_sums *sums)
{
	int64_t from_ns = off->from_ns > window->from_ns ? off->from_ns : window->from_ns;
	int64_t to_ns = off->to_ns < window->to_ns ? off->to_ns : window->to_ns, ns = to_ns - from_ns;
	bool moved = off->cpu_after != off->cpu && off->cpu >= 0 && off->cpu_after >= 0;
	struct tare_evidence self = *off;
	self.detail = 0; /* an OFF's is no cause's */
	struct tare_evidence who = self, there = self;
	sums->off_ns += ns;
	int64_t before_ns = others_ran(index, off->cpu, from_ns, to_ns, &who);
	int64_t after_ns = moved ? others_ran(index, off->cpu_after, from_ns, to_ns, &there) : before_ns;
	if (!moved)
		there = who;
	there.cpu = off->cpu_after;
	if (was_stopped(index, off)) {
		add_part(sums, TARE_WORD_STOPPED, ns, &self);
	} else if (moved && (off->flags & TARE_EVIDENCE_PREEMPTED || is_mover(who.comm))) {
		add_part(sums, TARE_WORD_MIGRATED, ns, &self);
	} else if (off->flags & TARE_EVIDENCE_PREEMPTED) {
		add_part(sums, TARE_WORD_PREEMPTED, ns, &who);
	} else if (off->flags & TARE_EVIDENCE_SELF ||
		   (off->from_ns >= window->from_ns && !(off->flags & TARE_EVIDENCE_WAITING))) {
		if (window->ready || off->flags & TARE_EVIDENCE_SELF)
			add_part(sums, TARE_WORD_BLOCKED, ns, &self);
	} else {
		/* it was waiting by design; ready since it was woken or, where that is not told, since the window began
		 */
		int64_t ready_ns = ready_since(off, from_ns, to_ns), idle_ns = ns - after_ns;
		if (ready_ns > from_ns)
			after_ns = others_ran(index, off->cpu_after, ready_ns, to_ns, &there);
		add_part(sums, TARE_WORD_RUN_QUEUE, after_ns < ns ? after_ns : ns, &there);
		add_part(sums, TARE_WORD_IDLE, idle_ns, &there);
	}
}

void explain_window(const struct explain_index *index, const struct explain_window *window, struct explain_sums *sums)
{
	if (window->to_ns <= window->from_ns)
		return;
	size_t first = first_reaching(index, window->from_ns);
	for (size_t i = first; i < index->count && index->item[i].from_ns < window->to_ns; i++) {
		const struct tare_evidence *item = &index->item[i];
		int64_t ns = overlap_ns(item, window->from_ns, window->to_ns);
		bool here = item->cpu == window->cpu || window->cpu == TARE_NO_CPU;
		switch (item->kind) {
		case TARE_EVIDENCE_OFF:
			if (ns > 0)
				add_off(index, window, item, sums);
			break;
		case TARE_EVIDENCE_INTERRUPT:
			if (here)
				add_part(sums, TARE_WORD_INTERRUPT, ns, item);
			break;
		case TARE_EVIDENCE_SOFTIRQ:
			if (here)
				add_part(sums, TARE_WORD_SOFTIRQ, ns, item);
			break;
		case TARE_EVIDENCE_FAULT:
			sums->faults += item->from_ns >= window->from_ns;
			break;
		case TARE_EVIDENCE_MISSING:
			sums->missing |= ns > 0 && (item->cpu == TARE_NO_CPU || here);
			break;
		default:
			break;
		}
	}
}

enum tare_word explain_largest(const struct explain_sums *sums)
{
	enum tare_word largest = TARE_WORD_NONE;
	for (int word = TARE_WORD_NONE + 1; word < TARE_WORD_COUNT; word++)
		if (sums->part[word].ns > sums->part[largest].ns)
			largest = (enum tare_word)word;
	return largest;
}
