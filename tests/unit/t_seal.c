/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sealing rounds with stamps of all levels: a fake wall clock and a fake card's clock, with drift,
 * seeded noise, losses and stamps that cannot be true. Whatever the stamps, the order of stages holds
 * within the axis error and the parts sum to the response.
 */
#include <stdlib.h>

#include "probe/probe.h"
#include "tap.h"
#include "tare/budget.h"

enum { REQUESTS = 4000, READINGS = 64 };
#define MONO       INT64_C(5000000000000) /* our clock at the first request */
#define WALL_AHEAD INT64_C(1770000000000000000)
#define CARD_AHEAD INT64_C(37000000000) /* the card counts from somewhere else */
#define EVERY      INT64_C(100000)

static struct raw_sample samples[REQUESTS];
static struct raw_counters counters;
static struct tare_reading wall[READINGS], card[READINGS];
static struct tare_axis_segment segments[8];
static struct tare_axis axis;
static struct tare_card_clock card_clock;
static struct tare_record record;

static int64_t within(int64_t most)
{
	return rand() % (most + 1);
}

/* The card runs 25 ppm fast. */
static int64_t card_at(int64_t mono_ns)
{
	int64_t since = mono_ns - MONO;
	return CARD_AHEAD + mono_ns + since * 25 / 1000000;
}

static void read_clocks(void)
{
	for (int i = 0; i < READINGS; i++) {
		int64_t at = MONO - 1000000 + (int64_t)i * (REQUESTS * EVERY + 4000000) / (READINGS - 1);
		int64_t early = within(200), wide = within(600);
		wall[i] = (struct tare_reading){at - early, WALL_AHEAD + at, at - early + 200};
		card[i] = (struct tare_reading){at - within(wide), card_at(at), at};
		card[i].mono_after_ns = card[i].mono_before_ns + wide;
	}
	axis.segments = tare_axis_build(wall, READINGS, segments, 8);
	axis.segment = segments;
	card_clock = tare_card_clock_of(card, READINGS);
}

/* A request's true way: late, tx, tx_nic, path, rx_nic, wake. */
static void make_round(void)
{
	memset(samples, 0, sizeof samples);
	for (int64_t i = 0; i < REQUESTS; i++) {
		struct raw_sample *raw = &samples[i];
		int64_t now = raw->due_ns = MONO + i * EVERY;
		now = raw->user_tx_ns = now + within(300);
		now += within(3000);
		raw->kernel_tx_ns = WALL_AHEAD + now;
		now += within(500);
		raw->nic_tx_ns = card_at(now);
		now += 2000 + within(5000);
		raw->nic_rx_ns = card_at(now);
		now += within(4000);
		raw->kernel_rx_ns = WALL_AHEAD + now;
		raw->user_rx_ns = now + within(2000);
		raw->cpu_tx = raw->cpu_rx = 1;
	}
	atomic_store(&counters.slots, REQUESTS);
}

static bool seal(const struct tare_card_clock *clock)
{
	static struct arena *arena;
	struct tare_err err = {0};
	arena_free(arena);
	arena = NULL;
	struct probe_sealing sealing = {.samples = samples,
		.counters = &counters,
		.slots = REQUESTS,
		.axis = &axis,
		.card = clock,
		.epoch_mono_ns = MONO - 1000,
		.epoch_real_ns = WALL_AHEAD,
		.ended_mono_ns = MONO + REQUESTS * EVERY + 2000000,
		.timeout_ns = 1000000,
		.stamps = NET_STAMP_RX | NET_STAMP_TX | NET_STAMP_NIC_RX | NET_STAMP_NIC_TX};
	return arena_open(probe_seal_bytes(REQUESTS), 0, &arena, &err) == 0 &&
	       probe_seal(&sealing, arena, &record, &err) == 0;
}

/* How many requests break the order of stages by more than the errors of both clocks. */
static size_t out_of_order(void)
{
	static const enum tare_stage order[] = {TARE_STAGE_USER_TX, TARE_STAGE_KERNEL_TX, TARE_STAGE_NIC_TX,
		TARE_STAGE_NIC_RX, TARE_STAGE_KERNEL_RX, TARE_STAGE_USER_RX};
	int64_t error = tare_axis_error_ns(&axis) + (card_clock.error_ns == TARE_NO_TIME ? 0 : card_clock.error_ns);
	size_t broken = 0;
	for (size_t i = 0; i < record.series.count; i++) {
		int64_t last = TARE_NO_TIME;
		for (size_t stage = 0; stage < sizeof order / sizeof order[0]; stage++) {
			const int64_t *column = record.series.at_ns[order[stage]];
			if (!column || column[i] == TARE_NO_TIME)
				continue;
			broken += last != TARE_NO_TIME && column[i] < last - error;
			last = last == TARE_NO_TIME || column[i] > last ? column[i] : last;
		}
	}
	return broken;
}

/* How many have parts that do not sum to their response. */
static size_t not_summing(void)
{
	size_t wrong = 0;
	for (size_t i = 0; i < record.series.count; i++) {
		int64_t parts[TARE_PART_COUNT], sum = 0;
		if (tare_budget_parts(&record.series, TARE_SPAN_RESPONSE, i, parts) < 0) {
			wrong++;
			continue;
		}
		for (int part = 0; part < TARE_PART_COUNT; part++)
			sum += parts[part];
		wrong += sum != tare_span_of(&record.series, TARE_SPAN_RESPONSE, i);
	}
	return wrong;
}

static uint64_t flagged(unsigned flag)
{
	uint64_t count = 0;
	for (size_t i = 0; i < record.series.count; i++)
		count += (record.series.flags[i] & flag) != 0;
	return count;
}

static void check_all_levels(void)
{
	make_round();
	OK(seal(&card_clock), "a round with stamps of every level is sealed");
	IS_I64(flagged(TARE_FLAG_IMPOSSIBLE | TARE_FLAG_NO_NIC_TX | TARE_FLAG_NO_NIC_RX | TARE_FLAG_NO_KERNEL_TX |
		       TARE_FLAG_NO_KERNEL_RX),
		0, "nothing is missing or impossible");
	OK(record.series.at_ns[TARE_STAGE_NIC_TX] && record.series.at_ns[TARE_STAGE_NIC_RX],
		"the card's stages are there");
	IS_I64(out_of_order(), 0, "no stage is out of order beyond the clocks' errors");
	IS_I64(not_summing(), 0, "every request's parts sum to its response");
	int64_t worst = 0;
	for (size_t i = 0; i < REQUESTS; i++) {
		int64_t true_ns = samples[i].nic_tx_ns - CARD_AHEAD;
		true_ns -= (true_ns - MONO) * 25 / 1000025;
		int64_t off = llabs(record.series.at_ns[TARE_STAGE_NIC_TX][i] + (MONO - 1000) - true_ns);
		worst = off > worst ? off : worst;
	}
	OK(worst <= card_clock.error_ns + 1, "card stamps are within the error given, %lld of %lld ns",
		(long long)worst, (long long)card_clock.error_ns);
	uint32_t asked = record.beside.stamps_asked;
	OK(asked >> TARE_STAGE_NIC_TX & 1 && asked >> TARE_STAGE_NIC_RX & 1, "what was asked for is noted");
}

static void check_losses(void)
{
	make_round();
	for (size_t i = 0; i < REQUESTS; i += 10)
		samples[i].nic_tx_ns = 0;
	for (size_t i = 0; i < REQUESTS; i += 20)
		samples[i].kernel_rx_ns = 0;
	/* another packet's stamps: long before the send, long behind the receive, and a wild one */
	samples[11].nic_tx_ns -= 50000000;
	samples[12].nic_rx_ns += 50000000;
	samples[13].nic_rx_ns = 77;
	samples[14].kernel_tx_ns -= 90000;
	samples[15].user_rx_ns = 0; /* lost */
	OK(seal(&card_clock), "a round with losses is sealed");
	IS_I64(flagged(TARE_FLAG_NO_NIC_TX), REQUESTS / 10 + 1, "transmit stamps of the card that did not come");
	IS_I64(flagged(TARE_FLAG_NO_KERNEL_RX), REQUESTS / 20, "receive stamps of the kernel that did not");
	IS_I64(flagged(TARE_FLAG_IMPOSSIBLE), 4, "stamps that cannot be true are dropped");
	IS_I64(out_of_order(), 0, "the rest is in order");
	IS_I64(not_summing(), 1, "parts sum for all but the lost one");
}

static void check_without_clock(void)
{
	struct tare_card_clock none = tare_card_clock_of(card, 1);
	make_round();
	OK(seal(&none), "a card whose clock was read once only");
	OK(!record.series.at_ns[TARE_STAGE_NIC_TX] && !record.series.at_ns[TARE_STAGE_NIC_RX],
		"its stamps have no place");
	IS_I64(flagged(TARE_FLAG_NO_NIC_TX), REQUESTS, "all are missing");
	IS_I64(flagged(TARE_FLAG_IMPOSSIBLE), 0, "none is impossible");
	OK(seal(NULL) && !record.series.at_ns[TARE_STAGE_NIC_TX], "no clock at all: the same");
	IS_I64(out_of_order() + not_summing(), 0, "kernel stamps are as ever");
}

/* A daemon sets the card's clock in mid-round. */
static void check_step(void)
{
	make_round();
	for (int i = READINGS / 2; i < READINGS; i++)
		card[i].real_ns += 5000000000;
	for (size_t i = 0; i < REQUESTS; i++) {
		if (samples[i].user_tx_ns < card[READINGS / 2].mono_before_ns - 3000000)
			continue;
		samples[i].nic_tx_ns += 5000000000;
		samples[i].nic_rx_ns += 5000000000;
	}
	card_clock = tare_card_clock_of(card, READINGS);
	OK(card_clock.steps == 1 && seal(&card_clock), "the card's clock is set in mid-round");
	uint64_t dropped = flagged(TARE_FLAG_NO_NIC_TX);
	OK(dropped > 0 && dropped < REQUESTS / 20, "stamps between the two readings are dropped, %d of %d",
		(int)dropped, REQUESTS);
	IS_I64(flagged(TARE_FLAG_CLOCK_STEP), (int64_t)dropped, "with the reason");
	IS_I64(out_of_order() + not_summing(), 0, "order and sums hold");
}

int main(void)
{
	srand(20261130);
	printf("# seed 20261130\n");
	read_clocks();
	check_all_levels();
	check_losses();
	check_without_clock();
	read_clocks();
	check_step();
	return tap_done();
}
