/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A ring of entries in the order of requests, and an index of open addressing
 * over their keys. An entry leaves the ring at its front only, so that samples
 * come out in order; an answered one stays for the copy window, since a mirror may
 * deliver the copy of a request behind the reply. Entries under one key in
 * in_order mode are chained; the index names the first of the chain.
 */
#include "import/capture/match.h"

#include <errno.h>
#include <stdlib.h>

enum { RING_LEAST = 1024, RING_MOST = 1 << 24, FORGET_TIMEOUTS = 4 };
static const uint64_t NONE = UINT64_MAX;

struct entry {
	struct hash key;
	struct capture_time sent, answered;
	uint64_t request, reply, identity, reply_identity;
	uint64_t next, last; /* in_order: chain of the same key; `last` is kept by its first */
	int64_t took_ns;
	uint32_t mark;
	uint16_t flags;
	uint8_t fate;
	bool indexed, closed; /* closed: has an answer */
};

struct slot {
	uint64_t place, sequence;
};

struct match {
	struct match_rules rules;
	struct entry *ring;
	uint64_t head, tail; /* sequence numbers: head is the oldest, tail the next to be given */
	uint64_t ring_mask;
	struct slot *index;
	uint64_t index_mask, indexed;
	uint64_t finished; /* entries from head on that match_take may have: sequence below this */
	uint64_t highest_answered;
	bool any_answered, finishing;
	struct capture_time now;
	struct match_counts counts;
};

static struct entry *entry_at(const struct match *match, uint64_t sequence)
{
	return &match->ring[sequence & match->ring_mask];
}

static uint64_t home(const struct match *match, uint64_t place)
{
	return (place ^ place >> 32) & match->index_mask;
}

static struct slot *find(const struct match *match, const struct hash *key)
{
	for (uint64_t i = home(match, key->place);; i = (i + 1) & match->index_mask) {
		struct slot *slot = &match->index[i];
		if (slot->sequence == NONE)
			return NULL;
		if (slot->place == key->place && entry_at(match, slot->sequence)->key.check == key->check)
			return slot;
	}
}

static void insert(struct match *match, uint64_t place, uint64_t sequence)
{
	uint64_t i = home(match, place);
	while (match->index[i].sequence != NONE)
		i = (i + 1) & match->index_mask;
	match->index[i] = (struct slot){place, sequence};
	match->indexed++;
}

/* Closes the gap that a removed slot leaves, so that no search ends early and no tombstones pile up. */
static void erase(struct match *match, struct slot *slot)
{
	uint64_t hole = (uint64_t)(slot - match->index), i = hole;
	match->indexed--;
	for (;;) {
		match->index[hole].sequence = NONE;
		uint64_t from;
		do {
			i = (i + 1) & match->index_mask;
			if (match->index[i].sequence == NONE)
				return;
			from = home(match, match->index[i].place);
		} while (hole <= i ? (from > hole && from <= i) : (from > hole || from <= i));
		match->index[hole] = match->index[i];
		hole = i;
	}
}

static void leave_index(struct match *match, uint64_t sequence)
{
	struct entry *entry = entry_at(match, sequence);
	struct slot *slot = entry->indexed ? find(match, &entry->key) : NULL;
	if (!slot || slot->sequence != sequence)
		return;
	entry->indexed = false;
	if (entry->next == NONE) {
		erase(match, slot);
		return;
	}
	struct entry *next = entry_at(match, entry->next);
	next->last = entry->last;
	next->indexed = true;
	slot->sequence = entry->next;
}

static int64_t age_ns(const struct match *match, struct capture_time then)
{
	return capture_time_ns(match->now, then);
}

static bool within(int64_t ns, int64_t limit_ns)
{
	return ns >= -limit_ns && ns <= limit_ns;
}

/* Entries at the front that nothing can change any more. */
static void expire(struct match *match, struct capture_time now)
{
	int64_t forget_ns = match->rules.timeout_ns * FORGET_TIMEOUTS;
	/* a clock set back is followed too, else nothing would ever wait again */
	if (capture_time_before(match->now, now) || age_ns(match, now) > forget_ns)
		match->now = now;
	for (; match->finished < match->tail; match->finished++) {
		struct entry *entry = entry_at(match, match->finished);
		bool over = entry->closed ? match->rules.in_order ||
						    !within(age_ns(match, entry->answered), match->rules.copy_ns)
					  : !within(age_ns(match, entry->sent), forget_ns);
		if (!over && !match->finishing)
			break;
		if (!entry->closed)
			entry->fate = age_ns(match, entry->sent) > match->rules.timeout_ns ? TARE_LOST : TARE_PENDING;
		leave_index(match, match->finished);
	}
}

static int grow_ring(struct match *match, struct tare_err *err)
{
	uint64_t room = match->ring ? (match->ring_mask + 1) * 2 : RING_LEAST;
	if (room > RING_MOST)
		return tare_fail(err, TARE_E_INVALID,
			"more than %d requests are in flight: replies are missing on this capture, or the timeout is "
			"too long",
			RING_MOST);
	struct entry *ring = malloc(room * sizeof(*ring));
	struct slot *index = malloc(room * 2 * sizeof(*index));
	if (!ring || !index) {
		free(ring);
		free(index);
		return tare_fail(
			err, TARE_E_SYSTEM, "out of memory for %llu requests in flight", (unsigned long long)room);
	}
	for (uint64_t i = match->head; i < match->tail; i++)
		ring[i & (room - 1)] = *entry_at(match, i);
	free(match->ring);
	free(match->index);
	match->ring = ring;
	match->ring_mask = room - 1;
	match->index = index;
	match->index_mask = room * 2 - 1;
	match->indexed = 0;
	for (uint64_t i = 0; i < room * 2; i++)
		index[i].sequence = NONE;
	for (uint64_t i = match->head; i < match->tail; i++) {
		if (entry_at(match, i)->indexed)
			insert(match, entry_at(match, i)->key.place, i);
	}
	return 0;
}

int match_open(const struct match_rules *rules, struct match **ret_match, struct tare_err *err)
{
	struct match *match = calloc(1, sizeof(*match));
	if (!match)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	match->rules = *rules;
	if (match->rules.timeout_ns > INT64_MAX / FORGET_TIMEOUTS)
		match->rules.timeout_ns = INT64_MAX / FORGET_TIMEOUTS;
	match->now.seconds = INT64_MIN / 2;
	if (grow_ring(match, err)) {
		match_free(match);
		return -1;
	}
	*ret_match = match;
	return 0;
}

void match_free(struct match *match)
{
	if (!match)
		return;
	free(match->ring);
	free(match->index);
	free(match);
}

static int add(struct match *match, const struct match_packet *packet, struct slot *slot, struct tare_err *err)
{
	if (match->tail - match->head > match->ring_mask) {
		if (grow_ring(match, err))
			return -1;
		slot = slot ? find(match, &packet->key) : NULL;
	}
	uint64_t sequence = match->tail++;
	*entry_at(match, sequence) = (struct entry){
		.key = packet->key,
		.sent = packet->time,
		.request = packet->number,
		.identity = packet->identity,
		.next = NONE,
		.last = sequence,
		.took_ns = TARE_NO_TIME,
		.mark = packet->mark,
		.fate = TARE_PENDING,
	};
	if (slot && match->rules.in_order) {
		struct entry *first = entry_at(match, slot->sequence);
		entry_at(match, first->last)->next = sequence;
		first->last = sequence;
	} else if (slot) {
		entry_at(match, slot->sequence)->indexed = false;
		entry_at(match, sequence)->indexed = true;
		slot->sequence = sequence;
	} else {
		entry_at(match, sequence)->indexed = true;
		insert(match, packet->key.place, sequence);
	}
	match->counts.requests++;
	if (match->tail - match->finished > match->counts.in_flight_most)
		match->counts.in_flight_most = match->tail - match->finished;
	return 0;
}

int match_request(struct match *match, const struct match_packet *packet, struct tare_err *err)
{
	expire(match, packet->time);
	struct slot *slot = find(match, &packet->key);
	if (slot && !match->rules.in_order) {
		struct entry *entry = entry_at(match, slot->sequence);
		int64_t since_ns = capture_time_ns(packet->time, entry->sent);
		if (entry->identity == packet->identity && within(since_ns, match->rules.copy_ns)) {
			match->counts.copies++;
			if (match->rules.last_copy && !entry->closed)
				entry->sent = packet->time;
			return 0;
		}
		if (!entry->closed && since_ns <= match->rules.timeout_ns) {
			match->counts.retransmitted++;
			return 0;
		}
	} else if (slot) {
		const struct entry *last = entry_at(match, entry_at(match, slot->sequence)->last);
		if (packet->identity && last->identity == packet->identity &&
			within(capture_time_ns(packet->time, last->sent), match->rules.copy_ns)) {
			match->counts.copies++;
			return 0;
		}
	}
	return add(match, packet, slot, err);
}

static void answer(struct match *match, uint64_t sequence, const struct match_packet *packet)
{
	struct entry *entry = entry_at(match, sequence);
	int64_t took_ns = capture_time_ns(packet->time, entry->sent);
	entry->closed = true;
	entry->answered = packet->time;
	entry->reply = packet->number;
	entry->reply_identity = packet->identity;
	entry->fate = took_ns > match->rules.timeout_ns ? TARE_OVERDUE : TARE_ANSWERED;
	entry->took_ns = took_ns;
	if (took_ns < -match->rules.early_ns) {
		entry->took_ns = TARE_NO_TIME;
		entry->flags |= TARE_FLAG_IMPOSSIBLE;
		match->counts.impossible++;
	}
	if (match->any_answered && sequence < match->highest_answered) {
		entry->flags |= TARE_FLAG_REORDERED;
		match->counts.reordered++;
	} else {
		match->highest_answered = sequence;
	}
	match->any_answered = true;
	match->counts.replies++;
	if (match->rules.in_order)
		leave_index(match, sequence);
}

static void without_request(struct match *match, const struct match_packet *packet)
{
	enum { KEPT = sizeof(match->counts.foreign_first) / sizeof(*match->counts.foreign_first) };
	if (match->counts.foreign < KEPT)
		match->counts.foreign_first[match->counts.foreign] = packet->number;
	match->counts.foreign++;
}

bool match_reply(struct match *match, const struct match_packet *packet)
{
	expire(match, packet->time);
	struct slot *slot = find(match, &packet->key);
	if (!slot) {
		without_request(match, packet);
		return false;
	}
	struct entry *entry = entry_at(match, slot->sequence);
	if (match->rules.in_order && (int32_t)(packet->mark - entry->mark) < 0) {
		without_request(match, packet);
		return false;
	}
	if (entry->closed) {
		if (entry->reply_identity == packet->identity &&
			within(capture_time_ns(packet->time, entry->answered), match->rules.copy_ns)) {
			match->counts.copies++;
			return false;
		}
		match->counts.duplicates++;
		entry->flags |= TARE_FLAG_DUPLICATED;
		return false;
	}
	answer(match, slot->sequence, packet);
	return true;
}

void match_extend(struct match *match, const struct hash *key, uint32_t mark)
{
	struct slot *slot = find(match, key);
	if (slot)
		entry_at(match, entry_at(match, slot->sequence)->last)->mark = mark;
}

bool match_acknowledge(struct match *match, const struct match_packet *packet)
{
	struct slot *slot;
	bool exact = false;
	expire(match, packet->time);
	while ((slot = find(match, &packet->key)) != NULL) {
		uint64_t sequence = slot->sequence;
		struct entry *entry = entry_at(match, sequence);
		int32_t beyond = (int32_t)(packet->mark - entry->mark);
		if (beyond < 0)
			break;
		answer(match, sequence, packet);
		if (beyond > 0)
			entry->took_ns = TARE_NO_TIME;
		exact = exact || beyond == 0;
	}
	return exact;
}

void match_finish(struct match *match)
{
	match->finishing = true;
	expire(match, match->now);
}

size_t match_take(struct match *match, struct match_sample *ret_samples, size_t room)
{
	size_t count = 0;
	for (; count < room && match->head < match->finished; count++) {
		const struct entry *entry = entry_at(match, match->head++);
		ret_samples[count] = (struct match_sample){
			.sent = entry->sent,
			.took_ns = entry->took_ns,
			.request = entry->request,
			.reply = entry->reply,
			.fate = entry->fate,
			.flags = entry->flags,
		};
	}
	return count;
}

const struct match_counts *match_counts(const struct match *match)
{
	return &match->counts;
}
