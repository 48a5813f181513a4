/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading files for a comparison. Of several targets in one run the first is compared unless another is named. */
#include "cli/trial_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tare/plan.h"
#include "tare/rate.h"

static bool is_asked(const struct tare_record *record, const char *url)
{
	return url ? strcmp(record->target->url ? record->target->url : "", url) == 0 : record->target->position == 0;
}

static bool has_times(const struct tare_record *record)
{
	for (int span = 0; span < TARE_SPAN_COUNT; span++)
		if (tare_span_exists(&record->series, (enum tare_span)span))
			return true;
	return false;
}

static int add_records(struct tare_trials *trials, struct source *source, const char *path, const char *url,
	arm_of_record *arm_of, void *context, size_t *ret_added, struct tare_err *err)
{
	const struct tare_record *record;
	int found;
	while ((found = source_next(source, &record, err)) > 0) {
		/* a log that holds only a summary has no times, and a summary has no spread */
		int arm = (has_times(record) || record->bins) && is_asked(record, url) ? arm_of(context, record) : -1;
		if (arm < 0)
			continue;
		if (tare_trials_add(trials, (unsigned char)arm, path, record, tare_rate_of(record).held, err) < 0)
			return -1;
		++*ret_added;
	}
	return found;
}

int trial_set_read(struct tare_trials *trials, const char *path, const struct source_rules *rules, const char *url,
	arm_of_record *arm_of, void *context, size_t *ret_added, struct tare_err *err)
{
	struct source *source;
	size_t added = 0;
	if (source_open(path, rules, &source, err) < 0)
		return -1;
	int status = add_records(trials, source, path, url, arm_of, context, &added, err);
	source_free(source);
	if (status < 0)
		return -1;
	*ret_added = added;
	return 0;
}

int trial_arm_by_step(void *context, const struct tare_record *record)
{
	struct trial_steps *by = context;
	const struct tare_plan_step *steps;
	struct tare_err ignored = {0};
	by->step_count = 0;
	/* without readable steps the round has no place in a plan, and is told as not scored */
	if (tare_recording_steps(by->recording, record->run->id, &steps, &by->step_count, &ignored) < 0)
		return -1;
	for (size_t i = 0; i < by->step_count; i++)
		if (steps[i].round == record->round->number && steps[i].scored && steps[i].arm)
			return strcmp(steps[i].arm, "B") == 0;
	return -1;
}

static int by_start(const void *left, const void *right)
{
	const struct tare_trial *a = left, *b = right;
	return (a->at_ns > b->at_ns) - (a->at_ns < b->at_ns);
}

struct tare_trial *trial_set_sorted(const struct tare_trials *trials, size_t *ret_count)
{
	const struct tare_trial *list;
	size_t count = tare_trials_list(trials, &list);
	struct tare_trial *sorted = calloc(count ? count : 1, sizeof *sorted);
	bool comparable = true;
	if (!sorted)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		sorted[i] = list[i];
		comparable &= list[i].at_ns != TARE_NO_TIME && strcmp(list[i].host, list[0].host) == 0;
	}
	if (comparable) {
		qsort(sorted, count, sizeof *sorted, by_start);
	} else {
		/* clocks of two hosts have no common order */
		for (size_t i = 0; i < count; i++)
			sorted[i].at_ns = TARE_NO_TIME;
	}
	*ret_count = count;
	return sorted;
}
