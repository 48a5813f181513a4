/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Load is no contention unless both want the same CPU. What ran where is known
 * from evidence; how long the measuring thread had to wait is the kernel's own
 * count, which needs no privilege.
 */
#include "session/shared.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cause/landed.h"
#include "cause/shares.h"

/* Smaller shares of a round are not worth a name. */
#define SHARE_LEAST 0.001
/* A load below this on a CPU was not in anybody's way. */
#define LOAD_LEAST 0.01

struct thread_use thread_use_now(void)
{
	struct thread_use use = {.waited_ns = TARE_NO_TIME};
	struct rusage usage;
	unsigned long long ran, waited;
	AUTO_FILE file = fopen("/proc/thread-self/schedstat", "re");
	if (file && fscanf(file, "%llu %llu", &ran, &waited) == 2)
		use.waited_ns = (int64_t)waited;
	if (getrusage(RUSAGE_THREAD, &usage) == 0) {
		use.pushed = usage.ru_nivcsw;
		use.faults = usage.ru_minflt + usage.ru_majflt;
	}
	return use;
}

/* The CPU that most requests name; -1 when none does. */
static int16_t usual_cpu(const struct tare_series *series, enum tare_cpu_place place)
{
	size_t seen[1024] = {0}, most = 0;
	int16_t cpu = TARE_NO_CPU;
	for (size_t i = 0; series->cpu[place] && i < series->count; i++) {
		int16_t at = series->cpu[place][i];
		if (at >= 0 && at < 1024 && ++seen[at] > most) {
			most = seen[at];
			cpu = at;
		}
	}
	return cpu;
}

static int by_value(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
	return (a > b) - (a < b);
}

/* Mean lateness and median round trip of what was sent. */
static void lateness(const struct tare_series *series, int64_t *ret_late_ns, int64_t *ret_rtt_ns)
{
	AUTO_FREE int64_t *rtt_ns = calloc(series->count + 1, sizeof *rtt_ns);
	double sum = 0;
	size_t n = 0, sent = 0;
	for (size_t i = 0; rtt_ns && i < series->count; i++) {
		int64_t late = tare_span_of(series, TARE_SPAN_LATE, i), rtt = tare_span_of(series, TARE_SPAN_RTT, i);
		if (late != TARE_NO_TIME) {
			sum += (double)late;
			sent++;
		}
		if (rtt != TARE_NO_TIME)
			rtt_ns[n++] = rtt;
	}
	if (n)
		qsort(rtt_ns, n, sizeof *rtt_ns, by_value);
	*ret_late_ns = sent ? (int64_t)(sum / (double)sent) : TARE_NO_TIME;
	*ret_rtt_ns = n ? rtt_ns[(n - 1) / 2] : TARE_NO_TIME;
}

static void say(struct writer_job *job, const char *kind, const char *sentence)
{
	writer_job_event(job, job->round.ended_ns, kind, sentence);
	if (job->said_count < JOB_SENTENCES)
		snprintf(job->said[job->said_count++], sizeof job->said[0], "%s", sentence);
}

static double share_of(int64_t ns, const struct tare_round *round)
{
	int64_t length_ns = round->ended_ns - round->first_due_ns;
	return length_ns > 0 ? (double)ns / (double)length_ns : 0;
}

static void say_sender(
	struct session *session, struct writer_job *job, const struct tare_evidence *items, size_t count, int16_t cpu)
{
	struct cpu_shares shares;
	char line[400], waited[32];
	struct text text = TEXT_IN(line);
	const struct thread_use *use = &session->use;
	cpu_shares_of(items, count, cpu, job->round.first_due_ns, job->round.ended_ns, &shares);
	text_add(&text, "CPU %d of the sender: ", cpu);
	size_t named = 0;
	for (size_t i = 0; i < shares.count && named < 4; i++, named++) {
		double share = share_of(shares.share[i].ns, &job->round);
		if (share < SHARE_LEAST)
			break;
		text_add(&text, "%s%s ran there for %.2g %% of the round", named ? ", " : "",
			shares.share[i].comm[0] ? shares.share[i].comm : "a task without name", 100 * share);
	}
	if (!named)
		text_add(&text, "nobody else ran there for 0.1 %% of the round");
	if (shares.missing)
		text_add(&text, ", and others, whose records were lost");
	if (use->waited_ns != TARE_NO_TIME) {
		format_duration(use->waited_ns, waited, sizeof waited);
		text_add(&text, "; the measuring thread waited %s for it and was pushed aside %ld times", waited,
			use->pushed);
	}
	if (use->faults > 0)
		text_add(&text, ", with %ld page faults", use->faults);
	say(job, "shared", line);
}

/* Whose CPU a load held, longest first; the words of the verdict. */
static void say_load(struct session *session, struct writer_job *job, const struct tare_evidence *items, size_t count)
{
	const struct with *with = &session->with;
	const struct tare_series *series = &job->records[0].series;
	int64_t from_ns = job->round.first_due_ns, to_ns = job->round.ended_ns, late_ns, rtt_ns;
	int16_t sender = usual_cpu(series, TARE_CPU_TX), peer = usual_cpu(series, TARE_CPU_PEER_RX);
	double at_sender =
		share_of(shares_of_tids(items, count, with->tid, with->tid_count, sender, from_ns, to_ns), &job->round);
	double at_peer =
		peer < 0 || !session->peer_is_here
			? 0
			: share_of(shares_of_tids(items, count, with->tid, with->tid_count, peer, from_ns, to_ns),
				  &job->round);
	double busy = share_of((int64_t)(with->cpu_seconds * 1e9), &job->round);
	char line[500], late[32], rtt[32];
	struct text text = TEXT_IN(line);
	lateness(series, &late_ns, &rtt_ns);
	if (!watch_has_cpus(session->watch)) {
		text_add(&text,
			"load kept %.1f CPUs busy; where it ran is not known, so that this round says nothing about "
			"contention",
			busy);
	} else if (at_sender < LOAD_LEAST && at_peer < LOAD_LEAST) {
		text_add(&text,
			"load kept %.1f CPUs busy but never ran on the sender's%s: this round says nothing about "
			"contention%s",
			busy, session->peer_is_here && peer >= 0 ? " or responder's" : "",
			session->peer_is_here && peer >= 0 ? "" : " (the responder's host is not seen)");
	} else {
		bool sends = at_sender >= at_peer;
		text_add(&text, "load held CPU %d (the %s's) for %.0f %% of the round", sends ? sender : peer,
			sends ? "sender" : "responder", 100 * (sends ? at_sender : at_peer));
		if (late_ns != TARE_NO_TIME && rtt_ns != TARE_NO_TIME) {
			format_duration(late_ns, late, sizeof late);
			format_duration(rtt_ns, rtt, sizeof rtt);
			text_add(&text,
				"; requests left %s late on average, the median rtt of %s alone does not show it", late,
				rtt);
		}
	}
	say(job, "load", line);
	text = (struct text)TEXT_IN(line);
	text_add(&text, "the load %s with status %d", with->ended_early ? "ended before the round did," : "was ended,",
		with->status);
	if (with->line[0])
		text_add(&text, " and said: %s", with->line);
	say(job, "load", line);
}

/* ---- rows ---- */

enum { ROWS_A_CPU = SHARES_ROWS + LANDED_ROWS_MAX };

static void note_cpu(struct session *session, struct writer_job *job, const struct tare_evidence *items, size_t count,
	size_t place, uint8_t of)
{
	int16_t cpu = (int16_t)landed_cpu(session->landed, place);
	const struct thread_use *use = &session->use;
	struct cpu_shares shares;
	cpu_shares_of(items, count, cpu, job->round.first_due_ns, job->round.ended_ns, &shares);
	/* on a CPU of neither end only what ran there matters, and is known only where records were asked for */
	if (!of && shares.count == 0)
		return;
	struct tare_share waited = {.ns = use->waited_ns, .times = (uint64_t)(use->pushed > 0 ? use->pushed : 0)};
	bool told = of & TARE_SHARE_OF_SENDER && use->waited_ns != TARE_NO_TIME;
	job->share_count += cpu_shares_rows(&shares, cpu, of, 0, told ? &waited : NULL, job->shares + job->share_count);
	size_t from = job->share_count;
	job->share_count += landed_since(session->landed, place, job->shares + from, LANDED_ROWS_MAX);
	for (size_t i = from; i < job->share_count; i++)
		job->shares[i].of = of;
}

int shared_note(struct session *session, struct writer_job *job, const struct tare_evidence *items, size_t count,
	struct tare_err *err)
{
	const struct tare_series *series = &job->records[0].series;
	int16_t sender = usual_cpu(series, TARE_CPU_TX);
	int16_t responder = session->peer_is_here ? usual_cpu(series, TARE_CPU_PEER_RX) : TARE_NO_CPU;
	size_t cpus = landed_cpus(session->landed);
	job->shares = calloc(cpus * ROWS_A_CPU + 1, sizeof *job->shares);
	if (!job->shares)
		return tare_fail_errno(err, ENOMEM, "cannot note who shared the CPUs");
	for (size_t i = 0; i < cpus; i++) {
		int16_t cpu = (int16_t)landed_cpu(session->landed, i);
		note_cpu(session, job, items, count, i,
			(uint8_t)((cpu == sender ? TARE_SHARE_OF_SENDER : 0) |
				  (cpu == responder ? TARE_SHARE_OF_RESPONDER : 0)));
	}
	return 0;
}

/* Time that nobody on this host had: a candidate for whatever stays unexplained. */
static void say_elsewhere(struct writer_job *job)
{
	for (size_t i = 0; i < job->share_count; i++) {
		const struct tare_share *share = &job->shares[i];
		char line[200], time[32];
		struct text text = TEXT_IN(line);
		const char *whose = share->of & TARE_SHARE_OF_SENDER ? "sender" : "responder";
		if (!share->of)
			continue;
		if (share->kind == TARE_SHARE_STEAL) {
			format_duration(share->ns, time, sizeof time);
			text_add(&text,
				"the hypervisor took CPU %d of the %s for about %s of the round: a candidate for what "
				"is "
				"unexplained",
				share->cpu, whose, time);
		} else if (share->kind == TARE_SHARE_SMI || share->kind == TARE_SHARE_THROTTLED) {
			text_add(&text,
				"CPU %d of the %s %s %" PRIu64 " time%s in the round: a candidate for what is "
				"unexplained",
				share->cpu, whose,
				share->kind == TARE_SHARE_SMI ? "was in system management mode" : "was throttled",
				share->times, share->times == 1 ? "" : "s");
		} else {
			continue;
		}
		say(job, "shared", line);
	}
}

void shared_say(struct session *session, struct writer_job *job, const struct tare_evidence *items, size_t count)
{
	int16_t sender = usual_cpu(&job->records[0].series, TARE_CPU_TX);
	bool with_load = session->config.with != NULL;
	if (sender >= 0 && watch_has_cpus(session->watch) && (with_load || session->config.why == SESSION_WHY_ON))
		say_sender(session, job, items, count, sender);
	if (session->config.why == SESSION_WHY_ON || with_load)
		say_elsewhere(job);
	if (with_load)
		say_load(session, job, items, count);
}
