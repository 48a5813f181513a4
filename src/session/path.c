/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a round showed of the way its packets took, in one sentence: said where
 * something was asked for or is remarkable, and again when it changed.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "session/private.h"

static void add_class(struct text *text, int tos)
{
	char dscp[32];
	net_dscp_text(tos >> 2, dscp, sizeof dscp);
	text_add(text, "DSCP %s, ECN %d", dscp, tos & 3);
}

/* Systems send with 64, 128 or 255: hops are what is missing to the next of them. */
static int hops_of(int ttl)
{
	return (ttl <= 64 ? 64 : ttl <= 128 ? 128 : 255) - ttl;
}

static void add_asked(struct text *text, const struct net_path *path)
{
	if (path->ttl)
		text_add(text, "sent with TTL %d; ", path->ttl);
	if (path->has_class) {
		text_add(text, "sent with ");
		add_class(text, path->dscp << 2 | path->ecn);
		text_add(text, "; ");
	}
	if (path->source.length || path->source_port)
		text_add(text, "from %s%s", path->source.length ? path->source.text : "any address", path->source_port ? "" : "; ");
	if (path->source_port)
		text_add(text, " port %d; ", path->source_port);
	if (path->interface)
		text_add(text, "by interface %s; ", path->interface);
}

static void add_seen(struct text *text, const struct net_path_seen *seen)
{
	if (seen->looked == 0) {
		text_add(text, "no answer showed its way");
		return;
	}
	text_add(text, "answers have ");
	if (seen->ttl >= 0) {
		int hops = hops_of(seen->ttl);
		text_add(text, "TTL %d (%d hop%s, if sent with %d), ", seen->ttl, hops, hops == 1 ? "" : "s",
			seen->ttl + hops);
	}
	if (seen->tos >= 0)
		add_class(text, seen->tos);
	if (seen->other_ttl)
		text_add(text, "; %llu of %llu have another TTL, the last %d: they took another way",
			(unsigned long long)seen->other_ttl, (unsigned long long)seen->looked, seen->last_other_ttl);
	if (seen->other_tos) {
		text_add(text, "; %llu of %llu have ", (unsigned long long)seen->other_tos, (unsigned long long)seen->looked);
		add_class(text, seen->last_other_tos);
	}
}

/* Bytes that the payload shares the packet with; 0: a stream, cut up as it pleases. */
static int headers_of(const struct probe_target *probe)
{
	bool v6 = probe->request.address.storage.ss_family == AF_INET6;
	return probe->kind == &probe_tcp || probe->kind == &probe_connect ? 0 : (v6 ? 40 : 20) + 8;
}

static bool add_fragments(struct text *text, const struct session *session, const struct probe_target *probe)
{
	bool v6 = probe->request.address.storage.ss_family == AF_INET6;
	int mtu = headers_of(probe) ? net_path_mtu(probe->fd, v6) : 0;
	int bytes = (int)probe->request.payload_bytes + headers_of(probe);
	if (mtu == 0 || bytes <= mtu)
		return false;
	if (session->config.path.dont_fragment) {
		text_add(text, "; the path MTU is %d: --size %d at most, %zu is refused", mtu, mtu - headers_of(probe),
			probe->request.payload_bytes);
		return true;
	}
	/* what is behind the IP header goes out in pieces of a multiple of 8; IPv6 adds a header to each */
	int piece = (mtu - (v6 ? 48 : 20)) / 8 * 8, whole = bytes - (v6 ? 40 : 20);
	text_add(text, "; the path MTU is %d: each request of %zu bytes travels in %d fragments", mtu,
		probe->request.payload_bytes, (whole + piece - 1) / piece);
	return true;
}

void path_tell(struct session *session, struct writer_job *job, size_t i)
{
	const struct probe_target *probe = &session->probes[i];
	const struct net_path_seen *seen = &probe->path_seen;
	char sentence[700];
	struct text text = TEXT_IN(sentence);
	if (!probe->kind->takes_path)
		return;
	text_add(&text, "%s: ", session->targets[session->first_target + i].url);
	add_asked(&text, &session->config.path);
	add_seen(&text, seen);
	bool split = add_fragments(&text, session, probe);
	bool remarkable = seen->looked && (seen->other_ttl || seen->other_tos || seen->tos > 0 ||
						  (seen->ttl >= 0 && hops_of(seen->ttl) > 0));
	if (!split && !remarkable && !net_path_asks(&session->config.path))
		return;
	if (strcmp(session->path_said[i], sentence) == 0)
		return;
	snprintf(session->path_said[i], sizeof session->path_said[i], "%s", sentence);
	writer_job_event(job, job->round.first_due_ns, "path", sentence);
}

void receiving_tell(struct session *session, struct writer_job *job)
{
	const struct session_config *config = &session->config;
	char sentence[300];
	struct text text = TEXT_IN(sentence);
	if (session->receiving_said)
		return;
	session->receiving_said = true;
	if (config->receive == SESSION_RECEIVE_EPOLL) {
		text_add(&text, "waits with epoll, beside %u idle socket%s", config->idle_sockets, config->idle_sockets == 1 ? "" : "s");
	} else if (config->receive == SESSION_RECEIVE_BUSY_POLL) {
		const struct net_busy_poll *granted = &session->probes[0].busy_poll;
		unsigned napi = net_napi_of(session->probes[0].fd);
		text_add(&text, "busy polling: asked %d us, granted %d us, budget %d, interrupts %s", config->busy_poll.us, granted->us,
			granted->budget, granted->prefer ? "held off" : "as usual");
		if (napi == 0)
			text_add(&text, "; no queue that can be polled brought the answers: it is the same as spinning");
		else
			text_add(&text, "; queue (NAPI) %u", napi);
	}
	if (text.used)
		writer_job_event(job, job->round.first_due_ns, "receive", sentence);
}
