/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Did the change change it? Rounds of two arms in, one verdict per figure out:
 * an effect, an effect that does not matter, none within a margin, cannot tell
 * yet, or a comparison that says nothing. What decides is the interval of the
 * effect between rounds (effect.h); the largest difference seen between
 * identical rounds is printed beside it and decides nothing. A round is called a
 * trial here, since it was made to answer a question.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tare/effect.h"
#include "tare/run.h"
#include "tare/stalls.h"
#include "tare/stat.h"
#include "tare/warmup.h"

/* ---- figures: what is compared ---- */

enum tare_figure_kind {
	TARE_FIGURE_PERCENTILE,
	TARE_FIGURE_MIN,
	TARE_FIGURE_MAX,
	TARE_FIGURE_PDV,
	TARE_FIGURE_FIRST,
	TARE_FIGURE_SECOND,
	TARE_FIGURE_STALLS, /* episodes an hour */
	TARE_FIGURE_LOSS,   /* requests without an answer */
};
struct tare_figure {
	enum tare_figure_kind kind;
	enum tare_span span;
	struct tare_percentile percentile;
	char name[40]; /* "p99", "late:p99.9" */
};
/* "[SPAN:]p50|p99.9|…|min|max|pdv|first|second|stalls|loss"; the span is rtt unless said. TARE_E_USAGE otherwise. */
TARE_API int tare_figure_parse(const char *text, struct tare_figure *ret_figure, struct tare_err *err) TARE_MUST_USE;
/* Stalls and losses: judged by exact tests of counts. */
TARE_API bool tare_figure_is_count(const struct tare_figure *figure);

/* ---- trials: one round of one target under one arm ---- */

enum { TARE_TRIAL_CPUS = 8 };

struct tare_trial {
	unsigned char arm;        /* 0: A, 1: B */
	int64_t at_ns;            /* start by the wall clock; TARE_NO_TIME: not known, then there is no order */
	const char *file, *label, *url, *kind, *host; /* kept by the trials */
	uint32_t run, round, payload_bytes, warmup;
	int64_t interval_ns;
	double rate_asked, rate_held; /* requests a second; NAN: not known */
	const struct tare_row *rows;       /* of each span there is */
	const struct tare_stalls *stalls;  /* of the same spans */
	size_t row_count;
	struct tare_slowest slowest;
	size_t cpus;                       /* CPUs that answered, or that sent where the peer does not tell */
	struct { int16_t cpu; double share; } on[TARE_TRIAL_CPUS];
	bool peer_cpus;                    /* whose they are */
	double slow_share;                 /* of the slower of two modes without a known cause; NAN: one mode, or not looked at */
};

/* Collects trials. Stalls of all of them are counted above one limit: the rules', or 10 x p50 of the first trial. */
struct tare_trials;
/* Percentiles that `figures` need are added to the rules'. */
TARE_API int tare_trials_open(const struct tare_rules *rules, const struct tare_figure *figures, size_t figure_count,
			      struct tare_trials **ret_trials, struct tare_err *err) TARE_MUST_USE;
TARE_API void tare_trials_free(struct tare_trials *trials); /* NULL is fine */
/* Nothing of the record is kept. held: requests a second, NAN when it is not known. */
TARE_API int tare_trials_add(struct tare_trials *trials, unsigned char arm, const char *file,
			     const struct tare_record *record, double held, struct tare_err *err) TARE_MUST_USE;
/* In the order added; owned by the collector, valid until the next add. */
TARE_API size_t tare_trials_list(const struct tare_trials *trials, const struct tare_trial **ret_list);
/* The frozen stall limit; TARE_NO_TIME before the first trial with an answer. */
TARE_API int64_t tare_trials_stall_limit_ns(const struct tare_trials *trials);

/* The row of a span, or NULL. */
TARE_API const struct tare_row *tare_trial_row(const struct tare_trial *trial, enum tare_span span);
/*
 * The figure of a trial in ns, or as a count; NAN when it cannot be said: not measured, or a percentile with fewer
 * than 10 values behind it, which two identical rounds would disagree about by half.
 */
TARE_API double tare_trial_figure(const struct tare_trial *trial, const struct tare_figure *figure);

/* ---- whether the trials can be compared at all ---- */

enum { TARE_REASONS_MAX = 12 };
struct tare_reasons {
	size_t count;
	char text[TARE_REASONS_MAX][256];
};
/* Adds one; what exceeds TARE_REASONS_MAX is dropped. */
TARE_API void tare_reason(struct tare_reasons *reasons, const char *format, ...) TARE_PRINTF(2, 3);

/*
 * Refusals: different quantities, rates, sizes, warm-up rules, kinds, or both arms without rounds. Such sets are
 * not to be compared whatever they say (TARE_E_USAGE, the sentence names both sides).
 */
TARE_API int tare_trials_check(const struct tare_trial *trials, size_t count, const struct tare_figure *figure,
			       struct tare_err *err) TARE_MUST_USE;
/*
 * What makes a comparison invalid: rate not held, nothing answered, loss that differs, a warm-up that was too
 * short, modes whose shares differ between the arms without a label that tells why, unless they go with the arm: a
 * second mode in every round of one arm and in none of the other, or shares that hold still within arms that alternate.
 */
TARE_API void tare_trials_doubts(const struct tare_trial *trials, size_t count, const struct tare_figure *figure,
				 struct tare_reasons *reasons);

/* True, with a sentence, when two modes go with the arm: then they are what the setting does. */
TARE_API bool tare_trials_modes(const struct tare_trial *trials, size_t count, char *ret_text, size_t room);

/* ---- verdicts ---- */

enum tare_verdict_kind {
	TARE_VERDICT_EFFECT,
	TARE_VERDICT_NEGLIGIBLE,   /* an effect, but within the margin */
	TARE_VERDICT_SAME,         /* none within the margin */
	TARE_VERDICT_INCONCLUSIVE,
	TARE_VERDICT_INVALID,
};
TARE_API const char *tare_verdict_name(enum tare_verdict_kind kind);

struct tare_verdict_rules {
	double level;        /* 0.95 */
	double margin_share; /* 0.02; 0: none */
	int64_t margin_ns;   /* 0: none */
	const struct tare_spread *calibrated; /* s_r of the figure, in ns or, with margin_share, of its logarithm; NULL */
	const char *name_a, *name_b;          /* "A", "B" when NULL */
};

/*
 * Values are in ns; with a margin as a share the fit is of logarithms, and s, limit, retest, drift, detectable,
 * below, low and high are shares (0.01 is 1 %). For counts value is a rate an hour (stalls) or a share (loss), and
 * low and high bound the ratio B / A.
 */
struct tare_verdict {
	struct tare_figure figure;
	enum tare_verdict_kind kind;
	char reason[256];           /* why invalid; "" otherwise */
	char name_a[40], name_b[40];
	uint64_t rounds_a, rounds_b, n, behind; /* of the round with the fewest */
	bool ordered, drift_term, as_share, calibrated;
	double value_a, value_b;
	double effect_ns, effect_share;         /* the same effect both ways */
	double effect, low, high, low90, high90;
	double s, degrees, limit, retest, drift;
	double detectable;          /* at 80 % power with this many rounds */
	double below;               /* any effect is smaller than this: the larger end of the 90 % interval */
	double margin;              /* as decided with; 0: none */
	double chance, chance_adjusted; /* adjusted: among the others, by Holm; the primary's is its own */
	double sign_flip;           /* NAN below six whole blocks */
	double carry, carry_chance; /* what a round after B has more than one after A, fitted from TARE_CARRY_ROUNDS on; else NAN */
	uint64_t rounds_needed;     /* in all, to find what was seen or to claim the margin; 0: not known */
	/* label as covariate */
	bool by_label, moved;       /* moved: the responder moved with the arm, path and place cannot be told apart */
	double total;               /* effect without the label: place and path together, in the unit of effect */
	char places[96];            /* "peer CPU 19 60 % -> 20 %", "" when no label differs */
	/* counts */
	uint64_t count_a, count_b;
	double exposure_a, exposure_b; /* hours, or requests */
	bool bursts;                /* counts scatter more than chance: the rounds had a say too */
};

/* Fails only without memory or where one arm has no round; a figure that cannot be said is an invalid verdict. */
TARE_API int tare_verdict_of(const struct tare_trial *trials, size_t count, const struct tare_figure *figure,
			     const struct tare_verdict_rules *rules, struct tare_verdict *ret_verdict,
			     struct tare_err *err) TARE_MUST_USE;
/* Adjusts the chances of all but the first (the primary) by Holm; an effect that does not survive becomes inconclusive. */
TARE_API void tare_verdicts_adjust(struct tare_verdict *verdicts, size_t count, double level);
/* Makes it invalid for this reason, keeping its figures. */
TARE_API void tare_verdict_invalidate(struct tare_verdict *verdict, const char *reason);
/* 0 no harm done, 1 worse, 3 inconclusive, 4 invalid. */
TARE_API int tare_verdict_exit(const struct tare_verdict *verdict);

/* The verdict as one sentence without a full stop: "effect: B is 145.29 µs slower on p50 (149.64 against 4.35), …". */
TARE_API void tare_verdict_sentence(const struct tare_verdict *verdict, char *ret_text, size_t room);
/* What stands behind it: "retest difference seen 0.05 µs, s_r 0.03, drift -0.01 per round, …". */
TARE_API void tare_verdict_evidence(const struct tare_verdict *verdict, char *ret_text, size_t room);
/* In a few words, for the line of the other figures: "p50 4.68 / 4.64 µs: no effect within 2 %". */
TARE_API void tare_verdict_brief(const struct tare_verdict *verdict, char *ret_text, size_t room);
