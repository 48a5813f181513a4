/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the hot loop writes: raw clock values, one record a request, in memory
 * that may outlive the process. Everything starts as zero and 0 means "none":
 * no clock reads 0 and CPUs are stored plus one. probe_seal() turns a round of
 * these into columns, live or, after a crash, from the spool.
 */
#pragma once
#include <stdatomic.h>
#include <stdint.h>

enum probe_phase { PROBE_RESOLVE, PROBE_CONNECT, PROBE_TLS, PROBE_FIRST_BYTE, PROBE_BODY, PROBE_PHASES };
/* Beside enum net_stamp: the kind fills phase_us, and no peer says anything. */
enum { PROBE_PHASED = 1 << 16 };

/* 128 octets; the second half is touched only for peers and cards that stamp. */
struct raw_sample {
	int64_t due_ns, user_tx_ns, user_rx_ns; /* CLOCK_MONOTONIC */
	int64_t kernel_tx_ns, kernel_rx_ns;     /* CLOCK_REALTIME */
	uint16_t cpu_tx, cpu_rx;                /* CPU + 1 */
	uint16_t reason;                        /* errno: of the send when user_tx_ns is 0, else of an ICMP error */
	uint16_t flags;                         /* enum tare_flag */
	uint32_t gap_ns;                        /* largest jump of the clock while the loop looked at it without end */
	uint32_t said_ns;                       /* what the peer's word covers */
	int32_t said_pid;
	uint16_t said_cpu;                      /* CPU before + 1 */
	uint8_t said, said_detail;              /* the peer's word (enum tare_word) + 1, 0: it says nothing; vector */
	int64_t peer_rx_ns, peer_user_ns, peer_tx_ns; /* peer's CLOCK_REALTIME */
	int64_t nic_tx_ns, nic_rx_ns;                 /* by the card's own clock */
	uint16_t cpu_peer_rx, cpu_peer_tx;            /* CPU + 1 */
	union {
		struct {
			uint16_t said_cpu_after, reserved; /* CPU + 1 */
			char said_comm[16];
		};
		uint32_t phase_us[PROBE_PHASES];   /* instead, where the target's stamps have PROBE_PHASED; plus one */
	};
};
_Static_assert(sizeof(struct raw_sample) == 128, "two cache lines, and the layout of the spool");

/* Counters of one target in one round, read by progress and salvage while the loop writes them. */
struct raw_counters {
	_Atomic uint64_t slots;    /* requests whose turn has come: samples [0, slots) are written */
	_Atomic uint64_t sent;     /* accepted by the kernel */
	_Atomic uint64_t answered; /* first answers */
	_Atomic uint64_t duplicate, reordered, foreign, unmatched_errors;
	_Atomic uint64_t reconnects; /* a connection had to be opened anew */
	_Atomic uint64_t stray_stamps;  /* transmit stamps of no request that could be told: late beyond use, or another's */
	_Atomic uint64_t double_stamps; /* of a request that had that stamp */
	_Atomic uint64_t cut_stamps;    /* messages of the error queue whose control data was cut */
	_Atomic uint64_t reserved[5];
};
_Static_assert(sizeof(struct raw_counters) == 128, "two cache lines, and the layout of the spool");

/* Only the loop writes, so that an increment needs no locked instruction. */
static inline void raw_increase(_Atomic uint64_t *counter, uint64_t by)
{
	atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + by, memory_order_release);
}
static inline uint64_t raw_read(const _Atomic uint64_t *counter)
{
	return atomic_load_explicit(counter, memory_order_acquire);
}
