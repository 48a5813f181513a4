/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of a calibration: a row a figure, with its spreads, its limits and what comparisons will see. */
#pragma once
#include <stdio.h>

#include "report/report.h"
#include "tare/calibration.h"

enum { CALIBRATION_PLANS = 4 };
extern const unsigned calibration_plans[CALIBRATION_PLANS]; /* 4, 8, 12, 24 rounds */

struct calibration_row {
	struct tare_calibration calibration;
	struct tare_alarm alarm;
	double sees[CALIBRATION_PLANS]; /* effect found in 80 %, as a share */
};
/* What --json and --csv print of a struct calibration_row. */
const struct column *calibration_columns(size_t *ret_count);
/* Fills alarm and what is seen; `chance` of a false alarm a check. */
void calibration_row_of(const struct tare_calibration *calibration, double chance, int64_t resolution_ns,
	struct calibration_row *ret_row);
/* Fails for columns that a calibration does not have. */
int calibration_check(const struct table_asked *asked, struct tare_err *err) TARE_MUST_USE;
int calibration_print(FILE *out, int width, const struct format *format, const struct table_asked *asked,
	const struct calibration_row *rows, size_t count, struct tare_err *err) TARE_MUST_USE;
