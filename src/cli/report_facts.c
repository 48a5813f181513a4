/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Settings of both hosts as the recording holds them, and which of them were not
 * the same in all rounds. Values are shown, not judged: what was declared to
 * change and what that means, abba said on the day.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/report.h"
#include "tare/plan.h"

enum { VALUES_MOST = 4, KEYS_MOST = 100 };

struct fact_at {
	const char *side, *key, *value;
	char arm;
	uint32_t round;
};

struct facts {
	struct fact_at *list;
	size_t count, room;
};

static void facts_end(struct facts *facts)
{
	free(facts->list);
}

static int take(struct facts *facts, const struct tare_fact *fact, char arm, uint32_t round, struct tare_err *err)
{
	if (facts->count == facts->room) {
		size_t room = facts->room ? 2 * facts->room : 1024;
		struct fact_at *larger = reallocarray(facts->list, room, sizeof(*larger));
		if (!larger)
			return tare_fail(err, TARE_E_SYSTEM, "out of memory for facts");
		facts->list = larger;
		facts->room = room;
	}
	facts->list[facts->count++] = (struct fact_at){
		fact->side ? fact->side : "", fact->key ? fact->key : "", fact->value ? fact->value : "", arm, round};
	return 0;
}

static int take_run(struct facts *facts, struct tare_recording *recording, int64_t run, struct tare_err *err)
{
	const struct tare_plan_step *steps;
	const struct tare_round *round;
	size_t step_count;
	if (tare_recording_steps(recording, run, &steps, &step_count, err) < 0)
		return -1;
	for (size_t i = 0; (round = tare_recording_round(recording, run, i)); i++) {
		const struct tare_fact *list;
		size_t count;
		char arm = 0;
		for (size_t k = 0; k < step_count; k++)
			if (steps[k].round == round->number && steps[k].scored && steps[k].arm)
				arm = steps[k].arm[0];
		if (tare_recording_facts(recording, run, round->id, &list, &count, err) < 0)
			return -1;
		for (size_t k = 0; k < count; k++)
			if (take(facts, &list[k], arm, round->number, err) < 0)
				return -1;
	}
	return 0;
}

static int by_key(const void *one, const void *other)
{
	const struct fact_at *left = one, *right = other;
	int order = strcmp(left->side, right->side);
	if (!order)
		order = strcmp(left->key, right->key);
	return order ? order : (left->round > right->round) - (left->round < right->round);
}

static bool same_key(const struct fact_at *one, const struct fact_at *other)
{
	return strcmp(one->side, other->side) == 0 && strcmp(one->key, other->key) == 0;
}

/* The distinct values of one key, each with an arm or round it was seen in. */
static void write_key(const struct page *page, const struct fact_at *list, size_t count)
{
	size_t shown = 0;
	fputs("<tr><td class=\"w\">", page->out);
	page_text(page, list[0].side, 60);
	fputs("</td><td class=\"w\">", page->out);
	page_text(page, list[0].key, 120);
	fputs("</td><td class=\"w\">", page->out);
	for (size_t i = 0; i < count; i++) {
		bool seen = false;
		for (size_t k = 0; k < i && !seen; k++)
			seen = strcmp(list[k].value, list[i].value) == 0 && list[k].arm == list[i].arm;
		if (seen || shown == VALUES_MOST)
			continue;
		fputs(shown++ ? "; " : "", page->out);
		if (list[i].arm)
			fprintf(page->out, "%s: ", list[i].arm == 'B' ? "B" : "A");
		else
			fprintf(page->out, "from round %" PRIu32 ": ", list[i].round);
		page_text(page, list[i].value, 120);
	}
	fputs("</td></tr>\n", page->out);
}

static bool differs(const struct fact_at *list, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (strcmp(list[i].value, list[0].value) != 0)
			return true;
	return false;
}

int report_facts_write(
	const struct page *page, struct tare_recording *recording, const char *path, struct tare_err *err)
{
	AUTO_CLEANUP(facts_end) struct facts facts = {0};
	const struct tare_run *runs;
	size_t run_count = tare_recording_runs(recording, &runs), keys = 0, differing = 0;
	for (size_t i = 0; i < run_count; i++)
		if (take_run(&facts, recording, runs[i].id, err) < 0)
			return -1;
	if (!facts.count)
		return 0;
	qsort(facts.list, facts.count, sizeof(*facts.list), by_key);
	for (size_t from = 0, to; from < facts.count; from = to) {
		for (to = from + 1; to < facts.count && same_key(&facts.list[from], &facts.list[to]);)
			to++;
		keys++;
		if (!differs(facts.list + from, to - from) || differing++ >= KEYS_MOST)
			continue;
		if (differing == 1)
			fputs("<div class=\"scroll\" tabindex=\"0\"><table><thead><tr><th class=\"w\" "
			      "scope=\"col\">side</th><th class=\"w\" "
			      "scope=\"col\">setting</th><th class=\"w\" "
			      "scope=\"col\">values</th></tr></thead><tbody>\n",
				page->out);
		write_key(page, facts.list + from, to - from);
	}
	if (differing)
		fputs("</tbody></table></div>\n", page->out);
	fputs("<p>", page->out);
	page_text(page, path, 200);
	fprintf(page->out,
		": %zu settings and counters were read around rounds, %zu of them did not stay the same.</p>\n", keys,
		differing);
	return 1;
}
