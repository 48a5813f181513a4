/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bounded text, foreign text in messages, how times and rates are printed, suggestions. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "tap.h"

static void bounded(void)
{
	char bytes[8];
	struct text text = TEXT_IN(bytes);
	text_add(&text, "%d-%s", 12, "ab");
	IS_STR(bytes, "12-ab", "text is added");
	OK(!text.cut && text.used == 5, "and fits");
	text_add(&text, "cdef");
	IS_STR(bytes, "12-abcd", "what does not fit is cut");
	OK(text.cut && text.used == 7, "and said to be cut");
	text_add(&text, "x");
	IS_STR(bytes, "12-abcd", "a full text stays as it is");

	char small[5];
	struct text letters = TEXT_IN(small);
	text_add(&letters, "aµµµ");
	IS_STR(small, "aµ", "no character is cut in two (2 bytes)");
	struct text ellipsis = TEXT_IN(small);
	text_add(&ellipsis, "ab…");
	IS_STR(small, "ab", "no character is cut in two (3 bytes)");
	struct text exact = TEXT_IN(small);
	text_add(&exact, "a…b");
	IS_STR(small, "a…", "a character that just fits is kept");
	struct text none = {.bytes = small, .room = 0};
	text_add(&none, "x");
	OK(none.cut && none.used == 0, "no room at all is no crash");
	struct text one = {.bytes = small, .room = 1};
	text_add(&one, "…");
	OK(one.cut && small[0] == '\0', "room for the terminator alone");
}

static void is_quoted(const char *foreign, const char *want, const char *name)
{
	char bytes[128];
	struct text text = TEXT_IN(bytes);
	text_add_quoted(&text, foreign);
	IS_STR(bytes, want, name);
}

/* in pieces, since C17 still knows trigraphs */
#define NINE_MARKS                                                                                                     \
	"?"                                                                                                            \
	"?"                                                                                                            \
	"?"                                                                                                            \
	"?"                                                                                                            \
	"?"                                                                                                            \
	"?"                                                                                                            \
	"?"                                                                                                            \
	"?"                                                                                                            \
	"?"

static void quoted(void)
{
	is_quoted("10us", "'10us'", "plain text");
	is_quoted("10 µs", "'10 µs'", "UTF-8 stays");
	is_quoted("a\x1b[31m\n\x7f",
		"'a?[31m?"
		"?'",
		"control characters do not reach a terminal");
	is_quoted("\xc2\x9b"
		  "31m",
		"'?31m'", "nor does the one-character CSI");
	is_quoted("\xff\xc3(\xe2\x82",
		"'?"
		"?(?"
		"?'",
		"bytes that are no UTF-8");
	is_quoted("\xc0\xaf\xed\xa0\x80\xf4\x90\x80\x80", "'" NINE_MARKS "'", "overlong, surrogate, beyond Unicode");
	char lengthy[70], want[80] = "'";
	memset(lengthy, 'x', sizeof(lengthy) - 1);
	lengthy[sizeof(lengthy) - 1] = '\0';
	memset(want + 1, 'x', 64);
	memcpy(want + 65, "…'", sizeof("…'"));
	is_quoted(lengthy, want, "long text is shown in part");
	lengthy[64] = '\0';
	memcpy(want + 65, "'", sizeof("'"));
	is_quoted(lengthy, want, "64 bytes are shown whole");
}

static void durations(void)
{
	static const struct {
		int64_t ns;
		const char *want;
	} table[] = {
		{0, "0 ns"},
		{1, "1 ns"},
		{999, "999 ns"},
		{1000, "1 µs"},
		{1001, "1.001 µs"},
		{12345, "12.35 µs"},
		{454000, "454 µs"},
		{454300, "454.3 µs"},
		{999949, "999.9 µs"},
		{999950, "1 ms"},
		{1548860, "1.549 ms"},
		{9999600, "10 ms"},
		{100000000, "100 ms"},
		{10000000000, "10 s"},
		{65000000000, "65 s"},
		{599900000000, "599.9 s"},
		{599960000000, "10 min"},
		{600000000000, "10 min"},
		{5400000000000, "90 min"},
		{36000000000000, "10 h"},
		{-454000, "-454 µs"},
		{-1, "-1 ns"},
		{INT64_MAX, "2562048 h"},
		{INT64_MIN, "-2562048 h"},
	};
	char got[32];
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		format_duration(table[i].ns, got, sizeof(got));
		IS_STR(got, table[i].want, table[i].want);
	}
	format_duration(1548860, got, 4);
	IS_STR(got, "1.5", "a small room is respected");
}

/* What is printed reads back to within half a unit of the fourth digit, and then prints the same. */
static void durations_read_back(void)
{
	uint64_t state = 20240607;
	printf("# seed %" PRIu64 "\n", state);
	int wrong = 0;
	for (int i = 0; i < 20000; i++) {
		state = state * 6364136223846793005U + 1442695040888963407U;
		int64_t ns = (int64_t)(state >> 1 >> (state >> 58)), back = 0;
		char text[32], again[32];
		format_duration(ns, text, sizeof(text));
		if (parse_duration_ns(text, &back, NULL) < 0) {
			/* rounded up past the largest whole hour */
			wrong += ns < 9223369200000000000;
			continue;
		}
		format_duration(back, again, sizeof(again));
		double error = fabs((double)(back - ns));
		if (error > 0.0005 * (double)ns || strcmp(text, again) != 0) {
			printf("# %" PRId64 " prints '%s', reads back as %" PRId64 " '%s'\n", ns, text, back, again);
			wrong++;
		}
	}
	IS_I64(wrong, 0, "20000 durations read back");
}

static void rates(void)
{
	static const struct {
		double per_second;
		const char *want;
	} table[] = {
		{0, "0/s"},
		{1, "1/s"},
		{1000, "1k/s"},
		{50000, "50k/s"},
		{2500, "2.5k/s"},
		{2e6, "2M/s"},
		{1e9, "1G/s"},
		{999.96, "1k/s"},
		{999.94, "999.9/s"},
		{1.0 / 6, "10/min"},
		{6.0 / 3600, "6/h"},
		{0.99995, "1/s"},
		{-1, "?"},
		{(double)NAN, "?"},
		{(double)INFINITY, "?"},
	};
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		char got[32];
		format_rate(table[i].per_second, got, sizeof(got));
		IS_STR(got, table[i].want, table[i].want);
	}
}

static void nearest(void)
{
	static const char *const words[] = {"every", "count", "spin", "rounds", "cpu", "jitter", "timeout", NULL};
	static const struct {
		const char *word, *want;
	} table[] = {
		{"evry", "every"},
		{"evrey", "every"},
		{"EVERY", "every"},
		{"cout", "count"},
		{"round", "rounds"},
		{"cpus", "cpu"},
		{"pcu", "cpu"},
		{"jitters", "jitter"},
		{"tiemout", "timeout"},
	};
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		IS_STR(nearest_word(table[i].word, words), table[i].want, table[i].word);
	OK(!nearest_word("output", words), "nothing near 'output'");
	OK(!nearest_word("", words), "nothing near the empty word");
	OK(!nearest_word("x", (const char *const[]){"y", NULL}), "one letter is not near another");
	OK(!nearest_word("every", (const char *const[]){NULL}), "no words");
	IS_STR(nearest_word("bat", (const char *const[]){"cat", "bad", NULL}), "bad",
		"among equals the same start wins");
	char lengthy[200];
	memset(lengthy, 'e', sizeof(lengthy) - 1);
	lengthy[sizeof(lengthy) - 1] = '\0';
	OK(!nearest_word(lengthy, words), "a very long word has no near one");
	const char *const long_words[] = {lengthy, "every", NULL};
	IS_STR(nearest_word("evry", long_words), "every", "a very long candidate is passed over");
}

int main(void)
{
	bounded();
	quoted();
	durations();
	durations_read_back();
	rates();
	nearest();
	return tap_done();
}
