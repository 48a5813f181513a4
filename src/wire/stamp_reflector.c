/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The reflector's end. A reply may be made in the request's own buffer: then
 * nothing is copied but the few fields that change places.
 */
#include "wire/tlv.h"

static void peer_write(uint8_t *value, const struct stamp_peer *peer)
{
	value[PEER_VALID_AT] = peer->valid;
	put_u16(value + PEER_RX_CPU_AT, peer->rx_cpu);
	put_u16(value + PEER_TX_CPU_AT, 0);
	put_u16(value + PEER_IRQ_CPU_AT, peer->irq_cpu);
	put_u64(value + PEER_KERNEL_RX_AT, (uint64_t)peer->kernel_rx_ns);
	put_u64(value + PEER_USER_RX_AT, (uint64_t)peer->user_rx_ns);
	put_u64(value + PEER_USER_TX_AT, 0);
}

/* Somebody else's experiment under 249 has another cookie, or none. */
static bool is_ours(const uint8_t *reply, const struct tlv *tlv)
{
	return (tlv->type == STAMP_TLV_PEER || tlv->type == STAMP_TLV_REASON) && tlv->length > PEER_VERSION_AT &&
	       get_u32(reply + tlv->value_at + PEER_COOKIE_AT) == STAMP_PEER_COOKIE &&
	       reply[tlv->value_at + PEER_VERSION_AT] == STAMP_PEER_VERSION;
}

static void clear_flags(uint8_t *reply, const struct tlv *tlv)
{
	reply[tlv->at] = (uint8_t)(tlv->flags & ~(STAMP_FLAG_U | STAMP_FLAG_M | STAMP_FLAG_I));
}

static size_t length_of(uint8_t type)
{
	return type == STAMP_TLV_PEER ? STAMP_PEER_VALUE_BYTES : STAMP_REASON_VALUE_BYTES;
}

/* Sets the flags of the TLVs, fills the first peer TLV and notes where ours lie. */
static void answer_tlvs(uint8_t *reply, size_t bytes, const struct stamp_peer *peer, struct stamp_made *made)
{
	size_t at = STAMP_BASE_BYTES;
	struct tlv tlv;
	enum tlv_step step;
	while ((step = tlv_next(reply, bytes, &at, &tlv)) != TLV_END && tlv.flags & STAMP_FLAG_U) {
		bool ours = step == TLV_WHOLE && is_ours(reply, &tlv);
		if (step != TLV_WHOLE || (ours && tlv.length != length_of(tlv.type))) {
			reply[tlv.at] |= STAMP_FLAG_M;
			break;
		}
		if (tlv.type == STAMP_TLV_PADDING) {
			clear_flags(reply, &tlv);
		} else if (ours && tlv.type == STAMP_TLV_PEER && made->peer_at == 0) {
			clear_flags(reply, &tlv);
			peer_write(reply + tlv.value_at, peer);
			made->peer_at = tlv.value_at;
		} else if (ours && tlv.type == STAMP_TLV_REASON && made->reason_at == 0) {
			made->reason_at = tlv.value_at;
		}
	}
}

uint16_t stamp_request_ssid(const uint8_t *request, size_t bytes)
{
	return bytes >= BASE_T2_AT ? get_u16(request + BASE_SSID_AT) : 0;
}

enum stamp_verdict stamp_reflect(const uint8_t *request, size_t bytes, const struct stamp_arrival *arrival,
	uint8_t *reply, size_t room, struct stamp_made *ret_made)
{
	if (bytes < (arrival->light ? STAMP_LIGHT_REQUEST_BYTES : STAMP_BASE_BYTES))
		return STAMP_TOO_SHORT;
	size_t made_bytes = bytes < STAMP_BASE_BYTES ? STAMP_BASE_BYTES : bytes;
	if (made_bytes > room)
		return STAMP_TOO_LONG;

	uint32_t sender_sequence = get_u32(request);
	uint64_t t1_ntp = get_u64(request + STAMP_T1_AT);
	uint16_t sender_error = get_u16(request + BASE_ERROR_AT);
	uint16_t ssid = stamp_request_ssid(request, bytes);
	if (reply != request && bytes > STAMP_BASE_BYTES)
		memcpy(reply + STAMP_BASE_BYTES, request + STAMP_BASE_BYTES, bytes - STAMP_BASE_BYTES);

	memset(reply, 0, STAMP_BASE_BYTES);
	put_u32(reply, arrival->own_sequence ? *arrival->own_sequence : sender_sequence);
	put_u16(reply + BASE_ERROR_AT, arrival->error_estimate);
	put_u16(reply + BASE_SSID_AT, ssid);
	put_u64(reply + BASE_T2_AT, arrival->t2_ntp);
	put_u32(reply + BASE_SENDER_SEQUENCE_AT, sender_sequence);
	put_u64(reply + BASE_SENDER_T1_AT, t1_ntp);
	put_u16(reply + BASE_SENDER_ERROR_AT, sender_error);
	reply[BASE_SENDER_TTL_AT] = arrival->ttl;

	*ret_made = (struct stamp_made){.bytes = made_bytes};
	answer_tlvs(reply, made_bytes, &arrival->peer, ret_made);
	return STAMP_REFLECT;
}

void stamp_reflect_sent(uint8_t *reply, const struct stamp_made *made, uint64_t t3_ntp, int64_t user_tx_ns, int tx_cpu)
{
	put_u64(reply + STAMP_T1_AT, t3_ntp);
	if (made->peer_at == 0)
		return;
	uint8_t *value = reply + made->peer_at;
	put_u64(value + PEER_USER_TX_AT, (uint64_t)user_tx_ns);
	value[PEER_VALID_AT] |= STAMP_VALID_USER_TX;
	if (tx_cpu >= 0) {
		put_u16(value + PEER_TX_CPU_AT, (uint16_t)tx_cpu);
		value[PEER_VALID_AT] |= STAMP_VALID_TX_CPU;
	}
}

void stamp_reflect_injecting(uint8_t *reply, const struct stamp_made *made, bool here)
{
	if (made->peer_at)
		reply[made->peer_at + PEER_VALID_AT] |= STAMP_VALID_INJECTING | (here ? STAMP_VALID_INJECTED : 0);
}

void stamp_reflect_reason(uint8_t *reply, const struct stamp_made *made, const struct stamp_reason *reason)
{
	if (!made->reason_at)
		return;
	uint8_t *value = reply + made->reason_at;
	value[-STAMP_TLV_HEADER_BYTES] &= (uint8_t)~(STAMP_FLAG_U | STAMP_FLAG_M | STAMP_FLAG_I);
	value[REASON_WORD_AT] = reason->word;
	put_u16(value + REASON_DETAIL_AT, reason->detail);
	put_u16(value + REASON_CPU_BEFORE_AT, reason->cpu_before);
	put_u16(value + REASON_CPU_AFTER_AT, reason->cpu_after);
	put_u32(value + REASON_PID_AT, (uint32_t)reason->pid);
	put_u32(value + REASON_COVERED_AT, reason->covered_ns);
	put_u32(value + REASON_OFF_AT, reason->off_ns);
	memcpy(value + REASON_COMM_AT, reason->comm, STAMP_COMM_BYTES);
}
