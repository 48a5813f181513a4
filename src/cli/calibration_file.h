/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A calibration is a recording: all its rounds under the key of what is measured
 * now (kind, address, rate, payload, CPU class) are read, and spreads and limits
 * computed from them.
 */
#pragma once
#include "cli/source.h"
#include "tare/calibration.h"
#include "tare/verdict.h"

struct calibration_file;
enum { CALIBRATION_NOTE = 600 };

/* Label of rounds that measure the instrument alone, as calibrate --loopback makes them. */
#define CALIBRATION_INSTRUMENT "instrument"
/* The fact of a calibration's run that holds the hash of the host's settings, whatever the target. */
#define CALIBRATION_SETTINGS "calibration.settings"

/* Where the measuring thread ran. */
enum cpu_class { CPU_CLASS_UNKNOWN, CPU_CLASS_ORDINARY, CPU_CLASS_ISOLATED };
/* Of a CPU of this host; -1, no CPU in particular, is ordinary. */
enum cpu_class cpu_class_of(int cpu);
/* As the facts of a recorded run tell it; UNKNOWN also for logs. */
enum cpu_class cpu_class_recorded(const char *path, uint32_t run);

/* What is measured now. The hour is that of like->at_ns, or now. */
struct calibration_key {
	const struct tare_trial *like; /* NULL: whatever is in the file */
	enum cpu_class cpu_class;
};
/* A key without a session: kind and URL from the target, payload whatever the kind takes. */
struct tare_trial calibration_like(const char *url, int64_t interval_ns, uint32_t warmup, char *kind, size_t room);

/*
 * Reads FILE for the key. Rounds of another CPU class are left out where both are known; where ten rounds are from
 * this hour of the day or those beside it, they alone are taken. *ret_note tells which calibration it is, its age,
 * its hours and whether facts have changed since. Fails when no round in it has the key.
 */
int calibration_file_open(const char *path, const struct tare_rules *rules, const struct tare_figure *figures,
	size_t figure_count, const struct calibration_key *key, struct calibration_file **ret_file, char *ret_note,
	size_t note_room, struct tare_err *err) TARE_MUST_USE;
void calibration_file_free(struct calibration_file *file); /* NULL is fine */
/* False when the figure cannot be calibrated from it. */
bool calibration_file_figure(const struct calibration_file *file, const struct tare_figure *figure,
	struct tare_calibration *ret_calibration);
/* Deviation of the instrument alone as a share of the calibrated value; false when it was not measured. */
bool calibration_file_instrument(const struct calibration_file *file, const struct tare_figure *figure, double *ret_share);
/* The stall limit that the calibration froze: 10 x the lowest stable median; TARE_NO_TIME when there is none. */
int64_t calibration_file_stall_limit_ns(const struct calibration_file *file);
/* The same straight from the file, for rules of counting. */
int calibration_stall_limit(const char *path, const struct calibration_key *key, int64_t *ret_limit_ns,
	struct tare_err *err) TARE_MUST_USE;
/*
 * What a calibration says of rounds like the first one of `path`: the class of CPU they ran on, and where
 * `limit_wanted` the stall limit (TARE_NO_TIME: it froze none). `url` stands for the round's own target; NULL: not.
 */
struct calibrated {
	enum cpu_class cpu_class;
	int64_t stall_limit_ns;
};
int calibrated_like(const char *calibration, const char *path, const struct source_rules *rules, const char *url,
	bool limit_wanted, struct calibrated *ret_calibrated, struct tare_err *err) TARE_MUST_USE;
size_t calibration_file_rounds(const struct calibration_file *file);
