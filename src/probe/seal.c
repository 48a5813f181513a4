/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From raw clock values to columns: one axis, fates decided, impossible stamps
 * dropped and marked. Pure: the same raw round gives the same columns, whether it
 * comes from a live run or from a spool found after a crash.
 */
#include <string.h>

#include "probe/probe.h"

struct columns {
	int64_t *at[TARE_STAGE_COUNT];
	int64_t *phase_ns[PROBE_PHASES];
	int16_t *cpu[TARE_CPU_PLACES];
	uint8_t *fate;
	uint16_t *flags, *reason;
};

static const enum tare_span span_of_phase[PROBE_PHASES] = {
	[PROBE_RESOLVE] = TARE_SPAN_RESOLVE,
	[PROBE_CONNECT] = TARE_SPAN_CONNECT,
	[PROBE_TLS] = TARE_SPAN_TLS,
	[PROBE_FIRST_BYTE] = TARE_SPAN_FIRST_BYTE,
	[PROBE_BODY] = TARE_SPAN_BODY,
};

/* Which columns the round needs: an unobserved stage has none. */
struct present { bool at[TARE_STAGE_COUNT], peer_cpu, phase[PROBE_PHASES], reason; };

static struct present find_present(const struct probe_sealing *s)
{
	struct present p = {.at = {[TARE_STAGE_DUE] = true, [TARE_STAGE_USER_TX] = true, [TARE_STAGE_USER_RX] = true}};
	bool card = s->card && s->card->error_ns != TARE_NO_TIME;
	for (uint64_t i = 0; i < s->slots; i++) {
		const struct raw_sample *raw = &s->samples[i];
		p.at[TARE_STAGE_KERNEL_TX] |= raw->kernel_tx_ns != 0;
		p.at[TARE_STAGE_KERNEL_RX] |= raw->kernel_rx_ns != 0;
		p.at[TARE_STAGE_NIC_TX] |= card && raw->nic_tx_ns != 0;
		p.at[TARE_STAGE_NIC_RX] |= card && raw->nic_rx_ns != 0;
		p.at[TARE_STAGE_PEER_RX] |= raw->peer_rx_ns != 0;
		p.at[TARE_STAGE_PEER_USER] |= raw->peer_user_ns != 0;
		p.at[TARE_STAGE_PEER_TX] |= raw->peer_tx_ns != 0;
		p.peer_cpu |= raw->cpu_peer_rx || raw->cpu_peer_tx;
		p.reason |= raw->reason != 0;
		for (int phase = 0; phase < PROBE_PHASES && s->stamps & PROBE_PHASED; phase++)
			p.phase[phase] |= raw->phase_us[phase] != 0;
	}
	return p;
}

size_t probe_seal_bytes(uint64_t slots)
{
	size_t each = (TARE_STAGE_COUNT + PROBE_PHASES) * sizeof(int64_t) + TARE_CPU_PLACES * sizeof(int16_t) + 1 + 2 + 2;
	return (size_t)slots * each + 4096;
}

static int take_columns(struct columns *c, const struct present *p, uint64_t slots, struct arena *arena)
{
	bool all = true;
	for (int stage = 0; stage < TARE_STAGE_COUNT; stage++)
		if (p->at[stage])
			all &= (c->at[stage] = ARENA_ARRAY(arena, int64_t, slots)) != NULL;
	for (int phase = 0; phase < PROBE_PHASES; phase++)
		if (p->phase[phase])
			all &= (c->phase_ns[phase] = ARENA_ARRAY(arena, int64_t, slots)) != NULL;
	for (int place = 0; place < TARE_CPU_PLACES; place++)
		if (place == TARE_CPU_TX || place == TARE_CPU_RX || p->peer_cpu)
			all &= (c->cpu[place] = ARENA_ARRAY(arena, int16_t, slots)) != NULL;
	all &= (c->fate = ARENA_ARRAY(arena, uint8_t, slots)) != NULL;
	all &= (c->flags = ARENA_ARRAY(arena, uint16_t, slots)) != NULL;
	if (p->reason)
		all &= (c->reason = ARENA_ARRAY(arena, uint16_t, slots)) != NULL;
	return all ? 0 : -1;
}

static enum tare_fate fate_of(const struct probe_sealing *s, const struct raw_sample *raw)
{
	if (!raw->user_tx_ns)
		return TARE_NOT_SENT;
	if (tare_reason_answered(raw->reason))
		return TARE_ERROR;
	if (raw->user_rx_ns)
		return raw->user_rx_ns - raw->user_tx_ns <= s->timeout_ns ? TARE_ANSWERED : TARE_OVERDUE;
	if (raw->reason)
		return TARE_ERROR;
	return s->ended_mono_ns - raw->user_tx_ns >= s->timeout_ns ? TARE_LOST : TARE_PENDING;
}

static bool is_between_segments(const struct tare_axis *axis, int64_t mono_ns)
{
	return axis->segments && mono_ns > axis->segment[0].from_mono_ns &&
		mono_ns < axis->segment[axis->segments - 1].to_mono_ns;
}

/*
 * A wall-clock stamp as monotonic time. Outside [least, most], widened by the axis error, it cannot be true:
 * another packet's, or taken in another time. Returns TARE_NO_TIME and sets the flag that says why.
 */
static int64_t bring_over(const struct probe_sealing *s, int64_t real_ns, int64_t near_ns, int64_t least_ns,
	int64_t most_ns, uint16_t *flags)
{
	int64_t mono_ns = tare_axis_mono_of_real(s->axis, real_ns, near_ns), error_ns = tare_axis_error_ns(s->axis);
	if (mono_ns == TARE_NO_TIME || error_ns == TARE_NO_TIME) {
		/* a round that was cut off ends after its last clock reading: nothing is known there, no step either */
		if (is_between_segments(s->axis, near_ns))
			*flags |= TARE_FLAG_CLOCK_STEP;
		return TARE_NO_TIME;
	}
	if (mono_ns < least_ns - error_ns || mono_ns > most_ns + error_ns) {
		*flags |= TARE_FLAG_IMPOSSIBLE;
		return TARE_NO_TIME;
	}
	return mono_ns;
}

static int64_t on_axis(const struct probe_sealing *s, int64_t mono_ns)
{
	return mono_ns == TARE_NO_TIME || mono_ns == 0 ? TARE_NO_TIME : mono_ns - s->epoch_mono_ns;
}

static void put(int64_t *column, uint64_t i, int64_t value)
{
	if (column)
		column[i] = value;
}

/* The same for a card's stamp, by the card's own clock; `error_ns` is that of both clocks. */
static int64_t bring_card_over(const struct probe_sealing *s, int64_t card_ns, int64_t near_ns, int64_t least_ns,
	int64_t most_ns, uint16_t *flags)
{
	int64_t mono_ns = tare_card_mono_of(s->card, card_ns, near_ns), error_ns = s->card->error_ns;
	int64_t wall_ns = tare_axis_error_ns(s->axis);
	if (mono_ns == TARE_NO_TIME) {
		*flags |= s->card->steps ? TARE_FLAG_CLOCK_STEP : TARE_FLAG_IMPOSSIBLE;
		return TARE_NO_TIME;
	}
	error_ns += wall_ns == TARE_NO_TIME ? 0 : wall_ns;
	if (mono_ns < least_ns - error_ns || mono_ns > most_ns + error_ns) {
		*flags |= TARE_FLAG_IMPOSSIBLE;
		return TARE_NO_TIME;
	}
	return mono_ns;
}

/* Those of the card lie inside those of the kernel, as far as there are any. */
static void seal_card_stamps(const struct probe_sealing *s, const struct raw_sample *raw, const struct columns *c,
	uint64_t i, int64_t least_ns, int64_t most_ns, uint16_t *flags)
{
	bool answered = raw->user_rx_ns != 0, sent = raw->user_tx_ns != 0;
	bool refused = raw->reason && !tare_reason_answered(raw->reason);
	bool card = s->card && s->card->error_ns != TARE_NO_TIME;
	int64_t tx_ns = TARE_NO_TIME, rx_ns = TARE_NO_TIME;
	if (card && raw->nic_tx_ns)
		tx_ns = bring_card_over(s, raw->nic_tx_ns, raw->user_tx_ns, least_ns, most_ns, flags);
	if (card && raw->nic_rx_ns)
		rx_ns = bring_card_over(s, raw->nic_rx_ns, raw->user_rx_ns, tx_ns != TARE_NO_TIME ? tx_ns : least_ns,
			most_ns, flags);
	if (sent && !refused && tx_ns == TARE_NO_TIME && s->stamps & NET_STAMP_NIC_TX)
		*flags |= TARE_FLAG_NO_NIC_TX;
	if (answered && rx_ns == TARE_NO_TIME && s->stamps & NET_STAMP_NIC_RX)
		*flags |= TARE_FLAG_NO_NIC_RX;
	put(c->at[TARE_STAGE_NIC_TX], i, on_axis(s, tx_ns));
	put(c->at[TARE_STAGE_NIC_RX], i, on_axis(s, rx_ns));
}

static void seal_kernel_stamps(const struct probe_sealing *s, const struct raw_sample *raw, const struct columns *c,
	uint64_t i, uint16_t *flags)
{
	bool answered = raw->user_rx_ns != 0, sent = raw->user_tx_ns != 0;
	int64_t last_ns = answered ? raw->user_rx_ns : s->ended_mono_ns, tx_ns = TARE_NO_TIME, rx_ns = TARE_NO_TIME;
	if (raw->kernel_tx_ns)
		tx_ns = bring_over(s, raw->kernel_tx_ns, raw->user_tx_ns, raw->user_tx_ns, last_ns, flags);
	if (raw->kernel_rx_ns)
		rx_ns = bring_over(s, raw->kernel_rx_ns, raw->user_rx_ns,
			tx_ns != TARE_NO_TIME ? tx_ns : raw->user_tx_ns, raw->user_rx_ns, flags);
	/* a request that was refused may never have come as far as a driver */
	bool refused = raw->reason && !tare_reason_answered(raw->reason);
	if (sent && !refused && tx_ns == TARE_NO_TIME && s->stamps & NET_STAMP_TX)
		*flags |= TARE_FLAG_NO_KERNEL_TX;
	if (answered && rx_ns == TARE_NO_TIME && s->stamps & NET_STAMP_RX)
		*flags |= TARE_FLAG_NO_KERNEL_RX;
	put(c->at[TARE_STAGE_KERNEL_TX], i, on_axis(s, tx_ns));
	put(c->at[TARE_STAGE_KERNEL_RX], i, on_axis(s, rx_ns));
	seal_card_stamps(s, raw, c, i, tx_ns != TARE_NO_TIME ? tx_ns : raw->user_tx_ns,
		rx_ns != TARE_NO_TIME ? rx_ns : last_ns, flags);
}

static int64_t peer_at(const struct probe_sealing *s, int64_t real_ns)
{
	return real_ns ? real_ns - s->epoch_real_ns : TARE_NO_TIME;
}

static int16_t cpu_of(uint16_t plus_one)
{
	return plus_one && plus_one <= INT16_MAX ? (int16_t)(plus_one - 1) : TARE_NO_CPU;
}

static void seal_one(const struct probe_sealing *s, const struct columns *c, uint64_t i)
{
	const struct raw_sample *raw = &s->samples[i];
	uint16_t flags = raw->flags | (s->injecting ? TARE_FLAG_INJECTING : 0);
	c->fate[i] = (uint8_t)fate_of(s, raw);
	c->at[TARE_STAGE_DUE][i] = on_axis(s, raw->due_ns);
	c->at[TARE_STAGE_USER_TX][i] = on_axis(s, raw->user_tx_ns);
	c->at[TARE_STAGE_USER_RX][i] = on_axis(s, raw->user_rx_ns);
	seal_kernel_stamps(s, raw, c, i, &flags);
	put(c->at[TARE_STAGE_PEER_RX], i, peer_at(s, raw->peer_rx_ns));
	put(c->at[TARE_STAGE_PEER_USER], i, peer_at(s, raw->peer_user_ns));
	put(c->at[TARE_STAGE_PEER_TX], i, peer_at(s, raw->peer_tx_ns));
	c->cpu[TARE_CPU_TX][i] = cpu_of(raw->cpu_tx);
	c->cpu[TARE_CPU_RX][i] = cpu_of(raw->cpu_rx);
	if (c->cpu[TARE_CPU_PEER_RX]) {
		c->cpu[TARE_CPU_PEER_RX][i] = cpu_of(raw->cpu_peer_rx);
		c->cpu[TARE_CPU_PEER_TX][i] = cpu_of(raw->cpu_peer_tx);
	}
	for (int phase = 0; phase < PROBE_PHASES && s->stamps & PROBE_PHASED; phase++)
		put(c->phase_ns[phase], i, raw->phase_us[phase] ? ((int64_t)raw->phase_us[phase] - 1) * 1000 : TARE_NO_TIME);
	c->flags[i] = flags;
	if (c->reason)
		c->reason[i] = raw->reason;
}

static uint32_t stages_asked(unsigned stamps)
{
	uint32_t asked = 1u << TARE_STAGE_DUE | 1u << TARE_STAGE_USER_TX | 1u << TARE_STAGE_USER_RX;
	if (stamps & NET_STAMP_TX)
		asked |= 1u << TARE_STAGE_KERNEL_TX;
	if (stamps & NET_STAMP_RX)
		asked |= 1u << TARE_STAGE_KERNEL_RX;
	if (stamps & NET_STAMP_NIC_TX)
		asked |= 1u << TARE_STAGE_NIC_TX;
	if (stamps & NET_STAMP_NIC_RX)
		asked |= 1u << TARE_STAGE_NIC_RX;
	return asked;
}

int probe_seal(const struct probe_sealing *s, struct arena *arena, struct tare_record *ret_record, struct tare_err *err)
{
	struct columns c = {0};
	struct present present = find_present(s);
	if (take_columns(&c, &present, s->slots, arena) < 0)
		return tare_fail(err, TARE_E_SYSTEM, "no memory to seal a round of %llu requests", (unsigned long long)s->slots);
	for (uint64_t i = 0; i < s->slots; i++)
		seal_one(s, &c, i);
	struct tare_series series = {.count = s->slots, .fate = c.fate, .flags = c.flags, .reason = c.reason};
	for (int stage = 0; stage < TARE_STAGE_COUNT; stage++)
		series.at_ns[stage] = c.at[stage];
	for (int phase = 0; phase < PROBE_PHASES; phase++)
		series.given_ns[span_of_phase[phase]] = c.phase_ns[phase];
	for (int place = 0; place < TARE_CPU_PLACES; place++)
		series.cpu[place] = c.cpu[place];
	ret_record->series = series;
	ret_record->resolution_ns = 1;
	ret_record->beside = (struct tare_beside){
		.duplicate = raw_read(&s->counters->duplicate),
		.reordered = raw_read(&s->counters->reordered),
		.foreign = raw_read(&s->counters->foreign),
		.unmatched_errors = raw_read(&s->counters->unmatched_errors),
		.stamps_asked = stages_asked(s->stamps),
	};
	return 0;
}
