/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The shelf of snapshots. Its lock is held for as long as a piece is copied (1.2 KB) or a pointer changes hands; the
 * serving side only ever tries it.
 */
#include "echo/facts.h"

#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/caps.h"
#include "clock/clock.h"
#include "clock/cpu.h"
#include "host/host.h"
#include "host/store.h"

#define READ_EVERY_NS ((int64_t)1000000000)

struct kept {
	uint64_t token;            /* 0: free */
	struct host_packed packed; /* bytes NULL: could not be read */
};

struct facts_desk {
	pthread_mutex_t lock;
	pthread_cond_t asked;
	pthread_t thread;
	bool running, stopping;
	uint64_t wanted; /* token being read; 0: none */
	struct sockaddr_storage from;
	int64_t next_read_ns; /* CLOCK_MONOTONIC: the burst is used up when it lies that far ahead */
	struct kept kept[FACTS_DESK_KEPT];
	size_t oldest;
	struct host_cpus hot;
	const char *tool;
};

int facts_desk_open(
	const int *cpus, size_t cpu_count, const char *tool, struct facts_desk **ret_desk, struct tare_err *err)
{
	struct facts_desk *desk = calloc(1, sizeof *desk);
	if (!desk)
		return tare_fail_errno(err, ENOMEM, "no memory for facts of this host");
	pthread_mutex_init(&desk->lock, NULL);
	pthread_cond_init(&desk->asked, NULL);
	for (size_t i = 0; i < cpu_count; i++)
		host_cpus_add(&desk->hot, cpus[i]);
	desk->tool = tool;
	*ret_desk = desk;
	return 0;
}

/* What it is worth: bytes NULL on failure. */
static struct host_packed read_host(const struct facts_desk *desk, const struct sockaddr_storage *from)
{
	struct host_question question = {.hot = desk->hot, .tool = desk->tool};
	struct host_snapshot *snapshot = NULL;
	struct host_packed packed = {0};
	char peer[NI_MAXHOST];
	/* a scope ("fe80::1%eth0") is no part of what routes are asked for by */
	if (getnameinfo((const struct sockaddr *)from, sizeof *from, peer, sizeof peer, NULL, 0, NI_NUMERICHOST) == 0 &&
		!strchr(peer, '%'))
		question.peer = peer;
	if (host_read(&question, &snapshot, NULL) < 0)
		return packed;
	if (host_snapshot_pack(snapshot, FACTS_PLAIN_MAX, &packed, NULL) == 0 && packed.count > FACTS_PACKED_MAX) {
		free(packed.bytes);
		packed = (struct host_packed){0};
	}
	host_snapshot_free(snapshot);
	return packed;
}

static void *read_main(void *argument)
{
	struct facts_desk *desk = argument;
	struct sched_param none = {0};
	cpu_thread_name("tare-facts", false);
	sched_setscheduler(0, SCHED_BATCH, &none);
	setpriority(PRIO_PROCESS, 0, 19);
	host_move_aside(&desk->hot);
	/* what it may not drop it never had */
	bool bare = caps_keep_only(NULL, 0, NULL) == 0;
	pthread_mutex_lock(&desk->lock);
	while (!desk->stopping) {
		if (!desk->wanted) {
			pthread_cond_wait(&desk->asked, &desk->lock);
			continue;
		}
		struct kept kept = {.token = desk->wanted};
		struct sockaddr_storage from = desk->from;
		pthread_mutex_unlock(&desk->lock);
		if (bare)
			kept.packed = read_host(desk, &from);
		pthread_mutex_lock(&desk->lock);
		struct kept *place = &desk->kept[desk->oldest++ % FACTS_DESK_KEPT];
		free(place->packed.bytes);
		*place = kept;
		desk->wanted = 0;
	}
	pthread_mutex_unlock(&desk->lock);
	return NULL;
}

int facts_desk_start(struct facts_desk *desk, struct tare_err *err)
{
	int why = pthread_create(&desk->thread, NULL, read_main, desk);
	if (why)
		return tare_fail_errno(err, why, "cannot start a thread for facts of this host");
	desk->running = true;
	return 0;
}

void facts_desk_free(struct facts_desk *desk)
{
	if (!desk)
		return;
	if (desk->running) {
		pthread_mutex_lock(&desk->lock);
		desk->stopping = true;
		pthread_cond_signal(&desk->asked);
		pthread_mutex_unlock(&desk->lock);
		pthread_join(desk->thread, NULL);
	}
	for (size_t i = 0; i < FACTS_DESK_KEPT; i++)
		free(desk->kept[i].packed.bytes);
	pthread_cond_destroy(&desk->asked);
	pthread_mutex_destroy(&desk->lock);
	free(desk);
}

/* With the lock held: a new snapshot is begun, unless one is under way or the burst is used up. */
static void begin(struct facts_desk *desk, uint64_t token, const struct sockaddr_storage *from)
{
	int64_t now_ns = clock_mono_now().ns;
	if (!desk->running || desk->wanted || desk->next_read_ns > now_ns + (FACTS_DESK_BURST - 1) * READ_EVERY_NS)
		return;
	desk->next_read_ns = (desk->next_read_ns > now_ns ? desk->next_read_ns : now_ns) + READ_EVERY_NS;
	desk->wanted = token;
	desk->from = *from;
	pthread_cond_signal(&desk->asked);
}

void facts_desk_answer(
	struct facts_desk *desk, uint8_t *reply, const struct stamp_made *made, const struct sockaddr_storage *from)
{
	struct facts_piece piece = {.state = FACTS_WAIT};
	facts_question(reply, made, &piece.token, &piece.offset);
	if (!piece.token || pthread_mutex_trylock(&desk->lock) != 0) {
		facts_answer(reply, made, &piece);
		return;
	}
	const struct kept *kept = NULL;
	for (size_t i = 0; i < FACTS_DESK_KEPT; i++)
		if (desk->kept[i].token == piece.token)
			kept = &desk->kept[i];
	if (!kept)
		begin(desk, piece.token, from);
	if (kept) {
		piece.state = kept->packed.bytes ? FACTS_PIECE : FACTS_UNREADABLE;
		piece.bytes = kept->packed.bytes;
		piece.packed_bytes = (uint32_t)kept->packed.count;
		piece.plain_bytes = (uint32_t)kept->packed.plain_bytes;
	}
	facts_answer(reply, made, &piece);
	pthread_mutex_unlock(&desk->lock);
}
