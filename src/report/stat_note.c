/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Gathering a series' notes. A pass over the samples is made only where an
 * earlier, cheaper look says that there is something to find: in a clean series
 * of ten million samples that is one OR over the flags.
 */
#include "report/stat_note.h"

static void take_flags(struct stat_note *note, const struct tare_series *series)
{
	uint16_t any = 0;
	if (!series->flags)
		return;
	for (size_t i = 0; i < series->count; i++)
		any |= series->flags[i];
	for (unsigned bit = 0; bit < NOTE_FLAGS; bit++) {
		if (!(any >> bit & 1))
			continue;
		for (size_t i = 0; i < series->count; i++)
			note->flagged[bit] += series->flags[i] >> bit & 1;
	}
}

static void add_reason(struct stat_note *note, uint16_t reason, uint64_t errors, uint64_t not_sent)
{
	size_t at = 0;
	while (at < note->reason_count && note->reasons[at].reason != reason)
		at++;
	if (at == NOTE_REASONS) {
		note->other_reasons += errors + not_sent;
		return;
	}
	if (at == note->reason_count)
		note->reason_count++;
	note->reasons[at].reason = reason;
	note->reasons[at].errors += errors;
	note->reasons[at].not_sent += not_sent;
}

static void take_reasons(struct stat_note *note, const struct tare_series *series)
{
	if (note->fates.count[TARE_ERROR] == 0 && note->fates.count[TARE_NOT_SENT] == 0)
		return;
	for (size_t i = 0; i < series->count; i++) {
		uint8_t fate = series->fate[i];
		bool skipped = series->flags && series->flags[i] & TARE_FLAG_SKIPPED;
		if (fate == TARE_ERROR || (fate == TARE_NOT_SENT && !skipped))
			add_reason(note, series->reason ? series->reason[i] : 0, fate == TARE_ERROR,
				fate == TARE_NOT_SENT);
	}
}

static uint64_t flagged_missing(const struct stat_note *note, unsigned flag)
{
	unsigned bit = 0;
	while (flag >> bit > 1)
		bit++;
	return note->flagged[bit];
}

/* Transmit stamps belong to what was sent, all others to what was answered. */
static void take_stamps(struct stat_note *note, const struct tare_record *record)
{
	static const unsigned missing_flag[TARE_STAGE_COUNT] = {[TARE_STAGE_KERNEL_TX] = TARE_FLAG_NO_KERNEL_TX,
		[TARE_STAGE_KERNEL_RX] = TARE_FLAG_NO_KERNEL_RX,
		[TARE_STAGE_NIC_TX] = TARE_FLAG_NO_NIC_TX,
		[TARE_STAGE_NIC_RX] = TARE_FLAG_NO_NIC_RX};
	const struct tare_series *series = &record->series;
	uint64_t answered = note->fates.count[TARE_ANSWERED] + note->fates.count[TARE_OVERDUE];

	for (unsigned stage = 0; stage < TARE_STAGE_COUNT; stage++) {
		if (!(record->beside.stamps_asked >> stage & 1) || stage == TARE_STAGE_DUE)
			continue;
		bool on_send =
			stage == TARE_STAGE_USER_TX || stage == TARE_STAGE_KERNEL_TX || stage == TARE_STAGE_NIC_TX;
		note->stamp_asked[stage] = on_send ? note->fates.sent : answered;
		if (!tare_stage_seen(series, stage))
			note->stamp_missing[stage] = note->stamp_asked[stage];
		else if (missing_flag[stage])
			note->stamp_missing[stage] = flagged_missing(note, missing_flag[stage]);
	}
}

void stat_note_take(struct stat_note *note, const char *file, const struct tare_record *record, int64_t warmup)
{
	*note = (struct stat_note){
		.file = file,
		.run = record->run,
		.target = record->target,
		.round = record->round,
		.rounds = 1,
		.warmup = warmup >= 0 ? warmup : record->round->warmup,
		.resolution_ns = record->resolution_ns,
		.fates = tare_fates_of(&record->series),
		.requests = record->series.count,
		.foreign_errors = record->beside.unmatched_errors,
	};
	take_flags(note, &record->series);
	take_reasons(note, &record->series);
	take_stamps(note, record);
}

void stat_note_add(struct stat_note *sum, const struct stat_note *note)
{
	if (sum->rounds == 0) {
		*sum = *note;
		sum->insight = NULL;
		return;
	}
	sum->rounds += note->rounds;
	sum->requests += note->requests;
	sum->foreign_errors += note->foreign_errors;
	sum->other_reasons += note->other_reasons;
	sum->fates.sent += note->fates.sent;
	if (note->resolution_ns > sum->resolution_ns)
		sum->resolution_ns = note->resolution_ns;
	for (size_t i = 0; i < TARE_FATE_COUNT; i++)
		sum->fates.count[i] += note->fates.count[i];
	for (size_t i = 0; i < TARE_STAGE_COUNT; i++) {
		sum->stamp_missing[i] += note->stamp_missing[i];
		sum->stamp_asked[i] += note->stamp_asked[i];
	}
	for (size_t i = 0; i < NOTE_FLAGS; i++)
		sum->flagged[i] += note->flagged[i];
	tare_stalls_add(&sum->stalls, &note->stalls);
	for (size_t i = 0; i < note->reason_count; i++)
		add_reason(sum, note->reasons[i].reason, note->reasons[i].errors, note->reasons[i].not_sent);
}
