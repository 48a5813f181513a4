/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Plans, their steps, commands and verdicts: rows of tables that only comparisons make. */
#include "lib/recording_write.h"
#include "tare/plan.h"

/* One row in one transaction. */
static int write_row(struct tare_writer *writer, int64_t run_id, enum recording_table table, const struct field *fields,
	int count, struct tare_err *err)
{
	if (writer_begin(writer, err) < 0)
		return -1;
	if (writer_require_open_run(writer, run_id, err) < 0 ||
		writer_insert(writer, table, fields, count, NULL, 0, NULL, err) < 0)
		return writer_abandon(writer);
	return writer_commit(writer, err);
}
#define WRITE_ROW(writer, run_id, table, err, ...)                                                                     \
	write_row((writer), (run_id), (table), (const struct field[]){field_int(run_id), __VA_ARGS__},                 \
		(int)(sizeof((const struct field[]){field_int(run_id), __VA_ARGS__}) / sizeof(struct field)), (err))

int tare_writer_plan(struct tare_writer *writer, int64_t run_id, const struct tare_plan *plan, struct tare_err *err)
{
	return WRITE_ROW(writer, run_id, TABLE_PLAN, err, field_text(plan->kind), field_id(plan->continues),
		field_text(plan->order), field_int((int64_t)plan->seed), field_time(plan->settle_ns), field_text(plan->a),
		field_text(plan->b), field_text(plan->restore), field_text(plan->primary), field_text(plan->margin));
}

int tare_writer_step(struct tare_writer *writer, int64_t run_id, const struct tare_plan_step *step, struct tare_err *err)
{
	return WRITE_ROW(writer, run_id, TABLE_STEP, err, field_int(step->round), field_int(step->position),
		field_text(step->arm), field_int(step->scored), field_text(step->settings));
}

int tare_writer_command(struct tare_writer *writer, int64_t run_id, const struct tare_plan_command *command,
	struct tare_err *err)
{
	return WRITE_ROW(writer, run_id, TABLE_COMMAND, err, field_int(command->position), field_text(command->purpose),
		field_text(command->line), field_int(command->exit), field_time(command->at_ns),
		field_time(command->took_ns), field_text(command->output));
}

int tare_writer_verdict(struct tare_writer *writer, int64_t run_id, const struct tare_plan_verdict *verdict,
	struct tare_err *err)
{
	return WRITE_ROW(writer, run_id, TABLE_VERDICT, err, field_text(verdict->figure), field_int(verdict->primary),
		field_text(verdict->verdict), field_text(verdict->sentence), field_int((int64_t)verdict->rounds_a),
		field_int((int64_t)verdict->rounds_b), field_time(verdict->value_a_ns), field_time(verdict->value_b_ns),
		field_time(verdict->effect_ns), field_time(verdict->low_ns), field_time(verdict->high_ns),
		field_time(verdict->s_ns), field_int(verdict->exit));
}
