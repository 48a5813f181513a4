/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The hot loop. Order of work, by what it does to the figures: requests that are
 * due leave first (their lateness is ours), then arrivals are read (a reply waiting
 * in the socket ages), and only in the slack before the next due time come
 * transmit stamps and clock readings. Nothing moves the schedule.
 */
#include <errno.h>
#include <string.h>

#include "probe/probe.h"

/* Batches of stamps read after the last request: nothing is sent any more that could add to them. */
enum { LAST_NOTICES = 4096 };
enum { LOOP_TARGETS_MAX = 64, LOOKS_MOST = 16 };

struct loop {
	struct probe_round *round;
	const struct clock_source *clock;
	clock_mono last_reading, last_card;
	clock_mono last_look;  /* 0: the loop slept or was held up since */
	clock_mono all_in;     /* when everything was sent and answered; 0: not yet */
	int64_t guard_ns;      /* spinning: a failing receive call costs this much, so none is begun this close to due */
	struct pollfd fds[LOOP_TARGETS_MAX];
};

/* Slack needed before the next due time for work that may take some microseconds. */
#define SLACK_FOR_READING_NS ((int64_t)5000)
#define SLACK_FOR_NOTICES_NS ((int64_t)10000)
/* Reading a card's clock crosses the bus several times: tens of microseconds on some. */
#define SLACK_FOR_CARD_NS ((int64_t)200000)
/* With nothing under way, the last stretch before a request is spent on the clock alone. */
#define APPROACH_NS ((int64_t)5000)
/* A transmit stamp is read once its request is answered or has been out this long. */
#define NOTICE_AGE_NS ((int64_t)50000)

static void take_reading(struct loop *loop)
{
	struct probe_readings *readings = &loop->round->readings;
	uint64_t n = atomic_load_explicit(readings->count, memory_order_relaxed);
	struct tare_reading reading = source_reading(loop->clock);
	loop->last_reading = (clock_mono){reading.mono_after_ns};
	if (n == readings->room)
		n--; /* keeps the newest: the end of the round must be covered */
	readings->reading[n] = reading;
	atomic_store_explicit(readings->count, n + 1, memory_order_release);
}

/* The card's clock has a rate of its own, so that the first and the last reading matter as much as those between. */
static void take_card_reading(struct loop *loop)
{
	struct probe_card *card = &loop->round->card;
	struct tare_reading reading;
	if (!card->read)
		return;
	loop->last_card = source_mono(loop->clock);
	if (!card->read(card->self, &reading))
		return;
	uint64_t n = atomic_load_explicit(card->readings.count, memory_order_relaxed);
	if (n == card->readings.room)
		n--;
	card->readings.reading[n] = reading;
	atomic_store_explicit(card->readings.count, n + 1, memory_order_release);
}

static bool is_done(const struct probe_target *target)
{
	return target->next == target->count;
}

static void advance(struct probe_target *target, uint64_t slots)
{
	target->next += slots;
	raw_increase(&target->counters->slots, slots);
	if (!is_done(target))
		target->next_due = probe_due(target, target->next);
}

/* The target whose turn comes first, NULL when all have sent everything. */
static struct probe_target *first_due(const struct loop *loop)
{
	struct probe_target *first = NULL;
	for (size_t i = 0; i < loop->round->target_count; i++) {
		struct probe_target *target = loop->round->targets[i];
		if (!is_done(target) && (!first || target->next_due.ns < first->next_due.ns))
			first = target;
	}
	return first;
}

/* How many requests from target->next on are due now, at most a batch; writes their due times. */
static unsigned count_due(struct probe_target *target, clock_mono now)
{
	unsigned count = 0;
	while (count < PROBE_BATCH_MAX && target->next + count < target->count) {
		clock_mono due = count ? probe_due(target, target->next + count) : target->next_due;
		if (clock_between(due, now) < 0)
			break;
		target->samples[target->next + count].due_ns = due.ns;
		count++;
	}
	return count;
}

/* --on-late skip: of several slots that are due, only the newest is used. */
static unsigned skip_missed(struct probe_target *target, unsigned count)
{
	for (unsigned i = 0; i + 1 < count; i++)
		target->samples[target->next + i].flags |= TARE_FLAG_SKIPPED;
	advance(target, count - 1);
	return 1;
}

/* Between two looks at the clock lie at most 16 receive calls and a send; larger jumps are noted. */
#define GAP_LEAST_NS ((int64_t)20000)

/* The clock jumped while nothing slept: noted with the requests that were under way or due. */
static void note_gap(struct loop *loop, clock_mono now)
{
	int64_t gap_ns = loop->last_look.ns ? clock_between(loop->last_look, now) : 0;
	loop->last_look = now;
	if (gap_ns < GAP_LEAST_NS)
		return;
	uint32_t noted_ns = gap_ns < UINT32_MAX ? (uint32_t)gap_ns : UINT32_MAX;
	for (size_t i = 0; i < loop->round->target_count; i++) {
		struct probe_target *target = loop->round->targets[i];
		uint64_t from = target->next > 2 ? target->next - 2 : 0;
		for (uint64_t k = from; k < target->count && probe_due(target, k).ns <= now.ns; k++)
			if (target->samples[k].gap_ns < noted_ns && (!target->samples[k].user_rx_ns ||
					target->samples[k].user_rx_ns >= now.ns - gap_ns))
				target->samples[k].gap_ns = noted_ns;
	}
}

/* Faults on purpose; in a real measurement a test of one pointer. */
static void hold_back(struct loop *loop, struct probe_target *target, unsigned count)
{
	if (__builtin_expect(loop->round->hold == NULL, 1))
		return;
	loop->round->hold(loop->round->hold_self, target, count);
	loop->last_look.ns = 0;
}

/* What became of requests handed to the kernel. False when the socket's buffer is full: the slots stay due. */
static bool enter_sent(struct probe_target *target, int sent)
{
	if (sent == -EAGAIN || sent == 0)
		return false;
	if (sent < 0) {
		target->samples[target->next].reason = (uint16_t)-sent;
		advance(target, 1);
		return true;
	}
	target->last_sent = (clock_mono){target->samples[target->next].user_tx_ns};
	target->open += (uint64_t)sent;
	raw_increase(&target->counters->sent, (uint64_t)sent);
	advance(target, (uint64_t)sent);
	return true;
}

/* Sends what is due by now, all of it or, with --on-late skip, the newest. */
static bool send_due(struct loop *loop, struct probe_target *target, clock_mono now)
{
	unsigned count = count_due(target, now);
	if (loop->round->on_late == PROBE_LATE_SKIP && count > 1)
		count = skip_missed(target, count);
	hold_back(loop, target, count);
	return enter_sent(target, target->kind->send(target, target->next, count));
}

/* The next request is about to be due: the kind takes over the last look at the clock. */
static bool send_on_time(struct loop *loop, struct probe_target *target)
{
	target->samples[target->next].due_ns = target->next_due.ns;
	hold_back(loop, target, 1);
	return enter_sent(target, target->kind->send_at(target, target->next, target->next_due));
}

static bool drain_all(struct loop *loop)
{
	int taken = 0;
	for (size_t i = 0; i < loop->round->target_count; i++) {
		struct probe_target *target = loop->round->targets[i];
		if (target->fd >= 0)
			taken += target->kind->drain(target);
	}
	return taken > 0;
}

/*
 * Spinning with time left: several looks at the sockets for one at the clock, so that an answer is seen as
 * soon as by a loop that does nothing else. No more than a quarter of the time left is spent on it.
 */
static bool look_often(struct loop *loop, int64_t left_ns)
{
	int64_t looks = loop->guard_ns > 0 ? left_ns / (4 * loop->guard_ns) : 1;
	looks = looks < LOOKS_MOST ? looks : LOOKS_MOST;
	do {
		if (drain_all(loop))
			return true;
	} while (--looks > 0);
	return false;
}

static bool notices_ripe(const struct probe_target *target, clock_mono now)
{
	if (!target->kind->drain_notices || !target->stamps_awaited || !target->next || target->fd < 0)
		return false;
	return target->samples[target->next - 1].user_rx_ns || clock_between(target->last_sent, now) > NOTICE_AGE_NS;
}

/* Work that can wait, done when the next request leaves time for it; true when there was some. */
static bool use_slack(struct loop *loop, clock_mono now, clock_mono next_due)
{
	bool worked = false;
	int64_t slack_ns = clock_between(now, next_due);
	if (slack_ns > SLACK_FOR_NOTICES_NS)
		for (size_t i = 0; i < loop->round->target_count; i++)
			if (notices_ripe(loop->round->targets[i], now))
				worked |= loop->round->targets[i]->kind->drain_notices(loop->round->targets[i]) > 0;
	int64_t age_ns = clock_between(loop->last_reading, now);
	/* early while there is slack, else when the bound of 100 ms is reached */
	if (age_ns >= PROBE_READING_EVERY_NS ||
		(slack_ns > SLACK_FOR_READING_NS && age_ns >= PROBE_READING_EVERY_NS * 3 / 4)) {
		take_reading(loop);
		worked = true;
	}
	if (loop->round->card.read && slack_ns > SLACK_FOR_CARD_NS &&
		clock_between(loop->last_card, now) >= PROBE_READING_EVERY_NS) {
		take_card_reading(loop);
		worked = true;
	}
	return worked;
}

/* Blocks until something arrives, the next request is due, or a clock reading is. */
static void wait_for(struct loop *loop, clock_mono now, clock_mono next_due)
{
	clock_mono until = clock_after(loop->last_reading, PROBE_READING_EVERY_NS * 3 / 4);
	/* a reading that is ripe, but for which the slack is too short, comes behind the request */
	if (next_due.ns < until.ns || until.ns <= now.ns)
		until = next_due;
	size_t count = loop->round->target_count;
	loop->last_look.ns = 0;
	for (size_t i = 0; i < count; i++)
		loop->fds[i] = (struct pollfd){.fd = loop->round->targets[i]->fd, .events = POLLIN};
	if (loop->clock->wait(loop->clock->self, loop->fds, count, until) <= 0)
		return;
	for (size_t i = 0; i < count; i++) {
		struct probe_target *target = loop->round->targets[i];
		if (loop->fds[i].revents & POLLIN)
			target->kind->drain(target);
		if (loop->fds[i].revents & POLLERR && target->kind->drain_notices)
			target->kind->drain_notices(target);
	}
}

/* When the round ends: the timeout after the last request of all. */
static clock_mono end_of(const struct loop *loop, clock_mono now)
{
	clock_mono last = {0};
	for (size_t i = 0; i < loop->round->target_count; i++)
		if (loop->round->targets[i]->last_sent.ns > last.ns)
			last = loop->round->targets[i]->last_sent;
	return last.ns ? clock_after(last, loop->round->timeout_ns) : now;
}

/* With every answer in only duplicates can still come; those of a network come with or soon after the first. */
#define STRAGGLERS_NS ((int64_t)100000000)

static bool nothing_open(const struct loop *loop)
{
	for (size_t i = 0; i < loop->round->target_count; i++)
		if (loop->round->targets[i]->open || loop->round->targets[i]->kind->many_answer)
			return false;
	return true;
}

/* Everything sent: late answers still count, until the timeout has passed. True when the round is over. */
static bool linger(struct loop *loop, clock_mono now)
{
	clock_mono end = end_of(loop, now);
	if (!loop->all_in.ns && nothing_open(loop))
		loop->all_in = now;
	if (loop->all_in.ns && clock_between(loop->all_in, end) > STRAGGLERS_NS)
		end = clock_after(loop->all_in, STRAGGLERS_NS);
	if (now.ns >= end.ns)
		return true;
	if (drain_all(loop) || use_slack(loop, now, end))
		return false;
	/* with every answer in, spinning would only heat the core */
	if (!loop->round->spin || nothing_open(loop))
		wait_for(loop, now, end);
	return false;
}

/* The cost of a receive call that finds nothing: the least of 64. */
static int64_t measure_guard(struct loop *loop)
{
	int64_t least_ns = INT64_MAX;
	if (!loop->round->spin)
		return 0;
	for (int i = 0; i < 64; i++) {
		clock_mono before = source_mono(loop->clock);
		drain_all(loop);
		int64_t took_ns = clock_between(before, source_mono(loop->clock));
		least_ns = took_ns < least_ns ? took_ns : least_ns;
	}
	return least_ns < 2000 ? least_ns : 2000;
}

static bool stop_asked(const struct loop *loop)
{
	return loop->round->stop && atomic_load_explicit(loop->round->stop, memory_order_relaxed);
}

static void begin(struct loop *loop)
{
	struct probe_round *round = loop->round;
	for (size_t i = 0; i < round->target_count; i++) {
		struct probe_target *target = round->targets[i];
		target->next = 0;
		target->next_due = probe_due(target, 0);
		target->highest_answered = target->open = target->stamps_awaited = 0;
		target->last_sent = (clock_mono){0};
		target->path_seen = (struct net_path_seen){0};
		if (target->kind->begin)
			target->kind->begin(target);
	}
	take_reading(loop);
	take_card_reading(loop);
	loop->guard_ns = measure_guard(loop);
}

/*
 * How long before the next due time only the clock is looked at. With the last answer in, nothing can arrive
 * that this would delay; else a receive call that would end after it must not begin.
 */
static int64_t approach_ns_of(const struct loop *loop, const struct probe_target *target)
{
	/* what is due together leaves together, in send_due */
	if (!loop->round->spin || !target->kind->send_at || loop->round->hold ||
		target->pacer.schedule == PACER_BURST)
		return 0;
	bool answered = target->next > 0 && target->samples[target->next - 1].user_rx_ns;
	return answered && loop->round->target_count == 1 ? APPROACH_NS : loop->guard_ns;
}

/* One turn; false when the round is over. */
static bool turn(struct loop *loop)
{
	struct probe_target *target = first_due(loop);
	clock_mono now = source_mono(loop->clock);
	if (loop->round->gaps)
		note_gap(loop, now);
	if (!target)
		return !linger(loop, now);
	int64_t left_ns = clock_between(now, target->next_due);
	bool sent = false;
	if (left_ns <= 0)
		sent = send_due(loop, target, now);
	else if (left_ns <= approach_ns_of(loop, target))
		sent = send_on_time(loop, target);
	if (sent) {
		drain_all(loop);
		if (clock_between(loop->last_reading, now) >= PROBE_READING_EVERY_NS)
			take_reading(loop);
		return true;
	}
	if (look_often(loop, left_ns) || use_slack(loop, now, target->next_due))
		return true;
	if (!loop->round->spin)
		wait_for(loop, now, target->next_due);
	return true;
}

void probe_loop(struct probe_round *round)
{
	struct loop loop = {.round = round, .clock = round->clock};
	memset(loop.fds, 0, sizeof loop.fds);
	begin(&loop);
	bool running = true;
	while (running && !stop_asked(&loop))
		running = turn(&loop);
	round->stopped = running;
	for (size_t i = 0; i < round->target_count; i++)
		for (int turns = 0; turns < LAST_NOTICES && round->targets[i]->fd >= 0; turns++)
			if (!round->targets[i]->kind->drain_notices ||
				round->targets[i]->kind->drain_notices(round->targets[i]) <= 0)
				break;
	take_reading(&loop);
	take_card_reading(&loop);
	round->ended = source_mono(round->clock);
}
