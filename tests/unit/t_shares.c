/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who ran on a CPU: sums by name out of evidence, of a stretch of time or of all there was, and their rows. */
#include "cause/shares.h"
#include "tap.h"

enum { CPU = 3 };

static struct tare_evidence piece(
	enum tare_evidence_kind kind, const char *comm, int16_t cpu, int64_t from_ns, int64_t to_ns)
{
	struct tare_evidence item = {.from_ns = from_ns,
		.to_ns = to_ns,
		.kind = (uint8_t)kind,
		.cpu = cpu,
		.cpu_after = cpu,
		.pid = 7,
		.sequence = -1};
	snprintf(item.comm, sizeof item.comm, "%s", comm);
	return item;
}

static void test_stretch(void)
{
	const struct tare_evidence items[] = {
		piece(TARE_EVIDENCE_RAN, "small", CPU, 0, 100),
		piece(TARE_EVIDENCE_RAN, "large", CPU, 100, 900),
		piece(TARE_EVIDENCE_RAN, "elsewhere", CPU + 1, 100, 900),
		piece(TARE_EVIDENCE_RAN, "small", CPU, 900, 1300),
		piece(TARE_EVIDENCE_INTERRUPT, "timer", CPU, 500, 540),
		piece(TARE_EVIDENCE_SOFTIRQ, "", CPU, 540, 560),
		piece(TARE_EVIDENCE_OFF, "", CPU, 0, 1000),
	};
	struct cpu_shares shares;
	cpu_shares_of(items, sizeof items / sizeof *items, CPU, 50, 1000, &shares);
	IS_I64(shares.count, 2, "two names on this CPU");
	IS_STR(shares.share[0].comm, "large", "the largest first");
	IS_I64(shares.share[0].ns, 800, "with its time");
	IS_I64(shares.share[1].ns, 150, "the other one's, cut to the stretch");
	IS_I64(shares.share[1].times, 2, "and how often it ran");
	IS_I64(shares.others_ns, 950, "all tasks");
	IS_I64(shares.interrupts_ns, 60, "interrupts of both kinds");
	OK(!shares.missing, "nothing was lost");
}

static void test_rows(void)
{
	struct cpu_shares shares = {0};
	struct tare_share rows[SHARES_ROWS], waited = {.ns = 70, .times = 3};
	for (int i = 0; i < 10; i++) {
		struct tare_evidence item = piece(TARE_EVIDENCE_RAN, i % 2 ? "often" : "rarely", CPU, 0, 0);
		cpu_shares_add(&shares, &item, i % 2 ? 100 : 1);
	}
	struct tare_evidence interrupt = piece(TARE_EVIDENCE_INTERRUPT, "timer", CPU, 0, 0),
			     lost = piece(TARE_EVIDENCE_MISSING, "", CPU, 0, 0);
	cpu_shares_add(&shares, &interrupt, 30);
	cpu_shares_add(&shares, &lost, 1000);
	cpu_shares_sort(&shares);
	size_t n = cpu_shares_rows(&shares, CPU, TARE_SHARE_OF_RESPONDER, 6, &waited, rows);
	IS_I64(n, 3, "what is too short to be named has no row");
	IS_STR(rows[0].name, "often", "the task");
	IS_I64(rows[0].ns, 500, "its time");
	IS_I64(rows[0].times, 5, "its stretches");
	OK(rows[1].kind == TARE_SHARE_WAITED && rows[1].ns == 70 && rows[1].times == 3 && rows[1].cpu == CPU,
		"what the thread waited");
	OK(rows[2].kind == TARE_SHARE_INTERRUPT && rows[2].ns == 30 && rows[2].of == TARE_SHARE_OF_RESPONDER,
		"all interrupts in one");
	OK(shares.missing && shares.others_ns == 505, "records that were lost are told, not added");
}

/* Names beyond the room; the rows never exceed what is stated. */
static void test_many(void)
{
	struct cpu_shares shares = {0};
	struct tare_share rows[SHARES_ROWS], waited = {.ns = 1};
	int64_t sum_ns = 0;
	for (int i = 0; i < 3 * SHARES_MOST; i++) {
		char comm[TARE_COMM_BYTES];
		snprintf(comm, sizeof comm, "task%d", i);
		struct tare_evidence item = piece(TARE_EVIDENCE_RAN, comm, CPU, 0, 0);
		cpu_shares_add(&shares, &item, 10);
	}
	struct tare_evidence interrupt = piece(TARE_EVIDENCE_INTERRUPT, "timer", CPU, 0, 0);
	cpu_shares_add(&shares, &interrupt, 5);
	cpu_shares_sort(&shares);
	size_t n = cpu_shares_rows(&shares, CPU, 0, 0, &waited, rows);
	IS_I64(n, SHARES_ROWS, "every row there is room for");
	IS_STR(rows[0].name, "others", "names beyond the room are together the largest");
	for (size_t i = 0; i < n; i++)
		sum_ns += rows[i].kind == TARE_SHARE_TASK ? rows[i].ns : 0;
	IS_I64(sum_ns, 3 * SHARES_MOST * 10, "and no time is lost");
}

int main(void)
{
	test_stretch();
	test_rows();
	test_many();
	return tap_done();
}
