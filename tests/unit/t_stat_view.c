/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What `tare stat` prints: blocks, rounds, sentences, marks; the keys of its JSON and CSV. */
#include "report/stat_view.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>

#include "tap.h"

enum { MOST = 10002 };

/* One series under construction: a request a millisecond, everything answered after 4 µs and a bit. */
struct made {
	int64_t due[MOST], sent[MOST], kernel_tx[MOST], kernel_rx[MOST], received[MOST];
	uint8_t fate[MOST];
	uint16_t flags[MOST], reason[MOST];
	struct tare_round round;
	struct tare_record record;
};

static const struct tare_run run = {.id = 1, .tool = "tare 0.1.0", .status = TARE_RUN_FINISHED};
static const struct tare_target target = {.url = "stamp://10.0.0.2:8620", .kind = "stamp"};
static struct made made;
static char *written;

static void make(size_t count, uint32_t number, const char *label)
{
	memset(&made, 0, sizeof(made));
	for (size_t i = 0; i < count; i++) {
		made.due[i] = (int64_t)i * 1000000;
		made.sent[i] = made.due[i] + 50;
		made.kernel_tx[i] = made.sent[i] + 1210;
		made.received[i] = made.sent[i] + 4600 + (int64_t)(i % 100);
		made.kernel_rx[i] = made.received[i] - 470;
		made.fate[i] = TARE_ANSWERED;
	}
	made.round = (struct tare_round){
		.number = number, .label = label, .warmup = 2, .interval_ns = 1000000, .timeout_ns = 1000000000};
	made.record = (struct tare_record){.run = &run,
		.target = &target,
		.round = &made.round,
		.resolution_ns = 1,
		.series = {.count = count, .fate = made.fate, .flags = made.flags, .reason = made.reason}};
	made.record.series.at_ns[TARE_STAGE_DUE] = made.due;
	made.record.series.at_ns[TARE_STAGE_USER_TX] = made.sent;
	made.record.series.at_ns[TARE_STAGE_KERNEL_TX] = made.kernel_tx;
	made.record.series.at_ns[TARE_STAGE_KERNEL_RX] = made.kernel_rx;
	made.record.series.at_ns[TARE_STAGE_USER_RX] = made.received;
}

static void set_rtt(size_t i, int64_t rtt_ns)
{
	made.received[i] = made.sent[i] + rtt_ns;
	made.kernel_rx[i] = made.received[i] - 470;
}

static void set_fate(size_t i, enum tare_fate fate, int reason)
{
	made.fate[i] = (uint8_t)fate;
	made.reason[i] = (uint16_t)reason;
	made.received[i] = made.kernel_rx[i] = TARE_NO_TIME;
	if (fate == TARE_NOT_SENT)
		made.sent[i] = made.kernel_tx[i] = TARE_NO_TIME;
}

static struct stat_view *view_of(const struct tare_rules *rules, uint32_t spans)
{
	struct tare_rules usual;
	struct tare_err err = {0};
	struct stat_view *view = NULL;
	tare_rules_default(&usual);
	if (stat_view_open(rules ? rules : &usual, spans, &view, &err)) {
		printf("Bail out! %s\n", err.text);
		exit(1);
	}
	return view;
}

static void add(struct stat_view *view, const char *file)
{
	struct tare_err err = {0};
	if (stat_view_add(view, file, &made.record, &err)) {
		printf("Bail out! %s\n", err.text);
		exit(1);
	}
}

static const char *print(struct stat_view *view, const struct format *format, int width, const char *columns)
{
	const struct stat_layout layout = {.format = format, .width = width, .asked.columns = columns};
	struct tare_err err = {0};
	size_t bytes;
	free(written);
	FILE *out = open_memstream(&written, &bytes);
	if (stat_view_print(out, view, &layout, &err))
		fprintf(out, "failed: %s\n", err.text);
	fclose(out);
	return written;
}

/* The busy round of a field test: a slow first request, and five stalls far above p99.9. */
static void test_block(void)
{
	struct stat_view *view = view_of(NULL, stat_view_usual_spans());
	make(10002, 1, "");
	set_rtt(0, 19960);
	set_rtt(1, 7020);
	for (size_t i = 0; i < 5; i++)
		set_rtt(1204 + 2000 * i, 600000 + 100000 * (int64_t)i);
	add(view, "before.tare");
	IS_STR(print(view, &format_text, 100, NULL),
		"stamp://10.0.0.2:8620   10002 sent, 10002 answered, 0 lost\n"
		"µs          min   p50   p90   p99  p99.9  p99.99       max   pdv  stalls\n"
		"rtt        4.60  4.65  4.69  4.70   4.70  900.00?  1000.00  0.10       5\n"
		" response  4.65  4.70  4.74  4.75   4.75  900.05?  1000.05  0.10       5\n"
		" late      0.05  0.05  0.05  0.05   0.05    0.05?     0.05  0.00       0\n"
		" tx        1.21  1.21  1.21  1.21   1.21    1.21?     1.21  0.00       0\n"
		" stack     2.92  2.97  3.01  3.02   3.02  898.32?   998.32  0.10       5\n"
		" wake      0.47  0.47  0.47  0.47   0.47    0.47?     0.47  0.00       0\n"
		"first request 19.96 µs (4.3 x p50), second 7.02 µs: kept apart.\n"
		"5 stalls above 46.5 µs in 5 episodes, the longest 1 ms, 0.040 % of the time; 1800 an hour (584.5 to\n"
		"  4201); p99.9 does not see them.\n"
		"pdv is p99.9 - min of 10000 requests; neighbours differ by 0.00 µs at p50, 0.10 µs at p99 (IPDV, RFC\n"
		"  3393).\n"
		"\n"
		"? fewer than 10 values behind it. p99.99 needs 100000 requests; ten times as many for 100 behind.\n",
		"a block: head, tree of spans, sentences, legend");
	IS_STR(print(view, &format_text, 50, NULL),
		"stamp://10.0.0.2:8620   10002 sent, 10002\n"
		"  answered, 0 lost\n"
		"µs          min   p50   p90   p99  p99.9  p99.99\n"
		"rtt        4.60  4.65  4.69  4.70   4.70  900.00?\n"
		" response  4.65  4.70  4.74  4.75   4.75  900.05?\n"
		" late      0.05  0.05  0.05  0.05   0.05    0.05?\n"
		" tx        1.21  1.21  1.21  1.21   1.21    1.21?\n"
		" stack     2.92  2.97  3.01  3.02   3.02  898.32?\n"
		" wake      0.47  0.47  0.47  0.47   0.47    0.47?\n"
		"(no room for max, pdv, stalls)\n"
		"first request 19.96 µs (4.3 x p50), second 7.02\n"
		"  µs: kept apart.\n"
		"5 stalls above 46.5 µs in 5 episodes, the longest\n"
		"  1 ms, 0.040 % of the time; 1800 an hour (584.5\n"
		"  to 4201); p99.9 does not see them.\n"
		"pdv is p99.9 - min of 10000 requests; neighbours\n"
		"  differ by 0.00 µs at p50, 0.10 µs at p99 (IPDV,\n"
		"  RFC 3393).\n"
		"\n"
		"? fewer than 10 values behind it. p99.99 needs\n"
		"  100000 requests; ten times as many for 100\n"
		"  behind.\n",
		"a narrow terminal");
	stat_view_free(view);
}

static void test_trouble(void)
{
	struct stat_view *view = view_of(NULL, 1u << TARE_SPAN_RTT | 1u << TARE_SPAN_LATE | 1u << TARE_SPAN_TX);
	make(1002, 1, "");
	for (size_t i = 100; i < 104; i++)
		set_fate(i, TARE_LOST, 0);
	for (size_t i = 200; i < 203; i++)
		set_fate(i, TARE_ERROR, ECONNREFUSED);
	set_fate(300, TARE_ERROR, EHOSTUNREACH);
	for (size_t i = 400; i < 405; i++)
		set_fate(i, TARE_NOT_SENT, ENETDOWN);
	set_fate(410, TARE_NOT_SENT, 0);
	made.flags[410] = TARE_FLAG_SKIPPED;
	set_rtt(500, 1200000000);
	made.fate[500] = TARE_OVERDUE;
	set_fate(1001, TARE_PENDING, 0);
	for (size_t i = 600; i < 610; i++) {
		made.kernel_tx[i] = TARE_NO_TIME;
		made.flags[i] = TARE_FLAG_NO_KERNEL_TX;
	}
	made.flags[700] = TARE_FLAG_CLOCK_STEP;
	made.flags[701] = made.flags[702] = TARE_FLAG_IMPOSSIBLE;
	made.sent[800] = made.due[800] + 454000;
	made.kernel_tx[800] = made.sent[800] + 1210;
	set_rtt(800, 4600);
	made.record.beside = (struct tare_beside){.duplicate = 2,
		.reordered = 1,
		.foreign = 7,
		.stamps_asked = 1u << TARE_STAGE_USER_TX | 1u << TARE_STAGE_KERNEL_TX | 1u << TARE_STAGE_KERNEL_RX |
				1u << TARE_STAGE_PEER_RX};
	add(view, NULL);
	IS_STR(print(view, &format_text, 100, NULL),
		"stamp://10.0.0.2:8620   996 sent, 986 answered, 4 lost (0.4 %), 1 overdue, 4 refused, 1 pending, 6\n"
		"  not sent\n"
		"µs       n   min   p50   p90   p99   p99.9  p99.99         max  pdv  stalls\n"
		"rtt    985  4.60  4.65  4.69  4.70?      –       –  1200000.00    –       1\n"
		" late  994  0.05  0.05  0.05  0.05?      –       –      454.00    –       1\n"
		" tx    984  1.21  1.21  1.21  1.21?      –       –        1.21    –       0\n"
		"first request 4.60 µs (1.0 x p50), second 4.60 µs: kept apart.\n"
		"1 stall above 46.5 µs in 1 episode, the longest 1.2 s, 100 % of the time; 3600 an hour (91.14 to\n"
		"  20058); p99 does not see it.\n"
		"1 request left later than 46.50 µs: that is our side, and rtt does not see it.\n"
		"the 91 requests above 4.69 µs came in 10 bursts: as good as 11 independent ones.\n"
		"1 answered after the timeout of 1 s: counted, with the time taken.\n"
		"percentiles are over the 985 received; what was lost is in none.\n"
		"2 duplicate, 1 reordered, 7 foreign: counted beside.\n"
		"refused by the network: 3 x Connection refused (ECONNREFUSED), 1 x No route to host (EHOSTUNREACH).\n"
		"not accepted by the kernel: 5 x Network is down (ENETDOWN).\n"
		"1 slot was skipped as too late.\n"
		"2 requests had stamps out of order, which were dropped.\n"
		"1 request lies at a step of the wall clock: its kernel stamps were dropped.\n"
		"stamp kernel_tx: 10 of 996 asked for did not arrive.\n"
		"stamp peer_rx: asked for, none of 987 arrived.\n"
		"\n"
		"? fewer than 10 values behind it, – none. p99 needs 1000 requests, p99.9 needs 10000, p99.99 needs\n"
		"  100000; ten times as many for 100 behind.\n",
		"every kind of trouble has its sentence");
	stat_view_free(view);
}

static void test_nothing(void)
{
	struct stat_view *view = view_of(NULL, stat_view_usual_spans());
	make(20, 1, "");
	for (size_t i = 0; i < 20; i++)
		set_fate(i, TARE_LOST, 0);
	add(view, NULL);
	IS_STR(print(view, &format_text, 100, NULL),
		"stamp://10.0.0.2:8620   20 sent, 0 answered, 20 lost (100 %)\n"
		"µs      n   min   p50    p90   p99  p99.9  p99.99   max  pdv  stalls\n"
		"rtt     0     –     –      –     –      –       –     –    –       0\n"
		" late  18  0.05  0.05?  0.05?    –      –       –  0.05    –       0\n"
		" tx    18  1.21  1.21?  1.21?    –      –       –  1.21    –       0\n"
		"nothing was counted: no figure can be given.\n"
		"\n"
		"? fewer than 10 values behind it, – none. p50 needs 20 requests, p90 needs 100, p99 needs 1000,\n"
		"  p99.9 needs 10000, p99.99 needs 100000; ten times as many for 100 behind.\n",
		"nothing answered: no figure is a number");
	stat_view_free(view);
}

static void test_few_rounds(void)
{
	struct stat_view *view = view_of(NULL, 1u << TARE_SPAN_RTT);
	for (uint32_t i = 1; i <= 2; i++) {
		make(102, i, i == 1 ? "base" : "tuned");
		add(view, "x.tare");
	}
	IS_STR(print(view, &format_text, 100, NULL),
		"round 1, base\n"
		"stamp://10.0.0.2:8620   102 sent, 102 answered, 0 lost\n"
		"µs    min   p50   p90   p99   p99.9  p99.99   max  pdv  stalls\n"
		"rtt  4.60  4.65  4.69  4.70?      –       –  4.70    –       0\n"
		"first request 4.60 µs (1.0 x p50), second 4.60 µs: kept apart.\n"
		"no stall above 46.49 µs in 100 ms, which shows less than 107846 an hour (95 %).\n"
		"the 10 requests above 4.689 µs came in 1 burst: as good as 1 independent one.\n"
		"\n"
		"round 2, tuned\n"
		"stamp://10.0.0.2:8620   102 sent, 102 answered, 0 lost\n"
		"µs    min   p50   p90   p99   p99.9  p99.99   max  pdv  stalls\n"
		"rtt  4.60  4.65  4.69  4.70?      –       –  4.70    –       0\n"
		"first request 4.60 µs (1.0 x p50), second 4.60 µs: kept apart.\n"
		"no stall above 46.49 µs in 100 ms, which shows less than 107846 an hour (95 %).\n"
		"the 10 requests above 4.689 µs came in 1 burst: as good as 1 independent one.\n"
		"\n"
		"all 2 rounds\n"
		"stamp://10.0.0.2:8620   204 sent, 204 answered, 0 lost\n"
		"µs    min   p50   p90   p99   p99.9  p99.99   max  pdv  stalls\n"
		"rtt  4.60  4.65  4.69  4.70?      –       –  4.70    –       0\n"
		"no stall above 46.49 µs in 200 ms, which shows less than 53923 an hour (95 %).\n"
		"no stall in 2 rounds.\n"
		"\n"
		"? fewer than 10 values behind it, – none. p99 needs 1000 requests, p99.9 needs 10000, p99.99 needs\n"
		"  100000; ten times as many for 100 behind.\n",
		"two rounds: each, then both");
	stat_view_free(view);
}

static void test_many_rounds(void)
{
	struct stat_view *view = view_of(NULL, 1u << TARE_SPAN_RTT | 1u << TARE_SPAN_LATE);
	/* Strings and rounds behind a record must outlive the view. */
	static struct tare_round rounds[6];
	for (uint32_t i = 1; i <= 5; i++) {
		make(1002, i, "base");
		rounds[i] = made.round;
		made.record.round = &rounds[i];
		set_rtt(0, 17900 + i);
		if (i == 3) {
			set_rtt(500, 1548860);
			set_fate(501, TARE_LOST, 0);
		}
		if (i == 4)
			set_fate(0, TARE_LOST, 0);
		add(view, "day.tare");
	}
	IS_STR(print(view, &format_text, 100, NULL),
		"stamp://10.0.0.2:8620   5 rounds; rtt in µs\n"
		"round  label  lost   min   p50   p99   p99.9       max   pdv  first  stalls\n"
		"    1  base      0  4.60  4.65  4.70    4.70?     4.70  0.10  17.90       0\n"
		"    2  base      0  4.60  4.65  4.70    4.70?     4.70  0.10  17.90       0\n"
		"    3  base      1  4.60  4.65  4.70?      –   1548.86     –  17.90       1\n"
		"    4  base      1  4.60  4.65  4.70    4.70?     4.70  0.10      ·       0\n"
		"    5  base      0  4.60  4.65  4.70    4.70?     4.70  0.10  17.91       0\n"
		"\n"
		"all 5 rounds, base\n"
		"stamp://10.0.0.2:8620   5010 sent, 5008 answered, 2 lost (0.04 %)\n"
		"µs        n   min   p50   p90   p99  p99.9   p99.99      max   pdv  stalls\n"
		"rtt    4999  4.60  4.65  4.69  4.70   4.70?       –  1548.86  0.10       1\n"
		" late  5000  0.05  0.05  0.05  0.05   0.05?       –     0.05  0.00       0\n"
		"1 stall above its round's limit in 1 episode, the longest 1.549 ms, 0.031 % of the time; 720 an hour\n"
		"  (18.23 to 4012).\n"
		"pdv is p99.9 - min of 4999 requests; neighbours differ by 0.00 µs at p50, 0.10 µs at p99 (IPDV, RFC\n"
		"  3393).\n"
		"percentiles are over the 4999 received; what was lost is in none.\n"
		"stalls in 1 of 5 rounds.\n"
		"the slowest request is the first in 3 of 4 rounds.\n"
		"s_r of p50 1 ns, largest retest difference 1 ns.\n"
		"\n"
		"? fewer than 10 values behind it, – none, · not answered. p99 needs 1000 requests, p99.9 needs\n"
		"  10000, p99.99 needs 100000; ten times as many for 100 behind.\n",
		"more than three rounds: a line each, then all");
	struct tare_err err = {0};
	OK(stat_view_say(view, "day.tare", 3, false, "something about it", &err) == 0, "a sentence of the source");
	OK(strstr(print(view, &format_text, 0, NULL), "round 3: something about it.\n") != NULL, "names its round");
	stat_view_free(view);
}

static void test_runs(void)
{
	static const struct tare_run other = {.id = 2, .tool = "tare 0.1.0", .status = TARE_RUN_UNFINISHED};
	static const struct tare_event events[] = {
		{.at_ns = 12300000000, .kind = "wall-step", .text = "wall clock stepped by +3 s"},
		{.at_ns = 13300000000, .kind = "note", .text = "\x1b[2Jboo"}};
	struct stat_view *view = view_of(NULL, 1u << TARE_SPAN_RTT);
	struct tare_err err = {0};
	make(102, 1, "");
	add(view, "a.tare");
	made.record.run = &other;
	add(view, "b.tare");
	OK(stat_view_run(view, "a.tare", &run, NULL, 0, &err) == 0 &&
			stat_view_run(view, "b.tare", &other, events, 2, &err) == 0,
		"runs are told");
	IS_STR(print(view, &format_text, 100, NULL),
		"a.tare, run 1\n"
		"stamp://10.0.0.2:8620   102 sent, 102 answered, 0 lost\n"
		"µs    min   p50   p90   p99   p99.9  p99.99   max  pdv  stalls\n"
		"rtt  4.60  4.65  4.69  4.70?      –       –  4.70    –       0\n"
		"first request 4.60 µs (1.0 x p50), second 4.60 µs: kept apart.\n"
		"no stall above 46.49 µs in 100 ms, which shows less than 107846 an hour (95 %).\n"
		"the 10 requests above 4.689 µs came in 1 burst: as good as 1 independent one.\n"
		"\n"
		"b.tare, run 2\n"
		"stamp://10.0.0.2:8620   102 sent, 102 answered, 0 lost\n"
		"µs    min   p50   p90   p99   p99.9  p99.99   max  pdv  stalls\n"
		"rtt  4.60  4.65  4.69  4.70?      –       –  4.70    –       0\n"
		"first request 4.60 µs (1.0 x p50), second 4.60 µs: kept apart.\n"
		"no stall above 46.49 µs in 100 ms, which shows less than 107846 an hour (95 %).\n"
		"the 10 requests above 4.689 µs came in 1 burst: as good as 1 independent one.\n"
		"\n"
		"all runs\n"
		"stamp://10.0.0.2:8620   204 sent, 204 answered, 0 lost\n"
		"µs    min   p50   p90   p99   p99.9  p99.99   max  pdv  stalls\n"
		"rtt  4.60  4.65  4.69  4.70?      –       –  4.70    –       0\n"
		"no stall in 2 rounds.\n"
		"\n"
		"? fewer than 10 values behind it, – none. p99 needs 1000 requests, p99.9 needs 10000, p99.99 needs\n"
		"  100000; ten times as many for 100 behind.\n"
		"b.tare: run 2 is unfinished: its process vanished before the end.\n"
		"b.tare: run 2, at 12.3 s: wall-step: wall clock stepped by +3 s.\n"
		"b.tare: run 2, at 13.3 s: note: \\x1b[2Jboo.\n",
		"several files");
	stat_view_free(view);
}

static const json_t *first_row(const json_t *root)
{
	return json_array_get(json_object_get(root, "rows"), 0);
}

static void test_json(void)
{
	static const char *const keys[] = {"file", "run", "round", "label", "group", "target", "kind",
		"schedule", "payload_bytes", "rate_asked", "rate_held", "span", "source", "quantity", "clock", "resolution_ns", "pacing", "lateness", "shape",
		"left_out", "sent", "n",
		"lost", "overdue", "pending", "error", "not_sent", "duplicate", "reordered", "foreign", "first_ns",
		"second_ns", "min_ns", "p50_ns", "p90_ns", "p99_ns", "p999_ns", "p9999_ns", "max_ns", "pdv_ns",
		"stalls", "stall_limit_ns", "ipdv_p50_ns", "ipdv_p99_ns", "ipdv_p999_ns", "behind", "grade", "least"};
	struct stat_view *view = view_of(NULL, 1u << TARE_SPAN_RTT | 1u << TARE_SPAN_LATE);
	json_error_t where;
	for (uint32_t i = 1; i <= 2; i++) {
		make(1002, i, "base");
		set_rtt(0, 20000);
		add(view, "x.tare");
	}
	json_t *root = json_loads(print(view, &format_json, 0, NULL), 0, &where);
	const json_t *rows = json_object_get(root, "rows");
	IS_STR(json_string_value(json_object_get(root, "schema")), "tare.stat/1", "schema");
	IS_I64(json_object_size(root), 3, "schema, notes and rows, nothing else");
	IS_I64(json_array_size(json_object_get(root, "notes")), 0, "nothing to note");
	IS_STR(json_string_value(json_object_get(first_row(root), "source")), "tare", "our own measurement");
	IS_I64(json_array_size(rows), 6, "two spans in two rounds and merged");
	const json_t *first = json_array_get(rows, 0), *merged = json_array_get(rows, 4);
	IS_I64(json_object_size(first), sizeof(keys) / sizeof(keys[0]), "as many keys as documented");
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		OK(json_object_get(first, keys[i]) != NULL, "key %s", keys[i]);
	IS_I64(json_integer_value(json_object_get(first, "round")), 1, "round");
	IS_I64(json_integer_value(json_object_get(first, "n")), 1000, "n is without the warm-up");
	IS_I64(json_integer_value(json_object_get(first, "sent")), 1002, "sent is with it");
	IS_I64(json_integer_value(json_object_get(first, "first_ns")), 20000, "first_ns");
	OK(json_is_null(json_object_get(first, "p9999_ns")), "p99.99 of 1000 is null");
	IS_STR(json_string_value(json_object_get(json_object_get(first, "grade"), "p9999")), "none",
		"since its grade is none");
	OK(json_is_integer(json_object_get(first, "p999_ns")), "p99.9 of 1000 is a number");
	IS_STR(json_string_value(json_object_get(json_object_get(first, "grade"), "p999")), "weak",
		"though a weak one");
	IS_I64(json_integer_value(json_object_get(json_object_get(first, "behind"), "p99")), 10, "behind");
	OK(json_is_null(json_object_get(merged, "round")), "a merged row has no round");
	OK(json_is_null(json_object_get(merged, "first_ns")), "and no first request");
	IS_I64(json_integer_value(json_object_get(merged, "n")), 2000, "but the values of both");
	json_decref(root);
	const char *csv = print(view, &format_csv, 0, NULL);
	OK(strstr(csv, ",rate_held,span,source,quantity,clock,resolution_ns,pacing,lateness,shape,left_out,sent,n,") != NULL,
		"CSV has the same names");
	OK(strstr(csv, ",stall_limit_ns,ipdv_p50_ns,ipdv_p99_ns,ipdv_p999_ns,behind.p50,") != NULL, "and groups with a point");
	IS_STR(print(view, &format_csv, 0, "round,span,n,grade.p999"),
		"round,span,n,grade.p999\n1,rtt,1000,weak\n1,late,1000,weak\n2,rtt,1000,weak\n2,late,1000,weak\n"
		",rtt,2000,weak\n,late,2000,weak\n",
		"columns by name");
	stat_view_free(view);
}

static int note(struct stat_view *view, const char *kind, uint32_t round, const char *text)
{
	const struct stat_source_note source = {.file = "x.log", .kind = kind, .text = text, .round = round};
	return stat_view_note(view, &source, NULL);
}

/* In the order of kinds, whatever that of telling; what holds for several rounds once. */
static void test_notes(void)
{
	struct stat_view *view = view_of(NULL, 1u << TARE_SPAN_RTT);
	struct tare_round rounds[3];
	int failed = 0;
	for (uint32_t i = 1; i <= 2; i++) {
		make(10, i, "");
		rounds[i] = made.round; /* a view points to rounds */
		made.record.round = &rounds[i];
		add(view, "x.log");
		failed += note(view, "damage", i, i == 1 ? "one damaged" : "two damaged");
		failed += note(view, "limit", i, "fine to 1 us");
		failed += note(view, "quantity", i, "rtt it is");
		failed += note(view, "head", i, i == 1 ? "first" : "second");
	}
	failed += note(view, "damage", 0, "of the file");
	failed += note(view, "damage", 7, "of a round not asked for");
	IS_I64(failed, 0, "notes are taken");
	const char *text = print(view, &format_text, 0, NULL);
	const char *head = strstr(text, "first."), *quantity = strstr(text, "rtt it is."), *table = strstr(text, "min");
	const char *limit = strstr(text, "fine to 1 us."), *damage = strstr(text, "one damaged.");
	OK(head && head < quantity && quantity < table && table < limit && limit < damage, "each in its place: %s", text);
	OK(strstr(limit + 1, "fine to") == NULL && strstr(quantity + 1, "rtt it is") == NULL, "what holds for both, once");
	OK(strstr(text, "x.log: of the file.") && !strstr(text, "not asked for"), "of the whole file at the end");
	json_t *root = json_loads(print(view, &format_json, 0, NULL), 0, NULL);
	const json_t *notes = json_object_get(root, "notes");
	IS_I64(json_array_size(notes), 7, "all of them in JSON");
	IS_STR(json_string_value(json_object_get(json_array_get(notes, 1), "kind")), "quantity", "with their kinds");
	IS_I64(json_integer_value(json_object_get(json_array_get(notes, 1), "rounds")), 2, "and of how many rounds");
	json_decref(root);
	stat_view_free(view);
}

/* Nothing counted: no table of dashes, no counts of 0 that nobody made. */
static void test_summary(void)
{
	struct stat_view *view = view_of(NULL, 1u << TARE_SPAN_RTT);
	make(0, 1, "");
	made.record.origin = (struct tare_origin){.format = "sfnt", .shape = TARE_SHAPE_SUMMARY, .quantity = TARE_QUANTITY_HALF_RTT};
	add(view, "x.log");
	const char *text = print(view, &format_text, 0, NULL);
	OK(strstr(text, "a summary, no samples") && !strstr(text, "p50") && !strstr(text, "sent"), "text: %s", text);
	json_t *root = json_loads(print(view, &format_json, 0, NULL), 0, NULL);
	const json_t *row = first_row(root);
	OK(json_is_null(json_object_get(row, "sent")) && json_is_null(json_object_get(row, "lost")) &&
			json_is_null(json_object_get(row, "stalls")) && json_is_null(json_object_get(row, "p50_ns")),
		"JSON: null");
	IS_STR(json_string_value(json_object_get(row, "shape")), "summary", "since it is a summary");
	IS_STR(json_string_value(json_object_get(row, "quantity")), "half_rtt", "of half round trips");
	IS_STR(json_string_value(json_object_get(row, "source")), "sfnt", "read as this");
	json_decref(root);
	stat_view_free(view);
}

int main(void)
{
	test_block();
	test_trouble();
	test_nothing();
	test_few_rounds();
	test_many_rounds();
	test_runs();
	test_json();
	test_notes();
	test_summary();
	free(written);
	return tap_done();
}
