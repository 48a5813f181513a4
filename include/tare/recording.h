/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A recording, NAME.tare: an SQLite database of runs, targets, rounds and
 * events, with the samples as compressed column chunks. docs/recording.md has
 * every table and column; anyone may open it with sqlite3.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tare/err.h"
#include "tare/run.h"

/* PRAGMA user_version of what this library writes; a higher one is refused with a sentence. */
enum { TARE_RECORDING_VERSION = 1 };

/* ---- writing ---- */

struct tare_writer;

enum tare_open_mode {
	TARE_CREATE, /* an existing file is refused */
	TARE_APPEND, /* an existing recording gets one more run; a missing file is created */
	TARE_RESUME, /* an existing recording whose unfinished run is completed (salvage) */
};

/* Holds the recording's write lock until freed: a second writer is refused ("is being written by pid N"). */
TARE_API int tare_writer_open(const char *path, enum tare_open_mode mode, struct tare_writer **ret_writer,
			      struct tare_err *err) TARE_MUST_USE;

/* A setting as it took effect: name, value, and where it came from ("argv", "default", "/etc/tare/tare.conf"). */
struct tare_setting { const char *name, *value, *origin; };
/* A fact about a host, side "local" or a peer's address, moment "start" or "end" of a round or run. */
struct tare_fact { const char *side, *moment, *key, *value; };

/* Each of these is one transaction, durable when it returns. Ids are assigned here and written back. */
TARE_API int tare_writer_begin_run(struct tare_writer *writer, struct tare_run *run, struct tare_target *targets,
				   size_t target_count, const struct tare_setting *settings, size_t setting_count,
				   struct tare_err *err) TARE_MUST_USE;
struct tare_reading { int64_t mono_before_ns, real_ns, mono_after_ns; };
/* All series of one round at once; records[j].round must be the same round. Readings: the paired clock readings taken. */
TARE_API int tare_writer_round(struct tare_writer *writer, struct tare_round *round, const struct tare_record *records,
			       size_t record_count, const struct tare_event *events, size_t event_count,
			       const struct tare_reading *readings, size_t reading_count,
			       struct tare_err *err) TARE_MUST_USE;
TARE_API int tare_writer_event(struct tare_writer *writer, int64_t run_id, int64_t round_id /* 0: none */,
			       const struct tare_event *event, struct tare_err *err) TARE_MUST_USE;
TARE_API int tare_writer_facts(struct tare_writer *writer, int64_t run_id, int64_t round_id,
			       const struct tare_fact *facts, size_t count, struct tare_err *err) TARE_MUST_USE;
/* Notes where the spool of the round now being measured lies (NULL: none). */
TARE_API int tare_writer_spool(struct tare_writer *writer, int64_t run_id, const char *path,
			       struct tare_err *err) TARE_MUST_USE;
TARE_API int tare_writer_end_run(struct tare_writer *writer, int64_t run_id, enum tare_run_status status,
				 struct tare_err *err) TARE_MUST_USE;
/* Back to rollback-journal mode, so that a copy in a read-only place opens. */
TARE_API int tare_writer_close(struct tare_writer **writer, struct tare_err *err) TARE_MUST_USE;
TARE_API void tare_writer_free(struct tare_writer *writer);

/* ---- reading ---- */

struct tare_recording;

/* True when the file starts as an SQLite database (the check is by content, not by name). */
TARE_API bool tare_recording_looks_like(const void *head, size_t head_bytes);
/* lenient: damaged chunks are passed over and told by tare_recording_damage instead of ending the reading. */
TARE_API int tare_recording_open(const char *path, bool lenient, struct tare_recording **ret_recording,
				 struct tare_err *err) TARE_MUST_USE;
TARE_API void tare_recording_free(struct tare_recording *recording);

/* Everything but samples, owned by the recording. */
TARE_API size_t tare_recording_runs(const struct tare_recording *recording, const struct tare_run **ret_runs);
TARE_API int tare_recording_events(struct tare_recording *recording, int64_t run_id,
				   const struct tare_event **ret_events, size_t *ret_count,
				   struct tare_err *err) TARE_MUST_USE;
TARE_API int tare_recording_settings(struct tare_recording *recording, int64_t run_id,
				     const struct tare_setting **ret_settings, size_t *ret_count,
				     struct tare_err *err) TARE_MUST_USE;

/*
 * Next series in the order run, round, target: 1 with *ret_record borrowed until
 * the next call (its run, target, round and strings live as long as the
 * recording), 0 at the end, -1 on failure.
 */
TARE_API int tare_recording_next(struct tare_recording *recording, const struct tare_record **ret_record,
				 struct tare_err *err) TARE_MUST_USE;
/* What lenient reading left out: samples expected and readable, and the first reason. */
struct tare_damage { uint64_t expected, readable; char reason[160]; };
TARE_API struct tare_damage tare_recording_damage(const struct tare_recording *recording);
