/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rounds of a run, one after the other: spool, measure, seal, hand on, write. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "session/placement.h"
#include "session/private.h"
#include "session/why.h"

/* Between taking the clock and the first request: thread start, placement and clock readings need about 1 ms. */
#define LEAD_NS ((int64_t)20000000)
/* Room for paired readings: one every 75 ms, and some. */
#define READINGS_EVERY_NS ((int64_t)70000000)

static struct spool_header plan_round(struct session *session)
{
	const struct session_config *config = &session->config;
	/* a random phase (RFC 3432): rounds must not all meet the kernel's ticks alike */
	uint64_t period_ns = (uint64_t)config->every_ns * (config->schedule == PACER_BURST ? config->burst : 1);
	int64_t phase_ns = (int64_t)(pacer_mix(session->seed, session->round_number) % period_ns);
	int64_t length_ns = (int64_t)session->slots * config->every_ns + config->timeout_ns;
	struct spool_header plan = {
		.target_count = (uint32_t)session->target_count,
		.count = session->slots,
		.readings_room = (uint64_t)(length_ns / READINGS_EVERY_NS) + 1024,
		.card_room = session->phc.fd >= 0 ? (uint64_t)(length_ns / READINGS_EVERY_NS) + 64 : 0,
		.epoch_mono_ns = session->run.epoch_mono_ns,
		.epoch_real_ns = session->run.epoch_real_ns,
		.seed = session->seed,
		.interval_ns = config->every_ns,
		.phase_ns = phase_ns,
		.jitter_ns = config->jitter_ns,
		.timeout_ns = config->timeout_ns,
		.number = session->round_number,
		.warmup = config->warmup,
		.injecting = session->inject.count > 0,
		.first_target = (uint32_t)session->first_target,
	};
	snprintf(plan.label, sizeof plan.label, "%s", config->label ? config->label : "");
	for (size_t i = 0; i < session->target_count; i++)
		plan.stamps[i] = session->probes[i].stamps;
	return plan;
}

/* Due times that only sums tell, from 0 on: before the round's clock starts, since 10 million take 0.3 s. */
static void draw_schedule(struct probe_target *probe)
{
	int64_t due_ns = 0;
	for (uint64_t i = 0; i < probe->count; i++) {
		due_ns += pacer_gap_ns(&probe->pacer, i);
		probe->samples[i].due_ns = due_ns;
	}
}

static void prepare_targets(struct session *session)
{
	struct spool_header *header = session->spool.header;
	int64_t apart_ns = header->interval_ns / (int64_t)session->target_count;
	bool drawn = session->config.schedule == PACER_POISSON;
	for (size_t i = 0; i < session->target_count; i++) {
		struct probe_target *probe = &session->probes[i];
		probe->pacer = (struct pacer){
			.interval_ns = header->interval_ns,
			.jitter_ns = header->jitter_ns,
			.seed = pacer_mix(session->seed, (uint64_t)header->number << 16 | i),
			.schedule = session->config.schedule,
			.burst = session->config.burst,
		};
		probe->count = session->slots;
		probe->samples = spool_samples(&session->spool, i);
		probe->counters = &session->spool.counters[i];
		probe->drawn = drawn;
		if (drawn)
			draw_schedule(probe);
	}
	struct tare_reading now = source_reading(&clock_system);
	header->first_due_ns = now.mono_after_ns + LEAD_NS + header->phase_ns;
	/* moved to where they are in time: 2 ns a request */
	for (size_t i = 0; i < session->target_count; i++) {
		struct probe_target *probe = &session->probes[i];
		probe->pacer.first.ns = header->first_due_ns + (int64_t)i * apart_ns;
		probe->real_offset_ns = now.real_ns - now.mono_before_ns;
		for (uint64_t k = 0; drawn && k < probe->count; k++)
			probe->samples[k].due_ns += probe->pacer.first.ns;
	}
}

/* In the measuring thread, with the first request due: what befalls the batch that is about to leave. */
static void hold(void *self, struct probe_target *target, unsigned count)
{
	const struct inject_plan *plan = self;
	for (uint64_t number = target->next; number < target->next + count; number++) {
		struct raw_sample *sample = &target->samples[number];
		struct inject_due due;
		/* a batch that the kernel did not take comes by again */
		if (sample->flags & TARE_FLAG_INJECTED || !inject_at(plan, number, number, &due))
			continue;
		sample->flags |= TARE_FLAG_INJECTED;
		inject_hold(&due);
	}
}

static bool read_card(void *self, struct tare_reading *ret_reading)
{
	return phc_read(self, ret_reading);
}

static void plan_thread(struct session *session, struct measurement *m, bool first)
{
	m->session = session;
	m->first = first;
	m->round = (struct probe_round){
		.clock = first && session->waiting ? waiting_clock(session->waiting) : &clock_system,
		.targets = m->targets,
		.timeout_ns = session->config.timeout_ns,
		.on_late = session->config.on_late,
		.spin = first && session->config.spin,
		.readings = {.reading = m->spare, .room = SESSION_SPARE_READINGS, .count = &m->spare_count},
		.stop = &session->stop,
		.gaps = first && session->watch && session->config.spin,
		.hold = session->inject.count ? hold : NULL,
		.hold_self = &session->inject,
	};
	if (first)
		m->round.readings = (struct probe_readings){.reading = session->spool.readings,
			.room = session->spool.header->readings_room,
			.count = &session->spool.header->readings_count};
	if (first && session->phc.fd >= 0)
		m->round.card = (struct probe_card){.read = read_card,
			.self = &session->phc,
			.readings = {.reading = session->spool.card,
				.room = session->spool.header->card_room,
				.count = &session->spool.header->card_count}};
}

/* The threads of a round: one for all kinds that never block, one for each target that must be alone. */
static size_t plan_threads(struct session *session, struct measurement *measurements)
{
	size_t count = 0;
	for (int alone = 0; alone <= 1; alone++) {
		for (size_t i = 0; i < session->target_count; i++) {
			if (session->probe_list[i]->kind->alone != (alone != 0))
				continue;
			if (alone || count == 0)
				{
				plan_thread(session, &measurements[count], count == 0);
				count++;
			}
			struct measurement *m = &measurements[count - 1];
			m->targets[m->round.target_count++] = session->probe_list[i];
		}
	}
	return count;
}

static void note_unlocked(const struct session *session, const struct session_events *events)
{
	if (session->spool.locked || session->round_number > 1 || !events->note)
		return;
	char sentence[200];
	snprintf(sentence, sizeof sentence,
		"the %zu MB for samples are not locked in memory (ulimit -l is too low); paging would show as lateness",
		(session->spool.bytes >> 20) + 1);
	events->note(events->context, sentence);
}

/* What happened around the samples and the table does not show. */
static void say_events(const struct session_events *events, const struct writer_job *job)
{
	for (size_t i = 0; events->note && i < job->event_count; i++)
		if (strcmp(job->events[i].kind, "reconnected") == 0 || strcmp(job->events[i].kind, "sweep") == 0 ||
			strcmp(job->events[i].kind, "stamps") == 0 ||
			strcmp(job->events[i].kind, "path") == 0 ||
			strcmp(job->events[i].kind, "receive") == 0 ||
			strcmp(job->events[i].kind, "losses") == 0 ||
			(strcmp(job->events[i].kind, "peer") == 0 && job->round.number == 1))
			events->note(events->context, job->events[i].text);
}

/* What a peer turned out to be is an event of each round: it may change. */
static void add_peers(struct session *session, struct writer_job *job)
{
	for (size_t i = 0; i < session->target_count; i++) {
		struct probe_target *probe = &session->probes[i];
		char seen[800] = "", sentence[1000];
		if (probe->kind->tell)
			probe->kind->tell(probe, seen, sizeof seen);
		snprintf(sentence, sizeof sentence, "%s: %s", session->targets[session->first_target + i].url, seen);
		if (seen[0])
			writer_job_event(job, job->round.first_due_ns, "peer", sentence);
		path_tell(session, job, i);
	}
}

/* All counters are for the recording; those that tell of losses are told to the user too. */
static void add_counters(struct session *session, struct writer_job *job)
{
	for (size_t i = 0; i < session->target_count; i++) {
		struct probe_target *probe = &session->probes[i];
		char all[1800], losses[1800], sentence[2000];
		if (!probe->kind->counted)
			continue;
		bool lost = probe->kind->counted(probe, all, losses, sizeof all);
		snprintf(sentence, sizeof sentence, "%s: counted beside the samples: %s", session->targets[i].url, all);
		writer_job_event(job, job->round.ended_ns, "counters", sentence);
		snprintf(sentence, sizeof sentence, "%s: lost or damaged on this side: %s", session->targets[i].url, losses);
		if (lost)
			writer_job_event(job, job->round.ended_ns, "losses", sentence);
	}
}

/* Hands a sealed round to the caller and the writer; what cannot be kept stays in the spool. */
static int deliver(struct session *session, const struct session_events *events, struct writer_job *job,
	struct tare_err *err)
{
	say_events(events, job);
	int status = events->round ? events->round(events->context, job->records, job->record_count, err) : 0;
	for (size_t i = 0; status == 0 && events->say && i < job->said_count; i++)
		events->say(events->context, job->round.number, job->said[i]);
	if (status == 0 && events->causes && job->causes)
		events->causes(events->context, job->records, job->record_count, job->causes, job->cause_count);
	if (!session->writer) {
		writer_job_free(job, true);
		return status;
	}
	if (writer_submit(&session->writing, job, status < 0 ? NULL : err) < 0)
		return -1;
	return status;
}

static int run_round(struct session *session, const struct session_events *events, bool *ret_interrupted,
	struct tare_err *err)
{
	atomic_store_explicit(&session->stop, false, memory_order_relaxed);
	struct spool_header plan = plan_round(session);
	if (spool_create(session->writer ? session->prefix : NULL, &plan, &session->spool, err) < 0)
		return -1;
	note_unlocked(session, events);
	session_around_start(session);
	if (session->config.with && with_start(&session->with, session->config.with, err) < 0) {
		spool_close(&session->spool, true);
		return -1;
	}
	bool quiet = false;
	if (session_quiet(session, events, &quiet, err) < 0) {
		with_stop(&session->with);
		spool_close(&session->spool, true);
		return -1;
	}
	why_begin(session);
	prepare_targets(session);
	AUTO_FREE struct measurement *measurements = calloc(session->target_count + 1, sizeof *measurements);
	size_t threads = measurements ? plan_threads(session, measurements) : 0;
	int status = measurements ? session_measure(session, events, quiet, measurements, threads, ret_interrupted, err)
				  : tare_fail_errno(err, ENOMEM, "cannot measure");
	with_stop(&session->with);
	if (status < 0) {
		spool_close(&session->spool, true);
		return -1;
	}
	struct writer_job *job;
	struct sealing_of_spool sealing = {.run = &session->run,
		.targets = &session->targets[session->first_target],
		.spool = &session->spool,
		.status = "finished"};
	for (size_t i = 0; i < threads; i++) {
		const struct probe_round *round = &measurements[i].round;
		if (round->ended.ns > sealing.ended_mono_ns)
			sealing.ended_mono_ns = round->ended.ns;
		if (round->stopped)
			sealing.status = "interrupted";
	}
	if (session_seal(&sealing, &job, err) < 0)
		return -1;
	session_around_seal(session, job);
	add_peers(session, job);
	receiving_tell(session, job);
	add_counters(session, job);
	if (why_explain(session, job, err) < 0) {
		writer_job_free(job, false);
		return -1;
	}
	steps_judge(session, job);
	job->spool = session->spool;
	session->spool = (struct spool){.fd = -1};
	return deliver(session, events, job, err);
}

int session_round(struct session *session, const struct session_events *events, const char *label, bool *ret_interrupted,
	struct tare_err *err)
{
	session->config.label = label;
	session->round_number++;
	return run_round(session, events, ret_interrupted, err);
}

int session_writer(struct session *session, struct tare_writer **ret_writer, struct tare_err *err)
{
	*ret_writer = session->writer;
	return session->writer ? writer_wait(&session->writing, err) : 0;
}

uint32_t session_round_number(const struct session *session)
{
	return session->round_number;
}

int session_signals(const struct session *session)
{
	return session->signals;
}

bool session_interrupted(const struct session *session)
{
	struct signalfd_siginfo info;
	struct pollfd wait = {.fd = session->signals, .events = POLLIN};
	if (poll(&wait, 1, 0) <= 0)
		return false;
	return read(session->signals, &info, sizeof info) == (ssize_t)sizeof info;
}

bool session_pause(const struct session *session, int64_t ns)
{
	int64_t until_ns = clock_mono_now().ns + ns;
	for (;;) {
		int64_t left_ns = until_ns - clock_mono_now().ns;
		struct pollfd wait = {.fd = session->signals, .events = POLLIN};
		if (left_ns <= 0)
			return false;
		int64_t ms = left_ns / 1000000 + 1;
		if (poll(&wait, 1, ms < INT32_MAX ? (int)ms : INT32_MAX) > 0)
			return session_interrupted(session);
	}
}

int64_t session_now_ns(const struct session *session)
{
	return clock_mono_now().ns - session->run.epoch_mono_ns;
}

static int run_rounds(struct session *session, const struct session_events *events, bool *ret_interrupted,
	struct tare_err *err)
{
	uint32_t rounds = steps_rounds(session);
	for (uint32_t i = 0; i < rounds && !*ret_interrupted; i++) {
		bool runs = true;
		if (steps_apply(session, i, &runs, err) < 0)
			return -1;
		if (!runs)
			continue;
		session->round_number++;
		if (run_round(session, events, ret_interrupted, err) < 0)
			return -1;
	}
	return 0;
}

static int note_end(struct session *session, enum tare_run_status status, struct tare_err *err)
{
	struct tare_fact facts[WHY_FACTS];
	size_t count = session->config.no_facts ? 0 : why_facts(session, facts);
	if ((count && tare_writer_facts(session->writer, session->run.id, 0, facts, count, err) < 0) ||
		session_around_end(session, err) < 0 ||
		tare_writer_end_run(session->writer, session->run.id, status, err) < 0)
		return -1;
	return tare_writer_close(&session->writer, err);
}

static int end_recording(struct session *session, enum tare_run_status status, const struct tare_err *why,
	struct tare_err *err)
{
	if (!session->writer)
		return 0;
	int written = writer_stop(&session->writing, err);
	/* a round left in a spool is brought in later: only an unfinished run is looked after */
	if (written < 0)
		return -1;
	if (status == TARE_RUN_FAILED) {
		struct tare_event event = {
			.at_ns = clock_mono_now().ns - session->run.epoch_mono_ns, .kind = "error", .text = why->text};
		struct tare_err ignored;
		if (tare_writer_event(session->writer, session->run.id, 0, &event, &ignored) < 0)
			return 0;
	}
	return note_end(session, status, err);
}

int session_end(struct session *session, enum tare_run_status status, const char *why, struct tare_err *err)
{
	struct tare_err reason = {0};
	snprintf(reason.text, sizeof reason.text, "%s", why ? why : "");
	return end_recording(session, status, &reason, err);
}

int session_run(struct session *session, const struct session_events *events, enum session_ending *ret_end,
	struct tare_err *err)
{
	bool interrupted = false;
	char shared[300];
	struct tare_err failure = {0}, closing = {0};
	if (events->note && placement_shared(session, shared, sizeof shared))
		events->note(events->context, shared);
	if (events->note && session->card_notes[0])
		events->note(events->context, session->card_notes);
	int ran = run_rounds(session, events, &interrupted, &failure);
	enum tare_run_status status =
		ran < 0 ? TARE_RUN_FAILED : interrupted ? TARE_RUN_INTERRUPTED : TARE_RUN_FINISHED;
	int closed = end_recording(session, status, &failure, &closing);
	if (ran < 0 || closed < 0) {
		if (err)
			*err = ran < 0 ? failure : closing;
		return -1;
	}
	*ret_end = interrupted ? SESSION_INTERRUPTED : SESSION_COMPLETE;
	return 0;
}
