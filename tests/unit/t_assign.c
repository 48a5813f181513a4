/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Causes out of recorded evidence, on a virtual round: 1 ms apart, 20 µs each,
 * spinning on CPU 3. Each case delays one request and lays evidence beside it.
 */
#include "cause/assign.h"
#include "tap.h"

enum { N = 400, MS = 1000000, US = 1000 };

static int64_t at[TARE_STAGE_COUNT][N];
static int16_t cpus[TARE_CPU_PLACES][N];
static uint8_t fate[N];
static uint16_t flags[N];
static struct tare_run run = {.id = 1};
static struct tare_target target = {.position = 0};
static struct tare_round round_of_test = {.id = 1, .number = 1, .warmup = 2};
static struct tare_record record = {.run = &run, .target = &target, .round = &round_of_test};
static struct tare_evidence items[64];
static size_t count;

/* due, user_tx +20 ns, kernel_tx +1 µs, peer 3 µs in between, kernel_rx +15 µs, user_rx +20 µs. */
static void fresh(void)
{
	count = 0;
	for (size_t i = 0; i < N; i++) {
		int64_t due = (int64_t)(i + 1) * MS;
		at[TARE_STAGE_DUE][i] = due;
		at[TARE_STAGE_USER_TX][i] = due + 20;
		at[TARE_STAGE_KERNEL_TX][i] = due + 1 * US;
		at[TARE_STAGE_PEER_RX][i] = due + 7 * US;
		at[TARE_STAGE_PEER_USER][i] = due + 8 * US;
		at[TARE_STAGE_PEER_TX][i] = due + 10 * US;
		at[TARE_STAGE_KERNEL_RX][i] = due + 15 * US;
		at[TARE_STAGE_USER_RX][i] = due + 20 * US;
		for (int place = 0; place < TARE_CPU_PLACES; place++)
			cpus[place][i] = 3;
		fate[i] = TARE_ANSWERED;
		flags[i] = 0;
	}
	struct tare_series series = {.count = N, .fate = fate, .flags = flags};
	static const int observed[] = {TARE_STAGE_DUE, TARE_STAGE_USER_TX, TARE_STAGE_KERNEL_TX, TARE_STAGE_PEER_RX,
		TARE_STAGE_PEER_USER, TARE_STAGE_PEER_TX, TARE_STAGE_KERNEL_RX, TARE_STAGE_USER_RX};
	for (size_t i = 0; i < sizeof observed / sizeof *observed; i++)
		series.at_ns[observed[i]] = at[observed[i]];
	for (int place = 0; place < TARE_CPU_PLACES; place++)
		series.cpu[place] = cpus[place];
	record.series = series;
}

/* Everything of request i from `stage` on happens ns later. */
static void delay(size_t i, enum tare_stage stage, int64_t ns)
{
	for (int s = (int)stage; s < TARE_STAGE_COUNT; s++)
		at[s][i] += ns;
}

static struct tare_evidence *add(enum tare_evidence_kind kind, int64_t from_ns, int64_t to_ns)
{
	items[count] = (struct tare_evidence){.from_ns = from_ns,
		.to_ns = to_ns,
		.kind = (uint8_t)kind,
		.cpu = 3,
		.cpu_after = 3,
		.pid = -1,
		.sequence = -1};
	return &items[count++];
}

static struct tare_evidence *ran(const char *comm, int32_t pid, int16_t cpu, int64_t from_ns, int64_t to_ns)
{
	struct tare_evidence *item = add(TARE_EVIDENCE_RAN, from_ns, to_ns);
	item->pid = pid;
	item->cpu = cpu;
	snprintf(item->comm, sizeof item->comm, "%s", comm);
	return item;
}

static struct tare_cause judge_with(struct assign_plan plan, size_t i)
{
	static const uint64_t controls[] = {5, 6, 7, 8, 9};
	static struct tare_cause causes[8];
	uint64_t stall = i;
	size_t n = 0;
	struct tare_err err = {0};
	plan.record = &record;
	plan.evidence = items;
	plan.evidence_count = count;
	plan.stalls = &stall;
	plan.stall_count = 1;
	plan.controls = controls;
	plan.control_count = 5;
	if (assign_causes(&plan, causes, &n, &err) < 0 || n != 6)
		return (struct tare_cause){.word = TARE_WORD_COUNT};
	return causes[0];
}

static const struct assign_plan spinning = {.watched = true, .interrupts = true, .spinning = true};
static const struct assign_plan sleeping = {.watched = true, .interrupts = true};

static void is(struct tare_cause cause, const char *sentence)
{
	char text[200];
	tare_cause_sentence(&cause, text, sizeof text);
	IS_STR(text, sentence, sentence);
}

static void own_side(void)
{
	int64_t due = 101 * MS;
	fresh();
	delay(100, TARE_STAGE_USER_TX, 500 * US);
	add(TARE_EVIDENCE_OFF, due - 100 * US, due + 495 * US)->flags = TARE_EVIDENCE_PREEMPTED;
	ran("stress-ng", 812, 3, due - 99 * US, due + 400 * US);
	ran("other", 813, 3, due + 400 * US, due + 494 * US);
	is(judge_with(spinning, 100), "preempted by stress-ng (pid 812) on CPU 3 for 495 µs (99 % of the excess)");
	items[count++] = (struct tare_evidence){
		.from_ns = due, .to_ns = due + 2 * US, .kind = TARE_EVIDENCE_MISSING, .cpu = 3, .sequence = -1};
	IS_I64(judge_with(spinning, 100).word, TARE_WORD_PREEMPTED, "records lost beside do not hide what was seen");

	fresh();
	delay(100, TARE_STAGE_USER_TX, 500 * US);
	add(TARE_EVIDENCE_MISSING, due - 5 * US, due + 600 * US);
	is(judge_with(spinning, 100), "unknown");
	is(judge_with((struct assign_plan){.spinning = true}, 100), "unknown");

	fresh();
	delay(100, TARE_STAGE_USER_TX, 500 * US);
	is(judge_with(spinning, 100), "busy itself for 500 µs");
	struct tare_evidence *gap = add(TARE_EVIDENCE_GAP, 0, 505 * US);
	gap->sequence = 100;
	is(judge_with(spinning, 100), "hypervisor or SMI on CPU 3 for 500 µs");
	is(judge_with((struct assign_plan){.watched = true, .spinning = true}, 100), "unexplained");
	gap->sequence = 99;
	is(judge_with(spinning, 100), "busy itself for 500 µs");
	is(judge_with(sleeping, 100), "unexplained");

	fresh();
	delay(100, TARE_STAGE_USER_TX, 500 * US);
	add(TARE_EVIDENCE_INTERRUPT, due + 1 * US, due + 2 * US)->detail = 9;
	add(TARE_EVIDENCE_SOFTIRQ, due + 2 * US, due + 450 * US)->detail = 3;
	is(judge_with(spinning, 100), "held by softirq net_rx on CPU 3 for 448 µs (89 % of the excess)");
	items[1].cpu = items[1].cpu_after = 2;
	is(judge_with(spinning, 100), "busy itself for 500 µs");

	fresh();
	delay(100, TARE_STAGE_USER_RX, 400 * US);
	struct tare_evidence *off = add(TARE_EVIDENCE_OFF, due + 16 * US, due + 410 * US);
	off->flags = TARE_EVIDENCE_PREEMPTED;
	off->cpu_after = 5;
	is(judge_with(spinning, 100), "migrated 3->5 for 394 µs (98 % of the excess)");
}

static void sleeps(void)
{
	int64_t due = 101 * MS;
	/* three requests fell due while the thread slept on purpose, having one to send */
	fresh();
	for (size_t i = 100; i < 103; i++)
		delay(i, TARE_STAGE_USER_TX, due + 2500 * US - (int64_t)(i + 1) * MS);
	add(TARE_EVIDENCE_OFF, due + 2 * US, due + 2490 * US);
	for (size_t i = 100; i < 103; i++)
		IS_I64(judge_with(sleeping, i).word, TARE_WORD_BLOCKED,
			"slept in the middle of its work: all that fell due");
	add(TARE_EVIDENCE_CONTINUED, due + 2491 * US, due + 2491 * US);
	IS_I64(judge_with(sleeping, 101).word, TARE_WORD_STOPPED, "unless its process was continued at the end");

	/* it slept until due by design, and the CPU was another's */
	fresh();
	delay(100, TARE_STAGE_USER_TX, 300 * US);
	add(TARE_EVIDENCE_OFF, due - 900 * US, due + 299 * US);
	ran("load", 77, 3, due - 700 * US, due + 298 * US);
	is(judge_with(sleeping, 100),
		"waited in the run queue behind load (pid 77) on CPU 3 for 298 µs (99 % of the excess)");
	/* woken so late that the other one was in its way for the rest only: no word for what was before */
	items[0].detail = 200 * US;
	is(judge_with(sleeping, 100),
		"waited in the run queue behind load (pid 77) on CPU 3 for 199 µs (66 % of the excess)");
	items[0].detail = 100 * US;
	is(judge_with(sleeping, 100), "unexplained");
	items[0].detail = 800 * US; /* before it was due: by design it waits for that */
	is(judge_with(sleeping, 100),
		"waited in the run queue behind load (pid 77) on CPU 3 for 298 µs (99 % of the excess)");
	items[0].detail = 0;
	items[1].cpu = 2;
	is(judge_with(sleeping, 100), "idle exit on CPU 3 for 299 µs (99 % of the excess)");
	items[0].detail = 50 * US;
	is(judge_with(sleeping, 100), "idle exit on CPU 3 for 299 µs (99 % of the excess)");
}

static void peer_side(void)
{
	fresh();
	delay(100, TARE_STAGE_PEER_USER, 2000 * US);
	is(judge_with(spinning, 100), "peer, which showed no evidence");
	struct tare_evidence *said = add(TARE_EVIDENCE_PEER, 0, 1900 * US);
	said->sequence = 100;
	said->detail = TARE_WORD_PREEMPTED;
	said->pid = 812;
	said->cpu = 25;
	snprintf(said->comm, sizeof said->comm, "backup\n-agent");
	is(judge_with(spinning, 100),
		"peer preempted by backup?-agent (pid 812) on CPU 25 for 1.9 ms (95 % of the excess)");
	said->to_ns = 900 * US;
	is(judge_with(spinning, 100), "peer unexplained");
	said->detail = TARE_WORD_NONE;
	is(judge_with(spinning, 100), "peer unexplained");
	said->detail = TARE_WORD_COUNT + 7;
	is(judge_with(spinning, 100), "peer unexplained");
	said->target = 1;
	is(judge_with(spinning, 100), "peer, which showed no evidence");

	fresh();
	delay(100, TARE_STAGE_KERNEL_RX, 300 * US);
	flags[100] = TARE_FLAG_INJECTED;
	is(judge_with(spinning, 100), "network or peer without evidence [injected]");
	for (int s = 0; s < TARE_STAGE_COUNT; s++)
		if (s > TARE_STAGE_KERNEL_TX)
			at[s][100] = TARE_NO_TIME;
	fate[100] = TARE_LOST;
	is(judge_with(spinning, 100), "lost [injected]");
}

/* What ordinary requests show as well explains nothing; small excesses need no explanation. */
static void ordinary(void)
{
	fresh();
	for (size_t i = 5; i < 10; i++) {
		struct tare_evidence *said = add(TARE_EVIDENCE_PEER, 0, 8 * US);
		said->sequence = (int64_t)i;
		said->detail = TARE_WORD_IDLE;
	}
	delay(100, TARE_STAGE_PEER_USER, 14 * US);
	struct tare_evidence *said = add(TARE_EVIDENCE_PEER, 0, 10 * US);
	said->sequence = 100;
	said->detail = TARE_WORD_IDLE;
	IS_I64(judge_with(sleeping, 100).word, TARE_WORD_UNEXPLAINED, "2 µs more idling than usual do not explain 14");
	said->to_ns = 19 * US;
	is(judge_with(sleeping, 100), "peer idle exit on CPU 3 for 11 µs (78 % of the excess)");
	IS_I64(judge_with(sleeping, 50).word, TARE_WORD_NONE, "an ordinary request has nothing to explain");
	fresh();
	delay(100, TARE_STAGE_USER_RX, 900);
	IS_I64(judge_with(sleeping, 100).word, TARE_WORD_NONE, "below 1 µs there is nothing either");

	struct tare_cause causes[6] = {{.word = TARE_WORD_IDLE}, {.word = TARE_WORD_PREEMPTED},
		{.word = TARE_WORD_IDLE, .control = true}, {.word = TARE_WORD_IDLE, .control = true},
		{.word = TARE_WORD_NONE, .control = true}};
	assign_weak(causes, 5);
	OK(causes[0].weak && !causes[1].weak, "a word as frequent in the control is weak");
	causes[3].word = TARE_WORD_NONE;
	causes[0].weak = causes[2].weak = false;
	assign_weak(causes, 5);
	OK(!causes[0].weak, "one ordinary request alone says nothing");
}

static void selection(void)
{
	uint64_t stalls[8];
	fresh();
	delay(100, TARE_STAGE_USER_TX, 500 * US);
	delay(200, TARE_STAGE_USER_RX, 500 * US);
	delay(1, TARE_STAGE_USER_RX, 500 * US);
	fate[300] = TARE_LOST;
	IS_I64(assign_stalls(&record.series, 200 * US, 2, stalls, 8), 3, "late, slow and lost; not the warm-up");
	OK(stalls[0] == 100 && stalls[1] == 200 && stalls[2] == 300, "in order");
	IS_I64(assign_stalls(&record.series, 200 * US, 2, stalls, 1), 3, "more than there is room for are counted");
	uint64_t controls[50];
	size_t n = assign_controls(&record, 200 * US, 50, 1, controls), wrong = 0;
	for (size_t i = 0; i < n; i++)
		wrong += controls[i] < 2 || controls[i] == 100 || controls[i] == 200;
	OK(n == 50 && wrong == 0, "the control has ordinary requests only: %zu", n);
	struct tare_cause causes[2] = {{.sequence = 100}, {.sequence = 200}};
	bool marks[4] = {false};
	count = 0;
	add(TARE_EVIDENCE_OFF, 50 * MS, 51 * MS);
	add(TARE_EVIDENCE_OFF, 99 * MS, 100 * MS + 1);
	add(TARE_EVIDENCE_OFF, 102 * MS, 120 * MS);
	add(TARE_EVIDENCE_OFF, 203 * MS, 204 * MS);
	assign_mark(&record.series, causes, 2, items, 4, marks);
	OK(!marks[0] && marks[1] && marks[2] && !marks[3], "evidence within 1 ms of a judged request is kept");
}

static void summaries(void)
{
	struct tare_cause causes[9] = {{.control = true, .word = TARE_WORD_IDLE}};
	char text[300];
	for (size_t i = 1; i < 8; i++)
		causes[i] = (struct tare_cause){
			.word = TARE_WORD_PREEMPTED, .cpu = 25, .pid = (int32_t)i, .comm = "stress-ng"};
	causes[6] = (struct tare_cause){.word = TARE_WORD_MIGRATED, .peer = true, .cpu = 19, .cpu_after = 25};
	causes[7] = (struct tare_cause){.word = TARE_WORD_UNEXPLAINED};
	tare_causes_summary(causes, 8, text, sizeof text);
	IS_STR(text, "7 stalls: 5 preempted by stress-ng on CPU 25, 1 peer migrated 19->25, 1 unexplained", text);
	tare_causes_summary(causes, 1, text, sizeof text);
	IS_STR(text, "", "no stalls, no summary");
}

int main(void)
{
	own_side();
	sleeps();
	peer_side();
	ordinary();
	selection();
	summaries();
	return tap_done();
}
