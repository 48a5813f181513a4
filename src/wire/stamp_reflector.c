/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The reflector's end. A reply may be made in the request's own buffer: then
 * nothing is copied but the few fields that change places.
 */
#include "wire/facts.h"
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
	return tlv->type >= STAMP_TLV_PEER && tlv->type <= STAMP_TLV_FACTS && tlv->length > PEER_VERSION_AT &&
	       get_u32(reply + tlv->value_at + PEER_COOKIE_AT) == STAMP_PEER_COOKIE &&
	       reply[tlv->value_at + PEER_VERSION_AT] == STAMP_PEER_VERSION;
}

static void clear_flags(uint8_t *reply, const struct tlv *tlv)
{
	reply[tlv->at] = (uint8_t)(tlv->flags & ~(STAMP_FLAG_U | STAMP_FLAG_M | STAMP_FLAG_I));
}

/* The length a TLV must have; SIZE_MAX: any. Types 249 to 251 are ours by their cookie. */
static size_t length_of(const struct tlv *tlv, bool ours)
{
	switch (tlv->type) {
	case STAMP_TLV_INFO:
		return STAMP_INFO_VALUE_BYTES;
	case STAMP_TLV_CLASS:
		return STAMP_CLASS_VALUE_BYTES;
	case STAMP_TLV_FOLLOW_UP:
		return STAMP_FOLLOW_UP_VALUE_BYTES;
	case STAMP_TLV_PEER:
		return ours ? STAMP_PEER_VALUE_BYTES : SIZE_MAX;
	case STAMP_TLV_REASON:
		return ours ? STAMP_REASON_VALUE_BYTES : SIZE_MAX;
	case STAMP_TLV_FACTS:
		/* as long as the sender likes */
		return ours && tlv->length < FACTS_HEAD_BYTES ? FACTS_HEAD_BYTES : SIZE_MAX;
	default:
		return SIZE_MAX;
	}
}

static bool answer_info(uint8_t *value, const struct stamp_info *info)
{
	if (!info->sync_in)
		return false;
	value[INFO_SYNC_IN_AT] = info->sync_in;
	value[INFO_METHOD_IN_AT] = info->method_in;
	value[INFO_SYNC_OUT_AT] = info->sync_out;
	value[INFO_METHOD_OUT_AT] = info->method_out;
	return true;
}

/* Six bits asked, six seen, two of ECN, two that say whether the reply has what was asked, then reserved ones. */
static bool answer_class(uint8_t *value, const struct stamp_arrival *arrival, struct stamp_made *made)
{
	if (!arrival->has_tos)
		return false;
	unsigned asked = value[0] >> 2u, seen = arrival->tos >> 2u, ecn = arrival->tos & 3u;
	put_u16(value, (uint16_t)(asked << 10 | seen << 4 | ecn << 2 | arrival->class_refused));
	made->has_dscp = !arrival->class_refused;
	made->dscp = (uint8_t)asked;
	return true;
}

/* Zeros where nothing is known, as the RFC has it for stateless reflectors. */
static bool answer_follow_up(uint8_t *value, const struct stamp_follow_up *told, struct stamp_made *made)
{
	memset(value, 0, STAMP_FOLLOW_UP_VALUE_BYTES);
	made->follow_up = true;
	if (!told)
		return true;
	put_u32(value + FOLLOW_SEQUENCE_AT, told->sequence);
	put_u64(value + FOLLOW_TIME_AT, told->t3);
	value[FOLLOW_METHOD_AT] = told->method;
	return true;
}

/* True when it is understood: U is then cleared. */
static bool answer_tlv(
	uint8_t *reply, const struct tlv *tlv, bool ours, const struct stamp_arrival *arrival, struct stamp_made *made)
{
	uint8_t *value = reply + tlv->value_at;
	switch (tlv->type) {
	case STAMP_TLV_PADDING:
		return true;
	case STAMP_TLV_INFO:
		return answer_info(value, &arrival->info);
	case STAMP_TLV_CLASS:
		return answer_class(value, arrival, made);
	case STAMP_TLV_FOLLOW_UP:
		return answer_follow_up(value, arrival->follow_up, made);
	case STAMP_TLV_HMAC:
		return made->hmac_at == tlv->value_at;
	case STAMP_TLV_PEER:
		if (!ours || made->peer_at)
			return false;
		peer_write(value, &arrival->peer);
		made->peer_at = tlv->value_at;
		return true;
	case STAMP_TLV_REASON:
		/* its flags are cleared when it is filled */
		if (ours && made->reason_at == 0)
			made->reason_at = tlv->value_at;
		return false;
	case STAMP_TLV_FACTS:
		/* the same; only behind an HMAC that is right */
		if (ours && made->hmac_at && made->facts_at == 0) {
			made->facts_at = tlv->value_at;
			made->facts_bytes = tlv->length;
		}
		return false;
	default:
		return false;
	}
}

/* Sets the flags of the TLVs, fills those we know and notes where ours lie. */
static void answer_tlvs(uint8_t *reply, size_t bytes, const struct stamp_arrival *arrival, struct stamp_made *made)
{
	size_t at = base_of(arrival->key)->bytes;
	struct tlv tlv;
	enum tlv_step step;
	while ((step = tlv_next(reply, bytes, &at, &tlv)) != TLV_END && tlv.flags & STAMP_FLAG_U) {
		bool ours = step == TLV_WHOLE && is_ours(reply, &tlv);
		size_t length = step == TLV_WHOLE ? length_of(&tlv, ours) : 0;
		if (step != TLV_WHOLE || (length != SIZE_MAX && tlv.length != length)) {
			reply[tlv.at] |= STAMP_FLAG_M;
			break;
		}
		if (answer_tlv(reply, &tlv, ours, arrival, made))
			clear_flags(reply, &tlv);
	}
}

/* The sender learns that its TLVs did not arrive as they left; none is looked at. */
static void refuse_tlvs(uint8_t *reply, size_t bytes)
{
	size_t at = STAMP_SEALED_BASE_BYTES;
	struct tlv tlv;
	enum tlv_step step;
	while ((step = tlv_next(reply, bytes, &at, &tlv)) != TLV_END && tlv.flags & STAMP_FLAG_U) {
		reply[tlv.at] |= STAMP_FLAG_I;
		if (step != TLV_WHOLE)
			break;
	}
}

uint16_t stamp_request_ssid(const uint8_t *request, size_t bytes, const struct stamp_key *key)
{
	size_t at = base_of(key)->ssid_at;
	return bytes >= at + 2 ? get_u16(request + at) : 0;
}

enum stamp_verdict stamp_request_check(const uint8_t *request, size_t bytes, const struct stamp_key *key, bool light)
{
	if (!key)
		return bytes < (light ? STAMP_LIGHT_REQUEST_BYTES : STAMP_BASE_BYTES) ? STAMP_TOO_SHORT : STAMP_REFLECT;
	if (bytes < STAMP_BASE_BYTES)
		return STAMP_TOO_SHORT;
	/* what the authenticated mode leaves zero holds T1 in the other */
	if (bytes < STAMP_SEALED_BASE_BYTES || get_u64(request + 4) || get_u32(request + 12))
		return STAMP_UNSEALED;
	return stamp_hmac_is(key, request, BASE_HMAC_AT, NULL, 0, request + BASE_HMAC_AT) ? STAMP_REFLECT : STAMP_FORGED;
}

/* The base of a reply over that of its request; what is echoed is read before anything is written. */
static void write_base(const uint8_t *request, size_t bytes, const struct stamp_arrival *arrival, uint8_t *reply)
{
	const struct stamp_base *base = base_of(arrival->key);
	uint32_t sender_sequence = get_u32(request);
	uint64_t t1_ntp = get_u64(request + base->t1_at);
	uint16_t sender_error = get_u16(request + base->error_at);
	uint16_t ssid = stamp_request_ssid(request, bytes, arrival->key);

	memset(reply, 0, base->bytes);
	put_u32(reply, arrival->own_sequence ? *arrival->own_sequence : sender_sequence);
	put_u16(reply + base->error_at, arrival->error_estimate);
	put_u16(reply + base->ssid_at, ssid);
	put_u64(reply + base->t2_at, arrival->t2_ntp);
	put_u32(reply + base->sender_sequence_at, sender_sequence);
	put_u64(reply + base->sender_t1_at, t1_ntp);
	put_u16(reply + base->sender_error_at, sender_error);
	reply[base->sender_ttl_at] = arrival->ttl;
}

enum stamp_verdict stamp_reflect(const uint8_t *request, size_t bytes, const struct stamp_arrival *arrival,
	uint8_t *reply, size_t room, struct stamp_made *ret_made)
{
	size_t base_bytes = base_of(arrival->key)->bytes;
	size_t least = arrival->key ? base_bytes : arrival->light ? STAMP_LIGHT_REQUEST_BYTES : STAMP_BASE_BYTES;
	if (bytes < least)
		return STAMP_TOO_SHORT;
	size_t made_bytes = bytes < base_bytes ? base_bytes : bytes;
	if (made_bytes > room)
		return STAMP_TOO_LONG;

	struct stamp_made made = {.key = arrival->key, .bytes = made_bytes, .sender_sequence = get_u32(request)};
	if (arrival->key)
		made.tlvs_forged = tlv_seal_of(arrival->key, request, bytes, true, &made.hmac_at) == TLV_SEAL_WRONG;
	if (reply != request && bytes > base_bytes)
		memcpy(reply + base_bytes, request + base_bytes, bytes - base_bytes);
	write_base(request, bytes, arrival, reply);
	if (made.tlvs_forged)
		refuse_tlvs(reply, made_bytes);
	else
		answer_tlvs(reply, made_bytes, arrival, &made);
	*ret_made = made;
	return STAMP_REFLECT;
}

void stamp_reflect_sent(uint8_t *reply, const struct stamp_made *made, uint64_t t3_ntp, int64_t user_tx_ns, int tx_cpu)
{
	put_u64(reply + base_of(made->key)->t1_at, t3_ntp);
	if (made->peer_at) {
		uint8_t *value = reply + made->peer_at;
		put_u64(value + PEER_USER_TX_AT, (uint64_t)user_tx_ns);
		value[PEER_VALID_AT] |= STAMP_VALID_USER_TX;
		if (tx_cpu >= 0) {
			put_u16(value + PEER_TX_CPU_AT, (uint16_t)tx_cpu);
			value[PEER_VALID_AT] |= STAMP_VALID_TX_CPU;
		}
	}
	if (!made->key)
		return;
	if (made->hmac_at)
		tlv_seal_write(made->key, reply, made->hmac_at);
	base_seal_write(made->key, reply);
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
