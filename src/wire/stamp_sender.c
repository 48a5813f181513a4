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

static uint8_t *plain_tlv(uint8_t *p, uint8_t type, size_t length)
{
	tlv_header(p, type, length);
	return p + STAMP_TLV_HEADER_BYTES + length;
}

static size_t number_at(const struct stamp_asking *asking)
{
	return base_of(asking->key)->bytes + STAMP_TLV_HEADER_BYTES;
}

/* Octets of the TLVs that a request of this length, the key's part taken off, has beside padding and peer TLV. */
static size_t optional_bytes(size_t plain)
{
	return plain >= STAMP_REQUEST_FULL_BYTES   ? STAMP_REQUEST_FULL_BYTES - STAMP_REQUEST_MIN_BYTES
	     : plain >= STAMP_REQUEST_REASON_BYTES ? STAMP_REQUEST_REASON_BYTES - STAMP_REQUEST_MIN_BYTES
						   : 0;
}

void stamp_request_fill(uint8_t *packet, const struct stamp_asking *asking)
{
	const struct stamp_base *base = base_of(asking->key);
	memset(packet, 0, asking->bytes);
	put_u16(packet + base->error_at, asking->error_estimate);
	put_u16(packet + base->ssid_at, asking->ssid);

	size_t plain = asking->bytes - (asking->key ? STAMP_SEALED_MORE_BYTES : 0);
	size_t padding = STAMP_PADDING_MIN_BYTES + plain - STAMP_REQUEST_MIN_BYTES - optional_bytes(plain);
	uint8_t *value = packet + number_at(asking);
	tlv_header(packet + base->bytes, STAMP_TLV_PADDING, padding);
	put_u64(value + NUMBER_BYTES, asking->cookie);
	for (size_t i = STAMP_PADDING_MIN_BYTES; i < padding; i++)
		value[i] = (uint8_t)i;

	uint8_t *behind = own_tlv(value + padding, STAMP_TLV_PEER, STAMP_PEER_VALUE_BYTES);
	if (plain >= STAMP_REQUEST_REASON_BYTES)
		behind = own_tlv(behind, STAMP_TLV_REASON, STAMP_REASON_VALUE_BYTES);
	if (plain >= STAMP_REQUEST_FULL_BYTES) {
		behind = plain_tlv(behind, STAMP_TLV_INFO, STAMP_INFO_VALUE_BYTES);
		behind[STAMP_TLV_HEADER_BYTES] = (uint8_t)(asking->reply_dscp << 2);
		behind = plain_tlv(behind, STAMP_TLV_CLASS, STAMP_CLASS_VALUE_BYTES);
		behind = plain_tlv(behind, STAMP_TLV_FOLLOW_UP, STAMP_FOLLOW_UP_VALUE_BYTES);
	}
	if (asking->key)
		tlv_header(behind, STAMP_TLV_HMAC, STAMP_HMAC_BYTES);
}

void stamp_request_number(uint8_t *packet, const struct stamp_asking *asking, uint64_t number)
{
	put_u32(packet, (uint32_t)number);
	put_u64(packet + number_at(asking), number);
	if (asking->key)
		tlv_seal_write(asking->key, packet, asking->bytes - STAMP_HMAC_BYTES);
}

void stamp_request_time(uint8_t *packet, const struct stamp_asking *asking, uint64_t t1_ntp)
{
	put_u64(packet + base_of(asking->key)->t1_at, t1_ntp);
	if (asking->key)
		base_seal_write(asking->key, packet);
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

static void class_read(const uint8_t *value, struct stamp_class *ret_class)
{
	unsigned bits = get_u16(value);
	*ret_class = (struct stamp_class){.asked_dscp = (uint8_t)(bits >> 10),
		.seen_dscp = bits >> 4 & 0x3f,
		.seen_ecn = bits >> 2 & 3,
		.refused = bits & 3};
}

/* A TLV of the RFC that the reflector understood. */
static void standard_read(const uint8_t *value, const struct tlv *tlv, struct stamp_reply *reply)
{
	if (tlv->type == STAMP_TLV_INFO && tlv->length == STAMP_INFO_VALUE_BYTES) {
		reply->has_info = true;
		reply->info = (struct stamp_info){value[INFO_SYNC_IN_AT], value[INFO_METHOD_IN_AT],
			value[INFO_SYNC_OUT_AT], value[INFO_METHOD_OUT_AT]};
	} else if (tlv->type == STAMP_TLV_CLASS && tlv->length == STAMP_CLASS_VALUE_BYTES) {
		reply->has_class = true;
		class_read(value, &reply->class);
	} else if (tlv->type == STAMP_TLV_FOLLOW_UP && tlv->length == STAMP_FOLLOW_UP_VALUE_BYTES) {
		reply->follow_up = (struct stamp_follow_up){get_u32(value + FOLLOW_SEQUENCE_AT),
			get_u64(value + FOLLOW_TIME_AT), value[FOLLOW_METHOD_AT]};
		reply->has_follow_up = reply->follow_up.t3 != 0;
	}
}

static void take_tlv(const uint8_t *packet, const struct tlv *tlv, struct stamp_reply *reply)
{
	bool unknown = tlv->flags & STAMP_FLAG_U, malformed = tlv->flags & STAMP_FLAG_M;
	reply->unknown += unknown && !malformed;
	reply->malformed += malformed;
	reply->understood += !unknown && !malformed;
	if (!reply->has_peer && filled(packet, tlv, STAMP_TLV_PEER, STAMP_PEER_VALUE_BYTES)) {
		reply->has_peer = true;
		peer_read(packet + tlv->value_at, &reply->peer);
	}
	if (!reply->reason_at && filled(packet, tlv, STAMP_TLV_REASON, STAMP_REASON_VALUE_BYTES))
		reply->reason_at = tlv->value_at;
	if (!(tlv->flags & (STAMP_FLAG_U | STAMP_FLAG_M | STAMP_FLAG_I)))
		standard_read(packet + tlv->value_at, tlv, reply);
}

static void reply_tlvs(const uint8_t *packet, size_t bytes, const struct stamp_asking *asking, struct stamp_reply *reply)
{
	size_t at = base_of(asking->key)->bytes;
	struct tlv tlv;
	enum tlv_step step;
	while ((step = tlv_next(packet, bytes, &at, &tlv)) != TLV_END && step != TLV_CUT_HEADER) {
		if (!reply->has_number && number_returned(packet, bytes, &tlv, asking->cookie)) {
			reply->has_number = true;
			reply->number = get_u64(packet + tlv.value_at);
		}
		if (step != TLV_WHOLE)
			return;
		take_tlv(packet, &tlv, reply);
	}
}

enum stamp_read stamp_reply_read(
	const uint8_t *packet, size_t bytes, const struct stamp_asking *asking, struct stamp_reply *ret_reply)
{
	const struct stamp_base *base = base_of(asking->key);
	size_t hmac_at;
	if (bytes < STAMP_REPLY_MIN_BYTES)
		return STAMP_READ_SHORT;
	if (asking->key && (bytes < base->bytes ||
				   !stamp_hmac_is(asking->key, packet, BASE_HMAC_AT, NULL, 0, packet + BASE_HMAC_AT)))
		return STAMP_READ_FORGED;
	*ret_reply = (struct stamp_reply){
		.sequence = get_u32(packet),
		.t3 = get_u64(packet + base->t1_at),
		.error_estimate = get_u16(packet + base->error_at),
		.ssid = get_u16(packet + base->ssid_at),
		.t2 = get_u64(packet + base->t2_at),
		.sender_sequence = get_u32(packet + base->sender_sequence_at),
		.sender_t1_ntp = get_u64(packet + base->sender_t1_at),
		.sender_ttl = bytes > base->sender_ttl_at ? packet[base->sender_ttl_at] : -1,
	};
	if (!asking->key || tlv_seal_of(asking->key, packet, bytes, false, &hmac_at) == TLV_SEAL_RIGHT)
		reply_tlvs(packet, bytes, asking, ret_reply);
	else
		ret_reply->tlvs_forged = bytes > base->bytes;
	return STAMP_READ_REPLY;
}

bool stamp_request_read(const uint8_t *packet, size_t bytes, const struct stamp_asking *asking, uint64_t *ret_number)
{
	size_t at = base_of(asking->key)->bytes;
	struct tlv tlv;
	enum tlv_step step = tlv_next(packet, bytes, &at, &tlv);
	if (step == TLV_END || step == TLV_CUT_HEADER || !number_returned(packet, bytes, &tlv, asking->cookie))
		return false;
	*ret_number = get_u64(packet + tlv.value_at);
	return true;
}
