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

static void take_signal(struct session *session, bool *ret_interrupted)
{
	struct signalfd_siginfo info;
	if (read(session->signals, &info, sizeof info) != (ssize_t)sizeof info)
		return;
	*ret_interrupted = true;
	atomic_store_explicit(&session->stop, true, memory_order_relaxed);
}

/* Until the measuring threads are done; a look every quarter of a second only when that disturbs nobody. */
static void wait_done(struct session *session, const struct session_events *events, bool quiet, uint64_t threads,
	bool *ret_interrupted)
{
	struct pollfd fds[4] = {{.fd = session->done, .events = POLLIN}, {.fd = session->signals, .events = POLLIN}};
	/* notices of the host are taken as they come, for their time, unless that would disturb a spinning thread */
	nfds_t count = 2;
	for (size_t i = 0; i < session->around.fd_count && !quiet; i++)
		fds[count++] = (struct pollfd){.fd = session->around.fd[i], .events = POLLIN};
	bool looks = !quiet && (events->progress || session->watch);
	for (unsigned turn = 1;;) {
		int ready = poll(fds, count, looks ? 250 : -1);
		if (ready < 0 && errno != EINTR)
			return;
		if (ready > 0 && fds[1].revents)
			take_signal(session, ret_interrupted);
		if (ready > 0 && count > 2 && (fds[2].revents || (count > 3 && fds[3].revents)))
			session_around_take(session);
		if (ready > 0 && fds[0].revents) {
			uint64_t ended;
			if (read(session->done, &ended, sizeof ended) > 0 && (threads -= ended) == 0)
				return;
		}
		if (ready != 0)
			continue;
		why_look(session);
		if (turn++ % 2 == 0 && events->progress)
			events->progress(events->context, session);
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

int session_measure(struct session *session, const struct session_events *events, struct measurement *measurements,
	size_t count, bool *ret_interrupted, struct tare_err *err)
{
	int own[] = {session->config.cpu};
	bool quiet = cpu_all_spinning(own, session->config.spin ? 1 : 0);
	/* with no CPU left for it the writer must be through before the round begins */
	if (quiet && session->writer && writer_wait(&session->writing, err) < 0)
		return -1;
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
