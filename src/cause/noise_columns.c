/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Columns of a core that was looked at; `index` is the step of the histogram. */
#include "cause/noise.h"

#define CORE(record) (((const struct noise_row *)(record))->core)

static struct cell get_cpu(const void *record, const struct column *column)
{
	(void)column;
	return cell_integer(CORE(record)->cpu);
}

static struct cell get_readings(const void *record, const struct column *column)
{
	(void)column;
	return cell_count(CORE(record)->readings);
}

static struct cell get_bias(const void *record, const struct column *column)
{
	(void)column;
	return cell_integer(CORE(record)->bias_ns);
}

static struct cell get_taken(const void *record, const struct column *column)
{
	(void)column;
	return cell_integer(CORE(record)->lost_ns);
}

static struct cell get_taken_pct(const void *record, const struct column *column)
{
	(void)column;
	int64_t for_ns = ((const struct noise_row *)record)->for_ns;
	return for_ns > 0 ? cell_real(100.0 * (double)CORE(record)->lost_ns / (double)for_ns)
			  : cell_absent(CELL_NOT_MEASURED);
}

static struct cell get_longest(const void *record, const struct column *column)
{
	(void)column;
	return cell_integer(CORE(record)->worst_count ? CORE(record)->worst[0].ns : 0);
}

static struct cell get_word(const void *record, const struct column *column)
{
	(void)column;
	return cell_text(CORE(record)->worst_count ? tare_word_name(CORE(record)->worst[0].cause.word) : "none");
}

static struct cell get_gaps(const void *record, const struct column *column)
{
	return cell_count(CORE(record)->count[column->index]);
}

#define GAPS(name, heading, help, step) {name, heading, help, "gaps", UNIT_NONE, false, get_gaps, step}

const struct column noise_columns[] = {
	{"cpu", "CPU", "the core", NULL, UNIT_NONE, false, get_cpu, 0},
	{"readings", "readings", "of the clock", NULL, UNIT_NONE, false, get_readings, 0},
	{"bias_ns", "bias", "least between two readings: what the loop itself costs", NULL, UNIT_NS, false, get_bias, 0},
	{"taken_ns", "taken", "sum of all gaps of 1 us or more, bias taken off", NULL, UNIT_NS, false, get_taken, 0},
	{"taken_pct", "taken %", "the same as per cent of the time", NULL, UNIT_NONE, false, get_taken_pct, 0},
	{"longest_ns", "longest", "longest gap", NULL, UNIT_NS, false, get_longest, 0},
	{"word", "word", "what took the core away for the longest: a word of docs/causes.md", NULL, UNIT_NONE, true, get_word, 0},
	GAPS("from_1000_ns", "1 µs", "gaps of 1 us up to the next step", 0),
	GAPS("from_2000_ns", "2 µs", "gaps from 2 us", 1),
	GAPS("from_5000_ns", "5 µs", "gaps from 5 us", 2),
	GAPS("from_10000_ns", "10 µs", "gaps from 10 us", 3),
	GAPS("from_20000_ns", "20 µs", "gaps from 20 us", 4),
	GAPS("from_50000_ns", "50 µs", "gaps from 50 us", 5),
	GAPS("from_100000_ns", "100 µs", "gaps from 100 us", 6),
	GAPS("from_1000000_ns", "1 ms", "gaps from 1 ms", 7),
	GAPS("from_10000000_ns", "10 ms", "gaps from 10 ms", 8),
};
const size_t noise_column_count = sizeof noise_columns / sizeof *noise_columns;
