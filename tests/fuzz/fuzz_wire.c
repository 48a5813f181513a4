/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Every wire format reads the same bytes. Beyond not crashing: a reflector's
 * reply is never longer than allowed, is the same in place and apart, and echoes
 * what the request said; with a key as without.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "wire/bytes.h"
#include "wire/facts.h"
#include "wire/icmp.h"
#include "wire/payload.h"
#include "wire/stamp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

enum { ROOM = 2048 };
static const uint64_t COOKIE = 0x0102030405060708;
static const struct stamp_asking asking = {.cookie = 0x0102030405060708};

static void must(int holds)
{
	if (!holds)
		abort();
}

static void reflect(const uint8_t *data, size_t bytes, int light)
{
	static uint8_t apart[ROOM], here[ROOM];
	struct stamp_arrival in = {.light = light, .ttl = 9, .t2_ntp = 77, .peer = {.valid = STAMP_VALID_USER_RX}};
	struct stamp_made made = {0}, made_here = {0};
	enum stamp_verdict verdict = stamp_reflect(data, bytes, &in, apart, ROOM, &made);
	if (verdict != STAMP_REFLECT) {
		must(bytes > ROOM || bytes < (light ? STAMP_LIGHT_REQUEST_BYTES : STAMP_BASE_BYTES));
		return;
	}
	must(made.bytes == (bytes < STAMP_BASE_BYTES ? STAMP_BASE_BYTES : bytes));
	memcpy(here, data, bytes);
	must(stamp_reflect(here, bytes, &in, here, ROOM, &made_here) == STAMP_REFLECT);
	must(made_here.bytes == made.bytes && made_here.peer_at == made.peer_at &&
		memcmp(here, apart, made.bytes) == 0);
	must(made.peer_at == 0 || made.peer_at + STAMP_PEER_VALUE_BYTES <= made.bytes);
	stamp_reflect_sent(apart, &made, 5, 6, 7);
	struct stamp_reply reply;
	must(stamp_reply_read(apart, made.bytes, &asking, &reply) == STAMP_READ_REPLY);
	must(reply.sender_sequence == get_u32(data) && reply.t3 == 5 && reply.t2 == 77 && reply.sender_ttl == 9);
	must(made.peer_at == 0 || (reply.has_peer && reply.peer.user_tx_ns == 6 && reply.peer.tx_cpu == 7));
}

/* What a reply's facts TLV says goes into an assembly that keeps to its room; any piece may come first. */
static void assemble(const uint8_t *data, size_t bytes, const struct stamp_key *key, uint64_t token)
{
	static uint8_t whole[FACTS_PACKED_MAX];
	static struct facts_assembly assembly;
	struct facts_piece piece;
	if (facts_reply_read(data, bytes, key, token, &piece) != FACTS_READ_REPLY)
		return;
	must(piece.bytes >= data && piece.bytes + piece.count <= data + bytes);
	assembly = (struct facts_assembly){.bytes = whole};
	if (facts_take(&assembly, &piece) == FACTS_TAKEN_NEW)
		must(facts_take(&assembly, &piece) == FACTS_TAKEN_AGAIN && assembly.missing + 1 == assembly.pieces);
}

/* As a responder that serves them: a piece of a whole of which any part may be asked for. */
static void answer_facts(uint8_t *reply, size_t bytes, const struct stamp_made *made)
{
	static const uint8_t whole[5000] = {7};
	struct facts_piece piece = {.state = FACTS_PIECE, .packed_bytes = sizeof whole, .plain_bytes = 9000, .bytes = whole};
	must(made->hmac_at && made->facts_bytes >= FACTS_HEAD_BYTES && made->facts_at + made->facts_bytes <= bytes);
	facts_question(reply, made, &piece.token, &piece.offset);
	facts_answer(reply, made, &piece);
}

/* The authenticated mode: as it comes, and with the base's HMAC made right so that something lies behind it. */
static void reflect_sealed(const uint8_t *data, size_t bytes)
{
	static const uint8_t octets[16] = {1};
	static struct stamp_key *key;
	static uint8_t here[ROOM];
	if (!key)
		must(stamp_key_open(octets, sizeof octets, &key, NULL) == 0);
	struct stamp_asking asked = {.key = key, .cookie = COOKIE};
	struct stamp_reply reply;
	stamp_reply_read(data, bytes, &asked, &reply);
	if (bytes < STAMP_SEALED_BASE_BYTES || bytes > ROOM)
		return;
	memcpy(here, data, bytes);
	memset(here + 4, 0, 12);
	stamp_hmac(key, here, 96, NULL, 0, here + 96);
	must(stamp_request_check(here, bytes, key, false) == STAMP_REFLECT);
	must(stamp_reply_read(here, bytes, &asked, &reply) == STAMP_READ_REPLY);
	struct stamp_arrival in = {.key = key, .ttl = 9, .t2_ntp = 77, .has_tos = true, .info = {1, 2, 1, 2}};
	struct stamp_made made = {0};
	must(stamp_reflect(here, bytes, &in, here, ROOM, &made) == STAMP_REFLECT && made.bytes == bytes);
	/* the token as it stands where one would */
	uint64_t token = bytes > 132 ? get_u64(here + 124) : 0;
	assemble(here, bytes, key, token);
	if (made.facts_at)
		answer_facts(here, bytes, &made);
	stamp_reflect_sent(here, &made, 5, 6, 7);
	must(stamp_reply_read(here, bytes, &asked, &reply) == STAMP_READ_REPLY && reply.t3 == 5 && reply.t2 == 77);
	assemble(here, bytes, key, token);
	must(made.hmac_at == 0 || !reply.tlvs_forged);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct stamp_reply reply;
	must((stamp_reply_read(data, bytes, &asking, &reply) == STAMP_READ_REPLY) == (bytes >= STAMP_REPLY_MIN_BYTES));
	reflect(data, bytes, 0);
	reflect(data, bytes, 1);
	reflect_sealed(data, bytes);

	uint64_t number;
	struct icmp_echo echo;
	payload_read(data, bytes, COOKIE, &number);
	for (int mode = 0; mode < 4; mode++) {
		if (!icmp_reply(data, bytes, mode & 1, mode & 2, &echo))
			continue;
		must(echo.payload >= data && echo.payload + echo.payload_bytes <= data + bytes);
		payload_read(echo.payload, echo.payload_bytes, COOKIE, &number);
	}
	icmp_quoted_request(data, bytes, bytes & 1, &echo);
	if (bytes >= ICMP_ECHO_HEADER_BYTES && bytes <= ROOM) {
		static uint8_t message[ROOM];
		memcpy(message, data, bytes);
		icmp_checksum(message, bytes);
	}
	return 0;
}
