/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The spinning threads. Between two readings nothing happens but a subtraction and a comparison. */
#include "cause/noise.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cause/explain.h"
#include "cause/watch.h"
#include "clock/clock.h"
#include "clock/cpu.h"

/* From the start of the first thread to the common beginning: pinning, opening of rings. */
#define LEAD_NS  ((int64_t)50000000)
#define LEAST_NS ((int64_t)1000)
enum { EVIDENCE_ROOM = 1 << 16 };

struct noise_thread {
	struct noise_core *core;
	struct watch *watch; /* NULL: not watched */
	int64_t begin_ns, end_ns;
	pthread_t thread;
	bool started;
};

int64_t noise_step_ns(size_t step)
{
	static const int64_t steps[NOISE_STEPS] = {1000, 2000, 5000, 10000, 20000, 50000, 100000, 1000000, 10000000};
	return step < NOISE_STEPS ? steps[step] : INT64_MAX;
}

/* Longest first; the shortest falls out. */
static void keep_worst(struct noise_core *core, int64_t at_ns, int64_t ns)
{
	size_t at = core->worst_count;
	if (at == NOISE_WORST && ns <= core->worst[at - 1].ns)
		return;
	if (at == NOISE_WORST)
		at--;
	else
		core->worst_count++;
	while (at > 0 && core->worst[at - 1].ns < ns) {
		core->worst[at] = core->worst[at - 1];
		at--;
	}
	core->worst[at] = (struct noise_gap){.at_ns = at_ns, .ns = ns};
}

static void take_gap(struct noise_core *core, int64_t at_ns, int64_t ns)
{
	size_t step = 0;
	while (step + 1 < NOISE_STEPS && ns >= noise_step_ns(step + 1))
		step++;
	core->count[step]++;
	core->lost_ns += ns;
	keep_worst(core, at_ns, ns);
}

static void look(struct noise_thread *thread)
{
	struct noise_core *core = thread->core;
	int64_t last_ns, least_ns = INT64_MAX;
	uint64_t readings = 0;
	do {
		last_ns = clock_mono_now().ns;
	} while (last_ns < thread->begin_ns);
	while (last_ns < thread->end_ns) {
		int64_t now_ns = clock_mono_now().ns, ns = now_ns - last_ns;
		least_ns = ns < least_ns ? ns : least_ns;
		readings++;
		if (ns - least_ns >= LEAST_NS)
			take_gap(core, last_ns, ns - least_ns);
		last_ns = now_ns;
	}
	core->bias_ns = least_ns;
	core->readings = readings;
}

static void *noise_main(void *argument)
{
	struct noise_thread *thread = argument;
	struct noise_core *core = thread->core;
	core->failed = cpu_pin(core->cpu, &core->err) < 0;
	if (core->failed)
		return NULL;
	cpu_thread_name("tare-noise", true);
	if (thread->watch)
		watch_thread(thread->watch);
	look(thread);
	return NULL;
}

static void explain_gap(const struct explain_index *index, const struct watch *watch, int cpu, struct noise_gap *gap)
{
	struct explain_sums sums = {0};
	struct explain_window window = {
		.from_ns = gap->at_ns, .to_ns = gap->at_ns + gap->ns, .cpu = (int16_t)cpu, .ready = true};
	explain_window(index, &window, &sums);
	enum tare_word word = explain_largest(&sums);
	const struct explain_part *part = &sums.part[word];
	gap->cause = (struct tare_cause){.word = word,
		.excess_ns = gap->ns,
		.explained_ns = part->ns < gap->ns ? part->ns : gap->ns,
		.cpu = part->cpu,
		.cpu_after = part->cpu_after,
		.pid = part->pid,
		.detail = part->detail};
	memcpy(gap->cause.comm, part->comm, TARE_COMM_BYTES);
	if (part->ns >= gap->ns / 2)
		return;
	bool all_seen = watch_has_thread(watch) && watch_has_softirqs(watch) && !sums.missing;
	gap->cause = (struct tare_cause){.word = sums.missing ? TARE_WORD_UNKNOWN
						 : all_seen   ? TARE_WORD_HARDWARE
							      : TARE_WORD_UNEXPLAINED,
		.excess_ns = gap->ns,
		.explained_ns = all_seen ? gap->ns : 0,
		.cpu = (int16_t)cpu,
		.cpu_after = (int16_t)cpu,
		.pid = -1};
}

static void explain_core(struct noise_thread *thread)
{
	const struct tare_evidence *items;
	struct noise_core *core = thread->core;
	watch_drain(thread->watch);
	size_t count = watch_evidence(thread->watch, &items);
	AUTO_FREE int64_t *latest_ns = calloc(count + 1, sizeof *latest_ns);
	if (!latest_ns)
		return;
	explain_latest(items, count, latest_ns);
	struct explain_index index = {items, latest_ns, count};
	for (size_t i = 0; i < core->worst_count; i++)
		explain_gap(&index, thread->watch, core->cpu, &core->worst[i]);
}

static void threads_end(struct noise_thread *const *threads)
{
	for (size_t i = 0; *threads && i < NOISE_CPUS_MOST; i++)
		watch_free((*threads)[i].watch);
	free(*threads);
}

static int open_threads(
	const struct noise_plan *plan, struct noise_core *cores, struct noise_thread *threads, struct tare_err *err)
{
	for (size_t i = 0; i < plan->cpu_count; i++) {
		cores[i] = (struct noise_core){.cpu = plan->cpus[i]};
		threads[i].core = &cores[i];
		struct watch_plan watch = {
			.cpus = &cores[i].cpu, .cpu_count = 1, .room = EVIDENCE_ROOM, .softirqs = true};
		if (plan->why && watch_open(&watch, &threads[i].watch, err) < 0)
			return -1;
	}
	return 0;
}

int noise_run(const struct noise_plan *plan, struct noise_core *ret_cores, char *ret_missing, size_t room,
	struct tare_err *err)
{
	AUTO_CLEANUP(threads_end) struct noise_thread *threads = calloc(NOISE_CPUS_MOST, sizeof *threads);
	int status = 0;
	ret_missing[0] = '\0';
	if (!threads)
		return tare_fail_errno(err, ENOMEM, "no memory for threads");
	if (plan->cpu_count > NOISE_CPUS_MOST)
		return tare_fail(err, TARE_E_USAGE, "more than %d CPUs", NOISE_CPUS_MOST);
	if (open_threads(plan, ret_cores, threads, err) < 0)
		return -1;
	int64_t begin_ns = clock_mono_now().ns + LEAD_NS;
	for (size_t i = 0; i < plan->cpu_count; i++) {
		threads[i].begin_ns = begin_ns;
		threads[i].end_ns = begin_ns + plan->for_ns;
		int why = pthread_create(&threads[i].thread, NULL, noise_main, &threads[i]);
		threads[i].started = why == 0;
		if (why)
			status = tare_fail_errno(err, why, "cannot start a thread");
	}
	for (size_t i = 0; i < plan->cpu_count; i++) {
		if (threads[i].started)
			pthread_join(threads[i].thread, NULL);
		if (status == 0 && ret_cores[i].failed) {
			status = -1;
			if (err)
				*err = ret_cores[i].err;
		}
	}
	for (size_t i = 0; i < plan->cpu_count && status == 0; i++) {
		if (threads[i].watch)
			explain_core(&threads[i]);
		for (size_t k = 0; k < ret_cores[i].worst_count; k++)
			ret_cores[i].worst[k].at_ns -= begin_ns;
	}
	if (plan->cpu_count && threads[0].watch)
		snprintf(ret_missing, room, "%s", watch_missing(threads[0].watch));
	return status;
}
