/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of `tare stat`: warm-up, fates, stalls, grades, merging over rounds and runs. */
#include "tare/stat.h"

#include <stdlib.h>

#include "tap.h"

enum { MOST = 10002 };

/* A round under construction: rtt and late per request, sent every millisecond. */
struct made {
	int64_t due[MOST], sent[MOST], received[MOST];
	uint8_t fate[MOST];
	struct tare_round round;
	struct tare_record record;
};

static const struct tare_run runs[] = {{.id = 1}, {.id = 2}};
static const struct tare_target targets[] = {{.url = "udp://a:7000", .kind = "udp"},
	{.url = "icmp://a", .kind = "icmp"}, {.url = "udp://a:7000", .kind = "udp"}};

static void make(struct made *made, size_t count, uint32_t number)
{
	for (size_t i = 0; i < count; i++) {
		made->due[i] = (int64_t)i * 1000000;
		made->sent[i] = made->due[i] + 10;
		made->received[i] = made->sent[i] + 4000 + (int64_t)i % 100;
		made->fate[i] = TARE_ANSWERED;
	}
	made->round = (struct tare_round){.number = number, .label = "", .warmup = 2, .interval_ns = 1000000};
	made->record =
		(struct tare_record){.run = &runs[0], .target = &targets[0], .round = &made->round, .resolution_ns = 1};
	made->record.series.count = count;
	made->record.series.fate = made->fate;
	made->record.series.at_ns[TARE_STAGE_DUE] = made->due;
	made->record.series.at_ns[TARE_STAGE_USER_TX] = made->sent;
	made->record.series.at_ns[TARE_STAGE_USER_RX] = made->received;
}

static void rtt(struct made *made, size_t i, int64_t rtt_ns)
{
	made->received[i] = made->sent[i] + rtt_ns;
}

static void fate(struct made *made, size_t i, enum tare_fate fate)
{
	made->fate[i] = (uint8_t)fate;
	if (fate != TARE_ANSWERED && fate != TARE_OVERDUE)
		made->received[i] = TARE_NO_TIME;
	if (fate == TARE_NOT_SENT)
		made->sent[i] = TARE_NO_TIME;
}

static struct tare_stat *stat_of(uint32_t mask, const struct tare_rules *rules)
{
	struct tare_stat *stat = NULL;
	struct tare_err err = {0};
	struct tare_rules usual;
	tare_rules_default(&usual);
	if (tare_stat_open(rules ? rules : &usual, mask, &stat, &err)) {
		printf("Bail out! %s\n", err.text);
		exit(1);
	}
	return stat;
}

static void add(struct tare_stat *stat, const char *file, const struct made *made)
{
	struct tare_err err = {0};
	if (tare_stat_add(stat, file, &made->record, &err)) {
		printf("Bail out! %s\n", err.text);
		exit(1);
	}
}

static size_t rows_of(struct tare_stat *stat, const struct tare_row **rows)
{
	size_t count = 0;
	struct tare_err err = {0};
	if (tare_stat_rows(stat, rows, &count, &err)) {
		printf("Bail out! %s\n", err.text);
		exit(1);
	}
	return count;
}

#define MASK(span) (UINT32_C(1) << TARE_SPAN_##span)

static void check_one_round(struct made *made)
{
	const struct tare_row *rows;
	make(made, 10002, 1);
	rtt(made, 0, 60000);
	rtt(made, 1, 20000);
	rtt(made, 10, 3000);
	rtt(made, 5000, 1548860);
	rtt(made, 5001, 40501); /* 10 x p50 = 40500 */
	fate(made, 7000, TARE_OVERDUE);
	rtt(made, 7000, 2000000000);
	fate(made, 7001, TARE_LOST);
	fate(made, 7002, TARE_ERROR);
	fate(made, 7003, TARE_NOT_SENT);
	fate(made, 10001, TARE_PENDING);
	made->record.beside = (struct tare_beside){.duplicate = 3, .reordered = 4, .foreign = 5};
	struct tare_stat *stat = stat_of(MASK(LATE) | MASK(WAKE) | MASK(RESPONSE), NULL);
	add(stat, "x.tare", made);
	IS_I64(rows_of(stat, &rows), 3, "rtt and the two spans that exist; one round is not merged");
	const struct tare_row *row = &rows[0];
	OK(row->span == TARE_SPAN_RTT && rows[1].span == TARE_SPAN_RESPONSE && rows[2].span == TARE_SPAN_LATE, "order");
	IS_STR(row->file, "x.tare", "file");
	IS_STR(row->target, "udp://a:7000", "target");
	OK(row->run == 1 && row->round == 1, "run and round");
	IS_I64(row->sent, 10001, "sent: all the kernel took, warm-up included");
	IS_I64(row->n, 9996, "n: answered or overdue after the warm-up");
	OK(row->lost == 1 && row->overdue == 1 && row->error == 1 && row->not_sent == 1 && row->pending == 1, "fates");
	OK(row->duplicate == 3 && row->reordered == 4 && row->foreign == 5, "beside");
	IS_I64(row->first_ns, 60000, "first request");
	IS_I64(row->second_ns, 20000, "second request");
	IS_I64(row->min_ns, 3000, "smallest");
	IS_I64(row->max_ns, 2000000000, "largest is the overdue one, with its time");
	IS_I64(row->ranked[0].value_ns, 4050, "p50");
	IS_I64(row->stall_limit_ns, 40500, "stall limit is 10 x p50");
	IS_I64(row->stalls, 3, "three stalls, the first two requests not among them");
	IS_I64(row->ranked[3].rank, 9987, "rank of p99.9");
	IS_I64(row->ranked[3].behind, 9, "9 behind");
	OK(row->ranked[3].grade == TARE_GRADE_WEAK, "which is weak");
	IS_I64(row->ranked[3].value_ns, 4099, "and still a value");
	IS_I64(row->pdv_ns, 1099, "PDV = p99.9 - min");
	IS_I64(row->ranked[4].value_ns, TARE_NO_TIME, "p99.99 has nothing behind and no value");
	IS_I64(rows[1].stall_limit_ns, 40500, "the same limit for response");
	IS_I64(rows[1].first_ns, 60010, "first response");
	IS_I64(rows[2].n, 9999, "late is known for every request sent");
	IS_I64(rows[2].stalls, 0, "no late stall");
	tare_stat_free(stat);
}

static void check_late_stall(struct made *made)
{
	const struct tare_row *rows;
	make(made, 1002, 1);
	made->sent[600] += 454000; /* held up before sending */
	made->received[600] += 454000;
	fate(made, 700, TARE_LOST);
	made->sent[700] += 500000;
	struct tare_stat *stat = stat_of(MASK(LATE) | MASK(RESPONSE), NULL);
	add(stat, NULL, made);
	rows_of(stat, &rows);
	IS_I64(rows[0].stalls, 0, "rtt does not see a sender held up");
	IS_I64(rows[1].stalls, 1, "response does");
	IS_I64(rows[2].stalls, 2, "late does, for the lost request too");
	IS_I64(rows[0].pdv_ns, TARE_NO_TIME, "n = 999: p99.9 has nothing behind, so there is no PDV");
	IS_I64(rows[2].pdv_ns, 454000, "n = 1000: one behind, so there is");
	tare_stat_free(stat);
}

static void check_small(struct made *made)
{
	const struct tare_row *rows;
	struct tare_rules rules;
	tare_rules_default(&rules);
	for (size_t count = 0; count < 4; count++) {
		make(made, count, 1);
		struct tare_stat *stat = stat_of(MASK(LATE), NULL);
		add(stat, NULL, made);
		IS_I64(rows_of(stat, &rows), count ? 2 : 1, "rtt is always there, late where it exists");
		IS_I64(rows[0].n, count < 2 ? 0 : count - 2, "n after a warm-up of 2");
		IS_I64(rows[0].first_ns, count > 0 ? 4000 : TARE_NO_TIME, "first");
		IS_I64(rows[0].second_ns, count > 1 ? 4001 : TARE_NO_TIME, "second");
		IS_I64(rows[0].min_ns, count > 2 ? 4002 : TARE_NO_TIME, "smallest");
		IS_I64(rows[0].max_ns, count > 2 ? 4002 : TARE_NO_TIME, "largest");
		IS_I64(rows[0].ranked[0].value_ns, TARE_NO_TIME, "nothing behind, no percentile");
		IS_I64(rows[0].pdv_ns, TARE_NO_TIME, "no PDV");
		IS_I64(rows[0].stall_limit_ns, count > 2 ? 40020 : TARE_NO_TIME, "limit only with a median");
		tare_stat_free(stat);
	}
	make(made, 100, 1);
	for (size_t i = 0; i < 100; i++)
		fate(made, i, TARE_LOST);
	struct tare_stat *stat = stat_of(MASK(LATE), NULL);
	add(stat, NULL, made);
	rows_of(stat, &rows);
	OK(rows[0].n == 0 && rows[0].lost == 100 && rows[0].stalls == 0, "all lost: n = 0, 100 lost");
	OK(rows[0].stall_limit_ns == TARE_NO_TIME && rows[0].min_ns == TARE_NO_TIME, "and no figure");
	IS_I64(rows[1].n, 98, "late still known");
	tare_stat_free(stat);

	make(made, 10, 1);
	rules.warmup = 0;
	rules.stall_limit_ns = 4004;
	rules.percentiles = 1;
	stat = stat_of(0, &rules);
	add(stat, NULL, made);
	rows_of(stat, &rows);
	IS_I64(rows[0].n, 10, "warm-up 0 keeps all");
	IS_I64(rows[0].stalls, 5, "an absolute limit");
	IS_I64(rows[0].ranked[0].value_ns, 4004, "p50 of ten is the fifth");
	tare_stat_free(stat);

	make(made, 20, 1);
	for (size_t i = 0; i < 20; i++)
		rtt(made, i, i < 15 ? 0 : 11000);
	made->record.resolution_ns = 1000;
	stat = stat_of(0, NULL);
	add(stat, NULL, made);
	rows_of(stat, &rows);
	IS_I64(rows[0].stall_limit_ns, 10000, "a median of 0 stands for one step of the display");
	IS_I64(rows[0].stalls, 5, "so not every value above 0 is a stall");
	tare_stat_free(stat);
}

/* 10 sent, 1 lost: p90 is rank 9, a value; p95 is rank 10, which was lost. */
static void check_over_sent(struct made *made)
{
	const struct tare_row *rows;
	struct tare_rules rules;
	tare_rules_default(&rules);
	rules.warmup = 0;
	rules.over_sent = true;
	rules.percentiles = 0;
	static const char *const wanted[] = {"50", "90", "95"};
	for (int i = 0; i < 3; i++)
		rules.percentiles += !tare_percentile_parse(wanted[i], &rules.percentile[i], NULL);
	make(made, 11, 1);
	fate(made, 4, TARE_LOST);
	fate(made, 10, TARE_PENDING);
	struct tare_stat *stat = stat_of(MASK(LATE), &rules);
	add(stat, NULL, made);
	rows_of(stat, &rows);
	OK(rows[0].n == 9 && rows[0].unanswered == 1, "9 received, 1 without an answer");
	IS_I64(rows[0].ranked[0].rank, 5, "p50 over sent is rank 5");
	IS_I64(rows[0].ranked[0].value_ns, 4005, "of the values sorted");
	IS_I64(rows[0].ranked[1].rank, 9, "p90 is rank 9");
	OK(!rows[0].ranked[1].lost && rows[0].ranked[1].value_ns == 4009, "a value");
	IS_I64(rows[0].ranked[2].rank, 10, "p95 is rank 10");
	OK(rows[0].ranked[2].lost && rows[0].ranked[2].value_ns == TARE_NO_TIME, "which was lost");
	OK(rows[1].n == 11 && rows[1].ranked[2].rank == 11 && !rows[1].ranked[2].lost, "late is not changed by it");
	tare_stat_free(stat);

	make(made, 100, 1);
	for (size_t i = 0; i < 100; i++)
		fate(made, i, TARE_LOST);
	rules.warmup = 2;
	stat = stat_of(0, &rules);
	add(stat, NULL, made);
	rows_of(stat, &rows);
	OK(rows[0].n == 0 && rows[0].unanswered == 98 && rows[0].ranked[0].lost, "all lost: even p50 is lost");
	tare_stat_free(stat);
}

static void check_host_only(struct made *made)
{
	const struct tare_row *rows;
	int64_t given[1000];
	for (size_t i = 0; i < 1000; i++)
		given[i] = i == 500 ? 90000 : 3900;
	make(made, 1000, 1);
	made->record.series.at_ns[TARE_STAGE_DUE] = made->record.series.at_ns[TARE_STAGE_USER_TX] = NULL;
	made->record.series.at_ns[TARE_STAGE_USER_RX] = NULL;
	made->record.series.given_ns[TARE_SPAN_HOST] = given;
	struct tare_stat *stat = stat_of(0, NULL);
	add(stat, NULL, made);
	IS_I64(rows_of(stat, &rows), 1, "a source with the peer's host only has that row");
	OK(rows[0].span == TARE_SPAN_HOST && rows[0].n == 998 && rows[0].stalls == 1, "with its own limit");
	tare_stat_free(stat);
}

static void check_merged(struct made *made)
{
	const struct tare_row *rows;
	struct tare_stat *stat = stat_of(MASK(LATE), NULL);
	for (uint32_t number = 1; number <= 3; number++) {
		make(made, 1002, number);
		rtt(made, 500, 100000);
		if (number == 3) {
			for (size_t i = 0; i < 1002; i++)
				rtt(made, i, 8000);
		}
		made->round.label = number == 1 ? "A" : "B";
		fate(made, 0, TARE_LOST);
		add(stat, "one", made);
	}
	make(made, 1002, 1);
	made->record.target = &targets[1];
	add(stat, "one", made);
	size_t count = rows_of(stat, &rows);
	IS_I64(count, 10, "4 series of 2 spans, then one target merged");
	const struct tare_row *row = &rows[8];
	OK(row->round == 0 && row->run == 1 && row->span == TARE_SPAN_RTT && rows[9].span == TARE_SPAN_LATE,
		"merged row");
	IS_I64(row->n, 3000, "n adds up");
	IS_I64(row->sent, 3006, "sent adds up");
	IS_I64(row->lost, 3, "lost adds up");
	IS_I64(row->stalls, 2, "stalls are the rounds' own");
	IS_I64(row->stall_limit_ns, TARE_NO_TIME, "their limits differ");
	IS_I64(rows[9].stall_limit_ns, TARE_NO_TIME, "for late too");
	IS_I64(row->ranked[0].value_ns, 4075, "p50 ranked anew over all rounds");
	IS_I64(row->first_ns, TARE_NO_TIME, "a merged row has no first request");
	OK(row->label == NULL, "differing labels leave none");

	make(made, 1002, 1);
	made->record.run = &runs[1];
	made->record.target = &targets[2];
	add(stat, "two", made);
	count = rows_of(stat, &rows);
	IS_I64(count, 14, "a second run: merged over both at the end");
	row = &rows[12];
	OK(row->run == 0 && row->round == 0 && row->file == NULL, "over files that differ");
	IS_I64(row->n, 4000, "n of both runs");
	IS_STR(row->target, "udp://a:7000", "of the target both have");
	tare_stat_free(stat);
}

static void check_grouped(struct made *made)
{
	static const enum tare_group_by by[] = {
		TARE_GROUP_LABEL, TARE_GROUP_TARGET, TARE_GROUP_PEER_CPU, TARE_GROUP_HOUR};
	static const char *const keys[4][3] = {{"A", "B", NULL}, {NULL, NULL, NULL}, {"19", "19 or 25", NULL},
		{"2023-11-14T22Z", "2023-11-14T23Z", "1969-12-31T23Z"}};
	static const size_t groups[4] = {2, 1, 2, 3};
	/* 22:13:20 and 23:13:20 on 14 November 2023, and one nanosecond before 1970. */
	static const struct tare_run times[] = {{.id = 1, .epoch_real_ns = INT64_C(1700000000000000000)},
		{.id = 2, .epoch_real_ns = INT64_C(1700003600000000000)}, {.id = 3, .epoch_real_ns = -1}};
	static int16_t peer[1002];
	const struct tare_row *rows;
	for (size_t turn = 0; turn < 4; turn++) {
		struct tare_rules rules;
		tare_rules_default(&rules);
		rules.group_by = by[turn];
		struct tare_stat *stat = stat_of(0, &rules);
		for (uint32_t round = 0; round < 3; round++) {
			make(made, 1002, 1);
			for (size_t i = 0; i < 1002; i++)
				peer[i] = round == 1 && i > 500 ? 25 : 19;
			made->record.series.cpu[TARE_CPU_PEER_RX] = peer;
			made->record.run = &times[round];
			made->round.label = round == 1 ? "B" : "A";
			add(stat, "f", made);
		}
		size_t count = rows_of(stat, &rows);
		IS_I64(count, 3 + groups[turn], "a merged row for each group");
		for (size_t i = 3; i < count; i++) {
			if (keys[turn][i - 3])
				IS_STR(rows[i].group, keys[turn][i - 3], "its key");
		}
		uint64_t n = 0;
		for (size_t i = 3; i < count; i++)
			n += rows[i].n;
		IS_I64(n, 3000, "all requests are in a group");
		tare_stat_free(stat);
	}
}

/* Shifting or scaling all values shifts or scales every figure. */
static void check_laws(struct made *made)
{
	const struct tare_row *rows;
	struct tare_row had = {0};
	int wrong = 0;
	for (int turn = 0; turn < 3; turn++) {
		make(made, 5002, 1);
		for (size_t i = 0; i < 5002; i++) {
			int64_t value = 3900 + (int64_t)((i * 7919) % 5003);
			rtt(made, i, turn == 1 ? value + 1000000 : turn == 2 ? value * 1000 : value);
		}
		struct tare_stat *stat = stat_of(0, NULL);
		add(stat, NULL, made);
		rows_of(stat, &rows);
		if (turn == 0)
			had = rows[0];
		int64_t scale = turn == 2 ? 1000 : 1, shift = turn == 1 ? 1000000 : 0;
		for (int i = 0; i < 4; i++)
			wrong += rows[0].ranked[i].value_ns != had.ranked[i].value_ns * scale + shift;
		wrong += rows[0].min_ns != had.min_ns * scale + shift || rows[0].max_ns != had.max_ns * scale + shift;
		wrong += rows[0].pdv_ns != had.pdv_ns * scale;
		tare_stat_free(stat);
	}
	IS_I64(wrong, 0, "shift and scale laws");
}

int main(void)
{
	struct made *made = calloc(1, sizeof(*made));
	if (!made)
		return 1;
	check_one_round(made);
	check_late_stall(made);
	check_small(made);
	check_over_sent(made);
	check_host_only(made);
	check_merged(made);
	check_grouped(made);
	check_laws(made);
	tare_stat_free(NULL);
	free(made);
	return tap_done();
}
