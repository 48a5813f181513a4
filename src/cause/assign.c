/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Assignment of causes: windows of each request, evidence in them, and what ordinary requests show of the same. */
#include "cause/assign.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "clock/pacer.h"

/* Smaller excesses are within what ordinary requests differ by. */
#define LEAST_NS       ((int64_t)1000)
#define KEEP_AROUND_NS ((int64_t)1000000)
/* Medians are taken over at most this many requests, evenly spread. */
enum { MEDIAN_OF = 20001 };

/* Where a request spent its time: three windows of ours, two of the peer, and what lies between. */
enum part { PART_LATE, PART_TX, PART_PATH, PART_PEER_WAKE, PART_SERVICE, PART_WAKE, PART_COUNT };

struct judge {
	const struct assign_plan *plan;
	const struct tare_series *series;
	struct explain_index index;
	const struct tare_evidence *noted; /* with a request: what its peer said, and its clock gap; sorted */
	size_t noted_count;
	int64_t median_ns; /* of response */
	int64_t part_median_ns[PART_COUNT];
	int64_t usual_ns[2][TARE_WORD_COUNT]; /* ours and the peer's evidence in ordinary requests: median */
};

static int64_t at(const struct tare_series *series, enum tare_stage stage, size_t i)
{
	return series->at_ns[stage] ? series->at_ns[stage][i] : TARE_NO_TIME;
}

static int64_t between(int64_t from_ns, int64_t to_ns)
{
	return from_ns == TARE_NO_TIME || to_ns == TARE_NO_TIME ? TARE_NO_TIME : to_ns - from_ns;
}

/* TARE_NO_TIME where it was not observed. Without stamps in between, PATH is everything from send to receive. */
static int64_t part_of(const struct tare_series *series, size_t i, enum part part)
{
	int64_t tx = at(series, TARE_STAGE_KERNEL_TX, i), rx = at(series, TARE_STAGE_KERNEL_RX, i);
	int64_t user_tx = at(series, TARE_STAGE_USER_TX, i), user_rx = at(series, TARE_STAGE_USER_RX, i);
	int64_t residence_ns = tare_span_of(series, TARE_SPAN_RESIDENCE, i);
	switch (part) {
	case PART_LATE:
		return tare_span_of(series, TARE_SPAN_LATE, i);
	case PART_TX:
		return between(user_tx, tx);
	case PART_PATH: {
		int64_t ns = between(tx == TARE_NO_TIME ? user_tx : tx, rx == TARE_NO_TIME ? user_rx : rx);
		return ns == TARE_NO_TIME || residence_ns == TARE_NO_TIME ? ns : ns - residence_ns;
	}
	case PART_PEER_WAKE:
		return tare_span_of(series, TARE_SPAN_PEER_WAKE, i);
	case PART_SERVICE:
		return tare_span_of(series, TARE_SPAN_SERVICE, i);
	case PART_WAKE:
		return between(rx, user_rx);
	case PART_COUNT:
		break;
	}
	return TARE_NO_TIME;
}

static int by_value(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
	return (a > b) - (a < b);
}

static int64_t median_of(int64_t *values_ns, size_t count)
{
	if (count == 0)
		return TARE_NO_TIME;
	qsort(values_ns, count, sizeof *values_ns, by_value);
	return values_ns[(count - 1) / 2];
}

static void find_medians(struct judge *judge, int64_t *values_ns)
{
	const struct tare_series *series = judge->series;
	size_t step = series->count / MEDIAN_OF + 1, n = 0;
	for (size_t i = 0; i < series->count; i += step) {
		int64_t ns = tare_span_of(series, TARE_SPAN_RESPONSE, i);
		if (ns != TARE_NO_TIME)
			values_ns[n++] = ns;
	}
	judge->median_ns = median_of(values_ns, n);
	n = 0;
	for (size_t i = 0; i < series->count; i += step) {
		int64_t ns = tare_span_of(series, TARE_SPAN_RTT, i);
		if (ns != TARE_NO_TIME)
			values_ns[n++] = ns;
	}
	/* a round in which most requests left late has no ordinary lateness: what the trip itself takes is left */
	int64_t rtt_ns = median_of(values_ns, n);
	if (rtt_ns != TARE_NO_TIME && judge->median_ns > 2 * rtt_ns)
		judge->median_ns = rtt_ns;
	for (int part = 0; part < PART_COUNT; part++) {
		n = 0;
		for (size_t i = 0; i < series->count; i += step) {
			int64_t ns = part_of(series, i, (enum part)part);
			if (ns != TARE_NO_TIME)
				values_ns[n++] = ns;
		}
		judge->part_median_ns[part] = median_of(values_ns, n);
	}
}

/*
 * Sleeps that began while a request was due and had not left: the thread had
 * work. All that fell due meanwhile were held by the same sleep, so it is marked
 * on the evidence itself.
 */
static void mark_sleeps(const struct tare_series *series, struct tare_evidence *items, size_t count)
{
	const int64_t *due = series->at_ns[TARE_STAGE_DUE], *user_tx = series->at_ns[TARE_STAGE_USER_TX];
	size_t request = 0;
	if (!due || !user_tx)
		return;
	for (size_t i = 0; i < count; i++) {
		struct tare_evidence *off = &items[i];
		if (off->kind != TARE_EVIDENCE_OFF || off->flags & (TARE_EVIDENCE_PREEMPTED | TARE_EVIDENCE_WAITING))
			continue;
		/* the last request that was due when it went off */
		while (request + 1 < series->count && due[request + 1] != TARE_NO_TIME &&
			due[request + 1] <= off->from_ns)
			request++;
		if (due[request] != TARE_NO_TIME && due[request] <= off->from_ns && user_tx[request] != TARE_NO_TIME &&
			off->from_ns < user_tx[request])
			off->flags |= TARE_EVIDENCE_SELF;
	}
}

static int16_t cpu_at(const struct tare_series *series, enum tare_cpu_place place, size_t i)
{
	return series->cpu[place] ? series->cpu[place][i] : TARE_NO_CPU;
}

/* Our own windows: due to handed to the kernel, and kernel to user. Between them the thread waits by design. */
static void explain_own(const struct judge *judge, size_t i, struct explain_sums *sums)
{
	const struct tare_series *series = judge->series;
	int64_t due = at(series, TARE_STAGE_DUE, i), user_tx = at(series, TARE_STAGE_USER_TX, i);
	int64_t tx = at(series, TARE_STAGE_KERNEL_TX, i), rx = at(series, TARE_STAGE_KERNEL_RX, i);
	int64_t user_rx = at(series, TARE_STAGE_USER_RX, i);
	if (user_tx == TARE_NO_TIME)
		return;
	struct explain_window window = {
		.from_ns = due == TARE_NO_TIME ? user_tx : due,
		.to_ns = tx == TARE_NO_TIME ? user_tx : tx,
		.cpu = cpu_at(series, TARE_CPU_TX, i),
		.ready = true,
	};
	explain_window(&judge->index, &window, sums);
	if (user_rx == TARE_NO_TIME)
		return;
	/* without the kernel's stamp it cannot be told when it became ready: only what never is by design counts */
	window = (struct explain_window){
		.from_ns = rx == TARE_NO_TIME ? window.to_ns : rx,
		.to_ns = user_rx,
		.cpu = cpu_at(series, TARE_CPU_RX, i),
		.ready = rx != TARE_NO_TIME || judge->plan->spinning,
	};
	explain_window(&judge->index, &window, sums);
}

static int by_request(const void *left, const void *right)
{
	const struct tare_evidence *a = left, *b = right;
	if (a->sequence != b->sequence)
		return a->sequence < b->sequence ? -1 : 1;
	return (int)a->kind - (int)b->kind;
}

static const struct tare_evidence *noted_with(const struct judge *judge, size_t i, enum tare_evidence_kind kind)
{
	struct tare_evidence key = {.sequence = (int64_t)i, .kind = (uint8_t)kind};
	return bsearch(&key, judge->noted, judge->noted_count, sizeof key, by_request);
}

static void explain_peer(const struct judge *judge, size_t i, struct explain_sums *sums)
{
	const struct tare_evidence *said = noted_with(judge, i, TARE_EVIDENCE_PEER);
	if (!said || said->detail <= TARE_WORD_NONE || said->detail >= TARE_WORD_COUNT)
		return;
	sums->part[said->detail] = (struct explain_part){.ns = said->to_ns,
		.longest_ns = said->to_ns,
		.cpu = said->cpu,
		.cpu_after = said->cpu_after,
		.pid = said->pid};
	memcpy(sums->part[said->detail].comm, said->comm, TARE_COMM_BYTES);
}

/* What ordinary requests show of each word, so that a sleeping receiver's own wake-up explains nothing. */
static void find_usual(struct judge *judge, const uint64_t *controls, size_t count, int64_t *values_ns)
{
	for (int side = 0; side < 2; side++) {
		for (int word = 0; word < TARE_WORD_COUNT; word++) {
			for (size_t k = 0; k < count; k++) {
				struct explain_sums sums = {0};
				if (side == 0)
					explain_own(judge, controls[k], &sums);
				else
					explain_peer(judge, controls[k], &sums);
				values_ns[k] = sums.part[word].ns;
			}
			judge->usual_ns[side][word] = count ? median_of(values_ns, count) : 0;
		}
	}
}

/* The part of the request that exceeds its median most. */
static enum part worst_part(const struct judge *judge, size_t i)
{
	enum part worst = PART_PATH;
	int64_t worst_ns = INT64_MIN;
	for (int part = 0; part < PART_COUNT; part++) {
		int64_t ns = part_of(judge->series, i, (enum part)part), median_ns = judge->part_median_ns[part];
		if (ns == TARE_NO_TIME || median_ns == TARE_NO_TIME || ns - median_ns <= worst_ns)
			continue;
		worst_ns = ns - median_ns;
		worst = (enum part)part;
	}
	return worst;
}

static bool is_ours(enum part part)
{
	return part == PART_LATE || part == PART_TX || part == PART_WAKE;
}

static void take_part(
	struct tare_cause *cause, enum tare_word word, bool peer, const struct explain_part *part, int64_t usual_ns)
{
	cause->word = word;
	cause->peer = peer;
	cause->explained_ns = part->ns - usual_ns;
	cause->cpu = part->cpu;
	cause->cpu_after = part->cpu_after;
	cause->pid = part->pid;
	cause->detail = part->detail;
	memcpy(cause->comm, part->comm, TARE_COMM_BYTES);
}

/* The largest word of one side beyond what is usual; true when it is larger than what the cause has. */
static bool offer(const struct judge *judge, const struct explain_sums *sums, bool peer, struct tare_cause *cause)
{
	bool better = false;
	for (int word = TARE_WORD_NONE + 1; word < TARE_WORD_COUNT; word++) {
		int64_t usual_ns = judge->usual_ns[peer][word];
		if (sums->part[word].ns - usual_ns <= cause->explained_ns)
			continue;
		take_part(cause, (enum tare_word)word, peer, &sums->part[word], usual_ns);
		better = true;
	}
	return better;
}

/* Nothing covers enough of what happened on our side: what is left to say of it. */
static enum tare_word rest_of_own(
	const struct judge *judge, size_t i, enum part part, const struct explain_sums *own, int64_t excess_ns)
{
	const struct assign_plan *plan = judge->plan;
	const struct tare_evidence *gap = noted_with(judge, i, TARE_EVIDENCE_GAP);
	int64_t gap_ns = gap ? gap->to_ns - own->off_ns : 0;
	if (own->missing || !plan->watched)
		return TARE_WORD_UNKNOWN;
	/* on the CPU, no interrupt, looking at the clock without end, and the clock jumped */
	if (gap_ns >= excess_ns / 2)
		return plan->interrupts ? TARE_WORD_HARDWARE : TARE_WORD_UNEXPLAINED;
	if (own->faults)
		return TARE_WORD_PAGE_FAULT;
	/* on the CPU, no jump, and yet late: it was doing something else, as sending what was due before */
	if (part == PART_LATE && plan->spinning && gap_ns < excess_ns / 4)
		return TARE_WORD_BUSY;
	return TARE_WORD_UNEXPLAINED;
}

/* The same of the peer, which reports being off the CPU or interrupted where it watches itself. */
static enum tare_word rest_of_peer(const struct judge *judge, size_t i)
{
	return noted_with(judge, i, TARE_EVIDENCE_PEER) ? TARE_WORD_UNEXPLAINED : TARE_WORD_NETWORK;
}

/* No evidence covers enough: what can still be said follows from where the time went. */
static void judge_rest(const struct judge *judge, size_t i, const struct explain_sums *own, struct tare_cause *cause)
{
	enum part worst = worst_part(judge, i);
	bool ours = is_ours(worst);
	cause->explained_ns = 0;
	cause->pid = -1;
	cause->comm[0] = '\0';
	cause->cpu = cause->cpu_after = TARE_NO_CPU;
	cause->peer = worst == PART_PEER_WAKE || worst == PART_SERVICE;
	if (ours) {
		cause->word = rest_of_own(judge, i, worst, own, cause->excess_ns);
		cause->cpu = cpu_at(judge->series, worst == PART_WAKE ? TARE_CPU_RX : TARE_CPU_TX, i);
	} else {
		cause->word = cause->peer ? rest_of_peer(judge, i) : TARE_WORD_NETWORK;
	}
	if (cause->word < TARE_WORD_LOST)
		cause->explained_ns = part_of(judge->series, i, worst) - judge->part_median_ns[worst];
}

static struct tare_cause judge_one(const struct judge *judge, size_t i, bool control)
{
	const struct tare_series *series = judge->series;
	int64_t response_ns = tare_span_of(series, TARE_SPAN_RESPONSE, i);
	uint16_t flags = series->flags ? series->flags[i] : 0;
	struct tare_cause cause = {
		.target = judge->plan->record->target->position,
		.sequence = (int64_t)i,
		.control = control,
		.injected = flags & TARE_FLAG_INJECTED,
		.excess_ns = response_ns == TARE_NO_TIME ? TARE_NO_TIME : response_ns - judge->median_ns,
		.cpu = TARE_NO_CPU,
		.cpu_after = TARE_NO_CPU,
		.pid = -1,
	};
	struct explain_sums own = {0}, peer = {0};
	if (response_ns == TARE_NO_TIME) {
		cause.word = TARE_WORD_LOST;
		return cause;
	}
	if (cause.excess_ns < LEAST_NS || cause.excess_ns < judge->median_ns / 4)
		return cause;
	explain_own(judge, i, &own);
	explain_peer(judge, i, &peer);
	offer(judge, &own, false, &cause);
	offer(judge, &peer, true, &cause);
	if (cause.explained_ns < LEAST_NS || cause.explained_ns < cause.excess_ns / 2)
		judge_rest(judge, i, &own, &cause);
	/* of an ordinary request only evidence is wanted */
	if (control && cause.word >= TARE_WORD_LOST)
		cause.word = TARE_WORD_NONE;
	/* stamps of different clocks may add up to a little more than there was */
	if (cause.explained_ns > cause.excess_ns)
		cause.explained_ns = cause.excess_ns;
	return cause;
}

/* ---- the control ---- */

size_t assign_controls(
	const struct tare_record *record, int64_t limit_ns, size_t count, uint64_t seed, uint64_t *ret_controls)
{
	const struct tare_series *series = &record->series;
	size_t drawn = 0, first = record->round->warmup, kept = series->count > first ? series->count - first : 0;
	for (uint64_t tries = 0; kept && drawn < count && tries < count * 4 + 64; tries++) {
		size_t i = first + (size_t)(pacer_mix(seed ^ 0x636f6e74726f6c, tries) % kept);
		int64_t response_ns = tare_span_of(series, TARE_SPAN_RESPONSE, i);
		if (response_ns != TARE_NO_TIME && response_ns <= limit_ns)
			ret_controls[drawn++] = i;
	}
	return drawn;
}

void assign_weak(struct tare_cause *causes, size_t count)
{
	size_t stalls = 0, controls = 0, like[2][2][TARE_WORD_COUNT] = {0};
	for (size_t i = 0; i < count; i++) {
		stalls += !causes[i].control;
		controls += causes[i].control;
		like[causes[i].control][causes[i].peer][causes[i].word]++;
	}
	for (size_t i = 0; i < count; i++) {
		struct tare_cause *cause = &causes[i];
		size_t in_stalls = like[0][cause->peer][cause->word], in_controls = like[1][cause->peer][cause->word];
		/* in_controls / controls >= in_stalls / stalls, with at least two ordinary ones behind it */
		cause->weak = cause->word > TARE_WORD_NONE && cause->word < TARE_WORD_LOST && in_controls >= 2 &&
			      in_controls * stalls >= in_stalls * controls;
	}
}

/* ---- the whole ---- */

/* Parts the evidence: intervals stay in the order of time, what was noted with requests is sorted by them. */
static void part_evidence(struct judge *judge, struct tare_evidence *own, size_t *ret_own, struct tare_evidence *noted)
{
	const struct assign_plan *plan = judge->plan;
	size_t n = 0, count = 0;
	for (size_t i = 0; i < plan->evidence_count; i++) {
		const struct tare_evidence *item = &plan->evidence[i];
		if (item->sequence < 0)
			own[n++] = *item;
		else if (item->target == plan->record->target->position)
			noted[count++] = *item;
	}
	qsort(noted, count, sizeof *noted, by_request);
	judge->noted = noted;
	judge->noted_count = count;
	*ret_own = n;
}

int assign_causes(
	const struct assign_plan *plan, struct tare_cause *ret_causes, size_t *ret_count, struct tare_err *err)
{
	size_t items = plan->evidence_count, count = 0, n = 0;
	size_t room = plan->control_count > MEDIAN_OF ? plan->control_count : MEDIAN_OF;
	AUTO_FREE struct tare_evidence *own = calloc(items + 1, sizeof *own);
	AUTO_FREE struct tare_evidence *noted = calloc(items + 1, sizeof *noted);
	AUTO_FREE int64_t *latest_ns = calloc(items + 1, sizeof *latest_ns);
	AUTO_FREE int64_t *values_ns = calloc(room + 1, sizeof *values_ns);
	struct judge judge = {.plan = plan, .series = &plan->record->series};
	if (!own || !noted || !latest_ns || !values_ns)
		return tare_fail_errno(err, ENOMEM, "cannot look for causes");
	part_evidence(&judge, own, &count, noted);
	mark_sleeps(judge.series, own, count);
	explain_latest(own, count, latest_ns);
	judge.index = (struct explain_index){own, latest_ns, count};
	find_medians(&judge, values_ns);
	find_usual(&judge, plan->controls, plan->control_count, values_ns);
	for (size_t i = 0; i < plan->stall_count; i++)
		ret_causes[n++] = judge_one(&judge, plan->stalls[i], false);
	for (size_t i = 0; i < plan->control_count; i++)
		ret_causes[n++] = judge_one(&judge, plan->controls[i], true);
	assign_weak(ret_causes, n);
	*ret_count = n;
	return 0;
}

size_t assign_stalls(
	const struct tare_series *series, int64_t limit_ns, size_t first, uint64_t *ret_stalls, size_t room)
{
	size_t found = 0;
	for (size_t i = first; i < series->count; i++) {
		int64_t late_ns = tare_span_of(series, TARE_SPAN_LATE, i);
		int64_t response_ns = tare_span_of(series, TARE_SPAN_RESPONSE, i);
		bool lost = series->fate[i] == TARE_LOST;
		if (!lost && (late_ns == TARE_NO_TIME || late_ns <= limit_ns) &&
			(response_ns == TARE_NO_TIME || response_ns <= limit_ns))
			continue;
		if (found < room)
			ret_stalls[found] = i;
		found++;
	}
	return found;
}

/* Whether [from, to] comes within 1 ms of a request that was judged; `spans` is sorted and does not overlap. */
struct span_of_time {
	int64_t from_ns, to_ns;
};

static int by_from(const void *left, const void *right)
{
	const struct span_of_time *a = left, *b = right;
	return (a->from_ns > b->from_ns) - (a->from_ns < b->from_ns);
}

static bool is_within(const struct span_of_time *spans, size_t count, int64_t from_ns, int64_t to_ns)
{
	size_t low = 0, high = count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (spans[middle].to_ns < from_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && spans[low].from_ns <= to_ns;
}

static size_t spans_of(
	const struct tare_series *series, const struct tare_cause *causes, size_t count, struct span_of_time *spans)
{
	size_t n = 0, merged = 0;
	for (size_t i = 0; i < count; i++) {
		size_t request = (size_t)causes[i].sequence;
		int64_t from_ns = at(series, TARE_STAGE_DUE, request), to_ns = at(series, TARE_STAGE_USER_RX, request);
		if (to_ns == TARE_NO_TIME)
			to_ns = at(series, TARE_STAGE_USER_TX, request);
		if (from_ns != TARE_NO_TIME && to_ns != TARE_NO_TIME)
			spans[n++] = (struct span_of_time){from_ns - KEEP_AROUND_NS, to_ns + KEEP_AROUND_NS};
	}
	qsort(spans, n, sizeof *spans, by_from);
	for (size_t i = 0; i < n; i++) {
		if (merged && spans[i].from_ns <= spans[merged - 1].to_ns) {
			if (spans[i].to_ns > spans[merged - 1].to_ns)
				spans[merged - 1].to_ns = spans[i].to_ns;
		} else {
			spans[merged++] = spans[i];
		}
	}
	return merged;
}

void assign_mark(const struct tare_series *series, const struct tare_cause *causes, size_t cause_count,
	const struct tare_evidence *evidence, size_t count, bool *marks)
{
	AUTO_FREE struct span_of_time *spans = calloc(cause_count + 1, sizeof *spans);
	size_t span_count = spans ? spans_of(series, causes, cause_count, spans) : 0;
	for (size_t i = 0; i < count; i++)
		marks[i] |= is_within(spans, span_count, evidence[i].from_ns, evidence[i].to_ns);
}
