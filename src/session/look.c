/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A look at requests while the hot loop works on others. Only what is settled is
 * read, and in order: a line of the cache that the loop still writes is touched at
 * the first request without an answer and nowhere else.
 */
#include "session/private.h"

static int64_t field(const int64_t *member)
{
	return __atomic_load_n(member, __ATOMIC_ACQUIRE);
}

/* False while its answer may still come. */
static bool settle(const struct session *session, const struct raw_sample *sample, int64_t now_ns,
	struct session_glance *glance)
{
	int64_t received_ns = field(&sample->user_rx_ns), sent_ns = field(&sample->user_tx_ns);
	int64_t due_ns = field(&sample->due_ns);
	uint16_t reason = __atomic_load_n(&sample->reason, __ATOMIC_ACQUIRE);
	*glance = (struct session_glance){.due_ns = due_ns - session->spool.header->first_due_ns,
		.late_ns = sent_ns ? sent_ns - due_ns : TARE_NO_TIME,
		.rtt_ns = TARE_NO_TIME};
	if (received_ns && sent_ns) {
		glance->rtt_ns = received_ns - sent_ns;
		glance->fate = TARE_ANSWERED;
		return true;
	}
	if (!sent_ns) {
		glance->fate = TARE_NOT_SENT;
		return reason || now_ns - due_ns > session->config.timeout_ns;
	}
	glance->fate = reason ? TARE_ERROR : TARE_LOST;
	return reason || now_ns - sent_ns > session->config.timeout_ns;
}

size_t session_look(const struct session *session, size_t target, uint64_t *next, struct session_glance *ret_glances,
	size_t room)
{
	size_t count = 0;
	if (target >= session->target_count || !session->spool.header)
		return 0;
	uint64_t slots = raw_read(&session->spool.counters[target].slots);
	const struct raw_sample *samples = spool_samples(&session->spool, target);
	int64_t now_ns = clock_mono_now().ns;
	while (count < room && *next < slots) {
		if (!settle(session, &samples[*next], now_ns, &ret_glances[count]))
			break;
		ret_glances[count++].sequence = (*next)++;
	}
	return count;
}
