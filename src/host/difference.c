/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two sorted lists of facts, walked side by side. */
#include "host/difference.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const change_names[HOST_CHANGE_COUNT] = {
	"same", "changed", "appeared", "vanished", "unreadable", "new capability"};

const char *host_change_name(enum host_change change)
{
	return change < HOST_CHANGE_COUNT ? change_names[change] : "?";
}

static bool applies(const struct host_fact *fact)
{
	return fact && fact->status != HOST_ABSENT && fact->status != HOST_UNSUPPORTED;
}

static bool skipped(const struct host_fact *fact)
{
	return fact && fact->status == HOST_SKIPPED;
}

static bool readable(const struct host_fact *fact)
{
	return fact && fact->status == HOST_OK;
}

/* One of netlink and ioctl each: equal values may mean different things. */
static bool ways_differ(const struct host_fact *was, const struct host_fact *is)
{
	return (was->via == HOST_VIA_NETLINK && is->via == HOST_VIA_IOCTL) ||
	       (was->via == HOST_VIA_IOCTL && is->via == HOST_VIA_NETLINK);
}

static bool policed(const struct host_rule *rule)
{
	return rule && rule->kind != HOST_RULE_EXACT && rule->kind != HOST_RULE_MAX_DELTA &&
	       rule->kind != HOST_RULE_IGNORE;
}

static enum host_change judge(struct host_difference *row, const struct host_rule *rule, unsigned revision_then)
{
	const struct host_fact *was = row->was, *is = row->is;
	const char *approved = readable(was) ? was->value : NULL;
	bool wants_value = rule && rule->kind == HOST_RULE_EXACT && rule->words[0];
	if (applies(is) && !readable(is)) {
		row->both = applies(was) && !readable(was);
		snprintf(row->note, sizeof row->note, "%s now", host_status_name(is->status));
		return HOST_UNREADABLE;
	}
	if (policed(rule) || wants_value)
		return host_rule_holds(rule, is, approved, row->note, sizeof row->note) ? HOST_SAME : HOST_CHANGED;
	if (applies(was) && !readable(was)) {
		snprintf(row->note, sizeof row->note, "%s then", host_status_name(was->status));
		return HOST_UNREADABLE;
	}
	if (readable(was) && readable(is)) {
		if (strcmp(was->value, is->value) != 0)
			return HOST_CHANGED;
		if (!ways_differ(was, is))
			return HOST_SAME;
		snprintf(row->note, sizeof row->note, "read by %s then, by %s now", host_via_name(was->via),
			host_via_name(is->via));
		return HOST_UNREADABLE;
	}
	if (readable(was))
		return HOST_VANISHED;
	if (!readable(is))
		return HOST_SAME;
	return !was && is->row && is->row->since > revision_then ? HOST_NEW_CAPABILITY : HOST_APPEARED;
}

static void count(struct host_differences *all, enum host_change change)
{
	size_t *const counters[HOST_CHANGE_COUNT] = {
		&all->same, &all->changed, &all->appeared, &all->vanished, &all->unreadable, &all->new_capability};
	++*counters[change];
	all->compared++;
}

static void compare(struct host_differences *all, const struct host_fact *was, const struct host_fact *is,
	const struct host_policy *policy, unsigned revision_then)
{
	const struct host_fact *any = is ? is : was;
	const struct host_rule *rule = host_policy_rule(policy, any->key);
	if (rule ? rule->kind == HOST_RULE_IGNORE || rule->kind == HOST_RULE_MAX_DELTA : !host_is_setting(any))
		return;
	/* what is never tried unless asked for is not unreadable, as long as it was not tried then either */
	if ((!applies(was) || skipped(was)) && (!applies(is) || skipped(is)) && !policed(rule)) {
		all->not_applicable++;
		return;
	}
	struct host_difference row = {.key = any->key, .was = was, .is = is};
	row.change = judge(&row, rule, revision_then);
	count(all, row.change);
	if (row.change != HOST_SAME)
		all->row[all->count++] = row;
}

int host_difference_of(const struct host_snapshot *was, const struct host_snapshot *is,
	const struct host_policy *policy, struct host_differences *ret_differences, struct tare_err *err)
{
	struct host_differences all = {.row = calloc(was->count + is->count + 1, sizeof *all.row)};
	if (!all.row)
		return tare_fail_errno(err, ENOMEM, "cannot compare two snapshots");
	for (size_t i = 0, j = 0; i < was->count || j < is->count;) {
		int order = i == was->count ? 1 : j == is->count ? -1 : strcmp(was->facts[i].key, is->facts[j].key);
		compare(&all, order <= 0 ? &was->facts[i] : NULL, order >= 0 ? &is->facts[j] : NULL, policy,
			was->header.revision);
		i += order <= 0;
		j += order >= 0;
	}
	*ret_differences = all;
	return 0;
}

void host_differences_free(struct host_differences *differences)
{
	free(differences->row);
	*differences = (struct host_differences){0};
}
