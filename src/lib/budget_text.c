/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Means of a budget that still add up, and what to say about the part that grew most. */
#include "tare/budget.h"

#include "base/text.h"

/* Division towards minus infinity: a part may be negative by the error of the peer's clock. */
static int64_t floor_share(int64_t sum, int64_t by)
{
	int64_t share = sum / by;
	return share - (sum % by < 0);
}

int64_t tare_budget_means(const struct tare_budget_row *row, int64_t ret_parts_ns[TARE_PART_COUNT])
{
	if (row->requests == 0 || row->requests > INT64_MAX)
		return TARE_NO_TIME;
	int64_t by = (int64_t)row->requests, left = floor_share(row->whole_ns, by), rest[TARE_PART_COUNT];
	int64_t odd = row->whole_ns - left * by, mean = left + (odd >= by - odd);
	left = mean;
	for (int part = 0; part < TARE_PART_COUNT; part++) {
		ret_parts_ns[part] = floor_share(row->part_ns[part], by);
		rest[part] = row->part_ns[part] - ret_parts_ns[part] * by;
		left -= ret_parts_ns[part];
	}
	/* what rounding down left over goes to those that lost most by it */
	for (; left > 0; left--) {
		int most = 0;
		for (int part = 1; part < TARE_PART_COUNT; part++) {
			if (rest[part] > rest[most])
				most = part;
		}
		ret_parts_ns[most]++;
		rest[most] = -1;
	}
	return mean;
}

/* Growth of every part; the whole's, or TARE_NO_TIME. */
static int64_t growths_of(const struct tare_budget *budget, size_t from, size_t to, int64_t ret_ns[TARE_PART_COUNT])
{
	int64_t before_ns[TARE_PART_COUNT], after_ns[TARE_PART_COUNT];
	if (from >= budget->rows || to >= budget->rows)
		return TARE_NO_TIME;
	int64_t before = tare_budget_means(&budget->row[from], before_ns);
	int64_t after = tare_budget_means(&budget->row[to], after_ns), whole;
	if (before == TARE_NO_TIME || after == TARE_NO_TIME || __builtin_sub_overflow(after, before, &whole))
		return TARE_NO_TIME;
	for (int part = 0; part < TARE_PART_COUNT; part++) {
		if (__builtin_sub_overflow(after_ns[part], before_ns[part], &ret_ns[part]))
			return TARE_NO_TIME;
	}
	return whole;
}

/* The largest growth but that of `other`. */
static enum tare_part largest_but(const int64_t growth_ns[TARE_PART_COUNT], enum tare_part other)
{
	int most = other == 0 ? 1 : 0;
	for (int part = 0; part < TARE_PART_COUNT; part++) {
		if (part != (int)other && growth_ns[part] > growth_ns[most])
			most = part;
	}
	return (enum tare_part)most;
}

struct tare_budget_growth tare_budget_growth_of(const struct tare_budget *budget, size_t from, size_t to)
{
	int64_t growth_ns[TARE_PART_COUNT];
	struct tare_budget_growth growth = {.whole_ns = growths_of(budget, from, to, growth_ns)};
	if (growth.whole_ns == TARE_NO_TIME)
		return growth;
	growth.part = largest_but(growth_ns, TARE_PART_COUNT);
	growth.part_ns = growth_ns[growth.part];
	growth.most = growth.whole_ns > 0 && growth.part_ns > growth.whole_ns / 2;
	return growth;
}

/* True when none of the row's requests had the part by itself, though the whole holds it. */
static bool is_folded(const struct tare_budget *budget, size_t row, enum tare_part part)
{
	bool outer = part == TARE_PART_LATE || part == TARE_PART_TX || part == TARE_PART_WAKE;
	if (outer && budget->whole != TARE_SPAN_RESPONSE && budget->whole != TARE_SPAN_RTT)
		return false;
	if ((part == TARE_PART_TX_NIC || part == TARE_PART_RX_NIC) && budget->whole == TARE_SPAN_WIRE)
		return false;
	return budget->row[row].observed[part] == 0;
}

static void path_words(const struct tare_budget *budget, size_t row, struct text *text)
{
	bool peer = is_folded(budget, row, TARE_PART_SERVICE);
	bool out = is_folded(budget, row, TARE_PART_TX) && is_folded(budget, row, TARE_PART_TX_NIC);
	bool back = is_folded(budget, row, TARE_PART_WAKE) && is_folded(budget, row, TARE_PART_RX_NIC);
	const char *link = " with ";
	if (peer && out && back) {
		text_add(text, "the undivided time between send and receive call");
		return;
	}
	text_add(text, "the path");
	const struct {
		bool folded;
		const char *words;
	} more[] = {{peer, "the responder's host"}, {out, "our sending side"}, {back, "our receiving side"}};
	for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++) {
		if (!more[i].folded)
			continue;
		text_add(text, "%s%s", link, more[i].words);
		link = " and ";
	}
}

void tare_part_words(const struct tare_budget *budget, size_t row, enum tare_part part, char *ret_text, size_t room)
{
	struct text text = {.bytes = ret_text, .room = room};
	static const char *const plain[TARE_PART_COUNT] = {
		[TARE_PART_LATE] = "our own lateness",
		[TARE_PART_TX] = "our kernel on the way out",
		[TARE_PART_TX_NIC] = "our driver and card on the way out",
		[TARE_PART_PATH] = "the path",
		[TARE_PART_PEER_WAKE] = "the responder's wake-up",
		[TARE_PART_SERVICE] = "the responder's service",
		[TARE_PART_RX_NIC] = "our card and its interrupt on the way in",
		[TARE_PART_WAKE] = "our own wake-up",
	};
	if ((unsigned)part >= TARE_PART_COUNT || row >= budget->rows)
		text_add(&text, "unknown");
	else if (part == TARE_PART_PATH)
		path_words(budget, row, &text);
	else if (part == TARE_PART_SERVICE && budget->row[row].residence)
		text_add(&text, "the responder's host");
	else if (part == TARE_PART_TX_NIC && is_folded(budget, row, TARE_PART_TX))
		text_add(&text, "our sending side");
	else if (part == TARE_PART_RX_NIC && is_folded(budget, row, TARE_PART_WAKE))
		text_add(&text, "our receiving side");
	else
		text_add(&text, "%s", plain[part]);
}

void tare_budget_sentence(const struct tare_budget *budget, size_t from, size_t to, char *ret_text, size_t room)
{
	struct text text = {.bytes = ret_text, .room = room};
	int64_t growth_ns[TARE_PART_COUNT];
	char whole[32], grown[32], rest[32], words[120], others[120];
	struct tare_budget_growth growth = tare_budget_growth_of(budget, from, to);
	text_add(&text, "%s", "");
	if (growth.whole_ns == TARE_NO_TIME)
		return;
	growths_of(budget, from, to, growth_ns);
	const char *high = budget->row[to].percentile.text, *low = budget->row[from].percentile.text;
	format_duration(growth.whole_ns, whole, sizeof(whole));
	format_duration(growth.part_ns, grown, sizeof(grown));
	tare_part_words(budget, to, growth.part, words, sizeof(words));
	if (growth.whole_ns <= 0) {
		text_add(&text, "p%s - p%s is %s: nothing to explain", high, low, whole);
		return;
	}
	/* less than one in a hundred over the whole is not worth a clause */
	if (growth.most && growth.part_ns - growth.whole_ns <= growth.whole_ns / 100) {
		text_add(&text, "most of p%s - p%s is %s (%s of %s)", high, low, words, grown, whole);
		return;
	}
	if (growth.most) {
		format_duration(growth.part_ns - growth.whole_ns, rest, sizeof(rest));
		text_add(&text, "p%s - p%s (%s) is %s: %s, while the other parts took %s less", high, low, whole, words,
			grown, rest);
		return;
	}
	enum tare_part next = largest_but(growth_ns, growth.part);
	format_duration(growth_ns[next], rest, sizeof(rest));
	tare_part_words(budget, to, next, others, sizeof(others));
	text_add(&text, "no part holds most of p%s - p%s (%s): %s %s, %s %s", high, low, whole, words, grown, others,
		rest);
}
