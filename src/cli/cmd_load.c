/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tare load: a neighbour to measure beside. It ends with the process that
 * started it, whatever becomes of that one.
 */
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/text.h"
#include "cause/load.h"
#include "cli/cli.h"

struct load_options {
	struct option_cpus cpus;
	int64_t for_ns, interval_ns;
	bool json;
};

static const struct option load_options[] = {
	{.name = "cpu",
		.type = OPTION_CPUS,
		.metavar = "LIST",
		.help = "a thread on each of these CPUs; tcp: the sending end on the first, the receiving on the "
			"second",
		.offset = OPTION_AT(struct load_options, cpus)},
	{.name = "for",
		.type = OPTION_DURATION,
		.metavar = "TIME",
		.help = "how long; without it until it is stopped",
		.offset = OPTION_AT(struct load_options, for_ns),
		.least = 1e6,
		.most = 365.0 * 86400e9},
	{.name = "rate",
		.type = OPTION_RATE,
		.metavar = "RATE",
		.fallback = "10k/s",
		.help = "wakeups: of each thread",
		.offset = OPTION_AT(struct load_options, interval_ns),
		.least = 1000,
		.most = 3600e9},
	{.name = "json",
		.type = OPTION_FLAG,
		.help = "print what was done as JSON",
		.offset = OPTION_AT(struct load_options, json)},
	{.name = NULL},
};

static atomic_bool stopping;

static void stop(int signal_number)
{
	(void)signal_number;
	atomic_store_explicit(&stopping, true, memory_order_relaxed);
}

static const char *const kinds[] = {"tcp", "spin", "memory", "wakeups", NULL};

static const char *kind_word(size_t i)
{
	return kinds[i];
}

static int kind_of(const char *word, enum load_kind *ret_kind, struct tare_err *err)
{
	for (int i = 0; kinds[i]; i++) {
		if (strcmp(kinds[i], word) == 0) {
			*ret_kind = (enum load_kind)i;
			return 0;
		}
	}
	const char *near = nearest_word(word, kinds);
	return tare_fail(err, TARE_E_USAGE, "unknown load '%s'%s%s; there are tcp, spin, memory and wakeups", word,
		near ? ", nearest is " : "", near ? near : "");
}

static void print_result(struct cli *cli, enum load_kind kind, const struct load_result *result, bool json)
{
	double per_second = result->seconds > 0 ? (double)result->amount / result->seconds : 0;
	static const char *const units[] = {"bytes", "turns", "bytes", "wakeups"};
	if (json) {
		fprintf(cli->out,
			"{\"schema\":\"tare.load/"
			"1\",\"kind\":\"%s\",\"seconds\":%.3f,\"%s\":%llu,\"cpu_seconds\":%.3f}\n",
			kinds[kind], result->seconds, units[kind], (unsigned long long)result->amount,
			result->cpu_seconds);
	} else if (kind == LOAD_TCP) {
		fprintf(cli->out, "tcp: %.2f Gbit/s, %.2f GB in %.2f s, %.2f s of CPU time\n", per_second * 8 / 1e9,
			(double)result->amount / 1e9, result->seconds, result->cpu_seconds);
	} else if (kind == LOAD_MEMORY) {
		fprintf(cli->out, "memory: %.2f GB/s, %.2f GB in %.2f s, %.2f s of CPU time\n", per_second / 1e9,
			(double)result->amount / 1e9, result->seconds, result->cpu_seconds);
	} else {
		char rate[32];
		format_rate(per_second, rate, sizeof rate);
		fprintf(cli->out, "%s: %s %s in %.2f s, %.2f s of CPU time\n", kinds[kind], rate, units[kind],
			result->seconds, result->cpu_seconds);
	}
}

static int run_load(struct cli *cli, void *config, int operand_count, char **operands, struct tare_err *err)
{
	const struct load_options *options = config;
	struct load_plan plan = {
		.cpus = options->cpus.cpu,
		.cpu_count = options->cpus.count,
		.for_ns = options->for_ns,
		.interval_ns = options->interval_ns,
	};
	struct load_result result;
	struct sigaction action = {.sa_handler = stop};
	if (operand_count < 1 || operand_count > 2)
		return tare_fail(err, TARE_E_USAGE, "load needs a kind: tcp, spin, memory or wakeups");
	if (kind_of(operands[0], &plan.kind, err) < 0)
		return -1;
	if (operand_count == 2 && plan.kind != LOAD_TCP)
		return tare_fail(err, TARE_E_USAGE, "only tcp takes a peer, not %s", operands[0]);
	plan.peer = operand_count == 2 ? operands[1] : NULL;
	pid_t parent = getppid();
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		return 0;
	if (load_run(&plan, &stopping, &result, err) < 0)
		return -1;
	print_result(cli, plan.kind, &result, options->json);
	return 0;
}

const struct command command_load = {
	.name = "load",
	.summary = "a load to measure beside: tcp, spin, memory, wakeups",
	.operands = "KIND [HOST:PORT]",
	.examples = "  tare load spin --cpu 3 --for 10s\n"
		    "  tare load tcp --cpu 4,5\n"
		    "  tare run stamp://127.0.0.1:8620 --cpu 3 --with 'tare load spin --cpu 3'\n",
	.options = load_options,
	.words = kind_word,
	.config_bytes = sizeof(struct load_options),
	.run = run_load,
};
