/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Entering answers, stamps and refusals into the samples. Only what is ours and
 * was really sent gets in; the rest is counted beside.
 */
#include <errno.h>
#include <string.h>

#include "probe/probe.h"

static struct raw_sample *sent_sample(struct probe_target *target, uint64_t number)
{
	if (number >= target->next || target->samples[number].user_tx_ns == 0)
		return NULL;
	return &target->samples[number];
}

static void enter_peer(struct raw_sample *sample, const struct probe_reply *reply)
{
	sample->peer_rx_ns = reply->peer_rx_ns;
	sample->peer_user_ns = reply->peer_user_ns;
	sample->peer_tx_ns = reply->peer_tx_ns;
	sample->cpu_peer_rx = reply->cpu_peer_rx;
	sample->cpu_peer_tx = reply->cpu_peer_tx;
}

static void enter_reason(struct raw_sample *sample, const uint8_t *value)
{
	struct stamp_reason reason;
	stamp_reason_read(value, &reason);
	sample->said = (uint8_t)(reason.word < UINT8_MAX ? reason.word + 1 : 0);
	sample->said_ns = reason.covered_ns;
	sample->said_pid = reason.pid;
	sample->said_detail = (uint8_t)reason.detail;
	/* STAMP_NO_CPU plus one is 0: none */
	sample->said_cpu = (uint16_t)(reason.cpu_before + 1);
	sample->said_cpu_after = (uint16_t)(reason.cpu_after + 1);
	memcpy(sample->said_comm, reason.comm, sizeof sample->said_comm);
}

void probe_answer(struct probe_target *target, const struct probe_reply *reply)
{
	struct raw_sample *sample = sent_sample(target, reply->number);
	if (!sample) {
		raw_increase(&target->counters->foreign, 1);
		return;
	}
	if (sample->user_rx_ns) {
		sample->flags |= TARE_FLAG_DUPLICATED;
		raw_increase(&target->counters->duplicate, 1);
		return;
	}
	bool refused = sample->reason != 0;
	sample->kernel_rx_ns = reply->kernel_rx.ns;
	/* the second cache line of a sample is touched only where a card stamps */
	if (reply->nic_rx.ns)
		sample->nic_rx_ns = reply->nic_rx.ns;
	sample->cpu_rx = reply->cpu_rx;
	if (reply->has_peer)
		enter_peer(sample, reply);
	if (reply->wrong)
		sample->reason = reply->wrong;
	if (reply->reason)
		enter_reason(sample, reply->reason);
	if (reply->cut)
		sample->flags |= TARE_FLAG_TRUNCATED;
	if (reply->injected)
		sample->flags |= TARE_FLAG_INJECTED;
	if (reply->injecting)
		sample->flags |= TARE_FLAG_INJECTING;
	if (reply->number + 1 < target->highest_answered) {
		sample->flags |= TARE_FLAG_REORDERED;
		raw_increase(&target->counters->reordered, 1);
	} else {
		target->highest_answered = reply->number + 1;
	}
	/* last, so that a reader of the spool sees an answer only when all of it is there */
	atomic_signal_fence(memory_order_release);
	sample->user_rx_ns = reply->user_rx.ns;
	if (!refused)
		target->open--;
	raw_increase(&target->counters->answered, 1);
}

void probe_foreign(struct probe_target *target)
{
	raw_increase(&target->counters->foreign, 1);
}

/* The oldest request still open among the last 1024: errors come back within microseconds to seconds. */
static struct raw_sample *oldest_open(struct probe_target *target)
{
	uint64_t from = target->next > 1024 ? target->next - 1024 : 0;
	for (uint64_t i = from; i < target->next; i++) {
		struct raw_sample *sample = &target->samples[i];
		if (sample->user_tx_ns && !sample->user_rx_ns && !sample->reason)
			return sample;
	}
	return NULL;
}

void probe_refused(struct probe_target *target, uint64_t number, int error)
{
	bool guessed = number == PROBE_NO_NUMBER;
	struct raw_sample *sample = guessed ? oldest_open(target) : sent_sample(target, number);
	if (!sample || sample->reason || sample->user_rx_ns) {
		raw_increase(&target->counters->unmatched_errors, 1);
		return;
	}
	sample->reason = (uint16_t)error;
	if (guessed)
		sample->flags |= TARE_FLAG_GUESSED;
	target->open--;
}

void probe_fail(struct probe_target *target, uint64_t number, int error)
{
	struct raw_sample *sample = &target->samples[number];
	if (!sample->user_tx_ns || sample->user_rx_ns || sample->reason)
		return;
	sample->reason = (uint16_t)error;
	/* of a request being sent the loop has not counted it yet: it does right after, modulo 2^64 */
	target->open--;
}

void probe_stray_stamp(struct probe_target *target)
{
	raw_increase(&target->counters->stray_stamps, 1);
}

/* One stamp into its place; a second one of the same kind is not believed. */
static void enter_stamp(struct probe_target *target, int64_t *place_ns, int64_t stamp_ns)
{
	if (!stamp_ns)
		return;
	if (*place_ns)
		raw_increase(&target->counters->double_stamps, 1);
	else
		*place_ns = stamp_ns;
}

void probe_transmit_stamp(struct probe_target *target, uint64_t number, clock_real kernel, clock_phc nic)
{
	struct raw_sample *sample = sent_sample(target, number);
	if (!sample) {
		probe_stray_stamp(target);
		return;
	}
	enter_stamp(target, &sample->kernel_tx_ns, kernel.ns);
	enter_stamp(target, &sample->nic_tx_ns, nic.ns);
}

unsigned probe_stamps_wanted(const struct probe_request *request)
{
	unsigned want = 0;
	if (request->stamps >= PROBE_STAMPS_KERNEL)
		want |= NET_STAMP_RX | (request->transmit_stamps ? NET_STAMP_TX : 0u);
	if (request->stamps >= PROBE_STAMPS_NIC)
		want |= NET_STAMP_NIC_RX | (request->transmit_stamps ? NET_STAMP_NIC_TX : 0u);
	return want;
}
