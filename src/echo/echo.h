/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The responder: plain echo (udp://, tcp://, xdp://) and STAMP reflector (stamp://) on any number
 * of listeners, one thread per CPU. It never answers with more octets than it
 * was sent (44 at least for STAMP peers that are allowed it), and not at all to
 * source ports behind which another reflector would answer back.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "tare/cause.h"
#include "tare/err.h"

struct echo;

/* Everything is borrowed until echo_open returns. */
struct echo_config {
	/*
	 * "udp://10.0.0.2:7000", "stamp://[::1]" (port 862). A URL binds exactly the
	 * address it names; without a host, as in "udp://:7000", that is 127.0.0.1.
	 * 0.0.0.0 and [::] are every address of their family.
	 */
	const char *const *urls;
	size_t url_count;
	const int *cpus;        /* one thread on each, listeners dealt round-robin */
	size_t cpu_count;       /* 0: one thread, wherever the scheduler puts it */
	bool spin;              /* never sleep: the CPU is the responder's */
	int fifo_priority;      /* 0: none */
	bool stateful;          /* stamp: count replies per session instead of copying the sender's sequence */
	bool light;             /* stamp: answer 14 to 43 octets (TWAMP-light) with 44 */
	const char *key_file;   /* stamp: authenticated mode, and nothing else is answered (base/secret.h); NULL: no key */
	bool facts;             /* stamp: serve this host's facts to senders that have the key; needs key_file */
	const char *tool;       /* "tare 0.1.0", for them; borrowed until echo_free */
	const char *allow;      /* "10.0.0.0/8,fd00::/8": answer these sources only; NULL: all */
	/*
	 * Least time between requests of one source, 0: no limit. A tenth of a second's
	 * worth may come at once. Loopback is never limited. Counted per thread.
	 */
	int64_t limit_interval_ns;
	/* Threads watch themselves and say in late replies why (docs/causes.md); soft interrupts too. */
	bool why, why_softirq;
	/* Faults on purpose (cause/inject.h); NULL: none. stamp:// only, as a plain echo cannot say so in its replies. */
	const char *inject;
};

/* What happened on one listener. */
struct echo_counts {
	const char *listener; /* its URL with the address in numbers, owned by the echo */
	uint64_t requests;    /* datagrams received; tcp: reads that brought bytes */
	uint64_t replies;     /* of these, answered */
	uint64_t too_short;   /* stamp: under 44 octets, or under 14 with light */
	uint64_t refused;     /* source not allowed, or its port one that reflects; xdp: damaged too, or to another MAC */
	uint64_t limited;     /* source above its rate */
	uint64_t send_errors; /* the kernel did not take the reply */
	uint64_t unauthenticated; /* stamp with a key: dropped, no authenticated request */
	uint64_t wrong_hmac;  /* dropped, the HMAC is not of our key */
	uint64_t wrong_tlvs;  /* answered without their TLVs, whose HMAC is not */
	uint64_t foreign;     /* stamp: answered without our TLV: the sender is no tare */
	uint64_t overrun;     /* lost before we saw them: the socket's buffer, or ring, was full */
};
extern const struct column echo_columns[]; /* ends with name == NULL */

/* Where a listener is served. */
struct echo_place {
	const char *listener; /* as in echo_counts */
	int cpu;              /* -1: not pinned */
	bool spinning;
	const char *unwatched;      /* what a thread that explains itself does not see; "": nothing, NULL: it does not explain */
	bool facts;                 /* serves them */
	bool authenticated;         /* a stamp:// that answers with a key only */
	bool without_kernel_stamps; /* a stamp:// that cannot tell the kernel's receive time */
};

/* Opens and binds every listener; no thread runs yet. Wants what privileges there are, for ports below 1024. */
int echo_open(const struct echo_config *config, struct echo **ret_echo, struct tare_err *err) TARE_MUST_USE;
size_t echo_listeners(const struct echo *echo);
struct echo_place echo_place(const struct echo *echo, size_t listener);
/*
 * Starts the threads, which pin themselves and drop every capability they have;
 * fails, with none left running, when one of them cannot. Block the signals that
 * end the program before: the threads inherit the mask.
 */
int echo_start(struct echo *echo, struct tare_err *err) TARE_MUST_USE;
/* Ends the threads and waits for them. The counts remain. */
void echo_stop(struct echo *echo);
/* xdp://: how it listens. False with other kinds. */
bool echo_how(const struct echo *echo, size_t listener, char *buffer, size_t room);
/* xdp://, after echo_stop: the counters of ring and interface that tell of losses, as a list. False: there are none. */
bool echo_losses(const struct echo *echo, size_t listener, char *buffer, size_t room);
/* May be called while threads run. */
struct echo_counts echo_counts(const struct echo *echo, size_t listener);
/*
 * With `why`, after echo_stop: who ran on the CPUs of the thread with this number, while it was watched. False: no
 * such thread, or it was not watched. Rows belong to the echo.
 */
struct echo_shares {
	const struct tare_share *row;
	size_t count;
	int64_t watched_ns;
	bool missing; /* records were lost: there was more */
};
bool echo_shares(const struct echo *echo, size_t thread, struct echo_shares *ret_shares);
void echo_free(struct echo *echo); /* NULL is fine; stops first */
