/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The vote over a file. Every way in which a format may lie in a frame is a
 * candidate; a frame with nothing behind its packet and no tag costs one
 * comparison, so that plain captures are read at full speed. Distances to the
 * capture's clock are counted in whole seconds: that tells a clock which is wrong
 * by 558 s (constant) from bytes that are no times (scattered).
 */
#include "import/capture/stamp.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "import/capture/stamp_private.h"
#include "wire/bytes.h"

enum { PER_CENT_NEEDED = 95, FRAMES_NEEDED = 20, SECONDS_KEPT = 32, MIN_FRAME_BYTES = 60, FCS_BYTES = 4 };

const struct stamp_variant stamp_variants[] = {
	{STAMP_EXPCAP, 0, 0},
	{STAMP_METAWATCH, 0, 0},
	{STAMP_METAWATCH, 4, 0},
	{STAMP_HPT, 0, 0},
	{STAMP_HPT, 4, 0},
	{STAMP_AVSP, 0, 0},
	{STAMP_IXIA, 0, 0},
	{STAMP_IXIA, 4, 0},
	{STAMP_GIGAMON, 0, 0},
	{STAMP_GIGAMON, 4, 0},
	{STAMP_TICKS, 0, 0},
	{STAMP_TICKS, 4, 0},
	{STAMP_TTAG, 0, 0},
	{STAMP_ERSPAN3, 0, 0},
	{STAMP_LDA_LE, 0, 0},
	{STAMP_LDA_LE, 4, 0},
	{STAMP_LDA_BE, 0, 0},
	{STAMP_LDA_BE, 4, 0},
	{STAMP_VSS, 0, 0},
	{STAMP_VSS, 0, 1},
	{STAMP_VSS, 0, 2},
	{STAMP_VSS, 4, 0},
	{STAMP_VSS, 4, 1},
	{STAMP_VSS, 4, 2},
	/* only by name: nothing in them tells them from other bytes */
	{STAMP_CPACKET, 0, 0},
	{STAMP_CPACKET, 4, 0},
	{STAMP_AVSP_MAC, 0, 0},
	{STAMP_TTAG_TRAILER, 0, 0},
	{STAMP_TTAG_TRAILER, 4, 0},
	{STAMP_BRCM, 0, 0},
	{STAMP_BRCM, 4, 0},
};
enum { VARIANTS = sizeof(stamp_variants) / sizeof(*stamp_variants) };

struct vote {
	uint64_t eligible, unbounded, shaped, proven, disproven; /* unbounded: where the packet ends is not known */
	uint64_t timed;                                          /* whose distance was counted */
	int64_t second[SECONDS_KEPT];
	uint64_t count[SECONDS_KEPT];
	unsigned seconds;
	uint32_t device;
	bool several_devices;
};

struct stamp_watch {
	struct vote votes[VARIANTS];
	enum stamp_format named;
	struct tick_keyframes keyframes;
	uint64_t frames, plain;
};

size_t stamp_variant_count(void)
{
	return VARIANTS;
}

static const struct {
	const char *name, *words;
	int first_bit;
} formats[] = {
#define X(id, name, words, first_bit) {name, words, first_bit},
	STAMP_FORMATS(X)
#undef X
};

const char *stamp_format_name(enum stamp_format format)
{
	return format < STAMP_FORMAT_COUNT ? formats[format].name : "unknown";
}

const char *stamp_format_words(enum stamp_format format)
{
	return format < STAMP_FORMAT_COUNT ? formats[format].words : "unknown stamps";
}

int stamp_format_first_bit(enum stamp_format format)
{
	return format < STAMP_FORMAT_COUNT ? formats[format].first_bit : -1;
}

const char *const *stamp_format_names(void)
{
	static const char *const names[] = {
#define X(id, name, words, first_bit) name,
		STAMP_FORMATS(X)
#undef X
			NULL};
	return names;
}

bool stamp_format_by_name(const char *name, enum stamp_format *ret_format)
{
	for (int i = 0; i < STAMP_FORMAT_COUNT; i++) {
		if (strcmp(name, formats[i].name) == 0) {
			*ret_format = (enum stamp_format)i;
			return true;
		}
	}
	return false;
}

const char *stamp_scale_name(enum stamp_scale scale)
{
	static const char *const names[] = {"unknown", "UTC", "TAI", "relative"};
	return scale <= STAMP_SCALE_RELATIVE ? names[scale] : "unknown";
}

int stamp_watch_open(enum stamp_format named, struct stamp_watch **ret_watch, struct tare_err *err)
{
	struct stamp_watch *watch = calloc(1, sizeof(*watch));
	if (!watch)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	watch->named = named;
	*ret_watch = watch;
	return 0;
}

void stamp_watch_free(struct stamp_watch *watch)
{
	if (!watch)
		return;
	free(watch->keyframes.at);
	free(watch);
}

/* Where 4 bytes of ticks must end: right behind the packet or its padding, as far as the packet's end is known. */
static enum stamp_finding ticks_shape(const struct stamp_place *place, bool before_fcs)
{
	size_t packet = place->layers->net_end > MIN_FRAME_BYTES ? place->layers->net_end : MIN_FRAME_BYTES;
	size_t whole = place->end + (before_fcs ? FCS_BYTES : 0);
	if (place->layers->net_end ? place->end != packet + 4 : place->end < packet + 4)
		return STAMP_ABSENT;
	return stamp_fcs_valid(place->frame->bytes, whole) == before_fcs ? STAMP_SHAPED : STAMP_ABSENT;
}

static enum stamp_finding ticks(
	const struct stamp_watch *watch, const struct stamp_place *place, bool before_fcs, struct stamp *ret_stamp)
{
	const struct tick_keyframe *keyframe;
	struct stamp stamp = {.scale = STAMP_SCALE_UTC};
	if (ticks_shape(place, before_fcs) == STAMP_ABSENT)
		return STAMP_ABSENT;
	uint32_t field = get_u32(place->frame->bytes + place->end - 4);
	if (!tick_time(&watch->keyframes, field, place->frame->time, &stamp.time, &keyframe))
		return STAMP_SHAPED;
	stamp.device = keyframe->device;
	*ret_stamp = stamp;
	return STAMP_PROVEN;
}

static enum stamp_finding find(const struct stamp_watch *watch, const struct stamp_variant *variant,
	const struct capture_frame *frame, const struct layers *layers, struct stamp *ret_stamp)
{
	size_t end = frame->captured < frame->length ? frame->captured : frame->length;
	if (end < variant->fcs_bytes)
		return STAMP_ABSENT;
	struct stamp_place place = {.frame = frame, .layers = layers, .end = end - variant->fcs_bytes};
	switch (variant->format) {
	case STAMP_EXPCAP:
		return stamp_expcap(&place, ret_stamp);
	case STAMP_METAWATCH:
		return stamp_metawatch(&place, false, ret_stamp);
	case STAMP_CPACKET:
		return stamp_metawatch(&place, true, ret_stamp);
	case STAMP_HPT:
		return stamp_hpt(&place, ret_stamp);
	case STAMP_AVSP:
		return stamp_avsp(&place, ret_stamp);
	case STAMP_AVSP_MAC:
		return stamp_avsp_mac(&place, ret_stamp);
	case STAMP_IXIA:
		return stamp_ixia(&place, ret_stamp);
	case STAMP_GIGAMON:
		return stamp_gigamon(&place, ret_stamp);
	case STAMP_TICKS:
		return ticks(watch, &place, variant->fcs_bytes != 0, ret_stamp);
	case STAMP_TTAG:
		return stamp_ttag(&place, ret_stamp);
	case STAMP_TTAG_TRAILER:
		return stamp_ttag_trailer(&place, ret_stamp);
	case STAMP_BRCM:
		return stamp_brcm(&place, ret_stamp);
	case STAMP_ERSPAN3:
		return stamp_erspan3(&place, ret_stamp);
	case STAMP_VSS:
		/* the only check there is: the tap writes a new check sequence */
		if (variant->fcs_bytes && !stamp_fcs_valid(frame->bytes, end))
			return STAMP_ABSENT;
		return stamp_vss(&place, variant->port_bytes, ret_stamp);
	case STAMP_LDA_LE:
	case STAMP_LDA_BE:
		if (variant->fcs_bytes && !stamp_fcs_valid(frame->bytes, end))
			return STAMP_ABSENT;
		return stamp_lda(&place, variant->format == STAMP_LDA_BE, ret_stamp);
	case STAMP_LDA: /* one of the two above */
	case STAMP_NONE:
	case STAMP_FORMAT_COUNT:
		break;
	}
	return STAMP_ABSENT;
}

/* Ticks are also looked for behind what is no IP, but not behind what switches send themselves (LLDP, STP). */
static bool may_tick(const struct capture_frame *frame, const struct layers *layers)
{
	static const uint8_t link_local[] = {0x01, 0x80, 0xc2};
	return frame->link == LINK_ETHERNET && !(frame->flags & CAPTURE_CUT) &&
	       frame->captured >= MIN_FRAME_BYTES + 4 &&
	       (layers->net_end || memcmp(frame->bytes, link_local, sizeof(link_local)) != 0);
}

static bool is_trailer(enum stamp_format format)
{
	return format != STAMP_AVSP && format != STAMP_TTAG && format != STAMP_ERSPAN3 && format != STAMP_AVSP_MAC &&
	       format != STAMP_EXPCAP;
}

/* stamp - capture, to the nearest second. */
static int64_t distance(const struct capture_frame *frame, const struct stamp *stamp)
{
	int64_t seconds;
	if (__builtin_sub_overflow(stamp->time.seconds, frame->time.seconds, &seconds))
		return INT64_MAX;
	int64_t rest = stamp->time.picoseconds - frame->time.picoseconds;
	return seconds + (rest >= PS_PER_SECOND / 2 ? 1 : rest < -PS_PER_SECOND / 2 ? -1 : 0);
}

static void count_distance(struct vote *vote, int64_t second)
{
	vote->timed++;
	for (unsigned i = 0; i < vote->seconds; i++) {
		if (vote->second[i] == second) {
			vote->count[i]++;
			return;
		}
	}
	if (vote->seconds < SECONDS_KEPT) {
		vote->second[vote->seconds] = second;
		vote->count[vote->seconds++] = 1;
	}
}

static bool has_clock(const struct capture_frame *frame)
{
	return !(frame->flags & (CAPTURE_NO_TIME | CAPTURE_BAD_FRACTION));
}

/* What a name stands for. */
static bool is_meant(enum stamp_format named, enum stamp_format format)
{
	return named == format || (named == STAMP_LDA && (format == STAMP_LDA_LE || format == STAMP_LDA_BE));
}

int stamp_watch_add(
	struct stamp_watch *watch, const struct capture_frame *frame, const struct layers *layers, struct tare_err *err)
{
	struct tick_keyframe keyframe;
	uint32_t end = frame->captured < frame->length ? frame->captured : frame->length;
	bool tagged = layers->avsp_at || layers->ttag_at || layers->gigamon_at || layers->erspan_at;
	bool longer = frame->flags & CAPTURE_LONGER;
	bool may_trail = layers->net_end && !(frame->flags & CAPTURE_CUT);
	watch->frames++;
	bool nothing = may_trail ? layers->net_end == end || end <= MIN_FRAME_BYTES : !may_tick(frame, layers);
	if (watch->named == STAMP_AVSP_MAC)
		nothing = false; /* nothing tells such a frame from others */
	if (nothing && !tagged && !longer && layers->protocol != PROTOCOL_KEYFRAME) {
		watch->plain += may_trail;
		return 0;
	}
	if (tick_keyframe_read(frame, layers, &keyframe))
		return tick_keyframes_add(&watch->keyframes, &keyframe, err);
	for (size_t i = 0; i < VARIANTS; i++) {
		struct vote *vote = &watch->votes[i];
		struct stamp stamp = {.time = {INT64_MIN, 0}};
		bool trailer = is_trailer(stamp_variants[i].format);
		if (watch->named != STAMP_FORMAT_COUNT && !is_meant(watch->named, stamp_variants[i].format))
			continue;
		if (stamp_variants[i].format == STAMP_TICKS ? !may_tick(frame, layers)
							    : trailer && !may_trail && !layers->gigamon_at)
			continue;
		vote->unbounded += trailer && !layers->net_end;
		enum stamp_finding finding = find(watch, &stamp_variants[i], frame, layers, &stamp);
		vote->eligible += trailer || finding != STAMP_ABSENT;
		vote->shaped += finding == STAMP_SHAPED;
		vote->proven += finding == STAMP_PROVEN;
		vote->disproven += finding == STAMP_DISPROVEN;
		if (finding == STAMP_ABSENT)
			continue;
		if (vote->proven + vote->shaped + vote->disproven == 1)
			vote->device = stamp.device;
		vote->several_devices = vote->several_devices || vote->device != stamp.device;
		if ((finding == STAMP_SHAPED || finding == STAMP_PROVEN) && stamp.time.seconds != INT64_MIN &&
			has_clock(frame))
			count_distance(vote, distance(frame, &stamp));
	}
	return 0;
}

/* The most frequent distance and how many frames keep to it within a second. */
static uint64_t agreeing(const struct vote *vote, bool may_jump, int64_t *ret_second)
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
	bool trailer = is_trailer(stamp_variants[i].format);
	return watch->votes[i].eligible + (trailer && !watch->votes[i].eligible ? 0 : trailer ? watch->plain : 0);
}

static bool passes(const struct stamp_watch *watch, size_t i, int64_t *ret_second)
{
	const struct vote *vote = &watch->votes[i];
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

static void fill(const struct stamp_watch *watch, size_t i, int64_t second, struct stamp_verdict *verdict)
{
	const struct vote *vote = &watch->votes[i];
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
	if (other_order_fits(watch, verdict->format))
		text_add(&text, "; the other order of bytes fits as well (--stamps lda-le or lda-be)");
}

static void say_undecodable(const struct stamp_watch *watch, struct stamp_verdict *verdict)
{
	struct text text = TEXT_IN(verdict->words);
	for (size_t i = 0; i < VARIANTS; i++) {
		const struct vote *vote = &watch->votes[i];
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
		const struct vote *vote = &watch->votes[i];
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
		const struct vote *vote = &watch->votes[i];
		/* of the ways in which the format may lie in a frame, the one that most frames have */
		uint64_t weight = vote->proven * 2 + vote->shaped;
		if (is_meant(named, stamp_variants[i].format) && weight > most) {
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
	if (named != STAMP_FORMAT_COUNT && named != STAMP_NONE) {
		if (by_name(watch, named, file, &verdict, err))
			return -1;
	} else if (named == STAMP_FORMAT_COUNT) {
		uint64_t most = 0;
		for (size_t i = 0; i < VARIANTS; i++) {
			int64_t second = 0;
			const struct vote *vote = &watch->votes[i];
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

bool stamp_read(const struct stamp_watch *watch, const struct stamp_verdict *verdict, const struct capture_frame *frame,
	const struct layers *layers, struct stamp *ret_stamp)
{
	const struct stamp_variant *variant = &stamp_variants[verdict->variant];
	struct stamp stamp = {.time = {INT64_MIN, 0}};
	bool trailer = is_trailer(variant->format);
	struct tick_keyframe keyframe;
	if (verdict->format == STAMP_NONE)
		return false;
	bool ticks_wanted = verdict->format == STAMP_TICKS;
	if (ticks_wanted ? !may_tick(frame, layers) || tick_keyframe_read(frame, layers, &keyframe)
			 : trailer && !layers->gigamon_at && (!layers->net_end || frame->flags & CAPTURE_CUT))
		return false;
	enum stamp_finding finding = find(watch, variant, frame, layers, &stamp);
	if (finding == STAMP_ABSENT || stamp.time.seconds == INT64_MIN ||
		(finding == STAMP_DISPROVEN && !verdict->named))
		return false;
	if (finding == STAMP_DISPROVEN)
		stamp.flags |= STAMP_BAD_FCS;
	struct stamp_place place = {.frame = frame, .layers = layers};
	if (verdict->format == STAMP_AVSP && stamp_avsp_may_jump(&place) && has_clock(frame)) {
		int64_t apart = distance(frame, &stamp) - verdict->offset_seconds;
		if (apart >= 3 && apart <= 5) {
			stamp.time.seconds -= 4;
			stamp.flags |= STAMP_REPAIRED;
		}
	}
	*ret_stamp = stamp;
	return true;
}
