/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Why requests were slow. For each stall, and for as many ordinary requests
 * drawn at random as a control, the windows in which this host or the peer had
 * the request in its hands are held against the evidence. A word counts when what
 * it covers, beyond what ordinary requests show of it, is at least half of the
 * request's excess over the median and at least 1 µs. Below 1 µs or a quarter of
 * the median there is nothing to explain.
 */
#pragma once
#include "cause/explain.h"
#include "tare/run.h"

struct assign_plan {
	const struct tare_record *record;
	const struct tare_evidence *evidence; /* of the round, sorted by its beginning, and of peers */
	size_t evidence_count;
	const uint64_t *stalls; /* indexes into the series, ascending, none twice */
	size_t stall_count;
	const uint64_t *controls; /* ordinary requests, as assign_controls draws them */
	size_t control_count;
	bool interrupts; /* all interrupts on its CPUs, soft ones too, are in the evidence */
	bool watched;    /* the measuring thread was; else its side is never "unexplained" but "unknown" */
	bool spinning;   /* it never slept by design, and its clock gaps are in the evidence */
};
/*
 * Fills ret_causes, which has room for stall_count + control_count, stalls first; *ret_count tells how many.
 * Fails only without memory.
 */
int assign_causes(const struct assign_plan *plan, struct tare_cause *ret_causes, size_t *ret_count,
	struct tare_err *err) TARE_MUST_USE;
/* Marks causes that are at least as frequent among the control as among the stalls; assign_causes has done so. */
void assign_weak(struct tare_cause *causes, size_t count);

/*
 * The stalls of a round, as indexes: `late`, `rtt` or `response` above the limit, and what was lost; from
 * request `first` on. Returns their number, of which up to `room` (the slowest not preferred) are written.
 */
size_t assign_stalls(
	const struct tare_series *series, int64_t limit_ns, size_t first, uint64_t *ret_stalls, size_t room);
/*
 * Up to `count` ordinary requests, drawn with the seed: answered, below the limit, behind the warm-up. Returns
 * their number.
 */
size_t assign_controls(
	const struct tare_record *record, int64_t limit_ns, size_t count, uint64_t seed, uint64_t *ret_controls);
/* Sets marks[i] for evidence within 1 ms of a request that was judged; leaves the others as they are. */
void assign_mark(const struct tare_series *series, const struct tare_cause *causes, size_t cause_count,
	const struct tare_evidence *evidence, size_t count, bool *marks);
