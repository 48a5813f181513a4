/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A spool becomes a sealed round: records by target and the events that the data
 * itself tells (steps of the wall clock, stretches in which nothing could be sent).
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "session/private.h"

enum { SEGMENTS_MAX = 256, EVENTS_MAX = 1024 };

void writer_job_event(struct writer_job *job, int64_t at_ns, const char *kind, const char *sentence)
{
	const char *copy = job->event_count < EVENTS_MAX ? arena_text(job->arena, sentence) : NULL;
	if (copy)
		job->events[job->event_count++] = (struct tare_event){.at_ns = at_ns, .kind = kind, .text = copy};
}

static void add_steps(struct writer_job *job, const struct tare_axis *axis, int64_t epoch_mono_ns)
{
	for (size_t i = 0; i + 1 < axis->segments; i++) {
		struct tare_axis_step step = tare_axis_step_after(axis, i);
		char size[32], sentence[160];
		format_duration(step.step_ns, size, sizeof size);
		snprintf(sentence, sizeof sentence,
			"the wall clock was stepped by %s; schedule and round trips are not affected, kernel stamps nearby "
			"were dropped",
			size);
		writer_job_event(job, step.after_mono_ns - epoch_mono_ns, "wall-step", sentence);
	}
}

/* One event for each stretch of requests that could not be sent for the same reason. */
static void add_refusals(struct writer_job *job, const struct tare_record *record)
{
	const struct tare_series *series = &record->series;
	for (size_t i = 0; series->reason && i < series->count;) {
		uint16_t reason = series->reason[i];
		size_t from = i;
		if (series->fate[i] != TARE_NOT_SENT || !reason) {
			i++;
			continue;
		}
		while (i < series->count && series->fate[i] == TARE_NOT_SENT && series->reason[i] == reason)
			i++;
		char sentence[256];
		snprintf(sentence, sizeof sentence, "%s: %zu request%s from #%zu on not sent: %s", record->target->url,
			i - from, i - from == 1 ? "" : "s", from, strerror(reason));
		writer_job_event(job, series->at_ns[TARE_STAGE_DUE][from], "not-sent", sentence);
	}
}

static void add_reconnects(struct writer_job *job, const struct tare_record *record, const struct raw_counters *counters)
{
	char sentence[256];
	uint64_t times = raw_read(&counters->reconnects);
	if (!times)
		return;
	snprintf(sentence, sizeof sentence, "%s: the connection was opened anew %llu time%s", record->target->url,
		(unsigned long long)times, times == 1 ? "" : "s");
	writer_job_event(job, job->round.first_due_ns, "reconnected", sentence);
}

static size_t arena_bytes(const struct spool *spool)
{
	size_t bytes = SEGMENTS_MAX * sizeof(struct tare_axis_segment) +
		EVENTS_MAX * (sizeof(struct tare_event) + 256) + SPOOL_LABEL_BYTES + 65536;
	for (size_t i = 0; i < spool->header->target_count; i++)
		bytes += sizeof(struct tare_record) + probe_seal_bytes(raw_read(&spool->counters[i].slots));
	return bytes;
}

static struct tare_round round_of(const struct sealing_of_spool *s, struct arena *arena)
{
	const struct spool_header *header = s->spool->header;
	const char *label = arena_text(arena, header->label);
	return (struct tare_round){
		.number = header->number,
		.label = label ? label : "",
		.first_due_ns = header->first_due_ns - s->run->epoch_mono_ns,
		.interval_ns = header->interval_ns,
		.phase_ns = header->phase_ns,
		.jitter_ns = header->jitter_ns,
		.timeout_ns = header->timeout_ns,
		.ended_ns = s->ended_mono_ns - s->run->epoch_mono_ns,
		.warmup = header->warmup,
		.status = s->status,
	};
}

/* What came of the transmit stamps beside the samples, and of the card's clock. */
static void add_stamp_notes(struct writer_job *job, const struct tare_record *record, const struct raw_counters *counters)
{
	static const struct {
		size_t at;
		const char *one, *many;
	} kinds[] = {
		{offsetof(struct raw_counters, stray_stamps), "transmit stamp fitted no request", "transmit stamps fitted no request"},
		{offsetof(struct raw_counters, double_stamps), "transmit stamp came twice", "transmit stamps came twice"},
		{offsetof(struct raw_counters, cut_stamps), "message of the error queue was cut", "messages of the error queue were cut"},
	};
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		char sentence[300];
		const char *at = (const char *)counters + kinds[i].at;
		uint64_t count = raw_read((const _Atomic uint64_t *)(const void *)at);
		if (!count)
			continue;
		snprintf(sentence, sizeof sentence, "%s: %llu %s", record->target->url, (unsigned long long)count,
			count == 1 ? kinds[i].one : kinds[i].many);
		writer_job_event(job, job->round.first_due_ns, "stamps", sentence);
	}
}

static void add_card_clock(struct writer_job *job, const struct tare_card_clock *card)
{
	char error[32], sentence[200];
	if (card->count == 0)
		return;
	if (card->error_ns == TARE_NO_TIME) {
		writer_job_event(job, job->round.first_due_ns, "stamps",
			"the card's clock could not be read often enough: its stamps were dropped");
		return;
	}
	format_duration(card->error_ns, error, sizeof error);
	snprintf(sentence, sizeof sentence, "the card's clock was read %zu times, is known to %s and drifts by %.2f ppm%s",
		card->count, error, card->drift_ppm, card->steps ? "; it was set meanwhile, stamps nearby were dropped" : "");
	writer_job_event(job, job->round.first_due_ns, "stamps", sentence);
}

static int seal_targets(const struct sealing_of_spool *s, const struct tare_axis *axis,
	const struct tare_card_clock *card, struct writer_job *job, struct tare_err *err)
{
	const struct spool *spool = s->spool;
	for (size_t i = 0; i < job->record_count; i++) {
		struct probe_sealing sealing = {
			.samples = spool_samples(spool, i),
			.counters = &spool->counters[i],
			.slots = raw_read(&spool->counters[i].slots),
			.axis = axis,
			.card = card,
			.epoch_mono_ns = s->run->epoch_mono_ns,
			.epoch_real_ns = s->run->epoch_real_ns,
			.ended_mono_ns = s->ended_mono_ns,
			.timeout_ns = spool->header->timeout_ns,
			.stamps = spool->header->stamps[i],
			.injecting = spool->header->injecting != 0,
		};
		job->records[i] = (struct tare_record){.run = s->run, .target = &s->targets[i], .round = &job->round};
		if (probe_seal(&sealing, job->arena, &job->records[i], err) < 0)
			return -1;
		add_refusals(job, &job->records[i]);
		add_reconnects(job, &job->records[i], sealing.counters);
		add_stamp_notes(job, &job->records[i], sealing.counters);
	}
	return 0;
}

int session_seal(const struct sealing_of_spool *s, struct writer_job **ret_job, struct tare_err *err)
{
	struct writer_job *job = calloc(1, sizeof *job);
	if (!job)
		return tare_fail_errno(err, ENOMEM, "cannot seal the round");
	job->spool = (struct spool){.fd = -1};
	if (arena_open(arena_bytes(s->spool), 0, &job->arena, err) < 0) {
		free(job);
		return -1;
	}
	struct tare_axis_segment *segments = ARENA_ARRAY(job->arena, struct tare_axis_segment, SEGMENTS_MAX);
	job->record_count = s->spool->header->target_count;
	job->records = ARENA_ARRAY(job->arena, struct tare_record, job->record_count);
	job->events = ARENA_ARRAY(job->arena, struct tare_event, EVENTS_MAX);
	job->readings = s->spool->readings;
	job->reading_count = raw_read(&s->spool->header->readings_count);
	size_t found = tare_axis_build(job->readings, job->reading_count, segments, SEGMENTS_MAX);
	struct tare_axis axis = {.segment = segments, .segments = found < SEGMENTS_MAX ? found : SEGMENTS_MAX};
	job->round = round_of(s, job->arena);
	job->round.axis_error_ns = tare_axis_error_ns(&axis);
	struct tare_card_clock card = tare_card_clock_of(s->spool->card, raw_read(&s->spool->header->card_count));
	/* a bound that holds between any two stages: that of both clocks */
	if (card.error_ns != TARE_NO_TIME && job->round.axis_error_ns != TARE_NO_TIME)
		job->round.axis_error_ns += card.error_ns;
	add_card_clock(job, &card);
	add_steps(job, &axis, s->run->epoch_mono_ns);
	if (s->spool->header->injecting)
		writer_job_event(job, job->round.first_due_ns, "injected", "the sender holds itself up on purpose");
	if (seal_targets(s, &axis, &card, job, err) < 0) {
		writer_job_free(job, false);
		return -1;
	}
	*ret_job = job;
	return 0;
}

void writer_job_free(struct writer_job *job, bool remove_spool)
{
	if (!job)
		return;
	if (job->spool.map)
		spool_close(&job->spool, remove_spool);
	arena_free(job->arena);
	arena_free(job->fact_arena);
	free(job->causes);
	free(job->evidence);
	free(job->wanted);
	free(job->shares);
	free(job);
}
