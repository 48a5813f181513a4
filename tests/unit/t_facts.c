/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Facts over the network: request and reply, pieces lost, doubled and out of order, wholes that are none, and packing. */
#include <stdlib.h>

#include "host/snapshot.h"
#include "host/store.h"
#include "tap.h"
#include "wire/facts.h"

static const uint8_t KEY[32] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, OTHER[32] = {9};
static struct stamp_key *key, *other;
static const uint64_t TOKEN = 0x1122334455667788;
enum { WHOLE = 3 * FACTS_PIECE_BYTES + 17 };

static uint8_t whole[WHOLE], packet[FACTS_REQUEST_BYTES];

static const struct facts_piece stock = {
	.state = FACTS_PIECE, .packed_bytes = WHOLE, .plain_bytes = 70000, .bytes = whole};

/* Reflects the request in `packet`; false where its facts TLV is not one to answer. */
static bool reflect(const struct facts_piece *answer, struct stamp_made *ret_made)
{
	struct stamp_arrival in = {.key = key, .ttl = 61, .t2_ntp = 77};
	uint32_t offset;
	uint64_t token;
	if (stamp_request_check(packet, sizeof packet, key, false) != STAMP_REFLECT ||
		stamp_reflect(packet, sizeof packet, &in, packet, sizeof packet, ret_made) != STAMP_REFLECT)
		return false;
	if (answer && ret_made->facts_at) {
		struct facts_piece piece = *answer;
		facts_question(packet, ret_made, &token, &offset);
		piece.token = token;
		piece.offset = offset;
		facts_answer(packet, ret_made, &piece);
	}
	stamp_reflect_sent(packet, ret_made, 5, 6, 7);
	return ret_made->facts_at != 0;
}

static void exchange(void)
{
	struct stamp_made made;
	struct facts_piece piece;
	facts_request(packet, key, 9, 1234, TOKEN, FACTS_PIECE_BYTES);
	IS_I64(facts_reply_read(packet, sizeof packet, key, TOKEN, &piece), FACTS_READ_FOREIGN, "our own request is no reply");
	OK(reflect(&stock, &made), "the reflector finds the TLV");
	IS_I64(made.bytes, FACTS_REQUEST_BYTES, "the reply is as long as the request");
	IS_I64(facts_reply_read(packet, sizeof packet, key, TOKEN, &piece), FACTS_READ_REPLY, "the reply is read");
	OK(piece.state == FACTS_PIECE && piece.token == TOKEN && piece.packed_bytes == WHOLE && piece.plain_bytes == 70000 &&
			piece.offset == FACTS_PIECE_BYTES && piece.count == FACTS_PIECE_BYTES,
		"with every field");
	OK(memcmp(piece.bytes, whole + FACTS_PIECE_BYTES, piece.count) == 0, "and the piece that was asked for");
	IS_I64(facts_reply_read(packet, sizeof packet, key, TOKEN + 1, &piece), FACTS_READ_FOREIGN, "of another token: not ours");
	IS_I64(facts_reply_read(packet, sizeof packet, other, TOKEN, &piece), FACTS_READ_FOREIGN, "with another key: not ours");
	size_t believed = 0;
	for (size_t i = 0; i < sizeof packet; i++) {
		packet[i] ^= 4;
		/* the HMAC TLV does not cover its own flags, of which these bits are reserved (RFC 8972) */
		if (i != sizeof packet - STAMP_HMAC_BYTES - STAMP_TLV_HEADER_BYTES)
			believed += facts_reply_read(packet, sizeof packet, key, TOKEN, &piece) != FACTS_READ_FOREIGN;
		packet[i] ^= 4;
	}
	IS_I64(believed, 0, "with any octet changed: not ours");
	for (size_t bytes = 0; bytes < sizeof packet; bytes++)
		believed += facts_reply_read(packet, bytes, key, TOKEN, &piece) != FACTS_READ_FOREIGN;
	IS_I64(believed, 0, "cut anywhere: not ours");
}

static void states(void)
{
	struct stamp_made made;
	struct facts_piece piece, wait = {.state = FACTS_WAIT}, beyond = stock;
	facts_request(packet, key, 9, 1234, TOKEN, 0);
	reflect(NULL, &made);
	IS_I64(facts_reply_read(packet, sizeof packet, key, TOKEN, &piece), FACTS_READ_UNSERVED, "a reflector that serves none leaves U");
	facts_request(packet, key, 9, 1234, TOKEN, 0);
	reflect(&wait, &made);
	OK(facts_reply_read(packet, sizeof packet, key, TOKEN, &piece) == FACTS_READ_REPLY && piece.state == FACTS_WAIT && piece.count == 0,
		"one that reads tells to wait");
	facts_request(packet, key, 9, 1234, TOKEN, UINT32_MAX);
	reflect(&beyond, &made);
	OK(facts_reply_read(packet, sizeof packet, key, TOKEN, &piece) == FACTS_READ_REPLY && piece.count == 0,
		"beyond the end there is nothing");
	facts_request(packet, key, 9, 1234, TOKEN, 3 * FACTS_PIECE_BYTES);
	reflect(&stock, &made);
	OK(facts_reply_read(packet, sizeof packet, key, TOKEN, &piece) == FACTS_READ_REPLY && piece.count == 17, "the last piece is short");
	size_t rest = 0;
	for (size_t i = 17; i < FACTS_PIECE_BYTES; i++)
		rest += piece.bytes[i];
	IS_I64(rest, 0, "and zeros fill the rest");
	facts_request(packet, key, 9, 1234, TOKEN, 0);
	packet[STAMP_SEALED_BASE_BYTES + 20]++;
	OK(!reflect(&stock, &made) && made.tlvs_forged, "a TLV that was changed is not answered");
}

static struct facts_piece piece_at(size_t at)
{
	struct facts_piece piece = stock;
	piece.offset = (uint32_t)(at * FACTS_PIECE_BYTES);
	piece.bytes = whole + piece.offset;
	piece.count = at < 3 ? FACTS_PIECE_BYTES : 17;
	return piece;
}

static void assembly(void)
{
	static struct facts_assembly got;
	static uint8_t bytes[FACTS_PACKED_MAX];
	static const size_t order[] = {3, 1, 1, 0, 3, 2};
	size_t cursor = 0, fresh = 0;
	uint32_t offset = 1;
	got.bytes = bytes;
	OK(!facts_complete(&got) && facts_missing(&got, &cursor, &offset) && offset == 0, "at first the first piece is missing");
	OK(!facts_missing(&got, &cursor, &offset), "and nothing else is known");
	for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
		struct facts_piece piece = piece_at(order[i]);
		OK(!facts_complete(&got), "not whole before piece %zu", i);
		fresh += facts_take(&got, &piece) == FACTS_TAKEN_NEW;
		if (i == 1) {
			cursor = 0;
			OK(facts_missing(&got, &cursor, &offset) && offset == 0 && facts_missing(&got, &cursor, &offset) &&
					offset == 2 * FACTS_PIECE_BYTES && !facts_missing(&got, &cursor, &offset),
				"what was lost is what is missing");
		}
	}
	IS_I64(fresh, 4, "doubled pieces count once");
	OK(facts_complete(&got) && memcmp(bytes, whole, WHOLE) == 0, "the whole is there");
}

static void hostile(void)
{
	static struct facts_assembly got;
	static uint8_t bytes[FACTS_PACKED_MAX];
	struct facts_piece good = piece_at(1), bad[10];
	for (size_t i = 0; i < 10; i++)
		bad[i] = good;
	bad[0].packed_bytes = FACTS_PACKED_MAX + 1;
	bad[1].packed_bytes = UINT32_MAX;
	bad[2].packed_bytes = 0;
	bad[3].plain_bytes = FACTS_PLAIN_MAX + 1;
	bad[4].plain_bytes = 0;
	bad[5].offset = WHOLE;
	bad[6].offset = UINT32_MAX / FACTS_PIECE_BYTES * FACTS_PIECE_BYTES;
	bad[7].offset++;
	bad[8].count--;
	bad[9].state = FACTS_WAIT;
	got.bytes = bytes;
	size_t taken = 0;
	for (size_t i = 0; i < 10; i++)
		taken += facts_take(&got, &bad[i]) != FACTS_TAKEN_REFUSED;
	IS_I64(taken, 0, "wholes that are too large or none, pieces beyond them: refused");
	OK(got.packed_bytes == 0, "and nothing of them remembered");
	IS_I64(facts_take(&got, &good), FACTS_TAKEN_NEW, "a good one is taken");
	struct facts_piece larger = piece_at(2), longer = piece_at(2);
	larger.packed_bytes += FACTS_PIECE_BYTES;
	longer.plain_bytes++;
	OK(facts_take(&got, &larger) == FACTS_TAKEN_REFUSED && facts_take(&got, &longer) == FACTS_TAKEN_REFUSED,
		"then one of another whole is not");
	/* the largest whole, its last piece: within the buffer and the table */
	static struct facts_assembly most;
	most.bytes = bytes;
	struct facts_piece last = {.state = FACTS_PIECE, .packed_bytes = FACTS_PACKED_MAX, .plain_bytes = 1, .bytes = whole};
	last.offset = (FACTS_PACKED_MAX - 1) / FACTS_PIECE_BYTES * FACTS_PIECE_BYTES;
	last.count = FACTS_PACKED_MAX - last.offset;
	IS_I64(facts_take(&most, &last), FACTS_TAKEN_NEW, "the last piece of the largest whole fits");
}

static void packing(void)
{
	struct host_snapshot *snapshot = NULL, *back = NULL;
	struct host_packed packed = {0};
	struct tare_err err = {0};
	if (host_snapshot_open(&snapshot, &err) < 0)
		exit(1);
	for (int i = 0; i < 500; i++) {
		char name[40];
		snprintf(name, sizeof name, "net.test.number_%d", i);
		host_snapshot_add(snapshot, &(struct host_fact){.key = name, .value = "1", .source = "test", .kind = HOST_RUNTIME});
	}
	OK(host_snapshot_finish(snapshot, &err) == 0 && host_snapshot_pack(snapshot, FACTS_PLAIN_MAX, &packed, &err) == 0, "packed");
	OK(packed.count < packed.plain_bytes / 4, "%zu octets instead of %zu", packed.count, packed.plain_bytes);
	OK(host_snapshot_unpack(&packed, "peer", &back, &err) == 0 && back->count == 500 &&
			strcmp(back->header.hash, snapshot->header.hash) == 0,
		"and back");
	host_snapshot_free(back);
	back = NULL;
	struct host_packed wrong = packed;
	wrong.plain_bytes--;
	OK(host_snapshot_unpack(&wrong, "peer", &back, &err) < 0 && !back, "more than was announced is refused");
	wrong.plain_bytes += 2;
	OK(host_snapshot_unpack(&wrong, "peer", &back, &err) < 0 && !back, "less as well");
	IS_STR(err.text, "peer: its facts cannot be unpacked", "in a sentence");
	wrong = packed;
	wrong.count /= 2;
	OK(host_snapshot_unpack(&wrong, "peer", &back, &err) < 0 && !back, "and half of it");
	struct host_packed small = {0};
	OK(host_snapshot_pack(snapshot, 100, &small, &err) < 0 && !small.bytes, "one that is too large is not packed");
	free(packed.bytes);
	host_snapshot_free(snapshot);
}

int main(void)
{
	for (size_t i = 0; i < sizeof whole; i++)
		whole[i] = (uint8_t)(i * 31 + i / 256);
	if (stamp_key_open(KEY, sizeof KEY, &key, NULL) < 0 || stamp_key_open(OTHER, sizeof OTHER, &other, NULL) < 0)
		return 1;
	exchange();
	states();
	assembly();
	hostile();
	packing();
	stamp_key_free(key);
	stamp_key_free(other);
	return tap_done();
}
