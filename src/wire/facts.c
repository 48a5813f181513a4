/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The facts TLV at both ends. What comes is taken as hostile, also from who has the key: sizes are fixed by the first piece. */
#include "wire/facts.h"

#include "wire/tlv.h"

enum {
	STATE_AT = 5,
	COUNT_AT = 6,
	TOKEN_AT = 8,
	PACKED_AT = 16,
	PLAIN_AT = 20,
	OFFSET_AT = 24,
};

void facts_request(uint8_t *packet, const struct stamp_key *key, uint32_t sequence, uint64_t t1_ntp, uint64_t token,
	uint32_t offset)
{
	const size_t length = FACTS_HEAD_BYTES + FACTS_PIECE_BYTES;
	uint8_t *tlv = packet + STAMP_SEALED_BASE_BYTES, *value = tlv + STAMP_TLV_HEADER_BYTES, *seal = value + length;
	memset(packet, 0, FACTS_REQUEST_BYTES);
	put_u32(packet, sequence);
	put_u64(packet + stamp_base_sealed.t1_at, t1_ntp);
	put_u16(packet + stamp_base_sealed.error_at, stamp_error_estimate(false, 1000000000));
	tlv[0] = seal[0] = STAMP_FLAG_U;
	tlv[1] = STAMP_TLV_FACTS;
	put_u16(tlv + 2, (uint16_t)length);
	put_u32(value + PEER_COOKIE_AT, STAMP_PEER_COOKIE);
	value[PEER_VERSION_AT] = STAMP_PEER_VERSION;
	put_u64(value + TOKEN_AT, token);
	put_u32(value + OFFSET_AT, offset);
	seal[1] = STAMP_TLV_HMAC;
	put_u16(seal + 2, STAMP_HMAC_BYTES);
	tlv_seal_write(key, packet, FACTS_REQUEST_BYTES - STAMP_HMAC_BYTES);
	base_seal_write(key, packet);
}

static bool piece_read(const uint8_t *value, size_t length, struct facts_piece *ret_piece)
{
	size_t count = get_u16(value + COUNT_AT);
	if (value[STATE_AT] < FACTS_WAIT || value[STATE_AT] > FACTS_UNREADABLE || count > length - FACTS_HEAD_BYTES)
		return false;
	*ret_piece = (struct facts_piece){
		.state = value[STATE_AT],
		.token = get_u64(value + TOKEN_AT),
		.packed_bytes = get_u32(value + PACKED_AT),
		.plain_bytes = get_u32(value + PLAIN_AT),
		.offset = get_u32(value + OFFSET_AT),
		.bytes = value + FACTS_HEAD_BYTES,
		.count = count,
	};
	return true;
}

enum facts_read facts_reply_read(const uint8_t *packet, size_t bytes, const struct stamp_key *key, uint64_t token,
	struct facts_piece *ret_piece)
{
	size_t at = STAMP_SEALED_BASE_BYTES, hmac_at;
	struct tlv tlv;
	if (bytes < STAMP_SEALED_BASE_BYTES || !stamp_hmac_is(key, packet, BASE_HMAC_AT, NULL, 0, packet + BASE_HMAC_AT) ||
		tlv_seal_of(key, packet, bytes, false, &hmac_at) != TLV_SEAL_RIGHT)
		return FACTS_READ_FOREIGN;
	if (tlv_next(packet, bytes, &at, &tlv) != TLV_WHOLE || tlv.type != STAMP_TLV_FACTS || tlv.length < FACTS_HEAD_BYTES)
		return FACTS_READ_FOREIGN;
	const uint8_t *value = packet + tlv.value_at;
	/* our own request, sent back to us, has no T1 of a sender */
	if (get_u64(packet + stamp_base_sealed.sender_t1_at) == 0)
		return FACTS_READ_FOREIGN;
	if (get_u32(value + PEER_COOKIE_AT) != STAMP_PEER_COOKIE || value[PEER_VERSION_AT] != STAMP_PEER_VERSION ||
		get_u64(value + TOKEN_AT) != token)
		return FACTS_READ_FOREIGN;
	if (tlv.flags & (STAMP_FLAG_U | STAMP_FLAG_M | STAMP_FLAG_I))
		return FACTS_READ_UNSERVED;
	return piece_read(value, tlv.length, ret_piece) ? FACTS_READ_REPLY : FACTS_READ_FOREIGN;
}

enum facts_taken facts_take(struct facts_assembly *assembly, const struct facts_piece *piece)
{
	if (piece->state != FACTS_PIECE || piece->packed_bytes == 0 || piece->packed_bytes > FACTS_PACKED_MAX ||
		piece->plain_bytes == 0 || piece->plain_bytes > FACTS_PLAIN_MAX ||
		piece->offset >= piece->packed_bytes || piece->offset % FACTS_PIECE_BYTES)
		return FACTS_TAKEN_REFUSED;
	size_t rest = piece->packed_bytes - piece->offset, at = piece->offset / FACTS_PIECE_BYTES;
	if (piece->count != (rest < FACTS_PIECE_BYTES ? rest : FACTS_PIECE_BYTES))
		return FACTS_TAKEN_REFUSED;
	if (assembly->packed_bytes == 0) {
		assembly->packed_bytes = piece->packed_bytes;
		assembly->plain_bytes = piece->plain_bytes;
		assembly->pieces = assembly->missing = (piece->packed_bytes + FACTS_PIECE_BYTES - 1) / FACTS_PIECE_BYTES;
	}
	if (piece->packed_bytes != assembly->packed_bytes || piece->plain_bytes != assembly->plain_bytes)
		return FACTS_TAKEN_REFUSED;
	if (assembly->got[at])
		return FACTS_TAKEN_AGAIN;
	memcpy(assembly->bytes + piece->offset, piece->bytes, piece->count);
	assembly->got[at] = true;
	assembly->missing--;
	return FACTS_TAKEN_NEW;
}

bool facts_complete(const struct facts_assembly *assembly)
{
	return assembly->packed_bytes && assembly->missing == 0;
}

bool facts_missing(const struct facts_assembly *assembly, size_t *cursor, uint32_t *ret_offset)
{
	/* before the first piece has told how many there are, that one is what is missing */
	size_t pieces = assembly->packed_bytes ? assembly->pieces : 1;
	while (*cursor < pieces && assembly->got[*cursor])
		++*cursor;
	if (*cursor >= pieces)
		return false;
	*ret_offset = (uint32_t)(*cursor)++ * FACTS_PIECE_BYTES;
	return true;
}

void facts_question(const uint8_t *reply, const struct stamp_made *made, uint64_t *ret_token, uint32_t *ret_offset)
{
	*ret_token = get_u64(reply + made->facts_at + TOKEN_AT);
	*ret_offset = get_u32(reply + made->facts_at + OFFSET_AT);
}

void facts_answer(uint8_t *reply, const struct stamp_made *made, const struct facts_piece *piece)
{
	uint8_t *value = reply + made->facts_at;
	size_t room = made->facts_bytes - FACTS_HEAD_BYTES, count = 0;
	if (piece->state == FACTS_PIECE && piece->offset < piece->packed_bytes)
		count = piece->packed_bytes - piece->offset;
	if (count > room)
		count = room;
	value[-STAMP_TLV_HEADER_BYTES] &= (uint8_t)~(STAMP_FLAG_U | STAMP_FLAG_M | STAMP_FLAG_I);
	value[STATE_AT] = (uint8_t)piece->state;
	put_u16(value + COUNT_AT, (uint16_t)count);
	put_u64(value + TOKEN_AT, piece->token);
	put_u32(value + PACKED_AT, piece->packed_bytes);
	put_u32(value + PLAIN_AT, piece->plain_bytes);
	put_u32(value + OFFSET_AT, piece->offset);
	if (count)
		memcpy(value + FACTS_HEAD_BYTES, piece->bytes + piece->offset, count);
	memset(value + FACTS_HEAD_BYTES + count, 0, room - count);
}
