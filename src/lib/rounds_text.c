/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sentences about several rounds. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/text.h"
#include "tare/rounds.h"

static int by_number(const void *a, const void *b)
{
	return *(const int16_t *)a - *(const int16_t *)b;
}

void tare_cpu_set_text(const struct tare_cpu_set *set, char *ret_text, size_t room)
{
	struct text text = {.bytes = ret_text, .room = room};
	struct tare_cpu_set sorted = *set;
	if (!set->count)
		text_add(&text, "unknown");
	qsort(sorted.cpu, sorted.count, sizeof(sorted.cpu[0]), by_number);
	for (size_t i = 0; i < sorted.count; i++)
		text_add(&text, "%s%d", i == 0 ? "" : i + 1 == sorted.count ? " or " : ", ", sorted.cpu[i]);
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static void say_stalls(struct text *text, const struct tare_across *across)
{
	if (!across->stalled_rounds) {
		text_add(text, "no stall in %" PRIu64 " round%s", across->rounds, plural(across->rounds));
		return;
	}
	text_add(text, "stalls in %" PRIu64 " of %" PRIu64 " round%s", across->stalled_rounds, across->rounds,
		plural(across->rounds));
	/* That all were where every round was says nothing. */
	if (!across->stalled_peer.count || !across->elsewhere_rounds)
		return;
	char cpus[80];
	tare_cpu_set_text(&across->stalled_peer, cpus, sizeof(cpus));
	text_add(text, ", all with the responder on CPU %s (none in the %" PRIu64 " round%s elsewhere)", cpus,
		across->elsewhere_rounds, plural(across->elsewhere_rounds));
}

static void say_repeat(struct text *text, const struct tare_across *across)
{
	char spread[32], largest[32];
	if (!across->median.pairs)
		return;
	format_duration((int64_t)llround(across->median.successive), spread, sizeof(spread));
	format_duration((int64_t)llround(across->median.largest), largest, sizeof(largest));
	text_add(text, "s_r of p50 %s, largest retest difference %s", spread, largest);
}

void tare_across_sentence(
	const struct tare_across *across, enum tare_across_sentence which, char *ret_text, size_t room)
{
	struct text text = {.bytes = ret_text, .room = room};
	if (room)
		ret_text[0] = '\0';
	if (!across->rounds)
		return;
	if (which == TARE_ACROSS_STALLS)
		say_stalls(&text, across);
	if (which == TARE_ACROSS_FIRST && across->first_slowest)
		text_add(&text, "the slowest request is the first in %" PRIu64 " of %" PRIu64 " round%s",
			across->first_slowest, across->first_known, plural(across->first_known));
	if (which == TARE_ACROSS_FIRST_TWO && across->first_two_in_ten)
		text_add(&text, "the first two are both among the ten slowest in %" PRIu64 " of %" PRIu64 " round%s",
			across->first_two_in_ten, across->first_known, plural(across->first_known));
	if (which == TARE_ACROSS_REPEAT)
		say_repeat(&text, across);
}
