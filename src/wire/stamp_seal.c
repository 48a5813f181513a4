/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where fields lie in the two modes, and the two HMACs of the authenticated one: of the
 * base, and of the TLVs. They are apart because the base's must be made behind the
 * send time, the TLVs' before it.
 */
#include "wire/tlv.h"

const struct stamp_base stamp_base_open = {
	.bytes = STAMP_BASE_BYTES,
	.t1_at = 4,
	.error_at = 12,
	.ssid_at = 14,
	.t2_at = 16,
	.sender_sequence_at = 24,
	.sender_t1_at = 28,
	.sender_error_at = 36,
	.sender_ttl_at = 40,
};
const struct stamp_base stamp_base_sealed = {
	.bytes = STAMP_SEALED_BASE_BYTES,
	.t1_at = 16,
	.error_at = 24,
	.ssid_at = 26,
	.t2_at = 32,
	.sender_sequence_at = 48,
	.sender_t1_at = 64,
	.sender_error_at = 72,
	.sender_ttl_at = 80,
};

enum { SEQUENCE_BYTES = 4 };

void base_seal_write(const struct stamp_key *key, uint8_t *packet)
{
	stamp_hmac(key, packet, BASE_HMAC_AT, NULL, 0, packet + BASE_HMAC_AT);
}

void tlv_seal_write(const struct stamp_key *key, uint8_t *packet, size_t hmac_at)
{
	stamp_hmac(key, packet, SEQUENCE_BYTES, packet + STAMP_SEALED_BASE_BYTES,
		hmac_at - STAMP_TLV_HEADER_BYTES - STAMP_SEALED_BASE_BYTES, packet + hmac_at);
}

/*
 * Looks for the HMAC TLV; its value's offset, 0 when there is none. *ret_bare: what there is needs none. Octets
 * behind TLVs that are none themselves would be covered by nothing, and count as a TLV in the wrong place.
 */
static size_t find_seal(const uint8_t *packet, size_t bytes, bool marked, bool *ret_bare)
{
	size_t at = STAMP_SEALED_BASE_BYTES, seal_at = 0, tlvs = 0, paddings = 0;
	struct tlv tlv;
	enum tlv_step step;
	*ret_bare = false;
	while ((step = tlv_next(packet, bytes, &at, &tlv)) != TLV_END) {
		if (marked && !(tlv.flags & STAMP_FLAG_U)) {
			*ret_bare = tlvs == 0;
			return 0;
		}
		if (step != TLV_WHOLE || tlv.flags & STAMP_FLAG_I)
			return 0;
		tlvs++;
		paddings += tlv.type == STAMP_TLV_PADDING;
		if (seal_at && tlv.type != STAMP_TLV_PADDING)
			return 0;
		if (tlv.type == STAMP_TLV_HMAC && tlv.length == STAMP_HMAC_BYTES)
			seal_at = tlv.value_at;
	}
	*ret_bare = tlvs == 0 || (tlvs == 1 && paddings == 1);
	return seal_at;
}

enum tlv_seal tlv_seal_of(
	const struct stamp_key *key, const uint8_t *packet, size_t bytes, bool marked, size_t *ret_hmac_at)
{
	bool bare;
	size_t seal_at = find_seal(packet, bytes, marked, &bare);
	if (!seal_at)
		return bare ? TLV_SEAL_NONE : TLV_SEAL_WRONG;
	if (!stamp_hmac_is(key, packet, SEQUENCE_BYTES, packet + STAMP_SEALED_BASE_BYTES,
		    seal_at - STAMP_TLV_HEADER_BYTES - STAMP_SEALED_BASE_BYTES, packet + seal_at))
		return TLV_SEAL_WRONG;
	*ret_hmac_at = seal_at;
	return TLV_SEAL_RIGHT;
}
