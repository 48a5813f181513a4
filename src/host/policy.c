/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Policy files: a line, a pattern, a rule. */
#include "host/policy.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"

enum { RULES_MAX = 4096, LINE_BYTES = 1024 };

struct host_policy {
	struct arena *arena;
	struct host_rule *rule;
	size_t count;
};

static const char *const rule_names[] = {"exact", "in", "range", "subset", "ignore", "max-delta", "absent", NULL};

static bool take_number(const char *text, const char **ret_rest, int64_t *ret_number)
{
	char *end;
	errno = 0;
	long long number = strtoll(text, &end, 10);
	if (errno || end == text)
		return false;
	*ret_number = number;
	*ret_rest = end;
	return true;
}

static bool take_range(const char *words, struct host_rule *rule)
{
	const char *rest;
	return take_number(words, &rest, &rule->least) && strncmp(rest, "..", 2) == 0 &&
	       take_number(rest + 2, &rest, &rule->most) && *rest == '\0' && rule->least <= rule->most;
}

/* "100" or "100/day" */
static bool take_delta(const char *words, struct host_rule *rule)
{
	const char *rest;
	return take_number(words, &rest, &rule->most) && (*rest == '\0' || strcmp(rest, "/day") == 0) &&
	       rule->most >= 0;
}

static int finish_rule(struct host_rule *rule, const char *where, struct tare_err *err)
{
	bool empty = rule->words[0] == '\0';
	switch (rule->kind) {
	case HOST_RULE_EXACT:
		return 0;
	case HOST_RULE_IGNORE:
	case HOST_RULE_ABSENT:
		return empty ? 0
			     : tare_fail(err, TARE_E_FORMAT, "%s: '%s' takes nothing behind it", where,
				       rule_names[rule->kind]);
	case HOST_RULE_IN:
		return empty ? tare_fail(err, TARE_E_FORMAT, "%s: 'in' needs values, as 'in 0 50'", where) : 0;
	case HOST_RULE_RANGE:
		if (!take_range(rule->words, rule))
			return tare_fail(err, TARE_E_FORMAT, "%s: 'range' needs LEAST..MOST, as 'range 0..10'", where);
		return 0;
	case HOST_RULE_SUBSET:
		if (!host_cpus_of_list(rule->words, -1, &rule->cpus))
			return tare_fail(
				err, TARE_E_FORMAT, "%s: 'subset' needs a list of CPUs, as 'subset 2-7'", where);
		return 0;
	case HOST_RULE_MAX_DELTA:
		if (!take_delta(rule->words, rule))
			return tare_fail(
				err, TARE_E_FORMAT, "%s: 'max-delta' needs a count, as 'max-delta 100/day'", where);
		return 0;
	}
	return 0;
}

static int parse_line(struct host_policy *policy, char *line, const char *where, struct tare_err *err)
{
	struct host_rule rule = {0};
	line[strcspn(line, "\r\n")] = '\0';
	line += strspn(line, " \t");
	if (*line == '\0' || *line == '#')
		return 0;
	if (policy->count == RULES_MAX)
		return tare_fail(err, TARE_E_FORMAT, "%s: more than %d rules", where, RULES_MAX);
	/* keys of interrupts hold a blank within their brackets */
	char *end = line;
	for (bool within = false; *end && (within || (*end != ' ' && *end != '\t')); end++)
		within = *end == '[' ? true : *end == ']' ? false : within;
	char *name = end + strspn(end, " \t");
	*end = '\0';
	char *words = name + strcspn(name, " \t");
	if (*words) {
		*words++ = '\0';
		words += strspn(words, " \t");
		for (size_t length = strlen(words); length && strchr(" \t", words[length - 1]); length--)
			words[length - 1] = '\0';
	}
	size_t kind = 0;
	while (rule_names[kind] && strcmp(rule_names[kind], name) != 0)
		kind++;
	if (!rule_names[kind]) {
		const char *near = nearest_word(name, rule_names);
		return tare_fail(err, TARE_E_FORMAT, "%s: '%.40s' is no rule%s%s%s", where, name,
			near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
	}
	rule.kind = (enum host_rule_kind)kind;
	rule.pattern = arena_text(policy->arena, line);
	rule.words = arena_text(policy->arena, words);
	if (!rule.pattern || !rule.words)
		return tare_fail(err, TARE_E_FORMAT, "%s: the policy is too large", where);
	if (finish_rule(&rule, where, err) < 0)
		return -1;
	policy->rule[policy->count++] = rule;
	return 0;
}

int host_policy_parse(const char *text, const char *name, struct host_policy **ret_policy, struct tare_err *err)
{
	struct host_policy *policy = calloc(1, sizeof *policy);
	if (!policy)
		return tare_fail_errno(err, ENOMEM, "cannot read the policy '%s'", name);
	int status =
		arena_open((size_t)RULES_MAX * (sizeof(struct host_rule) + 2 * LINE_BYTES), 0, &policy->arena, err);
	if (status == 0)
		policy->rule = ARENA_ARRAY(policy->arena, struct host_rule, RULES_MAX);
	for (unsigned number = 1; status == 0 && *text; number++) {
		char line[LINE_BYTES], where[300];
		size_t length = strcspn(text, "\n");
		snprintf(where, sizeof where, "%.255s:%u", name, number);
		if (length >= sizeof line) {
			status = tare_fail(
				err, TARE_E_FORMAT, "%s: the line is longer than %d bytes", where, LINE_BYTES - 1);
			break;
		}
		memcpy(line, text, length);
		line[length] = '\0';
		status = parse_line(policy, line, where, err);
		text += length + (text[length] == '\n');
	}
	if (status < 0) {
		host_policy_free(policy);
		return -1;
	}
	*ret_policy = policy;
	return 0;
}

void host_policy_free(struct host_policy *policy)
{
	if (!policy)
		return;
	arena_free(policy->arena);
	free(policy);
}

const struct host_rule *host_policy_rule(const struct host_policy *policy, const char *key)
{
	for (size_t i = policy ? policy->count : 0; i-- > 0;)
		if (host_glob(policy->rule[i].pattern, key))
			return &policy->rule[i];
	return NULL;
}

static bool is_word_of(const char *words, const char *value)
{
	for (size_t length; *words; words += length + strspn(words + length, " \t")) {
		length = strcspn(words, " \t");
		if (strlen(value) == length && strncmp(words, value, length) == 0)
			return true;
	}
	return false;
}

bool host_rule_holds(
	const struct host_rule *rule, const struct host_fact *fact, const char *approved, char *why, size_t room)
{
	const char *value = fact && fact->status == HOST_OK ? fact->value : NULL, *rest;
	struct host_cpus cpus;
	int64_t number;
	if (room)
		why[0] = '\0';
	switch (rule->kind) {
	case HOST_RULE_ABSENT:
		if (!fact || fact->status == HOST_ABSENT || fact->status == HOST_UNSUPPORTED)
			return true;
		snprintf(why, room, "the policy expects it to be absent");
		return false;
	case HOST_RULE_IN:
		if (value && is_word_of(rule->words, value))
			return true;
		snprintf(why, room, "the policy allows %s", rule->words);
		return false;
	case HOST_RULE_RANGE:
		if (value && take_number(value, &rest, &number) && *rest == '\0' && number >= rule->least &&
			number <= rule->most)
			return true;
		snprintf(why, room, "the policy allows %" PRId64 "..%" PRId64, rule->least, rule->most);
		return false;
	case HOST_RULE_SUBSET:
		if (value && host_cpus_of_list(value, -1, &cpus) && host_cpus_subset(&cpus, &rule->cpus))
			return true;
		snprintf(why, room, "the policy allows CPUs of %s", rule->words);
		return false;
	case HOST_RULE_EXACT:
		if (rule->words[0] == '\0')
			return value && approved && strcmp(value, approved) == 0;
		if (value && strcmp(value, rule->words) == 0)
			return true;
		snprintf(why, room, "the policy wants %s", rule->words);
		return false;
	case HOST_RULE_IGNORE:
	case HOST_RULE_MAX_DELTA:
		break;
	}
	return true;
}
