/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tare lab: measurements that mislead, re-enacted on the user's own machine. */
#include <sched.h>
#include <string.h>

#include "base/text.h"
#include "cli/lab.h"

struct lab_options {
	bool quick;
};

static const struct option lab_options[] = {
	{.name = "quick",
		.type = OPTION_FLAG,
		.help = "a tenth of the requests: a look at the table, not at its figures",
		.offset = OPTION_AT(struct lab_options, quick)},
	{.name = NULL},
};

static const struct enactment {
	const char *name, *what;
	int (*run)(struct lab *lab, struct tare_err *err);
} enactments[] = {
	{"ping-blind", "ping beside a service, free and under load: what left late does not show in a round trip",
		lab_ping_blind},
	{"kernel-alive", "a stopped service still answers ping", lab_kernel_alive},
	{"two-modes", "a responder that moves between CPUs in mid-round: two medians and a mean between them",
		lab_two_modes},
	{"first-request", "the first request of a round is another thing than the rest", lab_first_request},
	{"stalls-behind-p999", "five stalls in 10000 requests, and p99.9 does not move", lab_stalls},
	{"average-lies", "one slow request in a thousand, and a mean that describes none", lab_average},
	{"rate-matters", "sleeping and busy waiting, at two rates", lab_rate},
	{"resolution", "a small and a large packet through a display of 1 µs", lab_resolution},
};
enum { ENACTMENTS = sizeof enactments / sizeof *enactments };

static const char *enactment_word(size_t i)
{
	return i < ENACTMENTS ? enactments[i].name : NULL;
}

static int list(struct cli *cli, struct tare_err *err)
{
	struct cli_word words[ENACTMENTS];
	for (int i = 0; i < ENACTMENTS; i++)
		words[i] = (struct cli_word){enactments[i].name, enactments[i].what};
	if (cli_list(cli, "enactment", words, ENACTMENTS, err) < 0)
		return -1;
	fprintf(cli->out, "each takes a minute at most and stays on this host: tare lab %s\n", enactments[0].name);
	return 0;
}

static void find_cpus(struct lab *lab)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	sched_getaffinity(0, sizeof set, &set);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET((size_t)cpu, &set))
			continue;
		if (lab->cpus < 2)
			lab->cpu[lab->cpus] = cpu;
		lab->cpus++;
	}
	if (lab->cpus < 2)
		lab->cpu[1] = lab->cpu[0];
}

static int run_lab(struct cli *cli, void *config, int operand_count, char **operands, struct tare_err *err)
{
	const struct lab_options *options = config;
	struct lab lab = {.cli = cli, .scale = options->quick ? 0.1 : 1};
	const char *names[ENACTMENTS + 1] = {NULL};
	if (operand_count == 0) {
		return list(cli, err);
	}
	if (operand_count > 1)
		return tare_fail(err, TARE_E_USAGE, "one re-enactment at a time");
	for (int i = 0; i < ENACTMENTS; i++)
		names[i] = enactments[i].name;
	for (int i = 0; i < ENACTMENTS; i++) {
		if (strcmp(names[i], operands[0]) != 0)
			continue;
		find_cpus(&lab);
		if (session_block_signals(err) < 0)
			return -1;
		return enactments[i].run(&lab, err);
	}
	const char *near = nearest_word(operands[0], names);
	return tare_fail(err, TARE_E_USAGE, "no re-enactment '%s'%s%s; 'tare lab' lists them", operands[0],
		near ? ", nearest is " : "", near ? near : "");
}

const struct command command_lab = {
	.name = "lab",
	.summary = "measurements that mislead, re-enacted on this machine",
	.operands = "[NAME]",
	.examples = "  tare lab\n  tare lab ping-blind\n",
	.options = lab_options,
	.words = enactment_word,
	.config_bytes = sizeof(struct lab_options),
	.run = run_lab,
};
