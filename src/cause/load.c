/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The loads. None looks at the clock more often than a few thousand times a second. */
#include "cause/load.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "clock/clock.h"
#include "clock/cpu.h"

enum { BLOCK_BYTES = 128 << 10, MEMORY_BYTES = 64 << 20, THREADS_MOST = 256, TURNS = 20000 };

struct load_thread {
	const struct load_plan *plan;
	const atomic_bool *stop;
	int64_t until_ns;
	int cpu, fd; /* -1: none */
	bool receives;
	uint64_t amount;
	pthread_t thread;
	bool started, failed;
	struct tare_err err;
};

static bool going_on(const struct load_thread *thread)
{
	return !atomic_load_explicit(thread->stop, memory_order_relaxed) &&
	       (thread->until_ns == 0 || clock_mono_now().ns < thread->until_ns);
}

static void spin(struct load_thread *thread)
{
	volatile uint64_t value = 1;
	while (going_on(thread)) {
		for (int i = 0; i < TURNS; i++)
			value = value * 6364136223846793005u + 1442695040888963407u;
		thread->amount += TURNS;
	}
}

static void write_memory(struct load_thread *thread)
{
	AUTO_FREE char *block = malloc(MEMORY_BYTES);
	if (!block) {
		thread->failed = true;
		tare_fail_errno(&thread->err, ENOMEM, "no memory for a load");
		return;
	}
	for (int turn = 0; going_on(thread); turn++) {
		size_t part = (size_t)(turn % 64) * (MEMORY_BYTES / 64);
		memset(block + part, turn, MEMORY_BYTES / 64);
		__asm__ volatile("" : : "r"(block) : "memory");
		thread->amount += MEMORY_BYTES / 64;
	}
}

static void wake_up(struct load_thread *thread)
{
	cpu_timer_slack_least();
	int64_t next_ns = clock_mono_now().ns;
	while (going_on(thread)) {
		next_ns += thread->plan->interval_ns;
		struct timespec until = clock_timespec(next_ns);
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
		thread->amount++;
	}
}

static void stream(struct load_thread *thread)
{
	AUTO_FREE char *block = calloc(1, BLOCK_BYTES);
	/* so that a peer that takes nothing does not hold up the end */
	struct timeval patience = {.tv_usec = 100000};
	setsockopt(thread->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
	setsockopt(thread->fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
	while (block && going_on(thread)) {
		ssize_t moved = thread->receives ? recv(thread->fd, block, BLOCK_BYTES, 0)
						 : send(thread->fd, block, BLOCK_BYTES, MSG_NOSIGNAL);
		if (moved > 0)
			thread->amount += (uint64_t)moved;
		else if (moved == 0 || (errno != EAGAIN && errno != EINTR))
			break;
	}
}

static void *load_main(void *argument)
{
	struct load_thread *thread = argument;
	thread->failed = thread->cpu >= 0 && cpu_pin(thread->cpu, &thread->err) < 0;
	if (thread->failed)
		return NULL;
	switch (thread->plan->kind) {
	case LOAD_TCP:
		stream(thread);
		break;
	case LOAD_SPIN:
		spin(thread);
		break;
	case LOAD_MEMORY:
		write_memory(thread);
		break;
	case LOAD_WAKEUPS:
		wake_up(thread);
		break;
	}
	return NULL;
}

/* Two ends of a connection over loopback. */
static int connect_loopback(int ret_ends[2], struct tare_err *err)
{
	struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof name;
	AUTO_FD listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	AUTO_FD one = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listener < 0 || one < 0 || bind(listener, (struct sockaddr *)&name, sizeof name) != 0 ||
		listen(listener, 1) != 0 || getsockname(listener, (struct sockaddr *)&name, &length) != 0 ||
		connect(one, (struct sockaddr *)&name, sizeof name) != 0)
		return tare_fail_errno(err, errno, "cannot open a connection over loopback");
	AUTO_FD other = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	if (other < 0)
		return tare_fail_errno(err, errno, "cannot open a connection over loopback");
	ret_ends[0] = take_fd(&one);
	ret_ends[1] = take_fd(&other);
	return 0;
}

static int connect_peer(const char *peer, int *ret_fd, struct tare_err *err)
{
	char host[256];
	const char *colon = strrchr(peer, ':');
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
	if (!colon || colon == peer || !colon[1] || (size_t)(colon - peer) >= sizeof host)
		return tare_fail(err, TARE_E_USAGE, "'%s' is no HOST:PORT", peer);
	snprintf(host, sizeof host, "%.*s", (int)(colon - peer), peer);
	int why = getaddrinfo(host, colon + 1, &hints, &found);
	if (why != 0)
		return tare_fail(err, TARE_E_SYSTEM, "cannot resolve '%s': %s", host, gai_strerror(why));
	AUTO_FD fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int status = fd < 0 ? -1 : connect(fd, found->ai_addr, found->ai_addrlen);
	why = errno;
	freeaddrinfo(found);
	if (status != 0)
		return tare_fail_errno(err, why, "cannot connect to %s", peer);
	*ret_fd = take_fd(&fd);
	return 0;
}

static size_t plan_threads(const struct load_plan *plan, struct load_thread *threads, struct tare_err *err)
{
	size_t count = plan->kind == LOAD_TCP ? (plan->peer ? 1 : 2) : plan->cpu_count ? plan->cpu_count : 1;
	int ends[2] = {-1, -1};
	if (count > THREADS_MOST) {
		tare_fail(err, TARE_E_USAGE, "a load on more than %d CPUs", THREADS_MOST);
		return 0;
	}
	if (plan->kind == LOAD_TCP &&
		(plan->peer ? connect_peer(plan->peer, &ends[0], err) : connect_loopback(ends, err)) < 0)
		return 0;
	for (size_t i = 0; i < count; i++) {
		size_t place = plan->cpu_count ? (i < plan->cpu_count ? i : plan->cpu_count - 1) : 0;
		threads[i] = (struct load_thread){.plan = plan,
			.cpu = plan->cpu_count ? plan->cpus[place] : -1,
			.fd = i < 2 ? ends[i] : -1,
			.receives = i == 1};
	}
	return count;
}

static double cpu_seconds(void)
{
	struct rusage usage = {0};
	getrusage(RUSAGE_SELF, &usage);
	return (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6 + (double)usage.ru_stime.tv_sec +
	       (double)usage.ru_stime.tv_usec / 1e6;
}

int load_run(
	const struct load_plan *plan, const atomic_bool *stop, struct load_result *ret_result, struct tare_err *err)
{
	AUTO_FREE struct load_thread *threads = calloc(THREADS_MOST, sizeof *threads);
	struct load_result result = {.cpu_seconds = cpu_seconds()};
	int status = 0;
	if (!threads)
		return tare_fail_errno(err, ENOMEM, "no memory for a load");
	size_t count = plan_threads(plan, threads, err);
	if (count == 0)
		return -1;
	int64_t from_ns = clock_mono_now().ns;
	for (size_t i = 0; i < count; i++) {
		threads[i].stop = stop;
		threads[i].until_ns = plan->for_ns ? from_ns + plan->for_ns : 0;
		int why = pthread_create(&threads[i].thread, NULL, load_main, &threads[i]);
		threads[i].started = why == 0;
		if (why)
			status = tare_fail_errno(err, why, "cannot start a thread");
	}
	for (size_t i = 0; i < count; i++) {
		if (threads[i].started)
			pthread_join(threads[i].thread, NULL);
		if (threads[i].fd >= 0)
			close(threads[i].fd);
		/* over loopback what arrived counts, once */
		if (plan->kind != LOAD_TCP || plan->peer || threads[i].receives)
			result.amount += threads[i].amount;
		if (threads[i].failed && status == 0) {
			status = -1;
			if (err)
				*err = threads[i].err;
		}
	}
	result.seconds = (double)(clock_mono_now().ns - from_ns) / 1e9;
	result.cpu_seconds = cpu_seconds() - result.cpu_seconds;
	if (status == 0)
		*ret_result = result;
	return status;
}
