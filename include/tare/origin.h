/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where samples come from and what they mean. A figure of another tool may be a
 * round trip, half of one, or one direction; the same number means different
 * things, so every record says which, and two that differ are not compared. All
 * zero is what tare measures itself, hence the first word of every list.
 */
#pragma once
#include <stdint.h>

#include "tare/err.h"
#include "tare/sample.h"

/* X(id, name, help): what the values are. The order of spans that carry them is tare_base_span's. */
#define TARE_QUANTITIES(X)                                                             \
	X(RTT, "rtt", "round trip")                                                    \
	X(HALF_RTT, "half_rtt", "half of a round trip, as some tools print it")        \
	X(ONE_WAY, "one_way", "one direction, or from one tap to another")             \
	X(RESIDENCE, "residence", "time a request spends in what answers it")          \
	X(RESPONSE, "response", "from when a request was due to its answer")            \
	X(WAKEUP, "wakeup", "lateness of a thread: no network in it")                  \
	X(OTHER, "other", "the source does not say what its numbers are")

/* X(id, name, help): the clock that the values or stamps were read from. */
#define TARE_CLOCKS(X)                                                                 \
	X(MONOTONIC, "monotonic", "never set, rate steered")                           \
	X(WALL, "wall", "wall clock, may be set")                                      \
	X(CYCLES, "cycles", "cycle counter of the processor")                          \
	X(HARDWARE, "hardware", "clock of a network card, switch or capture device")   \
	X(MIXED, "mixed", "stamps of several clocks that nobody related")              \
	X(UNKNOWN, "unknown", "the source does not say")

/* X(id, name, help): who decided when the next request leaves. */
#define TARE_PACINGS(X)                                                                \
	X(OPEN, "open", "a schedule, whatever the answers do")                         \
	X(CLOSED, "closed", "the answer to the one before: slow answers thin the load") \
	X(UNKNOWN, "unknown", "the source does not say")

/* X(id, name, help): what is known of requests that left too late. */
#define TARE_LATENESSES(X)                                                             \
	X(MEASURED, "measured", "due and sent were both recorded")                     \
	X(REBUILT, "rebuilt", "due times were rebuilt from the interval that was asked for") \
	X(UNKNOWN, "unknown", "not in the source")

/* X(id, name, help): how much of the distribution there is. */
#define TARE_SHAPES(X)                                                                 \
	X(SAMPLES, "samples", "every request by itself")                               \
	X(BINS, "bins", "how many values lie in which range")                          \
	X(SUMMARY, "summary", "the source's own figures only: none is taken over")

#define X(id, name, help) TARE_QUANTITY_##id,
enum tare_quantity { TARE_QUANTITIES(X) TARE_QUANTITY_COUNT };
#undef X
#define X(id, name, help) TARE_CLOCK_##id,
enum tare_clock { TARE_CLOCKS(X) TARE_CLOCK_COUNT };
#undef X
#define X(id, name, help) TARE_PACING_##id,
enum tare_pacing { TARE_PACINGS(X) TARE_PACING_COUNT };
#undef X
#define X(id, name, help) TARE_LATENESS_##id,
enum tare_lateness { TARE_LATENESSES(X) TARE_LATENESS_COUNT };
#undef X
#define X(id, name, help) TARE_SHAPE_##id,
enum tare_shape { TARE_SHAPES(X) TARE_SHAPE_COUNT };
#undef X

/* What the source had left out before we saw it. */
enum tare_left_out {
	TARE_LEFT_OUT_WARMUP = 1 << 0,
	TARE_LEFT_OUT_LOST = 1 << 1,
	TARE_LEFT_OUT_REORDERED = 1 << 2,
	TARE_LEFT_OUT_ERRORS = 1 << 3,
	TARE_LEFT_OUT_SOME = 1 << 4,    /* one of every so many is kept */
	TARE_LEFT_OUT_UNKNOWN = 1 << 5, /* the source does not say */
};

/* "lost reordered": the words of a mask, separated by blanks, "" for 0. */
enum { TARE_LEFT_OUT_TEXT = 48 };
TARE_API void tare_left_out_text(uint32_t left_out, char ret_text[TARE_LEFT_OUT_TEXT]);

struct tare_origin {
	const char *format; /* name of the reader, "irtt-json"; NULL: measured by tare. Lives as long as the record's strings */
	enum tare_quantity quantity;
	enum tare_clock clock;
	enum tare_pacing pacing;
	enum tare_lateness lateness;
	enum tare_shape shape;
	uint32_t left_out; /* enum tare_left_out */
};

/* Names as in the lists above, "unknown" for a value outside of them; by name: false when there is no such word. */
TARE_API const char *tare_quantity_name(enum tare_quantity quantity);
TARE_API const char *tare_clock_name(enum tare_clock clock);
TARE_API const char *tare_pacing_name(enum tare_pacing pacing);
TARE_API const char *tare_lateness_name(enum tare_lateness lateness);
TARE_API const char *tare_shape_name(enum tare_shape shape);
TARE_API bool tare_quantity_by_name(const char *name, enum tare_quantity *ret_quantity);
TARE_API bool tare_clock_by_name(const char *name, enum tare_clock *ret_clock);
TARE_API bool tare_pacing_by_name(const char *name, enum tare_pacing *ret_pacing);
TARE_API bool tare_lateness_by_name(const char *name, enum tare_lateness *ret_lateness);
TARE_API bool tare_shape_by_name(const char *name, enum tare_shape *ret_shape);

/*
 * A distribution as a source gives it: so many values between two bounds, both
 * inclusive. A value known exactly has low = high; what is only known to lie
 * above a bound has high = INT64_MAX. Ranges ascend in low; they may overlap.
 */
struct tare_range { int64_t low_ns, high_ns; uint64_t count; };
struct tare_bins {
	size_t count;
	const struct tare_range *range; /* at least one value in each */
	uint64_t lost;                  /* requests that the source counts as unanswered */
};
