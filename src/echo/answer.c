/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Deciding on a request. T2 is the kernel's receive stamp where there is one: the
 * wait for this process then shows in the reply instead of hiding in the path.
 */
#include "echo/answer.h"

#include <sys/timex.h>
#include <time.h>

static uint16_t port_of(const struct sockaddr_storage *from)
{
	/* both families keep the port at the same place */
	return ntohs(((const struct sockaddr_in *)from)->sin_port);
}

/* The coarse clock is 4 ms old at worst (10 ms with HZ=100), a fraction of the burst, and costs 5 ns. */
static int64_t coarse_now_ns(void)
{
	struct timespec now = {0};
	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return clock_ns_of(now);
}

enum answer_verdict answer_source(
	const struct answer_rules *rules, struct source_limit *limit, const struct sockaddr_storage *from)
{
	if (source_port_refused(&rules->refused_ports, port_of(from)))
		return ANSWER_REFUSED;
	if (rules->allow.count == 0 && !limit)
		return ANSWER_REPLY;
	struct source_key key = source_key_of(from);
	if (!source_allowed(&rules->allow, key))
		return ANSWER_REFUSED;
	if (limit && !source_is_loopback(key) && !source_limit_take(limit, key, coarse_now_ns()))
		return ANSWER_LIMITED;
	return ANSWER_REPLY;
}

enum answer_verdict answer_check(const struct answer_rules *rules, const uint8_t *packet, size_t bytes)
{
	switch (stamp_request_check(packet, bytes, rules->key, rules->light)) {
	case STAMP_REFLECT:
		return ANSWER_REPLY;
	case STAMP_UNSEALED:
		return ANSWER_UNSEALED;
	case STAMP_FORGED:
		return ANSWER_FORGED;
	default:
		return ANSWER_TOO_SHORT;
	}
}

enum answer_verdict answer_stamp(const struct answer_rules *rules, const struct answer_arrival *in, uint8_t *packet,
	size_t bytes, size_t room, struct stamp_made *ret_made)
{
	clock_real t2 = in->kernel_rx.ns ? in->kernel_rx : in->user_rx;
	struct stamp_arrival arrival = {
		.key = rules->key,
		.light = rules->light,
		.own_sequence = in->own_sequence,
		.ttl = (uint8_t)(in->ttl < 0 ? 255 : in->ttl),
		.has_tos = in->tos >= 0,
		.tos = (uint8_t)(in->tos < 0 ? 0 : in->tos),
		.info = in->info,
		.follow_up = in->follow_up,
		.error_estimate = in->error_estimate,
		.t2_ntp = stamp_ntp_of_real(t2.ns),
		.peer =
			{
				.valid = STAMP_VALID_USER_RX,
				.user_rx_ns = in->user_rx.ns,
				.kernel_rx_ns = in->kernel_rx.ns,
			},
	};
	if (in->kernel_rx.ns)
		arrival.peer.valid |= STAMP_VALID_KERNEL_RX;
	if (in->rx_cpu >= 0) {
		arrival.peer.valid |= STAMP_VALID_RX_CPU;
		arrival.peer.rx_cpu = (uint16_t)in->rx_cpu;
	}
	if (stamp_reflect(packet, bytes, &arrival, packet, room, ret_made) != STAMP_REFLECT)
		return ANSWER_TOO_SHORT;
	return ANSWER_REPLY;
}

struct answer_clock answer_clock_now(void)
{
	struct timex state = {0};
	int clock_state = adjtimex(&state);
	bool synchronised = clock_state >= 0 && clock_state != TIME_ERROR && !(state.status & STA_UNSYNC);
	bool pulse = synchronised && state.status & STA_PPSSIGNAL && state.status & (STA_PPSTIME | STA_PPSFREQ);
	/* 16 s is where the kernel itself stops counting */
	int64_t error_ns = clock_state >= 0 ? (int64_t)state.maxerror * 1000 : INT64_C(16000000000);
	uint8_t sync = pulse ? STAMP_SYNC_GNSS : synchronised ? STAMP_SYNC_NTP : STAMP_SYNC_FREE;
	return (struct answer_clock){
		.error_estimate = stamp_error_estimate(synchronised, error_ns),
		.info = {sync, STAMP_METHOD_SOFTWARE, sync, STAMP_METHOD_SOFTWARE},
	};
}
