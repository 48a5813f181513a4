/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Counting the votes: which format a file carries, and in words why, or why none. The
 * table of variants is in order of strength.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "import/capture/stamp_private.h"

enum { PER_CENT_NEEDED = 95, FRAMES_NEEDED = 20 };

bool stamp_is_trailer(enum stamp_format format)
{
	return format != STAMP_AVSP && format != STAMP_TTAG && format != STAMP_ERSPAN3 && format != STAMP_AVSP_MAC &&
	       format != STAMP_EXPCAP;
}

/* What a name stands for. */
bool stamp_is_meant(enum stamp_format named, enum stamp_format format)
{
	return named == format || (named == STAMP_LDA && (format == STAMP_LDA_LE || format == STAMP_LDA_BE));
}

/* The most frequent distance and how many frames keep to it within a second. */
static uint64_t agreeing(const struct stamp_vote *vote, bool may_jump, int64_t *ret_second)
{
	uint64_t most = 0, within = 0;
	for (unsigned i = 0; i < vote->seconds; i++) {
		if (vote->count[i] > most) {
			most = vote->count[i];
			*ret_second = vote->second[i];
		}
	}
	for (unsigned i = 0; i < vote->seconds && most; i++) {
		int64_t apart = vote->second[i] - *ret_second;
		if ((apart >= -1 && apart <= 1) || (may_jump && apart >= 3 && apart <= 5))
			within += vote->count[i];
	}
	return within;
}

static bool enough(uint64_t part, uint64_t whole)
{
	return whole && part >= whole - whole * (100 - PER_CENT_NEEDED) / 100;
}

/* Frames in front of which a trailer would have to lie: those with nothing behind their packet count against it. */
static uint64_t eligible(const struct stamp_watch *watch, size_t i)
{
	bool trailer = stamp_is_trailer(stamp_variants[i].format);
	return watch->votes[i].eligible + (trailer && !watch->votes[i].eligible ? 0 : trailer ? watch->plain : 0);
}

static bool anchored(const struct stamp_watch *watch, enum stamp_format format)
{
	return format == STAMP_ERSPAN3 && watch->short_times && markers_serve(&watch->markers, watch->granule_ps);
}

static bool passes(const struct stamp_watch *watch, size_t i, int64_t *ret_second)
{
	const struct stamp_vote *vote = &watch->votes[i];
	enum stamp_format format = stamp_variants[i].format;
	uint64_t good = vote->shaped + vote->proven;
	uint64_t within = agreeing(vote, format == STAMP_AVSP, ret_second);
	bool checked = format != STAMP_VSS && format != STAMP_LDA_LE && format != STAMP_LDA_BE;
	if (!enough(good, eligible(watch, i)) || (checked && !enough(vote->proven, vote->proven + vote->disproven)))
		return false;
	if (format == STAMP_TICKS)
		return watch->keyframes.count && !watch->keyframes.several_devices && enough(within, vote->timed);
	if (format == STAMP_EXPCAP)
		return true;
	if (anchored(watch, format)) {
		/* counted without markers, distances may have jumped by a wrap */
		*ret_second = watch->markers.offset_seconds;
		return true;
	}
	if (good > 1 && !enough(within, vote->timed))
		return false;
	return checked || good >= FRAMES_NEEDED || enough(vote->proven, good);
}

static bool only_by_name(enum stamp_format format)
{
	return format == STAMP_CPACKET || format == STAMP_AVSP_MAC || format == STAMP_TTAG_TRAILER ||
	       format == STAMP_BRCM;
}

/* Bytes that are a time in either order: a guess, whichever is taken. */
static bool other_order_fits(const struct stamp_watch *watch, enum stamp_format format)
{
	enum stamp_format other = format == STAMP_LDA_LE ? STAMP_LDA_BE : STAMP_LDA_LE;
	if (format != STAMP_LDA_LE && format != STAMP_LDA_BE)
		return false;
	for (size_t i = 0; i < VARIANTS; i++) {
		if (stamp_variants[i].format == other &&
			enough(watch->votes[i].shaped + watch->votes[i].proven, eligible(watch, i)))
			return true;
	}
	return false;
}

static void say_markers(const struct stamp_watch *watch, struct text *text)
{
	const struct markers *markers = &watch->markers;
	char spread[40];
	if (!markers->count || !watch->short_times)
		return;
	if (markers->several_switches) {
		text_add(text, "; markers of several switches, and nothing says whose they are: not used");
	} else if (markers->unsteady) {
		text_add(text, "; counter and UTC of the markers part: not used");
	} else if (!markers_serve(markers, watch->granule_ps)) {
		text_add(text, "; the markers count in other steps than the stamps: not used");
	} else {
		format_duration(markers->spread_ps / 1000, spread, sizeof(spread));
		text_add(text, "; anchored by %zu marker%s", markers->count, markers->count == 1 ? "" : "s");
		if (markers->count > 1)
			text_add(text, ", whose UTC is within %s", spread);
		if (markers->missing)
			text_add(text, ", %" PRIu64 " missing", markers->missing);
	}
}

static void fill(const struct stamp_watch *watch, size_t i, int64_t second, struct stamp_verdict *verdict)
{
	const struct stamp_vote *vote = &watch->votes[i];
	struct text text = TEXT_IN(verdict->words);
	char far[40] = "";
	verdict->format = stamp_variants[i].format;
	verdict->variant = (uint8_t)i;
	verdict->offset_seconds = second;
	verdict->stamped = vote->shaped + vote->proven;
	verdict->frames = eligible(watch, i);
	verdict->device = vote->device;
	verdict->several_devices = vote->several_devices;
	snprintf(far, sizeof(far), "%+" PRId64 " s", second);
	text_add(&text, "%s in %" PRIu64 " of %" PRIu64 " frames%s; %s from the capture's clock",
		stamp_format_words(verdict->format), verdict->stamped, verdict->frames,
		verdict->named ? ", as named"
		: vote->proven ? ", checks agree"
			       : ", times agree",
		vote->timed == 0 ? "not compared"
		: second         ? far
				 : "less than 1 s");
	if (verdict->format == STAMP_TICKS)
		text_add(&text, "; %zu keyframes", watch->keyframes.count);
	if (verdict->format == STAMP_ERSPAN3)
		say_markers(watch, &text);
	if (other_order_fits(watch, verdict->format))
		text_add(&text, "; the other order of bytes fits as well (--stamps lda-le or lda-be)");
}

static void say_undecodable(const struct stamp_watch *watch, struct stamp_verdict *verdict)
{
	struct text text = TEXT_IN(verdict->words);
	for (size_t i = 0; i < VARIANTS; i++) {
		const struct stamp_vote *vote = &watch->votes[i];
		uint64_t shaped = vote->shaped + vote->proven;
		if (stamp_variants[i].format != STAMP_TICKS || !enough(shaped, eligible(watch, i)))
			continue;
		bool before = stamp_variants[i].fcs_bytes;
		if (watch->keyframes.count == 0 && (vote->unbounded || (!before && shaped < FRAMES_NEEDED)))
			continue;
		verdict->undecodable_ticks = true;
		text.used = 0;
		text_add(&text, "tick stamps%s, %s: undecodable, the capture's own times are used",
			before ? "" : " (4 bytes that are no check sequence)",
			watch->keyframes.several_devices
				? "but keyframes of several devices, and nothing says whose they are"
			: watch->keyframes.count ? "but none near a keyframe in time"
						 : "no keyframe in this file");
	}
	for (size_t i = 0; i < VARIANTS && !text.used; i++) {
		const struct stamp_vote *vote = &watch->votes[i];
		if (stamp_variants[i].format == STAMP_ERSPAN3 && vote->proven)
			text_add(&text, "the times of ERSPAN III do not keep step with the capture's clock: not used "
					"unless named "
					"(--stamps erspan3)");
		else if (vote->disproven && enough(vote->disproven, eligible(watch, i)))
			text_add(&text,
				"what looks like %s does not pass its own check: the capture's own times are used",
				stamp_format_words(stamp_variants[i].format));
	}
}

static int by_name(const struct stamp_watch *watch, enum stamp_format named, const char *file,
	struct stamp_verdict *verdict, struct tare_err *err)
{
	size_t best = VARIANTS;
	uint64_t most = 0;
	for (size_t i = 0; i < VARIANTS; i++) {
		const struct stamp_vote *vote = &watch->votes[i];
		/* of the ways in which the format may lie in a frame, the one that most frames have */
		uint64_t weight = vote->proven * 2 + vote->shaped;
		if (stamp_is_meant(named, stamp_variants[i].format) && weight > most) {
			most = weight;
			best = i;
		}
	}
	if (named == STAMP_TICKS && !watch->keyframes.count)
		return tare_fail(err, TARE_E_FORMAT, "'%s': tick stamps, no keyframe in this file: undecodable", file);
	if (best == VARIANTS)
		return tare_fail(err, TARE_E_FORMAT, "'%s': no frame carries %s", file, stamp_format_words(named));
	int64_t second = 0;
	agreeing(&watch->votes[best], false, &second);
	if (anchored(watch, stamp_variants[best].format))
		second = watch->markers.offset_seconds;
	verdict->named = true;
	fill(watch, best, second, verdict);
	return 0;
}

/*
 * The table is ordered by strength: a weaker format never displaces one that passed. But MetaWatch and HPT both
 * begin with the original check sequence, so that bytes of one may pass for the other: the nearer time is meant.
 */
static bool displaces(const struct stamp_verdict *verdict, enum stamp_format format, int64_t second)
{
	if (verdict->format == format)
		return true;
	uint64_t had = (uint64_t)(verdict->offset_seconds < 0 ? -verdict->offset_seconds : verdict->offset_seconds);
	uint64_t has = (uint64_t)(second < 0 ? -second : second);
	return verdict->format == STAMP_METAWATCH && format == STAMP_HPT && has < had;
}

int stamp_watch_verdict(
	struct stamp_watch *watch, const char *file, struct stamp_verdict *ret_verdict, struct tare_err *err)
{
	enum stamp_format named = watch->named;
	struct stamp_verdict verdict = {.frames = watch->frames, .keyframes = watch->keyframes.count};
	if (markers_settle(&watch->markers, err))
		return -1;
	if (named != STAMP_FORMAT_COUNT && named != STAMP_NONE) {
		if (by_name(watch, named, file, &verdict, err))
			return -1;
	} else if (named == STAMP_FORMAT_COUNT) {
		uint64_t most = 0;
		for (size_t i = 0; i < VARIANTS; i++) {
			int64_t second = 0;
			const struct stamp_vote *vote = &watch->votes[i];
			if (only_by_name(stamp_variants[i].format) || vote->proven + vote->shaped < most ||
				!passes(watch, i, &second))
				continue;
			if (verdict.format != STAMP_NONE && !displaces(&verdict, stamp_variants[i].format, second))
				continue;
			if (verdict.format == stamp_variants[i].format && vote->proven + vote->shaped == most)
				continue;
			most = vote->proven + vote->shaped;
			fill(watch, i, second, &verdict);
		}
		if (verdict.format == STAMP_NONE)
			say_undecodable(watch, &verdict);
	}
	*ret_verdict = verdict;
	return 0;
}
