/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Columns of one thing that took a CPU during a round. */
#include "lib/share_columns.h"

#include <math.h>

#define AT(record) ((const struct share_at *)(record))

static struct cell get_cpu(const void *record, const struct column *column)
{
	(void)column;
	return cell_integer(AT(record)->share->cpu);
}

static struct cell get_whose(const void *record, const struct column *column)
{
	static const char *const names[] = {"nobody's", "sender", "responder", "both"};
	(void)column;
	return cell_text(names[AT(record)->share->of & (TARE_SHARE_OF_SENDER | TARE_SHARE_OF_RESPONDER)]);
}

static struct cell get_what(const void *record, const struct column *column)
{
	(void)column;
	return cell_text(tare_share_kind_name((enum tare_share_kind)AT(record)->share->kind));
}

static struct cell get_name(const void *record, const struct column *column)
{
	(void)column;
	const struct tare_share *share = AT(record)->share;
	return share->name[0] ? cell_text(share->name) : cell_absent(CELL_NOT_APPLICABLE);
}

static struct cell get_time(const void *record, const struct column *column)
{
	(void)column;
	int64_t ns = AT(record)->share->ns;
	return ns == TARE_NO_TIME ? cell_absent(CELL_NOT_MEASURED) : cell_integer(ns);
}

static double round_to_places(double value)
{
	return floor(value * 100 + 0.5) / 100;
}

static struct cell get_percent(const void *record, const struct column *column)
{
	(void)column;
	const struct tare_round *round = AT(record)->place.round;
	int64_t ns = AT(record)->share->ns;
	if (ns == TARE_NO_TIME || round->ended_ns == TARE_NO_TIME || round->ended_ns <= round->first_due_ns)
		return cell_absent(CELL_NOT_MEASURED);
	/* a hundredth of a per cent is what a round of 10 s tells from an interrupt or two */
	return cell_real(round_to_places(100 * (double)ns / (double)(round->ended_ns - round->first_due_ns)));
}

static struct cell get_times(const void *record, const struct column *column)
{
	(void)column;
	return cell_count(AT(record)->share->times);
}

const struct column share_columns[] = {
	PLACE_FILE,
	PLACE_RUN,
	PLACE_ROUND,
	PLACE_LABEL,
	{"cpu", "CPU", "the CPU", .get = get_cpu},
	{"whose", "whose", "sender, responder, both, or nobody's: then something that was looked for ran there",
		.get = get_whose, .is_text = true},
	{"what", "what", "task, waited, interrupt, softirq, steal, SMI, throttled", .get = get_what, .is_text = true},
	{"name", "name", "of the task, device or kind", .get = get_name, .is_text = true},
	{"percent", "% of round", "its time in the round, in per cent", .get = get_percent},
	{"ns", "time", "how long; not measured for what is only counted", .unit = UNIT_NS, .get = get_time},
	{"times", "times", "stretches, interrupts; of waiting: how often it was pushed aside", .get = get_times},
};
const size_t share_column_count = sizeof(share_columns) / sizeof(share_columns[0]);
