/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Parts of the same requests. The ranks of a window are found by selection on
 * the wholes alone; one pass over the series then takes the requests between
 * the two border values, and of those equal to a border as many as its rank says.
 */
#include "tare/budget.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "lib/known_time.h"
#include "lib/packed.h"
#include "lib/select.h"

static const enum tare_span part_span[TARE_PART_COUNT] = {
	[TARE_PART_LATE] = TARE_SPAN_LATE,
	[TARE_PART_TX] = TARE_SPAN_TX,
	[TARE_PART_TX_NIC] = TARE_SPAN_TX_NIC,
	[TARE_PART_PATH] = TARE_SPAN_PATH,
	[TARE_PART_PEER_WAKE] = TARE_SPAN_PEER_WAKE,
	[TARE_PART_SERVICE] = TARE_SPAN_SERVICE,
	[TARE_PART_RX_NIC] = TARE_SPAN_RX_NIC,
	[TARE_PART_WAKE] = TARE_SPAN_WAKE,
};

enum tare_span tare_part_span(enum tare_part part)
{
	return (unsigned)part < TARE_PART_COUNT ? part_span[part] : TARE_SPAN_COUNT;
}

/* The two ends of what can be a whole, longest first. */
static const struct whole {
	enum tare_span span;
	enum tare_stage from, to;
} wholes[] = {
	{TARE_SPAN_RESPONSE, TARE_STAGE_DUE, TARE_STAGE_USER_RX},
	{TARE_SPAN_RTT, TARE_STAGE_USER_TX, TARE_STAGE_USER_RX},
	{TARE_SPAN_STACK, TARE_STAGE_KERNEL_TX, TARE_STAGE_KERNEL_RX},
	{TARE_SPAN_WIRE, TARE_STAGE_NIC_TX, TARE_STAGE_NIC_RX},
};
enum { WHOLES = sizeof(wholes) / sizeof(wholes[0]) };

enum tare_span tare_budget_whole(const struct tare_series *series)
{
	for (size_t i = 0; i < WHOLES; i++) {
		if (series_has(series, wholes[i].from) && series_has(series, wholes[i].to) && !series->given_ns[wholes[i].span])
			return wholes[i].span;
	}
	return TARE_SPAN_COUNT;
}

static int64_t stage_at(const struct tare_series *series, enum tare_stage stage, size_t i)
{
	return series_stage_at(series, stage, i);
}

/* Puts a part where its span was observed: true. */
static bool put(int64_t parts_ns[TARE_PART_COUNT], enum tare_part part, int64_t value_ns)
{
	parts_ns[part] = value_ns == TARE_NO_TIME ? 0 : value_ns;
	return value_ns != TARE_NO_TIME;
}

/* One step inwards: the part between the border and the next stage, which then is the border. */
static unsigned step_in(
	int64_t parts_ns[TARE_PART_COUNT], enum tare_part part, int64_t *border_ns, int64_t stage_ns, bool forward)
{
	int64_t value_ns = forward ? known_difference(stage_ns, *border_ns) : known_difference(*border_ns, stage_ns);
	if (!put(parts_ns, part, value_ns))
		return 0;
	*border_ns = stage_ns;
	return 1u << part;
}

static unsigned peer_parts(const struct tare_series *series, size_t i, int64_t parts_ns[TARE_PART_COUNT])
{
	int64_t came = stage_at(series, TARE_STAGE_PEER_RX, i), seen = stage_at(series, TARE_STAGE_PEER_USER, i);
	int64_t answered = stage_at(series, TARE_STAGE_PEER_TX, i);
	unsigned observed = 0;
	if (put(parts_ns, TARE_PART_PEER_WAKE, answered == TARE_NO_TIME ? TARE_NO_TIME : known_difference(seen, came)))
		observed |= 1u << TARE_PART_PEER_WAKE;
	if (put(parts_ns, TARE_PART_SERVICE, known_difference(answered, seen == TARE_NO_TIME ? came : seen)))
		observed |= 1u << TARE_PART_SERVICE | (seen == TARE_NO_TIME ? TARE_PART_RESIDENCE : 0u);
	return observed;
}

static const struct whole *whole_of(enum tare_span span)
{
	for (size_t i = 0; i < WHOLES; i++) {
		if (wholes[i].span == span)
			return &wholes[i];
	}
	return NULL;
}

int tare_budget_parts(
	const struct tare_series *series, enum tare_span span, size_t i, int64_t ret_parts_ns[TARE_PART_COUNT])
{
	const struct whole *whole = whole_of(span);
	int64_t parts[TARE_PART_COUNT] = {0};
	if (!whole)
		return -1;
	int64_t left = stage_at(series, whole->from, i), right = stage_at(series, whole->to, i);
	if (known_difference(right, left) == TARE_NO_TIME)
		return -1;
	unsigned observed = 0;
	static const struct {
		enum tare_part part;
		enum tare_stage from, to;
	} out[] = {{TARE_PART_LATE, TARE_STAGE_DUE, TARE_STAGE_USER_TX},
		{TARE_PART_TX, TARE_STAGE_USER_TX, TARE_STAGE_KERNEL_TX},
		{TARE_PART_TX_NIC, TARE_STAGE_KERNEL_TX, TARE_STAGE_NIC_TX}},
	  back[] = {{TARE_PART_WAKE, TARE_STAGE_KERNEL_RX, TARE_STAGE_USER_RX},
		  {TARE_PART_RX_NIC, TARE_STAGE_NIC_RX, TARE_STAGE_KERNEL_RX}};
	for (size_t part = 0; part < sizeof(out) / sizeof(out[0]); part++) {
		if (out[part].from >= whole->from)
			observed |= step_in(parts, out[part].part, &left, stage_at(series, out[part].to, i), true);
	}
	for (size_t part = 0; part < sizeof(back) / sizeof(back[0]); part++) {
		if (back[part].to <= whole->to)
			observed |=
				step_in(parts, back[part].part, &right, stage_at(series, back[part].from, i), false);
	}
	observed |= peer_parts(series, i, parts) | 1u << TARE_PART_PATH;
	int64_t middle = known_difference(right, left), residence;
	if (middle == TARE_NO_TIME ||
		__builtin_add_overflow(parts[TARE_PART_PEER_WAKE], parts[TARE_PART_SERVICE], &residence) ||
		__builtin_sub_overflow(middle, residence, &parts[TARE_PART_PATH]))
		return -1;
	memcpy(ret_parts_ns, parts, sizeof(parts));
	return (int)observed;
}

void tare_budget_rules_default(struct tare_budget_rules *ret_rules)
{
	static const struct tare_percentile usual[] = {
		{1, 2, "50", "p50"}, {99, 100, "99", "p99"}, {999, 1000, "99.9", "p999"}};
	*ret_rules = (struct tare_budget_rules){.percentiles = sizeof(usual) / sizeof(usual[0])};
	memcpy(ret_rules->percentile, usual, sizeof(usual));
}

/* A window of ranks, told by its border values and how many of those equal to them stand outside. */
struct window {
	int64_t low_ns, high_ns;
	uint64_t skip_low;  /* of those equal to low_ns, in the order of the series */
	uint64_t take_high; /* of those equal to high_ns (after skip_low where both are one) */
};

static uint64_t count_below(const int64_t *wholes_ns, size_t n, int64_t limit_ns)
{
	uint64_t below = 0;
	for (size_t i = 0; i < n; i++)
		below += wholes_ns[i] < limit_ns;
	return below;
}

/* Reorders wholes_ns. */
static struct window window_of(int64_t *wholes_ns, size_t n, uint64_t rank, uint64_t half)
{
	struct window window = {.low_ns = select_integer(wholes_ns, n, (size_t)(rank - half - 1)),
		.high_ns = select_integer(wholes_ns, n, (size_t)(rank + half - 1))};
	window.skip_low = rank - half - 1 - count_below(wholes_ns, n, window.low_ns);
	window.take_high = rank + half - count_below(wholes_ns, n, window.high_ns);
	if (window.low_ns == window.high_ns)
		window.take_high -= window.skip_low;
	return window;
}

static bool window_holds(struct window *window, int64_t whole_ns)
{
	if (whole_ns == window->low_ns && window->skip_low) {
		window->skip_low--;
		return false;
	}
	if (whole_ns == window->high_ns && window->take_high) {
		window->take_high--;
		return true;
	}
	return whole_ns >= window->low_ns && whole_ns < window->high_ns;
}

static int add_request(struct tare_budget_row *row, const int64_t parts_ns[TARE_PART_COUNT], unsigned observed,
	int64_t whole_ns, struct tare_err *err)
{
	bool over = __builtin_add_overflow(row->whole_ns, whole_ns, &row->whole_ns);
	for (int part = 0; part < TARE_PART_COUNT; part++) {
		over |= __builtin_add_overflow(row->part_ns[part], parts_ns[part], &row->part_ns[part]);
		row->observed[part] += observed >> part & 1;
	}
	row->residence += (observed & TARE_PART_RESIDENCE) != 0;
	row->requests++;
	return over ? tare_fail(err, TARE_E_FORMAT, "times are too large to be summed") : 0;
}

/* Keeps the slowest, slowest first; an equal one that came earlier stays before. */
static void note_slow(struct tare_budget *budget, const struct tare_budget_slow *slow)
{
	size_t at = budget->slow_count;
	while (at > 0 && budget->slow[at - 1].whole_ns < slow->whole_ns)
		at--;
	if (at == TARE_BUDGET_SLOW)
		return;
	if (budget->slow_count < TARE_BUDGET_SLOW)
		budget->slow_count++;
	memmove(&budget->slow[at + 1], &budget->slow[at], (budget->slow_count - at - 1) * sizeof(*slow));
	budget->slow[at] = *slow;
}

/* What of a series is looked at: a whole per request, TARE_NO_TIME where it does not count. */
struct taken {
	const struct tare_series *series;
	enum tare_span whole;
	size_t first;
	int64_t *of, *sorted; /* by request from `first` on; those that count, in any order */
	size_t n;
};

static void take_wholes(struct taken *taken)
{
	size_t count = taken->series->count - taken->first;
	int64_t parts_ns[TARE_PART_COUNT];
	tare_span_values(taken->series, taken->whole, taken->first, count, taken->of);
	for (size_t i = 0; i < count; i++) {
		if (taken->of[i] == TARE_NO_TIME)
			continue;
		if (tare_budget_parts(taken->series, taken->whole, taken->first + i, parts_ns) < 0)
			taken->of[i] = TARE_NO_TIME;
		else
			taken->sorted[taken->n++] = taken->of[i];
	}
}

static int fill_row(const struct taken *taken, struct tare_budget_row *row, struct tare_err *err)
{
	uint64_t rank = tare_rank(&row->percentile, taken->n), behind = taken->n - rank;
	row->ranked = (struct tare_ranked){.value_ns = TARE_NO_TIME,
		.least_ns = TARE_NO_TIME,
		.rank = rank,
		.behind = behind,
		.grade = tare_grade_of(behind),
		.low_ns = TARE_NO_TIME,
		.high_ns = TARE_NO_TIME};
	if (row->ranked.grade == TARE_GRADE_NONE)
		return 0;
	uint64_t half = behind / 10 < rank - 1 ? behind / 10 : rank - 1;
	row->ranked.value_ns = row->ranked.least_ns = select_integer(taken->sorted, taken->n, (size_t)(rank - 1));
	struct window window = window_of(taken->sorted, taken->n, rank, half);
	for (size_t i = 0; i < taken->series->count - taken->first; i++) {
		int64_t parts_ns[TARE_PART_COUNT], whole_ns = taken->of[i];
		if (whole_ns == TARE_NO_TIME || !window_holds(&window, whole_ns))
			continue;
		int observed = tare_budget_parts(taken->series, taken->whole, taken->first + i, parts_ns);
		if (add_request(row, parts_ns, (unsigned)observed, whole_ns, err))
			return -1;
	}
	return 0;
}

static void find_slowest(const struct taken *taken, uint32_t round, struct tare_budget *budget)
{
	for (size_t i = 0; i < taken->series->count - taken->first; i++) {
		if (taken->of[i] == TARE_NO_TIME ||
			(budget->slow_count == TARE_BUDGET_SLOW &&
				taken->of[i] <= budget->slow[TARE_BUDGET_SLOW - 1].whole_ns))
			continue;
		struct tare_budget_slow slow = {.round = round, .sequence = taken->first + i, .whole_ns = taken->of[i]};
		slow.observed = (unsigned)tare_budget_parts(taken->series, taken->whole, slow.sequence, slow.part_ns);
		note_slow(budget, &slow);
	}
}

int tare_budget_of(const struct tare_series *series, uint32_t round, const struct tare_budget_rules *rules,
	struct tare_budget *ret_budget, struct tare_err *err)
{
	struct tare_budget budget = {.whole = tare_budget_whole(series), .rounds = 1, .rows = rules->percentiles};
	for (size_t i = 0; i < budget.rows; i++) {
		budget.row[i] = (struct tare_budget_row){.percentile = rules->percentile[i],
			.ranked = {.value_ns = TARE_NO_TIME,
				.least_ns = TARE_NO_TIME,
				.low_ns = TARE_NO_TIME,
				.high_ns = TARE_NO_TIME}};
	}
	size_t count = rules->first < series->count ? series->count - rules->first : 0;
	if (budget.whole == TARE_SPAN_COUNT || count == 0) {
		*ret_budget = budget;
		return 0;
	}
	AUTO_FREE int64_t *of = calloc(count, sizeof(*of));
	AUTO_FREE int64_t *sorted = calloc(count, sizeof(*sorted));
	if (!of || !sorted)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	struct taken taken = {
		.series = series, .whole = budget.whole, .first = rules->first, .of = of, .sorted = sorted};
	take_wholes(&taken);
	budget.n = taken.n;
	for (size_t i = 0; i < budget.rows && taken.n; i++) {
		if (fill_row(&taken, &budget.row[i], err))
			return -1;
	}
	find_slowest(&taken, round, &budget);
	*ret_budget = budget;
	return 0;
}

static int add_row(struct tare_budget_row *into, const struct tare_budget_row *from, struct tare_err *err)
{
	bool over = __builtin_add_overflow(into->whole_ns, from->whole_ns, &into->whole_ns);
	for (int part = 0; part < TARE_PART_COUNT; part++) {
		over |= __builtin_add_overflow(into->part_ns[part], from->part_ns[part], &into->part_ns[part]);
		into->observed[part] += from->observed[part];
	}
	into->requests += from->requests;
	into->residence += from->residence;
	into->ranked.value_ns = into->ranked.least_ns = TARE_NO_TIME;
	into->ranked.behind += from->ranked.behind;
	into->ranked.rank = 0;
	if (from->ranked.grade < into->ranked.grade)
		into->ranked.grade = from->ranked.grade;
	return over ? tare_fail(err, TARE_E_FORMAT, "times are too large to be summed") : 0;
}

int tare_budget_add(struct tare_budget *into, const struct tare_budget *from, struct tare_err *err)
{
	struct tare_budget sum = *into;
	if (from->n == 0)
		return 0;
	if (sum.n == 0) {
		*into = *from;
		return 0;
	}
	if (sum.whole != from->whole || sum.rows != from->rows)
		return tare_fail(err, TARE_E_USAGE, "parts of '%s' and of '%s' do not add up",
			tare_span_name(sum.whole), tare_span_name(from->whole));
	for (size_t i = 0; i < sum.rows; i++) {
		if (add_row(&sum.row[i], &from->row[i], err))
			return -1;
	}
	for (size_t i = 0; i < from->slow_count; i++)
		note_slow(&sum, &from->slow[i]);
	sum.rounds += from->rounds;
	sum.n += from->n;
	*into = sum;
	return 0;
}
