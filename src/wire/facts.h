/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The facts of a responder's host, asked for piece by piece in the facts TLV (STAMP type 251, experimental) of
 * authenticated requests. A reply is as long as its request: the piece fills what the sender left empty. Both ends'
 * HMACs cover it, so that a piece is the responder's and of the snapshot that was asked for (by a token that the
 * sender draws anew each time); nothing hides it from who can read the packets.
 *
 * Value, big-endian:
 *   0 u32 project cookie   4 u8 version (1)   5 u8 state   6 u16 octets of the piece
 *   8 u64 token  16 u32 octets of the whole, packed  20 u32 the same, unpacked  24 u32 offset  28 the piece
 * A request has token and offset, and zeros elsewhere.
 */
#pragma once
#include "wire/stamp.h"

enum {
	FACTS_HEAD_BYTES = 28,
	FACTS_REQUEST_BYTES = 1400, /* of a whole packet: passes where 1500 octets do, IPv6 and a tunnel included */
	FACTS_PIECE_BYTES =
		FACTS_REQUEST_BYTES - STAMP_SEALED_BASE_BYTES - 2 * STAMP_TLV_HEADER_BYTES - STAMP_HMAC_BYTES - FACTS_HEAD_BYTES,
	FACTS_PACKED_MAX = 1 << 20,
	FACTS_PLAIN_MAX = 8 << 20,
	FACTS_PIECES_MAX = FACTS_PACKED_MAX / FACTS_PIECE_BYTES + 1,
};

enum facts_state {
	FACTS_ASKED,    /* in requests */
	FACTS_WAIT,     /* being read, or too much is asked for: ask again */
	FACTS_PIECE,
	FACTS_UNREADABLE, /* could not be read, or is too large */
};

struct facts_piece {
	enum facts_state state;
	uint64_t token;
	uint32_t packed_bytes, plain_bytes, offset; /* of the whole; of this piece within the packed octets */
	const uint8_t *bytes;
	size_t count;
};

/* ---- sender ---- */

/* Writes a request of FACTS_REQUEST_BYTES. */
void facts_request(uint8_t *packet, const struct stamp_key *key, uint32_t sequence, uint64_t t1_ntp, uint64_t token,
	uint32_t offset);

enum facts_read {
	FACTS_READ_FOREIGN,  /* no reply to a request of this token with the right HMACs */
	FACTS_READ_UNSERVED, /* it is, and the reflector does not serve facts */
	FACTS_READ_REPLY,
};
/* *ret_piece holds behind FACTS_READ_REPLY, its bytes within the packet. */
enum facts_read facts_reply_read(const uint8_t *packet, size_t bytes, const struct stamp_key *key, uint64_t token,
	struct facts_piece *ret_piece);

/* What has come of a snapshot; zero is the beginning, with `bytes` of FACTS_PACKED_MAX octets that are the caller's. */
struct facts_assembly {
	uint8_t *bytes;
	uint32_t packed_bytes, plain_bytes; /* 0: no piece yet */
	size_t pieces, missing;
	bool got[FACTS_PIECES_MAX];
};
enum facts_taken {
	FACTS_TAKEN_NEW,
	FACTS_TAKEN_AGAIN,   /* it was there */
	FACTS_TAKEN_REFUSED, /* not of the whole that the first piece announced, or of one too large */
};
enum facts_taken facts_take(struct facts_assembly *assembly, const struct facts_piece *piece);
bool facts_complete(const struct facts_assembly *assembly);
/* The offset of the first missing piece from piece *cursor on, which moves behind it; false: none from there on. */
bool facts_missing(const struct facts_assembly *assembly, size_t *cursor, uint32_t *ret_offset);

/* ---- reflector: for a reply whose stamp_made has facts_at ---- */

/* Token and offset that were asked for. */
void facts_question(const uint8_t *reply, const struct stamp_made *made, uint64_t *ret_token, uint32_t *ret_offset);
/*
 * Fills the TLV and clears its flags. piece->bytes is then the whole, of which as much is copied from piece->offset on
 * as fits; piece->count is not looked at. Before stamp_reflect_sent, whose HMAC covers it.
 */
void facts_answer(uint8_t *reply, const struct stamp_made *made, const struct facts_piece *piece);
