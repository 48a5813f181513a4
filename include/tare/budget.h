/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where the time of a response went: the parts of the same requests, so that
 * they add up. Percentiles of single spans do not: the p99.9 of `service` and
 * the p99.9 of `wake` belong to different requests.
 *
 * Whole. A request's whole is its `response`; of a source without due times its
 * `rtt`, else its `stack`, else its `wire`: the first that the series has. Its
 * parts, in the order of time, lie between the whole's two ends:
 *
 *     late | tx | tx_nic | path, peer_wake, service, path | rx_nic | wake
 *
 * A stage that was not observed folds its part inwards: without the driver's
 * stamp `tx` counts to `tx_nic`, without the card's `tx_nic` to `path`, without
 * peer's process `peer_wake` to `service` (which then is `residence`), without the
 * peer's stamps both to `path`. For every single request the parts sum to the
 * whole exactly; how many of them had a part of its own is counted.
 *
 * Window. Percentile p of n wholes has rank k = ceil(p n) and b = n - k behind
 * it. Its row is about the 2w + 1 requests of the ranks k - w to k + w, with
 * w = b / 10 rounded down (at most k - 1): p50 takes those between p45 and p55, p99.9
 * those between p99.89 and p99.91, and below 20 behind it is one request or a
 * few. Equal wholes are ranked in the order of the series. Sums are kept, not
 * means, so that windows of several rounds add up as well.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tare/err.h"
#include "tare/sample.h"
#include "tare/stat.h"

/* In the order of time; each has the name and help of the span of the same name. */
enum tare_part {
	TARE_PART_LATE,
	TARE_PART_TX,
	TARE_PART_TX_NIC,
	TARE_PART_PATH,
	TARE_PART_PEER_WAKE,
	TARE_PART_SERVICE,
	TARE_PART_RX_NIC,
	TARE_PART_WAKE,
	TARE_PART_COUNT
};
/* Beside the bits of parts: `service` is the whole residence, the peer's process having told only when it answered. */
enum { TARE_PART_RESIDENCE = 1 << TARE_PART_COUNT };
TARE_API enum tare_span tare_part_span(enum tare_part part);

/* The span whose parts a series allows: response, rtt, stack or wire; TARE_SPAN_COUNT when it has none by stages. */
TARE_API enum tare_span tare_budget_whole(const struct tare_series *series);

/*
 * The parts of request i, whose sum is exactly the span `whole` of it. Returns
 * the parts observed by themselves as bits (1 << enum tare_part, TARE_PART_RESIDENCE),
 * the others being 0, folded inwards or outside of the whole; -1 where the whole
 * was not observed or the numbers do not fit.
 */
TARE_API int tare_budget_parts(const struct tare_series *series, enum tare_span whole, size_t i,
			       int64_t ret_parts_ns[TARE_PART_COUNT]);

/* Requests around one percentile, together. */
struct tare_budget_row {
	struct tare_percentile percentile;
	struct tare_ranked ranked;   /* of the whole in this round; of several rounds value_ns is TARE_NO_TIME, grade the weakest */
	uint64_t requests;           /* in the window; 0 where the grade is none */
	int64_t whole_ns;            /* sum over them */
	int64_t part_ns[TARE_PART_COUNT];
	uint64_t observed[TARE_PART_COUNT]; /* of how many requests the part was observed by itself */
	uint64_t residence;          /* of how many `service` is the whole residence */
};

/* One of the slowest. */
struct tare_budget_slow {
	uint32_t round;
	size_t sequence;             /* index in the series */
	int64_t whole_ns;
	int64_t part_ns[TARE_PART_COUNT];
	unsigned observed;           /* as tare_budget_parts returned */
};

enum { TARE_BUDGET_ROWS = 8, TARE_BUDGET_SLOW = 10 };

struct tare_budget {
	enum tare_span whole;
	uint32_t rounds;
	uint64_t n;                  /* wholes counted, as in tare_row */
	size_t rows;
	struct tare_budget_row row[TARE_BUDGET_ROWS];
	size_t slow_count;
	struct tare_budget_slow slow[TARE_BUDGET_SLOW]; /* slowest first; of equal ones the earlier */
};

struct tare_budget_rules {
	size_t first;                /* warm-up: requests before it are left out */
	size_t percentiles;          /* at most TARE_BUDGET_ROWS, ascending */
	struct tare_percentile percentile[TARE_BUDGET_ROWS];
};
/* p50, p99 and p99.9, no warm-up. */
TARE_API void tare_budget_rules_default(struct tare_budget_rules *ret_rules);

/*
 * The budget of one series; `round` is only noted with the slowest. Counted are
 * requests answered or overdue. A series without any whole (tare_budget_whole) is no failure: n is 0.
 * Fails when memory is short, with TARE_E_FORMAT when times are too large to be summed.
 */
TARE_API int tare_budget_of(const struct tare_series *series, uint32_t round, const struct tare_budget_rules *rules,
			    struct tare_budget *ret_budget, struct tare_err *err) TARE_MUST_USE;

/*
 * Adds another round of the same percentiles: windows are pooled, the slowest are those of all. A budget
 * with n = 0 adds nothing. Refused with TARE_E_USAGE when the wholes differ, since their parts would not sum.
 */
TARE_API int tare_budget_add(struct tare_budget *into, const struct tare_budget *from,
			     struct tare_err *err) TARE_MUST_USE;

/*
 * Means of a row in whole ns, rounded so that the parts still sum to the mean that is returned. TARE_NO_TIME,
 * and no parts, for a row without requests.
 */
TARE_API int64_t tare_budget_means(const struct tare_budget_row *row, int64_t ret_parts_ns[TARE_PART_COUNT]);

/* The part that grew most from one row to another, by the means above. */
struct tare_budget_growth {
	int64_t whole_ns;            /* of the wholes; TARE_NO_TIME when either row is empty, then nothing else is set */
	enum tare_part part;
	int64_t part_ns;
	bool most;                   /* it is more than half of the whole growth, which is above 0 */
};
TARE_API struct tare_budget_growth tare_budget_growth_of(const struct tare_budget *budget, size_t from, size_t to);

/*
 * What a part is, for a sentence, with what is folded into it in that row: "the responder's wake-up",
 * "the path with the responder's host". 120 bytes of room always do.
 */
TARE_API void tare_part_words(const struct tare_budget *budget, size_t row, enum tare_part part, char *ret_text,
			      size_t room);
/*
 * "most of p99.9 - p50 is the responder's wake-up (14.2 of 17.1 µs)", "p99.9 - p50 is 17.1 µs, of which the
 * largest parts are …"; empty where a row has no requests. No full stop. 400 bytes of room always do.
 */
TARE_API void tare_budget_sentence(const struct tare_budget *budget, size_t from, size_t to, char *ret_text,
				   size_t room);
