/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a thread was kept from during a window of time, out of evidence. Pure:
 * the responder asks it for the request in its hands, the sender for the
 * requests of a round, `tare stat` for those of a recording.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tare/cause.h"

/* Evidence sorted by its beginning, with the latest end so far, so that a window's pieces are found by bisection. */
struct explain_index {
	const struct tare_evidence *item;
	const int64_t *latest_ns; /* latest_ns[i]: largest to_ns of items 0 to i */
	size_t count;
};
/* Fills latest_ns, which has `count` places. */
void explain_latest(const struct tare_evidence *items, size_t count, int64_t *ret_latest_ns);

struct explain_window {
	int64_t from_ns, to_ns;
	int16_t cpu; /* where the thread was meanwhile, for interrupts; TARE_NO_CPU: not known */
	bool ready;  /* it had work to do from the beginning: being off the CPU is a delay, not waiting */
};

struct explain_part {
	int64_t ns, longest_ns; /* all of it; the longest piece, whose particulars follow */
	int16_t cpu, cpu_after;
	int32_t pid, detail;
	char comm[TARE_COMM_BYTES];
};
struct explain_sums {
	struct explain_part part[TARE_WORD_COUNT];
	int64_t off_ns; /* off the CPU, whatever the reason */
	unsigned faults;
	bool missing; /* records of this time were lost */
};
/* Adds what happened in the window; sums start as zero. */
void explain_window(const struct explain_index *index, const struct explain_window *window, struct explain_sums *sums);
/* The word with the largest part, NONE when there is none. */
enum tare_word explain_largest(const struct explain_sums *sums);
