/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tare noise: what a core is taken away for, before anything is measured on it. */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cause/noise.h"
#include "cli/cli.h"
#include "cli/columns.h"
#include "cli/table_options.h"
#include "report/report.h"

struct noise_options {
	struct option_cpus cpus;
	int64_t for_ns;
	bool json, csv, why;
	struct table_asked table;
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
	{.name = "csv",
		.type = OPTION_FLAG,
		.help = "print the cores as CSV",
		.offset = OPTION_AT(struct noise_options, csv)},
	TABLE_OPTIONS(struct noise_options, 0),
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

static int print_cores(struct cli *cli, const struct noise_options *options, const struct noise_core *cores, size_t count,
	struct tare_err *err)
{
	static const char usual[] =
		"cpu,bias_ns,taken_pct,gaps.from_1000_ns,gaps.from_2000_ns,gaps.from_5000_ns,gaps.from_10000_ns,"
		"gaps.from_20000_ns,gaps.from_50000_ns,gaps.from_100000_ns,gaps.from_1000000_ns,gaps.from_10000000_ns,"
		"longest_ns";
	const struct format *format = options->json ? &format_json : options->csv ? &format_csv : &format_text;
	AUTO_FREE struct noise_row *rows = calloc(count + 1, sizeof *rows);
	char facts[64];
	struct text text = TEXT_IN(facts);
	if (!rows)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	for (size_t i = 0; i < count; i++)
		rows[i] = (struct noise_row){&cores[i], options->for_ns};
	text_add(&text, "\"for_ns\":%lld", (long long)options->for_ns);
	struct report report = {.out = cli->out,
		.columns = noise_columns,
		.column_count = noise_column_count,
		.schema = "tare.noise/1",
		.facts = facts,
		.width = cli->columns,
		.own_units = true};
	return report_table(&report, format, &options->table, usual, rows, count, sizeof *rows, err);
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

static int run_noise(struct cli *cli, void *config, int operand_count, char **operands, struct tare_err *err)
{
	struct noise_options *options = config;
	AUTO_FREE struct noise_core *cores = calloc(NOISE_CPUS_MOST, sizeof *cores);
	char missing[512];
	if (operand_count)
		return tare_fail(err, TARE_E_USAGE, "noise takes no '%s'; the cores are told by --cpu", operands[0]);
	if (!cores)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	if (options->json && options->csv)
		return tare_fail(err, TARE_E_USAGE, "--json and --csv exclude each other");
	if (report_check(&options->table, noise_columns, noise_column_count, err) < 0)
		return -1;
	if (options->cpus.count == 0)
		all_cpus(&options->cpus);
	struct noise_plan plan = {.cpus = options->cpus.cpu,
		.cpu_count = options->cpus.count,
		.for_ns = options->for_ns,
		.why = options->why};
	if (noise_run(&plan, cores, missing, sizeof missing, err) < 0)
		return -1;
	if (print_cores(cli, options, cores, plan.cpu_count, err) < 0)
		return -1;
	if (!options->json && !options->csv && !options->table.columns)
		print_worst(cli, cores, plan.cpu_count, plan.why);
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
	.columns = columns_of_noise,
	.config_bytes = sizeof(struct noise_options),
	.run = run_noise,
};
