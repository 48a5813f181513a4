/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Columns of a stall; `index` is the place of a CPU where there is one. */
#include "lib/stall_columns.h"

#include <math.h>

#define AT(record) ((const struct stall_at *)(record))

static struct cell get_span(const void *record, const struct column *column)
{
	(void)column;
	return cell_text(tare_span_name(AT(record)->span));
}

static struct cell get_seq(const void *record, const struct column *column)
{
	(void)column;
	return cell_count(AT(record)->stall->sequence);
}

static struct cell get_episode(const void *record, const struct column *column)
{
	(void)column;
	return cell_count(AT(record)->stall->episode);
}

static struct cell time_cell(int64_t ns)
{
	return ns == TARE_NO_TIME ? cell_absent(CELL_NOT_MEASURED) : cell_integer(ns);
}

static struct cell get_at(const void *record, const struct column *column)
{
	(void)column;
	return time_cell(AT(record)->stall->at_ns);
}

static struct cell get_value(const void *record, const struct column *column)
{
	(void)column;
	return time_cell(AT(record)->stall->value_ns);
}

static struct cell multiple(double value)
{
	return isfinite(value) ? cell_real(value) : cell_absent(CELL_TOO_FEW);
}

static struct cell get_of_median(const void *record, const struct column *column)
{
	(void)column;
	return multiple(AT(record)->stall->of_median);
}

static struct cell get_of_p999(const void *record, const struct column *column)
{
	(void)column;
	return multiple(AT(record)->stall->of_p999);
}

static struct cell get_cpu(const void *record, const struct column *column)
{
	int16_t cpu = AT(record)->stall->cpu[column->index];
	return cpu == TARE_NO_CPU ? cell_absent(CELL_NOT_MEASURED) : cell_integer(cpu);
}

static struct cell get_fate(const void *record, const struct column *column)
{
	(void)column;
	return cell_text(tare_fate_name((enum tare_fate)AT(record)->stall->fate));
}

static struct cell get_word(const void *record, const struct column *column)
{
	(void)column;
	return cell_text(AT(record)->cause ? tare_word_name(AT(record)->cause->word) : NULL);
}

static struct cell get_peer(const void *record, const struct column *column)
{
	(void)column;
	return AT(record)->cause ? cell_text(AT(record)->cause->peer ? "peer" : "own") : cell_text(NULL);
}

static struct cell get_explained(const void *record, const struct column *column)
{
	(void)column;
	return AT(record)->cause ? cell_integer(AT(record)->cause->explained_ns) : cell_absent(CELL_NOT_MEASURED);
}

static struct cell get_why(const void *record, const struct column *column)
{
	(void)column;
	return cell_text(AT(record)->why);
}

const struct column stall_columns[] = {
	PLACE_FILE,
	PLACE_RUN,
	PLACE_ROUND,
	PLACE_LABEL,
	PLACE_TARGET,
	{"span", "span", "between which two stages", .get = get_span, .is_text = true},
	{"seq", "request", "number of the request in its round, from 0", .get = get_seq},
	{"episode", "episode", "stalls of one interruption share it", .get = get_episode},
	{"at_ns", "at", "when it was due, since the run's epoch", .unit = UNIT_NS, .get = get_at},
	{"value_ns", "value", "how long it took", .unit = UNIT_NS, .get = get_value},
	{"of_median", "x p50", "multiple of the round's median", .get = get_of_median},
	{"of_p999", "x p99.9", "multiple of the round's p99.9", .get = get_of_p999},
	{"cpu_tx", "CPU sent", "CPU at the send", .get = get_cpu, .index = TARE_CPU_TX},
	{"cpu_rx", "CPU rcvd", "CPU at the receive", .get = get_cpu, .index = TARE_CPU_RX},
	{"cpu_peer_rx", "peer CPU", "CPU of the peer when the request was seen", .get = get_cpu, .index = TARE_CPU_PEER_RX},
	{"fate", "fate", "answered or overdue", .get = get_fate, .is_text = true},
	{"word", "word", "what kept it: a word of docs/causes.md", .get = get_word, .is_text = true},
	{"side", "side", "where that was: own or peer", .get = get_peer, .is_text = true},
	{"explained_ns", "explained", "what the evidence covers of the excess over the median", .unit = UNIT_NS,
		.get = get_explained},
	{"cause", "cause", "the same as a sentence", .get = get_why, .is_text = true},
};
const size_t stall_column_count = sizeof(stall_columns) / sizeof(stall_columns[0]);
