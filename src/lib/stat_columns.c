/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Columns of a statistics row. `index` is the member's offset, or the place of
 * a percentile in the rules; the keys of percentiles are built from how they
 * were written ("99.9" is p999_ns).
 */
#include "lib/stat_columns.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"

#define ROW(record)                  ((const struct tare_row *)(record))
#define MEMBER(type, record, column) (*(type const *)((const char *)(record) + (column)->index))

static struct cell get_text(const void *record, const struct column *column)
{
	return cell_text(MEMBER(const char *, record, column));
}

static struct cell get_count(const void *record, const struct column *column)
{
	return cell_count(MEMBER(uint64_t, record, column));
}

/* A live run has no file, a row merged over runs no run, one merged over rounds no round and no label. */
static struct cell get_file(const void *record, const struct column *column)
{
	(void)column;
	return ROW(record)->file ? cell_text(ROW(record)->file) : cell_absent(CELL_NOT_APPLICABLE);
}

static struct cell get_run(const void *record, const struct column *column)
{
	(void)column;
	return ROW(record)->run ? cell_integer(ROW(record)->run) : cell_absent(CELL_NOT_APPLICABLE);
}

static struct cell get_round(const void *record, const struct column *column)
{
	(void)column;
	return ROW(record)->round ? cell_count(ROW(record)->round) : cell_absent(CELL_NOT_APPLICABLE);
}

static struct cell get_group(const void *record, const struct column *column)
{
	(void)column;
	return ROW(record)->group ? cell_text(ROW(record)->group) : cell_absent(CELL_NOT_APPLICABLE);
}

/* What a summary does not count is not 0; and of nothing sent nothing can be lost. */
static struct cell get_fate_count(const void *record, const struct column *column)
{
	if (ROW(record)->sent == 0 && (ROW(record)->origin.shape == TARE_SHAPE_SUMMARY || ROW(record)->not_sent == 0))
		return cell_absent(CELL_NOT_MEASURED);
	return get_count(record, column);
}

/* Nor is it 0 where the source had left out what was lost, or does not say. */
static struct cell get_lost(const void *record, const struct column *column)
{
	if (tare_row_losses_known(ROW(record)))
		return get_fate_count(record, column);
	return cell_absent(CELL_NOT_MEASURED);
}

enum of_origin { OF_SOURCE, OF_QUANTITY, OF_CLOCK, OF_PACING, OF_LATENESS, OF_SHAPE, OF_LEFT_OUT };
static struct cell get_origin(const void *record, const struct column *column)
{
	const struct tare_origin *origin = &ROW(record)->origin;
	if (ROW(record)->origin_mixed)
		return cell_absent(CELL_NOT_APPLICABLE);
	switch ((enum of_origin)column->index) {
	case OF_SOURCE:
		return cell_text(origin->format ? origin->format : "tare");
	case OF_QUANTITY:
		return cell_text(tare_quantity_name(origin->quantity));
	case OF_CLOCK:
		return cell_text(tare_clock_name(origin->clock));
	case OF_PACING:
		return cell_text(tare_pacing_name(origin->pacing));
	case OF_LATENESS:
		return cell_text(tare_lateness_name(origin->lateness));
	case OF_SHAPE:
		return cell_text(tare_shape_name(origin->shape));
	case OF_LEFT_OUT:
		break;
	}
	return cell_text(ROW(record)->left_out);
}

static struct cell get_resolution(const void *record, const struct column *column)
{
	(void)column;
	int64_t step_ns = ROW(record)->resolution_ns;
	return step_ns > 0 ? cell_integer(step_ns) : cell_absent(CELL_NOT_MEASURED);
}

static struct cell get_span(const void *record, const struct column *column)
{
	(void)column;
	return cell_text(tare_span_name(ROW(record)->span));
}

static struct cell duration(const struct tare_row *row, int64_t value_ns, enum cell_state absent)
{
	if (value_ns == TARE_NO_TIME)
		return cell_absent(absent);
	struct cell cell = cell_integer(value_ns);
	cell.resolution_ns = row->resolution_ns;
	return cell;
}

/* A figure that a source with bins bounds from both sides. */
static struct cell bounded(const struct tare_row *row, int64_t least_ns, int64_t value_ns, enum cell_state absent)
{
	struct cell cell = duration(row, value_ns, absent);
	if (cell.state == CELL_VALUE && least_ns != value_ns) {
		cell.ranged = true;
		cell.low_ns = least_ns;
	}
	return cell;
}

static struct cell get_request(const void *record, const struct column *column)
{
	/* First requests belong to a round; a merged row has many of them. */
	return duration(ROW(record), MEMBER(int64_t, record, column),
		ROW(record)->round ? CELL_NOT_MEASURED : CELL_NOT_APPLICABLE);
}

static struct cell get_min(const void *record, const struct column *column)
{
	(void)column;
	return bounded(ROW(record), ROW(record)->min_least_ns, ROW(record)->min_ns, CELL_TOO_FEW);
}

static struct cell get_max(const void *record, const struct column *column)
{
	(void)column;
	return bounded(ROW(record), ROW(record)->max_least_ns, ROW(record)->max_ns, CELL_TOO_FEW);
}

static struct cell get_pdv(const void *record, const struct column *column)
{
	(void)column;
	return bounded(ROW(record), ROW(record)->pdv_least_ns, ROW(record)->pdv_ns, CELL_TOO_FEW);
}

/* Lower bounds: of min, of max, of a percentile. Null where the figure itself is exact. */
enum { LEAST_MIN = TARE_PERCENTILES_MAX, LEAST_MAX };
static struct cell get_least(const void *record, const struct column *column)
{
	const struct tare_row *row = ROW(record);
	int64_t least_ns = column->index == LEAST_MIN   ? row->min_least_ns
			   : column->index == LEAST_MAX ? row->max_least_ns
							: row->ranked[column->index].least_ns;
	if (!row->binned)
		return cell_absent(CELL_NOT_APPLICABLE);
	return duration(row, least_ns, CELL_TOO_FEW);
}

static struct cell get_ranked(const void *record, const struct column *column)
{
	const struct tare_ranked *ranked = &ROW(record)->ranked[column->index];
	if (ranked->lost)
		return cell_absent(CELL_LOST);
	if (ranked->grade == TARE_GRADE_NONE)
		return cell_absent(CELL_TOO_FEW);
	struct cell cell = bounded(ROW(record), ranked->least_ns, ranked->value_ns, CELL_TOO_FEW);
	cell.mark = ranked->grade == TARE_GRADE_WEAK ? '?' : 0;
	return cell;
}

/* The time between two sends is no delay: a limit made from rtt says nothing about it. */
static struct cell get_stalls(const void *record, const struct column *column)
{
	(void)column;
	if (ROW(record)->span == TARE_SPAN_GAP)
		return cell_absent(CELL_NOT_APPLICABLE);
	if (ROW(record)->n == 0 && ROW(record)->origin.shape == TARE_SHAPE_SUMMARY)
		return cell_absent(CELL_NOT_MEASURED);
	return cell_count(ROW(record)->stalls);
}

static struct cell get_stall_limit(const void *record, const struct column *column)
{
	(void)column;
	/* The limit is 10 x p50 or a given one: it has no step of its own. */
	int64_t limit_ns = ROW(record)->stall_limit_ns;
	if (ROW(record)->span == TARE_SPAN_GAP)
		return cell_absent(CELL_NOT_APPLICABLE);
	return limit_ns == TARE_NO_TIME ? cell_absent(CELL_NOT_MEASURED) : cell_integer(limit_ns);
}

/* Only the row of rtt has them. */
static struct cell get_variation(const void *record, const struct column *column)
{
	return duration(ROW(record), MEMBER(int64_t, record, column), CELL_TOO_FEW);
}

static struct cell get_moment(const void *record, const struct column *column)
{
	double value = MEMBER(double, record, column);
	return isfinite(value) ? cell_real(value) : cell_absent(CELL_TOO_FEW);
}

static struct cell get_rate(const void *record, const struct column *column)
{
	double value = MEMBER(double, record, column);
	return isfinite(value) ? cell_real(value) : cell_absent(ROW(record)->round ? CELL_NOT_MEASURED : CELL_NOT_APPLICABLE);
}

static struct cell get_payload(const void *record, const struct column *column)
{
	(void)column;
	const struct tare_row *row = ROW(record);
	if (row->payload_bytes)
		return cell_count(row->payload_bytes);
	return cell_absent(row->round ? CELL_NOT_MEASURED : CELL_NOT_APPLICABLE);
}

static struct cell get_schedule(const void *record, const struct column *column)
{
	(void)column;
	const struct tare_row *row = ROW(record);
	if (row->schedule[0])
		return cell_text(row->schedule);
	return cell_absent(row->round ? CELL_NOT_MEASURED : CELL_NOT_APPLICABLE);
}

static struct cell get_low(const void *record, const struct column *column)
{
	return duration(ROW(record), ROW(record)->ranked[column->index].low_ns, CELL_TOO_FEW);
}

static struct cell get_high(const void *record, const struct column *column)
{
	return duration(ROW(record), ROW(record)->ranked[column->index].high_ns, CELL_TOO_FEW);
}

static struct cell get_behind(const void *record, const struct column *column)
{
	return cell_count(ROW(record)->ranked[column->index].behind);
}

static struct cell get_grade(const void *record, const struct column *column)
{
	return cell_text(tare_grade_name(ROW(record)->ranked[column->index].grade));
}

#define AT(member) .index = offsetof(struct tare_row, member)

static const struct column before_percentiles[] = {
	{"file", "file", "file the row comes from; null for a live run", .get = get_file, .is_text = true},
	{"run", "run", "run within the file, from 1; null when merged over runs", .get = get_run},
	{"round", "round", "round within the run, from 1; null when merged over rounds", .get = get_round},
	{"label", "label", "label of the round", .get = get_text, .is_text = true, AT(label)},
	{"group", "group", "what the row is merged over with --group-by; null otherwise", .get = get_group, .is_text = true},
	{"target", "target", "what was asked, as a URL", .get = get_text, .is_text = true, AT(target)},
	{"kind", "kind", "kind of probe", .get = get_text, .is_text = true, AT(kind)},
	{"schedule", "schedule", "periodic, poisson or burst:N, as due times tell", .get = get_schedule, .is_text = true},
	{"payload_bytes", "payload", "bytes behind the IP and UDP or ICMP headers", .get = get_payload},
	{"rate_asked", "asked", "requests a second asked for", .unit = UNIT_RATE, .get = get_rate, AT(rate_asked)},
	{"rate_held", "held", "requests a second that left on schedule; the lowest where rounds are merged", .unit = UNIT_RATE,
		.get = get_rate, AT(rate_held)},
	{"span", "span", "between which two stages", .get = get_span, .is_text = true},
	{"source", "source", "format it was read from; tare: measured by tare", .get = get_origin, .is_text = true, .index = OF_SOURCE},
	{"quantity", "quantity", "what the values are: rtt, half_rtt, one_way, residence, response, wakeup, other",
		.get = get_origin, .is_text = true, .index = OF_QUANTITY},
	{"clock", "clock", "clock that the values were read from", .get = get_origin, .is_text = true, .index = OF_CLOCK},
	{"resolution_ns", "step", "step of the values; the coarsest where rounds are merged", .unit = UNIT_NS, .get = get_resolution},
	{"pacing", "pacing", "who decided when the next request leaves: open, closed", .get = get_origin, .is_text = true,
		.index = OF_PACING},
	{"lateness", "lateness", "what is known of late requests: measured, rebuilt, unknown", .get = get_origin, .is_text = true,
		.index = OF_LATENESS},
	{"shape", "shape", "samples, bins or summary", .get = get_origin, .is_text = true, .index = OF_SHAPE},
	{"left_out", "left out", "what the source had left out: warmup, lost, reordered, errors, some, unknown",
		.get = get_origin, .is_text = true, .index = OF_LEFT_OUT},
	{"sent", "sent", "requests the kernel accepted, warm-up included", .get = get_fate_count, AT(sent)},
	{"n", "n", "values counted: answered and overdue, without the warm-up", .get = get_count, AT(n)},
	{"lost", "lost", "no answer within the timeout; null where the source leaves that out", .get = get_lost, AT(lost)},
	{"overdue", "overdue", "answered after the timeout; counted with their time", .get = get_fate_count, AT(overdue)},
	{"pending", "pending", "still open when the round was stopped", .get = get_fate_count, AT(pending)},
	{"error", "error", "sent, then refused by the network", .get = get_fate_count, AT(error)},
	{"not_sent", "not sent", "not accepted by the kernel, or slot skipped", .get = get_fate_count, AT(not_sent)},
	{"duplicate", "duplicate", "answers beyond the first", .get = get_fate_count, AT(duplicate)},
	{"reordered", "reordered", "answered after a later request (RFC 4737)", .get = get_fate_count, AT(reordered)},
	{"foreign", "foreign", "answers to nothing we asked", .get = get_fate_count, AT(foreign)},
	{"first_ns", "first", "first request of the round", .unit = UNIT_NS, .get = get_request, AT(first_ns)},
	{"second_ns", "second", "second request of the round", .unit = UNIT_NS, .get = get_request, AT(second_ns)},
	{"min_ns", "min", "smallest value", .unit = UNIT_NS, .get = get_min},
};

static const struct column of_variation[] = {
	{"ipdv_p50_ns", "ipdv p50", "difference of neighbouring values (IPDV, RFC 3393), median", .unit = UNIT_NS,
		.get = get_variation, AT(variation.ipdv_p50_ns)},
	{"ipdv_p99_ns", "ipdv p99", "the same, p99", .unit = UNIT_NS, .get = get_variation, AT(variation.ipdv_p99_ns)},
	{"ipdv_p999_ns", "ipdv p99.9", "the same, p99.9", .unit = UNIT_NS, .get = get_variation, AT(variation.ipdv_p999_ns)},
};

static const struct column of_moments[] = {
	{"mean_ns", "mean", "arithmetic mean, without the warm-up", .get = get_moment, AT(variation.mean_ns)},
	{"deviation_ns", "sd", "standard deviation (n - 1), without the warm-up", .get = get_moment, AT(variation.deviation_ns)},
	{"mean_first_ns", "mean+2", "mean with the first two requests", .get = get_moment, AT(variation.mean_first_ns)},
	{"deviation_first_ns", "sd+2", "standard deviation with the first two requests", .get = get_moment,
		AT(variation.deviation_first_ns)},
	{"rfc3550_jitter_ns", "J", "interarrival jitter of RFC 3550", .get = get_moment, AT(variation.rfc3550_jitter_ns)},
	{"p95_less_p50_ns", "p95-p50", "p95 - p50, what owamp calls jitter", .unit = UNIT_NS, .get = get_variation,
		AT(variation.p95_less_p50_ns)},
};

static const struct column after_percentiles[] = {
	{"max_ns", "max", "largest value", .unit = UNIT_NS, .get = get_max},
	{"pdv_ns", "pdv", "p99.9 - min, packet delay variation (RFC 5481)", .unit = UNIT_NS, .get = get_pdv},
	{"stalls", "stalls", "values above the stall limit", .get = get_stalls},
	{"stall_limit_ns", "stall limit", "what counts as a stall", .unit = UNIT_NS, .get = get_stall_limit},
};

enum {
	BEFORE = sizeof(before_percentiles) / sizeof(before_percentiles[0]),
	AFTER = sizeof(after_percentiles) / sizeof(after_percentiles[0]),
	VARIATION = sizeof(of_variation) / sizeof(of_variation[0]),
	MOMENTS = sizeof(of_moments) / sizeof(of_moments[0]),
};

struct stat_columns {
	struct tare_percentile percentile[TARE_PERCENTILES_MAX];
	struct {
		char name[32], heading[24], behind[32], grade[32], least[32];
	} text[TARE_PERCENTILES_MAX];
	struct column table[BEFORE + 6 * TARE_PERCENTILES_MAX + 2 + AFTER + VARIATION + MOMENTS];
	size_t count;
};

static void add(struct stat_columns *columns, const struct column *column)
{
	columns->table[columns->count++] = *column;
}

int stat_columns_open(const struct tare_rules *rules, struct stat_columns **ret_columns, struct tare_err *err)
{
	size_t percentiles = rules->percentiles;
	if (percentiles > TARE_PERCENTILES_MAX)
		return tare_fail(err, TARE_E_USAGE, "more than %d percentiles", TARE_PERCENTILES_MAX);
	struct stat_columns *columns = calloc(1, sizeof(*columns));
	if (!columns)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory");
	for (size_t i = 0; i < BEFORE; i++)
		add(columns, &before_percentiles[i]);
	for (size_t i = 0; i < percentiles; i++) {
		columns->percentile[i] = rules->percentile[i];
		snprintf(columns->text[i].name, sizeof(columns->text[i].name), "%s_ns", columns->percentile[i].key);
		snprintf(columns->text[i].behind, sizeof(columns->text[i].behind), "behind.%s",
			columns->percentile[i].key);
		snprintf(
			columns->text[i].grade, sizeof(columns->text[i].grade), "grade.%s", columns->percentile[i].key);
		snprintf(
			columns->text[i].least, sizeof(columns->text[i].least), "least.%s", columns->percentile[i].key);
		snprintf(
			columns->text[i].heading, sizeof(columns->text[i].heading), "p%s", columns->percentile[i].text);
		add(columns, &(struct column){.name = columns->text[i].name,
				     .heading = columns->text[i].heading,
				     .help = "value of rank ceil(p x n); null without a value behind it",
				     .unit = UNIT_NS,
				     .get = get_ranked,
				     .index = i});
	}
	for (size_t i = 0; i < AFTER; i++)
		add(columns, &after_percentiles[i]);
	for (size_t i = 0; i < VARIATION && rules->variation; i++)
		add(columns, &of_variation[i]);
	for (size_t i = 0; i < MOMENTS && rules->moments; i++)
		add(columns, &of_moments[i]);
	for (size_t i = 0; i < 2 * percentiles; i++) {
		bool is_grade = i >= percentiles;
		size_t at = is_grade ? i - percentiles : i;
		add(columns, &(struct column){.name = columns->percentile[at].key,
				     .heading = is_grade ? columns->text[at].grade : columns->text[at].behind,
				     .help = is_grade ? "none, weak (1-9 behind), thin (10-99), solid (100 or more)"
						      : "values above that rank",
				     .group = is_grade ? "grade" : "behind",
				     .is_text = is_grade,
				     .get = is_grade ? get_grade : get_behind,
				     .index = at});
	}
	for (size_t i = 0; i < percentiles; i++)
		add(columns, &(struct column){.name = columns->percentile[i].key,
				     .heading = columns->text[i].least,
				     .help = "lower bound of that percentile, which is then the upper one; null where it is exact",
				     .group = "least",
				     .unit = UNIT_NS,
				     .get = get_least,
				     .index = i});
	add(columns, &(struct column){.name = "min",
			     .heading = "least.min",
			     .help = "lower bound of min",
			     .group = "least",
			     .unit = UNIT_NS,
			     .get = get_least,
			     .index = LEAST_MIN});
	add(columns, &(struct column){.name = "max",
			     .heading = "least.max",
			     .help = "lower bound of max",
			     .group = "least",
			     .unit = UNIT_NS,
			     .get = get_least,
			     .index = LEAST_MAX});
	for (size_t i = 0; i < 2 * percentiles && rules->level > 0; i++) {
		bool is_high = i >= percentiles;
		add(columns, &(struct column){.name = columns->percentile[is_high ? i - percentiles : i].key,
				     .heading = is_high ? "ci high" : "ci low",
				     .help = "bound of the exact binomial interval; null where it is open",
				     .group = is_high ? "ci_high_ns" : "ci_low_ns",
				     .unit = UNIT_NS,
				     .get = is_high ? get_high : get_low,
				     .index = is_high ? i - percentiles : i});
	}
	*ret_columns = columns;
	return 0;
}

void stat_columns_free(struct stat_columns *columns)
{
	free(columns);
}

const struct column *stat_columns_table(const struct stat_columns *columns, size_t *ret_count)
{
	*ret_count = columns->count;
	return columns->table;
}
