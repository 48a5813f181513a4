/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counting what replies have in common; a trait is told when all of them have it, none, or some. */
#include "probe/stamp_seen.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

static void take_class(struct stamp_seen *seen, const struct stamp_reply_seen *one)
{
	const struct stamp_reply *reply = one->reply;
	if (one->tos >= 0) {
		seen->tos_known++;
		seen->tos = (uint8_t)one->tos;
	}
	if (reply->has_info) {
		seen->infos++;
		seen->info = reply->info;
	}
	if (!reply->has_class)
		return;
	seen->class_changes += seen->classes && (seen->class.seen_dscp != reply->class.seen_dscp ||
						seen->class.seen_ecn != reply->class.seen_ecn);
	seen->classes++;
	seen->class = reply->class;
}

void stamp_seen_take(struct stamp_seen *seen, const struct stamp_reply_seen *one)
{
	const struct stamp_reply *reply = one->reply;
	seen->replies++;
	seen->tlvs_forged += reply->tlvs_forged;
	seen->ssid += reply->ssid != 0;
	seen->padding += reply->has_number;
	seen->tare += reply->has_peer;
	seen->same_times += reply->t2 == reply->t3;
	seen->same_sequence += reply->sequence == (uint32_t)one->number;
	seen->same_length += one->sent_bytes == one->got_bytes;
	seen->ttl_zero += reply->sender_ttl == 0;
	seen->error_estimate = reply->error_estimate;
	seen->understood = reply->understood;
	seen->unknown = reply->unknown;
	seen->malformed = reply->malformed;
	seen->followed += reply->has_follow_up;
	take_class(seen, one);
	if (!seen->any || one->number < seen->first) {
		seen->first = one->number;
		seen->first_own = reply->sequence;
	}
	if (!seen->any || one->number > seen->last) {
		seen->last = one->number;
		seen->last_own = reply->sequence;
	}
	seen->any = true;
}

static bool counts(const struct stamp_seen *seen)
{
	return seen->any && seen->same_sequence < seen->replies;
}

bool stamp_seen_losses(
	const struct stamp_seen *seen, const struct raw_sample *samples, uint64_t *ret_there, uint64_t *ret_back)
{
	uint64_t sent = 0, answered = 0, received = (uint32_t)(seen->last_own - seen->first_own);
	if (!counts(seen))
		return false;
	for (uint64_t i = seen->first + 1; i <= seen->last; i++) {
		sent += samples[i].user_tx_ns != 0;
		answered += samples[i].user_rx_ns != 0;
	}
	/* packets that overtook each other, duplicates, or a reflector that was started anew */
	if (received > sent || answered > received)
		return false;
	*ret_there = sent - received;
	*ret_back = received - answered;
	return true;
}

/* "session id returned" */
static void trait(struct text *text, uint64_t count, uint64_t all, const char *yes, const char *no)
{
	if (count == all)
		text_add(text, ", %s", yes);
	else if (count == 0)
		text_add(text, ", %s", no);
	else
		text_add(text, ", %s in %llu of %llu replies", yes, (unsigned long long)count, (unsigned long long)all);
}

static void tell_clock(struct text *text, uint16_t estimate)
{
	char bound[32];
	unsigned multiplier = estimate & 0xff, scale = estimate >> 8 & 0x3f;
	if (multiplier == 0) {
		text_add(text, ", calls its own stamps corrupt");
		return;
	}
	double seconds = ldexp((double)multiplier, (int)scale - 32);
	if (seconds < 9e9)
		format_duration((int64_t)(seconds * 1e9), bound, sizeof bound);
	else
		snprintf(bound, sizeof bound, "no bound");
	text_add(text, ", %s stamps, clock %ssynchronised by its own account (within %s)",
		estimate & STAMP_ERROR_Z ? "PTP" : "NTP", estimate & STAMP_ERROR_S ? "" : "not ", bound);
}

static void tell_tlvs(const struct stamp_seen *seen, struct text *text)
{
	if (seen->understood + seen->unknown + seen->malformed == 0)
		return;
	text_add(text, ", TLVs: %u understood", seen->understood);
	if (seen->unknown)
		text_add(text, ", %u not", seen->unknown);
	if (seen->malformed)
		text_add(text, ", %u called malformed", seen->malformed);
}

static void tell_info(const struct stamp_seen *seen, struct text *text)
{
	static const char *const keepers[] = {[STAMP_SYNC_NTP] = "by NTP (or PTP, where it is tare)",
		[STAMP_SYNC_PTP] = "by PTP",
		[STAMP_SYNC_SSU] = "by SSU or BITS",
		[STAMP_SYNC_GNSS] = "by GNSS or a pulse per second",
		[STAMP_SYNC_FREE] = "by nobody"};
	static const char *const methods[] = {[STAMP_METHOD_HARDWARE] = "hardware",
		[STAMP_METHOD_SOFTWARE] = "software",
		[STAMP_METHOD_CONTROL] = "the control plane"};
	enum { KEEPERS = sizeof keepers / sizeof *keepers, METHODS = sizeof methods / sizeof *methods };
	const struct stamp_info *info = &seen->info;
	if (!seen->infos)
		return;
	const char *keeper = info->sync_in < KEEPERS ? keepers[info->sync_in] : NULL;
	const char *in = info->method_in < METHODS ? methods[info->method_in] : NULL;
	const char *out = info->method_out < METHODS ? methods[info->method_out] : NULL;
	text_add(text, ", its clock kept %s, stamps by %s", keeper ? keeper : "by something unknown", in ? in : "something unknown");
	if (info->method_in != info->method_out)
		text_add(text, " and, of replies, by %s", out ? out : "something unknown");
}

/* What the way there made of the DSCP and ECN that requests left with, and the way back of what was asked. */
static void tell_class(const struct stamp_seen *seen, struct text *text)
{
	const struct stamp_class *class = &seen->class;
	if (!seen->classes)
		return;
	text_add(text, "; requests arrive there with DSCP %u and ECN %u", class->seen_dscp, class->seen_ecn);
	if (seen->class_changes)
		text_add(text, " (the last; it changed %llu time%s)", (unsigned long long)seen->class_changes,
			seen->class_changes == 1 ? "" : "s");
	if (class->refused)
		text_add(text, ", it does not answer with DSCP %u as asked", class->asked_dscp);
	if (seen->tos_known)
		text_add(text, ", replies here with DSCP %u and ECN %u", seen->tos >> 2, seen->tos & 3);
	if (seen->tos_known && !class->refused && class->asked_dscp != seen->tos >> 2)
		text_add(text, " where DSCP %u was asked for", class->asked_dscp);
}

static void tell_followed(const struct stamp_seen *seen, struct text *text)
{
	if (seen->followed)
		text_add(text, "; of %llu replies it told afterwards when they really left, used for %llu",
			(unsigned long long)seen->followed, (unsigned long long)seen->followed_used);
}

static void tell_losses(const struct stamp_seen *seen, const struct raw_sample *samples, struct text *text)
{
	uint64_t there, back;
	if (stamp_seen_losses(seen, samples, &there, &back))
		text_add(text,
			"; of requests between the first and last answered %llu were lost on the way there, %llu on "
			"the way back",
			(unsigned long long)there, (unsigned long long)back);
	else if (!counts(seen) && seen->last - seen->first + 1 > seen->replies)
		text_add(text, "; on which way the others were lost cannot be told");
}

static void tell_forged(const struct stamp_seen *seen, struct text *text)
{
	if (seen->forged)
		text_add(text,
			"%s%llu repl%s without the right HMAC %s dropped: the reflector has another key, or none, or they "
			"are not its own",
			seen->replies ? "; " : "", (unsigned long long)seen->forged, seen->forged == 1 ? "y" : "ies",
			seen->forged == 1 ? "was" : "were");
}

void stamp_seen_tell(const struct stamp_seen *seen, const struct raw_sample *samples, char *buffer, size_t room)
{
	struct text text = {.bytes = buffer, .room = room};
	uint64_t n = seen->replies;
	buffer[0] = '\0';
	if (n == 0) {
		tell_forged(seen, &text);
		if (seen->sealed && !seen->forged)
			text_add(&text, "no reply: a reflector drops what is made with another key, and counts it as wrong HMAC");
		return;
	}
	text_add(&text, "the reflector is %s", seen->tare == n ? "tare" : seen->tare ? "tare at times" : "not tare");
	if (seen->sealed)
		text_add(&text, ", authenticated");
	trait(&text, seen->ssid, n, "session id returned (RFC 8972)",
		"session id not returned (RFC 8762 or TWAMP light)");
	trait(&text, seen->padding, n, "padding returned", "padding not returned");
	text_add(&text,
		counts(seen) ? ", sequence counted (stateful)" : ", sequence equal to ours (copied, or nothing lost)");
	trait(&text, seen->same_length, n, "replies as long as requests", "replies of another length than requests");
	if (seen->same_times == n)
		text_add(&text, ", receive and send time equal: no residence can be told");
	trait(&text, n - seen->ttl_zero, n, "hop limit told", "hop limit not told");
	tell_tlvs(seen, &text);
	tell_clock(&text, seen->error_estimate);
	tell_info(seen, &text);
	tell_class(seen, &text);
	tell_followed(seen, &text);
	if (seen->tlvs_forged)
		text_add(&text, ", TLVs without the right HMAC and not used in %llu of %llu replies",
			(unsigned long long)seen->tlvs_forged, (unsigned long long)n);
	tell_losses(seen, samples, &text);
	tell_forged(seen, &text);
}
