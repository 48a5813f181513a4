/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The two readings. What the first one learnt is kept, its frames are not. */
#include "import/capture/feed.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/divisor.h"

enum { PAIRS = 65536 };
enum { FRAGMENT_DEPTH = 3 }; /* fragments inside of fragments: tunnels */
enum { DEVICES = 128, PORTS = 64, ORDERS = 2, SPEEDS = 4, NUMBER_HALF = 0x8000, NUMBER_LAST = 0xffff };
enum { TICK_STEP_PS = 2858, ENOUGH_FRAMES = 20 }; /* 20/7 ns; few frames have large divisors by chance */

/* Numbers that ports give to their frames, in either order of bytes: the right one goes up by one most often. */
struct numbering {
	bool known;
	uint16_t last;
};
struct numbers {
	struct numbering port[DEVICES][PORTS];
	uint64_t missing[ORDERS], next[ORDERS];
};

struct feed {
	struct input *input;
	const char *name;
	struct feed_rules rules;
	struct capture_file *file;
	struct survey survey;
	struct census *census;
	struct stamp_watch *watch;
	struct stamp_verdict verdict;
	struct feed_seen seen;
	struct fragments *fragments;
	struct numbers *numbers; /* made for the first stamp that has one */
	uint64_t *later; /* bits of pairs of ends with fragments other than first ones; made for the first of these */
};

/* 1: `layers` are now those of a datagram that its frame made whole. 0: not yet. */
static int join(struct feed *feed, struct fragment *fragment, struct joined *ret_joined, struct tare_err *err)
{
	int found = 0;
	for (int depth = 0; depth < FRAGMENT_DEPTH; depth++) {
		found = fragments_add(feed->fragments, fragment, ret_joined, err);
		if (found <= 0 || !(ret_joined->layers.has & LAYERS_ANY_FRAGMENT))
			return found;
		fragment->layers = &ret_joined->layers;
		fragment->number = ret_joined->number;
		fragment->first = ret_joined->first;
		fragment->last = ret_joined->last;
		fragment->timed = ret_joined->timed;
	}
	return 0;
}

static bool has_clock(const struct capture_frame *frame)
{
	return !(frame->flags & (CAPTURE_NO_TIME | CAPTURE_BAD_FRACTION));
}

/* Two pairs that share a bit are taken for one: then first fragments wait for others in vain, and are counted. */
static size_t pair_of(const struct feed *feed, const struct layers *layers)
{
	struct hash hash = hash_begin(feed->rules.seed);
	hash_bytes(&hash, layers->source, service_address_bytes(layers->version));
	hash_bytes(&hash, layers->target, service_address_bytes(layers->version));
	return hash.place % PAIRS;
}

static int note_later(struct feed *feed, const struct layers *layers, struct tare_err *err)
{
	if (!feed->later)
		feed->later = calloc(PAIRS / 64, sizeof(*feed->later));
	if (!feed->later)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	size_t pair = pair_of(feed, layers);
	feed->later[pair / 64] |= UINT64_C(1) << (pair % 64);
	return 0;
}

/* A first fragment between two ends of which the file has no other. */
static bool stands_alone(const struct feed *feed, const struct layers *layers)
{
	size_t pair = pair_of(feed, layers);
	return layers->has & LAYERS_FIRST_FRAGMENT && (!feed->later || !(feed->later[pair / 64] >> (pair % 64) & 1));
}

/* In a first reading: who is in tunnels whose packets were cut into fragments. The others show in their first one. */
static int count_joined(
	struct feed *feed, const struct capture_frame *frame, const struct layers *layers, struct tare_err *err)
{
	struct joined joined;
	struct fragment fragment = {
		.layers = layers, .number = frame->number, .clock = frame->time, .has_clock = has_clock(frame)};
	if (layers->has & LAYERS_FRAGMENT && note_later(feed, layers, err))
		return -1;
	int found = join(feed, &fragment, &joined, err);
	if (found > 0 && joined.layers.has & LAYERS_TUNNEL)
		census_add(feed->census, &joined.layers);
	return found < 0 ? -1 : 0;
}

static int first_reading(struct feed *feed, struct tare_err *err)
{
	struct capture_frame frame;
	struct layers layers;
	int found;
	if (capture_file_open(feed->input, feed->name, feed->rules.lenient, &feed->file, err))
		return -1;
	survey_begin(&feed->survey, feed->rules.now_seconds);
	while ((found = capture_file_next(feed->file, &frame, err)) > 0) {
		layers_of(&frame, &layers);
		survey_add(&feed->survey, &frame);
		census_add(feed->census, &layers);
		if (layers.has & LAYERS_ANY_FRAGMENT && count_joined(feed, &frame, &layers, err))
			return -1;
		if (feed->rules.stamps != STAMP_NONE && stamp_watch_add(feed->watch, &frame, &layers, err))
			return -1;
	}
	return found;
}

static void auto_feed_end(struct feed *const *feed)
{
	feed_free(*feed);
}

int feed_open(struct input *input, const char *name, const struct feed_rules *rules, struct feed **ret_feed,
	struct tare_err *err)
{
	AUTO_CLEANUP(auto_feed_end) struct feed *feed = calloc(1, sizeof(*feed));
	if (!feed)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	feed->input = input;
	feed->name = name;
	feed->rules = *rules;
	if (census_open(rules->seed, &feed->census, err) || fragments_open(rules->seed, &feed->fragments, err) ||
		stamp_watch_open(rules->stamps, &feed->watch, err) || first_reading(feed, err) ||
		stamp_watch_verdict(feed->watch, name, &feed->verdict, err))
		return -1;
	capture_file_free(take_ptr(feed->file));
	fragments_free(take_ptr(feed->fragments));
	if (fragments_open(rules->seed, &feed->fragments, err))
		return -1;
	if (input_rewind(input, err) || capture_file_open(input, name, rules->lenient, &feed->file, err))
		return -1;
	*ret_feed = take_ptr(feed);
	return 0;
}

void feed_free(struct feed *feed)
{
	if (!feed)
		return;
	capture_file_free(feed->file);
	census_free(feed->census);
	fragments_free(feed->fragments);
	free(feed->numbers);
	free(feed->later);
	stamp_watch_free(feed->watch);
	free(feed);
}

static int see_number(struct feed *feed, const struct stamp *stamp, struct tare_err *err)
{
	if (!feed->numbers)
		feed->numbers = calloc(1, sizeof(*feed->numbers));
	if (!feed->numbers)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	struct numbers *numbers = feed->numbers;
	struct numbering *port = &numbers->port[stamp->device % DEVICES][stamp->port % PORTS];
	for (int order = 0; order < ORDERS && port->known; order++) {
		uint16_t now = order ? __builtin_bswap16(stamp->sequence) : stamp->sequence;
		uint16_t last = order ? __builtin_bswap16(port->last) : port->last;
		uint16_t step = (uint16_t)(now - last);
		bool reset = now == 0 && last != NUMBER_LAST; /* the device started anew */
		numbers->next[order] += step == 1;
		if (step && step < NUMBER_HALF && !reset)
			numbers->missing[order] += step - 1u;
	}
	*port = (struct numbering){true, stamp->sequence};
	feed->seen.missing = numbers->missing[numbers->next[1] > numbers->next[0]];
	return 0;
}

static void see_speed(struct feed_seen *seen, uint32_t speed)
{
	for (int i = 0; i < SPEEDS && seen->speeds[i] != speed; i++) {
		if (!seen->speeds[i]) {
			seen->speeds[i] = speed;
			return;
		}
	}
}

static void see_stamp(struct feed *feed, const struct stamp *stamp)
{
	struct feed_seen *seen = &feed->seen;
	int64_t ps = stamp->time.picoseconds;
	if (seen->stamp_step_ps == 0 || ps % seen->stamp_step_ps)
		seen->stamp_step_ps = (int64_t)common_divisor(
			(uint64_t)(ps ? ps : PS_PER_SECOND), (uint64_t)seen->stamp_step_ps);
	seen->degraded += (stamp->flags & STAMP_DEGRADED) != 0;
	seen->holdover += (stamp->flags & STAMP_HOLDOVER) != 0;
	seen->local += (stamp->flags & STAMP_LOCAL) != 0;
	seen->duplicates += (stamp->flags & STAMP_DUPLICATE) != 0;
	seen->bad_fcs += (stamp->flags & STAMP_BAD_FCS) != 0;
	seen->repaired += (stamp->flags & STAMP_REPAIRED) != 0;
	seen->lost += stamp->lost;
	seen->scales |= UINT32_C(1) << stamp->scale;
	if (stamp->speed)
		see_speed(seen, stamp->speed);
}

/* 1, or 0: passed over. -1. */
static int take_stamp(struct feed *feed, struct feed_packet *packet, struct tare_err *err)
{
	if (!packet->has_stamp) {
		feed->seen.without_stamp += !stamp_is_reference(&packet->frame, &packet->layers);
		packet->timed = false;
		return 1;
	}
	see_stamp(feed, &packet->stamp);
	if (packet->stamp.numbered && see_number(feed, &packet->stamp, err))
		return -1;
	packet->time = packet->stamp.time;
	/* a clock that cannot be trusted gives no time */
	packet->timed = !(packet->stamp.flags & STAMP_DEGRADED);
	return !(packet->stamp.flags & STAMP_DUPLICATE);
}

/* A fragment: 1 when the packet is now what a reader should see, 0 to go on. */
static int put_together(struct feed *feed, struct feed_packet *packet, struct tare_err *err)
{
	struct joined joined;
	struct fragment fragment = {.layers = &packet->layers,
		.number = packet->frame.number,
		.clock = packet->frame.time,
		.first = packet->time,
		.last = packet->time,
		.has_clock = has_clock(&packet->frame),
		.timed = packet->timed};
	if (feed->rules.single_fragments)
		return 1;
	if (stands_alone(feed, &packet->layers)) {
		feed->seen.alone++;
		return 1;
	}
	int found = join(feed, &fragment, &joined, err);
	if (found <= 0)
		return found;
	packet->layers = joined.layers;
	packet->frame.number = joined.number;
	packet->time = joined.first;
	packet->last = joined.last;
	packet->timed = joined.timed;
	return 1;
}

int feed_next_frame(struct feed *feed, struct feed_packet *ret_packet, struct tare_err *err)
{
	int found = capture_file_next(feed->file, &ret_packet->frame, err);
	if (found <= 0)
		return found;
	layers_of(&ret_packet->frame, &ret_packet->layers);
	ret_packet->timed = has_clock(&ret_packet->frame) && survey_trusts(&feed->survey, ret_packet->frame.time);
	ret_packet->time = ret_packet->frame.time;
	ret_packet->has_stamp =
		feed->verdict.format != STAMP_NONE &&
		stamp_read(feed->watch, &feed->verdict, &ret_packet->frame, &ret_packet->layers, &ret_packet->stamp);
	return 1;
}

int feed_next(struct feed *feed, struct feed_packet *ret_packet, struct tare_err *err)
{
	int found;
	while ((found = feed_next_frame(feed, ret_packet, err)) > 0) {
		int taken = feed->verdict.format == STAMP_NONE ? 1 : take_stamp(feed, ret_packet, err);
		if (taken < 0)
			return -1;
		if (!taken)
			continue;
		if (!(ret_packet->layers.has & LAYERS_ANY_FRAGMENT))
			break;
		int whole = put_together(feed, ret_packet, err);
		if (whole < 0)
			return -1;
		if (whole)
			break;
	}
	if (found == 0)
		fragments_finish(feed->fragments);
	return found;
}

const struct survey *feed_survey(const struct feed *feed)
{
	return &feed->survey;
}

const struct census *feed_census(const struct feed *feed)
{
	return feed->census;
}

const struct stamp_verdict *feed_verdict(const struct feed *feed)
{
	return &feed->verdict;
}

const struct feed_seen *feed_seen(const struct feed *feed)
{
	return &feed->seen;
}

const struct fragments_counts *feed_fragments(const struct feed *feed)
{
	return fragments_counts(feed->fragments);
}

const struct capture_about *feed_about(const struct feed *feed)
{
	return capture_file_about(feed->file);
}

size_t feed_interfaces(const struct feed *feed, const struct capture_interface **ret_interfaces)
{
	return capture_file_interfaces(feed->file, ret_interfaces);
}

static int64_t claimed_step_ps(const struct feed *feed)
{
	const struct capture_interface *interfaces;
	size_t count = capture_file_interfaces(feed->file, &interfaces);
	int64_t finest = PS_PER_SECOND;
	for (size_t i = 0; i < count; i++) {
		int64_t step = capture_interface_step_ps(&interfaces[i]);
		if (interfaces[i].known_resolution && step < finest)
			finest = step;
	}
	return finest;
}

int64_t feed_step_ps(const struct feed *feed)
{
	bool own = feed->verdict.format == STAMP_NONE;
	int64_t step = own ? feed->survey.step_ps : feed->seen.stamp_step_ps;
	if (feed->verdict.format == STAMP_TICKS)
		return TICK_STEP_PS;
	if (own && feed->survey.timed < ENOUGH_FRAMES)
		step = claimed_step_ps(feed);
	return step > 0 ? step : 1;
}
