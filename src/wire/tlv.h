/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Walking RFC 8972 TLVs, shared by the two ends. Private to this folder. */
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

/* Offsets within the base, sender's and reflector's. */
enum {
	BASE_ERROR_AT = 12,
	BASE_SSID_AT = 14,
	BASE_T2_AT = 16,
	BASE_SENDER_SEQUENCE_AT = 24,
	BASE_SENDER_T1_AT = 28,
	BASE_SENDER_ERROR_AT = 36,
	BASE_SENDER_TTL_AT = 40,
};
