/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An inspection for people: the first line of monitoring plugins, the screen, Markdown for a ticket. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/inspect.h"
#include "report/report.h"
#include "report/utf8.h"

enum { PERFDATA_MAX = 12 };

static size_t count_rule(const struct inspection *inspection, const char *rule, enum host_level least)
{
	size_t count = 0;
	for (size_t i = 0; i < inspection->findings.count; i++)
		count += inspection->findings.row[i].level >= least &&
			 strcmp(inspection->findings.row[i].rule, rule) == 0;
	return count;
}

static size_t count_checks(const struct inspection *inspection)
{
	size_t count = 0;
	for (size_t i = 0; i < inspection->findings.count; i++)
		count += inspection->findings.row[i].level >= HOST_LEVEL_WARNING &&
			 inspection->findings.row[i].rule[0] == 'X';
	return count;
}

/* Labels of performance data: letters, digits and '_' need no quotes. */
static void label_of(const char *key, char *buffer, size_t room)
{
	size_t used = 0;
	for (; *key && used + 1 < room; key++) {
		bool plain =
			(*key >= 'a' && *key <= 'z') || (*key >= 'A' && *key <= 'Z') || (*key >= '0' && *key <= '9');
		if (plain || (used && buffer[used - 1] != '_'))
			buffer[used++] = plain ? *key : '_';
	}
	while (used && buffer[used - 1] == '_')
		used--;
	buffer[used] = '\0';
}

static void add_counters(struct text *line, const struct inspection *inspection)
{
	size_t told = 0;
	for (size_t i = 0; inspection->counted && i < inspection->deltas.count && told < PERFDATA_MAX; i++) {
		const struct host_delta *delta = &inspection->deltas.row[i];
		char label[80];
		if (!delta->is->row || !(delta->is->row->flags & HOST_ERRORS) || delta->state == HOST_DELTA_BACKWARDS)
			continue;
		label_of(delta->is->key, label, sizeof label);
		text_add(line, " %s=%" PRIu64 "c", label, delta->delta);
		told++;
	}
}

void inspect_first_line(FILE *out, const struct inspection *inspection)
{
	char buffer[2048];
	struct text line = TEXT_IN(buffer);
	size_t drift = count_rule(inspection, "drift", HOST_LEVEL_WARNING), checks = count_checks(inspection);
	size_t counters = count_rule(inspection, "counter", HOST_LEVEL_WARNING);
	text_add(&line, "TARE %s - ", host_verdict_name(inspection->verdict));
	if (!inspection->compared)
		text_add(&line, "nothing approved to compare with, ");
	else
		text_add(&line, "%zu drift, ", drift);
	text_add(&line, "%zu cross-check%s", checks, checks == 1 ? "" : "s");
	if (counters)
		text_add(&line, ", %zu counter%s", counters, counters == 1 ? "" : "s");
	text_add(&line, ", complete %.1f%% | drift=%zu;0;; checks=%zu;0;; unreadable=%zu keys=%zu",
		host_completeness(&inspection->tally), drift, checks, inspection->tally.unreadable,
		inspection->tally.keys);
	add_counters(&line, inspection);
	utf8_write_safe(out, buffer, "");
	fputc('\n', out);
}

static void colour(const struct cli *cli, enum host_level level, bool on)
{
	static const char *const codes[HOST_LEVEL_COUNT] = {"\033[36m", "\033[33m", "\033[35m", "\033[31m"};
	if (cli->colour)
		fputs(on ? codes[level] : "\033[0m", cli->out);
}

static void print_head(const struct cli *cli, const struct inspection *inspection)
{
	const struct host_header *header = &inspection->is->header;
	char took[32], since[32];
	report_sentence(cli->out, cli->columns, "host %s  kernel %s  configuration #%.8s",
		header->host ? header->host : "?", header->kernel ? header->kernel : "?", header->hash);
	if (inspection->compared)
		report_sentence(cli->out, cli->columns,
			"against %s: %zu keys compared, %zu differ, %zu unreadable, %zu not applicable",
			inspection->yardstick, inspection->drift.compared,
			inspection->drift.changed + inspection->drift.appeared + inspection->drift.vanished,
			inspection->drift.unreadable, inspection->drift.not_applicable);
	else
		report_sentence(cli->out, cli->columns,
			"no baseline: nothing was approved here, so nothing is called right or wrong but by the "
			"cross-checks");
	format_duration(inspection->took_ns, took, sizeof took);
	report_sentence(cli->out, cli->columns, "verdict %s  completeness %.1f %%  %zu facts%s%s",
		host_verdict_name(inspection->verdict), host_completeness(&inspection->tally), inspection->tally.keys,
		inspection->took_ns ? ", read in " : "", inspection->took_ns ? took : "");
	if (inspection->counted) {
		format_duration(inspection->deltas.elapsed_ns, since, sizeof since);
		report_sentence(cli->out, cli->columns, "counters since %s, %s ago: %zu moved, %zu did not",
			inspection->deltas.rebooted ? "the reboot" : "the last inspection", since,
			inspection->deltas.count, inspection->deltas.unchanged);
	}
	fputc('\n', cli->out);
}

static void print_part(const struct cli *cli, const char *word, const char *text)
{
	if (text[0])
		report_sentence(cli->out, cli->columns, "          %-8s %s", word, text);
}

static void print_finding(const struct cli *cli, const struct host_finding *finding)
{
	colour(cli, finding->level, true);
	fprintf(cli->out, "%-9s", host_level_name(finding->level));
	colour(cli, finding->level, false);
	fputc(' ', cli->out);
	report_sentence(cli->out, cli->columns, "%s%s%s: %s", finding->rule, finding->key[0] ? "  " : "", finding->key,
		finding->what);
	print_part(cli, "why", finding->why);
	print_part(cli, "seen", finding->evidence);
	print_part(cli, "remedy", finding->remedy);
}

/* Readable keys by section, in one line: what there is, not that it is good. */
static void print_sections(const struct cli *cli, const struct inspection *inspection)
{
	char buffer[2048];
	struct text line = TEXT_IN(buffer);
	const struct host_snapshot *is = inspection->is;
	for (size_t i = 0; i < is->count;) {
		size_t length = strcspn(is->facts[i].key, ".["), readable = 0, next = i;
		for (; next < is->count && strncmp(is->facts[next].key, is->facts[i].key, length) == 0 &&
			strchr(".[", is->facts[next].key[length]);
			next++)
			readable += is->facts[next].status == HOST_OK;
		text_add(&line, "%s%.*s %zu/%zu", line.used ? ", " : "", (int)length, is->facts[i].key, readable,
			next - i);
		i = next > i ? next : i + 1;
	}
	report_sentence(cli->out, cli->columns, "facts     readable/known: %s", buffer);
}

/* What root would add, key by key: nothing is left out silently. */
static void print_denied(const struct cli *cli, const struct inspection *inspection)
{
	static const enum host_status statuses[] = {HOST_DENIED, HOST_BUSY, HOST_MALFORMED, HOST_SKIPPED};
	static const char *const words[] = {"root would add", "busy", "malformed", "not tried"};
	for (size_t s = 0; s < 4; s++) {
		size_t count = 0;
		for (size_t i = 0; i < inspection->is->count; i++) {
			const struct host_fact *fact = &inspection->is->facts[i];
			if (fact->status != statuses[s])
				continue;
			fprintf(cli->out, count++ ? ", " : "%-9s ", words[s]);
			utf8_write_safe(cli->out, fact->key, "");
		}
		if (count)
			fputc('\n', cli->out);
	}
}

void inspect_text(struct cli *cli, const struct inspection *inspection)
{
	print_head(cli, inspection);
	for (size_t i = 0; i < inspection->findings.count; i++)
		print_finding(cli, &inspection->findings.row[i]);
	if (inspection->findings.count)
		fputc('\n', cli->out);
	print_sections(cli, inspection);
	print_denied(cli, inspection);
}

/* ---- Markdown ---- */

/* Within a table '|' ends a cell and '`' begins code. */
static void markdown_cell(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '|' || *text == '`' || *text == '*' || *text == '_' || *text == '<' || *text == '[' ||
			*text == '\\')
			fputc('\\', out);
		fputc((unsigned char)*text < ' ' ? ' ' : *text, out);
	}
}

void inspect_markdown(FILE *out, const struct inspection *inspection)
{
	const struct host_header *header = &inspection->is->header;
	fprintf(out, "### tare inspect: %s\n\n", host_verdict_name(inspection->verdict));
	fprintf(out, "Host ");
	markdown_cell(out, header->host ? header->host : "?");
	fprintf(out, ", kernel ");
	markdown_cell(out, header->kernel ? header->kernel : "?");
	fprintf(out, ", configuration #%.8s, completeness %.1f %%", header->hash,
		host_completeness(&inspection->tally));
	if (inspection->compared) {
		fprintf(out, ", against ");
		markdown_cell(out, inspection->yardstick);
	}
	fputs(".\n\n", out);
	if (inspection->findings.count == 0) {
		fputs("No findings.\n", out);
		return;
	}
	fputs("| level | rule | key | what | seen | remedy |\n|---|---|---|---|---|---|\n", out);
	for (size_t i = 0; i < inspection->findings.count; i++) {
		const struct host_finding *finding = &inspection->findings.row[i];
		const char *const cells[] = {host_level_name(finding->level), finding->rule, finding->key,
			finding->what, finding->evidence, finding->remedy};
		for (size_t j = 0; j < sizeof cells / sizeof cells[0]; j++) {
			fputs(j ? " | " : "| ", out);
			markdown_cell(out, cells[j]);
		}
		fputs(" |\n", out);
	}
}
