/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a series shows beyond its row: stalls as episodes, modes, changes in
 * time, dependence, and the facts that rounds are compared by. Taken while the
 * samples are at hand; about 30 ns a sample.
 */
#pragma once
#include "report/stat_note.h"
#include "tare/change.h"
#include "tare/modes.h"
#include "tare/rounds.h"
#include "tare/stalls.h"

enum { INSIGHT_CHANGES = 4 /* told; plots show more */, INSIGHT_CHANGES_KEPT = 64, INSIGHT_TEXT = 512, STALLS_LISTED_MOST = 10000 };

struct stat_insight {
	enum tare_span span;      /* rtt, or what stands for it */
	struct tare_stalls stalls;
	struct tare_stall *list;  /* when asked for: list_count of stalls.samples */
	size_t list_count;
	struct tare_round_facts facts;
	bool facts_known;
	struct tare_change *change; /* of the median, by index in the series */
	size_t change_count;
	char modes[INSIGHT_TEXT], changes[INSIGHT_TEXT], dependence[INSIGHT_TEXT], warmup[160];
};

/* row: the base row of the series. list: keep the stalls themselves. */
int stat_insight_take(struct stat_insight *ret_insight, const char *file, const struct tare_record *record,
		      const struct tare_row *row, const struct tare_rules *rules, bool list,
		      struct tare_err *err) TARE_MUST_USE;
void stat_insight_end(struct stat_insight *insight);

/* Sentences under the rounds of one target in one run, or under all: what only shows across rounds. */
int stat_across(FILE *out, int width, const struct tare_round_facts *facts, size_t count,
		struct tare_err *err) TARE_MUST_USE;
