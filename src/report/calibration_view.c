/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shares are printed in per cent by text and as they are by JSON and CSV: each has a column of its own. */
#include "report/calibration_view.h"

#include <math.h>
#include <stdlib.h>

#include "base/cleanup.h"

const unsigned calibration_plans[CALIBRATION_PLANS] = {4, 8, 12, 24};

void calibration_row_of(const struct tare_calibration *calibration, double chance, int64_t resolution_ns,
	struct calibration_row *ret_row)
{
	struct calibration_row row = {.calibration = *calibration,
		.alarm = tare_alarm_of(calibration, chance, resolution_ns)};
	for (int i = 0; i < CALIBRATION_PLANS; i++) {
		struct tare_design design = tare_design_of(calibration_plans[i]);
		row.sees[i] = calibration->sitting.s *
			      tare_detectable(design.per_s, design.degrees + calibration->sitting.degrees, 0.95, 0.80);
	}
	*ret_row = row;
}

#define ROW(record) ((const struct calibration_row *)(record))

static struct cell get_figure(const void *record, const struct column *column)
{
	(void)column;
	return cell_text(ROW(record)->calibration.figure.name);
}

static struct cell get_rounds(const void *record, const struct column *column)
{
	(void)column;
	return cell_count(ROW(record)->calibration.rounds);
}

static struct cell get_ns(const void *record, const struct column *column)
{
	double value = *(const double *)((const char *)record + column->index);
	return isfinite(value) ? cell_integer((int64_t)llround(value)) : cell_absent(CELL_NOT_MEASURED);
}

static struct cell get_share(const void *record, const struct column *column)
{
	double value = *(const double *)((const char *)record + column->index);
	return isfinite(value) ? cell_real(value) : cell_absent(CELL_NOT_MEASURED);
}

static struct cell get_per_cent(const void *record, const struct column *column)
{
	struct cell cell = get_share(record, column);
	cell.as.real *= cell.state == CELL_VALUE ? 100 : 1;
	return cell;
}

static struct cell get_alarm_high(const void *record, const struct column *column)
{
	const struct calibration_row *row = ROW(record);
	(void)column;
	return tare_alarm_usable(&row->calibration, &row->alarm) ? cell_integer((int64_t)llround(row->alarm.high_ns))
								 : cell_absent(CELL_TOO_FEW);
}

static struct cell get_usable(const void *record, const struct column *column)
{
	(void)column;
	return cell_count(tare_alarm_usable(&ROW(record)->calibration, &ROW(record)->alarm));
}

#define MEMBER(member) offsetof(struct calibration_row, member)
#define FIGURE {"figure", "figure", "what was calibrated", NULL, UNIT_NONE, true, get_figure, 0}
#define ROUNDS {"rounds", "rounds", "identical rounds", NULL, UNIT_NONE, false, get_rounds, 0}
#define NS(name, heading, member, help) {name, heading, help, NULL, UNIT_NS, false, get_ns, MEMBER(member)}
#define SHARE(name, member, help) {name, name, help, NULL, UNIT_RATIO, false, get_share, MEMBER(member)}
#define PER_CENT(heading, member) {heading, heading, heading, NULL, UNIT_NONE, false, get_per_cent, MEMBER(member)}

static const struct column machine_columns[] = {
	FIGURE,
	ROUNDS,
	NS("centre_ns", "centre", calibration.centre_ns, "geometric mean over the rounds"),
	SHARE("s_r", calibration.sitting.s, "deviation between rounds of one sitting, a share"),
	SHARE("degrees", calibration.sitting.degrees, "degrees of freedom behind s_r"),
	SHARE("s_day", calibration.day.s, "deviation of a round on another day"),
	SHARE("s_host", calibration.host.s, "deviation of a round on another host"),
	SHARE("s_all", calibration.all.s, "plain deviation of all rounds; limits are made of it"),
	SHARE("retest", calibration.retest, "largest difference between neighbouring rounds"),
	NS("alarm_low_ns", "low", alarm.low_ns, "alarm below"),
	NS("alarm_high_ns", "high", alarm.high_ns, "alarm above"),
	{"usable", "usable", "1: the limit can serve as an alarm; 0: above ten times the centre", NULL, UNIT_NONE, false, get_usable, 0},
	SHARE("chance", alarm.chance, "of a false alarm, a check and figure"),
	SHARE("sees4", sees[0], "found by 4 rounds in 80 % of cases"),
	SHARE("sees8", sees[1], "by 8 rounds"),
	SHARE("sees12", sees[2], "by 12 rounds"),
	SHARE("sees24", sees[3], "by 24 rounds"),
};
static const struct column text_columns[] = {
	FIGURE,
	NS("centre_ns", "centre", calibration.centre_ns, ""),
	PER_CENT("s_r %", calibration.sitting.s),
	PER_CENT("retest %", calibration.retest),
	PER_CENT("other day %", calibration.day.s),
	PER_CENT("other host %", calibration.host.s),
	{"alarm_high_ns", "alarm above", "", NULL, UNIT_NS, false, get_alarm_high, 0},
	PER_CENT("4 see %", sees[0]),
	PER_CENT("8 see %", sees[1]),
	PER_CENT("12 see %", sees[2]),
	PER_CENT("24 see %", sees[3]),
};

const struct column *calibration_columns(size_t *ret_count)
{
	*ret_count = sizeof machine_columns / sizeof *machine_columns;
	return machine_columns;
}

int calibration_check(const struct table_asked *asked, struct tare_err *err)
{
	return report_check(asked, machine_columns, sizeof machine_columns / sizeof *machine_columns, err);
}

int calibration_print(FILE *out, int width, const struct format *format, const struct table_asked *asked,
	const struct calibration_row *rows, size_t count, struct tare_err *err)
{
	bool usual = format == &format_text && !asked->columns;
	struct report report = {.out = out, .schema = "tare.calibrate/1", .width = width};
	AUTO_FREE const void **records = calloc(count + 1, sizeof *records);
	if (!records)
		return tare_fail(err, TARE_E_SYSTEM, "out of memory for a table");
	report.columns = machine_columns;
	report.column_count = sizeof machine_columns / sizeof *machine_columns;
	if (!usual)
		return report_table(&report, format, asked, NULL, rows, count, sizeof *rows, err);
	int64_t least_ns = INT64_MAX;
	for (size_t i = 0; i < count; i++) {
		records[i] = &rows[i];
		if (rows[i].calibration.centre_ns < (double)least_ns)
			least_ns = (int64_t)rows[i].calibration.centre_ns;
	}
	if (report_sort(report.columns, report.column_count, asked->sort, records, count, err) < 0)
		return -1;
	report.columns = text_columns;
	report.column_count = sizeof text_columns / sizeof *text_columns;
	report.scale = scale_for(least_ns, 1);
	report.corner = report.scale->unit;
	int status = format->begin(&report, err);
	for (size_t i = 0; status == 0 && i < count; i++)
		status = format->row(&report, records[i], err);
	if (status == 0)
		status = format->end(&report, err);
	report_free(&report);
	return status;
}
