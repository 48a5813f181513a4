/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tare export: one line a sample, for other programs. A file is read twice: the
 * first time only to learn which columns it has, since CSV names them before
 * the first line. Memory follows one round, not the file.
 */
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/capture_options.h"
#include "cli/cli.h"
#include "cli/columns.h"
#include "cli/disguise.h"
#include "cli/export_packets.h"
#include "cli/log_options.h"
#include "cli/report.h"
#include "cli/source.h"
#include "lib/sample_columns.h"
#include "report/distribution.h"

struct export_config {
	bool csv, jsonl, packets, lenient, hgrm, hlog, openmetrics, benchstat, hyperfine, anonymize;
	const char *output, *label, *columns;
	uint64_t round;
	int64_t every_ns;
	struct capture_rules capture;
	struct log_rules log;
};

static const struct option export_options[] = {
	{.name = "csv",
		.type = OPTION_FLAG,
		.help = "comma-separated values with a header line (default)",
		.offset = OPTION_AT(struct export_config, csv)},
	{.name = "jsonl",
		.type = OPTION_FLAG,
		.help = "a JSON object a line",
		.offset = OPTION_AT(struct export_config, jsonl)},
	{.name = "packets",
		.type = OPTION_FLAG,
		.help = "captures: a line a packet, with the capture's time and the hardware stamp in it, unmatched",
		.offset = OPTION_AT(struct export_config, packets)},
	{.name = "hgrm",
		.type = OPTION_FLAG,
		.help = "HdrHistogram's percentile table of one target, all rounds together",
		.offset = OPTION_AT(struct export_config, hgrm)},
	{.name = "hlog",
		.type = OPTION_FLAG,
		.help = "HdrHistogram's interval log (V2), a line a round",
		.offset = OPTION_AT(struct export_config, hlog)},
	{.name = "openmetrics",
		.type = OPTION_FLAG,
		.help = "OpenMetrics text: a histogram and counters a target and label",
		.offset = OPTION_AT(struct export_config, openmetrics)},
	{.name = "benchstat",
		.type = OPTION_FLAG,
		.help = "a line a round for benchstat",
		.offset = OPTION_AT(struct export_config, benchstat)},
	{.name = "hyperfine",
		.type = OPTION_FLAG,
		.help = "hyperfine's JSON: the median of every round as its times",
		.offset = OPTION_AT(struct export_config, hyperfine)},
	{.name = "anonymize",
		.type = OPTION_FLAG,
		.help = "target-1, label-1, ... in place of what was asked and how it was called",
		.offset = OPTION_AT(struct export_config, anonymize)},
	{.name = "output",
		.letter = 'o',
		.type = OPTION_TEXT,
		.metavar = "FILE",
		.help = "write there instead of standard output; an existing file is refused",
		.offset = OPTION_AT(struct export_config, output)},
	{.name = "label",
		.letter = 'l',
		.type = OPTION_TEXT,
		.metavar = "TEXT",
		.help = "only rounds with this label",
		.offset = OPTION_AT(struct export_config, label)},
	{.name = "round",
		.letter = 'r',
		.type = OPTION_COUNT,
		.metavar = "N",
		.help = "only round N of each run",
		.offset = OPTION_AT(struct export_config, round),
		.least = 1,
		.most = UINT32_MAX},
	{.name = "every",
		.letter = 'e',
		.type = OPTION_DURATION,
		.metavar = "TIME",
		.help = "interval that a log was asked to keep (default: inferred)",
		.offset = OPTION_AT(struct export_config, every_ns),
		.least = 1,
		.most = 9e18},
	{.name = "lenient",
		.type = OPTION_FLAG,
		.help = "pass over what is damaged, and say how much that was",
		.offset = OPTION_AT(struct export_config, lenient)},
	{.name = "columns",
		.letter = 'c',
		.type = OPTION_TEXT,
		.metavar = "NAME,...",
		.help = "only these columns, in this order",
		.offset = OPTION_AT(struct export_config, columns)},
	LOG_OPTIONS(struct export_config, log),
	CAPTURE_OPTIONS(struct export_config, capture),
	{.name = NULL},
};

static int learn_parts(
	const char *path, const struct source_rules *rules, struct sample_parts *ret_parts, struct tare_err *err)
{
	AUTO_CLEANUP(source_end) struct source *source = NULL;
	const struct tare_record *record;
	int found;
	if (source_open(path, rules, &source, err))
		return -1;
	while ((found = source_next(source, &record, err)) > 0)
		sample_parts_add(ret_parts, record);
	return found;
}

/* Standard input can be read once only, and a pipe too: they get every column there is. */
static int parts_of(
	const char *path, const struct source_rules *rules, struct sample_parts *ret_parts, struct tare_err *err)
{
	if (source_is_rereadable(path))
		return learn_parts(path, rules, ret_parts, err);
	*ret_parts = (struct sample_parts){.spans = (1u << TARE_SPAN_COUNT) - 1, .cpus = (1u << TARE_CPU_PLACES) - 1};
	return 0;
}

static int write_record(
	struct report *report, const struct format *format, const struct tare_record *record, struct tare_err *err)
{
	char scratch[SAMPLE_SCRATCH_BYTES];
	struct sample_at at = {.record = record, .scratch = scratch};
	for (at.index = 0; at.index < record->series.count && !ferror(report->out); at.index++) {
		if (format->row(report, &at, err))
			return -1;
	}
	return 0;
}

static void disguise_end(struct disguise *const *disguise)
{
	disguise_free(*disguise);
}

static struct source_rules source_rules_of(const struct export_config *config)
{
	return (struct source_rules){.every_ns = config->every_ns,
		.lenient = config->lenient,
		.label = config->label,
		.round = config->round,
		.format = config->log.format,
		.column = config->log.column,
		.with = config->log.with,
		.unit = config->log.unit,
		.capture = config->capture};
}

/* What has no samples has no line. */
struct left_out {
	uint64_t samples, bins, summaries; /* series */
};

static void note_left_out(struct left_out *left_out, const struct tare_record *record)
{
	if (record->series.count)
		left_out->samples++;
	else if (record->bins && record->bins->count)
		left_out->bins++;
	else if (record->origin.shape == TARE_SHAPE_SUMMARY)
		left_out->summaries++;
}

static int tell_left_out(struct cli *cli, const struct left_out *left_out, const char *path, struct tare_err *err)
{
	uint64_t lacking = left_out->bins + left_out->summaries;
	if (!left_out->samples && left_out->bins)
		return tare_fail(err, TARE_E_USAGE,
			"'%s' was counted in bins: there are no samples to export\n  --openmetrics keeps the bins, --hlog those of HdrHistogram",
			path);
	if (!left_out->samples && lacking)
		return tare_fail(err, TARE_E_USAGE, "'%s' is a summary: there are no samples to export", path);
	if (lacking)
		cli_warn(cli, "%" PRIu64 " of %" PRIu64 " series have no samples and are not in it: bins or summaries", lacking,
			lacking + left_out->samples);
	return 0;
}

static int export_samples(
	struct cli *cli, FILE *out, const char *path, const struct export_config *config, struct tare_err *err)
{
	const struct source_rules rules = source_rules_of(config);
	const struct format *format = config->jsonl ? &format_jsonl : &format_csv;
	AUTO_CLEANUP(source_end) struct source *source = NULL;
	AUTO_CLEANUP(disguise_end) struct disguise *disguise = NULL;
	struct column all[SAMPLE_COLUMNS_MAX], chosen[SAMPLE_COLUMNS_MAX];
	struct sample_parts parts = {0};
	struct report report = {.out = out, .columns = all};
	const struct tare_record *record;
	struct left_out left_out = {0};
	char damage[512];
	int found;

	if (parts_of(path, &rules, &parts, err))
		return -1;
	report.column_count = sample_table_columns(&parts, all);
	if (config->columns) {
		if (report_choose(all, report.column_count, config->columns, chosen, SAMPLE_COLUMNS_MAX,
			    &report.column_count, err))
			return -1;
		report.columns = chosen;
	}
	if ((config->anonymize && disguise_open(&disguise, err)) || source_open(path, &rules, &source, err) ||
		format->begin(&report, err))
		return -1;
	while (!ferror(out) && (found = source_next(source, &record, err)) != 0) {
		if (found < 0)
			return -1;
		note_left_out(&left_out, record);
		if (disguise_record(disguise, &record, err) || write_record(&report, format, record, err))
			return -1;
	}
	if (tell_left_out(cli, &left_out, path, err))
		return -1;
	if (format->end(&report, err))
		return -1;
	if (source_damage(source, damage, sizeof(damage)))
		cli_warn(cli, "%s", damage);
	return 0;
}

static void distribution_end(struct distribution *const *distribution)
{
	distribution_free(*distribution);
}

static int export_distribution(struct cli *cli, FILE *out, const char *path, const struct export_config *config,
	enum distribution_format format, struct tare_err *err)
{
	const struct source_rules rules = source_rules_of(config);
	AUTO_CLEANUP(source_end) struct source *source = NULL;
	AUTO_CLEANUP(disguise_end) struct disguise *disguise = NULL;
	AUTO_CLEANUP(distribution_end) struct distribution *distribution = NULL;
	const struct tare_record *record;
	struct tare_rules usual;
	char damage[512];
	int found;

	tare_rules_default(&usual);
	if ((config->anonymize && disguise_open(&disguise, err)) || distribution_open(&usual, &distribution, err) ||
		source_open(path, &rules, &source, err))
		return -1;
	while ((found = source_next(source, &record, err)) != 0) {
		if (found < 0 || disguise_record(disguise, &record, err) || distribution_add(distribution, record, err))
			return -1;
	}
	if (source_damage(source, damage, sizeof(damage)))
		cli_warn(cli, "%s", damage);
	return distribution_write(distribution, format, out, err);
}

static int export_unmatched(
	struct cli *cli, FILE *out, const char *path, const struct export_config *config, struct tare_err *err)
{
	const struct import_rules rules = {.lenient = config->lenient, .capture = config->capture};
	return export_packets(
		cli, out, path, &rules, config->jsonl ? &format_jsonl : &format_csv, config->columns, err);
}

static int export_to(
	struct cli *cli, FILE *out, const char *path, const struct export_config *config, struct tare_err *err)
{
	if (config->packets)
		return export_unmatched(cli, out, path, config, err);
	if (config->hgrm)
		return export_distribution(cli, out, path, config, DISTRIBUTION_HGRM, err);
	if (config->hlog)
		return export_distribution(cli, out, path, config, DISTRIBUTION_HLOG, err);
	if (config->openmetrics)
		return export_distribution(cli, out, path, config, DISTRIBUTION_OPENMETRICS, err);
	if (config->benchstat)
		return export_distribution(cli, out, path, config, DISTRIBUTION_BENCHSTAT, err);
	if (config->hyperfine)
		return export_distribution(cli, out, path, config, DISTRIBUTION_HYPERFINE, err);
	return export_samples(cli, out, path, config, err);
}

/* Whole or not at all: half a table reads like a whole one. */
static int export_file(struct cli *cli, const char *path, const struct export_config *config, struct tare_err *err)
{
	struct report_file file = {.is_new = true};
	if (report_file_open(config->output, cli->out, &file, err))
		return -1;
	if (export_to(cli, file.out, path, config, err)) {
		report_file_abandon(&file);
		return -1;
	}
	return report_file_close(&file, err);
}

static int export_run(struct cli *cli, void *configuration, int operand_count, char **operands, struct tare_err *err)
{
	const struct export_config *config = configuration;
	if (operand_count != 1)
		return tare_fail(err, TARE_E_USAGE, "export needs one FILE, and no more; see 'tare help export'");
	if (config->csv && config->jsonl)
		return tare_fail(err, TARE_E_USAGE, "--csv and --jsonl exclude each other");
	bool distribution = config->hgrm || config->hlog || config->openmetrics || config->benchstat || config->hyperfine;
	if (config->csv + config->jsonl + config->hgrm + config->hlog + config->openmetrics + config->benchstat +
				config->hyperfine > 1 || (config->packets && distribution))
		return tare_fail(err, TARE_E_USAGE, "one format at a time");
	if (config->columns && distribution)
		return tare_fail(err, TARE_E_USAGE, "--columns is for CSV and JSON lines");
	if (config->packets && (config->anonymize || config->label || config->round || config->capture.key ||
				       config->capture.from || config->capture.to || config->capture.seen_at))
		return tare_fail(err, TARE_E_USAGE, "--packets shows packets as they are: of the rules for captures it takes "
						    "--service and --stamps, and no others");
	if (config->output)
		return export_file(cli, operands[0], config, err);
	return export_to(cli, cli->out, operands[0], config, err);
}

const struct command command_export = {
	.name = "export",
	.summary = "samples as CSV or JSON lines, distributions for other programs",
	.operands = "FILE",
	.examples = "  tare export before.tare -o before.csv\n"
		    "  tare export --jsonl --columns seq,rtt_ns,cpu_peer_rx before.tare | head\n"
		    "  tare export --hlog before.tare -o before.hlog\n"
		    "  tare export --packets --columns packet,clock,stamp,port tap.pcap\n"
		    "  tare export --benchstat both.tare | benchstat -col label -\n",
	.options = export_options,
	.columns = columns_of_export,
	.config_bytes = sizeof(struct export_config),
	.run = export_run,
};
