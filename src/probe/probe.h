/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The measuring loop and the kinds of request behind it. One thread sends and
 * receives for all targets of a run: it allocates nothing, takes no lock, prints
 * nothing and uses no floating point between the first and the last request of a
 * round. A kind turns "request 17 to 20 are due" into packets and packets back
 * into answers.
 */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "clock/pacer.h"
#include "clock/source.h"
#include "net/busy.h"
#include "net/net.h"
#include "net/path.h"
#include "probe/raw.h"
#include "probe/reply.h"
#include "wire/stamp.h"
#include "tare/axis.h"
#include "tare/card_clock.h"
#include "tare/run.h"

enum probe_stamps { PROBE_STAMPS_USER, PROBE_STAMPS_KERNEL, PROBE_STAMPS_NIC };
enum probe_late { PROBE_LATE_SEND, PROBE_LATE_SKIP };

/* Requests that are due at once leave in batches of at most this many and then share a USER_TX. */
enum { PROBE_BATCH_MAX = 32 };

/* What of struct probe_exchange a kind can do: nothing, all of it, or expect something of an answer's body. */
enum probe_exchanges { PROBE_EXCHANGES_NOT, PROBE_EXCHANGES_TEXT, PROBE_EXCHANGES_BODY };

struct probe_target;

/*
 * A kind of request. The hot functions return -errno and never write text. A kind
 * tells answers by probe_answer() and refusals by probe_refused().
 */
struct probe_kind {
	const char *scheme, *summary;
	int default_port;      /* 0: the kind has no ports; -1: one must be given */
	size_t least_bytes;    /* smallest payload that holds number and cookie */
	size_t usual_bytes;    /* payload unless asked otherwise */
	size_t most_bytes;
	size_t key_bytes;      /* that a key adds to the least and the usual; 0: the kind knows no keys */
	bool takes_path;       /* sends as struct net_path asks */
	bool has_path;         /* takes what stands behind host and port in its URL */
	bool many_answer;      /* several answer a request, one does not know how many */
	enum probe_exchanges exchanges;
	bool alone;            /* what it works with may block or allocate: a thread of its own, and its own loop */
	/* May make the target another kind of the same scheme: udp for a group is one. */
	int (*open)(struct probe_target *target, struct tare_err *err);
	/*
	 * Sends requests [first, first + count), count <= PROBE_BATCH_MAX. Fills USER_TX of those the
	 * kernel took and returns their number, which may be less than count; -errno when the first was
	 * refused.
	 */
	int (*send)(struct probe_target *target, uint64_t first, unsigned count);
	/*
	 * Spins on the clock until `due`, some microseconds away, and sends request `number` with the reading
	 * that found it due: everything else is prepared before. Returns as send does. NULL: the kind cannot.
	 */
	int (*send_at)(struct probe_target *target, uint64_t number, clock_mono due);
	/* Before each round, some ms before its first request: forgets what an earlier round left behind. NULL: nothing. */
	void (*begin)(struct probe_target *target);
	/* Takes what has arrived, at most one batch; returns the number of messages read, 0 for none. */
	int (*drain)(struct probe_target *target);
	/* Transmit stamps and network errors; the same result. NULL: the kind has none. */
	int (*drain_notices)(struct probe_target *target);
	/* After a round: what its answers say of the peer, one paragraph, "" for nothing. NULL: nothing. */
	void (*tell)(struct probe_target *target, char *buffer, size_t room);
	/*
	 * After a round: how counters beside the samples moved, all of them and those that tell of losses, each list with
	 * `room`; true when there are such. NULL: nothing is counted.
	 */
	bool (*counted)(struct probe_target *target, char *all, char *losses, size_t room);
	void (*close)(struct probe_target *target); /* half-open targets too */
};

extern const struct probe_kind probe_connect, probe_dns, probe_http_kind, probe_https_kind, probe_icmp, probe_stamp, probe_tcp, probe_udp, probe_xdp;
/* All of them, NULL at the end. */
extern const struct probe_kind *const probe_kinds[];
const struct probe_kind *probe_kind_of(const char *scheme, struct tare_err *err);

/* How http and https ask; all borrowed. */
struct probe_http {
	bool fresh;            /* a connection of its own for every request */
	bool insecure;         /* no check of the certificate */
	const char *ca_path;   /* certificates to trust; NULL: the system's */
	unsigned status;       /* the one expected; 0: 200 to 399 */
};

/* What the user asked of one target; set before open. */
struct probe_request {
	struct net_address address;
	const char *text;      /* the URL as written */
	const struct net_url *url; /* lives until open returns; NULL: nothing but the address was given */
	size_t payload_bytes;  /* open may set it, where the kind knows better */
	enum probe_stamps stamps;
	bool transmit_stamps;  /* the schedule leaves time to read them */
	bool card_stamps;      /* the card on the way to it sends transmit stamps of its own */
	bool spin;
	uint64_t seed;         /* of cookie and identifiers */
	const struct probe_exchange *exchange; /* NULL: the kind's own requests, any answer */
	const struct probe_http *http;
	const struct stamp_key *key; /* borrowed; NULL: unauthenticated */
	uint8_t reply_dscp;    /* that a STAMP reflector is asked to answer with */
	double rate;           /* requests a second, for the size of buffers */
	const struct net_busy_poll *busy_poll; /* NULL: not asked for */
	const struct net_path *path; /* NULL: nothing asked of the way */
	int64_t timeout_ns;
};

struct probe_target {
	const struct probe_kind *kind;
	struct probe_request request;
	void *state;                    /* the kind's own, from open to close */
	int fd;                         /* what to wait for; -1: closed */
	unsigned stamps;                /* enum net_stamp switched on */
	struct net_busy_poll busy_poll; /* granted; all 0: the kind does not do it */
	const struct clock_source *clock;

	/* of the round */
	struct pacer pacer;
	uint64_t count;                 /* requests of the round */
	bool drawn;                     /* the samples hold their due times already: a schedule that only sums tell */
	struct raw_sample *samples;     /* `count` of them, zeroed */
	struct raw_counters *counters;
	int64_t real_offset_ns;         /* CLOCK_REALTIME - CLOCK_MONOTONIC at the start: for times in packets only */
	uint64_t next;                  /* first request not yet sent */
	clock_mono next_due;
	uint64_t highest_answered;      /* plus one */
	uint64_t open;                  /* sent and neither answered nor refused */
	uint64_t stamps_awaited;        /* transmit stamps not read yet */
	struct net_path_seen path_seen;
	clock_mono last_sent;
};

/* When request i of the round is due. */
static inline clock_mono probe_due(const struct probe_target *target, uint64_t i)
{
	return target->drawn ? (clock_mono){target->samples[i].due_ns} : pacer_due(&target->pacer, i);
}

/* One answer as a kind understood it. Times 0 and CPUs 0 mean none (raw.h). */
struct probe_reply {
	uint64_t number;
	clock_mono user_rx;
	clock_real kernel_rx;
	clock_phc nic_rx;
	uint16_t cpu_rx;
	int tos;                      /* of the reply as it came: DSCP and ECN; -1: not known */
	uint16_t wrong;               /* enum tare_reason_code: not the answer expected; 0: it is */
	bool cut;                     /* control data was truncated */
	bool injected, injecting;     /* the peer disturbed this reply on purpose; does so with some */
	bool has_peer;
	int64_t peer_rx_ns, peer_user_ns, peer_tx_ns;
	uint16_t cpu_peer_rx, cpu_peer_tx;
	const uint8_t *reason;        /* for stamp_reason_read: of a peer that watches itself; NULL: nothing */
};
/* Enters an answer: first, duplicate, reordered; a number never sent is foreign. */
void probe_answer(struct probe_target *target, const struct probe_reply *reply);
void probe_foreign(struct probe_target *target);
/* A network error for request `number`, or for the oldest open one (guessed) when number is PROBE_NO_NUMBER. */
#define PROBE_NO_NUMBER UINT64_MAX
void probe_refused(struct probe_target *target, uint64_t number, int error);
/*
 * The same for a request that a kind is still sending, or that stood behind a connection which broke: once it
 * has USER_TX and neither answer nor reason. Costs nothing else.
 */
void probe_fail(struct probe_target *target, uint64_t number, int error);
/* A transmit stamp of the kernel, of the card, or both; those a request has already are counted, not taken. */
void probe_transmit_stamp(struct probe_target *target, uint64_t number, clock_real kernel, clock_phc nic);
/* One that tells no request. */
void probe_stray_stamp(struct probe_target *target);
/* enum net_stamp to ask for, by request.stamps and what the schedule leaves time for. */
unsigned probe_stamps_wanted(const struct probe_request *request);

/* ---- a round ---- */

struct probe_readings {
	struct tare_reading *reading;
	size_t room;
	_Atomic uint64_t *count;
};

/* The network card's clock, read in the slack of the schedule; `read` NULL: there is none. */
struct probe_card {
	bool (*read)(void *self, struct tare_reading *ret_reading);
	void *self;
	struct probe_readings readings;
};

struct probe_round {
	const struct clock_source *clock;
	struct probe_target *const *targets;
	size_t target_count;
	int64_t timeout_ns;
	enum probe_late on_late;
	bool spin;
	struct probe_readings readings;
	struct probe_card card;
	const atomic_bool *stop;        /* set by others: end at once */
	/*
	 * Holds back requests [target->next, + count), which are due or about to be, on purpose. NULL, as in
	 * every real measurement: none.
	 */
	void (*hold)(void *self, struct probe_target *target, unsigned count);
	void *hold_self;
	bool gaps;                      /* spinning: note jumps of the clock with the requests they befall */
	clock_mono ended;               /* filled by the loop */
	bool stopped;                   /* filled: by `stop`, not by the end of the schedule */
};

/* At least this often a paired clock reading is taken. */
#define PROBE_READING_EVERY_NS ((int64_t)100000000)

/* Runs the round to its end, the timeout after the last request included, or to the stop. */
void probe_loop(struct probe_round *round);

/* ---- sealing ---- */

struct probe_sealing {
	const struct raw_sample *samples;
	const struct raw_counters *counters;
	uint64_t slots;                 /* samples whose turn came */
	const struct tare_axis *axis;
	const struct tare_card_clock *card; /* NULL: no card was read */
	int64_t epoch_mono_ns, epoch_real_ns;
	int64_t ended_mono_ns, timeout_ns;
	unsigned stamps;                /* enum net_stamp asked for */
	bool injecting;                 /* the sender held itself up on purpose */
};
/* Bytes of arena that sealing `slots` requests takes at most. */
size_t probe_seal_bytes(uint64_t slots);
/*
 * Raw clock values become columns on the run's axis; wall-clock stamps are
 * brought over by the axis, those that break the order of stages by more than its
 * error are dropped and marked; fates are decided. Fails only when the arena is full.
 */
int probe_seal(const struct probe_sealing *sealing, struct arena *arena, struct tare_record *ret_record,
	       struct tare_err *err) TARE_MUST_USE;
