/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One round: a measuring thread is placed, runs the loop and says when it is
 * done, while the session's own thread sleeps, draws progress (if a CPU is free for
 * that) and listens for signals.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/caps.h"
#include "clock/cpu.h"
#include "session/private.h"
#include "session/shared.h"
#include "session/why.h"

/* Touches the stack the loop may use: page faults belong before the first request. */
static void prefault_stack(void)
{
	volatile char room[65536];
	for (size_t i = 0; i < sizeof room; i += 1024)
		room[i] = 0;
}

static int place(struct session *session, bool first, struct tare_err *err)
{
	const struct session_config *config = &session->config;
	if (first && config->cpu >= 0 && cpu_pin(config->cpu, err) < 0)
		return -1;
	if (first && config->fifo > 0 && cpu_fifo(config->fifo, err) < 0)
		return -1;
	if (first)
		why_thread(session);
	cpu_timer_slack_least();
	cpu_thread_name("tare-measure", first && config->spin);
	prefault_stack();
	/* everything that needs a privilege is open by now */
	return caps_keep_only(NULL, 0, err);
}

static void *measuring_main(void *argument)
{
	struct measurement *m = argument;
	uint64_t one = 1;
	m->failed = place(m->session, m->first, &m->err) < 0;
	struct thread_use before = thread_use_now();
	if (!m->failed)
		probe_loop(&m->round);
	struct thread_use after = thread_use_now();
	if (m->first)
		m->session->use = (struct thread_use){
		.waited_ns = before.waited_ns == TARE_NO_TIME || after.waited_ns == TARE_NO_TIME
			? TARE_NO_TIME
			: after.waited_ns - before.waited_ns,
		.pushed = after.pushed - before.pushed,
		.faults = after.faults - before.faults,
	};
	while (write(m->session->done, &one, sizeof one) < 0 && errno == EINTR)
		continue;
	return NULL;
}

int session_block_signals(struct tare_err *err)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	int status = pthread_sigmask(SIG_BLOCK, &set, NULL);
	return status == 0 ? 0 : tare_fail_errno(err, status, "cannot block signals");
}

static void interrupt(struct session *session, bool *ret_interrupted)
{
	*ret_interrupted = true;
	atomic_store_explicit(&session->stop, true, memory_order_relaxed);
}

static void take_signal(struct session *session, bool *ret_interrupted)
{
	struct signalfd_siginfo info;
	if (read(session->signals, &info, sizeof info) == (ssize_t)sizeof info)
		interrupt(session, ret_interrupted);
}

/* Milliseconds between two looks at the evidence, and between two calls of progress. */
enum { LOOK_MS = 250, PROGRESS_MS = 500, PROGRESS_MS_LEAST = 100 };
enum { WAIT_DONE, WAIT_SIGNAL, WAIT_NOTICE, WAIT_NOTICE_TOO, WAIT_INPUT, WAIT_COUNT };

/* What this thread does while others measure. */
struct waiting {
	struct session *session;
	const struct session_events *events;
	struct pollfd fds[WAIT_COUNT]; /* fd -1: not waited for */
	bool looks;
	int64_t look_ns, progress_ns;  /* when next */
};

static struct waiting waiting_of(struct session *session, const struct session_events *events, bool quiet)
{
	struct waiting waiting = {.session = session,
		.events = events,
		.fds = {{.fd = session->done, .events = POLLIN}, {.fd = session->signals, .events = POLLIN}, {.fd = -1},
			{.fd = -1}, {.fd = -1}},
		.looks = !quiet && (events->progress || session->watch)};
	/* notices of the host are taken as they come, for their time, unless that would disturb a spinning thread */
	for (size_t i = 0; i < session->around.fd_count && i < 2 && !quiet; i++)
		waiting.fds[WAIT_NOTICE + i] = (struct pollfd){.fd = session->around.fd[i], .events = POLLIN};
	if (events->input && !quiet)
		waiting.fds[WAIT_INPUT] = (struct pollfd){.fd = events->input_fd, .events = POLLIN};
	return waiting;
}

/* Looks at what is due; how many milliseconds until the next is, -1 for ever. */
static int look(struct waiting *waiting)
{
	const struct session_events *events = waiting->events;
	int64_t now_ns = clock_mono_now().ns;
	unsigned ms = !events->progress_ms ? PROGRESS_MS
		      : events->progress_ms < PROGRESS_MS_LEAST ? PROGRESS_MS_LEAST
								: events->progress_ms;
	if (!waiting->looks)
		return -1;
	if (!waiting->look_ns) {
		waiting->look_ns = now_ns + (int64_t)LOOK_MS * 1000000;
		waiting->progress_ns = now_ns + (int64_t)ms * 1000000;
	}
	if (now_ns >= waiting->look_ns) {
		why_look(waiting->session);
		waiting->look_ns = now_ns + (int64_t)LOOK_MS * 1000000;
	}
	if (events->progress && now_ns >= waiting->progress_ns) {
		events->progress(events->context, waiting->session);
		/* from its end, so that a slow terminal never makes it the only thing that is done */
		now_ns = clock_mono_now().ns;
		waiting->progress_ns = now_ns + (int64_t)ms * 1000000;
	}
	int64_t next_ns = events->progress && waiting->progress_ns < waiting->look_ns ? waiting->progress_ns : waiting->look_ns;
	return next_ns > now_ns ? (int)((next_ns - now_ns) / 1000000) + 1 : 0;
}

/* Until the measuring threads are done; looks only when that disturbs nobody. */
static void wait_done(struct session *session, const struct session_events *events, bool quiet, uint64_t threads,
	bool *ret_interrupted)
{
	struct waiting waiting = waiting_of(session, events, quiet);
	for (;;) {
		int ready = poll(waiting.fds, WAIT_COUNT, look(&waiting));
		if (ready < 0 && errno != EINTR)
			return;
		if (ready <= 0)
			continue;
		if (waiting.fds[WAIT_SIGNAL].revents)
			take_signal(session, ret_interrupted);
		if (waiting.fds[WAIT_NOTICE].revents || waiting.fds[WAIT_NOTICE_TOO].revents)
			session_around_take(session);
		if (waiting.fds[WAIT_INPUT].revents && events->input(events->context))
			interrupt(session, ret_interrupted);
		uint64_t ended;
		if (waiting.fds[WAIT_DONE].revents && read(session->done, &ended, sizeof ended) > 0 &&
			(threads -= ended) == 0)
			return;
	}
}

/* Starts them all; with one that cannot be started the others are told to end. */
static size_t start_threads(struct session *session, struct measurement *measurements, size_t count, struct tare_err *err)
{
	for (size_t i = 0; i < count; i++) {
		int status = pthread_create(&measurements[i].thread, NULL, measuring_main, &measurements[i]);
		if (status != 0) {
			tare_fail_errno(err, status, "cannot start a measuring thread");
			atomic_store_explicit(&session->stop, true, memory_order_relaxed);
			return i;
		}
	}
	return count;
}

int session_quiet(
	struct session *session, const struct session_events *events, bool *ret_quiet, struct tare_err *err)
{
	int own[] = {session->config.cpu};
	bool quiet = cpu_all_spinning(own, session->config.spin ? 1 : 0);
	/* with no CPU left for it the writer must be through before the round begins */
	if (quiet && session->writer && writer_wait(&session->writing, err) < 0)
		return -1;
	if (events->begin)
		events->begin(events->context, session, quiet);
	*ret_quiet = quiet;
	return 0;
}

int session_measure(struct session *session, const struct session_events *events, bool quiet,
	struct measurement *measurements, size_t count, bool *ret_interrupted, struct tare_err *err)
{
	size_t started = start_threads(session, measurements, count, err);
	if (started)
		wait_done(session, events, quiet, started, ret_interrupted);
	int status = started == count ? 0 : -1;
	for (size_t i = 0; i < started; i++) {
		pthread_join(measurements[i].thread, NULL);
		if (!measurements[i].failed || status < 0)
			continue;
		status = -1;
		if (err)
			*err = measurements[i].err;
	}
	return status;
}

struct session_progress session_progress_of(const struct session *session)
{
	struct session_progress p = {.round = session->round_number, .rounds = session->config.rounds};
	for (size_t i = 0; i < session->target_count; i++) {
		const struct raw_counters *counters = &session->spool.counters[i];
		p.slots += raw_read(&counters->slots);
		p.slots_all += session->slots;
		p.sent += raw_read(&counters->sent);
		p.answered += raw_read(&counters->answered);
		p.foreign += raw_read(&counters->foreign);
		p.duplicate += raw_read(&counters->duplicate);
	}
	p.left_ns = (int64_t)((p.slots_all - p.slots) / session->target_count) * session->config.every_ns;
	return p;
}
