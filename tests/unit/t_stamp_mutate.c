/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Damaged packets against both ends: every length from 0 to 200 and 100 000 mutations
 * in each mode, each packet in a block of its own so that a sanitizer sees every octet
 * read too far. With a key half of them get a right HMAC again: else nothing would be
 * reached behind it. Held: no reply is longer than its request, nothing is written
 * behind it, and what one end makes the other reads.
 */
#include <stdlib.h>

#include "tap.h"
#include "wire/stamp.h"

enum { MUTATIONS = 100000, MOST = 400, GUARD = 16 };
static const uint8_t KEY[20] = "twenty octets of key";
static const uint64_t SEED = 20261130;
static uint64_t state;

static uint64_t draw(uint64_t below)
{
	/* xorshift64*, Vigna 2016 */
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (state * UINT64_C(2685821657736338717) >> 32) % below;
}

static void seal(const struct stamp_key *key, uint8_t *p, size_t bytes)
{
	if (bytes >= STAMP_SEALED_BASE_BYTES) {
		memset(p + 4, 0, 12);
		stamp_hmac(key, p, 96, NULL, 0, p + 96);
	}
	if (bytes >= STAMP_SEALED_BASE_BYTES + 20)
		stamp_hmac(key, p, 4, p + 112, bytes - 112 - 20, p + bytes - 16);
}

struct tally {
	uint64_t reflected, read, forged, broken;
};

/* One request against the reflector, and its reply against the sender. */
static void one(const struct stamp_key *key, const uint8_t *packet, size_t bytes, bool light, struct tally *tally)
{
	size_t least = key ? 112 : light ? 14 : 44, room = bytes < 44 ? 44 : bytes;
	uint8_t *request = malloc(bytes + 1), *reply = malloc(room + GUARD);
	if (!request || !reply)
		abort();
	memcpy(request, packet, bytes);
	memset(reply, 0xee, room + GUARD);
	struct stamp_follow_up told = {3, 4, STAMP_METHOD_SOFTWARE};
	struct stamp_arrival in = {.key = key,
		.light = light,
		.ttl = 9,
		.has_tos = true,
		.tos = 0xb9,
		.info = {STAMP_SYNC_NTP, 2, 1, 2},
		.follow_up = &told,
		.t2_ntp = 77,
		.peer = {.valid = STAMP_VALID_USER_RX}};
	struct stamp_asking asking = {.bytes = bytes, .key = key, .cookie = 5};
	struct stamp_made made = {0};
	struct stamp_reply r;
	struct stamp_reason reason = {.word = 1};
	if (stamp_request_check(request, bytes, key, light) == STAMP_REFLECT) {
		tally->broken += stamp_reflect(request, bytes, &in, reply, room, &made) != STAMP_REFLECT || bytes < least;
		stamp_reflect_reason(reply, &made, &reason);
		stamp_reflect_injecting(reply, &made, true);
		stamp_reflect_sent(reply, &made, 5, 6, 7);
		tally->broken += made.bytes != room;
		for (size_t i = 0; i < GUARD; i++)
			tally->broken += reply[room + i] != 0xee;
		tally->broken += stamp_reply_read(reply, made.bytes, &asking, &r) != STAMP_READ_REPLY || r.t3 != 5 || r.t2 != 77 ||
			r.sender_sequence != get_u32(request) || (made.peer_at && (!r.has_peer || r.peer.user_tx_ns != 6));
		tally->reflected++;
	}
	enum stamp_read read = stamp_reply_read(request, bytes, &asking, &r);
	tally->broken += (read == STAMP_READ_SHORT) != (bytes < 36);
	tally->read += read == STAMP_READ_REPLY;
	tally->forged += read == STAMP_READ_FORGED;
	if (read == STAMP_READ_REPLY && r.reason_at)
		stamp_reason_read(request + r.reason_at, &reason);
	uint64_t number;
	stamp_request_read(request, bytes, &asking, &number);
	free(request);
	free(reply);
}

/* A whole request of ours, or the reply to one. */
static size_t whole(const struct stamp_key *key, uint8_t *p, bool replied)
{
	size_t bytes = (key ? STAMP_REQUEST_MIN_BYTES + STAMP_SEALED_MORE_BYTES : STAMP_REQUEST_MIN_BYTES) + (size_t)draw(100);
	struct stamp_asking asking = {.bytes = bytes, .key = key, .cookie = 5, .ssid = 1};
	struct stamp_arrival in = {.key = key, .has_tos = true, .info = {1, 2, 1, 2}};
	struct stamp_made made;
	stamp_request_fill(p, &asking);
	stamp_request_number(p, &asking, draw(1000));
	stamp_request_time(p, &asking, draw(1000));
	if (replied && stamp_reflect(p, bytes, &in, p, bytes, &made) == STAMP_REFLECT)
		stamp_reflect_sent(p, &made, 1, 2, 3);
	return bytes;
}

static size_t mutate(uint8_t *p, size_t bytes)
{
	static const uint8_t telling[] = {0, 1, 3, 4, 7, 8, 16, 36, 40, 0x80, 0x40, 0x20, 0xa0, 0xff, 249, 250};
	for (uint64_t n = 1 + draw(6); n > 0 && bytes > 0; n--) {
		size_t at = (size_t)draw(bytes);
		switch (draw(4)) {
		case 0:
			p[at] = (uint8_t)draw(256);
			break;
		case 1:
			p[at] = telling[draw(sizeof telling)];
			break;
		case 2:
			p[at] ^= (uint8_t)(1u << draw(8));
			break;
		default:
			if (draw(4) == 0)
				bytes = at;
			else if (bytes < MOST)
				p[bytes++] = (uint8_t)draw(256);
		}
	}
	return bytes;
}

static void mutations(const struct stamp_key *key, const char *name)
{
	uint8_t p[MOST];
	struct tally tally = {0};
	state = SEED;
	printf("# %s: seed %llu\n", name, (unsigned long long)SEED);
	for (int i = 0; i < MUTATIONS; i++) {
		size_t bytes = mutate(p, whole(key, p, draw(2)));
		if (key && draw(2))
			seal(key, p, bytes);
		one(key, p, bytes, draw(2), &tally);
	}
	printf("# %llu reflected, %llu read as replies, %llu forged\n", (unsigned long long)tally.reflected,
		(unsigned long long)tally.read, (unsigned long long)tally.forged);
	OK(tally.broken == 0, "%s: %d mutations", name, MUTATIONS);
	OK(tally.reflected > MUTATIONS / 10 && tally.read > MUTATIONS / 10, "%s: enough of them came far", name);
	OK((tally.forged > 0) == (key != NULL), "%s: forged ones with a key alone", name);
}

static void truncations(const struct stamp_key *key, const char *name)
{
	uint8_t p[MOST];
	struct tally tally = {0};
	state = SEED;
	for (int replied = 0; replied < 2; replied++) {
		size_t all = whole(key, p, replied);
		memset(p + all, 0, MOST - all);
		for (size_t bytes = 0; bytes <= 200; bytes++)
			for (int light = 0; light < 2; light++)
				one(key, p, bytes, light, &tally);
	}
	OK(tally.broken == 0, "%s: every length from 0 to 200", name);
}

int main(void)
{
	struct stamp_key *key = NULL;
	struct tare_err err;
	if (stamp_key_open(KEY, sizeof KEY, &key, &err) < 0)
		return 1;
	truncations(NULL, "without a key");
	truncations(key, "with a key");
	mutations(NULL, "without a key");
	mutations(key, "with a key");
	stamp_key_free(key);
	return tap_done();
}
