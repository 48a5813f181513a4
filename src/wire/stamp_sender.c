/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The sender's end: requests and what comes back. Peers differ in what they
 * return of a request, so the reader takes what is there and says what is not.
 */
#include "wire/tlv.h"

enum { NUMBER_BYTES = 8 };

static void tlv_header(uint8_t *p, uint8_t type, size_t length)
{
	p[0] = STAMP_FLAG_U;
	p[1] = type;
	put_u16(p + 2, (uint16_t)length);
}

/* Header, cookie and version of a TLV of ours; returns what lies behind it. */
static uint8_t *own_tlv(uint8_t *p, uint8_t type, size_t length)
{
	tlv_header(p, type, length);
	put_u32(p + STAMP_TLV_HEADER_BYTES + PEER_COOKIE_AT, STAMP_PEER_COOKIE);
	p[STAMP_TLV_HEADER_BYTES + PEER_VERSION_AT] = STAMP_PEER_VERSION;
	return p + STAMP_TLV_HEADER_BYTES + length;
}

void stamp_request_fill(uint8_t *packet, size_t bytes, uint64_t cookie, uint16_t ssid, uint16_t error_estimate)
{
	memset(packet, 0, bytes);
	put_u16(packet + BASE_ERROR_AT, error_estimate);
	put_u16(packet + BASE_SSID_AT, ssid);

	bool reason = bytes >= STAMP_REQUEST_REASON_BYTES;
	size_t padding = bytes - STAMP_BASE_BYTES - 2 * STAMP_TLV_HEADER_BYTES - STAMP_PEER_VALUE_BYTES -
			 (reason ? STAMP_TLV_HEADER_BYTES + STAMP_REASON_VALUE_BYTES : 0);
	uint8_t *value = packet + STAMP_NUMBER_AT;
	tlv_header(packet + STAMP_BASE_BYTES, STAMP_TLV_PADDING, padding);
	put_u64(value + NUMBER_BYTES, cookie);
	for (size_t i = STAMP_PADDING_MIN_BYTES; i < padding; i++)
		value[i] = (uint8_t)i;

	uint8_t *behind = own_tlv(value + padding, STAMP_TLV_PEER, STAMP_PEER_VALUE_BYTES);
	if (reason)
		own_tlv(behind, STAMP_TLV_REASON, STAMP_REASON_VALUE_BYTES);
}

static void peer_read(const uint8_t *value, struct stamp_peer *ret_peer)
{
	ret_peer->valid = value[PEER_VALID_AT];
	ret_peer->rx_cpu = get_u16(value + PEER_RX_CPU_AT);
	ret_peer->tx_cpu = get_u16(value + PEER_TX_CPU_AT);
	ret_peer->irq_cpu = get_u16(value + PEER_IRQ_CPU_AT);
	ret_peer->kernel_rx_ns = (int64_t)get_u64(value + PEER_KERNEL_RX_AT);
	ret_peer->user_rx_ns = (int64_t)get_u64(value + PEER_USER_RX_AT);
	ret_peer->user_tx_ns = (int64_t)get_u64(value + PEER_USER_TX_AT);
}

void stamp_reason_read(const uint8_t *value, struct stamp_reason *ret_reason)
{
	ret_reason->word = value[REASON_WORD_AT];
	ret_reason->detail = get_u16(value + REASON_DETAIL_AT);
	ret_reason->cpu_before = get_u16(value + REASON_CPU_BEFORE_AT);
	ret_reason->cpu_after = get_u16(value + REASON_CPU_AFTER_AT);
	ret_reason->pid = (int32_t)get_u32(value + REASON_PID_AT);
	ret_reason->covered_ns = get_u32(value + REASON_COVERED_AT);
	ret_reason->off_ns = get_u32(value + REASON_OFF_AT);
	memcpy(ret_reason->comm, value + REASON_COMM_AT, STAMP_COMM_BYTES);
	ret_reason->comm[STAMP_COMM_BYTES - 1] = '\0';
}

/* U still set: the peer does not know the TLV and returns our own zeros. */
static bool filled(const uint8_t *packet, const struct tlv *tlv, uint8_t type, size_t length)
{
	return tlv->type == type && tlv->length == length &&
	       !(tlv->flags & (STAMP_FLAG_U | STAMP_FLAG_M | STAMP_FLAG_I)) &&
	       get_u32(packet + tlv->value_at + PEER_COOKIE_AT) == STAMP_PEER_COOKIE &&
	       packet[tlv->value_at + PEER_VERSION_AT] == STAMP_PEER_VERSION;
}

static bool number_returned(const uint8_t *packet, size_t bytes, const struct tlv *tlv, uint64_t cookie)
{
	return tlv->type == STAMP_TLV_PADDING && tlv->length >= STAMP_PADDING_MIN_BYTES &&
	       bytes - tlv->value_at >= STAMP_PADDING_MIN_BYTES &&
	       get_u64(packet + tlv->value_at + NUMBER_BYTES) == cookie;
}

static void reply_tlvs(const uint8_t *packet, size_t bytes, uint64_t cookie, struct stamp_reply *reply)
{
	size_t at = STAMP_BASE_BYTES;
	struct tlv tlv;
	enum tlv_step step;
	do {
		step = tlv_next(packet, bytes, &at, &tlv);
		if (step == TLV_END || step == TLV_CUT_HEADER)
			return;
		if (!reply->has_number && number_returned(packet, bytes, &tlv, cookie)) {
			reply->has_number = true;
			reply->number = get_u64(packet + tlv.value_at);
		}
		if (step != TLV_WHOLE)
			return;
		if (!reply->has_peer && filled(packet, &tlv, STAMP_TLV_PEER, STAMP_PEER_VALUE_BYTES)) {
			reply->has_peer = true;
			peer_read(packet + tlv.value_at, &reply->peer);
		}
		if (!reply->reason_at && filled(packet, &tlv, STAMP_TLV_REASON, STAMP_REASON_VALUE_BYTES))
			reply->reason_at = tlv.value_at;
	} while (!(reply->has_number && reply->has_peer && reply->reason_at));
}

bool stamp_reply_read(const uint8_t *packet, size_t bytes, uint64_t cookie, struct stamp_reply *ret_reply)
{
	if (bytes < STAMP_REPLY_MIN_BYTES)
		return false;
	*ret_reply = (struct stamp_reply){
		.sequence = get_u32(packet),
		.t3 = get_u64(packet + STAMP_T1_AT),
		.error_estimate = get_u16(packet + BASE_ERROR_AT),
		.ssid = get_u16(packet + BASE_SSID_AT),
		.t2 = get_u64(packet + BASE_T2_AT),
		.sender_sequence = get_u32(packet + BASE_SENDER_SEQUENCE_AT),
		.sender_t1_ntp = get_u64(packet + BASE_SENDER_T1_AT),
		.sender_ttl = bytes > BASE_SENDER_TTL_AT ? packet[BASE_SENDER_TTL_AT] : -1,
	};
	reply_tlvs(packet, bytes, cookie, ret_reply);
	return true;
}
