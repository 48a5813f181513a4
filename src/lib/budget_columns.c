/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Columns of a budget; `index` is the part where there is one. */
#include "lib/budget_columns.h"

#include <string.h>

#define AT(record) ((const struct budget_at *)(record))

void budget_at_fill(struct budget_at *at)
{
	if (at->row) {
		at->whole_ns = tare_budget_means(at->row, at->part_ns);
		return;
	}
	at->whole_ns = at->slow->whole_ns;
	memcpy(at->part_ns, at->slow->part_ns, sizeof(at->part_ns));
}

/* Of how many requests of the line the part was observed by itself. */
static uint64_t observed(const struct budget_at *at, size_t part)
{
	return at->row ? at->row->observed[part] : at->slow->observed >> part & 1;
}

static struct cell get_whole_name(const void *record, const struct column *column)
{
	(void)column;
	return cell_text(tare_span_name(AT(record)->budget->whole));
}

static struct cell get_what(const void *record, const struct column *column)
{
	(void)column;
	return cell_text(AT(record)->what);
}

static struct cell get_rounds(const void *record, const struct column *column)
{
	(void)column;
	return AT(record)->row ? cell_count(AT(record)->budget->rounds) : cell_count(1);
}

static struct cell get_round(const void *record, const struct column *column)
{
	(void)column;
	return AT(record)->slow ? cell_count(AT(record)->slow->round) : cell_absent(CELL_NOT_APPLICABLE);
}

static struct cell get_seq(const void *record, const struct column *column)
{
	(void)column;
	return AT(record)->slow ? cell_count(AT(record)->slow->sequence) : cell_absent(CELL_NOT_APPLICABLE);
}

static struct cell get_requests(const void *record, const struct column *column)
{
	(void)column;
	return cell_count(AT(record)->row ? AT(record)->row->requests : 1);
}

static struct cell get_whole(const void *record, const struct column *column)
{
	(void)column;
	if (AT(record)->whole_ns == TARE_NO_TIME)
		return cell_absent(CELL_TOO_FEW);
	struct cell cell = cell_integer(AT(record)->whole_ns);
	if (AT(record)->row && AT(record)->row->ranked.grade == TARE_GRADE_WEAK)
		cell.mark = '?';
	return cell;
}

static struct cell get_part(const void *record, const struct column *column)
{
	if (AT(record)->whole_ns == TARE_NO_TIME)
		return cell_absent(CELL_TOO_FEW);
	if (!observed(AT(record), column->index))
		return cell_absent(CELL_NOT_MEASURED);
	return cell_integer(AT(record)->part_ns[column->index]);
}

static struct cell get_observed(const void *record, const struct column *column)
{
	return cell_count(observed(AT(record), column->index));
}

static struct cell get_residence(const void *record, const struct column *column)
{
	(void)column;
	return cell_count(
		AT(record)->row ? AT(record)->row->residence : (AT(record)->slow->observed & TARE_PART_RESIDENCE) != 0);
}

static struct cell get_grade(const void *record, const struct column *column)
{
	(void)column;
	return AT(record)->row ? cell_text(tare_grade_name(AT(record)->row->ranked.grade))
			       : cell_absent(CELL_NOT_APPLICABLE);
}

static struct cell get_sentence(const void *record, const struct column *column)
{
	(void)column;
	return AT(record)->sentence ? cell_text(AT(record)->sentence) : cell_absent(CELL_NOT_APPLICABLE);
}

#define PART(id, name, help)                                                                                           \
	{                                                                                                              \
		name "_ns", name, help, .unit = UNIT_NS, .get = get_part, .index = TARE_PART_##id                      \
	}
#define OBSERVED(id, name)                                                                                             \
	{                                                                                                              \
		name, "of " name, "requests that had this part by itself", .group = "observed", .get = get_observed,   \
									   .index = TARE_PART_##id                     \
	}

const struct column budget_columns[] = {
	PLACE_FILE,
	PLACE_RUN,
	PLACE_TARGET,
	{"whole", "whole", "the span that is taken apart", .get = get_whole_name, .is_text = true},
	{"what", "what", "a percentile of the whole, or the place among the slowest", .get = get_what, .is_text = true},
	{"rounds", "rounds", "rounds it is about", .get = get_rounds},
	{"round", "round", "round of a single request", .get = get_round},
	{"seq", "request", "its number in the round, from 0", .get = get_seq},
	{"requests", "requests", "requests whose mean this is", .get = get_requests},
	{"whole_ns", "whole", "mean of the whole over these requests, which is the sum of the parts", .unit = UNIT_NS,
		.get = get_whole},
	PART(LATE, "late", "due to send call"),
	PART(TX, "tx", "send call to driver"),
	PART(TX_NIC, "tx_nic", "driver to wire"),
	PART(PATH, "path", "between our stamps and the responder's, both ways"),
	PART(PEER_WAKE, "peer_wake", "responder's kernel to its process"),
	PART(SERVICE, "service", "responder's process: seen to answered"),
	PART(RX_NIC, "rx_nic", "wire to kernel"),
	PART(WAKE, "wake", "kernel to our receive call"),
	{"grade", "grade", "none, weak (1-9 behind), thin (10-99), solid (100 or more)", .get = get_grade,
		.is_text = true},
	{"growth", "growth", "what of it makes the difference from the first percentile, in words", .get = get_sentence,
		.is_text = true},
	OBSERVED(LATE, "late"),
	OBSERVED(TX, "tx"),
	OBSERVED(TX_NIC, "tx_nic"),
	OBSERVED(PATH, "path"),
	OBSERVED(PEER_WAKE, "peer_wake"),
	OBSERVED(SERVICE, "service"),
	OBSERVED(RX_NIC, "rx_nic"),
	OBSERVED(WAKE, "wake"),
	{"residence", "of residence", "requests whose service is the whole residence, wake-up included",
		.group = "observed", .get = get_residence},
};
const size_t budget_column_count = sizeof(budget_columns) / sizeof(budget_columns[0]);
