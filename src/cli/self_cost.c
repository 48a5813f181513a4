/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Blocks of requests at each level in turn, the first of a turn another one each
 * time: what the machine does meanwhile befalls all levels alike, and differences
 * are taken within a turn.
 */
#include "cli/self_cost.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/divisor.h"
#include "probe/probe.h"
#include "tare/interval.h"
#include "tare/stat.h"

enum { ALTERNATIONS = 151, BLOCK = 60, LOOKS_MOST = 10000 };

/* One end answers, the other is a bare socket or a target of kind udp. */
struct bench {
	int answering, keeper;
	struct net_address address;
	int bare;
	struct probe_target target[SELF_LEVELS];
	struct raw_sample samples[BLOCK];
	struct raw_counters counters;
	struct self_costs costs;
	int64_t took_ns[SELF_LEVELS][ALTERNATIONS];
};

int64_t self_step(int64_t step_ns, int64_t value_ns)
{
	return (int64_t)common_divisor((uint64_t)(step_ns < 0 ? -step_ns : step_ns), (uint64_t)(value_ns < 0 ? -value_ns : value_ns));
}

static int bind_loopback(struct net_address *ret_address)
{
	struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof name;
	AUTO_FD fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&name, sizeof name) != 0 ||
		getsockname(fd, (struct sockaddr *)&name, &length) != 0)
		return -1;
	memcpy(&ret_address->storage, &name, sizeof name);
	ret_address->length = sizeof name;
	net_address_text(ret_address, true);
	return take_fd(&fd);
}

/* One request answered: loopback delivers within the send call, so that it is there. */
static bool answer(const struct bench *bench)
{
	char packet[128];
	struct sockaddr_storage from;
	socklen_t length = sizeof from;
	ssize_t got = recvfrom(bench->answering, packet, sizeof packet, 0, (struct sockaddr *)&from, &length);
	return got > 0 && sendto(bench->answering, packet, (size_t)got, 0, (struct sockaddr *)&from, length) == got;
}

static bool run_empty(struct bench *bench)
{
	char packet[64] = {0};
	for (int i = 0; i < BLOCK; i++) {
		if (send(bench->bare, packet, sizeof packet, 0) < 0 || !answer(bench) ||
			recv(bench->bare, packet, sizeof packet, 0) < 0)
			return false;
	}
	return true;
}

static bool run_level(struct bench *bench, struct probe_target *target)
{
	memset(bench->samples, 0, sizeof bench->samples);
	target->next = target->highest_answered = target->open = target->stamps_awaited = 0;
	for (uint64_t i = 0; i < BLOCK; i++) {
		int looks = 0;
		target->next = i + 1;
		if (target->kind->send(target, i, 1) != 1 || !answer(bench))
			return false;
		while (!bench->samples[i].user_rx_ns && looks++ < LOOKS_MOST)
			target->kind->drain(target);
		/* as the loop does: once the request is answered, as long as stamps are awaited and come */
		while (target->stamps_awaited && target->kind->drain_notices(target) > 0)
			continue;
		if (!bench->samples[i].user_rx_ns)
			return false;
	}
	return true;
}

static void take_stamps(struct bench *bench, enum self_level level)
{
	struct self_cost *cost = &bench->costs.level[level];
	cost->requests += BLOCK;
	for (int i = 0; i < BLOCK && level != SELF_EMPTY; i++) {
		const struct raw_sample *sample = &bench->samples[i];
		cost->stamps_tx += sample->kernel_tx_ns != 0;
		cost->stamps_rx += sample->kernel_rx_ns != 0;
		cost->step_tx_ns = self_step(cost->step_tx_ns, sample->kernel_tx_ns);
		cost->step_rx_ns = self_step(cost->step_rx_ns, sample->kernel_rx_ns);
	}
}

/* Time of the CPU, not of the day: what others do meanwhile is no cost of ours. */
static int64_t thread_time_ns(void)
{
	struct timespec t;
	return clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) == 0 ? clock_ns_of(t) : 0;
}

static int run_block(struct bench *bench, enum self_level level, unsigned turn)
{
	int64_t before_ns = thread_time_ns();
	bool well = level == SELF_EMPTY ? run_empty(bench) : run_level(bench, &bench->target[level]);
	bench->took_ns[level][turn] = (thread_time_ns() - before_ns) / BLOCK;
	take_stamps(bench, level);
	return well ? 0 : -1;
}

static int compare(const void *one, const void *other)
{
	int64_t a = *(const int64_t *)one, b = *(const int64_t *)other;
	return (a > b) - (a < b);
}

static void judge(struct bench *bench)
{
	static const struct tare_percentile half = {1, 2, "50", "p50"};
	struct tare_rank_interval ranks = tare_interval_of_rank(&half, ALTERNATIONS, 0.95);
	int64_t sorted[ALTERNATIONS];
	for (int level = 0; level < SELF_LEVELS; level++) {
		struct self_cost *cost = &bench->costs.level[level];
		for (int turn = 0; turn < ALTERNATIONS; turn++)
			sorted[turn] = bench->took_ns[level][turn] - bench->took_ns[SELF_EMPTY][turn];
		qsort(sorted, ALTERNATIONS, sizeof sorted[0], compare);
		cost->more_ns = sorted[ALTERNATIONS / 2];
		cost->low_ns = sorted[ranks.low - 1];
		cost->high_ns = sorted[ranks.high - 1];
		memcpy(sorted, bench->took_ns[level], sizeof sorted);
		qsort(sorted, ALTERNATIONS, sizeof sorted[0], compare);
		cost->whole_ns = sorted[ALTERNATIONS / 2];
	}
	bench->costs.alternations = ALTERNATIONS;
	bench->costs.block = BLOCK;
}

static int open_ends(struct bench *bench, struct tare_err *err)
{
	static const enum probe_stamps stamps[SELF_LEVELS] = {[SELF_USER] = PROBE_STAMPS_USER,
		[SELF_KERNEL_RX] = PROBE_STAMPS_KERNEL,
		[SELF_KERNEL] = PROBE_STAMPS_KERNEL,
		[SELF_NIC] = PROBE_STAMPS_NIC};
	bench->answering = bind_loopback(&bench->address);
	bench->bare = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (bench->answering < 0 || bench->bare < 0 ||
		connect(bench->bare, (struct sockaddr *)&bench->address.storage, bench->address.length) != 0)
		return tare_fail_errno(err, errno, "cannot open sockets on the loopback");
	for (int level = SELF_USER; level < SELF_LEVELS; level++) {
		struct probe_target *target = &bench->target[level];
		*target = (struct probe_target){.kind = &probe_udp,
			.fd = -1,
			.clock = &clock_system,
			.count = BLOCK,
			.samples = bench->samples,
			.counters = &bench->counters};
		target->request = (struct probe_request){.address = bench->address,
			.payload_bytes = 64,
			.seed = (uint64_t)level,
			.stamps = stamps[level],
			.transmit_stamps = level > SELF_KERNEL_RX};
		if (probe_udp.open(target, err) < 0)
			return -1;
	}
	return 0;
}

static void bench_end(struct bench **slot)
{
	struct bench *bench = *slot;
	if (!bench)
		return;
	for (int level = SELF_USER; level < SELF_LEVELS; level++)
		if (bench->target[level].kind)
			probe_udp.close(&bench->target[level]);
	int fds[] = {bench->answering, bench->bare, bench->keeper};
	for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	free(bench);
}

int self_cost_measure(struct self_costs *ret_costs, struct tare_err *err)
{
	AUTO_CLEANUP(bench_end) struct bench *bench = calloc(1, sizeof *bench);
	if (!bench)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	bench->answering = bench->bare = -1;
	bench->keeper = net_keeper_open();
	if (open_ends(bench, err) < 0)
		return -1;
	for (unsigned turn = 0; turn < ALTERNATIONS; turn++) {
		for (unsigned i = 0; i < SELF_LEVELS; i++) {
			if (run_block(bench, (enum self_level)((i + turn) % SELF_LEVELS), turn) < 0)
				return tare_fail(err, TARE_E_INVALID,
					"requests to our own socket on 127.0.0.1 are not answered");
		}
	}
	judge(bench);
	*ret_costs = bench->costs;
	return 0;
}
