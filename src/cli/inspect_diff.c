/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tare inspect --diff: saved facts of A and B, start and end of each round, and what was declared. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/inspect.h"
#include "report/report.h"

enum { NAMES_MAX = 256 };

struct names {
	char *text;
	const char *name[NAMES_MAX];
	size_t count;
};

static void end_names(struct names *names)
{
	free(names->text);
}

static void end_comparison(struct host_comparison *const *comparison)
{
	host_comparison_free(*comparison);
}

/* "KEY,KEY=A->B": keys hold no commas outside of brackets, values may hold CPU lists ("0,2"), so a comma splits only
 * where a key begins: behind it stands a letter or '*'. */
static int split(const char *list, struct names *names, struct tare_err *err)
{
	names->text = strdup(list ? list : "");
	if (!names->text)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	for (char *at = names->text, *next; *at; at = next) {
		next = at;
		while (*next && !(*next == ',' && (next[1] == '*' || (next[1] >= 'a' && next[1] <= 'z'))))
			next++;
		if (*next)
			*next++ = '\0';
		if (names->count == NAMES_MAX)
			return tare_fail(err, TARE_E_USAGE, "more than %d keys", NAMES_MAX);
		names->name[names->count++] = at;
	}
	return 0;
}

static char arm_of(const char *operand, const char **ret_path)
{
	bool named = (operand[0] == 'A' || operand[0] == 'B') && operand[1] == '=';
	*ret_path = named ? operand + 2 : operand;
	return named ? operand[0] : '\0';
}

static int add_round(struct host_comparison *comparison, char arm, unsigned round, const char *start, const char *end,
	struct tare_err *err)
{
	struct host_snapshot *first = NULL, *last = NULL;
	if (host_snapshot_load(start, &first, err) < 0)
		return -1;
	if (host_snapshot_load(end, &last, err) < 0) {
		host_snapshot_free(first);
		return -1;
	}
	return host_comparison_round(comparison, arm, round, first, last, err);
}

/* Two bare files are A and B, each its own start and end; else pairs of one arm are start and end of a round. */
static int add_rounds(struct host_comparison *comparison, int count, char **operands, struct tare_err *err)
{
	const char *start, *end;
	if (count == 2 && !arm_of(operands[0], &start) && !arm_of(operands[1], &end))
		return add_round(comparison, 'A', 1, start, start, err) < 0
			       ? -1
			       : add_round(comparison, 'B', 2, end, end, err);
	if (count % 2 != 0)
		return tare_fail(
			err, TARE_E_USAGE, "--diff takes two FILEs, or pairs: A=START A=END B=START B=END ...");
	for (int i = 0; i < count; i += 2) {
		char arm = arm_of(operands[i], &start), other = arm_of(operands[i + 1], &end);
		if (!arm || arm != other)
			return tare_fail(err, TARE_E_USAGE,
				"'%s' and '%s' are no start and end of one round: A=START A=END", operands[i],
				operands[i + 1]);
		if (add_round(comparison, arm, (unsigned)(i / 2 + 1), start, end, err) < 0)
			return -1;
	}
	return 0;
}

static int print_table(struct cli *cli, const struct inspect_config *config, const struct host_compare_result *result,
	struct tare_err *err)
{
	return inspect_table(cli, config, &host_compared_columns, "tare.difference/1", NULL, result->row,
		result->row_count, sizeof *result->row, err);
}

static void print_verdict(struct cli *cli, const struct host_compare_result *result)
{
	report_sentence(cli->out, cli->columns, "%s", result->sentence);
	if (result->confounded)
		report_sentence(cli->out, cli->columns,
			"confounded: what was not declared moved, so no effect may be put down to what was");
	if (result->unmatched)
		report_sentence(cli->out, cli->columns, "%zu declared key%s no fact here: see --facts for their names",
			result->unmatched, result->unmatched == 1 ? " is" : "s are");
	if (!result->took_effect)
		report_sentence(cli->out, cli->columns, "the change did not take effect as declared");
	for (size_t i = 0; i < result->flagged_count; i++)
		report_sentence(cli->out, cli->columns, "round %c%u is %s: %s +%llu", result->flagged[i].arm,
			result->flagged[i].round, result->flagged[i].voids ? "void" : "suspect", result->flagged[i].key,
			(unsigned long long)result->flagged[i].delta);
}

static json_t *flagged_json(const struct host_compare_result *result)
{
	json_t *list = json_array();
	for (size_t i = 0; i < result->flagged_count; i++) {
		const struct host_flagged *flagged = &result->flagged[i];
		json_t *object = json_object();
		json_object_set_new(object, "arm", json_string(flagged->arm == 'A' ? "A" : "B"));
		json_object_set_new(object, "round", json_integer(flagged->round));
		json_object_set_new(object, "key", json_string(flagged->key));
		json_object_set_new(object, "delta", json_integer((json_int_t)(flagged->delta & INT64_MAX)));
		json_object_set_new(object, "voids", json_boolean(flagged->voids));
		json_array_append_new(list, object);
	}
	return list;
}

static int print_json(struct cli *cli, const struct host_compare_result *result)
{
	json_t *object = json_object(), *rows = json_array();
	json_object_set_new(object, "schema", json_string("tare.difference/1"));
	json_object_set_new(object, "sentence", json_string(result->sentence));
	json_object_set_new(object, "keys", json_integer((json_int_t)result->keys));
	json_object_set_new(object, "snapshots", json_integer((json_int_t)result->snapshots));
	json_object_set_new(object, "not_applicable", json_integer((json_int_t)result->not_applicable));
	json_object_set_new(object, "confounded", json_boolean(result->confounded));
	json_object_set_new(object, "took_effect", json_boolean(result->took_effect));
	for (size_t i = 0; i < result->row_count; i++)
		json_array_append_new(rows, inspect_json_row(&host_compared_columns, &result->row[i]));
	json_object_set_new(object, "rows", rows);
	json_object_set_new(object, "flagged", flagged_json(result));
	if (json_dumpf(object, cli->out, JSON_INDENT(1)) == 0)
		fputc('\n', cli->out);
	json_decref(object);
	return 0;
}

/* 0 only what was declared, and it took effect; 1 without effect, or a round is suspect; 2 confounded or void. */
static int status_of(const struct host_compare_result *result)
{
	bool suspect = false;
	for (size_t i = 0; i < result->flagged_count; i++) {
		if (result->flagged[i].voids)
			return 2;
		suspect = true;
	}
	if (result->confounded)
		return 2;
	return !result->took_effect || suspect ? 1 : 0;
}

int inspect_diff(struct cli *cli, const struct inspect_config *config, int count, char **operands, struct tare_err *err)
{
	AUTO_CLEANUP(end_names) struct names declared = {.count = 0};
	AUTO_CLEANUP(end_names) struct names allowed = {.count = 0};
	AUTO_CLEANUP(end_comparison) struct host_comparison *comparison = NULL;
	const struct host_compare_result *result;
	if (split(config->declare, &declared, err) < 0 || split(config->allow, &allowed, err) < 0 ||
		host_comparison_open(declared.name, declared.count, allowed.name, allowed.count, &comparison, err) <
			0 ||
		add_rounds(comparison, count, operands, err) < 0 ||
		host_comparison_result(comparison, &result, err) < 0)
		return -1;
	int status = status_of(result);
	if (config->csv || config->table.columns) {
		if (print_table(cli, config, result, err) < 0)
			return -1;
	} else if (config->json) {
		print_json(cli, result);
	} else if (config->nagios) {
		fprintf(cli->out, "TARE %s - %s\n", host_verdict_name(status), result->sentence);
	} else {
		if (result->row_count && print_table(cli, config, result, err) < 0)
			return -1;
		print_verdict(cli, result);
	}
	return config->exit_zero ? 0 : status;
}
