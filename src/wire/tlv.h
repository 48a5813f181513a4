/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where fields lie and how TLVs of RFC 8972 are walked, shared by the two ends. Private to this folder. */
#pragma once
#include "wire/stamp.h"

struct tlv {
	uint8_t flags, type;
	size_t at;           /* of the header, from the packet's start */
	size_t value_at;
	size_t length;       /* of the value as written, which a malformed one may not have */
};
enum tlv_step { TLV_END, TLV_WHOLE, TLV_CUT_VALUE, TLV_CUT_HEADER };

/* The TLV at *at, moving *at behind it. A cut one ends the walk; only `flags` and `at` hold after TLV_CUT_HEADER. */
static inline enum tlv_step tlv_next(const uint8_t *packet, size_t bytes, size_t *at, struct tlv *ret_tlv)
{
	if (*at >= bytes)
		return TLV_END;
	*ret_tlv = (struct tlv){.at = *at, .flags = packet[*at]};
	if (bytes - *at < STAMP_TLV_HEADER_BYTES)
		return TLV_CUT_HEADER;
	ret_tlv->type = packet[*at + 1];
	ret_tlv->length = get_u16(packet + *at + 2);
	ret_tlv->value_at = *at + STAMP_TLV_HEADER_BYTES;
	if (bytes - ret_tlv->value_at < ret_tlv->length)
		return TLV_CUT_VALUE;
	*at = ret_tlv->value_at + ret_tlv->length;
	return TLV_WHOLE;
}

enum tlv_seal {
	TLV_SEAL_NONE,  /* nothing that would need one: no TLVs, or padding alone */
	TLV_SEAL_RIGHT,
	TLV_SEAL_WRONG, /* another HMAC, none, or one in the wrong place */
};
/*
 * Checks the HMAC TLV over the base's sequence and all TLVs before it (RFC 8972 section 4.8). Only padding may
 * follow it. `marked`: TLVs end where the first octet has no U, as in requests.
 */
enum tlv_seal tlv_seal_of(const struct stamp_key *key, const uint8_t *packet, size_t bytes, bool marked,
			  size_t *ret_hmac_at);
/* Writes the HMAC of a packet whose TLVs are complete into the value at hmac_at. */
void tlv_seal_write(const struct stamp_key *key, uint8_t *packet, size_t hmac_at);
/* The base's HMAC, octets 96 to 111 over all before. */
void base_seal_write(const struct stamp_key *key, uint8_t *packet);

/* Offsets within the base, sender's and reflector's; the same but for a shift in both modes. */
struct stamp_base {
	uint8_t bytes, t1_at, error_at, ssid_at, t2_at, sender_sequence_at, sender_t1_at, sender_error_at, sender_ttl_at;
};
extern const struct stamp_base stamp_base_open, stamp_base_sealed;
static inline const struct stamp_base *base_of(const struct stamp_key *key)
{
	return key ? &stamp_base_sealed : &stamp_base_open;
}
enum { BASE_HMAC_AT = 96 };

/* Offsets within the peer TLV's value. */
enum {
	PEER_COOKIE_AT = 0,
	PEER_VERSION_AT = 4,
	PEER_VALID_AT = 5,
	PEER_RX_CPU_AT = 6,
	PEER_TX_CPU_AT = 8,
	PEER_IRQ_CPU_AT = 10,
	PEER_KERNEL_RX_AT = 12,
	PEER_USER_RX_AT = 20,
	PEER_USER_TX_AT = 28,
};

/* The same of the reason TLV; cookie and version lie alike. */
enum {
	REASON_WORD_AT = 5,
	REASON_DETAIL_AT = 6,
	REASON_CPU_BEFORE_AT = 8,
	REASON_CPU_AFTER_AT = 10,
	REASON_PID_AT = 12,
	REASON_COVERED_AT = 16,
	REASON_OFF_AT = 20,
	REASON_COMM_AT = 24,
};

/* Of timestamp information, follow-up telemetry. */
enum { INFO_SYNC_IN_AT = 0, INFO_METHOD_IN_AT = 1, INFO_SYNC_OUT_AT = 2, INFO_METHOD_OUT_AT = 3 };
enum { FOLLOW_SEQUENCE_AT = 0, FOLLOW_TIME_AT = 4, FOLLOW_METHOD_AT = 12 };
