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

void stamp_request_fill(uint8_t *packet, size_t bytes, uint64_t cookie, uint16_t ssid, uint16_t error_estimate)
{
	memset(packet, 0, bytes);
	put_u16(packet + BASE_ERROR_AT, error_estimate);
	put_u16(packet + BASE_SSID_AT, ssid);

	size_t padding = bytes - STAMP_BASE_BYTES - 2 * STAMP_TLV_HEADER_BYTES - STAMP_PEER_VALUE_BYTES;
	uint8_t *value = packet + STAMP_NUMBER_AT;
	tlv_header(packet + STAMP_BASE_BYTES, STAMP_TLV_PADDING, padding);
	put_u64(value + NUMBER_BYTES, cookie);
	for (size_t i = STAMP_PADDING_MIN_BYTES; i < padding; i++)
		value[i] = (uint8_t)i;

	uint8_t *peer = value + padding;
	tlv_header(peer, STAMP_TLV_PEER, STAMP_PEER_VALUE_BYTES);
	put_u32(peer + STAMP_TLV_HEADER_BYTES + PEER_COOKIE_AT, STAMP_PEER_COOKIE);
	peer[STAMP_TLV_HEADER_BYTES + PEER_VERSION_AT] = STAMP_PEER_VERSION;
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

/* U still set: the peer does not know the TLV and returns our own zeros. */
static bool peer_filled(const uint8_t *packet, const struct tlv *tlv)
{
	return tlv->type == STAMP_TLV_PEER && tlv->length == STAMP_PEER_VALUE_BYTES &&
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
		if (step == TLV_WHOLE && !reply->has_peer && peer_filled(packet, &tlv)) {
			reply->has_peer = true;
			peer_read(packet + tlv.value_at, &reply->peer);
		}
	} while (step == TLV_WHOLE && !(reply->has_number && reply->has_peer));
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
