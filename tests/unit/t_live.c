/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A round while it runs: what it says so far is exact, and a frame keeps within its terminal. */
#include "report/live/live_view.h"

#include <stdlib.h>
#include <string.h>

#include "report/utf8.h"
#include "tap.h"
#include "tare/sample.h"

static char *frame;
static struct tare_err err;

static const char *draw(struct live_view *view, int width, size_t lines, enum terminal_style style)
{
	size_t bytes;
	const struct terminal terminal = {.width = width, .style = style};
	const struct live_state state = {.sent = 12, .answered = 11, .left_ns = 3000000000, .hint = "q ends it"};
	free(frame);
	FILE *out = open_memstream(&frame, &bytes);
	int failed = live_view_draw(out, view, &state, &terminal, lines, &err);
	fclose(out);
	return failed ? "failed" : frame;
}

static bool fits(const char *text, int width, size_t lines)
{
	size_t count = 0;
	for (; *text; count++) {
		char line[2000];
		size_t length = strcspn(text, "\n");
		snprintf(line, sizeof(line), "%.*s", (int)length, text);
		if (utf8_columns(line) > width)
			return false;
		text += length + (text[length] == '\n');
	}
	return count <= lines;
}

/* The figures of a row, blanks as they come. */
static bool has_row(const char *text, const char *name, const char *figures)
{
	char wanted[200], seen[400] = "";
	snprintf(wanted, sizeof(wanted), "\n%s ", name);
	const char *row = strstr(text, wanted);
	size_t used = 0;
	for (row = row ? row + 1 : ""; *row && *row != '\n' && used + 2 < sizeof(seen); row++)
		if (*row != ' ' || (used && seen[used - 1] != ' '))
			seen[used++] = *row;
	snprintf(wanted, sizeof(wanted), "%s %s", name + strspn(name, " "), figures);
	seen[used] = 0;
	if (strcmp(seen, wanted) != 0)
		printf("# '%s' is not '%s'\n", seen, wanted);
	return strcmp(seen, wanted) == 0;
}

static void add(struct live_view *view, uint64_t from, uint64_t to, int64_t rtt_ns, uint8_t fate)
{
	for (uint64_t i = from; i < to; i++) {
		struct live_request request = {.sequence = i,
			.at_ns = (int64_t)i * 1000000,
			.late_ns = 50,
			.rtt_ns = fate == TARE_ANSWERED ? rtt_ns : TARE_NO_TIME,
			.fate = fate};
		if (fate == TARE_NOT_SENT)
			request.late_ns = TARE_NO_TIME;
		if (live_view_add(view, 0, &request, 1, &err))
			printf("Bail out! %s\n", err.text);
	}
}

static void test_figures(void)
{
	const char *urls[] = {"udp://10.0.0.2:7"};
	struct live_view *view;
	OK(live_view_open(urls, 1, &view, &err) == 0 && live_view_round(view, 2, 8, 10000000000, 2, &err) == 0, "a view opens");
	OK(strstr(draw(view, 80, 30, TERMINAL_ASCII), "no answer yet"), "before the first answer it says so");
	add(view, 0, 2, 90000, TARE_ANSWERED);
	add(view, 2, 1002, 4000, TARE_ANSWERED);
	add(view, 1002, 1003, 1548860, TARE_ANSWERED);
	add(view, 1003, 1006, 0, TARE_LOST);
	add(view, 1006, 1007, 0, TARE_NOT_SENT);
	const char *text = draw(view, 100, 40, TERMINAL_ASCII);
	OK(strstr(text, "round 2 of 8") && strstr(text, "3 s left"), "round and time are told");
	OK(has_row(text, "rtt", "3 1 4.00 4.00 4.00 4.00 4.00? 1548.86"), "the warm-up is kept apart, the rest is exact");
	OK(has_row(text, " late", "0.05 0.05 0.05 0.05 0.05? 0.05"), "lateness beside it, of all that left");
	OK(strstr(text, "1003 values of 1007 requests: 1000 in dots, 1 stall (!), 2 first"), "and the strip adds up");
	OK(strstr(text, "\n  stalls  ") && strchr(strstr(text, "\n  stalls  "), '!'), "a stall in its row");
	add(view, 1007, 30000, 4000, TARE_ANSWERED);
	add(view, 30000, 30001, 50000, TARE_ANSWERED);
	OK(strstr(draw(view, 100, 40, TERMINAL_ASCII), "2 stalls"), "also much later, when the strip has been rescaled");
	OK(live_view_round(view, 3, 8, 10000000000, 2, &err) == 0 && strstr(draw(view, 80, 30, TERMINAL_ASCII), "no answer yet"),
		"the next round knows nothing of it");
	live_view_free(view);
}

static void test_sizes(void)
{
	const char *urls[20];
	struct live_view *view;
	bool fine = true;
	for (size_t i = 0; i < 20; i++)
		urls[i] = "udp://a-name-that-is-longer-than-one-would-like.example.com:7000";
	for (size_t targets = 1; targets <= 20; targets += 6) {
		if (live_view_open(urls, targets, &view, &err) || live_view_round(view, 1, 1, 1000000000, 2, &err))
			return;
		add(view, 0, 500, 4000, TARE_ANSWERED);
		for (int width = 40; width < 150; width += 13)
			for (size_t lines = 1; lines < 70; lines += 4)
				for (int style = TERMINAL_BRAILLE; style <= TERMINAL_ASCII; style++)
					fine &= fits(draw(view, width, lines, (enum terminal_style)style), width, lines);
		live_view_free(view);
	}
	OK(fine, "frames keep within their terminal, with 1 to 20 targets");
}

int main(void)
{
	test_figures();
	test_sizes();
	free(frame);
	return tap_done();
}
