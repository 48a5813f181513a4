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

enum { MIN_FRAME_BYTES = 60, FCS_BYTES = 4 };

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
_Static_assert(sizeof(stamp_variants) / sizeof(*stamp_variants) == VARIANTS, "one vote for each");

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
	markers_end(&watch->markers);
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

/* Where markers serve, a time of 32 bits hangs on them, and is none where they are too far. */
static enum stamp_finding erspan3(
	const struct stamp_watch *watch, const struct stamp_place *place, struct stamp *ret_stamp)
{
	uint32_t low;
	int64_t granule_ps;
	enum stamp_finding finding = stamp_erspan3(place, ret_stamp);
	if (finding == STAMP_ABSENT || !watch->markers.usable || !stamp_erspan3_short(place, &low, &granule_ps) ||
		!markers_serve(&watch->markers, granule_ps))
		return finding;
	if (!markers_time(&watch->markers, low, granule_ps, place->frame->time, &ret_stamp->time))
		ret_stamp->time.seconds = INT64_MIN;
	ret_stamp->scale = watch->markers.at[0].utc_offset ? STAMP_SCALE_TAI : STAMP_SCALE_UTC;
	return finding;
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
		return erspan3(watch, &place, ret_stamp);
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

/* stamp - capture, to the nearest second. */
static int64_t distance(const struct capture_frame *frame, const struct stamp *stamp)
{
	int64_t seconds;
	if (__builtin_sub_overflow(stamp->time.seconds, frame->time.seconds, &seconds))
		return INT64_MAX;
	int64_t rest = stamp->time.picoseconds - frame->time.picoseconds;
	return seconds + (rest >= PS_PER_SECOND / 2 ? 1 : rest < -PS_PER_SECOND / 2 ? -1 : 0);
}

static void count_distance(struct stamp_vote *vote, int64_t second)
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

/* Whether ERSPAN III headers have times that need markers, and in which steps the first of them counts. */
static void note_short(struct stamp_watch *watch, const struct stamp_variant *variant,
	const struct capture_frame *frame, const struct layers *layers)
{
	uint32_t low;
	const struct stamp_place place = {.frame = frame, .layers = layers};
	if (variant->format == STAMP_ERSPAN3 && !watch->short_times)
		watch->short_times = stamp_erspan3_short(&place, &low, &watch->granule_ps);
}

int stamp_watch_add(
	struct stamp_watch *watch, const struct capture_frame *frame, const struct layers *layers, struct tare_err *err)
{
	struct tick_keyframe keyframe;
	struct marker marker;
	uint32_t end = frame->captured < frame->length ? frame->captured : frame->length;
	bool tagged = layers->avsp_at || layers->ttag_at || layers->gigamon_at || layers->erspan_at;
	bool longer = frame->flags & CAPTURE_LONGER;
	bool may_trail = layers->net_end && !(frame->flags & CAPTURE_CUT);
	watch->frames++;
	if (marker_read(frame, layers, &marker))
		return markers_add(&watch->markers, &marker, err);
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
		struct stamp_vote *vote = &watch->votes[i];
		struct stamp stamp = {.time = {INT64_MIN, 0}};
		bool trailer = stamp_is_trailer(stamp_variants[i].format);
		if (watch->named != STAMP_FORMAT_COUNT && !stamp_is_meant(watch->named, stamp_variants[i].format))
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
		note_short(watch, &stamp_variants[i], frame, layers);
		if (vote->proven + vote->shaped + vote->disproven == 1)
			vote->device = stamp.device;
		vote->several_devices = vote->several_devices || vote->device != stamp.device;
		if ((finding == STAMP_SHAPED || finding == STAMP_PROVEN) && stamp.time.seconds != INT64_MIN &&
			has_clock(frame))
			count_distance(vote, distance(frame, &stamp));
	}
	return 0;
}

bool stamp_read(const struct stamp_watch *watch, const struct stamp_verdict *verdict, const struct capture_frame *frame,
	const struct layers *layers, struct stamp *ret_stamp)
{
	const struct stamp_variant *variant = &stamp_variants[verdict->variant];
	struct stamp stamp = {.time = {INT64_MIN, 0}};
	bool trailer = stamp_is_trailer(variant->format);
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

bool stamp_is_reference(const struct capture_frame *frame, const struct layers *layers)
{
	struct tick_keyframe keyframe;
	struct marker marker;
	return marker_read(frame, layers, &marker) || tick_keyframe_read(frame, layers, &keyframe);
}
