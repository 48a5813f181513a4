/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What plots in a terminal promise, at every width and in every style: each stall and
 * loss stands in its row, the counts of a row add up, the highest is at the top, no line
 * is wider than asked, and ASCII is ASCII.
 */
#include "report/terminal/terminal.h"

#include <stdlib.h>
#include <string.h>

#include "report/terminal/axis.h"
#include "report/utf8.h"
#include "tap.h"
#include "tare/sample.h"

static char *drawn;

static const char *draw(const struct plot_target *target, enum terminal_plot kind, int width, enum terminal_style style)
{
	size_t bytes;
	struct tare_err err = {0};
	const struct terminal terminal = {.width = width, .style = style};
	free(drawn);
	FILE *out = open_memstream(&drawn, &bytes);
	int failed = terminal_draw(out, &terminal, kind, target, &err);
	fclose(out);
	return failed ? "failed" : drawn;
}

static uint64_t next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* A target of n requests a microsecond apart, all of 4 µs. */
static void make(struct plot_target *target, int64_t n)
{
	struct tare_err err = {0};
	*target = (struct plot_target){.url = "udp://10.0.0.2:7", .span = TARE_SPAN_RTT, .resolution_ns = 1};
	if (plot_grid_open(&target->time.grid, PLOT_COLUMNS, &err)) {
		printf("Bail out! %s\n", err.text);
		exit(1);
	}
	target->time.end = n * 1000;
	plot_grid_reach(&target->time.grid, target->time.end - 1);
	target->time.marks = calloc(PLOT_MARKS_MAX, sizeof(struct plot_mark));
	target->requests = (uint64_t)n;
}

static void unmake(struct plot_target *target)
{
	plot_grid_end(&target->time.grid);
	free(target->time.marks);
}

static void add_value(struct plot_target *target, int64_t x, int64_t value_ns)
{
	size_t column = plot_grid_at(&target->time.grid, x);
	target->values++;
	plot_column_add(&target->time.grid.column[column], x, value_ns);
	plot_grid_count(&target->time.grid, column, value_ns);
}

static void add_mark(struct plot_target *target, enum plot_mark_kind kind, int64_t x, int64_t value_ns)
{
	struct plot_time *time = &target->time;
	struct plot_column *column = &time->grid.column[plot_grid_at(&time->grid, x)];
	time->kinds[kind]++;
	if (time->mark_count < PLOT_MARKS_MAX)
		time->marks[time->mark_count++] = (struct plot_mark){.x = x, .value_ns = value_ns, .kind = (uint8_t)kind};
	else
		time->marks_cut = true;
	column->unanswered += kind == PLOT_LOST;
	if (value_ns == TARE_NO_TIME)
		return;
	target->values++;
	plot_column_add(column, x, value_ns);
	column->stalls += kind == PLOT_STALL;
	if (kind == PLOT_STALL && (column->stall_ns == TARE_NO_TIME || value_ns > column->stall_ns)) {
		column->stall_ns = value_ns;
		column->stall_x = x;
	}
}

/* What a row of counts stands for; *ret_full is set where a '#' hides how many. */
static uint64_t row_sum(const char *text, const char *label, char one, bool *ret_full)
{
	char wanted[32];
	uint64_t sum = 0;
	snprintf(wanted, sizeof(wanted), "\n%8s  ", label);
	const char *row = strstr(text, wanted);
	*ret_full = false;
	if (!row)
		return UINT64_MAX;
	for (row += 11; *row && *row != '\n'; row++) {
		*ret_full |= *row == '#';
		sum += *row == one ? 1 : *row >= '2' && *row <= '9' ? (uint64_t)(*row - '0') : *row == '#' ? 10 : 0;
	}
	return sum;
}

static int widest(const char *text)
{
	int most = 0;
	while (*text) {
		char line[4096];
		size_t length = strcspn(text, "\n");
		snprintf(line, sizeof(line), "%.*s", (int)length, text);
		int columns = utf8_columns(line);
		most = columns > most ? columns : most;
		text += length + (text[length] == '\n');
	}
	return most;
}

/* The picture: from the second line to the base of the axis. */
static size_t marks_in_picture(const char *text, char mark, size_t *ret_line)
{
	size_t found = 0, line = 0;
	for (const char *at = strchr(text, '\n'); at && *at; at++) {
		if (*at == '\n' && line++ == TERMINAL_LINES)
			break;
		if (*at == mark) {
			found++;
			*ret_line = line;
		}
	}
	return found;
}

static const int widths[] = {1, 40, 57, 80, 133, 250, 400, 1000};
enum { WIDTHS = sizeof(widths) / sizeof(widths[0]) };

static void test_one_in_ten_million(void)
{
	enum { N = 10000000 };
	struct plot_target target;
	uint64_t state = 20241130;
	printf("# seed %llu\n", (unsigned long long)state);
	make(&target, N);
	int64_t at = (int64_t)(next(&state) % N) * 1000;
	for (int64_t i = 0; i < N; i++)
		if (i * 1000 != at)
			add_value(&target, i * 1000, 4000 + i % 700);
	add_mark(&target, PLOT_STALL, at, 1548860);
	for (size_t i = 0; i < WIDTHS; i++) {
		for (int style = TERMINAL_BRAILLE; style <= TERMINAL_ASCII; style++) {
			bool full;
			size_t line = 0;
			const char *text = draw(&target, TERMINAL_PLOT_TIME, widths[i], (enum terminal_style)style);
			bool fine = marks_in_picture(text, '!', &line) == 1 && line == 1 && row_sum(text, "stalls", '!', &full) == 1 &&
				    strstr(text, "10000000 values of 10000000") && strstr(text, "9999999 in dots") && strstr(text, "1548.86");
			OK(fine, "one stall in ten million, at the top, in its row and told, style %d, %d columns", style, widths[i]);
		}
	}
	unmake(&target);
}

static void test_counts(void)
{
	uint64_t state = 7;
	printf("# seed %llu\n", (unsigned long long)state);
	for (int round = 0; round < 40; round++) {
		struct plot_target target;
		int64_t n = 1000 + (int64_t)(next(&state) % 3000000);
		uint64_t stalls = next(&state) % (round % 2 ? 30 : 9000), lost = next(&state) % 40;
		make(&target, n);
		for (int64_t i = 0; i < n; i += 97)
			add_value(&target, i * 1000, 4000 + i % 700);
		for (uint64_t i = 0; i < stalls; i++)
			add_mark(&target, PLOT_STALL, (int64_t)(next(&state) % (uint64_t)n) * 1000, 50000 + (int64_t)(next(&state) % 1000000));
		for (uint64_t i = 0; i < lost; i++)
			add_mark(&target, PLOT_LOST, (int64_t)(next(&state) % (uint64_t)n) * 1000, TARE_NO_TIME);
		int width = widths[next(&state) % WIDTHS];
		enum terminal_style style = (enum terminal_style)(next(&state) % 3);
		const char *text = draw(&target, TERMINAL_PLOT_TIME, width, style);
		bool full, lost_full;
		uint64_t stalls_told = row_sum(text, "stalls", '!', &full), lost_told = row_sum(text, "lost", 'x', &lost_full);
		OK(full ? stalls_told <= stalls : stalls_told == stalls, "%llu stalls of %lld in a row of %d columns",
			(unsigned long long)stalls, (long long)n, width);
		/* beyond the marks that are kept, losses are told by column */
		OK(lost_full ? lost_told <= lost : lost_told == lost, "%llu losses beside them", (unsigned long long)lost);
		int limit = width < TERMINAL_WIDTH_LEAST ? TERMINAL_WIDTH_LEAST : width > TERMINAL_WIDTH_MOST ? TERMINAL_WIDTH_MOST : width;
		OK(widest(text) <= limit, "no line is wider than %d", limit);
		unmake(&target);
	}
}

static void test_marks(void)
{
	struct plot_target target;
	size_t line;
	make(&target, 1000);
	for (int64_t i = 2; i < 1000; i++)
		add_value(&target, i * 1000, 4000);
	add_mark(&target, PLOT_FIRST, 0, 90000);
	OK(marks_in_picture(draw(&target, TERMINAL_PLOT_TIME, 80, TERMINAL_BRAILLE), 'o', &line) == 1, "a first request is a mark");
	add_mark(&target, PLOT_STALL, 0, 90000);
	const char *text = draw(&target, TERMINAL_PLOT_TIME, 80, TERMINAL_BRAILLE);
	OK(marks_in_picture(text, '!', &line) == 1 && marks_in_picture(text, 'o', &line) == 0, "a stall is not covered by it");
	target.url = "udp://h\033[2J\u202e\u65e5";
	for (const char *at = text = draw(&target, TERMINAL_PLOT_TIME, 80, TERMINAL_ASCII); *at; at++)
		if ((*at < ' ' && *at != '\n') || (unsigned char)*at > 0x7e)
			text = NULL;
	OK(text, "ASCII is ASCII, whatever a target is called");
	unmake(&target);
	make(&target, 10);
	OK(strstr(draw(&target, TERMINAL_PLOT_TIME, 80, TERMINAL_ASCII), "nothing was answered"), "nothing to plot is said");
	unmake(&target);
}

static void test_axis(void)
{
	uint64_t state = 11;
	bool fine = true, ticks_fine = true;
	printf("# seed %llu\n", (unsigned long long)state);
	for (int i = 0; i < 2000; i++) {
		int64_t low = (int64_t)(next(&state) >> (1 + next(&state) % 62)), high = (int64_t)(next(&state) >> (1 + next(&state) % 62));
		struct log_axis axis = log_axis_of(low, high, 10 + next(&state) % 100);
		int64_t ticks[AXIS_TICKS_MAX], middle = axis.low_ns + (axis.high_ns - axis.low_ns) / 2;
		fine &= log_axis_dot(&axis, axis.high_ns) == axis.dots - 1 && log_axis_dot(&axis, axis.low_ns) == 0 &&
			log_axis_dot(&axis, middle) < axis.dots && axis.low_ns < axis.high_ns && axis.low_ns <= (low < 1 ? 1 : low);
		size_t count = log_axis_ticks(&axis, 4, ticks);
		for (size_t k = 0; k + 1 < count; k++)
			ticks_fine &= log_axis_dot(&axis, ticks[k + 1]) >= log_axis_dot(&axis, ticks[k]) + 4;
	}
	OK(fine, "an axis begins and ends at the ends of what is shown");
	OK(ticks_fine, "ticks rise and keep their distance");
	IS_I64(round_step(95, 10), 10, "a step of ten");
	IS_I64(round_step(100000000, 6), 20000000, "a step of two");
	IS_I64(round_step(0, 6), 1, "a step at least");
	OK(round_step(INT64_MAX, 1) > INT64_MAX / 10, "of the largest range there is");
}

int main(void)
{
	test_axis();
	test_marks();
	test_counts();
	test_one_in_ten_million();
	free(drawn);
	return tap_done();
}
