/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What plots show, before anything is drawn: records go in one by one, a model
 * per target comes out, and the drawers (SVG, terminal) only place it. Samples
 * are not kept; memory follows columns, rounds and distinct values, not n.
 *
 * What a drawer may rely on, and unit tests hold:
 *   - every stall, loss and error is a mark of its own up to PLOT_MARKS_MAX of
 *     them a target; beyond, each column still knows how many it has and keeps its highest;
 *   - the highest value of a column is exact, so the plotted maximum is the maximum;
 *   - cells + stalls + marks of the warm-up add up to the values observed;
 *   - nothing is interpolated: a column without a value says so.
 *
 * Strings of records (urls, labels, file names) are borrowed and must outlive
 * the plots. All of it is untrusted text: whoever draws makes it harmless.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/plot/grid.h"
#include "tare/cause.h"
#include "tare/modes.h"
#include "tare/run.h"
#include "tare/stat.h"

struct stat_insight;

enum {
	PLOT_TARGETS_MAX = 8,    /* targets with plots; further ones are counted */
	PLOT_SERIES_MAX = 8,     /* curves of a target: as many as there are colours to tell apart */
	PLOT_CLASSES_MAX = 8,    /* parts of a stacked histogram */
	PLOT_MARKS_MAX = 5000,   /* marks kept one by one, a target */
	PLOT_CHANGES_MAX = 64,
	PLOT_COLUMNS = 2048,     /* of the plot over time: at most so many, at least half of it */
	PLOT_HEAT_COLUMNS = 512,
	PLOT_SLOWEST = 10,
	PLOT_TICKS_MAX = 32,
};

/* ---- every request over time ---- */

enum plot_mark_kind {
	PLOT_STALL,    /* above the stall limit */
	PLOT_FIRST,    /* one of the first two requests, apart from the rest as warm-up: hollow */
	PLOT_WARMUP,   /* later in the warm-up and above the limit */
	PLOT_LOST,     /* no answer: on the upper edge, without a value */
	PLOT_ERROR,    /* refused, or answered otherwise than expected; on the upper edge */
	PLOT_NOT_SENT, /* never left: on the lower edge */
	PLOT_MARK_KINDS
};

struct plot_mark {
	int64_t x;           /* as of the time plot */
	int64_t value_ns;    /* TARE_NO_TIME: has none */
	uint64_t sequence;
	uint32_t round;      /* index into plot_target.rounds */
	uint16_t reason;     /* of ERROR and NOT_SENT */
	uint8_t kind;        /* enum plot_mark_kind */
	uint8_t word;        /* enum tare_word; TARE_WORD_NONE: not looked at */
	bool peer, injected; /* of the cause */
};

struct plot_change { int64_t x, before_ns, after_ns; };

/*
 * Rounds stand side by side on x, the pauses between them are left out. x is in
 * ns of measured time, or where the source has no times, in requests.
 */
struct plot_time {
	bool by_request;
	int64_t end;                /* x behind the last request */
	struct plot_grid grid;      /* cells hold what has no mark of its own; columns hold everything */
	struct plot_mark *marks;
	size_t mark_count;
	uint64_t kinds[PLOT_MARK_KINDS]; /* how many there are, shown or not */
	bool marks_cut;             /* more than PLOT_MARKS_MAX stalls and losses: see the columns */
	struct plot_change changes[PLOT_CHANGES_MAX]; /* of the median within a round */
	size_t change_count;
	uint64_t changes_more;
};

/* ---- percentile curves ---- */

/* behind = 0 is the maximum. `solid` while ten or more lie behind. The band is that of single rounds with ten behind. */
struct plot_point {
	uint64_t behind;
	int64_t value_ns;
	int64_t low_ns, high_ns; /* TARE_NO_TIME: fewer than two rounds */
	bool solid;
};
struct plot_curve {
	const char *name;        /* arm, label or file; "" when there is only one */
	char arm;                /* 'A', 'B' or 0 */
	uint64_t n;
	uint32_t rounds;
	int64_t p50_ns, p99_ns, p999_ns, min_ns, max_ns; /* TARE_NO_TIME where nothing is behind */
	struct plot_point *points;
	size_t point_count;
};

/* ---- histogram ---- */

struct plot_class {
	char name[48];           /* "peer CPU 25"; foreign where it is a label */
	uint64_t n;
	int64_t median_ns;
	uint64_t *bins;          /* bin_count */
};
struct plot_histogram {
	enum plot_stack { PLOT_STACK_NONE, PLOT_STACK_CPU, PLOT_STACK_LABEL } stack;
	bool log;                /* bins of a 32nd of an octave rather than of equal width */
	int64_t *edges_ns;       /* bin i holds edges[i] <= value < edges[i + 1] */
	size_t bin_count;
	uint64_t below, above;   /* values outside of what the bins show: counted, and told */
	struct plot_class classes[PLOT_CLASSES_MAX];
	size_t class_count;
	uint64_t n;
	double mean_ns;
	struct tare_modes modes; /* by shape, of all values */
	bool mean_in_gap;
};

/* ---- lateness against rtt ---- */

struct plot_lateness {
	uint32_t *cell;          /* PLOT_COARSE_ROWS squared, rtt within late; rows as plot_coarse_row() */
	size_t late_low, late_high, rtt_low, rtt_high; /* rows with something in them */
	struct { int64_t late_ns, rtt_ns; uint64_t sequence; uint32_t round; } marks[PLOT_MARKS_MAX];
	size_t mark_count;
	uint64_t n, marked;      /* marked: above the limit in either; those beyond PLOT_MARKS_MAX are in cells */
};

/* ---- where the time went ---- */

/* X(id, text): parts of a response in order. WITHIN is the stretch that no stamp takes apart. */
#define PLOT_PARTS(X)                            \
	X(LATE, "late")                          \
	X(TX, "tx")                              \
	X(TX_NIC, "tx_nic")                      \
	X(WITHIN, "network")                     \
	X(RESIDENCE, "residence")                \
	X(RX_NIC, "rx_nic")                      \
	X(WAKE, "wake")
enum plot_part {
#define X(id, text) PLOT_PART_##id,
	PLOT_PARTS(X)
#undef X
	PLOT_PART_COUNT
};
const char *plot_part_name(enum plot_part part);

struct plot_breakdown {
	char name[16];           /* "p99", "slowest 3" */
	uint64_t sequence;
	uint32_t round;
	int64_t response_ns;     /* the sum of the parts, exactly */
	int64_t part_ns[PLOT_PART_COUNT];
	uint8_t folded;          /* 1 << part: not stamped, its time is in a neighbour */
	uint8_t word;            /* enum tare_word */
};

/* ---- rounds ---- */

/* X(id, num, den): quantiles kept of every round. */
#define PLOT_QUANTILES(X) \
	X(P1, 1, 100) X(P5, 5, 100) X(P10, 10, 100) X(P25, 25, 100) X(P50, 50, 100) X(P75, 75, 100) \
	X(P90, 90, 100) X(P95, 95, 100) X(P99, 99, 100) X(P999, 999, 1000)
enum plot_quantile {
#define X(id, num, den) PLOT_##id,
	PLOT_QUANTILES(X)
#undef X
	PLOT_QUANTILE_COUNT
};

struct plot_round {
	const char *file, *label;
	int64_t run, started_real_ns, interval_ns;
	uint32_t number;
	char arm;                /* 'A', 'B'; 0: none, or not scored */
	size_t series;           /* its curve */
	uint64_t sent, n, lost, stalls;
	int64_t x_from, x_to;    /* its place in the time plot */
	int64_t min_ns, max_ns, stall_limit_ns, first_ns;
	int64_t quantile_ns[PLOT_QUANTILE_COUNT]; /* TARE_NO_TIME where nothing is behind */
	uint8_t p999_grade;      /* enum tare_grade */
	bool binned;
};

/* ---- a target ---- */

struct plot_target {
	const char *url, *kind;
	enum tare_span span;     /* rtt, or what stands for it */
	int64_t resolution_ns;   /* the coarsest */
	uint64_t requests, values, unanswered;
	int64_t max_ns;
	struct plot_time time;
	struct plot_curve curves[PLOT_SERIES_MAX];
	size_t curve_count;
	uint64_t curves_more;    /* labels or files beyond PLOT_SERIES_MAX, all in the last curve */
	struct plot_histogram histogram;
	struct plot_lateness *lateness;
	struct plot_breakdown breakdowns[3 + PLOT_SLOWEST];
	size_t breakdown_count;
	struct plot_round *rounds;
	size_t round_count;
	int64_t heat_from_real_ns, heat_to_real_ns; /* wall clock of the first and behind the last request; equal: unknown */
	struct plot_grid heat;   /* x: ns since heat_from_real_ns */
	bool binned;             /* the source counted in bins: curves run along upper bounds */
};

struct plots;

struct plot_input {
	const char *file;
	const struct tare_record *record;
	const struct tare_row *row;           /* base row of this record: tare_stat_last */
	const struct stat_insight *insight;   /* changes of the median; NULL: none are shown */
	const struct tare_cause *causes;
	size_t cause_count;
	size_t warmup;
	const char *series;                   /* name of the curve it belongs to; NULL: one curve for all */
	char arm;
};

int plots_open(struct plots **ret_plots, struct tare_err *err) TARE_MUST_USE;
void plots_free(struct plots *plots); /* NULL is fine */
static inline void plots_end(struct plots *const *plots) /* for AUTO_CLEANUP */
{
	plots_free(*plots);
}
/* Takes a record's samples; nothing of them is kept but what the model holds. */
int plots_add(struct plots *plots, const struct plot_input *input, struct tare_err *err) TARE_MUST_USE;
/* Works out curves, bins and bars; nothing is added after it. */
int plots_finish(struct plots *plots, struct tare_err *err) TARE_MUST_USE;
/* In the order in which they came. */
size_t plots_targets(const struct plots *plots, const struct plot_target *const **ret_targets);
/* Targets beyond PLOT_TARGETS_MAX. */
uint64_t plots_targets_left_out(const struct plots *plots);
