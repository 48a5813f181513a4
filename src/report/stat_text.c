/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The rows of tare_stat_rows as text: a block per series (its figures as a tree
 * of spans, then its sentences), or one line per round where there are many, and
 * under them what they merge into. All blocks share one unit, so that figures
 * compare across them.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "report/stat_plan.h"
#include "report/stat_priv.h"
#include "tare/rate.h"

enum {
	ROUNDS_IN_FULL = 3, /* more rounds than these become a line each */
	SAID_PER_TABLE = 8,
	SENTENCE_WIDTH = 100, /* where the output is no terminal */
};

struct painter {
	FILE *out;
	int width, sentence_width;
	const struct stat_view *view;
	const struct scale *scale;
	const struct column *columns;
	size_t column_count;
	const char *sort; /* of tables with a line a round or group; NULL: as they come */
	uint32_t weak, none; /* percentiles shown with these grades */
	bool not_measured, binned, started;
};

/* Its p50, or what there is instead: of a few requests only the smallest, or the first. */
static int64_t median_of(const struct tare_rules *rules, const struct tare_row *row)
{
	for (uint32_t i = 0; i < rules->percentiles; i++) {
		if (2 * rules->percentile[i].num == rules->percentile[i].den && row->ranked[i].value_ns != TARE_NO_TIME)
			return row->ranked[i].value_ns;
	}
	return row->min_ns != TARE_NO_TIME ? row->min_ns : row->first_ns;
}

static const struct scale *common_scale(const struct stat_view *view, const struct stat_plan *plan)
{
	int64_t reference_ns = INT64_MAX, resolution_ns = INT64_MAX;
	for (size_t i = 0; i < plan->block_count; i++) {
		const struct tare_row *row = plan->blocks[i].block.row[0];
		int64_t median_ns = median_of(&view->rules, row);
		if (median_ns > 0 && median_ns < reference_ns)
			reference_ns = median_ns;
		if (row->resolution_ns < resolution_ns)
			resolution_ns = row->resolution_ns;
	}
	return scale_for(reference_ns == INT64_MAX ? 1000 : reference_ns, resolution_ns);
}

static struct cell get_tree_label(const void *record, const struct column *column)
{
	const char *label = stat_tree_label(((const struct tare_row *)record)->span);
	/* index: how far in what stands first is: in a tree without rtt the first is the root */
	for (size_t i = 0; i < column->index && *label == ' '; i++)
		label++;
	return cell_text(label);
}

static const struct column tree_column = {.name = "tree",
	.heading = "span",
	.help = "span, under what it is a part of",
	.is_text = true,
	.get = get_tree_label};

struct choice {
	struct column column[16 + TARE_PERCENTILES_MAX];
	size_t count;
};

static void choose(const struct painter *painter, struct choice *choice, const char *name)
{
	const struct column *column = column_find(painter->columns, painter->column_count, name);
	if (column)
		choice->column[choice->count++] = *column;
}

static void choose_percentile(struct painter *painter, struct choice *choice, uint32_t at)
{
	char name[32];
	snprintf(name, sizeof(name), "%s_ns", painter->view->rules.percentile[at].key);
	choose(painter, choice, name);
}

static void note_marks(struct painter *painter, uint32_t percentile, const struct tare_row *row)
{
	enum tare_grade grade = row->ranked[percentile].grade;
	painter->binned |= row->binned;
	if (grade == TARE_GRADE_WEAK)
		painter->weak |= 1u << percentile;
	if (grade == TARE_GRADE_NONE)
		painter->none |= 1u << percentile;
}

static int paint_table(struct painter *painter, const struct choice *choice, const char *corner,
	const struct tare_row *const *rows, size_t count, struct tare_err *err)
{
	struct report report = {.out = painter->out,
		.columns = choice->column,
		.column_count = choice->count,
		.width = painter->width,
		.scale = painter->scale,
		.corner = corner};
	int failed = format_text.begin(&report, err);
	for (size_t i = 0; i < count && !failed; i++)
		failed = format_text.row(&report, rows[i], err);
	if (!failed)
		failed = format_text.end(&report, err);
	report_free(&report);
	return failed ? -1 : 0;
}

static int paint_spans(struct painter *painter, const struct stat_block *block, struct tare_err *err)
{
	const struct tare_rules *rules = &painter->view->rules;
	struct choice choice = {.column = {tree_column}, .count = 1};
	choice.column[0].index = strspn(stat_tree_label(block->row[0]->span), " ");
	/* n is told where stamps are missing from some of the requests, so that a part rests on fewer. */
	for (size_t i = 1; i < block->count; i++) {
		if (block->row[i]->n != block->row[0]->n && choice.count == 1)
			choose(painter, &choice, "n");
	}
	choose(painter, &choice, "min_ns");
	for (uint32_t i = 0; i < rules->percentiles; i++) {
		choose_percentile(painter, &choice, i);
		for (size_t j = 0; j < block->count; j++)
			note_marks(painter, i, block->row[j]);
	}
	choose(painter, &choice, "max_ns");
	choose(painter, &choice, "pdv_ns");
	choose(painter, &choice, "stalls");
	return paint_table(painter, &choice, painter->scale->unit, block->row, block->count, err);
}

/* A line per round leaves no room for every one of the usual percentiles. */
static bool in_rounds(const struct tare_rules *rules, uint32_t at)
{
	static const char *const usual[] = {"50", "90", "99", "99.9", "99.99"};
	for (uint32_t i = 0; i < 5; i++) {
		if (rules->percentiles != 5 || strcmp(rules->percentile[i].text, usual[i]) != 0)
			return true;
	}
	return at != 1 && at != 4;
}

/* Rounds of different rates: what was held stands beside what was asked. */
static bool is_sweep(const struct tare_row *one, const struct tare_row *other)
{
	return fabs(one->rate_asked - other->rate_asked) > 0.005 * one->rate_asked;
}

/* Puts `rows` into the order asked for. */
static int paint_rounds(struct painter *painter, const char *first_column, const struct tare_row **rows, size_t count,
	struct tare_err *err)
{
	const struct tare_rules *rules = &painter->view->rules;
	struct choice choice = {.count = 0};
	bool labelled = false, lossy = false, rates = false;
	if (report_sort(painter->columns, painter->column_count, painter->sort, (const void **)rows, count, err))
		return -1;
	for (size_t i = 0; i < count; i++) {
		labelled |= rows[i]->label && rows[i]->label[0];
		lossy |= rows[i]->lost > 0;
		rates |= is_sweep(rows[0], rows[i]) || rows[i]->rate_held < TARE_RATE_HELD * rows[i]->rate_asked;
		painter->not_measured |= rows[i]->round && rows[i]->first_ns == TARE_NO_TIME;
	}
	choose(painter, &choice, first_column);
	if (labelled && strcmp(first_column, "round") == 0)
		choose(painter, &choice, "label");
	if (strcmp(first_column, "round") != 0)
		choose(painter, &choice, "n");
	if (rates) {
		choose(painter, &choice, "rate_asked");
		choose(painter, &choice, "rate_held");
	}
	if (lossy)
		choose(painter, &choice, "lost");
	choose(painter, &choice, "min_ns");
	for (uint32_t i = 0; i < rules->percentiles; i++) {
		if (!in_rounds(rules, i))
			continue;
		choose_percentile(painter, &choice, i);
		for (size_t j = 0; j < count; j++)
			note_marks(painter, i, rows[j]);
	}
	choose(painter, &choice, "max_ns");
	choose(painter, &choice, "pdv_ns");
	if (strcmp(first_column, "round") == 0)
		choose(painter, &choice, "first_ns");
	choose(painter, &choice, "stalls");
	return paint_table(painter, &choice, NULL, rows, count, err);
}

static void start_block(struct painter *painter)
{
	if (painter->started)
		fputc('\n', painter->out);
	painter->started = true;
}

/* Which file, run and round, as far as that is in doubt; placed NULL: file and run only. */
static void paint_context(struct painter *painter, const struct stat_plan *plan, const struct stat_placed *placed,
	const struct tare_row *row)
{
	char line[700];
	struct text text = TEXT_IN(line);
	const struct stat_group *group = placed && placed->group != SIZE_MAX ? &plan->groups[placed->group] : NULL;
	if (plan->many_files && row->file)
		text_add(&text, "%s", row->file);
	if (plan->many_runs && row->run)
		text_add(&text, "%srun %" PRId64, text.used ? ", " : "", row->run);
	if (placed && placed->placing == STAT_RUNS)
		text_add(&text, "%sall runs", text.used ? ", " : "");
	else if (placed && placed->placing == STAT_ROUNDS)
		text_add(&text, "%sall %zu rounds", text.used ? ", " : "", group ? group->series : 0);
	else if (group && (group->series > 1 || row->round > 1))
		text_add(&text, "%sround %" PRIu32, text.used ? ", " : "", row->round);
	if (placed && row->label && row->label[0])
		text_add(&text, "%s%s", text.used ? ", " : "", row->label);
	if (text.used)
		report_sentence(painter->out, painter->sentence_width, "%s", line);
}

/* Which round, under a table of `series` rounds; 0: no need to say. */
static void paint_one(const struct painter *painter, const struct stat_said *said, size_t series)
{
	char rounds[64] = "";
	uint32_t number = painter->view->notes[said->note].round->number;
	if (series && said->times == 1)
		snprintf(rounds, sizeof(rounds), "round %" PRIu32 ": ", number);
	else if (series && said->times < series)
		snprintf(rounds, sizeof(rounds), "round %" PRIu32 " and %zu more: ", number, said->times - 1);
	report_sentence(painter->out, painter->sentence_width, "%s%s.", rounds, said->text);
}

/* series 0: of one round, whose place says which it is. */
static void paint_said(struct painter *painter, size_t note, bool above, size_t series, size_t *told)
{
	for (int order = 0; order < STAT_SAID_ORDERS; order++) {
		for (size_t i = 0; i < painter->view->said_count; i++) {
			const struct stat_said *said = &painter->view->said[i];
			if (said->note == note && said->above == above && said->order == order && (*told)++ < SAID_PER_TABLE)
				paint_one(painter, said, series);
		}
	}
}

static void paint_untold(struct painter *painter, size_t told)
{
	if (told > SAID_PER_TABLE)
		fprintf(painter->out, "and %zu more of these sentences.\n", told - SAID_PER_TABLE);
}

/* Facts of the rounds of a group, or of all with group SIZE_MAX and the target of `row`. */
static int paint_across(struct painter *painter, const struct stat_plan *plan, const struct stat_placed *merged,
	struct tare_err *err)
{
	const struct tare_row *row = merged->block.row[0];
	AUTO_FREE struct tare_round_facts *facts = calloc(plan->block_count + 1, sizeof(*facts));
	size_t count = 0;
	if (!facts)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	for (size_t i = 0; i < plan->block_count; i++) {
		const struct stat_placed *placed = &plan->blocks[i];
		if (placed->placing != STAT_SERIES || !placed->block.note->insight)
			continue;
		bool belongs = merged->group != SIZE_MAX ? placed->group == merged->group
							 : stat_same_text(placed->block.row[0]->target, row->target);
		if (belongs && placed->block.row[0]->span == row->span && placed->block.note->insight->facts_known)
			facts[count++] = placed->block.note->insight->facts;
	}
	if (!count)
		return 0;
	return stat_across(painter->out, painter->sentence_width, facts, count, err);
}

/* Nothing but another tool's own figures: a table would be empty. */
static bool is_summary(const struct tare_row *row)
{
	return row->origin.shape == TARE_SHAPE_SUMMARY && !row->origin_mixed && row->n == 0;
}

static int paint_block(
	struct painter *painter, const struct stat_plan *plan, const struct stat_placed *placed, struct tare_err *err)
{
	size_t above = 0, under = 0;
	start_block(painter);
	paint_context(painter, plan, placed, placed->block.row[0]);
	stat_head_line(painter->out, painter->sentence_width, &placed->block);
	if (placed->placing == STAT_SERIES)
		paint_said(painter, placed->note, true, 0, &above);
	paint_untold(painter, above);
	if (is_summary(placed->block.row[0])) {
		if (placed->placing == STAT_SERIES)
			paint_said(painter, placed->note, false, 0, &under);
		paint_untold(painter, under);
		return 0;
	}
	if (paint_spans(painter, &placed->block, err))
		return -1;
	stat_sentences(painter->out, painter->sentence_width, &placed->block, &painter->view->rules, painter->scale);
	if (placed->placing == STAT_SERIES)
		paint_said(painter, placed->note, false, 0, &under);
	paint_untold(painter, under);
	return placed->placing == STAT_SERIES ? 0 : paint_across(painter, plan, placed, err);
}

static int paint_ports(struct painter *painter, const struct tare_row *const *rows, size_t count, struct tare_err *err)
{
	AUTO_FREE int64_t *p50_ns = calloc(count, sizeof(*p50_ns));
	if (!p50_ns)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	for (size_t i = 0; i < count; i++)
		p50_ns[i] = median_of(&painter->view->rules, rows[i]);
	stat_ports(painter->out, painter->sentence_width, rows, count, p50_ns);
	return 0;
}

static int paint_many(struct painter *painter, const struct stat_plan *plan, size_t group, struct tare_err *err)
{
	size_t count = 0, told = 0;
	const struct stat_placed *first = NULL;
	AUTO_FREE const struct tare_row **rows = calloc(plan->groups[group].series, sizeof(*rows));
	if (!rows)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	for (size_t i = 0; i < plan->block_count; i++) {
		const struct stat_placed *placed = &plan->blocks[i];
		if (placed->group != group || placed->placing != STAT_SERIES)
			continue;
		first = first ? first : placed;
		rows[count++] = placed->block.row[0];
	}
	if (!first)
		return 0;
	start_block(painter);
	paint_context(painter, plan, NULL, rows[0]);
	report_sentence(painter->out, painter->sentence_width, "%s   %zu rounds; %s in %s",
		rows[0]->target ? rows[0]->target : "", count, tare_span_name(rows[0]->span), painter->scale->unit);
	paint_said(painter, first->note, true, 0, &told);
	if (paint_rounds(painter, "round", rows, count, err) || paint_ports(painter, rows, count, err))
		return -1;
	for (size_t i = 0; i < plan->block_count; i++) {
		if (plan->blocks[i].group == group && plan->blocks[i].placing == STAT_SERIES)
			paint_said(painter, plan->blocks[i].note, false, count, &told);
	}
	paint_untold(painter, told);
	return 0;
}

/* One line a group, for each target and span asked for. */
static int paint_groups(struct painter *painter, const struct stat_plan *plan, const char *by, struct tare_err *err)
{
	AUTO_FREE const struct tare_row **rows = calloc(plan->block_count + 1, sizeof(*rows));
	AUTO_FREE bool *done = calloc(plan->block_count + 1, sizeof(*done));
	if (!rows || !done)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	for (size_t i = 0; i < plan->block_count; i++) {
		size_t count = 0;
		if (plan->blocks[i].placing != STAT_GROUP || done[i])
			continue;
		const struct tare_row *first = plan->blocks[i].block.row[0];
		for (size_t j = i; j < plan->block_count; j++) {
			const struct tare_row *row = plan->blocks[j].block.row[0];
			if (plan->blocks[j].placing != STAT_GROUP || row->span != first->span ||
				!stat_same_text(row->target, first->target))
				continue;
			done[j] = true;
			rows[count++] = row;
		}
		start_block(painter);
		report_sentence(painter->out, painter->sentence_width, "%s   %zu group%s by %s; %s in %s",
			first->target ? first->target : "", count, count == 1 ? "" : "s", by,
			tare_span_name(first->span), painter->scale->unit);
		if (paint_rounds(painter, first->group ? "group" : "target", rows, count, err))
			return -1;
	}
	return 0;
}

static const char *group_name(enum tare_group_by by)
{
	switch (by) {
	case TARE_GROUP_LABEL:
		return "label";
	case TARE_GROUP_TARGET:
		return "target";
	case TARE_GROUP_PEER_CPU:
		return "peer CPU";
	case TARE_GROUP_HOUR:
		return "hour (UTC)";
	case TARE_GROUP_RUN:
		break;
	}
	return "run";
}

static int paint_plan(struct painter *painter, const struct stat_plan *plan, struct tare_err *err)
{
	enum tare_group_by by = painter->view->rules.group_by;
	if (by != TARE_GROUP_RUN)
		return paint_groups(painter, plan, group_name(by), err);
	for (size_t group = 0; group < plan->group_count; group++) {
		bool many = plan->groups[group].series > ROUNDS_IN_FULL;
		if (many && paint_many(painter, plan, group, err))
			return -1;
		for (size_t i = 0; i < plan->block_count; i++) {
			const struct stat_placed *placed = &plan->blocks[i];
			if (placed->group != group || (many && placed->placing == STAT_SERIES))
				continue;
			if (paint_block(painter, plan, placed, err))
				return -1;
		}
	}
	for (size_t i = 0; i < plan->block_count; i++) {
		if (plan->blocks[i].placing == STAT_RUNS && paint_block(painter, plan, &plan->blocks[i], err))
			return -1;
	}
	return 0;
}

/* What the marks mean, and what it would take to be rid of them. */
static void paint_legend(const struct painter *painter)
{
	const struct tare_rules *rules = &painter->view->rules;
	char line[900];
	struct text text = TEXT_IN(line);
	if (painter->weak)
		text_add(&text, "? fewer than 10 values behind it");
	if (painter->none)
		text_add(&text, "%s", text.used ? ", – none" : "– no value behind it");
	if (painter->not_measured)
		text_add(&text, "%s· not answered", text.used ? ", " : "");
	if (text.used)
		text_add(&text, ".");
	if (painter->binned)
		text_add(&text, "%sA–B: the source counted in bins, and the figure lies somewhere in there.",
			text.used ? " " : "");
	if (!text.used)
		return;
	size_t marks = text.used;
	for (uint32_t i = 0; i < rules->percentiles; i++) {
		const struct tare_percentile *p = &rules->percentile[i];
		if (!((painter->weak | painter->none) >> i & 1) || p->num == p->den)
			continue;
		text_add(&text, "%s p%s needs %" PRIu64 "%s", text.used == marks ? "" : ",", p->text,
			tare_needed(p, 10), text.used == marks ? " requests" : "");
	}
	if (text.used > marks)
		text_add(&text, "; ten times as many for 100 behind.");
	report_sentence(painter->out, painter->sentence_width, "%s", line);
}

int stat_text_print(FILE *out, const struct stat_layout *layout, const struct stat_view *view,
	const struct tare_row *rows, size_t count, struct tare_err *err)
{
	struct painter painter = {.out = out, .width = layout->width, .view = view, .sort = layout->asked.sort};
	painter.sentence_width = layout->width > 0 ? layout->width : SENTENCE_WIDTH;
	AUTO_CLEANUP(stat_plan_end) struct stat_plan plan = {0};
	if (stat_plan_make(&plan, view, rows, count, err))
		return -1;
	painter.columns = stat_columns_table(view->columns, &painter.column_count);
	painter.scale = common_scale(view, &plan);
	/* a wrong name is wrong also where nothing is there to be sorted */
	if (report_sort(painter.columns, painter.column_count, painter.sort, NULL, 0, err))
		return -1;
	if (paint_plan(&painter, &plan, err))
		return -1;
	if (painter.weak || painter.none || painter.not_measured || painter.binned || view->remark_count)
		start_block(&painter);
	paint_legend(&painter);
	stat_view_remarks(out, painter.sentence_width, view);
	return 0;
}
