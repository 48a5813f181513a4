/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What surrounds the samples: one run has targets and rounds; a target in a
 * round is a series. These are plain records, filled by a live measurement, by
 * the reader of a recording or by an importer, and understood alike by
 * statistics and reports.
 */
#pragma once
#include <stdint.h>

#include "tare/origin.h"
#include "tare/sample.h"

enum tare_run_status {
	TARE_RUN_UNFINISHED,  /* the process vanished; what the spool held may have been salvaged */
	TARE_RUN_FINISHED,
	TARE_RUN_INTERRUPTED, /* stopped by a signal; complete up to there */
	TARE_RUN_FAILED,      /* stopped by an error, named in an event */
};

/* One invocation. Strings are borrowed from whoever filled the record. */
struct tare_run {
	int64_t id;               /* within its recording, from 1 */
	int64_t epoch_real_ns;    /* wall clock at the run's epoch: informative, never used for durations */
	int64_t epoch_mono_ns;    /* CLOCK_MONOTONIC at the epoch; 0 on the axis */
	enum tare_run_status status;
	uint64_t seed;            /* of phase and jitter */
	const char *tool;         /* "tare 0.1.0" or, imported, "ping (iputils)" */
	const char *host;
	const char *kernel;
	const char *command_line;
	const char *spool;        /* path of the spool while unfinished, else NULL */
};

struct tare_target {
	int64_t id;
	uint32_t position;        /* order on the command line, from 0 */
	const char *url;          /* as asked: "udp://host:7000" */
	const char *kind;         /* scheme: "udp" */
	const char *address;      /* as resolved, numeric, with port where there is one */
	uint32_t payload_bytes;   /* bytes behind the IP and UDP (or ICMP) headers */
};

struct tare_round {
	int64_t id;
	uint32_t number;          /* from 1 within the run */
	const char *label;        /* "" when none was given */
	int64_t first_due_ns;     /* on the axis: start of the grid of target 0 */
	int64_t interval_ns;      /* per target; 0 when unknown (imported) */
	int64_t phase_ns;         /* random offset of the grid (RFC 3432), included in first_due_ns */
	int64_t jitter_ns;        /* due times moved by a seeded amount within +-jitter */
	int64_t timeout_ns;
	int64_t ended_ns;
	int64_t axis_error_ns;    /* half width of the offset between wall and monotonic clock, plus the error of the
	                             card's clock where one was read; TARE_NO_TIME: no wall stamps */
	uint32_t warmup;          /* first requests kept apart in the statistics by default */
	const char *status;       /* "finished", "interrupted", "salvaged" */
};

/* Counters that are beside the samples, for one target in one round. */
struct tare_beside {
	uint64_t duplicate, reordered, foreign;
	uint64_t unmatched_errors;         /* ICMP errors that fitted no open request */
	uint32_t stamps_asked;             /* 1 << tare_stage for every stage asked for */
};

/* One target in one round, with all that describes it. */
struct tare_record {
	const struct tare_run *run;
	const struct tare_target *target;
	const struct tare_round *round;
	struct tare_beside beside;
	struct tare_series series;
	int64_t resolution_ns;             /* step of the values: 1 for our own clocks, 1000 for ping's display */
	struct tare_origin origin;         /* all zero: measured by tare */
	const struct tare_bins *bins;      /* beside or instead of samples (shape BINS), of tare_base_span; else NULL */
};

/*
 * The span that the record is about, which sets the stall limit and stands first
 * in `tare stat`: that of its quantity; of a round trip the first there is of
 * rtt, response, wire, stack, host, residence and service.
 */
TARE_API enum tare_span tare_base_span(const struct tare_record *record);

/* Something that happened at one time: a step of the wall clock, an interface down, an error. */
struct tare_event {
	int64_t at_ns;
	/*
	 * "wall-step", "not-sent", "reconnected", "peer", "path", "receive", "sweep", "injected", "stamps", "salvaged",
	 * "error", "note"; what an imported log's reader had to say: "head", "quantity", "pacing", "limit", "fate",
	 * "mismatch", "printed", "damage"
	 */
	const char *kind;
	const char *text;
	int64_t round; /* read from a recording: id of the round that it belongs to, 0: none; the writer is told it beside */
};

/* Fates of a series, counted in one pass. `sent` excludes only NOT_SENT. */
struct tare_fates {
	uint64_t sent, count[TARE_FATE_COUNT];
};
TARE_API struct tare_fates tare_fates_of(const struct tare_series *series);
