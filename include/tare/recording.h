/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A recording, NAME.tare: an SQLite database of runs, targets, rounds and
 * events, with the samples as compressed column chunks. docs/recording.md has
 * every table and column; anyone may open it with sqlite3. It may be read while
 * it is being written, and from a read-only place, also after its writer was
 * killed. Nothing in a file is trusted: sizes are bounded by that of the file,
 * and every row and chunk carries a checksum.
 *
 * Failures that concern the file (foreign, cut off, damaged, newer) have the
 * code TARE_E_FORMAT; a file that exists already, or a run that cannot be
 * written to, TARE_E_USAGE; what the system refused, TARE_E_SYSTEM or
 * TARE_E_PERMISSION.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tare/cause.h"
#include "tare/err.h"
#include "tare/run.h"

/* PRAGMA user_version of what this library writes; a higher one is refused with a sentence. */
enum { TARE_RECORDING_VERSION = 2 };

/* ---- writing ---- */

struct tare_writer;

enum tare_open_mode {
	TARE_CREATE, /* an existing file is refused */
	TARE_APPEND, /* an existing recording gets one more run; a missing or empty file is created */
	TARE_RESUME, /* an existing recording whose unfinished run is completed (salvage); refused when there is none */
};

/*
 * Holds the recording's write lock until freed: a second writer is refused ("is
 * being written by pid N"). The lock lives in the open file description: a
 * forked child that does not exec keeps it as long as it lives. A child must not
 * use the writer. One writer per file and process.
 */
TARE_API int tare_writer_open(const char *path, enum tare_open_mode mode, struct tare_writer **ret_writer,
			      struct tare_err *err) TARE_MUST_USE;

/* A setting as it took effect: name, value, and where it came from ("argv", "default", "/etc/tare/tare.conf"). */
struct tare_setting { const char *name, *value, *origin; };
/* A fact about a host, side "local" or a peer's address, moment "start" or "end" of a round or run. */
struct tare_fact { const char *side, *moment, *key, *value; };

/*
 * Each of these is one transaction, durable when it returns; one that fails
 * (disk full) leaves the file as it was before. Ids are assigned here and
 * written back. Strings may be NULL and come back as NULL.
 */
TARE_API int tare_writer_begin_run(struct tare_writer *writer, struct tare_run *run, struct tare_target *targets,
				   size_t target_count, const struct tare_setting *settings, size_t setting_count,
				   struct tare_err *err) TARE_MUST_USE;
struct tare_reading { int64_t mono_before_ns, real_ns, mono_after_ns; };
/*
 * All series of one round at once, at least one; records[j].round must be the
 * same round and their run one that has not ended. Readings: the paired clock
 * readings taken. Each series keeps its own first due time as at_ns[DUE][0].
 * Columns in which nothing was observed are not stored and come back as NULL.
 */
TARE_API int tare_writer_round(struct tare_writer *writer, struct tare_round *round, const struct tare_record *records,
			       size_t record_count, const struct tare_event *events, size_t event_count,
			       const struct tare_reading *readings, size_t reading_count,
			       struct tare_err *err) TARE_MUST_USE;
/*
 * What was found about the requests of a round (its id as tare_writer_round gave it), and the evidence behind it.
 * A recording of format 1 that gets them becomes one of format 2.
 */
TARE_API int tare_writer_causes(struct tare_writer *writer, int64_t round_id, const struct tare_cause *causes,
				size_t cause_count, const struct tare_evidence *evidence, size_t evidence_count,
				struct tare_err *err) TARE_MUST_USE;
/* What took the CPUs of a round. */
TARE_API int tare_writer_shares(struct tare_writer *writer, int64_t round_id, const struct tare_share *shares,
				size_t count, struct tare_err *err) TARE_MUST_USE;
TARE_API int tare_writer_event(struct tare_writer *writer, int64_t run_id, int64_t round_id /* 0: none */,
			       const struct tare_event *event, struct tare_err *err) TARE_MUST_USE;
TARE_API int tare_writer_facts(struct tare_writer *writer, int64_t run_id, int64_t round_id,
			       const struct tare_fact *facts, size_t count, struct tare_err *err) TARE_MUST_USE;
/* Notes where the spool of the round now being measured lies (NULL: none). */
TARE_API int tare_writer_spool(struct tare_writer *writer, int64_t run_id, const char *path,
			       struct tare_err *err) TARE_MUST_USE;
TARE_API int tare_writer_end_run(struct tare_writer *writer, int64_t run_id, enum tare_run_status status,
				 struct tare_err *err) TARE_MUST_USE;
/* Between transactions the file is complete at any time, so closing writes nothing. Frees also when it fails. */
TARE_API int tare_writer_close(struct tare_writer **writer, struct tare_err *err) TARE_MUST_USE;
TARE_API void tare_writer_free(struct tare_writer *writer); /* NULL is fine */

/*
 * Process id of whoever holds the write lock of this file: 0 when no one does, -1
 * when it cannot be told who. Not for the process that writes: closing a second
 * descriptor of a file ends the locks SQLite holds on it during a transaction.
 */
TARE_API int64_t tare_recording_writer(const char *path);

/* ---- reading ---- */

struct tare_recording;

/* True when the file starts as an SQLite database (the check is by content, not by name). */
TARE_API bool tare_recording_looks_like(const void *head, size_t head_bytes);
/*
 * lenient: damaged rows and chunks are passed over and told by
 * tare_recording_damage instead of ending the reading. The file is never
 * changed; where a killed writer left a rollback journal, a private copy in
 * $TMPDIR (or /tmp) is rolled back and read.
 */
TARE_API int tare_recording_open(const char *path, bool lenient, struct tare_recording **ret_recording,
				 struct tare_err *err) TARE_MUST_USE;
TARE_API void tare_recording_free(struct tare_recording *recording); /* NULL is fine */

/* Everything but samples, in the order written, owned by the recording. */
TARE_API size_t tare_recording_runs(const struct tare_recording *recording, const struct tare_run **ret_runs);
/*
 * The first run that has not ended, NULL when all have; its `spool` tells where
 * the round being measured lies. It is still being measured when
 * tare_recording_writer() names a process, otherwise its process vanished.
 */
TARE_API const struct tare_run *tare_recording_unfinished(const struct tare_recording *recording);
/* Target or round i of a run, from 0 in the order written; NULL behind the last. */
TARE_API const struct tare_target *tare_recording_target(const struct tare_recording *recording, int64_t run_id, size_t i);
TARE_API const struct tare_round *tare_recording_round(const struct tare_recording *recording, int64_t run_id, size_t i);
TARE_API int tare_recording_events(struct tare_recording *recording, int64_t run_id,
				   const struct tare_event **ret_events, size_t *ret_count,
				   struct tare_err *err) TARE_MUST_USE;
TARE_API int tare_recording_settings(struct tare_recording *recording, int64_t run_id,
				     const struct tare_setting **ret_settings, size_t *ret_count,
				     struct tare_err *err) TARE_MUST_USE;
/* Facts of one round, or with round 0 those of the run itself. */
TARE_API int tare_recording_facts(struct tare_recording *recording, int64_t run_id, int64_t round_id,
				  const struct tare_fact **ret_facts, size_t *ret_count,
				  struct tare_err *err) TARE_MUST_USE;
/* Clock readings taken during a round. */
TARE_API int tare_recording_readings(struct tare_recording *recording, int64_t round_id,
				     const struct tare_reading **ret_readings, size_t *ret_count,
				     struct tare_err *err) TARE_MUST_USE;

/* Causes and evidence of a round, in the order written; none in recordings of format 1 and in rounds not watched. */
TARE_API int tare_recording_causes(struct tare_recording *recording, int64_t round_id,
				   const struct tare_cause **ret_causes, size_t *ret_count,
				   struct tare_err *err) TARE_MUST_USE;
TARE_API int tare_recording_evidence(struct tare_recording *recording, int64_t round_id,
				     const struct tare_evidence **ret_evidence, size_t *ret_count,
				     struct tare_err *err) TARE_MUST_USE;

/* In the order written; none in rounds that were not watched. */
TARE_API int tare_recording_shares(struct tare_recording *recording, int64_t round_id,
				   const struct tare_share **ret_shares, size_t *ret_count,
				   struct tare_err *err) TARE_MUST_USE;

/*
 * Restricts what tare_recording_next reads to fates, the stages that the spans
 * need and the spans given directly, the stages in the mask, and the others
 * named; what is not wanted is NULL in the series. Reading rtt alone takes a
 * quarter of the time of reading everything. Default: all.
 */
enum tare_want { TARE_WANT_CPU = 1 << 0, TARE_WANT_FLAGS = 1 << 1, TARE_WANT_REASON = 1 << 2 };
TARE_API void tare_recording_want(struct tare_recording *recording, uint32_t span_mask /* 1 << tare_span */,
				  uint32_t stage_mask /* 1 << tare_stage */, unsigned others);

/*
 * Series of at least this many samples come with the times of stages packed
 * (tare_series.packed) instead of in arrays of 8 bytes a time, exact all the
 * same: 10 million samples with five stages take 430 MB in arrays, 90 packed.
 * Read such series with tare_stage_at, tare_stage_times and tare_span_values.
 * 0, the default: never.
 */
TARE_API void tare_recording_pack(struct tare_recording *recording, size_t least_samples);

/*
 * Next series in the order run, round, target: 1 with *ret_record borrowed until
 * the next call (its run, target, round and strings live as long as the
 * recording), 0 at the end, -1 on failure.
 */
TARE_API int tare_recording_next(struct tare_recording *recording, const struct tare_record **ret_record,
				 struct tare_err *err) TARE_MUST_USE;
/*
 * What lenient reading left out, as far as it got: samples expected, those of
 * which everything wanted was read, and the first reason ("cut off in sample
 * chunk 17 of 20, run 1, round 3, column user_rx (checksum)"; "" when nothing
 * was). A lost chunk leaves its column without values there; samples whose fate
 * is lost are left out of the series.
 */
struct tare_damage { uint64_t expected, readable; char reason[160]; };
TARE_API struct tare_damage tare_recording_damage(const struct tare_recording *recording);
