/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lists of columns; where a table depends on what was asked or measured, the longest one there can be. */
#include "cli/columns.h"

#include <inttypes.h>

#include "base/table.h"
#include "cause/noise.h"
#include "echo/echo.h"
#include "host/columns.h"
#include "import/capture/packets.h"
#include "lib/budget_columns.h"
#include "lib/sample_columns.h"
#include "lib/share_columns.h"
#include "lib/stall_columns.h"
#include "lib/stat_columns.h"
#include "lib/verdict_columns.h"
#include "cli/self_test.h"
#include "report/calibration_view.h"

static void list(FILE *out, const char *table, const char *page, const struct column *columns, size_t count)
{
	fprintf(out, "%s, described in tare-%s(1):\n", table, page);
	for (size_t i = 0; i < count; i++) {
		const char *group = columns[i].group ? columns[i].group : "", *dot = columns[i].group ? "." : "";
		int width = (int)(24 - strlen(group) - strlen(dot));
		fprintf(out, "  %s%s%-*s  %s\n", group, dot, width > 0 ? width : 0, columns[i].name, columns[i].help);
	}
}

static void list_rows(FILE *out)
{
	struct tare_rules rules;
	struct stat_columns *columns = NULL;
	struct tare_err err;
	size_t count = 0;
	tare_rules_default(&rules);
	rules.level = 0.95;
	rules.variation = rules.moments = true;
	if (stat_columns_open(&rules, &columns, &err) == 0) {
		const struct column *table = stat_columns_table(columns, &count);
		list(out, "rows of --json and --csv", "stat", table, count);
	}
	stat_columns_free(columns);
}

void columns_of_run(FILE *out)
{
	list_rows(out);
	list(out, "rows of --self-test", "run", self_test_columns, self_test_column_count);
}

void columns_of_stat(FILE *out)
{
	list_rows(out);
	list(out, "stalls of --stalls with --json or --csv", "stat", stall_columns, stall_column_count);
	list(out, "percentiles and slow requests of --budget", "stat", budget_columns, budget_column_count);
	list(out, "what took the CPUs, of --shared", "stat", share_columns, share_column_count);
}

void columns_of_export(FILE *out)
{
	struct column columns[SAMPLE_COLUMNS_MAX];
	struct sample_parts all = {.spans = (1u << TARE_SPAN_COUNT) - 1, .cpus = (1u << TARE_CPU_PLACES) - 1};
	list(out, "samples of --csv and --jsonl", "export", columns, sample_table_columns(&all, columns));
	list(out, "packets of --packets", "export", packet_columns, packet_column_count);
}

void columns_of_comparison(FILE *out)
{
	size_t count;
	const struct column *columns = verdict_columns_table(&count);
	list(out, "figures of --json and --csv", "compare", columns, count);
}

void columns_of_calibrate(FILE *out)
{
	size_t count;
	const struct column *columns = calibration_columns(&count);
	list(out, "figures of --json and --csv", "calibrate", columns, count);
}

void columns_of_inspect(FILE *out)
{
	const struct {
		const char *table;
		const struct host_columns *columns;
	} tables[] = {{"findings", &host_finding_columns},
		{"facts", &host_fact_columns},
		{"counters", &host_delta_columns},
		{"keys of --diff", &host_compared_columns}};
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
		list(out, tables[i].table, "inspect", tables[i].columns->column, tables[i].columns->count);
}

void columns_of_echo(FILE *out)
{
	size_t count = 0;
	while (echo_columns[count].name)
		count++;
	list(out, "listeners, at the end", "echo", echo_columns, count);
}

void columns_of_noise(FILE *out)
{
	list(out, "cores", "noise", noise_columns, noise_column_count);
}
