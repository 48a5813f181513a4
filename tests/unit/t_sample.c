/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Spans, the parts of a response, fates. */
#include "tare/sample.h"

#include <stdlib.h>

#include "tap.h"
#include "tare/run.h"

static uint64_t seed_state = 77;

static uint64_t random_bits(void)
{
	seed_state ^= seed_state >> 12;
	seed_state ^= seed_state << 25;
	seed_state ^= seed_state >> 27;
	return seed_state * UINT64_C(2685821657736338717);
}

static void check_names(void)
{
	int wrong = 0;
	for (int span = 0; span < TARE_SPAN_COUNT; span++) {
		enum tare_span found = TARE_SPAN_COUNT;
		wrong += !tare_span_by_name(tare_span_name((enum tare_span)span), &found) || (int)found != span;
		wrong += !tare_span_help((enum tare_span)span)[0];
	}
	IS_I64(wrong, 0, "every span is found by its name and has a help text");
	enum tare_span span = TARE_SPAN_GAP;
	OK(!tare_span_by_name("jitter", &span) && span == TARE_SPAN_GAP, "there is no span 'jitter'");
	IS_STR(tare_stage_name(TARE_STAGE_PEER_NIC_TX), "peer_nic_tx", "name of a stage");
	IS_STR(tare_fate_name(TARE_NOT_SENT), "not-sent", "name of a fate");
	IS_STR(tare_fate_name(TARE_FATE_COUNT), "unknown", "name of no fate");
}

/* Schedule 0, 1000, 2000 us; sent 0, 1454, 2454; each answered 6 us after it was sent. */
static void check_coordinated_omission(void)
{
	static const int64_t due[] = {0, 1000000, 2000000}, sent[] = {0, 1454000, 2454000};
	static const int64_t received[] = {6000, 1460000, 2460000};
	static const uint8_t fate[] = {TARE_ANSWERED, TARE_ANSWERED, TARE_ANSWERED};
	static const int64_t rtt[] = {6000, 6000, 6000}, response[] = {6000, 460000, 460000};
	static const int64_t late[] = {0, 454000, 454000};
	struct tare_series series = {.count = 3, .fate = fate};
	series.at_ns[TARE_STAGE_DUE] = due;
	series.at_ns[TARE_STAGE_USER_TX] = sent;
	series.at_ns[TARE_STAGE_USER_RX] = received;
	for (size_t i = 0; i < 3; i++) {
		IS_I64(tare_span_of(&series, TARE_SPAN_RTT, i), rtt[i], "rtt hides the delay");
		IS_I64(tare_span_of(&series, TARE_SPAN_RESPONSE, i), response[i], "response holds it");
		IS_I64(tare_span_of(&series, TARE_SPAN_LATE, i), late[i], "and late names it");
	}
	IS_I64(tare_span_of(&series, TARE_SPAN_WAKE, 0), TARE_NO_TIME, "no kernel stamps, no wake");
	OK(!tare_span_exists(&series, TARE_SPAN_WAKE) && tare_span_exists(&series, TARE_SPAN_LATE), "what exists");
	OK(!tare_span_exists(&series, TARE_SPAN_GAP), "a source with a schedule has no gap");
	series.at_ns[TARE_STAGE_DUE] = NULL;
	IS_I64(tare_span_of(&series, TARE_SPAN_GAP, 1), 1454000, "without a schedule the gap to the one before");
	IS_I64(tare_span_of(&series, TARE_SPAN_GAP, 0), TARE_NO_TIME, "the first request has no gap");
	int64_t parts[4] = {1, 2, 3, 4};
	IS_I64(tare_response_parts(&series, 0, parts), -1, "no response without a due time");
	IS_I64(parts[0], 1, "and then nothing is written");
}

static void check_parts(void)
{
	enum { COUNT = 6 };
	/* due 100, sent 150, driver 153, driver 190, received 201; then what is missing in each column */
	int64_t due[COUNT] = {100, 100, 100, 100, 100, TARE_NO_TIME}, sent[COUNT] = {150, 150, 150, 150, 150, 150};
	int64_t out[COUNT] = {153, TARE_NO_TIME, 153, TARE_NO_TIME, 153, 153};
	int64_t in[COUNT] = {190, 190, TARE_NO_TIME, TARE_NO_TIME, 190, 190};
	int64_t received[COUNT] = {201, 201, 201, 201, TARE_NO_TIME, 201};
	uint8_t fate[COUNT] = {1, 1, 1, 1, 1, 1};
	static const int64_t want[4][4] = {{50, 3, 37, 11}, {50, 0, 40, 11}, {50, 3, 48, 0}, {50, 0, 51, 0}};
	static const int folded[4] = {0, 1 << 1, 1 << 3, 1 << 1 | 1 << 2 | 1 << 3};
	struct tare_series series = {.count = COUNT, .fate = fate};
	series.at_ns[TARE_STAGE_DUE] = due;
	series.at_ns[TARE_STAGE_USER_TX] = sent;
	series.at_ns[TARE_STAGE_KERNEL_TX] = out;
	series.at_ns[TARE_STAGE_KERNEL_RX] = in;
	series.at_ns[TARE_STAGE_USER_RX] = received;
	for (size_t i = 0; i < 4; i++) {
		int64_t parts[4] = {0};
		IS_I64(tare_response_parts(&series, i, parts), folded[i], "which parts were folded");
		OK(memcmp(parts, want[i], sizeof(parts)) == 0,
			"late %" PRId64 ", tx %" PRId64 ", stack %" PRId64 ", wake %" PRId64, parts[0], parts[1],
			parts[2], parts[3]);
		IS_I64(parts[0] + parts[1] + parts[2] + parts[3], tare_span_of(&series, TARE_SPAN_RESPONSE, i),
			"parts sum to the response");
	}
	int64_t parts[4];
	IS_I64(tare_response_parts(&series, 4, parts), -1, "no parts without a receive time");
	IS_I64(tare_response_parts(&series, 5, parts), -1, "no parts without a due time");
	IS_I64(tare_span_of(&series, TARE_SPAN_TX, 1), TARE_NO_TIME, "spans do not fold");
	IS_I64(tare_span_of(&series, TARE_SPAN_STACK, 2), TARE_NO_TIME, "nor here");
}

static void check_path(void)
{
	int64_t kernel_tx[] = {100}, kernel_rx[] = {200}, nic_tx[] = {120}, nic_rx[] = {170};
	int64_t peer_rx[] = {9000}, peer_tx[] = {9030};
	uint8_t fate[] = {TARE_ANSWERED};
	struct tare_series series = {.count = 1, .fate = fate};
	series.at_ns[TARE_STAGE_KERNEL_TX] = kernel_tx;
	series.at_ns[TARE_STAGE_KERNEL_RX] = kernel_rx;
	OK(!tare_span_exists(&series, TARE_SPAN_PATH), "no path without the peer's residence");
	series.at_ns[TARE_STAGE_PEER_RX] = peer_rx;
	series.at_ns[TARE_STAGE_PEER_TX] = peer_tx;
	IS_I64(tare_span_of(&series, TARE_SPAN_PATH, 0), 70, "path is stack without residence");
	series.at_ns[TARE_STAGE_NIC_TX] = nic_tx;
	series.at_ns[TARE_STAGE_NIC_RX] = nic_rx;
	IS_I64(tare_span_of(&series, TARE_SPAN_PATH, 0), 20, "or wire without residence");
	IS_I64(tare_span_of(&series, TARE_SPAN_TX_NIC, 0) + tare_span_of(&series, TARE_SPAN_WIRE, 0) +
			tare_span_of(&series, TARE_SPAN_RX_NIC, 0),
		tare_span_of(&series, TARE_SPAN_STACK, 0), "tx_nic + wire + rx_nic = stack");
	nic_rx[0] = TARE_NO_TIME;
	IS_I64(tare_span_of(&series, TARE_SPAN_PATH, 0), TARE_NO_TIME, "one series has one meaning of path");
	int64_t given[] = {55};
	series.given_ns[TARE_SPAN_PATH] = given;
	IS_I64(tare_span_of(&series, TARE_SPAN_PATH, 0), 55, "a span the source states is taken as it is");
	nic_tx[0] = INT64_MIN + 1;
	nic_rx[0] = INT64_MAX;
	IS_I64(tare_span_of(&series, TARE_SPAN_WIRE, 0), TARE_NO_TIME, "a difference beyond 64 bits is none");
}

/* Laws over random series: exact sums, and the column form equal to the single one. */
static void check_laws(void)
{
	enum { COUNT = 1000 };
	static int64_t at[TARE_STAGE_COUNT][COUNT];
	static uint8_t fate[COUNT];
	struct tare_series series = {.count = COUNT, .fate = fate};
	struct tare_fates want = {0};
	for (int stage = 0; stage < TARE_STAGE_COUNT; stage++)
		series.at_ns[stage] = at[stage];
	for (size_t i = 0; i < COUNT; i++) {
		int64_t now = (int64_t)(i * 1000000);
		for (int stage = 0; stage < TARE_STAGE_COUNT; stage++) {
			now += (int64_t)(random_bits() % 5000);
			at[stage][i] = random_bits() % 8 ? now : TARE_NO_TIME;
		}
		if (i == 500)
			at[TARE_STAGE_USER_RX][i] = INT64_MAX, at[TARE_STAGE_DUE][i] = -5;
		fate[i] = i < 200 ? TARE_ANSWERED : (uint8_t)(random_bits() % TARE_FATE_COUNT);
		want.count[fate[i]]++;
		want.sent += fate[i] != TARE_NOT_SENT;
	}
	size_t crossed = 0, summed = 0, unequal = 0;
	for (size_t i = 0; i < COUNT; i++)
		crossed += tare_span_of(&series, TARE_SPAN_FORWARD, i) != TARE_NO_TIME ||
			   tare_span_of(&series, TARE_SPAN_BACKWARD, i) != TARE_NO_TIME;
	OK(crossed == 0 && !tare_span_exists(&series, TARE_SPAN_FORWARD), "no one-way spans without a bound on the clocks");
	series.clock_bound_ns = 500;
	for (size_t i = 0; i < COUNT; i++) {
		int64_t there = tare_span_of(&series, TARE_SPAN_FORWARD, i), back = tare_span_of(&series, TARE_SPAN_BACKWARD, i);
		int64_t whole = tare_span_of(&series, TARE_SPAN_RTT, i), inside = tare_span_of(&series, TARE_SPAN_RESIDENCE, i);
		if (there == TARE_NO_TIME || back == TARE_NO_TIME || whole == TARE_NO_TIME || inside == TARE_NO_TIME)
			continue;
		summed++;
		unequal += there + back != whole - inside;
	}
	OK(summed > 300 && unequal == 0, "forward + backward = rtt - residence in all of %zu", summed);
	int wrong = 0, parted = 0;
	for (size_t i = 0; i < COUNT; i++) {
		int64_t parts[4];
		int64_t late = tare_span_of(&series, TARE_SPAN_LATE, i), rtt = tare_span_of(&series, TARE_SPAN_RTT, i);
		int64_t response = tare_span_of(&series, TARE_SPAN_RESPONSE, i);
		if (tare_response_parts(&series, i, parts) < 0)
			continue;
		parted++;
		wrong += late + rtt != response || parts[0] + parts[1] + parts[2] + parts[3] != response;
	}
	OK(!wrong && parted > 500, "late + rtt = response = sum of parts in all of %d", parted);
	for (int span = 0; span < TARE_SPAN_COUNT; span++) {
		int64_t values[COUNT];
		tare_span_values(&series, (enum tare_span)span, 3, COUNT - 3, values);
		for (size_t i = 3; i < COUNT; i++) {
			bool counts = tare_span_needs_answer((enum tare_span)span)
					      ? fate[i] == TARE_ANSWERED || fate[i] == TARE_OVERDUE
					      : fate[i] != TARE_NOT_SENT;
			wrong += values[i - 3] !=
				 (counts ? tare_span_of(&series, (enum tare_span)span, i) : TARE_NO_TIME);
		}
	}
	IS_I64(wrong, 0, "columns of spans equal single spans");
	struct tare_fates got = tare_fates_of(&series);
	OK(memcmp(&got, &want, sizeof(got)) == 0, "fates counted");
	IS_I64(got.count[TARE_ANSWERED] + got.count[TARE_OVERDUE] + got.count[TARE_LOST] + got.count[TARE_PENDING] +
			got.count[TARE_ERROR],
		got.sent, "sent = answered + overdue + lost + pending + error");
}

int main(void)
{
	printf("# seed %" PRIu64 "\n", seed_state);
	check_names();
	check_coordinated_omission();
	check_parts();
	check_path();
	check_laws();
	return tap_done();
}
