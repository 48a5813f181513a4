/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The plan of a comparison and what became of it, as a recording keeps them: the
 * order of arms, each round's place in it, the commands that switched and what
 * they said, and the verdicts as they were given on the day. The tables appear in
 * a file when first written to; readers of format 1 pass over them.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tare/err.h"
#include "tare/recording.h"

/* One per run that compares. Strings may be NULL. */
struct tare_plan {
	const char *kind;       /* "abba", "calibrate", "verify" */
	int64_t continues;      /* run whose plan this one goes on with; 0: none */
	const char *order;      /* of the scored rounds: "ABBABAAB" */
	uint64_t seed;          /* that drew the order */
	int64_t settle_ns;
	const char *a, *b;      /* commands, or how the settings differ otherwise */
	const char *restore;
	const char *primary, *margin;
};

/* A round in its place; written when the round is. */
struct tare_plan_step {
	uint32_t round;         /* number within the run */
	uint32_t position;      /* 0: the leading round that is not scored; then places in the order, from 1 */
	const char *arm;        /* "A", "B" */
	bool scored;
	const char *settings;   /* "" as declared; otherwise what moved */
};

struct tare_plan_command {
	uint32_t position;      /* before which round */
	const char *purpose;    /* "A", "B", "restore", "serve" */
	const char *line;
	int exit;               /* exit status; 128 + signal; -1: could not be started */
	int64_t at_ns, took_ns; /* on the run's axis */
	const char *output;     /* both streams, cut at 4 kB */
};

struct tare_plan_verdict {
	const char *figure, *verdict, *sentence;
	bool primary;
	uint64_t rounds_a, rounds_b;
	int64_t value_a_ns, value_b_ns, effect_ns, low_ns, high_ns, s_ns; /* TARE_NO_TIME where there is none */
	int exit;
};

/* Each is one transaction, like those of recording.h; the run must not have ended. */
TARE_API int tare_writer_plan(struct tare_writer *writer, int64_t run_id, const struct tare_plan *plan,
			      struct tare_err *err) TARE_MUST_USE;
TARE_API int tare_writer_step(struct tare_writer *writer, int64_t run_id, const struct tare_plan_step *step,
			      struct tare_err *err) TARE_MUST_USE;
TARE_API int tare_writer_command(struct tare_writer *writer, int64_t run_id, const struct tare_plan_command *command,
				 struct tare_err *err) TARE_MUST_USE;
TARE_API int tare_writer_verdict(struct tare_writer *writer, int64_t run_id, const struct tare_plan_verdict *verdict,
				 struct tare_err *err) TARE_MUST_USE;

/* Of one run, in the order written, owned by the recording; none where the file is of format 1. */
TARE_API int tare_recording_plans(struct tare_recording *recording, int64_t run_id, const struct tare_plan **ret_plans,
				  size_t *ret_count, struct tare_err *err) TARE_MUST_USE;
TARE_API int tare_recording_steps(struct tare_recording *recording, int64_t run_id,
				  const struct tare_plan_step **ret_steps, size_t *ret_count,
				  struct tare_err *err) TARE_MUST_USE;
TARE_API int tare_recording_commands(struct tare_recording *recording, int64_t run_id,
				     const struct tare_plan_command **ret_commands, size_t *ret_count,
				     struct tare_err *err) TARE_MUST_USE;
TARE_API int tare_recording_verdicts(struct tare_recording *recording, int64_t run_id,
				     const struct tare_plan_verdict **ret_verdicts, size_t *ret_count,
				     struct tare_err *err) TARE_MUST_USE;
