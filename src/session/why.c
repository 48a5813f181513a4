/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Evidence of a round becomes causes once it is sealed: the clock jumps that the
 * loop noted, what the peer said in its replies, and what the kernel told of the
 * measuring thread and its CPUs, all on the run's axis.
 */
#include "session/why.h"

#include "session/shared.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cause/landed.h"

/* 64 bytes each: 12 MiB. A blocking thread at 1000/s fills them in a minute and a half, a spinning one never. */
enum { EVIDENCE_ROOM = 1 << 17, STALLS_MAX = 4096 };
/* As the statistics have it: a stall is above ten times the median round trip. */
#define STALL_RATIO 10

static size_t allowed_cpus(int cpus[WATCH_CPUS_MAX])
{
	cpu_set_t set;
	size_t count = 0;
	if (sched_getaffinity(0, sizeof set, &set) != 0)
		return 0;
	for (int cpu = 0; cpu < CPU_SETSIZE && count < WATCH_CPUS_MAX; cpu++)
		if (CPU_ISSET((size_t)cpu, &set))
			cpus[count++] = cpu;
	return count;
}

static bool is_wanted(const struct session_config *config)
{
	/* a thread that sleeps pays for the records of every switch; one that spins pays for none until it is disturbed
	 */
	return config->why == SESSION_WHY_ON || config->with || (config->why == SESSION_WHY_AUTO && config->spin);
}

int why_open(struct session *session, struct tare_err *err)
{
	/* where a load runs is to be seen on every CPU */
	int cpus[WATCH_CPUS_MAX], own = session->config.with ? -1 : session->config.cpu;
	if (!is_wanted(&session->config))
		return 0;
	struct watch_plan plan = {
		.cpus = own >= 0 ? &own : cpus, .room = EVIDENCE_ROOM, .softirqs = session->config.why_softirq};
	plan.cpu_count = own >= 0 ? 1 : allowed_cpus(cpus);
	if (session->config.why == SESSION_WHY_ON)
		session->watch_cost_ns = watch_cost_ns(session->config.cpu, true);
	if (watch_open(&plan, &session->watch, err) < 0)
		return -1;
	/* counting costs a round nothing: on all CPUs, the responder's may be among them */
	return landed_open(cpus, allowed_cpus(cpus), &session->landed, err);
}

void why_close(struct session *session)
{
	watch_free(session->watch);
	landed_free(session->landed);
	session->watch = NULL;
	session->landed = NULL;
}

void why_begin(struct session *session)
{
	if (!session->watch)
		return;
	watch_thread_end(session->watch);
	watch_clear(session->watch);
	atomic_store_explicit(&session->watching, false, memory_order_relaxed);
	landed_begin(session->landed);
}

void why_thread(struct session *session)
{
	if (session->watch && watch_thread(session->watch))
		atomic_store_explicit(&session->watching, true, memory_order_release);
}

void why_look(struct session *session)
{
	if (session->watch && atomic_load_explicit(&session->watching, memory_order_acquire))
		watch_drain(session->watch);
}

/* ---- after the round ---- */

static int by_value(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
	return (a > b) - (a < b);
}

/* Ten times the median rtt over at most 10001 requests; TARE_NO_TIME when nothing came back. */
static int64_t stall_limit_ns(const struct tare_series *series, size_t first)
{
	enum { MOST = 10001 };
	AUTO_FREE int64_t *values_ns = calloc(MOST, sizeof *values_ns);
	size_t n = 0, step = series->count / MOST + 1;
	for (size_t i = first; values_ns && i < series->count && n < MOST; i += step) {
		int64_t ns = tare_span_of(series, TARE_SPAN_RTT, i);
		if (ns != TARE_NO_TIME)
			values_ns[n++] = ns;
	}
	if (n == 0)
		return TARE_NO_TIME;
	qsort(values_ns, n, sizeof *values_ns, by_value);
	return values_ns[(n - 1) / 2] * STALL_RATIO;
}

static struct tare_evidence evidence_for(uint32_t target, uint64_t request, enum tare_evidence_kind kind, int64_t ns)
{
	return (struct tare_evidence){.to_ns = ns,
		.kind = (uint8_t)kind,
		.cpu = TARE_NO_CPU,
		.cpu_after = TARE_NO_CPU,
		.pid = -1,
		.target = target,
		.sequence = (int64_t)request};
}

static int16_t cpu_of(uint16_t plus_one)
{
	return plus_one && plus_one <= INT16_MAX ? (int16_t)(plus_one - 1) : TARE_NO_CPU;
}

/* What the loop and the peer noted with one request. Returns the number of pieces written, at most two. */
static size_t evidence_of_sample(
	const struct raw_sample *raw, uint32_t target, uint64_t request, struct tare_evidence *ret_items)
{
	size_t n = 0;
	if (raw->gap_ns)
		ret_items[n++] = evidence_for(target, request, TARE_EVIDENCE_GAP, raw->gap_ns);
	if (raw->said) {
		struct tare_evidence *item = &ret_items[n++];
		*item = evidence_for(target, request, TARE_EVIDENCE_PEER, raw->said_ns);
		item->detail = (int32_t)raw->said - 1;
		item->pid = raw->said_pid;
		item->cpu = cpu_of(raw->said_cpu);
		item->cpu_after = cpu_of(raw->said_cpu_after);
		memcpy(item->comm, raw->said_comm, TARE_COMM_BYTES);
		item->comm[TARE_COMM_BYTES - 1] = '\0';
	}
	return n;
}

/* The work on one target: its stalls, as many ordinary requests, and the evidence about both. */
struct explaining {
	uint64_t judged[2 * STALLS_MAX];
	size_t stalls, controls;
	struct tare_evidence *evidence; /* all of the round, then room for two pieces a judged request */
	size_t shared, count;
};

static void find_judged(struct explaining *e, const struct tare_record *record, uint64_t seed)
{
	size_t first = record->round->warmup;
	int64_t limit_ns = stall_limit_ns(&record->series, first);
	if (limit_ns == TARE_NO_TIME)
		limit_ns = INT64_MAX;
	e->stalls = assign_stalls(&record->series, limit_ns, first, e->judged, STALLS_MAX);
	if (e->stalls > STALLS_MAX)
		e->stalls = STALLS_MAX;
	e->controls = assign_controls(record, limit_ns, e->stalls, seed, e->judged + e->stalls);
}

static int explain_target(
	struct session *session, struct writer_job *job, size_t target, struct explaining *e, struct tare_err *err)
{
	const struct tare_record *record = &job->records[target];
	const struct raw_sample *samples = spool_samples(&session->spool, target);
	find_judged(e, record, session->seed + job->round.number);
	e->count = e->shared;
	for (size_t i = 0; i < e->stalls + e->controls; i++)
		e->count += evidence_of_sample(
			&samples[e->judged[i]], (uint32_t)target, e->judged[i], &e->evidence[e->count]);
	struct assign_plan plan = {
		.record = record,
		.evidence = e->evidence,
		.evidence_count = e->count,
		.stalls = e->judged,
		.stall_count = e->stalls,
		.controls = e->judged + e->stalls,
		.control_count = e->controls,
		.watched = watch_has_thread(session->watch),
		.interrupts = watch_has_softirqs(session->watch),
		.spinning = session->config.spin,
	};
	size_t room = job->cause_count + e->stalls + e->controls, count = 0;
	struct tare_cause *causes = realloc(job->causes, (room + 1) * sizeof *causes);
	if (!causes)
		return tare_fail_errno(err, ENOMEM, "cannot keep causes");
	job->causes = causes;
	if (assign_causes(&plan, causes + job->cause_count, &count, err) < 0)
		return -1;
	assign_mark(&record->series, causes + job->cause_count, count, e->evidence, e->shared, job->wanted);
	size_t peers = e->count - e->shared;
	struct tare_evidence *kept = realloc(job->evidence, (job->evidence_count + peers + 1) * sizeof *kept);
	if (!kept)
		return tare_fail_errno(err, ENOMEM, "cannot keep evidence");
	job->evidence = kept;
	memcpy(kept + job->evidence_count, e->evidence + e->shared, peers * sizeof *kept);
	job->evidence_count += peers;
	job->cause_count += count;
	return 0;
}

static int keep_shared(struct writer_job *job, const struct explaining *e, struct tare_err *err)
{
	size_t wanted = 0;
	for (size_t i = 0; i < e->shared; i++)
		wanted += job->wanted[i];
	struct tare_evidence *kept = realloc(job->evidence, (job->evidence_count + wanted + 1) * sizeof *kept);
	if (!kept)
		return tare_fail_errno(err, ENOMEM, "cannot keep evidence");
	job->evidence = kept;
	for (size_t i = 0; i < e->shared; i++)
		if (job->wanted[i])
			kept[job->evidence_count++] = e->evidence[i];
	return 0;
}

static void explaining_end(struct explaining *const *e)
{
	if (*e)
		free((*e)->evidence);
	free(*e);
}

int why_explain(struct session *session, struct writer_job *job, struct tare_err *err)
{
	const struct tare_evidence *seen;
	if (!session->watch)
		return 0;
	watch_drain(session->watch);
	AUTO_CLEANUP(explaining_end) struct explaining *e = calloc(1, sizeof *e);
	size_t count = watch_evidence(session->watch, &seen);
	if (e)
		e->evidence = calloc(count + 4 * STALLS_MAX, sizeof *e->evidence);
	job->wanted = calloc(count + 1, sizeof *job->wanted);
	if (!e || !e->evidence || !job->wanted)
		return tare_fail_errno(err, ENOMEM, "cannot look for causes");
	e->shared = count;
	for (size_t i = 0; i < count; i++) {
		e->evidence[i] = seen[i];
		e->evidence[i].from_ns -= session->run.epoch_mono_ns;
		if (seen[i].to_ns != INT64_MAX)
			e->evidence[i].to_ns -= session->run.epoch_mono_ns;
	}
	landed_end(session->landed);
	if (shared_note(session, job, e->evidence, count, err) < 0)
		return -1;
	shared_say(session, job, e->evidence, count);
	for (size_t i = 0; i < job->record_count; i++)
		if (explain_target(session, job, i, e, err) < 0)
			return -1;
	return keep_shared(job, e, err);
}

size_t why_facts(struct session *session, struct tare_fact *ret_facts)
{
	const struct watch *watch = session->watch;
	char watched[64] = "nothing", cost[32], lost[32];
	size_t count = 0;
	if (watch) {
		struct text text = TEXT_IN(watched);
		text_add(&text, "%s%s%s%s%s", watch_has_thread(watch) ? "thread" : "nothing",
			watch_has_cpus(watch) ? ",cpus" : "", watch_has_interrupts(watch) ? ",interrupts" : "",
			watch_has_softirqs(watch) ? ",softirqs" : "", watch_has_wakeups(watch) ? ",wakeups" : "");
	}
	ret_facts[count++] = (struct tare_fact){"local", "end", "why.watched", arena_text(session->names, watched)};
	if (watch && session->watch_cost_ns != TARE_NO_TIME) {
		snprintf(cost, sizeof cost, "%lld", (long long)session->watch_cost_ns);
		ret_facts[count++] =
			(struct tare_fact){"local", "end", "why.switch_cost_ns", arena_text(session->names, cost)};
	}
	if (watch && watch_missing(watch)[0])
		ret_facts[count++] = (struct tare_fact){
			"local", "end", "why.missing", arena_text(session->names, watch_missing(watch))};
	if (watch) {
		snprintf(lost, sizeof lost, "%llu", (unsigned long long)watch_lost(watch));
		ret_facts[count++] =
			(struct tare_fact){"local", "end", "why.records_lost", arena_text(session->names, lost)};
	}
	return count;
}
