/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Plans, steps, commands and verdicts written and read back; files without them; a table that was changed. */
#include <sqlite3.h>
#include <stdlib.h>
#include <unistd.h>

#include "tap.h"
#include "tare/plan.h"

static char folder[] = "/tmp/tare-plan-XXXXXX", path[64];

static struct tare_run begin(struct tare_writer **writer, enum tare_open_mode mode)
{
	struct tare_run run = {.tool = "tare test", .host = "a"};
	struct tare_target target = {.url = "udp://h:1", .kind = "udp", .address = "h"};
	struct tare_err err = {0};
	if (!OK(tare_writer_open(path, mode, writer, &err) == 0 &&
			tare_writer_begin_run(*writer, &run, &target, 1, NULL, 0, &err) == 0,
		    "a run is begun %s", err.text))
		exit(1);
	return run;
}

static void test_round_trip(void)
{
	struct tare_writer *writer = NULL;
	struct tare_err err = {0};
	struct tare_run run = begin(&writer, TARE_CREATE);
	struct tare_plan plan = {.kind = "abba", .order = "ABBABAAB", .seed = UINT64_MAX, .settle_ns = 2000000000,
		.a = "true", .b = "false", .primary = "p99", .margin = "2%"};
	struct tare_plan_step step = {1, 0, "A", false, ""}, later = {2, 1, "A", true, "cpu.governor moved"};
	struct tare_plan_command command = {3, "B", "false", 1, 5, 7, "it failed\n"};
	struct tare_plan_verdict verdict = {"p99", "same", "no effect", true, 4, 4, 6030, 6010, -20, -66, 30, TARE_NO_TIME, 0};
	OK(tare_writer_plan(writer, run.id, &plan, &err) == 0 && tare_writer_step(writer, run.id, &step, &err) == 0 &&
			tare_writer_step(writer, run.id, &later, &err) == 0 &&
			tare_writer_command(writer, run.id, &command, &err) == 0 &&
			tare_writer_verdict(writer, run.id, &verdict, &err) == 0 &&
			tare_writer_end_run(writer, run.id, TARE_RUN_FINISHED, &err) == 0,
		"written %s", err.text);
	OK(tare_writer_step(writer, run.id, &step, &err) < 0, "an ended run takes none: %s", err.text);
	OK(tare_writer_close(&writer, &err) == 0, "closed");

	struct tare_recording *recording = NULL;
	const struct tare_plan *plans;
	const struct tare_plan_step *steps;
	const struct tare_plan_command *commands;
	const struct tare_plan_verdict *verdicts;
	size_t count = 0;
	if (!OK(tare_recording_open(path, false, &recording, &err) == 0, "opened %s", err.text))
		exit(1);
	OK(tare_recording_plans(recording, 1, &plans, &count, &err) == 0 && count == 1, "one plan");
	IS_STR(plans[0].order, "ABBABAAB", "its order");
	OK(plans[0].seed == UINT64_MAX && plans[0].settle_ns == 2000000000 && !plans[0].restore && !plans[0].continues,
		"its numbers");
	OK(tare_recording_steps(recording, 1, &steps, &count, &err) == 0 && count == 2, "two steps");
	OK(!steps[0].scored && steps[1].scored && steps[1].position == 1, "in order");
	IS_STR(steps[1].settings, "cpu.governor moved", "what moved");
	OK(tare_recording_commands(recording, 1, &commands, &count, &err) == 0 && count == 1, "one command");
	OK(commands[0].exit == 1 && commands[0].took_ns == 7, "its exit");
	IS_STR(commands[0].output, "it failed\n", "its output");
	OK(tare_recording_verdicts(recording, 1, &verdicts, &count, &err) == 0 && count == 1, "one verdict");
	OK(verdicts[0].effect_ns == -20 && verdicts[0].s_ns == TARE_NO_TIME && verdicts[0].primary, "its numbers");
	tare_recording_free(recording);
}

/* A file of the first kind, without the tables: read, and appended to. */
static void test_without(void)
{
	struct tare_writer *writer = NULL;
	struct tare_recording *recording = NULL;
	struct tare_err err = {0};
	const struct tare_plan *plans;
	size_t count = 1;
	unlink(path);
	struct tare_run run = begin(&writer, TARE_CREATE);
	OK(tare_writer_end_run(writer, run.id, TARE_RUN_FINISHED, &err) == 0 && tare_writer_close(&writer, &err) == 0,
		"a file without plans");
	OK(tare_recording_open(path, false, &recording, &err) == 0 &&
			tare_recording_plans(recording, 1, &plans, &count, &err) == 0 && count == 0,
		"holds none %s", err.text);
	tare_recording_free(recording);
	recording = NULL;
	run = begin(&writer, TARE_APPEND);
	struct tare_plan plan = {.kind = "abba", .continues = 1};
	OK(tare_writer_plan(writer, run.id, &plan, &err) == 0 && tare_writer_close(&writer, &err) == 0,
		"a run with a plan is added %s", err.text);
	OK(tare_recording_open(path, false, &recording, &err) == 0 &&
			tare_recording_plans(recording, 2, &plans, &count, &err) == 0 && count == 1 && plans[0].continues == 1,
		"and read %s", err.text);
	tare_recording_free(recording);
}

static void test_changed(void)
{
	sqlite3 *db = NULL;
	struct tare_recording *recording = NULL;
	struct tare_err err = {0};
	const struct tare_plan *plans;
	size_t count = 0;
	OK(sqlite3_open(path, &db) == SQLITE_OK &&
			sqlite3_exec(db, "UPDATE plan SET arms = 'AAAA'", NULL, NULL, NULL) == SQLITE_OK,
		"an order changed by hand");
	OK(tare_recording_open(path, false, &recording, &err) == 0 &&
			tare_recording_plans(recording, 2, &plans, &count, &err) < 0 && strstr(err.text, "table 'plan', row 1"),
		"is found: %s", err.text);
	tare_recording_free(recording);
	recording = NULL;
	OK(sqlite3_exec(db, "ALTER TABLE plan ADD COLUMN more TEXT", NULL, NULL, NULL) == SQLITE_OK, "a table changed");
	sqlite3_close(db);
	OK(tare_recording_open(path, false, &recording, &err) < 0 && strstr(err.text, "table 'plan'"), "is refused: %s", err.text);
}

int main(void)
{
	if (!mkdtemp(folder))
		return 1;
	snprintf(path, sizeof path, "%s/x.tare", folder);
	test_round_trip();
	test_without();
	test_changed();
	unlink(path);
	rmdir(folder);
	return tap_done();
}
