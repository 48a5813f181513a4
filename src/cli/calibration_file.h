/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A calibration is a recording: all its rounds under the key of what is measured
 * now (kind, address, rate, payload, CPU class) are read, and spreads and limits
 * computed from them.
 */
#pragma once
#include "tare/calibration.h"
#include "tare/verdict.h"

struct calibration_file;

/* Label of rounds that measure the instrument alone, as calibrate --loopback makes them. */
#define CALIBRATION_INSTRUMENT "instrument"
/* The fact of a calibration's run that holds the hash of the host's settings, whatever the target. */
#define CALIBRATION_SETTINGS "calibration.settings"

/*
 * Reads FILE for the key of `like`. *ret_note tells which calibration it is, its age and whether facts have changed
 * since ("" when there is nothing to say). Fails when no round in it has the key.
 */
int calibration_file_open(const char *path, const struct tare_rules *rules, const struct tare_figure *figures,
	size_t figure_count, const struct tare_trial *like, struct calibration_file **ret_file, char *ret_note,
	size_t note_room, struct tare_err *err) TARE_MUST_USE;
void calibration_file_free(struct calibration_file *file); /* NULL is fine */
/* False when the figure cannot be calibrated from it. */
bool calibration_file_figure(const struct calibration_file *file, const struct tare_figure *figure,
	struct tare_calibration *ret_calibration);
/* Deviation of the instrument alone as a share of the calibrated value; false when it was not measured. */
bool calibration_file_instrument(const struct calibration_file *file, const struct tare_figure *figure, double *ret_share);
/* The stall limit that the calibration froze: 10 x the lowest stable median; TARE_NO_TIME when there is none. */
int64_t calibration_file_stall_limit_ns(const struct calibration_file *file);
size_t calibration_file_rounds(const struct calibration_file *file);
