/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the host was around each round: a snapshot before and after, never within,
 * and the kernel's own notices of what moved in between. Nothing here may end a
 * run: what could not be read is missing from the recording, and said there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/host.h"
#include "host/record.h"
#include "host/store.h"
#include "session/private.h"

/* Rows of one round: a few in general, all of them if everything changed. */
#define ROWS_BYTES ((size_t)4 << 20)
enum { SENTENCES_MAX = 256 };

static struct host_snapshot *take_snapshot(const struct session *session)
{
	struct host_question question = {.tool = session->config.tool};
	struct host_snapshot *snapshot = NULL;
	struct tare_err err;
	const char *peer = session->target_count ? session->addresses[0].host : "";
	/* a scope ("fe80::1%eth0") is no part of what routes are asked for by */
	question.peer = peer[0] && !strchr(peer, '%') ? peer : NULL;
	if (session->config.cpu >= 0)
		host_cpus_add(&question.hot, session->config.cpu);
	return host_read(&question, &snapshot, &err) < 0 ? NULL : snapshot;
}

int session_around_peer(struct session *session, struct tare_err *err)
{
	const struct session_config *config = &session->config;
	if (!config->peer_facts)
		return 0;
	if (!config->output || config->no_facts)
		return tare_fail(err, TARE_E_USAGE, "--peer-facts are kept with the recording: it needs %s",
			config->no_facts ? "--facts" : "-o FILE");
	return host_snapshot_load(config->peer_facts, &session->around.peer, err) < 0
		? tare_err_prefix(err, "--peer-facts")
		: 0;
}

/* All of them at once, with whose they are and when they were read: they are as old as their file. */
static int write_peer(struct session *session, struct tare_err *err)
{
	const struct host_snapshot *peer = session->around.peer;
	const char *side = session->addresses[0].host;
	struct arena *arena = NULL;
	const struct tare_fact *rows = NULL;
	char taken[32];
	if (!peer)
		return 0;
	if (arena_open(ROWS_BYTES, 0, &arena, err) < 0)
		return -1;
	snprintf(taken, sizeof taken, "%lld", (long long)peer->header.real_ns);
	const struct tare_fact whose[] = {{side, "start", "snapshot.taken_ns", taken},
		{side, "start", "snapshot.host", peer->header.host ? peer->header.host : ""}};
	size_t count = host_record_all(peer, arena, side, "start", &rows);
	int status = rows ? tare_writer_facts(session->writer, session->run.id, 0, rows, count, err)
			  : tare_fail(err, TARE_E_SYSTEM, "--peer-facts: more than fits");
	if (status == 0)
		status = tare_writer_facts(session->writer, session->run.id, 0, whose, 2, err);
	arena_free(arena);
	return status;
}

static int write_rows(struct session *session, const struct host_snapshot *before, const struct host_snapshot *is,
	const char *moment, struct tare_err *err)
{
	struct arena *arena = NULL;
	const struct tare_fact *rows = NULL;
	if (arena_open(ROWS_BYTES, 0, &arena, err) < 0)
		return -1;
	size_t count = before ? host_record_changes(before, is, arena, "local", moment, &rows)
			      : host_record_all(is, arena, "local", moment, &rows);
	int status = rows ? tare_writer_facts(session->writer, session->run.id, 0, rows, count, err) : 0;
	arena_free(arena);
	return status;
}

int session_around_begin(struct session *session, struct tare_err *err)
{
	struct session_around *around = &session->around;
	if (!session->writer || session->config.no_facts)
		return 0;
	if (write_peer(session, err) < 0 || host_watch_open(&around->watch, err) < 0)
		return -1;
	around->fd_count = host_watch_fds(around->watch, around->fd, 2);
	around->first = take_snapshot(session);
	return around->first ? write_rows(session, NULL, around->first, "start", err) : 0;
}

int session_around_end(struct session *session, struct tare_err *err)
{
	struct session_around *around = &session->around;
	struct host_snapshot *last = around->first ? take_snapshot(session) : NULL;
	int status = last ? write_rows(session, around->first, last, "end", err) : 0;
	host_snapshot_free(last);
	return status;
}

void session_around_free(struct session *session)
{
	session_peer_free(session);
	host_watch_close(session->around.watch);
	host_snapshot_free(session->around.peer);
	host_snapshot_free(session->around.first);
	host_snapshot_free(session->around.start);
	session->around = (struct session_around){.watch = NULL};
}

void session_around_start(struct session *session)
{
	struct session_around *around = &session->around;
	/* before our own, which is the closest to the round */
	session_peer_start(session);
	if (!around->watch)
		return;
	host_snapshot_free(around->start);
	around->start = take_snapshot(session);
	/* what happened before the round is in its first snapshot */
	bool lost;
	while (host_watch_drain(around->watch, around->event, SESSION_EVENTS_MAX, &lost) == SESSION_EVENTS_MAX)
		continue;
	around->events = 0;
	around->lost = false;
}

void session_around_take(struct session *session)
{
	struct session_around *around = &session->around;
	bool lost = false;
	if (!around->watch)
		return;
	around->events += host_watch_drain(
		around->watch, around->event + around->events, SESSION_EVENTS_MAX - around->events, &lost);
	around->lost |= lost;
}

static void add_notices(struct session *session, struct writer_job *job)
{
	const struct session_around *around = &session->around;
	for (size_t i = 0; i < around->events; i++)
		writer_job_event(
			job, around->event[i].at_ns - session->run.epoch_mono_ns, "host", around->event[i].text);
	if (around->lost)
		writer_job_event(
			job, job->round.ended_ns, "host", "more happened to links and neighbours than could be noted");
}

static void seal_local(struct session *session, struct writer_job *job)
{
	struct session_around *around = &session->around;
	session_around_take(session);
	add_notices(session, job);
	struct host_snapshot *end = take_snapshot(session);
	if (!end || !around->start || arena_open(ROWS_BYTES, 0, &job->fact_arena, NULL) < 0) {
		writer_job_event(
			job, job->round.ended_ns, "note", "the host's facts could not be read around this round");
		host_snapshot_free(end);
		return;
	}
	const char *sentences[SENTENCES_MAX];
	size_t count = host_record_events(around->start, end, job->fact_arena, sentences, SENTENCES_MAX);
	for (size_t i = 0; i < count; i++)
		writer_job_event(job, job->round.ended_ns, "host", sentences[i]);
	job->fact_counts[0] =
		host_record_changes(around->first, around->start, job->fact_arena, "local", "start", &job->facts[0]);
	job->fact_counts[1] = host_record_changes(around->start, end, job->fact_arena, "local", "end", &job->facts[1]);
	host_snapshot_free(end);
}

void session_around_seal(struct session *session, struct writer_job *job)
{
	if (session->around.watch)
		seal_local(session, job);
	session_peer_seal(session, job);
}
