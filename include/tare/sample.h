/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A sample is one request and what became of it. Samples are kept as columns:
 * one array per stage, per CPU place, per fate, all of the same length, index
 * 0 being the first request of the round towards one target.
 *
 * Times are signed 64-bit nanoseconds on the run's axis: CLOCK_MONOTONIC minus
 * the run's epoch. The peer's stages lie on the peer's own axis (its wall clock
 * minus the run's wall epoch): differences between two peer stages mean
 * something, a peer stage minus one of ours does not.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tare/err.h"

/* "Nothing was observed here". Never a valid time, never printed as a number. */
#define TARE_NO_TIME INT64_MIN
/* The CPU could not be told. */
#define TARE_NO_CPU ((int16_t)-1)

/* X(id, name, help): the points where a stamp is taken, in causal order. */
#define TARE_STAGES(X)                                                                   \
	X(DUE, "due", "when the schedule called for the request")                        \
	X(USER_TX, "user_tx", "just before the send call")                               \
	X(KERNEL_TX, "kernel_tx", "kernel handed the request to the driver")             \
	X(NIC_TX, "nic_tx", "network card put it on the wire")                           \
	X(PEER_NIC_RX, "peer_nic_rx", "peer's network card received it")                 \
	X(PEER_RX, "peer_rx", "peer's kernel received it")                               \
	X(PEER_USER, "peer_user", "peer's process saw it")                               \
	X(PEER_TX, "peer_tx", "peer's process sent the reply")                           \
	X(PEER_NIC_TX, "peer_nic_tx", "peer's network card put the reply on the wire")   \
	X(NIC_RX, "nic_rx", "our network card received the reply")                       \
	X(KERNEL_RX, "kernel_rx", "our kernel received the reply")                       \
	X(USER_RX, "user_rx", "the receive call returned")

enum tare_stage {
#define X(id, name, help) TARE_STAGE_##id,
	TARE_STAGES(X)
#undef X
	TARE_STAGE_COUNT
};

/*
 * X(id, name, from, to, help): named differences between stages. `path` is the
 * one that is not a plain difference: wire (or stack, where the cards do not
 * stamp) minus residence. The phases of http are told by who carries the request
 * out and exist only as given spans. `gap` is the time since the previous request left;
 * only sources without a schedule of their own have it. The spans behind it,
 * from DUE to DUE, follow from no stages: only imported logs state them. `forward` and
 * `backward` lead from one clock to another: they exist only where clock_bound_ns is set,
 * and forward + backward = rtt - residence.
 */
#define TARE_SPANS(X)                                                                            \
	X(RTT, "rtt", USER_TX, USER_RX, "send call to receive call")                             \
	X(RESPONSE, "response", DUE, USER_RX, "from when it was due: what a waiting client feels") \
	X(LATE, "late", DUE, USER_TX, "our own lateness: due to send call")                      \
	X(TX, "tx", USER_TX, KERNEL_TX, "send call to driver")                                   \
	X(TX_NIC, "tx_nic", KERNEL_TX, NIC_TX, "driver to wire")                                 \
	X(WIRE, "wire", NIC_TX, NIC_RX, "wire to wire, the peer's host included")                \
	X(RX_NIC, "rx_nic", NIC_RX, KERNEL_RX, "wire to kernel; interrupt moderation shows here") \
	X(STACK, "stack", KERNEL_TX, KERNEL_RX, "driver to kernel, the peer's host included")    \
	X(PATH, "path", KERNEL_TX, KERNEL_RX, "wire (or stack) without the peer's residence")    \
	X(HOST, "host", PEER_NIC_RX, PEER_NIC_TX, "peer's host, wire to wire")                   \
	X(RESIDENCE, "residence", PEER_RX, PEER_TX, "peer's kernel to peer's reply")             \
	X(PEER_WAKE, "peer_wake", PEER_RX, PEER_USER, "peer's kernel to peer's process")         \
	X(SERVICE, "service", PEER_USER, PEER_TX, "peer's process: seen to answered")            \
	X(WAKE, "wake", KERNEL_RX, USER_RX, "kernel to our receive call")                        \
	X(RESOLVE, "resolve", USER_TX, USER_TX, "http: name resolved, of requests with a connection of their own") \
	X(CONNECT, "connect", USER_TX, USER_TX, "http: then TCP connection established")          \
	X(TLS, "tls", USER_TX, USER_TX, "http: then TLS agreed")                                 \
	X(FIRST_BYTE, "first_byte", USER_TX, USER_TX, "http: request sent to first byte of the answer") \
	X(BODY, "body", USER_TX, USER_TX, "http: first byte to last")                            \
	X(GAP, "gap", USER_TX, USER_TX, "time since the previous request left")                  \
	X(HALF_RTT, "half_rtt", DUE, DUE, "half of a round trip, as the source states it")       \
	X(ONE_WAY, "one_way", DUE, DUE, "one direction, as the source states it")                \
	X(ONE_WAY_BACK, "one_way_back", DUE, DUE, "the way back, as the source states it")       \
	X(WAKEUP, "wakeup", DUE, DUE, "from when a thread should run to when it did")            \
	X(VALUE, "value", DUE, DUE, "a number whose meaning the source does not tell")            \
	X(FORWARD, "forward", USER_TX, PEER_RX, "send call to the peer's kernel: needs a bound on the clocks' offset") \
	X(BACKWARD, "backward", PEER_TX, USER_RX, "the peer's reply to our receive call: needs the same")

enum tare_span {
#define X(id, name, from, to, help) TARE_SPAN_##id,
	TARE_SPANS(X)
#undef X
	TARE_SPAN_COUNT
};

/* What became of a request. sent = answered + overdue + lost + pending + error, always. */
enum tare_fate {
	TARE_PENDING,  /* younger than the timeout when the round was stopped */
	TARE_ANSWERED,
	TARE_OVERDUE,  /* answered after the timeout; its times are kept and counted */
	TARE_LOST,     /* no answer within the timeout */
	TARE_ERROR,    /* sent, then refused by the network or answered otherwise than expected; see tare_reason_text */
	TARE_NOT_SENT, /* the kernel did not accept it, or the slot was skipped */
	TARE_FATE_COUNT
};

enum tare_flag {
	TARE_FLAG_NO_KERNEL_TX = 1 << 0, /* asked for and did not arrive */
	TARE_FLAG_NO_KERNEL_RX = 1 << 1,
	TARE_FLAG_NO_NIC_TX = 1 << 2,
	TARE_FLAG_NO_NIC_RX = 1 << 3,
	TARE_FLAG_IMPOSSIBLE = 1 << 4,   /* a stamp broke the order of stages beyond the axis error and was dropped */
	TARE_FLAG_CLOCK_STEP = 1 << 5,   /* the wall clock was stepped nearby: wall-clock stamps dropped */
	TARE_FLAG_TRUNCATED = 1 << 6,    /* control data of the receive call was cut */
	TARE_FLAG_INJECTED = 1 << 7,     /* this one was held or disturbed on purpose */
	TARE_FLAG_SKIPPED = 1 << 8,      /* slot skipped by --on-late skip */
	TARE_FLAG_BATCHED = 1 << 9,      /* shares its USER_TX with the request before it */
	TARE_FLAG_DUPLICATED = 1 << 10,  /* at least one more answer came */
	TARE_FLAG_REORDERED = 1 << 11,   /* answered after a later request (RFC 4737 type-P-reordered) */
	TARE_FLAG_GUESSED = 1 << 12,     /* the error message carried no payload: oldest open request taken */
	TARE_FLAG_INJECTING = 1 << 13,   /* sender or responder injects faults on purpose, into this request or others */
};

enum tare_cpu_place { TARE_CPU_TX, TARE_CPU_RX, TARE_CPU_PEER_RX, TARE_CPU_PEER_TX, TARE_CPU_PLACES };

struct tare_packed; /* times of a stage in fewer bytes than 8 each */

/*
 * One target in one round, sealed: pure data, borrowed, never owned. An array
 * pointer is NULL when that thing was never observed in this series, or, for a
 * stage, when its times are in `packed`, which only a reader asked for by
 * tare_recording_pack fills. `given_ns`
 * carries spans that a source states directly (an imported log without stage
 * times); where set it is used instead of the stages.
 */
struct tare_series {
	size_t count;
	const int64_t *at_ns[TARE_STAGE_COUNT];
	const int64_t *given_ns[TARE_SPAN_COUNT];
	int64_t clock_bound_ns; /* how far the peer's clock may be from ours, stated by the user; 0: not known, no one-way spans */
	const int16_t *cpu[TARE_CPU_PLACES];
	const uint8_t *fate;    /* enum tare_fate; never NULL */
	const uint16_t *flags;  /* enum tare_flag; NULL means all zero */
	const uint16_t *reason; /* of ERROR and NOT_SENT: errno, or enum tare_reason_code; NULL means all zero */
	const struct tare_packed *packed[TARE_STAGE_COUNT]; /* instead of at_ns: read by tare_stage_at, tare_stage_times */
};

/* A stage of a series in whatever form it is held: whether it was observed at all, and its times, TARE_NO_TIME if not. */
TARE_API bool tare_stage_seen(const struct tare_series *series, enum tare_stage stage);
TARE_API int64_t tare_stage_at(const struct tare_series *series, enum tare_stage stage, size_t i);
TARE_API void tare_stage_times(const struct tare_series *series, enum tare_stage stage, size_t first, size_t count,
			       int64_t *ret_times_ns);

/*
 * Reasons that are no errno: an answer did come, with its time kept in the sample, but was not the one expected.
 * DNS adds the rcode, HTTP the status, CURL the CURLcode of a transfer that failed without a status.
 */
enum tare_reason_code {
	TARE_REASON_UNEXPECTED = 1000,
	TARE_REASON_BODY = 1001,
	TARE_REASON_DNS = 1100,
	TARE_REASON_HTTP = 2000,
	TARE_REASON_CURL = 3000,
};
/* True where an answer came: from TARE_REASON_UNEXPECTED on. */
TARE_API bool tare_reason_answered(uint16_t reason);
/* "Connection refused", "SERVFAIL", "HTTP status 503"; never empty. 48 bytes of room always do. */
TARE_API void tare_reason_text(uint16_t reason, char *buffer, size_t room);
/* "ECONNREFUSED", "SERVFAIL", "HTTP 503", "UNEXPECTED"; "" for 0 and for what has no name. 32 bytes always do. */
TARE_API void tare_reason_name(uint16_t reason, char *buffer, size_t room);

/* Names and help as in the lists above; "unknown" for a value outside of them. Never NULL, never to be freed. */
TARE_API const char *tare_stage_name(enum tare_stage stage);
TARE_API const char *tare_span_name(enum tare_span span);
TARE_API const char *tare_span_help(enum tare_span span);
TARE_API const char *tare_fate_name(enum tare_fate fate);
/* Returns false when no span has this name. */
TARE_API bool tare_span_by_name(const char *name, enum tare_span *ret_span);

/* The span of request i, or TARE_NO_TIME unless every stage it needs was observed. */
TARE_API int64_t tare_span_of(const struct tare_series *series, enum tare_span span, size_t i);

/*
 * The parts of request i's response: late, tx, stack, wake, in this order, whose
 * sum is exactly `response`. A stage that was not observed folds into its
 * neighbour: that part is 0 and its bit in the result is set (bit 1 tx, bit 3
 * wake; bit 2 where nothing between send and receive was stamped, then `stack`
 * holds the whole rtt). Returns -1 for a request without due, send and receive
 * times.
 */
TARE_API int tare_response_parts(const struct tare_series *series, size_t i, int64_t ret_parts_ns[4]);

/* True when the span can be computed for at least one request of the series. */
TARE_API bool tare_span_exists(const struct tare_series *series, enum tare_span span);

/*
 * False for late, tx, tx_nic and gap: what ends before the request has left is
 * known for every request sent, so their distributions hold the lost ones too.
 */
TARE_API bool tare_span_needs_answer(enum tare_span span);

/*
 * The span of requests first to first + count - 1 as statistics count it:
 * TARE_NO_TIME where it was not observed, and unless the request was answered or
 * overdue (spans that need no answer: unless it was sent).
 */
TARE_API void tare_span_values(const struct tare_series *series, enum tare_span span, size_t first, size_t count,
			       int64_t *ret_values_ns);
