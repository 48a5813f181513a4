/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Requests from the session to the view, the view to the screen. A failure (no memory) ends the drawing, never the run. */
#include "cli/live.h"

#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/screen.h"
#include "report/live/live_view.h"

enum { BLOCK = 512, BLOCKS_A_TURN = 512 };

struct live {
	struct cli *cli;
	uint32_t warmup;
	int cpu; /* of the measuring thread; -1: any */
	FILE *note;      /* where notes go in the end */
	char *waiting;   /* what has been said meanwhile */
	size_t waiting_bytes;
	struct live_view *view;
	struct terminal terminal;
	uint64_t next[LIVE_TARGETS_MAX];
	bool said_quiet, failed;
};

int live_open(struct cli *cli, const struct session *session, const struct session_config *config,
	enum plot_style style, struct live **ret_live, struct tare_err *err)
{
	const struct tare_target *targets;
	size_t count = session_targets(session, &targets);
	struct live *live = calloc(1, sizeof *live);
	AUTO_FREE const char **urls = calloc(count + 1, sizeof *urls);
	if (!live || !urls) {
		free(live);
		return tare_fail(err, TARE_E_SYSTEM, "out of memory for a live view");
	}
	for (size_t i = 0; i < count; i++)
		urls[i] = targets[i].url;
	*live = (struct live){.cli = cli, .warmup = config->warmup, .cpu = config->cpu, .note = cli->note};
	live->terminal = plotting_terminal(cli, style);
	live->terminal.colour = cli->note_colour;
	if (live_view_open(urls, count, &live->view, err) < 0 || screen_open(STDERR_FILENO, err) < 0) {
		live_view_free(live->view);
		free(live);
		return -1;
	}
	FILE *waiting = open_memstream(&live->waiting, &live->waiting_bytes);
	cli->note = waiting ? waiting : cli->note;
	*ret_live = live;
	return 0;
}

/* Says what has waited, with the terminal given back. */
static void say_waiting(struct live *live)
{
	fflush(live->note);
	if (live->cli->note == live->note)
		return;
	fclose(live->cli->note);
	fwrite(live->waiting, 1, live->waiting_bytes, live->note);
	fflush(live->note);
	free(take_ptr(live->waiting));
	live->cli->note = live->note;
}

void live_close(struct live *live)
{
	if (!live)
		return;
	screen_close();
	say_waiting(live);
	live_view_free(live->view);
	free(live);
}

void live_begin(struct live *live, const struct session *session, bool quiet)
{
	struct session_progress p = session_progress_of(session);
	struct tare_err ignored;
	if (quiet) {
		screen_leave();
		if (!live->said_quiet)
			fprintf(live->note, "every CPU carries a spinning thread of tare: nothing is drawn, and no key read, until the round ends\n");
		fflush(live->note);
		live->said_quiet = true;
		return;
	}
	for (size_t i = 0; i < LIVE_TARGETS_MAX; i++)
		live->next[i] = 0;
	/* nothing has left yet: what is left is the whole */
	live->failed = live_view_round(live->view, p.round, p.rounds, p.left_ns, live->warmup, &ignored) < 0;
	screen_enter();
}

static void take_requests(struct live *live, const struct session *session, size_t target)
{
	struct session_glance glances[BLOCK];
	struct live_request requests[BLOCK];
	struct tare_err ignored;
	size_t count;
	/* bounded, so that a fast round never keeps this thread from a signal or a redraw */
	for (unsigned turn = 0; turn < BLOCKS_A_TURN && !live->failed; turn++) {
		count = session_look(session, target, &live->next[target], glances, BLOCK);
		for (size_t i = 0; i < count; i++)
			requests[i] = (struct live_request){.sequence = glances[i].sequence,
				.at_ns = glances[i].due_ns,
				.late_ns = glances[i].late_ns,
				.rtt_ns = glances[i].rtt_ns,
				.fate = glances[i].fate};
		live->failed = live_view_add(live->view, target, requests, count, &ignored) < 0;
		if (count < BLOCK)
			return;
	}
}

/* Away from the measuring thread's CPU, where there is another; only while drawing, since threads inherit it. */
static bool step_aside(const struct live *live, cpu_set_t *before)
{
	cpu_set_t aside;
	if (live->cpu < 0 || live->cpu >= CPU_SETSIZE || sched_getaffinity(0, sizeof *before, before) < 0)
		return false;
	aside = *before;
	CPU_CLR((size_t)live->cpu, &aside);
	return CPU_COUNT(&aside) > 0 && sched_setaffinity(0, sizeof aside, &aside) == 0;
}

static void draw(struct live *live, const struct session *session)
{
	AUTO_FREE char *text = NULL;
	size_t bytes;
	int lines;
	struct tare_err ignored;
	struct session_progress p = session_progress_of(session);
	const struct tare_target *targets;
	size_t count = session_targets(session, &targets);
	for (size_t i = 0; i < count && i < LIVE_TARGETS_MAX; i++)
		take_requests(live, session, i);
	screen_size(&live->terminal.width, &lines);
	FILE *out = live->failed ? NULL : open_memstream(&text, &bytes);
	if (!out)
		return;
	struct live_state state = {.sent = p.sent,
		.answered = p.answered,
		.left_ns = p.left_ns,
		.hint = "q or Ctrl-C ends the run and keeps what there is"};
	live->failed = live_view_draw(out, live->view, &state, &live->terminal, (size_t)lines, &ignored) < 0;
	if (fclose(out) == 0 && !live->failed)
		screen_draw(text);
}

void live_progress(struct live *live, const struct session *session)
{
	cpu_set_t before;
	bool aside = step_aside(live, &before);
	draw(live, session);
	if (aside && sched_setaffinity(0, sizeof before, &before) < 0)
		live->cpu = -1;
}

bool live_input(struct live *live)
{
	(void)live;
	return screen_take();
}

int live_fd(const struct live *live)
{
	(void)live;
	return screen_fd();
}
