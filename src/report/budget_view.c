/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Budgets of the rounds of a target added up and laid out. Durations have all
 * digits down to the ns, so that the parts of a line add up on paper too.
 */
#include "report/budget_view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "lib/budget_columns.h"

/* Rounds of one target in one run whose wholes are the same span. */
struct budget_block {
	const char *file;
	const struct tare_run *run;
	const struct tare_target *target;
	struct tare_budget budget;
};

struct budget_view {
	struct tare_budget_rules rules;
	int64_t warmup; /* -1: as the round says */
	struct budget_block *blocks;
	size_t count, room;
	uint64_t without; /* series that no stamps take apart */
};

int budget_view_open(const struct tare_rules *rules, struct budget_view **ret_view, struct tare_err *err)
{
	if (rules->percentiles > TARE_BUDGET_ROWS)
		return tare_fail(err, TARE_E_USAGE, "more than %d percentiles with --budget", TARE_BUDGET_ROWS);
	struct budget_view *view = calloc(1, sizeof(*view));
	if (!view)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	view->warmup = rules->warmup;
	view->rules.percentiles = rules->percentiles;
	memcpy(view->rules.percentile, rules->percentile, rules->percentiles * sizeof(rules->percentile[0]));
	*ret_view = view;
	return 0;
}

void budget_view_free(struct budget_view *view)
{
	if (view)
		free(view->blocks);
	free(view);
}

static bool same_text(const char *one, const char *other)
{
	return one == other || (one && other && strcmp(one, other) == 0);
}

static struct budget_block *block_of(
	struct budget_view *view, const char *file, const struct tare_record *record, enum tare_span whole)
{
	for (size_t i = 0; i < view->count; i++) {
		struct budget_block *block = &view->blocks[i];
		if (block->run == record->run && block->budget.whole == whole &&
			block->target->position == record->target->position &&
			same_text(block->target->url, record->target->url) && same_text(block->file, file))
			return block;
	}
	return NULL;
}

int budget_view_add(struct budget_view *view, const char *file, const struct tare_record *record, struct tare_err *err)
{
	struct tare_budget budget;
	int64_t warmup = view->warmup >= 0 ? view->warmup : record->round->warmup;
	view->rules.first = (uint64_t)warmup > SIZE_MAX ? SIZE_MAX : (size_t)warmup;
	if (tare_budget_of(&record->series, record->round->number, &view->rules, &budget, err))
		return tare_err_prefix(err, "round %" PRIu32 " of %s", record->round->number, record->target->url);
	if (budget.n == 0) {
		view->without++;
		return 0;
	}
	struct budget_block *block = block_of(view, file, record, budget.whole);
	if (block)
		return tare_budget_add(&block->budget, &budget, err);
	if (view->count == view->room) {
		size_t room = view->room ? 2 * view->room : 8;
		struct budget_block *larger = reallocarray(view->blocks, room, sizeof(*larger));
		if (!larger)
			return tare_fail(err, TARE_E_SYSTEM, "out of memory");
		view->blocks = larger;
		view->room = room;
	}
	view->blocks[view->count++] =
		(struct budget_block){.file = file, .run = record->run, .target = record->target, .budget = budget};
	return 0;
}

/* A line, and the words that it points to; the first member is what the columns read. */
struct budget_line {
	struct budget_at at;
	char what[48], sentence[400];
};
struct budget_lines {
	struct budget_line *line;
	size_t count;
};

static void lines_end(const struct budget_lines *lines)
{
	free(lines->line);
}

/* A line for each percentile, then one for each of the slowest. */
static int add_lines(struct budget_lines *lines, const struct budget_block *block, bool text, struct tare_err *err)
{
	const struct tare_budget *budget = &block->budget;
	size_t more = budget->rows + budget->slow_count;
	struct budget_line *line = reallocarray(lines->line, lines->count + more + 1, sizeof(*line));
	if (!line)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory for a table");
	lines->line = line;
	for (size_t i = 0; i < more; i++) {
		line = &lines->line[lines->count++];
		*line = (struct budget_line){.at = {
						     .place = {block->file, block->run, block->target, NULL},
						     .budget = budget,
					     }};
		struct text words = TEXT_IN(line->what);
		if (i < budget->rows) {
			line->at.row = &budget->row[i];
			text_add(&words, "p%s", line->at.row->percentile.text);
			if (i > 0)
				tare_budget_sentence(budget, 0, i, line->sentence, sizeof(line->sentence));
		} else {
			line->at.slow = &budget->slow[i - budget->rows];
			if (text && budget->rounds > 1)
				text_add(&words, "round %" PRIu32 " #%zu", line->at.slow->round, line->at.slow->sequence);
			else if (text)
				text_add(&words, "#%zu", line->at.slow->sequence);
			else
				text_add(&words, "slow %zu", i - budget->rows + 1);
		}
		budget_at_fill(&line->at);
	}
	return 0;
}

/* Lines have moved for the last time: now they can point to their own words. */
static int print_lines(struct report *report, const struct format *format, const struct table_asked *asked,
	const struct budget_lines *lines, struct tare_err *err)
{
	for (size_t i = 0; i < lines->count; i++) {
		struct budget_line *line = &lines->line[i];
		line->at.what = line->what;
		line->at.sentence = line->sentence[0] ? line->sentence : NULL;
	}
	return report_table(report, format, asked, NULL, lines->line, lines->count, sizeof(*lines->line), err);
}

enum { COLUMNS_MAX = 40 };

/* The responder told two times only, so that its wake-up lies in what is called service. */
static bool is_residence(const struct tare_budget *budget)
{
	for (size_t i = 0; i < budget->slow_count; i++) {
		if (!(budget->slow[i].observed & TARE_PART_RESIDENCE))
			return false;
	}
	return budget->slow_count > 0;
}

/* What, requests, whole, and the parts that some request of the block had by itself. */
static size_t text_columns(const struct tare_budget *budget, struct column ret_columns[COLUMNS_MAX])
{
	size_t count = 0;
	for (size_t i = 0; i < budget_column_count; i++) {
		const struct column *column = &budget_columns[i];
		bool wanted = strcmp(column->name, "what") == 0 || strcmp(column->name, "requests") == 0 ||
			      strcmp(column->name, "whole_ns") == 0;
		if (i >= BUDGET_COLUMNS_FIRST_PART && i < BUDGET_COLUMNS_FIRST_PART + TARE_PART_COUNT) {
			for (size_t row = 0; row < budget->rows; row++)
				wanted |= budget->row[row].observed[column->index] > 0;
			for (size_t slow = 0; slow < budget->slow_count; slow++)
				wanted |= budget->slow[slow].observed >> column->index & 1;
		}
		if (!wanted)
			continue;
		ret_columns[count] = *column;
		if (strcmp(column->name, "whole_ns") == 0)
			ret_columns[count].heading = tare_span_name(budget->whole);
		if (column->get == budget_columns[BUDGET_COLUMNS_FIRST_PART].get &&
			column->index == TARE_PART_SERVICE && is_residence(budget))
			ret_columns[count].heading = tare_span_name(TARE_SPAN_RESIDENCE);
		count++;
	}
	return count;
}

/* The unit of the table as elsewhere, but with every digit. */
static const struct scale *exact_scale(const struct tare_budget *budget)
{
	static const struct scale exact[] = {{"ns", 1, 0}, {"µs", 1000, 3}, {"ms", 1000000, 6}, {"s", 1000000000, 9}};
	int64_t parts_ns[TARE_PART_COUNT], whole_ns = budget->slow_count ? budget->slow[0].whole_ns : 0;
	if (budget->rows && budget->row[0].requests)
		whole_ns = tare_budget_means(&budget->row[0], parts_ns);
	const struct scale *usual = scale_for(whole_ns, 1);
	for (size_t i = 0; i < sizeof(exact) / sizeof(exact[0]); i++) {
		if (exact[i].ns == usual->ns)
			return &exact[i];
	}
	return usual;
}

static void print_growth(FILE *out, int width, const struct tare_budget *budget)
{
	char sentence[400];
	for (size_t i = budget->rows; i-- > 1;) {
		tare_budget_sentence(budget, 0, i, sentence, sizeof(sentence));
		if (sentence[0]) {
			report_sentence(out, width, "%s.", sentence);
			return;
		}
	}
}

/* Where some requests of a line had a part by themselves and others did not, the figures are a mixture. */
static void print_mixed(FILE *out, int width, const struct tare_budget *budget)
{
	for (size_t i = 0; i < budget->rows; i++) {
		const struct tare_budget_row *row = &budget->row[i];
		for (int part = 0; part < TARE_PART_COUNT; part++) {
			uint64_t had = row->observed[part];
			if (had > 0 && had < row->requests)
				report_sentence(out, width,
					"%" PRIu64 " of the %" PRIu64 " requests around p%s had no %s of their own: "
					"it lies in the next part inwards.",
					row->requests - had, row->requests, row->percentile.text,
					tare_span_name(tare_part_span((enum tare_part)part)));
		}
	}
}

static int print_block(FILE *out, int width, const struct budget_block *block, struct tare_err *err)
{
	struct column columns[COLUMNS_MAX];
	const struct tare_budget *budget = &block->budget;
	int sentence_width = width > 0 ? width : 100;
	struct report report = {.out = out, .width = width, .columns = columns, .scale = exact_scale(budget)};
	report.column_count = text_columns(budget, columns);
	report.corner = report.scale->unit;
	report_sentence(out, sentence_width, "%s   %s of %" PRIu64 " requests%s taken apart", block->target->url,
		tare_span_name(budget->whole), budget->n, budget->rounds > 1 ? " of all rounds" : "");
	AUTO_CLEANUP(lines_end) struct budget_lines lines = {0};
	if (add_lines(&lines, block, true, err) || print_lines(&report, &format_text, NULL, &lines, err))
		return -1;
	print_growth(out, sentence_width, budget);
	print_mixed(out, sentence_width, budget);
	for (size_t i = 0; i < budget->rows; i++) {
		const struct tare_percentile *p = &budget->row[i].percentile;
		if (budget->row[i].requests == 0 && tare_needed(p, 1) == UINT64_MAX)
			report_sentence(out, sentence_width, "p%s never has a request behind it.", p->text);
		else if (budget->row[i].requests == 0)
			report_sentence(out, sentence_width, "p%s has no request behind it%s: it needs %" PRIu64 ".",
				p->text, budget->rounds > 1 ? " in any round" : "", tare_needed(p, 1));
	}
	return 0;
}

static int print_flat(FILE *out, const struct budget_view *view, const struct stat_layout *layout, struct tare_err *err)
{
	AUTO_CLEANUP(lines_end) struct budget_lines lines = {0};
	struct report report = {.out = out, .schema = "tare.budget/1", .width = layout->width};
	report.columns = budget_columns;
	report.column_count = budget_column_count;
	for (size_t i = 0; i < view->count; i++) {
		if (add_lines(&lines, &view->blocks[i], false, err))
			return -1;
	}
	return print_lines(&report, layout->format, &layout->asked, &lines, err);
}

int budget_view_print(FILE *out, struct budget_view *view, const struct stat_layout *layout, struct tare_err *err)
{
	int width = layout->width > 0 ? layout->width : 100;
	if (layout->format != &format_text || layout->asked.columns)
		return print_flat(out, view, layout, err);
	for (size_t i = 0; i < view->count; i++) {
		if (i)
			fputc('\n', out);
		if (print_block(out, layout->width, &view->blocks[i], err))
			return -1;
	}
	if (view->count)
		report_sentence(out, width,
			"each line is about the same requests in all its columns, so that the parts sum to the whole.");
	if (view->without)
		report_sentence(out, width, "%" PRIu64 " series hold%s no times to take apart.", view->without,
			view->without == 1 ? "s" : "");
	return 0;
}
