/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sweeps: rounds that differ in rate, payload or source port. A step changes the
 * session's configuration for its round; sockets are opened anew only when what it
 * sets cannot be changed on an open one, and then every answer that is still under
 * way from before is foreign: cookies differ by step.
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "session/private.h"
#include "tare/rate.h"

static const struct session_step *step_of(const struct session *session, size_t at)
{
	return &session->asked.steps[at];
}

uint32_t steps_rounds(const struct session *session)
{
	size_t steps = session->asked.step_count ? session->asked.step_count : 1;
	return (uint32_t)(session->asked.rounds * steps);
}

/* The settings of a step, on top of what was asked for. */
static struct session_config config_of(const struct session *session, size_t at)
{
	struct session_config config = session->asked;
	const struct session_step *step = step_of(session, at);
	if (step->every_ns)
		config.every_ns = step->every_ns;
	if (step->payload_bytes)
		config.payload_bytes = step->payload_bytes;
	if (step->source_port)
		config.path.source_port = step->source_port;
	config.label = step->label;
	config.rounds = steps_rounds(session);
	return config;
}

/* ---- targets ---- */

/* Rows of an earlier step with the same payload, or new ones at the end. */
static int describe_targets(struct session *session, struct tare_err *err)
{
	uint32_t payload[SPOOL_TARGETS_MAX];
	size_t count = session->target_count;
	for (size_t i = 0; i < count; i++)
		if (session_payload(session, i, &payload[i], err) < 0)
			return -1;
	for (size_t first = 0; first < session->target_rows; first += count) {
		size_t same = 0;
		while (same < count && session->targets[first + same].payload_bytes == payload[same])
			same++;
		session->first_target = first;
		if (same == count)
			return 0;
	}
	if (session->target_rows + count > SPOOL_TARGETS_MAX)
		return tare_fail(err, TARE_E_USAGE, "%zu targets with that many sizes: at most %d of both together", count,
			SPOOL_TARGETS_MAX);
	session->first_target = session->target_rows;
	for (size_t i = 0; i < count; i++)
		session->targets[session->target_rows++] = (struct tare_target){.position = (uint32_t)i,
			.url = session->config.urls[i],
			.kind = session->kinds[i]->scheme,
			.address = session->addresses[i].text,
			.payload_bytes = payload[i]};
	return 0;
}

static int check_sizes(const struct session *session, struct tare_err *err)
{
	for (size_t i = 0; i < session->target_count; i++)
		if (session->kinds[i]->most_bytes == 0 || exchange_for(session, session->kinds[i]))
			return tare_fail(err, TARE_E_USAGE, "--sizes: what %s sends has its own length", session->config.urls[i]);
	return 0;
}

static int check_step(struct session *session, size_t at, struct tare_err *err)
{
	session->config = config_of(session, at);
	if (step_of(session, at)->payload_bytes && check_sizes(session, err) < 0)
		return -1;
	if (session_check(&session->config, &session->slots, err) < 0)
		return tare_err_prefix(err, "%s", step_of(session, at)->label);
	return describe_targets(session, err);
}

static int open_targets(struct session *session, struct tare_err *err)
{
	for (size_t i = 0; i < session->target_count; i++)
		if (session_open_target(session, i, session->steps.at, err) < 0)
			return -1;
	return 0;
}

int steps_open(struct session *session, struct tare_err *err)
{
	if (!session->asked.step_count)
		return describe_targets(session, err) < 0 ? -1 : open_targets(session, err);
	if (session->asked.step_count > SESSION_STEPS_MAX)
		return tare_fail(err, TARE_E_USAGE, "a sweep of %zu steps: at most %d", session->asked.step_count,
			SESSION_STEPS_MAX);
	/* the first one last, so that it is on */
	for (size_t at = session->asked.step_count; at-- > 0;)
		if (check_step(session, at, err) < 0)
			return -1;
	return open_targets(session, err);
}

/* ---- from one to the next ---- */

static bool opens_anew(const struct session_config *one, const struct session_config *other)
{
	return one->payload_bytes != other->payload_bytes || one->path.source_port != other->path.source_port ||
	       session_transmit_stamps(one) != session_transmit_stamps(other);
}

int steps_apply(struct session *session, uint32_t i, bool *ret_runs, struct tare_err *err)
{
	struct session_steps *steps = &session->steps;
	if (!session->asked.step_count)
		return 0;
	size_t at = i % session->asked.step_count;
	*ret_runs = !steps->left_out[at];
	if (at == steps->at || steps->left_out[at])
		return 0;
	struct session_config before = session->config;
	steps->at = at;
	if (check_step(session, at, err) < 0)
		return -1;
	if (!opens_anew(&before, &session->config))
		return 0;
	for (size_t t = 0; t < session->target_count; t++)
		session->probes[t].kind->close(&session->probes[t]);
	return open_targets(session, err);
}

/* ---- the stop rule ---- */

static bool goes_further(const struct session_step *step, const struct session_step *than)
{
	return step->payload_bytes == than->payload_bytes && step->source_port == than->source_port && step->every_ns <= than->every_ns;
}

static void tell(struct session *session, struct writer_job *job, const char *reason)
{
	struct session_steps *steps = &session->steps;
	const struct session_step *step = step_of(session, steps->at);
	char sentence[300], left[48] = "";
	size_t more = 0;
	for (size_t i = 0; i < session->asked.step_count; i++) {
		if (steps->left_out[i] || !goes_further(step_of(session, i), step))
			continue;
		steps->left_out[i] = true;
		more += i > steps->at;
	}
	if (more)
		snprintf(left, sizeof left, "; %zu further step%s left out", more, more == 1 ? "" : "s");
	snprintf(sentence, sizeof sentence, "the sweep ends at %s: %s%s", step->label, reason, left);
	writer_job_event(job, job->round.ended_ns, "sweep", sentence);
}

void steps_judge(struct session *session, struct writer_job *job)
{
	const struct session_step *step = session->asked.step_count ? step_of(session, session->steps.at) : NULL;
	if (!step || !step->every_ns || session->asked.stop_loss < 0 || strcmp(job->round.status, "interrupted") == 0)
		return;
	for (size_t i = 0; i < job->record_count; i++) {
		char reason[160], asked[32], held[32];
		struct tare_rate rate = tare_rate_of(&job->records[i]);
		struct tare_fates fates = tare_fates_of(&job->records[i].series);
		double lost = fates.sent ? (double)fates.count[TARE_LOST] / (double)fates.sent : 1;
		format_rate(rate.asked, asked, sizeof asked);
		format_rate(rate.held, held, sizeof held);
		if (!rate.ok)
			snprintf(reason, sizeof reason, "asked %s, held %s", asked, held);
		else if (lost > session->asked.stop_loss)
			snprintf(reason, sizeof reason, "%.3g %% were lost, more than the %.3g %% of --stop-loss", 100 * lost,
				100 * session->asked.stop_loss);
		else
			continue;
		tell(session, job, reason);
		return;
	}
}
