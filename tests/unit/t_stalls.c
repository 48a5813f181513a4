/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stalls: samples, episodes, time, rates, ladder, list. */
#include "tare/stalls.h"

#include <math.h>
#include <stdlib.h>

#include "tap.h"

enum { MOST = 4000 };

static int64_t due[MOST], sent[MOST], received[MOST];
static int16_t cpu[MOST];
static uint8_t fate[MOST];
static struct tare_series series;

/* A quiet round: 4 us each. */
static void make(size_t count, int64_t interval_ns)
{
	series = (struct tare_series){.count = count, .fate = fate};
	for (size_t i = 0; i < count; i++) {
		due[i] = sent[i] = (int64_t)i * interval_ns;
		received[i] = due[i] + 4000;
		fate[i] = TARE_ANSWERED;
		cpu[i] = 1;
	}
	series.at_ns[TARE_STAGE_DUE] = due;
	series.at_ns[TARE_STAGE_USER_TX] = sent;
	series.at_ns[TARE_STAGE_USER_RX] = received;
	series.cpu[TARE_CPU_PEER_RX] = cpu;
}

/* Nothing answers between two times; what waits is answered at once at the end. */
static void hold(int64_t from_ns, int64_t to_ns)
{
	for (size_t i = 0; i < series.count; i++) {
		if (due[i] >= from_ns && received[i] < to_ns)
			received[i] = to_ns;
	}
}

static struct tare_stalls stalls_of(int64_t limit_ns, struct tare_stall *list, size_t room)
{
	struct tare_stalls stalls;
	struct tare_stall_rules rules = {.limit_ns = limit_ns, .gap = 1, .first = 2};
	tare_stalls_of(&series, TARE_SPAN_RESPONSE, &rules, &stalls, list, room);
	return stalls;
}

static void check_spacing(void)
{
	make(MOST, 100000);
	hold(100000000, 101000000);
	struct tare_stalls coarse = stalls_of(40000, NULL, 0);
	IS_I64(coarse.samples, 10, "1 ms at 100 us spacing: 10 samples");
	IS_I64(coarse.episodes, 1, "one episode");
	IS_I64(coarse.longest_ns, 1000000, "of 1 ms");
	make(MOST, 10000);
	hold(10000000, 11000000);
	struct tare_stalls fine = stalls_of(40000, NULL, 0);
	IS_I64(fine.samples, 96, "the same at 10 us spacing: 96 samples");
	IS_I64(fine.episodes, 1, "one episode either way");
	IS_I64(fine.exposure_ns, 10000 * (MOST - 2), "exposure is first to last and one interval");
	IS_I64(fine.stalled_ns, 1000000, "time stalled");
	IS_I64(fine.worst_ns, 1000000, "worst value");
	OK(fine.ladder[0] == 98 && fine.ladder[1] == 95 && fine.ladder[2] == 90 && fine.ladder[3] == 0, "ladder");
}

static void check_episodes(void)
{
	struct tare_stall list[4] = {{0}};
	make(1000, 1000000);
	received[1] += 90000; /* in the warm-up */
	received[10] += 90000;
	received[12] += 50000; /* one good request between: the same episode */
	received[15] += 60000; /* two between: another */
	fate[16] = fate[17] = fate[18] = TARE_LOST;
	received[16] = received[17] = received[18] = TARE_NO_TIME;
	received[20] += 70000; /* three lost and one good between: the same */
	received[999] += 1548860 - 4000;
	cpu[999] = 25;
	struct tare_stalls stalls = stalls_of(40000, list, 4);
	IS_I64(stalls.samples, 5, "samples");
	IS_I64(stalls.episodes, 3, "episodes");
	IS_I64(stalls.n, 995, "values looked at");
	IS_I64(stalls.worst_ns, 1548860, "worst");
	IS_I64(stalls.longest_ns, 5074000, "longest is from the due time of 15 to the receipt of 20");
	IS_I64(stalls.stalled_ns, 2054000 + 5074000 + 1548860, "sum of the three");
	OK(list[0].sequence == 10 && list[1].sequence == 12 && list[2].sequence == 15 && list[3].sequence == 20,
		"list");
	OK(list[1].episode == 1 && list[2].episode == 2 && list[3].episode == 2, "episodes of the list");
	IS_I64(list[0].at_ns, 10000000, "when it was due");
	IS_I64(list[3].value_ns, 74000, "its value");
	OK(list[0].cpu[TARE_CPU_PEER_RX] == 1 && list[0].cpu[TARE_CPU_TX] == TARE_NO_CPU, "CPUs, where told");
	struct tare_stall all[5];
	stalls = stalls_of(40000, all, 5);
	tare_stalls_compare(all, 5, 4150, 5230);
	OK(all[4].cpu[TARE_CPU_PEER_RX] == 25 && fabs(all[4].of_p999 - 296.15) < 0.01, "the last is %.0f x the p99.9",
		all[4].of_p999);
	OK(fabs(all[4].of_median - 373.2) < 0.1, "and %.0f x the median", all[4].of_median);
	char text[200];
	tare_stalls_sentence(&stalls, text, sizeof(text));
	OK(strstr(text, "5 stalls above 40 µs in 3 episodes, the longest 5.074 ms") == text, "%s", text);
	tare_stalls_sentence(&stalls, text, 20);
	OK(strlen(text) < 20, "a short room cuts the sentence");
}

static void check_rate(void)
{
	struct tare_stalls seven = {.limit_ns = 40000,
		.episodes = 7,
		.samples = 9,
		.exposure_ns = 70000000000,
		.stalled_ns = 700000000,
		.worst_ns = 50000,
		.longest_ns = 60000};
	struct tare_stall_rate rate = tare_stalls_rate(&seven, 0.95);
	OK(fabs(rate.low / 3600 - .040) < 5e-4 && fabs(rate.high / 3600 - .206) < 5e-4,
		"7 in 70 s: .040 to .206 a second");
	OK(fabs(rate.per_hour - 360) < 1e-9 && fabs(rate.share - 0.01) < 1e-12, "360 an hour, 1 %% of the time");
	struct tare_stalls none = {
		.limit_ns = 40000, .exposure_ns = 3600000000000, .worst_ns = TARE_NO_TIME, .longest_ns = TARE_NO_TIME};
	rate = tare_stalls_rate(&none, 0.95);
	OK(fabs(rate.high - 2.9957) < 1e-3 && rate.low <= 0, "none in an hour shows less than 3.00 an hour");
	char text[200];
	tare_stalls_sentence(&none, text, sizeof(text));
	OK(strstr(text, "no stall above 40 µs in 60 min, which shows less than 2.996 an hour") == text, "%s", text);
	tare_stalls_add(&none, &seven);
	OK(none.episodes == 7 && none.worst_ns == 50000 && none.limit_ns == 40000 && none.exposure_ns == 3670000000000,
		"added");
	seven.exposure_ns = 0;
	seven.limit_ns = 50000;
	tare_stalls_add(&none, &seven);
	OK(isnan(tare_stalls_rate(&none, 0.95).per_hour) && none.limit_ns == TARE_NO_TIME,
		"a round without times leaves no rate, differing limits none");
}

static void check_bare(void)
{
	static int64_t given[100];
	make(100, 1000);
	for (size_t i = 0; i < 100; i++)
		given[i] = i % 10 == 5 ? 100000 : 10;
	series.at_ns[TARE_STAGE_DUE] = series.at_ns[TARE_STAGE_USER_TX] = series.at_ns[TARE_STAGE_USER_RX] = NULL;
	series.given_ns[TARE_SPAN_RESPONSE] = given;
	struct tare_stalls stalls = stalls_of(5000, NULL, 0);
	OK(stalls.samples == 10 && stalls.episodes == 10 && stalls.exposure_ns == 0 &&
			stalls.longest_ns == TARE_NO_TIME,
		"plain numbers have stalls and episodes but no time");
	stalls = stalls_of(TARE_NO_TIME, NULL, 0);
	OK(stalls.samples == 0 && stalls.ladder[0] == 10, "without a limit the ladder still counts");
	series.count = 0;
	stalls = stalls_of(5000, NULL, 0);
	OK(stalls.n == 0 && stalls.samples == 0 && stalls.exposure_ns == 0, "n = 0");
	IS_I64(tare_ladder_ns(4), 10000000, "last step of the ladder");
	IS_STR(tare_limit_kind_name(TARE_LIMIT_CALIBRATED), "calibrated", "kind of limit");
}

int main(void)
{
	check_spacing();
	check_episodes();
	check_rate();
	check_bare();
	return tap_done();
}
