/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A table of eight datagrams to a bucket, seeded, so that no capture can be written
 * whose datagrams all share one. Each has a bit for every 8 bytes: fragments begin at
 * multiples of 8, and all but the last are as long. The bytes of a datagram that
 * became whole are taken out of the table, since what lies in a tunnel may be a
 * fragment again and refer to them.
 */
#include "import/capture/fragments.h"

#include <stdlib.h>
#include <string.h>

#include "import/capture/hash.h"

enum { BUCKETS = 128, WAYS = 8, DATAGRAM_MAX = 65535, UNIT = 8, UNITS = 8192, ROOM_LEAST = 2048 };
static const size_t BYTES_MAX = 16 << 20;
static const int64_t AGE_MAX_PS = INT64_C(1000000000000), COPY_PS = INT64_C(10000000000);

enum state { STATE_FREE, STATE_OPEN, STATE_WHOLE };

struct datagram {
	struct hash key;
	enum state state;
	bool copy, timed, has_clock; /* copy: of one that was whole already */
	uint8_t *bytes;
	uint32_t room, have, total; /* total 0: the last fragment was not seen */
	uint32_t beyond;            /* end of the fragment that reaches farthest */
	uint32_t cut_at;            /* from here on something was not captured */
	uint64_t number, pieces;
	struct capture_time clock, first, last;
	struct layers layers; /* of the first fragment, once it is there */
	uint8_t source[16], target[16];
	uint64_t unit[UNITS / 64];
};

struct fragments {
	uint64_t seed;
	struct datagram *table; /* made for the first fragment */
	size_t held;            /* bytes in the table */
	uint8_t *output;        /* of the datagram last handed out */
	struct fragments_counts counts;
};

int fragments_open(uint64_t seed, struct fragments **ret_fragments, struct tare_err *err)
{
	struct fragments *fragments = calloc(1, sizeof(*fragments));
	if (!fragments)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	fragments->seed = seed;
	*ret_fragments = fragments;
	return 0;
}

void fragments_free(struct fragments *fragments)
{
	if (!fragments)
		return;
	for (size_t i = 0; fragments->table && i < (size_t)BUCKETS * WAYS; i++)
		free(fragments->table[i].bytes);
	free(fragments->table);
	free(fragments->output);
	free(fragments);
}

const struct fragments_counts *fragments_counts(const struct fragments *fragments)
{
	return &fragments->counts;
}

/* Leaves the table; what was not whole is counted. */
static void give_up(struct fragments *fragments, struct datagram *datagram)
{
	struct fragments_counts *counts = &fragments->counts;
	if (datagram->state == STATE_OPEN && datagram->copy) {
		counts->copies += datagram->pieces;
	} else if (datagram->state == STATE_OPEN) {
		if (counts->incomplete < FRAGMENTS_NUMBERS)
			counts->incomplete_first[counts->incomplete] = datagram->number;
		counts->incomplete++;
	}
	fragments->held -= datagram->room;
	free(datagram->bytes);
	datagram->bytes = NULL;
	datagram->room = 0;
	datagram->state = STATE_FREE;
}

static bool within(struct capture_time one, struct capture_time other, int64_t limit_ps)
{
	int64_t ps = capture_time_ps(one, other);
	return ps >= -limit_ps && ps <= limit_ps;
}

static bool is_over(const struct datagram *datagram, const struct fragment *fragment)
{
	if (datagram->state == STATE_FREE || !datagram->has_clock || !fragment->has_clock)
		return false;
	bool brief = datagram->copy || datagram->state == STATE_WHOLE;
	return !within(fragment->clock, datagram->clock, brief ? COPY_PS : AGE_MAX_PS);
}

static void begin(struct datagram *datagram, const struct fragment *fragment, const struct hash *key, bool copy)
{
	const struct layers *layers = fragment->layers;
	size_t bytes = layers->version == 6 ? 16 : 4;
	*datagram = (struct datagram){.key = *key,
		.state = STATE_OPEN,
		.copy = copy,
		.timed = true,
		.has_clock = fragment->has_clock,
		.cut_at = UINT32_MAX,
		.number = fragment->number,
		.clock = fragment->clock,
		.first = fragment->first,
		.last = fragment->last,
		.layers = *layers};
	memcpy(datagram->source, layers->source, bytes);
	memcpy(datagram->target, layers->target, bytes);
}

/* The datagram that a fragment belongs to, begun if need be in the place of the oldest of its bucket. */
static struct datagram *datagram_of(struct fragments *fragments, const struct fragment *fragment)
{
	const struct layers *layers = fragment->layers;
	struct hash key = hash_begin(fragments->seed);
	size_t bytes = layers->version == 6 ? 16 : 4;
	hash_bytes(&key, layers->source, bytes);
	hash_bytes(&key, layers->target, bytes);
	/* IPv4 numbers datagrams per protocol, IPv6 does not */
	hash_word(&key, (uint64_t)layers->fragment.id << 8 | (layers->version == 4 ? layers->fragment.protocol : 0));
	struct datagram *bucket = &fragments->table[key.place % BUCKETS * WAYS], *found = NULL, *room = bucket;
	for (int i = 0; i < WAYS; i++) {
		struct datagram *datagram = &bucket[i];
		if (is_over(datagram, fragment))
			give_up(fragments, datagram);
		if (datagram->state != STATE_FREE && datagram->key.place == key.place &&
			datagram->key.check == key.check)
			found = datagram;
		if (room->state == STATE_FREE)
			continue;
		if (datagram->state == STATE_FREE || datagram->number < room->number)
			room = datagram;
	}
	if (found && found->state == STATE_OPEN)
		return found;
	bool copy = found != NULL;
	found = found ? found : room;
	give_up(fragments, found);
	begin(found, fragment, &key, copy);
	return found;
}

/* How many of the units are there already. */
static uint32_t units_there(const struct datagram *datagram, uint32_t from, uint32_t to)
{
	uint32_t there = 0;
	for (uint32_t i = from; i < to; i++)
		there += datagram->unit[i / 64] >> (i % 64) & 1;
	return there;
}

static int make_room(struct fragments *fragments, struct datagram *datagram, uint32_t needed, struct tare_err *err)
{
	uint32_t room = datagram->room ? datagram->room : ROOM_LEAST;
	while (room < needed)
		room *= 2;
	if (room == datagram->room)
		return 1;
	if (fragments->held - datagram->room + room > BYTES_MAX)
		return 0;
	uint8_t *larger = realloc(datagram->bytes, room);
	if (!larger)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory for the fragments of datagrams");
	fragments->held += room - datagram->room;
	if (fragments->held > fragments->counts.bytes_most)
		fragments->counts.bytes_most = fragments->held;
	datagram->bytes = larger;
	datagram->room = room;
	return 1;
}

/* Whether these bytes are those that are there, as far as either was captured. */
static bool same_bytes(const struct datagram *datagram, const struct layers_fragment *part)
{
	uint32_t captured = part->captured;
	if (part->at + captured > datagram->cut_at)
		captured = datagram->cut_at > part->at ? datagram->cut_at - part->at : 0;
	return captured == 0 || memcmp(datagram->bytes + part->at, part->bytes, captured) == 0;
}

/* 1: taken in. 0: left out and counted. -1. */
static int take(struct fragments *fragments, struct datagram *datagram, const struct layers_fragment *part,
	struct tare_err *err)
{
	struct fragments_counts *counts = &fragments->counts;
	uint32_t end = part->at + part->count, from = part->at / UNIT, to = (end + UNIT - 1) / UNIT;
	uint32_t there = units_there(datagram, from, to);
	bool ends_elsewhere = part->last ? end < datagram->beyond || (datagram->total && end != datagram->total)
					 : datagram->total && end > datagram->total;
	if (there == to - from && !ends_elsewhere && same_bytes(datagram, part)) {
		counts->copies++;
		return 0;
	}
	if (there || ends_elsewhere) {
		counts->overlapping++;
		return 0;
	}
	int roomy = make_room(fragments, datagram, part->at + part->captured, err);
	if (roomy <= 0) {
		counts->no_room += roomy == 0;
		return roomy;
	}
	memcpy(datagram->bytes + part->at, part->bytes, part->captured);
	for (uint32_t i = from; i < to; i++)
		datagram->unit[i / 64] |= UINT64_C(1) << (i % 64);
	datagram->have += part->count;
	if (end > datagram->beyond)
		datagram->beyond = end;
	if (part->last)
		datagram->total = end;
	if (part->captured < part->count && part->at + part->captured < datagram->cut_at)
		datagram->cut_at = part->at + part->captured;
	return 1;
}

static void note_times(struct datagram *datagram, const struct fragment *fragment)
{
	datagram->pieces++;
	datagram->timed = datagram->timed && fragment->timed;
	if (capture_time_before(fragment->first, datagram->first)) {
		datagram->first = fragment->first;
		datagram->number = fragment->number;
	}
	if (capture_time_before(datagram->last, fragment->last))
		datagram->last = fragment->last;
	if (fragment->layers->fragment.at == 0)
		datagram->layers = *fragment->layers;
}

static void hand_out(struct fragments *fragments, struct datagram *datagram, const struct fragment *latest,
	struct joined *ret_joined)
{
	uint32_t captured = datagram->cut_at < datagram->total ? datagram->cut_at : datagram->total;
	free(fragments->output);
	fragments->output = datagram->bytes;
	fragments->held -= datagram->room;
	datagram->bytes = NULL;
	datagram->room = 0;
	datagram->state = STATE_WHOLE;
	datagram->clock = latest->clock; /* copies are looked for from now on */
	*ret_joined = (struct joined){.layers = datagram->layers,
		.number = datagram->number,
		.first = datagram->first,
		.last = datagram->last,
		.timed = datagram->timed};
	ret_joined->layers.source = datagram->source;
	ret_joined->layers.target = datagram->target;
	layers_of_joined(&ret_joined->layers, fragments->output, captured, datagram->total);
	fragments->counts.datagrams += !datagram->copy;
}

static bool is_possible(const struct layers_fragment *part)
{
	return part->count && part->at + part->count <= DATAGRAM_MAX && (part->last || part->count % UNIT == 0);
}

int fragments_add(
	struct fragments *fragments, const struct fragment *fragment, struct joined *ret_joined, struct tare_err *err)
{
	const struct layers_fragment *part = &fragment->layers->fragment;
	if (!is_possible(part)) {
		fragments->counts.impossible++;
		return 0;
	}
	if (!fragments->table) {
		fragments->table = calloc((size_t)BUCKETS * WAYS, sizeof(*fragments->table));
		if (!fragments->table)
			return tare_fail(err, TARE_E_SYSTEM, "out of memory for the fragments of datagrams");
	}
	struct datagram *datagram = datagram_of(fragments, fragment);
	int taken = take(fragments, datagram, part, err);
	if (taken <= 0)
		return taken;
	note_times(datagram, fragment);
	if (!datagram->total || datagram->have != datagram->total)
		return 0;
	hand_out(fragments, datagram, fragment, ret_joined);
	return 1;
}

void fragments_finish(struct fragments *fragments)
{
	for (size_t i = 0; fragments->table && i < (size_t)BUCKETS * WAYS; i++)
		give_up(fragments, &fragments->table[i]);
}
