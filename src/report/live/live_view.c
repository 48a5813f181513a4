/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The strip is the plot over time of `tare plot`, filled as requests settle; the table is one of columns. */
#include "report/live/live_view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "report/report.h"
#include "report/utf8.h"
#include "tare/stat.h"

enum { COLUMNS_OF_GRID = 512, VALUES_FOR_LIMIT = 100, BLOCK = 512, PERCENTILES = 4, LIMIT_TIMES_MEDIAN = 10 };

struct live_target {
	struct plot_target plot;
	struct tare_counts *rtt, *late;
	uint64_t lost;
	int64_t reached_ns; /* when the last request known was due */
	size_t mark_room;
};

struct live_view {
	struct live_target target[LIVE_TARGETS_MAX];
	size_t count, more;
	uint32_t round, rounds, warmup;
	int64_t length_ns;
};

static void end_target(struct live_target *target)
{
	plot_grid_end(&target->plot.time.grid);
	free(target->plot.time.marks);
	tare_counts_free(target->rtt);
	tare_counts_free(target->late);
}

void live_view_free(struct live_view *view)
{
	if (!view)
		return;
	for (size_t i = 0; i < view->count; i++)
		end_target(&view->target[i]);
	free(view);
}

int live_view_open(const char *const *urls, size_t targets, struct live_view **ret_view, struct tare_err *err)
{
	struct live_view *view = calloc(1, sizeof(*view));
	if (!view)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory for a live view");
	view->count = targets < LIVE_TARGETS_MAX ? targets : LIVE_TARGETS_MAX;
	view->more = targets - view->count;
	for (size_t i = 0; i < view->count; i++) {
		struct live_target *target = &view->target[i];
		target->plot.url = urls[i];
		target->plot.span = TARE_SPAN_RTT;
		if (tare_counts_open(&target->rtt, err) || tare_counts_open(&target->late, err)) {
			live_view_free(view);
			return -1;
		}
	}
	*ret_view = view;
	return 0;
}

int live_view_round(
	struct live_view *view, uint32_t number, uint32_t rounds, int64_t length_ns, uint32_t warmup, struct tare_err *err)
{
	view->round = number;
	view->rounds = rounds;
	view->warmup = warmup;
	view->length_ns = length_ns > 0 ? length_ns : 1;
	for (size_t i = 0; i < view->count; i++) {
		struct live_target *target = &view->target[i];
		const char *url = target->plot.url;
		plot_grid_end(&target->plot.time.grid);
		free(target->plot.time.marks);
		target->plot = (struct plot_target){.url = url, .span = TARE_SPAN_RTT};
		target->mark_room = 0;
		target->reached_ns = 0;
		target->lost = 0;
		tare_counts_clear(target->rtt);
		tare_counts_clear(target->late);
		if (plot_grid_open(&target->plot.time.grid, COLUMNS_OF_GRID, err))
			return -1;
	}
	return 0;
}

static int add_mark(struct live_target *target, const struct live_request *request, enum plot_mark_kind kind, struct tare_err *err)
{
	struct plot_time *time = &target->plot.time;
	time->kinds[kind]++;
	if (time->mark_count == PLOT_MARKS_MAX) {
		time->marks_cut = true;
		return 0;
	}
	if (time->mark_count == target->mark_room) {
		size_t room = target->mark_room ? 2 * target->mark_room : 64;
		struct plot_mark *marks = reallocarray(time->marks, room, sizeof(*marks));
		if (!marks)
			return tare_fail(err, TARE_E_SYSTEM, "out of memory for a live view");
		time->marks = marks;
		target->mark_room = room;
	}
	time->marks[time->mark_count++] = (struct plot_mark){
		.x = request->at_ns, .value_ns = request->rtt_ns, .sequence = request->sequence, .kind = (uint8_t)kind};
	return 0;
}

static int add_missing(struct live_target *target, const struct live_request *request, size_t column, struct tare_err *err)
{
	enum plot_mark_kind kind = request->fate == TARE_NOT_SENT ? PLOT_NOT_SENT
				   : request->fate == TARE_ERROR  ? PLOT_ERROR
								  : PLOT_LOST;
	target->lost += kind != PLOT_NOT_SENT;
	target->plot.time.grid.column[column].unanswered += kind != PLOT_NOT_SENT;
	return add_mark(target, request, kind, err);
}

static int add_request(struct live_view *view, struct live_target *target, const struct live_request *request,
	int64_t limit_ns, struct tare_err *err)
{
	struct plot_target *plot = &target->plot;
	struct plot_grid *grid = &plot->time.grid;
	int64_t x = request->at_ns < 0 ? 0 : request->at_ns > view->length_ns ? view->length_ns : request->at_ns;
	target->reached_ns = x > target->reached_ns ? x : target->reached_ns;
	plot_grid_reach(grid, x);
	size_t column = plot_grid_at(grid, x);
	plot->requests++;
	if (request->rtt_ns == TARE_NO_TIME)
		return add_missing(target, request, column, err);
	plot->values++;
	plot->max_ns = request->rtt_ns > plot->max_ns ? request->rtt_ns : plot->max_ns;
	plot_column_add(&grid->column[column], x, request->rtt_ns);
	bool warm = request->sequence < view->warmup;
	if (warm && request->sequence < 2)
		return add_mark(target, request, PLOT_FIRST, err);
	if (limit_ns == TARE_NO_TIME || request->rtt_ns <= limit_ns) {
		plot_grid_count(grid, column, request->rtt_ns);
		return 0;
	}
	if (warm)
		return add_mark(target, request, PLOT_WARMUP, err);
	struct plot_column *at = &grid->column[column];
	at->stalls++;
	if (at->stall_ns == TARE_NO_TIME || request->rtt_ns > at->stall_ns) {
		at->stall_ns = request->rtt_ns;
		at->stall_x = x;
		at->stall_sequence = request->sequence;
		at->stall_word = TARE_WORD_NONE;
	}
	return add_mark(target, request, PLOT_STALL, err);
}

/* The median of what is known before a block decides on the whole of it. */
static int64_t limit_of(const struct live_target *target)
{
	uint64_t n = tare_counts_n(target->rtt);
	if (n < VALUES_FOR_LIMIT)
		return TARE_NO_TIME;
	int64_t median_ns = tare_counts_at(target->rtt, (n + 1) / 2);
	return median_ns > INT64_MAX / LIMIT_TIMES_MEDIAN ? INT64_MAX : median_ns * LIMIT_TIMES_MEDIAN;
}

int live_view_add(
	struct live_view *view, size_t target, const struct live_request *requests, size_t count, struct tare_err *err)
{
	int64_t rtt_ns[BLOCK], late_ns[BLOCK];
	if (target >= view->count)
		return 0;
	struct live_target *at = &view->target[target];
	for (size_t first = 0; first < count; first += BLOCK) {
		size_t block = count - first < BLOCK ? count - first : BLOCK;
		int64_t limit_ns = limit_of(at);
		for (size_t i = 0; i < block; i++) {
			const struct live_request *request = &requests[first + i];
			bool warm = request->sequence < view->warmup;
			rtt_ns[i] = warm ? TARE_NO_TIME : request->rtt_ns;
			late_ns[i] = warm ? TARE_NO_TIME : request->late_ns;
			if (add_request(view, at, request, limit_ns, err))
				return -1;
		}
		if (tare_counts_add(at->rtt, rtt_ns, block, err) || tare_counts_add(at->late, late_ns, block, err))
			return -1;
	}
	return 0;
}

/* ---- the table ---- */

struct live_row {
	char name[80];
	const struct tare_counts *counts;
	uint64_t lost, stalls;
	bool is_late;
};

/* index: numerator of 1000; 0: the smallest, 1000: the largest. */
static struct cell get_rank(const void *record, const struct column *column)
{
	const struct tare_counts *counts = ((const struct live_row *)record)->counts;
	uint64_t n = tare_counts_n(counts);
	__extension__ typedef unsigned __int128 wide;
	uint64_t rank = column->index == 0 ? 1 : (uint64_t)(((wide)n * column->index + 999) / 1000);
	if (n == 0)
		return cell_absent(CELL_NOT_MEASURED);
	if (column->index != 1000 && column->index != 0 && rank == n)
		return cell_absent(CELL_TOO_FEW);
	struct cell cell = cell_integer(tare_counts_at(counts, rank));
	if (column->index != 1000 && column->index != 0 && n - rank < 10)
		cell.mark = '?';
	return cell;
}

static struct cell get_name(const void *record, const struct column *column)
{
	(void)column;
	return cell_text(((const struct live_row *)record)->name);
}

/* index: offset of the count. */
static struct cell get_of_target(const void *record, const struct column *column)
{
	if (((const struct live_row *)record)->is_late)
		return cell_absent(CELL_NOT_APPLICABLE);
	return cell_count(*(const uint64_t *)(const void *)((const char *)record + column->index));
}

#define RANK(name, heading, index) {name, heading, heading, NULL, UNIT_NS, false, get_rank, index}
#define COUNT(member) {#member, #member, #member, NULL, UNIT_NONE, false, get_of_target, offsetof(struct live_row, member)}
static const struct column columns[] = {
	{"so far", "so far", "what", NULL, UNIT_NONE, true, get_name, 0},
	COUNT(lost),
	COUNT(stalls),
	RANK("min_ns", "min", 0),
	RANK("p50_ns", "p50", 500),
	RANK("p90_ns", "p90", 900),
	RANK("p99_ns", "p99", 990),
	RANK("p999_ns", "p99.9", 999),
	RANK("max_ns", "max", 1000),
};

static int draw_table(FILE *out, const struct live_view *view, const struct terminal *terminal, struct tare_err *err)
{
	struct live_row rows[2 * LIVE_TARGETS_MAX] = {{{0}, NULL, 0, 0, false}};
	int64_t least_ns = INT64_MAX;
	for (size_t i = 0; i < view->count; i++) {
		const struct live_target *target = &view->target[i];
		struct live_row *rtt = &rows[2 * i], *late = &rows[2 * i + 1];
		uint64_t n = tare_counts_n(target->rtt);
		int64_t median_ns = n ? tare_counts_at(target->rtt, (n + 1) / 2) : INT64_MAX;
		least_ns = median_ns < least_ns ? median_ns : least_ns;
		*rtt = (struct live_row){.counts = target->rtt,
			.lost = target->lost,
			.stalls = target->plot.time.kinds[PLOT_STALL]};
		*late = (struct live_row){.counts = target->late, .is_late = true};
		struct text name = TEXT_IN(rtt->name);
		if (view->count > 1)
			text_add(&name, "rtt %.*s", terminal->width / 3, target->plot.url);
		else
			text_add(&name, "rtt");
		memcpy(late->name, " late", sizeof(" late"));
	}
	const struct scale *scale = scale_for(least_ns == INT64_MAX ? 1000 : least_ns, 1);
	struct report report = {.out = out,
		.columns = columns,
		.column_count = sizeof(columns) / sizeof(*columns),
		.width = terminal->width,
		.scale = scale,
		.corner = scale->unit};
	return report_table(&report, &format_text, NULL, NULL, rows, 2 * view->count, sizeof(rows[0]), err);
}

/* ---- the whole ---- */

static void draw_head(FILE *out, const struct live_view *view, const struct live_state *state, int width)
{
	char line[300], left[32];
	struct text text = TEXT_IN(line);
	int64_t left_ns = (state->left_ns + 500000000) / 1000000000 * 1000000000;
	struct text none = TEXT_IN(left);
	if (left_ns > 0)
		format_duration(left_ns, left, sizeof(left));
	else
		text_add(&none, "no time");
	if (view->rounds > 1)
		text_add(&text, "round %" PRIu32 " of %" PRIu32 "   ", view->round, view->rounds);
	text_add(&text, "%" PRIu64 " sent, %" PRIu64 " answered, %s left", state->sent, state->answered, left);
	report_sentence(out, width, "%s", line);
}

/* A line cut at the width; escape sequences, all of them our own, take no room and are never cut. */
static void put_line(FILE *out, const char *text, size_t length, int width)
{
	int used = 0;
	for (size_t i = 0; i < length;) {
		uint32_t code;
		size_t bytes = utf8_next(text + i, length - i, &code);
		if (code == '\033') {
			bytes = strcspn(text + i, "m") + 1;
			bytes = bytes < length - i ? bytes : length - i;
			fwrite(text + i, 1, bytes, out);
		} else {
			used += code == UTF8_INVALID ? 1 : utf8_width(code);
			if (used <= width)
				fwrite(text + i, 1, bytes, out);
		}
		i += bytes;
	}
	fputc('\n', out);
}

/* At most `lines` lines of `text`. */
static void put_lines(FILE *out, const char *text, size_t lines, int width)
{
	for (size_t i = 0; i < lines && *text; i++) {
		size_t length = strcspn(text, "\n");
		put_line(out, text, length, width);
		text += length + (text[length] == '\n');
	}
}

/*
 * What the strip spans: the time so far, rounded up to 1, 2 or 5 times a power of ten, so that it fills and does not
 * shift with every draw; never beyond the round.
 */
static int64_t span_of(const struct live_view *view, const struct live_target *target)
{
	static const int64_t steps[] = {1, 2, 5};
	int64_t power_ns = 1000000000, span_ns = power_ns;
	for (size_t i = 1; span_ns <= target->reached_ns && power_ns < INT64_MAX / 50; i++) {
		power_ns *= i % 3 ? 1 : 10;
		span_ns = power_ns * steps[i % 3];
	}
	return span_ns < view->length_ns ? span_ns : view->length_ns > target->reached_ns ? view->length_ns : target->reached_ns + 1;
}

static int draw_all(FILE *out, struct live_view *view, const struct live_state *state, const struct terminal *terminal,
	size_t lines, struct tare_err *err)
{
	draw_head(out, view, state, terminal->width);
	if (draw_table(out, view, terminal, err))
		return -1;
	if (view->more)
		report_sentence(out, terminal->width, "%zu further targets are not drawn.", view->more);
	/* head, table, hint; a picture needs its title, axis, rows and sentences besides */
	size_t used = 4 + 2 * view->count, extra = 9;
	for (size_t i = 0; i < view->count; i++) {
		struct terminal smaller = *terminal;
		size_t left = (lines > used ? lines - used : 0) / (view->count - i);
		if (left < extra + 3)
			break;
		smaller.lines = left - extra > TERMINAL_LINES ? TERMINAL_LINES : (int)(left - extra);
		view->target[i].plot.time.end = span_of(view, &view->target[i]);
		fputc('\n', out);
		if (!view->target[i].plot.values)
			report_sentence(out, terminal->width, "%s: no answer yet.", view->target[i].plot.url);
		else if (terminal_draw(out, &smaller, TERMINAL_PLOT_TIME, &view->target[i].plot, err))
			return -1;
		used += left;
	}
	return 0;
}

int live_view_draw(FILE *out, struct live_view *view, const struct live_state *state, const struct terminal *terminal,
	size_t lines, struct tare_err *err)
{
	AUTO_FREE char *text = NULL;
	size_t bytes;
	FILE *whole = open_memstream(&text, &bytes);
	if (!whole)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory for a live view");
	int failed = draw_all(whole, view, state, terminal, lines, err);
	if (fclose(whole) != 0 || !text)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory for a live view");
	bool hint = state->hint && lines > 1;
	put_lines(out, text, lines - hint, terminal->width);
	if (hint)
		put_line(out, state->hint, strlen(state->hint), terminal->width);
	return failed;
}
