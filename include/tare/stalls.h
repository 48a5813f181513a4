/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stalls: values above a limit, counted as samples and as episodes. One
 * interruption of 1 ms hits 10 samples at 100 us spacing and 96 at 10 us; it is
 * one episode either way, so only episodes make rates that compare between
 * sending rates. Percentiles do not see them: at n = 10 000 up to ten stalls
 * lie above p99.9.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tare/err.h"
#include "tare/interval.h"
#include "tare/run.h"
#include "tare/sample.h"
#include "tare/stat.h"

/* Where a limit comes from; for the sentence beside it. */
enum tare_limit_kind {
	TARE_LIMIT_RATIO,      /* ratio x p50 of the round's rtt */
	TARE_LIMIT_ABSOLUTE,   /* given by the user */
	TARE_LIMIT_CALIBRATED, /* frozen by a calibration */
};
TARE_API const char *tare_limit_kind_name(enum tare_limit_kind kind);

/* Fixed limits, so that hosts compare whatever their medians: 20 us, 50 us, 100 us, 1 ms, 10 ms. */
enum { TARE_LADDER_STEPS = 5 };
TARE_API int64_t tare_ladder_ns(size_t step);

/*
 * Stalls of one span of one round, or of several added up. An episode is a run
 * of stalls with at most `gap` good requests in a row between them; requests
 * that were not observed (lost, not sent) neither end it nor count as good. It
 * lasts from when its first request was due (or sent, or the start of the
 * value) to the end of its last; what two episodes share is counted once.
 */
struct tare_stalls {
	int64_t limit_ns;     /* TARE_NO_TIME when rounds with different limits were added */
	uint64_t n;           /* values looked at */
	uint64_t samples, episodes;
	int64_t worst_ns;     /* largest value above the limit; TARE_NO_TIME without a stall */
	int64_t longest_ns;   /* longest episode; TARE_NO_TIME without times or stalls */
	int64_t stalled_ns;   /* sum of episode lengths */
	int64_t exposure_ns;  /* time watched: from the first kept request to the last, plus one interval; 0 unknown */
	uint64_t ladder[TARE_LADDER_STEPS]; /* samples above each fixed limit */
};

/* One stall, in the order of the round. */
struct tare_stall {
	size_t sequence;          /* index in the series */
	size_t episode;           /* from 1 within the round */
	int64_t at_ns;            /* when it was due (or sent); TARE_NO_TIME when the source has no times */
	int64_t value_ns;
	int16_t cpu[TARE_CPU_PLACES]; /* TARE_NO_CPU where not told */
	double of_median, of_p999; /* multiples; NAN where that figure does not exist */
	uint8_t fate;
	uint16_t flags;
};

struct tare_stall_rules {
	int64_t limit_ns;
	uint32_t gap;       /* 1 */
	size_t first;       /* warm-up: requests before it are left out */
	int64_t interval_ns; /* of the schedule, 0 when unknown: then from the times themselves */
};

/*
 * Finds the stalls of a span. Up to `room` of them are written to `ret_list`
 * (which may be NULL with room 0); ret_stalls->samples tells how many there are.
 */
TARE_API void tare_stalls_of(const struct tare_series *series, enum tare_span span,
			     const struct tare_stall_rules *rules, struct tare_stalls *ret_stalls,
			     struct tare_stall *ret_list, size_t room);
/* Fills the multiples of a list from a row's figures: p50 and p99.9 among the rules' percentiles. */
TARE_API void tare_stalls_compare(struct tare_stall *list, size_t count, int64_t median_ns, int64_t p999_ns);

/* Adds up the counts of another round. */
TARE_API void tare_stalls_add(struct tare_stalls *into, const struct tare_stalls *from);

/* Episodes per hour with Garwood's interval. */
struct tare_stall_rate {
	double per_hour, low, high; /* NAN without exposure; without a stall low = per_hour = 0 */
	double share;               /* of the time watched spent in episodes */
};
/* Without a stall `high` is the one-sided bound that zero proves: 3.00 / exposure at 0.95. */
TARE_API struct tare_stall_rate tare_stalls_rate(const struct tare_stalls *stalls, double level);

/*
 * One sentence without a full stop, in `room` bytes, always terminated:
 * "5 stalls above 41.2 µs in 3 episodes, the longest 1.55 ms, 0.03 % of the time; 1080 an hour (223 to 3156)" or
 * "no stall above 41.2 µs in 10.0 s, which shows less than 1079 an hour (95 %)".
 */
TARE_API void tare_stalls_sentence(const struct tare_stalls *stalls, char *ret_text, size_t room);
