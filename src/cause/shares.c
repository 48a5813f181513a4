/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sums of intervals by name. A name is what a reader knows; a build runs a hundred short-lived cc1. */
#include "cause/shares.h"

#include <stdlib.h>
#include <string.h>

static int64_t overlap_ns(const struct tare_evidence *item, int64_t from_ns, int64_t to_ns)
{
	int64_t from = item->from_ns > from_ns ? item->from_ns : from_ns,
		to = item->to_ns < to_ns ? item->to_ns : to_ns;
	return to > from ? to - from : 0;
}

/* Names beyond the room add up under the last one, "others". */
static void add_share(struct cpu_shares *shares, const char *comm, int64_t ns)
{
	size_t at = 0;
	while (at < shares->count && strncmp(shares->share[at].comm, comm, TARE_COMM_BYTES) != 0)
		at++;
	if (at == SHARES_MOST) {
		at = SHARES_MOST - 1;
		memcpy(shares->share[at].comm, "others", sizeof "others");
	} else if (at == shares->count) {
		memcpy(shares->share[shares->count++].comm, comm, TARE_COMM_BYTES);
	}
	shares->share[at].ns += ns;
	shares->share[at].times++;
}

static int by_size(const void *left, const void *right)
{
	const struct share *a = left, *b = right;
	return (a->ns < b->ns) - (a->ns > b->ns);
}

void cpu_shares_add(struct cpu_shares *shares, const struct tare_evidence *item, int64_t ns)
{
	if (item->kind == TARE_EVIDENCE_RAN) {
		add_share(shares, item->comm, ns);
		shares->others_ns += ns;
	} else if (item->kind == TARE_EVIDENCE_INTERRUPT || item->kind == TARE_EVIDENCE_SOFTIRQ) {
		shares->interrupts_ns += ns;
	} else if (item->kind == TARE_EVIDENCE_MISSING) {
		shares->missing = true;
	}
}

void cpu_shares_sort(struct cpu_shares *shares)
{
	qsort(shares->share, shares->count, sizeof *shares->share, by_size);
}

size_t cpu_shares_rows(const struct cpu_shares *shares, int16_t cpu, uint8_t of, int64_t least_ns,
	const struct tare_share *waited, struct tare_share *ret_rows)
{
	size_t n = 0;
	for (size_t i = 0; i < shares->count; i++) {
		if (shares->share[i].ns < least_ns)
			continue;
		ret_rows[n] = (struct tare_share){.cpu = cpu,
			.of = of,
			.kind = TARE_SHARE_TASK,
			.ns = shares->share[i].ns,
			.times = shares->share[i].times};
		memcpy(ret_rows[n++].name, shares->share[i].comm, TARE_COMM_BYTES);
	}
	if (waited) {
		ret_rows[n] = *waited;
		ret_rows[n].cpu = cpu;
		ret_rows[n].of = of;
		ret_rows[n++].kind = TARE_SHARE_WAITED;
	}
	if (shares->interrupts_ns)
		ret_rows[n++] = (struct tare_share){.cpu = cpu,
			.of = of,
			.kind = TARE_SHARE_INTERRUPT,
			.name = "all seen",
			.ns = shares->interrupts_ns};
	return n;
}

void cpu_shares_of(const struct tare_evidence *items, size_t count, int16_t cpu, int64_t from_ns, int64_t to_ns,
	struct cpu_shares *ret_shares)
{
	memset(ret_shares, 0, sizeof *ret_shares);
	for (size_t i = 0; i < count; i++) {
		const struct tare_evidence *item = &items[i];
		int64_t ns = item->cpu == cpu || item->cpu == TARE_NO_CPU ? overlap_ns(item, from_ns, to_ns) : 0;
		if (ns == 0 || item->sequence >= 0)
			continue;
		cpu_shares_add(ret_shares, item, ns);
	}
	cpu_shares_sort(ret_shares);
}

static int by_tid(const void *left, const void *right)
{
	int32_t a = *(const int32_t *)left, b = *(const int32_t *)right;
	return (a > b) - (a < b);
}

int64_t shares_of_tids(const struct tare_evidence *items, size_t count, const int32_t *tids, size_t tid_count,
	int16_t cpu, int64_t from_ns, int64_t to_ns)
{
	int64_t sum_ns = 0;
	for (size_t i = 0; i < count; i++)
		if (items[i].kind == TARE_EVIDENCE_RAN && (cpu < 0 || items[i].cpu == cpu) &&
			bsearch(&items[i].pid, tids, tid_count, sizeof *tids, by_tid))
			sum_ns += overlap_ns(&items[i], from_ns, to_ns);
	return sum_ns;
}
