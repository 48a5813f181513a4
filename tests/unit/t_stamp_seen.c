/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What reflectors turn out to be, and loss by direction, on scripted replies; and a reflector's counts. */
#include "echo/flows.h"
#include "probe/stamp_seen.h"
#include "tap.h"

enum { N = 100 };

/* Every 10th request lost on the way there, every 7th of the rest on the way back. */
static void both_ways(
	bool stateful, struct stamp_seen *seen, struct raw_sample *samples, uint64_t *ret_there, uint64_t *ret_back)
{
	uint32_t own = 500;
	*ret_there = *ret_back = 0;
	memset(seen, 0, sizeof *seen);
	for (uint64_t i = 0; i < N; i++) {
		samples[i] = (struct raw_sample){.user_tx_ns = 1};
		if (i % 10 == 9) {
			*ret_there += i < N - 1;
			continue;
		}
		struct stamp_reply reply = {.sequence = stateful ? own : (uint32_t)i,
			.ssid = 7,
			.has_number = true,
			.t2 = 1,
			.t3 = 2,
			.sender_ttl = 64,
			.error_estimate = 0x0180};
		own++;
		if (i % 7 == 6) {
			(*ret_back)++;
			continue;
		}
		samples[i].user_rx_ns = 2;
		stamp_seen_take(seen, &(struct stamp_reply_seen){&reply, i, 104, 104, -1});
	}
}

static void losses(void)
{
	struct stamp_seen seen;
	static struct raw_sample samples[N];
	uint64_t there, back, got_there = 0, got_back = 0;
	char text[600];
	both_ways(true, &seen, samples, &there, &back);
	OK(stamp_seen_losses(&seen, samples, &got_there, &got_back), "a reflector that counts");
	IS_I64(got_there, there, "lost on the way there, exactly");
	IS_I64(got_back, back, "and on the way back");
	stamp_seen_tell(&seen, samples, text, sizeof text);
	OK(strstr(text, "stateful") && strstr(text, "on the way there"), "told: %s", text);
	both_ways(false, &seen, samples, &there, &back);
	OK(!stamp_seen_losses(&seen, samples, &got_there, &got_back), "one that copies cannot tell");
	stamp_seen_tell(&seen, samples, text, sizeof text);
	OK(strstr(text, "cannot be told"), "and it is said: %s", text);
}

static void started_anew(void)
{
	struct stamp_seen seen = {0};
	static struct raw_sample samples[N];
	uint64_t there, back;
	for (uint64_t i = 0; i < N; i++) {
		struct stamp_reply reply = {.sequence = (uint32_t)(i < 50 ? i + 9 : i - 50)};
		samples[i] = (struct raw_sample){.user_tx_ns = 1, .user_rx_ns = 2};
		stamp_seen_take(&seen, &(struct stamp_reply_seen){&reply, i, 44, 44, -1});
	}
	OK(!stamp_seen_losses(&seen, samples, &there, &back),
		"a reflector that was started anew in between tells nothing");
}

static void poor_reflectors(void)
{
	struct stamp_seen seen = {0};
	struct raw_sample sample = {.user_tx_ns = 1, .user_rx_ns = 2};
	char text[600];
	struct stamp_reply reply = {.t2 = 5, .t3 = 5, .sender_ttl = 0, .error_estimate = 0x8000};
	stamp_seen_tell(&seen, &sample, text, sizeof text);
	IS_STR(text, "", "nothing seen, nothing told");
	stamp_seen_take(&seen, &(struct stamp_reply_seen){&reply, 0, 148, 38, -1});
	stamp_seen_tell(&seen, &sample, text, sizeof text);
	OK(strstr(text, "no residence") && strstr(text, "another length") && strstr(text, "not returned") &&
			strstr(text, "corrupt") && strstr(text, "hop limit not told"),
		"a poor one: %s", text);
}

static void told_of_class(void)
{
	struct stamp_seen seen = {.sealed = true};
	struct raw_sample samples[3] = {{.user_tx_ns = 1, .user_rx_ns = 2}, {.user_tx_ns = 1, .user_rx_ns = 2}};
	char text[1200];
	struct stamp_reply reply = {.has_class = true, .class = {46, 10, 1, false}, .has_info = true, .info = {2, 1, 2, 2},
		.has_follow_up = true, .understood = 5, .unknown = 1, .error_estimate = 0x8180, .t3 = 1};
	stamp_seen_take(&seen, &(struct stamp_reply_seen){&reply, 0, 272, 272, 46 << 2 | 1});
	stamp_seen_tell(&seen, samples, text, sizeof text);
	OK(strstr(text, "authenticated") && strstr(text, "TLVs: 5 understood, 1 not") && strstr(text, "kept by PTP") &&
			strstr(text, "stamps by hardware and, of replies, by software") &&
			strstr(text, "arrive there with DSCP 10 and ECN 1") && strstr(text, "here with DSCP 46 and ECN 1;") &&
			strstr(text, "of 1 replies it told"),
		"all of it: %s", text);
	reply.class.seen_dscp = 0;
	reply.tlvs_forged = true;
	stamp_seen_take(&seen, &(struct stamp_reply_seen){&reply, 1, 272, 272, 0});
	seen.forged = 2;
	stamp_seen_tell(&seen, samples, text, sizeof text);
	OK(strstr(text, "it changed 1 time)") && strstr(text, "where DSCP 46 was asked for") &&
			strstr(text, "not used in 1 of 2 replies") && strstr(text, "2 replies without the right HMAC were dropped"),
		"changed on the way: %s", text);
	reply.class.refused = true;
	stamp_seen_take(&seen, &(struct stamp_reply_seen){&reply, 2, 272, 272, 0});
	stamp_seen_tell(&seen, samples, text, sizeof text);
	OK(strstr(text, "does not answer with DSCP 46 as asked") && !strstr(text, "where DSCP 46"), "refused: %s", text);
	seen = (struct stamp_seen){.sealed = true};
	stamp_seen_tell(&seen, samples, text, sizeof text);
	OK(strstr(text, "no reply: "), "nothing came back: %s", text);
	seen.forged = 1;
	stamp_seen_tell(&seen, samples, text, sizeof text);
	OK(strstr(text, "1 reply without the right HMAC was dropped"), "or nothing right: %s", text);
}

static void counted(void)
{
	static struct flows flows;
	struct flow *flow = NULL;
	struct sockaddr_storage from = {.ss_family = AF_INET};
	struct flow_key one = flow_key_of(&from, 0, 1), other = flow_key_of(&from, 0, 2);
	for (uint32_t i = 0; i < 5; i++)
		IS_I64(flows_count(&flows, &one, 1000 + i, &flow), i, "a session is counted");
	IS_I64(flows_count(&flows, &other, 2000, &flow), 0, "another SSID is another session");
	IS_I64(flows_count(&flows, &one, 3000, &flow), 5, "and does not disturb the first");
	IS_I64(flows_count(&flows, &one, 3001 + FLOWS_SILENT_NS, &flow), 0, "after long silence it begins anew");
	uint64_t wrong = 0;
	for (uint32_t i = 0; i < 100000; i++) {
		struct flow_key many = flow_key_of(&from, i, 9);
		wrong += flows_count(&flows, &many, 4000 + i + FLOWS_SILENT_NS, &flow) != 0;
	}
	IS_I64(wrong, 0, "100 000 sessions in a room of 4096: each begins at 0");
}

int main(void)
{
	losses();
	started_anew();
	poor_reflectors();
	told_of_class();
	counted();
	return tap_done();
}
