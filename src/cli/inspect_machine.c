/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An inspection for programs: JSON, OpenMetrics, and lists of facts. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cli/inspect.h"
#include "report/report.h"
#include "report/utf8.h"

static void end_json(json_t *const *json)
{
	json_decref(*json);
}
#define AUTO_JSON AUTO_CLEANUP(end_json) json_t *

/* Foreign bytes that are no UTF-8 become '?'. */
static json_t *json_text(const char *text)
{
	json_t *string = json_string(text);
	char line[4096];
	size_t used = 0;
	if (string)
		return string;
	for (; text[used] && used + 1 < sizeof line; used++)
		line[used] = (unsigned char)text[used] < 0x80 ? text[used] : '?';
	line[used] = '\0';
	return json_string(line);
}

static json_t *json_cell(const struct cell *cell)
{
	if (cell->state != CELL_VALUE)
		return json_null();
	switch (cell->type) {
	case CELL_COUNT:
		return json_integer((json_int_t)(cell->as.count & INT64_MAX));
	case CELL_INTEGER:
		return json_integer(cell->as.integer);
	case CELL_REAL:
		return json_real(cell->as.real);
	case CELL_TEXT:
		return json_text(cell->as.text);
	}
	return json_null();
}

struct json_t *inspect_json_row(const struct host_columns *columns, const void *record)
{
	json_t *object = json_object();
	for (size_t i = 0; i < columns->count; i++) {
		struct cell cell = columns->column[i].get(record, &columns->column[i]);
		json_object_set_new(object, columns->column[i].name, json_cell(&cell));
	}
	return object;
}

/* Names of the keys with a status. */
static json_t *keys_with(const struct host_snapshot *snapshot, enum host_status status)
{
	json_t *list = json_array();
	for (size_t i = 0; i < snapshot->count; i++)
		if (snapshot->facts[i].status == status)
			json_array_append_new(list, json_text(snapshot->facts[i].key));
	return list;
}

static json_t *json_or_null(const char *text)
{
	return text ? json_text(text) : json_null();
}

static json_t *json_of(const struct inspection *inspection)
{
	const struct host_header *header = &inspection->is->header;
	json_t *object = json_object(), *findings = json_array(), *counters = json_array();
	json_object_set_new(object, "schema", json_string("tare.inspect/1"));
	json_object_set_new(object, "verdict", json_string(host_verdict_name(inspection->verdict)));
	json_object_set_new(object, "completeness_pct", json_real(host_completeness(&inspection->tally)));
	json_object_set_new(object, "host", json_or_null(header->host));
	json_object_set_new(object, "kernel", json_or_null(header->kernel));
	json_object_set_new(object, "boot", json_or_null(header->boot));
	json_object_set_new(object, "hash", json_string(header->hash));
	json_object_set_new(object, "real_ns", json_integer(header->real_ns));
	json_object_set_new(object, "took_ns", inspection->took_ns ? json_integer(inspection->took_ns) : json_null());
	json_object_set_new(object, "against", inspection->compared ? json_text(inspection->yardstick) : json_null());
	json_object_set_new(object, "compared",
		inspection->compared ? json_integer((json_int_t)inspection->drift.compared) : json_null());
	json_object_set_new(object, "keys", json_integer((json_int_t)inspection->tally.keys));
	json_object_set_new(object, "readable", json_integer((json_int_t)inspection->tally.readable));
	json_object_set_new(object, "not_applicable", json_integer((json_int_t)inspection->tally.not_applicable));
	json_object_set_new(object, "denied", keys_with(inspection->is, HOST_DENIED));
	json_object_set_new(object, "busy", keys_with(inspection->is, HOST_BUSY));
	json_object_set_new(object, "malformed", keys_with(inspection->is, HOST_MALFORMED));
	json_object_set_new(object, "skipped", keys_with(inspection->is, HOST_SKIPPED));
	for (size_t i = 0; i < inspection->findings.count; i++)
		json_array_append_new(findings, inspect_json_row(&host_finding_columns, &inspection->findings.row[i]));
	json_object_set_new(object, "findings", findings);
	for (size_t i = 0; inspection->counted && i < inspection->deltas.count; i++)
		json_array_append_new(counters, inspect_json_row(&host_delta_columns, &inspection->deltas.row[i]));
	json_object_set_new(object, "counters", counters);
	json_object_set_new(
		object, "elapsed_ns", inspection->counted ? json_integer(inspection->deltas.elapsed_ns) : json_null());
	return object;
}

int inspect_json(FILE *out, const struct inspection *inspection, struct tare_err *err)
{
	AUTO_JSON object = json_of(inspection);
	if (!object)
		return tare_fail_errno(err, ENOMEM, "cannot make JSON");
	if (json_dumpf(object, out, JSON_INDENT(1) | JSON_REAL_PRECISION(17)) == 0)
		fputc('\n', out);
	return 0;
}

int inspect_table(struct cli *cli, const struct inspect_config *config, const struct host_columns *columns,
	const char *schema, const char *usual, const void *records, size_t count, size_t record_bytes,
	struct tare_err *err)
{
	const struct format *format = config->json ? &format_json : config->csv ? &format_csv : &format_text;
	struct report report = {.out = cli->out,
		.columns = columns->column,
		.column_count = columns->count,
		.schema = schema,
		.width = cli->columns};
	return report_table(&report, format, &config->table, usual, records, count, record_bytes, err);
}

int inspect_facts(struct cli *cli, const struct inspect_config *config, const struct host_snapshot *snapshot,
	struct tare_err *err)
{
	/* values are as long as they are, so they stand last */
	return inspect_table(cli, config, &host_fact_columns, "tare.facts/1", "key,kind,status,value", snapshot->facts,
		snapshot->count, sizeof *snapshot->facts, err);
}

/* ---- OpenMetrics ---- */

static void metric_text(FILE *out, const char *text)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;
		if (c == '\\' || c == '"')
			fputc('\\', out);
		fputc(c < ' ' || c >= 0x7f ? '?' : c, out);
	}
}

static void metric_head(FILE *out, const char *name, const char *type, const char *help)
{
	fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void print_metrics(FILE *out, const struct inspection *inspection)
{
	const struct host_header *header = &inspection->is->header;
	metric_head(out, "tare_inspect_verdict", "gauge", "0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN.");
	fprintf(out, "tare_inspect_verdict %d\n", inspection->verdict);
	metric_head(out, "tare_inspect_completeness_ratio", "gauge", "Facts that could be read of those that apply.");
	fprintf(out, "tare_inspect_completeness_ratio %.6f\n", host_completeness(&inspection->tally) / 100);
	metric_head(out, "tare_inspect_timestamp_seconds", "gauge", "When the facts were read.");
	fprintf(out, "tare_inspect_timestamp_seconds %.3f\n", (double)header->real_ns / 1e9);
	metric_head(out, "tare_inspect_findings", "gauge", "Findings by level.");
	for (size_t i = 0; i < HOST_LEVEL_COUNT; i++)
		fprintf(out, "tare_inspect_findings{level=\"%s\"} %zu\n", host_level_name((enum host_level)i),
			inspection->findings.by_level[i]);
	metric_head(out, "tare_inspect_configuration", "info", "Hash of what the host is set to.");
	fprintf(out, "tare_inspect_configuration_info{hash=\"%s\",host=\"", header->hash);
	metric_text(out, header->host ? header->host : "");
	fputs("\"} 1\n", out);
	metric_head(out, "tare_inspect_finding", "gauge", "One for each finding of level WARNING or worse.");
	for (size_t i = 0; i < inspection->findings.count; i++) {
		const struct host_finding *finding = &inspection->findings.row[i];
		if (finding->level < HOST_LEVEL_WARNING)
			continue;
		fprintf(out, "tare_inspect_finding{level=\"%s\",rule=\"%s\",key=\"", host_level_name(finding->level),
			finding->rule);
		metric_text(out, finding->key);
		fputs("\"} 1\n", out);
	}
	fputs("# EOF\n", out);
}

int inspect_openmetrics(const char *path, const struct inspection *inspection, struct tare_err *err)
{
	char beside[4096];
	struct text text = TEXT_IN(beside);
	text_add(&text, "%s.%ld.new", path, (long)getpid());
	if (text.cut)
		return tare_fail(err, TARE_E_USAGE, "the name '%.200s' is too long", path);
	FILE *out = fopen(beside, "we");
	if (!out)
		return tare_fail_errno(err, errno, "cannot write '%s'", beside);
	print_metrics(out, inspection);
	bool failed = ferror(out) != 0 || fchmod(fileno(out), 0644) < 0;
	if (fclose(out) != 0 || failed || rename(beside, path) < 0) {
		int failure = errno;
		unlink(beside);
		return tare_fail_errno(err, failure, "cannot write '%s'", path);
	}
	return 0;
}

/* ---- --explain ---- */

static const char *kind_words(enum host_kind kind)
{
	static const char *const words[HOST_KIND_COUNT] = {"boot line or firmware: changes only at a reboot",
		"setting: anything may change it at any moment", "identity: hardware, firmware, versions",
		"state: told, not compared", "counter: only its difference means anything"};
	return kind < HOST_KIND_COUNT ? words[kind] : "?";
}

static int explain_rule(struct cli *cli, const char *name)
{
	size_t count;
	const struct host_rule_text *texts = host_rule_texts(&count);
	for (size_t i = 0; i < count; i++) {
		if (strcmp(texts[i].name, name) != 0)
			continue;
		report_sentence(cli->out, cli->columns, "%s: %s", texts[i].name, texts[i].condition);
		report_sentence(cli->out, cli->columns, "why: %s", texts[i].why);
		return 0;
	}
	return -1;
}

int inspect_explain(struct cli *cli, const char *key, struct tare_err *err)
{
	size_t found = 0;
	if (explain_rule(cli, key) == 0)
		return 0;
	const struct host_key *exact = host_key_of(key);
	for (size_t i = 0; i < host_key_count(); i++) {
		const struct host_key *row = host_key_at(i);
		/* a word that is no key explains all keys that hold it */
		if (exact ? row != exact : !strstr(row->name, key))
			continue;
		if (found++)
			fputc('\n', cli->out);
		report_sentence(cli->out, cli->columns, "%s", row->name);
		report_sentence(cli->out, cli->columns, "  %s", row->meaning);
		report_sentence(cli->out, cli->columns, "  read: %s (cost: %s)", row->path + (row->path[0] == '@'),
			host_cost_name(row->cost));
		report_sentence(cli->out, cli->columns, "  %s%s%s", kind_words(row->kind),
			row->flags & HOST_ERRORS ? "; any growth voids a round" : "",
			row->flags & HOST_AT_SOCKET ? "; older sockets keep the old value" : "");
	}
	if (!found)
		return tare_fail(err, TARE_E_USAGE,
			"'%s' is neither a fact nor a cross-check (tare inspect --facts lists the facts)", key);
	return 0;
}
