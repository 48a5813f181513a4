/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * STAMP (RFC 8762, RFC 8972) as bytes, unauthenticated and, with a key, authenticated.
 *
 * Our request: the 44-octet base (112 with a key), an Extra Padding TLV (type 1)
 * holding 64-bit number, cookie and fill, and the peer TLV (type 249, experimental)
 * in which the sender writes project cookie and version and a tare responder the
 * rest: 104 octets at least (192). As the size allows, the reason TLV follows, then
 * timestamp information (3), class of service (4) and follow-up telemetry (7); with
 * a key an HMAC TLV (8) over all of them ends the packet. docs/peer-tlv.md has the
 * layout of our TLVs for other implementers.
 *
 * Peer TLV value, 36 octets, big-endian:
 *   0 u32 project cookie   4 u8 version (1)   5 u8 valid mask
 *   6 u16 CPU at receive   8 u16 CPU at send  10 u16 CPU of the interrupt (SO_INCOMING_CPU)
 *  12 u64 kernel receive  20 u64 user receive 28 u64 user send   (CLOCK_REALTIME ns)
 * Valid mask: bit 0 kernel receive, 1 user receive, 2 user send, 3 CPU at
 * receive, 4 CPU at send, 5 CPU of the interrupt; 6: this responder injects
 * faults on purpose; 7: and did so with this reply.
 *
 * Reason TLV (type 250), 40 octets, left empty behind the cookie and version by
 * the sender in requests of 148 octets or more; a responder that watches its own
 * thread says there why a reply is late:
 *   0 u32 cookie   4 u8 version (1)   5 u8 word   6 u16 detail (softirq or interrupt)
 *   8 u16 CPU before  10 u16 CPU after  12 u32 pid  16 u32 ns covered  20 u32 ns off the CPU
 *  24 16 octets name of whoever ran, ended by zeros
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/bytes.h"
#include "wire/stamp_key.h"

enum {
	STAMP_PORT = 862,
	STAMP_BASE_BYTES = 44,
	STAMP_SEALED_BASE_BYTES = 112,  /* authenticated */
	STAMP_TLV_HEADER_BYTES = 4,
	STAMP_PADDING_MIN_BYTES = 16,
	STAMP_PEER_VALUE_BYTES = 36,
	STAMP_REQUEST_MIN_BYTES = 104,  /* base + padding TLV (4 + 16) + peer TLV (4 + 36) */
	STAMP_REPLY_MIN_BYTES = 36,     /* up to and with the echoed T1 */
	STAMP_LIGHT_REQUEST_BYTES = 14, /* TWAMP-light senders send as little */
	STAMP_TLV_PADDING = 1,
	STAMP_TLV_INFO = 3,
	STAMP_TLV_CLASS = 4,
	STAMP_TLV_FOLLOW_UP = 7,
	STAMP_TLV_HMAC = 8,
	STAMP_TLV_PEER = 249,
	STAMP_TLV_REASON = 250,
	STAMP_TLV_FACTS = 251, /* facts.h */
	STAMP_REASON_VALUE_BYTES = 40,
	STAMP_INFO_VALUE_BYTES = 4,
	STAMP_CLASS_VALUE_BYTES = 4,
	STAMP_FOLLOW_UP_VALUE_BYTES = 16,
	STAMP_REQUEST_REASON_BYTES = 148, /* with the reason TLV (4 + 40) */
	STAMP_REQUEST_FULL_BYTES = 184,   /* with types 3, 4 and 7 (36 together); what is sent unless asked otherwise */
	STAMP_SEALED_MORE_BYTES = 88,     /* what a key adds to each of these: 68 to the base, an HMAC TLV of 20 */
	STAMP_COMM_BYTES = 16,
	STAMP_NO_CPU = 0xffff,
	STAMP_PEER_COOKIE = 0x54415245, /* "TARE" */
	STAMP_PEER_VERSION = 1,
};
enum { STAMP_FLAG_U = 0x80, STAMP_FLAG_M = 0x40, STAMP_FLAG_I = 0x20 };
enum {
	STAMP_VALID_KERNEL_RX = 1 << 0,
	STAMP_VALID_USER_RX = 1 << 1,
	STAMP_VALID_USER_TX = 1 << 2,
	STAMP_VALID_RX_CPU = 1 << 3,
	STAMP_VALID_TX_CPU = 1 << 4,
	STAMP_VALID_IRQ_CPU = 1 << 5,
	STAMP_VALID_INJECTING = 1 << 6,
	STAMP_VALID_INJECTED = 1 << 7,
};

/* Error estimate: S, Z, 6 bits scale, 8 bits multiplier; error = multiplier * 2^(scale - 32) s. */
enum { STAMP_ERROR_S = 0x8000, STAMP_ERROR_Z = 0x4000 };

struct stamp_peer {
	uint8_t valid;
	uint16_t rx_cpu, tx_cpu, irq_cpu;
	int64_t kernel_rx_ns, user_rx_ns, user_tx_ns; /* CLOCK_REALTIME of the peer */
};

/* `word` as enum tare_word (tare/cause.h), whose values up to 14 are part of the wire format; 0: nothing to report. */
struct stamp_reason {
	uint8_t word;
	uint16_t detail, cpu_before, cpu_after; /* STAMP_NO_CPU: not known */
	int32_t pid;
	uint32_t covered_ns, off_ns;            /* UINT32_MAX: that much or more */
	char comm[STAMP_COMM_BYTES];            /* always ended by a zero */
};

/*
 * NTP 32.32 timestamps of CLOCK_REALTIME ns and back; the way there and back is
 * exact. Era 1 (from 2036-02-07) is told by closeness to `near_ns`: right within
 * 68 years of it. Times from 1970 to 2194.
 */
uint64_t stamp_ntp_of_real(int64_t real_ns);
int64_t stamp_real_of_ntp(uint64_t ntp, int64_t near_ns);
/* PTPv2 truncated (seconds, ns): what a peer sends whose error estimate has Z set. */
int64_t stamp_real_of_ptp(uint64_t ptp);
/*
 * Error estimate with S = synchronised, Z = 0 for a bound of error_ns, rounded up;
 * multiplier 128..255. The least that can be said is 30 ns, the most is taken as 2^31 s.
 */
uint16_t stamp_error_estimate(bool synchronised, int64_t error_ns);

/* ---- sender ---- */

/* What does not change from request to request. */
struct stamp_asking {
	/* of a request: STAMP_REQUEST_MIN_BYTES, with a key and STAMP_SEALED_MORE_BYTES, to 65507 */
	size_t bytes;
	const struct stamp_key *key; /* NULL: unauthenticated */
	uint64_t cookie;
	uint16_t ssid, error_estimate;
	uint8_t reply_dscp;          /* that the reply shall leave the reflector with */
};
/* Fills everything that does not change. The padding TLV takes what is over. */
void stamp_request_fill(uint8_t *packet, const struct stamp_asking *asking);
/* Sequence (low 32 bits of number), the 64-bit number in the padding, and the HMAC over the TLVs. */
void stamp_request_number(uint8_t *packet, const struct stamp_asking *asking, uint64_t number);
/* T1 and the base's HMAC, behind stamp_request_number: all that is done between the clock and the send call. */
void stamp_request_time(uint8_t *packet, const struct stamp_asking *asking, uint64_t t1_ntp);

/* Timestamp information (RFC 8972 section 4.3): how the reflector's clock is kept and its stamps are taken. */
enum stamp_sync { STAMP_SYNC_NTP = 1, STAMP_SYNC_PTP, STAMP_SYNC_SSU, STAMP_SYNC_GNSS, STAMP_SYNC_FREE };
enum stamp_method { STAMP_METHOD_HARDWARE = 1, STAMP_METHOD_SOFTWARE, STAMP_METHOD_CONTROL };
struct stamp_info {
	uint8_t sync_in, method_in, sync_out, method_out;
};
/* Class of service (section 4.4). */
struct stamp_class {
	uint8_t asked_dscp;          /* for the reply */
	uint8_t seen_dscp, seen_ecn; /* of the request, as it reached the reflector */
	bool refused;                /* the reply does not have what was asked for */
};
/* Follow-up telemetry (section 4.7): when an earlier reply really left. */
struct stamp_follow_up {
	uint32_t sequence;   /* the reflector's own number of that reply */
	uint64_t t3;         /* in the format of the reply's error estimate; 0: nothing is told */
	uint8_t method;      /* enum stamp_method */
};

struct stamp_reply {
	uint32_t sequence, sender_sequence; /* own and echoed */
	uint64_t sender_t1_ntp;             /* echoed */
	uint64_t t2, t3;                    /* raw, in the format told by the error estimate */
	uint16_t error_estimate;            /* multiplier 0: the peer itself calls its stamps corrupt */
	uint16_t ssid;                      /* 0: peer does not know RFC 8972 */
	int sender_ttl;                     /* -1: reply too short to hold it; 0 also means "not read" with some peers */
	bool has_number;                    /* padding TLV came back with our cookie */
	uint64_t number;
	bool has_peer;                      /* a tare responder filled type 249 */
	struct stamp_peer peer;
	size_t reason_at;                   /* it watches itself and filled type 250: offset for stamp_reason_read; 0: no */
	/* understood and answered */
	bool has_info, has_class, has_follow_up;
	struct stamp_info info;
	struct stamp_class class;
	struct stamp_follow_up follow_up;
	unsigned understood, unknown, malformed; /* TLVs with U cleared, with U left, with M */
	/* with a key: the HMAC over the TLVs is wrong, or the reflector says so of the request's; none is used */
	bool tlvs_forged;
};
enum stamp_read {
	STAMP_READ_SHORT,  /* no reply: under 36 octets */
	STAMP_READ_REPLY,
	STAMP_READ_FORGED, /* with a key: under 112 octets, or not with the right HMAC */
};
/*
 * Reads a reply of 36 octets or more (TWAMP-light peers send 38 and 41); *ret_reply holds only behind
 * STAMP_READ_REPLY. Whether it answers one of our requests is the caller's matter: by number where has_number, else
 * by sender_sequence and sender_t1_ntp. A padding TLV cut behind the cookie still counts where there is no key: the
 * cookie is proof enough.
 */
enum stamp_read stamp_reply_read(
	const uint8_t *packet, size_t bytes, const struct stamp_asking *asking, struct stamp_reply *ret_reply);
/* The number of a request of ours that came back within an ICMP error, perhaps cut; its HMACs are not looked at. */
bool stamp_request_read(const uint8_t *packet, size_t bytes, const struct stamp_asking *asking, uint64_t *ret_number);

void stamp_reason_read(const uint8_t *value, struct stamp_reason *ret_reason);

/* ---- reflector ---- */

enum stamp_verdict {
	STAMP_REFLECT,   /* reply of ret_made->bytes stands in `reply` but for T3 and the peer TLV's send part */
	STAMP_TOO_SHORT, /* under 44 octets, or under 14 for a light arrival */
	STAMP_TOO_LONG,  /* more than the room given */
	STAMP_UNSEALED,  /* there is a key, and this is no authenticated request */
	STAMP_FORGED,    /* it is, with the wrong HMAC */
};
/* How a request came in, and what is said about it. */
struct stamp_arrival {
	const struct stamp_key *key;   /* NULL: unauthenticated */
	bool light;                    /* without a key: also answer 14 to 43 octets, with 44 */
	const uint32_t *own_sequence;  /* NULL: stateless, the sender's is copied */
	uint8_t ttl;                   /* as received; 255 when it cannot be told (RFC 5357) */
	bool has_tos;
	uint8_t tos;                   /* IPv4's type of service or IPv6's traffic class as received */
	bool class_refused;            /* replies leave without the DSCP that is asked for */
	struct stamp_info info;        /* sync_in 0: not told */
	const struct stamp_follow_up *follow_up; /* of this session; NULL: nothing known, or stateless */
	uint16_t error_estimate;
	uint64_t t2_ntp;
	struct stamp_peer peer;        /* its send part is written by stamp_reflect_sent */
};
struct stamp_made {
	const struct stamp_key *key;
	uint32_t sender_sequence;
	size_t bytes;
	size_t peer_at;   /* offset of our TLV's value; 0: the request had none */
	size_t reason_at; /* the same of the reason TLV */
	size_t facts_at, facts_bytes; /* the same of the facts TLV of an authenticated request, and its length */
	size_t hmac_at;   /* the same of the HMAC TLV, which stamp_reflect_sent fills */
	bool has_dscp;    /* `dscp` was asked for the reply and is granted */
	uint8_t dscp;
	bool follow_up;   /* the sender wants to be told when this reply left */
	bool tlvs_forged; /* answered without them, I set on each: the HMAC over the request's TLVs was wrong */
};
/*
 * Whether a request is to be reflected, before anything is remembered of it: length and the base's HMAC. An
 * unauthenticated request is told from a forged one by octets 4 to 15: zeros where a key is used, else T1.
 */
enum stamp_verdict stamp_request_check(const uint8_t *request, size_t bytes, const struct stamp_key *key, bool light);
/*
 * Makes the reply to a request that stamp_request_check has passed: base fields, remaining octets copied, TLV flags
 * set as RFC 8972 section 4 says: cleared on the types known (1, 4, 7, 8 with a key, 3 where told, 249 and 250 with
 * our cookie), left on unknown ones, M set on the first malformed one and the rest copied unparsed. With a key and a
 * wrong HMAC TLV: I set on all TLVs, which are copied. Octets whose U flag the sender did not set are no TLVs but the
 * plain padding of RFC 8762 and TWAMP-light senders: they and all behind are copied. The reply is as long as the
 * request, or 44 octets for a shorter one. Never longer. `reply` may be `request` itself, nothing between.
 */
enum stamp_verdict stamp_reflect(const uint8_t *request, size_t bytes, const struct stamp_arrival *arrival,
				 uint8_t *reply, size_t room, struct stamp_made *ret_made);
/* The session id of a request; 0 where it is too short to hold one, or has none. */
uint16_t stamp_request_ssid(const uint8_t *request, size_t bytes, const struct stamp_key *key);
/*
 * Just before the send call, and last: T3 and, where the reply has our TLV, time and CPU of the send (tx_cpu < 0: not
 * known); with a key the HMACs.
 */
void stamp_reflect_sent(uint8_t *reply, const struct stamp_made *made, uint64_t t3_ntp, int64_t user_tx_ns, int tx_cpu);
/* Fills the reason TLV, where the request had one. Responders that do not watch leave it as it came. */
void stamp_reflect_reason(uint8_t *reply, const struct stamp_made *made, const struct stamp_reason *reason);
/* Says in our TLV that faults are injected; `here`: into this reply. */
void stamp_reflect_injecting(uint8_t *reply, const struct stamp_made *made, bool here);
