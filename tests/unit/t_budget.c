/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of a response: what folds where, windows of ranks, sums that stay exact, the sentence. */
#include "tare/budget.h"

#include <stdlib.h>

#include "tap.h"

enum { MOST = 20000 };

static int64_t at[TARE_STAGE_COUNT][MOST];
static int64_t given[MOST];
static uint8_t fate[MOST];
static struct tare_series series;
static struct tare_budget budget, other;
static struct tare_err err;

static void with(enum tare_stage stage)
{
	series.at_ns[stage] = at[stage];
}

static void without(enum tare_stage stage)
{
	series.at_ns[stage] = NULL;
}

/* Request i begins at i ms; its parts are 1, 20, 300, 4000, 50000, 600000, 7, 80 ns, the path in two halves. */
static const int64_t usual[TARE_PART_COUNT] = {1, 20, 300, 4000, 50000, 600000, 7, 80};

static void put(size_t i, const int64_t parts[TARE_PART_COUNT])
{
	static const struct {
		enum tare_stage stage;
		enum tare_part before;
	} steps[] = {{TARE_STAGE_USER_TX, TARE_PART_LATE}, {TARE_STAGE_KERNEL_TX, TARE_PART_TX},
		{TARE_STAGE_NIC_TX, TARE_PART_TX_NIC}};
	int64_t now = at[TARE_STAGE_DUE][i] = (int64_t)i * 1000000;
	for (size_t step = 0; step < 3; step++)
		now = at[steps[step].stage][i] = now + parts[steps[step].before];
	/* the peer's clock is another one */
	at[TARE_STAGE_PEER_RX][i] = -77777777 + (int64_t)i * 999000;
	at[TARE_STAGE_PEER_USER][i] = at[TARE_STAGE_PEER_RX][i] + parts[TARE_PART_PEER_WAKE];
	at[TARE_STAGE_PEER_TX][i] = at[TARE_STAGE_PEER_USER][i] + parts[TARE_PART_SERVICE];
	now += parts[TARE_PART_PATH] + parts[TARE_PART_PEER_WAKE] + parts[TARE_PART_SERVICE];
	at[TARE_STAGE_NIC_RX][i] = now;
	now = at[TARE_STAGE_KERNEL_RX][i] = now + parts[TARE_PART_RX_NIC];
	at[TARE_STAGE_USER_RX][i] = now + parts[TARE_PART_WAKE];
	fate[i] = TARE_ANSWERED;
}

static void make(size_t count)
{
	series = (struct tare_series){.count = count, .fate = fate};
	for (int stage = 0; stage < TARE_STAGE_COUNT; stage++)
		with((enum tare_stage)stage);
	for (size_t i = 0; i < count; i++)
		put(i, usual);
}

static int64_t sum_of(const int64_t parts[TARE_PART_COUNT])
{
	int64_t sum = 0;
	for (int part = 0; part < TARE_PART_COUNT; part++)
		sum += parts[part];
	return sum;
}

static void is_parts(const int64_t *got, const int64_t *want, const char *name)
{
	char text[300];
	size_t used = 0;
	bool same = true;
	for (int part = 0; part < TARE_PART_COUNT; part++) {
		same &= got[part] == want[part];
		used += (size_t)snprintf(text + used, sizeof(text) - used, " %" PRId64, got[part]);
	}
	if (!OK(same, "%s", name))
		printf("# got%s\n", text);
}

/* Parts of request 0 against what is expected; their sum against the whole. */
static void folds(int64_t *want, unsigned observed, const char *name)
{
	int64_t parts[TARE_PART_COUNT];
	enum tare_span whole = tare_budget_whole(&series);
	IS_I64(tare_budget_parts(&series, whole, 0, parts), observed, name);
	is_parts(parts, want, name);
	IS_I64(sum_of(parts), tare_span_of(&series, whole, 0), "the parts sum to the whole");
}

#define BIT(part) (1u << TARE_PART_##part)

static void check_folding(void)
{
	unsigned all = (1u << TARE_PART_COUNT) - 1;
	make(1);
	folds((int64_t[]){1, 20, 300, 4000, 50000, 600000, 7, 80}, all, "every stage");
	OK(tare_budget_whole(&series) == TARE_SPAN_RESPONSE, "the whole is the response");
	without(TARE_STAGE_NIC_TX);
	without(TARE_STAGE_NIC_RX);
	folds((int64_t[]){1, 20, 0, 4307, 50000, 600000, 0, 80}, all & ~(BIT(TX_NIC) | BIT(RX_NIC)), "no card");
	without(TARE_STAGE_PEER_USER);
	folds((int64_t[]){1, 20, 0, 4307, 0, 650000, 0, 80},
		BIT(LATE) | BIT(TX) | BIT(PATH) | BIT(SERVICE) | BIT(WAKE) | TARE_PART_RESIDENCE,
		"a responder that tells two times: its residence");
	without(TARE_STAGE_PEER_RX);
	without(TARE_STAGE_PEER_TX);
	folds((int64_t[]){1, 20, 0, 654307, 0, 0, 0, 80}, BIT(LATE) | BIT(TX) | BIT(PATH) | BIT(WAKE),
		"no word of the peer");
	without(TARE_STAGE_KERNEL_TX);
	folds((int64_t[]){1, 0, 0, 654327, 0, 0, 0, 80}, BIT(LATE) | BIT(PATH) | BIT(WAKE), "no transmit stamp");
	without(TARE_STAGE_KERNEL_RX);
	folds((int64_t[]){1, 0, 0, 654407, 0, 0, 0, 0}, BIT(LATE) | BIT(PATH), "user stamps alone");
	make(1);
	without(TARE_STAGE_KERNEL_TX);
	without(TARE_STAGE_KERNEL_RX);
	folds((int64_t[]){1, 0, 320, 4000, 50000, 600000, 87, 0}, all & ~(BIT(TX) | BIT(WAKE)),
		"the card without the driver: kernel folds into the card's part");
	at[TARE_STAGE_NIC_RX][0] = TARE_NO_TIME;
	folds((int64_t[]){1, 0, 320, 4087, 50000, 600000, 0, 0}, all & ~(BIT(TX) | BIT(WAKE) | BIT(RX_NIC)),
		"one stamp of one request missing");
}

static void check_wholes(void)
{
	int64_t parts[TARE_PART_COUNT];
	make(1);
	without(TARE_STAGE_DUE);
	folds((int64_t[]){0, 20, 300, 4000, 50000, 600000, 7, 80}, ((1u << TARE_PART_COUNT) - 1) & ~BIT(LATE),
		"no schedule: the whole is the round trip");
	without(TARE_STAGE_USER_RX);
	OK(tare_budget_whole(&series) == TARE_SPAN_STACK, "a capture at the kernel's place");
	folds((int64_t[]){0, 0, 300, 4000, 50000, 600000, 7, 0},
		((1u << TARE_PART_COUNT) - 1) & ~(BIT(LATE) | BIT(TX) | BIT(WAKE)), "of the stack");
	without(TARE_STAGE_KERNEL_TX);
	folds((int64_t[]){0, 0, 0, 4000, 50000, 600000, 0, 0}, BIT(PATH) | BIT(PEER_WAKE) | BIT(SERVICE),
		"of the wire");
	without(TARE_STAGE_NIC_TX);
	OK(tare_budget_whole(&series) == TARE_SPAN_COUNT, "no two ends: no whole");
	IS_I64(tare_budget_parts(&series, TARE_SPAN_COUNT, 0, parts), -1, "and no parts");
	make(1);
	series.given_ns[TARE_SPAN_RESPONSE] = given;
	OK(tare_budget_whole(&series) == TARE_SPAN_RTT, "a whole that a source states has no parts by stages");
	make(1);
	at[TARE_STAGE_DUE][0] = INT64_MIN + 1;
	IS_I64(tare_budget_parts(&series, TARE_SPAN_RESPONSE, 0, parts), -1, "numbers that do not fit");
	at[TARE_STAGE_DUE][0] = TARE_NO_TIME;
	IS_I64(tare_budget_parts(&series, TARE_SPAN_RESPONSE, 0, parts), -1, "an end that was not observed");
}

static void budget_of(size_t first)
{
	struct tare_budget_rules rules;
	tare_budget_rules_default(&rules);
	rules.first = first;
	OK(tare_budget_of(&series, 3, &rules, &budget, &err) == 0, "a budget is made");
}

/* Wholes 1 to 10000 ns in a shuffled order, all of them wake, but above 9900 half of it is service. */
static void make_ramp(size_t first)
{
	make(10000 + first);
	for (size_t i = 0; i < series.count; i++) {
		int64_t rank = i < first ? 99999999 : (int64_t)((i - first) * 7919 % 10000) + 1;
		int64_t parts[TARE_PART_COUNT] = {0};
		parts[TARE_PART_SERVICE] = rank > 9900 ? rank / 2 : 0;
		parts[TARE_PART_WAKE] = rank - parts[TARE_PART_SERVICE];
		put(i, parts);
	}
}

static void check_windows(void)
{
	int64_t parts[TARE_PART_COUNT];
	make_ramp(2);
	budget_of(2);
	const struct tare_budget_row *p50 = &budget.row[0], *p99 = &budget.row[1], *p999 = &budget.row[2];
	IS_I64(budget.n, 10000, "the warm-up is left out");
	IS_I64(p50->ranked.value_ns, 5000, "p50");
	IS_I64(p50->requests, 1001, "ranks 4500 to 5500");
	IS_I64(p50->whole_ns, 5000 * 1001, "their sum");
	IS_I64(p50->part_ns[TARE_PART_WAKE], 5000 * 1001, "all of it wake");
	IS_I64(p99->requests, 21, "p99: ranks 9890 to 9910");
	IS_I64(p99->part_ns[TARE_PART_SERVICE], 4950 + 2 * (4951 + 4952 + 4953 + 4954) + 4955,
		"half of ten of them is service");
	IS_I64(p99->whole_ns, 9900 * 21, "the sum of the wholes");
	IS_I64(p999->requests, 3, "p99.9: ranks 9989 to 9991");
	OK(p999->ranked.grade == TARE_GRADE_THIN, "10 behind it: thin");
	IS_I64(tare_budget_means(p999, parts), 9990, "mean");
	is_parts(parts, (int64_t[]){0, 0, 0, 0, 0, 4995, 0, 4995}, "means of the parts");
	IS_I64(budget.slow_count, 10, "the ten slowest");
	for (size_t i = 0; i < budget.slow_count; i++) {
		if (budget.slow[i].whole_ns != 10000 - (int64_t)i ||
			sum_of(budget.slow[i].part_ns) != 10000 - (int64_t)i)
			OK(false, "slow %zu is %" PRId64, i, budget.slow[i].whole_ns);
	}
	IS_I64((budget.slow[0].sequence - 2) * 7919 % 10000, 9999, "by its place in the series");
	IS_I64(budget.slow[0].round, 3, "and the round");
}

static void check_ties(void)
{
	make(1000);
	for (size_t i = 0; i < 1000; i++) {
		int64_t parts[TARE_PART_COUNT] = {0};
		parts[TARE_PART_LATE] = (int64_t)i;
		parts[TARE_PART_PATH] = 5000 - (int64_t)i;
		put(i, parts);
	}
	budget_of(0);
	IS_I64(budget.row[0].requests, 101, "equal wholes: ranks 450 to 550");
	IS_I64(budget.row[0].part_ns[TARE_PART_LATE], 101 * 499, "are those of the series in its order");
	OK(budget.slow[0].sequence == 0 && budget.slow[9].sequence == 9, "of equal ones the earlier");
	for (size_t i = 0; i < 500; i++)
		at[TARE_STAGE_USER_RX][i]--;
	budget_of(0);
	IS_I64(budget.row[0].whole_ns, 51 * 4999 + 50 * 5000, "a border inside the window");
	IS_I64(budget.row[0].part_ns[TARE_PART_LATE], 101 * 499, "the same requests");
}

static void check_counted(void)
{
	make(1000);
	fate[10] = TARE_LOST;
	fate[11] = TARE_OVERDUE;
	fate[12] = TARE_ERROR;
	at[TARE_STAGE_USER_RX][13] = TARE_NO_TIME;
	at[TARE_STAGE_KERNEL_TX][500] = TARE_NO_TIME;
	budget_of(0);
	IS_I64(budget.n, 997, "answered and overdue count");
	IS_I64(budget.row[0].requests, 99, "ranks 450 to 548");
	IS_I64(budget.row[0].observed[TARE_PART_TX], 98, "one of them without a transmit stamp");
	IS_I64(budget.row[0].observed[TARE_PART_LATE], 99, "the others had all");
	IS_I64(budget.row[0].part_ns[TARE_PART_TX_NIC], 98 * 300 + 320, "its part lies in the next one");
	IS_I64(sum_of(budget.row[0].part_ns), budget.row[0].whole_ns, "and the sum holds");
	IS_I64(budget.row[2].ranked.grade, TARE_GRADE_NONE, "p99.9 of 997 has nothing behind it");
	IS_I64(budget.row[2].requests, 0, "and no requests");
	int64_t parts[TARE_PART_COUNT];
	IS_I64(tare_budget_means(&budget.row[2], parts), TARE_NO_TIME, "no mean");
	make(0);
	budget_of(0);
	IS_I64(budget.n, 0, "an empty series");
	make(1);
	budget_of(1);
	IS_I64(budget.n, 0, "nothing behind the warm-up");
	budget_of(0);
	IS_I64(budget.slow_count, 1, "a single request is the slowest");
}

static void check_rounding(void)
{
	struct tare_budget_row row = {.requests = 3, .whole_ns = 10, .part_ns = {-1, 5, 1, 1, 1, 1, 1, 1}};
	int64_t parts[TARE_PART_COUNT];
	IS_I64(tare_budget_means(&row, parts), 3, "10 / 3");
	is_parts(parts, (int64_t[]){0, 2, 1, 0, 0, 0, 0, 0}, "what rounding left over goes where most was lost");
	row = (struct tare_budget_row){.requests = 2, .whole_ns = -3, .part_ns = {-3}};
	IS_I64(tare_budget_means(&row, parts), -1, "half up");
	is_parts(parts, (int64_t[TARE_PART_COUNT]){-1}, "negative as well");
	srand(20260501);
	bool exact = true;
	for (int i = 0; i < 20000; i++) {
		row = (struct tare_budget_row){.requests = (uint64_t)(rand() % 5000 + 1)};
		for (int part = 0; part < TARE_PART_COUNT; part++)
			row.whole_ns += row.part_ns[part] = rand() % 3 ? rand() - 1000 : 0;
		exact &= tare_budget_means(&row, parts) == sum_of(parts);
	}
	OK(exact, "20000 random rows: parts sum to the mean (seed 20260501)");
}

static void check_adding(void)
{
	char text[400];
	make_ramp(0);
	budget_of(0);
	other = budget;
	OK(tare_budget_add(&budget, &other, &err) == 0, "two rounds");
	IS_I64(budget.rounds, 2, "rounds");
	IS_I64(budget.n, 20000, "n");
	IS_I64(budget.row[1].requests, 42, "windows are pooled");
	IS_I64(budget.row[1].whole_ns, 2 * 9900 * 21, "and their sums");
	IS_I64(budget.row[1].ranked.value_ns, TARE_NO_TIME, "no single request is the percentile of both");
	OK(budget.slow[0].whole_ns == 10000 && budget.slow[1].whole_ns == 10000 && budget.slow[9].whole_ns == 9996,
		"the slowest of both");
	struct tare_budget none = {.n = 0, .whole = TARE_SPAN_COUNT};
	OK(tare_budget_add(&budget, &none, &err) == 0 && budget.rounds == 2, "a round without any adds nothing");
	OK(tare_budget_add(&none, &budget, &err) == 0 && none.n == 20000, "and takes what is added");
	other.whole = TARE_SPAN_RTT;
	IS_I64(tare_budget_add(&budget, &other, &err), -1, "another whole is refused");
	IS_STR(err.text, "parts of 'response' and of 'rtt' do not add up", "with the reason");
	tare_budget_sentence(&budget, 0, 2, text, sizeof(text));
	IS_STR(text, "most of p99.9 - p50 is the responder's service (4.995 µs of 4.99 µs)",
		"a part may grow by a little more");
}

/* The last hundred requests have `more` than the usual parts. */
static void sentence_of(const int64_t more[TARE_PART_COUNT], const char *want, const char *name)
{
	char text[400];
	for (size_t i = 9900; i < 10000; i++) {
		int64_t parts[TARE_PART_COUNT];
		for (int part = 0; part < TARE_PART_COUNT; part++)
			parts[part] = usual[part] + more[part];
		put(i, parts);
	}
	budget_of(0);
	tare_budget_sentence(&budget, 0, 2, text, sizeof(text));
	IS_STR(text, want, name);
}

static void check_sentences(void)
{
	char text[400];
	make(10000);
	sentence_of((int64_t[]){0, 0, 0, 2900, 14200, 0, 0, 0},
		"most of p99.9 - p50 is the responder's wake-up (14.2 µs of 17.1 µs)", "one part holds most");
	sentence_of((int64_t[]){6000, 0, 0, 0, 5000, 5000, 0, 0},
		"no part holds most of p99.9 - p50 (16 µs): our own lateness 6 µs, the responder's wake-up 5 µs",
		"none does");
	sentence_of((int64_t[]){0, 0, 0, 5000, 0, -1000, 0, 0},
		"p99.9 - p50 (4 µs) is the path: 5 µs, while the other parts took 1 µs less",
		"or by much more than the whole");
	sentence_of((int64_t[TARE_PART_COUNT]){0}, "p99.9 - p50 is 0 ns: nothing to explain", "no difference");
	without(TARE_STAGE_PEER_RX);
	sentence_of((int64_t[]){0, 0, 0, 0, 0, 3000, 0, 0},
		"most of p99.9 - p50 is the responder's service (3 µs of 3 µs)",
		"a responder that tells of its process only");
	without(TARE_STAGE_PEER_USER);
	sentence_of((int64_t[]){0, 0, 0, 0, 0, 3000, 0, 0},
		"most of p99.9 - p50 is the path with the responder's host (3 µs of 3 µs)",
		"a responder that tells nothing");
	without(TARE_STAGE_NIC_RX);
	without(TARE_STAGE_KERNEL_RX);
	sentence_of((int64_t[]){0, 0, 0, 0, 0, 3000, 0, 0},
		"most of p99.9 - p50 is the path with the responder's host and our receiving side (3 µs of 3 µs)",
		"and no receive stamps");
	without(TARE_STAGE_NIC_TX);
	without(TARE_STAGE_KERNEL_TX);
	sentence_of((int64_t[]){0, 0, 0, 0, 0, 3000, 0, 0},
		"most of p99.9 - p50 is the undivided time between send and receive call (3 µs of 3 µs)", "nor any");
	with(TARE_STAGE_PEER_RX);
	sentence_of((int64_t[]){0, 0, 0, 0, 0, 3000, 0, 0},
		"most of p99.9 - p50 is the responder's host (3 µs of 3 µs)", "two times of the responder");
	tare_part_words(&budget, 2, TARE_PART_PATH, text, sizeof(text));
	IS_STR(text, "the path with our sending side and our receiving side", "the path between");
	tare_budget_sentence(&budget, 0, 7, text, sizeof(text));
	IS_STR(text, "", "no such row, no sentence");
}

static void check_hostile(void)
{
	struct tare_budget_rules rules;
	make(100);
	for (size_t i = 0; i < 100; i++) {
		at[TARE_STAGE_USER_RX][i] = INT64_MAX - 1;
		at[TARE_STAGE_DUE][i] = 0;
	}
	tare_budget_rules_default(&rules);
	IS_I64(tare_budget_of(&series, 1, &rules, &budget, &err), -1, "times too large to be summed");
	OK(err.code == TARE_E_FORMAT, "are the file's fault");
}

int main(void)
{
	check_folding();
	check_wholes();
	check_windows();
	check_ties();
	check_counted();
	check_rounding();
	check_adding();
	check_sentences();
	check_hostile();
	return tap_done();
}
