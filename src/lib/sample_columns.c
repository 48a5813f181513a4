/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Columns of a sample. `index` is the span, the place of a CPU, or unused. */
#include "lib/sample_columns.h"

#include <stdio.h>
#include <string.h>

#define AT(record) ((const struct sample_at *)(record))

const char *const sample_flag_names[SAMPLE_FLAG_NAMES] = {"no_kernel_tx", "no_kernel_rx", "no_nic_tx", "no_nic_rx", "impossible",
	"clock_step", "truncated", "injected", "skipped", "batched", "duplicated", "reordered", "guessed"};
const char *const sample_cpu_names[TARE_CPU_PLACES] = {[TARE_CPU_TX] = "cpu_tx",
	[TARE_CPU_RX] = "cpu_rx",
	[TARE_CPU_PEER_RX] = "cpu_peer_rx",
	[TARE_CPU_PEER_TX] = "cpu_peer_tx"};
static const char *const span_columns[TARE_SPAN_COUNT] = {
#define X(id, name, from, to, help) [TARE_SPAN_##id] = name "_ns",
	TARE_SPANS(X)
#undef X
};

static struct cell get_run(const void *record, const struct column *column)
{
	(void)column;
	const struct tare_run *run = AT(record)->record->run;
	return run && run->id ? cell_integer(run->id) : cell_absent(CELL_NOT_APPLICABLE);
}

static struct cell get_round(const void *record, const struct column *column)
{
	(void)column;
	return cell_count(AT(record)->record->round->number);
}

static struct cell get_label(const void *record, const struct column *column)
{
	(void)column;
	return cell_text(AT(record)->record->round->label);
}

static struct cell get_target(const void *record, const struct column *column)
{
	(void)column;
	return cell_text(AT(record)->record->target->url);
}

static struct cell get_seq(const void *record, const struct column *column)
{
	(void)column;
	return cell_count(AT(record)->index);
}

static struct cell get_fate(const void *record, const struct column *column)
{
	(void)column;
	return cell_text(tare_fate_name((enum tare_fate)AT(record)->record->series.fate[AT(record)->index]));
}

static struct cell time_cell(int64_t ns)
{
	return ns == TARE_NO_TIME ? cell_absent(CELL_NOT_MEASURED) : cell_integer(ns);
}

static struct cell get_due(const void *record, const struct column *column)
{
	(void)column;
	return time_cell(tare_stage_at(&AT(record)->record->series, TARE_STAGE_DUE, AT(record)->index));
}

static struct cell get_span(const void *record, const struct column *column)
{
	const struct sample_at *at = AT(record);
	return time_cell(tare_span_of(&at->record->series, (enum tare_span)column->index, at->index));
}

static struct cell get_cpu(const void *record, const struct column *column)
{
	const int16_t *cpu = AT(record)->record->series.cpu[column->index];
	int16_t number = cpu ? cpu[AT(record)->index] : TARE_NO_CPU;
	return number == TARE_NO_CPU ? cell_absent(CELL_NOT_MEASURED) : cell_integer(number);
}

static struct cell get_flags(const void *record, const struct column *column)
{
	(void)column;
	const struct sample_at *at = AT(record);
	const uint16_t *flags = at->record->series.flags;
	unsigned set = flags ? flags[at->index] : 0;
	/* no flag of the sample, but what tells it from the others to whoever has only the table */
	const char *warmup = at->index < at->record->round->warmup ? "warmup" : "";
	size_t used = (size_t)snprintf(at->scratch, SAMPLE_SCRATCH_BYTES, "%s", warmup);
	for (size_t bit = 0; set >> bit && bit < SAMPLE_FLAG_NAMES; bit++) {
		if (!(set >> bit & 1))
			continue;
		int added = snprintf(
			at->scratch + used, SAMPLE_SCRATCH_BYTES - used, "%s%s", used ? " " : "", sample_flag_names[bit]);
		used += (size_t)added < SAMPLE_SCRATCH_BYTES - used ? (size_t)added : 0;
	}
	return cell_text(at->scratch);
}

static struct cell get_reason(const void *record, const struct column *column)
{
	(void)column;
	const struct sample_at *at = AT(record);
	const uint16_t *reasons = at->record->series.reason;
	uint16_t reason = reasons ? reasons[at->index] : 0;
	if (reason == 0)
		return cell_absent(CELL_NOT_APPLICABLE);
	tare_reason_name(reason, at->scratch, SAMPLE_SCRATCH_BYTES);
	if (!at->scratch[0])
		snprintf(at->scratch, SAMPLE_SCRATCH_BYTES, "%u", reason);
	return cell_text(at->scratch);
}

void sample_parts_add(struct sample_parts *parts, const struct tare_record *record)
{
	for (unsigned i = 0; i < TARE_SPAN_COUNT; i++) {
		if (!(parts->spans >> i & 1) && tare_span_exists(&record->series, (enum tare_span)i))
			parts->spans |= 1u << i;
	}
	for (unsigned i = 0; i < TARE_CPU_PLACES; i++)
		parts->cpus |= record->series.cpu[i] ? 1u << i : 0;
}

static struct column span_column(unsigned span)
{
	return (struct column){.name = span_columns[span],
		.heading = span_columns[span],
		.help = tare_span_help((enum tare_span)span),
		.unit = UNIT_NS,
		.get = get_span,
		.index = span};
}

size_t sample_table_columns(const struct sample_parts *parts, struct column ret_columns[SAMPLE_COLUMNS_MAX])
{
	static const struct column before[] = {
		{"run", "run", "run within the file, from 1", .get = get_run},
		{"round", "round", "round within the run, from 1", .get = get_round},
		{"label", "label", "label of the round", .get = get_label, .is_text = true},
		{"target", "target", "what was asked, as a URL", .get = get_target, .is_text = true},
		{"seq", "seq", "number of the request within its round and target, from 0", .get = get_seq},
		{"fate", "fate", "what became of it", .get = get_fate, .is_text = true},
		{"due_ns", "due", "when the schedule called for it, since the run's epoch", .unit = UNIT_NS,
			.get = get_due},
	};
	static const struct column after[] = {
		{"flags", "flags", "names of its flags, separated by blanks; warmup: kept apart in figures", .get = get_flags, .is_text = true},
		{"reason", "reason", "errno name of an error", .get = get_reason, .is_text = true},
	};
	static const unsigned always[] = {TARE_SPAN_LATE, TARE_SPAN_RTT, TARE_SPAN_RESPONSE};
	uint32_t rest = parts->spans;
	size_t count = 0;

	for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++)
		ret_columns[count++] = before[i];
	for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++) {
		ret_columns[count++] = span_column(always[i]);
		rest &= ~(1u << always[i]);
	}
	for (unsigned i = 0; i < TARE_SPAN_COUNT; i++) {
		if (rest >> i & 1)
			ret_columns[count++] = span_column(i);
	}
	for (unsigned i = 0; i < TARE_CPU_PLACES; i++) {
		if (parts->cpus >> i & 1)
			ret_columns[count++] = (struct column){.name = sample_cpu_names[i],
				.heading = sample_cpu_names[i],
				.help = "CPU at that moment",
				.get = get_cpu,
				.index = i};
	}
	for (size_t i = 0; i < sizeof(after) / sizeof(after[0]); i++)
		ret_columns[count++] = after[i];
	return count;
}
