/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Exact statistics of samples. Nothing is sorted as a whole and nothing is
 * estimated: values are counted at 1 ns in a sparse table, so that every figure
 * is the value of a real sample, whatever the order of adding or merging.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tare/err.h"
#include "tare/rate.h"
#include "tare/run.h"
#include "tare/sample.h"

/* ---- percentiles: exact decimals and integer ranks ---- */

/* "99.9" is 999/1000, never a double: ceil(99.9/100 x 10000) in IEEE doubles gives 9991. */
struct tare_percentile {
	uint64_t num, den;  /* 0 < num/den <= 1, reduced */
	char text[16];      /* "99.9"; outer zeros are dropped, so that "099.90" is the same percentile */
	char key[20];       /* as a name: "p999"; "p9_99" for 9.99 */
};

/* Accepts 0 < p <= 100 with up to 9 decimals, without sign or exponent. */
TARE_API int tare_percentile_parse(const char *text, struct tare_percentile *ret_percentile,
				   struct tare_err *err) TARE_MUST_USE;

/* Nearest rank k = ceil(p x n), 1 <= k <= n (Hyndman-Fan type 1). n = 0 gives 0. */
TARE_API uint64_t tare_rank(const struct tare_percentile *p, uint64_t n);

/* How far a percentile can be trusted, by the number of samples behind its rank (n - k). */
enum tare_grade {
	TARE_GRADE_NONE,  /* 0 behind: not printed */
	TARE_GRADE_WEAK,  /* 1 to 9: printed with '?' */
	TARE_GRADE_THIN,  /* 10 to 99 */
	TARE_GRADE_SOLID, /* 100 or more */
};
TARE_API enum tare_grade tare_grade_of(uint64_t behind);
TARE_API const char *tare_grade_name(enum tare_grade grade);

/* The smallest n at which percentile p has at least `behind` samples behind it; UINT64_MAX when there is none (p100). */
TARE_API uint64_t tare_needed(const struct tare_percentile *p, uint64_t behind);

/* ---- counting ---- */

/*
 * A multiset of 64-bit values, negative ones included, counted exactly at 1 ns.
 * Memory follows the number of distinct values (16 to 64 bytes each, about 4
 * where they lie close together), not n. Every value but TARE_NO_TIME is taken.
 */
struct tare_counts;
struct tare_bin { int64_t value_ns; uint64_t count; };
TARE_API int tare_counts_open(struct tare_counts **ret_counts, struct tare_err *err) TARE_MUST_USE;
TARE_API void tare_counts_free(struct tare_counts *counts); /* NULL is fine */
TARE_API void tare_counts_clear(struct tare_counts *counts);
/* Adds n values; entries equal to TARE_NO_TIME are passed over. A failure (no memory) leaves the object half filled. */
TARE_API int tare_counts_add(struct tare_counts *counts, const int64_t *values_ns, size_t n,
			     struct tare_err *err) TARE_MUST_USE;
/* Adds bins that ascend by value; none may be TARE_NO_TIME. */
TARE_API int tare_counts_add_bins(struct tare_counts *counts, const struct tare_bin *bins, size_t count,
				  struct tare_err *err) TARE_MUST_USE;
/* Adds all of `from`; the order of adding and merging changes no figure. `into` and `from` may be the same. */
TARE_API int tare_counts_merge(struct tare_counts *into, const struct tare_counts *from,
			       struct tare_err *err) TARE_MUST_USE;
TARE_API uint64_t tare_counts_n(const struct tare_counts *counts);
/* Value of rank k (1 = smallest). k outside 1..n gives TARE_NO_TIME. */
TARE_API int64_t tare_counts_at(const struct tare_counts *counts, uint64_t k);
/* The values of `count` ranks in ascending order, in one pass; ranks outside 1..n give TARE_NO_TIME. */
TARE_API void tare_counts_ranks(const struct tare_counts *counts, const uint64_t *ranks, size_t count,
				int64_t *ret_values_ns);
TARE_API uint64_t tare_counts_above(const struct tare_counts *counts, int64_t limit_ns);

/* Walks the distinct values in ascending order. Any adding in between ends the walk. */
struct tare_counts_cursor {
	const struct tare_counts *counts;
	size_t page, cell, lone; /* private */
};
TARE_API struct tare_counts_cursor tare_counts_walk(const struct tare_counts *counts);
/* False at the end. */
TARE_API bool tare_counts_next(struct tare_counts_cursor *cursor, struct tare_bin *ret_bin);

/* ---- the row of `tare stat` ---- */

enum { TARE_PERCENTILES_MAX = 16 };

/* What merged rows are merged over. */
enum tare_group_by {
	TARE_GROUP_RUN,      /* each target's rounds in a run, then its runs */
	TARE_GROUP_LABEL,    /* each target's rounds with the same label, over runs and files; so for the rest */
	TARE_GROUP_TARGET,
	TARE_GROUP_PEER_CPU, /* by the CPUs that handled at least 1 % of the round's requests at the peer: "19", "19 or 25" */
	TARE_GROUP_HOUR,     /* by the hour in which the round began, UTC: "2026-05-01T13Z" */
};

struct tare_rules {
	uint32_t percentiles;   /* at most TARE_PERCENTILES_MAX, in any order */
	struct tare_percentile percentile[TARE_PERCENTILES_MAX];
	int64_t warmup;         /* first requests of a round kept apart; -1: as the round says */
	int64_t stall_limit_ns; /* absolute limit; 0: stall_ratio x p50 of the round's rtt */
	double stall_ratio;     /* 10 */
	enum tare_group_by group_by;
	bool over_sent;         /* percentiles over what was sent: a lost or refused request counts as infinitely late */
	double level;           /* exact binomial interval of each percentile at this level (interval.h); 0: none */
	bool variation;         /* IPDV of the base span; costs a second pass over it */
	bool moments;           /* means, deviations and the jitters of others */
};
/* 50, 90, 99, 99.9, 99.99 over received; warm-up as the round says; stalls above 10 x p50; variation. */
TARE_API void tare_rules_default(struct tare_rules *ret_rules);

/*
 * Of a source that gives ranges (struct tare_bins), a figure is only known to
 * lie between two bounds: value_ns is the upper one, least_ns the lower. The
 * k-th smallest of all lower bounds and that of all upper ones hold the k-th
 * value between them, so ranges merge with each other and with exact values and
 * nothing is interpolated. Exact figures have least_ns = value_ns. An upper
 * bound of INT64_MAX is none at all: the source counted beyond its last bin.
 */
struct tare_ranked {
	int64_t value_ns;       /* TARE_NO_TIME when the grade is none, or when `lost` */
	int64_t least_ns;
	uint64_t rank, behind;
	enum tare_grade grade;
	bool lost;              /* over sent, and the rank falls among the requests without an answer, whatever the grade */
	int64_t low_ns, high_ns; /* interval at rules.level, whatever the grade; TARE_NO_TIME: open on that side, or not asked */
};

/* Beside PDV, see variation.h. Rows of the base span only; TARE_NO_TIME and NAN where not asked or too few. */
struct tare_row_variation {
	int64_t ipdv_p50_ns, ipdv_p99_ns, ipdv_p999_ns; /* of |D(i) - D(i-1)|; with grade none TARE_NO_TIME */
	uint64_t ipdv_n;
	double mean_ns, deviation_ns;                /* after the warm-up */
	double mean_first_ns, deviation_first_ns;    /* with the first two requests of the round */
	double rfc3550_jitter_ns;                    /* a round's last J; NAN in merged rows, where it has no meaning */
	int64_t p95_less_p50_ns;
};

/*
 * One span of one target in one round, or merged over rounds (round = 0).
 *
 * sent, lost and their like count the whole round, warm-up included. n is the
 * number of values the figures are made of: requests answered or overdue after
 * the warm-up whose span was truly observed, nothing folded; for spans that need
 * no answer (tare_span_needs_answer) all requests sent after the warm-up. When
 * the warm-up left nothing, n is 0 and the figures are TARE_NO_TIME.
 *
 * Stalls are values above one limit for all spans of a round: stall_ratio x p50
 * of its `rtt`; a source without rtt takes the first it has of response, wire,
 * stack, host, residence, service instead. A merged row's stalls are the sum of
 * its rounds', each by its own limit.
 *
 * Over sent (RFC 7679 treats loss as undefined, informally infinite), ranks are
 * of n + unanswered, the unanswered lying above every value; spans that need no
 * answer are not changed by it. Requests still pending say nothing and are left
 * out.
 */
struct tare_row {
	const char *file;       /* NULL for a live run */
	int64_t run;            /* 0 when merged over runs */
	uint32_t round;         /* 0 when merged */
	const char *label;      /* NULL when merged rounds differ in it */
	const char *group;      /* NULL but in rows merged by tare_rules.group_by; owned by the tare_stat */
	const char *target;     /* as asked: the url */
	const char *kind;
	double rate_asked, rate_held;        /* per second (rate.h), NAN: unknown; merged: that of all, NAN when they differ, and the lowest */
	char schedule[TARE_SCHEDULE_TEXT];   /* rate.h; "": unknown, or merged rows differ in it */
	uint32_t payload_bytes;              /* 0: unknown, or merged rows differ in it */
	enum tare_span span;
	struct tare_origin origin;           /* what the values mean and where they come from */
	char left_out[TARE_LEFT_OUT_TEXT];   /* origin.left_out in words */
	bool origin_mixed;                   /* merged rows differ in it */
	uint64_t sent, n, lost, overdue, pending, error, not_sent;
	uint64_t unanswered;                 /* lost or error after the warm-up; ranks over sent are of n + unanswered */
	uint64_t duplicate, reordered, foreign;
	int64_t first_ns, second_ns;         /* requests 0 and 1 of the round; TARE_NO_TIME if merged or unanswered */
	int64_t min_ns, max_ns;
	struct tare_ranked ranked[TARE_PERCENTILES_MAX];
	int64_t min_least_ns, max_least_ns, pdv_least_ns; /* lower bounds, as in tare_ranked */
	bool binned;                         /* some of the values are only known by their range */
	int64_t pdv_ns;                      /* p99.9 - min (RFC 5481); TARE_NO_TIME where p99.9 has grade none */
	struct tare_row_variation variation;
	uint64_t stalls;
	int64_t stall_limit_ns;              /* TARE_NO_TIME: no limit could be set (nothing answered) or mixed */
	int64_t resolution_ns;               /* the coarsest of the rounds merged */
};

/* False where nothing was lost as far as the source tells, which had left out what was, or does not say. */
TARE_API bool tare_row_losses_known(const struct tare_row *row);

/*
 * Collects series in the order given and makes the rows: per series one row for
 * rtt (or what stands for it, see above) and one for each span asked for that
 * exists, in the order of TARE_SPANS; then, for a target (same url and kind)
 * with more than one round in a run, rows merged over that run; then, for a
 * target with more than one run, rows merged over all (run = 0; file NULL when
 * the files differ). Rounds of different rates, schedules or payloads, as a sweep has them,
 * are different things: nothing is merged over them. With another group_by there is a merged row for each target
 * and group instead, be it of one round. A merged row holds the rounds in which
 * its span exists.
 * Strings of the records must outlive it; their samples need not.
 */
struct tare_stat;
TARE_API int tare_stat_open(const struct tare_rules *rules, uint32_t span_mask, struct tare_stat **ret_stat,
			    struct tare_err *err) TARE_MUST_USE;
TARE_API void tare_stat_free(struct tare_stat *stat);
TARE_API int tare_stat_add(struct tare_stat *stat, const char *file, const struct tare_record *record,
			   struct tare_err *err) TARE_MUST_USE;
/* The row of rtt (or what stands for it) of the series added last, until the next add; NULL before the first. */
TARE_API const struct tare_row *tare_stat_last(const struct tare_stat *stat);
/* Rows in print order, owned by `stat`, valid until the next add or free. */
TARE_API int tare_stat_rows(struct tare_stat *stat, const struct tare_row **ret_rows, size_t *ret_count,
			    struct tare_err *err) TARE_MUST_USE;
