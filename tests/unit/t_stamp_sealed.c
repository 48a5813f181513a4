/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The authenticated mode octet by octet, with HMACs that libcrypto computed, and what becomes of anything changed. */
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdlib.h>

#include "tap.h"
#include "wire/stamp.h"

static const uint8_t KEY[32] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, OTHER[32] = {9};
static struct stamp_key *key, *other;
enum { FULL = STAMP_REQUEST_FULL_BYTES + STAMP_SEALED_MORE_BYTES, LEAST = STAMP_REQUEST_MIN_BYTES + STAMP_SEALED_MORE_BYTES };
static const uint64_t COOKIE = 0xc0ffee0123456789, NUMBER = 0x0000000500000007, T1 = 0xe9a1b2c3d4e5f607;

static struct stamp_asking asking(size_t bytes)
{
	return (struct stamp_asking){
		.bytes = bytes, .key = key, .cookie = COOKIE, .ssid = 0x1234, .error_estimate = 0x8f90, .reply_dscp = 46};
}

static struct stamp_arrival arrival(void)
{
	return (struct stamp_arrival){
		.key = key, .ttl = 61, .error_estimate = 0x0c85, .t2_ntp = 0x77, .peer = {.valid = STAMP_VALID_USER_RX}};
}

static void request(uint8_t *p, size_t bytes)
{
	struct stamp_asking ask = asking(bytes);
	stamp_request_fill(p, &ask);
	stamp_request_number(p, &ask, NUMBER);
	stamp_request_time(p, &ask, T1);
}

static bool hmac_is(const uint8_t *text, size_t bytes, const uint8_t *hmac)
{
	uint8_t want[EVP_MAX_MD_SIZE];
	unsigned length;
	HMAC(EVP_sha256(), KEY, sizeof KEY, text, bytes, want, &length);
	return memcmp(want, hmac, 16) == 0;
}

static bool all_zero(const uint8_t *p, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		if (p[i])
			return false;
	return true;
}

static bool tlvs_sealed(const uint8_t *p, size_t hmac_at)
{
	uint8_t text[600];
	memcpy(text, p, 4);
	memcpy(text + 4, p + 112, hmac_at - 4 - 112);
	return hmac_is(text, hmac_at - 112, p + hmac_at);
}

static void request_fields(void)
{
	uint8_t p[FULL + 1];
	memset(p, 0xee, sizeof p);
	request(p, FULL);
	IS_I64(get_u32(p), 7, "sequence");
	OK(all_zero(p, 4, 16), "MBZ");
	OK(get_u64(p + 16) == T1, "T1");
	IS_I64(get_u16(p + 24), 0x8f90, "error estimate");
	IS_I64(get_u16(p + 26), 0x1234, "SSID");
	OK(all_zero(p, 28, 96), "MBZ to the HMAC");
	OK(hmac_is(p, 96, p + 96), "HMAC over octets 0 to 95");
	OK(p[112] == 0x80 && p[113] == 1 && get_u16(p + 114) == 16, "padding TLV");
	OK(get_u64(p + 116) == NUMBER && get_u64(p + 124) == COOKIE, "number and cookie");
	OK(p[132] == 0x80 && p[133] == 249 && p[172] == 0x80 && p[173] == 250, "our TLVs");
	OK(p[216] == 0x80 && p[217] == 3 && get_u16(p + 218) == 4 && all_zero(p, 220, 224), "timestamp information");
	OK(p[224] == 0x80 && p[225] == 4 && get_u16(p + 226) == 4 && p[228] == 46 << 2, "class of service, DSCP 46 asked");
	OK(p[232] == 0x80 && p[233] == 7 && get_u16(p + 234) == 16 && all_zero(p, 236, 252), "follow-up telemetry");
	OK(p[252] == 0x80 && p[253] == 8 && get_u16(p + 254) == 16, "HMAC TLV at the end");
	OK(tlvs_sealed(p, 256), "over the sequence and all TLVs before");
	IS_I64(p[FULL], 0xee, "nothing written behind");
	size_t wrong = 0;
	for (size_t bytes = LEAST; bytes <= FULL; bytes++) {
		memset(p, 0xee, sizeof p);
		request(p, bytes);
		wrong += p[bytes] != 0xee || p[bytes - 20] != 0x80 || p[bytes - 19] != 8 || !tlvs_sealed(p, bytes - 16);
		wrong += stamp_request_check(p, bytes, key, false) != STAMP_REFLECT;
	}
	OK(wrong == 0, "every length from %d to %d is sealed", LEAST, FULL);
}

static void reply_fields(void)
{
	uint8_t p[FULL];
	struct stamp_arrival in = arrival();
	struct stamp_asking ask = asking(FULL);
	struct stamp_made made;
	struct stamp_reply r;
	request(p, FULL);
	uint32_t own = 99;
	in.own_sequence = &own;
	IS_I64(stamp_reflect(p, FULL, &in, p, FULL, &made), STAMP_REFLECT, "reflected");
	IS_I64(made.bytes, FULL, "as long as the request");
	stamp_reflect_sent(p, &made, 0x3333, 5, 6);
	IS_I64(get_u32(p), 99, "own sequence");
	OK(all_zero(p, 4, 16) && get_u64(p + 16) == 0x3333, "MBZ, T3");
	OK(get_u16(p + 24) == 0x0c85 && get_u16(p + 26) == 0x1234 && all_zero(p, 28, 32), "error estimate, SSID, MBZ");
	OK(get_u64(p + 32) == 0x77 && all_zero(p, 40, 48), "T2, MBZ");
	OK(get_u32(p + 48) == 7 && all_zero(p, 52, 64), "sender's sequence, MBZ");
	OK(get_u64(p + 64) == T1 && get_u16(p + 72) == 0x8f90 && all_zero(p, 74, 80), "sender's T1 and estimate, MBZ");
	OK(p[80] == 61 && all_zero(p, 81, 96), "TTL, MBZ");
	OK(hmac_is(p, 96, p + 96), "HMAC over octets 0 to 95, T3 included");
	OK(p[252] == 0 && tlvs_sealed(p, 256), "HMAC TLV over what the reflector filled, U cleared");
	IS_I64(stamp_reply_read(p, FULL, &ask, &r), STAMP_READ_REPLY, "read back");
	OK(r.has_number && r.number == NUMBER && r.has_peer && r.peer.user_tx_ns == 5 && r.t3 == 0x3333 && r.t2 == 0x77 &&
			r.sequence == 99 && r.sender_sequence == 7 && r.sender_t1_ntp == T1 && r.sender_ttl == 61 && !r.tlvs_forged,
		"every field");
	ask.key = other;
	IS_I64(stamp_reply_read(p, FULL, &ask, &r), STAMP_READ_FORGED, "with another key it is nobody's");
}

/* The HMAC TLV's own flags are covered by nothing: it stands over the TLVs before it. U and I are looked at. */
static bool uncovered(size_t bit)
{
	return bit / 8 == FULL - 20;
}

/* Each bit of a request and of a reply is changed once. */
static void changed(void)
{
	uint8_t p[FULL], q[FULL];
	struct stamp_arrival in = arrival();
	struct stamp_asking ask = asking(FULL);
	struct stamp_made made;
	struct stamp_reply r;
	size_t passed = 0, used = 0, unmarked = 0, believed = 0;
	request(p, FULL);
	for (size_t bit = 0; bit < 8 * FULL; bit++) {
		memcpy(q, p, FULL);
		q[bit / 8] ^= (uint8_t)(1 << bit % 8);
		enum stamp_verdict verdict = stamp_request_check(q, FULL, key, false);
		if (bit < 8 * 112) {
			passed += verdict == STAMP_REFLECT;
			continue;
		}
		passed += verdict != STAMP_REFLECT;
		if (uncovered(bit))
			continue;
		stamp_reflect(q, FULL, &in, q, FULL, &made);
		/* without its U the first octet begins plain padding, which needs no HMAC and is not looked at */
		bool plain = bit == 8 * 112 + 7;
		used += made.peer_at != 0 || made.hmac_at != 0 || made.tlvs_forged == plain;
		unmarked += !plain && !(q[112] & STAMP_FLAG_I);
		stamp_reflect_sent(q, &made, 1, 2, 3);
		believed += stamp_reply_read(q, FULL, &ask, &r) != STAMP_READ_REPLY || !r.tlvs_forged || r.has_number || r.has_peer;
	}
	IS_I64(passed, 0, "a request with one bit of its base changed is forged; of its TLVs, it is answered");
	IS_I64(used, 0, "without them");
	IS_I64(unmarked, 0, "and I is set");
	IS_I64(believed, 0, "which the sender sees: none of the TLVs is believed");
	stamp_reflect(p, FULL, &in, p, FULL, &made);
	stamp_reflect_sent(p, &made, 1, 2, 3);
	passed = used = 0;
	for (size_t bit = 0; bit < 8 * FULL; bit++) {
		memcpy(q, p, FULL);
		q[bit / 8] ^= (uint8_t)(1 << bit % 8);
		enum stamp_read read = stamp_reply_read(q, FULL, &ask, &r);
		passed += (read == STAMP_READ_FORGED) != (bit < 8 * 112);
		used += read == STAMP_READ_REPLY && !uncovered(bit) && (!r.tlvs_forged || r.has_number || r.has_peer || r.reason_at || r.has_class);
	}
	IS_I64(passed, 0, "a reply with one bit of its base changed is forged");
	IS_I64(used, 0, "with one of its TLVs, they are not used");
}

static void not_sealed(void)
{
	uint8_t p[FULL], plain[FULL];
	struct stamp_asking ask = asking(FULL);
	request(p, FULL);
	size_t wrong = 0;
	for (size_t bytes = 0; bytes < 112; bytes++)
		wrong += stamp_request_check(p, bytes, key, bytes & 1) != (bytes < 44 ? STAMP_TOO_SHORT : STAMP_UNSEALED);
	IS_I64(wrong, 0, "shorter than 112 octets is no authenticated request");
	ask.key = NULL;
	stamp_request_fill(plain, &ask);
	stamp_request_number(plain, &ask, NUMBER);
	stamp_request_time(plain, &ask, T1);
	IS_I64(stamp_request_check(plain, FULL, key, false), STAMP_UNSEALED, "nor is a long one with T1 in its first octets");
	IS_I64(stamp_request_check(p, FULL, other, false), STAMP_FORGED, "another key: forged");
	IS_I64(stamp_request_check(p, FULL, NULL, false), STAMP_REFLECT, "a reflector without a key cannot tell");
	struct stamp_reply r = {.sequence = 5};
	ask.key = key;
	wrong = 0;
	for (size_t bytes = 0; bytes < 112; bytes++)
		wrong += stamp_reply_read(p, bytes, &ask, &r) != (bytes < 36 ? STAMP_READ_SHORT : STAMP_READ_FORGED);
	IS_I64(wrong, 0, "nor does the sender take a shorter reply");
	IS_I64(r.sequence, 5, "and nothing is written");
}

/* Seals base and, where hmac_at is not 0, TLVs of a hand-made request; returns what the reflector made of it. */
static struct stamp_made hand_made(uint8_t *p, size_t bytes, size_t hmac_at)
{
	uint8_t text[600], want[EVP_MAX_MD_SIZE];
	unsigned length;
	struct stamp_arrival in = arrival();
	struct stamp_made made = {0};
	if (hmac_at) {
		memcpy(text, p, 4);
		memcpy(text + 4, p + 112, hmac_at - 4 - 112);
		HMAC(EVP_sha256(), KEY, sizeof KEY, text, hmac_at - 112, want, &length);
		memcpy(p + hmac_at, want, 16);
	}
	HMAC(EVP_sha256(), KEY, sizeof KEY, p, 96, want, &length);
	memcpy(p + 96, want, 16);
	if (stamp_request_check(p, bytes, key, false) == STAMP_REFLECT)
		stamp_reflect(p, bytes, &in, p, bytes, &made);
	return made;
}

static void places(void)
{
	uint8_t p[200] = {0};
	struct stamp_made made = hand_made(p, 112, 0);
	OK(made.bytes == 112 && !made.tlvs_forged, "the base alone");
	made = hand_made(p, 130, 0);
	OK(made.bytes == 130 && !made.tlvs_forged, "with plain padding");
	memcpy(p + 112, "\x80\1\0\4abcd", 8);
	made = hand_made(p, 120, 0);
	OK(!made.tlvs_forged && p[112] == 0, "one padding TLV needs no HMAC");
	memcpy(p + 112, "\x80\1\0\0\x80\1\0\0", 8);
	made = hand_made(p, 120, 0);
	OK(made.tlvs_forged && p[112] == 0xa0 && p[116] == 0xa0, "two do: I on both");
	memcpy(p + 112, "\x80\x4d\0\0\x80\1\0\0", 8);
	OK(hand_made(p, 116, 0).tlvs_forged, "and so does one of another type");
	memcpy(p + 112, "\x80\x4d\0\0\x80\x08\0\x10", 8);
	made = hand_made(p, 136, 120);
	OK(!made.tlvs_forged && p[112] == 0x80 && p[116] == 0, "with an HMAC: unknown keeps U, the HMAC's is cleared");
	memcpy(p + 112, "\x80\x4d\0\0\x80\x08\0\x10", 8);
	memcpy(p + 136, "\x80\1\0\2xy", 6);
	made = hand_made(p, 142, 120);
	OK(!made.tlvs_forged && p[136] == 0, "padding may stand behind it");
	memcpy(p + 112, "\x80\x4d\0\0\x80\x08\0\x10", 8);
	memcpy(p + 136, "\x80\x4d\0\2xy", 6);
	made = hand_made(p, 142, 120);
	OK(made.tlvs_forged && p[112] == 0xa0 && p[136] == 0xa0, "nothing else may");
	memcpy(p + 112, "\x80\x08\0\x10", 4);
	made = hand_made(p, 132, 116);
	OK(!made.tlvs_forged && made.hmac_at == 116, "an HMAC TLV over nothing but the sequence");
	memcpy(p + 112, "\x80\x08\0\x0f", 4);
	OK(hand_made(p, 131, 0).tlvs_forged, "one of another length is none");
}

int main(void)
{
	struct tare_err err;
	if (stamp_key_open(KEY, sizeof KEY, &key, &err) < 0 || stamp_key_open(OTHER, sizeof OTHER, &other, &err) < 0)
		return 1;
	request_fields();
	reply_fields();
	changed();
	not_sealed();
	places();
	stamp_key_free(key);
	stamp_key_free(other);
	return tap_done();
}
