/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tare noise: what a core is taken away for, before anything is measured on it. */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cause/noise.h"
#include "cli/cli.h"
#include "report/report.h"

struct noise_options {
	struct option_cpus cpus;
	int64_t for_ns;
	bool json, why;
};

static const struct option noise_options[] = {
	{.name = "cpu",
		.type = OPTION_CPUS,
		.metavar = "LIST",
		.help = "the cores to look at, all at once; without it all that may be used",
		.offset = OPTION_AT(struct noise_options, cpus)},
	{.name = "for",
		.type = OPTION_DURATION,
		.metavar = "TIME",
		.fallback = "3s",
		.help = "how long",
		.offset = OPTION_AT(struct noise_options, for_ns),
		.least = 1e6,
		.most = 86400e9},
	{.name = "why",
		.type = OPTION_FLAG,
		.fallback = "yes",
		.help = "causes of the longest gaps; --no-why looks only at the clock",
		.offset = OPTION_AT(struct noise_options, why)},
	{.name = "json",
		.type = OPTION_FLAG,
		.help = "print the cores as JSON",
		.offset = OPTION_AT(struct noise_options, json)},
	{.name = NULL},
};

static void all_cpus(struct option_cpus *cpus)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	sched_getaffinity(0, sizeof set, &set);
	cpus->count = 0;
	for (int cpu = 0; cpu < CPU_SETSIZE && cpus->count < NOISE_CPUS_MOST; cpu++)
		if (CPU_ISSET((size_t)cpu, &set))
			cpus->cpu[cpus->count++] = cpu;
}

static void print_cores(struct cli *cli, const struct noise_core *cores, size_t count, int64_t for_ns)
{
	char length[32];
	fprintf(cli->out, "CPU  bias, ns   taken, %%");
	for (size_t step = 0; step < NOISE_STEPS; step++) {
		format_duration(noise_step_ns(step), length, sizeof length);
		fprintf(cli->out, "  %7s", length);
	}
	fprintf(cli->out, "   longest\n");
	for (size_t i = 0; i < count; i++) {
		const struct noise_core *core = &cores[i];
		fprintf(cli->out, "%3d  %8lld  %9.4f", core->cpu, (long long)core->bias_ns,
			100.0 * (double)core->lost_ns / (double)for_ns);
		for (size_t step = 0; step < NOISE_STEPS; step++)
			fprintf(cli->out, "  %7llu", (unsigned long long)core->count[step]);
		format_duration(core->worst_count ? core->worst[0].ns : 0, length, sizeof length);
		fprintf(cli->out, "   %s\n", length);
	}
}

static void print_worst(struct cli *cli, const struct noise_core *cores, size_t count, bool why)
{
	char at[32], length[32], sentence[200];
	for (size_t i = 0; i < count; i++) {
		for (size_t k = 0; k < cores[i].worst_count && k < 3; k++) {
			const struct noise_gap *gap = &cores[i].worst[k];
			format_duration(gap->at_ns, at, sizeof at);
			format_duration(gap->ns, length, sizeof length);
			tare_cause_sentence(&gap->cause, sentence, sizeof sentence);
			report_sentence(cli->out, cli->columns > 0 ? cli->columns : 100, "CPU %d, at %s: %s%s%s.",
				cores[i].cpu, at, length, why ? ", " : "", why ? sentence : "");
		}
	}
}

static void print_json(struct cli *cli, const struct noise_core *cores, size_t count, int64_t for_ns)
{
	fprintf(cli->out, "{\"schema\":\"tare.noise/1\",\"for_ns\":%lld,\"rows\":[", (long long)for_ns);
	for (size_t i = 0; i < count; i++) {
		const struct noise_core *core = &cores[i];
		fprintf(cli->out,
			"%s\n{\"cpu\":%d,\"readings\":%llu,\"bias_ns\":%lld,\"taken_ns\":%lld,\"longest_ns\":%lld,"
			"\"word\":\"%s\",\"gaps\":{",
			i ? "," : "", core->cpu, (unsigned long long)core->readings, (long long)core->bias_ns,
			(long long)core->lost_ns, (long long)(core->worst_count ? core->worst[0].ns : 0),
			core->worst_count ? tare_word_name(core->worst[0].cause.word) : "none");
		for (size_t step = 0; step < NOISE_STEPS; step++)
			fprintf(cli->out, "%s\"from_%lld_ns\":%llu", step ? "," : "", (long long)noise_step_ns(step),
				(unsigned long long)core->count[step]);
		fprintf(cli->out, "}}");
	}
	fprintf(cli->out, "\n]}\n");
}

static int run_noise(struct cli *cli, void *config, int operand_count, char **operands, struct tare_err *err)
{
	struct noise_options *options = config;
	AUTO_FREE struct noise_core *cores = calloc(NOISE_CPUS_MOST, sizeof *cores);
	char missing[512];
	if (operand_count)
		return tare_fail(err, TARE_E_USAGE, "noise takes no '%s'; the cores are told by --cpu", operands[0]);
	if (!cores)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	if (options->cpus.count == 0)
		all_cpus(&options->cpus);
	struct noise_plan plan = {.cpus = options->cpus.cpu,
		.cpu_count = options->cpus.count,
		.for_ns = options->for_ns,
		.why = options->why};
	if (noise_run(&plan, cores, missing, sizeof missing, err) < 0)
		return -1;
	if (options->json) {
		print_json(cli, cores, plan.cpu_count, plan.for_ns);
	} else {
		print_cores(cli, cores, plan.cpu_count, plan.for_ns);
		print_worst(cli, cores, plan.cpu_count, plan.why);
	}
	if (plan.why && missing[0])
		fprintf(cli->note, "note: %s\n", missing);
	return 0;
}

const struct command command_noise = {
	.name = "noise",
	.summary = "is this core quiet? gaps that a spinning thread sees, and their causes",
	.operands = "",
	.examples = "  tare noise --cpu 2,3 --for 10s\n",
	.options = noise_options,
	.config_bytes = sizeof(struct noise_options),
	.run = run_noise,
};
