/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Listeners and the threads that serve them. A thread that waits on one socket
 * blocks in the receive call itself; with more it polls; a spinning one asks them
 * in turn. All are ended by shutting the sockets for receiving, which wakes a
 * waiting thread and cannot be missed by one that is about to wait.
 */
#include "echo/echo.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/caps.h"
#include "clock/cpu.h"
#include "echo/bypass.h"
#include "echo/serve.h"

enum {
	LISTENERS_MAX = 256,
	SERVED_PER_WAKE = 64, /* from one socket before the next has its turn */
};

struct worker {
	struct echo *echo;
	int cpu;
	struct server server;
	struct account account;
	struct account_shares *shares; /* once it has ended; NULL: not watched */
	struct listener **listeners;
	struct pollfd *polled; /* one a listener, and the end of it all */
	size_t listener_count;
	bool single;           /* one listener, whose receive call can be woken */
	pthread_t thread;
	bool running;
	sem_t ready; /* up when `status` holds how the start went */
	int status;
	struct tare_err err;
};

struct echo {
	struct arena *arena;
	struct answer_rules *rules;
	struct stamp_key *key;      /* NULL: none */
	struct facts_desk *facts;   /* NULL: not served */
	struct inject_plan *inject; /* NULL: none */
	struct listener *listeners;
	struct worker *workers;
	size_t listener_count, worker_count;
	int keeper_fd, end_fd; /* end_fd: readable when all is to end */
	bool spin, why, why_softirq;
	int fifo_priority;
	atomic_bool stopping;
};

static bool going_on(const struct worker *worker)
{
	return !atomic_load_explicit(&worker->echo->stopping, memory_order_relaxed);
}

static void serve_spinning(struct worker *worker)
{
	while (going_on(worker))
		for (size_t i = 0; i < worker->listener_count; i++)
			serve_one(&worker->server, worker->listeners[i], MSG_DONTWAIT);
}

/*
 * Looks once, behind the reply where that delays nothing, before it blocks: only so does a backlog show. TCP polls its
 * connections, and an explaining thread counts every wake-up.
 */
static void serve_single(struct worker *worker)
{
	struct listener *listener = worker->listeners[0];
	bool looks = listener->kind == LISTENER_UDP && !listener->wildcard;
	while (going_on(worker)) {
		int served = looks ? serve_one(&worker->server, listener, MSG_DONTWAIT) : 0;
		/* a batch never waits: with none left it takes a single receive call again */
		if (served == 0 && !listener->batching)
			served = serve_one(&worker->server, listener, 0);
		if (served < 0)
			poll(NULL, 0, 1); /* no memory or no network: do not run wild */
	}
}

static void serve_polling(struct worker *worker)
{
	while (going_on(worker)) {
		if (poll(worker->polled, worker->listener_count + 1, -1) < 0 && errno != EINTR)
			poll(NULL, 0, 1);
		for (size_t i = 0; i < worker->listener_count; i++) {
			int served = worker->polled[i].revents ? 1 : 0;
			for (int n = 0; served > 0 && n < SERVED_PER_WAKE; n++)
				served = serve_one(&worker->server, worker->listeners[i], MSG_DONTWAIT);
		}
	}
}

/* In the new thread. Capabilities go last: pinning and priorities may need them. */
static int settle(struct worker *worker)
{
	cpu_thread_name("tare-echo", worker->echo->spin);
	cpu_timer_slack_least();
	if (worker->cpu >= 0 && cpu_pin(worker->cpu, &worker->err) < 0)
		return -1;
	if (worker->echo->fifo_priority > 0 && cpu_fifo(worker->echo->fifo_priority, &worker->err) < 0)
		return -1;
	if (worker->echo->why) {
		if (account_open(&worker->account, worker->cpu, worker->echo->why_softirq, worker->echo->spin,
			    &worker->err) < 0)
			return -1;
		worker->server.account = &worker->account;
	}
	return caps_keep_only(NULL, 0, &worker->err);
}

static void *work(void *argument)
{
	struct worker *worker = argument;
	worker->status = settle(worker);
	bool settled = worker->status == 0;
	sem_post(&worker->ready);
	if (!settled)
		return NULL;
	if (worker->echo->spin)
		serve_spinning(worker);
	else if (worker->single)
		serve_single(worker);
	else
		serve_polling(worker);
	return NULL;
}

/* Every port of ours is one behind which a reflector sits. */
static int open_listeners(struct echo *echo, const struct echo_config *config, struct tare_err *err)
{
	bool stamps = false, sealable = false;
	for (size_t i = 0; i < config->url_count; i++) {
		struct listener *listener = &echo->listeners[i];
		echo->listener_count = i + 1;
		if (listener_open(listener, config->urls[i], err) < 0)
			return -1;
		if (echo->inject && listener->kind != LISTENER_STAMP)
			return tare_fail(err, TARE_E_USAGE,
				"--inject: the replies of %s cannot say that faults are injected; take stamp://",
				listener->url);
		source_port_refuse(&echo->rules->refused_ports, listener->port);
		sealable |= listener->kind == LISTENER_STAMP;
		stamps |= listener->kernel_stamps;
	}
	if (echo->key && !sealable)
		return tare_fail(err, TARE_E_USAGE, "--key-file is for stamp:// listeners, and there is none");
	if (stamps)
		echo->keeper_fd = net_keeper_open();
	return 0;
}

/* A listener that counts tells its senders when replies really left. */
static int take_follow(struct echo *echo, struct listener *listener, struct tare_err *err)
{
	if (listener->kind != LISTENER_STAMP)
		return 0;
	listener->follow = ARENA_ARRAY(echo->arena, struct follow, 1);
	if (!listener->follow)
		return tare_fail(err, TARE_E_SYSTEM, "no memory for the send times of %s", listener->url);
	listener->follow->kernel_rx = listener->kernel_stamps;
	return 0;
}

static int take_worker(struct echo *echo, const struct echo_config *config, struct worker *worker, struct tare_err *err)
{
	worker->echo = echo;
	worker->server.spin = echo->spin;
	worker->server.rules = echo->rules;
	worker->server.facts = echo->facts;
	worker->server.packet = ARENA_ARRAY(echo->arena, uint8_t, SERVE_ROOM);
	worker->server.batch = ARENA_ARRAY(echo->arena, struct batch, 1);
	uint8_t *packets = ARENA_ARRAY(echo->arena, uint8_t, (size_t)SERVE_BATCH * SERVE_STRIDE);
	worker->listeners = ARENA_ARRAY(echo->arena, struct listener *, config->url_count);
	worker->polled = ARENA_ARRAY(echo->arena, struct pollfd, config->url_count + 1);
	if (config->limit_interval_ns > 0)
		worker->server.limit = ARENA_ARRAY(echo->arena, struct source_limit, 1);
	if (!worker->server.packet || !worker->server.batch || !packets || !worker->listeners || !worker->polled ||
		(config->limit_interval_ns > 0 && !worker->server.limit))
		return tare_fail(err, TARE_E_SYSTEM, "no memory for %zu listeners", config->url_count);
	worker->server.batch->packets = packets;
	batch_open(worker->server.batch);
	if (config->stateful && !(worker->server.flows = ARENA_ARRAY(echo->arena, struct flows, 1)))
		return tare_fail(err, TARE_E_SYSTEM, "no memory for the counts of sessions");
	if (echo->inject) {
		struct disturb *disturb = ARENA_ARRAY(echo->arena, struct disturb, 1);
		worker->server.disturb = disturb;
		if (!disturb || !(disturb->packet = ARENA_ARRAY(echo->arena, uint8_t, SERVE_ROOM)))
			return tare_fail(err, TARE_E_SYSTEM, "no memory for faults");
		disturb->plan = echo->inject;
	}
	if (worker->server.limit)
		source_limit_open(worker->server.limit, config->limit_interval_ns);
	worker->server.clock = answer_clock_now();
	return 0;
}

/* Listener i goes to worker i modulo their number. */
static int deal(struct echo *echo, const struct echo_config *config, struct tare_err *err)
{
	for (size_t i = 0; i < echo->worker_count; i++) {
		echo->workers[i].cpu = config->cpu_count ? config->cpus[i] : -1;
		if (take_worker(echo, config, &echo->workers[i], err) < 0)
			return -1;
	}
	for (size_t i = 0; i < echo->listener_count; i++) {
		struct worker *worker = &echo->workers[i % echo->worker_count];
		if (config->stateful && take_follow(echo, &echo->listeners[i], err) < 0)
			return -1;
		worker->polled[worker->listener_count] = (struct pollfd){.fd = echo->listeners[i].fd, .events = POLLIN};
		worker->listeners[worker->listener_count++] = &echo->listeners[i];
		worker->single = worker->listener_count == 1 && echo->listeners[i].kind != LISTENER_XDP;
	}
	for (size_t i = 0; i < echo->worker_count; i++)
		echo->workers[i].polled[echo->workers[i].listener_count] =
			(struct pollfd){.fd = echo->end_fd, .events = POLLIN};
	return 0;
}

static size_t workers_for(const struct echo_config *config)
{
	size_t wanted = config->cpu_count ? config->cpu_count : 1;
	return wanted < config->url_count ? wanted : config->url_count;
}

static int fill(struct echo *echo, const struct echo_config *config, struct tare_err *err)
{
	size_t workers = workers_for(config), listeners = config->url_count;
	size_t per_worker = sizeof(struct worker) + sizeof(struct pollfd) + SERVE_ROOM + sizeof(struct source_limit) +
			    sizeof(struct batch) + (size_t)SERVE_BATCH * SERVE_STRIDE +
			    listeners * (sizeof(struct listener *) + sizeof(struct pollfd));
	if (config->inject)
		per_worker += sizeof(struct disturb) + SERVE_ROOM;
	if (config->stateful)
		per_worker += sizeof(struct flows) + listeners * (sizeof(struct follow) + 64);
	size_t bytes = sizeof(struct answer_rules) + sizeof(struct inject_plan) + listeners * sizeof(struct listener) + workers * per_worker;
	if (arena_open(bytes + (5 + 10 * workers) * 64, ARENA_PREFAULT | ARENA_LOCK, &echo->arena, err) < 0)
		return -1;
	echo->rules = ARENA_ARRAY(echo->arena, struct answer_rules, 1);
	echo->listeners = ARENA_ARRAY(echo->arena, struct listener, listeners);
	echo->workers = ARENA_ARRAY(echo->arena, struct worker, workers);
	if (!echo->rules || !echo->listeners || !echo->workers)
		return tare_fail(err, TARE_E_SYSTEM, "no memory for %zu listeners", listeners);
	echo->worker_count = workers;
	echo->rules->light = config->light;
	if (config->key_file && stamp_key_load(config->key_file, &echo->key, err) < 0)
		return tare_err_prefix(err, "--key-file");
	echo->rules->key = echo->key;
	if (config->facts && facts_desk_open(config->cpus, config->cpu_count, config->tool, &echo->facts, err) < 0)
		return -1;
	source_ports_usual(&echo->rules->refused_ports);
	if (config->allow && source_allow_parse(config->allow, &echo->rules->allow, err) < 0)
		return -1;
	if (config->inject) {
		echo->inject = ARENA_ARRAY(echo->arena, struct inject_plan, 1);
		if (!echo->inject)
			return tare_fail(err, TARE_E_SYSTEM, "no memory for faults");
		if (inject_parse(config->inject, INJECT_RESPONDER, echo->inject, err) < 0)
			return -1;
	}
	if (open_listeners(echo, config, err) < 0)
		return -1;
	return deal(echo, config, err);
}

int echo_open(const struct echo_config *config, struct echo **ret_echo, struct tare_err *err)
{
	if (config->url_count == 0)
		return tare_fail(err, TARE_E_USAGE, "nothing to listen on; name one as udp://127.0.0.1:7000");
	if (config->url_count > LISTENERS_MAX)
		return tare_fail(err, TARE_E_USAGE, "more than %d listeners", LISTENERS_MAX);
	if (config->key_file && config->light)
		return tare_fail(err, TARE_E_USAGE,
			"--key-file and --light exclude each other: TWAMP-light requests are not authenticated");
	if (config->facts && !config->key_file)
		return tare_fail(err, TARE_E_USAGE,
			"--facts needs --key-file: what this host is set to is told to senders that have the key only");
	struct echo *echo = calloc(1, sizeof *echo);
	if (!echo)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	echo->keeper_fd = -1;
	echo->end_fd = eventfd(0, EFD_CLOEXEC);
	echo->spin = config->spin;
	echo->why = config->why || config->why_softirq;
	echo->why_softirq = config->why_softirq;
	echo->fifo_priority = config->fifo_priority;
	if (echo->end_fd < 0 ? tare_fail_errno(err, errno, "cannot wait for the end") < 0 : fill(echo, config, err) < 0) {
		echo_free(echo);
		return -1;
	}
	*ret_echo = echo;
	return 0;
}

static int start_worker(struct worker *worker, struct tare_err *err)
{
	sem_init(&worker->ready, 0, 0);
	int why = pthread_create(&worker->thread, NULL, work, worker);
	if (why)
		return tare_fail_errno(err, why, "cannot start a thread");
	worker->running = true;
	while (sem_wait(&worker->ready) < 0 && errno == EINTR)
		continue;
	if (worker->status == 0)
		return 0;
	if (err)
		*err = worker->err;
	return -1;
}

int echo_start(struct echo *echo, struct tare_err *err)
{
	if (echo->facts && facts_desk_start(echo->facts, err) < 0)
		return -1;
	for (size_t i = 0; i < echo->worker_count; i++) {
		if (start_worker(&echo->workers[i], err) < 0) {
			echo_stop(echo);
			return -1;
		}
	}
	return 0;
}

static void keep_shares(struct worker *worker)
{
	if (!worker->account.watch)
		return;
	free(worker->shares);
	worker->shares = calloc(1, sizeof *worker->shares);
	if (worker->shares)
		account_shares(&worker->account, worker->shares);
}

bool echo_shares(const struct echo *echo, size_t thread, struct echo_shares *ret_shares)
{
	const struct account_shares *shares = thread < echo->worker_count ? echo->workers[thread].shares : NULL;
	if (!shares)
		return false;
	*ret_shares = (struct echo_shares){shares->row, shares->count, shares->watched_ns, shares->missing};
	return true;
}

void echo_stop(struct echo *echo)
{
	atomic_store(&echo->stopping, true);
	if (echo->end_fd >= 0)
		eventfd_write(echo->end_fd, 1);
	for (size_t i = 0; i < echo->listener_count; i++)
		if (echo->listeners[i].fd >= 0)
			listener_wake(&echo->listeners[i]);
	for (size_t i = 0; i < echo->worker_count; i++) {
		if (!echo->workers[i].running)
			continue;
		pthread_join(echo->workers[i].thread, NULL);
		keep_shares(&echo->workers[i]);
		account_close(&echo->workers[i].account);
		sem_destroy(&echo->workers[i].ready);
		echo->workers[i].running = false;
	}
}

void echo_free(struct echo *echo)
{
	if (!echo)
		return;
	echo_stop(echo);
	for (size_t i = 0; i < echo->listener_count; i++)
		listener_close(&echo->listeners[i]);
	for (size_t i = 0; i < echo->worker_count; i++)
		free(echo->workers[i].shares);
	if (echo->keeper_fd >= 0)
		close(echo->keeper_fd);
	if (echo->end_fd >= 0)
		close(echo->end_fd);
	facts_desk_free(echo->facts);
	arena_free(echo->arena);
	stamp_key_free(echo->key);
	free(echo);
}

size_t echo_listeners(const struct echo *echo)
{
	return echo->listener_count;
}

struct echo_place echo_place(const struct echo *echo, size_t listener)
{
	const struct worker *worker = &echo->workers[listener % echo->worker_count];
	return (struct echo_place){
		.unwatched = worker->account.watch ? watch_missing(worker->account.watch) : NULL,
		.listener = echo->listeners[listener].url,
		.cpu = worker->cpu,
		.spinning = echo->spin,
		.facts = echo->facts && echo->listeners[listener].kind == LISTENER_STAMP,
		.authenticated = echo->key && echo->listeners[listener].kind == LISTENER_STAMP,
		.without_kernel_stamps = echo->listeners[listener].kind == LISTENER_STAMP &&
			!echo->listeners[listener].kernel_stamps,
	};
}

struct echo_counts echo_counts(const struct echo *echo, size_t listener)
{
	const struct listener *from = &echo->listeners[listener];
	return (struct echo_counts){
		.listener = from->url,
		.requests = count_read(&from->requests),
		.replies = count_read(&from->replies),
		.too_short = count_read(&from->too_short),
		.refused = count_read(&from->refused),
		.limited = count_read(&from->limited),
		.send_errors = count_read(&from->send_errors),
		.unauthenticated = count_read(&from->unauthenticated),
		.wrong_hmac = count_read(&from->wrong_hmac),
		.wrong_tlvs = count_read(&from->wrong_tlvs),
		.foreign = count_read(&from->foreign),
		.overrun = listener_overrun(from),
	};
}

bool echo_how(const struct echo *echo, size_t listener, char *buffer, size_t room)
{
	if (echo->listeners[listener].kind == LISTENER_GROUP)
		return listener_describe(&echo->listeners[listener], buffer, room);
	if (echo->listeners[listener].kind != LISTENER_XDP)
		return false;
	bypass_describe(&echo->listeners[listener], buffer, room);
	return true;
}

bool echo_losses(const struct echo *echo, size_t listener, char *buffer, size_t room)
{
	return echo->listeners[listener].kind == LISTENER_XDP && bypass_losses(&echo->listeners[listener], buffer, room);
}
