/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * STAMP (RFC 8762, RFC 8972), unauthenticated mode, as bytes.
 *
 * Our request: the 44-octet base, an Extra Padding TLV (type 1) holding 64-bit
 * number and cookie and fill, and the peer TLV (type 249, experimental) that the
 * sender leaves zero and a tare responder fills: 104 octets at least.
 *
 * Peer TLV value, 36 octets, big-endian:
 *   0 u32 project cookie   4 u8 version (1)   5 u8 valid mask
 *   6 u16 CPU at receive   8 u16 CPU at send  10 u16 CPU of the interrupt (SO_INCOMING_CPU)
 *  12 u64 kernel receive  20 u64 user receive 28 u64 user send   (CLOCK_REALTIME ns)
 * Valid mask: bit 0 kernel receive, 1 user receive, 2 user send, 3 CPU at
 * receive, 4 CPU at send, 5 CPU of the interrupt; bit 7: this reply was delayed,
 * dropped around or otherwise injected on purpose.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	STAMP_BASE_BYTES = 44,
	STAMP_TLV_HEADER_BYTES = 4,
	STAMP_PADDING_MIN_BYTES = 16,
	STAMP_PEER_VALUE_BYTES = 36,
	STAMP_REQUEST_MIN_BYTES = 104,  /* base + padding TLV (4 + 16) + peer TLV (4 + 36) */
	STAMP_LIGHT_REQUEST_BYTES = 14, /* TWAMP-light senders send as little */
	STAMP_TLV_PADDING = 1,
	STAMP_TLV_PEER = 249,
};
enum { STAMP_FLAG_U = 0x80, STAMP_FLAG_M = 0x40, STAMP_FLAG_I = 0x20 };
enum {
	STAMP_VALID_KERNEL_RX = 1 << 0,
	STAMP_VALID_USER_RX = 1 << 1,
	STAMP_VALID_USER_TX = 1 << 2,
	STAMP_VALID_RX_CPU = 1 << 3,
	STAMP_VALID_TX_CPU = 1 << 4,
	STAMP_VALID_IRQ_CPU = 1 << 5,
	STAMP_VALID_INJECTED = 1 << 7,
};

struct stamp_peer {
	uint8_t valid;
	uint16_t rx_cpu, tx_cpu, irq_cpu;
	int64_t kernel_rx_ns, user_rx_ns, user_tx_ns; /* CLOCK_REALTIME of the peer */
};

/* NTP 32.32 timestamps of CLOCK_REALTIME ns and back; era 1 (from 2036) is told by closeness to `near_ns`. */
uint64_t stamp_ntp_of_real(int64_t real_ns);
int64_t stamp_real_of_ntp(uint64_t ntp, int64_t near_ns);
/* PTPv2 truncated (seconds, ns): what a peer sends whose error estimate has Z set. */
int64_t stamp_real_of_ptp(uint64_t ptp);
/* Error estimate with S = synchronised, Z = 0 for a bound of error_ns; multiplier 128..255. */
uint16_t stamp_error_estimate(bool synchronised, int64_t error_ns);

/* ---- sender ---- */

/* Fills everything that does not change from request to request; bytes >= STAMP_REQUEST_MIN_BYTES. */
void stamp_request_fill(uint8_t *packet, size_t bytes, uint64_t cookie, uint16_t ssid, uint16_t error_estimate);
/* Sequence (low 32 bits of number), T1, and the 64-bit number in the padding. */
void stamp_request_number(uint8_t *packet, uint64_t number, uint64_t t1_ntp);

struct stamp_reply {
	uint32_t sequence, sender_sequence;   /* own and echoed */
	uint64_t sender_t1_ntp;               /* echoed */
	uint64_t t2, t3;                      /* raw, in the format told by the error estimate */
	uint16_t error_estimate, ssid;
	uint8_t sender_ttl;
	bool has_number;                      /* padding TLV came back with our cookie */
	uint64_t number;
	bool has_peer;                        /* a tare responder filled type 249 */
	struct stamp_peer peer;
};
/*
 * Reads a reply of 36 octets or more (TWAMP-light peers send 38 and 41). False
 * when it is shorter. Whether it answers one of our requests is the caller's
 * matter: by number where has_number, else by sender_sequence and sender_t1_ntp.
 */
bool stamp_reply_read(const uint8_t *packet, size_t bytes, uint64_t cookie, struct stamp_reply *ret_reply);

/* ---- reflector ---- */

enum stamp_verdict {
	STAMP_REFLECT,   /* reply of *ret_bytes octets stands in `reply` but for T3 and the peer TLV's send time */
	STAMP_TOO_SHORT, /* under 14 octets, or under 44 when strict */
	STAMP_TOO_LONG,  /* more than the room given */
};
/*
 * Makes the reply to a request: base fields, remaining octets copied, TLV flags
 * set as RFC 8972 section 4 says (U cleared on types 1 and 249-with-our-cookie,
 * left on unknown ones, M on the first malformed one, the rest copied unparsed).
 * The reply is as long as the request, or 44 octets for a shorter one. Never longer.
 */
enum stamp_verdict stamp_reflect(const uint8_t *request, size_t bytes, bool strict, uint32_t sequence, uint8_t ttl,
				 uint16_t error_estimate, uint64_t t2_ntp, const struct stamp_peer *peer,
				 uint8_t *reply, size_t room, size_t *ret_bytes);
/* Just before the send call: T3 and, where the reply has our TLV, user_tx_ns and its valid bit. */
void stamp_reflect_sent(uint8_t *reply, size_t bytes, uint64_t t3_ntp, int64_t user_tx_ns, uint16_t tx_cpu);
