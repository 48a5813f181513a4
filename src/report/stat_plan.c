/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From the flat list of rows to blocks and groups. */
#include "report/stat_plan.h"

#include <stdlib.h>

/* Print order and depth: a part stands under the span it is a part of. */
static const struct {
	enum tare_span span;
	const char *label;
} tree[] = {
	/* what stands for rtt, where that is not what the source tells: first, as its quantity says */
	{TARE_SPAN_HALF_RTT, "half_rtt"},
	{TARE_SPAN_ONE_WAY, "one_way"},
	{TARE_SPAN_ONE_WAY_BACK, "one_way_back"},
	{TARE_SPAN_WAKEUP, "wakeup"},
	{TARE_SPAN_VALUE, "value"},
	{TARE_SPAN_RTT, "rtt"},
	{TARE_SPAN_RESPONSE, " response"},
	{TARE_SPAN_LATE, " late"},
	{TARE_SPAN_TX, " tx"},
	{TARE_SPAN_STACK, " stack"},
	{TARE_SPAN_TX_NIC, "  tx_nic"},
	{TARE_SPAN_WIRE, "  wire"},
	{TARE_SPAN_RX_NIC, "  rx_nic"},
	{TARE_SPAN_PATH, "  path"},
	{TARE_SPAN_FORWARD, "  forward"},
	{TARE_SPAN_BACKWARD, "  backward"},
	{TARE_SPAN_HOST, "  host"},
	{TARE_SPAN_RESIDENCE, "  residence"},
	{TARE_SPAN_PEER_WAKE, "   peer_wake"},
	{TARE_SPAN_SERVICE, "   service"},
	{TARE_SPAN_WAKE, " wake"},
	{TARE_SPAN_RESOLVE, " resolve"},
	{TARE_SPAN_CONNECT, " connect"},
	{TARE_SPAN_TLS, " tls"},
	{TARE_SPAN_FIRST_BYTE, " first_byte"},
	{TARE_SPAN_BODY, " body"},
	{TARE_SPAN_GAP, "gap"},
};
enum { TREE = sizeof(tree) / sizeof(tree[0]) };

static bool same_series(const struct tare_row *one, const struct tare_row *other)
{
	return stat_same_text(one->group, other->group) && one->run == other->run && one->round == other->round && stat_same_text(one->file, other->file) &&
	       stat_same_text(one->target, other->target) && stat_same_text(one->kind, other->kind);
}

static bool has_span(const struct stat_block *block, enum tare_span span)
{
	for (size_t i = 0; i < block->count; i++) {
		if (block->row[i]->span == span)
			return true;
	}
	return false;
}

static size_t group_of(struct stat_plan *plan, const struct tare_row *row)
{
	for (size_t i = plan->group_count; i-- > 0;) {
		const struct stat_group *group = &plan->groups[i];
		if (group->run == row->run && stat_same_text(group->file, row->file) &&
			stat_same_text(group->target, row->target) && stat_same_text(group->kind, row->kind))
			return i;
	}
	return SIZE_MAX;
}

static void place_series(struct stat_plan *plan, struct stat_placed *placed, const struct tare_row *row, size_t note)
{
	placed->placing = STAT_SERIES;
	placed->note = note;
	placed->group = group_of(plan, row);
	if (placed->group == SIZE_MAX) {
		placed->group = plan->group_count++;
		plan->groups[placed->group] = (struct stat_group){
			.file = row->file, .run = row->run, .target = row->target, .kind = row->kind};
	}
	plan->groups[placed->group].series++;
}

static void place_merged(struct stat_plan *plan, struct stat_placed *placed, const struct tare_row *row, bool by_run)
{
	if (!by_run) {
		placed->placing = STAT_GROUP;
		placed->group = SIZE_MAX;
		return;
	}
	placed->group = group_of(plan, row);
	/* A live run may have no number: then the first of two merged blocks is that of its rounds. */
	if (placed->group != SIZE_MAX && !plan->groups[placed->group].merged) {
		placed->placing = STAT_ROUNDS;
		plan->groups[placed->group].merged = true;
	} else {
		placed->placing = STAT_RUNS;
		placed->group = SIZE_MAX;
	}
}

static void order_by_tree(struct stat_block *block)
{
	struct stat_block sorted = {.note = block->note};
	for (size_t i = 0; i < TREE; i++) {
		for (size_t j = 0; j < block->count; j++) {
			if (block->row[j]->span == tree[i].span)
				sorted.row[sorted.count++] = block->row[j];
		}
	}
	*block = sorted;
}

/* Series come in the order of the notes, one block each; merged rows follow. */
static void fill_plan(struct stat_plan *plan, const struct stat_view *view, const struct tare_row *rows, size_t count)
{
	size_t note = 0;
	for (size_t i = 0; i < count; i++) {
		struct stat_placed *last = plan->block_count ? &plan->blocks[plan->block_count - 1] : NULL;
		if (last && same_series(last->block.row[0], &rows[i]) && !has_span(&last->block, rows[i].span)) {
			last->block.row[last->block.count++] = &rows[i];
			continue;
		}
		struct stat_placed *placed = &plan->blocks[plan->block_count++];
		placed->block.row[placed->block.count++] = &rows[i];
		if (note < view->note_count)
			place_series(plan, placed, &rows[i], note++);
		else
			place_merged(plan, placed, &rows[i], view->rules.group_by == TARE_GROUP_RUN);
	}
	for (size_t i = 0; i < plan->block_count; i++) {
		struct stat_placed *placed = &plan->blocks[i];
		if (placed->placing == STAT_SERIES) {
			placed->block.note = &view->notes[placed->note];
			stat_note_add(&plan->groups[placed->group].sum, placed->block.note);
		} else if (placed->placing == STAT_ROUNDS) {
			placed->block.note = &plan->groups[placed->group].sum;
		}
		order_by_tree(&placed->block);
	}
	for (size_t i = 1; i < plan->group_count; i++) {
		plan->many_files |= !stat_same_text(plan->groups[i].file, plan->groups[0].file);
		plan->many_runs |= plan->groups[i].run != plan->groups[0].run;
	}
}

int stat_plan_make(struct stat_plan *ret_plan, const struct stat_view *view, const struct tare_row *rows, size_t count,
	struct tare_err *err)
{
	struct stat_plan plan = {0};
	plan.blocks = calloc(count + 1, sizeof(*plan.blocks));
	plan.groups = calloc(view->note_count + 1, sizeof(*plan.groups));
	if (!plan.blocks || !plan.groups) {
		stat_plan_end(&plan);
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	}
	fill_plan(&plan, view, rows, count);
	*ret_plan = plan;
	return 0;
}

void stat_plan_end(struct stat_plan *plan)
{
	free(plan->blocks);
	free(plan->groups);
}

const char *stat_tree_label(enum tare_span span)
{
	for (size_t i = 0; i < TREE; i++) {
		if (tree[i].span == span)
			return tree[i].label;
	}
	return tare_span_name(span);
}
