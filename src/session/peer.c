/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The facts of the first target's host, asked of its responder between rounds. A socket of its own, so that neither
 * numbers nor counts of the measurement are touched. What cannot be had is a note of the round, and no reason to wait
 * long: who does not serve facts is asked once, who is silent three times.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "host/host.h"
#include "host/record.h"
#include "host/store.h"
#include "net/path.h"
#include "session/private.h"
#include "wire/facts.h"

/* Without any answer; and in all, which has room for a responder that reads one snapshot a second. */
#define SILENCE_NS ((int64_t)2000000000)
#define ALL_NS ((int64_t)6000000000)
#define WAIT_MS 20           /* before asking again a responder that is still reading */
#define AGAIN_LEAST_MS 50    /* what has not come by then is asked for again; doubled each time */
#define AGAIN_MOST_MS 400
#define ROWS_BYTES ((size_t)4 << 20)
enum { AT_ONCE = 16, SILENT_MOST = 3 };

struct conversation {
	const struct session *session;
	struct facts_assembly *assembly;
	int fd;
	uint64_t token;
	uint32_t sequence;
	int64_t heard_ns, until_ns; /* CLOCK_MONOTONIC */
	bool waiting;               /* told to ask again */
	bool unserved;
};

static int open_socket(const struct session *session, struct tare_err *err)
{
	const struct net_address *to = &session->addresses[0];
	struct net_path path = session->config.path;
	/* the measuring socket has that port; and these packets may be cut into fragments */
	path.source_port = 0;
	path.dont_fragment = false;
	AUTO_FD fd = socket(to->storage.ss_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return tare_fail_errno(err, errno, "cannot open a socket");
	if (net_path_apply(fd, &path, to, err) < 0)
		return -1;
	if (connect(fd, (const struct sockaddr *)&to->storage, to->length) < 0)
		return tare_fail_errno(err, errno, "cannot reach %s", to->text);
	return take_fd(&fd);
}

static size_t ask(struct conversation *talk)
{
	uint8_t packet[FACTS_REQUEST_BYTES];
	size_t cursor = 0, sent = 0;
	uint32_t offset;
	/* one will do until it is known that there are more */
	size_t most = talk->assembly->packed_bytes ? AT_ONCE : 1;
	while (sent < most && facts_missing(talk->assembly, &cursor, &offset)) {
		facts_request(packet, talk->session->key, talk->sequence++, stamp_ntp_of_real(clock_real_now().ns),
			talk->token, offset);
		/* what is not taken is asked for again like what is lost */
		if (send(talk->fd, packet, sizeof packet, MSG_NOSIGNAL) < 0)
			break;
		sent++;
	}
	return sent;
}

/* One reply: 1 when it answers a request, 0 when it is nothing. */
static int hear(struct conversation *talk, const uint8_t *packet, size_t bytes, struct tare_err *err)
{
	struct facts_piece piece;
	switch (facts_reply_read(packet, bytes, talk->session->key, talk->token, &piece)) {
	case FACTS_READ_FOREIGN:
		return 0;
	case FACTS_READ_UNSERVED:
		talk->unserved = true;
		return tare_fail(err, TARE_E_INVALID, "the responder serves none (tare echo --facts does)");
	case FACTS_READ_REPLY:
		break;
	}
	talk->heard_ns = clock_mono_now().ns;
	if (piece.state == FACTS_WAIT) {
		talk->waiting = true;
		return 1;
	}
	if (piece.state == FACTS_UNREADABLE)
		return tare_fail(err, TARE_E_INVALID, "the responder could not read them");
	if (facts_take(talk->assembly, &piece) == FACTS_TAKEN_REFUSED)
		return tare_fail(err, TARE_E_FORMAT, "the responder's pieces do not make a whole");
	return 1;
}

/* Until all that was asked has come, or wait_ms are over. */
static int listen_for(struct conversation *talk, size_t awaited, int wait_ms, struct tare_err *err)
{
	uint8_t packet[FACTS_REQUEST_BYTES + 1];
	int64_t until_ns = clock_mono_now().ns + (int64_t)wait_ms * 1000000;
	while (awaited > 0 && !talk->waiting) {
		struct pollfd polled[] = {{.fd = talk->fd, .events = POLLIN}, {.fd = talk->session->signals, .events = POLLIN}};
		int64_t left_ns = until_ns - clock_mono_now().ns;
		if (left_ns <= 0)
			return 0;
		if (poll(polled, 2, (int)(left_ns / 1000000) + 1) < 0 && errno != EINTR)
			return tare_fail_errno(err, errno, "cannot wait for an answer");
		if (polled[1].revents)
			return tare_fail(err, TARE_E_INVALID, "interrupted");
		ssize_t got = polled[0].revents ? recv(talk->fd, packet, sizeof packet, 0) : 0;
		if (got < 0 && errno == ECONNREFUSED)
			return tare_fail_errno(err, errno, "nothing answers");
		int heard = got > 0 ? hear(talk, packet, (size_t)got, err) : 0;
		if (heard < 0)
			return -1;
		awaited -= (size_t)heard;
	}
	return 0;
}

static int pause_for(const struct conversation *talk, int ms)
{
	struct pollfd signals = {.fd = talk->session->signals, .events = POLLIN};
	return poll(&signals, 1, ms);
}

static int gather(struct conversation *talk, struct tare_err *err)
{
	int wait_ms = AGAIN_LEAST_MS;
	talk->heard_ns = clock_mono_now().ns;
	talk->until_ns = talk->heard_ns + ALL_NS;
	while (!facts_complete(talk->assembly)) {
		int64_t now_ns = clock_mono_now().ns;
		if (now_ns - talk->heard_ns > SILENCE_NS || now_ns > talk->until_ns)
			return tare_fail(err, TARE_E_SYSTEM, "no answer within %d s",
				(int)((now_ns > talk->until_ns ? ALL_NS : SILENCE_NS) / 1000000000));
		size_t missing = talk->assembly->missing, asked = ask(talk);
		talk->waiting = false;
		if (asked == 0)
			pause_for(talk, wait_ms);
		if (listen_for(talk, asked, wait_ms, err) < 0)
			return -1;
		if (talk->waiting)
			pause_for(talk, WAIT_MS);
		else if (talk->assembly->missing == missing && wait_ms < AGAIN_MOST_MS)
			wait_ms *= 2;
	}
	return 0;
}

static void assembly_end(struct facts_assembly *const *assembly)
{
	if (*assembly)
		free((*assembly)->bytes);
	free(*assembly);
}

/* ret_again: NULL, or a second one of the same. */
static int fetch(struct session *session, struct host_snapshot **ret_snapshot, struct host_snapshot **ret_again,
	bool *ret_unserved, struct tare_err *err)
{
	AUTO_CLEANUP(assembly_end) struct facts_assembly *assembly = calloc(1, sizeof *assembly);
	AUTO_FD fd = open_socket(session, err);
	if (fd < 0)
		return -1;
	if (!assembly || !(assembly->bytes = malloc(FACTS_PACKED_MAX)))
		return tare_fail_errno(err, ENOMEM, "cannot keep them");
	struct conversation talk = {.session = session, .assembly = assembly, .fd = fd};
	if (getrandom(&talk.token, sizeof talk.token, 0) != (ssize_t)sizeof talk.token || !talk.token)
		talk.token = (uint64_t)clock_real_now().ns;
	if (gather(&talk, err) < 0) {
		*ret_unserved = talk.unserved;
		return -1;
	}
	const struct host_packed packed = {assembly->bytes, assembly->packed_bytes, assembly->plain_bytes};
	const char *name = session->addresses[0].host;
	if (host_snapshot_unpack(&packed, name, ret_snapshot, err) < 0)
		return -1;
	if (ret_again && host_snapshot_unpack(&packed, name, ret_again, err) < 0) {
		host_snapshot_free(*ret_snapshot);
		*ret_snapshot = NULL;
		return -1;
	}
	return 0;
}

static int write_first(struct session *session, struct tare_err *err)
{
	const struct host_snapshot *first = session->around.asked.first;
	const char *side = session->addresses[0].host;
	struct arena *arena = NULL;
	const struct tare_fact *rows = NULL;
	struct tare_writer *writer;
	if (session_writer(session, &writer, err) < 0)
		return -1;
	if (!writer)
		return 0;
	if (arena_open(ROWS_BYTES, 0, &arena, err) < 0)
		return -1;
	size_t count = host_record_all(first, arena, side, "start", &rows);
	int status = rows ? tare_writer_facts(writer, session->run.id, 0, rows, count, err)
			  : tare_fail(err, TARE_E_SYSTEM, "they are more than fits");
	arena_free(arena);
	return status;
}

static void take(struct session *session, struct host_snapshot **slot)
{
	struct session_asked *asked = &session->around.asked;
	struct tare_err err = {0};
	bool unserved = false, is_first = asked->first == NULL;
	host_snapshot_free(*slot);
	*slot = NULL;
	int status = fetch(session, slot, is_first ? &asked->first : NULL, &unserved, &err);
	asked->silent = status < 0 && !unserved ? asked->silent + 1 : 0;
	if (unserved || asked->silent == SILENT_MOST)
		asked->wanted = false;
	if (status == 0 && is_first)
		status = write_first(session, &err);
	if (status < 0)
		snprintf(asked->why, sizeof asked->why, "the settings of %s could not be asked of it: %.300s%s",
			session->addresses[0].host, err.text, asked->wanted ? "" : "; it is not asked again");
}

void session_peer_begin(struct session *session)
{
	const struct session_config *config = &session->config;
	session->around.asked.wanted = session->key && !config->no_facts && !config->peer_facts &&
				       (session->writer || config->ask_peer) && strcmp(session->kinds[0]->scheme, "stamp") == 0;
}

void session_peer_start(struct session *session)
{
	struct session_asked *asked = &session->around.asked;
	asked->why[0] = '\0';
	host_snapshot_free(asked->start);
	host_snapshot_free(asked->end);
	asked->start = asked->end = NULL;
	if (asked->wanted)
		take(session, &asked->start);
}

void session_peer_seal(struct session *session, struct writer_job *job)
{
	struct session_asked *asked = &session->around.asked;
	const char *side = session->addresses[0].host;
	if (asked->wanted)
		take(session, &asked->end);
	if (asked->why[0])
		writer_job_event(job, job->round.ended_ns, "note", asked->why);
	if (!session->writer || !asked->first || !job->fact_arena)
		return;
	if (asked->start)
		job->fact_counts[2] = host_record_changes(
			asked->first, asked->start, job->fact_arena, side, "start", &job->facts[2]);
	if (asked->end)
		job->fact_counts[3] = host_record_changes(asked->start ? asked->start : asked->first, asked->end,
			job->fact_arena, side, "end", &job->facts[3]);
}

bool session_peer_take(struct session *session, struct host_snapshot **ret_start, struct host_snapshot **ret_end)
{
	struct session_asked *asked = &session->around.asked;
	if (!asked->start || !asked->end)
		return false;
	*ret_start = asked->start;
	*ret_end = asked->end;
	asked->start = asked->end = NULL;
	return true;
}

void session_peer_free(struct session *session)
{
	struct session_asked *asked = &session->around.asked;
	host_snapshot_free(asked->first);
	host_snapshot_free(asked->start);
	host_snapshot_free(asked->end);
}
