/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The order of arms. A switch is made before every round, also between two rounds
 * of the same arm: a command that disturbs (a link that renegotiates) must do so
 * to all rounds alike.
 */
#include "session/arms_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"
#include "host/host.h"
#include "host/record.h"
#include "session/shell.h"

/* A responder that is started anew listens by then, or not at all. */
#define SERVE_LEAST_NS ((int64_t)300000000)

int arms_open(const struct arms_config *config, struct session *session, struct arms **ret_arms, struct tare_err *err)
{
	struct arms *arms = calloc(1, sizeof *arms);
	if (!arms)
		return tare_fail_errno(err, ENOMEM, "cannot plan the rounds");
	arms->config = *config;
	arms->session = session;
	if (host_comparison_open(config->declared, config->declared_count, config->allowed, config->allowed_count,
		    &arms->comparison, err) < 0 ||
		host_comparison_open(config->declared, config->declared_count, config->allowed, config->allowed_count,
			&arms->peer, err) < 0) {
		host_comparison_free(arms->comparison);
		free(arms);
		return -1;
	}
	*ret_arms = arms;
	return 0;
}

void arms_free(struct arms *arms)
{
	if (!arms)
		return;
	shell_stop(arms->responder);
	host_comparison_free(arms->comparison);
	host_comparison_free(arms->peer);
	free(arms);
}

uint32_t arms_position(const struct arms *arms)
{
	return arms->position;
}

const char *arms_restored(const struct arms *arms)
{
	return arms->restored;
}

/* ---- commands ---- */

static int note_command(struct arms *arms, const char *purpose, const char *line, const struct shell_result *result,
	int64_t at_ns, struct tare_err *err)
{
	struct tare_writer *writer;
	if (session_writer(arms->session, &writer, err) < 0)
		return -1;
	struct tare_plan_command command = {.position = arms->position, .purpose = purpose, .line = line,
		.exit = result->exit, .at_ns = at_ns, .took_ns = result->took_ns, .output = result->output};
	return writer ? tare_writer_command(writer, session_run_of(arms->session)->id, &command, err) : 0;
}

/* The first line of what it said, for a sentence. */
static void first_line(const char *output, char *buffer, size_t room)
{
	struct text text = {.bytes = buffer, .room = room};
	char line[160];
	size_t length = strcspn(output, "\n");
	snprintf(line, sizeof line, "%.*s", (int)(length < 150 ? length : 150), output);
	buffer[0] = '\0';
	if (line[0]) {
		text_add(&text, ": ");
		text_add_quoted(&text, line);
	}
}

static int run_command(struct arms *arms, const char *purpose, const char *line, bool heed_signals, struct tare_err *err)
{
	struct shell_result result;
	char said[200];
	int64_t at_ns = session_now_ns(arms->session);
	int signals = heed_signals ? session_signals(arms->session) : -1;
	if (shell_run(line, signals, arms->config.command_limit_ns, &result, err) < 0 ||
		note_command(arms, purpose, line, &result, at_ns, err) < 0)
		return -1;
	if (result.interrupted) {
		arms->interrupted = true;
		session_interrupted(arms->session);
		return 0;
	}
	if (result.late) {
		char limit[32];
		format_duration(arms->config.command_limit_ns, limit, sizeof limit);
		return tare_fail(err, TARE_E_INVALID, "the command of %s, '%.100s', was ended since it took longer than %s", purpose,
			line, limit);
	}
	if (result.exit == 0)
		return 0;
	first_line(result.output, said, sizeof said);
	return tare_fail(err, TARE_E_INVALID, "the command of %s, '%.100s', failed with exit status %d%s", purpose, line,
		result.exit, said);
}

static int start_responder(struct arms *arms, char arm, struct tare_err *err)
{
	const struct arms_config *config = &arms->config;
	if (!config->serve)
		return 0;
	shell_stop(arms->responder);
	arms->responder = 0;
	return shell_start(config->serve, arm == 'A' ? config->a_env : config->b_env, &arms->responder, err);
}

static int check_responder(const struct arms *arms, struct tare_err *err)
{
	if (!arms->config.serve || shell_lives(arms->responder))
		return 0;
	return tare_fail(err, TARE_E_INVALID, "the responder '%.100s' ended by itself", arms->config.serve);
}

/* Puts on the setting of an arm; waits until it has settled. */
static int switch_to(struct arms *arms, const struct arms_events *events, char arm, struct tare_err *err)
{
	const struct arms_config *config = &arms->config;
	bool is_a = arm == 'A' || config->null;
	const char *line = is_a ? config->a : config->b;
	arms->touched = true;
	if (config->manual && !events->ask(events->context, is_a ? 'A' : 'B')) {
		arms->interrupted = true;
		return 0;
	}
	if (line && run_command(arms, is_a ? "A" : "B", line, true, err) < 0)
		return -1;
	if (arms->interrupted || start_responder(arms, is_a ? 'A' : 'B', err) < 0)
		return arms->interrupted ? 0 : -1;
	int64_t settle_ns = config->settle_ns;
	if (config->serve && settle_ns < SERVE_LEAST_NS)
		settle_ns = SERVE_LEAST_NS;
	arms->interrupted |= session_pause(arms->session, settle_ns);
	return arms->interrupted ? 0 : check_responder(arms, err);
}

static void restore(struct arms *arms, const struct arms_events *events)
{
	const struct arms_config *config = &arms->config;
	const char *line = config->restore ? config->restore : config->a;
	struct tare_err why = {0};
	if (!arms->touched)
		return;
	shell_stop(arms->responder);
	arms->responder = 0;
	if (line && run_command(arms, "restore", line, false, &why) < 0)
		snprintf(arms->restored, sizeof arms->restored, "the setting of A could not be put back: %.180s", why.text);
	else if (line)
		snprintf(arms->restored, sizeof arms->restored, "%s", config->restore ? "the setting was put back by --restore"
										     : "the setting of A was put back");
	else if (config->manual && events->ask)
		snprintf(arms->restored, sizeof arms->restored, "the setting is as it was switched last, by hand");
}

/* ---- facts ---- */

static int read_facts(struct arms *arms, struct host_snapshot **ret_snapshot, struct tare_err *err)
{
	struct host_question question = {.peer = arms->config.peer, .tool = arms->config.tool};
	return host_read(&question, ret_snapshot, err);
}

/* Rows of both ends, under the run; their place is in the moment, as the round has no id yet. */
static int note_facts(struct arms *arms, const struct host_snapshot *before, const struct host_snapshot *is,
	const char *moment, struct tare_err *err)
{
	struct tare_writer *writer;
	struct arena *arena = NULL;
	const struct tare_fact *rows = NULL;
	char when[64];
	if (session_writer(arms->session, &writer, err) < 0)
		return -1;
	if (!writer)
		return 0;
	if (arena_open(4 << 20, 0, &arena, err) < 0)
		return -1;
	snprintf(when, sizeof when, "%s of round %u", moment, session_round_number(arms->session));
	size_t count = host_record_changes(before, is, arena, "local", when, &rows);
	int status = rows ? tare_writer_facts(writer, session_run_of(arms->session)->id, 0, rows, count, err) : 0;
	arena_free(arena);
	return status;
}

/* Settings that moved within the round, for its step. */
static void tell_moved(struct arms *arms, const struct host_snapshot *start, const struct host_snapshot *end)
{
	struct arena *arena = NULL;
	const char *sentences[1];
	arms->moved[0] = '\0';
	if (strcmp(start->header.hash, end->header.hash) == 0 || arena_open(1 << 20, 0, &arena, NULL) < 0)
		return;
	if (host_record_events(start, end, arena, sentences, 1) > 0)
		snprintf(arms->moved, sizeof arms->moved, "%s", sentences[0]);
	arena_free(arena);
}

static int note_step(struct arms *arms, char arm, struct tare_err *err)
{
	struct tare_writer *writer;
	char name[2] = {arm, '\0'};
	if (session_writer(arms->session, &writer, err) < 0)
		return -1;
	struct tare_plan_step step = {.round = session_round_number(arms->session), .position = arms->position, .arm = name,
		.scored = arms->position > 0, .settings = arms->moved};
	return writer ? tare_writer_step(writer, session_run_of(arms->session)->id, &step, err) : 0;
}

/* ---- rounds ---- */

/* What was told around the round, where it was; how often it was not is said at the end. */
static int take_peer(struct arms *arms, char arm, struct tare_err *err)
{
	struct host_snapshot *start, *end;
	if (!session_peer_take(arms->session, &start, &end))
		return 0;
	arms->peer_rounds++;
	return host_comparison_round(arms->peer, arm, arms->position, start, end, err);
}

static int measure(struct arms *arms, const struct arms_events *events, char arm, struct tare_err *err)
{
	struct host_snapshot *start = NULL, *end = NULL;
	const char *label = arms->position == 0 ? "settling" : arm == 'A' ? "A" : "B";
	if (read_facts(arms, &start, err) < 0)
		return -1;
	int status = session_round(arms->session, &events->session, label, &arms->interrupted, err);
	if (status == 0 && !arms->interrupted)
		status = check_responder(arms, err);
	if (status == 0)
		status = read_facts(arms, &end, err);
	if (status < 0 || arms->interrupted) {
		host_snapshot_free(start);
		host_snapshot_free(end);
		return status;
	}
	tell_moved(arms, start, end);
	status = note_facts(arms, NULL, start, "start", err);
	if (status == 0)
		status = note_facts(arms, start, end, "end", err);
	if (host_comparison_round(arms->comparison, arm, arms->position, start, end, status < 0 ? NULL : err) < 0)
		return -1;
	arms->rounds++;
	if (status < 0 || take_peer(arms, arm, err) < 0)
		return -1;
	return note_step(arms, arm, err);
}

static int run_all(struct arms *arms, const struct arms_events *events, struct tare_err *err)
{
	const struct arms_config *config = &arms->config;
	uint32_t count = (uint32_t)strlen(config->order);
	for (uint32_t position = 0; position <= count && !arms->interrupted; position++) {
		char arm = config->order[position ? position - 1 : 0];
		if (position && config->done && config->done[position - 1])
			continue;
		arms->position = position;
		if (switch_to(arms, events, arm, err) < 0)
			return -1;
		if (arms->interrupted)
			return 0;
		if (events->begins)
			events->begins(events->context, position, arm);
		if (measure(arms, events, arm, err) < 0)
			return -1;
	}
	return 0;
}

enum arms_ending arms_run(struct arms *arms, const struct arms_events *events, struct tare_err *err)
{
	int status = run_all(arms, events, err);
	restore(arms, events);
	return status < 0 ? ARMS_FAILED : arms->interrupted ? ARMS_INTERRUPTED : ARMS_COMPLETE;
}
