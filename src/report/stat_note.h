/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the sentences of a series need and the row does not hold, gathered while
 * its samples are at hand. Notes add up, so a target over many rounds has one.
 */
#pragma once
#include "report/report.h"
#include "tare/stalls.h"
#include "tare/stat.h"

struct stat_insight;

enum { NOTE_FLAGS = 16, NOTE_REASONS = 8 };

struct stat_note {
	const char *file; /* NULL: live */
	const struct tare_run *run;
	const struct tare_target *target;
	const struct tare_round *round; /* in a sum: the first one */
	size_t rounds;
	int64_t warmup;
	int64_t resolution_ns;
	struct tare_fates fates;
	uint64_t requests;
	uint64_t stamp_missing[TARE_STAGE_COUNT]; /* asked for, not there in a request that should have it */
	uint64_t stamp_asked[TARE_STAGE_COUNT];
	uint64_t flagged[NOTE_FLAGS]; /* samples by flag bit */
	struct {
		uint16_t reason;
		uint64_t errors, not_sent;
	} reasons[NOTE_REASONS];
	size_t reason_count;
	uint64_t other_reasons;
	uint64_t foreign_errors;
	struct tare_stalls stalls;            /* of the base span; in a sum those of all rounds */
	const struct tare_cause *causes;      /* borrowed; NULL: not watched, or a sum */
	size_t cause_count;
	const struct stat_insight *insight;   /* owned by the view; NULL in a sum */
};

/* warmup: as the rules say; -1 takes the round's. */
void stat_note_take(struct stat_note *note, const char *file, const struct tare_record *record, int64_t warmup);
void stat_note_add(struct stat_note *sum, const struct stat_note *note);

/* Rows of one series, or of one target merged over rounds or runs; rtt first, in the order of the tree. */
struct stat_block {
	const struct tare_row *row[TARE_SPAN_COUNT];
	size_t count;
	const struct stat_note *note; /* NULL: nothing is known beyond the rows */
};

/* "stamp://10.0.0.2:8620   10002 sent, 10002 answered, 0 lost". */
void stat_head_line(FILE *out, int width, const struct stat_block *block);
/* The sentences under a block. */
void stat_sentences(FILE *out, int width, const struct stat_block *block, const struct tare_rules *rules,
	const struct scale *scale);
